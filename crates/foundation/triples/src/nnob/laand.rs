//! `LaAND`: authenticated local ANDs whose first bit may leak.
//!
//! The Crypto text has none; this is what its full version is known to do, as we reconstruct it. For authenticated bits
//! `x`, `y`, `r` of a *holder*, with keys `K` and MACs `M = K + bit * Delta`:
//!
//! 1. The holder announces `d = x y + r`, and both set `[z] = [r] + d`.
//! 2. The key holder computes `W = h1(K_x) + h2(K_z)` and sends `U = W + h1(K_x + Delta) + h3(K_y + K_z)`.
//! 3. The holder computes `V = h1(M_x) + h2(M_z)` where `x = 0`, and `V = U + h1(M_x) + h3(M_y + M_z)` where `x = 1`.
//! 4. `V` and `W` are compared.
//!
//! *Why.* Where `x = 0` the holder has `h1(K_x)`, and `h2(K_z)` only if `z = 0`. Where `x = 1` it has `h1(K_x + Delta)`
//! and so from `U` can have `W` only with `h3(K_y + K_z)`, for which `y = z`. Otherwise it must find a sum with
//! `Delta`. An honest holder's `V` depends on `x` alone (`y + z` is zero where `x` is one), so a key holder that sends
//! another `U`, or compares something else, learns at most `x`, and only by a guess that ends the session half of the
//! time.
//!
//! The literature hashes two blocks at once, `H(K_x, K_z)`. A sum of hashes of one block each does the same,
//! since what is missing is always one of the two, and needs only correlation robustness for the offset
//! `Delta`. `h1`, `h2`, `h3` are one hash at three tweaks, and so under three keys
//! ([`Hashes`](crate::hashes::Hashes)).
//!
//! **Cost**: three bits, seven hashes, 129 bits on the wire.

use comity_channel::Channel;
use comity_core::{Block, Result};
use comity_protocol::Conduct;
use zeroize::Zeroizing;

use super::abit::ABits;
use super::conduct::Act;
use super::context::{Context, Packed};

use crate::checks;

/// Leaky ANDs that are made at a time.
const CHUNK: usize = 4096;

/// One party's half of an authenticated local AND, `z = x y`: three MACs, or three keys.
pub(super) type And = [Block; 3];

/// `n` leaky ANDs of this party's bits, and `n` of the peer's.
pub(super) fn laand(
    context: &mut Context<impl for<'a> Conduct<Act<'a>>>,
    bits: &mut ABits,
    ch: &mut dyn Channel,
    n: usize,
) -> Result<[Zeroizing<Vec<And>>; 2]> {
    let empty = || Zeroizing::new(vec![[Block::ZERO; 3]; n]);
    let (mut own, mut theirs) = (empty(), empty());
    let mut hashers = [blake3::Hasher::new(), blake3::Hasher::new()];
    for (own, theirs) in own.chunks_mut(CHUNK).zip(theirs.chunks_mut(CHUNK)) {
        bits.draw(context, ch, own.as_flattened_mut(), theirs.as_flattened_mut())?;
        chunk(context, ch, own, theirs, &mut hashers)?;
    }
    // 4. First the ANDs of party 0.
    let mut both = blake3::Hasher::new();
    for holder in [context.party, context.party.other()] {
        both.update(hashers[usize::from(holder.0)].finalize().as_bytes());
    }
    context.equal(ch, &both, checks::LEAKY_AND)?;
    Ok([own, theirs])
}

/// `hashers` take the compared values of this party's ANDs, and of the peer's.
fn chunk(
    context: &mut Context<impl for<'a> Conduct<Act<'a>>>,
    ch: &mut dyn Channel,
    own: &mut [And],
    theirs: &mut [And],
    hashers: &mut [blake3::Hasher; 2],
) -> Result<()> {
    let n = own.len();
    let delta = context.key.block();
    // 1.
    context.conduct.before(Act::AndBits(own));
    let mut d = Packed::collect(own.iter().map(|[x, y, r]| x.lsb() & y.lsb() ^ r.lsb()));
    context.conduct.before(Act::AndD(&mut d.0));
    for (j, [.., z]) in own.iter_mut().enumerate() {
        *z = z.with_lsb(z.lsb() ^ d.get(j));
    }
    let d = d.exchange(ch, n)?;
    for (j, [.., z]) in theirs.iter_mut().enumerate() {
        *z ^= delta.with_lsb(false).masked(d.get(j));
    }
    // 2.
    let [mut x, mut far, mut w, mut column] = [(); 4].map(|()| Zeroizing::new(vec![Block::ZERO; n]));
    x.iter_mut().zip(theirs.iter()).for_each(|(key, &[x, ..])| *key = x);
    context.hashes.pairs(delta, &mut x, &mut far);
    w.iter_mut().zip(theirs.iter()).for_each(|(w, &[.., z])| *w = z);
    context.hashes.keys(&mut w);
    column.iter_mut().zip(theirs.iter()).for_each(|(sum, &[_, y, z])| *sum = y ^ z);
    context.hashes.keys(&mut column);
    let mut u = Vec::with_capacity(n);
    for j in 0..n {
        w[j] ^= x[j];
        u.push(w[j] ^ far[j] ^ column[j]);
    }
    context.conduct.before(Act::AndU { u: &mut u, compared: &mut w });
    let mut peers_u = vec![Block::ZERO; n];
    ch.exchange(Block::bytes_of(&u), Block::bytes_of_mut(&mut peers_u))?;
    hashers[1].update(Block::bytes_of(&w));
    // 3.
    let mut v = Zeroizing::new(own.iter().map(|&[x, ..]| x).collect::<Vec<_>>());
    context.hashes.macs(&mut v);
    w.iter_mut().zip(own.iter()).for_each(|(w, &[.., z])| *w = z);
    context.hashes.macs(&mut w);
    column.iter_mut().zip(own.iter()).for_each(|(sum, &[_, y, z])| *sum = y ^ z);
    context.hashes.macs(&mut column);
    for (j, v) in v.iter_mut().enumerate() {
        let zero = w[j];
        *v ^= zero ^ (zero ^ peers_u[j] ^ column[j]).masked(own[j][0].lsb());
    }
    hashers[0].update(Block::bytes_of(&v));
    Ok(())
}

//! `LaOT`: authenticated OTs whose choice bit may leak (figures 14 and 15).
//!
//! A sender has authenticated bits `x0`, `x1`, a receiver `c` and `r`. Steps as in figure 15:
//!
//! - 3, 4: the sender draws `T0`, `T1` and sends `X_i`: `x_i`, its MAC and `T_(x_i)` under the pads `H(K_c)`,
//!   `H(K_c + Delta)`.
//! - 5: the receiver opens `X_c` by `H(M_c)` and checks the MAC, before anything that depends on it leaves. `z = x_c`.
//! - 6: it announces `d = z + r`, and both set `[z] = [r] + d`.
//! - 7, 8: the sender sends `I_0 = H(K_z) + T1`, `I_1 = H(K_z + Delta) + T0`; the receiver, who has `T_z`, opens the
//!   other.
//! - 9: `T0`, `T1` are compared.
//!
//! A receiver that announces another `d` lacks one of the `T`: it would have to find a sum with `Delta`. A sender that
//! spoils one of two messages learns `c` (or `z`), and only by a guess that ends the session half of the time. Our MACs
//! have the bit as their bit 0, so `x || M` is one block, and a pad is two hashes.
//!
//! **Cost**: two bits of either party, nine hashes, 769 bits on the wire.

use comity_channel::Channel;
use comity_core::{Block, Error, Result, verdict};
use comity_protocol::Conduct;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::abit::ABits;
use super::conduct::Act;
use super::context::{Context, Packed};

use crate::checks;

/// Leaky OTs that are made at a time.
const CHUNK: usize = 4096;

/// One party's half of an authenticated OT `z = x_c`: of `x0`, `x1`, `c`, `z` the sender has MACs on the first two and
/// keys to the others, the receiver the reverse.
pub(super) type Ot = [Block; 4];

/// `n` leaky OTs in which this party sends, and `n` in which the peer does.
pub(super) fn laot(
    context: &mut Context<impl for<'a> Conduct<Act<'a>>>,
    bits: &mut ABits,
    ch: &mut dyn Channel,
    n: usize,
) -> Result<[Zeroizing<Vec<Ot>>; 2]> {
    let empty = || Zeroizing::new(vec![[Block::ZERO; 4]; n]);
    let (mut sent, mut received) = (empty(), empty());
    let mut hashers = [blake3::Hasher::new(), blake3::Hasher::new()];
    let mut macs = Zeroizing::new(vec![[Block::ZERO; 4]; CHUNK.min(n)]);
    let mut keys = macs.clone();
    for (sent, received) in sent.chunks_mut(CHUNK).zip(received.chunks_mut(CHUNK)) {
        // 1. Two of four bits of a party are messages where it sends, two are choice and result where it
        // receives.
        let (macs, keys) = (&mut macs[..sent.len()], &mut keys[..sent.len()]);
        bits.draw(context, ch, macs.as_flattened_mut(), keys.as_flattened_mut())?;
        for (j, (&[x0, x1, c, r], &[y0, y1, e, s])) in macs.iter().zip(keys.iter()).enumerate() {
            sent[j] = [x0, x1, e, s];
            received[j] = [y0, y1, c, r];
        }
        chunk(context, ch, sent, received, &mut hashers)?;
    }
    // 9. First the OTs in which party 0 sends.
    let mut both = blake3::Hasher::new();
    for sender in [context.party, context.party.other()] {
        both.update(hashers[usize::from(sender.0)].finalize().as_bytes());
    }
    context.equal(ch, &both, checks::LEAKY_OT)?;
    Ok([sent, received])
}

/// `hashers` take the compared values of the OTs in which this party sends, and of the others.
fn chunk(
    context: &mut Context<impl for<'a> Conduct<Act<'a>>>,
    ch: &mut dyn Channel,
    sent: &mut [Ot],
    received: &mut [Ot],
    hashers: &mut [blake3::Hasher; 2],
) -> Result<()> {
    let n = sent.len();
    let delta = context.key.block();
    context.conduct.before(Act::OtBits { sent, received });
    // 3.
    let mut t = Zeroizing::new(vec![[Block::ZERO; 2]; n]);
    context.rng.fill_blocks(t.as_flattened_mut());
    // 4.
    let [mut near, mut far, mut column] = [(); 3].map(|()| Zeroizing::new(vec![Block::ZERO; n]));
    let mut x = vec![[[Block::ZERO; 2]; 2]; n];
    for part in 0..2 {
        near.iter_mut().zip(sent.iter()).for_each(|(near, &[.., c, _])| *near = c);
        context.hashes.pairs(delta, &mut near, &mut far);
        for (j, (x, (sent, t))) in x.iter_mut().zip(sent.iter().zip(t.iter())).enumerate() {
            for (i, pad) in [near[j], far[j]].into_iter().enumerate() {
                let choose = || t[0] ^ (t[0] ^ t[1]).masked(sent[i].lsb());
                x[i][part] = pad ^ if part == 0 { sent[i] } else { choose() };
            }
        }
    }
    context.conduct.before(Act::OtX(&mut x));
    let mut peers_x = vec![[[Block::ZERO; 2]; 2]; n];
    let bytes = Block::bytes_of(x.as_flattened().as_flattened());
    ch.exchange(bytes, Block::bytes_of_mut(peers_x.as_flattened_mut().as_flattened_mut()))?;
    // 5.
    let mut opened = Zeroizing::new(vec![[Block::ZERO; 2]; n]);
    for part in 0..2 {
        column.iter_mut().zip(received.iter()).for_each(|(column, &[.., c, _])| *column = c);
        context.hashes.macs(&mut column);
        for (j, opened) in opened.iter_mut().enumerate() {
            let [zero, one] = peers_x[j].map(|x| x[part]);
            opened[part] = zero ^ (zero ^ one).masked(received[j][2].lsb()) ^ column[j];
        }
    }
    let mut right = subtle::Choice::from(1);
    for ([mac, _], [k0, k1, c, _]) in opened.iter().zip(received.iter()) {
        let key = *k0 ^ (*k0 ^ *k1).masked(c.lsb());
        right &= mac.ct_eq(&(key ^ delta.masked(mac.lsb())));
    }
    if !verdict(right) {
        return Err(Error::from(checks::LEAKY_OT));
    }
    // 6.
    let mut d = Packed::collect(opened.iter().zip(received.iter()).map(|([z, _], [.., r])| z.lsb() ^ r.lsb()));
    context.conduct.before(Act::OtD(&mut d.0));
    for (j, [.., z]) in received.iter_mut().enumerate() {
        *z = z.with_lsb(z.lsb() ^ d.get(j));
    }
    let d = d.exchange(ch, n)?;
    for (j, [.., z]) in sent.iter_mut().enumerate() {
        *z ^= delta.with_lsb(false).masked(d.get(j));
    }
    // 7.
    near.iter_mut().zip(sent.iter()).for_each(|(near, &[.., z])| *near = z);
    context.hashes.pairs(delta, &mut near, &mut far);
    let mut i: Vec<_> = t.iter().enumerate().map(|(j, t)| [near[j] ^ t[1], far[j] ^ t[0]]).collect();
    context.conduct.before(Act::OtI { i: &mut i, compared: &mut t });
    let mut peers_i = vec![[Block::ZERO; 2]; n];
    ch.exchange(Block::bytes_of(i.as_flattened()), Block::bytes_of_mut(peers_i.as_flattened_mut()))?;
    hashers[0].update(Block::bytes_of(t.as_flattened()));
    // 8.
    column.iter_mut().zip(received.iter()).for_each(|(column, &[.., z])| *column = z);
    context.hashes.macs(&mut column);
    for (j, t) in t.iter_mut().enumerate() {
        let (mine, [zero, one], z) = (opened[j][1], peers_i[j], received[j][3].lsb());
        let other = column[j] ^ zero ^ (zero ^ one).masked(z);
        let swap = (mine ^ other).masked(z);
        *t = [mine ^ swap, other ^ swap];
    }
    hashers[1].update(Block::bytes_of(t.as_flattened()));
    Ok(())
}

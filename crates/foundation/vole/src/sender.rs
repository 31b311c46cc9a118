//! The side that holds delta.

use comity_channel::Channel;
use comity_core::{Block, HugeTable, Result};
use comity_ot::AtLeast;
use comity_ot::base::BaseOt;
use comity_ot::silent::hear_nonce;
use comity_ot::softspoken::{self, Checking};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::parameters::LpnSizes;
use crate::{Setting, dual, noise, primal, products};

/// `n` elements `b` for this delta, which is uniform and serves nothing else if the run fails.
///
/// # Errors
/// Those of OTs and the channel, and in the malicious model
/// [`INCONSISTENT_PRODUCTS`](crate::checks::INCONSISTENT_PRODUCTS).
pub fn send<M: Checking, B: BaseOt<Model: AtLeast<M>>>(
    ch: &mut dyn Channel,
    setting: &Setting,
    delta: Block,
    n: usize,
    rng: &mut dyn CryptoRng,
) -> Result<Zeroizing<Vec<Block>>> {
    send_with::<M, B>(&LpnSizes::STANDARD, ch, setting, delta, n, rng)
}

/// As [`send`], of any size.
pub(crate) fn send_with<M: Checking, B: BaseOt<Model: AtLeast<M>>>(
    parameters: &LpnSizes,
    ch: &mut dyn Channel,
    setting: &Setting,
    delta: Block,
    n: usize,
    rng: &mut dyn CryptoRng,
) -> Result<Zeroizing<Vec<Block>>> {
    let backend = setting.backend;
    let plan = parameters.plan(n);
    let (blocks, depth) = plan.dual;
    let b = products::send::<M, B>(ch, &setting.child("products"), delta, blocks + 1, rng)?;
    // What follows, codes and checks, is of a session that the sender has not all in its hands.
    let setting = &Setting { session: hear_nonce(ch, &setting.session)?, backend };
    let session = setting.session.child("trees");
    let mut cots = softspoken::Sender::<M>::setup::<B>(ch, &session, backend, crate::COT_K, Block::random(rng), rng)?;
    let leaves = noise::send(ch, &setting.child("noise"), &mut cots, delta, &b, depth, rng)?;
    let seed = setting.session.block("dual code");
    let mut base = Zeroizing::new(dual::compress::<1>(backend, seed, &mut table(&leaves), plan.first));
    let mut out = Zeroizing::default();
    for (i, &blocks) in plan.iterations.iter().enumerate() {
        let label = format!("iteration {i}");
        let part = setting.child(&label);
        let (secret, keys) = base.as_flattened().split_at(parameters.dimension);
        let secret = table(secret);
        let mut made = noise::send(ch, &part, &mut cots, delta, &keys[..=blocks], parameters.depth, rng)?;
        primal::encode(backend, part.session.block("primal code"), &secret, &mut made);
        let next = plan.iterations.get(i + 1).map_or(0, |_| parameters.reserved(parameters.blocks));
        base = Zeroizing::new(made[..next].iter().map(|&b| [b]).collect());
        keep(&mut made, next, &mut out, n);
    }
    if plan.iterations.is_empty() {
        out.extend_from_slice(&base.as_flattened()[..n]);
    }
    Ok(out)
}

/// A table of these blocks.
pub(crate) fn table(blocks: &[Block]) -> HugeTable {
    let mut table = HugeTable::zeroed(blocks.len());
    table.copy_from_slice(blocks);
    table
}

/// Adds what an iteration made, but for the first ones, which are reserved, to the output, until that has `n` elements.
pub(crate) fn keep(made: &mut Zeroizing<Vec<Block>>, reserved: usize, out: &mut Zeroizing<Vec<Block>>, n: usize) {
    if reserved == 0 && out.is_empty() {
        made.truncate(n);
        std::mem::swap(made, out);
    } else {
        let missing = n - out.len();
        out.extend(made[reserved..].iter().take(missing));
    }
}

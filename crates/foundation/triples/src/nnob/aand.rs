//! `aAND`: authenticated local ANDs (the aAND command of figure 5), from leaky ones in buckets.
//!
//! When the comparison of LaAND is over, the holder of the bits, whose `x` could leak, throws the coin that partitions
//! ([`Partition`]). In a bucket it reveals `d_j = y_1 + y_j`, and
//!
//! ```text
//! x = x_1 + ... + x_B,   y = y_1,   z = z_1 + sum over j > 1 of (z_j + d_j x_j)
//! ```
//!
//! since `x_j y_1 = x_j (y_j + d_j)`. `x` is unknown to the key holder if one of the `x_j` is. What is revealed of
//! `y_1` is its sum with bits that are used for nothing else. The MACs on the `d_j` go to the ledger, which is settled
//! before anything is given out.
//!
//! **Cost**: `B` leaky ANDs, and `B - 1` bits shown.

use comity_channel::Channel;
use comity_core::{Block, Result};
use comity_protocol::Conduct;
use zeroize::Zeroizing;

use super::abit::ABits;
use super::conduct::Act;
use super::context::Context;
use super::laand::{And, laand};
use crate::bucket::{Bucketing, Partition};

/// A batch of ANDs of this party's bits, and one of the peer's.
pub(super) fn aand(
    context: &mut Context<impl for<'a> Conduct<Act<'a>>>,
    bits: &mut ABits,
    ch: &mut dyn Channel,
    batch: Bucketing,
) -> Result<[Zeroizing<Vec<And>>; 2]> {
    let [mut own, mut theirs] = laand(context, bits, ch, batch.objects())?;
    let coin = context.coin();
    let mut peers = [0; 32];
    ch.exchange(&coin, &mut peers)?;
    let [coin, peers] = [coin, peers].map(|coin| Partition::new(batch, &coin, context.backend));
    let mut macs = differences(batch, &coin, &own);
    let mut keys = differences(batch, &peers, &theirs);
    let [shown, seen] = context.reveal(ch, &mut macs, &mut keys)?;
    combine(batch, &coin, &mut own, |i| shown.get(i));
    combine(batch, &peers, &mut theirs, |i| seen.get(i));
    Ok([own, theirs])
}

/// `d_j` of all buckets for the first `j`, then of all for the next.
fn differences(batch: Bucketing, partition: &Partition, ands: &[And]) -> Zeroizing<Vec<Block>> {
    let of = |j: usize| (0..batch.buckets).map(move |i| ands[i][1] ^ ands[partition.object(i, j)][1]);
    Zeroizing::new((1..batch.size).flat_map(of).collect())
}

/// Leaves the combined ANDs, one for each bucket.
fn combine(batch: Bucketing, partition: &Partition, ands: &mut Zeroizing<Vec<And>>, d: impl Fn(usize) -> bool) {
    let (first, rest) = ands.split_at_mut(batch.buckets);
    for j in 1..batch.size {
        for (i, [x, _, z]) in first.iter_mut().enumerate() {
            let [xj, _, zj] = rest[partition.object(i, j) - batch.buckets];
            *x ^= xj;
            *z ^= zj ^ xj.masked(d((j - 1) * batch.buckets + i));
        }
    }
    // What was there is wiped when it is replaced.
    *ands = Zeroizing::new(first.to_vec());
}

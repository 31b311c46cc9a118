//! `aOT`: authenticated OTs (the aOT command of figure 5), from leaky ones in buckets (figure 16).
//!
//! When the comparison of LaOT is over, the receiver, whose choice bits could leak, throws the coin that partitions
//! ([`Partition`]). Step 3 combines two OTs of a bucket, and the result with the next one: the sender reveals `d`, the
//! sum of all four messages, and
//!
//! ```text
//! c = c_1 + c_2,   z = z_1 + z_2 + d c_1,   x_0 = x_0^1 + x_0^2,   x_1 = x_0^1 + x_1^2.
//! ```
//!
//! The choice bit is unknown to the sender if one of the `c_j` is. The sum of the result's messages is that of the
//! second OT's, so the `d` of all steps are known beforehand and go in one message; they are sums of neighbours, and so
//! the receiver still lacks one. MACs on them go to the ledger, which is settled before anything is given out.
//!
//! **Cost**: `B` leaky OTs, and `B - 1` bits shown.

use comity_channel::Channel;
use comity_core::{Block, Result};
use comity_protocol::Conduct;
use zeroize::Zeroizing;

use super::abit::ABits;
use super::conduct::Act;
use super::context::Context;
use super::laot::{Ot, laot};
use crate::bucket::{Bucketing, Partition};

/// A batch of OTs in which this party sends, and one in which the peer does.
pub(super) fn aot(
    context: &mut Context<impl for<'a> Conduct<Act<'a>>>,
    bits: &mut ABits,
    ch: &mut dyn Channel,
    batch: Bucketing,
) -> Result<[Zeroizing<Vec<Ot>>; 2]> {
    // 1.
    let [mut sent, mut received] = laot(context, bits, ch, batch.objects())?;
    // 2.
    let coin = context.coin();
    let mut peers = [0; 32];
    ch.exchange(&coin, &mut peers)?;
    let [coin, peers] = [coin, peers].map(|coin| Partition::new(batch, &coin, context.backend));
    // 3.
    let mut macs = differences(batch, &peers, &sent);
    let mut keys = differences(batch, &coin, &received);
    let [shown, seen] = context.reveal(ch, &mut macs, &mut keys)?;
    combine(batch, &peers, &mut sent, |i| shown.get(i));
    combine(batch, &coin, &mut received, |i| seen.get(i));
    Ok([sent, received])
}

/// `d` of the first step in all buckets, then of the next.
fn differences(batch: Bucketing, partition: &Partition, ots: &[Ot]) -> Zeroizing<Vec<Block>> {
    let sum = move |i: usize, j: usize| {
        let [x0, x1, ..] = ots[partition.object(i, j)];
        x0 ^ x1
    };
    let of = |j: usize| (0..batch.buckets).map(move |i| sum(i, j - 1) ^ sum(i, j));
    Zeroizing::new((1..batch.size).flat_map(of).collect())
}

/// Leaves the combined OTs, one for each bucket.
fn combine(batch: Bucketing, partition: &Partition, ots: &mut Zeroizing<Vec<Ot>>, d: impl Fn(usize) -> bool) {
    let (first, rest) = ots.split_at_mut(batch.buckets);
    for j in 1..batch.size {
        for (i, ot) in first.iter_mut().enumerate() {
            let [x0, _, c, z] = *ot;
            let [y0, y1, e, w] = rest[partition.object(i, j) - batch.buckets];
            *ot = [x0 ^ y0, x0 ^ y1, c ^ e, z ^ w ^ c.masked(d((j - 1) * batch.buckets + i))];
        }
    }
    // What was there is wiped when it is replaced.
    *ots = Zeroizing::new(first.to_vec());
}

//! Combining: a bucket of leaky triples becomes one that does not leak, unless all of them do.
//!
//! Of triples `(x_j, y_j, z_j)` the first gives `y = y_1`. For each other one both show `d_j = y_1 + y_j`, with MACs; then
//! `x = x_1 + x_2 + ...` and `z = z_1 + sum (z_j + d_j x_j)` are such that `z = x y`. Only `x` leaked, so one good `x_j` makes `x`
//! good; and `d_j` tells nothing of `y_1`, since `y_j` is used for nothing else.

use comity_channel::Channel;
use comity_core::{Block, Result};
use comity_share::{GlobalKey, Ledger};

use crate::Triple;
use crate::bucket::{Batch, Partition};

/// Buckets that are combined in one go: their triples stay in cache.
const STEP: usize = 1 << 11;

/// Combines all buckets into their first triples, which are column 0; `others` are the other columns. The MACs go to the
/// `ledger`: nothing may be used before it is settled.
pub(super) fn combine(
    ch: &mut dyn Channel,
    batch: Batch,
    partition: &Partition,
    key: &GlobalKey,
    first: &mut [Triple],
    others: &[Triple],
    ledger: &mut Ledger,
) -> Result<()> {
    let Batch { buckets, size } = batch;
    let per_bucket = size - 1;
    let mut macs = vec![Block::ZERO; per_bucket * STEP.min(buckets)];
    let [mut own, mut theirs] = [(); 2].map(|()| vec![0; macs.len().div_ceil(8)]);
    for start in (0..buckets).step_by(STEP) {
        let n = STEP.min(buckets - start);
        let total = n * per_bucket;
        let (macs, own, theirs) = (&mut macs[..total], &mut own[..total.div_ceil(8)], &mut theirs[..total.div_ceil(8)]);
        let runs = || (1..size).flat_map(|column| partition.runs(column, start..start + n));
        own.fill(0);
        let mut i = 0;
        for (bucket, object, len) in runs() {
            let followers = &others[object - buckets..][..len];
            for (leader, follower) in first[bucket..bucket + len].iter().zip(followers) {
                let mac = (leader.b ^ follower.b).mac();
                own[i / 8] |= u8::from(mac.lsb()) << (i % 8);
                macs[i] = mac;
                i += 1;
            }
        }
        ledger.show(macs);
        ch.exchange(own, theirs)?;
        let mut i = 0;
        for (bucket, object, len) in runs() {
            let followers = &others[object - buckets..][..len];
            for (leader, follower) in first[bucket..bucket + len].iter_mut().zip(followers) {
                let bit = |bits: &[u8]| bits[i / 8] >> (i % 8) & 1 == 1;
                macs[i] = (leader.b ^ follower.b).expected(bit(theirs), key);
                leader.c ^= follower.c ^ follower.a.masked(bit(own) ^ bit(theirs));
                leader.a ^= follower.a;
                i += 1;
            }
        }
        ledger.see(macs);
    }
    Ok(())
}

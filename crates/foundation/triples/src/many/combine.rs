//! Combining: a bucket of leaky triples becomes one that does not leak, unless all of them do. As at two
//! parties ([`fast`](crate::fast)), on rows.
//!
//! Of triples `(x_j, y_j, z_j)` the first gives `y = y_1`. For each other one `d_j = y_1 + y_j` is opened;
//! then `x = x_1 + x_2 + ...` and `z = z_1 + sum (z_j + d_j x_j)` are such that `z = x y`. Only `x` leaked,
//! so one good `x_j` makes `x` good; and `d_j` tells nothing of `y_1`, since `y_j` is used for nothing else.

use comity_channel::Mesh;
use comity_core::Result;
use comity_protocol::Conduct;
use comity_share::joint::JointAct;
use comity_share::{Joint, Openings, RowShares};

use super::CHUNK;
use super::table::{BLOCKS, Table, sections};
use crate::bucket::Partition;
use crate::words::{Combine, Words, add, words, words_mut};

/// Combines all buckets into their first triples, `leaders`, which are column 0; `others` are the other
/// columns. Nothing may be used before the openings are settled.
pub(super) fn combine<C: for<'a> Conduct<JointAct<'a>>>(
    net: &mut Mesh<'_>,
    joint: &mut Joint<C>,
    openings: &mut Openings,
    partition: &Partition,
    leaders: &mut Table,
    others: &Table,
) -> Result<()> {
    let (me, parties) = (joint.me(), joint.parties());
    let batch = partition.batch();
    let mut masks: Vec<Words> = vec![[0; 2]; CHUNK];
    for (chunk, start) in leaders.chunks_mut().zip((0..).step_by(CHUNK)) {
        let n = chunk.len() / (BLOCKS * usize::from(parties));
        // The objects of these buckets in a column but the first, as runs: each with the number of its first bucket.
        let runs = |column: usize| {
            partition.runs(column, start..start + n).flat_map(move |(bucket, object, len)| {
                let object = object - batch.buckets;
                others.runs(object..object + len).map(move |(before, run)| (bucket - start + before, run))
            })
        };
        let mut rows = RowShares::zeros(me, parties, (batch.size - 1) * n);
        for (i, (party, section)) in sections(chunk, parties).enumerate() {
            let sums = rows.column_mut(party).chunks_exact_mut(n);
            for (sums, column) in sums.zip(1..) {
                sums.copy_from_slice(&section[n..2 * n]);
                for (first, run) in runs(column) {
                    add(words_mut(&mut sums[first..first + run.len()]), words(run.part(i, 1)));
                }
            }
        }
        let opened = openings.open(net, &rows, joint.conduct())?;
        for column in 1..batch.size {
            let d = opened.slice((column - 1) * n, n);
            for (mask, bit) in masks.iter_mut().zip(d.iter()) {
                *mask = [u64::from(bit).wrapping_neg(); 2];
            }
            for (i, (_, section)) in sections(chunk, parties).enumerate() {
                let (x, rest) = section.split_at_mut(n);
                let z = &mut rest[n..];
                for (first, run) in runs(column) {
                    let range = first..first + run.len();
                    let to = [&mut *x, &mut *z].map(|sums| words_mut(&mut sums[range.clone()]));
                    let from = [0, 2].map(|part| words(run.part(i, part)));
                    partition.backend().vectorize(Combine { to, from, d: &masks[range] });
                }
            }
        }
    }
    Ok(())
}

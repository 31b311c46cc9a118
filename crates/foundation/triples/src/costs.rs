//! What dealing costs: a dealer's objects, with lengths. Its set-up and chunks are counted as they come to
//! most, so that this is an estimate.

use comity_core::Result;
use comity_protocol::{Costing, Talk};

use crate::bucket::Budget;
use crate::many;

/// Bytes of a set-up to each peer.
const SETUP: u64 = 9_800;

/// Bytes of an object of a bucket to each peer: three OTs, a ciphertext and a bit.
const OBJECT: f64 = 27.75;

/// Objects that are made at once.
const CHUNK: u64 = 10_880;

/// Messages that wait for each other, by the number of chunks: between two parties five for each eight
/// chunks; among more two for each.
const TURNS: [fn(u64) -> u64; 2] = [|chunks| 5 * chunks.div_ceil(8), |chunks| 2 * chunks];

/// Seconds of work for an object with each peer, and for a set-up.
const WORK: f64 = 200e-9;
const BASE: f64 = 0.011;

/// The messages of a dealer between two parties that makes `ands` triples, in batches of at most `objects`
/// objects.
///
/// # Errors
/// As [`Budget::known`].
pub fn deal_for_two(of: &Costing<'_>, ands: u64, objects: usize, talk: &mut Talk) -> Result<()> {
    deal(of, ands, (objects, TURNS[0]), talk)
}

/// The messages of a dealer among any number of parties that makes `ands` triples, in batches of at most
/// `objects` objects.
///
/// # Errors
/// As [`Budget::known`].
pub fn deal_for_many(of: &Costing<'_>, ands: u64, objects: usize, talk: &mut Talk) -> Result<()> {
    deal(of, ands, (objects.min(many::objects(of.parties)), TURNS[1]), talk)
}

/// As [`deal_for_many`], of a dealer that makes all its bits with its set-up
/// ([`Many::new_for`](many::Many::new_for)): chunks leave together.
///
/// # Errors
/// As [`Budget::known`].
pub fn deal_at_once(of: &Costing<'_>, ands: u64, talk: &mut Talk) -> Result<()> {
    deal(of, ands, (many::objects(of.parties), |_| 2), talk)
}

/// A dealer that makes batches of at most `objects` objects; `turns` gives the messages in a row for a number
/// of chunks.
fn deal(of: &Costing<'_>, ands: u64, (objects, turns): (usize, fn(u64) -> u64), talk: &mut Talk) -> Result<()> {
    talk.about();
    let budget = Budget::known(ands, of.params.rho, 1, objects)?;
    let Some((batch, _)) = budget.known_batch() else { return Ok(()) };
    let (objects, buckets) = (batch.objects() as u64, batch.buckets as u64);
    talk.exchange(SETUP);
    talk.turns(7);
    talk.work(BASE * f64::from(of.parties - 1));
    talk.repeat(ands.max(1).div_ceil(buckets), &mut |talk| {
        let chunks = buckets.div_ceil(CHUNK) + (objects - buckets).div_ceil(CHUNK);
        // Each chunk has a mask of its own and what is checked.
        talk.exchange(((OBJECT * objects as f64) as u64) + (objects - buckets) / 8 + 700 * chunks);
        talk.turns(turns(chunks) + 4);
        talk.work(WORK * objects as f64 * f64::from(of.parties - 1));
    });
    Ok(())
}

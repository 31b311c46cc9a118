//! What dealing costs: a dealer's objects, with lengths. Its set-up and chunks are counted as they come to
//! most, so that this is an estimate.

use comity_core::{Error, Result};
use comity_protocol::{Costing, Talk};

use crate::bucket::Budget;
use crate::dealers::DealerKind;
use crate::many;

/// Bytes of a set-up to each peer.
const SETUP: u64 = 9_800;

/// Bytes of an object of a bucket to each peer: three OTs, a ciphertext and a bit.
const OBJECT: f64 = 27.75;

/// Objects that are made at once.
const CHUNK: u64 = 10_880;

/// Messages that wait for each other: in the set-up, and by the number of chunks.
struct Turns {
    setup: u64,
    chunks: fn(u64) -> u64,
}

/// Between two parties five for each eight chunks.
const FOR_TWO: Turns = Turns { setup: 2, chunks: |chunks| 5 * chunks.div_ceil(8) };

/// Among more parties two for each chunk.
const FOR_MANY: Turns = Turns { setup: 7, chunks: |chunks| 2 * chunks };

/// Seconds of work for an object with each peer, and for a set-up.
const WORK: f64 = 200e-9;
const BASE: f64 = 0.011;

/// Whether the messages of this dealer are counted here.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) if they are not.
pub fn counted(kind: DealerKind) -> Result<()> {
    match kind {
        DealerKind::Fast => Ok(()),
        DealerKind::Nnob12 => Err(Error::invalid_input(
            "what the dealer nnob12 sends is not counted beforehand: plan with the dealer fast, or measure a run \
             (`comity local`)",
        )),
    }
}

/// The messages of the dealer [`Fast`](DealerKind::Fast) between two parties that makes `ands` triples, in
/// batches of at most `objects` objects.
///
/// # Errors
/// As [`Budget::known`].
pub fn deal_for_two(of: &Costing<'_>, ands: u64, objects: usize, talk: &mut Talk) -> Result<()> {
    deal(of, ands, objects, FOR_TWO, talk)
}

/// The messages of a dealer among any number of parties that makes `ands` triples, in batches of at most
/// `objects` objects.
///
/// # Errors
/// As [`Budget::known`].
pub fn deal_for_many(of: &Costing<'_>, ands: u64, objects: usize, talk: &mut Talk) -> Result<()> {
    deal(of, ands, objects.min(many::objects(of.parties)), FOR_MANY, talk)
}

/// As [`deal_for_many`], of a dealer that makes all its bits with its set-up
/// ([`Many::new_for`](many::Many::new_for)): chunks leave together.
///
/// # Errors
/// As [`Budget::known`].
pub fn deal_at_once(of: &Costing<'_>, ands: u64, talk: &mut Talk) -> Result<()> {
    deal(of, ands, many::objects(of.parties), Turns { chunks: |_| 2, ..FOR_MANY }, talk)
}

/// A dealer that makes batches of at most `objects` objects.
fn deal(of: &Costing<'_>, ands: u64, objects: usize, turns: Turns, talk: &mut Talk) -> Result<()> {
    talk.about();
    let budget = Budget::known(ands, of.params.rho, 1, objects)?;
    let Some((batch, _)) = budget.known_batch() else { return Ok(()) };
    let (objects, buckets) = (batch.objects() as u64, batch.buckets as u64);
    talk.exchange(SETUP);
    talk.turns(turns.setup);
    talk.work(BASE * f64::from(of.parties - 1));
    talk.repeat(ands.max(1).div_ceil(buckets), &mut |talk| {
        let chunks = buckets.div_ceil(CHUNK) + (objects - buckets).div_ceil(CHUNK);
        // Each chunk has a mask of its own and what is checked.
        talk.exchange(((OBJECT * objects as f64) as u64) + (objects - buckets) / 8 + 700 * chunks);
        talk.turns((turns.chunks)(chunks) + 4);
        talk.work(WORK * objects as f64 * f64::from(of.parties - 1));
    });
    Ok(())
}

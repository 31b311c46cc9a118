//! Material made ahead, in lots from which a whole number of runs can be supplied.

use comity_core::Result;
use comity_protocol::{Ahead, Lot, Party, Press, WriteBatch};

/// The batches of one material.
#[derive(Clone, Copy)]
pub struct Batches {
    /// Units in a batch.
    pub units: u64,
    /// Batches of a lot.
    pub lot: u64,
}

/// The number of batches of a lot from which each run takes `together`: near `batches`, and a whole number of
/// runs, so that no batch is left over.
pub fn whole_runs(batches: u64, together: u64) -> u64 {
    batches.checked_div(together).map_or(batches, |runs| runs.max(1) * together)
}

/// Makes lots until the order is filled. `open` begins a lot of a number of units, in a session of its own,
/// and returns the writer of its batches.
///
/// # Errors
/// Those of writing, and of the shelf. Lots that were finished before stay.
pub fn fill_lots(
    me: &mut Party<'_, '_>,
    ahead: &Ahead<'_>,
    to: &mut dyn Press,
    of: Batches,
    mut open: impl FnMut(u64) -> Box<WriteBatch<'static>>,
) -> Result<()> {
    let mut done = 0;
    while done < ahead.make.batches {
        let batches = of.lot.min(ahead.make.batches - done);
        let units = |batches: u64| batches.saturating_mul(of.units);
        let mut me = me.sub(&format!("material from batch {done} on"));
        let mut write = open(units(batches));
        to.put(&mut me, &Lot { units: vec![units(batches)], batches }, &mut |me, batch, out| {
            write(me, batch, out)?;
            me.observer.and_gates(units(done + batch + 1));
            Ok(())
        })?;
        done += batches;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::whole_runs;

    #[test]
    fn a_lot_holds_whole_runs() {
        assert_eq!([whole_runs(1024, 0), whole_runs(1024, 1), whole_runs(1024, 3)], [1024, 1024, 1023]);
        assert_eq!([whole_runs(1024, 1025), whole_runs(1024, 700)], [1025, 700]);
    }
}

//! Making material of stored material: one run's at a time, each of a lot that all parties have.

use std::slice;

use comity_channel::Mesh;
use comity_core::Result;
use comity_net::SystemRng;
use comity_protocol::{Ahead, Empty, Here, Need, Party, Protocol};
use comity_store::Store;

use super::choose::{Missing, Wanted, how, why};
use super::fill::Filling;
use super::supply::Supplied;
use crate::clock::Clock;

/// Material of one program, and the stored material that it is made from.
pub(super) struct OfStored<'m> {
    pub(super) protocol: &'m dyn Protocol,
    pub(super) store: &'m Store,
    /// The material that one run's material is made from.
    pub(super) source: Wanted<'m>,
    /// All that is to be made.
    pub(super) ahead: Ahead<'m>,
    /// One run's part of it.
    pub(super) each: &'m Need,
}

impl OfStored<'_> {
    /// Makes it from stored lots, run by run, as long as there are any, and the rest anew. The material of
    /// each run has a session of its own, which follows from the lot.
    ///
    /// # Errors
    /// Those of choosing and of the protocol.
    pub(super) fn make(
        &self,
        mesh: &mut Mesh<'_>,
        here: Here,
        clock: &mut Clock<'_>,
        filling: &mut Filling<'_>,
    ) -> Result<()> {
        let Need { batches: each, .. } = *self.each;
        let mut left = self.ahead.make.clone();
        Supplied::passes_over(self.store, clock)?;
        while left.batches > 0 {
            let (mut session, mut options) =
                (here.child(&format!("run before {}", left.batches)), self.ahead.options.clone());
            let found =
                Supplied::find(self.store, slice::from_ref(&self.source), mesh, &mut session, &mut options, clock)?;
            let mut supplied = match found {
                Ok(supplied) => supplied,
                Err(lack) => {
                    if !matches!(lack.why, Missing::Everywhere) {
                        let (why, how) = (why(&self.source, &lack.why), how(&self.source, &options));
                        clock.watch().made_anew(&format!("{why}; {how} makes the material of one run"));
                    }
                    let mut me = Party { net: mesh, here, rng: &mut SystemRng, observer: clock };
                    return self.protocol.prepare(&mut me, &Ahead { make: &left, ..self.ahead }, &mut Empty, filling);
                }
            };
            let mut me = Party { net: mesh, here: session, rng: &mut SystemRng, observer: clock };
            let ahead = Ahead { make: self.each, ..self.ahead };
            let done = self.protocol.prepare(&mut me, &ahead, &mut supplied, filling);
            supplied.ended(self.store, done.is_err(), clock.watch());
            done?;
            left.batches -= each;
            left.units.iter_mut().zip(&self.each.units).for_each(|(left, each)| *left -= each);
        }
        Ok(())
    }
}

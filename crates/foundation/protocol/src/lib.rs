//! A protocol is a value: what every protocol of comity is, said once.
//!
//! A [`Protocol`] has a [`Card`], on which stands everything that is printed about it, compared in a hello or
//! stored with its material; it runs a [`Job`] as one [`Party`] of several; it may make [`Material`] ahead,
//! which it puts into a [`Press`], and takes from a [`Shelf`] and finds again among its [`Supplies`]. The
//! front knows protocols by this trait alone: a new one is a crate, a line in its dependencies, and a line in
//! its list.
//!
//! What is no program on an engine (a *service*: one message, a proof, a set) has the same card and functions
//! of its own.
//!
//! Nothing here opens a socket or a file: a channel, a generator and an observer come in with the party,
//! shelves with the supplies.

mod batch;
mod card;
mod conduct;
mod costs;
mod material;
mod options;
mod outline;
mod party;
mod reactive;

use comity_circuit::Program;
use comity_core::{Bits, Error, Params, PartyId, Result};

pub use batch::BatchForm;
pub use card::{Adversary, Card, CardKind, Corrupt, Default, Opt, Takes, Values};
pub use comity_circuit::Goal;
pub use conduct::{Conduct, Honest};
pub use costs::{Costing, Talk, Walked};
pub use material::{Dealer, Empty, Lot, Material, Need, Press, ProgramBound, Shelf, Supplies, WriteBatch};
pub use options::{OptionValue, Options};
pub use outline::{Converted, Outline, Outlined};
pub use party::{Here, Party};
pub use reactive::{Reactive, Shares};

/// A job: the computation, the same at all parties except for the inputs.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The program.
    pub program: &'a Program,
    /// Input values, each there exactly if it is this party's.
    pub inputs: &'a [Option<Bits>],
    /// The options, [settled](Protocol::settle).
    pub options: &'a Options,
}

/// A protocol that runs programs.
pub trait Protocol: Sync {
    /// The card of the protocol.
    fn card(&self) -> &'static Card;

    /// Checks that the protocol can run this program with these options. The limits on the card were
    /// [checked](Card::fits) before.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) says why not.
    fn fits(&self, program: &Program, options: &Options, params: Params) -> Result<()> {
        let _ = (program, options, params);
        Ok(())
    }

    /// Checks that `parties` parties can take part with these options. The card's own limits were
    /// [checked](Card::fits_parties) before.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) says why not.
    fn fits_parties(&self, parties: u16, options: &Options) -> Result<()> {
        let _ = (parties, options);
        Ok(())
    }

    /// Checks that this party has set every option that it must set itself. Called before any peer is
    /// contacted.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) says what is missing.
    fn fits_party(&self, me: PartyId, options: &Options) -> Result<()> {
        let _ = (me, options);
        Ok(())
    }

    /// Sets the options that nobody has set and that follow from the program, to the same values at all
    /// parties.
    fn settle(&self, options: &mut Options, program: &Program) {
        let _ = (options, program);
    }

    /// What the parties have to agree on beside program and options: what this protocol makes of them, which
    /// another version could make otherwise. A name and a digest each, for the hello.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the options do not fit the program.
    fn agrees_on(&self, program: &Program, options: &Options) -> Result<Vec<(&'static str, String)>> {
        let _ = (program, options);
        Ok(Vec::new())
    }

    /// The assumption that a run with these options needs of a primitive, where options differ in it: a
    /// sentence for the report.
    fn assumption(&self, options: &Options) -> Option<&'static str> {
        let _ = options;
        None
    }

    /// The materials that a run of this program takes from a store, each from a lot of its own; at least one.
    /// Called before the session connects.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the protocol has no material, or none with these options.
    fn needs(&self, program: &Program, options: &Options, params: Params) -> Result<Vec<Need>> {
        let _ = (program, options, params);
        Err(self.nothing_ahead())
    }

    /// The need of `units` units of material for any program, in its first unit, rounded up to whole batches.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the protocol has no such material.
    fn amount(&self, units: u64, options: &Options, params: Params) -> Result<Need> {
        let _ = (units, options, params);
        match self.card().material(true) {
            Some(_) => Err(Error::invalid_input(format!("{} prepares runs of a program: name one", self.card().name))),
            None => Err(self.nothing_ahead()),
        }
    }

    /// The need of material for any program within a bound, for a protocol that counts wires, too, rounded up
    /// to whole batches.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the protocol counts by one number, or no program is within the
    /// bound.
    fn amount_within(&self, bound: &ProgramBound, options: &Options, params: Params) -> Result<Need> {
        let _ = (bound, options, params);
        Err(Error::invalid_input(format!(
            "{} counts what it prepares for any program by one number: leave --wires out",
            self.card().name
        )))
    }

    /// The stored material from which the material for one run of a program is made, if it is made from
    /// stored material: the [`from`](Material::from) of its card. Asked before any peer is contacted.
    fn source(&self, program: &Program, options: &Options) -> Option<Need> {
        let _ = (program, options);
        None
    }

    /// What a run of a program that needs this lacks if there are only `batches` batches of it, in words, for a
    /// protocol whose material is of several kinds.
    fn lacks(&self, program: &Program, need: &Need, batches: u64) -> Option<String> {
        let _ = (program, need, batches);
        None
    }

    /// The most bytes that one of `parties` parties stores for a need.
    fn stored_bytes(&self, need: &Need, parties: u16) -> u64 {
        let _ = parties;
        need.bytes
    }

    /// The error that says why the protocol makes no material ahead.
    #[doc(hidden)]
    fn nothing_ahead(&self) -> Error {
        Error::invalid_input(format!("{} has nothing that could be prepared: leave the store out", self.card().name))
    }

    /// Runs this party's side. Outputs go to the observer as their checks pass.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) where the inputs do not fit the program; what channels report; and
    /// the protocol's checks.
    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()>;

    /// What a run without material costs. Goes through its messages after the hello, with their lengths
    /// instead of their bytes. The front asks every protocol, and a test of the front compares the answers
    /// with what runs send.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the protocol does not know its costs.
    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        let _ = (of, talk);
        Err(Error::invalid_input(format!("{} does not say what it costs", self.card().name)))
    }

    /// What a run makes of the program's operations, for a protocol that computes in several forms; `None` for
    /// others.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the protocol does not run the program with these options.
    fn outline(&self, of: &Costing<'_>) -> Result<Option<Outline>> {
        let _ = of;
        Ok(None)
    }

    /// Makes `ahead` and puts it into `to`. Where the material is [made from](Protocol::source) another one,
    /// `from` has a shelf with enough of that for one run, or no such shelf: the same at all parties.
    ///
    /// # Errors
    /// As [`Protocol::run`]; those of the shelf. Lots that were finished before an error stay.
    fn prepare(
        &self,
        me: &mut Party<'_, '_>,
        ahead: &Ahead<'_>,
        from: &mut dyn Supplies,
        to: &mut dyn Press,
    ) -> Result<()> {
        let _ = (me, ahead, from, to);
        Err(self.nothing_ahead())
    }

    /// Begins a session by hand, in which inputs, calls and outputs come in any order.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the protocol only runs whole programs; those of the setup.
    fn reactive(&self, me: &mut Party<'_, '_>, options: &Options) -> Result<Box<dyn Reactive>> {
        let _ = (me, options);
        Err(Error::invalid_input(format!("{} runs whole programs only", self.card().name)))
    }
}

/// An order for material that is made ahead.
#[derive(Clone, Copy)]
pub struct Ahead<'a> {
    /// The program that the material is for; `None` if it is for any.
    pub program: Option<&'a Program>,
    /// The options, [settled](Protocol::settle).
    pub options: &'a Options,
    /// The amount.
    pub make: &'a Need,
    /// Batches that one run will use up together, which then have to be in one lot; 0 if nobody knows.
    pub together: u64,
}

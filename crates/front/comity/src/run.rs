//! Running a program: from a session that is set up to its report.

use comity_circuit::Program;
use comity_core::{Bits, Error, Result};
use comity_net::SystemRng;
use comity_protocol::{Empty, Job, Party};

use crate::clock::Clock;
use crate::meet::Begun;
use crate::offline::{Supplied, Wanted, ids};
use crate::report::Report;
use crate::session::{Session, whose};
use crate::watch::Watch;

impl Session<'_> {
    /// Runs the program with this party's inputs, each with its index, and reports when all is done and checked.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) before anything is sent if the inputs are not exactly this party's, at the program's
    /// widths, or the session is not set up; [`Mismatch`](comity_core::Kind), on both sides, if the parties want different
    /// things; otherwise what the network, the peers and the protocol's checks give.
    pub fn run(self, program: &Program, inputs: impl IntoIterator<Item = (usize, Bits)>) -> Result<Report> {
        self.run_watched(program, inputs, &mut ())
    }

    /// As [`Session::run`], and tells `watch` how it goes.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub fn run_watched(
        self,
        program: &Program,
        inputs: impl IntoIterator<Item = (usize, Bits)>,
        watch: &mut dyn Watch,
    ) -> Result<Report> {
        self.run_with(program, inputs.into_iter().collect(), watch)
    }

    /// The body of [`Session::run_watched`], which for each kind of iterator would be compiled again.
    fn run_with(mut self, program: &Program, inputs: Vec<(usize, Bits)>, watch: &mut dyn Watch) -> Result<Report> {
        let protocol = self.chosen(Some(program))?;
        let card = protocol.card();
        let options = self.options(card)?;
        let settled = self.check(protocol, program, &options)?;
        let inputs = self.given(program, inputs)?;
        let store = self.store.take();
        let need = store.as_ref().map(|_| protocol.needs(program, &settled, self.params)).transpose()?;
        let phase = if store.is_some() { "run from a store" } else { "run" };
        let greeting = self.greeting(card, Some(program), phase)?;
        // Now, so that the peer does not wait for it later.
        program.lowered();
        let met = self.meet(card, watch)?;
        watch.connected(&met.address);
        let mut clock = Clock::start(watch);
        clock.phase_begins("hello");
        let mut rng = SystemRng;
        let Begun { mut mesh, counters, mut here, mut options, keys } =
            met.greet(&self, greeting, options, &mut rng)?;
        let mut supplied = match (&store, need) {
            (Some(store), Some(need)) => {
                let wanted = Wanted { card, program, need: &need, peers: ids(&keys) };
                Some(Supplied::choose(store, &wanted, &mut mesh, &mut here, &mut options, &mut clock)?)
            }
            _ => None,
        };
        protocol.settle(&mut options, program);
        let job = Job { program, inputs: &inputs, options: &options };
        let mut me = Party { net: &mut mesh, here, rng: &mut rng, observer: &mut clock };
        let done = match &mut supplied {
            Some(supplied) => protocol.run(&mut me, &job, supplied),
            None => protocol.run(&mut me, &job, &mut Empty),
        };
        if let (Some(supplied), Some(store)) = (supplied, &store) {
            supplied.ended(store, done.is_err(), clock.watch());
        }
        done.map_err(|error| whose(error, &mesh))?;
        Ok(Report::new(card, &options, here, program.and_gates(), &counters, clock.stop()))
    }

    /// The inputs by index, each there exactly if it is this party's.
    fn given(&self, program: &Program, inputs: Vec<(usize, Bits)>) -> Result<Vec<Option<Bits>>> {
        let mut given: Vec<Option<Bits>> = vec![None; program.inputs().len()];
        for (index, bits) in inputs {
            match given.get_mut(index) {
                Some(slot) if slot.is_none() => *slot = Some(bits),
                Some(_) => return Err(Error::invalid_input(format!("input {index} is given twice"))),
                None => {
                    let there = given.len();
                    return Err(Error::invalid_input(format!("there is no input {index}: the program has {there}")));
                }
            }
        }
        program.check_inputs(Some(self.me), &given)?;
        Ok(given)
    }
}

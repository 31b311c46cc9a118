//! Running a program: from a session that is set up to its report.

use comity_circuit::Program;
use comity_core::{Bits, Block, Error, Prg, Result};
use comity_net::SystemRng;
use comity_protocol::{Job, Party, Supplies};
use zeroize::Zeroizing;

use crate::clock::Clock;
use crate::helper::Helped;
use crate::meet::Begun;
use crate::offline::{Supplied, Wanted, ids};
use crate::report::Report;
use crate::session::{Session, whose};
use crate::shares::{self, Form};
use crate::watch::Watch;

impl Session<'_> {
    /// Runs the program with this party's inputs, each with its index. Returns when all is done and checked.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind), before anything is sent, if the inputs are not exactly this
    /// party's, at the program's widths, or the session is not set up; [`Mismatch`](comity_core::Kind), on
    /// both sides, if the parties want different things; otherwise those of the network, the peers and the
    /// protocol's checks.
    pub fn run(self, program: &Program, inputs: impl IntoIterator<Item = (usize, Bits)>) -> Result<Report> {
        self.run_watched(program, inputs, &mut ())
    }

    /// As [`Session::run`], and reports its progress to `watch`.
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
        let helpers = self.helpers(&options)?;
        let unauthenticated = self.unauthenticated(card, program)?;
        let inputs = self.given(program, inputs)?;
        let mut rng = SystemRng;
        let form = Form::of(program, card, self.parties())?;
        let (inputs, masks) = match &form {
            Form::Same(_) => (inputs, Vec::new()),
            Form::Without(unshared) => {
                let mut stream = Prg::new(self.backend, Block::random(&mut rng));
                unshared.inputs(self.me, &inputs, |bits| random(bits, &mut stream))
            }
        };
        let (whole, program) = (program, form.program());
        let store = self.store.take();
        let needs = store.as_ref().map(|_| protocol.needs(program, &settled, self.params)).transpose()?;
        // What it is that one takes from a store is no option that all agree on, since it means nothing
        // without one.
        let phase = needs.as_ref().map_or("run".to_owned(), |needs| {
            let materials: Vec<_> = needs.iter().map(|need| need.material).collect();
            format!("run on {} from a store", materials.join(" and "))
        });
        let mut greeting = self.greeting(card, Some(whole), &phase)?;
        let agreed = protocol.agrees_on(program, &settled)?;
        greeting.more.extend(agreed.into_iter().map(|(name, digest)| (name, Some(digest))));
        // Now, so that the peer does not wait for it later.
        program.lowered();
        let met = self.meet(card, watch)?;
        watch.connected(&met.address);
        let mut clock = Clock::start(watch);
        clock.phase_begins("hello");
        let Begun { mut mesh, counters, mut here, mut options, keys, .. } =
            met.greet(&self, greeting, options, clock.watch())?;
        let session = here.session;
        let mut supplied = match (&store, needs) {
            (Some(store), Some(needs)) => {
                let wanted = |need| Wanted { protocols: self.protocols, card, program, need, peers: ids(&keys) };
                let wanted: Vec<_> = needs.iter().map(wanted).collect();
                Some(Supplied::choose(store, &wanted, &mut mesh, &mut here, &mut options, &mut clock)?)
            }
            _ => None,
        };
        protocol.settle(&mut options, program);
        let job = Job { program, inputs: &inputs, options: &options };
        let mut me = Party { net: &mut mesh, here, rng: &mut rng, observer: &mut clock };
        let rest = supplied.as_mut().map(|supplied| supplied as &mut dyn Supplies);
        let done = protocol.run(&mut me, &job, &mut Helped { helpers, rest });
        if let (Some(supplied), Some(store)) = (supplied, &store) {
            supplied.ended(store, done.is_err(), clock.watch());
        }
        done.map_err(|error| whose(error, &mesh))?;
        let mut times = clock.stop();
        times.outputs.extend(masks);
        let shares = shares::go_out(whole, &session, (here.me, here.parties), &mut times.outputs);
        let report = Report::new(card, &options, here, program.and_gates(), &counters, times);
        Ok(Report { shares, unauthenticated, assumption: protocol.assumption(&options), ..report })
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
        self.put_in(program, &mut given)?;
        program.check_inputs(Some(self.me), &given)?;
        Ok(given)
    }
}

/// The next bits of a stream.
fn random(bits: usize, stream: &mut Prg) -> Bits {
    let mut bytes = Zeroizing::new(vec![0; bits.div_ceil(8)]);
    stream.fill(&mut bytes);
    Bits::from_bytes(&bytes, bits)
}

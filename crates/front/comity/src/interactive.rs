//! `Interactive`: a session without a program. Inputs, calls and outputs come as the parties think of them.
//!
//! The protocol is one whose wires live as long as the session (`tinyot` if none is named): a [`Shared`]
//! value is put in or computed, and used again whenever it is wanted; an input may depend on an output that
//! came before. What the protocol's card promises holds as long as each party calls what it wants to call:
//! all make the same calls in the same order, and nobody trusts another to say which. People at two terminals
//! agree on each statement first ([`Interactive::agree`]).

mod agree;

use comity_channel::{Counter, Mesh, PerPeer, Traffic};
use comity_circuit::{Observer, Program, Recipients};
use comity_core::{Bits, Error, PartyId, Result, SessionId};
use comity_net::SystemRng;
use comity_protocol::{Here, Party, Reactive, Shares};

pub use agree::MAX_STATEMENT;

use crate::meet::Begun;
use crate::protocol::fits;
use crate::report::sum;
use crate::session::{Part, Session, whose};
use crate::watch::Watch;

/// A value that the parties hold shares of and nobody knows. It can be used in its own session only.
pub struct Shared {
    shares: Shares,
    session: SessionId,
}

impl Shared {
    /// The number of bits of the value.
    pub fn bits(&self) -> usize {
        self.shares.bits
    }
}

/// A session, statement by statement.
///
/// ```
/// use comity::{Bits, Program, Recipients, Session, library, memory};
///
/// // What each party runs; the number is its own.
/// fn party(me: u16, channel: impl comity::Channel, number: u64) -> comity::Result<Bits> {
///     let mut session = Session::new(me).over(channel).interactive(&mut ())?;
///     let own = Bits::from_bytes(&number.to_le_bytes(), 64);
///     let [a, b] = [0, 1].map(|owner| session.input(owner, 64, (owner == me).then_some(&own)));
///     let larger = Program::from_circuit(library::find("gt64").expect("a built-in")).expect("two values");
///     let result = session.call(&larger, &[&a?, &b?])?;
///     Ok(session.reveal(Recipients::All, &result[0])?.expect("it is for all"))
/// }
/// let (to_one, to_zero) = memory::pair();
/// let one = std::thread::spawn(|| party(1, to_zero, 17));
/// assert!(party(0, to_one, 42)?.get(0));
/// assert!(one.join().unwrap()?.get(0));
/// # Ok::<(), comity::Error>(())
/// ```
pub struct Interactive<'a> {
    mesh: Mesh<'a>,
    counters: PerPeer<Counter>,
    here: Here,
    rng: SystemRng,
    engine: Box<dyn Reactive>,
    /// The number of statements that were compared.
    statements: u64,
}

impl<'a> Session<'a> {
    /// Meets the peers for a session by hand: hello, and the setup of the protocol.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the protocol runs whole programs only; otherwise as [`Session::run`].
    pub fn interactive(mut self, watch: &mut dyn Watch) -> Result<Interactive<'a>> {
        let protocol = self.chosen_reactive()?;
        let card = protocol.card();
        fits(self.protocols, card, self.parties(), None)?;
        card.has(self.me, self.parties())?;
        if !card.reactive {
            return Err(Error::invalid_input(format!(
                "{} runs whole programs only, no statements one by one",
                card.name
            )));
        }
        self.has_no(&[Part::Shares, Part::Store], "a session by hand, which makes its material as it goes,")?;
        let options = self.options(card)?;
        protocol.fits_parties(self.parties(), &options)?;
        let greeting = self.greeting(card, None, "interactive")?;
        let met = self.meet(card, watch)?;
        watch.connected(&met.address);
        let mut rng = SystemRng;
        let Begun { mut mesh, counters, here, options, .. } = met.greet(&self, greeting, options, watch)?;
        let mut me = Party { net: &mut mesh, here, rng: &mut rng, observer: &mut Nobody };
        let engine = protocol.reactive(&mut me, &options).map_err(|error| whose(error, &mesh))?;
        // All are ready. From here on a channel's time-out no longer runs, and people may think for as long
        // as they like.
        let ready = here.session.child("ready").to_bytes();
        for (peer, said) in mesh.tell(&ready)?.iter() {
            if said[..] != ready {
                return Err(Error::malformed("the peer's message that it is ready does not decode").by(peer));
            }
        }
        Ok(Interactive { mesh, counters, here, rng, engine, statements: 0 })
    }
}

impl Interactive<'_> {
    /// This party.
    pub fn party(&self) -> u16 {
        self.here.me.0
    }

    /// The number of parties.
    pub fn parties(&self) -> u16 {
        self.here.parties
    }

    /// Shares a value of `bits` bits. The party `owner` gives it, the others give `None`.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the value is missing, has another number of bits, or is another
    /// party's; those of the protocol and of the channel.
    pub fn input(&mut self, owner: u16, bits: usize, value: Option<&Bits>) -> Result<Shared> {
        if bits as u64 > Program::MAX_WIRES {
            return Err(Error::invalid_input(format!("a value of {bits} bits, and 2^32 - 1 are the most")));
        }
        let shares = self.step(|engine, me| engine.input(me, PartyId(owner), bits, value))?;
        Ok(self.shared(shares))
    }

    /// A random value that nobody knows.
    ///
    /// # Errors
    /// The errors of the protocol and of the channel.
    pub fn random(&mut self, bits: usize) -> Result<Shared> {
        if bits as u64 > Program::MAX_WIRES {
            return Err(Error::invalid_input(format!("a value of {bits} bits, and 2^32 - 1 are the most")));
        }
        let shares = self.step(|engine, me| engine.random(me, bits))?;
        Ok(self.shared(shares))
    }

    /// The outputs that a program computes of these values, not revealed. The owners and the recipients that
    /// the program names do not matter.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind), before anything is sent, if the values do not fit the program or
    /// are another session's; those of the protocol and of the channel.
    pub fn call(&mut self, program: &Program, values: &[&Shared]) -> Result<Vec<Shared>> {
        let takes = program.inputs();
        let refuse = |why: String| Err(Error::invalid_input(why));
        if values.len() != takes.len() {
            return refuse(format!(
                "`{}` takes {} values, and {} are given",
                program.name(),
                takes.len(),
                values.len()
            ));
        }
        for (value, input) in values.iter().zip(takes) {
            self.check(value)?;
            if value.bits() != input.bits {
                let (name, takes, given) = (&input.name, input.bits, value.bits());
                return refuse(format!("`{name}` of `{}` has {takes} bits; the value has {given}", program.name()));
            }
        }
        let values: Vec<&Shares> = values.iter().map(|value| &value.shares).collect();
        let outputs = self.step(|engine, me| engine.call(me, program, &values))?;
        Ok(outputs.into_iter().map(|shares| self.shared(shares)).collect())
    }

    /// Reveals a value, after a check of everything that was computed so far. Returns the value if this party
    /// learns it.
    ///
    /// # Errors
    /// [`Misbehaved`](comity_core::Kind) if the check fails: then the session cannot go on;
    /// [`InvalidInput`](comity_core::Kind) if there is no such party, or the value is another session's;
    /// those of the channel.
    pub fn reveal(&mut self, to: Recipients, value: &Shared) -> Result<Option<Bits>> {
        self.check(value)?;
        self.step(|engine, me| engine.reveal(me, to, &value.shares))
    }

    /// The traffic since the beginning.
    pub fn counts(&self) -> Traffic {
        sum(&self.counters)
    }

    /// One call of the engine, after which all that belongs to it is on its way.
    fn step<T>(&mut self, call: impl FnOnce(&mut dyn Reactive, &mut Party<'_, '_>) -> Result<T>) -> Result<T> {
        let mut me = Party { net: &mut self.mesh, here: self.here, rng: &mut self.rng, observer: &mut Nobody };
        let done = call(&mut *self.engine, &mut me).and_then(|done| self.mesh.flush().map(|()| done));
        done.map_err(|error| whose(error, &self.mesh))
    }

    fn shared(&self, shares: Shares) -> Shared {
        Shared { shares, session: self.here.session }
    }

    fn check(&self, value: &Shared) -> Result<()> {
        if value.session == self.here.session {
            return Ok(());
        }
        Err(Error::invalid_input("the value belongs to another session, and its shares are of no use in this one"))
    }
}

/// An observer that ignores all events while a statement runs.
struct Nobody;

impl Observer for Nobody {
    fn output(&mut self, _: usize, _: Bits) {}
}

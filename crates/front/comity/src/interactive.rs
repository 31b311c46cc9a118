//! `Interactive`: a session without a program. Inputs, calls and outputs come as the parties think of them.
//!
//! The protocol is `tinyot`, whose wires live as long as the session: a [`Shared`] value is put in or computed, and used again
//! whenever it is wanted; an input may depend on an output that came before. It is secure against a malicious peer, as long
//! as each party calls what it wants to call: both make the same calls in the same order, and neither trusts the
//! other to say which. People at two terminals agree on each statement first ([`Interactive::agree`]).
//!
//! Cost: that of [`comity_tinyot`]. Triples are made when they run out, a few thousand at a time; an output costs one check
//! of everything before it.

mod agree;
mod call;

use comity_channel::{Channel, Counted, Counts, Hello, hello};
use comity_circuit::{Program, Recipients};
use comity_core::{Backend, Bits, Error, Params, Result, SessionId};
use comity_net::SystemRng;
use comity_tinyot::engine::Sharing;
use comity_tinyot::{Ands, Config, DealerKind, Machine};
use zeroize::Zeroizing;

use crate::Dealer;
pub use agree::MAX_STATEMENT;
use call::{Calling, Nobody, Wire};

/// The most AND gates of a session. What may go wrong in a session is shared among so many.
const MOST: u64 = 1 << 32;

/// For so many AND gates triples are made at least when there are none left: a small batch costs more a triple.
const BATCH: u64 = 1 << 12;

/// How a party takes part.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// This party: 0 or 1.
    pub party: u32,
    /// The security parameters; both parties have the same.
    pub params: Params,
    /// How triples are made; both parties have the same.
    pub dealer: Dealer,
    /// The CPU backend. All give equal bytes.
    pub backend: Backend,
}

impl Setup {
    /// For party 0 or 1, and else as usual.
    pub fn new(party: u32) -> Setup {
        Setup { party, params: Params::default(), dealer: Dealer::default(), backend: Backend::detect() }
    }
}

/// A value that both parties hold shares of and neither knows. It belongs to its session.
#[derive(Clone)]
pub struct Shared {
    wires: Zeroizing<Vec<Wire>>,
    session: SessionId,
}

impl Shared {
    /// How many bits it has.
    pub fn bits(&self) -> usize {
        self.wires.len()
    }
}

/// A session of two parties, statement by statement.
///
/// ```
/// use comity::interactive::{Interactive, Setup};
/// use comity::{Bits, Program, Recipients, library, memory};
///
/// // What each party runs; the number is its own.
/// fn party(setup: Setup, channel: impl comity::Channel, number: u64) -> comity::Result<Bits> {
///     let mut session = Interactive::over(channel, setup)?;
///     let own = Bits::from_bytes(&number.to_le_bytes(), 64);
///     let [a, b] = [0, 1].map(|owner| session.input(owner, 64, (owner == setup.party).then_some(&own)));
///     let larger = Program::from_circuit(library::find("gt64").expect("a built-in")).expect("two values");
///     let result = session.call(&larger, &[&a?, &b?])?;
///     Ok(session.reveal(Recipients::All, &result[0])?.expect("it is for all"))
/// }
/// let (to_one, to_zero) = memory::pair();
/// let one = std::thread::spawn(|| party(Setup::new(1), to_zero, 17));
/// assert!(party(Setup::new(0), to_one, 42)?.get(0));
/// assert!(one.join().unwrap()?.get(0));
/// # Ok::<(), comity::Error>(())
/// ```
pub struct Interactive<'a> {
    channel: Counted<Box<dyn Channel + 'a>>,
    machine: Machine<'a>,
    session: SessionId,
    /// How many statements were compared.
    statements: u64,
}

impl<'a> Interactive<'a> {
    /// Begins a session with the peer at the other end of this channel: hello, and the setup of the dealer.
    ///
    /// # Errors
    /// [`Mismatch`](comity_core::Kind), on both sides, if the parties want different things; [`InvalidInput`](comity_core::Kind) if there is no
    /// such party; those of the setup and of the channel.
    pub fn over(channel: impl Channel + 'a, setup: Setup) -> Result<Interactive<'a>> {
        let Setup { party, params, dealer, backend } = setup;
        if party > 1 {
            return Err(Error::invalid_input(format!("tinyot has the parties 0 and 1; there is no party {party}")));
        }
        let mut channel: Counted<Box<dyn Channel + 'a>> = Counted::new(Box::new(channel));
        let greeting = Hello {
            protocol: format!("tinyot, interactive, dealt by {dealer}"),
            params,
            parties: 2,
            party,
            peer: 1 - party,
            program: "an interactive session".to_owned(),
            program_digest: [0; 32],
            owners: String::new(),
            recipients: String::new(),
        };
        let mut rng = SystemRng;
        let session = hello(&mut channel, &greeting, &mut rng)?;
        let kind = match dealer {
            Dealer::Fast => DealerKind::Fast,
            Dealer::Nnob12 => DealerKind::Nnob12,
        };
        let config = Config { backend, party, params, dealer: kind };
        let id = session.child("dealer");
        let dealer = comity_tinyot::dealer(&mut channel, &id, &config, Ands::UpTo(MOST), &mut rng)?;
        let machine = Machine::new(&session.child("machine"), dealer);
        // Both are ready. From here on a channel's time-out no longer runs, and people may think for as long as they like.
        let mut theirs = [0; SessionId::BYTES];
        channel.exchange(&session.child("ready").to_bytes(), &mut theirs)?;
        if theirs != session.child("ready").to_bytes() {
            return Err(Error::malformed("the peer is not ready, and says something else"));
        }
        Ok(Interactive { channel, machine, session, statements: 0 })
    }

    /// This party.
    pub fn party(&self) -> u32 {
        self.machine.party()
    }

    /// A value of `owner`, which gives it; the other party gives none.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the value is missing, has another number of bits, or is the other party's; those of the
    /// protocol and of the channel.
    pub fn input(&mut self, owner: u32, bits: usize, value: Option<&Bits>) -> Result<Shared> {
        let mut wires = self.room(bits)?;
        self.machine.input(&mut self.channel, owner, value, &mut wires)?;
        self.done(wires)
    }

    /// A random value that neither party knows.
    ///
    /// # Errors
    /// Those of the protocol and of the channel.
    pub fn random(&mut self, bits: usize) -> Result<Shared> {
        let mut wires = self.room(bits)?;
        self.machine.random(&mut self.channel, &mut wires)?;
        self.done(wires)
    }

    /// What a program computes of these values: its outputs, which are not revealed. Whose its inputs are and for whom its
    /// outputs does not matter.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind), before anything is sent, if the values do not fit the program or are another session's; those
    /// of the protocol and of the channel.
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
        self.machine.plan(program.and_gates().max(BATCH));
        let engine = Sharing::new(&mut self.channel, &mut self.machine);
        let mut calling = Calling::new(engine, values);
        comity_circuit::run(program, &mut calling, &vec![None; takes.len()], &mut Nobody)?;
        let outputs = calling.outputs();
        outputs.into_iter().map(|wires| self.done(wires)).collect()
    }

    /// Reveals a value to one party or both, after a check of everything that was computed so far. The value is there if this
    /// party is to learn it.
    ///
    /// # Errors
    /// [`Misbehaved`](comity_core::Kind) if the check fails: then the session is at its end; [`InvalidInput`](comity_core::Kind) if there is no such
    /// party, or the value is another session's; those of the channel.
    pub fn reveal(&mut self, to: Recipients, value: &Shared) -> Result<Option<Bits>> {
        self.check(value)?;
        let revealed = self.machine.reveal(&mut self.channel, to, &value.wires)?;
        self.channel.flush()?;
        Ok(revealed)
    }

    /// What was sent and received since the beginning.
    pub fn counts(&self) -> Counts {
        self.channel.counts()
    }

    /// Wires of a new value.
    fn room(&self, bits: usize) -> Result<Zeroizing<Vec<Wire>>> {
        if bits as u64 > Program::MAX_WIRES {
            return Err(Error::invalid_input(format!("a value of {bits} bits; 2^32 - 1 are possible")));
        }
        Ok(Zeroizing::new(vec![Wire::default(); bits]))
    }

    /// A value on these wires, when all that belongs to it is on its way.
    fn done(&mut self, wires: Zeroizing<Vec<Wire>>) -> Result<Shared> {
        self.channel.flush()?;
        Ok(Shared { wires, session: self.session })
    }

    fn check(&self, value: &Shared) -> Result<()> {
        if value.session == self.session {
            return Ok(());
        }
        Err(Error::invalid_input("the value belongs to another session, whose keys are others"))
    }
}

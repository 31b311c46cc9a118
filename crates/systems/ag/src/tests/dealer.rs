//! Trusted material: batches of shares, as the store has them, both halves drawn from one generator; and two
//! parties who run on them.

use comity_channel::MemoryChannel;
use comity_circuit::Program;
use comity_core::{Backend, Bits, Block, Error, Params, PartyId, Prg, Result, SessionId};
use comity_protocol::{Here, Job, Options, Protocol};
use comity_share::GlobalKey;
use comity_testing::laws::{Outputs, rng};
use comity_testing::{Kept, Pair};
use comity_triples::stored::{Amounts, FromShelf};

use crate::conduct::Act;
use crate::live::Live;
use crate::protocol::Ag;
use crate::run::{Order, offline, whole};

/// How bits are dealt.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Masks {
    Random,
    /// All zero: what masks hide can be seen.
    Zero,
}

/// The global keys of a seed.
pub(crate) fn keys(seed: u64) -> [GlobalKey; 2] {
    let mut prg = Prg::new(Backend::detect(), Block::from_u128(seed.into()));
    [0, 1].map(|party: u128| {
        let key = prg.block().to_u128() & !3 | 1 | party << 1;
        GlobalKey::new(Block::from_u128(key)).unwrap()
    })
}

/// The material that a program takes.
pub(crate) fn amounts(program: &Program) -> Amounts {
    let bits = |party: u16| program.inputs().iter().filter(|i| i.owner.includes(party)).map(|i| i.bits).sum();
    let ands = program.and_gates() as usize;
    Amounts { triples: ands.max(1), masks: [bits(0), bits(1)], shares: ands }
}

/// Both parties' batches for a program.
pub(crate) fn batches(program: &Program, seed: u64, masks: Masks) -> [Vec<u8>; 2] {
    let Amounts { triples, masks: inputs, shares } = amounts(program);
    let keys = keys(seed);
    let mut prg = Prg::new(Backend::detect(), Block::from_u128(1 << 64 | u128::from(seed)));
    let mut out = [0u8, 1].map(|party| [&b"comity tinyot 1\n"[..], &[party]].concat());
    let put = |out: &mut [Vec<u8>; 2], blocks: [&[Block]; 2]| {
        out.iter_mut().zip(blocks).for_each(|(out, blocks)| out.extend(Block::bytes_of(blocks)));
    };
    put(&mut out, [&[keys[0].block()], &[keys[1].block()]]);
    // The MAC and the key of either party.
    let deal = |prg: &mut Prg, bits: [bool; 2]| {
        let q = [prg.block().with_lsb(false), prg.block().with_lsb(false)];
        let half = |own: usize| [q[1 - own] ^ keys[1 - own].block().masked(bits[own]), q[own]];
        [half(0), half(1)]
    };
    let random = |prg: &mut Prg| masks == Masks::Random && prg.block().lsb();
    for _ in 0..triples {
        let [a, b, c]: [[bool; 2]; 3] = std::array::from_fn(|_| [prg.block().lsb(), prg.block().lsb()]);
        let c = [c[0], (a[0] ^ a[1]) & (b[0] ^ b[1]) ^ c[0]];
        for bits in [a, b, c] {
            let [zero, one] = deal(&mut prg, bits);
            put(&mut out, [&zero, &one]);
        }
    }
    for (owner, &count) in inputs.iter().enumerate() {
        for _ in 0..count {
            let bit = random(&mut prg);
            let halves = deal(&mut prg, [bit & (owner == 0), bit & (owner == 1)]);
            let of = |party: usize| halves[party][usize::from(party != owner)];
            put(&mut out, [&[of(0)], &[of(1)]]);
        }
    }
    for _ in 0..shares {
        let bits = [random(&mut prg), random(&mut prg)];
        let [zero, one] = deal(&mut prg, bits);
        put(&mut out, [&zero, &one]);
    }
    assert!(out.iter().all(|batch| batch.len() as u64 == amounts(program).bytes()));
    out
}

/// Where party `me` of two stands.
pub(crate) fn here(me: u16, session: u64) -> Here {
    let session = SessionId::derive("tests of ag", &[&session.to_le_bytes()]);
    Here { params: Params::new(128, 8).unwrap(), ..Here::new(PartyId(me), 2, session) }
}

/// Options with party `garbler` garbling.
pub(crate) fn options(garbler: u16) -> Options {
    let mut options = Options::new(Ag.card());
    options.set(PartyId(garbler), "role", "garbler").unwrap();
    options
}

/// How a party ended: its outputs, and the notes of its shelf.
pub(crate) type Ended = (Result<Vec<Bits>>, String);

/// A game of two on trusted material.
pub(crate) struct Game<'g> {
    pub(crate) program: &'g Program,
    pub(crate) inputs: &'g [Bits],
    pub(crate) garbler: u16,
    pub(crate) seed: u64,
    pub(crate) masks: Masks,
}

impl Game<'_> {
    /// Plays it; `acts` may do something at each act of either party.
    pub(crate) fn play(&self, acts: impl Fn(u16, &mut Act<'_>) + Sync) -> [Ended; 2] {
        self.both(&acts, |ch, here, live, acts| {
            let own = self.program.inputs().iter().zip(self.inputs);
            let own: Vec<_> = own.map(|(i, value)| i.owner.includes(here.me).then(|| value.clone())).collect();
            let options = options(self.garbler);
            let job = Job { program: self.program, inputs: &own, options: &options };
            let (mut outputs, mut rng) = (Outputs::default(), self.rng(here));
            whole(ch, here, &mut rng, &mut outputs, live, &job, acts)?;
            Ok(outputs.0.into_iter().map(|(_, value)| value).collect())
        })
    }

    /// Plays its offline phase.
    pub(crate) fn prepare(&self, acts: impl Fn(u16, &mut Act<'_>) + Sync) -> [Result<Vec<u8>>; 2] {
        let ended = self.both(&acts, |ch, here, live, acts| {
            let mut batch = Vec::new();
            let order = Order { program: self.program, garbler: PartyId(self.garbler), to: &mut batch };
            offline(ch, here, &mut self.rng(here), &mut Outputs::default(), live, order, acts)?;
            Ok(batch)
        });
        ended.map(|(ended, _)| ended)
    }

    fn rng(&self, here: Here) -> Prg {
        rng(u128::from(self.seed) << 8 | u128::from(here.me.0))
    }

    /// Both parties on their material; what their shelves were told.
    fn both<T: Send>(
        &self,
        acts: &(impl Fn(u16, &mut Act<'_>) + Sync),
        party: impl Fn(&mut MemoryChannel, Here, &mut Live<'_>, &mut dyn FnMut(Act<'_>)) -> Result<T> + Sync,
    ) -> [(Result<T>, String); 2] {
        let batches = batches(self.program, self.seed, self.masks);
        let party = |ch: &mut MemoryChannel, me: u16| {
            let mut kept = Kept::new("shares", [batches[usize::from(me)].clone()]);
            let ended = {
                let dealer = FromShelf::new(&mut kept, PartyId(me), amounts(self.program)).unwrap();
                let here = here(me, self.seed);
                let mut live = Live::new(Box::new(dealer), here.session.child("material"));
                party(ch, here, &mut live, &mut |mut act: Act<'_>| acts(me, &mut act))
            };
            (ended, kept.notes())
        };
        let (a, b) = Pair::run(|ch| party(ch, 0), |ch| party(ch, 1));
        [a, b]
    }
}

/// Whether a party ended with this check.
pub(crate) fn named(ended: &Ended, check: &'static comity_core::Check) -> bool {
    matches!(&ended.0, Err(Error { kind: comity_core::Kind::Misbehaved(found), .. }) if *found == check)
}

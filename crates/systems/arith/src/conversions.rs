//! From shares of words to shares of bits and back: small garbled circuits, and oblivious transfers.
//!
//! - *Circuits*: party 0 garbles. The labels of its shares are pseudo-random and public, those of the other
//!   party's shares the two blocks of a correlated OT: the correlation is the garbling's delta. A bit that
//!   comes out is shared by XOR: the permute bit of its label for zero, and that of its active label. So
//!   nobody learns it.
//! - *Words of bits*: of a bit `u + v - 2 u v`, with `u` party 0's and `v` the other's, times 2^i, party 0
//!   offers `r_0` and tells `r_0 - r_1 + (1 - 2u)`, modulo 2^(k-i): one OT (Demmler, Schneider, Zohner, NDSS
//!   2015, section IV-E). The top bit of a word takes none, since 2 u v times 2^(k-1) is zero.
//! - *A word or zero* by a bit: of `b x` each party has `b x_i = b_i x_i + b_j (1 - 2 b_i) x_i` as a sender,
//!   an OT each way.
//!
//! One delta serves the labels, which are raw correlations, and the words, which are made of hashed ones. No
//! OT is used both ways: those of a call are all of one kind, and no call sees those of another. Gates are
//! hashed under keys of their own, which no OT has. With adders that were garbled ahead the labels' delta is theirs,
//! and the words have another one.
//!
//! **Adversary**: semi-honest, as all of [`arith`](crate).

mod stored;
mod tables;
mod ways;

use comity_channel::Channel;
use comity_circuit::{Call, Lowered, Place};
use comity_core::{Bits, Block, Delta, Error, Evaluator, Garbler, PartyId, Prg, Result, SessionId, Tape};
use comity_garble::{EvaluatedStream, GarbledStream, HalfGates};
use comity_ot::base::{BaseOt, Simplest};
use comity_ot::{AtLeast, SemiHonest};
use comity_protocol::{Here, Party, Shelf};
use comity_share::bits::BitShares;
use comity_share::ring::{WordWriter, word_mask};
use comity_share::triples::OtKind;
use zeroize::Zeroizing;

use crate::lanes::grow;
use stored::Stored;
use tables::Adders;
use ways::{ByBits, Way, all_ones};

pub(crate) use stored::{OT_BATCH, OtMaker};
pub use stored::{OtBatch, OtMaterial};
pub(crate) use tables::{ADDERS, BATCH_BYTES as ADDER_BATCH_BYTES, CELLS, TableMaker, batches as adder_batches, class};
pub use tables::{AdderTables, OpenedWords};

/// A circuit that is called several times, with this party's shares: of each call all words of `ins`, in
/// order.
pub(crate) struct Garbled<'a> {
    pub(crate) circuit: &'a Lowered,
    pub(crate) calls: usize,
    pub(crate) ins: &'a [u32],
    pub(crate) outs: &'a [u32],
    pub(crate) shares: Zeroizing<Vec<u128>>,
}

impl Garbled<'_> {
    /// The bits of this party's words in a call.
    fn ins(&self) -> usize {
        self.ins.iter().map(|bits| *bits as usize).sum()
    }

    /// The bits of all words of this party.
    fn own(&self) -> usize {
        self.calls * self.ins()
    }

    /// The bits of the words that come out of a call.
    fn out(&self) -> usize {
        self.outs.iter().map(|bits| *bits as usize).sum()
    }

    /// How many calls are made at a time: so many that their labels stay in the second-level cache, and such that all
    /// walk side by side.
    fn tile(&self) -> usize {
        const LABELS: usize = 1 << 14;
        (LABELS / (self.ins() + self.out()).max(1)).max(1).next_multiple_of(Tape::COPIES)
    }

    /// The labels of party 0's words and of what comes out, of the calls that are made at a time.
    fn in_a_tile(&self) -> usize {
        self.tile().min(self.calls) * (self.ins() + self.out())
    }

    /// Adds the words that came out of calls to those of each result: bit 0 of the labels in their places.
    fn results(&self, outs: &[Place], calls: usize, memory: &[Block], words: &mut [Zeroizing<Vec<u128>>]) {
        let word = |from: usize, bits: u32| {
            let labels = memory[from..from + bits as usize].iter();
            labels.rev().fold(0, |word, label| word << 1 | u128::from(label.lsb()))
        };
        for ((place, bits), words) in outs.iter().zip(self.outs).zip(words) {
            words.extend((0..calls as u64).map(|call| word(place.at(call), *bits)));
        }
    }
}

/// Where words of these widths are that lie together call after call, from here on.
fn places(widths: &[u32], start: usize) -> impl Iterator<Item = Place> + '_ {
    let stride = widths.iter().map(|bits| *bits as isize).sum();
    widths.iter().scan(start, move |next, bits| {
        let start = *next;
        *next += *bits as usize;
        Some(Place { start, stride })
    })
}

/// Words whose bits are shared by XOR, to be converted to shares modulo 2^to.
pub struct Lifted {
    /// The bits of a word; at most `to`.
    pub bits: u32,
    /// The bits of the words after the conversion.
    pub to: u32,
    /// This party's shares.
    pub shares: Zeroizing<Vec<u128>>,
}

impl Lifted {
    /// The number of OTs that the conversion of a word takes.
    pub fn ots(bits: u32, to: u32) -> u32 {
        if bits == to { bits - 1 } else { bits }
    }
}

/// Words modulo 2^bits that are to be zero where a bit, shared by XOR, is.
pub(crate) struct Chosen {
    pub(crate) bits: u32,
    pub(crate) by: Zeroizing<Vec<u128>>,
    pub(crate) words: Zeroizing<Vec<u128>>,
}

/// A garbler or an evaluator.
enum Gates {
    Garbler(Box<GarbledStream<HalfGates>>),
    Evaluator(Box<EvaluatedStream<HalfGates>>),
}

/// One party's side of the conversions between shares of words and shares of bits.
pub struct Conversions<'d> {
    me: PartyId,
    gates: Gates,
    /// The public active labels of the garbler's bits.
    labels: Prg,
    /// OTs that party 0 sends, and such that party 1 does.
    forth: Option<Way<'d>>,
    back: Option<Way<'d>>,
    /// Adders that were garbled ahead, and OTs of labels under their delta.
    adders: Option<Adders<'d>>,
    /// Labels of circuits that ran: kept for the next ones, since memory that is new is slow.
    memory: Zeroizing<Vec<Block>>,
}

impl<'d> Conversions<'d> {
    /// Draws the garbling's delta and runs base OTs: of party 0, and with `both` of party 1 as well. The
    /// session of the party is for this alone.
    ///
    /// # Errors
    /// Errors of the base OTs and of the channel; [`InvalidInput`](comity_core::Kind) if there are not two
    /// parties.
    pub fn setup(me: &mut Party<'_, '_>, extension: OtKind, both: bool) -> Result<Conversions<'d>> {
        Conversions::setup_over::<Simplest>(me, extension, both)
    }

    /// As [`Conversions::setup`], by other base OTs.
    ///
    /// # Errors
    /// Those of [`Conversions::setup`].
    pub fn setup_over<B: BaseOt<Model: AtLeast<SemiHonest>>>(
        me: &mut Party<'_, '_>,
        extension: OtKind,
        both: bool,
    ) -> Result<Conversions<'d>> {
        let delta = Delta::new(Block::random(me.rng));
        // The correlation of the other way is of no garbling.
        let other = Block::random(me.rng);
        let forth = if me.me() == PartyId(0) { delta.block() } else { other };
        let forth = Way::setup::<B>(me, PartyId(0), extension, forth)?;
        let back = if both { Some(Way::setup::<B>(me, PartyId(1), extension, other)?) } else { None };
        Ok(Conversions::of(me.here, delta, [Some(forth), back], None))
    }

    /// Conversions on OTs that were made ahead: those from party 0 and from party 1, where there are such; and on adders
    /// of a third shelf, which bring the OTs of labels with them. The garbling's delta is that of the adders, else that
    /// of the first OTs. The session of the party is for this alone. Nothing is sent.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if a shelf is empty, [`Store`](comity_core::Kind) if its batch is
    /// damaged.
    pub fn stored(
        me: &mut Party<'_, '_>,
        shelves: [Option<&'d mut dyn Shelf>; 2],
        adders: Option<&'d mut dyn Shelf>,
    ) -> Result<Conversions<'d>> {
        let mut delta = Block::random(me.rng);
        let mut ways = [None, None];
        for ((way, shelf), material) in ways.iter_mut().zip(shelves).zip(OtMaterial::ALL) {
            let Some(shelf) = shelf else { continue };
            let stored = Stored::open(shelf, material, &me.here)?;
            if material == OtMaterial::First {
                delta = stored.delta().unwrap_or(delta);
            }
            *way = Some(stored.way());
        }
        let adders = adders.map(|shelf| Adders::open(shelf, &me.here)).transpose()?;
        delta = adders.as_ref().and_then(Adders::delta).unwrap_or(delta);
        Ok(Conversions::of(me.here, Delta::new(delta), ways, adders))
    }

    fn of(
        here: Here,
        delta: Delta,
        [forth, back]: [Option<Way<'d>>; 2],
        adders: Option<Adders<'d>>,
    ) -> Conversions<'d> {
        let keys = keys(&here.session);
        let gates = match here.me {
            PartyId(0) => {
                let garbler: Garbler = HalfGates::garbler(here.backend, delta, keys);
                Gates::Garbler(Box::new(GarbledStream::new(garbler)))
            }
            _ => {
                let evaluator: Evaluator = HalfGates::evaluator(here.backend, keys);
                Gates::Evaluator(Box::new(EvaluatedStream::new(evaluator)))
            }
        };
        let labels = Prg::new(here.backend, here.session.block("active labels of the garbler's shares"));
        Conversions { me: here.me, gates, labels, forth, back, adders, memory: Zeroizing::default() }
    }

    /// Runs circuits: of each its results, of these the words of all calls, bits shared by XOR. A message of
    /// OTs, and the tables.
    pub(crate) fn circuits(
        &mut self,
        ch: &mut dyn Channel,
        circuits: &[Garbled<'_>],
    ) -> Result<Vec<Vec<Zeroizing<Vec<u128>>>>> {
        let own = circuits.iter().map(Garbled::own).sum();
        let mut bits = WordWriter::with_room(own);
        for garbled in circuits {
            let words = garbled.shares.iter().zip(garbled.ins.iter().cycle());
            words.for_each(|(share, width)| bits.put(*share, *width));
        }
        let bits = Bits::from_bytes(&Zeroizing::new(bits.finish()), own);
        // The labels of all words of party 1, and of some calls those of party 0's and of what comes out.
        let mut memory = std::mem::take(&mut self.memory);
        grow(&mut memory, own + circuits.iter().map(Garbled::in_a_tile).max().unwrap_or(0))?;
        self.fill_other(ch, if self.me == PartyId(0) { None } else { Some(&bits) }, &mut memory[..own])?;
        let (mut from, mut results) = (0, Vec::with_capacity(circuits.len()));
        for garbled in circuits {
            let words = garbled.outs.iter().map(|_| Zeroizing::new(Vec::with_capacity(garbled.calls)));
            let mut words: Vec<Zeroizing<Vec<u128>>> = words.collect();
            for first in (0..garbled.calls).step_by(garbled.tile()) {
                let calls = garbled.tile().min(garbled.calls - first);
                let ins = calls * garbled.ins();
                let labels = &mut memory[own..own + ins];
                self.fill_own((self.me == PartyId(0)).then(|| bits.slice(from, ins)).as_ref(), labels);
                let args: Vec<Place> = places(garbled.ins, own).chain(places(garbled.ins, from)).collect();
                let outs: Vec<Place> = places(garbled.outs, own + ins).collect();
                let (circuit, times) = (garbled.circuit, calls as u64);
                self.garble(ch, &Call { index: 0, circuit, times, args: &args, outs: &outs }, &mut memory)?;
                garbled.results(&outs, calls, &memory, &mut words);
                from += ins;
            }
            results.push(words);
        }
        self.memory = memory;
        if let Gates::Garbler(_) = self.gates {
            self.end_gates(ch)?;
            ch.flush()?;
        }
        Ok(results)
    }

    /// Labels of bits that are shared by XOR: first those of party 0's shares, then those of party 1's. The sum
    /// of the two is a label of the shared bit. One message of OTs.
    ///
    /// # Errors
    /// Errors of the OTs and of the channel.
    pub fn labels(&mut self, ch: &mut dyn Channel, own: &Bits) -> Result<[Zeroizing<Vec<Block>>; 2]> {
        let mut labels = [(); 2].map(|()| Zeroizing::new(vec![Block::ZERO; own.len()]));
        let [first, second] = &mut labels;
        self.labels_to(ch, own, [first, second])?;
        Ok(labels)
    }

    /// As [`Conversions::labels`], into these places.
    ///
    /// # Errors
    /// Errors of the OTs and of the channel.
    pub fn labels_to(&mut self, ch: &mut dyn Channel, own: &Bits, [first, second]: [&mut [Block]; 2]) -> Result<()> {
        let garbles = self.me == PartyId(0);
        self.fill_own(if garbles { Some(own) } else { None }, first);
        self.fill_other(ch, if garbles { None } else { Some(own) }, second)
    }

    /// Labels of an input value of party 0, which that party gives. Nothing is sent.
    pub fn own_labels(&mut self, value: Option<&Bits>, bits: usize) -> Zeroizing<Vec<Block>> {
        let mut labels = Zeroizing::new(vec![Block::ZERO; bits]);
        self.fill_own(value, &mut labels);
        labels
    }

    fn fill_own(&mut self, value: Option<&Bits>, labels: &mut [Block]) {
        self.labels.fill_blocks(labels);
        if let (Gates::Garbler(stream), Some(value)) = (&self.gates, value) {
            let delta = stream.delta();
            labels.iter_mut().zip(value.iter()).for_each(|(label, bit)| *label ^= delta.masked(bit));
        }
    }

    /// Labels of an input value of party 1, which that party gives. A message of OTs.
    ///
    /// # Errors
    /// Errors of the OTs and of the channel.
    pub fn other_labels(
        &mut self,
        ch: &mut dyn Channel,
        value: Option<&Bits>,
        bits: usize,
    ) -> Result<Zeroizing<Vec<Block>>> {
        let mut labels = Zeroizing::new(vec![Block::ZERO; bits]);
        self.fill_other(ch, value, &mut labels)?;
        Ok(labels)
    }

    fn fill_other(&mut self, ch: &mut dyn Channel, value: Option<&Bits>, labels: &mut [Block]) -> Result<()> {
        self.end_gates(ch)?;
        if let Some(adders) = &mut self.adders {
            return adders.labels(ch, value, labels);
        }
        match (planned(&mut self.forth)?, value) {
            (Way::Out(sender), _) => sender.labels(ch, labels),
            (Way::In(receiver), Some(value)) => {
                receiver.labels(ch, value, labels)?;
                ch.flush()
            }
            (Way::In(_), None) => Err(Error::invalid_input("party 1 gives this input value, and it is missing")),
        }
    }

    /// Whether there are adders that were garbled ahead.
    pub fn has_adders(&self) -> bool {
        self.adders.is_some()
    }

    /// Labels of the bits of words that are shared as sums, by adders that were garbled ahead: of all words one after
    /// another. Three messages.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there are no such adders, or not as many labels as bits; errors of the
    /// shelf and of the channel.
    pub fn opened(&mut self, ch: &mut dyn Channel, words: &[OpenedWords], labels: &mut [Block]) -> Result<()> {
        self.end_gates(ch)?;
        let none = || Error::invalid_input("this computation was set up without adders that were garbled ahead");
        self.adders.as_mut().ok_or_else(none)?.sums(ch, words, labels)
    }

    /// Runs calls of a circuit on a memory of labels, side by side where it is a chain. Tables wait until a buffer is
    /// full, or [`end_gates`](Conversions::end_gates).
    ///
    /// # Errors
    /// Errors of the channel.
    pub fn garble(&mut self, ch: &mut dyn Channel, call: &Call<'_>, memory: &mut [Block]) -> Result<()> {
        match &mut self.gates {
            Gates::Garbler(stream) => stream.call_side_by_side(call, memory, |tables| ch.send(tables)),
            Gates::Evaluator(stream) => stream.call_side_by_side(call, memory, |tables| ch.recv(tables)),
        }
    }

    /// Sends the tables that wait, before anything else is sent.
    ///
    /// # Errors
    /// Errors of the channel.
    pub fn end_gates(&mut self, ch: &mut dyn Channel) -> Result<()> {
        match &mut self.gates {
            Gates::Garbler(stream) => stream.flush(|tables| ch.send(tables)),
            Gates::Evaluator(_) => Ok(()),
        }
    }

    /// The block that, added to the label of a bit, gives the label of its negation.
    pub fn negation(&self) -> Block {
        match &self.gates {
            Gates::Garbler(stream) => stream.delta(),
            Gates::Evaluator(_) => Block::ZERO,
        }
    }

    /// Converts words whose bits are shared by XOR to shares modulo a power of two. Two messages.
    ///
    /// # Errors
    /// Errors of the OTs and of the channel.
    pub fn words(&mut self, ch: &mut dyn Channel, all: &[Lifted]) -> Result<Vec<Zeroizing<Vec<u128>>>> {
        let by_bits = |lifted: &Lifted| (Lifted::ots(lifted.bits, lifted.to), lifted.to);
        let first = self.me == PartyId(0);
        let bits: Vec<ByBits<'_>> = all
            .iter()
            .map(|lifted| {
                let (ots, to) = by_bits(lifted);
                ByBits { ots, to, words: &lifted.shares }
            })
            .collect();
        self.end_gates(ch)?;
        // 1 - 2u.
        let sign = |share: u128, i: u32| 1u128.wrapping_sub((share >> i & 1) << 1);
        let mut sums = planned(&mut self.forth)?.products(ch, &bits, sign)?;
        for (sums, lifted) in sums.iter_mut().zip(all) {
            let (ots, to) = by_bits(lifted);
            // The garbler's own bits, and where no OT is the other's, too.
            let local = if first { u128::MAX } else { !word_mask(ots) };
            let shares = sums.iter_mut().zip(lifted.shares.iter());
            shares.for_each(|(sum, share)| *sum = sum.wrapping_add(share & local) & word_mask(to));
        }
        Ok(sums)
    }

    /// Words, or zero where a bit is zero. Three messages.
    pub(crate) fn select(&mut self, ch: &mut dyn Channel, all: &[Chosen]) -> Result<Vec<Zeroizing<Vec<u128>>>> {
        // (1 - 2 b_i) x_i.
        let signed = |(bit, word): (&u128, &u128)| word.wrapping_sub((word << 1) & all_ones(*bit));
        let signed = |chosen: &Chosen| Zeroizing::new(chosen.by.iter().zip(chosen.words.iter()).map(signed).collect());
        let signed: Vec<Zeroizing<Vec<u128>>> = all.iter().map(signed).collect();
        let once = |(chosen, words): (&Chosen, _)| ByBits { ots: 1, to: chosen.bits, words };
        let signed: Vec<ByBits<'_>> = all.iter().zip(signed.iter().map(|words| &words[..])).map(once).collect();
        let bits: Vec<ByBits<'_>> = all.iter().map(|chosen| once((chosen, &chosen.by))).collect();
        self.end_gates(ch)?;
        let [there, here] = if self.me == PartyId(0) { [&signed, &bits] } else { [&bits, &signed] };
        let mut sums = planned(&mut self.forth)?.products(ch, there, |word, _| word)?;
        let back = planned(&mut self.back)?.products(ch, here, |word, _| word)?;
        for ((sums, back), chosen) in sums.iter_mut().zip(&back).zip(all) {
            let own = chosen.by.iter().zip(chosen.words.iter()).map(|(bit, word)| word & all_ones(*bit));
            for ((sum, back), own) in sums.iter_mut().zip(back.iter()).zip(own) {
                *sum = sum.wrapping_add(*back).wrapping_add(own) & word_mask(chosen.bits);
            }
        }
        Ok(sums)
    }
}

/// The shares of the bits of which these are the labels: their permute bits. Nothing is sent.
pub fn permute_bits(labels: &[Block]) -> BitShares {
    let word = |labels: &[Block]| (0..).zip(labels).fold(0, |word, (i, label)| word | u64::from(label.lsb()) << i);
    BitShares::from_words(labels.chunks(64).map(word).collect(), labels.len())
}

/// The OTs of a way.
fn planned<'w, 'd>(way: &'w mut Option<Way<'d>>) -> Result<&'w mut Way<'d>> {
    way.as_mut().ok_or_else(|| Error::invalid_input("this computation was set up without the OTs of this conversion"))
}

/// The public start of the gates' keys.
fn keys(session: &SessionId) -> Block {
    session.block("start of the gate keys of conversions")
}

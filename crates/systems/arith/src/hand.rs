//! By hand: a [`Party`] computes on [`Word`]s, operation by operation.
//!
//! A [`Word`] is a share of a vector of words of one width; an operation is of all of them, in the same
//! messages. An operation that needs messages is a circuit of the library whose notes are run, as in a
//! program; so a user's own circuits are run as well, by [`Party::compute`], and several operations in one
//! circuit share messages.
//!
//! **Arithmetic** has no errors: `x / 0` is all ones and `x % 0` is `x`, a shift by the width or more gives
//! 0, a rotation takes its amount modulo the width, 0^0 is 1, and sums and products wrap. [`Party::overflow`]
//! and [`Party::checked_div`] tell of that.
//!
//! **Adversary**: semi-honest, as all of [`arith`](crate). What is refused without a word to the peer (widths
//! or lengths that do not go together, a public divisor of zero) is the caller's mistake, and the same at
//! both parties; the computation goes on.

mod bits;
mod numbers;

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use comity_channel::Mesh;
use comity_circuit::{Builder, Circuit, Group, Owner, Recipients, Wire};
use comity_core::{Error, PartyId, Result};
use comity_ot::base::{BaseOt, Simplest};
use comity_ot::{AtLeast, SemiHonest};
use comity_share::ring::{WIDEST_WORD, WordProduct, word_mask};
use comity_share::triples::OtKind;
use zeroize::Zeroizing;

use crate::conversions::Conversions;
use crate::dealers::from_ot_over;
use crate::lanes::{Lanes, together};
use crate::machine::WordMachine;
use crate::plan::WordPlan;
use crate::words::Port;

/// A party's share of a vector of words of one width. Wiped on drop.
pub struct Word {
    bits: u32,
    shares: Zeroizing<Vec<u128>>,
}

impl Word {
    /// The bits of each word, 1 to 128.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The number of words.
    pub fn len(&self) -> usize {
        self.shares.len()
    }

    /// Whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.shares.is_empty()
    }
}

/// What names a plan: the operation, its public number, and the widths of its words.
type Key = (&'static str, u128, Vec<u32>);

/// A function that builds an operation of two words.
type Gadget = fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>;

/// One of two parties that compute on shared words, call by call; both make the same calls. After an error of
/// the channel every further call that sends something is refused.
pub struct Party<'a, 'n> {
    net: &'a mut Mesh<'n>,
    machine: WordMachine<'static>,
    plans: HashMap<Key, Rc<WordPlan>>,
    lanes: Lanes,
}

impl<'a, 'n> Party<'a, 'n> {
    /// Sets up a party, in a session of its own: runs base OTs both ways, once for products and once for
    /// conversions.
    ///
    /// # Errors
    /// Errors of the base OTs and of the channel; [`InvalidInput`](comity_core::Kind) if there are not two
    /// parties.
    pub fn setup(me: &'a mut comity_protocol::Party<'_, 'n>, extension: OtKind) -> Result<Party<'a, 'n>> {
        Party::setup_over::<Simplest>(me, extension)
    }

    /// As [`Party::setup`], by other base OTs.
    ///
    /// # Errors
    /// Those of [`Party::setup`].
    pub fn setup_over<B: BaseOt<Model: AtLeast<SemiHonest>>>(
        me: &'a mut comity_protocol::Party<'_, 'n>,
        extension: OtKind,
    ) -> Result<Party<'a, 'n>> {
        let mut sub = me.sub("arith by hand");
        let dealer = from_ot_over::<B>(&mut sub.sub("dealer"), extension)?;
        let conversions = Conversions::setup_over::<B>(&mut sub.sub("conversions"), extension, true)?;
        let machine = WordMachine::setup(&mut sub, Some(dealer), Some(conversions))?;
        Ok(Party { net: me.net, machine, plans: HashMap::new(), lanes: Lanes::default() })
    }

    /// Makes the triples of `count` products now, up to the most that are made at once: each of these products
    /// then sends two words each way, and nothing else. Both parties ask for the same.
    ///
    /// # Errors
    /// Errors of the dealer.
    pub fn prepare(&mut self, what: WordProduct, count: u64) -> Result<()> {
        self.machine.prepare(self.net, &BTreeMap::from([(what, count)]))
    }

    /// Words that one party puts in; the other one knows how many. Nothing is sent.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if this party's words are missing or the other's are given, if
    /// there are not `n`, or if one has more bits than `bits`.
    pub fn input(&mut self, owner: PartyId, bits: u32, n: usize, words: Option<&[u128]>) -> Result<Word> {
        check_width(bits)?;
        if words.is_some_and(|words| words.len() != n) {
            return Err(Error::invalid_input(format!(
                "{} words are given for an input of {n} words",
                words.map_or(0, <[_]>::len)
            )));
        }
        if let Some(words) = words
            && words.iter().any(|word| word & !word_mask(bits) != 0)
        {
            return Err(Error::invalid_input(format!("an input word has more than {bits} bits")));
        }
        let words = words.map(|words| Zeroizing::new(words.to_vec()));
        let shares = self.machine.input(Owner::Party(owner), words, &vec![bits; n])?;
        Ok(Word { bits, shares })
    }

    /// Public words, of which `bits` bits are taken. Nothing is sent.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the width is not from 1 to 128.
    pub fn constant(&self, bits: u32, words: &[u128]) -> Result<Word> {
        check_width(bits)?;
        let share = |word: &u128| if self.machine.is_first() { word & word_mask(bits) } else { 0 };
        Ok(Word { bits, shares: Zeroizing::new(words.iter().map(share).collect()) })
    }

    /// Opens the words to these parties and returns them there: at most one message each way.
    ///
    /// # Errors
    /// Errors of the channel; [`InvalidInput`](comity_core::Kind) if there is no such party.
    pub fn declassify(&mut self, x: &Word, to: Recipients) -> Result<Option<Zeroizing<Vec<u128>>>> {
        self.machine.reveal(self.net, to, &x.shares, &vec![x.bits; x.len()])
    }

    /// Other shares of the same words, for shares that leave this computation: without the views of both
    /// parties they say nothing about the old ones. Nothing is sent.
    ///
    /// # Errors
    /// None for words of this computation.
    pub fn reshare(&mut self, x: &Word) -> Result<Word> {
        let widths = vec![x.bits; x.len()];
        let me = PartyId(u16::from(!self.machine.is_first()));
        let mut shares = x.shares.clone();
        // Zero, put in by each party.
        for owner in [PartyId(0), PartyId(1)] {
            let zeros = (owner == me).then(|| Zeroizing::new(vec![0; x.len()]));
            let zeros = self.machine.input(Owner::Party(owner), zeros, &widths)?;
            shares
                .iter_mut()
                .zip(zeros.iter())
                .for_each(|(share, zero)| *share = share.wrapping_add(*zero) & word_mask(x.bits));
        }
        Ok(Word { bits: x.bits, shares })
    }

    fn local(x: &Word, bits: u32, share: impl Fn(u128) -> u128) -> Word {
        Word { bits, shares: Zeroizing::new(x.shares.iter().map(|x| share(*x) & word_mask(bits)).collect()) }
    }

    fn both(x: &Word, y: &Word, share: impl Fn(u128, u128) -> u128) -> Result<Word> {
        alike(&[x, y])?;
        let shares = x.shares.iter().zip(y.shares.iter()).map(|(a, b)| share(*a, *b) & word_mask(x.bits));
        Ok(Word { bits: x.bits, shares: Zeroizing::new(shares.collect()) })
    }

    /// `x + y` modulo 2^k. Nothing is sent.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if widths or lengths differ; so for all operations of two words.
    pub fn add(&self, x: &Word, y: &Word) -> Result<Word> {
        Self::both(x, y, u128::wrapping_add)
    }

    /// `x - y` modulo 2^k. Nothing is sent.
    ///
    /// # Errors
    /// As [`Party::add`].
    pub fn sub(&self, x: &Word, y: &Word) -> Result<Word> {
        Self::both(x, y, u128::wrapping_sub)
    }

    /// `-x` modulo 2^k. Nothing is sent.
    pub fn neg(&self, x: &Word) -> Word {
        Self::local(x, x.bits, u128::wrapping_neg)
    }

    /// `x` times a public number, modulo 2^k. Nothing is sent.
    pub fn scale(&self, x: &Word, by: u128) -> Word {
        Self::local(x, x.bits, |share| share.wrapping_mul(by))
    }

    /// `x << by` by a public number. Nothing is sent.
    pub fn shl(&self, x: &Word, by: u32) -> Word {
        Self::local(x, x.bits, |share| share.checked_shl(by).unwrap_or(0))
    }

    /// The lower bits of `x`. Nothing is sent.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if `bits` is zero, or more than the words have.
    pub fn truncate(&self, x: &Word, bits: u32) -> Result<Word> {
        check_width(bits)?;
        if bits > x.bits {
            return Err(Error::invalid_input(format!("words of {} bits cannot be truncated to {bits} bits", x.bits)));
        }
        Ok(Self::local(x, bits, |share| share))
    }

    /// Runs a circuit with [notes](comity_circuit::Note) on words. `build` makes the circuit from the wires of
    /// their bits and returns the wires of each result, a word of 1 to 128 bits. All operations of one layer
    /// share their messages.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if lengths differ, or if the circuit has gates that are not part of
    /// an operation on words; errors of the dealer, of the OTs and of the channel.
    pub fn compute(
        &mut self,
        words: &[&Word],
        build: impl FnOnce(&mut Builder, &[Vec<Wire>]) -> Vec<Vec<Wire>>,
    ) -> Result<Vec<Word>> {
        let plan = plan(words, build)?;
        self.run(&plan, words)
    }

    /// As [`Party::compute`], of an operation whose plan is kept by its name and its public number.
    fn known(
        &mut self,
        (name, number): (&'static str, u128),
        words: &[&Word],
        build: impl FnOnce(&mut Builder, &[Vec<Wire>]) -> Vec<Vec<Wire>>,
    ) -> Result<Vec<Word>> {
        let key = (name, number, words.iter().map(|word| word.bits).collect());
        let plan = match self.plans.get(&key) {
            Some(plan) => plan.clone(),
            None => {
                let plan = Rc::new(plan(words, build)?);
                self.plans.insert(key, plan.clone());
                plan
            }
        };
        self.run(&plan, words)
    }

    /// An operation of one result.
    fn one(
        &mut self,
        of: (&'static str, u128),
        words: &[&Word],
        build: impl FnOnce(&mut Builder, &[Vec<Wire>]) -> Vec<Wire>,
    ) -> Result<Word> {
        let mut results = self.known(of, words, |b, words| vec![build(b, words)])?;
        Ok(results.swap_remove(0))
    }

    /// An operation of two words of one width.
    fn two(&mut self, name: &'static str, x: &Word, y: &Word, gadget: Gadget) -> Result<Word> {
        alike(&[x, y])?;
        self.one((name, 0), &[x, y], |b, words| gadget(b, &words[0], &words[1]))
    }

    fn run(&mut self, plan: &WordPlan, words: &[&Word]) -> Result<Vec<Word>> {
        let n = words[0].len();
        if let Some(other) = words.iter().find(|word| word.len() != n) {
            return Err(Error::invalid_input(format!(
                "operands are vectors of one length: {n} words and {} words differ",
                other.len()
            )));
        }
        let mut results: Vec<Word> = plan
            .outs
            .iter()
            .map(|(port, _)| Word { bits: port.bits as u32, shares: Zeroizing::new(Vec::with_capacity(n)) })
            .collect();
        let mut done = 0;
        while done < n {
            let copies = (together(plan, n as u64) as usize).min(n - done);
            self.lanes.begin(plan, copies, self.machine.is_first())?;
            for (slot, word) in words.iter().enumerate() {
                self.lanes.put(slot, &word.shares[done..done + copies]);
            }
            self.lanes.run(plan, self.net, &mut self.machine)?;
            for ((_, term), result) in plan.outs.iter().zip(&mut results) {
                self.lanes.add_row(term, &mut result.shares);
            }
            done += copies;
        }
        Ok(results)
    }
}

/// Whether a width is one of words.
fn check_width(bits: u32) -> Result<()> {
    if (1..=WIDEST_WORD).contains(&bits) {
        return Ok(());
    }
    Err(Error::invalid_input(format!("words have 1 to {WIDEST_WORD} bits, and not {bits}")))
}

/// Whether words have one width, and are as many.
fn alike(words: &[&Word]) -> Result<()> {
    match words.iter().find(|word| (word.bits, word.len()) != (words[0].bits, words[0].len())) {
        None => Ok(()),
        Some(other) => Err(Error::invalid_input(format!(
            "operands have one length and one width: {} words of {} bits and {} words of {} bits differ",
            words[0].len(),
            words[0].bits,
            other.len(),
            other.bits
        ))),
    }
}

/// The plan of what is built of words.
fn plan(words: &[&Word], build: impl FnOnce(&mut Builder, &[Vec<Wire>]) -> Vec<Vec<Wire>>) -> Result<WordPlan> {
    let mut b = Builder::new();
    let wires: Vec<Vec<Wire>> =
        words.iter().enumerate().map(|(i, word)| b.input(&format!("word{i}"), word.bits as usize)).collect();
    let results = build(&mut b, &wires);
    for (i, result) in results.iter().enumerate() {
        check_width(result.len() as u32)?;
        b.output(&format!("result{i}"), result);
    }
    planned(&b.finish())
}

fn planned(circuit: &Circuit) -> Result<WordPlan> {
    let port = |(value, group): (usize, &Group)| Port { value, offset: 0, skip: 0, bits: group.bits };
    let ports = |groups: &[Group]| groups.iter().enumerate().map(port).collect();
    let plan = WordPlan::new(circuit, ports(circuit.inputs()), ports(circuit.outputs()));
    plan.map_err(|refusal| Error::invalid_input(format!("an operation on words {}", refusal.what)))
}

#[cfg(test)]
mod tests;

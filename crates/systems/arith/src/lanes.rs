//! Plans on a [`WordMachine`]: layers of steps, those of one kind and of all calls side by side in the same
//! messages.

use std::iter;

use comity_channel::Mesh;
use comity_circuit::NoMemory;
use comity_core::Result;
use comity_share::ring::word_mask;
use zeroize::{Zeroize, Zeroizing};

use crate::conversions::{Chosen, Garbled, Lifted};
use crate::machine::{Matrices, Products, WordMachine};
use crate::plan::{Layer, Local, Term, WordPlan};

/// Words of calls side by side, and labels: 8 MiB.
const SIDE_BY_SIDE: u64 = (8 << 20) / 16;

/// How many of `times` calls run side by side.
pub(crate) fn together(plan: &WordPlan, times: u64) -> u64 {
    let most = (SIDE_BY_SIDE / plan.blocks() as u64).max(1);
    times.div_ceil(times.div_ceil(most).max(1))
}

/// The words of calls that run side by side.
#[derive(Default)]
pub(crate) struct Lanes {
    /// The slots of the calls: those of one slot lie together.
    rows: Zeroizing<Vec<u128>>,
    copies: usize,
    /// Whether this is the party that adds constants.
    first: bool,
}

impl Lanes {
    /// Makes room for `copies` calls of a plan. What was there stays until it is written.
    pub(crate) fn begin(&mut self, plan: &WordPlan, copies: usize, first: bool) -> Result<(), NoMemory> {
        (self.copies, self.first) = (copies, first);
        grow(&mut self.rows, plan.slots * copies)
    }

    /// Puts the share of an input word of call `t` into its slot.
    pub(crate) fn set(&mut self, slot: usize, t: usize, share: u128) {
        self.rows[slot * self.copies + t] = share;
    }

    /// The share of a term in call `t`.
    #[inline]
    pub(crate) fn share(&self, term: &Term, t: usize) -> u128 {
        term.share(self.first, |slot| self.rows[slot * self.copies + t])
    }

    /// Runs the calls.
    ///
    /// # Errors
    /// Errors of the dealer, of the OTs and of the channel.
    pub(crate) fn run(&mut self, plan: &WordPlan, net: &mut Mesh<'_>, machine: &mut WordMachine<'_>) -> Result<()> {
        for layer in &plan.layers {
            self.messages(plan, layer, net, machine)?;
            for (local, out) in &layer.locals {
                self.local(local, *out);
            }
        }
        Ok(())
    }

    /// The shares of a term, of all calls.
    pub(crate) fn row(&self, term: &Term) -> Zeroizing<Vec<u128>> {
        let mut row = Zeroizing::new(Vec::with_capacity(self.copies));
        self.add_row(term, &mut row);
        row
    }

    /// As [`Lanes::row`], behind what is in `to`, which has room.
    pub(crate) fn add_row(&self, term: &Term, to: &mut Vec<u128>) {
        let (constant, mask) = (if self.first { term.constant } else { 0 }, word_mask(term.bits));
        let row = |slot: usize| self.rows[slot * self.copies..][..self.copies].iter();
        match term.of {
            None => to.extend(iter::repeat_n(constant & mask, self.copies)),
            Some((slot, 1)) => to.extend(row(slot).map(|word| word.wrapping_add(constant) & mask)),
            Some((slot, by)) => to.extend(row(slot).map(|word| word.wrapping_mul(by).wrapping_add(constant) & mask)),
        }
    }

    /// The shares of several terms, call after call.
    fn calls(&self, terms: &[Term]) -> Zeroizing<Vec<u128>> {
        Zeroizing::new((0..self.copies).flat_map(|t| terms.iter().map(move |term| self.share(term, t))).collect())
    }

    /// Puts the shares of a word into its slot, of all calls.
    pub(crate) fn put(&mut self, slot: usize, shares: &[u128]) {
        self.rows[slot * self.copies..][..self.copies].copy_from_slice(shares);
    }

    /// What of a layer needs messages, kind after kind.
    fn messages(
        &mut self,
        plan: &WordPlan,
        layer: &Layer,
        net: &mut Mesh<'_>,
        machine: &mut WordMachine<'_>,
    ) -> Result<()> {
        let copies = self.copies;
        if !layer.products.is_empty() {
            let mut row = |term: &Term| {
                let mut row = machine.spare().room(copies);
                self.add_row(term, &mut row);
                row
            };
            let factors = layer.products.iter().map(|factors| Products {
                what: factors.what,
                x: row(&factors.x),
                y: if factors.what.square { Zeroizing::default() } else { row(&factors.y) },
            });
            let factors = factors.collect();
            let results = machine.multiply(net, factors)?;
            for (factors, result) in layer.products.iter().zip(results) {
                self.put(factors.out, &result);
                machine.spare().keep(result);
            }
        }
        if !layer.matrices.is_empty() {
            let factors = layer.matrices.iter().map(|matrix| Matrices {
                what: matrix.what,
                x: self.calls(&matrix.x),
                y: self.calls(&matrix.y),
            });
            let results = machine.multiply_matrices(net, factors.collect())?;
            for (matrix, result) in layer.matrices.iter().zip(results) {
                for (at, word) in result.iter().enumerate() {
                    self.rows[matrix.outs[at % matrix.outs.len()] * copies + at / matrix.outs.len()] = *word;
                }
            }
        }
        if !layer.garbles.is_empty() {
            let garbled: Vec<Garbled<'_>> = layer
                .garbles
                .iter()
                .map(|garble| {
                    let gates = &plan.circuits[garble.circuit];
                    let rows: Vec<Zeroizing<Vec<u128>>> = garble.ins.iter().map(|term| self.row(term)).collect();
                    let shares = (0..copies).flat_map(|t| rows.iter().map(move |row| row[t])).collect();
                    let (circuit, ins, outs) = (&gates.lowered, &gates.ins[..], &gates.outs[..]);
                    Garbled { circuit, calls: copies, ins, outs, shares: Zeroizing::new(shares) }
                })
                .collect();
            let results = machine.circuits(net, &garbled)?;
            drop(garbled);
            for (garble, results) in layer.garbles.iter().zip(results) {
                for (out, result) in garble.outs.iter().zip(results) {
                    self.put(*out, &result);
                }
            }
        }
        if !layer.lifts.is_empty() {
            let lifted = layer.lifts.iter().map(|lift| {
                let word = Term { bits: lift.bits, constant: 0, of: Some((lift.of, 1)) };
                Lifted { bits: lift.bits, to: lift.to, shares: self.row(&word) }
            });
            let lifted: Vec<Lifted> = lifted.collect();
            let results = machine.words(net, &lifted)?;
            for (lift, result) in layer.lifts.iter().zip(results) {
                self.put(lift.out, &result);
            }
        }
        if !layer.choices.is_empty() {
            let chosen = layer.choices.iter().map(|choice| Chosen {
                bits: choice.word.bits,
                by: self.row(&choice.by),
                words: self.row(&choice.word),
            });
            let chosen: Vec<Chosen> = chosen.collect();
            let results = machine.select(net, &chosen)?;
            for (choice, result) in layer.choices.iter().zip(results) {
                self.put(choice.out, &result);
            }
        }
        Ok(())
    }

    fn local(&mut self, local: &Local, out: usize) {
        for t in 0..self.copies {
            self.rows[out * self.copies + t] = local.share(self.first, |term| self.share(term, t));
        }
    }
}

/// Makes room for `wanted` words, or labels.
pub(crate) fn grow<T: Zeroize + Clone + Default>(words: &mut Zeroizing<Vec<T>>, wanted: usize) -> Result<(), NoMemory> {
    if words.len() < wanted {
        // Memory that is moved is not wiped where it was.
        words.zeroize();
        words.try_reserve_exact(wanted).map_err(|_| NoMemory { wires: wanted as u64, bytes: 16 })?;
        words.resize(wanted, T::default());
    }
    Ok(())
}

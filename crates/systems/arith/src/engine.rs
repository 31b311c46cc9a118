//! Programs on a [`WordMachine`]: layers of steps, those of one kind and of all calls side by side in the same
//! messages.

use std::collections::BTreeMap;

use comity_channel::Mesh;
use comity_circuit::{Call, Engine, NoMemory, Place, Program, Put, Shown, Step};
use comity_core::{Bits, Error, Result};
use comity_share::ring::WordProduct;
use zeroize::{Zeroize, Zeroizing};

use crate::conversions::{Chosen, Garbled, Lifted};
use crate::layout::{Layout, Part};
use crate::machine::{Products, WordMachine};
use crate::plan::{Layer, Local, Term, WordPlan};
use crate::words::Port;

/// Words of calls side by side, and labels: 8 MiB.
const SIDE_BY_SIDE: u64 = (8 << 20) / 16;

/// How many of so many calls run side by side.
pub(crate) fn together(plan: &WordPlan, times: u64) -> u64 {
    let most = (SIDE_BY_SIDE / plan.blocks() as u64).max(1);
    times.div_ceil(times.div_ceil(most).max(1))
}

/// What a program takes.
#[derive(Default)]
pub(crate) struct Taken {
    pub(crate) products: BTreeMap<WordProduct, u64>,
    /// Whether anything is converted, and whether OTs go both ways for it.
    pub(crate) converts: [bool; 2],
}

impl Taken {
    /// What a program takes that has this layout.
    pub(crate) fn new(program: &Program, layout: &Layout) -> Taken {
        let mut taken = Taken::default();
        taken.walk(program.steps(), layout, 1);
        taken
    }

    fn walk(&mut self, steps: &[Step], layout: &Layout, turns: u64) {
        for step in steps {
            match step {
                Step::Call { times, .. } => {
                    let plan = layout.plan_of(step).expect("it is a call");
                    for what in plan.products() {
                        let found = self.products.entry(what).or_default();
                        *found = found.saturating_add(turns.saturating_mul(*times));
                    }
                    self.converts.iter_mut().zip(plan.converts()).for_each(|(any, one)| *any |= one);
                }
                Step::Repeat { times, body } => self.walk(body, layout, turns.saturating_mul(*times)),
                Step::Input { .. } | Step::Reveal { .. } => {}
            }
        }
    }
}

/// Runs a program on a machine.
pub(crate) struct WordEngine<'a, 'n, 'd> {
    net: &'a mut Mesh<'n>,
    machine: &'a mut WordMachine<'d>,
    layout: &'a Layout,
    /// The shares of the words of the memory.
    memory: Zeroizing<Vec<u128>>,
    /// The slots of the calls under way: those of one slot lie together.
    rows: Zeroizing<Vec<u128>>,
}

impl<'a, 'n, 'd> WordEngine<'a, 'n, 'd> {
    pub(crate) fn new(
        net: &'a mut Mesh<'n>,
        machine: &'a mut WordMachine<'d>,
        layout: &'a Layout,
    ) -> WordEngine<'a, 'n, 'd> {
        WordEngine { net, machine, layout, memory: Zeroizing::default(), rows: Zeroizing::default() }
    }

    /// The word of a value in call `t`.
    fn at(&self, values: &[Place], port: &Port, t: u64) -> usize {
        let at = values[port.value].at(t) + port.offset - port.skip;
        self.layout.word(at).expect("a word begins there, as was planned")
    }

    /// The calls from `from` on, `copies` of them, side by side.
    fn side_by_side(&mut self, call: &Call<'_>, plan: &WordPlan, from: u64, copies: usize) -> Result<()> {
        let first = self.machine.is_first();
        grow(&mut self.rows, plan.slots * copies)?;
        for (slot, port) in plan.ins.iter().enumerate() {
            for t in 0..copies {
                self.rows[slot * copies + t] = self.memory[self.at(call.args, port, from + t as u64)];
            }
        }
        for layer in &plan.layers {
            self.messages(plan, layer, copies)?;
            for (local, out) in &layer.locals {
                self.local(local, *out, copies);
            }
        }
        for (port, term) in &plan.outs {
            for t in 0..copies {
                let at = self.at(call.outs, port, from + t as u64);
                self.memory[at] = value(&self.rows, term, copies, t, first);
            }
        }
        Ok(())
    }

    /// The shares of a term, of all calls.
    fn row(&self, term: &Term, copies: usize) -> Zeroizing<Vec<u128>> {
        let first = self.machine.is_first();
        Zeroizing::new((0..copies).map(|t| value(&self.rows, term, copies, t, first)).collect())
    }

    fn put(&mut self, out: usize, result: &[u128], copies: usize) {
        self.rows[out * copies..][..copies].copy_from_slice(result);
    }

    /// What of a layer needs messages, kind after kind.
    fn messages(&mut self, plan: &WordPlan, layer: &Layer, copies: usize) -> Result<()> {
        if !layer.products.is_empty() {
            let factors = layer.products.iter().map(|factors| Products {
                what: factors.what,
                x: self.row(&factors.x, copies),
                y: if factors.what.square { Zeroizing::default() } else { self.row(&factors.y, copies) },
            });
            let results = self.machine.multiply(self.net, factors.collect())?;
            for (factors, result) in layer.products.iter().zip(results) {
                self.put(factors.out, &result, copies);
            }
        }
        if !layer.garbles.is_empty() {
            let garbled: Vec<Garbled<'_>> = layer
                .garbles
                .iter()
                .map(|garble| {
                    let gates = &plan.circuits[garble.circuit];
                    let rows: Vec<Zeroizing<Vec<u128>>> =
                        garble.ins.iter().map(|term| self.row(term, copies)).collect();
                    let shares = (0..copies).flat_map(|t| rows.iter().map(move |row| row[t])).collect();
                    let (circuit, ins, outs) = (&gates.lowered, &gates.ins[..], &gates.outs[..]);
                    Garbled { circuit, calls: copies, ins, outs, shares: Zeroizing::new(shares) }
                })
                .collect();
            let results = self.machine.circuits(self.net, &garbled)?;
            drop(garbled);
            for (garble, results) in layer.garbles.iter().zip(results) {
                for (out, result) in garble.outs.iter().zip(results) {
                    self.put(*out, &result, copies);
                }
            }
        }
        if !layer.lifts.is_empty() {
            let lifted = layer.lifts.iter().map(|lift| {
                let word = Term { bits: lift.bits, constant: 0, of: Some((lift.of, 1)) };
                Lifted { bits: lift.bits, to: lift.to, shares: self.row(&word, copies) }
            });
            let lifted: Vec<Lifted> = lifted.collect();
            let results = self.machine.words(self.net, &lifted)?;
            for (lift, result) in layer.lifts.iter().zip(results) {
                self.put(lift.out, &result, copies);
            }
        }
        if !layer.choices.is_empty() {
            let chosen = layer.choices.iter().map(|choice| Chosen {
                bits: choice.word.bits,
                by: self.row(&choice.by, copies),
                words: self.row(&choice.word, copies),
            });
            let chosen: Vec<Chosen> = chosen.collect();
            let results = self.machine.select(self.net, &chosen)?;
            for (choice, result) in layer.choices.iter().zip(results) {
                self.put(choice.out, &result, copies);
            }
        }
        Ok(())
    }

    fn local(&mut self, local: &Local, out: usize, copies: usize) {
        let first = self.machine.is_first();
        for t in 0..copies {
            let of = |term: &Term| value(&self.rows, term, copies, t, first);
            self.rows[out * copies + t] = local.share(first, of);
        }
    }
}

/// A share of a term in call `t` of so many.
#[inline]
fn value(rows: &[u128], term: &Term, copies: usize, t: usize, first: bool) -> u128 {
    term.share(first, |slot| rows[slot * copies + t])
}

/// Makes room for so many words.
fn grow(words: &mut Zeroizing<Vec<u128>>, wanted: usize) -> Result<(), NoMemory> {
    if words.len() < wanted {
        // Memory that is moved is not wiped where it was.
        words.zeroize();
        words.try_reserve_exact(wanted).map_err(|_| NoMemory { wires: wanted as u64, bytes: 16 })?;
        words.resize(wanted, 0);
    }
    Ok(())
}

impl Engine for WordEngine<'_, '_, '_> {
    type Error = Error;

    fn begin(&mut self, _: &Program) -> Result<()> {
        self.memory = Zeroizing::default();
        Ok(grow(&mut self.memory, self.layout.words())?)
    }

    fn input(&mut self, put: Put, value: Option<&Bits>) -> Result<()> {
        let words = self.layout.among(put.start, put.bits);
        let widths: Vec<u32> = words.iter().map(|part| part.bits as u32).collect();
        let value = value.map(|value| {
            let word = |part: &Part| value.slice(part.offset, part.bits).to_u128().expect("at most 128 bits");
            Zeroizing::new(words.iter().map(word).collect::<Vec<u128>>())
        });
        let shares = self.machine.input(put.owner, value, &widths)?;
        for (part, &share) in words.iter().zip(shares.iter()) {
            self.memory[part.word] = share;
        }
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        let layout = self.layout;
        let plan = layout.plan_at(call);
        let together = together(plan, call.times);
        let mut done = 0;
        while done < call.times {
            let copies = together.min(call.times - done);
            self.side_by_side(call, plan, done, copies as usize)?;
            done += copies;
        }
        Ok(())
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        let words = self.layout.among(shown.start, shown.bits);
        let widths: Vec<u32> = words.iter().map(|part| part.bits as u32).collect();
        let shares = Zeroizing::new(words.iter().map(|part| self.memory[part.word]).collect::<Vec<u128>>());
        let revealed = self.machine.reveal(self.net, shown.to, &shares, &widths)?;
        Ok(revealed.map(|revealed| {
            let mut all = Bits::default();
            for (&word, &bits) in revealed.iter().zip(&widths) {
                all.extend_from(&Bits::from_u128(word, bits as usize).expect("a word of so many bits"));
            }
            all
        }))
    }

    /// All: a round is for as many products as there are.
    fn at_once(&self, call: &Call<'_>) -> u64 {
        call.times
    }
}

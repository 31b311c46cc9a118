//! Programs on a [`WordMachine`]: layers of products, one message each way for those of all calls side by
//! side.

use std::collections::BTreeMap;

use comity_channel::Mesh;
use comity_circuit::{Call, Engine, NoMemory, Place, Program, Put, Shown, Step};
use comity_core::{Bits, Error, Result};
use comity_share::ring::WordProduct;
use zeroize::{Zeroize, Zeroizing};

use crate::layout::Layout;
use crate::machine::{Products, WordMachine};
use crate::words::{Local, Port, Term, WordPlan};

/// Words of calls side by side: 8 MiB.
const SIDE_BY_SIDE: u64 = (8 << 20) / 16;

/// How many of so many calls run side by side.
pub(crate) fn together(plan: &WordPlan, times: u64) -> u64 {
    let most = (SIDE_BY_SIDE / plan.slots.max(1) as u64).max(1);
    times.div_ceil(times.div_ceil(most).max(1))
}

/// The products of a program that has this layout.
pub(crate) fn products_of(program: &Program, layout: &Layout) -> BTreeMap<WordProduct, u64> {
    fn walk(steps: &[Step], layout: &Layout, turns: u64, found: &mut BTreeMap<WordProduct, u64>) {
        for step in steps {
            match step {
                Step::Call { times, .. } => {
                    for what in layout.plan_of(step).expect("it is a call").products() {
                        let found = found.entry(what).or_default();
                        *found = found.saturating_add(turns.saturating_mul(*times));
                    }
                }
                Step::Repeat { times, body } => walk(body, layout, turns.saturating_mul(*times), found),
                Step::Input { .. } | Step::Reveal { .. } => {}
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(program.steps(), layout, 1, &mut found);
    found
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
        self.layout.word(values[port.value].at(t) + port.offset).expect("a word begins there, as was planned")
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
            if !layer.products.is_empty() {
                let rows = &self.rows;
                let row = |term: &Term| {
                    Zeroizing::new((0..copies).map(|t| value(rows, term, copies, t, first)).collect::<Vec<_>>())
                };
                let factors = layer.products.iter().map(|factors| Products {
                    what: factors.what,
                    x: row(&factors.x),
                    y: if factors.what.square { Zeroizing::default() } else { row(&factors.y) },
                });
                let results = self.machine.multiply(self.net, factors.collect())?;
                for (factors, result) in layer.products.iter().zip(results) {
                    self.rows[factors.out * copies..][..copies].copy_from_slice(&result);
                }
            }
            for (local, out) in &layer.locals {
                for t in 0..copies {
                    let of = |term: &Term| value(&self.rows, term, copies, t, first);
                    self.rows[out * copies + t] = match local {
                        Local::Add(x, y) => of(x).wrapping_add(of(y)),
                        Local::Sub(x, y) => of(x).wrapping_sub(of(y)),
                        Local::Scale(x, by) => of(x).wrapping_mul(*by),
                    };
                }
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
        let widths: Vec<u32> = words.iter().map(|(_, bits)| *bits as u32).collect();
        let value = value.map(|value| {
            let word =
                |&(offset, bits): &(usize, usize)| value.slice(offset, bits).to_u128().expect("at most 128 bits");
            Zeroizing::new(words.iter().map(word).collect::<Vec<u128>>())
        });
        let shares = self.machine.input(put.owner, value, &widths)?;
        for (&(offset, _), &share) in words.iter().zip(shares.iter()) {
            self.memory[self.layout.word(put.start + offset).expect("a word begins there")] = share;
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
        let widths: Vec<u32> = words.iter().map(|(_, bits)| *bits as u32).collect();
        let share = |&(offset, _): &(usize, usize)| {
            self.memory[self.layout.word(shown.start + offset).expect("a word begins there")]
        };
        let shares = Zeroizing::new(words.iter().map(share).collect::<Vec<u128>>());
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

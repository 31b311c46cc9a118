//! Programs on a [`WordMachine`], call by call.

use std::collections::BTreeMap;

use comity_channel::Mesh;
use comity_circuit::{Call, Engine, Place, Program, Put, Shown, Step};
use comity_core::{Bits, Error, Result};
use comity_share::ring::{MatrixProduct, WordProduct};
use zeroize::Zeroizing;

use crate::costs::messages;
use crate::lanes::{Lanes, grow, together};
use crate::layout::{Layout, Part};
use crate::machine::WordMachine;
use crate::plan::WordPlan;
use crate::words::Port;

/// What a program takes.
#[derive(Default)]
pub(crate) struct Taken {
    pub(crate) products: BTreeMap<WordProduct, u64>,
    pub(crate) matrices: BTreeMap<MatrixProduct, u64>,
    /// The OTs that each party sends for what is converted.
    pub(crate) ots: [u64; 2],
}

impl Taken {
    /// What a program takes that has this layout.
    pub(crate) fn new(program: &Program, layout: &Layout) -> Taken {
        let mut taken = Taken::default();
        taken.walk(program.steps(), layout, 1);
        taken
    }

    /// Whether there are products of any kind.
    pub(crate) fn multiplies(&self) -> bool {
        !self.products.is_empty() || !self.matrices.is_empty()
    }

    fn walk(&mut self, steps: &[Step], layout: &Layout, turns: u64) {
        for step in steps {
            match step {
                Step::Call { times, .. } => {
                    let plan = layout.plan_of(step).expect("it is a call");
                    let calls = turns.saturating_mul(*times);
                    let add = |found: &mut u64| *found = found.saturating_add(calls);
                    plan.products().for_each(|what| add(self.products.entry(what).or_default()));
                    plan.matrices().for_each(|what| add(self.matrices.entry(what).or_default()));
                    messages(plan).for_each(|layer| layer.count_ots(calls, &mut self.ots));
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
    lanes: Lanes,
}

impl<'a, 'n, 'd> WordEngine<'a, 'n, 'd> {
    pub(crate) fn new(
        net: &'a mut Mesh<'n>,
        machine: &'a mut WordMachine<'d>,
        layout: &'a Layout,
    ) -> WordEngine<'a, 'n, 'd> {
        WordEngine { net, machine, layout, memory: Zeroizing::default(), lanes: Lanes::default() }
    }

    /// The word of a value in call `t`.
    fn at(&self, values: &[Place], port: &Port, t: u64) -> usize {
        let at = values[port.value].at(t) + port.offset - port.skip;
        self.layout.word(at).expect("a word begins there, as was planned")
    }

    /// The calls from `from` on, `copies` of them, side by side.
    fn side_by_side(&mut self, call: &Call<'_>, plan: &WordPlan, from: u64, copies: usize) -> Result<()> {
        self.lanes.begin(plan, copies, self.machine.is_first())?;
        for (slot, port) in plan.ins.iter().enumerate() {
            for t in 0..copies {
                let share = self.memory[self.at(call.args, port, from + t as u64)];
                self.lanes.set(slot, t, share);
            }
        }
        self.lanes.run(plan, self.net, self.machine)?;
        for (port, term) in &plan.outs {
            for t in 0..copies {
                let at = self.at(call.outs, port, from + t as u64);
                self.memory[at] = self.lanes.share(term, t);
            }
        }
        Ok(())
    }
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

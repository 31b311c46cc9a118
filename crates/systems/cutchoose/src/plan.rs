//! `Plan`: what is computed in the garbled circuits, as both parties know it from the program alone.
//!
//! The circuit `f'` of Figure 3 is the program, and around it: the evaluator's input `y = E y'` is encoded by
//! a rho-probe matrix; and where the garbler learns outputs, they come out masked by a pad and with a tag,
//! both under keys that are inputs of the garbler (Lindell, Pinkas 2007), so that the evaluator can pass them
//! on without learning or changing them. Labels never travel back: step 7 shows them all.

use comity_circuit::{Lowered, Program};
use comity_core::{Bits, Params, PartyId, verdict};
use comity_garble::lockstep::most_slots;
use comity_protocol::Job;
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use crate::intake::Form;
use crate::mac::Mac;
use crate::probe::Probe;

/// Output bits that are treated together: what a copy's hash takes in at once then fills all lanes of BLAKE3.
pub(crate) const OUTPUTS: usize = 512;

/// The plan of a run: what the garbled circuits compute.
pub(crate) struct Plan {
    /// The number of copies.
    pub(crate) copies: usize,
    /// The form in which the garbled circuits travel.
    pub(crate) form: Form,
    /// The garbler's party.
    pub(crate) garbler: PartyId,
    /// The bits of the garbler's input in the program.
    pub(crate) own: usize,
    /// The pads: a bit for each bit that only the garbler learns.
    pub(crate) pads: usize,
    /// The tag of the garbler's outputs, if there are any.
    pub(crate) mac: Option<Mac>,
    /// The encoding of the evaluator's input.
    pub(crate) probe: Probe,
    /// The output values in order.
    pub(crate) outputs: Vec<Revealed>,
}

/// An output value.
#[derive(Clone, Copy)]
pub(crate) struct Revealed {
    pub(crate) bits: usize,
    pub(crate) to_garbler: bool,
    pub(crate) to_evaluator: bool,
}

impl Revealed {
    /// Whether the value is padded, since the evaluator must not learn it.
    pub(crate) fn padded(&self) -> bool {
        !self.to_evaluator
    }
}

/// The party whose garbling sends fewer bytes: an input bit costs 32 bytes a copy at the garbler and about
/// 128 at the evaluator, an output bit for the garbler some 400 more. Party 0 on a tie.
pub fn garbler(program: &Program) -> PartyId {
    let cost = |garbler: u16| -> u64 {
        let inputs = program.inputs().iter().map(|i| i.bits as u64 * if i.owner.includes(garbler) { 32 } else { 128 });
        let outputs = program.outputs().iter().filter(|o| o.to.includes(garbler)).map(|o| o.bits as u64 * 400);
        inputs.sum::<u64>() + outputs.sum::<u64>()
    };
    PartyId(u16::from(cost(1) < cost(0)))
}

impl Plan {
    /// The plan of a job.
    pub(crate) fn of(job: &Job<'_>, params: Params) -> Plan {
        Plan::new(job.program, job.options.first("role"), params, Form::of(job.options))
    }

    pub(crate) fn new(program: &Program, garbler: PartyId, params: Params, form: Form) -> Plan {
        let (rho, evaluator) = (params.rho, garbler.other());
        let outputs: Vec<Revealed> = program
            .outputs()
            .iter()
            .map(|output| Revealed {
                bits: output.bits,
                to_garbler: output.to.includes(garbler),
                to_evaluator: output.to.includes(evaluator),
            })
            .collect();
        let sum = |pick: &dyn Fn(&Revealed) -> bool| outputs.iter().filter(|o| pick(o)).map(|o| o.bits).sum::<usize>();
        let bits = |party: PartyId| {
            program.inputs().iter().filter(move |i| i.owner.includes(party)).map(|i| i.bits).sum::<usize>()
        };
        let authentic = sum(&|o| o.to_garbler);
        Plan {
            copies: form.copies(params).0,
            form,
            garbler,
            own: bits(garbler),
            pads: sum(&|o| o.padded()),
            mac: (authentic > 0).then(|| Mac::new(rho, (authentic + 128 * outputs.len()) as u64)),
            probe: Probe::new(rho, bits(evaluator)),
            outputs,
        }
    }

    /// Bits of the tag, of its key, and of the pad of the tag.
    pub(crate) fn tag(&self) -> usize {
        self.mac.as_ref().map_or(0, Mac::width)
    }

    /// AND gates that the tag takes.
    pub(crate) fn tag_gates(&self) -> u64 {
        let Some(mac) = &self.mac else { return 0 };
        let blocks = self.outputs.iter().filter(|o| o.to_garbler).map(|o| o.bits.div_ceil(mac.width()) as u64);
        blocks.sum::<u64>() * mac.circuit().counts().and
    }

    /// Wires of memory that a program of `program_wires` wires needs: behind them come those of an output on its way,
    /// and of the tag.
    pub(crate) fn wires(&self, program_wires: u64) -> usize {
        usize::try_from(program_wires).unwrap_or(usize::MAX).saturating_add(OUTPUTS.max(self.tag()) + 3 * self.tag())
    }

    /// The most slots that any circuit needs, the tag's included.
    pub(crate) fn slots(&self, program: &Program) -> usize {
        let tag = self.mac.as_ref().map(|mac| Lowered::new(mac.circuit()));
        most_slots(program.lowered().iter().chain(&tag))
    }

    /// The number `n1` of the garbler's input bits: the program's, the pads, the key of the tag, its pad. Recovery
    /// needs two at least, or none (Lemma 4): one bit alone gets company.
    pub(crate) fn garblers(&self) -> usize {
        match self.own + self.pads + 2 * self.tag() {
            1 => 2,
            bits => bits,
        }
    }

    /// The number `n3` of bits that come out of the garbled circuits.
    pub(crate) fn revealed(&self) -> usize {
        self.outputs.iter().map(|output| output.bits).sum::<usize>() + self.tag()
    }

    /// The garbler's whole input `x`: its own bits, then random ones.
    pub(crate) fn garblers_input(&self, own: &Bits, rng: &mut dyn CryptoRng) -> Bits {
        let extra = self.garblers() - own.len();
        let mut bytes = vec![0; extra.div_ceil(8)];
        rng.fill_bytes(&mut bytes);
        let mut x = own.clone();
        x.extend_from(&Bits::from_bytes(&bytes, extra));
        bytes.zeroize();
        x
    }

    /// The pads, the key of the tag and the pad of the tag in the garbler's whole input.
    pub(crate) fn keys<'a>(&self, x: &'a Bits) -> Keys<'a> {
        let tag = self.tag();
        let at = self.own + self.pads;
        Keys { x, pad: self.own, key: number(x, at, tag), mask: number(x, at + tag, tag) }
    }
}

/// The garbler's keys for its outputs.
pub(crate) struct Keys<'a> {
    x: &'a Bits,
    /// The index of the next pad bit.
    pad: usize,
    key: u128,
    mask: u128,
}

impl Plan {
    /// Seals the values of the program's outputs, in order (`None` where nobody may know it here), to the bits that
    /// come out of the garbled circuits: each value, padded if only the garbler learns it, then the tag.
    pub(crate) fn seal(&self, values: &[Bits], x: &Bits) -> Bits {
        let mut keys = self.keys(x);
        let mut sealed = Bits::zeros(0);
        for (output, value) in self.outputs.iter().zip(values) {
            let mut value = value.clone();
            keys.pad(output, &mut value);
            sealed.extend_from(&value);
        }
        if let Some(mac) = &self.mac {
            let tag = self.tag_of(mac, &sealed, &keys);
            sealed.extend_from(&Bits::from_bytes(&tag.to_le_bytes(), mac.width()));
        }
        sealed
    }

    /// The garbler's outputs from the bits that the evaluator passed on ([`Plan::passed`]): `None` if the tag is wrong.
    pub(crate) fn open(&self, passed: &Bits, x: &Bits) -> Option<Vec<(usize, Bits)>> {
        let mut keys = self.keys(x);
        let mut values = Vec::new();
        let mut at = 0;
        let mut sealed = Bits::zeros(0);
        for (index, output) in self.outputs.iter().enumerate() {
            if !output.to_garbler {
                sealed.extend_from(&Bits::zeros(output.bits));
                continue;
            }
            let mut value = passed.slice(at, output.bits);
            at += output.bits;
            sealed.extend_from(&value);
            keys.pad(output, &mut value);
            values.push((index, value));
        }
        let mac = self.mac.as_ref()?;
        let tag = self.tag_of(mac, &sealed, &keys);
        verdict(tag.ct_eq(&number(passed, at, mac.width()))).then_some(values)
    }

    /// The bits that the evaluator passes on to the garbler, of those that came out of the garbled circuits.
    pub(crate) fn passed(&self, revealed: &Bits) -> Bits {
        let mut passed = Bits::zeros(0);
        let mut at = 0;
        for output in &self.outputs {
            if output.to_garbler {
                passed.extend_from(&revealed.slice(at, output.bits));
            }
            at += output.bits;
        }
        passed.extend_from(&revealed.slice(at, self.tag()));
        passed
    }

    /// Bits in [`Plan::passed`].
    pub(crate) fn passed_bits(&self) -> usize {
        self.outputs.iter().filter(|o| o.to_garbler).map(|o| o.bits).sum::<usize>() + self.tag()
    }

    /// The evaluator's outputs, of the bits that came out of the garbled circuits.
    pub(crate) fn evaluators(&self, revealed: &Bits) -> Vec<(usize, Bits)> {
        let mut at = 0;
        let mut values = Vec::new();
        for (index, output) in self.outputs.iter().enumerate() {
            if output.to_evaluator {
                values.push((index, revealed.slice(at, output.bits)));
            }
            at += output.bits;
        }
        values
    }

    fn tag_of(&self, mac: &Mac, sealed: &Bits, keys: &Keys<'_>) -> u128 {
        let (mut tag, mut at) = (0, 0);
        for output in &self.outputs {
            if output.to_garbler {
                for block in (0..output.bits).step_by(mac.width()) {
                    let bits = mac.width().min(output.bits - block);
                    tag = mac.step(tag, number(sealed, at + block, bits), keys.key);
                }
            }
            at += output.bits;
        }
        tag ^ keys.mask
    }
}

impl Keys<'_> {
    /// Adds the pad of an output that only the garbler learns.
    fn pad(&mut self, output: &Revealed, value: &mut Bits) {
        if output.padded() {
            value.xor_assign(&self.x.slice(self.pad, output.bits));
            self.pad += output.bits;
        }
    }
}

/// The number with these bits, least significant first.
fn number(bits: &Bits, start: usize, len: usize) -> u128 {
    let slice = bits.slice(start, len);
    slice.words().iter().rev().fold(0, |number, &word| number << 64 | u128::from(word))
}

#[cfg(test)]
mod tests {
    use comity_circuit::{Builder, Recipients};
    use comity_core::{Backend, Block, Prg};

    use super::*;

    /// A plan where the garbler has `bits` bits, the evaluator has three, and one bit comes out.
    fn plan(bits: usize, to: Recipients) -> Plan {
        let mut b = Builder::new();
        let (x, y) = (b.input("x", bits), b.input("y", 3));
        let sum = x.iter().chain(&y[1..]).fold(y[0], |sum, &bit| b.xor(sum, bit));
        b.output("sum", &[sum]);
        let program = Program::from_circuit(b.finish()).expect("a program").with_recipients(0, to).expect("recipients");
        Plan::new(&program, PartyId(0), Params::new(128, 40).expect("parameters"), Form::All)
    }

    /// One bit alone would let a garbler search among 2^128 seeds for one that shows the other bit.
    #[test]
    fn one_input_bit_of_the_garbler_gets_company() {
        for (own, all) in [(0, 0), (1, 2), (2, 2), (3, 3)] {
            let plan = plan(own, Recipients::only(1));
            assert_eq!((plan.own, plan.pads, plan.tag(), plan.garblers()), (own, 0, 0, all));
        }
        // Keys and pads are bits of the input too.
        for (to, pads) in [(Recipients::All, 0), (Recipients::only(0), 1)] {
            for own in 0..3 {
                let plan = plan(own, to);
                assert_eq!((plan.own, plan.pads, plan.garblers()), (own, pads, own + pads + 2 * 64));
            }
        }
    }

    #[test]
    fn the_company_is_random() {
        let plan = plan(1, Recipients::only(1));
        let mut rng = Prg::new(Backend::detect(), Block::from_u128(1));
        let mut ones = 0;
        for i in 0..64 {
            let own = Bits::from_bytes(&[i % 2], 1);
            let x = plan.garblers_input(&own, &mut rng);
            assert_eq!((x.len(), x.get(0)), (2, own.get(0)));
            ones += u32::from(x.get(1));
        }
        assert!((16..48).contains(&ones), "{ones}");
    }
}

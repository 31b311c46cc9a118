//! `Unshared`: a program with values in shares, for engines that have none of their own.
//!
//! A value that comes in shared is one private input a party, and their sum (XOR). One that goes out shared
//! is masked by a random input of each party but party 0, and revealed to party 0 alone: the sum is its
//! share, and the masks are the others'. A share is so uniform, whatever the value is and whoever knew it
//! before, and no AND gate is added.

use comity_core::{Bits, PartyId};

use super::{Program, ProgramError, Span, Step};
use crate::builder::Builder;
use crate::circuit::Circuit;
use crate::party::{Owner, Recipients};

/// A program that does the same with values that one party each puts in, and that are revealed.
#[derive(Debug)]
pub struct Unshared {
    program: Program,
    /// The input values of the program, in order.
    inputs: Vec<Given>,
}

/// The value of the program with shares from which an input value comes.
#[derive(Debug)]
enum Given {
    /// Input value `index`, or this party's share of it.
    Value(usize),
    /// This party's share of an output value: its index and its bits.
    Mask(usize, usize),
}

impl Program {
    /// The program among `parties` parties for an engine without shares.
    ///
    /// # Errors
    /// [`ProgramError`] if shares make it too large.
    pub fn unshared(&self, parties: u16) -> Result<Unshared, ProgramError> {
        let others = u64::from(parties.saturating_sub(1));
        let mut circuits = self.circuits.clone();
        let sum = circuits.len();
        circuits.push(sum_of(usize::from(parties)));
        let shared_in = self.inputs.iter().filter(|input| input.owner == Owner::Shared).map(|input| input.bits as u64);
        let aside = self.wires;
        let mut end = aside.saturating_add(shared_in.max().unwrap_or(0).saturating_mul(others));
        let (mut steps, mut inputs, mut masks) = (Vec::new(), Vec::new(), Vec::new());
        for (index, output) in self.outputs.iter().enumerate().filter(|(_, output)| output.to == Recipients::Shared) {
            masks.push(end);
            for party in (1..parties).map(PartyId) {
                let to = span(end, output.bits as u64);
                steps.push(Step::Input { name: format!("share of {}", output.name), owner: party.into(), to });
                inputs.push(Given::Mask(index, output.bits));
                end = end.saturating_add(output.bits as u64);
            }
        }
        let (mut masks, mut next) = (masks.into_iter(), 0..);
        for step in &self.steps {
            match step {
                Step::Input { name, owner, to } => {
                    let index = next.next().expect("there are more numbers than values");
                    let own: Vec<Owner> = match owner {
                        Owner::Party(_) => vec![*owner],
                        Owner::Shared => (0..parties).map(Owner::from).collect(),
                    };
                    let places = shares(to.clone(), aside, own.len());
                    for (owner, to) in own.iter().zip(&places) {
                        steps.push(Step::Input { name: name.clone(), owner: *owner, to: to.clone() });
                        inputs.push(Given::Value(index));
                    }
                    if own.len() > 1 {
                        add(&mut steps, sum, &places, to);
                    }
                }
                Step::Reveal { name, to: Recipients::Shared, from } => {
                    let masks = masks.next().expect("each value has masks");
                    let to = span(masks, from.bits);
                    add(&mut steps, sum, &shares(from.clone(), masks, usize::from(parties)), &to);
                    steps.push(Step::Reveal { name: name.clone(), to: Recipients::only(0), from: to });
                }
                step => steps.push(step.clone()),
            }
        }
        let mut program = Program::new(self.name.clone(), end, circuits, steps)?.with_goal(self.goal);
        program.party_names.clone_from(&self.party_names);
        Ok(Unshared { program, inputs })
    }
}

impl Unshared {
    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The values that party `me` puts in, from those (`given`) that it puts into the program with shares;
    /// and its masks, each with the index of the output value of which it is this party's share. `random`
    /// draws as many random bits as it is asked for.
    pub fn inputs(
        &self,
        me: PartyId,
        given: &[Option<Bits>],
        mut random: impl FnMut(usize) -> Bits,
    ) -> (Vec<Option<Bits>>, Vec<(usize, Bits)>) {
        let mut masks = Vec::new();
        let values = self.program.inputs.iter().zip(&self.inputs).map(|(input, what)| match what {
            _ if !input.owner.includes(me) => None,
            Given::Value(index) => given[*index].clone(),
            Given::Mask(index, bits) => {
                let mask = random(*bits);
                masks.push((*index, mask.clone()));
                Some(mask)
            }
        });
        (values.collect(), masks)
    }
}

fn span(start: u64, bits: u64) -> Span {
    Span { start, bits, strides: Vec::new() }
}

/// The places of shares: the first one is there, the others lie one after another.
fn shares(first: Span, others: u64, count: usize) -> Vec<Span> {
    let bits = first.bits;
    let more = (0..count as u64).map(|i| span(others.saturating_add(i.saturating_mul(bits)), bits));
    [first].into_iter().chain(more).take(count).collect()
}

/// Adds up values, bit by bit.
fn add(steps: &mut Vec<Step>, sum: usize, values: &[Span], to: &Span) {
    let bit = |value: &Span| (span(value.start, 1), 1);
    if to.bits > 0 {
        let (args, outs) = (values.iter().map(bit).collect(), vec![bit(to)]);
        steps.push(Step::Call { circuit: sum, times: to.bits, args, outs });
    }
}

/// The sum of `count` bits.
fn sum_of(count: usize) -> Circuit {
    let mut b = Builder::new();
    let shares: Vec<_> = (0..count).map(|i| b.input(&format!("share{i}"), 1)[0]).collect();
    let sum = shares[1..].iter().fold(shares[0], |sum, &share| b.xor(sum, share));
    b.output("value", &[sum]);
    b.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Observer, Plain, ProgramBuilder};

    #[derive(Default)]
    struct Outputs(Vec<Bits>);

    impl Observer for Outputs {
        fn output(&mut self, _: usize, value: Bits) {
            self.0.push(value);
        }
    }

    fn ran(program: &Program, inputs: &[Option<Bits>]) -> Vec<Bits> {
        let mut outputs = Outputs::default();
        crate::run(program, &mut Plain::new(), inputs, &mut outputs).unwrap();
        outputs.0
    }

    fn number(bits: usize, seed: u64) -> Bits {
        (0..bits).map(|i| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32 * 7) >> 63 == 1).collect()
    }

    /// `x y` and `x` and `y`, of which `x` comes in shared, and the first and the last go out so.
    fn program() -> Program {
        let mut p = ProgramBuilder::new("shared");
        let (x, none, y) = (p.input("x", 0, 70), p.input("none", 0, 0), p.input("y", 1, 70));
        let mut b = Builder::new();
        let (u, v) = (b.input("u", 70), b.input("v", 70));
        let and: Vec<_> = u.iter().zip(&v).map(|(&u, &v)| b.and(u, v)).collect();
        b.output("and", &and);
        let and = p.circuit(b.finish());
        let out = p.register(70);
        p.call(and, &[x.span(), y.span()], &[out.span()]);
        for (name, register) in [("and", out), ("x", x), ("none", none), ("y", y)] {
            p.reveal(name, Recipients::All, register);
        }
        let mut program =
            p.finish().unwrap().with_owner(0, Owner::Shared).unwrap().with_owner(1, Owner::Shared).unwrap();
        for output in [0, 2, 3] {
            program = program.with_recipients(output, Recipients::Shared).unwrap();
        }
        program.with_goal(crate::Goal::Depth)
    }

    #[test]
    fn shares_go_in_and_out_of_what_has_none() {
        for parties in [2, 3, 5] {
            let unshared = program().unshared(parties).unwrap();
            assert_eq!(unshared.program().check_plain(), Ok(()));
            assert_eq!(unshared.program().and_gates(), program().and_gates());
            assert_eq!(unshared.program().goal(), crate::Goal::Depth);
            let (mut all, mut masks) = (vec![None; unshared.program().inputs().len()], vec![Bits::zeros(70); 4]);
            let (mut x, y) = (Bits::zeros(70), number(70, 99));
            let mut seed = 7;
            for me in (0..parties).map(PartyId) {
                let share = number(70, u64::from(me.0) + 1);
                x.xor_assign(&share);
                let given = [Some(share), Some(Bits::default()), (me.0 == 1).then(|| y.clone())];
                let (own, drawn) = unshared.inputs(me, &given, |bits| {
                    seed += 1;
                    number(bits, seed)
                });
                assert_eq!(drawn.len(), if me.0 == 0 { 0 } else { 3 }, "party 0 has no masks");
                for (index, mask) in drawn.iter().filter(|(_, mask)| !mask.is_empty()) {
                    masks[*index].xor_assign(mask);
                }
                for (at, value) in own.into_iter().enumerate().filter(|(_, value)| value.is_some()) {
                    assert!(all[at].replace(value.unwrap()).is_none(), "one party puts in a value");
                }
            }
            let outputs = ran(unshared.program(), &all.into_iter().map(Some).map(|v| v.flatten()).collect::<Vec<_>>());
            let and: Bits = (0..70).map(|i| x.get(i) && y.get(i)).collect();
            assert_eq!(outputs[1], x);
            for (index, value) in [(0, and), (3, y)] {
                assert_ne!(outputs[index], value, "party 0's share is masked");
                let mut sum = outputs[index].clone();
                sum.xor_assign(&masks[index]);
                assert_eq!(sum, value);
            }
            let learn: Vec<Recipients> = unshared.program().outputs().iter().map(|output| output.to).collect();
            let zero = Recipients::only(0);
            assert_eq!(learn, [zero, Recipients::All, zero, zero]);
        }
    }
}

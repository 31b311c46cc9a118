//! The evaluator, `P2` of Figures 3 and 4.

use comity_channel::Channel;
use comity_circuit::{Call, Observer, Plain, Program};
use comity_core::{Bits, Block, Delta, Result, verdict};
use comity_garble::lockstep::{self, LabelRows, joined, separated};
use comity_ot::committing;
use comity_protocol::{Conduct, Here, Job};
use rand_core::CryptoRng;
use subtle::{Choice as Bit, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use crate::checks;
use crate::conduct::Act;
use crate::consistency::{self, Expected, Weights};
use crate::copies::CopySecret;
use crate::gates::{self, CopySide};
use crate::intake::Intake;
use crate::messages::Decoded;
use crate::outputs::{Batch, Results, receive_commitments};
use crate::plan::Plan;
use crate::recovery::Trapdoor;
use crate::rows::{Layout, Places};
use crate::transfer::{OpenedCopies, Ots, receive_labels};

pub(crate) fn run(
    ch: &mut dyn Channel,
    here: Here,
    job: &Job<'_>,
    ots: &dyn Ots,
    rng: &mut dyn CryptoRng,
    observer: &mut dyn Observer,
    conduct: &mut impl for<'a> Conduct<Act<'a>>,
) -> Result<()> {
    let (program, plan, backend) = (job.program, Plan::of(job, here.params), here.backend);
    let y = joined(program, here.me, job.inputs)?;
    let encoded = plan.probe.encode(&y, rng);
    let mut choice = plan.form.choose(here.params, rng);
    conduct.before(Act::Choice(&mut choice));

    observer.phase("setup");
    let ots = ots.receive(ch, here, &choice, &encoded, rng)?;
    // Step 7 begins here: what is random in this side's message.
    let (trapdoor, first) = Trapdoor::new(rng);
    let mut first = first.to_bytes();
    conduct.before(Act::First(&mut first));
    ch.send(&first)?;

    observer.phase("inputs");
    // Step 1.
    let secrets = ots.step1(ch, &choice)?;
    let mut opened = OpenedCopies::new(here, choice, &secrets);
    let committing = here.session.child("committing OT");
    let mut committing = committing::Sender::setup_from(ch, &committing, backend, ots.seeds, rng)?;
    // Step 2, and step 9a.
    let layout = Layout::new(&plan, program);
    let (mut zeros, mut active) = (layout.memory(opened.checked.len())?, layout.memory(opened.keys.len())?);
    let mut places = Places { layout: &layout, zeros: Some(&mut zeros), active: &mut active };
    receive_labels(ch, backend, &plan.probe, &mut opened, &encoded, &ots.inputs, &mut places)?;
    // Step 3.
    let mut m = Zeroizing::new(vec![[Block::ZERO; 2]; plan.garblers()]);
    committing.random(ch, &mut m)?;
    let r = consistency::receive_r(ch, &opened.choice, &mut opened.keys, m.len())?;
    // Step 4.
    let challenge = Block::random(rng);
    let expected = consistency::receive_a(ch, &mut opened, &r, &m, Weights::new(backend, challenge), &mut places)?;
    let mut opening = committing.opening()?.to_bytes();
    conduct.before(Act::Opening(&mut opening));
    ch.send(&opening)?;
    let mut told = challenge;
    conduct.before(Act::Challenge(&mut told));
    ch.send(&told.to_bytes())?;
    ch.flush()?;

    // Steps 5 and 6, and step 9b.
    let deltas: Vec<Delta> = opened.checked.iter().map(|copy| Delta::new(copy.delta.block())).collect();
    let (slots, memories) = (plan.slots(program), [zeros, active]);
    let side = Evaluating {
        ch,
        intake: Intake::new(here, plan.form, &opened.choice, &deltas, slots, memories),
        results: Results::new(backend, &here.session, &opened.choice, plan.revealed()),
        batch: Batch::default(),
        opened,
    };
    let side = gates::run(&plan, &layout, program, side, observer)?;
    observer.phase("checks");
    let Evaluating { ch, intake, mut results, mut opened, .. } = side;
    intake.finish(ch, &opened.choice)?;
    results.open(receive_commitments(ch, plan.copies)?, &mut opened)?;
    let known = EvaluatorEnd {
        here,
        program,
        plan: &plan,
        opened: &opened,
        y: &y,
        r: &r,
        m: &m,
        expected: &expected,
        trapdoor: &trapdoor,
    };
    known.settle(ch, results, rng, observer, conduct)
}

/// The evaluator when all gates are done.
pub(crate) struct EvaluatorEnd<'a> {
    pub(crate) here: Here,
    pub(crate) program: &'a Program,
    pub(crate) plan: &'a Plan,
    pub(crate) opened: &'a OpenedCopies,
    /// The evaluator's input.
    pub(crate) y: &'a Bits,
    /// The rows `R_{j,i,x[i]}` of the evaluated copies.
    pub(crate) r: &'a [Zeroizing<Vec<Block>>],
    /// The messages `M_{i,b}` of the committing OT.
    pub(crate) m: &'a [[Block; 2]],
    /// The answers that step 4 must bring.
    pub(crate) expected: &'a Expected,
    /// The secrets of step 7.
    pub(crate) trapdoor: &'a Trapdoor,
}

impl EvaluatorEnd<'_> {
    /// The end of step 6, and steps 7 to 9 with the remaining checks.
    pub(crate) fn settle(
        &self,
        ch: &mut dyn Channel,
        mut results: Results,
        rng: &mut dyn CryptoRng,
        observer: &mut dyn Observer,
        conduct: &mut impl for<'a> Conduct<Act<'a>>,
    ) -> Result<()> {
        let EvaluatorEnd { here, program, plan, opened, y, r, m, expected, trapdoor } = *self;
        let (backend, session) = (here.backend, &here.session);
        let OpenedCopies { choice, checked, .. } = opened;
        let mut decoded = results.decode(Block::random(rng));
        conduct.before(Act::Decoded(&mut decoded));

        // Step 7, and step 9c and 9d. This message is the last that the garbler gets if it learns nothing;
        // what depends on the evaluated copies is hidden in it.
        let mut second = trapdoor.second(session, decoded.omega).to_bytes();
        conduct.before(Act::Second(&mut second));
        ch.send(&second)?;
        // Step 4, the end, and step 9e. The answers may be here for long.
        expected.receive(ch, opened)?;
        let delta = results.check(ch, opened)?;
        let mut points = vec![[0; 32]; plan.copies];
        ch.recv(points.as_flattened_mut())?;
        let expected = trapdoor.expect(
            session,
            decoded.omega,
            delta,
            choice.checked.iter().zip(checked).map(|(&j, copy)| (j, &copy.scalars)),
        );
        let opened: Vec<(usize, [u8; 32])> = choice.evaluated.iter().map(|&j| (j, points[j])).collect();
        let pads = trapdoor.open(session, &opened);
        let mut encrypted = vec![Block::ZERO; plan.copies];
        ch.recv(Block::bytes_of_mut(&mut encrypted))?;
        let mut right = Bit::from(1);
        for ((&j, copy), (point, pad)) in choice.checked.iter().zip(checked).zip(&expected) {
            right &= points[j][..].ct_eq(point) & (encrypted[j] ^ *pad).ct_eq(&copy.seed.0);
        }
        if !verdict(right) {
            return Err(checks::INPUT_RECOVERY.into());
        }

        // Step 8, always, whether there is something to recover or not.
        let seeds = choice.evaluated.iter().zip(pads.iter()).map(|(&j, pad)| (j, CopySecret(encrypted[j] ^ *pad)));
        let seeds = seeds.inspect(|(j, seed)| conduct.before(Act::Recovered { j: *j, seed }));
        let seen = seeds.zip(r).map(|((j, seed), r)| consistency::recover(backend, session, j, seed, r, m));
        let (x, recovered) = agreed(seen, m.len());
        let values = evaluate(program, &separated(program, plan.garbler, &x, y))?;
        let revealed = finish(&decoded, recovered, &plan.seal(&values, &x))?;

        // The garbler's outputs.
        if plan.mac.is_some() {
            let mut passed = plan.passed(&revealed).to_bytes();
            conduct.before(Act::Passed(&mut passed));
            ch.send(&passed)?;
            ch.flush()?;
        }
        plan.evaluators(&revealed).into_iter().for_each(|(index, value)| observer.output(index, value));
        Ok(())
    }
}

/// The garbler's input that all copies show which show one; and whether there is one.
fn agreed(seen: impl Iterator<Item = (Bits, Bit)>, bits: usize) -> (Bits, Bit) {
    let (mut x, mut any, mut one) = (vec![0; bits.div_ceil(64)], Bit::from(0), Bit::from(1));
    for (candidate, valid) in seen {
        let same = x.ct_eq(candidate.words());
        one &= !(any & valid) | same;
        for (word, new) in x.iter_mut().zip(candidate.words()) {
            word.conditional_assign(new, valid & !any);
        }
        any |= valid;
    }
    (Bits::from_words(x, bits), any & one)
}

/// The program's outputs in the clear.
fn evaluate(program: &Program, inputs: &[Option<Bits>]) -> Result<Vec<Bits>> {
    struct Values(Vec<Bits>);
    impl Observer for Values {
        fn output(&mut self, index: usize, value: Bits) {
            self.0[index] = value;
        }
    }
    let mut values = Values(program.outputs().iter().map(|output| Bits::zeros(output.bits)).collect());
    comity_circuit::run(program, &mut Plain::new(), inputs, &mut values)?;
    Ok(values.0)
}

/// The end of steps 6 and 8: the bits that the copies agree on, or if they do not, those of the recovered input.
fn finish(decoded: &Decoded, recovered: Bit, computed: &Bits) -> Result<Bits> {
    if verdict(decoded.invalid) {
        return Err(checks::NO_VALID_COPY.into());
    }
    if verdict(decoded.disagree & (decoded.ambiguous | !recovered)) {
        return Err(checks::NO_RECOVERY.into());
    }
    let mut words = decoded.bits.words().to_vec();
    for (word, computed) in words.iter_mut().zip(computed.words()) {
        word.conditional_assign(computed, decoded.disagree);
    }
    Ok(Bits::from_words(words, decoded.bits.len()))
}

/// The evaluator's side of steps 5 and 6.
struct Evaluating<'a> {
    ch: &'a mut (dyn Channel + 'a),
    intake: Intake,
    results: Results,
    batch: Batch,
    opened: OpenedCopies,
}

impl CopySide for Evaluating<'_> {
    fn memories(&mut self, each: &mut dyn FnMut(&mut LabelRows)) {
        self.intake.memories().into_iter().for_each(each);
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        let Evaluating { ch, intake, opened, .. } = self;
        lockstep::call(intake, call, |intake, part| intake.receive(*ch, &opened.choice, part))
    }

    fn reveal(&mut self, at: usize, bits: usize) -> Result<()> {
        let [zeros, active] = self.intake.memories().map(|memory| memory.get(at, bits));
        self.batch.resize(bits, &self.opened.choice);
        self.results.receive(self.ch, &self.opened, &mut self.batch, zeros)?;
        self.results.evaluate(&mut self.batch, &mut self.opened, active);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use comity_core::{Error, Kind};

    use super::*;

    /// The input of three bits that copies agree on, of what each shows and whether it is an input.
    fn agreement(seen: &[(u8, bool)]) -> Option<u8> {
        let seen = seen.iter().map(|&(x, valid)| (Bits::from_bytes(&[x], 3), Bit::from(u8::from(valid))));
        let (x, one) = agreed(seen, 3);
        assert_eq!(x.len(), 3);
        bool::from(one).then(|| x.to_bytes()[0])
    }

    #[test]
    fn an_input_is_what_all_copies_show_that_show_one() {
        for (seen, wanted) in [
            (&[][..], None),
            (&[(5, false)], None),
            (&[(5, false), (5, false)], None),
            (&[(5, true)], Some(5)),
            (&[(0, true)], Some(0)),
            (&[(5, true), (5, true), (5, true)], Some(5)),
            // Those that show none have no say, wherever they are.
            (&[(2, false), (5, true)], Some(5)),
            (&[(5, true), (2, false)], Some(5)),
            (&[(2, false), (5, true), (3, false), (5, true), (0, false)], Some(5)),
            // If there are several inputs none is taken, whichever comes first or more often.
            (&[(5, true), (4, true)], None),
            (&[(4, true), (5, true)], None),
            (&[(5, true), (5, true), (1, true)], None),
            (&[(5, true), (1, true), (5, true)], None),
            (&[(0, true), (1, true)], None),
            (&[(1, true), (0, true)], None),
            (&[(0, false), (5, true), (4, true)], None),
        ] {
            assert_eq!(agreement(seen), wanted, "{seen:?}");
        }
        // With more than a word of bits every word counts; with no bits every copy shows the same.
        let (ones, mut other) = (Bits::from_words(vec![u64::MAX; 2], 100), Bits::from_words(vec![u64::MAX; 2], 100));
        other.set(99, false);
        let both = |a: &Bits, b: &Bits| agreed([a, b].map(|x| (x.clone(), Bit::from(1))).into_iter(), 100);
        assert!(bool::from(both(&ones, &ones).1) && both(&ones, &ones).0 == ones);
        assert!(!bool::from(both(&ones, &other).1));
        assert!(bool::from(agreed([(Bits::zeros(0), Bit::from(1))].into_iter(), 0).1));
    }

    /// The bits that come out, or the check that fails, for all that can be found.
    #[test]
    fn the_recovered_input_counts_only_where_copies_disagree() {
        let (agreed, computed) = (Bits::from_bytes(&[0b10], 2), Bits::from_bytes(&[0b01], 2));
        for found in 0..16 {
            let [invalid, disagree, ambiguous, recovered] = [0, 1, 2, 3].map(|i| Bit::from(found >> i & 1));
            let decoded = Decoded { bits: agreed.clone(), omega: Block::ZERO, invalid, disagree, ambiguous };
            let wanted = match [invalid, disagree, ambiguous, recovered].map(bool::from) {
                [true, ..] => Err(checks::NO_VALID_COPY),
                [_, false, ..] => Ok(&agreed),
                [_, _, false, true] => Ok(&computed),
                _ => Err(checks::NO_RECOVERY),
            };
            match (finish(&decoded, recovered, &computed), wanted) {
                (Ok(bits), Ok(wanted)) => assert!(bits == *wanted, "{found:04b}"),
                (Err(Error { kind: Kind::Misbehaved(kind), .. }), Err(wanted)) => {
                    assert_eq!(kind, wanted, "{found:04b}")
                }
                _ => panic!("{found:04b}"),
            }
        }
    }
}

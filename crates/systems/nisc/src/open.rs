//! The receiver, `P1` of Figure 4.

use std::io::Read;

use comity_circuit::{Observer, Plain, Program};
use comity_core::{Backend, Bits, Block, Check, Delta, Error, Kind, Prg, Result, SessionId, declassify, verdict};
use comity_garble::lockstep::{LabelRows, gate_keys, most_slots, separated};
use comity_garble::{LockstepEvaluator, LockstepGarbler};
use comity_ot::base::pvw::{self, products};
use curve25519_dalek::ristretto::{RistrettoBasepointTable, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use crate::checks;
use crate::copies::{AnswerCopy, mask};
use crate::files::{FileKind, Header};
use crate::gates::{AnswerCopies, ReceiverGates, SENDER, walk};
use crate::group::{Powers, Public, decode, doubled, half, note};
use crate::inputs::{self, Drawn, commit, find};
use crate::outputs::{Boxes, Findings, Recovery, Told, decoding, decoding_bit, decoding_rows};
use crate::parallel::{batches, map};
use crate::plan::AnswerPlan;
use crate::query::{Receivers, Secret};
use crate::respond::{answered, deltas, head_rows, hidden_rows, label_pairs, ot_sessions, same_program, session};
use crate::stream::{In, RowIntake};

/// The content of an opened answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opened {
    /// The output values of the program, in order.
    pub outputs: Vec<Bits>,
    /// Whether the sender cheated and was seen through: the outputs are right all the same, from its input.
    /// This is not part of the functionality. It can depend on the receiver's input (a copy may differ for
    /// one value of a bit), so a sender that is told of it, or sees the receiver act on it, learns about that
    /// input, even after a refresh.
    pub recovered: bool,
}

/// Opens an answer that was made in this context (Figure 4).
///
/// # Errors
/// [`Malformed`](comity_core::Kind) if the bytes are not an answer, or were damaged;
/// [`Mismatch`](comity_core::Kind) if the answer is to another query or program, or was made in another
/// context; [`Misbehaved`](comity_core::Kind) names the check that a cheating sender failed: see the module's
/// documentation. No error says anything about other senders' answers. Show results and errors to nobody
/// before all answers to the query are opened: then the secret is spent, and [`Secret::refresh`] makes the
/// next one.
pub fn open(
    backend: Backend,
    secret: &Secret,
    context: &[u8; 32],
    program: &Program,
    answer: &mut dyn Read,
) -> Result<Opened> {
    let plan = AnswerPlan::new(program, secret.copies())?;
    open_from(backend, secret, context, program, plan, In::new(answer, plan.answer_bytes()))
}

/// Opens an answer as [`open`], with all that it comes from.
pub(crate) fn open_from(
    backend: Backend,
    secret: &Secret,
    context: &[u8; 32],
    program: &Program,
    plan: AnswerPlan,
    mut input: In<'_>,
) -> Result<Opened> {
    same_program(&program.digest(), secret.program())?;
    if plan.inputs[0] != secret.input().len() {
        return Err(Error::malformed("the key has an input of another length than its program takes"));
    }
    let receivers = secret.receivers(backend);
    input.check(plan.copies, &receivers.choice)?;
    let opened = session_of(receivers, secret, context, &mut input)
        .and_then(|session| Receiver { backend, session, plan, program, receivers }.open(&mut input));
    match opened {
        Ok(told) => {
            input.finish()?;
            let (bits, recovered) = match told {
                Outcome::Output(bits) => (bits, false),
                Outcome::Input(y) => (compute(program, secret.input(), &y)?, true),
            };
            Ok(Opened { outputs: split(program, &bits), recovered })
        }
        // What was damaged on its way is nobody's fault.
        Err(Error { kind: Kind::Misbehaved(kind), .. }) => Err(input.finish().err().unwrap_or(kind.into())),
        Err(error) => Err(error),
    }
}

/// Reads the beginning of an answer.
fn session_of(receivers: &Receivers, secret: &Secret, context: &[u8; 32], input: &mut In<'_>) -> Result<SessionId> {
    let header = Header::from_bytes(FileKind::Answer, &input.array()?)?;
    same_program(secret.program(), &header.program)?;
    let (theirs, nonce) = (input.array()?, input.array()?);
    let ours = answered(&receivers.query.fingerprint(), context);
    if header.copies != secret.copies() || theirs != ours {
        let hex = |digest: &[u8; 32]| digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        return Err(Error::mismatch("query", hex(&ours), hex(&theirs)));
    }
    Ok(session(&header, &ours, &nonce))
}

/// The outcome of an answer.
enum Outcome {
    Output(Bits),
    /// The sender's input.
    Input(Bits),
}

/// The program's output bits, computed in the clear.
fn compute(program: &Program, x: &Bits, y: &Bits) -> Result<Bits> {
    struct Outputs(Bits);
    impl Observer for Outputs {
        fn output(&mut self, _: usize, value: Bits) {
            self.0.extend_from(&value);
        }
    }
    let mut outputs = Outputs(Bits::zeros(0));
    comity_circuit::run(program, &mut Plain::new(), &separated(program, SENDER, y, x), &mut outputs)?;
    Ok(outputs.0)
}

/// The output values from their bits.
fn split(program: &Program, bits: &Bits) -> Vec<Bits> {
    let mut at = 0;
    let mut next = |len| {
        at += len;
        bits.slice(at - len, len)
    };
    program.outputs().iter().map(|output| next(output.bits)).collect()
}

/// The commitments of the sender to its input and to the outputs' keys.
struct Commitments {
    h: RistrettoPoint,
    /// The input commitments `A_j` and `B_j`.
    inputs: Vec<[RistrettoPoint; 2]>,
    /// The output commitments `h_{j,0}` and `h_{j,1}`.
    outputs: Vec<[RistrettoPoint; 2]>,
}

/// The values that numbers 1 to 4 fix.
struct Fixed {
    commitments: Commitments,
    powers: Public,
    /// The checked copies, and the offset of each.
    copies: Vec<AnswerCopy>,
    deltas: Vec<Delta>,
    /// The streams of `k_i` of the evaluated copies.
    masks: Vec<Prg>,
}

/// The receiver at work on an answer.
struct Receiver<'a> {
    backend: Backend,
    session: SessionId,
    plan: AnswerPlan,
    program: &'a Program,
    receivers: &'a Receivers,
}

/// The labels of all inputs: for zero in the checked copies, active ones in the evaluated copies.
struct Labels {
    checked: LabelRows,
    evaluated: LabelRows,
}

impl Receiver<'_> {
    fn open(&self, input: &mut In<'_>) -> Result<Outcome> {
        let commitments = self.commitments(input)?;
        let (copies, masks) = self.circuits(input)?;
        let powers = Public::new(&commitments.h, &self.plan);
        let mut fixed = Fixed { commitments, powers, deltas: deltas(&copies), copies, masks };
        let mut intake = RowIntake::new(self.backend, &self.session, self.plan.copies, &self.receivers.choice);
        let mut labels = self.transfer(&mut fixed, &mut intake, input)?;
        self.inputs(&mut fixed, &mut labels, &mut intake, input)?;
        let outputs = self.evaluate(&fixed.deltas, labels, &mut intake, input)?;
        let findings = self.outputs(&mut fixed, &outputs, &mut intake, input)?;
        // Before anybody looks at what the evaluated copies say.
        intake.finish(input)?;
        match findings.tell()? {
            Told::Output(bits) => Ok(Outcome::Output(bits)),
            Told::Trapdoor(half_w) => Ok(Outcome::Input(decrypt(&fixed.commitments, &half_w)?)),
        }
    }

    /// Numbers 1 to 3: reads the commitments, and "verifies that `h_{j,0} h_{j,1} = h`".
    fn commitments(&self, input: &mut In<'_>) -> Result<Commitments> {
        let mut point = || decode(&input.array()?);
        let h = point()?;
        let mut pairs = |count: usize| (0..count).map(|_| Ok([point()?, point()?])).collect::<Result<Vec<_>>>();
        let (inputs, outputs) = (pairs(self.plan.inputs[1])?, pairs(self.plan.outputs)?);
        if outputs.iter().any(|[zero, one]| zero + one != h) {
            return Err(checks::OUTPUT_COMMITMENTS.into());
        }
        Ok(Commitments { h, inputs, outputs })
    }

    /// Number 4, "decrypts all OT answers": the checked copies, and the streams of `k_i` of the evaluated ones.
    fn circuits(&self, input: &mut In<'_>) -> Result<(Vec<AnswerCopy>, Vec<Prg>)> {
        let Receiver { backend, session, plan, receivers, .. } = self;
        let mut bytes = vec![0; 96 * plan.t()];
        input.take(&mut bytes)?;
        let answer = pvw::Answer::from_bytes(&bytes, plan.t())?;
        note(0, plan.t() * products::RECEIVE);
        let secrets = Zeroizing::new(receivers.circuits.receive(&ot_sessions(session)[0], 0, &answer)?);
        let copies = receivers.choice.checked.iter().map(|&i| {
            let seed = declassify(secrets[i], "neither input enters a checked copy, and its seed opens nothing else");
            AnswerCopy::new(*backend, session, i, seed)
        });
        let masks = receivers.choice.evaluated.iter().map(|&i| mask(*backend, session, i, secrets[i]));
        Ok((copies.collect(), masks.collect()))
    }

    /// Numbers 5 and 6: the receiver's input.
    fn transfer(&self, fixed: &mut Fixed, intake: &mut RowIntake<'_>, input: &mut In<'_>) -> Result<Labels> {
        let Fixed { copies, deltas, .. } = fixed;
        let Receivers { crs, choice, inputs, query, .. } = self.receivers;
        let (t, [n1, n2]) = (self.plan.t(), self.plan.inputs);
        let e = choice.evaluated.len();
        let bits = n1.saturating_add(n2);
        let mut labels = Labels { checked: LabelRows::new(t - e, bits)?, evaluated: LabelRows::new(e, bits)? };
        labels.checked.draw(0, n1, copies.iter_mut().map(|copy| &mut copy.x));
        labels.checked.draw(n1, n2, copies.iter_mut().map(|copy| &mut copy.y));

        note((t - e) * products::HEAD, 0);
        let heads = crs.heads(copies.iter().map(|copy| &copy.coins));
        let mut missing = vec![Block::ZERO; 4 * e];
        intake.take(input, &head_rows(&heads), &mut missing, checks::TRANSFER_ANSWER)?;
        let arrived = (0..e).map(|k| {
            let mut head = [0; 64];
            head.as_chunks_mut::<16>()
                .0
                .iter_mut()
                .zip(missing.iter().skip(k).step_by(e))
                .for_each(|(to, from)| *to = from.to_bytes());
            head
        });
        let [_, session] = ot_sessions(&self.session);
        let number = |&i: &usize| i as u64;
        let received = inputs.shared(&session, choice.evaluated.iter().map(number).zip(arrived))?;
        let own = pvw::Sender::new(crs, &query.inputs)?;
        let known = choice.checked.iter().map(number).zip(copies.iter()).zip(&heads);
        let answers = own.shared(&session, known.map(|((i, copy), head)| (i, copy.coins.clone(), *head)));
        let mut missing = vec![Block::ZERO; 2 * e];
        for batch in batches(n1) {
            // What checked copies should have, and what opens the evaluated ones.
            let each = (t - e) * products::PADS + e * products::CHOSEN;
            let pads = map(batch.clone(), each, |j| {
                note(0, each);
                (answers.public_pads(j), received.pads(j))
            });
            for (j, (known, chosen)) in batch.zip(pads) {
                let known = hidden_rows(&label_pairs(deltas, labels.checked.get(j, 1)), &known);
                intake.take(input, &known, &mut missing, checks::TRANSFER_ANSWER)?;
                let bit = inputs.choices().get(j);
                let (zeros, ones) = missing.split_at(e);
                let active = labels.evaluated.get_mut(j, 1);
                for (((label, pad), zero), one) in active.iter_mut().zip(chosen.iter()).zip(zeros).zip(ones) {
                    *label = *pad ^ *zero ^ (*zero ^ *one).masked(bit);
                }
            }
        }
        Ok(labels)
    }

    /// Numbers 7 to 9: the sender's input.
    fn inputs(
        &self,
        fixed: &mut Fixed,
        labels: &mut Labels,
        intake: &mut RowIntake<'_>,
        input: &mut In<'_>,
    ) -> Result<()> {
        let Fixed { commitments, powers, copies, deltas, masks } = fixed;
        let Receiver { session, plan, receivers, .. } = self;
        let (checked, evaluated) = (&receivers.choice.checked, &receivers.choice.evaluated);
        let (t, c, first) = (plan.t(), checked.len(), plan.inputs[0]);
        let h = RistrettoBasepointTable::create(&commitments.h);
        let mut arriving = vec![[0; 32]; t];
        for batch in batches(plan.inputs[1]) {
            let drawn: Vec<Drawn> = batch.clone().map(|_| Drawn::next(copies)).collect();
            let zeros = labels.checked.get(first + batch.start, batch.len());
            let known = map(batch.clone(), 4 * c, |j| {
                let at = j - batch.start;
                commit(session, j, &*powers, deltas, &drawn[at], &zeros[at * c..][..c])
            });
            let mut arrived = Vec::with_capacity(batch.len());
            for known in &known {
                input.take(arriving.as_flattened_mut())?;
                let missing = self.committed(intake, input, known)?;
                let mut proofs = Zeroizing::new(Vec::with_capacity(evaluated.len()));
                for (&i, mask) in evaluated.iter().zip(masks.iter_mut()) {
                    proofs.push(unmask(mask, arriving[i], checks::INPUT_EQUALITY)?);
                }
                arrived.push((proofs, missing));
            }
            let active = map(batch.clone(), 2 * evaluated.len(), |j| {
                let (proofs, rows) = &arrived[j - batch.start];
                find(session, j, &commitments.inputs[j].each_ref().map(half), &h, proofs, rows)
            });
            for (j, active) in batch.zip(active) {
                labels.evaluated.get_mut(first + j, 1).copy_from_slice(&active?);
            }
        }
        Ok(())
    }

    /// The rows of a bit of the sender's input: four of commitments, two of adapters.
    fn committed(&self, intake: &mut RowIntake<'_>, input: &mut In<'_>, known: &[Block]) -> Result<Vec<Block>> {
        let choice = &self.receivers.choice;
        let mut missing = vec![Block::ZERO; inputs::ROWS * choice.evaluated.len()];
        let (commitments, adapters) = missing.split_at_mut(4 * choice.evaluated.len());
        let known = known.split_at(4 * choice.checked.len());
        intake.take(input, known.0, commitments, checks::INPUT_COMMITMENT)?;
        intake.take(input, known.1, adapters, checks::GARBLED_CIRCUIT)?;
        Ok(missing)
    }

    /// Number 10. Returns the labels of the outputs.
    fn evaluate(
        &self,
        deltas: &[Delta],
        labels: Labels,
        intake: &mut RowIntake<'_>,
        input: &mut In<'_>,
    ) -> Result<[LabelRows; 2]> {
        let Receiver { backend, session, plan, program, receivers } = self;
        let (start, slots) = (gate_keys(session), most_slots(program.lowered()));
        let checked = LockstepGarbler::new(*backend, deltas, start, slots);
        let evaluated = LockstepEvaluator::new(*backend, receivers.choice.evaluated.len(), start, slots);
        let checked = AnswerCopies::new(checked, labels.checked, program, plan)?;
        let evaluated = AnswerCopies::new(evaluated, labels.evaluated, program, plan)?;
        let mut gates = ReceiverGates::new(checked, evaluated, intake, input);
        walk(program, &mut gates)?;
        Ok(gates.finish())
    }

    /// Numbers 11 to 13: the outcome that the evaluated copies and the cheating recovery boxes give.
    fn outputs(
        &self,
        fixed: &mut Fixed,
        labels: &[LabelRows; 2],
        intake: &mut RowIntake<'_>,
        input: &mut In<'_>,
    ) -> Result<Findings> {
        let Fixed { commitments, powers, deltas, masks, .. } = fixed;
        let Receiver { session, plan, receivers, .. } = self;
        let (checked, evaluated) = (&receivers.choice.checked, &receivers.choice.evaluated);
        let e = evaluated.len();
        let mut bits = vec![Block::ZERO; decoding_rows(plan.outputs) * e];
        let known = decoding(&labels[0], plan.outputs, checked.len());
        intake.take(input, &known, &mut bits, checks::GARBLED_CIRCUIT)?;

        let recovery = Recovery::new(session);
        let mut boxes = [checked, evaluated].map(|copies| Boxes::new(session, copies.len()));
        let mut findings = Findings::new(e, plan.outputs);
        let (t, c) = (plan.t(), checked.len());
        for batch in batches(plan.outputs) {
            let mut arriving = vec![[[0; 32]; 2]; t];
            let mut told = Zeroizing::new(Vec::with_capacity(batch.len() * e));
            for _ in batch.clone() {
                input.take(arriving.as_flattened_mut().as_flattened_mut())?;
                for (&i, mask) in evaluated.iter().zip(masks.iter_mut()) {
                    let mut half = |b: usize| unmask(mask, arriving[i][b], checks::RECOVERY_OPENING);
                    told.push(declassify([half(0)?, half(1)?], "both hide under K, of which evaluating gives one"));
                }
            }
            let [zeros, active] = labels.each_ref().map(|labels| labels.get(batch.start, batch.len()));
            let points = map(batch.clone(), 2 * t, |j| {
                let at = j - batch.start;
                let half_h = commitments.outputs[j].each_ref().map(half);
                let checked =
                    checked.iter().zip(deltas.iter()).zip(&zeros[at * c..]).flat_map(|((&i, delta), zero)| {
                        let labels = [*zero, *zero ^ delta.block()];
                        [0, 1].map(|b| half_h[b] + powers.g(&recovery.half_k(i, j, b as u8, labels[b])))
                    });
                let evaluated = told[at * e..][..e].as_flattened().iter().map(|half| powers.g(half));
                let points = [Zeroizing::new(checked.collect::<Vec<_>>()), Zeroizing::new(evaluated.collect())];
                points.each_ref().map(|points| doubled(points))
            });
            for (at, (j, points)) in batch.zip(&points).enumerate() {
                boxes.iter_mut().zip(points).for_each(|(boxes, points)| boxes.add(points));
                for (k, (&i, label)) in evaluated.iter().zip(&active[at * e..]).enumerate() {
                    let bit = label.lsb() ^ decoding_bit(&bits, e, j, k);
                    let half_k = Zeroizing::new(recovery.half_k(i, j, u8::from(bit), *label));
                    let [zero, one] = &told[at * e + k];
                    let half = Scalar::conditional_select(zero, one, Choice::from(u8::from(bit)));
                    let half_w = Zeroizing::new(half - *half_k);
                    findings.add(k, j, bit, &half_w, &commitments.outputs[j]);
                }
            }
        }
        let mut missing = vec![Block::ZERO; 2 * e];
        intake.take(input, &boxes[0].finish(), &mut missing, checks::INPUT_RECOVERY)?;
        findings.opened = verdict(missing.ct_eq(&boxes[1].finish()));
        Ok(findings)
    }
}

/// A scalar under the stream of `k_i`.
///
/// # Errors
/// `wrong` if the bytes are not a scalar.
fn unmask(mask: &mut Prg, bytes: [u8; 32], wrong: &'static Check) -> Result<Scalar> {
    let mut bytes = Zeroizing::new(bytes);
    mask.mask(&mut bytes[..]);
    let scalar = Scalar::from_canonical_bytes(*bytes);
    if verdict(scalar.is_some()) { Ok(scalar.unwrap_or(Scalar::ZERO)) } else { Err(wrong.into()) }
}

/// "Decrypts P2's input-commitments", from half of `w`.
///
/// # Errors
/// [`NoRecovery`](crate::checks::NO_RECOVERY) if `half_w` is not half the logarithm of `h`, or a commitment
/// is not to a bit.
fn decrypt(commitments: &Commitments, half_w: &Scalar) -> Result<Bits> {
    let w = Zeroizing::new(half_w + half_w);
    let [zero, one] = [Scalar::ZERO, Scalar::ONE].map(|bit| RistrettoPoint::mul_base(&bit));
    let mut right = RistrettoPoint::mul_base(&w).ct_eq(&commitments.h);
    let mut y = Bits::zeros(commitments.inputs.len());
    for (j, [a, b]) in commitments.inputs.iter().enumerate() {
        let value = Zeroizing::new(b - a * *w);
        let bit = value.ct_eq(&one);
        right &= bit | value.ct_eq(&zero);
        y.set(j, bit.into());
    }
    if verdict(right) { Ok(y) } else { Err(checks::NO_RECOVERY.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bits_are_decrypted_and_only_with_the_trapdoor() {
        let g = |scalar: u64| RistrettoPoint::mul_base(&Scalar::from(scalar));
        // w = 14; commitments with r = 3 to 0, 1, 2 and -1.
        let commitment = |value: i64| [g(3), RistrettoPoint::mul_base(&Scalar::from((42 + value) as u64))];
        let with = |values: &[i64]| Commitments {
            h: g(14),
            inputs: values.iter().map(|&value| commitment(value)).collect(),
            outputs: Vec::new(),
        };
        let half_w = Scalar::from(7u64);
        assert_eq!(decrypt(&with(&[0, 1, 1]), &half_w).unwrap(), Bits::from_bytes(&[6], 3));
        for (values, half_w) in
            [(&[0, 2][..], half_w), (&[-1], half_w), (&[0, 1], Scalar::from(8u64)), (&[], Scalar::ZERO)]
        {
            let refused = decrypt(&with(values), &half_w);
            assert!(matches!(refused, Err(Error { kind: Kind::Misbehaved(checks::NO_RECOVERY), .. })), "{values:?}");
        }
    }
}

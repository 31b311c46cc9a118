//! The sender, `P2` of Figure 3.

use std::io::Write;

use comity_circuit::Program;
use comity_core::{Backend, Bits, Block, Delta, Error, Prg, Result, SessionId};
use comity_garble::LockstepGarbler;
use comity_garble::lockstep::{LabelRows, gate_keys, joined, most_slots};
use comity_ot::base::pvw::{self, products};
use comity_protocol::{Conduct, Honest};
use curve25519_dalek::ristretto::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use rand_core::CryptoRng;
use subtle::{Choice, ConditionallySelectable};
use zeroize::Zeroizing;

use crate::conduct::SenderAct;
use crate::copies::{AnswerCopy, mask};
use crate::files::{FileKind, Header};
use crate::gates::{AnswerCopies, SENDER, SenderGates, walk};
use crate::group::{Encoded, TrapdoorOwner, doubled, note, of_g, random};
use crate::inputs::{Drawn, commit, input_commitment};
use crate::outputs::{Boxes, Recovery, decoding};
use crate::parallel::{batches, map};
use crate::plan::AnswerPlan;
use crate::query::Query;
use crate::stream::{Out, RowOutlet};

/// Bytes that bind an answer: the hash of the query and its context, and a nonce.
pub(crate) const BINDING: usize = 64;

/// The hash of what an answer answers: the query with this fingerprint, in this context.
pub(crate) fn answered(fingerprint: &[u8; 32], context: &[u8; 32]) -> [u8; 32] {
    blake3::derive_key("comity NISC: a query and its context", [*fingerprint, *context].as_flattened())
}

/// The session of an answer.
pub(crate) fn session(header: &Header, answered: &[u8; 32], nonce: &[u8; 32]) -> SessionId {
    SessionId::derive("comity NISC", &[&header.to_bytes(FileKind::Answer), answered, nonce])
}

/// The sessions of both kinds of OT.
pub(crate) fn ot_sessions(session: &SessionId) -> [SessionId; 2] {
    ["circuit OTs", "input OTs"].map(|label| session.child(label))
}

/// Answers a query (Figure 3): writes the sender's message to `out`. `inputs[i]` is `Some` exactly for the
/// values of party 1. The answer opens only in the same `context`: see the module's documentation.
///
/// The answer may travel unencrypted only if nobody but the receiver can see it: see the functionality in the
/// module's documentation. After an error part of an answer may be written; it is useless and gives nothing
/// away.
///
/// # Errors
/// Before anything is written: [`Mismatch`](comity_core::Kind) if the query is for another program,
/// [`InvalidInput`](comity_core::Kind) if the inputs do not fit,
/// [`InvalidPoint`](crate::checks::INVALID_POINT) or [`IdentityPoint`](crate::checks::IDENTITY_POINT) if the
/// query holds such a point. After that, errors of `out`.
pub fn respond(
    backend: Backend,
    query: &Query,
    context: &[u8; 32],
    program: &Program,
    inputs: &[Option<Bits>],
    rng: &mut dyn CryptoRng,
    out: &mut dyn Write,
) -> Result<()> {
    respond_as(backend, &Question { query, context, program }, inputs, rng, Out::new(out), &mut Honest)
}

/// A question: a query, its context and its program.
pub(crate) struct Question<'a> {
    pub(crate) query: &'a Query,
    pub(crate) context: &'a [u8; 32],
    /// The query's program.
    pub(crate) program: &'a Program,
}

/// Answers as [`respond`] does, with a conduct.
pub(crate) fn respond_as(
    backend: Backend,
    question: &Question<'_>,
    inputs: &[Option<Bits>],
    rng: &mut dyn CryptoRng,
    mut out: Out<'_>,
    conduct: &mut impl for<'a> Conduct<SenderAct<'a>>,
) -> Result<()> {
    let Question { query, context, program } = *question;
    let header = Header { copies: query.copies(), program: program.digest() };
    same_program(&header.program, query.program())?;
    let plan = AnswerPlan::new(program, header.copies)?;
    let y = joined(program, SENDER, inputs)?;
    if query.input_bits() != plan.inputs[0] {
        return Err(Error::malformed(format!(
            "the query has OTs for {} input bits, and its program takes {}",
            query.input_bits(),
            plan.inputs[0]
        )));
    }
    out.check(header.copies)?;
    let crs = query.crs();
    let input_ots = pvw::Sender::new(&crs, &query.inputs)?;
    let circuit_ots = pvw::Sender::new(&crs, &query.circuits)?;

    let (answered, mut nonce) = (answered(&query.fingerprint(), context), [0; 32]);
    rng.fill_bytes(&mut nonce);
    let session = session(&header, &answered, &nonce);
    out.put(&header.to_bytes(FileKind::Answer))?;
    out.put(&answered)?;
    out.put(&nonce)?;
    let mut sender = Sender::new(backend, session, plan, rng, conduct)?;
    let half_r = sender.commit(&y, rng, &mut out)?;
    sender.cut_and_choose(&circuit_ots, rng, &mut out)?;
    let labels = sender.transfer(&crs, &input_ots, &mut out)?;
    sender.inputs(&y, &half_r, &labels, &mut out)?;
    let outputs = sender.garble(program, labels, &mut out)?;
    sender.recovery(&outputs, &mut out)?;
    sender.outlet.finish(&mut out)?;
    out.finish()
}

/// Checks that the programs of both sides are one.
pub(crate) fn same_program(ours: &[u8; 32], theirs: &[u8; 32]) -> Result<()> {
    let hex = |digest: &[u8; 32]| digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    if ours == theirs {
        return Ok(());
    }
    Err(Error::mismatch("program", hex(ours), hex(theirs)))
}

/// The sender at work on an answer.
struct Sender<'a, D> {
    backend: Backend,
    session: SessionId,
    plan: AnswerPlan,
    /// The sender's `w`.
    owner: TrapdoorOwner,
    /// The halves of `w_{j,0}` and `w_{j,1}`.
    half_w: Zeroizing<Vec<[Scalar; 2]>>,
    /// The secrets `k_i` and `seed_i`.
    secrets: Zeroizing<Vec<[Block; 2]>>,
    copies: Vec<AnswerCopy>,
    /// The offsets of the copies.
    deltas: Vec<Delta>,
    /// The streams of `k_i`.
    masks: Vec<Prg>,
    outlet: RowOutlet,
    conduct: &'a mut D,
}

impl<'a, D: for<'b> Conduct<SenderAct<'b>>> Sender<'a, D> {
    /// A sender with fresh secrets.
    fn new(
        backend: Backend,
        session: SessionId,
        plan: AnswerPlan,
        rng: &mut dyn CryptoRng,
        conduct: &'a mut D,
    ) -> Result<Sender<'a, D>> {
        let half_owner = Zeroizing::new(random(rng));
        let mut half_w = Zeroizing::new(Vec::with_capacity(plan.outputs));
        for _ in 0..plan.outputs {
            let zero = random(rng);
            half_w.push([zero, *half_owner - zero]);
        }
        let mut secrets = Zeroizing::new(Vec::with_capacity(plan.t()));
        secrets.extend((0..plan.t()).map(|_| [(); 2].map(|()| Block::random(rng))));
        let copy = |(i, pair): (usize, &[Block; 2])| AnswerCopy::new(backend, &session, i, pair[1]);
        let copies: Vec<AnswerCopy> = secrets.iter().enumerate().map(copy).collect();
        let masks = secrets.iter().enumerate().map(|(i, pair)| mask(backend, &session, i, pair[0])).collect();
        let owner = TrapdoorOwner::new(*half_owner + *half_owner);
        let outlet = RowOutlet::new(backend, &session, plan.copies);
        Ok(Sender {
            backend,
            session,
            plan,
            owner,
            half_w,
            secrets,
            deltas: deltas(&copies),
            copies,
            masks,
            outlet,
            conduct,
        })
    }

    /// The first items of Figure 3: `h`, the input commitments and the output commitments. Returns the halves of `r_j`.
    fn commit(&mut self, y: &Bits, rng: &mut dyn CryptoRng, out: &mut Out<'_>) -> Result<Zeroizing<Vec<Scalar>>> {
        let mut half_r = Zeroizing::new(Vec::with_capacity(y.len()));
        half_r.extend((0..y.len()).map(|_| random(rng)));
        self.conduct.before(SenderAct::One(&mut self.owner.half_g));
        let half_owner = Zeroizing::new(self.owner.w.div_by_2());
        out.put(doubled(&[RistrettoPoint::mul_base(&half_owner)])[0].as_bytes())?;
        for (r, bit) in half_r.iter().zip(y.iter()) {
            let points = doubled(&input_commitment(&self.owner, r, Choice::from(u8::from(bit))));
            points.iter().try_for_each(|point| out.put(point.as_bytes()))?;
        }
        let mut encoded: Vec<Encoded> = Vec::with_capacity(2 * self.plan.outputs);
        for half_w in self.half_w.chunks(64) {
            let halves: Vec<_> = half_w.as_flattened().iter().map(of_g).collect();
            encoded.extend(doubled(&halves).iter().map(|point| point.to_bytes()));
        }
        self.conduct.before(SenderAct::OutputCommitments(&mut encoded));
        out.put(encoded.as_flattened())?;
        Ok(half_r)
    }

    /// "Circuits cut-and-choose": the circuit OTs, with fresh randomness.
    fn cut_and_choose(&mut self, ots: &pvw::Sender, rng: &mut dyn CryptoRng, out: &mut Out<'_>) -> Result<()> {
        self.conduct.before(SenderAct::Circuits(&mut self.secrets));
        let [session, _] = ot_sessions(&self.session);
        let each = self.plan.t() * products::ANSWER;
        note(each, each);
        out.put(&ots.answer(&session, 0, Block::random(rng), &self.secrets)?.to_bytes())
    }

    /// "Sending the garbled values of P1's inputs". Returns the labels for zero of all inputs.
    fn transfer(&mut self, crs: &pvw::Crs, ots: &pvw::Sender, out: &mut Out<'_>) -> Result<LabelRows> {
        let Sender { session, plan, copies, deltas, outlet, conduct, .. } = self;
        let (t, [n1, n2]) = (plan.t(), plan.inputs);
        let mut labels = LabelRows::new(t, n1.saturating_add(n2))?;
        labels.draw(0, n1, copies.iter_mut().map(|copy| &mut copy.x));
        labels.draw(n1, n2, copies.iter_mut().map(|copy| &mut copy.y));

        note(t * products::HEAD, 0);
        let mut heads = crs.heads(copies.iter().map(|copy| &copy.coins));
        conduct.before(SenderAct::Heads(&mut heads));
        outlet.put(out, &head_rows(&heads))?;
        let [_, session] = ot_sessions(session);
        let numbered = copies.iter().zip(&heads).zip(0..);
        let answers = ots.shared(&session, numbered.map(|((copy, head), i)| (i, copy.coins.clone(), *head)));
        for batch in batches(n1) {
            let pads = map(batch.clone(), t * products::PADS, |j| {
                note(0, t * products::PADS);
                answers.pads(j)
            });
            for (j, pads) in batch.zip(pads) {
                let mut pairs = label_pairs(deltas, labels.get(j, 1));
                conduct.before(SenderAct::Labels { j, pairs: &mut pairs });
                outlet.put(out, &hidden_rows(&pairs, &pads))?;
            }
        }
        Ok(labels)
    }

    /// The sender's input: for each bit the values from the seeds, and the proofs of consistency. `labels`
    /// has the labels for zero.
    fn inputs(&mut self, y: &Bits, half_r: &[Scalar], labels: &LabelRows, out: &mut Out<'_>) -> Result<()> {
        let Sender { session, plan, owner, copies, deltas, masks, outlet, conduct, .. } = self;
        let (t, first) = (plan.t(), plan.inputs[0]);
        for batch in batches(y.len()) {
            let drawn: Vec<Drawn> = batch.clone().map(|_| Drawn::next(copies)).collect();
            let zeros = labels.get(first + batch.start, batch.len());
            let committed = map(batch.clone(), 4 * t, |j| {
                let at = j - batch.start;
                commit(session, j, &*owner, deltas, &drawn[at], &zeros[at * t..][..t])
            });
            for ((j, drawn), mut rows) in batch.zip(&drawn).zip(committed) {
                // `vec!` of this byte would allocate zeros in another way than ones: a branch on the bit.
                let mut bits = Zeroizing::new(vec![0; t]);
                bits.fill(u8::from(y.get(j)));
                conduct.before(SenderAct::Input { j, bits: &mut bits });
                let select = |(bit, [zero, one]): (&u8, &[Scalar; 2])| {
                    half_r[j] - Scalar::conditional_select(zero, one, Choice::from(*bit))
                };
                let mut proofs = Zeroizing::new(Vec::with_capacity(t));
                proofs.extend(bits.iter().zip(drawn.halves.iter()).map(select));
                conduct.before(SenderAct::Proofs { j, halves: &mut proofs });
                put_masked(out, masks, &proofs, 1)?;
                conduct.before(SenderAct::Committed { j, rows: &mut rows });
                outlet.put(out, &rows)?;
            }
        }
        Ok(())
    }

    /// "Generate garbled circuit". Returns the labels for zero of the outputs.
    fn garble(&mut self, program: &Program, labels: LabelRows, out: &mut Out<'_>) -> Result<LabelRows> {
        let Sender { backend, session, plan, deltas, outlet, conduct, .. } = self;
        let kernel = LockstepGarbler::new(*backend, deltas, gate_keys(session), most_slots(program.lowered()));
        let copies = AnswerCopies::new(kernel, labels, program, plan)?;
        let mut gates = SenderGates::new(copies, outlet, out, &mut **conduct);
        walk(program, &mut gates)?;
        let mut outputs = gates.finish();
        conduct.before(SenderAct::Outputs { rows: outputs.get_mut(0, plan.outputs), deltas });
        Ok(outputs)
    }

    /// "Preparing and sending the cheating recovery box", and `outputDecom_i`.
    fn recovery(&mut self, outputs: &LabelRows, out: &mut Out<'_>) -> Result<()> {
        let Sender { session, plan, half_w, deltas, masks, outlet, conduct, .. } = self;
        let t = plan.t();
        let mut rows = decoding(outputs, plan.outputs, t);
        conduct.before(SenderAct::Decoding(&mut rows));
        outlet.put(out, &rows)?;
        let recovery = Recovery::new(session);
        let mut boxes = Boxes::new(session, t);
        for batch in batches(plan.outputs) {
            let zeros = outputs.get(batch.start, batch.len());
            let opened = map(batch.clone(), 2 * t, |j| {
                let mut halves = Zeroizing::new(Vec::with_capacity(2 * t));
                for (i, (delta, zero)) in deltas.iter().zip(&zeros[(j - batch.start) * t..]).enumerate() {
                    let labels = [*zero, *zero ^ delta.block()];
                    halves.extend([0, 1].map(|b| half_w[j][b] + recovery.half_k(i, j, b as u8, labels[b])));
                }
                let points: Zeroizing<Vec<_>> = Zeroizing::new(halves.iter().map(of_g).collect());
                (halves, doubled(&points))
            });
            for (j, (mut halves, points)) in batch.zip(opened) {
                boxes.add(&points);
                conduct.before(SenderAct::Openings { j, halves: halves.as_chunks_mut().0 });
                put_masked(out, masks, &halves, 2)?;
            }
        }
        let mut rows = boxes.finish();
        conduct.before(SenderAct::Boxes(&mut rows));
        outlet.put(out, &rows)
    }
}

/// Writes scalars under the streams of `k_i`, equally many for each copy.
fn put_masked(out: &mut Out<'_>, masks: &mut [Prg], scalars: &[Scalar], each: usize) -> Result<()> {
    let mut bytes: Vec<[u8; 32]> = scalars.iter().map(Scalar::to_bytes).collect();
    for (bytes, mask) in bytes.chunks_exact_mut(each).zip(masks) {
        bytes.iter_mut().for_each(|bytes| mask.mask(bytes));
    }
    out.put(bytes.as_flattened())
}

/// The offsets of copies.
pub(crate) fn deltas(copies: &[AnswerCopy]) -> Vec<Delta> {
    copies.iter().map(|copy| Delta::new(copy.delta.block())).collect()
}

/// The heads of answers as rows.
pub(crate) fn head_rows(heads: &[pvw::AnswerHead]) -> Vec<Block> {
    let block = |head: &pvw::AnswerHead, row: usize| Block::new(std::array::from_fn(|i| head[16 * row + i]));
    (0..4).flat_map(|row| heads.iter().map(move |head| block(head, row))).collect()
}

/// The two labels of a bit in each copy.
pub(crate) fn label_pairs(deltas: &[Delta], zeros: &[Block]) -> Zeroizing<Vec<[Block; 2]>> {
    Zeroizing::new(deltas.iter().zip(zeros).map(|(delta, zero)| [*zero, *zero ^ delta.block()]).collect())
}

/// The two labels of a bit under their pads, as rows.
pub(crate) fn hidden_rows(pairs: &[[Block; 2]], pads: &[[Block; 2]]) -> Vec<Block> {
    [0, 1].into_iter().flat_map(|b| pairs.iter().zip(pads).map(move |(pair, pad)| pair[b] ^ pad[b])).collect()
}

//! The two halves of queries that are prepared: what the server and the client keep of a garbled AES until an
//! input comes.

use std::collections::VecDeque;
use std::io::{Cursor, ErrorKind, Read, Write};
use std::sync::LazyLock;

use comity_channel::Channel;
use comity_circuit::{Call, Goal, Lowered, Place};
use comity_core::{Backend, Bits, Block, Delta, Error, Prg, Result, SessionId};
use comity_garble::{EvaluatedStream, GarbledStream, HalfGates};
use comity_ot::base::Csw;
use comity_ot::softspoken::{Receiver, Sender};
use comity_ot::{CotReceiver, CotSender, Malicious};
use comity_protocol::{Here, Party};
use zeroize::Zeroizing;

use super::{
    LEVELS, OPRF_ANDS, OPRF_ONLINE, OPRF_ROUND, OPRF_TABLES, OPRF_TOGETHER, Oprf, ROUND_KEYS, WIDTH, circuit, value,
};

/// The session of the OTs, under that of the run.
const OT: &str = "circuit OPRF: oblivious transfer";

/// The circuit as it is garbled.
static AES: LazyLock<Lowered> = LazyLock::new(|| Lowered::new(&circuit(Goal::Size)));

/// The server's half of some queries: labels and colours. Made with a client, and fits that client's half
/// alone.
pub struct OprfAnswers {
    delta: Zeroizing<Block>,
    /// For each bit of each input the sum of its label for zero and of the OT's.
    masked: Zeroizing<Vec<Block>>,
    /// The colours of the outputs.
    colours: Bits,
}

/// The client's half of some queries: its outputs of the OTs, and the tables.
pub struct OprfQuestions {
    /// The start of the gates' keys. Public.
    start: Block,
    /// The choice bits of the OTs.
    choices: Bits,
    labels: Zeroizing<Vec<Block>>,
    /// The tables: they stay where they are kept until they are evaluated.
    tables: Box<dyn Read + Send>,
}

/// The halves whose questions are out at a time, and whose tables wait: what the network takes to and fro is
/// hidden by 4,096 queries.
const WINDOW: usize = 64;

/// Queries that were asked, and wait for their answer.
pub struct OprfAsked {
    questions: OprfQuestions,
    count: usize,
}

/// The queries of each half of `count`.
fn halves(count: usize) -> impl Iterator<Item = usize> {
    (0..count).step_by(OPRF_TOGETHER).map(move |from| OPRF_TOGETHER.min(count - from))
}

/// The start of the gates' keys of a half: hashed from both parties' nonces.
fn start(session: &SessionId, half: u64) -> Block {
    session.child("circuit OPRF: garbling").block(&format!("start of the gate keys of part {half}"))
}

/// The wires of `count` queries: round keys, inputs, outputs.
fn wires(count: usize) -> usize {
    ROUND_KEYS + 2 * WIDTH * count
}

/// The calls of `count` queries over these wires.
fn with_call<T>(count: usize, f: impl FnOnce(&Call<'_>) -> T) -> T {
    let input = Place { start: ROUND_KEYS, stride: WIDTH as isize };
    let args = [Place { start: 0, stride: 0 }, input];
    let outs = [Place { start: ROUND_KEYS + WIDTH * count, ..input }];
    f(&Call { index: 0, circuit: &AES, times: count as u64, args: &args, outs: &outs })
}

impl Oprf {
    /// Prepares `count` queries with a client that does the same, and gives halves of at most
    /// [`OPRF_TOGETHER`] to `keep`, in order. Each fits the client's half of the same number, and no other.
    ///
    /// # Errors
    /// Those of the OTs, of the channel, and of `keep`.
    pub fn prepare(
        &self,
        me: &mut Party<'_, '_>,
        count: usize,
        mut keep: impl FnMut(OprfAnswers) -> Result<()>,
    ) -> Result<()> {
        let mut maker = AnswerMaker::begin(self, me)?;
        let ch = me.pair()?.0;
        halves(count).try_for_each(|count| keep(maker.half(ch, count)?))?;
        ch.flush()
    }

    /// Prepares `count` queries with a client and answers them, [`OPRF_ROUND`] at a time: the server's side of [`ask`].
    ///
    /// # Errors
    /// Those of the OTs and the channel.
    pub fn serve(&self, me: &mut Party<'_, '_>, count: usize) -> Result<()> {
        let mut maker = AnswerMaker::begin(self, me)?;
        let (ch, _, _, observer) = me.pair()?;
        for from in (0..count).step_by(OPRF_ROUND) {
            observer.phase("garbling");
            let count = OPRF_ROUND.min(count - from);
            let ahead: Vec<_> = halves(count).map(|count| maker.half(ch, count)).collect::<Result<_>>()?;
            ch.flush()?;
            observer.phase("queries");
            answer(ch, ahead.into_iter().map(Ok), count)?;
        }
        Ok(())
    }
}

/// Makes the server's halves of one session.
struct AnswerMaker {
    delta: Zeroizing<Block>,
    ot: Sender<Malicious>,
    labels: Prg,
    round_keys: Bits,
    memory: Zeroizing<Vec<Block>>,
    here: Here,
    made: u64,
}

impl AnswerMaker {
    fn begin(oprf: &Oprf, me: &mut Party<'_, '_>) -> Result<AnswerMaker> {
        let (ch, here, rng, observer) = me.pair()?;
        observer.phase("set-up");
        let delta = Zeroizing::new(Delta::new(Block::random(rng)).block());
        let ot = Sender::<Malicious>::setup::<Csw>(ch, &here.session.child(OT), here.backend, LEVELS, *delta, rng)?;
        observer.phase("garbling");
        let (labels, round_keys) = (Prg::new(here.backend, Block::random(rng)), oprf.round_keys());
        Ok(AnswerMaker { delta, ot, labels, round_keys, memory: Zeroizing::default(), here, made: 0 })
    }

    /// The next half, of `count` queries.
    fn half(&mut self, ch: &mut dyn Channel, count: usize) -> Result<OprfAnswers> {
        let AnswerMaker { delta, memory, here, .. } = self;
        let mut masked = Zeroizing::new(vec![Block::ZERO; WIDTH * count]);
        self.ot.extend_random(ch, &mut masked)?;
        memory.resize(wires(count), Block::ZERO);
        for (wire, bit) in memory.iter_mut().zip(self.round_keys.iter()) {
            *wire = delta.masked(bit);
        }
        let inputs = &mut memory[ROUND_KEYS..][..WIDTH * count];
        self.labels.fill_blocks(inputs);
        masked.iter_mut().zip(&*inputs).for_each(|(masked, label)| *masked ^= *label);
        let garbler = HalfGates::garbler(here.backend, Delta::new(**delta), start(&here.session, self.made));
        let mut stream = GarbledStream::<HalfGates>::new(garbler);
        with_call(count, |call| stream.call(call, memory, |tables| ch.send(tables)))?;
        stream.flush(|tables| ch.send(tables))?;
        self.made += 1;
        let colours = memory[ROUND_KEYS + WIDTH * count..][..WIDTH * count].iter().map(|label| label.lsb());
        Ok(OprfAnswers { delta: delta.clone(), masked, colours: colours.collect() })
    }
}

impl OprfAnswers {
    /// The number of queries.
    pub fn count(&self) -> usize {
        self.masked.len() / WIDTH
    }

    /// Step 4: the answer to the questions. Prepared queries that are not asked are lost.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if there are more questions than queries, or no questions.
    pub fn answer(self, questions: &[u8]) -> Result<Vec<u8>> {
        if !questions.len().is_multiple_of(OPRF_ONLINE[0]) || questions.len() > OPRF_ONLINE[0] * self.count() {
            let bytes = questions.len();
            return Err(Error::malformed(format!("{bytes} bytes of questions for {} prepared queries", self.count())));
        }
        let shifts = Bits::from_bytes(questions, 8 * questions.len());
        let mut out = Vec::with_capacity(questions.len() / OPRF_ONLINE[0] * OPRF_ONLINE[1]);
        let colours = self.colours.to_bytes();
        for (query, masked) in self.masked.chunks_exact(WIDTH).take(questions.len() / OPRF_ONLINE[0]).enumerate() {
            for (j, masked) in masked.iter().enumerate() {
                let sent = *masked ^ self.delta.masked(shifts.get(query * WIDTH + j));
                out.extend_from_slice(&sent.to_bytes());
            }
            out.extend_from_slice(&colours[query * WIDTH / 8..][..WIDTH / 8]);
        }
        Ok(out)
    }

    /// Writes the half, to be stored. Secret.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        out.write_all(&(self.count() as u32).to_le_bytes())?;
        out.write_all(&*Zeroizing::new(self.delta.to_bytes()))?;
        out.write_all(Block::bytes_of(&self.masked))?;
        out.write_all(&self.colours.to_bytes())
    }

    /// Reads a half that was written.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) or [`Store`](comity_core::Kind) if these are not the bytes of a half,
    /// and those of the reader.
    pub fn read(input: &mut dyn Read) -> Result<OprfAnswers> {
        let count = count(input)?;
        let mut delta = Zeroizing::new([Block::ZERO]);
        let mut masked = Zeroizing::new(vec![Block::ZERO; WIDTH * count]);
        let mut colours = vec![0; WIDTH / 8 * count];
        fill(input, Block::bytes_of_mut(&mut *delta))?;
        fill(input, Block::bytes_of_mut(&mut masked))?;
        fill(input, &mut colours)?;
        Ok(OprfAnswers { delta: Zeroizing::new(delta[0]), masked, colours: Bits::from_bytes(&colours, WIDTH * count) })
    }
}

impl OprfQuestions {
    /// Prepares `count` queries with a server that does the same: see [`Oprf::prepare`].
    ///
    /// # Errors
    /// Those of the OTs, of the channel, and of `keep`.
    pub fn prepare(
        me: &mut Party<'_, '_>,
        count: usize,
        mut keep: impl FnMut(OprfQuestions) -> Result<()>,
    ) -> Result<()> {
        let mut maker = QuestionMaker::begin(me)?;
        let ch = me.pair()?.0;
        halves(count).try_for_each(|count| keep(maker.half(ch, count)?))
    }

    /// The number of queries.
    pub fn count(&self) -> usize {
        self.labels.len() / WIDTH
    }

    /// Step 3: asks for the values at these inputs. Prepared queries that are left over are lost.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there are more inputs than were prepared.
    pub fn ask(self, inputs: &[u128]) -> Result<(OprfAsked, Vec<u8>)> {
        if inputs.len() > self.count() {
            let (wanted, count) = (inputs.len(), self.count());
            return Err(Error::invalid_input(format!("{wanted} inputs for {count} prepared queries")));
        }
        let mut message = self.choices.to_bytes();
        message.truncate(inputs.len() * OPRF_ONLINE[0]);
        for (bytes, input) in message.chunks_exact_mut(OPRF_ONLINE[0]).zip(inputs) {
            bytes.iter_mut().zip(input.to_le_bytes()).for_each(|(byte, input)| *byte ^= input);
        }
        Ok((OprfAsked { questions: self, count: inputs.len() }, message))
    }

    /// Writes the half, to be stored. Secret.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(mut self, out: &mut dyn Write) -> std::io::Result<()> {
        out.write_all(&(self.count() as u32).to_le_bytes())?;
        out.write_all(&self.start.to_bytes())?;
        out.write_all(&self.choices.to_bytes())?;
        out.write_all(Block::bytes_of(&self.labels))?;
        std::io::copy(&mut self.tables, &mut &mut *out).map(drop)
    }

    /// Reads a half that was written. Its tables, nearly all of it, are only read when they are evaluated.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) or [`Store`](comity_core::Kind) if these are not the bytes of a half,
    /// and those of the reader.
    pub fn read(mut input: impl Read + Send + 'static) -> Result<OprfQuestions> {
        let count = count(&mut input)?;
        let (mut start, mut choices) = ([0; 16], vec![0; WIDTH / 8 * count]);
        let mut labels = Zeroizing::new(vec![Block::ZERO; WIDTH * count]);
        fill(&mut input, &mut start)?;
        fill(&mut input, &mut choices)?;
        fill(&mut input, Block::bytes_of_mut(&mut labels))?;
        let choices = Bits::from_bytes(&choices, WIDTH * count);
        Ok(OprfQuestions { start: Block::new(start), choices, labels, tables: Box::new(input) })
    }
}

/// Makes the client's halves of one session.
struct QuestionMaker {
    ot: Receiver<Malicious>,
    here: Here,
    made: u64,
}

impl QuestionMaker {
    fn begin(me: &mut Party<'_, '_>) -> Result<QuestionMaker> {
        let (ch, here, rng, observer) = me.pair()?;
        observer.phase("set-up");
        let ot = Receiver::<Malicious>::setup::<Csw>(ch, &here.session.child(OT), here.backend, LEVELS, rng)?;
        observer.phase("garbling");
        Ok(QuestionMaker { ot, here, made: 0 })
    }

    /// The next half, of `count` queries.
    fn half(&mut self, ch: &mut dyn Channel, count: usize) -> Result<OprfQuestions> {
        let mut labels = Zeroizing::new(vec![Block::ZERO; WIDTH * count]);
        let choices = self.ot.extend_random(ch, &mut labels)?;
        let mut tables = vec![0; OPRF_TABLES * count];
        ch.recv(&mut tables)?;
        self.made += 1;
        let tables = Box::new(Cursor::new(tables));
        Ok(OprfQuestions { start: start(&self.here.session, self.made - 1), choices, labels, tables })
    }
}

impl OprfAsked {
    /// Bytes of the answer.
    pub fn answer_len(&self) -> usize {
        self.count * OPRF_ONLINE[1]
    }

    /// Step 5: the values at the inputs, from the server's answer. Secret.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if the answer has another length; those of the reader of the tables.
    pub fn values(self, backend: Backend, answer: &[u8]) -> Result<Zeroizing<Vec<Block>>> {
        if answer.len() != self.answer_len() {
            let (bytes, wanted) = (answer.len(), self.answer_len());
            return Err(Error::malformed(format!("an answer of {bytes} bytes, and {wanted} are wanted")));
        }
        let OprfAsked { questions: OprfQuestions { start, labels, mut tables, .. }, count } = self;
        let mut memory = Zeroizing::new(vec![Block::ZERO; wires(count)]);
        let answers = answer.chunks_exact(OPRF_ONLINE[1]);
        let inputs = memory[ROUND_KEYS..].chunks_exact_mut(WIDTH);
        for ((inputs, labels), answer) in inputs.zip(labels.chunks_exact(WIDTH)).zip(answers.clone()) {
            for ((input, label), sent) in inputs.iter_mut().zip(labels).zip(answer.chunks_exact(Block::BYTES)) {
                *input = *label ^ Block::new(*sent.first_chunk().expect("a block"));
            }
        }
        let mut stream = EvaluatedStream::<HalfGates>::new(HalfGates::evaluator(backend, start));
        let mut next = |buffer: &mut [u8]| fill(&mut tables, buffer);
        with_call(count, |call| stream.call(call, &mut memory, &mut next))?;
        debug_assert_eq!(stream.and_gates(), (OPRF_ANDS * count) as u64);
        let outputs = memory[ROUND_KEYS + WIDTH * count..].chunks_exact(WIDTH).zip(answers);
        let decoded = outputs.map(|(labels, answer)| {
            let colours = answer.last_chunk().expect("the colours end an answer");
            let active = labels.iter().rev().fold(0, |bits, label| bits << 1 | u128::from(label.lsb()));
            value(active ^ u128::from_le_bytes(*colours))
        });
        Ok(Zeroizing::new(decoded.collect()))
    }
}

/// The server's side of the online phase: answers `count` questions with these halves, one after another.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) if these halves are not enough; errors of the halves and of the
/// channel.
pub fn answer(ch: &mut dyn Channel, halves: impl IntoIterator<Item = Result<OprfAnswers>>, count: usize) -> Result<()> {
    let (mut halves, mut left) = (halves.into_iter(), count);
    while left > 0 {
        let half = halves.next().ok_or_else(|| too_few(left))??;
        let now = half.count().min(left);
        let mut asked = vec![0; OPRF_ONLINE[0] * now];
        ch.recv(&mut asked)?;
        ch.send(&half.answer(&asked)?)?;
        ch.flush()?;
        left -= now;
    }
    Ok(())
}

/// The client's side of the online phase: the values at these inputs, for which these halves must suffice.
/// Secret. One round trip for the first 4,096 queries, and no more waiting after that: questions leave as
/// answers arrive.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) if these halves are not enough; errors of the halves and of the
/// channel.
pub fn query(
    ch: &mut dyn Channel,
    backend: Backend,
    halves: impl IntoIterator<Item = Result<OprfQuestions>>,
    inputs: &[u128],
) -> Result<Zeroizing<Vec<Block>>> {
    query_within(ch, backend, halves, inputs, WINDOW)
}

/// [`query`] with a bound on the halves whose questions are under way at a time.
pub(super) fn query_within(
    ch: &mut dyn Channel,
    backend: Backend,
    halves: impl IntoIterator<Item = Result<OprfQuestions>>,
    inputs: &[u128],
    window: usize,
) -> Result<Zeroizing<Vec<Block>>> {
    let (mut halves, mut left, mut asked) = (halves.into_iter(), inputs, VecDeque::new());
    let mut values = Zeroizing::new(Vec::with_capacity(inputs.len()));
    loop {
        while asked.len() < window && !left.is_empty() {
            let half = halves.next().ok_or_else(|| too_few(left.len()))??;
            let (now, later) = left.split_at(half.count().min(left.len()));
            let (half, message) = half.ask(now)?;
            ch.send(&message)?;
            asked.push_back(half);
            left = later;
        }
        ch.flush()?;
        let Some(half) = asked.pop_front() else { return Ok(values) };
        let mut answer = vec![0; half.answer_len()];
        ch.recv(&mut answer)?;
        values.extend_from_slice(&half.values(backend, &answer)?);
    }
}

fn too_few(left: usize) -> Error {
    Error::invalid_input(format!("there are too few prepared queries: {left} more are asked"))
}

/// Prepares queries with a server and asks them, [`OPRF_ROUND`] at a time, which bounds the tables in memory:
/// the values at these inputs. Secret. Each time takes a round trip besides those of the OTs.
///
/// # Errors
/// Those of the OTs and the channel.
pub fn ask(me: &mut Party<'_, '_>, inputs: &[u128]) -> Result<Zeroizing<Vec<Block>>> {
    let mut maker = QuestionMaker::begin(me)?;
    let (ch, here, _, observer) = me.pair()?;
    let mut values = Zeroizing::new(Vec::with_capacity(inputs.len()));
    for inputs in inputs.chunks(OPRF_ROUND) {
        observer.phase("garbling");
        let ahead: Vec<_> = halves(inputs.len()).map(|count| maker.half(ch, count)).collect::<Result<_>>()?;
        observer.phase("queries");
        values.extend_from_slice(&query(ch, here.backend, ahead.into_iter().map(Ok), inputs)?);
    }
    Ok(values)
}

/// The number of queries at the start of a stored half.
fn count(input: &mut dyn Read) -> Result<usize> {
    let mut count = [0; 4];
    fill(input, &mut count)?;
    match u32::from_le_bytes(count) as usize {
        count if (1..=OPRF_TOGETHER).contains(&count) => Ok(count),
        count => {
            Err(Error::malformed(format!("{count} prepared queries are kept together, and {OPRF_TOGETHER} at most")))
        }
    }
}

/// Fills `bytes`. That a file ends is nothing a peer did, as it is where a connection ends.
fn fill(input: &mut dyn Read, bytes: &mut [u8]) -> Result<()> {
    input.read_exact(bytes).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => Error::store("prepared queries end too early"),
        _ => Error::disk("reading prepared queries", error),
    })
}

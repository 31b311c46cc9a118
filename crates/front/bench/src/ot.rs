//! Oblivious transfer: base OTs and extensions, two parties over TCP on this machine, a thread each.
//!
//! Each protocol gives four measurements, `NAME` and `NAME.to_receiver`, `NAME.to_sender`, `NAME.rounds`, and one row
//! of a table.

mod figure32;
mod parties;
mod plot;
mod wire;

use comity_channel::Result;
use comity_core::{Block, Params};
use comity_net::SystemRng;
use comity_ot::base::{BaseOt, Csw, Pvw, Simplest};
use comity_ot::one_of_n::{self, Kk13, Kkrt16, OneOfN, Oos16};
use comity_ot::softspoken::{self, Checking};
use comity_ot::{
    AtLeast, CotReceiver, CotSender, HashedReceiver, HashedSender, Malicious, Model, RandomReceiver, RandomSender,
    SemiHonest, alsz, committing, iknp, silent,
};
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::numbers::scaled;

use crate::count::Count;
use crate::suite::{Bench, Suite, backend};
pub(crate) use figure32::FIGURE;
use parties::{Measured, Party, SESSION, measure, random_bits, random_block};
use wire::Wire;

/// Base OTs, 128 in a run, as an extension needs them.
pub(super) const BASE: Bench = Bench {
    name: "ot.base",
    about: "128 base OTs over TCP on this machine, one thread a party",
    ceiling: Some("machine.group"),
    run: base,
};

/// Extensions, base OTs not counted.
pub(super) const EXTENSION: Bench = Bench {
    name: "ot.extension",
    about: "OT extension over TCP on this machine, one thread a party, after the set-up",
    ceiling: Some("machine.aes"),
    run: extension,
};

/// OTs of one call: what an extension handles best, in buffers that are used again.
const CALL: usize = 1 << 19;

/// A protocol to be measured.
struct Subject {
    name: String,
    model: &'static str,
    /// OTs of a run.
    n: usize,
    /// The least work of the busier party for an OT, in units of the ceiling.
    cost: f64,
}

impl Subject {
    fn new<M: Model>(name: String, n: usize, cost: f64) -> Subject {
        Subject { name, model: M::NAME, n, cost }
    }
}

/// OTs of a run of an extension, if the user does not say.
const OTS: usize = 1 << 24;

/// The measurements of one group, which all go into one table.
struct Group<'a> {
    suite: &'a mut Suite,
    ceiling: Option<f64>,
}

impl<'a> Group<'a> {
    fn new(suite: &'a mut Suite, ceiling: &str) -> Group<'a> {
        let ceiling = suite.value(ceiling);
        Group { suite, ceiling }
    }

    /// The number of OTs in a run of an extension.
    fn ots(&self) -> usize {
        self.suite.count().unwrap_or(OTS)
    }

    /// Measures one protocol, if it is wanted.
    fn add(&mut self, subject: Subject, work: impl FnOnce(&Subject, &Suite) -> Outcome<Measured>) -> Outcome {
        let Subject { name, model, n, cost } = &subject;
        if !self.suite.wants(name) {
            return Ok(());
        }
        let measured = work(&subject, self.suite)?;
        let ceiling = self.ceiling.map(|ceiling| ceiling / cost);
        let rates = measured.seconds.iter().map(|seconds| *n as f64 / seconds).collect();
        self.suite.record(name, "ot/s", ceiling, rates);
        let each = |bytes: u64| bytes as f64 / *n as f64;
        let [to_receiver, to_sender] = [each(measured.from_sender), each(measured.from_receiver)];
        self.suite.record(&format!("{name}.to_receiver"), "bytes/ot", None, vec![to_receiver]);
        self.suite.record(&format!("{name}.to_sender"), "bytes/ot", None, vec![to_sender]);
        self.suite.record(&format!("{name}.rounds"), "rounds", None, vec![measured.rounds as f64]);
        let rate = self.suite.value(name).unwrap_or_default();
        let share = ceiling.map(|ceiling| format!("{:.0} %", 100.0 * rate / ceiling)).unwrap_or_default();
        let row = [
            Count(*n).to_string(),
            scaled(rate),
            format!("{to_receiver:.4}"),
            format!("{to_sender:.3}"),
            measured.rounds.to_string(),
            share,
        ];
        let name = name.trim_start_matches("ot.").trim_start_matches("extension.");
        let heading = ["n", "OT/s", "B/OT to recv.", "to sender", "rounds", "ceiling"].map(String::from);
        self.suite.page(line("protocol", "model", heading).trim_end(), &line(name, model, row));
        Ok(())
    }
}

/// One line of the table.
fn line(name: &str, model: &str, [n, rate, to_receiver, to_sender, rounds, share]: [String; 6]) -> String {
    format!("{name:40}{model:12}{n:>9}{rate:>9}{to_receiver:>15}{to_sender:>11}{rounds:>8}{share:>9}\n")
}

fn base(suite: &mut Suite) -> Outcome {
    let mut group = Group::new(suite, BASE.ceiling.expect("group operations"));
    base_ot::<Simplest>(&mut group, "simplest", 1.0)?;
    base_ot::<Csw>(&mut group, "csw", 1.0)?;
    // Two sums of two multiples each, a sum as dear as one multiple and a third.
    base_ot::<Pvw>(&mut group, "pvw", 8.0 / 3.0)
}

/// A base OT in which the sender multiplies `points` points for each OT, none of which it knows beforehand.
fn base_ot<B: BaseOt>(group: &mut Group<'_>, name: &str, points: f64) -> Outcome {
    const N: usize = 128;
    group.add(Subject::new::<B::Model>(format!("ot.base.{name}"), N, points), |_, suite| {
        let choices = random_bits(N);
        measure(
            suite.network(),
            15,
            Party::new(|_| Ok(()), |(), ch| B::send(ch, &SESSION, N, &mut SystemRng).map(drop)),
            Party::new(|_| Ok(()), |(), ch| B::receive(ch, &SESSION, &choices, &mut SystemRng).map(drop)),
        )
    })
}

fn extension(suite: &mut Suite) -> Outcome {
    let backend = backend();
    let group = &mut Group::new(suite, EXTENSION.ceiling.expect("AES blocks"));
    // The receiver expands both seeds of each of 128 rows: two blocks an OT.
    cot(
        group,
        ("iknp", 2.0),
        |ch| iknp::Sender::setup::<Simplest>(ch, &SESSION, backend, random_block(), &mut SystemRng),
        |ch| iknp::Receiver::setup::<Simplest>(ch, &SESSION, backend, &mut SystemRng),
    )?;
    let parameters = alsz::Parameters::new(Params::default()).map_err(Failure::from)?;
    random_ot(
        group,
        ("alsz", 2.0 * parameters.rows() as f64 / 128.0),
        |ch| alsz::Sender::setup::<Csw>(ch, &SESSION, backend, parameters, &mut SystemRng),
        |ch| alsz::Receiver::setup::<Csw>(ch, &SESSION, backend, parameters, &mut SystemRng),
    )?;
    for k in 1..=8 {
        softspoken::<SemiHonest, Simplest>(group, "semi_honest", k)?;
        softspoken::<Malicious, Csw>(group, "malicious", k)?;
    }
    silent::<SemiHonest, Simplest>(group, "semi_honest")?;
    silent::<Malicious, Csw>(group, "malicious")?;
    committing(group)?;
    one_of_n::<Kk13, Simplest>(group, "kk13")?;
    one_of_n::<Kkrt16, Simplest>(group, "kkrt16")?;
    one_of_n::<Oos16, Csw>(group, "oos16")
}

/// SoftSpoken: the receiver expands every leaf of each tree.
fn softspoken<M: Checking, B: BaseOt<Model: AtLeast<M>>>(group: &mut Group<'_>, model: &str, k: usize) -> Outcome {
    let backend = backend();
    let blocks = (128usize.div_ceil(k) << k) as f64 / 128.0;
    let name = format!("softspoken.{model}.k{k}");
    cot(
        group,
        (&name, blocks),
        |ch| softspoken::Sender::<M>::setup::<B>(ch, &SESSION, backend, k, random_block(), &mut SystemRng),
        |ch| softspoken::Receiver::<M>::setup::<B>(ch, &SESSION, backend, k, &mut SystemRng),
    )
}

/// Silent OT: the sender takes a block for each growing of a leaf, and one and a quarter for places of look-ups.
fn silent<M: Checking, B: BaseOt<Model: AtLeast<M>>>(group: &mut Group<'_>, model: &str) -> Outcome {
    let backend = backend();
    cot(
        group,
        (&format!("silent.{model}"), if M::MALICIOUS { 4.25 } else { 2.25 }),
        |ch| silent::Sender::<M>::setup::<B>(ch, &SESSION, backend, random_block(), &mut SystemRng),
        |ch| silent::Receiver::<M>::setup::<B>(ch, &SESSION, backend, &mut SystemRng),
    )
}

/// An extension with a fixed delta: correlated OTs, and the random ones made from them.
fn cot<S: CotSender, R: CotReceiver>(
    group: &mut Group<'_>,
    (name, blocks): (&str, f64),
    sender: impl Fn(&mut Wire) -> Result<S> + Send + Sync,
    receiver: impl Fn(&mut Wire) -> Result<R>,
) -> Outcome {
    let n = group.ots();
    let correlated = Subject::new::<S::Model>(format!("ot.extension.{name}.correlated"), n, blocks);
    group.add(correlated, |_, suite| {
        let (mut q, mut t) = (vec![Block::ZERO; CALL.min(n)], vec![Block::ZERO; CALL.min(n)]);
        measure(
            suite.network(),
            runs(n),
            Party::new(&sender, |ot, ch| calls(n, CALL, |n| ot.extend_random(ch, &mut q[..n]))),
            Party::new(&receiver, |ot, ch| calls(n, CALL, |n| ot.extend_random(ch, &mut t[..n]).map(drop))),
        )
    })?;
    // The receiver also hashes every message: with one block, or two where the hash is tweakable.
    let blocks = blocks + if S::Model::MALICIOUS { 2.0 } else { 1.0 };
    random_ot(group, (name, blocks), |ch| sender(ch).map(HashedSender::new), |ch| receiver(ch).map(HashedReceiver::new))
}

/// R-OT over any extension.
fn random_ot<S: RandomSender, R: RandomReceiver>(
    group: &mut Group<'_>,
    (name, blocks): (&str, f64),
    sender: impl Fn(&mut Wire) -> Result<S> + Send,
    receiver: impl Fn(&mut Wire) -> Result<R>,
) -> Outcome {
    let n = group.ots();
    group.add(Subject::new::<S::Model>(format!("ot.extension.{name}.random"), n, blocks), |_, suite| {
        let (mut pairs, mut chosen) = (vec![[Block::ZERO; 2]; CALL.min(n)], vec![Block::ZERO; CALL.min(n)]);
        measure(
            suite.network(),
            runs(n),
            Party::new(sender, |ot, ch| calls(n, CALL, |n| ot.random(ch, &mut pairs[..n]))),
            Party::new(receiver, |ot, ch| calls(n, CALL, |n| ot.random(ch, &mut chosen[..n]).map(drop))),
        )
    })
}

/// Random OTs that can be opened, which are not opened: the receiver keeps what it needs for that, and so does fewer.
fn committing(group: &mut Group<'_>) -> Outcome {
    let n = group.suite.count().unwrap_or(1 << 20);
    let backend = backend();
    // Trees of four levels; what hashes the messages is no AES.
    group.add(Subject::new::<Malicious>("ot.extension.committing.random".into(), n, 4.0), |_, suite| {
        let (mut pairs, choices) = (vec![[Block::ZERO; 2]; CALL.min(n)], random_bits(CALL.min(n)));
        measure(
            suite.network(),
            runs(n),
            Party::new(
                |ch| committing::Sender::setup::<Csw>(ch, &SESSION, backend, &mut SystemRng),
                |ot, ch| calls(n, CALL, |n| ot.random(ch, &mut pairs[..n])),
            ),
            Party::new(
                |ch| committing::Receiver::setup::<Csw>(ch, &SESSION, backend, &mut SystemRng),
                |ot, ch| calls(n, CALL, |n| ot.random(ch, &choices.slice(0, n)).map(drop)),
            ),
        )
    })
}

/// 1-out-of-N, where the sender evaluates one entry of each OT.
fn one_of_n<S: OneOfN, B: BaseOt<Model: AtLeast<S::Model>>>(group: &mut Group<'_>, name: &str) -> Outcome {
    // The sender's keys take 64 bytes an OT.
    const CALL: usize = 1 << 16;
    let n = group.ots();
    let backend = backend();
    // The receiver expands both seeds of 512 rows, and hashes four blocks with six.
    group.add(Subject::new::<S::Model>(format!("ot.extension.one_of_n.{name}"), n, 14.0), |_, suite| {
        let (entries, choices) = (vec![3; CALL], Vec::from_iter(0..CALL as u128));
        let (mut values, mut chosen) = (vec![Block::ZERO; CALL], vec![Block::ZERO; CALL]);
        measure(
            suite.network(),
            runs(n),
            Party::new(
                |ch| one_of_n::Sender::<S>::setup::<B>(ch, &SESSION, backend, &mut SystemRng),
                |ot, ch| calls(n, CALL, |n| ot.keys(ch, n)?.evaluate_each(&entries[..n], &mut values[..n])),
            ),
            Party::new(
                |ch| one_of_n::Receiver::<S>::setup::<B>(ch, &SESSION, backend, &mut SystemRng),
                |ot, ch| calls(n, CALL, |n| ot.receive(ch, &choices[..n], &mut chosen[..n])),
            ),
        )
    })
}

/// Makes `n` OTs in calls of at most `most`.
fn calls(n: usize, most: usize, mut call: impl FnMut(usize) -> Result<()>) -> Result<()> {
    (0..n).step_by(most).try_for_each(|done| call(most.min(n - done)))
}

/// The number of runs of `n` OTs: a long run is its own average.
fn runs(n: usize) -> usize {
    if n > OTS { 1 } else { 5 }
}

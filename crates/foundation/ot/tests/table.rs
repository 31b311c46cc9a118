//! D13.3's Table 3.1 for the other extensions: exactly what each flavour puts on the wire. `tests/flavour.rs`
//! has it for IKNP.
//!
//! From sender to receiver go the table's bits, plus 16 bytes a chunk where the receiver is challenged. From
//! receiver to sender goes the matrix: its formula, and the answers to challenges, are each extension's own.

use comity_channel::{Channel, Counted, MemoryChannel};
use comity_core::{Backend, Bits, Block, Params, Prg, Result, SessionId};
use comity_ot::base::{BaseOt, Csw, Simplest};
use comity_ot::softspoken::{self, Checking};
use comity_ot::{
    AtLeast, HashedReceiver, HashedSender, Malicious, RandomReceiver, RandomSender, SemiHonest, alsz, flavour,
};
use comity_testing::Pair;

const SESSION: SessionId = SessionId::new([0x74; 32]);

const LENGTHS: [usize; 3] = [1, 13, 160];
/// None, few, and not whole blocks; all in one chunk.
const COUNTS: [usize; 4] = [0, 1, 129, 1000];

/// The rows of Table 3.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flavour {
    Ot,
    COt,
    SrOt,
    RrOt,
    ROt,
}

impl Flavour {
    const ALL: [Flavour; 5] = [Flavour::Ot, Flavour::COt, Flavour::SrOt, Flavour::RrOt, Flavour::ROt];

    /// The table's last but one column, for `m` OTs of messages of `n` bits.
    fn to_receiver(self, m: usize, n: usize) -> usize {
        match self {
            Flavour::Ot | Flavour::RrOt => 2 * m * n,
            Flavour::COt => m * n,
            Flavour::SrOt | Flavour::ROt => 0,
        }
    }

    /// Whether the receiver's choice bits are random, which saves a row.
    fn random_choices(self) -> bool {
        matches!(self, Flavour::RrOt | Flavour::ROt)
    }
}

type Wire<'a> = Counted<&'a mut MemoryChannel>;

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn send<S: RandomSender>(ot: &mut S, ch: &mut Wire<'_>, flavour: Flavour, m: usize, n: usize) -> Result<()> {
    let messages = vec![0; m * flavour::bytes(n)];
    match flavour {
        Flavour::Ot => flavour::send(ot, ch, n, [&messages, &messages]),
        Flavour::COt => flavour::send_correlated(ot, ch, n, &mut messages.clone(), |_, _, _| ()),
        Flavour::SrOt => ot.sender_random(ch, &mut vec![[Block::ZERO; 2]; m]),
        Flavour::RrOt => flavour::send_to_random(ot, ch, n, [&messages, &messages]),
        Flavour::ROt => ot.random(ch, &mut vec![[Block::ZERO; 2]; m]),
    }?;
    ch.flush()
}

fn receive<R: RandomReceiver>(ot: &mut R, ch: &mut Wire<'_>, flavour: Flavour, m: usize, n: usize) -> Result<()> {
    let (choices, mut out) = (Bits::zeros(m), vec![0; m * flavour::bytes(n)]);
    match flavour {
        Flavour::Ot => flavour::receive(ot, ch, n, &choices, &mut out),
        Flavour::COt => flavour::receive_correlated(ot, ch, n, &choices, &mut out),
        Flavour::SrOt => ot.sender_random(ch, &choices, &mut vec![Block::ZERO; m]),
        Flavour::RrOt => flavour::receive_random(ot, ch, n, m, &mut out).map(drop),
        Flavour::ROt => ot.random(ch, &mut vec![Block::ZERO; m]).map(drop),
    }?;
    ch.flush()
}

/// Counts every flavour over one set-up. `matrix` says what the receiver sends for `m` OTs, in bytes, where its choice
/// bits are random or not; `challenge` what the sender sends besides the table's bits, if there are OTs.
fn counts<S: RandomSender, R: RandomReceiver>(
    sender: impl FnOnce(&mut Wire<'_>) -> Result<S> + Send,
    receiver: impl FnOnce(&mut Wire<'_>) -> Result<R> + Send,
    matrix: impl Fn(usize, bool) -> usize,
    challenge: usize,
) {
    let calls: Vec<_> = Flavour::ALL
        .into_iter()
        .flat_map(|flavour| COUNTS.map(|m| LENGTHS.map(|n| (flavour, m, n))))
        .flatten()
        .collect();
    let (sent, sent_back): (Vec<u64>, Vec<u64>) = Pair::run(
        |ch| {
            let mut ch = Counted::new(ch);
            let mut ot = sender(&mut ch).unwrap();
            let each = |&(flavour, m, n): &_| {
                let before = ch.counts().sent;
                send(&mut ot, &mut ch, flavour, m, n).unwrap();
                ch.counts().sent - before
            };
            calls.iter().map(each).collect()
        },
        |ch| {
            let mut ch = Counted::new(ch);
            let mut ot = receiver(&mut ch).unwrap();
            let each = |&(flavour, m, n): &_| {
                let before = ch.counts().sent;
                receive(&mut ot, &mut ch, flavour, m, n).unwrap();
                ch.counts().sent - before
            };
            calls.iter().map(each).collect()
        },
    );
    for ((&(flavour, m, n), sent), sent_back) in calls.iter().zip(sent).zip(sent_back) {
        let what = format!("{flavour:?}, {m} OTs of {n} bits");
        let challenge = if m == 0 { 0 } else { challenge };
        assert_eq!(sent as usize, flavour.to_receiver(m, n).div_ceil(8) + challenge, "{what}: to the receiver");
        assert_eq!(sent_back as usize, matrix(m, flavour.random_choices()), "{what}: to the sender");
    }
}

#[test]
fn alsz_costs_the_table_and_its_check() {
    let (backend, parameters) = (Backend::detect(), alsz::Parameters::new(Params::default()).unwrap());
    let (rows, pairs) = (parameters.rows(), parameters.pairs());
    counts(
        |ch| alsz::Sender::setup::<Csw>(ch, &SESSION, backend, parameters, &mut rng(1)),
        |ch| alsz::Receiver::setup::<Csw>(ch, &SESSION, backend, parameters, &mut rng(2)),
        |m, random| match m {
            0 => 0,
            // 128 spare columns; four hashes of 32 bytes for each pair of rows.
            _ => (rows - usize::from(random)) * (m.div_ceil(8) + 16) + pairs * 4 * 32,
        },
        16,
    );
}

fn softspoken<M: Checking, B: BaseOt<Model: AtLeast<M>>>(spare: usize, answer: usize, challenge: usize) {
    let backend = Backend::detect();
    for k in 1..=8 {
        counts(
            |ch| {
                softspoken::Sender::<M>::setup::<B>(ch, &SESSION, backend, k, Block::ZERO, &mut rng(1))
                    .map(HashedSender::new)
            },
            |ch| softspoken::Receiver::<M>::setup::<B>(ch, &SESSION, backend, k, &mut rng(2)).map(HashedReceiver::new),
            |m, random| match m {
                0 => 0,
                _ => (128usize.div_ceil(k) - usize::from(random)) * 16 * (m.div_ceil(128) + spare) + answer,
            },
            challenge,
        );
    }
}

#[test]
fn semi_honest_softspoken_costs_a_row_a_tree() {
    softspoken::<SemiHonest, Simplest>(0, 0, 0);
}

#[test]
fn malicious_softspoken_costs_a_mask_a_challenge_and_an_answer_more() {
    softspoken::<Malicious, Csw>(1, 48, 16);
}

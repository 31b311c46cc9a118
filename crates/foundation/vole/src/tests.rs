use std::cell::RefCell;

use comity_channel::{Channel, Recorded};
use comity_core::{Backend, Bits, Block, Error, Kind, Prg, Result, SessionId, gf128};
use comity_ot::base::{BaseOt, Csw, Simplest};
use comity_ot::{Malicious, ReceiverSeeds, SemiHonest, SenderSeeds, softspoken};
use comity_testing::{Pair, deviate, never_wrong};
use rand_core::CryptoRng;

use crate::parameters::LpnSizes;
use crate::receiver::{Received, receive_with};
use crate::sender::send_with;
use crate::{Setting, checks, noise, products};

/// Small instances, which hide nothing: stage 2 from 100 elements on, in iterations of 40 blocks of 16.
const SMALL: LpnSizes = LpnSizes { noise: 20, dimension: 100, depth: 4, blocks: 40 };
const DELTA: Block = Block::from_u128(0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6979);

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn setting(session: u64) -> Setting {
    Setting { session: SessionId::derive("test", &[&session.to_le_bytes()]), backend: Backend::detect() }
}

/// The receiver's vectors, computed.
struct Computed {
    a: Vec<Block>,
    c: Vec<Block>,
}

impl From<Received> for Computed {
    fn from(received: Received) -> Computed {
        Computed { a: received.a.to_vec(), c: received.c.compute().to_vec() }
    }
}

fn holds(delta: Block, b: &[Block], received: &Computed) {
    let mut sums = b.to_vec();
    gf128::add_polynomial(Backend::detect(), &[delta], &received.a, &mut sums);
    assert!(sums == received.c, "{} elements", b.len());
}

fn sending<M: comity_ot::softspoken::Checking>(ch: &mut dyn Channel, n: usize, session: u64) -> Result<Vec<Block>>
where
    Csw: comity_ot::base::BaseOt<Model: comity_ot::AtLeast<M>>,
{
    let out = send_with::<M, Csw>(&SMALL, ch, &setting(session), DELTA, n, &mut rng(u128::from(session)))?;
    Ok(out.to_vec())
}

fn receiving<M: comity_ot::softspoken::Checking>(ch: &mut dyn Channel, n: usize, session: u64) -> Result<Computed>
where
    Csw: comity_ot::base::BaseOt<Model: comity_ot::AtLeast<M>>,
{
    receive_with::<M, Csw>(&SMALL, ch, &setting(session), n, &mut rng(u128::from(session) + 100)).map(Computed::from)
}

#[test]
fn products_add_up() {
    for n in [0, 1, 7, 100, 101, 116, 640, 641, 1500] {
        let (b, received) =
            Pair::run(|ch| sending::<SemiHonest>(ch, n, 1).unwrap(), |ch| receiving::<SemiHonest>(ch, n, 1).unwrap());
        assert_eq!([b.len(), received.a.len()], [n, n]);
        holds(DELTA, &b, &received);
        let (b, received) =
            Pair::run(|ch| sending::<Malicious>(ch, n, 2).unwrap(), |ch| receiving::<Malicious>(ch, n, 2).unwrap());
        holds(DELTA, &b, &received);
        // All elements differ, and are no multiples of few.
        let mut all: Vec<u128> = received.a.iter().chain(received.c.iter()).map(|a| a.to_u128()).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2 * n);
    }
}

#[test]
fn products_of_standard_size_add_up() {
    for n in [2000, 150_000] {
        let (b, received) = Pair::run(
            |ch| crate::send::<SemiHonest, Simplest>(ch, &setting(3), DELTA, n, &mut rng(3)).unwrap(),
            |ch| crate::receive::<SemiHonest, Simplest>(ch, &setting(3), n, &mut rng(4)).unwrap(),
        );
        holds(DELTA, &b, &received.into());
    }
}

/// A receiver that multiplies another vector with some bits of delta is caught if one of these is set, and only then.
#[test]
fn another_vector_for_a_bit_is_caught() {
    let a: Vec<Block> = (1..6).map(Block::from_u128).collect();
    for (bit, set) in [(0, true), (1, false), (2, false), (3, true), (127, false), (120, true)] {
        assert_eq!(DELTA.to_u128() >> bit & 1 == 1, set);
        let (b, c) = Pair::run(
            |ch| products::send::<Malicious, Csw>(ch, &setting(5), DELTA, 5, &mut rng(5)),
            |ch| {
                // Rows come from the last bit to the first, six elements each, after the messages of base OT;
                // no other message is as long.
                let mut rows = 0;
                let lie = |bytes: &mut [u8]| {
                    if bytes.len() == 96 {
                        bytes[3] ^= u8::from(rows == 127 - bit);
                        rows += 1;
                    }
                };
                products::receive::<Malicious, Csw>(
                    &mut Changing { inner: ch, change: lie },
                    &setting(5),
                    &a,
                    &mut rng(6),
                )
            },
        );
        assert!(c.is_ok());
        match b {
            Ok(_) => assert!(!set, "bit {bit}"),
            Err(Error { kind: Kind::Misbehaved(checks::INCONSISTENT_PRODUCTS), .. }) => assert!(set, "bit {bit}"),
            Err(error) => panic!("{error}"),
        }
    }
}

/// A channel that shows each message before it goes, to be changed.
struct Changing<'a, F> {
    inner: &'a mut dyn Channel,
    change: F,
}

impl<F: FnMut(&mut [u8]) + Send> Channel for Changing<'_, F> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let mut bytes = bytes.to_vec();
        (self.change)(&mut bytes);
        self.inner.send(&bytes)
    }
    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.inner.recv(bytes)
    }
    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }
    fn post(&mut self, bytes: &[u8]) -> Result<()> {
        self.inner.post(bytes)
    }
    fn split(&mut self) -> (Box<dyn comity_channel::SendHalf + '_>, Box<dyn comity_channel::RecvHalf + '_>) {
        self.inner.split()
    }
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<()> {
        self.inner.exchange(out, into)
    }
    fn fork(&mut self, label: &str) -> Result<Box<dyn Channel>> {
        self.inner.fork(label)
    }
}

#[test]
fn no_deviation_makes_a_malicious_run_wrong() {
    let n = 200;
    let honest = [0, 1].map(|session| {
        Pair::run(
            |ch| sending::<Malicious>(ch, n, session).unwrap(),
            |ch| receiving::<Malicious>(ch, n, session).unwrap(),
        )
    });
    let mut caught = [0; 2];
    let runs = deviate(
        150,
        |ch, session| sending::<Malicious>(ch, n, session).map(|b| b == honest[session as usize].0),
        |ch, session| {
            let honest = &honest[session as usize].1;
            receiving::<Malicious>(ch, n, session).map(|got| got.a == honest.a && got.c == honest.c)
        },
        |case, sender, receiver| {
            never_wrong(case, sender, receiver);
            for (i, check) in [checks::INCONSISTENT_PRODUCTS, checks::INCONSISTENT_NOISE].into_iter().enumerate() {
                let named = Error::from(check).to_string();
                let errors = [sender.error(), receiver.error()].into_iter().flatten();
                caught[i] += errors.filter(|error| error.to_string() == named).count();
            }
        },
    );
    assert!(runs > 100 && caught.iter().all(|&caught| caught > 3), "{runs} runs, {caught:?} caught by the checks");
}

/// The codes hide the receiver's vector: they follow from a nonce of the receiver's, so that a sender that
/// can choose among sessions does not choose among codes.
#[test]
fn the_receivers_nonce_picks_the_codes() {
    let run = |seed: u128, change: u8| {
        Pair::run(
            |ch| send_with::<SemiHonest, Simplest>(&SMALL, ch, &setting(1), DELTA, 1500, &mut rng(7)).unwrap().to_vec(),
            |ch| {
                // It is the only message of a block.
                let mut nonces = Vec::new();
                let nonce = |bytes: &mut [u8]| {
                    if bytes.len() == Block::BYTES {
                        bytes[0] ^= change;
                        nonces.push(bytes.to_vec());
                    }
                };
                let ch = &mut Changing { inner: ch, change: nonce };
                let got = receive_with::<SemiHonest, Simplest>(&SMALL, ch, &setting(1), 1500, &mut rng(seed)).unwrap();
                (nonces, Computed::from(got))
            },
        )
    };
    let [(b, (one, honest)), (_, (other, _)), (wrong, (_, received))] =
        [(1, 0), (2, 0), (1, 1)].map(|(seed, change)| run(seed, change));
    holds(DELTA, &b, &honest);
    assert!(one.len() == 1 && other.len() == 1 && one != other, "a nonce, which is drawn");
    // With another nonce the sender has another code: nothing of its outputs fits.
    let mut sums = wrong;
    gf128::add_polynomial(Backend::detect(), &[DELTA], &received.a, &mut sums);
    assert!(sums.iter().zip(&received.c).all(|(sum, c)| sum != c));
}

/// The bytes that a side has sent in a run.
fn sent<T>(ch: &mut comity_channel::MemoryChannel, side: impl FnOnce(&mut dyn Channel) -> Result<T>) -> Vec<u8> {
    let mut ch = Recorded::new(ch, 1 << 24);
    side(&mut ch).unwrap();
    ch.recorder().recording().sent
}

/// The block that begins `before_end` bytes before the end.
fn block(bytes: &[u8], before_end: usize) -> Block {
    Block::new(*bytes[bytes.len() - before_end..].first_chunk().unwrap())
}

/// The challenge of the products' check is nobody's to know before, and the answer says nothing of the
/// vector: a random element masks it.
#[test]
fn the_check_of_products_is_random_and_hides() {
    let a: Vec<Block> = (1..6).map(Block::from_u128).collect();
    let run = |seed| {
        let (sender, receiver) = Pair::run(
            |ch| sent(ch, |ch| products::send::<Malicious, Csw>(ch, &setting(5), DELTA, 5, &mut rng(seed))),
            |ch| sent(ch, |ch| products::receive::<Malicious, Csw>(ch, &setting(5), &a, &mut rng(seed + 50))),
        );
        let (challenge, answer) = (block(&sender, 16), block(&receiver, 32));
        let mut factors = vec![Block::ZERO; 5];
        Prg::new(Backend::detect(), challenge).fill_blocks(&mut factors);
        (challenge, answer ^ gf128::inner_product(Backend::detect(), &factors, &a))
    };
    let ((challenge, mask), (other_challenge, other_mask)) = (run(1), run(2));
    assert_ne!(challenge, other_challenge);
    assert!(mask != other_mask && mask != Block::ZERO && other_mask != Block::ZERO);
}

/// The point of the check of noise is new in each run, and so is the nonce of the trees' keys.
#[test]
fn the_check_of_noise_is_random() {
    let (trees, depth) = (3, 4);
    let run = |seed| {
        let blocks = vec![Block::ZERO; trees + 1];
        let (sender, receiver) = Pair::run(
            |ch| {
                let mut rng = rng(seed);
                let session = setting(7).session;
                let setup = softspoken::Sender::<Malicious>::setup::<Csw>;
                let mut cots = setup(ch, &session, Backend::detect(), crate::COT_K, DELTA, &mut rng).unwrap();
                sent(ch, |ch| noise::send(ch, &setting(7), &mut cots, Block::ZERO, &blocks, depth, &mut rng))
            },
            |ch| {
                let mut rng = rng(seed + 50);
                let session = setting(7).session;
                let setup = softspoken::Receiver::<Malicious>::setup::<Csw>;
                let mut cots = setup(ch, &session, Backend::detect(), crate::COT_K, &mut rng).unwrap();
                sent(ch, |ch| noise::receive(ch, &setting(7), &mut cots, [&blocks, &blocks], depth, &mut rng))
            },
        );
        // Behind the nonce are the trees' messages and the answer; behind the point is the sum at the ends.
        [block(&sender, 32 + 16 * trees * depth + 16), block(&receiver, 32)]
    };
    let (one, other) = (run(1), run(2));
    assert!(one[0] != other[0] && one[1] != other[1]);
}

thread_local! {
    /// The choices of the base OTs that this thread received.
    static CHOSEN: RefCell<Vec<Bits>> = const { RefCell::new(Vec::new()) };
}

/// Base OTs that note what they are asked for: an extension's sender chooses by the bits of its delta.
struct Noted;

impl BaseOt for Noted {
    type Model = Malicious;

    fn send(
        ch: &mut dyn Channel,
        session: &SessionId,
        n: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<SenderSeeds<Malicious>> {
        Csw::send(ch, session, n, rng)
    }

    fn receive(
        ch: &mut dyn Channel,
        session: &SessionId,
        choices: &Bits,
        rng: &mut dyn CryptoRng,
    ) -> Result<ReceiverSeeds<Malicious>> {
        CHOSEN.with_borrow_mut(|all| all.push(choices.clone()));
        Csw::receive(ch, session, choices, rng)
    }
}

/// The delta under which trees are hidden is drawn: no run has that of another one, and none has the delta of
/// the product.
#[test]
fn the_delta_of_trees_is_drawn() {
    let deltas = |seed| {
        let (chosen, _) = Pair::run(
            |ch| {
                send_with::<Malicious, Noted>(&SMALL, ch, &setting(1), DELTA, 150, &mut rng(seed)).unwrap();
                CHOSEN.take()
            },
            |ch| receive_with::<Malicious, Csw>(&SMALL, ch, &setting(1), 150, &mut rng(seed + 50)).map(drop).unwrap(),
        );
        chosen
    };
    let (one, other) = (deltas(1), deltas(2));
    // Base OTs of the trees.
    let (Some(one), Some(other)) = (one.last(), other.last()) else { panic!("no base OTs") };
    assert!(one.len() == 128 && one != other && one.to_u128() != Some(DELTA.to_u128()));
}

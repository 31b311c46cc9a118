//! SoftSpoken over real base OTs, correlated and hashed, as a user has it.

use comity_core::{Backend, Bits, Block, Prg, SessionId};
use comity_ot::base::{BaseOt, Csw, Simplest};
use comity_ot::softspoken::{Checking, Receiver, Sender};
use comity_ot::{
    AtLeast, CotReceiver, CotSender, HashedReceiver, HashedSender, Malicious, RandomReceiver, RandomSender, SemiHonest,
};
use comity_testing::Pair;

const SESSION: SessionId = SessionId::new([9; 32]);
const DELTA: Block = Block::from_u128(0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0101);

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn bits(n: usize) -> Bits {
    (0..n).map(|i| i % 3 == 0 || i % 7 == 2).collect()
}

fn correlated<M: Checking, B: BaseOt<Model: AtLeast<M>>>() {
    for k in [1, 3, 8] {
        let (q, t) = Pair::run(
            |ch| {
                let mut sender =
                    Sender::<M>::setup::<B>(ch, &SESSION, Backend::detect(), k, DELTA, &mut rng(1)).unwrap();
                let mut q = vec![Block::ZERO; 500];
                sender.extend(ch, &mut q).unwrap();
                q
            },
            |ch| {
                let mut receiver = Receiver::<M>::setup::<B>(ch, &SESSION, Backend::detect(), k, &mut rng(2)).unwrap();
                let mut t = vec![Block::ZERO; 500];
                receiver.extend(ch, &bits(500), &mut t).unwrap();
                t
            },
        );
        for (j, choice) in bits(500).iter().enumerate() {
            assert_eq!(q[j], t[j] ^ DELTA.masked(choice), "k = {k}, OT {j}");
        }
    }
}

#[test]
fn correlated_ots_over_base_ots() {
    correlated::<SemiHonest, Simplest>();
    // The semi-honest extension takes malicious base OTs too.
    correlated::<SemiHonest, Csw>();
    correlated::<Malicious, Csw>();
}

#[test]
fn random_ots_through_a_hash() {
    // More than a hashing call of the extension.
    const N: usize = 70_000;
    let (pairs, (choices, given, drawn)) = Pair::run(
        |ch| {
            let sender =
                Sender::<SemiHonest>::setup::<Simplest>(ch, &SESSION, Backend::detect(), 4, DELTA, &mut rng(1))
                    .unwrap();
            let mut sender = HashedSender::new(sender);
            let mut pairs = vec![[Block::ZERO; 2]; 2 * N];
            sender.sender_random(ch, &mut pairs[..N]).unwrap();
            sender.random(ch, &mut pairs[N..]).unwrap();
            pairs
        },
        |ch| {
            let receiver =
                Receiver::<SemiHonest>::setup::<Simplest>(ch, &SESSION, Backend::detect(), 4, &mut rng(2)).unwrap();
            let mut receiver = HashedReceiver::new(receiver);
            let (mut given, mut drawn) = (vec![Block::ZERO; N], vec![Block::ZERO; N]);
            receiver.sender_random(ch, &bits(N), &mut given).unwrap();
            let choices = receiver.random(ch, &mut drawn).unwrap();
            (choices, given, drawn)
        },
    );
    for (j, choice) in bits(N).iter().enumerate() {
        assert_eq!(given[j], pairs[j][usize::from(choice)], "given choice {j}");
        assert_ne!(given[j], pairs[j][usize::from(!choice)]);
    }
    for (j, choice) in choices.iter().enumerate() {
        assert_eq!(drawn[j], pairs[N + j][usize::from(choice)], "drawn choice {j}");
    }
}

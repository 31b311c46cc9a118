//! Silent OT at full size, over real base OTs and through the hash, as a user has it.

use comity_core::{Backend, Block, Prg, SessionId};
use comity_ot::base::{BaseOt, Csw, Simplest};
use comity_ot::silent::{Parameters, Receiver, Sender};
use comity_ot::softspoken::Checking;
use comity_ot::{
    AtLeast, CotSender, HashedReceiver, HashedSender, Malicious, RandomReceiver, RandomSender, SemiHonest, iknp,
};
use comity_testing::Pair;

const SESSION: SessionId = SessionId::new([9; 32]);
const DELTA: Block = Block::from_u128(0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100);

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn random_ots<M: Checking, B: BaseOt<Model: AtLeast<M>>>() {
    const N: usize = 3000;
    let choices = (0..N).map(|i| i % 3 == 0 || i % 7 == 2).collect();
    let (pairs, (drawn, first, second)) = Pair::run(
        |ch| {
            let sender = Sender::<M>::setup::<B>(ch, &SESSION, Backend::detect(), DELTA, &mut rng(1)).unwrap();
            assert_eq!(sender.delta(), DELTA.with_lsb(true));
            let mut sender = HashedSender::new(sender);
            let mut pairs = vec![[Block::ZERO; 2]; 2 * N];
            sender.random(ch, &mut pairs[..N]).unwrap();
            sender.sender_random(ch, &mut pairs[N..]).unwrap();
            pairs
        },
        |ch| {
            let receiver = Receiver::<M>::setup::<B>(ch, &SESSION, Backend::detect(), &mut rng(2)).unwrap();
            let mut receiver = HashedReceiver::new(receiver);
            let (mut first, mut second) = (vec![Block::ZERO; N], vec![Block::ZERO; N]);
            let drawn = receiver.random(ch, &mut first).unwrap();
            receiver.sender_random(ch, &choices, &mut second).unwrap();
            (drawn, first, second)
        },
    );
    for j in 0..N {
        let (first_pair, second_pair) = (pairs[j], pairs[N + j]);
        assert!(first_pair[usize::from(drawn.get(j))] == first[j], "{}, drawn OT {j}", M::NAME);
        assert!(second_pair[usize::from(choices.get(j))] == second[j], "{}, given OT {j}", M::NAME);
        assert!(first_pair[usize::from(!drawn.get(j))] != first[j]);
    }
}

#[test]
fn random_ots_through_a_hash() {
    random_ots::<SemiHonest, Simplest>();
    random_ots::<Malicious, Csw>();
}

#[test]
fn another_extension_as_base() {
    let (q, t) = Pair::run(
        |ch| {
            let base = iknp::Sender::setup::<Simplest>(ch, &SESSION, Backend::detect(), DELTA, &mut rng(1)).unwrap();
            let mut sender = Sender::<SemiHonest>::bootstrap(ch, &SESSION, base, &mut rng(2)).unwrap();
            let (offered, trees) = sender.offer().unwrap();
            comity_channel::Channel::send(ch, &trees.to_bytes()).unwrap();
            comity_channel::Channel::flush(ch).unwrap();
            sender = offered.finish();
            let mut q = vec![Block::ZERO; 5000];
            assert_eq!(sender.take(&mut q), 5000);
            q
        },
        |ch| {
            let base = iknp::Receiver::setup::<Simplest>(ch, &SESSION, Backend::detect(), &mut rng(3)).unwrap();
            let receiver = Receiver::<SemiHonest>::bootstrap(ch, &SESSION, base, &mut rng(4)).unwrap();
            let mut bytes = vec![0; 16 * (1 + 9 * 1792)];
            comity_channel::Channel::recv(ch, &mut bytes).unwrap();
            let trees = comity_ot::silent::Trees::from_bytes(&bytes, &Parameters::STANDARD).unwrap();
            let mut receiver = receiver.accept(&trees).unwrap().finish();
            let mut t = vec![Block::ZERO; 5000];
            assert_eq!(receiver.take(&mut t), 5000);
            t
        },
    );
    for (j, (q, t)) in q.iter().zip(&t).enumerate() {
        assert!(*q == *t ^ DELTA.with_lsb(true).masked(t.lsb()), "OT {j}");
    }
}

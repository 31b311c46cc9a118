//! Committing OT over real base OTs, as a user has it.

use comity_core::{Backend, Bits, Block, Prg, SessionId};
use comity_ot::base::Csw;
use comity_ot::committing::{Receiver, Sender};
use comity_testing::Pair;

const SESSION: SessionId = SessionId::new([8; 32]);

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

#[test]
fn inputs_are_chosen_and_then_opened() {
    let messages: Vec<[[u8; 24]; 2]> = (0..40).map(|i| [[i; 24], [100 + i; 24]]).collect();
    let choices: Bits = (0..40).map(|i| i % 3 == 1).collect();
    let (random, opened) = Pair::run(
        |ch| {
            let mut sender = Sender::setup::<Csw>(ch, &SESSION, Backend::detect(), &mut rng(1)).unwrap();
            let mut random = [[Block::ZERO; 2]; 9];
            sender.send(ch, 24, &messages).unwrap();
            sender.random(ch, &mut random).unwrap();
            sender.open(ch).unwrap();
            random
        },
        |ch| {
            let mut receiver = Receiver::setup::<Csw>(ch, &SESSION, Backend::detect(), &mut rng(2)).unwrap();
            let got = receiver.receive(ch, 24, &choices).unwrap();
            for (j, choice) in choices.iter().map(usize::from).enumerate() {
                assert_eq!(got[j], messages[j][choice], "OT {j}");
            }
            receiver.random(ch, &Bits::zeros(9)).unwrap();
            receiver.open(ch).unwrap()
        },
    );
    let random = random.map(|pair| pair.map(|message| message.to_bytes().to_vec()));
    let expected: Vec<_> = messages.iter().map(|pair| pair.map(|message| message.to_vec())).chain(random).collect();
    assert_eq!(opened, expected);
}

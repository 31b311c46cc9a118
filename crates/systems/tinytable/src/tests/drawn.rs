//! Whether each secret is drawn: the masks of inputs, and of the outputs of gates by each party.

use comity_circuit::{Builder, Program};
use comity_core::Bits;
use comity_testing::laws::{clear, rng};

use super::{both, online, prepared};
use crate::kept::{Tables, TablesHead};
use crate::semi_honest::FORM;

const WIDTH: usize = 4096;

/// A product, bit by bit.
fn product() -> Program {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", WIDTH), b.input("y", WIDTH));
    let out: Vec<_> = x.into_iter().zip(y).map(|(x, y)| b.and(x, y)).collect();
    b.output("out", &out);
    Program::from_circuit(b.finish()).unwrap()
}

/// A party's masks of its input, its shares `t` and `r_o` of the gates' tables, and the masks of the outputs.
fn parts(kept: &[u8]) -> [Bits; 4] {
    let mut from = Tables::new(&FORM, Box::new(&kept[TablesHead::BYTES as usize..]));
    [(); 4].map(|()| from.bits(WIDTH).unwrap())
}

/// That these are as many ones as zeros, within six standard deviations.
fn balanced(bits: &Bits, what: &str) {
    let ones = bits.iter().filter(|bit| *bit).count();
    assert!(ones.abs_diff(WIDTH / 2) < 3 * 64, "{what}: {ones} ones of {WIDTH}");
}

fn sum(x: &Bits, y: &Bits) -> Bits {
    let mut sum = x.clone();
    sum.xor_assign(y);
    sum
}

#[test]
fn masks_are_drawn_by_each_party_and_anew() {
    let program = product();
    let runs = [1, 2].map(|seed| both(seed, |me| parts(&prepared(me, &program))));
    for party in 0..2 {
        let [one, other] = [&runs[0][party], &runs[1][party]];
        // The input's masks; t, which hides the product by the mask of the output; and the output's masks.
        for part in 0..4 {
            balanced(&one[part], "masks");
            balanced(&sum(&one[part], &other[part]), "masks of two runs");
        }
        assert!(sum(&runs[0][0][2], &runs[0][1][2]) == one[3], "a party learns the masks of its outputs");
        // The masks of outputs are not those of inputs.
        balanced(&sum(&one[0], &one[3]), "masks of inputs and outputs");
    }
    // The other party's shares of the outputs' masks are drawn, too: they are not this party's.
    balanced(&sum(&runs[0][0][0], &runs[0][1][0]), "masks of both parties");
}

/// A party whose generator is the same in two runs has other masks of outputs where the peer's is another
/// one: each party draws a share of them.
#[test]
fn each_party_draws_a_share_of_an_outputs_mask() {
    let program = product();
    let with = |seeds: [u128; 2]| {
        both(0, |me| {
            let mut rng = rng(100 + seeds[usize::from(me.me().0)]);
            let mut me = comity_protocol::Party { net: me.net, here: me.here, rng: &mut rng, observer: me.observer };
            parts(&prepared(&mut me, &program))
        })
    };
    let base = with([1, 2]);
    for (seeds, drawing) in [([3, 2], 0), ([1, 3], 1)] {
        let other = with(seeds);
        assert!(other[1 - drawing][0] == base[1 - drawing][0], "the input's mask is the party's own");
        balanced(&sum(&base[0][3], &other[0][3]), "masks of outputs");
    }
}

/// What leaves is as many ones as zeros, whatever the inputs are: masked inputs of zeros and of ones, and the
/// bits of the gates.
#[test]
fn what_is_heard_is_balanced() {
    let program = product();
    for ones in [false, true] {
        let values = [(); 2].map(|()| (0..WIDTH).map(|_| ones).collect::<Bits>());
        let sent = both(5, |me| {
            let tables = prepared(me, &program);
            let here = me.here;
            let ch = comity_channel::Recorded::new(me.net.pair().unwrap().1, 1 << 20);
            let recorder = ch.recorder();
            let mut net = comity_channel::Mesh::of_two(here.me, ch);
            let mut party = comity_protocol::Party { net: &mut net, here, rng: me.rng, observer: me.observer };
            assert_eq!(online(&mut party, &program, &values, &tables).unwrap().0, clear(&program, &values));
            drop(net);
            recorder.recording().sent
        });
        for sent in sent {
            assert_eq!(sent.len(), 2 * WIDTH / 8);
            sent.chunks(WIDTH / 8).for_each(|part| balanced(&Bits::from_bytes(part, WIDTH), "a message"));
        }
    }
}

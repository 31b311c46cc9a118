//! What is drawn is drawn: two runs of one session are held against each other.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use comity_field_shares::COMBINATIONS;

use super::*;

/// Values by name.
type Held = HashMap<&'static str, Vec<Vec<Block>>>;

/// All that party 0 holds by name, and all that it says, in a run in which its generator, and no other, has this seed.
fn held(seed: u128) -> (Held, Vec<Vec<u8>>) {
    let ends = Net::<3>::run(|mesh| {
        let me = mesh.me();
        let log = Arc::new(Mutex::new((Held::new(), Vec::new())));
        let (holds, says) = (log.clone(), log.clone());
        let conduct = Liar {
            holds: Box::new(move |what, values| {
                holds.lock().unwrap().0.entry(what).or_default().push(values.to_vec());
            }),
            talks: Box::new(move |act| {
                if let JointAct::Says { bytes, .. } = act {
                    says.lock().unwrap().1.push(bytes.clone());
                }
            }),
        };
        let mut rng = rng(if me.0 == 0 { seed } else { me.0.into() });
        let mut dealer = FieldDealer::with(mesh, here(mesh), &mut rng, conduct).unwrap();
        for _ in 0..2 {
            dealer.authenticated(mesh, &[Block::ONE; 2]).unwrap();
            dealer.triples(mesh, 3).unwrap();
            dealer.bits(mesh, 128, 128).unwrap();
            let (_, own) = dealer.masks(mesh, 2).unwrap();
            log.lock().unwrap().0.entry("own masks").or_default().push(own.to_vec());
        }
        drop(dealer);
        std::mem::take(&mut *log.lock().unwrap())
    });
    ends.into_iter().next().unwrap()
}

#[test]
fn each_secret_is_drawn_and_drawn_anew() {
    let (one, other) = (held(100), held(200));
    for name in ["key", "mask of inputs", "choices", "factor", "own masks"] {
        let mut seen = HashSet::new();
        for values in one.0[name].iter().chain(&other.0[name]).flatten() {
            assert!(seen.insert(values.to_u128()), "{name}: twice the same");
        }
        assert!(seen.len() >= 2, "{name}");
    }
    let mut seen = HashSet::new();
    for terms in one.0["bits"].iter().chain(&other.0["bits"]) {
        for of_128 in terms.chunks_exact(128) {
            let bits = of_128.iter().fold(0u128, |bits, bit| bits << 1 | bit.to_u128());
            assert!(seen.insert(bits), "the same 128 bits twice");
        }
    }
    assert!(seen.len() >= 8);
}

/// What three parties hold by name, who put in zeros, and bits that are zero but for those that mask sums.
fn held_of_zeros() -> Vec<Held> {
    Net::<3>::run(|mesh| {
        let log = Arc::new(Mutex::new(Held::new()));
        let held = log.clone();
        let conduct = Liar {
            holds: Box::new(move |what, values| {
                if what == "bits" {
                    let masks = values.len() - COMBINATIONS;
                    values[..masks].fill(Block::ZERO);
                }
                held.lock().unwrap().entry(what).or_default().push(values.to_vec());
            }),
            ..Liar::honest()
        };
        let mut dealer = FieldDealer::with(mesh, here(mesh), &mut rng(mesh.me().0.into()), conduct).unwrap();
        dealer.authenticated(mesh, &[Block::ZERO; 2]).unwrap();
        dealer.triples(mesh, 3).unwrap();
        dealer.bits(mesh, 3, 2).unwrap();
        drop(dealer);
        std::mem::take(&mut *log.lock().unwrap())
    })
    .into()
}

/// What opens is masked: the combination of what a party puts in by its `x_0`, `rho` by another combination of the same
/// factors, and sums of bits by bits that are dropped.
#[test]
fn what_opens_is_masked() {
    let all = held_of_zeros();
    for held in &all {
        assert!(held["combination of inputs"][0][0] != Block::ZERO, "a combination of zeros");
        for five in held["combined products"].iter().flat_map(|all| all.chunks(5)) {
            assert!(five[0] != five[3] && five[2] != five[4], "rho is a multiple of what it hides");
        }
    }
    let opened = (0..COMBINATIONS).map(|i| all.iter().fold(Block::ZERO, |sum, held| sum ^ held["sums of bits"][0][i]));
    let ones = opened.filter(|sum| *sum == Block::ONE).count();
    assert!((COMBINATIONS / 4..COMBINATIONS * 3 / 4).contains(&ones), "{ones} sums of zeros are one");
}

/// Nor is anything said in both runs but what is public: no message of 16 bytes or more.
#[test]
fn two_runs_have_no_message_in_common() {
    let theirs: HashSet<Vec<u8>> = held(200).1.into_iter().collect();
    let common = held(100).1.into_iter().filter(|message| message.len() >= 16 && theirs.contains(message)).count();
    assert_eq!(common, 0);
}

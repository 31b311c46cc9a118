//! When what leaves: a challenge after all that it decides on, shares of a check after all commitments.

use std::sync::Mutex;

use comity_channel::{Channel, Counted, Mesh};
use comity_testing::assert_waits;

use super::*;

/// What party 0 of three says, in which order, after its set-up; what is said again at once is there once.
fn said(then: impl Fn(&mut Dealer, &mut Mesh<'_>) -> Result<()> + Sync) -> Vec<&'static str> {
    let log = Arc::new(Mutex::new(Vec::new()));
    let conducts = |me: PartyId| {
        let (log, mut last) = (log.clone(), None);
        (me.0 == 0).then(|| {
            Liar::talks(move |act| match act {
                JointAct::Says { what, .. } if last != Some((what, true)) => {
                    log.lock().unwrap().push(what);
                    last = Some((what, true));
                }
                JointAct::Hears { what, .. } if last != Some((what, false)) => last = Some((what, false)),
                _ => {}
            })
        })
    };
    let ends = run::<3, _>(conducts, |dealer, mesh| {
        if mesh.me().0 == 0 {
            log.lock().unwrap().clear();
        }
        then(dealer, mesh)
    });
    assert!(ends.iter().all(|(_, ended)| ended.is_ok()));
    log.lock().unwrap().clone()
}

const COIN: [&str; 3] = ["commitments", "echo", "coin"];
const INPUTS: [&str; 5] = ["products with keys", "commitments", "echo", "coin", "combination of inputs"];
const CHECK: [&str; 7] = ["echo", "commitments", "echo", "coin", "commitments", "echo", "sigma"];

#[test]
fn every_coin_comes_after_what_it_decides_on() {
    let inputs = |dealer: &mut Dealer, mesh: &mut Mesh<'_>| dealer.authenticated(mesh, &[Block::ONE; 2]).map(drop);
    let inputs_said = said(inputs);
    assert_eq!(inputs_said, [&INPUTS[..], &CHECK].concat());
    let chunk = ["coin commitments", "corrections", "echo", "coin", "answer", "echo"];
    let triples = said(|dealer, mesh| dealer.triples(mesh, 2).map(drop));
    assert_eq!(triples, [&chunk[..], &["products"], &COIN, &INPUTS, &COIN, &["rho"], &CHECK].concat());
    let bits = said(|dealer, mesh| dealer.bits(mesh, 1, 1).map(drop));
    assert_eq!(bits, [&INPUTS[..], &COIN, &["sums of bits"], &CHECK].concat());
}

/// A party that puts in `own` elements, and its peer; with what it has heard and said when its set-up is done.
fn party(ch: &mut dyn Channel, me: u16, own: usize) -> Result<[usize; 2]> {
    let mut ch = Counted::new(ch);
    let counter = ch.counter();
    let mut mesh = Mesh::of_two(PartyId(me), &mut ch);
    let here = here(&mesh);
    let mut dealer = FieldDealer::<Block>::setup(&mut mesh, here, &mut rng(me.into()))?;
    let counts = counter.counts();
    dealer.authenticated(&mut mesh, &vec![Block::ZERO; own])?;
    Ok([counts.received, counts.sent].map(|bytes| bytes as usize))
}

/// Between two, to the byte.
#[test]
fn nothing_is_told_before_what_it_waits_for() {
    let marks = comity_testing::Pair::run(|ch| party(ch, 0, 2).unwrap(), |ch| party(ch, 1, 2).unwrap());
    // Three elements with the one that masks.
    let products = 3 * 32 * 16;
    let run = |me: u16| move |ch: &mut dyn Channel| party(ch, me, 2).map(drop);
    let [heard, said] = marks.0;
    // The first one commits, hears the other's seed, and opens; likewise its part of the check.
    let first = [("the seed of the coin", heard + products + 32, said + products + 32)];
    assert_waits(run(0), run(1), &first);
    let seed = said + products + 32 + 64 + 16;
    let second = [
        ("the seed of the check's coin", heard + products + 32 + 16 + 32, seed + 32),
        ("sigma", heard + products + 32 + 16 + 32 + 16, seed + 32 + 64 + 32),
    ];
    assert_waits(run(0), run(1), &second);
    let [heard, said] = marks.1;
    let messages = [
        ("the seed of the coin", heard + products + 32, said + products),
        ("the combination", heard + products + 32 + 64, said + products + 32),
    ];
    assert_waits(run(1), run(0), &messages);
}

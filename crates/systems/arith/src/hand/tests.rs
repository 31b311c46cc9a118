use comity_core::SessionId;
use comity_protocol::Here;
use comity_testing::Net;
use comity_testing::laws::rng;
use comity_testing::ot::DealtBaseOts;

use super::*;

/// The shares of zero before and after, of both parties.
#[test]
fn shares_are_new_and_of_the_same_words() {
    const N: usize = 100;
    let [(first, new_first), (second, new_second)] = Net::<2>::run(|net| {
        let here = Here::new(net.me(), 2, SessionId::new([3; 32]));
        let mut draw = rng(u128::from(here.me.0) + 1);
        let mut me = comity_protocol::Party { net, here, rng: &mut draw, observer: &mut () };
        let mut party = Party::setup_over::<DealtBaseOts>(&mut me, OtKind::SoftSpoken).unwrap();
        let words = party.constant(40, &[5; N]).unwrap();
        let new = party.reshare(&words).unwrap();
        (words.shares.to_vec(), new.shares.to_vec())
    });
    let sum = |x: &[u128], y: &[u128]| x.iter().zip(y).all(|(x, y)| (x + y) & word_mask(40) == 5);
    assert!(sum(&first, &second) && sum(&new_first, &new_second));
    let same = |x: &[u128], y: &[u128]| x.iter().zip(y).any(|(x, y)| x == y);
    assert!(!same(&first, &new_first) && !same(&second, &new_second));
}

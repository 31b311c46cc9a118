//! Seeds are drawn, follow from all that they should, and never come twice; triples are right.

use std::collections::HashSet;

use comity_core::{Block, Prg, Result};
use comity_protocol::Dealer;
use comity_share::BitTriples;
use comity_share::triples::TakenTriples;
use comity_testing::laws::rng;

use super::{backend, keys, parties, session};
use crate::keys::TokenKeys;
use crate::messages::{SeedOrder, SeedRequest};
use crate::seal::{RecipientKey, SeedUse, open};
use crate::seeds::product_share;
use crate::token::{FreshSeeds, MemoryToken, SeedCounter};
use crate::{HOLDER, HolderTriples, PartnerTriples, SeedLetter};

/// Numbers of a test.
pub(super) struct Counted<'n>(pub(super) &'n mut u64);

impl SeedCounter for Counted<'_> {
    fn next(&mut self) -> Result<u64> {
        *self.0 += 1;
        Ok(*self.0)
    }
}

/// The seeds of both parties that this token gives when its counter is at `number`, by this generator.
fn both(keys: &TokenKeys, mut number: u64, rng: &mut Prg) -> [Block; 2] {
    let order = SeedOrder::new(2, 1).unwrap();
    let (fresh, init) = FreshSeeds::init(keys, &mut Counted(&mut number), order, backend(), rng).unwrap();
    let key = RecipientKey::draw(&mut comity_testing::laws::rng(3));
    let request = SeedRequest { session: session(1), recipients: vec![*key.public()] };
    let answer = fresh.set_up(keys, &request, rng).unwrap();
    let for_ =
        SeedUse { session: session(1), party: 1, parties: 2, recipient: *key.public(), triples: order.triples() };
    let letter = SeedLetter { introduction: init.introduction, counter: init.counter, sealed: answer.sealed[0] };
    [Block::new(*answer.seed), open(&letter, None, &for_, key).unwrap()]
}

#[test]
fn seeds_follow_from_key_counter_and_what_is_drawn() {
    let (one, other) = (keys(1), keys(2));
    let all = [
        both(&one, 0, &mut rng(1)),
        // Another token, another number, another draw.
        both(&other, 0, &mut rng(1)),
        both(&one, 1, &mut rng(1)),
        both(&one, 0, &mut rng(2)),
    ];
    let different: HashSet<[u8; 16]> = all.as_flattened().iter().map(|seed| seed.to_bytes()).collect();
    assert_eq!(different.len(), 8, "seeds of one party are those of another, or do not depend on all that they should");
    assert_eq!(both(&one, 0, &mut rng(1)), all[0]);
}

#[test]
fn a_folder_that_was_put_back_repeats_no_seed() {
    let keys = keys(3);
    // The counter begins anew each time; the system's randomness does not.
    let mut system = rng(4);
    let mut seen = HashSet::new();
    for _ in 0..100 {
        for seed in both(&keys, 7, &mut system) {
            assert!(seen.insert(seed.to_bytes()), "a seed comes twice");
        }
    }
}

#[test]
fn keys_are_drawn() {
    let public = |number| *keys(number).introduction().token();
    assert_ne!(public(1), public(2));
    let recipient = |number| *RecipientKey::draw(&mut rng(number)).public();
    assert_ne!(recipient(1), recipient(2));
    let token = |number| *MemoryToken::new(backend(), &mut rng(number)).introduction().token();
    assert_ne!(token(1), token(2));
}

#[test]
fn a_session_gets_new_keys_and_seeds_each_time() {
    let [a, b] = parties::<2, _>(|me| {
        let mut heard = Vec::new();
        let mut dealer = dealer(me);
        for _ in 0..3 {
            let mut taken = TakenTriples::default();
            dealer.deal(me.net, 128).unwrap().take(128, &mut taken);
            heard.push([taken.a, taken.b, taken.c].map(|shares| shares.words().to_vec()));
        }
        heard
    });
    let strings: HashSet<&Vec<u64>> = [&a, &b].into_iter().flatten().flatten().collect();
    assert_eq!(strings.len(), 18, "strings of shares are alike");
}

fn dealer(me: &mut comity_protocol::Party<'_, '_>) -> Box<dyn Dealer<Batch = BitTriples>> {
    if me.me() == HOLDER {
        let token = MemoryToken::new(backend(), me.rng);
        return Box::new(HolderTriples::new(me, Box::new(token)));
    }
    Box::new(PartnerTriples::new(me, None))
}

/// Opens triples of `N` parties: only tests do.
fn opened<const N: usize>(count: usize) {
    let shares = parties::<N, _>(|me| {
        let mut triples = dealer(me).deal(me.net, count).unwrap();
        assert!(triples.len() >= count && triples.len() < count + 128);
        let mut taken = TakenTriples::default();
        triples.take(count, &mut taken);
        taken
    });
    let sum = |of: fn(&TakenTriples) -> &comity_share::bits::BitShares| -> Vec<u64> {
        let words = (0..count.div_ceil(64)).map(|at| shares.iter().fold(0, |sum, one| sum ^ of(one).words()[at]));
        words.collect()
    };
    let (a, b, c) = (sum(|t| &t.a), sum(|t| &t.b), sum(|t| &t.c));
    assert!(a.iter().zip(&b).zip(&c).all(|((a, b), c)| a & b == *c), "{count} triples among {N} are wrong");
    if count >= 1 << 16 {
        // Balanced, and a independent of b, within six standard deviations.
        let ones = |words: &[u64]| words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>() as f64;
        let all = count as f64;
        for (words, share) in [(&a, 0.5), (&b, 0.5), (&c, 0.25)] {
            assert!((ones(words) - share * all).abs() < 6.0 * (all / 4.0).sqrt(), "{}", ones(words));
        }
        for own in shares.iter().flat_map(|t| [t.a.words(), t.b.words(), t.c.words()]) {
            assert!((ones(own) - all / 2.0).abs() < 6.0 * (all / 4.0).sqrt(), "{}", ones(own));
        }
    }
}

#[test]
fn triples_multiply() {
    for count in [1, 127, 128, 129, 5000, 1 << 17] {
        opened::<2>(count);
        opened::<3>(count);
    }
    opened::<5>(1000);
    opened::<16>(1000);
}

#[test]
fn every_backend_makes_the_same_products() {
    let seeds = [1, 2, 3].map(Block::from_u128);
    let mut all = comity_core::Backend::available().into_iter().map(|backend| product_share(backend, &seeds, 1300));
    let first = all.next().unwrap();
    assert!(all.all(|other| *other == *first));
}

//! A token and its parties: a holder who says anything to a token, and a letter with a seed that may be
//! anything.

use comity_core::{Backend, Result, SessionId};
use comity_token::{
    FreshSeeds, Introduction, RecipientKey, SeedAnswer, SeedCounter, SeedLetter, SeedOrder, SeedRequest, SeedUse,
    TokenKeys, fingerprint, open, serve_holder,
};

use crate::mutate::rng;
use crate::peer::Script;

struct Numbers(u64);

impl SeedCounter for Numbers {
    fn next(&mut self) -> Result<u64> {
        self.0 += 1;
        Ok(self.0)
    }
}

fn keys() -> TokenKeys {
    TokenKeys::new(&TokenKeys::draw(&mut rng()))
}

/// A token against a holder who says anything.
pub(crate) fn token_holder(data: &[u8]) {
    // A large order is long work, and no other code.
    let small = |order: &[u8; SeedOrder::BYTES]| SeedOrder::from_bytes(order).is_ok_and(|order| order.rows() > 64);
    if data.first_chunk().is_some_and(small) {
        return;
    }
    let numbers = &mut Numbers(0);
    let served = serve_holder(&mut Script(data), &keys(), numbers, Backend::detect(), &mut rng());
    assert!(served.unwrap_or(0) <= numbers.0, "more set-ups than seeds");
}

fn recipient() -> (SeedUse, RecipientKey) {
    let key = RecipientKey::draw(&mut rng());
    let session = SessionId::new([3; 32]);
    (SeedUse { session, party: 1, parties: 2, recipient: *key.public(), triples: 128 }, key)
}

/// Another party's letter, which opens if it is just as the token made it.
pub(crate) fn token_letter(data: &[u8]) {
    let Ok(bytes) = data.try_into() else { return };
    let letter = SeedLetter::from_bytes(bytes);
    assert_eq!(letter.to_bytes(), *bytes, "one letter, one form");
    let (for_, key) = recipient();
    let known = fingerprint(keys().introduction().token());
    if open(&letter, Some(known), &for_, key).is_ok() {
        assert!(*bytes == self::letter(&for_), "a seed that the token did not seal");
    }
}

/// What the holder asks of the token, and the letter that it hands on.
fn honest(for_: &SeedUse) -> ([u8; SeedOrder::BYTES], Vec<u8>, SeedLetter) {
    let (keys, order) = (keys(), SeedOrder::new(2, 128).expect("two parties"));
    let (fresh, init) =
        FreshSeeds::init(&keys, &mut Numbers(0), order, Backend::detect(), &mut rng()).expect("a token makes seeds");
    let request = SeedRequest { session: for_.session, recipients: vec![for_.recipient] };
    let answer = fresh.set_up(&keys, &request, &mut rng()).expect("a key that can be sealed to");
    let letter = SeedLetter { introduction: init.introduction, counter: init.counter, sealed: answer.sealed[0] };
    assert!(SeedAnswer::from_bytes(&answer.to_bytes(), 2).is_ok());
    (order.to_bytes(), request.to_bytes(), letter)
}

fn letter(for_: &SeedUse) -> [u8; SeedLetter::BYTES] {
    honest(for_).2.to_bytes()
}

pub(crate) fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let (order, request, letter) = honest(&recipient().0);
    let twice = [&order[..], &request, &order, &request].concat();
    let mut of_nobody = order;
    of_nobody[8] = 0;
    let letter = letter.to_bytes();
    let mut flipped = letter;
    flipped[Introduction::BYTES + 20] ^= 1;
    vec![
        ("token_holder", "two_orders", twice.clone()),
        ("token_holder", "cut", twice[..30].to_vec()),
        ("token_holder", "set_up_twice", [&order[..], &request, &request].concat()),
        ("token_holder", "for_nobody", of_nobody.to_vec()),
        ("token_letter", "valid", letter.to_vec()),
        ("token_letter", "flipped", flipped.to_vec()),
        ("token_letter", "cut", letter[..200].to_vec()),
        ("token_letter", "zeros", vec![0; SeedLetter::BYTES]),
    ]
}

#[cfg(test)]
mod tests {
    use comity_core::Block;

    use super::*;

    #[test]
    fn honest_seeds_go_to_their_end() {
        let (order, request, letter) = honest(&recipient().0);
        let said = [&order[..], &request].concat();
        let mut script = Script(&said);
        let served = serve_holder(&mut script, &keys(), &mut Numbers(0), Backend::detect(), &mut rng());
        assert_eq!(served.expect("an honest holder"), 1);
        let (for_, key) = recipient();
        let seed: Block = open(&letter, None, &for_, key).expect("an honest letter");
        assert_ne!(seed, Block::ZERO);
    }
}

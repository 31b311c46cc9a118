//! Each lie about a seed, and the check that names it.

use comity_channel::{Channel, memory};
use comity_core::{Block, Check, Error, Kind, PartyId, Result};
use comity_protocol::Dealer;
use comity_testing::laws::rng;

use super::{backend, keys, parties, session};
use crate::checks::{OTHER_TOKEN, WRONG_CERTIFICATE, WRONG_SEAL, WRONG_SIGNATURE};
use crate::keys::{Introduction, SigningKey, TokenSigner, fingerprint};
use crate::messages::{SeedAnswer, SeedInit, SeedLetter, SeedOrder, SeedRequest};
use crate::seal::{RecipientKey, SeedUse, open, seal};
use crate::token::{MemoryToken, TokenAccess};
use crate::{HolderTriples, PartnerTriples, TokenLine, serve_holder};

const TRIPLES: usize = 1000;

/// A party that waits for its seed.
struct Recipient {
    for_: SeedUse,
    key: RecipientKey,
}

impl Recipient {
    /// The recipient that is party `party` of `parties` in session `number`.
    fn new(number: u8, party: u16, parties: u16) -> Recipient {
        let key = RecipientKey::draw(&mut rng(u128::from(number) << 16 | u128::from(party)));
        let triples = SeedOrder::new(parties, TRIPLES).unwrap().triples();
        Recipient { for_: SeedUse { session: session(number), party, parties, recipient: *key.public(), triples }, key }
    }

    /// Opens a letter, from a token of which it knows this fingerprint.
    fn open(self, letter: &SeedLetter, known: Option<[u8; 32]>) -> Result<Block> {
        open(letter, known, &self.for_, self.key)
    }
}

fn token(number: u128) -> MemoryToken {
    MemoryToken::new(backend(), &mut rng(number))
}

/// The letters to these recipients, who are all parties but party 0.
fn letters(token: &mut MemoryToken, recipients: &[Recipient]) -> Vec<SeedLetter> {
    let init = token.init(SeedOrder::new(recipients.len() as u16 + 1, TRIPLES).unwrap()).unwrap();
    let keys = recipients.iter().map(|recipient| recipient.for_.recipient).collect();
    let answer = token.set_up(&SeedRequest { session: recipients[0].for_.session, recipients: keys }).unwrap();
    let letter = |sealed| SeedLetter { introduction: init.introduction, counter: init.counter, sealed };
    answer.sealed.into_iter().map(letter).collect()
}

fn only(number: u8) -> Recipient {
    Recipient::new(number, 1, 2)
}

/// The letter of a token to party 1 of two, in the session of this number.
fn letter(token: &mut MemoryToken, number: u8) -> SeedLetter {
    letters(token, &[only(number)])[0]
}

fn known(token: &MemoryToken) -> Option<[u8; 32]> {
    Some(fingerprint(token.introduction().token()))
}

/// All cheats: the checks that they are caught by.
pub(super) fn all() -> Vec<&'static Check> {
    let cheats = [
        flipped_introduction(),
        flipped_certificate(),
        flipped_seed(),
        replayed(),
        for_another_recipient(),
        asked_by_the_holder(),
        swapped(),
        of_another_token(),
        of_another_issuer(),
        other_number_of_triples(),
        signed_garbage(),
    ];
    cheats.into_iter().map(|cheat| cheat.check().unwrap_or_else(|| panic!("{cheat}"))).collect()
}

fn flipped_at(at: usize, any: bool) -> Error {
    let mut token = token(1);
    let mut bytes = letter(&mut token, 1).to_bytes();
    bytes[at] ^= 4;
    let known = known(&token).filter(|_| !any);
    only(1).open(&SeedLetter::from_bytes(&bytes), known).unwrap_err()
}

fn flipped_introduction() -> Error {
    flipped_at(3, false)
}

fn flipped_certificate() -> Error {
    flipped_at(Introduction::BYTES - 1, false)
}

fn flipped_seed() -> Error {
    flipped_at(Introduction::BYTES + 8 + 40, false)
}

/// A letter of an earlier session.
fn replayed() -> Error {
    let mut token = token(2);
    let (letter, again) = (letter(&mut token, 1), only(2));
    // The key is the same: it is the session that differs.
    let for_ = SeedUse { recipient: *only(1).key.public(), ..again.for_ };
    open(&letter, known(&token), &for_, only(1).key).unwrap_err()
}

/// The letter of one recipient, handed on to another one of the same session.
fn for_another_recipient() -> Error {
    let mut token = token(3);
    let letter = letter(&mut token, 1);
    let key = RecipientKey::draw(&mut rng(77));
    open(&letter, known(&token), &SeedUse { recipient: *key.public(), ..only(1).for_ }, key).unwrap_err()
}

/// The holder names a key of its own in the place of its partner's: it can open the seed, and the partner
/// takes it for nothing.
fn asked_by_the_holder() -> Error {
    let mut token = token(4);
    let holders = RecipientKey::draw(&mut rng(78));
    let init = token.init(SeedOrder::new(2, TRIPLES).unwrap()).unwrap();
    let partner = only(1);
    let request = SeedRequest { session: partner.for_.session, recipients: vec![*holders.public()] };
    let sealed = token.set_up(&request).unwrap().sealed[0];
    let letter = SeedLetter { introduction: init.introduction, counter: init.counter, sealed };
    let error = partner.open(&letter, known(&token)).unwrap_err();
    // So the seed is spent, and no other session gets it.
    let own = SeedUse { recipient: *holders.public(), ..only(1).for_ };
    open(&letter, known(&token), &own, holders).unwrap();
    assert!(token.set_up(&request).err().unwrap().to_string().contains("not spent"));
    error
}

/// Parties 1 and 2 get each other's.
fn swapped() -> Error {
    let mut token = token(5);
    let recipients = || [Recipient::new(1, 1, 3), Recipient::new(1, 2, 3)];
    let letters = letters(&mut token, &recipients());
    let [one, two] = recipients();
    let errors = [one.open(&letters[1], known(&token)), two.open(&letters[0], known(&token))].map(Result::unwrap_err);
    assert_eq!(errors[0].check(), errors[1].check());
    let [error, _] = errors;
    error
}

fn of_another_token() -> Error {
    only(1).open(&letter(&mut token(6), 1), known(&token(7))).unwrap_err()
}

/// The issuer is known, and the certificate is one that another issuer made.
fn of_another_issuer() -> Error {
    let (keys, issuer, other) = (keys(8), SigningKey::new(&[1; 32]), SigningKey::new(&[2; 32]));
    let mut bytes = Introduction::issued(&other, *keys.introduction().token()).unwrap().to_bytes();
    bytes[32..64].copy_from_slice(&issuer.public());
    Introduction::from_bytes(&bytes).check(Some(fingerprint(&issuer.public()))).unwrap_err()
}

fn other_number_of_triples() -> Error {
    let mut token = token(9);
    let (letter, recipient) = (letter(&mut token, 1), only(1));
    let for_ = SeedUse { triples: recipient.for_.triples + 128, ..recipient.for_ };
    open(&letter, known(&token), &for_, recipient.key).unwrap_err()
}

/// The token itself is at fault: what it signs was sealed for something else.
fn signed_garbage() -> Error {
    let (keys, recipient) = (keys(10), only(1));
    let mut sealed = seal(&recipient.for_, 3, Block::from_u128(5), keys.signing(), &mut rng(1)).unwrap();
    sealed.sealed[40] ^= 1;
    sealed.signature = keys.signing().sign(&recipient.for_.signed_text(3, &sealed.sealed)).unwrap();
    let letter = SeedLetter { introduction: *keys.introduction(), counter: 3, sealed };
    recipient.open(&letter, None).unwrap_err()
}

#[test]
fn each_lie_is_refused_by_its_name() {
    for cheat in [flipped_introduction, flipped_certificate] {
        assert_eq!(cheat().check(), Some(WRONG_CERTIFICATE));
    }
    for cheat in [flipped_seed, replayed, for_another_recipient, asked_by_the_holder, swapped, other_number_of_triples]
    {
        assert_eq!(cheat().check(), Some(WRONG_SIGNATURE));
    }
    assert_eq!(of_another_token().check(), Some(OTHER_TOKEN));
    assert_eq!(of_another_issuer().check(), Some(WRONG_CERTIFICATE));
    assert_eq!(signed_garbage().check(), Some(WRONG_SEAL));
}

#[test]
fn every_bit_of_a_letter_matters() {
    for at in 0..SeedLetter::BYTES {
        for any in [false, true] {
            let check = flipped_at(at, any).check();
            // A token that nobody issued is known by both of its keys: a flip of one leaves the other.
            let wanted = if at < Introduction::BYTES { WRONG_CERTIFICATE } else { WRONG_SIGNATURE };
            assert_eq!(check, Some(wanted), "byte {at}, any token: {any}");
        }
    }
}

#[test]
fn an_honest_letter_opens_and_an_issuers_fingerprint_will_do() {
    let mut token = token(11);
    let letter = letter(&mut token, 1);
    only(1).open(&letter, known(&token)).unwrap();
    only(1).open(&letter, None).unwrap();
    let (keys, issuer, recipient) = (keys(12), SigningKey::new(&[3; 32]), only(1));
    let sealed = seal(&recipient.for_, 3, Block::from_u128(5), keys.signing(), &mut rng(1)).unwrap();
    let introduction = Introduction::issued(&issuer, *keys.introduction().token()).unwrap();
    let letter = SeedLetter { introduction, counter: 3, sealed };
    assert_eq!(recipient.open(&letter, Some(fingerprint(&issuer.public()))).unwrap(), Block::from_u128(5));
    assert_eq!(*keys.introduced(introduction).unwrap().introduction(), introduction);
    assert!(super::keys(13).introduced(introduction).is_err(), "it is another token's");
}

/// What a holder says to a token, the error of the token, and what the holder hears of it.
fn at_the_token(holder: impl FnOnce(&mut dyn Channel) -> Result<()> + Send) -> (Result<u64>, Result<()>) {
    let (mut here, mut there) = memory::pair();
    let (keys, mut next) = (keys(14), 0);
    std::thread::scope(|scope| {
        let served = scope.spawn(move || {
            let counter = &mut super::seeds::Counted(&mut next);
            serve_holder(&mut there, &keys, counter, backend(), &mut rng(2))
        });
        let heard = holder(&mut here);
        drop(here);
        (served.join().unwrap(), heard)
    })
}

#[test]
fn a_token_says_what_it_refuses_and_the_holder_sees_a_closed_line() {
    let order = SeedOrder::new(2, TRIPLES).unwrap();
    let request = || SeedRequest { session: session(1), recipients: vec![*only(1).key.public()] };
    // Two set-ups of the same seeds.
    let (served, heard) = at_the_token(|ch| {
        let mut line = TokenLine::new(ch);
        line.init(order)?;
        line.set_up(&request())?;
        line.set_up(&request()).map(drop)
    });
    let error = served.unwrap_err();
    assert!(matches!(error.kind, Kind::Malformed(_)) && error.to_string().contains("second set-up"), "{error}");
    let error = heard.unwrap_err();
    assert!(matches!(error.kind, Kind::Store(_)) && error.to_string().contains("closed the line"), "{error}");
    // A set-up before an init, and bytes that are no order.
    let (served, _) = at_the_token(|ch| {
        ch.send(&request().to_bytes())?;
        ch.flush()
    });
    assert!(matches!(served.unwrap_err().kind, Kind::Malformed(_)));
    for (at, byte, why) in
        [(8, 1, "two to 16"), (8, 17, "two to 16"), (13, 1, "131072 rows"), (0, 0, "another version")]
    {
        let (served, _) = at_the_token(|ch| {
            let mut bytes = order.to_bytes();
            bytes[at] = byte;
            ch.send(&bytes)?;
            ch.flush()
        });
        let error = served.unwrap_err();
        assert!(matches!(error.kind, Kind::Malformed(_)) && error.to_string().contains(why), "{error}");
    }
    // A key that nothing can be sealed to.
    let (served, _) = at_the_token(|ch| {
        let mut line = TokenLine::new(ch);
        line.init(order)?;
        line.set_up(&SeedRequest { recipients: vec![[0; 32]], ..request() }).map(drop)
    });
    let error = served.unwrap_err();
    assert!(matches!(error.kind, Kind::Malformed(_)) && error.to_string().contains("party 1"), "{error}");
    // A holder that goes, before and after the init.
    assert_eq!(at_the_token(|_| Ok(())).0.unwrap(), 0);
    assert_eq!(at_the_token(|ch| TokenLine::new(ch).init(order).map(drop)).0.unwrap(), 0);
}

/// A token that lies about the ciphertext.
struct Lying(MemoryToken);

impl TokenAccess for Lying {
    fn init(&mut self, order: SeedOrder) -> Result<SeedInit> {
        self.0.init(order)
    }

    fn set_up(&mut self, request: &SeedRequest) -> Result<SeedAnswer> {
        let mut answer = self.0.set_up(request)?;
        answer.sealed[0].sealed[50] ^= 1;
        Ok(answer)
    }
}

#[test]
fn a_refused_seed_ends_the_session_of_its_party() {
    let [_, refused] = parties::<2, _>(|me| match me.me() {
        PartyId(0) => {
            let token = Lying(MemoryToken::new(backend(), me.rng));
            HolderTriples::new(me, Box::new(token)).deal(me.net, TRIPLES).map(drop)
        }
        _ => PartnerTriples::new(me, None).deal(me.net, TRIPLES).map(drop),
    });
    let error = refused.unwrap_err();
    assert_eq!((error.check(), error.party), (Some(WRONG_SIGNATURE), Some(PartyId(0))));
}

/// What stands at the place of a holder's token is found out by a holder that knows it, before a letter leaves:
/// another token, and one that shows the known token's introduction and cannot sign as it does.
#[test]
fn a_holder_that_knows_its_token_takes_no_other() {
    struct Showing(MemoryToken, Introduction);

    impl TokenAccess for Showing {
        fn init(&mut self, order: SeedOrder) -> Result<SeedInit> {
            Ok(SeedInit { introduction: self.1, ..self.0.init(order)? })
        }

        fn set_up(&mut self, request: &SeedRequest) -> Result<SeedAnswer> {
            self.0.set_up(request)
        }
    }

    let real = token(5);
    let holder = |standing: fn(Introduction) -> Box<dyn TokenAccess>, known: Option<[u8; 32]>| {
        let [held, partner] = parties::<2, _>(|me| match me.me() {
            PartyId(0) => {
                let dealer = HolderTriples::new(me, standing(*real.introduction())).knowing(known);
                { dealer }.deal(me.net, TRIPLES).map(drop)
            }
            _ => PartnerTriples::new(me, None).deal(me.net, TRIPLES).map(drop),
        });
        (held, partner)
    };
    let refused = |standing, words: &str| {
        let (held, partner) = holder(standing, known(&real));
        let error = held.unwrap_err();
        assert!(matches!(&error.kind, Kind::Store(why) if why.contains(words)) && error.party.is_none(), "{error}");
        assert!(matches!(partner.unwrap_err().kind, Kind::Closed), "nothing was handed on");
    };
    refused(|_| Box::new(token(6)), "another token");
    refused(|introduction| Box::new(Showing(token(6), introduction)), "did not sign");
    let (held, partner) = holder(|_| Box::new(token(5)), known(&real));
    assert!(held.is_ok() && partner.is_ok());
    // A holder that was told nothing takes what it gets.
    assert!(holder(|_| Box::new(token(6)), None).0.is_ok());
}

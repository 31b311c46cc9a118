//! OTs from a shelf: what they give, what is drawn for them, and bytes that are no batch.

use std::collections::HashSet;

use comity_channel::Mesh;
use comity_core::Kind;
use comity_testing::laws::{bits, rng};
use comity_testing::ot::DealtBaseOts;
use comity_testing::{Kept, Net};

use super::*;

fn here(net: &Mesh<'_>, session: &str) -> Here {
    Here::new(net.me(), 2, SessionId::derive(session, &[]))
}

/// Batches of a lot that is made in this session, with generators from a seed.
fn made(net: &mut Mesh<'_>, material: OtMaterial, session: &str, seed: u128, batches: usize) -> Vec<Vec<u8>> {
    let here = here(net, session);
    let mut draw = rng(seed << 1 | u128::from(here.me.0));
    let mut me = Party { net, here, rng: &mut draw, observer: &mut () };
    let mut maker = OtMaker::setup::<DealtBaseOts>(&mut me, material, OtKind::SoftSpoken).unwrap();
    let batch = |_| {
        let mut bytes = Vec::new();
        maker.write(&mut me, &mut bytes).unwrap();
        assert!(bytes.len() as u64 <= material.batch_bytes());
        bytes
    };
    (0..batches).map(batch).collect()
}

/// The batches of both parties.
fn made_by_both(material: OtMaterial, session: &str, seed: u128, batches: usize) -> [Vec<Vec<u8>>; 2] {
    Net::<2>::run(|net| made(net, material, session, seed, batches))
}

#[test]
fn a_receiver_gets_what_it_chose_over_more_than_a_batch() {
    // Raw, hashed, and raw again.
    const COUNTS: [usize; 3] = [OT_BATCH - 5, 77, OT_BATCH];
    for material in OtMaterial::ALL {
        let made = made_by_both(material, "lot", 1, 3);
        let all: Vec<Bits> = COUNTS.iter().map(|count| bits(*count, &mut rng(*count as u128))).collect();
        let ends = Net::<2>::run(|net| {
            let here = here(net, "run");
            let mut shelf = Kept::new(material.name(), made[usize::from(here.me.0)].clone());
            let stored = Stored::open(&mut shelf, material, &here).unwrap();
            let delta = stored.delta();
            let (mut way, ch) = (stored.way(), net.pair().unwrap().1);
            let [first, _, last] = COUNTS.map(|count| vec![Block::ZERO; count]);
            match &mut way {
                Way::Out(sender) => {
                    let [mut first, mut last] = [first, last];
                    let mut pairs = Vec::new();
                    sender.labels(ch, &mut first).unwrap();
                    sender.pairs(ch, COUNTS[1], &mut |next| pairs.extend_from_slice(next)).unwrap();
                    sender.labels(ch, &mut last).unwrap();
                    let both = |zeros: Vec<Block>| zeros.iter().map(|zero| [*zero, *zero ^ delta.unwrap()]).collect();
                    [both(first), pairs, both(last)]
                }
                Way::In(receiver) => {
                    let [mut first, mut hashed, mut last] = [first, Vec::new(), last];
                    receiver.labels(ch, &all[0], &mut first).unwrap();
                    receiver.messages(ch, &all[1], &mut |next| hashed.extend_from_slice(next)).unwrap();
                    receiver.labels(ch, &all[2], &mut last).unwrap();
                    [first, hashed, last].map(|blocks| blocks.iter().map(|block| [*block; 2]).collect())
                }
            }
        });
        let sender = usize::from(material.sender().0);
        let mut used = HashSet::new();
        for ((pairs, got), choices) in ends[sender].iter().zip(&ends[1 - sender]).zip(&all) {
            for ((pair, got), choice) in pairs.iter().zip(got).zip(choices.iter()) {
                assert!(pair[usize::from(choice)] == got[0] && pair[0] != pair[1]);
                assert!(used.insert(pair[0].to_u128()), "an OT is used once");
            }
        }
    }
}

/// Delta and the choice bits are drawn for each lot; a receiver tells its bits under random ones.
#[test]
fn what_is_drawn_is_drawn() {
    let [one, other] = [1, 2].map(|seed| made_by_both(OtMaterial::First, "lot", seed, 2));
    // Behind the form, the numbers and the lot.
    let head = BatchForm::BEGINNING + 2 + SessionId::BYTES;
    let delta = |batch: &[u8]| batch[head..head + Block::BYTES].to_vec();
    assert_eq!(delta(&one[0][0]), delta(&one[0][1]), "a lot has one delta");
    assert_ne!(delta(&one[0][0]), delta(&other[0][0]));
    let choices = |batch: &[u8]| Bits::from_bytes(&batch[head..], OT_BATCH);
    let mut drawn = [&one[1][0], &one[1][1], &other[1][0]].map(|batch| choices(batch));
    let told = Net::<2>::run(|net| {
        let here = here(net, "run");
        let mut shelf = Kept::new("", one[usize::from(here.me.0)].clone());
        let mut stored = Stored::open(&mut shelf, OtMaterial::First, &here).unwrap();
        let (ch, mut blocks) = (net.pair().unwrap().1, vec![Block::ZERO; OT_BATCH]);
        let mut told = vec![0; OT_BATCH / 8];
        match here.me {
            PartyId(0) => ch.recv(&mut told).unwrap(),
            _ => Receives::labels(&mut stored, ch, &Bits::zeros(OT_BATCH), &mut blocks).unwrap(),
        }
        Bits::from_bytes(&told, OT_BATCH)
    });
    assert!(told[0] == drawn[0], "zeros under the choice bits of the batch");
    let [first, second, third] = &mut drawn;
    second.xor_assign(first);
    third.xor_assign(first);
    for drawn in [first, second, third] {
        let ones = drawn.iter().filter(|bit| *bit).count();
        // Six standard deviations.
        assert!(ones.abs_diff(OT_BATCH / 2) < 384, "{ones} ones of {OT_BATCH}");
    }
}

#[test]
fn what_is_no_batch_is_refused() {
    let [good, theirs] = made_by_both(OtMaterial::First, "lot", 1, 1);
    let [other_lot, _] = made_by_both(OtMaterial::First, "another lot", 1, 1);
    let (good, theirs, other_lot) = (&good[0], &theirs[0], &other_lot[0]);
    let opened = |batches: &[&[u8]], me: u16, material: OtMaterial| -> Result<()> {
        let mut shelf = Kept::new("", batches.iter().map(|batch| batch.to_vec()));
        let here = Here { me: PartyId(me), ..Net::<2>::run(|net| here(net, "run"))[0] };
        let mut stored = Stored::open(&mut shelf, material, &here)?;
        (1..batches.len()).try_for_each(|_| stored.next())
    };
    let refused = |batches: &[&[u8]], me: u16, material: OtMaterial, words: &str| {
        let why = opened(batches, me, material).unwrap_err();
        assert!(matches!(&why.kind, Kind::Store(why) if why.contains(words)), "{words}: {why}");
    };
    opened(&[good, good], 0, OtMaterial::First).unwrap();
    refused(&[theirs], 0, OtMaterial::First, "not party 0's of OTs from party 0");
    refused(&[good], 1, OtMaterial::First, "not party 1's of OTs from party 0");
    refused(&[good], 0, OtMaterial::Second, "not party 0's of OTs from party 1");
    refused(&[good, other_lot], 0, OtMaterial::First, "of another lot");
    refused(&[&[&good[..], &[0]].concat()], 0, OtMaterial::First, "more bytes");
    let mut even = good.clone();
    even[BatchForm::BEGINNING + 2 + SessionId::BYTES] &= 0xfe;
    refused(&[&even], 0, OtMaterial::First, "its delta");
    let mut version = good.clone();
    version[15] ^= 1;
    refused(&[&version], 0, OtMaterial::First, "as one of this version");
    for len in [0, 15, 17, 49, 65, 1000, good.len() - 1] {
        refused(&[&good[..len]], 0, OtMaterial::First, "cannot be read");
    }
    let none = opened(&[], 0, OtMaterial::First).unwrap_err();
    assert!(matches!(&none.kind, Kind::InvalidInput(why) if why.contains("no batch of OTs from party 0 is left")));
}

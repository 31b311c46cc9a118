//! Lies that the paper's proof names, each by one party, and the check that sees it.

use comity_field_shares::TREE;
use comity_field_shares::checks::{FALSE_MAC, MAC_OPENING, NOT_A_BIT};
use comity_ot::checks::INCONSISTENT_TREE;
use comity_share::checks::{COIN_OPENING, EQUIVOCATION};

use super::*;

const CHANGE: Block = Block::from_u128(0x5a17 << 100 | 0x61);

type Lies = fn() -> Liar;

/// Everything that a dealer makes: one lie is somewhere in it.
fn all(dealer: &mut Dealer, mesh: &mut Mesh<'_>) -> Result<()> {
    let own = [Block::from_u128(5); 3];
    let made = dealer
        .authenticated(mesh, &own)
        .and_then(|_| dealer.triples(mesh, 2))
        .and_then(|_| dealer.bits(mesh, 3, 2))
        .map(drop);
    if made.is_err() {
        // What is under the key ended with it.
        assert!(dealer.key().element() == Block::ZERO);
        assert!(dealer.authenticated(mesh, &own).is_err() && dealer.triples(mesh, 1).is_err());
        assert!(dealer.bits(mesh, 1, 0).is_err());
    }
    made
}

/// Trees of a product, one for each four digits.
const TREES: usize = 128 / TREE;

/// One tree's part of a message with the same number of elements for each tree.
fn tree(bytes: &mut [u8], tree: usize) -> &mut [u8] {
    let row = bytes.len() / TREES;
    &mut bytes[row * (TREES - 1 - tree)..][..row]
}

/// Lies that are seen however many parties there are, and by which check.
fn lies() -> Vec<(&'static str, &'static Check, Lies)> {
    vec![
        ("other elements in some digits of a product with a key", FALSE_MAC, || {
            Liar::says(
                "products with keys",
                |peer| peer.0 == 0,
                |bytes| {
                    (5..20).for_each(|i| tree(bytes, i)[16] ^= 1);
                },
            )
        }),
        ("another element in all digits of a product with a key", FALSE_MAC, || {
            Liar::says(
                "products with keys",
                |peer| peer.0 == 0,
                |bytes| {
                    (0..TREES).for_each(|i| tree(bytes, i)[16] ^= 1);
                },
            )
        }),
        ("another combination of what it put in", FALSE_MAC, || {
            Liar::holds("combination of inputs", |y| y[0] ^= CHANGE)
        }),
        ("another factor than the one that it puts in", FALSE_MAC, || Liar::holds("factor", |b| b[1] ^= CHANGE)),
        ("a correction of many digits' strings", FALSE_MAC, || {
            Liar::says("products", |peer| peer.0 == 0, |bytes| bytes.chunks_mut(16).take(60).for_each(|d| d[3] ^= 1))
        }),
        ("a false triple before combining", FALSE_MAC, || Liar::holds("products before combining", |c| c[4] ^= CHANGE)),
        ("a false product after combining", FALSE_MAC, || Liar::holds("combined products", |five| five[2] ^= CHANGE)),
        ("a false factor after combining", FALSE_MAC, || Liar::holds("combined products", |five| five[5] ^= CHANGE)),
        ("a false second product after combining", FALSE_MAC, || {
            Liar::holds("combined products", |five| five[9] ^= CHANGE)
        }),
        ("a false share of rho", FALSE_MAC, || Liar::holds("rho", |rho| rho[1] ^= CHANGE)),
        ("a shared bit that is none", NOT_A_BIT, || Liar::holds("bits", |bits| bits[1] ^= CHANGE)),
        ("an own bit that is none", NOT_A_BIT, || Liar::holds("bits", |bits| bits[4] = Block::from_u128(3))),
        ("bits that are none and whose sum is one", NOT_A_BIT, || {
            Liar::holds("bits", |bits| bits[..2].iter_mut().for_each(|bit| *bit ^= CHANGE))
        }),
        ("a mask of sums that is no bit", NOT_A_BIT, || {
            Liar::holds("bits", |bits| *bits.last_mut().unwrap() = Block::from_u128(2))
        }),
        ("a false share of a sum of bits", FALSE_MAC, || Liar::holds("sums of bits", |sums| sums[7] ^= CHANGE)),
        ("a false part of a check of MACs", FALSE_MAC, || Liar::holds("sigma", |sigma| sigma[0] ^= CHANGE)),
        ("another part of a check than it committed to", MAC_OPENING, || {
            Liar::says("sigma", |peer| peer.0 == 0, |bytes| bytes[2] ^= 1)
        }),
        ("another seed of a coin than it committed to", COIN_OPENING, || {
            Liar::says("coin", |peer| peer.0 == 0, |bytes| bytes[2] ^= 1)
        }),
    ]
}

#[test]
fn one_lie_is_named_and_nobody_goes_on() {
    for (what, check, make) in lies() {
        ended_by(what, &run::<3, _>(|me| (me.0 == 1).then(make), all), check);
    }
}

/// Between two the second one commits to nothing: what it says is fixed by the first one's commitment, and a
/// lie there is one about its value.
#[test]
fn between_two_a_lie_is_named_too() {
    for (what, check, make) in lies().into_iter().filter(|(_, check, _)| ![MAC_OPENING, COIN_OPENING].contains(check)) {
        ended_by(what, &run::<2, _>(|me| (me.0 == 1).then(make), all), check);
    }
    // Nobody else can lie in what it says but the one that commits first.
    for (message, check) in [("sigma", MAC_OPENING), ("coin", COIN_OPENING)] {
        let open_falsely = |bytes: &mut [u8]| {
            if bytes.len() > 32 {
                bytes[2] ^= 1;
            }
        };
        let lie = |me: PartyId| (me.0 == 0).then(|| Liar::says(message, |_| true, open_falsely));
        ended_by(message, &run::<2, _>(lie, all), check);
    }
}

/// What is told to one and not to the other, and a share of the key that is another one towards one.
#[test]
fn lies_to_one_of_several_are_seen() {
    let messages = ["combination of inputs", "rho", "sums of bits", "echo", "commitments"];
    for what in messages {
        let lie = |me: PartyId| (me.0 == 2).then(|| Liar::says(what, |peer| peer.0 == 0, |bytes| bytes[1] ^= 1));
        ended_by(what, &run::<3, _>(lie, all), EQUIVOCATION);
    }
    let two_keys = |me: PartyId| {
        (me.0 == 1).then(|| {
            let drawn = Arc::new(AtomicBool::new(false));
            let after = drawn.clone();
            Liar {
                holds: Box::new(move |what, _| drawn.store(what == "key", Ordering::SeqCst)),
                talks: Box::new(move |act| {
                    if let JointAct::Choices { peer: PartyId(0), choices } = act
                        && after.load(Ordering::SeqCst)
                    {
                        choices.set(9, !choices.get(9));
                    }
                }),
            }
        })
    };
    ended_by("two shares of the key", &run::<3, _>(two_keys, |_, _| Ok(())), EQUIVOCATION);
}

/// An element that differs in one tree's digits passes exactly if none of these digits of the key is set: a guess of
/// four digits.
#[test]
fn a_lie_in_one_tree_is_a_guess() {
    let run = |lies: Option<usize>| {
        let lie = move |me: PartyId| {
            (me.0 == 1).then(|| {
                Liar::talks(move |act| {
                    if let JointAct::Says { what: "products with keys", bytes, .. } = act
                        && let Some(i) = lies
                    {
                        tree(bytes, i)[16] ^= 1;
                    }
                })
            })
        };
        let key = Arc::new(std::sync::Mutex::new(Block::ZERO));
        let ends = run::<2, _>(lie, |dealer, mesh| {
            if mesh.me().0 == 0 {
                *key.lock().unwrap() = dealer.key().element();
            }
            dealer.authenticated(mesh, &[Block::ZERO; 2]).map(drop)
        });
        let key = key.lock().unwrap().to_u128();
        (key, ends[0].1.is_ok())
    };
    // Every run has the same key: some of its trees' digits are all zero.
    let (key, honest) = run(None);
    let digits = |i: usize| key >> (TREE * i) & 15;
    let (none, some): (Vec<_>, Vec<_>) = (0..TREES).partition(|&i| digits(i) == 0);
    assert!(honest && !none.is_empty() && !some.is_empty(), "another seed is needed: {key:x}");
    for i in none.into_iter().take(2).chain(some.into_iter().take(4)) {
        assert_eq!(run(Some(i)), (key, digits(i) == 0), "tree {i}");
    }
}

/// A tree that is not of the OTs' messages is named: a level whose sums are false, of the left nodes and of the
/// right ones, since only one of the two is used; and check values that are.
#[test]
fn a_false_tree_is_named() {
    for places in [&[3, 19][..], &[32 + 8, 32 + 24], &[96], &[96 + 40], &[31 * 160 + 3, 31 * 160 + 19]] {
        let lie = move |me: PartyId| {
            (me.0 == 1).then(|| {
                Liar::talks(move |act| {
                    if let JointAct::Says { what: "trees", peer: PartyId(0), bytes } = act {
                        places.iter().for_each(|&at| bytes[at] ^= 1);
                    }
                })
            })
        };
        ended_by("a tree", &run::<3, _>(lie, all), INCONSISTENT_TREE);
    }
}

//! Bit triples from every extension: right, balanced, independent, and for the bytes that the docs say.

use std::cell::RefCell;

use comity_channel::{Channel, Counted, MemoryChannel, Mesh, PerPeer, memory_mesh};
use comity_core::{Backend, Bits, Block, Error, Kind, Prg, Result, SessionId};
use comity_ot::base::{BaseOt, Simplest};
use comity_ot::{ReceiverSeeds, SemiHonest, SenderSeeds};
use comity_share::triples::{BitTriples, Links, OtKind, TakenTriples};
use comity_testing::{Net, PATIENCE};
use rand_core::CryptoRng;

use super::SESSION;

const EXTENSIONS: [OtKind; 3] = [OtKind::Iknp, OtKind::SoftSpoken, OtKind::Silent];

fn setup(net: &mut Mesh<'_>, backend: Backend, extension: OtKind) -> Links {
    let (me, parties) = (net.me(), net.parties());
    let mut rngs =
        PerPeer::new(me, parties, |peer| Prg::new(backend, Block::from_u128(u128::from(me.0 * 99 + peer.0) + 1)));
    Links::setup::<comity_ot::base::Simplest>(net, SESSION, backend, extension, &mut rngs).unwrap()
}

fn taken(mut triples: BitTriples) -> TakenTriples {
    let mut all = TakenTriples::default();
    triples.take(usize::MAX, &mut all);
    assert!(triples.is_empty());
    all
}

/// The sums of all parties' shares.
fn sums(parties: &[TakenTriples]) -> [Vec<u64>; 3] {
    let sum = |of: fn(&TakenTriples) -> &[u64]| {
        let mut sum = vec![0; of(&parties[0]).len()];
        parties.iter().for_each(|party| sum.iter_mut().zip(of(party)).for_each(|(sum, word)| *sum ^= word));
        sum
    };
    [sum(|t| t.a.words()), sum(|t| t.b.words()), sum(|t| t.c.words())]
}

fn holds<const N: usize>(extension: OtKind, sizes: &[usize]) {
    for backend in Backend::available() {
        let dealt = Net::<N>::run(|net| {
            let mut links = setup(net, backend, extension);
            sizes.iter().map(|&n| taken(links.triples(net, n).unwrap())).collect::<Vec<_>>()
        });
        let mut dealt = dealt.map(Vec::into_iter);
        for &n in sizes {
            let all: Vec<TakenTriples> = dealt.iter_mut().map(|party| party.next().unwrap()).collect();
            assert!(all.iter().all(|taken| taken.len() == n));
            let [a, b, c] = sums(&all);
            assert!((0..n.div_ceil(64)).all(|i| a[i] & b[i] == c[i]), "{N} parties, {extension:?}, {n} triples");
        }
    }
}

#[test]
fn products_are_right_among_any_number_of_parties() {
    for extension in [OtKind::Iknp, OtKind::SoftSpoken] {
        holds::<2>(extension, &[1, 64, 0, 1000, 20_000]);
        holds::<3>(extension, &[700, 1]);
        holds::<5>(extension, &[130]);
    }
    holds::<2>(OtKind::Silent, &[1000, 1]);
    holds::<3>(OtKind::Silent, &[65]);
}

/// If a raw correlation were taken instead of its hash, `a` would be one bit of delta throughout.
#[test]
fn shares_are_balanced_and_independent() {
    const N: usize = 1 << 20;
    for extension in EXTENSIONS {
        let [one, two] = Net::<2>::run(|net| {
            let mut links = setup(net, Backend::detect(), extension);
            taken(links.triples(net, N).unwrap())
        });
        // Six standard deviations.
        let fair = |ones: u32, of: usize| (f64::from(ones) - of as f64 / 2.0).abs() < 3.0 * (of as f64).sqrt();
        let count = |words: &mut dyn Iterator<Item = u64>| words.map(u64::count_ones).sum::<u32>();
        let strings = [&one.a, &one.b, &one.c, &two.a, &two.b, &two.c].map(|shares| shares.words());
        for (i, x) in strings.iter().enumerate() {
            assert!(fair(count(&mut x.iter().copied()), N), "{extension:?}, string {i}");
            let next = &mut x.iter().map(|word| word ^ word >> 1 & !(1 << 63));
            assert!(fair(count(&mut next.map(|word| word & !(1 << 63))), N / 64 * 63), "{extension:?}, runs of {i}");
            for (j, y) in strings[..i].iter().enumerate() {
                let sum = count(&mut x.iter().zip(*y).map(|(x, y)| x ^ y));
                // The shares of the product, which is one in every fourth triple.
                let expected = if (j, i) == (2, 5) { sum + N as u32 / 4 } else { sum };
                assert!(fair(expected, N), "{extension:?}, strings {i} and {j}");
            }
        }
        let [a, b, _] = sums(&[one, two]);
        assert!(fair(count(&mut a.iter().zip(&b).map(|(a, b)| a ^ b)), N), "{extension:?}");
    }
}

/// Bytes that each party sends to each peer in a call, after one to warm up.
fn bytes<const N: usize>(extension: OtKind, n: usize) -> Vec<Vec<u64>> {
    let meshes = memory_mesh(N as u16, Some(PATIENCE));
    let party = &|links: PerPeer<MemoryChannel>| {
        let mut counters = Vec::new();
        let counted = links.map(|_, link| {
            let link = Counted::new(link);
            counters.push(link.counter());
            link
        });
        let mut net = Mesh::new(counted);
        let mut links = setup(&mut net, Backend::detect(), extension);
        let sent = || counters.iter().map(|counter| counter.counts().sent).collect::<Vec<_>>();
        let before = sent();
        links.triples(&mut net, n).unwrap();
        sent().iter().zip(before).map(|(after, before)| after - before).collect()
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = meshes.into_iter().map(|links| scope.spawn(move || party(links))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn bytes_are_what_the_docs_say() {
    let n = 1 << 17;
    // A row for each base OT but the first, of SoftSpoken for each tree but the first.
    for (extension, rows) in [(OtKind::Iknp, 127), (OtKind::SoftSpoken, 31)] {
        assert_eq!(bytes::<2>(extension, n), [[rows * n as u64 / 8]; 2], "{extension:?}");
    }
    // A nonce, and nine blocks for each 1024, of which the first are what the next iteration starts from.
    let silent = 16 + 144 * (n as u64 + 149_120).div_ceil(1024);
    assert_eq!(bytes::<2>(OtKind::Silent, n), [[silent]; 2]);
    // Two bits more to each peer but the first.
    let (ots, corrections) = (31 * 128, 1024 / 4);
    let to = |first: usize, peers: usize| (0..peers).map(|i| ots + if i == first { 0 } else { corrections }).collect();
    let expected: Vec<Vec<u64>> = vec![to(0, 2), to(0, 2), to(0, 2)];
    assert_eq!(bytes::<3>(OtKind::SoftSpoken, 1024), expected);
}

#[test]
fn a_triple_is_taken_once_and_in_order() {
    let [(one, rest), (two, _)] = Net::<2>::run(|net| {
        let mut links = setup(net, Backend::detect(), OtKind::SoftSpoken);
        let mut triples = links.triples(net, 500).unwrap();
        let mut pieces = TakenTriples::default();
        for n in [1, 70, 0, 129] {
            triples.take(n, &mut pieces);
        }
        (pieces, triples)
    });
    assert_eq!((one.len(), rest.len()), (200, 300));
    let [a, b, c] = sums(&[one, two]);
    assert!((0..4).all(|i| a[i] & b[i] == c[i]));
    let mut pieces = TakenTriples::default();
    let mut rest = rest;
    rest.take(1000, &mut pieces);
    assert_eq!((pieces.len(), rest.len()), (300, 0));
}

#[test]
fn after_an_error_no_triple_is_made() {
    let ends = Net::<2>::run(|net| {
        let mut links = setup(net, Backend::detect(), OtKind::SoftSpoken);
        if net.me().0 == 1 {
            return None;
        }
        let ends = [(); 2].map(|()| links.triples(net, 100).err());
        Some(ends)
    });
    let [Some(first), Some(second)] = ends.into_iter().flatten().next().unwrap() else { panic!("both fail") };
    assert!(matches!(first, Error { kind: Kind::Closed, party: Some(_) }), "{first}");
    assert!(matches!(second.kind, Kind::InvalidInput(message) if message.contains("stopped at an earlier error")));
}

thread_local! {
    /// The choices of the base OTs that this thread received.
    static CHOSEN: RefCell<Vec<Bits>> = const { RefCell::new(Vec::new()) };
}

/// Base OTs that note what they are asked for: an extension's sender chooses by the bits of its delta.
struct Noted;

impl BaseOt for Noted {
    type Model = SemiHonest;

    fn send(
        ch: &mut dyn Channel,
        session: &SessionId,
        n: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<SenderSeeds<SemiHonest>> {
        Simplest::send(ch, session, n, rng)
    }

    fn receive(
        ch: &mut dyn Channel,
        session: &SessionId,
        choices: &Bits,
        rng: &mut dyn CryptoRng,
    ) -> Result<ReceiverSeeds<SemiHonest>> {
        CHOSEN.with_borrow_mut(|all| all.push(choices.clone()));
        Simplest::receive(ch, session, choices, rng)
    }
}

/// Each party draws the delta of its OTs: no run has that of another one.
#[test]
fn deltas_are_drawn() {
    for extension in EXTENSIONS {
        let deltas = |seed: u128| {
            Net::<2>::run(|net| {
                let backend = Backend::detect();
                let seed = seed << 8 | u128::from(net.me().0);
                let mut rngs = PerPeer::new(net.me(), 2, |_| Prg::new(backend, Block::from_u128(seed)));
                Links::setup::<Noted>(net, SESSION, backend, extension, &mut rngs).unwrap();
                CHOSEN.take()
            })
        };
        let ([a, b], [c, d]) = (deltas(1), deltas(2));
        let all = [a, b, c, d].concat();
        assert_eq!(all.len(), 4, "{extension:?}: base OTs of four senders");
        assert!(all.iter().enumerate().all(|(i, one)| !all[..i].contains(one)), "{extension:?}");
    }
}

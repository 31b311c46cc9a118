//! Parties that are honest but for one lie, alone and together.

use std::sync::{Arc, Mutex};

use comity_core::Check;

use super::*;

use crate::checks;

/// What a liar adds to a `U`: bit 1 is set, so that the peer's bit of `S` changes too.
const D: Block = Block::from_u128(0x5a17_0000_0000_0000_0000_0000_0000_0002);

/// Deals one batch in each of `runs` sessions among `N` parties, of which the first ones cheat: what the
/// honest ones get. Conducts are made anew for each run, by run and party. The cheats of a run are told apart
/// from the honest by their number.
fn runs<const N: usize>(
    cheats: u16,
    budget: &Budget,
    runs: usize,
    conducts: impl Fn(usize, PartyId) -> Lie + Sync,
) -> Vec<Vec<(PartyId, Result<View>)>> {
    (0..runs)
        .map(|run| {
            let ends = Net::<N>::run(|net| {
                let here = here(net.me(), N as u16, SESSION.child(&format!("run {run}")));
                let ended =
                    dealer(net, here, run as u64 + 1000, budget, conducts(run, here.me)).and_then(|mut dealer| {
                        let triples = dealer.deal(net, 1)?;
                        Ok((dealer.key().clone(), vec![triples], RowShares::zeros(here.me, N as u16, 0), Vec::new()))
                    });
                if here.me.0 < cheats {
                    for peer in net.peers() {
                        while net.link(peer).recv(&mut [0]).is_ok() {}
                    }
                }
                (here.me, ended)
            });
            if ends.iter().all(|(_, ended)| ended.is_ok()) {
                right(&ends.iter().map(|(_, ended)| ended.as_ref().unwrap()).collect::<Vec<_>>());
            }
            ends.into_iter().filter(|(me, _)| me.0 >= cheats).collect()
        })
        .collect()
}

/// Whether the triples of all are triples.
fn right(views: &[&View]) {
    let keys: Vec<&GlobalKey> = views.iter().map(|view| &view.0).collect();
    let of = |part: fn(&RowTriples) -> &RowShares| {
        shared(&keys, &views.iter().map(|view| part(&view.1[0])).collect::<Vec<_>>())
    };
    let (a, b, c) = (of(|t| &t.a), of(|t| &t.b), of(|t| &t.c));
    assert!(a.iter().zip(b.iter()).zip(c.iter()).all(|((a, b), c)| a & b == c));
}

fn passed(ends: &[(PartyId, Result<View>)]) -> bool {
    assert!(ends.iter().all(|(_, ended)| ended.is_ok()) || ends.iter().all(|(_, ended)| ended.is_err()));
    ends.iter().all(|(_, ended)| ended.is_ok())
}

fn named(ends: &[(PartyId, Result<View>)], check: &'static Check) -> bool {
    let mut found = ends.iter().filter_map(|(_, ended)| ended.as_ref().err()?.check()).peekable();
    found.peek().is_some() && found.all(|found| found == check)
}

/// A batch of 4 buckets of 2, whose bound is 1/16.
fn small() -> Budget {
    let budget = Budget::known(4, 4, 1, 4000).unwrap();
    assert_eq!(budget.clone().next(1).unwrap(), crate::bucket::Bucketing { buckets: 4, size: 2 });
    budget
}

/// Adds `D` to one `U` that goes to some peers.
fn false_u(act: &mut JointAct<'_>, and: usize, towards: impl Fn(PartyId) -> bool) {
    if let JointAct::Says { what: "U", peer, bytes } = act
        && towards(*peer)
    {
        let (blocks, _) = bytes.as_chunks_mut::<16>();
        blocks[and] = (Block::new(blocks[and]) ^ D).to_bytes();
    }
}

/// Watches an honest party's share of `x` of one AND of the first chunk of a batch.
fn watch(and: usize, seen: Arc<Mutex<Vec<(u16, bool)>>>, me: PartyId) -> Lie {
    let mut chunks = 0;
    lie(move |act| {
        if let JointAct::Choices { peer, choices } = act
            && peer.0 == 0
        {
            // That of the set-up comes before.
            chunks += 1;
            if chunks == 2 {
                seen.lock().unwrap().push((me.0, choices.get(and)));
            }
        }
    })
}

/// One false `U`, to one honest party and to all, with either guess: it passes where the guess of the sum of
/// those shares is right, which is half of the time, and is caught where it is wrong.
fn a_false_u_passes_with_the_right_guess<const N: usize>(to_all: bool) {
    const RUNS: usize = 24;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let all = runs::<N>(1, &small(), RUNS, |run, me| {
        if me.0 > 0 {
            return watch(2, seen.clone(), me);
        }
        let mut first = [true; 2];
        lie(move |mut act| match &mut act {
            JointAct::Says { what: "U", .. } if first[0] => false_u(&mut act, 2, |peer| to_all || peer.0 == 1),
            JointAct::Holds { what: "S", blocks } if std::mem::take(&mut first[1]) => {
                first[0] = false;
                if run % 2 == 1 {
                    // As the peers' S will be, if the sum of their x is one.
                    blocks[2] ^= D;
                }
            }
            _ => {}
        })
    });
    let seen = seen.lock().unwrap();
    let per_run = N - 1;
    assert_eq!(seen.len(), RUNS * per_run);
    for (run, ends) in all.iter().enumerate() {
        let shares = &seen[run * per_run..][..per_run];
        let x = shares.iter().filter(|(party, _)| to_all || *party == 1).fold(false, |sum, (_, x)| sum ^ x);
        assert_eq!(passed(ends), x == (run % 2 == 1), "run {run}");
        assert!(passed(ends) || named(ends, checks::LEAKY_AND), "run {run}");
    }
    let passed = all.iter().filter(|ends| passed(ends)).count();
    assert!(passed.abs_diff(RUNS / 2) < 11, "{passed} of {RUNS} passed");
}

#[test]
fn a_false_u_passes_only_with_the_right_guess() {
    a_false_u_passes_with_the_right_guess::<2>(true);
    a_false_u_passes_with_the_right_guess::<3>(false);
    a_false_u_passes_with_the_right_guess::<3>(true);
}

/// The best cheat there is, at small parameters, by one party and by two: leaky objects of which some bucket
/// is full as often as the bound says.
fn escapes<const N: usize>(cheats: u16, n: usize) {
    let rho = 4;
    let buckets = small().next(1).unwrap().buckets;
    let coins = Arc::new(Mutex::new(vec![[0; 32]; n]));
    let all = runs::<N>(cheats, &small(), n, |run, me| {
        let coins = coins.clone();
        lie(move |mut act| match &mut act {
            // The first of each column, of the leaders and of the others, which go together: two liars lie
            // about one each.
            JointAct::Says { what: "U", peer, .. } if me.0 < cheats && usize::from(peer.0) == N - 1 => {
                for (column, first) in [0, buckets].into_iter().enumerate() {
                    if cheats == 1 || column == usize::from(me.0) {
                        false_u(&mut act, first, |_| true);
                    }
                }
            }
            // The last coin is that of the buckets.
            JointAct::Says { what: "coin", peer, bytes } if me.0 == 0 && peer.0 == 1 => {
                coins.lock().unwrap()[run].copy_from_slice(&bytes[..32]);
            }
            JointAct::Hears { what: "coin", bytes, .. } if me.0 == 0 => {
                coins.lock().unwrap()[run].iter_mut().zip(*bytes).for_each(|(coin, byte)| *coin ^= byte);
            }
            _ => {}
        })
    });
    let batch = small().next(1).unwrap();
    let full: Vec<bool> =
        coins.lock().unwrap().iter().map(|coin| Partition::new(batch, coin, Backend::detect()).shift(1) == 0).collect();
    let through = all.iter().filter(|ends| passed(ends)).count();
    let escaped = all.iter().zip(&full).filter(|(ends, full)| passed(ends) && **full).count();
    for (count, expected) in [(through, n >> 2), (escaped, n >> rho)] {
        let slack = 4.5 * (expected as f64).sqrt();
        assert!((count as f64 - expected as f64).abs() < slack, "{count} of {n}, not {expected}");
    }
    assert!(all.iter().all(|ends| passed(ends) || named(ends, checks::LEAKY_AND)));
}

#[test]
fn escapes_are_as_frequent_as_the_bound_says() {
    escapes::<3>(1, 32);
    escapes::<3>(2, 32);
}

#[test]
#[ignore = "minutes, most of them base OTs; part of make test-long"]
fn many_more_escapes_are_as_frequent_as_the_bound_says() {
    escapes::<3>(1, 1000);
    escapes::<3>(2, 1000);
}

/// A lie by name, and the check that sees it. It is told who the last party is.
type Seen = (&'static str, &'static Check, fn(u16) -> Lie);

/// Lies that are always seen.
fn lies() -> Vec<Seen> {
    fn says(message: &'static str, at: usize, bits: u8, towards: impl Fn(PartyId) -> bool + Send + 'static) -> Lie {
        lie(move |act| {
            if let JointAct::Says { what, peer, bytes } = act
                && what == message
                && towards(peer)
                && bytes.len() > at
            {
                bytes[at] ^= bits;
            }
        })
    }
    fn holds(name: &'static str, ands: usize) -> Lie {
        lie(move |act| {
            if let JointAct::Holds { what, blocks } = act
                && what == name
            {
                blocks.iter_mut().take(ands).for_each(|block| *block ^= D);
            }
        })
    }
    vec![
        ("bit of S, told to one", comity_share::checks::EQUIVOCATION, |last| {
            says("bits of S", 0, 2, move |p| p.0 == last)
        }),
        ("bit of S, told to all", checks::LEAKY_AND, |_| {
            lie(|act| {
                if let JointAct::Tells { what: "bits of S", bytes } = act {
                    bytes[0] ^= 2;
                }
            })
        }),
        ("S, and with it its bit", checks::LEAKY_AND, |_| holds("S", 1)),
        ("L", checks::LEAKY_AND, |_| holds("L", 1)),
        ("two L that are wrong by the same", checks::LEAKY_AND, |_| holds("L", 2)),
        ("bit of d, to one", comity_share::checks::EQUIVOCATION, |last| {
            says("opened bits", 0, 1, move |p| p.0 == last)
        }),
        ("product of rows", comity_share::checks::WRONG_MAC, |_| says("settlement", 3, 1, |_| true)),
    ]
}

/// All blocks in messages, and in what a party holds: those that begin where a block may.
fn blocks(bytes: &[u8]) -> impl Iterator<Item = u128> {
    [0, bytes.len() % 16].into_iter().flat_map(|at| {
        let (blocks, _) = bytes[at..].as_chunks();
        blocks.iter().map(|&block| u128::from_le_bytes(block)).collect::<Vec<_>>()
    })
}

/// One lie in a check, and all that the liars then hold and have heard until the honest parties have ended,
/// honest openings before it and after: no block of it, and no sum of two, is an honest party's key, or the
/// sum of all honest keys.
fn a_failure_tells_no_key<const N: usize>(cheats: u16, make: impl Fn(u16) -> Lie + Sync) {
    let (held, keys) = (Arc::new(Mutex::new(std::collections::HashSet::new())), Arc::new(Mutex::new(Vec::new())));
    let ends = Net::<N>::run(|net| {
        let here = here(net.me(), N as u16, SESSION.child("what a failure tells"));
        let me = here.me;
        let (log, own) = (held.clone(), keys.clone());
        let mut lies = if me.0 == 0 { make(N as u16 - 1) } else { honest() };
        let conduct = lie(move |mut act| {
            match &mut act {
                JointAct::Key { delta, .. } => own.lock().unwrap().push((me, delta.to_u128())),
                JointAct::Hears { bytes, .. } if me.0 < cheats => log.lock().unwrap().extend(blocks(bytes)),
                JointAct::Holds { blocks: some, .. } if me.0 < cheats => {
                    log.lock().unwrap().extend(some.iter().map(|block| block.to_u128()));
                }
                _ => {}
            }
            lies(act);
        });
        let ended = dealer(net, here, 4000, &small(), conduct).and_then(|mut dealer| dealer.deal(net, 1).map(drop));
        if me.0 < cheats {
            for peer in net.peers() {
                while net.link(peer).recv(&mut [0]).is_ok() {}
            }
        }
        (me, ended)
    });
    assert!(ends.iter().any(|(me, ended)| me.0 >= cheats && ended.is_err()), "the lie was not seen");
    let (held, keys) = (held.lock().unwrap(), keys.lock().unwrap());
    let of = |cheat: bool| keys.iter().filter(move |(me, _)| (me.0 < cheats) == cheat).map(|&(me, key)| (me, key));
    let honest: std::collections::BTreeMap<PartyId, u128> = of(false).collect();
    let sum = honest.values().fold(0, |sum, key| sum ^ key);
    // What a liar adds to a block by itself, and its own keys.
    let own: Vec<u128> = of(true).map(|(_, key)| key).chain([0, 1, 2, 3, D.to_u128()]).collect();
    for &target in honest.values().chain([&sum]) {
        let found = held
            .iter()
            .any(|&block| own.iter().any(|own| held.contains(&(block ^ own ^ target)) || block ^ own == target));
        assert!(!found, "{N} parties, {cheats} of them liars: a key can be read");
    }
}

#[test]
fn no_failure_tells_a_key() {
    for (what, _, make) in lies() {
        for_each_coalition(what, make);
    }
}

fn for_each_coalition(what: &str, make: fn(u16) -> Lie) {
    if !what.contains("to one") {
        a_failure_tells_no_key::<2>(1, make);
        a_failure_tells_no_key::<3>(2, make);
        a_failure_tells_no_key::<5>(4, make);
    }
    a_failure_tells_no_key::<3>(1, make);
    a_failure_tells_no_key::<5>(2, make);
}

fn are_named<const N: usize>(cheats: u16) {
    for (what, check, make) in lies() {
        if N - usize::from(cheats) < 2 && what.contains("to one") {
            continue;
        }
        let conducts = |_, me: PartyId| if me.0 == 0 { make(N as u16 - 1) } else { honest() };
        let ends = &runs::<N>(cheats, &small(), 1, conducts)[0];
        assert!(named(ends, check) && !passed(ends), "{what}, {N} parties");
    }
}

#[test]
fn false_bits_and_sums_are_named() {
    are_named::<2>(1);
    are_named::<3>(1);
    are_named::<3>(2);
    are_named::<5>(1);
    are_named::<5>(4);
}

//! What leaves a party that opens bits: not its shares, whoever listens, whatever others tell it, and however
//! often it is opened.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use comity_channel::{Mesh, PerPeer};
use comity_core::{Backend, Bits, Block, PartyId, Prg, Result, SessionId, gf128};
use comity_share::checks::WRONG_MAC;
use comity_share::joint::JointAct;
use comity_share::{GlobalKey, Openings, PairSeeds, RowShares};
use comity_testing::Net;

use crate::forms::{deal, keys};
use crate::joint::{Lie, honest, lie};
use crate::{SESSION, named, rng};

/// Bits of a value.
const BITS: usize = 64;

/// What ideal dealers give to all parties.
struct Dealt {
    keys: Vec<GlobalKey>,
    seeds: Vec<PairSeeds>,
    /// Bits that a party alone knows, of each owner: by owner and party.
    own: Vec<Vec<RowShares>>,
}

fn dealt(parties: u16, bits: usize, seed: u16) -> Dealt {
    let mut prg = rng(seed);
    let keys = keys(parties, &mut prg);
    let pairwise = deal(&keys, bits, &mut prg);
    let rows = |owner| keys.iter().zip(&pairwise).map(|(key, bits)| bits.rows_of(PartyId(owner), key)).collect();
    Dealt { own: (0..parties).map(rows).collect(), seeds: seeds(parties, &mut prg), keys }
}

fn seeds(parties: u16, prg: &mut Prg) -> Vec<PairSeeds> {
    let n = usize::from(parties);
    let table: Vec<Block> = (0..n * n).map(|_| prg.block()).collect();
    let seed = |i: u16, j: u16| table[usize::from(i.min(j)) * n + usize::from(i.max(j))];
    let of = |me| PairSeeds::stored(PerPeer::new(PartyId(me), parties, |peer| seed(me, peer.0)));
    (0..parties).map(of).collect()
}

/// What a party puts in.
fn input(party: PartyId) -> Bits {
    Prg::new(Backend::detect(), Block::from_u128(1 << 90 | u128::from(party.0))).block().to_u128().to_le_bytes()[..8]
        .iter()
        .flat_map(|byte| (0..8).map(move |i| byte >> i & 1 == 1))
        .collect()
}

/// What was about to be hidden, or was said.
#[derive(Clone)]
struct Said {
    from: PartyId,
    what: &'static str,
    /// Where it is hidden for all, nobody.
    to: Option<PartyId>,
    bare: bool,
    bytes: Vec<u8>,
}

type Log = Arc<Mutex<Vec<Said>>>;

/// A party that behaves so, with what it hides and says.
fn watched(log: &Log, from: PartyId, mut does: Lie) -> Lie {
    let log = log.clone();
    lie(move |mut act| {
        if let JointAct::Hides { what, to, bare } = act {
            log.lock().unwrap().push(Said { from, what, to, bare: true, bytes: bare.to_vec() });
        }
        does(match &mut act {
            JointAct::Says { what, peer, bytes } => JointAct::Says { what, peer: *peer, bytes },
            JointAct::Hears { what, peer, bytes } => JointAct::Hears { what, peer: *peer, bytes },
            _ => return,
        });
        if let JointAct::Says { what, peer, bytes } = act {
            log.lock().unwrap().push(Said { from, what, to: Some(peer), bare: false, bytes: bytes.clone() });
        }
    })
}

/// The sum of all inputs, as this party's rows have it.
fn sum(openings: &mut Openings, mesh: &mut Mesh<'_>, dealt: &Dealt, conduct: &mut Lie) -> Result<RowShares> {
    let (me, parties) = (mesh.me(), mesh.parties());
    let mut sum = RowShares::zeros(me, parties, BITS);
    for owner in (0..parties).map(PartyId) {
        let mut rows = dealt.own[usize::from(owner.0)][usize::from(me.0)].clone();
        let value = (owner == me).then(|| input(me));
        openings.input(mesh, owner, value.as_ref(), &mut rows, conduct)?;
        sum.add(&rows);
    }
    Ok(sum)
}

/// To whom the sum is opened.
#[derive(Clone, Copy)]
enum Open {
    ToAll,
    To(&'static [u16]),
    /// Without comparing before what was said to all.
    Unsettled(&'static [u16]),
}

/// Opens the sum of all inputs. Gives what was said and what every party got.
fn open_sum<const N: usize>(
    to: Open,
    conducts: impl Fn(PartyId) -> Lie + Sync,
) -> (Vec<Said>, Vec<Result<Option<Bits>>>) {
    let (dealt, log) = (dealt(N as u16, BITS, N as u16), Log::default());
    let ends = Net::<N>::run(|mesh| {
        let me = mesh.me();
        let mut conduct = watched(&log, me, conducts(me));
        let mut openings = openings(&dealt, me, SESSION);
        let rows = sum(&mut openings, mesh, &dealt, &mut conduct)?;
        match to {
            Open::ToAll => {
                let value = openings.open(mesh, &rows, &mut conduct)?;
                openings.settle(mesh, &mut conduct)?;
                Ok(Some(value))
            }
            Open::To(some) | Open::Unsettled(some) => {
                if let Open::To(_) = to {
                    openings.settle(mesh, &mut conduct)?;
                }
                let is_one = |party: PartyId| some.contains(&party.0);
                openings.open_to(mesh, is_one, &rows, &mut rng(me.0), &mut conduct)
            }
        }
    });
    let said = log.lock().unwrap().clone();
    (said, ends.into())
}

fn openings(dealt: &Dealt, me: PartyId, session: SessionId) -> Openings {
    let at = usize::from(me.0);
    Openings::new(session, Backend::detect(), dealt.keys[at].clone(), &dealt.seeds[at])
}

/// What a message hides of a party, and how it left it, to a recipient. In a settlement that is the product.
fn both(said: &[Said], what: &str, from: PartyId, to: PartyId) -> Option<[Vec<u8>; 2]> {
    let of = |bare: bool| {
        let is_it = |said: &&Said| {
            (said.what, said.from, said.bare) == (what, from, bare) && (said.to == Some(to) || said.to.is_none())
        };
        said.iter().rfind(is_it).map(|said| said.bytes.clone()).filter(|bytes| !bytes.is_empty())
    };
    let [bare, mut wire] = [of(true)?, of(false)?];
    wire.truncate(bare.len());
    Some([bare, wire])
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

/// The sums of what some hide and of what they say.
fn sums(all: &[[Vec<u8>; 2]], some: impl Fn(usize) -> bool) -> [Vec<u8>; 2] {
    let mut sums = [0, 1].map(|_| vec![0; all[0][0].len()]);
    for (_, both) in all.iter().enumerate().filter(|(i, _)| some(*i)) {
        sums.iter_mut().zip(both).for_each(|(sum, one)| *sum = xor(sum, one));
    }
    sums
}

/// Whatever is said to a party, by all but it or by all: of no part of those who say it the sum is that of
/// what they hide, and of all together it is.
fn is_hidden(all: &[[Vec<u8>; 2]], what: &str) {
    for some in 1..(1u32 << all.len()) - 1 {
        let [bare, wire] = sums(all, |i| some >> i & 1 == 1);
        assert_ne!(bare, wire, "{what}: parties {some:b} of {}", all.len());
    }
    let [bare, wire] = sums(all, |_| true);
    assert_eq!(bare, wire, "{what}: all together");
}

const CASES: [Open; 4] = [Open::ToAll, Open::To(&[0]), Open::To(&[0, 2]), Open::To(&[0, 1, 2])];

/// Nobody says its shares, nor its product, nor do some of them together; and masked inputs and what is said
/// have no input in them.
fn nothing_bare_leaves<const N: usize>() {
    for to in CASES {
        let (said, ends) = open_sum::<N>(to, |_| honest());
        let mut expected = Bits::zeros(BITS);
        (0..N as u16).for_each(|party| expected.xor_assign(&input(PartyId(party))));
        let ids = || (0..N as u16).map(PartyId);
        for (me, end) in ids().zip(&ends) {
            let learns = match to {
                Open::ToAll => true,
                Open::To(some) | Open::Unsettled(some) => some.contains(&me.0),
            };
            assert_eq!(*end.as_ref().unwrap(), learns.then(|| expected.clone()), "party {me}");
        }
        let by_others = |what: &str, to: PartyId| -> Vec<[Vec<u8>; 2]> {
            ids().filter(|&from| from != to).map(|from| both(&said, what, from, to).expect("it was said")).collect()
        };
        match to {
            Open::ToAll => {
                let a_peer = |of: PartyId| PartyId(u16::from(of.0 == 0));
                let all: Vec<_> =
                    ids().map(|from| both(&said, "opened bits", from, a_peer(from)).expect("it was said")).collect();
                is_hidden(&all, "bits to all");
                ids().for_each(|to| is_hidden(&by_others("settlement", to), "products"));
            }
            Open::To(some) | Open::Unsettled(some) => {
                for &to in some {
                    is_hidden(&by_others("shares for some", PartyId(to)), "bits to one");
                    is_hidden(&by_others("products for some", PartyId(to)), "products to one");
                }
            }
        }
        // The sum of one, two or three masked inputs or strings of this length is never a party's input.
        let strings: HashSet<Vec<u8>> = said
            .iter()
            .filter(|said| !said.bare && said.bytes.len() == BITS / 8)
            .map(|said| said.bytes.clone())
            .collect();
        assert!(strings.len() > N, "{} strings", strings.len());
        for party in ids() {
            let input = input(party).to_bytes();
            for (a, b) in strings.iter().flat_map(|a| strings.iter().map(move |b| (a, b))) {
                let found = [&xor(&input, a), &xor(&xor(&input, a), b)].into_iter().any(|rest| strings.contains(rest));
                assert!(!found && *a != input, "the input of party {party}");
            }
        }
    }
}

#[test]
fn nobody_says_its_shares() {
    nothing_bare_leaves::<3>();
    nothing_bare_leaves::<4>();
    nothing_bare_leaves::<5>();
}

/// Changes messages of this name to one peer.
fn says(message: &'static str, to: PartyId) -> Lie {
    lie(move |act| {
        if let JointAct::Says { what, peer, bytes } = act
            && (what, peer) == (message, to)
            && !bytes.is_empty()
        {
            bytes[0] ^= 1;
        }
    })
}

/// Party 0 tells one honest party something else than the others, of what they hear of it or of its
/// coefficients: what the honest parties then send to it has nothing to do with what they hide, all of it
/// together neither.
fn views_that_differ_tell_nothing<const N: usize>() {
    let (liar, other) = (PartyId(0), PartyId(1));
    let lying = |message: &'static str| move |me: PartyId| if me == liar { says(message, other) } else { honest() };
    let all = |said: &[Said], what: &str, from: u16| -> Vec<_> {
        let to = |from: PartyId| if from == liar { other } else { liar };
        (from..N as u16).map(PartyId).map(|from| both(said, what, from, to(from)).expect("it was said")).collect()
    };
    let cases: [(&'static str, Open, &str); 6] = [
        ("opened bits", Open::ToAll, "settlement"),
        ("announced bits", Open::ToAll, "settlement"),
        ("announced bits", Open::To(&[0]), "settlement"),
        ("announced bits", Open::Unsettled(&[0]), "shares for some"),
        ("announced bits", Open::Unsettled(&[0]), "products for some"),
        ("coefficients", Open::To(&[0]), "products for some"),
    ];
    for (message, to, what) in cases {
        let (said, _) = open_sum::<N>(to, lying(message));
        let [bare, wire] = sums(&all(&said, what, 1), |_| true);
        assert_ne!(bare, wire, "{message} told differently, {what}, {N} parties");
        // As long as all hear the same the sum is what it has to be, so that the line above sees something.
        let (said, _) = open_sum::<N>(to, |_| honest());
        let [bare, wire] = sums(&all(&said, what, 1), |_| true);
        assert_eq!(bare, wire, "{what}");
    }
    // The liar says a part of what is said to all, and knows what it hides with each.
    let (said, _) = open_sum::<N>(Open::ToAll, lying("announced bits"));
    let [bare, wire] = sums(&all(&said, "opened bits", 0), |_| true);
    assert_ne!(bare, wire, "bits to all");
}

#[test]
fn who_tells_parties_different_things_hears_nothing_of_their_products() {
    views_that_differ_tell_nothing::<3>();
    views_that_differ_tell_nothing::<4>();
    views_that_differ_tell_nothing::<5>();
}

/// What hid each thing that a party said: the first 64 bits.
fn pads(log: &[Said], from: PartyId) -> Vec<(&'static str, u64)> {
    let (mut pads, mut bare) = (Vec::new(), Vec::<&Said>::new());
    for said in log.iter().filter(|said| said.from == from) {
        if said.bare {
            bare.push(said);
            continue;
        }
        let hides = |hides: &&&Said| hides.what == said.what && (hides.to.is_none() || hides.to == said.to);
        let Some(&hides) = bare.iter().rfind(hides) else { continue };
        // The same message to all is said to each.
        if hides.to.is_some() || said.to == Some(PartyId(u16::from(from.0 == 0))) {
            let pad = xor(&hides.bytes[..8], &said.bytes[..8]);
            pads.push((said.what, u64::from_le_bytes(pad.try_into().expect("eight bytes"))));
        }
    }
    pads
}

/// What hides all that all parties say has no relation but that zero-shares of one call for one recipient add
/// up to zero: so no coalition finds another one in what it does not make itself.
fn pads_are_independent<const N: usize>() {
    let (dealt, log) = (dealt(N as u16, BITS, 9), Log::default());
    Net::<N>::run(|mesh| {
        let me = mesh.me();
        let mut conduct = watched(&log, me, honest());
        let mut openings = openings(&dealt, me, SESSION);
        let rows = dealt.own[0][usize::from(me.0)].clone();
        openings.open(mesh, &rows, &mut conduct).unwrap();
        openings.settle(mesh, &mut conduct).unwrap();
        openings.open_to(mesh, |_| true, &rows, &mut rng(3), &mut conduct).unwrap();
    });
    let log = log.lock().unwrap();
    let mut basis: Vec<u64> = Vec::new();
    for (_, mut pad) in (0..N as u16).flat_map(|from| pads(&log, PartyId(from))) {
        basis.iter().for_each(|&b| pad = pad.min(pad ^ b));
        if pad != 0 {
            basis.push(pad);
            basis.sort_unstable_by(|a, b| b.cmp(a));
        }
    }
    // To all; and to each products, and shares with products.
    assert_eq!(basis.len(), (N - 1) + 3 * N * (N - 2));
}

#[test]
fn what_hides_one_thing_hides_no_other() {
    pads_are_independent::<3>();
    pads_are_independent::<4>();
    pads_are_independent::<5>();
}

/// What hides something of a party is used once, however often the same bits are opened, to whom, and in which session.
fn pads_never_come_again<const N: usize>() {
    let (dealt, log) = (dealt(N as u16, BITS, 7), Log::default());
    Net::<N>::run(|mesh| {
        let me = mesh.me();
        let mut conduct = watched(&log, me, honest());
        for session in [SESSION, SESSION.child("another run on the same seeds")] {
            let mut openings = openings(&dealt, me, session);
            let rows = sum(&mut openings, mesh, &dealt, &mut conduct).unwrap();
            for _ in 0..2 {
                openings.open(mesh, &rows, &mut conduct).unwrap();
                // Nothing is said to all between these two.
                openings.settle(mesh, &mut conduct).unwrap();
                openings.settle(mesh, &mut conduct).unwrap();
                for _ in 0..2 {
                    openings.open_to(mesh, |_| true, &rows, &mut rng(3), &mut conduct).unwrap();
                }
            }
        }
    });
    let log = log.lock().unwrap();
    let mut count = 0;
    for from in (0..N as u16).map(PartyId) {
        let mut seen = HashSet::new();
        for (what, pad) in pads(&log, from) {
            assert!(seen.insert(pad) && pad != 0, "{what} of party {from}");
            count += 1;
        }
    }
    // To all, a settlement's to each and another's, and of two openings to all by one the shares and the
    // products to each.
    assert_eq!(count, N * 2 * 2 * (1 + (N - 1) * (2 + 2 * 2)));
}

#[test]
fn what_hides_a_share_is_used_once() {
    pads_never_come_again::<3>();
    pads_never_come_again::<4>();
}

/// The seed of a pair is of both halves, of their places and of the session.
#[test]
fn both_of_a_pair_make_its_seed() {
    const PINNED: u128 = 35_176_381_157_147_991_344_325_023_096_366_007_353;
    let halves = |me: u16, a: u128, b: u128| {
        let [own, heard] = [a, b].map(|half| PerPeer::new(PartyId(me), 2, |_| Block::from_u128(half)));
        PairSeeds::new(&SESSION, &own, &heard).iter().map(|(_, seed)| seed.to_u128()).next().unwrap()
    };
    assert_eq!(halves(0, 1, 2), halves(1, 2, 1));
    // Stored lots depend on it: it must stay the same for ever.
    assert_eq!(halves(0, 1, 2), PINNED);
    let all = [halves(0, 1, 2), halves(0, 2, 1), halves(0, 1, 3), halves(0, 4, 2), halves(0, 3, 3), halves(0, 0, 0)];
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    let of = |session: SessionId| {
        let zeros = PerPeer::new(PartyId(0), 2, |_| Block::ZERO);
        PairSeeds::new(&session, &zeros, &zeros).iter().map(|(_, seed)| seed.to_u128()).next().unwrap()
    };
    assert_ne!(of(SESSION), of(SESSION.child("another")));
}

/// Zero-shares of all add up to zero, and of no part of the parties; they are other ones in another session.
#[test]
fn zero_shares_add_up_to_zero() {
    let seeds = seeds(4, &mut rng(8));
    let of = |session: &SessionId| -> Vec<Vec<Block>> {
        let blocks = |seeds: &PairSeeds| {
            let mut shares = seeds.zero_shares(Backend::detect(), session);
            let mut blocks = vec![Block::ZERO; 2500];
            shares.add_to(&mut blocks);
            blocks.push(shares.block());
            blocks
        };
        seeds.iter().map(blocks).collect()
    };
    let (all, others) = (of(&SESSION), of(&SESSION.child("another")));
    for some in 1..16u32 {
        let mut sums = vec![Block::ZERO; 2501];
        for (_, shares) in all.iter().enumerate().filter(|(party, _)| some >> party & 1 == 1) {
            sums.iter_mut().zip(shares).for_each(|(sum, &share)| *sum ^= share);
        }
        assert!(sums.iter().all(|&sum| (sum == Block::ZERO) == (some == 15)), "parties {some:b}");
    }
    let seen: HashSet<u128> = all.iter().chain(&others).flatten().map(|block| block.to_u128()).collect();
    assert_eq!(seen.len(), 2 * 4 * 2501);
}

/// One lie, the same every time, over many shares of the honest parties: they go on or end always, and nobody is named.
fn one_verdict(lies: impl Fn(GlobalKey) -> Lie + Sync, to: Option<u16>, passes: [bool; 2]) {
    const RUNS: u16 = 250;
    let many: Vec<Dealt> = (0..RUNS).map(|run| dealt(3, 3, run)).collect();
    let verdicts = Net::<3>::run(|mesh| {
        let me = mesh.me();
        let run = |(run, dealt): (usize, &Dealt)| {
            let mut conduct = if me.0 == 0 { lies(dealt.keys[1].clone()) } else { honest() };
            let mut openings = openings(dealt, me, SESSION.child(&format!("run {run}")));
            let mut rows = dealt.own[0][usize::from(me.0)].clone();
            (1..3).for_each(|owner| rows.add(&dealt.own[owner][usize::from(me.0)]));
            let ended = match to {
                None => openings.open(mesh, &rows, &mut conduct).and_then(|_| openings.settle(mesh, &mut conduct)),
                Some(to) => {
                    let rng = &mut rng(run as u16);
                    openings.open_to(mesh, |party| party.0 == to, &rows, rng, &mut conduct).map(drop)
                }
            };
            assert!(ended.is_ok() || named(&ended) == Some((WRONG_MAC, None)), "party {me} in run {run}");
            ended.is_ok()
        };
        many.iter().enumerate().map(run).collect::<Vec<bool>>()
    });
    for (party, expected) in [1, 2].into_iter().zip(passes) {
        assert!(verdicts[party].iter().all(|&passed| passed == expected), "party {party}: {:?}", verdicts[party]);
    }
}

#[test]
fn whether_a_lie_passes_depends_on_no_share() {
    let tells = |message: &'static str, to: Option<PartyId>| {
        move |_: GlobalKey| {
            lie(move |act| match act {
                JointAct::Says { what, peer, bytes } if what == message && to.is_none_or(|to| to == peer) => {
                    bytes.iter_mut().take(16).for_each(|byte| *byte ^= 1);
                }
                _ => {}
            })
        }
    };
    // A product, or what hides it, to one: the other one sees nothing. And to one alone.
    one_verdict(tells("settlement", Some(PartyId(1))), None, [false, true]);
    one_verdict(tells("products for some", None), Some(1), [false, true]);
    one_verdict(tells("shares for some", None), Some(1), [false, true]);
    // A party that knows the key of the recipient opens what it likes, whatever the shares are.
    let knows = |key: GlobalKey| {
        let mut coefficient = Block::ZERO;
        lie(move |act| match act {
            JointAct::Says { what: "shares for some", bytes, .. } if !bytes.is_empty() => bytes[0] ^= 1,
            JointAct::Hears { what: "coefficients", bytes, .. } if !bytes.is_empty() => {
                let seed = Block::new(bytes.try_into().expect("a block"));
                coefficient = Prg::new(Backend::detect(), seed).block();
            }
            JointAct::Says { what: "products for some", bytes, .. } if !bytes.is_empty() => {
                let error = gf128::mul(Backend::detect(), coefficient, key.block());
                *bytes = xor(bytes, &error.to_bytes());
            }
            _ => {}
        })
    };
    one_verdict(knows, Some(1), [true, true]);
}

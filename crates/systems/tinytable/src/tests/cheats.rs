//! What a cheat of the malicious form comes to, which check names it, and what has left by then.

use comity_channel::{Channel, Counted, Mesh};
use comity_circuit::{Builder, Program, Recipients};
use comity_core::{Bits, Error, Kind, PartyId, Result, SessionId};
use comity_protocol::{Conduct, Job, Options, Party, Protocol};
use comity_share::bits::BitShares;
use comity_share::checks::WRONG_MAC;
use comity_testing::laws::{Outputs, bits, clear, rng};

use super::malicious::auth_prepared;
use super::{both, own};
use crate::TinyTable;
use crate::authenticated::run_as;
use crate::conduct::Act;

/// Gates of a layer.
const WIDTH: usize = 70;

/// Bytes of a message of a layer, and of a digest.
const LAYER: u64 = 9;
const DIGEST: u64 = 32;

/// Three layers of products, and a sum: one output for both, and one for party 0.
fn program() -> Program {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", WIDTH), b.input("y", WIDTH));
    let mut out = x.clone();
    for turn in 0..3 {
        let products: Vec<_> = (0..WIDTH).map(|i| b.and(out[i], y[(i + turn) % WIDTH])).collect();
        out = products.iter().zip(&x).map(|(&product, &x)| b.xor(product, x)).collect();
    }
    b.output("all", &out);
    b.output("one", &[out[0]]);
    Program::from_circuit(b.finish()).unwrap().with_recipients(1, Recipients::only(0)).unwrap()
}

fn values() -> [Bits; 2] {
    [bits(WIDTH, &mut rng(1)), bits(WIDTH, &mut rng(2))]
}

/// How a party ended: what it learned, and the bytes that it sent.
struct End {
    ended: Result<()>,
    learned: Vec<Bits>,
    sent: u64,
}

/// A party's run on tables, in the session of this name.
fn run(
    me: &mut Party<'_, '_>,
    session: &str,
    tables: &[u8],
    values: &[Bits],
    conduct: &mut dyn for<'a> Conduct<Act<'a>>,
) -> End {
    let (program, options) = (program(), Options::new(TinyTable.card()));
    let mut here = me.here;
    here.session = SessionId::derive(session, &[]);
    let mut ch = Counted::new(me.net.pair().unwrap().1);
    let (mut outputs, inputs) = (Outputs::default(), own(here.me, &program, values));
    let mut net = Mesh::of_two(here.me, &mut ch as &mut dyn Channel);
    let mut party = Party { net: &mut net, here, rng: me.rng, observer: &mut outputs };
    let job = Job { program: &program, inputs: &inputs, options: &options };
    let ended = run_as(&mut party, &job, Box::new(tables), conduct);
    drop(net);
    End { ended, learned: outputs.0.into_iter().map(|(_, value)| value).collect(), sent: ch.counts().sent }
}

/// A run in which party `liar` lies: how each ended, the honest one first.
fn lied(liar: u16, lie: impl Fn(Act<'_>) + Sync) -> [End; 2] {
    let kept = both(1, |me| auth_prepared(me, &program()));
    let mut ends = both(1, |me| {
        let mut honest = |_: Act<'_>| ();
        let mut liars = |act: Act<'_>| lie(act);
        let lies: &mut dyn for<'a> Conduct<Act<'a>> = if me.me().0 == liar { &mut liars } else { &mut honest };
        run(me, "test", &kept[usize::from(me.me().0)], &values(), lies)
    });
    if liar == 0 {
        ends.reverse();
    }
    ends
}

/// The party is caught: by its name, and by the check.
fn caught(end: &End, liar: u16) -> bool {
    matches!(&end.ended, Err(Error { kind: Kind::Misbehaved(check), party }) if *check == WRONG_MAC && *party == Some(PartyId(liar)))
}

/// A lie in one message of gates, the one of this number.
fn in_message(number: usize, lie: impl Fn(&mut BitShares) + Sync) -> impl Fn(Act<'_>) + Sync {
    let count = std::sync::atomic::AtomicUsize::new(0);
    move |act| {
        if let Act::Table(bits) = act
            && count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == number
        {
            lie(bits);
        }
    }
}

fn flip(bits: &mut BitShares, at: &[usize]) {
    at.iter().for_each(|i| bits.words_mut()[i / 64] ^= 1 << (i % 64));
}

/// Wrong bits, at each place of a message; and two whose MACs cancel in a sum, in one message and in two.
/// After its own digest the honest party sends nothing: no share of an output leaves.
#[test]
fn wrong_bits_are_caught_before_an_output_leaves() {
    let lies: [&[usize]; 6] = [&[0], &[63], &[64], &[69], &[3, 4], &[0, 69]];
    for liar in [0, 1] {
        for message in 0..3 {
            for lie in lies {
                let [honest, _] = lied(liar, in_message(message, |bits| flip(bits, lie)));
                assert!(caught(&honest, liar) && honest.learned.is_empty(), "{message} {lie:?}: {:?}", honest.ended);
                assert_eq!(honest.sent, LAYER + 3 * LAYER + DIGEST, "the input, the layers and a digest");
            }
        }
    }
    let [honest, _] = lied(1, |act| {
        if let Act::Table(bits) = act {
            flip(bits, &[5]);
        }
    });
    assert!(caught(&honest, 1), "one in each message: {:?}", honest.ended);
}

/// What is sent as a masked input is the choice of an input.
#[test]
fn another_masked_input_is_another_input() {
    let [honest, liar] = lied(1, |act| {
        if let Act::Input(masked) = act {
            masked.set(3, !masked.get(3));
        }
    });
    let mut chosen = values();
    let bit = chosen[1].get(3);
    chosen[1].set(3, !bit);
    let expected = clear(&program(), &chosen);
    assert!(honest.ended.is_ok() && honest.learned == expected, "{:?}", honest.ended);
    assert_eq!(liar.learned, expected[..1]);
}

/// A wrong share of an output's masks, with the MAC of the right one, and with none.
#[test]
fn wrong_output_shares_are_caught() {
    let [honest, _] = lied(1, |act| {
        if let Act::Output(shares) = act {
            shares.set(0, !shares.get(0));
        }
    });
    assert!(caught(&honest, 1) && honest.learned.is_empty(), "{:?}", honest.ended);
    let [honest, _] = lied(1, |act| {
        if let Act::Output(shares) = act {
            (3..5.min(shares.len())).for_each(|i| shares.set(i, !shares.get(i)));
        }
    });
    assert!(caught(&honest, 1) && honest.learned.is_empty(), "{:?}", honest.ended);
    let [honest, _] = lied(1, |act| {
        if let Act::OutputDigest(digest) = act {
            digest.fill(0);
        }
    });
    assert!(caught(&honest, 1), "{:?}", honest.ended);
}

/// The check withheld: a digest of nothing, after which the liar would take the output.
#[test]
fn who_withholds_the_check_gets_no_output() {
    for liar in [0, 1] {
        let [honest, cheat] = lied(liar, |act| {
            if let Act::Digest(digest) = act {
                digest.fill(7);
            }
        });
        assert!(caught(&honest, liar) && cheat.learned.is_empty(), "{:?}", honest.ended);
        assert_eq!(honest.sent, LAYER + 3 * LAYER + DIGEST);
    }
    // It asks for the output at once: its share of the output's masks stands where its digest should.
    let kept = both(1, |me| auth_prepared(me, &program()));
    let ends = both(1, |me| {
        if me.me().0 == 0 {
            return Some(run(me, "test", &kept[0], &values(), &mut |_: Act<'_>| ()));
        }
        let (_, ch) = me.net.pair().unwrap();
        // Masked inputs and layers of anything, and what an output would be.
        ch.send(&[0; 4 * LAYER as usize]).and_then(|()| ch.send(&[0; LAYER as usize + 32])).unwrap();
        ch.flush().unwrap();
        let mut heard = Vec::new();
        let mut byte = [0];
        while ch.recv(&mut byte).is_ok() {
            heard.push(byte[0]);
        }
        assert_eq!(heard.len() as u64, 4 * LAYER + DIGEST, "the input, the layers and a digest, and no share");
        None
    });
    assert!(caught(ends[0].as_ref().unwrap(), 1));
}

/// A party that has nothing and says whatever it hears: the honest one's masked input, bits and digest. The MACs
/// that are shown are not those that are seen, and the echo ends at the first digest.
#[test]
fn an_echo_is_caught_at_the_first_digest() {
    for honest in [0, 1] {
        let kept = both(1, |me| auth_prepared(me, &program()));
        let ends = both(1, |me| {
            if me.me().0 == honest {
                return Some(run(me, "test", &kept[usize::from(honest)], &values(), &mut |_: Act<'_>| ()));
            }
            let (_, ch) = me.net.pair().unwrap();
            let mut heard = 0;
            // Party 0's input is the first one; an echo at its place begins with anything.
            if honest == 1 {
                ch.post(&[0; LAYER as usize]).unwrap();
            }
            let mut byte = [0];
            while ch.recv(&mut byte).is_ok() {
                heard += 1;
                if honest == 0 || heard > LAYER {
                    ch.post(&byte).unwrap();
                }
            }
            assert_eq!(heard, 4 * LAYER + DIGEST, "the input, the layers and a digest, and no share");
            None
        });
        let end = ends[usize::from(honest)].as_ref().unwrap();
        assert!(caught(end, 1 - honest) && end.learned.is_empty(), "{:?}", end.ended);
    }
}

/// A digest of another session, on the same tables and inputs, so the same bits and MACs; and tables of another deal.
#[test]
fn what_was_shown_in_another_session_proves_nothing_here() {
    let kept = both(1, |me| auth_prepared(me, &program()));
    let ends = |sessions: [&'static str; 2], kept: &[Vec<u8>; 2]| {
        both(1, |me| {
            let at = usize::from(me.me().0);
            run(me, sessions[at], &kept[at], &values(), &mut |_: Act<'_>| ())
        })
    };
    assert!(ends(["one", "one"], &kept).iter().all(|end| end.ended.is_ok()));
    for end in ends(["one", "another"], &kept).iter().zip([1, 0]) {
        assert!(caught(end.0, end.1), "{:?}", end.0.ended);
    }
    let mut renamed = kept.clone();
    renamed[1][20] ^= 1;
    for end in ends(["one", "one"], &renamed).iter().zip([1, 0]) {
        assert!(caught(end.0, end.1), "another deal: {:?}", end.0.ended);
    }
    // Tables that were made in two goes.
    let other = both(2, |me| auth_prepared(me, &program()));
    let mixed = [kept[0].clone(), other[1].clone()];
    assert!(ends(["one", "one"], &mixed).iter().all(|end| end.ended.is_err() && end.learned.is_empty()));
}

/// The order of an honest run: inputs, layers, a digest, then the shares of an output with a digest.
#[test]
fn an_output_leaves_after_the_check() {
    let [honest, other] = lied(1, |_| ());
    assert!(honest.ended.is_ok() && other.ended.is_ok());
    let common = LAYER + 3 * LAYER + DIGEST + LAYER + DIGEST;
    // Party 1's share of the output that is party 0's alone. All that was shown is settled: no digest comes before it.
    assert_eq!([honest.sent, other.sent], [common, common + 1 + DIGEST]);
    assert_eq!(honest.learned, clear(&program(), &values()));
}

/// The bits of an honest party are uniform whatever the inputs are, also after lies that it has not found
/// out: chi-square over the 8 classes of the bits of three layers, for inputs of zeros and of ones.
#[test]
fn what_a_liar_sees_says_nothing_of_inputs() {
    const LANES: usize = 8192;
    let program = {
        let mut b = Builder::new();
        let (x, y) = (b.input("x", LANES), b.input("y", LANES));
        let mut out = x.clone();
        for turn in 0..3 {
            out = (0..LANES).map(|i| b.and(out[i], y[(i + turn) % LANES])).collect();
        }
        b.output("out", &out);
        Program::from_circuit(b.finish()).unwrap()
    };
    let kept = both(3, |me| auth_prepared(me, &program));
    for lies in [&[][..], &[0], &[0, 1], &[2]] {
        for case in 0..4 {
            let values = [case & 1, case >> 1].map(|bit| (0..LANES).map(|_| bit == 1).collect::<Bits>());
            let heard = both(3, |me| {
                let (here, options) = (me.here, Options::new(TinyTable.card()));
                let ch = comity_channel::Recorded::new(me.net.pair().unwrap().1, 1 << 24);
                let recorder = ch.recorder();
                let mut net = Mesh::of_two(here.me, ch);
                let inputs = own(here.me, &program, &values);
                let job = Job { program: &program, inputs: &inputs, options: &options };
                let mut number = 0;
                // Every other bit of the messages of these numbers is a lie.
                let mut lie = |act: Act<'_>| {
                    if let Act::Table(bits) = act {
                        if here.me == PartyId(1) && lies.contains(&number) {
                            bits.words_mut().iter_mut().for_each(|word| *word ^= 0x5555_5555_5555_5555);
                        }
                        number += 1;
                    }
                };
                let mut party = Party { net: &mut net, here, rng: me.rng, observer: &mut () };
                let ended = run_as(&mut party, &job, Box::new(&kept[usize::from(here.me.0)][..]), &mut lie);
                assert!(here.me == PartyId(1) || ended.is_ok() == lies.is_empty());
                drop(net);
                recorder.recording().sent
            });
            let layer = |i: usize| Bits::from_bytes(&heard[0][(1 + i) * LANES / 8..], LANES);
            let layers = [layer(0), layer(1), layer(2)];
            let mut classes = [0_f64; 8];
            for lane in 0..LANES {
                classes[(0..3).map(|i| usize::from(layers[i].get(lane)) << i).sum::<usize>()] += 1.0;
            }
            let expected = LANES as f64 / 8.0;
            let chi: f64 = classes.iter().map(|count| (count - expected).powi(2) / expected).sum();
            // Seven degrees of freedom: 35 by chance with probability 10^-5.
            assert!(chi < 35.0, "lies {lies:?}, inputs {case:02b}: chi-square {chi}");
        }
    }
}

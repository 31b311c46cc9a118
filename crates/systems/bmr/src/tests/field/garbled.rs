//! XOR gates in rows: over an ideal protocol for shares in a field, in a run and ahead of it.

use std::collections::HashSet;

use comity_channel::Channel;
use comity_circuit::Builder;
use comity_field_shares::Field;
use comity_protocol::Honest;
use comity_testing::assert_waits;

use super::*;
use crate::garbling::Garbling;
use crate::{prepare_with, use_up};

/// Garbling in a run.
struct InARun;

/// In two steps, of which the second one opens the rows.
struct Ahead;

fn masks(me: &mut Party<'_, '_>) -> FieldMasks<'static> {
    ideal_masks(me.net, me.here, Xor::Garbled).expect("nothing is said")
}

impl Protocol for InARun {
    fn card(&self) -> &'static Card {
        &super::super::CARD
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        let mut masks = masks(me);
        run_with(me, Ground { masks: &mut masks, opener: Opener::Balanced }, job)
    }
}

/// Runs a job ahead, and then on what it wrote.
fn in_two_steps(
    me: &mut Party<'_, '_>,
    job: &Job<'_>,
    mut conducts: [&mut dyn for<'a> FnMut(GarblingAct<'a>); 2],
) -> Result<()> {
    let (mut kept, mut masks) = (Vec::new(), masks(me));
    let ground = Ground { masks: &mut masks, opener: Opener::Collector };
    prepare_with(&mut me.sub("ahead"), ground, job.program, &mut kept, &mut conducts[0])?;
    let mut options = Options::new(SpdzBmr.card());
    options.set(me.me(), "opener", "collector").unwrap();
    let mut kept = &kept[..];
    use_up(me, &mut kept, &Job { options: &options, ..*job }, &mut conducts[1])?;
    assert!(kept.is_empty(), "all that was written is read");
    Ok(())
}

impl Protocol for Ahead {
    fn card(&self) -> &'static Card {
        &super::super::CARD
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        in_two_steps(me, job, [&mut |act| Honest.before(act), &mut |act| Honest.before(act)])
    }
}

mod in_a_run {
    use super::*;

    comity_testing::laws!(InARun, Laws { deviations: 60, listened: 0, constants: None, ..Laws::USUAL });
}

mod ahead {
    use super::*;

    comity_testing::laws!(Ahead, Laws { deviations: 60, listened: 0, constants: None, ..Laws::USUAL });
}

/// A party's run, ahead and then, of a program that has no inputs of others.
fn watched<const N: usize, T: Send>(
    program: &Program,
    seed: u128,
    does: impl Fn(&mut Party<'_, '_>, &Job<'_>) -> T + Sync,
) -> [T; N] {
    Net::<N>::run(|net| {
        let here = super::super::place(net, &format!("garbled {seed}"));
        let own = |input: &comity_circuit::Input| input.owner.includes(here.me).then(|| Bits::zeros(input.bits));
        let inputs: Vec<_> = program.inputs().iter().map(own).collect();
        let mut rng = laws::rng(seed ^ u128::from(here.me.0));
        let (mut outputs, options) = (Outputs::default(), Options::new(SpdzBmr.card()));
        let mut party = Party { net, here, rng: &mut rng, observer: &mut outputs };
        does(&mut party, &Job { program, inputs: &inputs, options: &options })
    })
}

/// Ahead no row leaves, nor a share of one; in a run shares of rows do when all public values are there, and
/// keys after them. That is what makes a PRF enough.
#[test]
fn rows_leave_when_inputs_are_fixed() {
    let program = Program::from_circuit(laws::chain_and_layer(5)).unwrap();
    let logs = watched::<3, _>(&program, 1, |me, job| {
        let logs = [(); 2].map(|()| Mutex::new(Vec::new()));
        let log = |i: usize, act: GarblingAct<'_>| {
            let what = match act {
                GarblingAct::Public(..) => "public values",
                GarblingAct::Shares(..) => "shares",
                GarblingAct::Rows(..) => "rows",
                GarblingAct::Keys(..) => "keys",
                _ => return,
            };
            let mut log = logs[i].lock().unwrap();
            if log.last() != Some(&what) {
                log.push(what);
            }
        };
        in_two_steps(me, job, [&mut |act| log(0, act), &mut |act| log(1, act)]).unwrap();
        logs.map(|log| log.into_inner().unwrap())
    });
    for log in logs {
        assert_eq!(log, [vec![], vec!["public values", "shares", "keys", "rows"]]);
    }
}

/// Gates that have one wire, or one and its negation, at both sides are computed right. That their rows hide
/// the keys of the output is a test of `row_prf`.
#[test]
fn gates_of_one_wire_are_right() {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 1)[0], b.input("y", 1)[0]);
    let not = b.not(x);
    let both = b.and(x, not);
    let (sum, other) = (b.xor(both, y), b.xor(x, y));
    let all = b.and(sum, other);
    b.output("none", &[both]);
    b.output("all", &[all]);
    b.output("x", &[x, not]);
    let program = Program::from_circuit(b.finish()).unwrap().with_owner(1, 1u16).unwrap();
    for bits in 0..4u8 {
        let inputs = [0, 1].map(|i| Bits::from_bytes(&[bits >> i & 1], 1));
        let setting = laws::Setting {
            params: comity_core::Params::default(),
            backend: comity_core::Backend::detect(),
            options: &[],
            session: bits.into(),
        };
        laws::check(&InARun, 2, &program, &inputs, setting);
        laws::check(&Ahead, 2, &program, &inputs, setting);
    }
}

/// Each wire has its own keys and offset, another run has others, and so have inputs and constants: what a
/// party keeps of its keys, and of shares, has no block twice.
#[test]
fn keys_and_offsets_are_of_one_wire() {
    let program = Program::from_circuit(laws::chain_and_layer(6)).unwrap();
    let mut seen = HashSet::new();
    for seed in [1 << 64, 2 << 64] {
        let kept = watched::<2, _>(&program, seed, |me, job| {
            let (mut kept, mut masks) = (Vec::new(), masks(me));
            let mut keys = Vec::new();
            let mut note = |act: GarblingAct<'_>| {
                if let GarblingAct::NewKey(key) = act {
                    keys.push(key.to_u128());
                }
            };
            let ground = Ground { masks: &mut masks, opener: Opener::Balanced };
            prepare_with(me, ground, job.program, &mut kept, &mut note).unwrap();
            (keys, kept)
        });
        for (keys, kept) in kept {
            // Behind the head and the masks of inputs and outputs there are both keys of each wire.
            let blocks = |at: usize| {
                kept[at..].chunks_exact(16).map(|block| u128::from_le_bytes(block.try_into().expect("16 bytes")))
            };
            let at = (0..16).find(|&at| blocks(at).any(|block| block == keys[0]));
            let of_keys: Vec<u128> = blocks(at.expect("the keys are kept")).collect();
            let pairs: Vec<_> = of_keys.windows(2).filter(|pair| keys.contains(&pair[0])).collect();
            assert_eq!(pairs.len(), keys.len());
            for pair in pairs {
                for secret in [pair[0], pair[1], pair[0] ^ pair[1]] {
                    assert!(seen.insert(secret), "twice the same");
                }
            }
        }
    }
}

/// Between two, to the byte: a share of a row leaves when the peer's public values are there, and keys when
/// its digest of all public values is.
#[test]
fn nothing_is_told_before_what_it_waits_for() {
    let program = Program::from_circuit(laws::chain_and_layer(5)).unwrap();
    let kept = watched::<2, _>(&program, 1, |me, job| {
        let (mut kept, mut masks) = (Vec::new(), masks(me));
        let ground = Ground { masks: &mut masks, opener: Opener::Balanced };
        prepare_with(me, ground, job.program, &mut kept, &mut Honest).unwrap();
        kept
    });
    let run = |party: u16| {
        let (kept, program) = (&kept[usize::from(party)], &program);
        move |ch: &mut dyn Channel| {
            let mut net = Mesh::of_two(PartyId(party), ch);
            let here = super::super::place(&net, "garbled 1");
            let own = |input: &comity_circuit::Input| input.owner.includes(here.me).then(|| Bits::zeros(input.bits));
            let inputs: Vec<_> = program.inputs().iter().map(own).collect();
            let (mut rng, mut outputs, options) =
                (laws::rng(party.into()), Outputs::default(), Options::new(SpdzBmr.card()));
            let mut me = Party { net: &mut net, here, rng: &mut rng, observer: &mut outputs };
            use_up(&mut me, &mut &kept[..], &Job { program, inputs: &inputs, options: &options }, &mut Honest)
        }
    };
    let bits =
        |party| program.inputs().iter().filter(|input| input.owner.includes(party)).map(|i| i.bits).sum::<usize>();
    // Public values, and a half of the seed of zero-shares.
    let [first, second] = [0, 1].map(|party| bits(PartyId(party)).div_ceil(8) + 16);
    // A digest, and shares of the rows that the other one collects: pairs of rows, two entries each.
    let outputs: usize = program.outputs().iter().map(|output| output.bits).sum();
    let gates = program.and_gates() as usize + crate::planned::garbled_xors(&program) as usize;
    let (pairs, pair) = (2 * gates + outputs, 2 * 2 * 16);
    let shares = [pairs / 2, pairs - pairs / 2].map(|of| 32 + of * pair);
    for (party, [own, theirs], [to_own, to_theirs]) in
        [(0, [first, second], shares), (1, [second, first], [shares[1], shares[0]])]
    {
        let waits = [("shares of rows", theirs, own), ("keys, and then rows", theirs + to_own, own + to_theirs)];
        assert_waits(run(party), run(1 - party), &waits);
    }
}

/// Public values that one party hears otherwise end a run before a key leaves an honest party.
#[test]
fn no_key_leaves_before_all_heard_the_same() {
    let program = Program::from_circuit(laws::chain_and_layer(5)).unwrap();
    let ends = watched::<3, _>(&program, 1, |me, job| {
        let (liar, mut keys) = (me.me() == PartyId(0), 0);
        let mut then = |act: GarblingAct<'_>| match act {
            GarblingAct::Public(PartyId(1), bits) if liar => bits[0] ^= 1,
            GarblingAct::Keys(..) => keys += 1,
            _ => {}
        };
        let end = in_two_steps(me, job, [&mut |act| Honest.before(act), &mut then]);
        (end.map_err(|error| error.check()), keys)
    });
    assert!(ends[1..].iter().all(|end| *end == (Err(Some(EQUIVOCATION)), 0)), "{ends:?}");
}

/// A constant's key of the value that it has not is secret, and drawn: with a known one two rows of a gate
/// would open.
#[test]
fn constants_have_one_key_that_is_known() {
    let mut seen = HashSet::new();
    for seed in 1..3 {
        let session = comity_core::SessionId::derive("test", &[b"constants"]);
        let (backend, one) = (comity_core::Backend::detect(), vec![Block::ONE; 2]);
        let mut garbling = Garbling::new(backend, &session, [0, 2], None, one, Block::from_u128(seed));
        garbling.grow(2);
        for constant in garbling.slots.chunks_exact(4) {
            assert!(constant[2] == Block::ZERO && constant[3] != Block::ZERO);
        }
        assert!(seen.insert(garbling.slots[3].to_u128()));
    }
}

//! Two phases, and material of the store: the same outputs, each batch once, and batches that do not belong together.

use comity_channel::{MemoryChannel, Mesh};
use comity_circuit::{Builder, Program, Recipients, Wire};
use comity_core::{Bits, Block, Error, Kind, PartyId, Result};
use comity_protocol::{Ahead, Empty, Job, Party, Protocol};
use comity_testing::laws::{Outputs, bits, chain_and_layer, clear, rng};
use comity_testing::{Kept, Pair};

use super::dealer::{here, options};
use crate::checks;
use crate::protocol::Ag;
use crate::stored::Head;

/// What a run on this takes from the store.
fn material(stored: &str) -> &'static str {
    if stored == "shares" { "shares" } else { "authenticated garbling" }
}

/// Makes material for a program in a session of its own; both parties' shelves.
pub(crate) fn prepare(program: &Program, garbler: u16, session: u64, stored: &'static str) -> [Kept; 2] {
    let party = |ch: &mut MemoryChannel, me: u16| {
        let (mut options, here) = (options(garbler), here(me, session));
        options.set(PartyId(me), "stored", stored).unwrap();
        let make = Ag.needs(program, &options, here.params).unwrap().remove(0);
        let (mut kept, mut net) = (Kept::new(material(stored), []), Mesh::of_two(here.me, ch));
        let (mut rng, mut observer) = (rng(u128::from(session) << 8 | u128::from(me)), Outputs::default());
        let mut me = Party { net: &mut net, here, rng: &mut rng, observer: &mut observer };
        let together = make.batches;
        let program = (stored == "garbling").then_some(program);
        Ag.prepare(&mut me, &Ahead { program, options: &options, make: &make, together }, &mut Empty, &mut kept)
            .unwrap();
        let bytes: u64 = kept.batches.iter().map(|batch| batch.len() as u64).sum();
        assert!(kept.batches.len() as u64 == make.batches && bytes <= make.bytes, "{bytes} of {}", make.bytes);
        kept
    };
    let (a, b) = Pair::run(|ch| party(ch, 0), |ch| party(ch, 1));
    [a, b]
}

/// Runs a program on material; what each party learns.
fn run(program: &Program, inputs: &[Bits], garbler: u16, [a, b]: [&mut Kept; 2]) -> [Result<Vec<(usize, Bits)>>; 2] {
    let party = |ch: &mut MemoryChannel, me: u16, kept: &mut Kept| {
        let (options, here) = (options(garbler), here(me, 1000));
        let own = program.inputs().iter().zip(inputs);
        let own: Vec<_> = own.map(|(i, value)| i.owner.includes(me).then(|| value.clone())).collect();
        let (mut net, mut rng, mut outputs) = (Mesh::of_two(here.me, ch), rng(u128::from(me)), Outputs::default());
        let mut me = Party { net: &mut net, here, rng: &mut rng, observer: &mut outputs };
        Ag.run(&mut me, &Job { program, inputs: &own, options: &options }, kept)?;
        Ok(outputs.0)
    };
    let (a, b) = Pair::run(|ch| party(ch, 0, a), |ch| party(ch, 1, b));
    [a, b]
}

/// The seed of the labels of what is garbled ahead is drawn for each.
#[test]
fn labels_are_drawn() {
    let program = Program::from_circuit(chain_and_layer(5)).unwrap();
    let seed = |session| {
        let [kept, _] = prepare(&program, 0, session, "garbling");
        Head::read(&mut &kept.batches[0][..], &program, PartyId(0), PartyId(0)).unwrap().block
    };
    let seeds = [seed(1), seed(2)];
    assert!(seeds[0] != seeds[1] && !seeds.contains(&Block::ZERO));
}

/// Whether it ended with these words.
fn says(ended: &Result<Vec<(usize, Bits)>>, words: &str) -> bool {
    matches!(ended, Err(Error { kind: Kind::InvalidInput(message), .. }) if message.contains(words))
}

/// Whether what is stored is refused with these words.
fn spoilt(ended: &Result<Vec<(usize, Bits)>>, words: &str) -> bool {
    matches!(ended, Err(Error { kind: Kind::Store(message), .. }) if message.contains(words))
}

/// Gates in turns, side by side, and after an output; outputs to one and to all.
fn winding() -> (Program, Vec<Bits>) {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 40), b.input("y", 40));
    let next: Vec<Wire> = (0..40)
        .map(|i| {
            let and = b.and(x[i], y[(i + 1) % 40]);
            b.xor(and, x[(i + 3) % 40])
        })
        .collect();
    b.output("next", &next);
    let program = Program::iterate(b.finish(), 1100, &[(0, 0)]).unwrap();
    assert!(program.and_gates() > crate::walk::CHUNK as u64);
    (program.with_recipients(0, Recipients::only(1)).unwrap(), vec![bits(40, &mut rng(3)), bits(40, &mut rng(4))])
}

#[test]
fn prepared_runs_learn_what_others_do() {
    let wide = Program::map(chain_and_layer(50), 7, &[1]).unwrap();
    let inputs = wide.inputs().iter().map(|input| bits(input.bits, &mut rng(1))).collect();
    for (program, inputs) in [(wide, inputs), winding()] {
        let expected = clear(&program, &inputs);
        for garbler in [0, 1] {
            for stored in ["garbling", "shares"] {
                let mut kept = prepare(&program, garbler, 1, stored);
                let [a, b] = &mut kept;
                let ended = run(&program, &inputs, garbler, [&mut *a, &mut *b]);
                for (me, ended) in (0..).zip(ended) {
                    let mine = program.outputs().iter().zip(&expected).enumerate();
                    let mine = mine.filter(|(_, (output, _))| output.to.includes(PartyId(me)));
                    assert!(ended.unwrap() == mine.map(|(i, (_, v))| (i, v.clone())).collect::<Vec<_>>(), "{stored}");
                }
                assert_eq!(a.notes(), if stored == "shares" { "()" } else { "" });
                // Once.
                let again = run(&program, &inputs, garbler, [a, b]);
                assert!(again.iter().all(|ended| says(ended, "is left")), "{:?}", again[0]);
            }
        }
    }
}

#[test]
fn batches_of_two_sessions_do_not_fit() {
    let program = Program::from_circuit(chain_and_layer(20)).unwrap();
    let inputs = [bits(20, &mut rng(1)), bits(20, &mut rng(2))];
    let ([mut a, _], [_, mut b]) = (prepare(&program, 0, 1, "garbling"), prepare(&program, 0, 2, "garbling"));
    let ended = run(&program, &inputs, 0, [&mut a, &mut b]);
    let named = |ended: &Result<_>| matches!(ended, Err(Error { kind: Kind::Misbehaved(check), .. }) if checks::ALL.contains(check));
    assert!(named(&ended[0]) || named(&ended[1]), "{:?} {:?}", ended[0], ended[1]);
    assert!(ended.iter().all(Result::is_err));
}

#[test]
fn what_is_no_batch_is_refused() {
    let program = Program::from_circuit(chain_and_layer(20)).unwrap();
    let other = Program::from_circuit(chain_and_layer(21)).unwrap();
    let inputs = [bits(20, &mut rng(1)), bits(20, &mut rng(2))];
    let [good, peers] = prepare(&program, 0, 1, "garbling").map(|mut kept| kept.batches.remove(0).unwrap());
    let damaged = |bytes: Vec<u8>, program: &Program, inputs: &[Bits]| {
        let mut kept = [bytes, peers.clone()].map(|batch| Kept::new(material("garbling"), [batch]));
        let [a, b] = &mut kept;
        run(program, inputs, 0, [a, b]).into_iter().next().unwrap()
    };
    let flipped = |byte: usize, bit: u8| {
        let mut bytes = good.clone();
        bytes[byte] ^= 1 << bit;
        bytes
    };
    for (bytes, words) in [
        (flipped(3, 1), "this version"),
        (flipped(16, 0), "other roles"),
        (flipped(17, 0), "other roles"),
        (flipped(20, 0), "another program"),
        (flipped(50, 0), "its global key does not end in a one bit"),
        // The key of the first input's first mask.
        (flipped(50 + 32 + 16, 0), "the key of a share does not end in a zero bit"),
        (good[..40].to_vec(), "cannot be read"),
        (good[..good.len() - 1].to_vec(), "cannot be read"),
        ([&good[..], &[0]].concat(), "more bytes"),
    ] {
        let ended = damaged(bytes, &program, &inputs);
        assert!(spoilt(&ended, words), "{words}: {ended:?}");
    }
    let inputs = [bits(21, &mut rng(1)), bits(21, &mut rng(2))];
    assert!(spoilt(&damaged(good.clone(), &other, &inputs), "another program"));
}

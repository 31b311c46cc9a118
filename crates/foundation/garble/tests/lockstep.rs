//! Memory, choices and inputs of copies in lockstep; and a program over copies of which some are evaluated.

use comity_circuit::{Call, Program};
use comity_core::{Backend, Bits, Block, Delta, PartyId, Prg, Result, SessionId};
use comity_garble::lockstep::{
    self, CopyChoice, GarblingParty, LabelRows, LabelSlots, Lockstep, LockstepSide, PART, expand, gate_keys, joined,
    most_slots, separated,
};
use comity_garble::{LockstepEvaluator, LockstepGarbler, Part};
use comity_testing::laws::{Outputs, bits, clear, random_program, rng};

const COPIES: usize = 7;

fn blocks<const N: usize>(values: [u128; N]) -> [Block; N] {
    values.map(Block::from_u128)
}

#[test]
fn rows_are_added_both_ways_copied_and_written_by_columns() {
    let mut rows = LabelRows::new(2, 4).expect("memory");
    rows.get_mut(0, 1).copy_from_slice(&blocks([1, 2]));
    rows.get_mut(3, 1).copy_from_slice(&blocks([8, 12]));
    rows.add(0, 3, 1);
    assert_eq!(rows.get(3, 1), blocks([9, 14]));
    rows.add(3, 0, 1);
    assert_eq!(rows.get(0, 1), blocks([8, 12]));
    rows.copy(0, 1, 1);
    rows.put_column(1, &[2, 0], &blocks([5, 6]));
    assert_eq!(rows.get(0, 3), blocks([8, 6, 8, 12, 0, 5]));
    assert_eq!(rows.width(), 2);
}

#[test]
fn rows_that_do_not_fit_the_memory_are_refused() {
    let error = LabelRows::new(3, usize::MAX).err().expect("more memory than there is");
    assert!(error.to_string().contains("3 copies do not fit"), "{error}");
}

/// Each copy's column is its stream, whatever is drawn at once; other rows stay as they are.
#[test]
fn drawn_columns_are_the_streams_of_the_copies() {
    let streams = || (0..3).map(|seed| rng(60 + seed)).collect::<Vec<Prg>>();
    let mut rows = LabelRows::new(3, 202).expect("memory");
    let mut drawing = streams();
    rows.draw(1, 130, drawing.iter_mut());
    rows.draw(131, 70, drawing.iter_mut());
    for (k, mut stream) in streams().into_iter().enumerate() {
        assert!((1..201).all(|wire| rows.get(wire, 1)[k] == stream.block()), "copy {k}");
        assert!(rows.get(0, 1)[k] == Block::ZERO && rows.get(201, 1)[k] == Block::ZERO);
    }
    LabelRows::new(0, 5).expect("memory").draw(0, 5, [].iter_mut());
}

#[test]
fn choices_name_each_copy_once() {
    let choice = CopyChoice::new(&Bits::from_bytes(&[0b0110], 4));
    assert_eq!((&choice.evaluated[..], &choice.checked[..], choice.copies()), (&[1, 2][..], &[0, 3][..], 4));
    assert_eq!(choice.evaluated_bits(), Bits::from_bytes(&[0b0110], 4));
    assert_eq!(choice.checked_bits(), Bits::from_bytes(&[0b1001], 4));
    let mut draws = [0, 0, 4].into_iter().map(|bits| Bits::from_bytes(&[bits], 3));
    assert_eq!(CopyChoice::nonempty(|| draws.next().expect("a draw")).evaluated, [2]);
    let smallest = CopyChoice::smallest([9, u128::MAX, 0, 3].into_iter(), 2);
    assert_eq!((&smallest.evaluated[..], &smallest.checked[..]), (&[2, 3][..], &[0, 1][..]));
}

/// Owners of inputs are told apart by who garbles, and inputs that were joined come apart again.
#[test]
fn inputs_come_apart_as_they_were_joined() {
    for seed in 0..6 {
        let mut rng = rng(70 + seed);
        let program = random_program(2, 20, true, &mut rng);
        let values: Vec<Bits> = program.inputs().iter().map(|input| bits(input.bits, &mut rng)).collect();
        for garbler in [PartyId(0), PartyId(1)] {
            let of = |party: PartyId| {
                let pairs = program.inputs().iter().zip(&values);
                let own: Vec<_> =
                    pairs.map(|(i, v)| (i.owner.includes(party) && i.bits > 0).then(|| v.clone())).collect();
                joined(&program, party, &own).expect("the party's inputs")
            };
            let apart = separated(&program, garbler, &of(garbler), &of(garbler.other()));
            assert!(apart.iter().zip(&values).all(|(apart, value)| apart.as_ref() == Some(value)));
        }
    }
}

#[test]
fn what_is_expanded_depends_on_all_that_names_it() {
    let expanded = |context: &str, session: &[u8], j, secret| {
        let mut out = [0; 40];
        expand(context, &SessionId::derive("a test", &[session]), j, Block::from_u128(secret), &mut out);
        out
    };
    let all = [
        expanded("a", b"s", 1, 2),
        expanded("b", b"s", 1, 2),
        expanded("a", b"t", 1, 2),
        expanded("a", b"s", 3, 2),
        expanded("a", b"s", 1, 4),
    ];
    assert!(all.iter().enumerate().all(|(i, one)| all[..i].iter().all(|other| other != one)));
    assert_eq!(all[0], expanded("a", b"s", 1, 2));
}

/// A garbler of all copies, or an evaluator of some: tables are kept here, and outputs.
struct Side<K, F> {
    lockstep: Lockstep<K>,
    /// The rows of both inputs.
    inputs: [LabelRows; 2],
    outputs: Vec<Block>,
    gates: F,
}

impl<K: LabelSlots, F: FnMut(&mut K, &Part<'_>)> LockstepSide for Side<K, F> {
    fn input(&mut self, party: GarblingParty, from: usize, at: usize, bits: usize) {
        self.lockstep.wires.get_mut(at, bits).copy_from_slice(self.inputs[party as usize].get(from, bits));
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        lockstep::call(&mut self.lockstep, call, |lockstep, part| {
            assert!(part.ands() <= PART);
            (self.gates)(&mut lockstep.kernel, part);
            Ok(())
        })
    }

    fn reveal(&mut self, _: usize, at: usize, bits: usize) -> Result<()> {
        self.outputs.extend_from_slice(self.lockstep.wires.get(at, bits));
        Ok(())
    }
}

fn widths(program: &Program, garbler: PartyId) -> [usize; 2] {
    let bits = |party: PartyId| program.inputs().iter().filter(|i| i.owner.includes(party)).map(|i| i.bits).sum();
    [bits(garbler), bits(garbler.other())]
}

#[test]
fn copies_that_are_evaluated_compute_what_is_computed_in_the_clear() {
    for seed in 0..8 {
        let mut rng = rng(80 + seed);
        let program = random_program(2, 600, true, &mut rng);
        let values: Vec<Bits> = program.inputs().iter().map(|input| bits(input.bits, &mut rng)).collect();
        let garbler = PartyId(seed as u16 % 2);
        let (start, slots) = (gate_keys(&SessionId::derive("lockstep", &[])), most_slots(program.lowered()));
        let deltas: Vec<Delta> = (0..COPIES).map(|_| Delta::new(rng.block())).collect();
        let sizes = widths(&program, garbler);
        let labels = sizes.map(|bits| {
            let mut rows = LabelRows::new(COPIES, bits).expect("memory");
            rng.fill_blocks(rows.get_mut(0, bits));
            rows
        });
        let wires = program.wires() as usize;
        let memory = |width| LabelRows::new(width, wires).expect("memory");

        let choice = CopyChoice::new(&Bits::from_bytes(&[0b0101_1010], COPIES));
        let (mut next, width) = ([0; 2], choice.evaluated.len());
        let mut active = sizes.map(|bits| LabelRows::new(width, bits).expect("memory"));
        for (input, value) in program.inputs().iter().zip(&values) {
            let party = GarblingParty::of(input.owner, garbler) as usize;
            for bit in value.iter() {
                let zeros = labels[party].get(next[party], 1);
                for (to, &j) in active[party].get_mut(next[party], 1).iter_mut().zip(&choice.evaluated) {
                    *to = zeros[j] ^ deltas[j].block().masked(bit);
                }
                next[party] += 1;
            }
        }

        let mut tables = Vec::new();
        let mut garbling = Side {
            lockstep: Lockstep {
                kernel: LockstepGarbler::new(Backend::detect(), &deltas, start, slots),
                wires: memory(COPIES),
            },
            inputs: labels,
            outputs: Vec::new(),
            gates: |kernel: &mut LockstepGarbler, part: &Part<'_>| {
                let first = tables.len();
                tables.resize(first + 2 * COPIES * part.ands(), Block::ZERO);
                kernel.garble(part, &mut tables[first..]);
            },
        };
        lockstep::run(&program, garbler, &mut garbling, &mut Outputs::default()).expect("a run");
        let zeros = garbling.outputs;

        let mut next = 0;
        let kernel = LockstepEvaluator::of(Backend::detect(), &choice.evaluated, COPIES, start, slots);
        let mut evaluating = Side {
            lockstep: Lockstep { kernel, wires: memory(width) },
            inputs: active,
            outputs: Vec::new(),
            gates: |kernel: &mut LockstepEvaluator, part: &Part<'_>| {
                let len = 2 * COPIES * part.ands();
                kernel.evaluate(part, &tables[next..next + len]);
                next += len;
            },
        };
        lockstep::run(&program, garbler, &mut evaluating, &mut Outputs::default()).expect("a run");
        let found = evaluating.outputs;

        let wanted: Vec<bool> =
            clear(&program, &values).iter().flat_map(|value| value.iter().collect::<Vec<_>>()).collect();
        assert_eq!(found.len(), wanted.len() * width);
        for ((bit, active), zeros) in wanted.iter().zip(found.chunks_exact(width)).zip(zeros.chunks_exact(COPIES)) {
            for (active, &j) in active.iter().zip(&choice.evaluated) {
                assert!(*active == zeros[j] ^ deltas[j].block().masked(*bit), "copy {j}");
            }
        }
    }
}

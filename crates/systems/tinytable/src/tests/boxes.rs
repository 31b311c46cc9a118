//! What is looked up whole: which circuits, what stands in their tables, what goes over the wire, and what is drawn.

use comity_channel::{Channel, Mesh, Recorded};
use comity_circuit::{Builder, Circuit, Goal, LookupTable, Program, ProgramBuilder, Recipients};
use comity_core::{Bits, Kind, PartyId, Result};
use comity_gmw::table::PublicTable;
use comity_library::aes::table_program;
use comity_library::table_circuit;
use comity_protocol::{Job, Options, Party, Protocol};
use comity_share::bits::BitShares;
use comity_sharing::SharedEngine;
use comity_testing::laws::{Outputs, bits, clear, rng};

use super::{both, online, online_as, own, prepared, prepared_as};
use crate::TinyTableSemiHonest;
use crate::boxes::{Boxed, Boxing};
use crate::kept::{Tables, TablesHead};
use crate::masked::{LookUps, MaskedSharing};
use crate::semi_honest::FORM;

/// A table of rows that follow no rule.
fn table(delta: usize, sigma: usize) -> LookupTable {
    let mut random = rng(delta as u128);
    let row = |_| bits(sigma, &mut random).to_bytes();
    LookupTable::new(delta, sigma, (0..1 << delta).flat_map(row).collect()).unwrap()
}

/// Calls of circuits on their own results, `copies` side by side, on an input of either party.
fn calls(circuits: Vec<Circuit>, delta: u64, copies: u64) -> Program {
    let mut p = ProgramBuilder::for_goal("boxes", Goal::Depth);
    let [x, y] = [0, 1].map(|party| p.input(format!("x{party}"), party, delta * copies));
    for circuit in circuits {
        let circuit = p.circuit(circuit);
        for value in [x, y] {
            let each = [(value.slice(0, delta).span(), delta as i64)];
            p.map(circuit, copies, &each, &each);
        }
    }
    p.reveal("x", Recipients::All, x);
    p.reveal("y", Recipients::only(1), y);
    p.finish().unwrap()
}

/// Each bit by the AND of the two after it, in two layers: no table to a builder.
fn mixed(width: usize) -> Circuit {
    let mut b = Builder::new();
    let mut x = b.input("x", width);
    for _ in 0..2 {
        let products: Vec<_> = (0..width).map(|i| b.and(x[(i + 1) % width], x[(i + 2) % width])).collect();
        x = products.iter().zip(&x).map(|(&product, &bit)| b.xor(product, bit)).collect();
    }
    b.output("y", &x);
    b.finish()
}

fn values(program: &Program) -> Vec<Bits> {
    program.inputs().iter().map(|input| bits(input.bits, &mut rng(5))).collect()
}

/// Programs of boxes alone, and of boxes amid gates.
pub(super) fn programs() -> Vec<Program> {
    vec![
        table_program(Goal::Depth, 1),
        table_program(Goal::Depth, 3),
        calls(vec![table_circuit(&table(5, 5), Goal::Depth), mixed(5)], 5, 70),
        calls(vec![mixed(9), table_circuit(&table(9, 9), Goal::Depth), mixed(9)], 9, 3),
        // More than are looked up together.
        calls(vec![table_circuit(&table(4, 4), Goal::Depth)], 4, 1100),
    ]
}

/// The S-box is found by its note, and without one at all of its inputs, and both are one table.
#[test]
fn what_is_a_table_is_found_by_what_it_computes() {
    let s_box = |program: &Program| {
        let found = Boxed::new(program, Boxing::Auto);
        (0..program.circuits().len()).filter_map(|index| found.table(index).cloned()).collect::<Vec<PublicTable>>()
    };
    let noted = table_program(Goal::Depth, 1);
    let circuits = noted.circuits().iter().map(|circuit| circuit.clone().without_notes()).collect();
    let bare = Program::new("bare", noted.wires(), circuits, noted.steps().to_vec()).unwrap();
    assert_eq!(s_box(&noted).len(), 1);
    assert!(s_box(&noted) == s_box(&bare));
    let of = |circuit: Circuit, boxing| {
        let program = Program::from_circuit(circuit).unwrap();
        Boxed::new(&program, boxing).table(0).is_some()
    };
    // Gates in one round, gates that are fewer than the row's bits, more than eight bits, and no ANDs.
    let layer = |width: usize| {
        let mut b = Builder::new();
        let x = b.input("x", width);
        let and = b.and(x[0], x[1]);
        b.output("y", &[and]);
        b.finish()
    };
    let few = {
        let mut b = Builder::new();
        let x = b.input("x", 3);
        let and = b.and(x[0], x[1]);
        let all = b.and(and, x[2]);
        b.output("y", &[and, all, x[0]]);
        b.finish()
    };
    let sum = {
        let mut b = Builder::new();
        let x = b.input("x", 2);
        let sum = b.xor(x[0], x[1]);
        b.output("y", &[sum]);
        b.finish()
    };
    let all = |circuit: Circuit| [Boxing::Gates, Boxing::Auto, Boxing::Boxes].map(|boxing| of(circuit.clone(), boxing));
    assert_eq!(all(mixed(8)), [false, true, true]);
    assert_eq!(all(layer(2)), [false, false, true]);
    assert_eq!(all(few), [false, false, true]);
    assert_eq!(all(mixed(9)), [false; 3]);
    assert_eq!(all(sum), [false; 3]);
}

/// `A[e] + B[e] + s = T(e + r)`, at all masked indices `e`, under the masks `r` of the index and `s` of the row.
#[test]
fn the_table_of_a_box_is_the_turned_table_under_a_mask() {
    for (delta, sigma) in [(3, 3), (5, 7), (8, 8)] {
        let table = table(delta, sigma);
        let mut p = ProgramBuilder::for_goal("box", Goal::Depth);
        let (x, y) = (p.input("x", 0, delta as u64), p.register(sigma as u64));
        let circuit = p.circuit(table_circuit(&table, Goal::Depth));
        p.call(circuit, &[x.span()], &[y.span()]);
        p.reveal("y", Recipients::All, y);
        let program = p.finish().unwrap();
        for seed in 0..4 {
            let kept = both(seed, |me| prepared_as(me, &program, Boxing::Boxes));
            let mut mask = None;
            let [a, b] = [0, 1].map(|party| {
                let mut from = Tables::new(&FORM, Box::new(&kept[party][TablesHead::BYTES as usize..]));
                if party == 0 {
                    mask = Some(from.bits(delta).unwrap().to_u128().unwrap() as usize);
                }
                let vector: Vec<bool> = (0..1 << delta).map(|_| from.bits(1).unwrap().get(0)).collect();
                let row = from.bits(sigma).unwrap();
                let shown = from.bits(sigma).unwrap();
                from.ended().unwrap();
                (vector, row, shown)
            });
            let r = mask.unwrap();
            let ones: Vec<usize> = (0..1 << delta).filter(|&i| a.0[i] != b.0[i]).collect();
            assert_eq!(ones, [r], "the unit vector of the index's mask");
            let mut s = a.1.clone();
            s.xor_assign(&b.1);
            assert!(s == a.2 && s == b.2, "the row's mask is the output's");
            for e in 0..1 << delta {
                let entry = |(vector, row, _): &(Vec<bool>, Bits, Bits)| {
                    let mut entry = row.clone();
                    (0..1 << delta).filter(|&i| vector[i]).for_each(|i| entry.xor_assign(&table.row(i ^ e)));
                    entry
                };
                let mut masked = entry(&a);
                [&entry(&b), &s].into_iter().for_each(|part| masked.xor_assign(part));
                assert_eq!(masked, table.row(e ^ r), "{delta} bits, at {e}");
            }
        }
    }
}

/// Tables of an entry for each index, as in the paper, for a look-up each: of boxes alone.
struct Literal<'r>(Tables<'r>, PartyId);

impl LookUps for Literal<'_> {
    fn together(slots: usize, times: u64) -> u64 {
        comity_sharing::BitRows::together(slots, times)
    }

    fn input(&mut self, value: &Bits) -> Result<Bits> {
        let mut masked = self.0.bits(value.len())?;
        masked.xor_assign(value);
        Ok(masked)
    }

    fn look_up(&mut self, _: &mut dyn Channel, _: [&BitShares; 2], _: [&BitShares; 2]) -> Result<&BitShares> {
        unreachable!("there are no gates")
    }

    fn look_up_whole(
        &mut self,
        ch: &mut dyn Channel,
        public: &PublicTable,
        at: &[BitShares],
    ) -> Result<Vec<BitShares>> {
        let (delta, sigma, copies) = (public.delta(), public.bits(), at[0].len());
        let lines: Vec<Bits> = (0..1 << delta).map(|_| self.0.bits(copies).unwrap()).collect();
        let masks = self.0.bits(sigma * copies).unwrap();
        let found: Vec<Bits> = (0..copies)
            .map(|copy| {
                let literal: Vec<Bits> = (0..1_usize << delta)
                    .map(|e| {
                        let mut entry: Bits = (0..sigma).map(|bit| masks.get(bit * copies + copy)).collect();
                        let ones = (0..1 << delta).filter(|&i: &usize| lines[i].get(copy));
                        ones.for_each(|i| entry.xor_assign(&table(delta, sigma).row(i ^ e)));
                        entry
                    })
                    .collect();
                let e = (0..delta).map(|bit| usize::from(at[bit].get(copy)) << bit).sum::<usize>();
                literal[e].clone()
            })
            .collect();
        let mut sum: Bits = (0..sigma).flat_map(|bit| found.iter().map(move |row| row.get(bit))).collect();
        let mut theirs = vec![0; sum.len().div_ceil(8)];
        ch.exchange(&sum.to_bytes(), &mut theirs)?;
        sum.xor_assign(&Bits::from_bytes(&theirs, sigma * copies));
        let row = |bit: usize| (0..copies).map(|copy| sum.get(bit * copies + copy)).collect::<Bits>();
        Ok((0..sigma).map(|bit| BitShares::from_words(row(bit).words().to_vec(), copies)).collect())
    }

    fn unmask(&mut self, _: &mut dyn Channel, to: Recipients, masked: Bits) -> Result<Option<Bits>> {
        Ok(to.includes(self.1).then(|| {
            let mut value = self.0.bits(masked.len()).unwrap();
            value.xor_assign(&masked);
            value
        }))
    }
}

/// What is looked up in tables with an entry for each index is, byte by byte, what unit vectors give.
#[test]
fn literal_tables_of_boxes_send_the_same_bytes() {
    for (delta, copies) in [(3, 70), (5, 9)] {
        let program = calls(vec![table_circuit(&table(delta, delta), Goal::Depth)], delta as u64, copies);
        let values = values(&program);
        let kept = both(1, |me| prepared_as(me, &program, Boxing::Boxes));
        let sent = |literal: bool| {
            both(1, |me| {
                let (here, tables) = (me.here, &kept[usize::from(me.me().0)]);
                let mut ch = Recorded::new(me.net.pair().unwrap().1, 1 << 24);
                let recorder = ch.recorder();
                let inputs = own(here.me, &program, &values);
                let mut outputs = Outputs::default();
                let boxed = Boxed::new(&program, Boxing::Boxes);
                if literal {
                    let mut from = Tables::new(&FORM, Box::new(&tables[..]));
                    TablesHead::read(&mut from, boxed.digest(), here.me).unwrap();
                    let look_ups = Literal(from, here.me);
                    let mut engine = SharedEngine::new(MaskedSharing::new(&mut ch, here, Some(&boxed), look_ups));
                    comity_circuit::run(&program, &mut engine, &inputs, &mut outputs).unwrap();
                } else {
                    let mut options = Options::new(TinyTableSemiHonest.card());
                    options.set(here.me, "tables", "sbox").unwrap();
                    let mut net = Mesh::of_two(here.me, &mut ch as &mut dyn Channel);
                    let job = Job { program: &program, inputs: &inputs, options: &options };
                    let mut party = Party { net: &mut net, here, rng: me.rng, observer: &mut outputs };
                    crate::semi_honest::run_on(&mut party, &job, Box::new(&tables[..])).unwrap();
                }
                ch.flush().unwrap();
                (recorder.recording().sent, outputs.0)
            })
        };
        let (of_tables, of_vectors) = (sent(true), sent(false));
        assert!(of_tables == of_vectors, "{delta} bits");
        assert_eq!(
            of_vectors[1].1.iter().map(|(_, value)| value.clone()).collect::<Vec<_>>(),
            clear(&program, &values)
        );
    }
}

/// Programs with boxes give what they give in the clear, however they are looked up.
#[test]
fn programs_give_what_they_are_whatever_is_looked_up() {
    for program in programs() {
        let values = values(&program);
        for (boxing, word) in [(Boxing::Gates, "gates"), (Boxing::Auto, "auto"), (Boxing::Boxes, "sbox")] {
            let ends = both(2, |me| {
                let tables = prepared_as(me, &program, boxing);
                online_as(me, &program, &values, &tables, word).unwrap()
            });
            assert_eq!(ends[1].0, clear(&program, &values), "{} by {word}", program.name());
        }
    }
}

/// A round of AES sends a byte for each S-box, and as much as it has rounds: 10, where gates have 40.
#[test]
fn an_s_box_is_a_byte_each_way_in_one_round() {
    for blocks in [1, 3] {
        let program = table_program(Goal::Depth, blocks);
        let values = values(&program);
        let sent = |boxing, word: &'static str| {
            both(1, |me| {
                let tables = prepared_as(me, &program, boxing);
                let here = me.here;
                let ch = comity_channel::Counted::new(me.net.pair().unwrap().1);
                let counter = ch.counter();
                let mut net = Mesh::of_two(here.me, ch);
                let mut party = Party { net: &mut net, here, rng: me.rng, observer: &mut () };
                online_as(&mut party, &program, &values, &tables, word).unwrap();
                let counts = counter.counts();
                (counts.sent, counts.rounds)
            })
        };
        let input = |party: u64| 16 * if party == 0 { 1 } else { blocks };
        // 160 for a block, and 40 for the key.
        for (party, (sent, rounds)) in (0..).zip(sent(Boxing::Auto, "auto")) {
            assert_eq!(sent, input(party) + 160 * blocks + 40);
            assert!((10..=12).contains(&rounds), "{rounds} rounds");
        }
        for (party, (sent, rounds)) in (0..).zip(sent(Boxing::Gates, "gates")) {
            assert!(sent >= input(party) + (5440 * blocks + 1360) / 8 && rounds >= 40);
        }
    }
}

/// Tables of gates are not those of boxes, and the other way round.
#[test]
fn tables_of_another_choice_are_refused() {
    let program = table_program(Goal::Depth, 1);
    let values = values(&program);
    let choices = [(Boxing::Gates, "gates"), (Boxing::Auto, "auto")];
    let kept = choices.map(|(boxing, _)| both(1, |me| prepared_as(me, &program, boxing)));
    for (kept, word) in kept.iter().zip(["auto", "gates"]) {
        let ends = both(1, |me| online_as(me, &program, &values, &kept[usize::from(me.me().0)], word).map(drop));
        let why = ends[0].as_ref().unwrap_err();
        assert!(matches!(&why.kind, Kind::Store(why) if why.contains("look up other parts of it")), "{word}: {why}");
    }
    // Where nothing is a box the choice changes nothing.
    let gates = calls(vec![mixed(9)], 9, 2);
    let kept = [Boxing::Gates, Boxing::Auto].map(|boxing| both(1, |me| prepared_as(me, &gates, boxing)));
    assert!(kept[0] == kept[1]);
}

/// That these are as many ones as zeros, within six standard deviations.
fn balanced(bits: &Bits, what: &str) {
    let ones = bits.iter().filter(|bit| *bit).count();
    let deviation = (bits.len() as f64).sqrt() / 2.0;
    assert!((ones as f64 - bits.len() as f64 / 2.0).abs() < 6.0 * deviation, "{what}: {ones} ones of {}", bits.len());
}

fn sum(x: &Bits, y: &Bits) -> Bits {
    let mut sum = x.clone();
    sum.xor_assign(y);
    sum
}

/// The masks of rows are drawn by each party and anew, unit vectors are shared, and what leaves is as many ones
/// as zeros whatever the inputs are.
#[test]
fn masks_of_rows_are_drawn_and_what_is_heard_is_balanced() {
    const COPIES: usize = 1024;
    let program = calls(vec![table_circuit(&table(4, 4), Goal::Depth)], 4, COPIES as u64);
    let parts = |kept: &[u8]| {
        let mut from = Tables::new(&FORM, Box::new(&kept[TablesHead::BYTES as usize..]));
        [4 * COPIES, 16 * COPIES, 4 * COPIES].map(|bits| from.bits(bits).unwrap())
    };
    let with = |seeds: [u128; 2]| {
        both(0, |me| {
            let mut rng = rng(100 + seeds[usize::from(me.me().0)]);
            let mut me = Party { net: me.net, here: me.here, rng: &mut rng, observer: me.observer };
            parts(&prepared_as(&mut me, &program, Boxing::Boxes))
        })
    };
    let base = with([1, 2]);
    for party in &base {
        party.iter().for_each(|part| balanced(part, "masks and unit vectors"));
    }
    balanced(&sum(&base[0][2], &base[1][2]), "masks of rows");
    for (seeds, drawing) in [([3, 2], 0), ([1, 3], 1)] {
        let other = with(seeds);
        balanced(&sum(&base[drawing][2], &other[drawing][2]), "a party's share of masks of rows in two runs");
    }
    for ones in [false, true] {
        let values = [(); 2].map(|()| (0..4 * COPIES).map(|_| ones).collect::<Bits>());
        let sent = both(5, |me| {
            let tables = prepared(me, &program);
            let here = me.here;
            let ch = Recorded::new(me.net.pair().unwrap().1, 1 << 20);
            let recorder = ch.recorder();
            let mut net = Mesh::of_two(here.me, ch);
            let mut party = Party { net: &mut net, here, rng: me.rng, observer: &mut () };
            online(&mut party, &program, &values, &tables).unwrap();
            drop(net);
            recorder.recording().sent
        });
        for sent in sent {
            assert_eq!(sent.len(), 3 * COPIES / 2);
            sent.chunks(COPIES / 2).for_each(|part| balanced(&Bits::from_bytes(part, 4 * COPIES), "a message"));
        }
    }
}

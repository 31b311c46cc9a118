//! Look-ups of tables at secret indices: right for every index, for as many triples as the docs say.

use comity_channel::{Mesh, Recorded};
use comity_circuit::{
    Builder, Call, Circuit, Engine, Goal, LookupTable, Place, Program, ProgramBuilder, Put, Recipients, Shown, Step,
    Wire,
};
use comity_core::{Backend, Bits, Params, PartyId, Result};
use comity_gmw::table::{PublicTable, UnitVectors};
use comity_gmw::{BitMachine, BitSharing, Gmw, dealers};
use comity_library::table_circuit;
use comity_protocol::{Costing, Dealer, Options, Party, Protocol, Talk};
use comity_share::bits::BitShares;
use comity_share::triples::OtKind;
use comity_share::{BitTriples, bits};
use comity_sharing::SharedEngine;
use comity_testing::laws::{check, rng, run, traffic};

use super::cost::SETUP;
use super::{over_links, parties, setting};

/// A dealer that counts.
struct Counting<'c>(dealers::OtTriples, &'c mut usize);

impl Dealer for Counting<'_> {
    type Batch = BitTriples;

    fn deal(&mut self, net: &mut Mesh<'_>, n: usize) -> Result<BitTriples> {
        *self.1 += n;
        self.0.deal(net, n)
    }
}

/// What these tables have at these indices, and the triples that it took.
fn looked_up<const N: usize>(tables: &[&PublicTable], indices: &[u64]) -> (Vec<Bits>, usize) {
    let delta = tables[0].delta();
    let columns: Vec<Bits> = (0..delta).map(|t| indices.iter().map(|index| index >> t & 1 == 1).collect()).collect();
    let ends: [_; N] = parties(|me: &mut Party<'_, '_>| {
        let mut used = 0;
        let dealer = dealers::OtTriples::setup(&mut me.sub("dealer"), OtKind::SoftSpoken).unwrap();
        let mut machine = BitMachine::setup(me, Some(Box::new(Counting(dealer, &mut used)))).unwrap();
        let index: Vec<BitShares> = columns
            .iter()
            .map(|column| {
                let own = (me.me().0 == 1).then_some(column);
                machine.input(1.into(), own, column.len()).unwrap()
            })
            .collect();
        let vectors = UnitVectors::new(me.net, &mut machine, delta, indices.len()).unwrap();
        let found = vectors.look_up(me.net, &mut machine, tables, &index).unwrap();
        let values: Vec<Bits> = found
            .iter()
            .map(|bit| machine.reveal(me.net, comity_circuit::Recipients::All, bit).unwrap().unwrap())
            .collect();
        drop(machine);
        (values, used)
    });
    let mut ends = ends.into_iter();
    let first = ends.next().unwrap();
    assert!(ends.all(|end| end == first));
    first
}

fn entry(bits: &[Bits], copy: usize) -> u64 {
    (0..).zip(bits).map(|(i, bit)| u64::from(bit.get(copy)) << i).sum()
}

#[test]
fn every_index_of_every_size() {
    let mut random = rng(5);
    for delta in 1..=9 {
        let entries: Vec<u64> = (0..1 << delta).map(|_| random.block().to_u128() as u64 & 0x3ff).collect();
        let table = PublicTable::new(&entries, 10).unwrap();
        let indices: Vec<u64> = (0..1 << delta).rev().collect();
        let (found, used) = looked_up::<2>(&[&table], &indices);
        assert!(indices.iter().enumerate().all(|(i, &index)| entry(&found, i) == entries[index as usize]), "{delta}");
        assert_eq!(used, indices.len() * ((1 << delta) - delta - 1));
        assert_eq!(used, indices.len() * table.triples());
    }
}

#[test]
fn two_tables_share_a_vector_among_three() {
    let squares = PublicTable::new(&(0..256).map(|i| i * i).collect::<Vec<u64>>(), 16).unwrap();
    let odd = PublicTable::new(&(0..256).map(|i| i & 1).collect::<Vec<u64>>(), 1).unwrap();
    let indices: Vec<u64> = (0..160).map(|i| i * 37 % 256).collect();
    let (found, used) = looked_up::<3>(&[&squares, &odd], &indices);
    for (i, &index) in indices.iter().enumerate() {
        assert_eq!((entry(&found[..16], i), found[16].get(i)), (index * index, index % 2 == 1));
    }
    assert_eq!(used, 160 * 247);
}

#[test]
fn beyond_its_end_a_table_has_zeros() {
    let table = PublicTable::new(&[7, 7, 7, 7, 7], 3).unwrap();
    assert_eq!(table.delta(), 3);
    let (found, _) = looked_up::<2>(&[&table], &[0, 4, 5, 6, 7]);
    assert_eq!((0..5).map(|i| entry(&found, i)).collect::<Vec<_>>(), [7, 7, 0, 0, 0]);
    assert!(
        PublicTable::new(&[8], 3).is_err()
            && PublicTable::new(&vec![0; (1 << 16) + 1], 1).is_err()
            && PublicTable::and(17).is_err()
    );
}

#[test]
fn ands_of_many_bits() {
    for (bits, triples) in [(2, 1), (3, 4), (4, 11)] {
        let table = PublicTable::and(bits).unwrap();
        let indices: Vec<u64> = (0..1 << bits).collect();
        let (found, used) = looked_up::<2>(&[&table], &indices);
        let last = (1 << bits) - 1;
        assert!((0..=last).all(|i| found[0].get(i) == (i == last)));
        assert_eq!(used, triples << bits);
    }
}

#[test]
fn a_vector_is_for_indices_of_its_size() {
    let ends: [String; 2] = parties(|me: &mut Party<'_, '_>| {
        let mut machine = BitMachine::setup(me, None).unwrap();
        let vectors = UnitVectors::new(me.net, &mut machine, 1, 8).unwrap();
        let index = [bits::BitShares::from_words(vec![0], 7)];
        let table = PublicTable::and(1).unwrap();
        vectors.look_up(me.net, &mut machine, &[&table], &index).map(drop).unwrap_err().to_string()
    });
    assert!(ends.iter().all(|why| why.contains("unit vectors for 8 indices of 1 bits")), "{ends:?}");
}

/// A table as a circuit: its entries at an index of `index` bits.
fn circuit(entries: &[u64], index: usize, bits: usize) -> Circuit {
    let mut b = Builder::new();
    let x = b.input("index", index);
    let mut out = vec![Wire::ZERO; bits];
    for (i, &entry) in entries.iter().enumerate() {
        let here = x.iter().enumerate().fold(Wire::ONE, |here, (t, &bit)| {
            let bit = if i >> t & 1 == 1 { bit } else { b.not(bit) };
            b.and(here, bit)
        });
        out = (0..bits).map(|t| if entry >> t & 1 == 1 { b.xor(out[t], here) } else { out[t] }).collect();
    }
    b.output("entry", &out);
    b.finish()
}

#[test]
fn a_call_is_looked_up_as_its_gates_compute() {
    const COPIES: u64 = 70;
    let entries = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5];
    // As wide as the table, one bit less, and much wider.
    for width in [4, 3, 7] {
        let entries = &entries[..entries.len().min(1 << width)];
        let table = PublicTable::new(entries, 4).unwrap();
        let program = Program::new("look up", 1050, vec![circuit(entries, width, 4)], Vec::new()).unwrap();
        let place = |start, stride| [Place { start, stride }];
        let (args, gates, looked) = (place(0, 7), place(490, 4), place(770, 4));
        let call = |outs| Call { index: 0, circuit: &program.lowered()[0], times: COPIES, args: &args, outs };
        let ends: [[Bits; 2]; 2] = parties(|me: &mut Party<'_, '_>| {
            let dealer = dealers::OtTriples::setup(&mut me.sub("dealer"), OtKind::SoftSpoken).unwrap();
            let mut machine = BitMachine::setup(me, Some(Box::new(dealer))).unwrap();
            let mut engine = SharedEngine::new(BitSharing::new(me.net, &mut machine));
            engine.begin(&program).unwrap();
            let index: Bits = (0..490).map(|i| (i / 7 * 5 % 128) >> (i % 7) & 1 == 1).collect();
            let own = (me.here.me.0 == 0).then_some(&index);
            engine.input(Put { index: 0, owner: 0.into(), start: 0, bits: 490 }, own).unwrap();
            engine.call(&call(&gates)).unwrap();
            let (sharing, memory) = engine.parts();
            sharing.look_up_in(&table, &call(&looked), memory).unwrap();
            let narrow = PublicTable::new(&[1], 1).unwrap();
            assert!(sharing.look_up_in(&narrow, &call(&looked), memory).is_err());
            [490, 770].map(|start| {
                let shown = Shown { index: 0, to: Recipients::All, start, bits: 280 };
                engine.reveal(shown).unwrap().expect("both learn it")
            })
        });
        for [computed, found] in ends {
            assert!(computed == found && found.iter().any(|bit| bit), "{width}");
        }
    }
}

/// The program of AES whose S-boxes are tables, on random inputs, and in other numbers of turns and of calls
/// side by side.
#[test]
fn programs_with_tables_look_them_up() {
    let program = comity_library::program_for("aes128table", Goal::Depth).unwrap();
    let mut random = rng(8);
    let inputs: Vec<Bits> = (0..2).map(|_| (0..128).map(|_| random.block().lsb()).collect()).collect();
    for parties in [2, 3, 5] {
        check(&Gmw, parties, &program, &inputs, setting(Backend::detect()));
    }
    let sum = comity_library::program_for("add64table", Goal::Depth).unwrap();
    let numbers: Vec<Bits> = inputs.iter().map(|input| input.slice(0, 64)).collect();
    check(&Gmw, 3, &sum, &numbers, setting(Backend::detect()));
    // A unit vector is made of more triples than the S-box has gates.
    let many = (0..22).fold(Vec::new(), |mut steps, _| {
        steps.extend(program.steps().iter().filter(|step| matches!(step, Step::Call { .. })).cloned());
        steps
    });
    let of = |circuits| Program::new("many", program.wires(), circuits, many.clone()).unwrap();
    let meant = of(program.circuits().to_vec());
    let many = of(program.circuits().iter().map(|circuit| circuit.clone().without_notes()).collect());
    let batches = |program| Gmw.needs(program, &Options::new(Gmw.card()), Params::default()).unwrap()[0].batches;
    assert_eq!((batches(&many), batches(&meant)), (3, 17));
}

/// A table at 70 indices side by side, in turns, each on what came out of the one before.
fn turns(times: u64) -> Program {
    turns_by(11, times)
}

/// Likewise, of which an entry is the index times this.
fn turns_by(factor: u8, times: u64) -> Program {
    let entries: Vec<u8> = (0..32).map(|i: u8| i.wrapping_mul(factor) % 32).collect();
    let mut p = ProgramBuilder::for_goal("turns", Goal::Depth);
    let value = p.input("index", 0, 350);
    let table = p.circuit(table_circuit(&LookupTable::new(5, 5, entries).unwrap(), Goal::Depth));
    let each = (value.slice(0, 5).span(), 5);
    p.repeat(times, |p, _| p.map(table, 70, std::slice::from_ref(&each), std::slice::from_ref(&each)));
    p.reveal("entry", Recipients::All, value);
    p.finish().unwrap()
}

#[test]
fn a_look_up_is_one_round_and_its_triples_are_made_before() {
    let input: Bits = (0..350).map(|i| i % 7 < 3).collect();
    check(&Gmw, 3, &turns(3), std::slice::from_ref(&input), setting(Backend::detect()));
    for times in [1, 3, 8] {
        // Base OTs, a seed, and 31 rows of bits for the triples; the ANDs of the unit vectors, which are
        // joined two and two; five bits an index in each turn, and the output.
        let (bytes, vectors) = (|bits: u64| bits.div_ceil(8), 70 * times);
        let joins = [2 * vectors, 9 * vectors, 15 * vectors];
        let ahead = SETUP + 16 + 31 * 16 * joins.iter().sum::<u64>().div_ceil(128);
        let made: u64 = joins.iter().map(|ands| 2 * bytes(*ands)).sum();
        let inputs = std::slice::from_ref(&input);
        let traffic = traffic(&Gmw, 2, &turns(times), inputs, setting(Backend::detect()))[0][0];
        assert_eq!(traffic.sent, ahead + made + times * bytes(5 * 70) + bytes(350));
        assert_eq!(traffic.rounds, 4 + 3 + times + 1);
        // And it is said so beforehand.
        let (program, options, mut talk) = (turns(times), Options::new(Gmw.card()), Talk::new(2));
        let of = Costing { program: &program, options: &options, params: Params::default(), parties: 2 };
        Gmw.costs(&of, &mut talk).unwrap();
        assert!(talk.is_exact());
        assert_eq!((talk.sent(PartyId(0)), talk.rounds(PartyId(0))), (traffic.sent, traffic.rounds));
    }
}

/// What is opened of the same indices in two turns are other bits: each unit vector hides one index.
#[test]
fn each_unit_vector_is_used_once() {
    let input: Bits = (0..350).map(|i| i % 7 < 3).collect();
    let all = over_links(2, |links| {
        let mut recorder = None;
        let links = links.map(|_, link| {
            let link = Recorded::new(link, 1 << 24);
            recorder = Some(link.recorder());
            link
        });
        let inputs = [input.clone()];
        run(&Gmw, &mut Mesh::new(links), &turns_by(1, 2), &inputs, setting(Backend::detect())).unwrap();
        recorder.unwrap().recording().sent
    });
    // Both turns, and the output.
    let [one, other]: [Vec<u8>; 2] = all.try_into().unwrap();
    let tail = |sent: &[u8]| sent[sent.len() - 3 * 44..].to_vec();
    let sum: Vec<u8> = tail(&one).iter().zip(tail(&other)).map(|(a, b)| a ^ b).collect();
    assert_eq!(Bits::from_bytes(&sum[88..], 350), input, "the output is the indices");
    assert_ne!(sum[..44], sum[44..88]);
}

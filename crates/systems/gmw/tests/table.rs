//! Look-ups of tables at secret indices: right for every index, for as many triples as the docs say.

use comity_channel::Mesh;
use comity_circuit::{Builder, Call, Circuit, Engine, Lowered, Place, Wire};
use comity_core::{Bits, Result};
use comity_gmw::engine::BitSharing;
use comity_gmw::table::{PublicTable, UnitVectors};
use comity_gmw::{BitMachine, dealers};
use comity_protocol::{Dealer, Party};
use comity_share::bits::BitShares;
use comity_share::triples::OtKind;
use comity_share::{BitTriples, bits};
use comity_testing::laws::rng;

use super::parties;

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
    assert!(ends.iter().all(|why| why.contains("unit vectors of 1 bits for 8 indices")), "{ends:?}");
}

/// A table as a circuit: its entries at an index of so many bits.
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
        let (lowered, table) = (Lowered::new(&circuit(entries, width, 4)), PublicTable::new(entries, 4).unwrap());
        let place = |start, stride| [Place { start, stride }];
        let (args, gates, looked) = (place(0, 7), place(490, 4), place(770, 4));
        let call = |outs| Call { circuit: &lowered, meaning: None, times: COPIES, args: &args, outs };
        let ends: [Vec<u8>; 2] = parties(|me: &mut Party<'_, '_>| {
            let dealer = dealers::OtTriples::setup(&mut me.sub("dealer"), OtKind::SoftSpoken).unwrap();
            let mut machine = BitMachine::setup(me, Some(Box::new(dealer))).unwrap();
            let mut memory = vec![0; 1050];
            let mut engine = BitSharing::new(me.net, &mut machine);
            let index: Bits = (0..490).map(|i| (i / 7 * 5 % 128) >> (i % 7) & 1 == 1).collect();
            let own = (me.here.me.0 == 0).then_some(&index);
            engine.input(0, 0.into(), own, 0, &mut memory[..490]).unwrap();
            engine.call(&call(&gates), &mut memory).unwrap();
            engine.look_up(&call(&looked), &table, &mut memory).unwrap();
            let narrow = PublicTable::new(&[1], 1).unwrap();
            assert!(engine.look_up(&call(&looked), &narrow, &mut memory).is_err());
            memory
        });
        let sums: Vec<u8> = ends[0].iter().zip(&ends[1]).map(|(a, b)| a ^ b).collect();
        assert!(sums[490..770] == sums[770..] && sums[770..].contains(&1), "{width}");
    }
}

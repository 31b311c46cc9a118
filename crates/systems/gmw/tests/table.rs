//! Look-ups of tables at secret indices: right for every index, for as many triples as the docs say.

use comity_channel::Mesh;
use comity_core::{Bits, Result};
use comity_gmw::table::{Table, UnitVectors};
use comity_gmw::{Machine, dealers};
use comity_protocol::{Dealer, Party};
use comity_share::bits::BitShares;
use comity_share::triples::Extension;
use comity_share::{BitTriples, bits};
use comity_testing::laws::rng;

use super::parties;

/// A dealer that counts.
struct Counting<'c>(dealers::FromOt, &'c mut usize);

impl Dealer for Counting<'_> {
    type Batch = BitTriples;

    fn deal(&mut self, net: &mut Mesh<'_>, n: usize) -> Result<BitTriples> {
        *self.1 += n;
        self.0.deal(net, n)
    }
}

/// What these tables have at these indices, and the triples that it took.
fn looked_up<const N: usize>(tables: &[&Table], indices: &[u64]) -> (Vec<Bits>, usize) {
    let delta = tables[0].delta();
    let columns: Vec<Bits> = (0..delta).map(|t| indices.iter().map(|index| index >> t & 1 == 1).collect()).collect();
    let ends: [_; N] = parties(|me: &mut Party<'_, '_>| {
        let mut used = 0;
        let dealer = dealers::FromOt::setup(&mut me.sub("dealer"), Extension::SoftSpoken).unwrap();
        let mut machine = Machine::setup(me, Some(Box::new(Counting(dealer, &mut used)))).unwrap();
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
        let table = Table::new(&entries, 10).unwrap();
        let indices: Vec<u64> = (0..1 << delta).rev().collect();
        let (found, used) = looked_up::<2>(&[&table], &indices);
        assert!(indices.iter().enumerate().all(|(i, &index)| entry(&found, i) == entries[index as usize]), "{delta}");
        assert_eq!(used, indices.len() * ((1 << delta) - delta - 1));
        assert_eq!(used, indices.len() * table.triples());
    }
}

#[test]
fn two_tables_share_a_vector_among_three() {
    let squares = Table::new(&(0..256).map(|i| i * i).collect::<Vec<u64>>(), 16).unwrap();
    let odd = Table::new(&(0..256).map(|i| i & 1).collect::<Vec<u64>>(), 1).unwrap();
    let indices: Vec<u64> = (0..160).map(|i| i * 37 % 256).collect();
    let (found, used) = looked_up::<3>(&[&squares, &odd], &indices);
    for (i, &index) in indices.iter().enumerate() {
        assert_eq!((entry(&found[..16], i), found[16].get(i)), (index * index, index % 2 == 1));
    }
    assert_eq!(used, 160 * 247);
}

#[test]
fn beyond_its_end_a_table_has_zeros() {
    let table = Table::new(&[7, 7, 7, 7, 7], 3).unwrap();
    assert_eq!(table.delta(), 3);
    let (found, _) = looked_up::<2>(&[&table], &[0, 4, 5, 6, 7]);
    assert_eq!((0..5).map(|i| entry(&found, i)).collect::<Vec<_>>(), [7, 7, 0, 0, 0]);
    assert!(Table::new(&[8], 3).is_err() && Table::new(&vec![0; (1 << 16) + 1], 1).is_err() && Table::and(17).is_err());
}

#[test]
fn ands_of_many_bits() {
    for (bits, triples) in [(2, 1), (3, 4), (4, 11)] {
        let table = Table::and(bits).unwrap();
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
        let mut machine = Machine::setup(me, None).unwrap();
        let vectors = UnitVectors::new(me.net, &mut machine, 1, 8).unwrap();
        let index = [bits::BitShares::from_words(vec![0], 7)];
        let table = Table::and(1).unwrap();
        vectors.look_up(me.net, &mut machine, &[&table], &index).map(drop).unwrap_err().to_string()
    });
    assert!(ends.iter().all(|why| why.contains("unit vectors of 1 bits for 8 indices")), "{ends:?}");
}

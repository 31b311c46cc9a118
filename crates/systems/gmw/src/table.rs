//! Tables looked up at secret indices, by shared unit vectors.
//!
//! A *unit vector* of an index `r` has a bit for each possible index: one at `r`, else zero. Shared, it looks
//! up any table of public entries: its sum with the table's bits is the entry at `r`. It is made ahead for
//! random `r` that nobody knows:
//! 1. *Ahead.* Each bit of `r` is a unit vector of two, `(1 + r_t, r_t)`. The unit vector of two indices side
//!    by side is the outer product of theirs, of which the first row and column follow from sums, since
//!    either vector's bits sum up to one. So vectors are joined two and two: `2^delta - delta - 1` ANDs in
//!    `log2(delta)` rounds, rounded up.
//! 2. *At index* `x`: all open `e = x + r`, which tells nothing; then bit `j` of `x`'s unit vector is bit
//!    `j + e` of `r`'s (sums of indices are XORs). It is permuted in `delta` steps, each of which swaps what
//!    differs in a bit of the index where that bit of `e` is one.
//!
//! Everything is packed 64 look-ups a word. A unit vector is for one index: looking up uses it up. Tables at the same
//! index share it.
//!
//! An index beyond a table's end gives zero, like any other value. An AND of many bits is the table whose
//! last entry is one.
//!
//! **Cost** of a look-up: `2^delta - delta - 1` triples, `delta` bits each way; one round, and those of the ANDs ahead.

use core::convert::Infallible;

use comity_channel::Mesh;
use comity_circuit::{LookupTable, Recipients};
use comity_core::{Backend, Error, Result};
use comity_share::bits::{BitShares, copy_bits};
use zeroize::Zeroizing;

use crate::machine::BitMachine;

mod moved;

pub use moved::{TOGETHER, VectorLine, entries};

/// A public table: entries of some bits each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicTable {
    /// For each bit of an entry, the indices of the entries in which it is one.
    ones: Vec<Vec<u32>>,
    /// Bits of an index.
    delta: usize,
}

impl PublicTable {
    /// The most bits of an index.
    pub const MOST: usize = 16;

    /// A table of these entries, of `bits` bits each, at indices with the fewest bits that suffice; beyond
    /// its end it has zeros.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there are more than 2^16 entries, or an entry has more bits.
    pub fn new(entries: &[u64], bits: usize) -> Result<PublicTable> {
        let delta = entries.len().next_power_of_two().trailing_zeros().max(1) as usize;
        if delta > PublicTable::MOST || bits > 64 || entries.iter().any(|&entry| bits < 64 && entry >> bits != 0) {
            return Err(Error::invalid_input(format!(
                "a table has at most 65536 entries of at most 64 bits; this one has {} of {bits}",
                entries.len()
            )));
        }
        let with = |bit: usize| (0..).zip(entries).filter(move |(_, entry)| *entry >> bit & 1 == 1).map(|(i, _)| i);
        Ok(PublicTable { ones: (0..bits).map(|bit| with(bit).collect()).collect(), delta })
    }

    /// The table of the AND of `bits` bits.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if `bits` is 0 or more than 16.
    pub fn and(bits: usize) -> Result<PublicTable> {
        if !(1..=PublicTable::MOST).contains(&bits) {
            return Err(Error::invalid_input(format!("the AND of {bits} bits cannot be a table: take 1 to 16 bits")));
        }
        Ok(PublicTable { ones: vec![vec![(1 << bits) - 1]], delta: bits })
    }

    /// Bits of an index.
    pub fn delta(&self) -> usize {
        self.delta
    }

    /// Bits of an entry.
    pub fn bits(&self) -> usize {
        self.ones.len()
    }

    /// The number of triples that a look-up uses up.
    pub fn triples(&self) -> usize {
        triples(self.delta)
    }
}

impl From<&LookupTable> for PublicTable {
    fn from(table: &LookupTable) -> PublicTable {
        let rows: Vec<_> = (0..1 << table.delta()).map(|index| table.row(index as usize)).collect();
        let with = |bit: usize| (0..).zip(&rows).filter(move |(_, row)| row.get(bit)).map(|(i, _): (u32, _)| i);
        PublicTable { ones: (0..table.sigma()).map(|bit| with(bit).collect()).collect(), delta: table.delta() }
    }
}

/// The triples that the unit vector of an index of `delta` bits is made of.
pub fn triples(delta: usize) -> usize {
    (1 << delta) - delta - 1
}

/// Unit vectors of indices of one size, made ahead: each is taken once. There are as many as is known to be
/// wanted, and at most [`UnitPool::ROOM`] bits of them.
pub(crate) struct UnitPool {
    delta: usize,
    vectors: Option<UnitVectors>,
    /// The vectors that were taken.
    taken: usize,
    /// The look-ups that are still expected.
    planned: u64,
}

impl UnitPool {
    /// Bits of all vectors: 2 MiB, and in the making five times that.
    const ROOM: usize = 1 << 24;

    /// A pool from which `planned` vectors will be taken.
    pub(crate) fn new(delta: usize, planned: u64) -> UnitPool {
        UnitPool { delta, vectors: None, taken: 0, planned }
    }

    /// The most vectors of indices of `delta` bits that the pool holds at once.
    pub(crate) fn most(delta: usize) -> usize {
        UnitPool::ROOM >> delta
    }

    pub(crate) fn delta(&self) -> usize {
        self.delta
    }

    /// The vectors that are there.
    fn left(&self) -> usize {
        self.vectors.as_ref().map_or(0, |vectors| vectors.vector.copies - self.taken)
    }

    /// Makes vectors if the pool is empty: for the planned look-ups, and at least for the next ones, as far
    /// as there is room.
    ///
    /// # Errors
    /// Errors of the machine.
    pub(crate) fn fill(&mut self, net: &mut Mesh<'_>, machine: &mut BitMachine<'_>, look_ups: u64) -> Result<()> {
        if self.left() == 0 {
            let copies = self.planned.max(look_ups).min(UnitPool::most(self.delta) as u64) as usize;
            self.vectors = (copies > 0).then(|| UnitVectors::new(net, machine, self.delta, copies)).transpose()?;
            self.taken = 0;
        }
        Ok(())
    }

    /// The next vectors: at most as many as are asked for, and at least one.
    ///
    /// # Errors
    /// Errors of the machine.
    pub(crate) fn take(&mut self, net: &mut Mesh<'_>, machine: &mut BitMachine<'_>, most: u64) -> Result<UnitVectors> {
        self.fill(net, machine, most.max(1))?;
        let copies = most.min(self.left() as u64) as usize;
        let part = self.vectors.as_ref().expect("there are some").part(self.taken, copies);
        self.taken += copies;
        self.planned = self.planned.saturating_sub(copies as u64);
        Ok(part)
    }
}

/// Shares of random indices, and of their unit vectors. Each serves for one look-up.
pub struct UnitVectors {
    /// The indices: bit `t` of all of them side by side.
    index: Vec<BitShares>,
    vector: Lines,
}

/// Lines of words, one for each bit of a vector.
struct Lines {
    words: Zeroizing<Vec<u64>>,
    /// Words of a line.
    width: usize,
    /// Bits of a line.
    copies: usize,
}

impl Lines {
    fn new(lines: usize, copies: usize) -> Lines {
        let width = copies.div_ceil(64);
        Lines { words: Zeroizing::new(vec![0; lines * width]), width, copies }
    }

    fn len(&self) -> usize {
        self.words.len() / self.width
    }

    fn line(&self, i: usize) -> &[u64] {
        &self.words[i * self.width..][..self.width]
    }

    /// Adds line `from` to line `to`.
    fn add(&mut self, from: usize, to: usize) {
        for i in 0..self.width {
            self.words[to * self.width + i] ^= self.words[from * self.width + i];
        }
    }
}

impl UnitVectors {
    /// The number of indices that they are for.
    pub fn copies(&self) -> usize {
        self.vector.copies
    }

    /// Unit vectors of `copies` random indices of `delta` bits.
    ///
    /// # Errors
    /// As [`UnitVectors::of`].
    pub fn new(net: &mut Mesh<'_>, machine: &mut BitMachine<'_>, delta: usize, copies: usize) -> Result<UnitVectors> {
        let index = (0..delta).map(|_| machine.random(copies)).collect();
        UnitVectors::of(net, machine, index)
    }

    /// The unit vectors of these shared indices: `index[t]` has bit `t` of all of them.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if indices have no bits or more than 16; errors of the machine.
    pub fn of(net: &mut Mesh<'_>, machine: &mut BitMachine<'_>, index: Vec<BitShares>) -> Result<UnitVectors> {
        let (delta, copies) = (index.len(), index.first().map_or(0, BitShares::len));
        if !(1..=PublicTable::MOST).contains(&delta) {
            return Err(Error::invalid_input(format!("an index of {delta} bits: indices of tables have 1 to 16 bits")));
        }
        let one = if machine.one() { u64::MAX } else { 0 };
        let mut vectors: Vec<Lines> = index
            .iter()
            .map(|bit| {
                let mut lines = Lines::new(2, copies);
                for (i, &word) in bit.words().iter().enumerate() {
                    (lines.words[i], lines.words[lines.width + i]) = (word ^ one, word);
                }
                lines
            })
            .collect();
        // The low bits are in the first vectors.
        while vectors.len() > 1 {
            vectors = join(net, machine, vectors)?;
        }
        let vector = vectors.pop().expect("an index has a bit");
        Ok(UnitVectors { index, vector })
    }

    /// The shares: bit `i` of the vectors of all indices, for each `i` in order.
    pub fn lines(&self) -> impl Iterator<Item = &[u64]> {
        (0..self.vector.len()).map(|i| self.vector.line(i))
    }

    /// The vectors of the `copies` indices from number `first` on.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn part(&self, first: usize, copies: usize) -> UnitVectors {
        let mut vector = Lines::new(self.vector.len(), copies);
        for i in 0..self.vector.len() {
            let to = i * vector.width;
            copy_bits(self.vector.line(i), first, copies, &mut vector.words[to..to + vector.width]);
        }
        let cut = |bit: &BitShares| {
            let mut part = BitShares::with_room(copies);
            part.push_from(bit, first, copies);
            part
        };
        UnitVectors { index: self.index.iter().map(cut).collect(), vector }
    }

    /// The entries of tables at these indices: `index[t]` has bit `t` of all of them. Gives the bits of the
    /// first table's entries, then those of the second, and so on.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the number of indices, or of their bits, is not that of the
    /// vectors and the tables; errors of the machine.
    pub fn look_up(
        self,
        net: &mut Mesh<'_>,
        machine: &mut BitMachine<'_>,
        tables: &[&PublicTable],
        index: &[BitShares],
    ) -> Result<Vec<BitShares>> {
        let (delta, copies) = (self.index.len(), self.vector.copies);
        if index.len() != delta
            || index.iter().any(|bit| bit.len() != copies)
            || tables.iter().any(|table| table.delta != delta)
        {
            return Err(Error::invalid_input(format!(
                "unit vectors for {copies} indices of {delta} bits do not fit these indices or tables"
            )));
        }
        let mut masked = BitShares::with_room(delta * copies);
        for (bit, mask) in index.iter().zip(&self.index) {
            let sum: Zeroizing<Vec<u64>> =
                Zeroizing::new(bit.words().iter().zip(mask.words()).map(|(x, r)| x ^ r).collect());
            masked.push(&sum, copies);
        }
        let open = machine.reveal(net, Recipients::All, &masked)?.expect("it is revealed to all");
        let open = BitShares::from_words(open.words().to_vec(), open.len());
        let moves = |t: usize| {
            let mut bit = BitShares::with_room(copies);
            bit.push_from(&open, t * copies, copies);
            bit
        };
        let moves: Vec<BitShares> = (0..delta).map(moves).collect();
        Ok(self.moved(machine.backend(), &moves, tables))
    }

    /// The entries of tables at the vectors' indices plus public ones: `by[t]` has bit `t` of all of those.
    ///
    /// # Panics
    /// If these, or a table's, are not as many bits as the vectors' indices are.
    pub fn moved(self, backend: Backend, by: &[BitShares], tables: &[&PublicTable]) -> Vec<BitShares> {
        assert_eq!(by.len(), self.index.len(), "bits of an index");
        let lines = self.vector.words.chunks_exact(self.vector.width);
        let found = entries(backend, tables, by, |copies, moved| -> core::result::Result<(), Infallible> {
            let words = copies.start / 64..copies.end.div_ceil(64);
            moved.iter_mut().zip(lines.clone()).for_each(|(moved, line)| moved.put(&line[words.clone()]));
            Ok(())
        });
        let Ok(found) = found;
        found
    }
}

/// The entries of a table at indices of any number of bits, side by side, by these vectors: of those that the
/// table does not have, zeros.
///
/// # Errors
/// Errors of the machine.
pub(crate) fn look_up(
    net: &mut Mesh<'_>,
    machine: &mut BitMachine<'_>,
    (table, vectors): (&PublicTable, UnitVectors),
    mut index: Vec<BitShares>,
) -> Result<Vec<BitShares>> {
    let copies = index.first().map_or(0, BitShares::len);
    let zero = || BitShares::from_words(vec![0; copies.div_ceil(64)], copies);
    let mut high = index.split_off(table.delta.min(index.len()));
    index.resize_with(table.delta, zero);
    let mut found = vectors.look_up(net, machine, &[table], &index)?;
    if high.is_empty() {
        return Ok(found);
    }
    // Whether no bit is one that the table has no place for: their complements' AND, two and two.
    high.iter_mut().filter(|_| machine.one()).for_each(BitShares::complement);
    while high.len() > 1 {
        let rest = (high.len() % 2 == 1).then(|| high.pop().expect("there is a last one"));
        let pairs = high.len() / 2;
        high = machine.and_each(net, (&high[..pairs], &high[pairs..]))?;
        high.extend(rest);
    }
    let inside: Vec<BitShares> = found.iter().map(|_| high[0].copy()).collect();
    found = machine.and_each(net, (&found, &inside))?;
    Ok(found)
}

/// The outer products of vectors, two and two; the last one stays if it has no other.
fn join(net: &mut Mesh<'_>, machine: &mut BitMachine<'_>, vectors: Vec<Lines>) -> Result<Vec<Lines>> {
    let copies = vectors[0].copies;
    let (mut x, mut y) = (BitShares::default(), BitShares::default());
    for pair in vectors.chunks_exact(2) {
        for high in 1..pair[1].len() {
            for low in 1..pair[0].len() {
                x.push(pair[1].line(high), copies);
                y.push(pair[0].line(low), copies);
            }
        }
    }
    let products = machine.and(net, &x, &y)?;
    let (mut joined, mut at) = (Vec::new(), 0);
    let mut vectors = vectors.into_iter();
    while let Some(low) = vectors.next() {
        let Some(high) = vectors.next() else {
            joined.push(low);
            break;
        };
        let (rows, columns, width) = (high.len(), low.len(), low.width);
        let mut all = Lines::new(rows * columns, copies);
        for row in 1..rows {
            // What the row lacks: its sum is the bit of the high index.
            all.words[row * columns * width..][..width].copy_from_slice(high.line(row));
            for column in 1..columns {
                let line = row * columns + column;
                products.copy_to(at, copies, &mut all.words[line * width..][..width]);
                at += copies;
                all.add(line, row * columns);
            }
        }
        for column in 0..columns {
            all.words[column * width..][..width].copy_from_slice(low.line(column));
            (1..rows).for_each(|row| all.add(row * columns + column, column));
        }
        joined.push(all);
    }
    Ok(joined)
}

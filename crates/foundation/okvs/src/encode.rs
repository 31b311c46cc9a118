//! A cluster's linear system: peeling, back substitution, and what peeling leaves.

use comity_core::{Backend, Block, gf128};
use zeroize::Zeroizing;

use crate::gaps::{Gap, solve};
use crate::layout::{DENSE, Layout};
use crate::places::places;

/// A sparse column while rows are peeled: how many of those left touch it, and the sum (exclusive or) of
/// their numbers, which is the row's number where there is one.
#[derive(Clone, Copy, Default)]
struct Column {
    rows: u32,
    sum: u32,
}

/// Solves a cluster.
pub(crate) struct Encoder {
    backend: Backend,
    layout: Layout,
    columns: Vec<Column>,
    /// The columns of each row.
    places: Vec<[u32; 3]>,
    /// The sum that a row's sparse columns must have.
    sums: Zeroizing<Vec<Block>>,
    /// Rows in the order of peeling, each with the column that it alone touched.
    peeled: Vec<(u32, u32)>,
    /// Rows that were set aside so that peeling could go on.
    gaps: Vec<u32>,
    /// Columns that one row touches, or did when they were noted, `noted` of them, each once; those before
    /// `next` are done with.
    ready: Vec<u32>,
    noted: usize,
    next: usize,
}

impl Encoder {
    pub(crate) fn new(backend: Backend, layout: Layout) -> Encoder {
        Encoder {
            backend,
            layout,
            columns: vec![Column::default(); layout.sparse],
            places: Vec::new(),
            sums: Zeroizing::default(),
            peeled: Vec::new(),
            gaps: Vec::new(),
            // One more than there are columns: what is not noted is written there, too.
            ready: vec![0; layout.sparse + 1],
            noted: 0,
            next: 0,
        }
    }

    /// Sets the cluster's columns, which come filled with what free ones shall be, so that the rows with
    /// these hashes read these values. Returns the numbers of rows that do not.
    pub(crate) fn encode(
        mut self,
        hashes: &[Block],
        values: impl Iterator<Item = Block>,
        columns: &mut [Block],
    ) -> Vec<u32> {
        let (sparse, dense) = columns.split_at_mut(self.layout.sparse);
        self.peel(hashes);
        self.sums.reserve(hashes.len());
        self.sums.extend(values);
        gf128::add_polynomial(self.backend, dense, hashes, &mut self.sums);
        self.substitute(sparse);
        let mut left_out = Vec::new();
        if !self.gaps.is_empty() {
            let gaps: Vec<Gap> = self.gaps(hashes, sparse);
            let (changes, wrong) = solve(self.backend, gaps);
            left_out.extend(wrong.into_iter().map(|i| self.gaps[i]));
            dense.iter_mut().zip(changes).for_each(|(dense, change)| *dense ^= change);
            gf128::add_polynomial(self.backend, &changes, hashes, &mut self.sums);
            self.substitute(sparse);
        }
        left_out
    }

    /// Orders rows so that each has a column that no later one touches. Where there is no such row, one is set aside.
    fn peel(&mut self, hashes: &[Block]) {
        let width = self.layout.sparse as u32;
        self.places.extend(hashes.iter().map(|&hash| places(hash, width)));
        for (places, row) in self.places.iter().zip(0..) {
            for &place in places {
                let column = &mut self.columns[place as usize];
                column.rows += 1;
                column.sum ^= row;
            }
        }
        self.peeled.reserve(hashes.len());
        for (place, column) in (0..width).zip(&self.columns) {
            self.ready[self.noted] = place;
            self.noted += usize::from(column.rows == 1);
        }
        self.peel_ready();
        let mut next = 0;
        let mut done = Vec::new();
        while self.peeled.len() + self.gaps.len() < hashes.len() {
            if done.is_empty() {
                done = vec![false; hashes.len()];
            }
            self.peeled.iter().for_each(|&(row, _)| done[row as usize] = true);
            while done[next as usize] {
                next += 1;
            }
            self.gaps.push(next);
            done[next as usize] = true;
            self.remove(next);
            self.peel_ready();
        }
    }

    /// Peels as long as a column has one row.
    fn peel_ready(&mut self) {
        // First come, first served: the next ones have nothing to do with this one, and the machine can begin
        // to read for them. With the last one first each would wait for the one before.
        while self.next < self.noted {
            let place = self.ready[self.next];
            self.next += 1;
            let column = self.columns[place as usize];
            if column.rows == 1 {
                self.peeled.push((column.sum, place));
                self.remove(column.sum);
            }
        }
    }

    /// Takes a row out of its columns.
    fn remove(&mut self, row: u32) {
        for place in self.places[row as usize] {
            let column = &mut self.columns[place as usize];
            column.rows -= 1;
            column.sum ^= row;
            // Whether it is one now is anybody's guess: no branch.
            self.ready[self.noted] = place;
            self.noted += usize::from(column.rows == 1);
        }
    }

    /// Sets the column of each peeled row, the last one first, so that its columns add up to its sum.
    fn substitute(&self, sparse: &mut [Block]) {
        for &(row, own) in self.peeled.iter().rev() {
            let [a, b, c] = self.places[row as usize].map(|place| sparse[place as usize]);
            let own = &mut sparse[own as usize];
            *own = *own ^ a ^ b ^ c ^ self.sums[row as usize];
        }
    }

    /// For each row set aside: the difference to its value, and how that changes with each dense column.
    fn gaps(&mut self, hashes: &[Block], sparse: &[Block]) -> Vec<Gap> {
        let reads = |places: [u32; 3], sparse: &[Block]| {
            places.iter().fold(Block::ZERO, |sum, &place| sum ^ sparse[place as usize])
        };
        let row = |&row: &u32| {
            let missing = reads(self.places[row as usize], sparse) ^ self.sums[row as usize];
            Gap { changes: [Block::ZERO; DENSE], missing }
        };
        let mut gaps: Vec<Gap> = self.gaps.iter().map(row).collect();
        let sums = std::mem::take(&mut self.sums);
        let mut change = Zeroizing::new(vec![Block::ZERO; sparse.len()]);
        for t in 0..self.layout.dense {
            let mut unit = [Block::ZERO; DENSE];
            unit[t] = Block::from_u128(1);
            self.sums = Zeroizing::new(vec![Block::ZERO; hashes.len()]);
            gf128::add_polynomial(self.backend, &unit[..=t], hashes, &mut self.sums);
            change.fill(Block::ZERO);
            self.substitute(&mut change);
            for (gap, &row) in gaps.iter_mut().zip(&self.gaps) {
                gap.changes[t] = self.sums[row as usize] ^ reads(self.places[row as usize], &change);
            }
        }
        self.sums = sums;
        gaps
    }
}

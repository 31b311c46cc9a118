//! `F`, the circular 2-correlation robust PRF of Definition 21, by which the rows of gates are hidden.
//!
//! `F_{k, l}(g, j) = E(t, s(K)) + s(K)` with `K = 2 k + 4 l` in GF(2^128), AES-128 under a key `t` for each
//! gate and entry, and the linear orthomorphism `s` of half gates ([`GateHash`]). The keys of one party are
//! hashed under keys `t` of their own, which start at a hash of session and party, so that one key `t` hashes
//! no more than the four rows of one entry of one gate by one party.
//!
//! *Why it is one*: a party's keys differ by `R` alone, so what is hashed is `s(K + 2 b_1 R + 4 b_2 R)`. The
//! four offsets are distinct, and all but the first are not zero: doubling is linear and injective. Under
//! each `t` the evaluator thus knows the input of one row, and the other three differ from it by nonzero
//! multiples of a secret of 126 random bits; in the ideal-cipher model each of its queries of the cipher, in
//! either direction, hits one of them with probability `2^-126` at most. Feed-forward is what makes the way
//! back useless: without it whoever knows an output block decrypts it. That outputs are added to `b_3 R`
//! (Definition 21) changes nothing while the inputs stay unknown. An AND of a wire with itself would hash
//! `6 k`, not zero either; lowering folds it.
//!
//! *Outputs* pass a gate of one input ([`crate::garbling`]), whose rows are hidden by `E(t, s(K)) + s(K)`
//! with `K = 2 k`, under keys `t` of a start of their own. Of its two rows one is known, and the other one
//! differs from it by `2 R`: the argument is the same.
//!
//! Sixteen keys `t` are expanded together; a batch that is no multiple of sixteen skips the rest, at all
//! parties alike, since all take the gates in the same batches.

use comity_core::{Backend, Block, GateHash, SessionId};
use zeroize::Zeroize;

/// Rows of a gate: one for each pair of public values of its inputs, `2 a + b`.
pub(crate) const ROWS: usize = 4;

/// Rows of an output's gate: one for each public value of its input.
pub(crate) const OUTPUT_ROWS: usize = 2;

/// The keys of a gate's two input wires.
pub(crate) type Keys = [Block; 2];

/// `2 k` in GF(2^128).
fn double(k: Block) -> Block {
    let k = k.to_u128();
    Block::from_u128((k << 1) ^ (0x87 & (k >> 127).wrapping_neg()))
}

/// `2 k + 4 l`.
fn joined([k, l]: Keys) -> Block {
    double(k ^ double(l))
}

/// The start of the cipher keys under which a party's keys are hashed.
fn start(session: &SessionId, party: usize) -> Block {
    session.block(&format!("start of the row keys of party {party}"))
}

/// The start of the cipher keys under which a party's keys are hashed for the gates of outputs.
fn start_of_outputs(session: &SessionId, party: usize) -> Block {
    session.block(&format!("start of the row keys of outputs of party {party}"))
}

/// `F` of a party's own keys, of which it knows all.
pub(crate) struct RowHash {
    /// Two hashes that walk in step, since one takes two blocks under a key: rows of `a = 0`, and of `a = 1`.
    halves: [GateHash; 2],
    outputs: GateHash,
    /// `2 R` and `4 R`.
    offsets: [Block; 2],
    parties: usize,
    room: [Vec<Block>; ROWS],
}

impl RowHash {
    /// The hash of the keys of `party`, whose offset is `offset`. A session has one for each party.
    pub(crate) fn new(backend: Backend, session: &SessionId, party: usize, parties: usize, offset: Block) -> RowHash {
        let half = || GateHash::new(backend, start(session, party));
        let twice = double(offset);
        let outputs = GateHash::new(backend, start_of_outputs(session, party));
        RowHash {
            halves: [half(), half()],
            outputs,
            offsets: [twice, double(twice)],
            parties,
            room: Default::default(),
        }
    }

    /// Adds `F` of some gates, under all pairs of keys, to the party's share of their rows: of each gate row
    /// after row, of each row an entry a party.
    pub(crate) fn add(&mut self, zeros: impl ExactSizeIterator<Item = Keys>, shares: &mut [Block]) {
        let (n, [u, v]) = (self.parties, self.offsets);
        debug_assert_eq!(shares.len(), zeros.len() * n * ROWS, "rows of each gate");
        self.room.iter_mut().for_each(Vec::clear);
        for keys in zeros {
            let zero = joined(keys);
            for (room, input) in self.room.iter_mut().zip([zero, zero ^ v, zero ^ u, zero ^ u ^ v]) {
                room.extend(core::iter::repeat_n(input, n));
            }
        }
        let [first, second, third, fourth] = &mut self.room;
        self.halves[0].pairs(first, second);
        self.halves[1].pairs(third, fourth);
        for (gate, shares) in shares.chunks_exact_mut(n * ROWS).enumerate() {
            for (row, shares) in shares.chunks_exact_mut(n).enumerate() {
                add(shares, &self.room[row][gate * n..][..n]);
            }
        }
    }

    /// The same of some outputs' gates, of which these are the keys of 0 of the inputs.
    pub(crate) fn add_outputs(&mut self, zeros: impl ExactSizeIterator<Item = Block>, shares: &mut [Block]) {
        let n = self.parties;
        debug_assert_eq!(shares.len(), zeros.len() * n * OUTPUT_ROWS, "rows of each gate");
        let [first, second, ..] = &mut self.room;
        first.clear();
        second.clear();
        for zero in zeros.map(double) {
            first.extend(core::iter::repeat_n(zero, n));
            second.extend(core::iter::repeat_n(zero ^ self.offsets[0], n));
        }
        self.outputs.pairs(first, second);
        for (gate, shares) in shares.chunks_exact_mut(n * OUTPUT_ROWS).enumerate() {
            for (row, shares) in shares.chunks_exact_mut(n).enumerate() {
                add(shares, &self.room[row][gate * n..][..n]);
            }
        }
    }
}

impl Drop for RowHash {
    fn drop(&mut self) {
        self.offsets.zeroize();
        self.room.iter_mut().for_each(Zeroize::zeroize);
    }
}

/// `F` of a party's active keys, as whoever evaluates sees them.
pub(crate) struct ActiveHash {
    hash: GateHash,
    outputs: GateHash,
    parties: usize,
    room: Vec<Block>,
}

impl ActiveHash {
    /// The hash of the keys of `party`. A session has one for each party.
    pub(crate) fn new(backend: Backend, session: &SessionId, party: usize, parties: usize) -> ActiveHash {
        let [hash, outputs] = [start, start_of_outputs].map(|start| GateHash::new(backend, start(session, party)));
        ActiveHash { hash, outputs, parties, room: Vec::new() }
    }

    /// Adds `F` of some gates to their output keys: of each gate an entry a party.
    pub(crate) fn add(&mut self, active: impl ExactSizeIterator<Item = Keys>, keys: &mut [Block]) {
        debug_assert_eq!(keys.len(), active.len() * self.parties, "an entry a party");
        self.room.clear();
        for pair in active {
            self.room.extend(core::iter::repeat_n(joined(pair), self.parties));
        }
        self.hash.each(&mut self.room);
        add(keys, &self.room);
    }

    /// The same of some outputs' gates.
    pub(crate) fn add_outputs(&mut self, active: impl ExactSizeIterator<Item = Block>, keys: &mut [Block]) {
        debug_assert_eq!(keys.len(), active.len() * self.parties, "an entry a party");
        self.room.clear();
        for key in active {
            self.room.extend(core::iter::repeat_n(double(key), self.parties));
        }
        self.outputs.each(&mut self.room);
        add(keys, &self.room);
    }
}

/// Adds blocks to blocks.
pub(crate) fn add(to: &mut [Block], from: &[Block]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to ^= *from;
    }
}

#[cfg(test)]
mod tests {
    use comity_core::Prg;

    use super::*;

    /// What a party garbles under the keys of a row is what others compute of these keys, gate after gate, in
    /// batches of any size; and no two rows of one entry, entries or gates have the same mask.
    #[test]
    fn rows_open_with_their_keys() {
        let backend = Backend::detect();
        let session = SessionId::derive("test", &[b"rows"]);
        let mut prg = Prg::new(backend, Block::from_u128(1));
        let offset = prg.block().with_lsb(true);
        for n in [2, 3, 5] {
            let mut rows = RowHash::new(backend, &session, 1, n, offset);
            let mut active = [0; ROWS].map(|_| ActiveHash::new(backend, &session, 1, n));
            let mut seen = Vec::new();
            for gates in [1, 16, 7, 40] {
                let keys: Vec<Keys> = (0..gates).map(|_| [prg.block(), prg.block()]).collect();
                let mut shares = vec![Block::ZERO; gates * n * ROWS];
                rows.add(keys.iter().copied(), &mut shares);
                seen.extend_from_slice(&shares);
                for (row, active) in active.iter_mut().enumerate() {
                    let of_row = |[u, v]: Keys| [u ^ offset.masked(row & 2 > 0), v ^ offset.masked(row & 1 > 0)];
                    let mut open = vec![Block::ZERO; gates * n];
                    active.add(keys.iter().map(|&keys| of_row(keys)), &mut open);
                    for (gate, open) in open.chunks_exact(n).enumerate() {
                        assert_eq!(open, &shares[(gate * ROWS + row) * n..][..n], "gate {gate}, row {row}");
                    }
                }
                let mut shares = vec![Block::ZERO; gates * n * OUTPUT_ROWS];
                rows.add_outputs(keys.iter().map(|keys| keys[0]), &mut shares);
                seen.extend_from_slice(&shares);
                for (row, active) in active[..OUTPUT_ROWS].iter_mut().enumerate() {
                    let mut open = vec![Block::ZERO; gates * n];
                    active.add_outputs(keys.iter().map(|keys| keys[0] ^ offset.masked(row > 0)), &mut open);
                    for (gate, open) in open.chunks_exact(n).enumerate() {
                        assert_eq!(open, &shares[(gate * OUTPUT_ROWS + row) * n..][..n], "output {gate}, row {row}");
                    }
                }
            }
            let count = seen.len();
            seen.sort_by_key(|block| block.to_u128());
            seen.dedup();
            assert_eq!(seen.len(), count);
        }
    }

    #[test]
    fn doubling_is_that_of_the_field() {
        assert_eq!(double(Block::from_u128(1)), Block::from_u128(2));
        assert_eq!(double(Block::from_u128(1 << 127)), Block::from_u128(0x87));
        let gf = |a: u128| comity_core::gf128::mul(Backend::detect(), Block::from_u128(a), Block::from_u128(2));
        for a in [3, 1 << 126, u128::MAX, 0x8000_0000_0000_0000_0000_0000_0000_0001] {
            assert_eq!(double(Block::from_u128(a)), gf(a));
        }
    }
}

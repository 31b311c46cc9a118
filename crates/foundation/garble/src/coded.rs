//! Coded tables: fewer rows travel than there are copies.
//!
//! **Source**: Afshar, Mohassel, Pinkas, Riva (Eurocrypt 2014), section 5. Of `t` copies an evaluator that
//! knows the seeds of the `t - e` checked ones lacks only what the `e` evaluated copies have. Without
//! learning which those are, the garbler sends `e` values of the polynomial through what all copies have
//! ([`RowEncoder`]), from which, with the `t - e` that it makes itself, the evaluator finds the others
//! ([`RowDecoder`]); and a hash of each copy ([`CopyDigests`]), which the checked and the decoded ones must
//! have. If the values sent are not those of what was hashed, decoding gives something else for *every*
//! choice, so that the abort tells nothing about it. There are more copies than rho, since the number of
//! evaluated ones is fixed: `C(t, e) >= 2^rho`.
//!
//! Rows hold a block of each copy, side by side. What is hashed of a copy is its column.

use comity_core::{Block, Check, ErasureCode, ErasureDecoder, Result, declassify};
use zeroize::Zeroize;

use crate::lockstep::CopyChoice;

/// Bytes of a copy's digest.
pub const DIGEST: usize = 32;

/// The digests of copies: running hashes of their columns.
pub struct CopyDigests {
    hashers: Vec<blake3::Hasher>,
    column: Vec<Block>,
}

impl CopyDigests {
    /// The digests of `copies` copies under a key that the session gives.
    pub fn new(key: &[u8; 32], copies: usize) -> CopyDigests {
        CopyDigests { hashers: vec![blake3::Hasher::new_keyed(key); copies], column: Vec::new() }
    }

    /// Hashes rows of these copies, side by side in this order.
    pub fn add(&mut self, rows: &[Block], copies: impl ExactSizeIterator<Item = usize>) {
        let nothing = |_: usize, _: &[Block]| Ok(());
        self.add_each(rows, copies, nothing).expect("nothing fails");
    }

    /// Hashes rows as [`CopyDigests::add`] does, and calls `each` with a copy's number and its column.
    ///
    /// # Errors
    /// Those of `each`.
    pub fn add_each(
        &mut self,
        rows: &[Block],
        copies: impl ExactSizeIterator<Item = usize>,
        mut each: impl FnMut(usize, &[Block]) -> Result<()>,
    ) -> Result<()> {
        let width = copies.len();
        for (k, j) in copies.enumerate() {
            self.column.clear();
            self.column.extend(rows.iter().skip(k).step_by(width));
            self.hashers[j].update(Block::bytes_of(&self.column));
            each(j, &self.column)?;
        }
        Ok(())
    }

    /// Hashes a column of copy `j`.
    pub fn add_column(&mut self, j: usize, column: &[Block]) {
        self.hashers[j].update(Block::bytes_of(column));
    }

    /// The digest of each copy.
    pub fn finish(&self) -> impl Iterator<Item = [u8; DIGEST]> {
        self.hashers.iter().map(|hasher| hasher.finalize().into())
    }

    /// Compares the digests with those that arrived: those of all copies, before any error is returned.
    ///
    /// # Errors
    /// Those of `arrived`; `wrong[0]` if the digest of a checked copy differs, else `wrong[1]` if that of an
    /// evaluated copy does.
    pub fn check(
        &self,
        choice: &CopyChoice,
        mut arrived: impl FnMut() -> Result<[u8; DIGEST]>,
        wrong: [&'static Check; 2],
    ) -> Result<()> {
        // `blake3::Hash` compares in constant time.
        let why = "which copies are wrong tells what the garbler knows";
        let right = self.hashers.iter().map(|hasher| Ok(declassify(hasher.finalize() == arrived()?, why)));
        let right = right.collect::<Result<Vec<bool>>>()?;
        let all = |copies: &[usize]| copies.iter().all(|&j| right[j]);
        match (all(&choice.checked), all(&choice.evaluated)) {
            (false, _) => Err(wrong[0].into()),
            (true, false) => Err(wrong[1].into()),
            (true, true) => Ok(()),
        }
    }
}

impl Drop for CopyDigests {
    fn drop(&mut self) {
        self.hashers.zeroize();
        self.column.zeroize();
    }
}

/// The garbler's side: rows of all copies in, coded rows out.
pub struct RowEncoder {
    code: ErasureCode,
    coded: Vec<Block>,
    digests: CopyDigests,
}

impl RowEncoder {
    /// An encoder whose digests have this key.
    pub fn new(code: ErasureCode, key: &[u8; 32]) -> RowEncoder {
        let digests = CopyDigests::new(key, code.messages());
        RowEncoder { code, coded: Vec::new(), digests }
    }

    /// The coded rows for these rows of all copies: a block for each copy that is evaluated.
    pub fn encode(&mut self, rows: &[Block]) -> &mut [Block] {
        self.coded.resize(rows.len() / self.code.messages() * self.code.coded(), Block::ZERO);
        self.code.encode_rows(rows, &mut self.coded);
        self.digests.add(rows, 0..self.code.messages());
        &mut self.coded
    }

    /// The digest of each copy, after the last rows.
    pub fn digests(&self) -> impl Iterator<Item = [u8; DIGEST]> {
        self.digests.finish()
    }
}

/// The evaluator's side: coded rows and those of the checked copies in, rows of the evaluated copies out.
pub struct RowDecoder {
    decoder: ErasureDecoder,
    arriving: Vec<Block>,
    digests: CopyDigests,
}

impl RowDecoder {
    /// A decoder for this choice, whose digests have this key.
    pub fn new(code: &ErasureCode, choice: &CopyChoice, key: &[u8; 32]) -> RowDecoder {
        let digests = CopyDigests::new(key, choice.copies());
        RowDecoder { decoder: code.decoder(&choice.evaluated), arriving: Vec::new(), digests }
    }

    /// Decodes the next coded rows, with which `recv` fills a buffer: `known` are the rows of the checked copies,
    /// and those of the evaluated copies are written to `missing`.
    ///
    /// # Errors
    /// Those of `recv`.
    pub fn decode(
        &mut self,
        choice: &CopyChoice,
        known: &[Block],
        missing: &mut [Block],
        recv: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        self.arriving.resize(missing.len(), Block::ZERO);
        recv(Block::bytes_of_mut(&mut self.arriving))?;
        self.decoder.decode_rows(known, &self.arriving, missing);
        self.digests.add(known, choice.checked.iter().copied());
        self.digests.add(missing, choice.evaluated.iter().copied());
        Ok(())
    }

    /// Compares the digests of the copies, after the last rows, with those that arrived.
    ///
    /// # Errors
    /// As [`CopyDigests::check`].
    pub fn check(
        &self,
        choice: &CopyChoice,
        arrived: impl FnMut() -> Result<[u8; DIGEST]>,
        wrong: [&'static Check; 2],
    ) -> Result<()> {
        self.digests.check(choice, arrived, wrong)
    }
}

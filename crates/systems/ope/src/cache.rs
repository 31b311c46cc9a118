//! [`Cache`]: the dictionaries of a table, to be sealed on the client's own disk.

use zeroize::Zeroizing;

use crate::bytes::{Reader, put_text, put_varint};
use crate::coin::Coin;
use crate::error::Result;
use crate::ideal::Pattern;

/// The dictionaries of a table as of one version. All of it is a copy of what the database has, except that
/// it also remembers the last version that was seen.
#[derive(Clone, PartialEq, Eq)]
pub struct Cache {
    /// The version of the state.
    pub version: u64,
    /// The chain of the state.
    pub chain: [u8; 32],
    /// The next row of the state.
    pub next_row: u64,
    /// The dictionaries of the columns with codes.
    pub columns: Vec<CachedColumn>,
}

/// The dictionary of a column.
#[derive(Clone, PartialEq, Eq)]
pub struct CachedColumn {
    /// The column's name.
    pub name: String,
    /// The pattern in which its last codes were given.
    pub pattern: Pattern,
    /// Whether each row has a coin.
    pub coins: bool,
    /// Values, coins (0 in a scheme without coins) and codes, in order.
    pub pairs: Vec<((u128, Coin), u128)>,
}

impl Cache {
    /// The bytes to seal. Values and codes are written as differences; a value that repeats is written once.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let rows: usize = self.columns.iter().map(|column| column.pairs.len()).sum();
        let mut bytes = Zeroizing::new(Vec::with_capacity(64 + 48 * rows + 64 * self.columns.len()));
        for number in [self.version, self.next_row] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.chain);
        bytes.push(self.columns.len() as u8);
        for column in &self.columns {
            put_text(&column.name, &mut bytes);
            bytes.extend_from_slice(&column.pattern.rising.to_le_bytes());
            bytes.extend_from_slice(&column.pattern.falling.to_le_bytes());
            bytes.push(column.coins.into());
            let runs = || column.pairs.chunk_by(|one, two| one.0.0 == two.0.0);
            put_varint(runs().count() as u128, &mut bytes);
            let (mut value, mut code) = (0, 0);
            for run in runs() {
                put_varint(run[0].0.0 - value, &mut bytes);
                value = run[0].0.0;
                if column.coins {
                    put_varint(run.len() as u128, &mut bytes);
                }
                for ((_, coin), next) in run {
                    if column.coins {
                        bytes.extend_from_slice(&coin.bits().to_le_bytes());
                    }
                    put_varint(next - code, &mut bytes);
                    code = *next;
                }
            }
        }
        bytes
    }

    /// Decodes a cache.
    ///
    /// # Errors
    /// [`Error::Malformed`](crate::Error::Malformed).
    pub fn from_bytes(bytes: &[u8]) -> Result<Cache> {
        let mut reader = Reader::new(bytes, "the cache");
        let (version, next_row, chain) = (reader.number()?, reader.number()?, reader.array()?);
        let mut columns = Vec::new();
        for _ in 0..reader.byte()? {
            let name = reader.text()?;
            let pattern =
                Pattern { rising: u32::from_le_bytes(reader.array()?), falling: u32::from_le_bytes(reader.array()?) };
            let coins = reader.flag()?;
            let (mut value, mut code, mut pairs) = (0u128, 0u128, Vec::new());
            let overflow = |reader: &Reader<'_>| reader.malformed("a number is too large");
            for nth in 0..reader.varint()? {
                let step = reader.varint()?;
                value = value.checked_add(step).ok_or_else(|| overflow(&reader))?;
                let run = if coins { reader.varint()? } else { 1 };
                if run == 0 || (step == 0 && nth > 0) {
                    return Err(reader.malformed("a value is there twice, or without a code"));
                }
                for _ in 0..run {
                    let coin = Coin::new(if coins { reader.number()? } else { 0 });
                    code = code.checked_add(reader.varint()?).ok_or_else(|| overflow(&reader))?;
                    pairs.push(((value, coin), code));
                }
            }
            columns.push(CachedColumn { name, pattern, coins, pairs });
        }
        reader.end()?;
        Ok(Cache { version, chain, next_row, columns })
    }
}

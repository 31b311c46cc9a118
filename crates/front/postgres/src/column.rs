//! One encrypted column at the client: its keys and its dictionary, and what was changed in it since the last commit.

use comity_core::{Backend, Prg};
use comity_ope::{
    Bulk, Cache, CachedColumn, Coin, Column, ColumnKey, ColumnValue, Error as OpeError, FrequencyHiding, Ideal,
    OpeScheme, Ore, Pattern, Sum,
};
use postgres::Row;
use postgres::types::ToSql;
use rand_core::Rng;
use zeroize::Zeroizing;

use crate::copy::Copy;
use crate::error::{Error, Result};

/// A code, as PostgreSQL stores it.
pub(crate) type Param = Box<dyn ToSql + Sync + Send>;

/// The order of a column, and what makes it.
pub(crate) enum Order {
    /// No order yet.
    None,
    Ideal(Ideal<u128, u128>),
    Hiding(FrequencyHiding<u128, u128>),
    /// Left/right encryption; in a box, since it is all keys.
    Ore(Box<Ore>),
}

/// A pair of the dictionary: value and coin, and the code.
pub(crate) type Pair = ((u128, Coin), u128);

pub(crate) struct Col {
    pub(crate) def: Column,
    pub(crate) key: ColumnKey,
    pub(crate) order: Order,
    /// The pairs that are new since the last commit; `None` if more than that was changed.
    journal: Option<Vec<(u128, Coin)>>,
}

/// No coin, as in schemes without coins.
const NO_COIN: Coin = Coin::new(0);

impl Col {
    pub(crate) fn new(def: Column, key: ColumnKey, ordered: bool) -> Col {
        let mut col = Col { def, key, order: Order::None, journal: Some(Vec::new()) };
        if ordered {
            col.order = col.empty();
        }
        col
    }

    /// The order without rows.
    pub(crate) fn empty(&self) -> Order {
        match self.def.scheme {
            OpeScheme::LeftRight => {
                Order::Ore(Box::new(Ore::new(Backend::detect(), self.key.ore(), self.def.ty.width())))
            }
            OpeScheme::Ideal => Order::Ideal(Ideal::with_bits(self.bits()).expect("the type has as many bits")),
            OpeScheme::FrequencyHiding => {
                Order::Hiding(FrequencyHiding::with_bits(self.bits()).expect("the type has as many bits"))
            }
        }
    }

    pub(crate) fn bits(&self) -> u32 {
        if self.def.wide { 126 } else { 62 }
    }

    pub(crate) fn has_codes(&self) -> bool {
        matches!(self.order, Order::Ideal(_) | Order::Hiding(_))
    }

    pub(crate) fn is_ordered(&self) -> bool {
        !matches!(self.order, Order::None)
    }

    /// The type of the part that is ordered, in SQL.
    pub(crate) fn sql_type(def: &Column) -> &'static str {
        if def.scheme.has_codes() && !def.wide { "bigint" } else { "bytea" }
    }

    pub(crate) fn code(&self, value: u128, coin: Coin) -> Option<u128> {
        match &self.order {
            Order::Ideal(ideal) => ideal.encrypt(value),
            Order::Hiding(hiding) => hiding.encrypt(value, coin),
            Order::None | Order::Ore(_) => None,
        }
    }

    pub(crate) fn range(&self, low: u128, high: u128) -> Option<(u128, u128)> {
        match &self.order {
            Order::Ideal(ideal) => ideal.range(low, high),
            Order::Hiding(hiding) => hiding.range(low, high),
            Order::None | Order::Ore(_) => None,
        }
    }

    /// The code of a new row, and the codes that have to change for it.
    pub(crate) fn insert(&mut self, value: u128, coin: Coin) -> Result<(u128, Vec<(u128, u128)>)> {
        let new = match &self.order {
            Order::Ideal(ideal) => ideal.encrypt(value).is_none(),
            _ => true,
        };
        let placed = match &mut self.order {
            Order::Ideal(ideal) => ideal.insert(value)?,
            Order::Hiding(hiding) => hiding.insert(value, coin)?,
            Order::None | Order::Ore(_) => unreachable!("only columns with codes come here"),
        };
        let code = placed.code();
        match placed {
            comity_ope::Placed::Code(_) => {
                if let (true, Some(journal)) = (new, &mut self.journal) {
                    journal.push((value, coin));
                }
                Ok((code, Vec::new()))
            }
            comity_ope::Placed::Rebalanced { moves, .. } => {
                self.journal = None;
                Ok((code, moves))
            }
        }
    }

    /// The codes of many new rows.
    pub(crate) fn insert_many(&mut self, rows: &[(u128, Coin)]) -> Result<Bulk<u128>> {
        self.journal = None;
        match &mut self.order {
            Order::Ideal(ideal) => {
                let values = Zeroizing::new(rows.iter().map(|row| row.0).collect::<Vec<_>>());
                Ok(ideal.insert_many(&values)?)
            }
            Order::Hiding(hiding) => Ok(hiding.insert_many(rows)?),
            Order::None | Order::Ore(_) => unreachable!("only columns with codes come here"),
        }
    }

    /// Takes over the changes that another client, or this one before, has written.
    pub(crate) fn adopt(&mut self, value: u128, coin: Coin, code: u128) -> Result<()> {
        let adopted = match &mut self.order {
            Order::Ideal(ideal) => ideal.adopt(value, code),
            Order::Hiding(hiding) => hiding.adopt(value, coin, code),
            Order::None | Order::Ore(_) => Ok(()),
        };
        adopted.map_err(|_| self.disordered())
    }

    /// Makes the dictionary of all rows.
    pub(crate) fn load(&mut self, mut pairs: Vec<Pair>, pattern: Pattern) -> Result<()> {
        pairs.sort_unstable();
        let bits = self.bits();
        let loaded = match &self.order {
            Order::Ideal(_) => {
                // Rows with one value have one code, and are one pair.
                pairs.dedup();
                let values: Vec<(u128, u128)> = pairs.iter().map(|pair| (pair.0.0, pair.1)).collect();
                Ideal::from_pairs(bits, &values, pattern).map(Order::Ideal)
            }
            Order::Hiding(_) => FrequencyHiding::from_rows(bits, &pairs, pattern).map(Order::Hiding),
            Order::None | Order::Ore(_) => return Ok(()),
        };
        self.order = loaded.map_err(|_| self.disordered())?;
        self.journal = Some(Vec::new());
        Ok(())
    }

    pub(crate) fn rebalance(&mut self) -> Result<Vec<(u128, u128)>> {
        self.journal = None;
        match &mut self.order {
            Order::Ideal(ideal) => Ok(ideal.rebalance()?),
            Order::Hiding(hiding) => Ok(hiding.rebalance()?),
            Order::None | Order::Ore(_) => Ok(Vec::new()),
        }
    }

    /// Forgets a row that is gone. Others may have its value, if the scheme shares codes.
    pub(crate) fn forget(&mut self, value: u128, coin: Coin) {
        if let Order::Hiding(hiding) = &mut self.order {
            self.journal = None;
            hiding.remove(value, coin);
        }
    }

    /// Gives up the journal: later changes cannot be undone here.
    pub(crate) fn lose(&mut self) {
        self.journal = None;
    }

    /// Notes that the changes are committed.
    pub(crate) fn commit(&mut self) {
        self.journal = Some(Vec::new());
    }

    /// Takes back the changes since the last commit; `false` if that cannot be done here, and all has to be read again.
    pub(crate) fn undo(&mut self) -> bool {
        let Some(journal) = self.journal.replace(Vec::new()) else { return false };
        for (value, coin) in journal {
            match &mut self.order {
                Order::Ideal(ideal) => drop(ideal.remove(value)),
                Order::Hiding(hiding) => drop(hiding.remove(value, coin)),
                Order::None | Order::Ore(_) => (),
            }
        }
        true
    }

    pub(crate) fn to_cache(&self) -> Option<CachedColumn> {
        let (coins, pattern, pairs) = match &self.order {
            Order::Ideal(ideal) => {
                (false, ideal.pattern(), ideal.iter().map(|(value, code)| ((value, NO_COIN), code)).collect())
            }
            Order::Hiding(hiding) => (true, hiding.pattern(), hiding.iter().collect()),
            Order::None | Order::Ore(_) => return None,
        };
        Some(CachedColumn { name: self.def.name.clone(), pattern, coins, pairs })
    }

    /// The dictionary of a cache, if it has one for this column.
    pub(crate) fn load_cache(&mut self, cache: &mut Cache) -> bool {
        let coins = matches!(self.order, Order::Hiding(_));
        let Some(cached) = cache.columns.iter_mut().find(|column| column.name == self.def.name) else { return false };
        cached.coins == coins && self.load(std::mem::take(&mut cached.pairs), cached.pattern).is_ok()
    }

    /// A code as PostgreSQL stores it.
    pub(crate) fn param(&self, code: u128) -> Param {
        if self.def.wide { Box::new(code.to_be_bytes().to_vec()) } else { Box::new(code as i64) }
    }

    /// NULL, as a parameter of the type by which the column is ordered.
    pub(crate) fn null(&self) -> Param {
        if Col::sql_type(&self.def) == "bigint" { Box::new(None::<i64>) } else { Box::new(None::<Vec<u8>>) }
    }

    /// A code as a field of COPY.
    pub(crate) fn put_code(&self, code: u128, copy: &mut Copy<'_>) {
        if self.def.wide {
            copy.bytes(|bytes| bytes.extend_from_slice(&code.to_be_bytes()))
        } else {
            copy.number(code as i64)
        }
    }

    /// The coin of a new value; [`NO_COIN`] in a scheme without coins.
    pub(crate) fn coin(&self, nonce: [u8; 16]) -> Coin {
        if self.def.scheme == OpeScheme::FrequencyHiding { self.key.coin(nonce) } else { NO_COIN }
    }

    /// Writes the parts of a value in a row, as fields of COPY; returns the row's part of the sum. A value
    /// with a code has got it.
    pub(crate) fn write(
        &self,
        row: u64,
        nonce: [u8; 16],
        value: &ColumnValue,
        rng: &mut Prg,
        copy: &mut Copy<'_>,
    ) -> Result<Sum> {
        let plain = self.def.ty.to_bytes(value);
        match &self.order {
            Order::None => copy.null(),
            Order::Ore(ore) => copy.bytes(|bytes| bytes.extend_from_slice(&ore.right(value.order(), fresh(rng)))),
            Order::Ideal(_) | Order::Hiding(_) => {
                let code = self.code(value.order(), self.coin(nonce));
                self.put_code(code.ok_or_else(changed)?, copy);
            }
        }
        copy.bytes(|bytes| self.key.seal_to(row, nonce, &plain, bytes));
        Ok(self.key.term(row, &plain))
    }

    /// The code in a row; `None` for NULL.
    pub(crate) fn read(&self, row: &Row, at: usize) -> Result<Option<u128>> {
        if !self.def.wide {
            return Ok(row.try_get::<_, Option<i64>>(at)?.map(|code| code as u128));
        }
        let code: Option<&[u8]> = row.try_get(at)?;
        // Whatever has another length is no code.
        Ok(code.map(|code| code.try_into().map_or(0, u128::from_be_bytes)))
    }

    /// Opens a row's parts of this column: the value and its coin; `None` for NULL.
    pub(crate) fn open(&self, row: u64, sealed: Option<&[u8]>) -> Result<Option<(ColumnValue, Coin)>> {
        let Some(sealed) = sealed else { return Ok(None) };
        let opened = self.key.open(row, sealed).and_then(|(plain, coin)| Ok((self.def.ty.from_bytes(&plain)?, coin)));
        opened.map(Some).map_err(|_| self.tampered(row))
    }

    pub(crate) fn tampered(&self, row: u64) -> Error {
        Error::Tampered { column: self.def.name.clone(), row }
    }

    fn disordered(&self) -> Error {
        Error::Disordered { column: self.def.name.clone() }
    }

    /// Whether an error is that of a coin thrown twice, which another coin mends.
    pub(crate) fn is_coin(error: &Error) -> bool {
        matches!(error, Error::Ope(OpeError::CoinUsed))
    }
}

/// The error of rows that are not the same the second time.
pub(crate) fn changed() -> Error {
    Error::invalid("rows changed while they were read")
}

/// Random bytes that no other value has.
pub(crate) fn fresh(rng: &mut impl Rng) -> [u8; 16] {
    let mut bytes = [0; 16];
    rng.fill_bytes(&mut bytes);
    bytes
}

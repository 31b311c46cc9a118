//! [`Table`]: the client's side of one table, and how it keeps up with the database.
//!
//! The table's *state* is one row at the server, sealed: a version and its history, how many rows there are
//! and values in each column, and keyed sums over them. Every transaction that writes codes locks that row
//! and makes the next version, and every statement that reads compares the version in its own snapshot: a
//! client whose dictionary is of another version reads what is new, and tries again. So two clients never
//! give one code to two values, and an answer is never computed with codes of another time.
//!
//! The dictionary is a cache of what rows have. It changes with a transaction's commit: what was rolled back
//! is taken back here, too, or read again. A commit whose outcome is not known is looked up when the next
//! statement compares versions.

use std::path::{Path, PathBuf};

use comity_core::{Backend, Block, Prg};
use comity_ope::{Binding, Cache, ColumnState, History, OpeKey, Purpose, RowTerms, RowTotal, State};
use postgres::GenericClient;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::{ToSql, Type};
use rand_core::{CryptoRng, Rng};

use crate::column::{Col, Pair};
use crate::error::{Error, Result};
use crate::files;
use crate::name::{self, Names, ROW, quote};
use crate::schema::{read_links, read_state};

/// The most tries of a statement that other clients are faster than.
pub(crate) const TRIES: usize = 100;

/// A table with encrypted columns.
pub struct Table {
    pub(crate) key: OpeKey,
    pub(crate) names: Names,
    /// The secret that rows are sealed under.
    pub(crate) number: u32,
    /// The last state that was seen.
    pub(crate) state: State,
    /// The version that the dictionaries are of; `None` if they have to be read anew.
    pub(crate) loaded: Option<Loaded>,
    pub(crate) columns: Vec<Col>,
    pub(crate) plain: Vec<PlainColumn>,
    pub(crate) rng: Prg,
    cache: Option<PathBuf>,
}

/// A column that is not encrypted.
pub(crate) struct PlainColumn {
    pub(crate) name: String,
    /// Its type in SQL.
    pub(crate) ty: String,
    /// Its type, if PostgreSQL has it built in.
    pub(crate) own: Option<Type>,
    /// The key of its tags, if it is bound.
    pub(crate) binding: Option<Binding>,
}

#[derive(Clone, Copy)]
pub(crate) struct Loaded {
    pub(crate) version: u64,
    pub(crate) next_row: u64,
}

/// The facts that the rows of a table tell.
pub(crate) struct Contents {
    /// Rows with a key, and those without: somebody else wrote them.
    pub(crate) rows: RowTotal,
    pub(crate) foreign: u64,
    /// The pairs of the dictionary of each column.
    pub(crate) pairs: Vec<Vec<Pair>>,
    /// The values in each column.
    pub(crate) values: Vec<RowTotal>,
}

impl Table {
    /// Opens a table. `cache` is a file with the dictionaries, which [`save`](Table::save) writes; without it
    /// they are read from the rows, and a database that was restored from an older state is not noticed.
    ///
    /// # Errors
    /// [`Error::WrongKey`]; [`Error::StateChanged`]; [`Error::RolledBack`] if the cache is of a version that
    /// the database does not have; errors of reading.
    pub fn open(
        client: &mut impl GenericClient,
        key: OpeKey,
        cache: Option<&Path>,
        rng: &mut impl CryptoRng,
    ) -> Result<Table> {
        let mut table = Table::unread(client, key, cache, rng)?;
        table.read_cache();
        table.refresh(client)?;
        Ok(table)
    }

    /// A table that knows nothing of its rows, nor of versions.
    pub(crate) fn unread(
        client: &mut impl GenericClient,
        key: OpeKey,
        cache: Option<&Path>,
        rng: &mut impl CryptoRng,
    ) -> Result<Table> {
        let names = Names::new(&key.table);
        let mut seed = [0; 16];
        rng.fill_bytes(&mut seed);
        let mut table = Table {
            names,
            number: key.number(),
            key,
            state: State::new(),
            loaded: None,
            columns: Vec::new(),
            plain: Vec::new(),
            rng: Prg::new(Backend::detect(), Block::new(seed)),
            cache: cache.map(Path::to_owned),
        };
        let (state, number) = table.server_state(client)?;
        table.set_columns(&state, number)?;
        table.read_plain(client, &state.bound)?;
        Ok(table)
    }

    pub(crate) fn server_state(&self, client: &mut impl GenericClient) -> Result<(State, u32)> {
        let none = || {
            let table = &self.key.table[1];
            Error::invalid(format!(
                "`{table}` has no column that is encrypted under this key: `comity ope init` makes one"
            ))
        };
        read_state(client, &self.names, &self.key)?.ok_or_else(none)
    }

    /// The key.
    pub fn key(&self) -> &OpeKey {
        &self.key
    }

    /// The state as it was seen last.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The columns that are not encrypted, in order.
    pub fn plain_columns(&self) -> impl Iterator<Item = &str> {
        self.plain.iter().map(|column| column.name.as_str())
    }

    /// Writes the cache, if the table was opened with one.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn save(&mut self) -> Result<()> {
        let Some(path) = &self.cache else { return Ok(()) };
        let current = self.loaded.is_some_and(|loaded| loaded.version == self.state.version());
        // With no dictionaries of this version it still says which version was seen.
        let columns = if current { self.columns.iter().filter_map(Col::to_cache).collect() } else { Vec::new() };
        let next_row = self.state.next_row;
        let cache = Cache { version: self.state.version(), chain: self.state.history.chain(), next_row, columns };
        let mut nonce = [0; 16];
        self.rng.fill_bytes(&mut nonce);
        let sealed = self.key.seal(self.number, Purpose::Cache, "", nonce, &cache.to_bytes());
        files::replace(path, &sealed.expect("a secret that is in use is in the key"))
    }

    /// Bytes of the cache on the disk.
    pub fn cache_bytes(&self) -> Option<u64> {
        self.cache.as_ref().and_then(|path| path.metadata().ok()).map(|meta| meta.len())
    }

    /// The version and chain of the cache, if it is whole.
    pub(crate) fn cached(&self) -> Option<Cache> {
        let bytes = std::fs::read(self.cache.as_ref()?).ok()?;
        let plain = self.key.open(Purpose::Cache, "", &bytes).ok()?;
        Cache::from_bytes(&plain).ok()
    }

    /// Whether the file of the cache exists, but is damaged or belongs to another key.
    pub fn cache_is_damaged(&self) -> bool {
        self.cache.as_ref().is_some_and(|path| path.exists()) && self.cached().is_none()
    }

    /// Takes over the dictionaries of the cache, unless it is damaged. All of it is a copy of what the
    /// database has.
    fn read_cache(&mut self) {
        let Some(mut cache) = self.cached() else { return };
        self.state.history = History::remembered(cache.version, cache.chain);
        let coded: Vec<usize> = (0..self.columns.len()).filter(|i| self.columns[*i].has_codes()).collect();
        let whole = coded.into_iter().all(|i| self.columns[i].load_cache(&mut cache));
        self.loaded = whole.then_some(Loaded { version: cache.version, next_row: cache.next_row });
    }

    /// Brings the dictionaries to the version that the database has.
    pub(crate) fn refresh(&mut self, client: &mut impl GenericClient) -> Result<()> {
        for _ in 0..TRIES {
            let (state, number) = self.server_state(client)?;
            if self.follow(client, state, number)? {
                return Ok(());
            }
        }
        Err(Error::Busy)
    }

    /// Brings the dictionaries to this version; `false` if the database has another one by now.
    pub(crate) fn follow(&mut self, client: &mut impl GenericClient, state: State, number: u32) -> Result<bool> {
        self.check_history(client, &state)?;
        if !self.has_columns(&state, number) {
            self.set_columns(&state, number)?;
            self.read_plain(client, &state.bound)?;
        }
        let since = match self.loaded {
            Some(loaded) if loaded.version == state.version() => {
                self.state = state;
                return Ok(true);
            }
            // All that came after is new rows.
            Some(loaded) if loaded.version >= state.rewritten => Some(loaded.next_row),
            _ => None,
        };
        if !self.columns.iter().any(Col::has_codes) {
            self.loaded = Some(Loaded { version: state.version(), next_row: state.next_row });
            self.state = state;
            return Ok(true);
        }
        let contents = match self.contents(client, since.unwrap_or(0)) {
            Ok(contents) => contents,
            Err(error) => {
                // A rotation in between changes all that is sealed: then it is not the rows' fault.
                return if self.server_state(client)?.0.version() == state.version() { Err(error) } else { Ok(false) };
            }
        };
        // Nothing was committed between the two looks: the rows are of this version.
        if self.server_state(client)?.0.version() != state.version() {
            return Ok(false);
        }
        self.loaded = None;
        for (column, pairs) in self.columns.iter_mut().zip(contents.pairs) {
            if since.is_none() {
                column.load(pairs, Default::default())?;
                continue;
            }
            pairs.into_iter().try_for_each(|((value, coin), code)| column.adopt(value, coin, code))?;
        }
        self.loaded = Some(Loaded { version: state.version(), next_row: state.next_row });
        self.state = state;
        Ok(true)
    }

    /// Takes back the changes of a transaction that was not committed, or has it read again.
    pub(crate) fn undo(&mut self) {
        let undone: Vec<bool> = self.columns.iter_mut().map(Col::undo).collect();
        if undone.contains(&false) {
            // Keys and orders may have changed, too.
            self.columns.clear();
            self.loaded = None;
        }
    }

    /// Checks that the version that was seen last is one of the history of this state: versions only grow,
    /// and no other copy went on.
    fn check_history(&self, client: &mut impl GenericClient, state: &State) -> Result<()> {
        let seen = self.state.version();
        let links = read_links(client, &self.names, &self.key, &state.history.path(seen))?;
        match links {
            Some(links) if state.history.follows(seen, self.state.history.chain(), &links) => Ok(()),
            _ => Err(Error::RolledBack { seen, found: state.version() }),
        }
    }

    /// The terms that rows add to the sum over all of them.
    pub(crate) fn row_terms(&self) -> Result<RowTerms> {
        self.key.row_terms(self.number).ok_or(Error::WrongKey)
    }

    fn has_columns(&self, state: &State, number: u32) -> bool {
        let same =
            |(own, column): (&Col, &ColumnState)| own.def.name == column.name && own.is_ordered() == column.ordered;
        let bound = |name: &String| self.plain.iter().any(|plain| plain.name == *name && plain.binding.is_some());
        number == self.number
            && self.bound().count() == state.bound.len()
            && state.bound.iter().all(bound)
            && self.columns.len() == state.columns.len()
            && self.columns.iter().zip(&state.columns).all(same)
    }

    pub(crate) fn set_columns(&mut self, state: &State, number: u32) -> Result<()> {
        let column = |column: &ColumnState| {
            let def = self.key.column(&column.name).cloned().ok_or(Error::WrongKey)?;
            let key = self.key.column_key(number, &column.name).ok_or(Error::WrongKey)?;
            Ok(Col::new(def, key, column.ordered))
        };
        self.columns = state.columns.iter().map(column).collect::<Result<_>>()?;
        (self.number, self.loaded) = (number, None);
        Ok(())
    }

    /// Reads the columns that are not encrypted, of which `bound` are bound.
    fn read_plain(&mut self, client: &mut impl GenericClient, bound: &[String]) -> Result<()> {
        let rows = client.query(
            "select attname::text, pg_catalog.format_type(atttypid, atttypmod), atttypid from pg_catalog.pg_attribute \
             where attrelid = pg_catalog.to_regclass($1::text) and attnum > 0 and not attisdropped order by attnum",
            &[&self.names.table],
        )?;
        let own = |quoted: &str| {
            quoted == ROW
                || bound.iter().any(|name| quoted == name::bound(name))
                || self
                    .columns
                    .iter()
                    .any(|c| quoted == name::order(&c.def.name) || quoted == name::sealed(&c.def.name))
        };
        let mut plain = Vec::new();
        for row in rows {
            let (name, ty, oid): (String, String, u32) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            if !own(&quote(&name)) {
                let binding = bound.contains(&name).then(|| self.key.binding(self.number, &name)).flatten();
                plain.push(PlainColumn { name, ty, own: Type::from_oid(oid), binding });
            }
        }
        self.plain = plain;
        // A column that was dropped or renamed, as well.
        let gone = bound.iter().find(|name| self.bound().all(|(column, _)| column.name != **name));
        gone.map_or(Ok(()), |column| Err(Error::Tampered { column: column.clone(), row: 0 }))
    }

    /// The error for a column that there is not, with those that there are.
    pub(crate) fn no_column(&self, name: &str) -> Error {
        let plain = self.plain.iter().map(|column| column.name.as_str());
        let known: Vec<&str> = plain.chain(self.columns.iter().map(|column| column.def.name.as_str())).collect();
        let known = known.join(", ");
        Error::invalid(format!("the table has no column `{name}`: it has {known} (`alter table` adds plain ones)"))
    }

    pub(crate) fn column(&self, name: &str) -> Result<usize> {
        self.columns.iter().position(|column| column.def.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.columns.iter().map(|column| column.def.name.as_str()).collect();
            Error::invalid(format!("there is no encrypted column `{name}`: there is {}", known.join(", ")))
        })
    }

    /// All encrypted columns of a row of `t`, as SQL text behind a comma. For a right ciphertext it asks only
    /// whether it is there.
    pub(crate) fn encrypted(&self) -> String {
        let column = |column: &Col| {
            let (order, sealed) = (name::order(&column.def.name), name::sealed(&column.def.name));
            if column.has_codes() {
                return format!(", t.{order}, t.{sealed}");
            }
            format!(", case when t.{order} is null then null else 0 end, t.{sealed}")
        };
        self.columns.iter().map(column).collect()
    }

    /// Reads and opens all rows from this key on; from 0 on also the rows without a key, in which nothing is
    /// encrypted.
    pub(crate) fn contents(&self, client: &mut impl GenericClient, from: u64) -> Result<Contents> {
        let foreign = if from == 0 { format!(" or t.{ROW} is null") } else { String::new() };
        let sql = format!(
            "select t.{ROW}{}{} from {} t where t.{ROW} >= $1{foreign}",
            self.encrypted(),
            self.tagged(),
            self.names.table
        );
        let mut contents = Contents {
            rows: RowTotal::default(),
            foreign: 0,
            pairs: vec![Vec::new(); self.columns.len()],
            values: vec![RowTotal::default(); self.columns.len()],
        };
        let (terms, behind) = (self.row_terms()?, 1 + 2 * self.columns.len());
        let from = from as i64;
        let mut rows = client.query_raw(&sql, [&from as &(dyn ToSql + Sync)])?;
        while let Some(row) = rows.next()? {
            let Some(key) = row.try_get::<_, Option<i64>>(0)?.map(|key| key as u64) else {
                if let Some(at) = (1..=2 * self.columns.len()).find(|at| !is_null(&row, *at)) {
                    return Err(self.columns[(at - 1) / 2].tampered(0));
                }
                contents.foreign += 1;
                continue;
            };
            contents.rows.add(terms.of(key));
            self.check_bound(key, &row, behind)?;
            for (i, column) in self.columns.iter().enumerate() {
                let Some((value, coin)) = column.open(key, row.try_get(2 + 2 * i)?)? else {
                    // The client writes no value without its sealed form.
                    if !is_null(&row, 1 + 2 * i) {
                        return Err(column.tampered(key));
                    }
                    continue;
                };
                contents.values[i].add(column.key.term(key, &column.def.ty.to_bytes(&value)));
                if column.has_codes() {
                    let code = column.read(&row, 1 + 2 * i)?.ok_or_else(|| column.tampered(key))?;
                    let coin =
                        if column.def.scheme == comity_ope::OpeScheme::Ideal { comity_ope::Coin::new(0) } else { coin };
                    contents.pairs[i].push(((value.order(), coin), code));
                } else if column.is_ordered() == is_null(&row, 1 + 2 * i) {
                    return Err(column.tampered(key));
                }
            }
        }
        Ok(contents)
    }
}

/// Whether a row has NULL there, whatever the type.
pub(crate) fn is_null(row: &postgres::Row, at: usize) -> bool {
    struct Any;
    impl<'a> postgres::types::FromSql<'a> for Any {
        fn from_sql(_: &postgres::types::Type, _: &'a [u8]) -> Result<Any, Box<dyn std::error::Error + Sync + Send>> {
            Ok(Any)
        }
        fn accepts(_: &postgres::types::Type) -> bool {
            true
        }
    }
    matches!(row.try_get::<_, Option<Any>>(at), Ok(None))
}

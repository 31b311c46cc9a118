//! A server, and tables to try things on.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use comity_core::{Backend, Block, Prg};
use comity_ope::{Column, ColumnType, ColumnValue, OpeKey, OpeScheme};
use comity_postgres::server::Server;
use comity_postgres::{Table, add_column, connect, resolve};
use postgres::Client;

/// The server that tests share; `None` where PostgreSQL is not installed.
pub(crate) fn server() -> Option<Arc<Server>> {
    let server = Server::shared().expect("PostgreSQL is installed but does not start");
    if server.is_none() {
        // The test runner would keep what `eprintln!` says to itself.
        let _ = writeln!(std::io::stderr(), "SKIPPED: PostgreSQL is not installed");
    }
    server
}

/// A server and a client in a database of its own; returns from the test if PostgreSQL is not installed.
#[macro_export]
macro_rules! database {
    ($server:ident, $address:ident, $client:ident) => {
        let Some($server) = $crate::common::server() else { return };
        #[allow(unused_variables)]
        let $address = $server.database().unwrap();
        #[allow(unused_mut)]
        let mut $client = comity_postgres::connect(&$address, None).unwrap();
    };
}

pub(crate) fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

/// A number that was not there before.
fn fresh() -> u128 {
    static NUMBER: AtomicU32 = AtomicU32::new(1000);
    NUMBER.fetch_add(1, Ordering::Relaxed).into()
}

/// A file of this process that is not there.
pub(crate) fn path(name: &str) -> PathBuf {
    let number = fresh();
    std::env::temp_dir().join(format!("comity-ope-{}-{number}-{name}", std::process::id()))
}

pub(crate) fn column(name: &str, ty: &str, scheme: OpeScheme) -> Column {
    Column { name: name.into(), ty: ty.parse().unwrap(), scheme, wide: false, adjustable: false }
}

/// A key and a table with these columns.
pub(crate) fn make(client: &mut Client, table: &str, columns: &[Column]) -> OpeKey {
    let table = resolve(client, [String::new(), table.into()]).unwrap();
    let mut key = OpeKey::new("", table, &mut rng(fresh()));
    for column in columns {
        key.columns.push(column.clone());
        add_column(client, &key, &column.name, &mut rng(2)).unwrap();
    }
    key
}

pub(crate) fn open(
    client: &mut Client,
    key: &OpeKey,
    cache: Option<&Path>,
    seed: u128,
) -> comity_postgres::Result<Table> {
    Table::open(client, key.clone(), cache, &mut rng(seed))
}

pub(crate) fn again(address: &str) -> Client {
    connect(address, None).unwrap()
}

pub(crate) fn big(number: i64) -> ColumnValue {
    ColumnType::BigInt.parse(&number.to_string()).unwrap()
}

pub(crate) const SCHEMES: [OpeScheme; 3] = OpeScheme::ALL;

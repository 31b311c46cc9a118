//! The flags of `comity ope`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// What the command is about.
pub(crate) const ABOUT: &str = "\
What leaks: with --scheme ideal or frequency-hiding the database sees the order
of all values of a column, always, and so does whoever steals a copy; with ideal
it also sees which are equal. With left-right, the default, a stolen copy shows
no order, and each query shows how the values compare to its ends. NULL shows,
and so do the number of rows and which rows an answer has. `comity ope leakage`
runs the published attacks on your own column.

  comity ope init --database postgres:///shop --table staff --column salary --type bigint
  comity ope load staff.csv --into staff --encrypt salary
  comity ope query \"salary between 40000 and 60000 order by salary limit 20\" --from staff
  comity ope insert name=Ada salary=52000 --into staff
  comity ope status --table staff
  comity ope demo        (all of this, on a server of its own)

TYPE is smallint, integer, bigint, numeric(PRECISION,SCALE), date, timestamp, or
text(BYTES), which is ordered by bytes. The key is TABLE.key unless --key names
another file. Keep it, and a copy of it: without it nothing opens. Beside it is
a cache, which is rebuilt if it is lost; but it knows which version of the table
you saw last, and without it a database that was put back goes unnoticed.

A query is conditions joined by `and`: COLUMN between A and B, COLUMN = < <= > >=
VALUE, COLUMN is [not] null; then order by COLUMN [desc], limit N. Text is in
single quotes.

Noticed: a value or a code that was changed, moved or swapped, when its row is
read, and what was changed in other columns that are bound (`init --bind`); a
table that was put back to an older state than you saw. Rows that the
database leaves out of an answer are found only by `status --full` and
`rebuild`.";

#[derive(Subcommand, Debug)]
pub(crate) enum OpeCommand {
    /// Add an encrypted column to a table; make the table, and the key, if they are not there
    Init(InitArgs),
    /// Load rows from a CSV file, encrypting columns, all at once
    Load(LoadArgs),
    /// Print the rows that a query asks for, as CSV
    Query(QueryArgs),
    /// Insert one row
    Insert(InsertArgs),
    /// Change values of one row
    Update(UpdateArgs),
    /// Delete one row
    Delete(DeleteArgs),
    /// Say what is there; with --full read and check every row
    Status(StatusArgs),
    /// Spread the codes of a column out evenly
    Rebalance(ColumnArgs),
    /// Make the cache anew from the rows, and check every row
    Rebuild(RebuildArgs),
    /// Seal everything under a new secret
    Rotate(TableArgs),
    /// Run the published attacks on a column: how many rows would a thief of the database recover?
    Leakage(LeakageArgs),
    /// Show all of it on a PostgreSQL server of its own
    Demo(DemoArgs),
}

/// Where the database and the key are.
#[derive(Args, Debug)]
pub(crate) struct PlaceArgs {
    /// The database: postgres://USER@HOST/NAME, or `host=… dbname=…` [default: as the key says]
    #[arg(long, value_name = "URL")]
    pub(crate) database: Option<String>,
    /// The certificate (PEM) that vouches for a database on another machine
    #[arg(long, value_name = "FILE")]
    pub(crate) root: Option<PathBuf>,
    /// The key of the table [default: TABLE.key]
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// Print one JSON object (an error, too)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct TableArgs {
    /// The table, `name` or `schema.name`
    #[arg(long, value_name = "TABLE")]
    pub(crate) table: String,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// How a column is ordered.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// A stolen copy shows no order; a query reads every row
    LeftRight,
    /// Codes with an index, which show order and equality
    Ideal,
    /// Codes with an index, which show order
    FrequencyHiding,
}

/// The width of codes.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codes {
    /// 62 bits
    Bigint,
    /// 126 bits
    Bytea,
}

#[derive(Args, Debug)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// The column
    #[arg(long, value_name = "COLUMN")]
    pub(crate) column: String,
    /// The type of its values
    #[arg(long = "type", value_name = "TYPE", default_value = "bigint")]
    pub(crate) ty: String,
    /// How it is ordered
    #[arg(long, value_enum, default_value_t = Scheme::LeftRight)]
    pub(crate) scheme: Scheme,
    /// The width of codes
    #[arg(long, value_enum, default_value_t = Codes::Bigint)]
    pub(crate) codes: Codes,
    /// Begin without an order: it comes with the first range query, which asks first, since it cannot be undone
    #[arg(long)]
    pub(crate) adjustable: bool,
    /// Columns that are not encrypted, to be bound to their rows: a change by somebody else is noticed when the
    /// row is read
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub(crate) bind: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct LoadArgs {
    /// A CSV file whose first line names the columns; an empty field without quotes is NULL
    pub(crate) file: PathBuf,
    /// The table
    #[arg(long, value_name = "TABLE")]
    pub(crate) into: String,
    /// Columns that the table must encrypt, as a check; all encrypted columns of the table are encrypted in any
    /// case
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub(crate) encrypt: Vec<String>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

#[derive(Args, Debug)]
pub(crate) struct QueryArgs {
    /// Conditions, order and limit (see `comity ope --help`); all rows if it is empty
    #[arg(default_value = "")]
    pub(crate) query: String,
    /// The table
    #[arg(long, value_name = "TABLE")]
    pub(crate) from: String,
    /// Print each row's number first, which `update` and `delete` take
    #[arg(long)]
    pub(crate) rows: bool,
    /// Give an adjustable column its order without asking
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// A value for a column.
#[derive(Debug, Clone)]
pub(crate) struct Assignment {
    pub(crate) column: String,
    pub(crate) value: Option<String>,
}

impl std::str::FromStr for Assignment {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Assignment, &'static str> {
        let (column, value) = text.split_once('=').ok_or("COLUMN=VALUE is wanted")?;
        // As in CSV.
        let value = match value {
            "" => None,
            "\"\"" => Some(String::new()),
            value => Some(value.to_owned()),
        };
        Ok(Assignment { column: column.to_owned(), value })
    }
}

#[derive(Args, Debug)]
pub(crate) struct InsertArgs {
    /// The row's values; `COLUMN=` is NULL, and so is every column that is not named; `COLUMN=""`, its quotes
    /// included, is the empty text
    #[arg(value_name = "COLUMN=VALUE", required = true)]
    pub(crate) values: Vec<Assignment>,
    /// The table
    #[arg(long, value_name = "TABLE")]
    pub(crate) into: String,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

#[derive(Args, Debug)]
pub(crate) struct UpdateArgs {
    /// What changes; `COLUMN=` is NULL
    #[arg(value_name = "COLUMN=VALUE", required = true)]
    pub(crate) values: Vec<Assignment>,
    /// The row's number, which `query --rows` prints
    #[arg(long, value_name = "NUMBER")]
    pub(crate) row: u64,
    #[command(flatten)]
    pub(crate) table: TableArgs,
}

#[derive(Args, Debug)]
pub(crate) struct DeleteArgs {
    /// The row's number, which `query --rows` prints
    #[arg(long, value_name = "NUMBER")]
    pub(crate) row: u64,
    /// The table
    #[arg(long, value_name = "TABLE")]
    pub(crate) from: String,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Read every row and compare it with what was written
    #[arg(long)]
    pub(crate) full: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ColumnArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// The column [default: all that have codes]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) column: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct RebuildArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Accept the table as it is from now on, even if it is older than what you saw, or rows are missing
    #[arg(long)]
    pub(crate) accept: bool,
}

#[derive(Args, Debug)]
pub(crate) struct LeakageArgs {
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// The column
    #[arg(long, value_name = "COLUMN")]
    pub(crate) column: String,
    /// What the thief knows: a CSV file of values and how often each occurs in public data
    /// [default: the column's own, the best that a thief can have]
    #[arg(long, value_name = "FILE")]
    pub(crate) histogram: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Rows
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) rows: u32,
    /// Print one JSON object (an error, too)
    #[arg(long)]
    pub(crate) json: bool,
}

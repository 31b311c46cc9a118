//! This party's table, read for its keys and payload.

use std::ops::Deref;

use comity::psi::{Item, Set};
use comity_table::{Error, Key, KeyedTable, Source, TableFormat, TableRead, TableShape};
use comity_terminal::console::warn;
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::progress::TableProgress;

use super::args::{Empty, TableArgs};

/// A table that was read for its keys.
pub(super) struct Table {
    keyed: KeyedTable,
    /// For each key its items.
    pub(super) items: Vec<Vec<Item>>,
}

impl Deref for Table {
    type Target = KeyedTable;

    fn deref(&self) -> &KeyedTable {
        &self.keyed
    }
}

/// A table's own faults are the user's input.
pub(super) fn refused(error: Error) -> Failure {
    Failure::input(error.to_string())
}

impl Table {
    /// Reads the keys of the table, and its payload.
    pub(super) fn read(args: &TableArgs) -> Outcome<Table> {
        let file = args.path()?;
        let shape = shape(args, TableShape::of(file));
        let keys = match (&args.key[..], shape.format) {
            ([], TableFormat::Lines) => vec![Key::column("key")],
            ([], _) => return Err(Failure::input("by which columns are rows compared? Add --key COLUMN[:STEPS]")),
            (keys, _) => keys.to_vec(),
        };
        let source = Source::open(file).map_err(refused)?;
        let what = TableRead {
            keys: &keys,
            payload: &args.payload,
            duplicates: args.duplicates,
            complete: args.empty == Empty::Error,
        };
        let mut bar = TableProgress::new("reading", source.size());
        let read = KeyedTable::read(source, shape, what, &mut |rows, bytes| bar.update(rows, bytes));
        let mut keyed = read.map_err(refused)?;
        drop(bar);
        if let (TableFormat::Lines, Some((first, others))) = (shape.format, keyed.profiles[0].odd_first()) {
            warn(&format!(
                "{}: the first line has {first}, and all others have {others}. If it is a header, remove it: in this \
                    format it counts as a key",
                keyed.source.name()
            ));
        }
        let items = keyed.take_items().into_iter().map(|items| items.into_iter().map(Item).collect()).collect();
        Ok(Table { keyed, items })
    }

    /// The sets that are compared, one for each key, announced with `pad_to` items.
    pub(super) fn sets(&self, pad_to: usize) -> Vec<Set<'_>> {
        let payload = |at: usize| self.payload.as_ref().map_or(&[][..], |packed| &packed.cells[at].0);
        self.items.iter().enumerate().map(|(at, items)| Set { items, payload: payload(at), pad_to }).collect()
    }
}

/// The shape of the table, as its name and the flags say.
fn shape(args: &TableArgs, named: Option<TableShape>) -> TableShape {
    let shape = args.format.or(named).unwrap_or_default();
    TableShape {
        delimiter: args.delimiter.map_or(shape.delimiter, |delimiter| delimiter.0),
        header: shape.header && !args.no_header,
        quoting: shape.quoting && !args.no_quoting,
        ..shape
    }
}

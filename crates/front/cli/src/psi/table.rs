//! This party's table: read once for its keys and payload, and once more for the rows that come out.

use std::collections::HashSet;

use comity::psi::{Item, Set};
use comity_table::{
    ColumnKind, Decoder, Elements, Error, Key, KeyProfile, Payload, Record, Source, TableColumn, TableFormat,
    TableReader, TableShape,
};
use comity_terminal::console::warn;
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::numbers::grouped;
use comity_terminal::progress::TableProgress;

use super::args::{Empty, TableArgs};

/// Rows between two looks at the clock.
pub(super) const STRIDE: u64 = 1 << 12;

/// A table that was read for its keys.
pub(super) struct Table {
    pub(super) source: Source,
    pub(super) shape: TableShape,
    pub(super) keys: Vec<Key>,
    pub(super) columns: Vec<TableColumn>,
    /// For each key which row has which element.
    pub(super) elements: Vec<Elements>,
    /// For each key its items.
    pub(super) items: Vec<Vec<Item>>,
    /// For each key how its distinct values look.
    pub(super) profiles: Vec<KeyProfile>,
    pub(super) payload: Option<Packed>,
}

/// Payload as it is sent.
pub(super) struct Packed {
    /// The names and kinds of its columns.
    pub(super) header: Vec<u8>,
    /// For each key the cells of its elements, and their width.
    pub(super) cells: Vec<(Vec<u8>, usize)>,
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
        let read = Pass::begin(&source, &shape, &keys, args).map_err(refused)?.run(args)?;
        let Pass { reader, mut elements, profiles, payloads, sent, .. } = read;
        if let (TableFormat::Lines, Some((first, others))) = (shape.format, profiles[0].odd_first()) {
            warn(&format!(
                "{}: the first line has {first}, and all others have {others}. If it is a header, remove it: in this \
                    format it counts as a key",
                source.name()
            ));
        }
        let columns = reader.columns().to_vec();
        let payload = match &sent[..] {
            [] => None,
            sent => {
                let fields: Vec<String> = sent.iter().map(|at| described(&columns[*at])).collect();
                let cells = payloads.into_iter().map(Payload::cells).collect::<Result<_, _>>().map_err(refused)?;
                Some(Packed { header: Decoder::header(&fields), cells })
            }
        };
        let items = elements.iter_mut().map(|elements| elements.take().into_iter().map(Item).collect()).collect();
        Ok(Table { source, shape, keys, columns, elements, items, profiles, payload })
    }

    /// The sets that are compared, one for each key, announced with `pad_to` items.
    pub(super) fn sets(&self, pad_to: usize) -> Vec<Set<'_>> {
        let payload = |at: usize| self.payload.as_ref().map_or(&[][..], |packed| &packed.cells[at].0);
        self.items.iter().enumerate().map(|(at, items)| Set { items, payload: payload(at), pad_to }).collect()
    }

    /// How keys become items, in words that both sides have alike.
    pub(super) fn encoding(&self) -> String {
        self.keys.iter().map(Key::agreed).collect::<Vec<_>>().join(";")
    }

    /// How keys were made before they were hashed here, if any is.
    pub(super) fn hashed(&self) -> Option<String> {
        let hashed: Vec<Option<String>> = self.keys.iter().map(Key::hashed).collect();
        let words = || hashed.iter().map(|hashed| hashed.as_deref().unwrap_or("-")).collect::<Vec<_>>().join(";");
        hashed.iter().any(Option::is_some).then(words)
    }

    /// All that there is to say of how keys are made, as a base says it.
    pub(super) fn made(&self) -> String {
        match self.hashed() {
            Some(hashed) => format!("{}{OF}{hashed}", self.encoding()),
            None => self.encoding(),
        }
    }

    /// Whether keys are made as those of a base, which says this: a base or a table of hashes fits however
    /// they came about.
    pub(super) fn made_as(&self, base: &str) -> bool {
        let (encoding, hashed) =
            base.split_once(OF).map_or((base, None), |(encoding, hashed)| (encoding, Some(hashed)));
        let alike = |(ours, theirs): (String, &str)| ours == theirs;
        encoding == self.encoding() && self.hashed().zip(hashed).is_none_or(alike)
    }
}

/// The text between the words for hashes and those for what was hashed.
const OF: &str = " of ";

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

/// The first pass over a table.
struct Pass<'a> {
    source: &'a Source,
    shape: &'a TableShape,
    keys: &'a [Key],
    reader: TableReader,
    elements: Vec<Elements>,
    profiles: Vec<KeyProfile>,
    payloads: Vec<Payload>,
    /// The places of the columns that are sent.
    sent: Vec<usize>,
}

impl<'a> Pass<'a> {
    fn begin(source: &'a Source, shape: &'a TableShape, keys: &'a [Key], args: &TableArgs) -> Result<Pass<'a>, Error> {
        let mut reader = TableReader::new(source, shape)?;
        let sent = args.payload.iter().map(|name| reader.find(name)).collect::<Result<Vec<_>, _>>()?;
        if let Some(at) = (1..sent.len()).find(|&at| sent[..at].contains(&sent[at])) {
            return Err(Error::new(format!("--payload names column `{}` twice", args.payload[at])));
        }
        let payloads = match sent.len() {
            0 => Vec::new(),
            columns => keys.iter().map(|_| Payload::new(columns, args.duplicates)).collect(),
        };
        let elements = keys.iter().map(|_| Elements::default()).collect();
        let profiles = vec![KeyProfile::default(); keys.len()];
        Ok(Pass { source, shape, keys, reader, elements, profiles, payloads, sent })
    }

    fn run(mut self, args: &TableArgs) -> Outcome<Pass<'a>> {
        let mut bar = TableProgress::new("reading", self.source.size());
        let bound = self.keys.iter().map(|key| key.bind(&mut self.reader)).collect::<Result<Vec<_>, _>>();
        let (mut bound, mut record) = (bound.map_err(refused)?, Record::new());
        while self.reader.next(&mut record).map_err(refused)? {
            for (at, key) in bound.iter_mut().enumerate() {
                let item = key.item(&self.reader, &record).map_err(refused)?;
                if item.is_none() && args.empty == Empty::Error {
                    let line = self.reader.line(&record);
                    return Err(Failure::input(format!(
                        "{}: line {line}: the key {} is empty; --empty drop leaves such rows out",
                        self.source.name(),
                        self.keys[at].title()
                    )));
                }
                let Some((element, new)) = self.elements[at].add(item.as_ref()) else { continue };
                if new {
                    self.profiles[at].add(key.values());
                }
                let Some(payload) = self.payloads.get_mut(at) else { continue };
                let fields = self.sent.iter().map(|column| record.get(*column).unwrap_or_default());
                if let Err((column, what)) = payload.add(element, fields) {
                    let column = column.map_or(String::new(), |at| {
                        format!(", column `{}`", self.reader.columns()[self.sent[at]].name)
                    });
                    let first = self.first(at, element)?;
                    return Err(Failure::input(format!(
                        "{}: line {}{column}, whose key {} is first in line {first}: {what}",
                        self.source.name(),
                        self.reader.line(&record),
                        self.keys[at].title(),
                    )));
                }
            }
            if self.elements[0].is_full() {
                let most = grouped(self.elements[0].rows() as u64);
                return Err(Failure::input(format!("{}: more than {most} rows", self.source.name())));
            }
            if self.reader.rows().is_multiple_of(STRIDE) {
                bar.update(self.reader.rows(), self.reader.bytes());
            }
        }
        self.reader.finish().map_err(refused)?;
        self.source.unchanged().map_err(refused)?;
        Ok(self)
    }

    /// The line of the first row that has this element.
    fn first(&self, key: usize, element: usize) -> Outcome<u64> {
        let find = || -> Result<u64, Error> {
            let mut reader = TableReader::new(self.source, self.shape)?;
            let mut bound = self.keys[key].bind(&mut reader)?;
            let mut record = Record::new();
            while reader.next(&mut record)? {
                if bound.item(&reader, &record)?.as_ref() == Some(&self.elements[key].items()[element]) {
                    break;
                }
            }
            Ok(reader.line(&record))
        };
        find().map_err(refused)
    }
}

/// A column as the other side gets it: a letter for its kind, and its name.
fn described(column: &TableColumn) -> String {
    let kind = match column.kind {
        ColumnKind::Text => 't',
        ColumnKind::Integer => 'i',
        ColumnKind::Real => 'r',
        ColumnKind::Bool => 'b',
        ColumnKind::Nested => 'n',
    };
    format!("{kind}{}", column.name)
}

/// The columns of the other side's payload.
pub(super) fn told(header: &[u8]) -> Result<Vec<TableColumn>, Error> {
    let column = |text: String| {
        let mut chars = text.chars();
        let kind = match chars.next() {
            Some('i') => ColumnKind::Integer,
            Some('r') => ColumnKind::Real,
            Some('b') => ColumnKind::Bool,
            Some('n') => ColumnKind::Nested,
            _ => ColumnKind::Text,
        };
        TableColumn { name: chars.as_str().to_owned(), kind }
    };
    let columns: Vec<TableColumn> = Decoder::fields(header)?.into_iter().map(column).collect();
    let names: HashSet<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    if names.len() < columns.len() {
        return Err(Error::new("the names of the columns of the payload are not all different"));
    }
    Ok(columns)
}

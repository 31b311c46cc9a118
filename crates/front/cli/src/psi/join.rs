//! The rows that come out: the table is read again, and each row written as the matches say.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use comity::psi::Matches;
use comity_table::{
    ColumnKind, Decoder, Error, Record, TableColumn, TableFormat, TableReader, TableShape, TableWriter,
};
use comity_terminal::console::OutFile;
use comity_terminal::failure::{Ending, Failure, Outcome};
use comity_terminal::progress::TableProgress;

use super::args::OutArgs;
use super::table::{STRIDE, Table, refused, told};

/// Where rows go, which is tried before anybody is met.
pub(super) struct Out<'a> {
    args: &'a OutArgs,
    path: PathBuf,
    /// Standard output, if it is no file.
    file: Option<OutFile>,
}

/// The result: matches for each key, and of the other side's payload the header and the bytes of each.
pub(super) struct Learnt {
    pub(super) matches: Vec<Matches>,
    pub(super) payload: Option<(Vec<u8>, Vec<usize>)>,
}

/// The counts of the output.
pub(super) struct Written {
    /// Rows of the table whose key the other side has.
    pub(super) common: u64,
    /// Rows that were written.
    pub(super) rows: u64,
    /// Common keys whose payload from the other side cannot be read.
    pub(super) unreadable: u64,
}

/// No element of the other side's.
const NONE: u32 = u32::MAX;

impl<'a> Out<'a> {
    /// Begins the output, which is there only when [`write`](Out::write) is done.
    pub(super) fn begin(args: &'a OutArgs, path: &Path) -> Outcome<Out<'a>> {
        let file = if path == Path::new("-") { None } else { Some(OutFile::create(path)?) };
        Ok(Out { args, path: path.to_owned(), file })
    }

    /// Refuses a format that cannot have the rows of this table. The other side's columns are not known yet.
    pub(super) fn fits(&self, table: &Table) -> Outcome {
        let (nowhere, shape) = (Box::new(std::io::sink()), shape(self.args, &self.path, table));
        let writer = TableWriter::new(nowhere, &shape, columns(self.args, table, Vec::new()));
        writer.map(drop).map_err(|e| refused(e.at(self.place())))
    }

    /// Where rows go, for people.
    fn place(&self) -> String {
        match &self.file {
            Some(_) => self.path.display().to_string(),
            None => "standard output".to_owned(),
        }
    }

    /// Writes the rows.
    pub(super) fn write(self, table: &Table, learnt: &Learnt) -> Outcome<Written> {
        let sink: Box<dyn Write + Send> = match &self.file {
            Some(file) => Box::new(BufWriter::<File>::with_capacity(1 << 16, file.sink()?)),
            None => Box::new(BufWriter::with_capacity(1 << 16, std::io::stdout())),
        };
        let written = Join::begin(self.args, &self.path, table, learnt, sink, self.place())?.run()?;
        self.file.map_or(Ok(()), OutFile::commit)?;
        Ok(written)
    }
}

/// The second pass over a table.
struct Join<'a> {
    args: &'a OutArgs,
    table: &'a Table,
    /// For each key and element the place among the matches.
    places: Vec<Vec<u32>>,
    learnt: &'a Learnt,
    decoder: Option<Decoder>,
    unreadable: u64,
    writer: TableWriter,
    /// Where rows go, for people.
    place: String,
}

impl<'a> Join<'a> {
    fn begin(
        args: &'a OutArgs,
        path: &Path,
        table: &'a Table,
        learnt: &'a Learnt,
        sink: Box<dyn Write + Send>,
        place: String,
    ) -> Outcome<Join<'a>> {
        let place_of = |(matches, items): (&Matches, usize)| {
            let mut places = vec![NONE; items];
            (0..).zip(&matches.matched).for_each(|(at, element)| places[*element as usize] = at);
            places
        };
        let sizes = table.items.iter().map(Vec::len);
        let places = learnt.matches.iter().zip(sizes).map(place_of).collect();
        let shape = shape(args, path, table);
        let (theirs, unreadable) = match &learnt.payload {
            Some((header, widths)) if !args.anti && !args.flags_only => {
                judge(told(header).map_err(nonsense)?, widths, &learnt.matches, &shape)
            }
            _ => (Vec::new(), 0),
        };
        let decoder = (!theirs.is_empty()).then_some(Decoder { columns: theirs.len() });
        let writer = TableWriter::new(sink, &shape, columns(args, table, theirs)).map_err(|e| refused(e.at(&place)))?;
        Ok(Join { args, table, places, learnt, decoder, unreadable, writer, place })
    }

    fn run(mut self) -> Outcome<Written> {
        let Table { source, shape, keys, columns, elements, .. } = self.table;
        let mut reader = TableReader::again(source, shape, columns).map_err(refused)?;
        let mut bar = TableProgress::new("writing", source.size());
        let mut first = if self.args.sorted { Some(keys[0].bind(&mut reader).map_err(refused)?) } else { None };
        let mut held: Vec<(Vec<u8>, Vec<Vec<u8>>)> = Vec::new();
        let (mut record, mut row, mut common) = (Record::new(), 0, 0);
        while reader.next(&mut record).map_err(refused)? {
            let hit = elements.iter().zip(&self.places).enumerate().find_map(|(key, (elements, places))| {
                let place = places[elements.of_row(row)?];
                (place != NONE).then_some((key, place as usize))
            });
            row += 1;
            self.blank(reader.blank())?;
            common += u64::from(hit.is_some());
            let wanted = match () {
                () if self.args.anti => hit.is_none(),
                () if self.args.left || self.args.flags_only => true,
                () => hit.is_some(),
            };
            if wanted {
                self.write(&record, hit, |fields| match &mut first {
                    None => Ok(Some(fields)),
                    Some(key) => {
                        let _ = key.item(&reader, &record)?;
                        held.push((key.text().to_vec(), fields.iter().map(|field| field.to_vec()).collect()));
                        Ok(None)
                    }
                })?;
            }
            if reader.rows().is_multiple_of(STRIDE) {
                bar.update(reader.rows(), reader.bytes());
            }
        }
        self.blank(reader.blank())?;
        if row != elements[0].rows() {
            let error = Error::new(
                "the table has fewer rows than when it was first read: it changed while psi ran; run again, and leave \
                    the file alone",
            );
            return Err(refused(error.at(source.name())));
        }
        source.unchanged().map_err(refused)?;
        held.sort();
        let unwritten = |e: Error| refused(e.at(&self.place));
        for (_, fields) in &held {
            self.writer.write(fields.iter().map(Vec::as_slice)).map_err(unwritten)?;
        }
        let rows = self.writer.rows();
        self.writer.finish().map_err(unwritten)?;
        Ok(Written { common, rows, unreadable: self.unreadable })
    }

    /// Flags are as many as the lines of the table are: blank ones, which are no rows, have one, too.
    fn blank(&mut self, lines: u64) -> Outcome {
        for _ in 0..if self.args.flags_only { lines } else { 0 } {
            self.writer.write([&b"0"[..]].into_iter()).map_err(|e| refused(e.at(&self.place)))?;
        }
        Ok(())
    }

    /// Hands the fields of a row to `hold`, and writes what it gives back: one row, or one for each row of
    /// payload.
    fn write(
        &mut self,
        record: &Record,
        hit: Option<(usize, usize)>,
        mut hold: impl for<'f> FnMut(&'f [&'f [u8]]) -> Result<Option<&'f [&'f [u8]]>, Error>,
    ) -> Outcome {
        let (args, width) = (self.args, self.table.columns.len());
        let mut fields: Vec<&[u8]> = Vec::with_capacity(width + 4);
        if !args.flags_only {
            fields.extend((0..width).map(|at| record.get(at).unwrap_or_default()));
        }
        match (args.flags_only, args.left, hit.is_some()) {
            (true, _, true) => fields.push(b"1"),
            (true, _, false) => fields.push(b"0"),
            (_, true, true) => fields.push(b"true"),
            (_, true, false) => fields.push(b"false"),
            _ => {}
        }
        let own = fields.len();
        let mut theirs: Vec<&[u8]> = Vec::new();
        if let (Some(decoder), Some((_, widths))) = (&self.decoder, &self.learnt.payload) {
            let cell = hit.and_then(|(key, at)| {
                let cells = &self.learnt.matches[key].payload;
                cells.get(at * widths[key]..(at + 1) * widths[key])
            });
            // A cell that cannot be read was counted, and its columns are empty, as where there is no cell.
            if cell.is_none_or(|cell| decoder.decode(cell, &mut theirs).is_err()) {
                theirs.clear();
                theirs.resize(decoder.columns, b"");
            }
        }
        let rows = self.decoder.map_or(1, |decoder| theirs.len() / decoder.columns);
        for at in 0..rows {
            fields.truncate(own);
            if let Some(Decoder { columns }) = self.decoder {
                fields.extend_from_slice(&theirs[at * columns..(at + 1) * columns]);
            }
            if let Some(fields) = hold(&fields).map_err(refused)? {
                self.writer.write(fields.iter().copied()).map_err(|e| refused(e.at(&self.place)))?;
            }
        }
        Ok(())
    }
}

/// Looks at all cells before any row is written, so that the existence of an output does not show what the
/// other side sent beside one key. Returns the columns as all cells fit them (of text if a cell does not fit
/// the kind that the other side announced), and the number of cells that cannot be read.
fn judge(
    mut columns: Vec<TableColumn>,
    widths: &[usize],
    matches: &[Matches],
    shape: &TableShape,
) -> (Vec<TableColumn>, u64) {
    let (decoder, mut fields, mut unreadable) = (Decoder { columns: columns.len() }, Vec::new(), 0);
    for (matches, &width) in matches.iter().zip(widths) {
        for cell in matches.payload.chunks(width) {
            if decoder.decode(cell, &mut fields).is_err() {
                unreadable += 1;
                continue;
            }
            for row in fields.chunks(columns.len().max(1)) {
                for (column, field) in columns.iter_mut().zip(row) {
                    if !shape.holds(column.kind, field) {
                        column.kind = ColumnKind::Text;
                    }
                }
            }
        }
    }
    (columns, unreadable)
}

/// The columns that are written, the other side's behind the table's own.
fn columns(args: &OutArgs, table: &Table, theirs: Vec<TableColumn>) -> Vec<TableColumn> {
    let mut columns = if args.flags_only { Vec::new() } else { table.columns.clone() };
    if args.flags_only || args.left {
        let taken = columns.iter().map(|column| column.name.clone()).collect();
        columns.push(TableColumn { name: free("matched", &taken), kind: ColumnKind::Bool });
    }
    let mut taken: HashSet<String> = columns.iter().map(|column| column.name.clone()).collect();
    for column in theirs {
        let name = free(&column.name, &taken);
        taken.insert(name.clone());
        columns.push(TableColumn { name, ..column });
    }
    columns
}

/// The failure for a payload of the other side that cannot be read.
fn nonsense(error: Error) -> Failure {
    Failure::new(Ending::Malformed, format!("the peer's message: {error}"))
}

/// A name that no column has.
fn free(name: &str, taken: &HashSet<String>) -> String {
    let mut free = name.to_owned();
    while taken.contains(&free) {
        free.insert_str(0, "their_");
    }
    free
}

/// The shape of the output: as the flag or the file's name says. Flags are written as lines; everything else
/// is written like the table, if that is CSV, too.
fn shape(args: &OutArgs, path: &Path, table: &Table) -> TableShape {
    let named = TableShape::of(path);
    let shape = match (args.out_format, named) {
        (Some(said), named) => TableShape { gzip: named.is_some_and(|named| named.gzip), ..said },
        (None, Some(named)) => named,
        (None, None) if args.flags_only => TableShape { format: TableFormat::Lines, ..TableShape::default() },
        (None, None) if table.shape.format == TableFormat::Csv => table.shape,
        (None, None) => TableShape::default(),
    };
    TableShape { header: table.shape.header, gzip: shape.gzip, ..shape }
}

#[cfg(test)]
mod tests;

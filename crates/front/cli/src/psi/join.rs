//! The rows that come out, and where they go.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use comity::psi::Matches;
use comity_table::{Error, JoinCounts, JoinRows, KeyMatches, PackedPayload, TableFormat, TableJoin, TableShape};
use comity_terminal::console::OutFile;
use comity_terminal::failure::{Ending, Failure, Outcome};
use comity_terminal::progress::TableProgress;

use super::args::OutArgs;
use super::table::{Table, refused};

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

impl<'a> Out<'a> {
    /// Begins the output, which is there only when [`write`](Out::write) is done.
    pub(super) fn begin(args: &'a OutArgs, path: &Path) -> Outcome<Out<'a>> {
        let file = if path == Path::new("-") { None } else { Some(OutFile::create(path)?) };
        Ok(Out { args, path: path.to_owned(), file })
    }

    /// Refuses a format that cannot have the rows of this table. The other side's columns are not known yet.
    pub(super) fn fits(&self, table: &Table) -> Outcome {
        self.join(table).fits().map_err(refused)
    }

    fn join<'t>(&self, table: &'t Table) -> TableJoin<'t> {
        let rows = match self.args {
            OutArgs { anti: true, .. } => JoinRows::Others,
            OutArgs { left: true, .. } => JoinRows::All,
            OutArgs { flags_only: true, .. } => JoinRows::Flags,
            _ => JoinRows::Common,
        };
        let place = match &self.file {
            Some(_) => self.path.display().to_string(),
            None => "standard output".to_owned(),
        };
        TableJoin { table, rows, sorted: self.args.sorted, shape: shape(self.args, &self.path, table), place }
    }

    /// Writes the rows.
    pub(super) fn write(self, table: &Table, learnt: &Learnt) -> Outcome<JoinCounts> {
        let sink: Box<dyn Write + Send> = match &self.file {
            Some(file) => Box::new(BufWriter::<File>::with_capacity(1 << 16, file.sink()?)),
            None => Box::new(BufWriter::with_capacity(1 << 16, std::io::stdout())),
        };
        let join = self.join(table);
        let theirs = match (&learnt.payload, join.rows) {
            (Some((header, _)), JoinRows::Common | JoinRows::All) => {
                PackedPayload::columns(header).map_err(nonsense)?
            }
            _ => Vec::new(),
        };
        let widths = learnt.payload.as_ref().map(|(_, widths)| widths);
        let keys = learnt.matches.iter().zip(&table.items).enumerate();
        let keys = keys.map(|(at, (matches, items))| KeyMatches {
            elements: items.len(),
            matched: &matches.matched,
            payload: &matches.payload,
            width: widths.map_or(0, |widths| widths[at]),
        });
        let keys: Vec<KeyMatches<'_>> = keys.collect();
        let mut bar = TableProgress::new("writing", table.source.size());
        let written = join.write(&keys, theirs, sink, &mut |rows, bytes| bar.update(rows, bytes)).map_err(refused)?;
        self.file.map_or(Ok(()), OutFile::commit)?;
        Ok(written)
    }
}

/// The failure for a payload of the other side that cannot be read.
fn nonsense(error: Error) -> Failure {
    Failure::new(Ending::Malformed, format!("the peer's message: {error}"))
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

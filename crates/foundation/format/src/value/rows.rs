//! Arrays without brackets: one element a line, its parts between commas, semicolons, tabs or spaces (CSV).

use std::collections::BTreeMap;

use super::Type;
use super::typed::{Part, Reader, TypedError, no_field};
use crate::lines::shown;

/// Reads all of the text as an array.
pub(super) fn read<'a>(reader: &mut Reader<'a>, element: &'a Type, count: usize) -> Result<(), TypedError> {
    let columns = Columns::of(element);
    let Some(columns) = columns else {
        return Err(reader.wrong(format!(
            "an array of {count} values of the type {} is wanted: in brackets, as in [1, 2, 3], since one element has \
                too many parts for a line",
            element.describe()
        )));
    };
    if reader.rest().starts_with('{') {
        return Err(reader.wrong("an object stands here: objects are in brackets, with commas between them (`jq -s .` makes that of an object a line)"));
    }
    let single = matches!(element, Type::Uint(_) | Type::Int(_) | Type::Bool | Type::Float(_) | Type::Bits(_));
    let (mut given, mut order, mut first) = (0, None, true);
    while reader.at < reader.text.len() {
        let line_at = reader.at;
        let end = reader.rest().find('\n').map_or(reader.text.len(), |i| line_at + i);
        let cells = cells(&reader.text[line_at..end], line_at, if single { 0 } else { columns.leaves.len() });
        reader.at = (end + 1).min(reader.text.len());
        if cells.is_empty() {
            continue;
        }
        if std::mem::take(&mut first) {
            // One column: its name says nothing that could be checked, but a name it is, and values follow.
            let named = || cells.iter().all(|(_, cell)| is_name(cell.trim_matches('"')));
            if single && named() && !reader.rest().trim().is_empty() {
                continue;
            }
            if let Some(header) = columns.header(reader, &cells)? {
                order = Some(header);
                continue;
            }
        }
        if single {
            for (at, cell) in cells {
                surplus(reader, given, count, at)?;
                reader.inside(Part::Index(given), |r| r.scalar(element, at, cell))?;
                given += 1;
            }
            continue;
        }
        surplus(reader, given, count, line_at)?;
        reader.inside(Part::Index(given), |r| columns.row(r, line_at, &cells, order.as_deref()))?;
        given += 1;
    }
    if given == count {
        return Ok(());
    }
    Err(reader
        .wrong(format!("{given} {} are given where {count} are wanted", if single { "elements" } else { "lines" })))
}

fn surplus(reader: &Reader, given: usize, count: usize, at: usize) -> Result<(), TypedError> {
    if given < count {
        Ok(())
    } else {
        Err(reader.wrong_at(at, format!("more than the {count} elements that are wanted")))
    }
}

/// The cells of a line, each with its place in the text; quotes around a cell are no part of it. A comma at
/// the end does not begin an empty last cell, unless `wanted` cells need it.
fn cells(line: &str, at: usize, wanted: usize) -> Vec<(usize, &str)> {
    let line_end = line.trim_end();
    if line_end.trim_start().is_empty() {
        return Vec::new();
    }
    let strict = line_end.contains([',', ';', '\t']);
    let separates = |c: char| if strict { matches!(c, ',' | ';' | '\t') } else { c.is_whitespace() };
    let mut all: Vec<(usize, &str)> = Vec::new();
    let mut start = 0;
    for (i, c) in line_end.char_indices().chain([(line_end.len(), if strict { ',' } else { ' ' })]) {
        if separates(c) {
            let cell = &line_end[start..i];
            let trimmed = cell.trim();
            let offset = start + (cell.len() - cell.trim_start().len());
            let inner = trimmed.strip_prefix('"').and_then(|cell| cell.strip_suffix('"'));
            if strict || !trimmed.is_empty() {
                all.push((at + offset, inner.unwrap_or(trimmed)));
            }
            start = i + c.len_utf8();
        }
    }
    // `1, 2, 3,` has three cells where four are not wanted.
    if strict && all.len() != wanted && all.last().is_some_and(|(_, cell)| cell.is_empty()) {
        all.pop();
    }
    all
}

/// Whether a cell names a column, and is no value.
fn is_name(cell: &str) -> bool {
    let value = matches!(cell, "true" | "false" | "NaN" | "nan" | "inf") || cell.contains(':');
    cell.starts_with(|c: char| c.is_alphabetic() || c == '_') && !value
}

/// The parts of an element, in order: each with its name, dotted, and its type.
struct Columns<'a> {
    leaves: Vec<(Vec<Part<'a>>, String, &'a Type)>,
}

impl<'a> Columns<'a> {
    /// The most parts of a line of a table.
    const MOST: usize = 4096;

    fn of(element: &'a Type) -> Option<Columns<'a>> {
        let mut columns = Columns { leaves: Vec::new() };
        columns.add(element, &mut Vec::new(), String::new()).then_some(columns)
    }

    fn add(&mut self, ty: &'a Type, path: &mut Vec<Part<'a>>, name: String) -> bool {
        let mut inner = |part: Part<'a>, name: String, ty: &'a Type| {
            path.push(part);
            let fits = self.add(ty, path, name);
            path.pop();
            fits
        };
        match ty {
            Type::Array(element, count) => (0..*count).all(|i| inner(Part::Index(i), format!("{name}[{i}]"), element)),
            Type::Tuple(types) => {
                types.iter().enumerate().all(|(i, ty)| inner(Part::Index(i), format!("{name}[{i}]"), ty))
            }
            Type::Struct { fields, .. } => fields.iter().all(|(field, ty)| {
                let dot = if name.is_empty() { "" } else { "." };
                inner(Part::Field(field), format!("{name}{dot}{field}"), ty)
            }),
            _ => {
                self.leaves.push((path.clone(), name, ty));
                self.leaves.len() <= Columns::MOST
            }
        }
    }

    /// The place of each part in a line, if the first line holds names and no values.
    fn header(&self, reader: &Reader, cells: &[(usize, &str)]) -> Result<Option<Vec<usize>>, TypedError> {
        let names = |(_, name, _): &(_, String, _)| !name.is_empty() && !name.starts_with('[');
        if !self.leaves.iter().all(names) || !cells.iter().all(|(_, cell)| is_name(cell)) {
            return Ok(None);
        }
        let known: BTreeMap<&str, usize> = cells.iter().enumerate().map(|(i, (_, cell))| (*cell, i)).collect();
        for (i, (at, cell)) in cells.iter().enumerate() {
            if known[cell] != i {
                let cell = shown(cell.as_bytes());
                return Err(reader.wrong_at(*at, format!("the first line names `{cell}` twice")));
            }
            if !self.leaves.iter().any(|(_, name, _)| name == cell) {
                let names = self.leaves.iter().map(|(_, name, _)| name.as_str());
                return Err(reader.wrong_at(*at, no_field(cell, names)));
            }
        }
        let place = |(_, name, _): &(Vec<Part>, String, &Type)| {
            known.get(name.as_str()).copied().ok_or_else(|| {
                reader.wrong_at(cells[0].0, format!("the first line names the columns, and `{name}` is missing"))
            })
        };
        self.leaves.iter().map(place).collect::<Result<_, _>>().map(Some)
    }

    fn row(
        &self,
        reader: &mut Reader<'a>,
        line: usize,
        cells: &[(usize, &str)],
        order: Option<&[usize]>,
    ) -> Result<(), TypedError> {
        if cells.len() != self.leaves.len() {
            let names: Vec<&str> = self.leaves.iter().map(|(_, name, _)| name.as_str()).collect();
            let (given, wanted) = (cells.len(), names.len());
            let names = if wanted <= 16 { format!(": {}", names.join(", ")) } else { String::new() };
            return Err(reader.wrong_at(line, format!("{given} values in the line where {wanted} are wanted{names}")));
        }
        for (i, (path, _, ty)) in self.leaves.iter().enumerate() {
            let (at, cell) = cells[order.map_or(i, |order| order[i])];
            nested(reader, path, &mut |r| r.scalar(ty, at, cell))?;
        }
        Ok(())
    }
}

fn nested<'a>(
    reader: &mut Reader<'a>,
    path: &[Part<'a>],
    read: &mut dyn FnMut(&mut Reader<'a>) -> Result<(), TypedError>,
) -> Result<(), TypedError> {
    match path {
        [] => read(reader),
        [part, rest @ ..] => reader.inside(*part, |r| nested(r, rest, read)),
    }
}

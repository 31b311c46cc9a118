//! Text in lines and columns.

use std::fmt;

/// Text in lines of at most `width` characters, the first behind a label and the others below it.
pub fn fill(label: &str, text: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut line = label.to_owned();
    for word in text.split_whitespace() {
        if line.len() > label.len() && line.chars().count() + 1 + word.chars().count() > width {
            lines += line.trim_end();
            lines.push('\n');
            line = " ".repeat(label.len());
        }
        if line.len() > label.len() {
            line.push(' ');
        }
        line += word;
    }
    lines + &line + "\n"
}

/// A table whose columns have given widths, or else that of their longest cell and a blank.
pub struct Listing {
    /// The width of each column but the last; negative for one whose cells begin at the left.
    widths: Vec<isize>,
    rows: Vec<Vec<String>>,
}

impl Listing {
    /// A table without rows. Columns beyond these widths fit their cells.
    pub fn new(widths: &[isize]) -> Listing {
        Listing { widths: widths.to_vec(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let longest = |at: usize| self.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max();
        let widths: Vec<usize> =
            (0..self.widths.len()).map(|at| self.widths[at].unsigned_abs().max(longest(at).unwrap_or(0) + 1)).collect();
        for row in &self.rows {
            for (at, cell) in row.iter().enumerate() {
                match (self.widths.get(at), widths.get(at)) {
                    (Some(..0), Some(width)) => write!(f, "{cell:<width$}")?,
                    (_, Some(width)) => write!(f, "{cell:>width$}")?,
                    _ => f.write_str(cell)?,
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stay_apart() {
        let mut table = Listing::new(&[-3, 4]);
        table.row(["a", "1", " x"].map(str::to_owned));
        assert_eq!(table.to_string(), "a     1 x\n");
        table.row(["abc", "12345", " y"].map(str::to_owned));
        assert_eq!(table.to_string(), "a        1 x\nabc  12345 y\n");
    }

    #[test]
    fn text_is_filled_below_its_label() {
        assert_eq!(fill("ab ", "one two three four", 12), "ab one two\n   three\n   four\n");
    }
}

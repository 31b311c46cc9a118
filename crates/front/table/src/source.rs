//! `Source`: a table's bytes, from a file or a pipe, as often as they are wanted.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::rc::Rc;
use std::time::SystemTime;

use flate2::read::MultiGzDecoder;

use crate::error::{Error, Result};

/// A file that can be read from its beginning again. A pipe is copied to a temporary file without a name,
/// which is removed on drop.
pub struct Source {
    file: File,
    name: String,
    /// The size and the time of the last change, when it was opened.
    was: (u64, Option<SystemTime>),
}

impl Source {
    /// The file at this path; `-` is standard input.
    ///
    /// # Errors
    /// An error that names the file, if it cannot be read, or a pipe cannot be spilled.
    pub fn open(path: &Path) -> Result<Source> {
        if path == Path::new("-") {
            return Source::spill(&mut io::stdin().lock(), "standard input");
        }
        let name = path.display().to_string();
        let unread = |e: io::Error| Error::new(format!("cannot read it: {e}")).at(&name);
        let mut file = File::open(path).map_err(unread)?;
        let meta = file.metadata().map_err(unread)?;
        if meta.is_dir() {
            return Err(Error::new("it is a folder, not a table").at(&name));
        }
        if !meta.is_file() {
            return Source::spill(&mut file, &name);
        }
        Ok(Source { was: (meta.len(), meta.modified().ok()), file, name })
    }

    /// The content of a pipe, copied to a temporary file.
    ///
    /// # Errors
    /// Those of the pipe, and of the folder for temporary files.
    pub fn spill(pipe: &mut dyn Read, name: &str) -> Result<Source> {
        let folder = std::env::temp_dir();
        let wrong = |e: io::Error| {
            Error::new(format!(
                "cannot keep it in a temporary file in {}: {e}. Name another folder in TMPDIR",
                folder.display()
            ))
            .at(name)
        };
        let mut file = tempfile::tempfile().map_err(wrong)?;
        let unread = |e: io::Error| Error::new(format!("cannot read it: {e}")).at(name);
        let size = copy(pipe, &mut file, unread, wrong)?;
        Ok(Source { file, name: name.to_owned(), was: (size, None) })
    }

    /// The name, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The size in bytes, as they are stored.
    pub fn size(&self) -> u64 {
        self.was.0
    }

    /// Refuses a file that was changed since it was opened.
    ///
    /// # Errors
    /// An error that says so.
    pub fn unchanged(&self) -> Result<()> {
        let now = self.file.metadata()?;
        let (size, changed) = self.was;
        if now.len() != size || (changed.is_some() && now.modified().ok() != changed) {
            return Err(Error::new("the file was changed while it was read").at(&self.name));
        }
        Ok(())
    }

    /// The file, at its beginning.
    pub(crate) fn file(&self) -> Result<File> {
        let mut file = self.file.try_clone().map_err(|e| Error::from(e).at(&self.name))?;
        file.seek(SeekFrom::Start(0)).map_err(|e| Error::from(e).at(&self.name))?;
        Ok(file)
    }

    /// The text of the file from its beginning, out of its gzip and without a byte-order mark.
    pub(crate) fn text(&self) -> Result<Text> {
        let at = |e: io::Error| Error::from(e).at(&self.name);
        let read = Rc::new(Cell::new(0));
        let raw = Tally { inner: self.file()?, bytes: Rc::clone(&read) };
        let mut raw = BufReader::with_capacity(1 << 16, raw);
        let start = peek(&mut raw).map_err(at)?;
        let mut text: Box<dyn Read> = match start {
            [0x1f, 0x8b, ..] => Box::new(Gzip(MultiGzDecoder::new(raw))),
            _ => Box::new(raw),
        };
        let mut first = [0; 4];
        let mut filled = 0;
        while filled < first.len() {
            match text.read(&mut first[filled..]).map_err(at)? {
                0 => break,
                more => filled += more,
            }
        }
        let first = &first[..filled];
        let skip = match first {
            b"PAR1" => {
                return Err(Error::new("this is a table in Parquet: add --format parquet, or name the file .parquet")
                    .at(&self.name));
            }
            [0xef, 0xbb, 0xbf, ..] => 3,
            _ => 0,
        };
        if let Some(what) = no_text(first) {
            return Err(Error::new(what).at(&self.name));
        }
        let rest = first[skip..].to_vec();
        Ok(Text { reader: Box::new(io::Cursor::new(rest).chain(text)), read })
    }
}

/// The kind of a file that begins with these bytes and is not UTF-8 text, and how to convert it to text.
pub fn no_text(first: &[u8]) -> Option<&'static str> {
    match first {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("the text is UTF-16: convert it with `iconv -f UTF-16 -t UTF-8`"),
        [b'P', b'A', b'R', b'1', ..] => Some("this is a table in Parquet, not text: save it as CSV"),
        [b'P', b'K', 3, 4, ..] => Some("this is a zip or spreadsheet file, not text: save it as CSV"),
        [0x1f, 0x8b, ..] => Some("this is a gzip file: unpack it with `gunzip`"),
        _ => None,
    }
}

/// Copies all of a pipe; its own errors are others than those of where it goes. The number of bytes.
fn copy(
    pipe: &mut dyn Read,
    out: &mut dyn Write,
    unread: impl Fn(io::Error) -> Error,
    unwritten: impl Fn(io::Error) -> Error,
) -> Result<u64> {
    let (mut buffer, mut size) = (vec![0; 1 << 16], 0);
    loop {
        match pipe.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                out.write_all(&buffer[..count]).map_err(&unwritten)?;
                size += count as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(unread(e)),
        }
    }
    out.flush().map_err(unwritten)?;
    Ok(size)
}

/// The text of a file.
pub(crate) struct Text {
    pub(crate) reader: Box<dyn Read>,
    /// How many bytes of the file were read so far.
    pub(crate) read: Rc<Cell<u64>>,
}

/// The content of a gzip file. Its faults are reported as such.
struct Gzip<R>(MultiGzDecoder<R>);

impl<R: io::BufRead> Read for Gzip<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::other("the gzip file ends too early: it was cut off"),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                io::Error::other(format!("the gzip file is damaged: {e}"))
            }
            _ => e,
        })
    }
}

/// The next bytes of a reader, which stay there.
fn peek(reader: &mut BufReader<impl Read>) -> io::Result<&[u8]> {
    use std::io::BufRead;
    reader.fill_buf()
}

/// Counts the bytes that are read.
struct Tally<R> {
    inner: R,
    bytes: Rc<Cell<u64>>,
}

impl<R: Read> Read for Tally<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(into)?;
        self.bytes.set(self.bytes.get() + count as u64);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk that is full after this number of bytes, or a pipe that breaks there.
    struct Ends(usize);

    impl Write for Ends {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.0);
            self.0 -= count;
            if count == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(count) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Read for Ends {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = into.len().min(self.0);
            self.0 -= count;
            if count == 0 { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok(count) }
        }
    }

    /// A pipe whose first read is broken off by a signal.
    struct Signal(bool);

    impl Read for Signal {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            if core::mem::replace(&mut self.0, true) { Ok(0) } else { Err(io::ErrorKind::Interrupted.into()) }
        }
    }

    #[test]
    fn a_full_disk_and_a_broken_pipe_are_told_apart() {
        let run = |pipe: &mut dyn Read, out: &mut dyn Write| {
            copy(pipe, out, |e| Error::new(format!("pipe: {e}")), |e| Error::new(format!("disk: {e}")))
        };
        let table = vec![7; 200_000];
        assert_eq!(run(&mut &table[..], &mut Vec::new()), Ok(200_000));
        for room in [0, 1, 199_999] {
            let why = run(&mut &table[..], &mut Ends(room)).unwrap_err().to_string();
            assert!(why.starts_with("disk: ") && why.contains("storage"), "{why}");
        }
        assert_eq!(run(&mut &table[..], &mut Ends(200_000)), Ok(200_000));
        let why = run(&mut Ends(100_000), &mut Vec::new()).unwrap_err().to_string();
        assert!(why.starts_with("pipe: "), "{why}");
        assert_eq!(run(&mut Signal(false).chain(&table[..]), &mut Vec::new()), Ok(200_000));
        assert!(Source::spill(&mut Ends(10), "t").map(drop).unwrap_err().to_string().starts_with("t: cannot read it"));
    }

    #[test]
    fn a_file_that_was_changed_is_not_the_one_that_was_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, "a\n1\n").unwrap();
        let source = Source::open(&path).unwrap();
        source.unchanged().unwrap();
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"2\n").unwrap();
        assert!(source.unchanged().unwrap_err().to_string().contains("t.csv: the file was changed while it was read"));
        // As long as before, and written later.
        let source = Source::open(&path).unwrap();
        std::fs::write(&path, "a\n3\n4\n").unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(source.unchanged().is_err());
        // Longer, and its time put back.
        let source = Source::open(&path).unwrap();
        file.write_all(b"5\n").unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(source.unchanged().is_err());
    }
}

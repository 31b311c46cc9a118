//! Files that appear whole or not at all, and reading those of others.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use comity_files::{Access, Draft};
use comity_mail::FileKind;
use comity_terminal::console::draft;
use comity_terminal::failure::{self, Failure, Outcome};
use zeroize::Zeroizing;

/// The most bytes of a query or key that is read: those of 2^24 input bits.
const LONGEST: u64 = 2 << 30;

/// The failure of an operation on a file, `what` being the words for it.
pub(super) fn failed(path: &Path, what: &str, error: &io::Error) -> Failure {
    Failure::disk(&format!("{}: {what}", path.display()), error)
}

/// Opens a file for reading. A folder is refused, and so is a pipe, which may never end and cannot be read
/// twice.
pub(super) use crate::source::regular as open;

/// The first bytes of a file, which say what it is.
pub(super) fn start(path: &Path, file: &mut File) -> Outcome<Vec<u8>> {
    let mut start = Vec::with_capacity(FileKind::BYTES);
    let read = file.take(FileKind::BYTES as u64).read_to_end(&mut start);
    read.map_err(|e| failed(path, "cannot read it", &e))?;
    Ok(start)
}

/// The bytes of a query or a key. Something else is refused by its first bytes.
pub(super) fn read(path: &Path, kind: FileKind) -> Outcome<Zeroizing<Vec<u8>>> {
    let mut file = open(path)?;
    let start = start(path, &mut file)?;
    if FileKind::of(&start) != Some(kind) {
        let is = match FileKind::of(&start) {
            Some(FileKind::Query) => "a query",
            Some(FileKind::Key) => "the key of a query",
            Some(FileKind::Answer) => "an answer",
            Some(FileKind::Copy) => "a stored copy",
            None => "something else",
        };
        let wanted = if kind == FileKind::Query { "a query" } else { "the key of a query" };
        let advice = match (FileKind::of(&start), kind) {
            (Some(FileKind::Query), FileKind::Key) => ": name the file that `comity nisc publish --secret` made",
            (Some(FileKind::Key), FileKind::Query) => {
                ": name the file that `comity nisc publish --out` made, and give the key to nobody"
            }
            _ => "",
        };
        let message = format!("{}: {wanted} was expected, and this is {is}{advice}", path.display());
        return Err(Failure::new(failure::Ending::Malformed, message));
    }
    // Room for all, so that no outgrown copy of a key is left behind; and no more than the file really has.
    let length = file.metadata().map_err(|e| failed(path, "cannot read it", &e))?.len();
    if length > LONGEST {
        let message = format!("{}: {length} bytes, and such a file has at most {LONGEST}", path.display());
        return Err(Failure::new(failure::Ending::Malformed, message));
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(length as usize + 1));
    bytes.extend_from_slice(&start);
    file.take(LONGEST).read_to_end(&mut bytes).map_err(|e| failed(path, "cannot read it", &e))?;
    Ok(bytes)
}

/// A file in the making, beside its final name. Dropped before [`Partial::keep`] it leaves nothing.
pub(super) struct Partial {
    path: PathBuf,
    draft: Draft,
    access: Access,
}

impl Partial {
    /// Begins a file.
    pub(super) fn new(path: &Path, access: Access) -> Outcome<Partial> {
        spare_key(path, access)?;
        Ok(Partial { path: path.to_owned(), draft: draft(path, access)?, access })
    }

    /// Gives the file its name; when this returns, that is so after a crash too. One that is there is replaced.
    pub(super) fn keep(self) -> Outcome {
        spare_key(&self.path, self.access)?;
        self.draft.keep().map_err(|e| failed(&self.path, "cannot write it", &e))
    }

    /// As [`Partial::keep`], but never replaces a file.
    pub(super) fn keep_new(self) -> Outcome {
        self.draft.keep_new().map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => exists(&self.path),
            _ => failed(&self.path, "cannot write it", &e),
        })
    }
}

/// Refuses to put a query or an answer in the place of a key, and anything in the place of a device.
fn spare_key(path: &Path, access: Access) -> Outcome {
    let Ok(metadata) = fs::metadata(path) else { return Ok(()) };
    if !metadata.is_file() {
        return Err(Failure::input(format!(
            "{}: it is a device or a folder, and only a file can be replaced",
            path.display()
        )));
    }
    let key = || -> Outcome<bool> { Ok(FileKind::of(&start(path, &mut open(path)?)?) == Some(FileKind::Key)) };
    if access == Access::Umask && key()? { Err(exists(path)) } else { Ok(()) }
}

/// The failure where a key would overwrite a file.
pub(super) fn exists(path: &Path) -> Failure {
    Failure::input(format!(
        "{}: the file exists, and comity never overwrites a key: it may be the only one that opens the answers to a \
            query",
        path.display()
    ))
}

impl Write for Partial {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.draft.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.draft.flush()
    }
}

//! `Journal`: the books of a service, a line of JSON for each event, on the disk before what it is about goes
//! on. One process has them at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use comity_terminal::failure::{Ending, Failure, Outcome};
use comity_terminal::json::to_line;
use serde::Serialize;
use serde::de::DeserializeOwned;

use comity_files::sync_names;

/// What lines are written to: a file, or in tests a disk that is full.
pub(crate) trait Disk: Read + Write + Seek {
    /// Cuts it off after `bytes` bytes.
    fn cut(&self, bytes: u64) -> io::Result<()>;

    /// Returns when all that was written outlives the process and the machine's power.
    fn sync(&self) -> io::Result<()>;
}

impl Disk for File {
    fn cut(&self, bytes: u64) -> io::Result<()> {
        self.set_len(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_all()
    }
}

/// The words for a file that cannot be opened.
#[derive(Clone, Copy)]
pub(crate) struct Words {
    /// Another process has it.
    pub(crate) busy: &'static str,
    /// A line is no event.
    pub(crate) other: &'static str,
}

/// The books, open and locked.
pub(crate) struct Journal<D = File> {
    path: PathBuf,
    disk: D,
    /// Bytes of whole events.
    end: u64,
}

impl Journal {
    /// The journal in this file, which is made if it is not there. `each` gets the events that are in it.
    pub(crate) fn open<L: DeserializeOwned>(path: &Path, words: Words, each: impl FnMut(L)) -> Outcome<Journal> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        // A pipe is waited for without end.
        if let Ok(data) = path.metadata()
            && !data.is_file()
        {
            return Err(failed(path, &"this is a folder or a device, not a file"));
        }
        let file = options.open(path).map_err(|error| failed(path, &error))?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => failed(path, &words.busy),
            TryLockError::Error(error) => failed(path, &error),
        })?;
        // Whoever can change books can make them forget.
        comity_net::owned(path)?;
        // A new file's name is on the disk when its folder is.
        sync_names(path).map_err(|error| failed(path, &error))?;
        Journal::on(path, file, words, each)
    }
}

impl<D: Disk> Journal<D> {
    fn on<L: DeserializeOwned>(path: &Path, mut disk: D, words: Words, mut each: impl FnMut(L)) -> Outcome<Journal<D>> {
        let mut text = String::new();
        disk.read_to_string(&mut text).map_err(|error| failed(path, &error))?;
        // A line without an end was being written when the process died, and what it is about had not begun.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        for (number, line) in text[..whole].lines().enumerate() {
            let event = serde_json::from_str(line)
                .map_err(|error| failed(path, &format!("line {}: {error}; {}", number + 1, words.other)))?;
            each(event);
        }
        Ok(Journal { path: path.to_owned(), disk, end: whole as u64 })
    }

    /// Writes events to the disk: all of them, or no event and an error.
    pub(crate) fn write(&mut self, events: &[impl Serialize]) -> Outcome {
        let text: String = events.iter().map(to_line).collect();
        self.append(text.as_bytes()).map_err(|error| {
            // A full disk has taken a part, perhaps. If it cannot be taken back now, the next event does it,
            // or whoever opens the file.
            let _ = self.disk.cut(self.end);
            failed(&self.path, &format!("cannot write it: {error}"))
        })
    }

    fn append(&mut self, text: &[u8]) -> io::Result<()> {
        self.disk.cut(self.end)?;
        self.disk.seek(SeekFrom::Start(self.end))?;
        self.disk.write_all(text)?;
        self.disk.sync()?;
        self.end += text.len() as u64;
        Ok(())
    }
}

fn failed(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::new(Ending::Store, format!("{}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io::Cursor;

    use super::*;

    const WORDS: Words = Words { busy: "somebody has it", other: "this is no number" };

    /// A disk with a given room in bytes, which says that it is full only when a part of a write is on it; on
    /// a `stuck` one nothing can be cut off.
    struct Small {
        bytes: RefCell<Cursor<Vec<u8>>>,
        room: usize,
        stuck: bool,
    }

    impl Small {
        fn new(room: usize) -> Small {
            Small { bytes: RefCell::default(), room, stuck: false }
        }

        fn text(&self) -> String {
            String::from_utf8(self.bytes.borrow().get_ref().clone()).unwrap()
        }
    }

    impl Read for Small {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.bytes.get_mut().read(into)
        }
    }

    impl Write for Small {
        fn write(&mut self, from: &[u8]) -> io::Result<usize> {
            let bytes = self.bytes.get_mut();
            let fits = from.len().min(self.room - bytes.position() as usize);
            if fits == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            bytes.write(&from[..fits])
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Small {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.bytes.get_mut().seek(to)
        }
    }

    impl Disk for Small {
        fn cut(&self, bytes: u64) -> io::Result<()> {
            if self.stuck {
                return Err(io::ErrorKind::Other.into());
            }
            self.bytes.borrow_mut().get_mut().truncate(bytes as usize);
            Ok(())
        }

        fn sync(&self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A file of one test's, which is not there yet.
    fn file(test: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("comity-journal-{test}-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        path
    }

    fn events(path: &Path) -> Outcome<(Journal, Vec<u32>)> {
        let mut events = Vec::new();
        Journal::open(path, WORDS, |event| events.push(event)).map(|journal| (journal, events))
    }

    #[test]
    fn events_outlive_the_process_and_half_a_line_is_none() {
        let path = file("events");
        let (mut journal, none) = events(&path).unwrap();
        assert!(none.is_empty());
        journal.write(&[1, 22]).unwrap();
        journal.write(&[333]).unwrap();
        assert!(events(&path).map(drop).unwrap_err().message.contains("somebody has it"));
        drop(journal);
        std::fs::write(&path, "1\n22\n333\n44").unwrap();
        let (mut journal, read) = events(&path).unwrap();
        assert_eq!(read, [1, 22, 333]);
        journal.write(&[5]).unwrap();
        drop(journal);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1\n22\n333\n5\n");
        std::fs::write(&path, "1\nhello\n").unwrap();
        let why = events(&path).map(drop).unwrap_err();
        assert!(why.message.contains("line 2") && why.message.contains("this is no number"), "{}", why.message);
        std::fs::remove_file(&path).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn books_are_their_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let path = file("mode");
        drop(events(&path).unwrap());
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        for loose in [0o620, 0o602] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(loose)).unwrap();
            let why = events(&path).map(drop).unwrap_err();
            assert!(why.message.contains("chmod go-w"), "{}", why.message);
        }
        std::fs::remove_file(&path).unwrap();
        assert!(events(Path::new("/dev/zero")).map(drop).unwrap_err().message.contains("not a file"));
    }

    /// What a full disk took of events is taken back: all of them, also those that were whole, and the next
    /// one does not go on where it ended.
    #[test]
    fn what_a_full_disk_cut_off_is_taken_back() {
        for stuck in [false, true] {
            let mut journal = Journal::on(Path::new("books"), Small::new(10), WORDS, |_: u32| {}).unwrap();
            journal.write(&[111]).unwrap();
            journal.disk.stuck = stuck;
            if !stuck {
                let full = journal.write(&[22, 333, 4]).unwrap_err();
                assert!(
                    full.kind == Ending::Store && full.message.contains("books: cannot write it"),
                    "{}",
                    full.message
                );
                assert_eq!(journal.disk.text(), "111\n");
            }
            // Nor when it could not be taken back at once.
            journal.disk.bytes.get_mut().write_all(b"22\n333").unwrap();
            assert_eq!(journal.write(&[5]).is_err(), stuck);
            journal.disk.stuck = false;
            journal.write(&[6]).unwrap();
            let expected = if stuck { "111\n6\n" } else { "111\n5\n6\n" };
            assert_eq!(journal.disk.text(), expected);
        }
    }
}

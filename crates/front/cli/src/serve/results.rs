//! `Results`: the folder with what runs gave, a file each.

use std::fs;
use std::path::{Path, PathBuf};

use comity::Report;
use comity_terminal::console::{OutFile, check_writable, write_whole};
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::json::to_line;

use crate::args::Format;
use crate::resolve::Resolved;
use crate::run::describe;
use crate::shares::Files;
use crate::values::Order;

/// Bytes of a result without its values.
const FRAME: u64 = 16 << 10;

/// Bytes of a result for each bit of an output: as a digit of an array, with what stands between, and as
/// hexadecimal digits.
const EACH_BIT: u64 = 4;

/// A service's folder of results.
pub(super) struct Results {
    dir: PathBuf,
    /// Bytes that a result takes at most, most often.
    bytes: u64,
    /// The room for the result of a run.
    room: Option<(u64, OutFile)>,
}

impl Results {
    /// The folder, which is made if it is not there, and the number of the last result in it.
    pub(super) fn open(dir: &Path, resolved: &Resolved) -> Outcome<(Results, u64)> {
        let unusable =
            |error: std::io::Error| Failure::disk(&format!("{}: results cannot be kept there", dir.display()), &error);
        fs::create_dir_all(dir).map_err(unusable)?;
        check_writable(&dir.join("run-0.json"))?;
        let names = fs::read_dir(dir).map_err(unusable)?.filter_map(|file| file.ok()?.file_name().into_string().ok());
        let numbers = names.filter_map(|name| name.strip_prefix("run-")?.strip_suffix(".json")?.parse().ok());
        // A number that no service comes to is of a file that none wrote, and leaves no room after it.
        let last = numbers.filter(|&number| number < 1 << 53).max().unwrap_or(0);
        let bits: u64 = resolved.outputs().iter().map(|output| output.bits as u64).sum();
        Ok((Results { dir: dir.to_owned(), bytes: FRAME + EACH_BIT * bits, room: None }, last))
    }

    /// Has room on the disk for the result of this run, before anybody computes it.
    pub(super) fn reserve(&mut self, run: u64) -> Outcome {
        if self.room.as_ref().is_some_and(|(of, room)| *of == run && room.is_there()) {
            return Ok(());
        }
        // What cannot be written here comes too late when a peer has had its run.
        let full = |failure: Failure| failure.and("The disk has no room for a result, so no run begins");
        fs::create_dir_all(&self.dir).map_err(|error| full(Failure::disk(&self.dir.display().to_string(), &error)))?;
        let room = OutFile::create(&self.file(run)).map_err(full)?;
        room.reserve(self.bytes).map_err(full)?;
        self.room = Some((run, room));
        Ok(())
    }

    /// Writes a run's result.
    pub(super) fn keep(&mut self, run: u64, report: &Report, resolved: &Resolved, order: &Order) -> Outcome {
        let (result, _) = describe(report, resolved, order, Format::Value, &Files::new());
        let text = to_line(&result);
        let kept = match self.room.take().filter(|(of, _)| *of == run) {
            Some((_, room)) => room.fill(text.as_bytes()),
            None => write_whole(&self.file(run), text.as_bytes()),
        };
        kept.or_else(|_| {
            // The folder was taken away meanwhile: it is wanted all the same.
            let _ = fs::create_dir_all(&self.dir);
            write_whole(&self.file(run), text.as_bytes())
        })
    }

    fn file(&self, run: u64) -> PathBuf {
        self.dir.join(format!("run-{run}.json"))
    }
}

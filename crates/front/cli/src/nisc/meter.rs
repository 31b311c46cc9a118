//! How far an answer is, for the person at the terminal.

use std::io::{self, IsTerminal, Read, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The time below which work gets no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// A meter of the bytes that pass through it. Nothing is drawn if standard error is no terminal.
pub(super) struct Meter<T> {
    inner: T,
    done: u64,
    total: u64,
    started: Instant,
    terminal: bool,
    bar: Option<ProgressBar>,
}

impl<T> Meter<T> {
    pub(super) fn new(inner: T, total: u64) -> Meter<T> {
        let terminal = io::stderr().is_terminal();
        Meter { inner, done: 0, total, started: Instant::now(), terminal, bar: None }
    }

    pub(super) fn into_inner(self) -> T {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.inner
    }

    fn passed(&mut self, bytes: usize) {
        self.done += bytes as u64;
        if !self.terminal || self.started.elapsed() < PATIENCE {
            return;
        }
        let (total, started) = (self.total, self.started);
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{bar:24} {percent:>3} % of {total_bytes}, {eta} left");
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())).with_elapsed(started.elapsed())
        });
        bar.set_position(self.done.min(total));
    }
}

impl<T: Read> Read for Meter<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(bytes)?;
        self.passed(count);
        Ok(count)
    }
}

impl<T: Write> Write for Meter<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.passed(count);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

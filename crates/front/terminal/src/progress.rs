//! A progress bar for long work on a terminal; nothing at all when standard error is piped.

use std::fmt::Write;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// The time below which work gets no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// The time between two tellings of progress.
const TICK: Duration = Duration::from_millis(100);

/// A ticker: it says yes at most once a tick.
pub struct Ticker(Instant);

impl Ticker {
    /// A ticker whose first yes comes after a tick.
    pub fn start() -> Ticker {
        Ticker(Instant::now())
    }

    /// Whether a tick has passed since the last yes.
    pub fn due(&mut self) -> bool {
        let due = self.0.elapsed() >= TICK;
        if due {
            self.0 = Instant::now();
        }
        due
    }
}

/// The progress of a run, in AND gates.
pub struct Progress {
    total: u64,
    started: Instant,
    terminal: bool,
    ticker: Ticker,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Progress towards `total` AND gates.
    pub fn new(total: u64) -> Progress {
        Progress {
            total,
            started: Instant::now(),
            terminal: std::io::stderr().is_terminal(),
            ticker: Ticker::start(),
            bar: None,
        }
    }

    /// Notes that `done` AND gates are done.
    pub fn update(&mut self, done: u64) {
        if !self.terminal || !self.ticker.due() || self.started.elapsed() < PATIENCE {
            return;
        }
        let (total, started) = (self.total, self.started);
        let bar = self.bar.get_or_insert_with(|| {
            let template = "{bar:24} {percent:>3} % of {human_len} AND gates, {eta} left";
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            bar.with_style(style).with_elapsed(started.elapsed())
        });
        bar.set_position(done.min(total));
    }

    /// Removes the bar from the screen.
    pub fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The progress of a table that is read or written: its rows, the share of its bytes, and the time left.
pub struct TableProgress {
    what: &'static str,
    bytes: u64,
    started: Instant,
    terminal: bool,
    ticker: Ticker,
    bar: Option<ProgressBar>,
}

impl TableProgress {
    /// Progress through a table of `bytes` bytes.
    pub fn new(what: &'static str, bytes: u64) -> TableProgress {
        let terminal = std::io::stderr().is_terminal();
        TableProgress { what, bytes, started: Instant::now(), terminal, ticker: Ticker::start(), bar: None }
    }

    /// Notes that `rows` rows and `bytes` bytes are done. Call it now and then.
    pub fn update(&mut self, rows: u64, bytes: u64) {
        if !self.terminal || !self.ticker.due() || self.started.elapsed() < PATIENCE {
            return;
        }
        let (what, total, started) = (self.what, self.bytes, self.started);
        let bar = self.bar.get_or_insert_with(|| {
            let template = "{prefix}: {bar:24} {percent:>3} % of {decimal_total_bytes}, {msg} rows, {eta} left";
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            bar.with_style(style).with_prefix(what).with_elapsed(started.elapsed())
        });
        bar.set_message(HumanCount(rows).to_string());
        bar.set_position(bytes.min(total));
    }
}

impl Drop for TableProgress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// The progress of a protocol: its phase, and the bytes that went over the wire.
pub struct WireProgress {
    bar: Option<ProgressBar>,
}

impl WireProgress {
    /// Shows the number that `read` returns, which grows; shows nothing if standard error is not a terminal.
    pub fn start(read: impl Fn() -> u64 + Clone + Send + Sync + 'static) -> WireProgress {
        if !std::io::stderr().is_terminal() {
            return WireProgress { bar: None };
        }
        let wire = move |_: &ProgressState, out: &mut dyn Write| {
            let _ = out.write_str(&crate::numbers::bytes(read()));
        };
        let style = ProgressStyle::with_template("{spinner} {msg}: {wire} over the wire, {elapsed}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner()).with_key("wire", wire);
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style);
        bar.enable_steady_tick(TICK);
        WireProgress { bar: Some(bar) }
    }

    /// Notes that a phase begins.
    pub fn phase(&self, name: &'static str) {
        if let Some(bar) = &self.bar {
            bar.set_message(name);
        }
    }
}

impl Drop for WireProgress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

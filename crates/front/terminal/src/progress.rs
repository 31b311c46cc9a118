//! A progress bar for long work on a terminal; nothing at all when standard error is piped.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The time below which work gets no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// The time between two tellings of progress.
const TICK: Duration = Duration::from_millis(100);

/// A ticker, which says yes once in a while.
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

    /// Notes that so many AND gates are done.
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

    /// Takes the bar off the screen.
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

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

/// A bar for work that takes a while, which is drawn once it has, and is gone from the screen when it is dropped.
struct Bar {
    /// Where it is drawn, as long as it is not; `None` where nobody looks, too.
    target: Option<ProgressDrawTarget>,
    started: Instant,
    ticker: Ticker,
    drawn: Option<ProgressBar>,
}

impl Bar {
    /// A bar on standard error, if that is a terminal.
    fn new() -> Bar {
        Bar { target: terminal(), started: Instant::now(), ticker: Ticker::start(), drawn: None }
    }

    /// The bar, of this length and look, if it is time to draw it.
    fn due(&mut self, length: u64, template: &str) -> Option<&ProgressBar> {
        let nobody = self.target.is_none() && self.drawn.is_none();
        if nobody || !self.ticker.due() || self.started.elapsed() < PATIENCE {
            return None;
        }
        if let Some(target) = self.target.take() {
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::with_draw_target(Some(length), target).with_style(style);
            self.drawn = Some(bar.with_elapsed(self.started.elapsed()));
        }
        self.drawn.as_ref()
    }
}

/// Standard error, if it is a terminal.
fn terminal() -> Option<ProgressDrawTarget> {
    std::io::stderr().is_terminal().then(ProgressDrawTarget::stderr)
}

/// The progress of a run, in AND gates.
pub struct Progress {
    total: u64,
    bar: Bar,
}

impl Progress {
    /// Progress towards `total` AND gates.
    pub fn new(total: u64) -> Progress {
        Progress { total, bar: Bar::new() }
    }

    /// Notes that `done` AND gates are done.
    pub fn update(&mut self, done: u64) {
        if let Some(bar) = self.bar.due(self.total, "{bar:24} {percent:>3} % of {human_len} AND gates, {eta} left") {
            bar.set_position(done.min(self.total));
        }
    }

    /// Removes the bar from the screen.
    pub fn finish(&mut self) {
        self.bar.drawn = None;
    }
}

/// The progress of a table that is read or written: its rows, the share of its bytes, and the time left.
pub struct TableProgress {
    what: &'static str,
    bytes: u64,
    bar: Bar,
}

impl TableProgress {
    /// Progress through a table of `bytes` bytes.
    pub fn new(what: &'static str, bytes: u64) -> TableProgress {
        TableProgress { what, bytes, bar: Bar::new() }
    }

    /// Notes that `rows` rows and `bytes` bytes are done. Call it now and then.
    pub fn update(&mut self, rows: u64, bytes: u64) {
        let template = "{prefix}: {bar:24} {percent:>3} % of {decimal_total_bytes}, {msg} rows, {eta} left";
        if let Some(bar) = self.bar.due(self.bytes, template) {
            bar.set_prefix(self.what);
            bar.set_message(HumanCount(rows).to_string());
            bar.set_position(bytes.min(self.bytes));
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
        let Some(target) = terminal() else { return WireProgress { bar: None } };
        let wire = move |_: &ProgressState, out: &mut dyn Write| {
            let _ = out.write_str(&crate::numbers::bytes(read()));
        };
        let style = ProgressStyle::with_template("{spinner} {msg}: {wire} over the wire, {elapsed}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner()).with_key("wire", wire);
        let bar = ProgressBar::with_draw_target(None, target).with_style(style);
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
        // Here and now: the thread that ticks holds it, too.
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;

    /// A screen of one line.
    #[derive(Clone, Debug, Default)]
    struct Screen(Arc<Mutex<String>>);

    impl Screen {
        fn line(&self) -> String {
            self.0.lock().unwrap().clone()
        }

        /// A bar on this screen, of work that began this long ago.
        fn bar(&self, ago: Duration) -> Bar {
            let started = Instant::now().checked_sub(ago).unwrap();
            let target = ProgressDrawTarget::term_like(Box::new(self.clone()));
            Bar { target: Some(target), started, ticker: Ticker(started), drawn: None }
        }
    }

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            120
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }

        fn clear_line(&self) -> io::Result<()> {
            self.0.lock().unwrap().clear();
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn long_work_has_a_bar_until_it_is_done() {
        let screen = Screen::default();
        let mut run = Progress { total: 4000, bar: screen.bar(2 * PATIENCE) };
        run.update(1000);
        assert!(screen.line().contains(" 25 % of 4,000 AND gates"), "{}", screen.line());
        run.finish();
        assert_eq!(screen.line().trim(), "");
        let mut table = TableProgress { what: "reading", bytes: 8000, bar: screen.bar(2 * PATIENCE) };
        table.update(1234, 4000);
        assert!(screen.line().contains("reading: ") && screen.line().contains(" 50 % of 8.00 kB, 1,234 rows"));
        drop(table);
        assert_eq!(screen.line().trim(), "");
    }

    #[test]
    fn short_work_and_work_that_nobody_watches_have_none() {
        let screen = Screen::default();
        let mut short = Progress { total: 4000, bar: screen.bar(Duration::ZERO) };
        // A clock that has not begun yet stands still.
        short.bar.started += Duration::from_secs(3600);
        short.bar.ticker = Ticker(Instant::now().checked_sub(TICK).unwrap());
        short.update(1000);
        assert_eq!(screen.line(), "");
        let mut unseen = Progress { total: 4000, bar: screen.bar(2 * PATIENCE) };
        unseen.bar.target = None;
        unseen.update(1000);
        assert!(screen.line().is_empty() && unseen.bar.drawn.is_none());
    }
}

//! What is said while the two sides meet and compute.

use std::time::Duration;

use comity::{Card, Counter, Watch};
use comity_terminal::console::note;
use comity_terminal::progress::WireProgress;

/// Tells the person at the terminal how it goes.
pub(super) struct Watcher {
    /// The party, for people.
    title: String,
    seconds: u64,
    verbose: bool,
    progress: Option<WireProgress>,
}

impl Watcher {
    pub(super) fn new(title: String, timeout: Duration, verbose: bool) -> Watcher {
        let seconds = timeout.as_secs_f64().ceil() as u64;
        Watcher { title, seconds, verbose, progress: None }
    }

    /// Takes the bar off the screen.
    pub(super) fn finish(&mut self) {
        self.progress = None;
    }

    fn say(&self, text: &str) {
        note(&format!("party {}: {text}", self.title));
    }
}

impl Watch for Watcher {
    fn listening(&mut self, address: &str) {
        self.say(&format!("waiting for the peer at {address}, up to {} s", self.seconds));
    }

    fn turned_away(&mut self, why: &str) {
        self.say(&format!("turned away a stranger: {why}"));
    }

    fn at_relay(&mut self, relay: &str) {
        self.say(&format!("waiting for the peer at the relay {relay}, up to {} s", self.seconds));
    }

    fn connecting(&mut self, address: &str) {
        self.say(&format!("connecting to {address}, trying up to {} s", self.seconds));
    }

    fn exposed(&mut self, card: &Card) {
        note(&format!(
            "this method is {}: a peer that breaks the protocol's rules may learn more, or make the result wrong",
            card.adversary
        ));
    }

    fn discarded(&mut self, lots: usize) {
        let (halves, were) = if lots == 1 { ("a lot", "was") } else { ("lots", "were") };
        self.say(&format!(
            "{halves} of prepared queries {were} dropped, {lots} in all: the service no longer has its half of them"
        ));
    }

    fn connected(&mut self, peer: &str) {
        if self.verbose {
            self.say(&format!("connected: {peer}"));
        }
    }

    fn traffic(&mut self, counter: &Counter) {
        let counter = counter.clone();
        let read = move || {
            let counts = counter.counts();
            counts.sent + counts.received
        };
        self.progress = Some(WireProgress::start(read));
    }

    fn phase(&mut self, name: &'static str) {
        if let Some(progress) = &self.progress {
            progress.phase(name);
        }
    }
}

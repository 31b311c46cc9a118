//! `Watcher`: what is said while a session runs.

use comity::{Card, Supply, Watch};
use comity_core::{PartyId, listed};
use comity_terminal::console::{emit, note};
use comity_terminal::json::to_line;
use comity_terminal::progress::{Progress, Ticker};

use crate::args::SessionArgs;
use crate::json::Event;
use crate::parties::Names;

/// The most strangers that are named without being asked for.
const SHOWN: u32 = 3;

/// Tells the person at the terminal, or the parent process, how it goes.
pub(crate) struct Watcher {
    attached: bool,
    verbose: bool,
    party: u16,
    parties: u16,
    names: Names,
    seconds: u64,
    pub(crate) progress: Progress,
    ticker: Ticker,
    /// The number of strangers that came.
    turned_away: u32,
}

impl Watcher {
    pub(crate) fn new(
        party: u16,
        parties: u16,
        names: &Names,
        args: &SessionArgs,
        attached: bool,
        and_gates: u64,
    ) -> Watcher {
        Watcher {
            attached,
            verbose: args.verbose,
            party,
            parties,
            names: names.clone(),
            seconds: args.timeout.as_secs_f64().ceil() as u64,
            progress: Progress::new(and_gates),
            ticker: Ticker::start(),
            turned_away: 0,
        }
    }

    /// A note for the person at the terminal, who may see the notes of several parties.
    pub(crate) fn say(&self, text: &str) {
        if self.attached {
            self.tell(&Event::Note(text.to_owned()));
        } else {
            note(&format!("party {}: {text}", self.names.title(self.party)));
        }
    }

    /// Whether more is to be said.
    pub(crate) fn is_verbose(&self) -> bool {
        self.verbose
    }

    fn tell(&self, event: &Event) {
        // Without a parent this process ends by itself.
        let _ = emit(&to_line(event));
    }
}

impl Watch for Watcher {
    fn listening(&mut self, address: &str) {
        if self.attached {
            self.tell(&Event::Listening(address.to_owned()));
        } else if self.parties == 2 {
            self.say(&format!("waiting for the peer at {address}, up to {} s", self.seconds));
        } else {
            self.say(&format!("listening at {address}"));
        }
    }

    fn waiting(&mut self, missing: &[PartyId], here: &[PartyId]) {
        if self.attached {
            return;
        }
        let here: Vec<String> = here.iter().map(|party| party.to_string()).collect();
        let here = if here.is_empty() { String::new() } else { format!("; here: {}", here.join(", ")) };
        let missing = self.names.named(&listed(missing.iter().copied()));
        self.say(&format!("waiting for {missing}, up to {} s{here}", self.seconds));
    }

    fn turned_away(&mut self, why: &str) {
        self.turned_away += 1;
        if self.verbose || self.turned_away <= SHOWN {
            self.say(&format!("turned away: {}", self.names.named(why)));
        }
        if !self.verbose && self.turned_away == SHOWN {
            self.say("more strangers are turned away without a message (--verbose names them)");
        }
    }

    fn at_relay(&mut self, relay: &str) {
        if self.parties == 2 {
            self.say(&format!("waiting for the peer at the relay {relay}, up to {} s", self.seconds));
        } else {
            self.say(&format!("calling the relay {relay}"));
        }
    }

    fn connecting(&mut self, address: &str) {
        if !self.attached {
            self.say(&format!("connecting to {address}, trying up to {} s", self.seconds));
        }
    }

    fn exposed(&mut self, card: &Card) {
        note(&format!("{} is {}: {}", card.name, card.adversary, card.risk));
    }

    fn overheard(&mut self) {
        note(
            "among three or more parties, whoever listens to plain text on the way can learn inputs, even if nobody \
                cheats: use --tls DIR, or a tunnel that encrypts between all of them",
        );
    }

    fn connected(&mut self, peer: &str) {
        if self.verbose {
            self.say(&format!("connected: {peer}"));
        }
    }

    fn taken(&mut self, taken: &Supply) {
        let Supply { material, unit, need, left, behind } = taken;
        if *behind > 0 {
            self.say(&format!(
                "another party had used {behind} batches of the lot that were unused here; they are now gone here, \
                    too. A crash costs one or two; if it is more, an old copy of this store was put back, or the other \
                    party lies"
            ));
        }
        if self.verbose || left < need {
            self.say(&format!("taken from the store ({material}): {need} of {} {unit}; left: {left}", need + left));
        }
    }

    fn discarded(&mut self, lots: usize) {
        self.say(&format!("deleted {lots} of the lots here, since other parties have lost their part of them"));
    }

    fn damaged(&mut self, why: &str) {
        self.say(&format!("not used from the store: {why}"));
    }

    fn destroyed(&mut self, program: &str) {
        self.say(&format!("a lot for {program} was destroyed: a run broke off during the check of its material"));
    }

    fn made_anew(&mut self, why: &str) {
        self.say(&format!("the material is made in this run, not taken from the store: {why}"));
    }

    fn phase(&mut self, name: &'static str) {
        if self.verbose {
            self.say(&format!("phase: {name}"));
        }
    }

    fn and_gates(&mut self, done: u64) {
        if !self.attached {
            self.progress.update(done);
        } else if self.ticker.due() {
            self.tell(&Event::Progress(done));
        }
    }
}

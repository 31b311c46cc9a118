//! Private set intersection between parties who meet: a session in which one of the two, or each, learns the
//! common items.
//!
//! That each learns them takes two runs, one each way: nobody is told a result that the other one has
//! computed. Nothing binds a party that cheats to one set in both.

use comity_channel::Traffic;
use comity_circuit::Recipients;
use comity_core::{Error, PartyId, Result};
use comity_net::SystemRng;
use comity_protocol::{Card, Party};
use comity_psi::{CARD, MAX_ITEMS, Matches, Set, Terms, receive, send};

use crate::clock::Clock;
use crate::meet::Begun;
use crate::report::{peak_rss, sum};
use crate::session::{Part, Session, whose};
use crate::watch::Watch;

/// A party's side of an intersection: its sets and payload, and what it wants.
pub struct Intersection<'a> {
    /// The method, the adversary, and the protocol below the method. The bytes of payload are each sender's own.
    pub terms: Terms,
    /// How items are made from keys, in words without spaces: both parties have to say the same.
    pub encoding: &'a str,
    /// What this party did to its keys before it hashed them, if it hashed them itself: the other party may
    /// have only the hashes. If both parties say something, it must be the same.
    pub hashed: Option<&'a str>,
    /// The parties that learn the common items.
    pub to: Recipients,
    /// A set for each key that the parties compare by, the same number at both. There is a run for each key,
    /// and a party that learns the common items of several sets learns which of the items belong together.
    pub sets: &'a [Set<'a>],
    /// This party's payload for the other party.
    pub payload: Option<Columns<'a>>,
}

/// The description of a payload, which its reader needs.
#[derive(Clone, Copy)]
pub struct Columns<'a> {
    /// The bytes beside each item, for each set.
    pub widths: &'a [usize],
    /// A text for the reader, such as the names of columns.
    pub header: &'a [u8],
}

/// The outcome of an intersection at one party.
pub struct Intersected {
    /// The result of each key's run, in order.
    pub runs: Vec<Learnt>,
    /// The header of the other party's payload, and for each key the bytes beside each item; `None` if the
    /// other party has no payload.
    pub payload: Option<(Vec<u8>, Vec<usize>)>,
    /// Time since the peer was there, in seconds.
    pub seconds: f64,
    /// The time of each phase, in seconds, in the order in which they began.
    pub phases: Vec<(&'static str, f64)>,
    /// Bytes and rounds; what TCP and TLS add is not counted.
    pub traffic: Traffic,
    /// The most memory that this process ever held, in bytes; `None` if the system does not tell (Linux
    /// does).
    pub peak_rss: Option<u64>,
}

/// The result of one key's run.
pub struct Learnt {
    /// The announced size of the other party's set.
    pub theirs: usize,
    /// The common items, if this party learns them.
    pub matches: Option<Matches>,
    /// The number of own items that hashing could not place: a result lacks them.
    pub left_out: usize,
}

/// Bytes of a payload's header at most.
const LONGEST: usize = 1 << 16;

/// The bytes of the words for the encoding, and for the hashes, that are sent as they are; of longer words
/// the beginning, and a hash.
const SHOWN: usize = 60;
const SHOWN_HASHED: usize = 40;

impl Session<'_> {
    /// Meets the other party, agrees on what is compared, and finds what the two sets have in common.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind), before any peer is contacted, if the parts of `wanted` do not fit
    /// each other, or if the session has settings that an intersection has no use for (a protocol, a store,
    /// shares); [`Mismatch`](comity_core::Kind), on both sides, if the other party wants anything else;
    /// otherwise those of the network and of [`send`] and [`receive`].
    pub fn intersect(mut self, wanted: &Intersection<'_>, watch: &mut dyn Watch) -> Result<Intersected> {
        CARD.has(self.me, self.parties())?;
        self.has_no(&[Part::Protocol, Part::Shares, Part::Store], "an intersection, whose terms say how it runs,")?;
        let mine = wanted.check(self.me)?;
        let theirs = Offer::name(self.me.other());
        let options = self.options(&CARD)?;
        let mut greeting = self.greeting(&CARD, None, "intersection")?;
        greeting.recipients = wanted.to.to_string();
        let [method, adversary, _, protocol] = wanted.terms.fields().map(|(name, value)| (name, Some(value)));
        greeting.more = vec![method, adversary, protocol, ("keys", Some(short(wanted.encoding, SHOWN)))];
        greeting.more.push(("hashed-keys", wanted.hashed.map(|hashed| short(hashed, SHOWN_HASHED))));
        for party in [PartyId(0), PartyId(1)] {
            let offer = (party == self.me).then(|| mine.to_string());
            greeting.more.push((Offer::name(party), offer));
        }
        // Not of the service, but of what runs.
        let card = Card { parties: 2..=2, adversary: wanted.terms.adversary, ..CARD };
        let met = self.meet(&card, watch)?;
        watch.connected(&met.address);
        let mut clock = Clock::start(watch);
        clock.phase_begins("hello");
        let mut rng = SystemRng;
        let Begun { mut mesh, counters, here, agreed, .. } = met.greet(&self, greeting, options, clock.watch())?;
        for (_, counter) in counters.iter() {
            clock.watch().traffic(counter);
        }
        let offer = agreed.iter().find(|(name, _)| *name == theirs).and_then(|(_, offer)| offer.as_deref());
        let offer = Offer::read(offer, wanted.sets.len());
        let mut me = Party { net: &mut mesh, here, rng: &mut rng, observer: &mut clock };
        let done = offer.and_then(|offer| wanted.run(&mut me, &mine, &offer).map(|runs| (runs, offer)));
        let ((runs, header), offer) = done.map_err(|error| whose(error, &mesh))?;
        let times = clock.stop();
        let payload = (!offer.widths.is_empty()).then_some((header, offer.widths));
        let (seconds, phases) = (times.seconds, times.phases);
        Ok(Intersected { runs, payload, seconds, phases, traffic: sum(&counters), peak_rss: peak_rss() })
    }
}

impl Intersection<'_> {
    /// Checks the intersection, and returns this party's offer.
    fn check(&self, me: PartyId) -> Result<Offer> {
        let wrong = |what: &str| Err(Error::invalid_input(what));
        if self.sets.is_empty() {
            return wrong("an intersection needs at least one set");
        }
        if ![PartyId(0), PartyId(1)].iter().any(|party| self.to.includes(*party)) {
            return wrong("party 0, party 1 or both learn the common items");
        }
        // What every run would refuse when the other party is there already.
        for set in self.sets {
            let (items, told) = (set.items.len(), set.told());
            if (1..items).contains(&set.pad_to) {
                return Err(Error::invalid_input(format!("{items} keys cannot be padded to {}", set.pad_to)));
            }
            if told > MAX_ITEMS {
                return Err(Error::invalid_input(format!("{told} keys are too many: {MAX_ITEMS} is the most")));
            }
        }
        let Some(payload) = self.payload else {
            self.terms.check()?;
            return Ok(Offer::default());
        };
        if !self.to.includes(me.other()) {
            return wrong(
                "payload goes to the party that learns the common items, and the peer does not learn them: leave the \
                    payload out",
            );
        }
        if payload.widths.len() != self.sets.len() || payload.header.len() > LONGEST || payload.widths.contains(&0) {
            return wrong("a payload has a width above 0 for each set, and a header of 64 KiB at most");
        }
        payload.widths.iter().try_for_each(|&payload| Terms { payload, ..self.terms }.check())?;
        Ok(Offer { widths: payload.widths.to_vec(), header: payload.header.len() })
    }

    /// The runs, and the header of the other party's payload.
    fn run(&self, me: &mut Party<'_, '_>, mine: &Offer, theirs: &Offer) -> Result<(Vec<Learnt>, Vec<u8>)> {
        let mut header = vec![0; theirs.header];
        let ours = self.payload.map_or(&[][..], |payload| payload.header);
        me.net.pair()?.1.exchange(ours, &mut header)?;
        let mut all = Vec::with_capacity(self.sets.len());
        for (at, set) in self.sets.iter().enumerate() {
            let mut learnt = Learnt { theirs: 0, matches: None, left_out: 0 };
            for receiver in [PartyId(0), PartyId(1)] {
                if !self.to.includes(receiver) {
                    continue;
                }
                let receives = receiver == me.me();
                let offer = if receives { theirs } else { mine };
                let terms = Terms { payload: offer.widths.get(at).copied().unwrap_or(0), ..self.terms };
                let mut run = me.sub(&format!("key {at} to party {receiver}"));
                let left_out = if receives {
                    let matches = receive(&mut run, &terms, &Set { payload: &[], ..*set })?;
                    learnt.theirs = matches.theirs;
                    let left_out = matches.left_out;
                    learnt.matches = Some(matches);
                    left_out
                } else {
                    let sent = send(&mut run, &terms, set)?;
                    learnt.theirs = sent.theirs;
                    sent.left_out
                };
                learnt.left_out = learnt.left_out.max(left_out);
            }
            all.push(learnt);
        }
        Ok((all, header))
    }
}

/// A party's words on its payload in the hello: the bytes beside an item for each set, and those of the
/// header.
#[derive(Debug, Default, PartialEq, Eq)]
struct Offer {
    /// The bytes beside an item, for each set; empty if there is no payload.
    widths: Vec<usize>,
    header: usize,
}

impl Offer {
    /// The field of the hello for this party's.
    fn name(party: PartyId) -> &'static str {
        if party.0 == 0 { "payload-of-0" } else { "payload-of-1" }
    }

    /// The offer that a peer makes for `sets` sets.
    fn read(text: Option<&str>, sets: usize) -> Result<Offer> {
        let wrong = || Error::malformed("the peer's payload header does not decode");
        let text = text.ok_or_else(wrong)?;
        if text == "none" {
            return Ok(Offer::default());
        }
        let (widths, header) = text.split_once('/').ok_or_else(wrong)?;
        let widths = widths.split('.').map(str::parse).collect::<Result<Vec<usize>, _>>().map_err(|_| wrong())?;
        let header = header.parse().map_err(|_| wrong())?;
        if widths.len() != sets || widths.contains(&0) || header > LONGEST {
            return Err(wrong());
        }
        Ok(Offer { widths, header })
    }
}

impl std::fmt::Display for Offer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.widths.is_empty() {
            return f.write_str("none");
        }
        let widths: Vec<String> = self.widths.iter().map(usize::to_string).collect();
        write!(f, "{}/{}", widths.join("."), self.header)
    }
}

/// Words for a hello, cut to `most` bytes; where they are longer, a digest takes the place of the rest.
fn short(words: &str, most: usize) -> String {
    if words.len() <= most {
        return words.to_owned();
    }
    let session = comity_core::SessionId::derive("keys of an intersection", &[words.as_bytes()]);
    let digest: String = session.to_bytes()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}...{digest}", &words[..words.floor_char_boundary(most - 20)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_is_read_as_it_is_written() {
        for offer in
            [Offer::default(), Offer { widths: vec![3, 70], header: 0 }, Offer { widths: vec![1, 1], header: LONGEST }]
        {
            assert_eq!(Offer::read(Some(&offer.to_string()), 2).unwrap(), offer);
        }
        for bad in [
            None,
            Some(""),
            Some("3/4"),
            Some("3.0/4"),
            Some("3.4/65537"),
            Some("3.-4/1"),
            Some("3.4.5/1"),
            Some("3.4"),
        ] {
            assert!(Offer::read(bad, 2).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn long_words_differ_where_their_ends_do() {
        let long = "lower+trim,".repeat(20);
        for most in [SHOWN, SHOWN_HASHED] {
            assert!(short(&long, most).len() <= most && short(&long, most) != short(&format!("{long}x"), most));
            assert_eq!(short("lower", most), "lower");
        }
    }
}

//! `Options`: what was set for a run, against what the card says can be.

use std::fmt;

use comity_core::{Error, PartyId, Result, Transcript};

use crate::card::{Card, Default, Opt, Values};

/// The options of a protocol as they are set at one party.
#[derive(Clone, Debug)]
pub struct Options {
    card: &'static Card,
    /// For each option of the card, its value as it was set or agreed on.
    values: Vec<Option<OptionValue>>,
}

/// The value that an option is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// Whether a switch is on.
    Switch(bool),
    /// A word, of those that the option can be.
    Word(&'static str),
    /// A number.
    Number(u64),
    /// The party whose part is the first of the two.
    First(PartyId),
    /// A place or a key, as it was written; or a text in the one form in which it is read.
    Text(String),
    /// The text of a file. Shown, it is the text's digest.
    File(String),
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionValue::Switch(on) => f.write_str(if *on { "yes" } else { "no" }),
            OptionValue::Word(word) => f.write_str(word),
            OptionValue::Number(number) => number.fmt(f),
            OptionValue::First(party) => write!(f, "party {party}"),
            OptionValue::Text(text) => f.write_str(text),
            OptionValue::File(text) => write!(f, "file {}", digest(text)),
        }
    }
}

/// The digest of a text, in hexadecimal digits: enough to tell texts apart that parties who follow the protocol have.
fn digest(text: &str) -> String {
    let mut transcript = Transcript::new("comity option file v1");
    transcript.absorb("text", text.as_bytes());
    let mut digest = [0; 8];
    transcript.challenge_bytes("digest", &mut digest);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Options {
    /// Options of which none is set.
    pub fn new(card: &'static Card) -> Options {
        Options { card, values: vec![None; card.options.len()] }
    }

    /// Sets an option, as party `me` says it.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the protocol has no such option, or the option cannot have this
    /// value. The message lists what is possible.
    pub fn set(&mut self, me: PartyId, name: &str, text: &str) -> Result<()> {
        let (at, option) = self.find(name)?;
        let value = option.parse(me, text).ok_or_else(|| {
            let words = option.values.words().join(", ");
            Error::invalid_input(format!("{name} of {} cannot be `{text}`; it is one of: {words}", self.card.name))
        })?;
        self.values[at] = Some(value);
        Ok(())
    }

    /// Sets an option that nobody has set.
    ///
    /// # Panics
    /// If the card has no such option: a defect of the protocol.
    pub fn settle(&mut self, name: &str, value: OptionValue) {
        let at = self.find(name).expect("an option of the card").0;
        self.values[at].get_or_insert(value);
    }

    /// The value that an option is set to; its default if nothing was said.
    ///
    /// # Panics
    /// If the card has no such option, or it follows from the program and was not settled: a defect of the protocol.
    pub fn get(&self, name: &str) -> OptionValue {
        let (at, option) = self.find(name).expect("an option of the card");
        self.values[at].clone().or_else(|| option.given()).expect("it was settled")
    }

    /// Whether a switch is on.
    ///
    /// # Panics
    /// If the option is not a switch: a defect of the protocol.
    pub fn switch(&self, name: &str) -> bool {
        let OptionValue::Switch(on) = self.get(name) else { panic!("{name} is no switch") };
        on
    }

    /// The word that was chosen.
    ///
    /// # Panics
    /// If the option has no words: a defect of the protocol.
    pub fn word(&self, name: &str) -> &'static str {
        let OptionValue::Word(word) = self.get(name) else { panic!("{name} is no word") };
        word
    }

    /// The place, the key or the text that the option is set to; `None` if it is a word, or if nobody set it.
    ///
    /// # Panics
    /// If the card has no such option: a defect of the protocol.
    pub fn text(&self, name: &str) -> Option<&str> {
        match &self.values[self.find(name).expect("an option of the card").0] {
            Some(OptionValue::Text(text) | OptionValue::File(text)) => Some(text),
            _ => None,
        }
    }

    /// The party that has the first of two parts.
    ///
    /// # Panics
    /// If the option does not give parties their parts: a defect of the protocol.
    pub fn first(&self, name: &str) -> PartyId {
        let OptionValue::First(party) = self.get(name) else { panic!("{name} are no parts") };
        party
    }

    /// Whether an option was set, here or by agreement.
    pub fn is_set(&self, name: &str) -> bool {
        self.find(name).is_ok_and(|(at, _)| self.values[at].is_some())
    }

    /// The options that all parties must have alike: a field each. One that follows from the program and was
    /// not said is open: `None`.
    pub fn agreed(&self) -> Vec<(&'static str, Option<String>)> {
        let options = self.card.options.iter().zip(&self.values).filter(|(option, _)| option.agreed);
        options
            .map(|(option, value)| (option.field(), value.clone().or_else(|| option.given()).map(|v| v.to_string())))
            .collect()
    }

    /// The flags by which a person says the options that parties agree on, as far as they are other than by
    /// default. Files are left out: of one that was agreed on nothing but its digest may be here.
    pub fn flags(&self) -> String {
        let options = self.card.options.iter().zip(&self.values).filter(|(option, _)| option.agreed);
        let said = options.filter_map(|(option, value)| {
            let value = value.as_ref().filter(|value| option.given().is_some_and(|given| **value != given))?;
            let is_file = matches!(value, OptionValue::File(_));
            (!is_file).then(|| format!(" --option {}={value}", option.name))
        });
        said.collect()
    }

    /// Takes over what the parties agreed on: the fields of [`Options::agreed`], some of which were open here.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if a value does not belong to its option.
    pub fn adopt(&mut self, fields: &[(&'static str, Option<String>)]) -> Result<()> {
        for (option, value) in self.card.options.iter().zip(&mut self.values).filter(|(option, _)| option.agreed) {
            let field = fields.iter().find(|(name, _)| *name == option.field());
            if let (Some((name, Some(text))), None) = (field, &value) {
                let read = option.read(text);
                *value = Some(read.ok_or_else(|| Error::malformed(format!("the peer's {name} is `{text}`")))?);
            }
        }
        Ok(())
    }

    /// All options and what they are set to, in the card's order.
    pub fn all(&self) -> impl Iterator<Item = (&'static Opt, Option<OptionValue>)> {
        let options = self.card.options.iter().zip(&self.values);
        options.map(|(option, value)| (option, value.clone().or_else(|| option.given())))
    }

    /// The options among `of` that are equal at all parties, as one text. It tells apart material that was
    /// made under other options.
    pub fn canonical(&self, of: &[&str]) -> String {
        let wanted =
            |name: &str| self.card.options.iter().any(|option| option.field() == name && of.contains(&option.name));
        let fields = self.agreed();
        let words = fields.iter().filter(|(name, _)| wanted(name)).map(|(name, value)| {
            // Spaces stand between words.
            format!("{name}={}", value.as_deref().unwrap_or("open").replace(' ', "_"))
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// Whether material that was made under the options of this [canonical](Options::canonical) text fits:
    /// each option that both have, and neither left open, has the same value. Several protocols may share a
    /// material, and each may have options of its own.
    pub fn made_under(&self, text: &str) -> bool {
        let made = fields(text);
        self.agreed().iter().all(|(name, ours)| {
            let theirs = made.iter().find(|(field, _)| field == name).map(|(_, value)| value);
            ours.as_ref().zip(theirs).is_none_or(|(ours, theirs)| ours == theirs)
        })
    }

    /// Takes over the options under which something was made; words before them that are not options are
    /// skipped.
    ///
    /// # Errors
    /// As [`Options::adopt`].
    pub fn take_over(&mut self, text: &str) -> Result<()> {
        let made = fields(text);
        let known: Vec<_> = self.agreed().into_iter().map(|(name, _)| name).collect();
        let value = |name: &str| made.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone());
        self.adopt(&known.into_iter().map(|name| (name, value(name))).collect::<Vec<_>>())
    }

    fn find(&self, name: &str) -> Result<(usize, &'static Opt)> {
        let found = self.card.options.iter().enumerate().find(|(_, option)| option.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = self.card.options.iter().map(|option| option.name).collect();
            let there =
                if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
            Error::invalid_input(format!("{} has no option `{name}`; {there}", self.card.name))
        })
    }
}

/// The fields of a canonical text that were not left open.
fn fields(text: &str) -> Vec<(String, String)> {
    let words = text.split(' ').filter_map(|word| word.split_once('=')).filter(|(_, value)| *value != "open");
    words.map(|(name, value)| (name.to_owned(), value.replace('_', " "))).collect()
}

impl Opt {
    /// The name of the option's field in a hello. That of a choice between two parts is the first part's
    /// name: the field's value is the party that takes it.
    pub fn field(&self) -> &'static str {
        match self.values {
            Values::Part([first, _]) => first,
            _ => self.name,
        }
    }

    /// The value that is given if nobody says.
    fn given(&self) -> Option<OptionValue> {
        match self.default {
            Default::Given(text) => self.read(text),
            Default::FromProgram | Default::Wanted(_) => None,
        }
    }

    /// The value of a text that party `me` says.
    fn parse(&self, me: PartyId, text: &str) -> Option<OptionValue> {
        match &self.values {
            Values::Part(words) => {
                let part = words.iter().position(|word| *word == text)?;
                Some(OptionValue::First(if part == 0 { me } else { PartyId(u16::from(me.0 == 0)) }))
            }
            _ => self.read(text),
        }
    }

    /// The value of a text that stands in a field.
    fn read(&self, text: &str) -> Option<OptionValue> {
        match &self.values {
            Values::Switch => match text {
                "yes" | "true" => Some(OptionValue::Switch(true)),
                "no" | "false" => Some(OptionValue::Switch(false)),
                _ => None,
            },
            Values::OneOf(words) => words.iter().find(|word| **word == text).map(|word| OptionValue::Word(word)),
            Values::Number(range) => text.parse().ok().filter(|number| range.contains(number)).map(OptionValue::Number),
            Values::Part(_) => {
                let party: u16 = text.strip_prefix("party ")?.parse().ok()?;
                (party < 2).then_some(OptionValue::First(PartyId(party)))
            }
            Values::Place(word) | Values::Key(word) if text == *word => Some(OptionValue::Word(word)),
            Values::Place(_) => text.contains(['/', ':']).then(|| OptionValue::Text(text.to_owned())),
            // A reader that knows keys reads it.
            Values::Key(_) => {
                let known = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == ':';
                (text.len() >= 52 && text.chars().all(known)).then(|| OptionValue::Text(text.to_owned()))
            }
            Values::Text { read, .. } => read(text).map(OptionValue::Text),
            Values::File(words) => match words.iter().find(|word| **word == text) {
                Some(word) => Some(OptionValue::Word(word)),
                // A name is no text, which has lines: whoever has a file reads it first.
                None => text.contains('\n').then(|| OptionValue::File(text.to_owned())),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::{Adversary, CardKind, Corrupt, Takes};

    const DEALER: Opt = Opt {
        name: "dealer",
        values: Values::OneOf(&["fast", "slow"]),
        default: Default::Given("fast"),
        agreed: true,
        about: "",
    };

    const fn card(options: &'static [Opt]) -> Card {
        Card {
            name: "test",
            kind: CardKind::Protocol,
            paper: "",
            parties: 2..=2,
            adversary: Adversary::Malicious,
            corrupt: Corrupt::AllButOne,
            takes: Takes::Any,
            reactive: false,
            goal: comity_circuit::Goal::Size,
            offline: &[],
            options,
            phases: &[],
            summary: "",
            protects: "",
            risk: "",
            about: "",
        }
    }

    static ONE: Card = card(&[DEALER]);
    static OTHER: Card = card(&[
        Opt {
            name: "role",
            values: Values::Part(&["garbler", "evaluator"]),
            default: Default::FromProgram,
            agreed: true,
            about: "",
        },
        DEALER,
    ]);

    #[test]
    fn texts_have_one_form_and_files_a_digest() {
        static CARD: Card = card(&[
            Opt {
                name: "net",
                values: Values::Text { what: "a number", read: |text| text.parse::<u8>().ok().map(|n| n.to_string()) },
                default: Default::Given("07"),
                agreed: true,
                about: "",
            },
            Opt {
                name: "plan",
                values: Values::File(&["auto"]),
                default: Default::Given("auto"),
                agreed: true,
                about: "",
            },
        ]);
        let mut options = Options::new(&CARD);
        let agreed =
            |options: &Options| options.agreed().into_iter().map(|(_, value)| value.unwrap()).collect::<Vec<_>>();
        assert_eq!(agreed(&options), ["7", "auto"]);
        options.set(PartyId(0), "net", "012").unwrap();
        options.set(PartyId(0), "plan", "1 yao\n").unwrap();
        assert_eq!((options.text("net"), options.text("plan")), (Some("12"), Some("1 yao\n")));
        let one = agreed(&options);
        assert!(one[0] == "12" && one[1].starts_with("file ") && one[1].len() == 21 && !one[1].contains("yao"));
        options.set(PartyId(0), "plan", "1 boolean\n").unwrap();
        assert_ne!(agreed(&options), one);
        let mut refused = |name, value| options.set(PartyId(0), name, value).unwrap_err().to_string();
        assert!(refused("net", "x").contains("it is one of: a number"));
        assert!(refused("plan", "plan.txt").contains("`plan.txt`; it is one of: auto, FILE"));
    }

    #[test]
    fn what_another_protocol_made_fits_unless_an_option_of_both_differs() {
        let (one, mut other) = (Options::new(&ONE), Options::new(&OTHER));
        let all = ["role", "dealer"];
        assert_eq!(one.canonical(&all), "dealer=fast");
        assert_eq!(other.canonical(&all), "garbler=open dealer=fast");
        assert_eq!([other.canonical(&all[..1]), other.canonical(&[])], ["garbler=open", ""]);
        for text in ["dealer=fast", "garbler=open dealer=fast", "garbler=party_1 dealer=fast"] {
            assert!(one.made_under(text) && other.made_under(text), "{text}");
            assert!(!other.made_under(&text.replace("fast", "slow")) && !one.made_under(&text.replace("fast", "slow")));
        }
        other.set(PartyId(0), "role", "garbler").unwrap();
        assert!(other.made_under("garbler=open dealer=fast") && other.made_under("dealer=fast"));
        assert!(other.made_under("garbler=party_0 dealer=fast") && !other.made_under("garbler=party_1 dealer=fast"));
        let mut open = Options::new(&OTHER);
        open.take_over("garbler=open dealer=slow").unwrap();
        assert!(!open.is_set("role") && open.word("dealer") == "slow");
        open.take_over("garbler=party_1 dealer=slow").unwrap();
        assert_eq!(open.first("role"), PartyId(1));
    }
}

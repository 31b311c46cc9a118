//! The forms that the options of a run choose: [`Chosen`].

use std::sync::{Arc, Mutex, PoisonError};

use comity_channel::NetProfile;
use comity_circuit::Program;
use comity_core::{Result, Transcript};
use comity_protocol::{Default, Opt, OptionValue, Options, Outline, Talk, Values};
use comity_share::triples::OtKind;

use crate::costs;
use crate::form::{Assignment, Form};
use crate::graph::FormGraph;
use crate::planner::{self, Wanted};
use crate::plans::{Made, Plans};
use crate::prices::Conversions;
use crate::protocol::extension;

/// The option that says which form operations have.
pub(crate) const SHARING: Opt = Opt {
    name: "sharing",
    values: Values::File(&["auto", "yao", "boolean", "arithmetic"]),
    default: Default::Given("auto"),
    agreed: true,
    about: "The form of operations: auto (each in that with which a run is soonest on --net), yao (garbled circuits), boolean (shared bits), \
            arithmetic (words where possible, else garbled circuits), or a file with lines LINE [OPERATION] FORM and gates FORM",
};

/// The option that says for which network forms are chosen.
pub(crate) const NET: Opt = Opt {
    name: "net",
    values: Values::Text { what: "lan, wan, or a round trip and a bandwidth such as 20ms,100mbit", read: network },
    default: Default::Given("lan"),
    agreed: true,
    about: "The network for which --sharing auto chooses",
};

fn network(text: &str) -> Option<String> {
    text.parse::<NetProfile>().ok().map(|net| net.to_string())
}

/// What was chosen for a program.
pub(crate) struct Chosen {
    pub(crate) graph: FormGraph,
    pub(crate) forms: Vec<Form>,
    pub(crate) assignment: Assignment,
    /// What the assignment makes of each call.
    pub(crate) plans: Plans,
    conversions: Conversions,
}

/// What a choice depends on: the digest of the program, and the options.
type Key = ([u8; 32], OptionValue, OptionValue, OtKind);

/// The last choice. A run asks three times, before it calls anybody, for the hello, and for itself, and the answer
/// depends on nothing else.
static LAST: Mutex<Option<(Key, Arc<Chosen>)>> = Mutex::new(None);

/// The forms of a program's operations and regions by these options.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) names the line of a file that does not fit the program.
pub(crate) fn chosen(program: &Program, options: &Options) -> Result<Arc<Chosen>> {
    let kind = extension(options);
    let key: Key = (program.digest(), options.get(SHARING.name), options.get(NET.name), kind);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, chosen)) = last.as_ref().filter(|(of, _)| *of == key) {
        return Ok(chosen.clone());
    }
    let wanted = match &key.1 {
        OptionValue::File(text) => Wanted::File(text),
        OptionValue::Word(word) => Form::named(word).map_or(Wanted::Auto, Wanted::Pure),
        _ => Wanted::Auto,
    };
    let net = match &key.2 {
        OptionValue::Text(text) => text.parse()?,
        _ => NetProfile::LAN,
    };
    let graph = planner::graph(program, kind);
    let words = graph.values.iter().filter(|value| graph.forms(value.from).any(|form| form == Form::Arithmetic));
    let conversions = Conversions::new(words.map(|value| value.bits), kind);
    // Of the assignments to choose from with these forms, the soonest, and how soon it is.
    let mut made = Made::default();
    let mut soonest = |forms: &[Form]| {
        let all = planner::assignments(program, &graph, forms, &conversions, &net);
        let timed = all.into_iter().map(|assignment| {
            let (plans, mut talk) = (Plans::with(program, &assignment, &mut made), Talk::new(2));
            costs::run(program, &plans, kind.into(), &mut talk);
            (seconds(&talk, &net), assignment, plans)
        });
        timed.min_by(|(one, ..), (other, ..)| one.total_cmp(other)).expect("there is one")
    };
    let forms = planner::forms(program, &graph, wanted, &conversions, &net, &mut |forms| soonest(forms).0)?;
    let (_, assignment, plans) = soonest(&forms);
    let chosen = Arc::new(Chosen { graph, forms, assignment, plans, conversions });
    *last = Some((key, chosen.clone()));
    Ok(chosen)
}

fn digest(assignment: &Assignment) -> String {
    let mut transcript = Transcript::new("comity mixed plan v1");
    let bytes = |forms: &[Form]| forms.iter().map(|form| *form as u8).collect::<Vec<u8>>();
    for circuit in &assignment.circuits {
        transcript.absorb("notes", &bytes(&circuit.notes));
        transcript.absorb("gates", &bytes(&[circuit.gates]));
        transcript.absorb("adders", &bytes(&[circuit.adders]));
    }
    transcript.absorb("regions", &bytes(&assignment.regions));
    let mut digest = [0; 8];
    transcript.challenge_bytes("digest", &mut digest);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The seconds that a run takes: its messages, and the longer of the times for its bytes and for its work.
fn seconds(talk: &Talk, net: &NetProfile) -> f64 {
    let bytes = [0, 1].map(|party| talk.sent(comity_core::PartyId(party))).into_iter().max().unwrap_or(0);
    let transfer = bytes as f64 * 8.0 / net.bits_per_second as f64;
    talk.delays() as f64 * net.round_trip.as_secs_f64() / 2.0 + transfer.max(talk.seconds())
}

impl Chosen {
    /// The digest of the forms, in hexadecimal digits.
    pub(crate) fn digest(&self) -> String {
        digest(&self.assignment)
    }

    /// The choice for people.
    pub(crate) fn outline(&self, program: &Program) -> Outline {
        planner::outline(program, &self.graph, (&self.forms, &self.assignment), &self.conversions)
    }
}

#[cfg(test)]
mod tests;

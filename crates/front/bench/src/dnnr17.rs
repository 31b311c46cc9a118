//! Section 2.5 of PRACTICE deliverable D13.3 (2016), TinyTable: AES by tables that were made ahead, beside
//! GMW and TinyOT on triples that were made ahead, in one run.
//!
//! Two parties over TCP on this machine, one thread each. The section has four figures: a latency of about 1
//! ms and about 0.5 µs a block "on a fast cloud set-up" with cores that it does not name, about 10 rounds,
//! and at least half of the communication saved. Its tables are of S-boxes, as are those of `sbox` here,
//! which stands beside GMW's look-ups of the same S-boxes; the others are of AND gates.

use std::time::Instant;

use comity_channel::{Channel, Counter, Mesh, Result, Traffic};
use comity_circuit::{Goal, Observer, Program};
use comity_core::{Bits, PartyId};
use comity_net::SystemRng;
use comity_protocol::{Job, Options, Party, Protocol};
use comity_terminal::console::note;
use comity_terminal::failure::Outcome;
use comity_terminal::numbers::scaled;
use comity_tinytable::boxes::{Boxed, Boxing};
use comity_tinytable::{TinyTable, TinyTableSemiHonest, authenticated, kept::Kept, semi_honest};

use crate::gmw::Ready;
use crate::nnob12::Ahead;
use crate::suite::{Bench, Suite};
use crate::text::{Table, time};
use crate::two::{Wire, here, inputs, play, repeat, session};

/// The group, whose name all its measurements' names begin with.
pub(super) const DNNR17: Bench = Bench {
    name: "dnnr17",
    about: "D13.3, section 2.5: AES by tables made ahead (TinyTable), beside gmw and tinyot on triples made ahead",
    ceiling: Some("machine.loopback"),
    run,
};

/// The statistical security of everything here.
const RHO: u32 = 40;

/// A protocol on material that was made ahead.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    SemiHonest,
    Gmw,
    Boxes,
    GmwBoxes,
    Malicious,
    TinyOt,
}

impl Form {
    const ALL: [Form; 6] = [Form::SemiHonest, Form::Gmw, Form::Boxes, Form::GmwBoxes, Form::Malicious, Form::TinyOt];

    fn name(self) -> &'static str {
        match self {
            Form::SemiHonest => "passive",
            Form::Gmw => "gmw",
            Form::Boxes => "sbox",
            Form::GmwBoxes => "gmw-sbox",
            Form::Malicious => "malicious",
            Form::TinyOt => "tinyot",
        }
    }

    /// The blocks of its long run.
    fn blocks(self) -> u64 {
        match self {
            Form::SemiHonest | Form::Gmw | Form::Boxes | Form::GmwBoxes => 1000,
            Form::Malicious | Form::TinyOt => 100,
        }
    }

    /// AES of `blocks` blocks under one key, in the form that takes less time.
    fn aes(self, blocks: u64) -> Program {
        let goal = match self {
            Form::Boxes | Form::GmwBoxes => return comity_library::aes::table_program(Goal::Depth, blocks),
            Form::SemiHonest | Form::Gmw => Goal::Depth,
            // One block waits for its rounds, and many for their gates.
            Form::Malicious | Form::TinyOt if blocks == 1 => Goal::Depth,
            Form::Malicious | Form::TinyOt => Goal::Size,
        };
        let aes = comity_library::circuit_for("aes128", goal).expect("the library has what is measured");
        Program::map(aes, blocks, &[0]).expect("a valid program")
    }
}

/// The cost of a run from the inputs to the last output.
struct Online {
    seconds: f64,
    /// Bytes of the party, or both ways.
    bytes: u64,
    /// Rounds of the party, or of the one that had more.
    rounds: u64,
}

/// An observer that notes when the inputs begin, and the bytes sent by then.
struct Begun {
    counter: Counter,
    at: Option<(Instant, Traffic)>,
}

impl Observer for Begun {
    fn output(&mut self, _: usize, _: Bits) {}

    fn phase(&mut self, name: &'static str) {
        if name == "inputs" {
            self.at.get_or_insert_with(|| (Instant::now(), self.counter.counts()));
        }
    }
}

/// A party's run: what is made ahead is there before its inputs begin.
fn party(form: Form, program: &Program, ch: &mut Wire, me: u16, at: comity_core::SessionId) -> Result<Online> {
    let (here, inputs) = (here(me, at, RHO), inputs(program, me));
    let card = if form == Form::Malicious { TinyTable.card() } else { TinyTableSemiHonest.card() };
    let options = Options::new(card);
    let job = Job { program, inputs: &inputs, options: &options };
    let (ands, mut begun) = (program.and_gates(), Begun { counter: ch.counter(), at: None });
    let counter = ch.counter();
    match form {
        Form::TinyOt => {
            let ahead = Ahead::new(ch, here.child("dealer"), ands as usize)?;
            comity_tinyot::run_with(ch, here, Box::new(ahead), &job, &mut begun)?;
        }
        Form::Malicious => {
            let ahead = Ahead::new(ch, here.child("dealer"), ands as usize)?;
            let mut net = Mesh::of_two(PartyId(me), &mut *ch as &mut dyn Channel);
            let (mut kept, mut rng) = (Kept::default(), SystemRng);
            let mut party = Party { net: &mut net, here, rng: &mut rng, observer: &mut () };
            authenticated::prepare_with(&mut party, program, Box::new(ahead), &mut kept)?;
            let mut party = Party { net: &mut net, here, rng: &mut rng, observer: &mut begun };
            authenticated::run_on(&mut party, &job, Box::new(kept))?;
        }
        Form::SemiHonest | Form::Gmw | Form::Boxes | Form::GmwBoxes => {
            // GMW makes its unit vectors of these triples, too.
            let boxed = Boxed::new(program, Boxing::Auto);
            let triples = Box::new(Ready::new(me, boxed.triples()));
            let mut net = Mesh::of_two(PartyId(me), &mut *ch as &mut dyn Channel);
            let (mut kept, mut rng) = (Kept::default(), SystemRng);
            if matches!(form, Form::Gmw | Form::GmwBoxes) {
                let mut party = Party { net: &mut net, here, rng: &mut rng, observer: &mut begun };
                comity_gmw::run_with(&mut party, Some(triples), &job)?;
            } else {
                let mut party = Party { net: &mut net, here, rng: &mut rng, observer: &mut () };
                semi_honest::prepare_with(&mut party, &boxed, Some(triples), &mut kept)?;
                let mut party = Party { net: &mut net, here, rng: &mut rng, observer: &mut begun };
                semi_honest::run_on(&mut party, &job, Box::new(kept))?;
            }
        }
    }
    let (start, before) = begun.at.expect("a program has inputs");
    let after = counter.counts();
    let (bytes, rounds) = (after.sent - before.sent, after.rounds - before.rounds);
    Ok(Online { seconds: start.elapsed().as_secs_f64(), bytes, rounds })
}

fn online(form: Form, program: &Program) -> Outcome<Online> {
    let session = session();
    let (_, one, two) =
        play(None, |ch| party(form, program, ch, 0, session), |ch| party(form, program, ch, 1, session))?;
    let (seconds, rounds) = (one.seconds.max(two.seconds), one.rounds.max(two.rounds));
    Ok(Online { seconds, bytes: one.bytes + two.bytes, rounds })
}

fn run(suite: &mut Suite) -> Outcome {
    let mut table =
        Table::new(["", "blocks", "a block alone", "a block of many", "ANDs/s", "bytes an AND", "rounds of one"]);
    let mut print = false;
    for form in Form::ALL {
        let name = format!("dnnr17.{}", form.name());
        if !suite.wants(&name) && !suite.named(&name) {
            continue;
        }
        let blocks = form.blocks();
        note(&format!("{name}: one block of AES, and {blocks}"));
        let [one, many] = [1, blocks].map(|blocks| form.aes(blocks));
        for program in [&one, &many] {
            for circuit in program.lowered() {
                circuit.layered();
            }
        }
        let alone = repeat(|| online(form, &one))?;
        let together = repeat(|| online(form, &many))?;
        // The ANDs of S-boxes are those of their gates.
        let ands = many.and_gates() as f64;
        suite.record(&format!("{name}.latency"), "s", None, alone.iter().map(|run| run.seconds).collect());
        suite.record(&format!("{name}.rate"), "and/s", None, together.iter().map(|run| ands / run.seconds).collect());
        let each = together.iter().map(|run| run.seconds / blocks as f64).collect();
        suite.record(&format!("{name}.block"), "s", None, each);
        suite.record(&format!("{name}.bytes"), "bytes/and", None, vec![together[0].bytes as f64 / ands]);
        suite.record(&format!("{name}.rounds"), "rounds", None, vec![alone[0].rounds as f64]);
        let of = |part: &str| suite.value(&format!("{name}.{part}")).unwrap_or_default();
        table.row([
            form.name().to_owned(),
            blocks.to_string(),
            time(Some(of("latency"))),
            time(Some(of("block"))),
            scaled(of("rate")),
            format!("{:.3}", of("bytes")),
            format!("{}", of("rounds")),
        ]);
        print = true;
    }
    if print {
        table.row([
            "D13.3, S-boxes as tables, a fast cloud".to_owned(),
            "-".to_owned(),
            "about 1 ms".to_owned(),
            "about 0.5 µs".to_owned(),
            "-".to_owned(),
            "half or less".to_owned(),
            "about 10".to_owned(),
        ]);
        let heading = format!(
            "D13.3, section 2.5: AES-128 from the inputs to the last output, on what was made ahead, rho = {RHO}. Each form of TinyTable \
             stands above what it is held against, on the same circuits"
        );
        table.print(suite, &heading);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_sends_half_of_what_it_is_held_against() {
        let of = |form: Form| {
            let program = form.aes(1);
            let run = online(form, &program).unwrap();
            let rounds = if matches!(form, Form::Boxes | Form::GmwBoxes) { 10..15 } else { 31..200 };
            assert!(run.seconds > 0.0 && rounds.contains(&run.rounds), "{}: {} rounds", form.name(), run.rounds);
            run.bytes as f64 / program.and_gates() as f64
        };
        let [tables, gmw, boxes, gmw_boxes, authenticated, tinyot] = Form::ALL.map(of);
        // Beside the gates there are masked inputs and the outputs, with digests.
        assert!((0.25..0.3).contains(&tables) && (0.5..0.55).contains(&gmw), "{tables}, {gmw}");
        // A byte each way for an S-box of 34 gates.
        assert!((0.05..0.07).contains(&boxes) && boxes <= gmw_boxes, "{boxes}, {gmw_boxes}");
        assert!((0.25..0.3).contains(&authenticated) && (0.5..0.6).contains(&tinyot), "{authenticated}, {tinyot}");
    }
}

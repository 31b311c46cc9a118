//! `comity repl`: a session of two people who type the same statements.
//!
//! Results go to standard output, prompts and notes to standard error, so that a file of statements works as
//! well as a person.

mod evaluate;
mod typed;

use std::io::IsTerminal;

use clap::Args;
use comity_circuit::{Recipients, Type};
use comity_core::Bits;
use comity_format::value;
use comity_language::statement::{Statement, parse_among};
use comity_terminal::console::{emit, note};
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::json::to_line;
use comity_terminal::numbers::bytes;
use serde_json::json;

use crate::args::{NetworkArgs, SessionArgs};
use crate::interrupt;
use crate::parties::{self, Names, names};
use crate::session::{self, Ours};
use crate::watcher::Watcher;
use evaluate::{Done, Evaluator, read};
use typed::Typed;

/// The help: what an interactive session is.
pub(crate) const ABOUT: &str = "\
Statements, one a line, the same ones at all parties:
  a = input(0, u32)         party 0 is asked for the value; `= 17` behind it,
                            which only party 0 writes, gives it at once
  b = input(1, u32)
  c = a < b                 anything that comity's language can say
  reveal c to all           or to 0, or to (0, 1)
`help` shows the others. Statements can be piped in; an input's value then stands
behind it, or on the next line. Where the parties' statements differ nothing is
done, and all are told. A name of the --group does for a number. What protocols
protect against is said by `comity protocols`.";

/// The text that `help` shows.
const HELP: &str = "\
a = input(0, u32)        a number of party 0, who is asked for it
a = input(0, u32) = 17   the same; only party 0 writes `= 17`, which stays here
c = a < b                anything that comity's language can say on values that are there
d = if c { a } else { b }
r = random(u32)          a number that nobody knows
reveal c to all          all learn it; `to 0`: one party alone; `to (0, 2)`: some
vars                     the values that are there, and their types
quit                     the end (so is the end of input)
All parties type the same statements, in the same order. Types are bool, u1 to u65536, i1 to i65536,
f32, f64, [u8; 4] and (u8, bool).";

#[derive(Args, Debug)]
pub(crate) struct ReplArgs {
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    /// Print one JSON object for each result (an error, too)
    #[arg(long)]
    json: bool,
}

/// The command.
pub(crate) fn run(args: &ReplArgs) -> Outcome {
    interrupt::on();
    let group = args.network.group.as_deref().map(parties::group).transpose()?;
    let names = names(None, group.as_ref())?;
    let party = session::party(&args.network, &names, group.as_ref())?;
    let mut wanted = args.session.clone();
    if wanted.protocol.is_none() {
        let parties = session::parties(&args.network, group.as_ref());
        let card = comity::preferred_reactive(args.session.list.0, parties)?.card();
        wanted.protocol = Some(card.name.to_owned());
    }
    let ours = session::session(None, party, &names, group.as_ref(), &args.network, &wanted);
    let Ours { session, parties, place } = ours.map_err(|failure| names.explain(failure))?;
    let mut watch = Watcher::new(party, parties, &names, &args.session, false, 0);
    let session = session.interactive(&mut watch).map_err(|error| place.failure(error))?;
    let all = if parties == 2 { "both" } else { "all" };
    watch.say(&format!("connected; {all} parties type the same statements (`help` shows them)"));
    let mut input =
        if std::io::stdin().is_terminal() { Typed::person()? } else { Typed::Piped(std::io::stdin().lock()) };
    let person = input.is_person();
    let mut repl = Repl { evaluator: Evaluator::new(session), json: args.json, names, parties, person };
    let refused = repl.lines(&mut input)?;
    if args.session.verbose {
        let counts = repl.evaluator.session().counts();
        let (sent, received) = (bytes(counts.sent), bytes(counts.received));
        watch.say(&format!("{sent} sent, {received} received, {} rounds", counts.rounds));
    }
    // A person has seen it; a script has to be told.
    match refused {
        0 => Ok(()),
        _ if repl.person => Ok(()),
        _ => Err(Failure::input(format!("{refused} of the statements were not run (see above)"))),
    }
}

struct Repl<'a> {
    evaluator: Evaluator<'a>,
    json: bool,
    names: Names,
    parties: u16,
    /// Whether somebody types, and wants to be asked.
    person: bool,
}

impl Repl<'_> {
    /// Runs statements to the end of the input; how many of them were refused.
    fn lines(&mut self, input: &mut Typed) -> Outcome<usize> {
        let mut refused = 0;
        loop {
            let Some(text) = interrupt::while_idle(|| input.line("> "))? else { return Ok(refused) };
            let party = |who: &str| self.names.find(&who.parse().ok()?).ok().map(|party| party.0);
            let parsed = match parse_among(&text, &|who| party(who).filter(|&party| party < self.parties)) {
                Ok(None) => continue,
                Ok(Some(parsed)) => parsed,
                Err(why) => {
                    note(&why);
                    refused += 1;
                    continue;
                }
            };
            input.remember(&parsed.text);
            match parsed.statement {
                Statement::Quit => return Ok(refused),
                Statement::Help => {
                    note(HELP);
                    continue;
                }
                Statement::Vars => {
                    self.vars()?;
                    continue;
                }
                _ => {}
            }
            let ready = match self.evaluator.check(parsed.statement) {
                Ok(ready) => ready,
                Err(why) => {
                    note(&why);
                    refused += 1;
                    continue;
                }
            };
            if self.person {
                let others = if self.parties == 2 { "party" } else { "parties" };
                note(&format!("waiting for the other {others} to say the same ..."));
            }
            let mut ask = |name: &str, ty: &Type| value_of(input, name, ty);
            match self.evaluator.run(ready, &parsed.text, &mut ask)? {
                Done::Named(name, ty) => {
                    if self.person {
                        note(&format!("{name}: {ty}"));
                    }
                }
                Done::Refused(why) => {
                    note(&why);
                    refused += 1;
                }
                Done::Revealed { expression, to, ty, value } => self.show(&expression, to, &ty, value.as_ref())?,
            }
        }
    }

    /// A result.
    fn show(&self, expression: &str, to: Recipients, ty: &Type, value: Option<&Bits>) -> Outcome {
        let Some(value) = value else {
            let others = if self.parties == 2 { "the other party learns" } else { "others learn" };
            note(&format!("{others} `{expression}`"));
            return Ok(());
        };
        if !self.json {
            return emit(&format!("{expression} = {}\n", value::show(ty, value)));
        }
        let to = match to {
            Recipients::All => "all".to_owned(),
            to => to.named().iter().map(|party| party.to_string()).collect::<Vec<_>>().join(","),
        };
        let shown: serde_json::Value = serde_json::from_str(&value::show_json(ty, value)).unwrap_or_default();
        emit(&to_line(&json!({"reveal": expression, "to": to, "type": ty.to_string(), "value": shown})))
    }

    /// The values that are there.
    fn vars(&self) -> Outcome {
        let mut vars = self.evaluator.vars();
        if self.json {
            let vars: serde_json::Map<_, _> = vars.map(|(name, ty)| (name.to_owned(), json!(ty.to_string()))).collect();
            return emit(&to_line(&json!({"vars": vars})));
        }
        vars.try_for_each(|(name, ty)| emit(&format!("{name}: {ty}\n")))
    }
}

/// Asks for an input value until there is one. The other party waits.
fn value_of(input: &mut Typed, name: &str, ty: &Type) -> Outcome<Bits> {
    let prompt = format!("{name} ({}): ", ty.describe());
    loop {
        if !input.is_person() {
            eprint_prompt(&prompt);
        }
        let Some(text) = interrupt::while_idle(|| input.line(&prompt))? else {
            return Err(Failure::input(format!("the value of `{name}` is missing: the input has ended")));
        };
        match read(name, ty, text.trim()) {
            Ok(value) => return Ok(value),
            Err(why) => note(&why),
        }
    }
}

/// A prompt on standard error, for users who pipe lines in. Nothing depends on it.
fn eprint_prompt(text: &str) {
    use std::io::Write;
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

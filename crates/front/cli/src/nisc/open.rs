//! `comity nisc open`: one batch of answers.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use comity_core::{Backend, Error};
use comity_mail::{Name, QueryKey, Verdict};
use comity_nisc::Opened;
use comity_terminal::console::{emit, note};
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::json::to_line;
use serde::Serialize;

use super::args::OpenArgs;
use super::files;
use super::keyfile::KeyFile;
use super::meter::Meter;
use super::program::{hex, of_key};
use super::store::Place;
use crate::backend::backend;
use crate::nisc::unseen::unseen;
use crate::resolve::Resolved;
use crate::values::{self, Order, Outputs};

/// The object that `--json` prints.
#[derive(Serialize)]
struct Report {
    program: String,
    /// The fingerprint of the query.
    query: String,
    epoch: u32,
    /// Minus log2 of the chance that a cheat is among the answers to this query, unseen.
    security: f64,
    /// Whether no other answers are opened until the key is refreshed.
    spent: bool,
    answers: Vec<Answer>,
}

/// The verdict on an answer.
#[derive(Serialize)]
struct Answer {
    file: String,
    /// The name that the sender gives itself, if the answer could be read that far.
    name: Option<String>,
    #[serde(flatten)]
    outcome: Came,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case", untagged)]
enum Came {
    Opened {
        outputs: BTreeMap<usize, String>,
        values: BTreeMap<String, serde_json::Value>,
        /// Whether the sender cheated, and was seen through. For nobody else, and nothing that others see may
        /// depend on it.
        recovered: bool,
    },
    Whole {
        whole: bool,
    },
    Refused {
        error: Refusal,
    },
}

#[derive(Serialize)]
struct Refusal {
    kind: &'static str,
    message: String,
}

/// The command.
pub(super) fn run(args: &OpenArgs) -> Outcome<ExitCode> {
    let (file, mut key) = KeyFile::open(&args.key)?;
    let resolved = of_key(&key, args.program.as_deref())?;
    let order = Order::new(&resolved, &args.bits)?;
    // A slip of the hand must not cost the batch.
    for path in &args.answers {
        files::open(path)
            .map_err(|failure| Failure { message: format!("{} (no answer was opened)", failure.message), ..failure })?;
    }
    let mut work = Work {
        backend: backend()?,
        resolved: &resolved,
        order: &order,
        args,
        answers: Vec::new(),
        code: 0,
        good: false,
    };
    if args.check {
        for path in &args.answers {
            let checked = key.check(&resolved.program, &mut files::open(path)?);
            let (name, outcome) = match checked {
                Ok(name) => (Some(name), Ok(None)),
                Err(error) => (None, Err(error)),
            };
            work.tell(path, name, outcome)?;
        }
        return work.finish(&key);
    }
    let stored = key.secret().copies().is_stored();
    let place = args.store.as_deref().map(Place::new).transpose()?;
    let mut place = match (stored, place) {
        (true, Some(place)) if !args.adaptive => place,
        (true, Some(_)) => {
            return Err(Failure::input(
                "--adaptive: the copies of these answers are stored, and fetching shows which of them are evaluated. \
                    So all answers must be here before the first fetch, which spends the key: open them without \
                    --adaptive",
            ));
        }
        (true, None) => {
            return Err(Failure::input(
                "the copies of these answers are stored: name the folder or the URL with --store (opening them spends \
                    the key)",
            ));
        }
        (false, Some(_)) => {
            return Err(Failure::input(
                "--store: the answers to this query hold their copies themselves; leave --store out",
            ));
        }
        (false, None) => return together(work, &file, &mut key),
    };
    let mut batch = key.batch(work.backend, &resolved.program)?;
    args.answers.iter().for_each(|path| reading(path, |answer| batch.admit(answer)));
    let mut fetching = batch.fetch(|key| file.save(key))?;
    args.answers.iter().for_each(|path| reading(path, |answer| fetching.add(answer, &mut place)));
    for (path, Verdict { name, outcome }) in args.answers.iter().zip(fetching.tell()) {
        work.tell(path, name, outcome.map(Some))?;
    }
    work.finish(&key)
}

/// Opens answers that have their copies in them.
fn together(mut work: Work<'_>, file: &KeyFile, key: &mut QueryKey) -> Outcome<ExitCode> {
    let Work { args, resolved, .. } = work;
    // What is opened together: its verdicts are told when the key is on the disk, and not before.
    let batches = if args.adaptive { args.answers.chunks(1) } else { args.answers.chunks(args.answers.len()) };
    for paths in batches {
        let mut batch = key.batch(work.backend, &resolved.program)?;
        paths.iter().for_each(|path| reading(path, |answer| batch.add(answer)));
        let save = |key: &QueryKey| file.save(key);
        let verdicts = if args.adaptive { batch.settle(save)? } else { batch.close(save)? };
        for (path, Verdict { name, outcome }) in paths.iter().zip(verdicts) {
            work.tell(path, name, outcome.map(Some))?;
        }
    }
    work.finish(key)
}

/// Reads the answer in a file.
fn reading(path: &Path, read: impl FnOnce(&mut dyn Read)) {
    match File::open(path) {
        Ok(file) => {
            let total = file.metadata().map_or(0, |metadata| metadata.len());
            let mut file = Meter::new(file, total);
            read(&mut file);
            file.into_inner();
        }
        // It was there a moment ago.
        Err(error) => read(&mut Unreadable(Some(error))),
    }
}

/// A reader of a file that cannot be read, for this reason.
struct Unreadable(Option<io::Error>);

impl Read for Unreadable {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// The work of opening answers, which tells what came of them.
struct Work<'a> {
    backend: Backend,
    resolved: &'a Resolved,
    order: &'a Order,
    args: &'a OpenArgs,
    /// The verdicts for JSON, in the order of the answers.
    answers: Vec<Answer>,
    /// The greatest exit code of a refusal.
    code: u8,
    good: bool,
}

impl Work<'_> {
    /// Tells of an answer: what was opened, or `None` if it is only known to be whole.
    fn tell(&mut self, path: &Path, name: Option<Name>, outcome: Result<Option<Opened>, Error>) -> Outcome {
        let file = path.display().to_string();
        let title = name.as_ref().map_or(file.clone(), |name| format!("{file} ({name})"));
        let (lines, said, outcome) = match outcome {
            Ok(None) => (format!("{title}: whole\n"), None, Came::Whole { whole: true }),
            Ok(Some(opened)) => {
                let mut outputs = Outputs::default();
                for (index, bits) in opened.outputs.iter().enumerate() {
                    outputs.add(self.resolved, self.order, index, bits, self.args.format);
                }
                let lines = values::lines(self.resolved, &outputs.texts);
                let lines = lines.lines().map(|line| format!("{title}: {line}\n")).collect();
                let cheat = || {
                    format!(
                        "{title}: this sender cheated and was seen through; the output is right all the same. Never tell \
                         anybody: that it shows may depend on your input"
                    )
                };
                let (outputs, values) = (outputs.hex, outputs.values);
                let recovered = opened.recovered;
                (lines, recovered.then(cheat), Came::Opened { outputs, values, recovered })
            }
            Err(error) => {
                let Failure { kind, message, .. } = Failure::from(error);
                self.code = self.code.max(kind.code());
                let said = format!("{title}: {message}");
                (String::new(), Some(said), Came::Refused { error: Refusal { kind: kind.name(), message } })
            }
        };
        self.good |= !matches!(outcome, Came::Refused { .. });
        if self.args.json {
            self.answers.push(Answer { file, name: name.map(|name| name.to_string()), outcome });
            return Ok(());
        }
        if let Some(said) = said {
            note(&said);
        }
        emit(&lines)
    }

    /// Tells the rest.
    fn finish(self, key: &QueryKey) -> Outcome<ExitCode> {
        let opened = key.opened();
        let security = key.secret().copies().security() - (opened.max(1) as f64).log2();
        if opened > key.expected() as usize {
            note(&format!(
                "{opened} answers to this query were opened, and {} were expected when it was published: among them {}",
                key.expected(),
                unseen(security)
            ));
        }
        if self.args.json {
            emit(&to_line(&Report {
                program: self.resolved.text.clone(),
                query: hex(key.fingerprint()),
                epoch: key.secret().epoch(),
                // Hundredths of a bit are more than anybody can mean.
                security: (security * 100.0).round() / 100.0,
                spent: key.spent(),
                answers: self.answers,
            }))?;
        }
        Ok(ExitCode::from(if self.good { 0 } else { self.code }))
    }
}

//! The client of a published table: `comity psi query` and `prepare`.

use std::io::Read;
use std::path::Path;

use comity::psi::Matches;
use comity::psi::base::{BaseFile, BaseUpdate};
use comity::{Adversary, Intersected, Learnt, OprfAsk, OprfDone, Recipients, Session, SystemRng};
use comity_core::PartyId;
use comity_terminal::console::{emit, note};
use comity_terminal::failure::{Ending, Failure, Outcome};
use comity_terminal::json::to_line;
use comity_terminal::numbers::{bytes, duration, grouped};
use rand_core::Rng;
use serde::Serialize;

use super::args::{BaseArgs, MeetArgs, PsiPrepareArgs, QueryArgs};
use super::join::{self, Out};
use super::report::Report;
use super::table::Table;
use super::watch::Watcher;
use crate::backend::backend;
use crate::list::List;
use crate::parties::{self, Names};
use crate::session::within;
use crate::source::regular;
use crate::storage;

/// The name of what runs.
const METHOD: &str = "oprf-aes";

/// This party: the service is party 0.
const CLIENT: PartyId = PartyId(1);

/// A preparation, as `--json` has it.
#[derive(Serialize)]
struct Ahead {
    #[serde(rename = "prepared")]
    queries: u64,
    seconds: f64,
    sent: u64,
    received: u64,
}

/// `comity psi query`.
pub(super) fn query(args: &QueryArgs, list: List) -> Outcome {
    if !args.table.payload.is_empty() {
        return Err(Failure::input("--payload is for the publisher: a query sends no columns"));
    }
    if args.result.json && args.result.out.as_deref() == Some(Path::new("-")) {
        return Err(Failure::new(Ending::Usage, "--json and --out - both want standard output: name a file"));
    }
    if args.result.output_to.is_some() {
        return Err(Failure::input("only the client learns the common rows: leave --output-to out"));
    }
    let path = args.result.out.as_deref().ok_or_else(|| Failure::input("--out FILE says where the common rows go"))?;
    let over = args.protocol.as_deref().map(|name| comity::among(list.0, name)).transpose()?;
    // All that can be wrong on this side is wrong before the other one is bothered.
    let base = read(&args.base)?;
    let out = Out::begin(&args.result, path)?;
    let table = Table::read(&args.table)?;
    out.fits(&table)?;
    let [items] = &table.items[..] else {
        return Err(Failure::input("a base has one key: give one --key"));
    };
    if !table.made_as(&base.terms.encoding) {
        return Err(Failure::input(format!(
            "keys are made by {} here, and by {} in the base: give --key COL:STEPS with the base's steps",
            table.made(),
            base.terms.encoding
        )));
    }
    let mut inputs = base.terms.inputs(&mut SystemRng, items);
    let pad_to = args.pad_to.map_or(0, |count| count.0);
    if pad_to > 0 && pad_to < inputs.len() {
        return Err(Failure::input(format!("{} keys cannot be padded to {pad_to}", inputs.len())));
    }
    // What is asked besides is random, and looked up by nobody.
    inputs.extend(
        (items.len()..pad_to).map(|_| u128::from(SystemRng.next_u64()) << 64 | u128::from(SystemRng.next_u64())),
    );
    let mut session = session(&args.base, &args.meet)?;
    if let Some(dir) = &args.store {
        session = session.store(storage::open(dir, &args.key_of_store)?);
    }
    let names = parties::names(None, None)?;
    let mut watch = Watcher::new(names.title(CLIENT.0), args.meet.link.timeout, args.meet.verbose);
    let ask = OprfAsk { base: &base, over, stale: args.base.stale };
    let done = session.ask_oprf(ask, &inputs, &mut watch).map_err(|error| advised(error.into(), &args.base))?;
    watch.finish();
    let OprfDone { outcome: values, seconds, phases, traffic, peak_rss } = done;
    let matches = base.find(backend()?, &values[..items.len()]);
    let payload = (base.terms.payload > 0).then(|| (base.terms.header.clone(), vec![base.terms.payload]));
    let learnt = Learnt { theirs: base.masks(), matches: None, left_out: 0 };
    let done = Intersected { runs: vec![learnt], payload: None, seconds, phases, traffic, peak_rss };
    let adversary = over.map_or(Adversary::SemiHonest, |over| over.card().adversary);
    let to = Recipients::only(CLIENT);
    let mut report = Report::new((METHOD, adversary), to, CLIENT, &table, pad_to, &done);
    let matches: Vec<Matches> = vec![matches];
    report.common(&matches);
    report.written(&out.write(&table, &join::Learnt { matches, payload })?, &args.result);
    report.show(&names, args.result.json, args.meet.verbose)
}

/// `comity psi prepare`.
pub(super) fn prepare(args: &PsiPrepareArgs) -> Outcome {
    let base = read(&args.base)?;
    let session = session(&args.base, &args.meet)?;
    let (store, made) = storage::open_or_create(&args.store, &args.key_of_store)?;
    let names: Names = parties::names(None, None)?;
    let mut watch = Watcher::new(names.title(CLIENT.0), args.meet.link.timeout, args.meet.verbose);
    let ask = OprfAsk { base: &base, over: None, stale: args.base.stale };
    let done = session.store(store).prepare_oprf(ask, args.count.0 as u64, &mut watch);
    watch.finish();
    let done = done.map_err(|error| {
        made.undo();
        advised(error.into(), &args.base)
    })?;
    let ahead = Ahead {
        queries: done.outcome,
        seconds: done.seconds,
        sent: done.traffic.sent,
        received: done.traffic.received,
    };
    if args.json {
        return emit(&to_line(&ahead));
    }
    if args.meet.verbose {
        done.phases.iter().for_each(|(phase, seconds)| note(&format!("  {phase:<12} {}", duration(*seconds))));
    }
    note(&format!(
        "{} queries prepared in {}, {} received",
        grouped(ahead.queries),
        duration(ahead.seconds),
        bytes(ahead.received)
    ));
    Ok(())
}

/// The base, with its updates.
fn read(args: &BaseArgs) -> Outcome<BaseFile> {
    let of = |path: &Path| -> Outcome<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = regular(path)?.read_to_end(&mut bytes);
        read.map(|_| bytes).map_err(|error| Failure::disk(&path.display().to_string(), &error))
    };
    let wrong = |path: &Path, error: comity::Error| Failure::input(format!("{}: {error}", path.display()));
    let mut base = BaseFile::read(of(&args.base)?).map_err(|error| wrong(&args.base, error))?;
    for path in &args.delta {
        let update = BaseUpdate::read(&base.terms, of(path)?).map_err(|error| wrong(path, error))?;
        base.apply(update).map_err(|error| wrong(path, error))?;
    }
    Ok(base)
}

fn session(base: &BaseArgs, meet: &MeetArgs) -> Outcome<Session<'static>> {
    Ok(within(meet.link.session(CLIENT.0)?, base.deadline).connect(&base.connect))
}

/// The failure, with advice where the service has another base or another state of it.
fn advised(failure: Failure, args: &BaseArgs) -> Failure {
    let failure = failure.with_peer(&args.connect);
    match failure.kind {
        Ending::Mismatch if failure.message.contains("update") => failure.and(
            "The number is that of the last update: get the missing updates (--delta), or ask about the base as it is \
                here (--stale)",
        ),
        Ending::Mismatch if failure.message.contains("base") => {
            failure.and("The service has another base: get its file from the service's owner")
        }
        _ => failure,
    }
}

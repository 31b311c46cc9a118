//! `comity prepare`: the offline phase, for later runs; and opening the store that it goes to.

use std::fs;
use std::path::Path;

use comity::{Key, Preparation, Store};
use comity_net::SystemRng;

use crate::args::{KeyArgs, PrepareArgs, ProgramArgs};
use crate::console::{emit, note};
use crate::failure::{Failure, Outcome};
use crate::json;
use crate::party::{Watcher, bytes, duration, profile, session};
use crate::resolve::resolve;

/// The command.
pub(crate) fn run(args: &PrepareArgs) -> Outcome {
    let named = |program: &String| ProgramArgs { program: program.clone(), roles: args.roles.clone() };
    let resolved = args.program.as_ref().map(|program| resolve(&named(program))).transpose()?;
    if resolved.is_none() && !(args.roles.owner.is_empty() && args.roles.output_to.is_empty()) {
        return Err(Failure::input("--owner and --output-to are about a program, and none is named"));
    }
    let (session, address) = session(resolved.as_ref(), &args.network, &args.session)?;
    let session = session.store(open_or_create(&args.store, &args.key)?);
    let gates = resolved.as_ref().map_or(1, |resolved| resolved.program.and_gates()).saturating_mul(args.count);
    let mut watch = Watcher::new(args.network.party, &args.session, false, gates);
    let limit = args.store_limit.0;
    let done = match &resolved {
        Some(resolved) => session.prepare(&resolved.program, args.count, limit, &mut watch),
        None => session.deal(args.count, limit, &mut watch),
    };
    let done = done.map_err(|e| Failure::from(e).with_peer(address))?;
    watch.progress.finish();
    if args.session.verbose {
        watch.say(&profile(&done.report));
    }
    if args.json {
        let program = resolved.map_or("any program".to_owned(), |resolved| resolved.text);
        return emit(&json::line(&describe(&done, program)));
    }
    let made = match (done.unit, done.count) {
        ("runs", 1) => "1 run is".to_owned(),
        ("runs", count) => format!("{count} runs are"),
        (unit, count) => format!("{count} {unit} of any programs are"),
    };
    let (size, time) = (bytes(done.stored_bytes), duration(done.report.seconds));
    emit(&format!("{made} prepared: {size} in {}, in {time}\n", args.store.display()))
}

/// The object that `--json` prints.
fn describe(done: &Preparation, program: String) -> json::Prepare {
    let report = &done.report;
    json::Prepare {
        program,
        protocol: report.protocol.to_owned(),
        adversary: report.adversary.name().to_owned(),
        kappa: report.params.kappa,
        rho: report.params.rho,
        party: report.party,
        count: done.count,
        and_gates: report.and_gates,
        stored_bytes: done.stored_bytes,
        seconds: json::Seconds {
            total: report.seconds,
            phases: report.phases.iter().map(|&(name, s)| (name.to_owned(), s)).collect(),
        },
        bytes: json::Bytes { sent: report.bytes_sent, received: report.bytes_received },
        rounds: report.rounds,
        peak_rss_bytes: report.peak_rss,
    }
}

/// The store in this folder.
pub(crate) fn open(dir: &Path, args: &KeyArgs) -> Outcome<Store> {
    Ok(Store::open(dir, &key(args)?)?)
}

/// The store in this folder, or a new one; with a new key, if the file for it is not there either.
fn open_or_create(dir: &Path, args: &KeyArgs) -> Outcome<Store> {
    let key = match &args.key_file {
        Some(path) if !path.exists() && !dir.join("store").exists() => {
            let key = Key::create(path, &mut SystemRng)?;
            note(&format!("made {}, the key of the store: without it the store is worth nothing", path.display()));
            key
        }
        _ => key(args)?,
    };
    Ok(Store::open_or_create(dir, &key, &mut SystemRng)?)
}

/// What opens the store.
fn key(args: &KeyArgs) -> Outcome<Key> {
    let unreadable = |path: &Path, e: &dyn std::fmt::Display| Failure::input(format!("{}: {e}", path.display()));
    match (&args.passphrase_file, &args.key_file) {
        (Some(path), _) => {
            let text = zeroize::Zeroizing::new(fs::read(path).map_err(|e| unreadable(path, &e))?);
            let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            Key::passphrase(line).map_err(|e| unreadable(path, &e))
        }
        (None, Some(path)) if !path.exists() => Err(unreadable(path, &"there is no such key file")),
        (None, Some(path)) => Ok(Key::read(path)?),
        (None, None) => Err(Failure::input("a store is encrypted: name --passphrase-file FILE or --key-file FILE")),
    }
}

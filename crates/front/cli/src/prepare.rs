//! `comity prepare`: the offline phase, for later runs; and opening the store that it goes to.

use std::fs;
use std::path::Path;

use comity::{Key, Preparation, Store};
use comity_net::SystemRng;

use crate::args::{KeyArgs, PrepareArgs};
use crate::console::{emit, note};
use crate::failure::{Failure, Outcome};
use crate::json;
use crate::party::{Watcher, bytes, duration, profile, session};
use crate::resolve::{Resolved, resolve};

/// The command.
pub(crate) fn run(args: &PrepareArgs) -> Outcome {
    let resolved = resolve(&args.program)?;
    let (session, address) = session(&resolved, &args.network, &args.session, args.role)?;
    let session = session.store(open_or_create(&args.store, &args.key)?);
    let mut watch = Watcher::new(args.network.party, &args.session, false, &resolved);
    let done = session
        .prepare(&resolved.program, args.count, args.store_limit.0, &mut watch)
        .map_err(|e| Failure::from(e).at(address))?;
    watch.progress.finish();
    if args.session.verbose {
        watch.say(&profile(&done.report));
    }
    if args.json {
        return emit(&json::line(&describe(&done, &resolved)));
    }
    let runs = if done.count == 1 { "1 run is".to_owned() } else { format!("{} runs are", done.count) };
    let (size, time) = (bytes(done.stored_bytes), duration(done.report.seconds));
    emit(&format!("{runs} prepared: {size} in {}, in {time}\n", args.store.display()))
}

/// The object that `--json` prints.
fn describe(done: &Preparation, resolved: &Resolved) -> json::Prepare {
    let report = &done.report;
    json::Prepare {
        program: resolved.text.clone(),
        protocol: report.protocol.to_owned(),
        adversary: report.adversary.name().to_owned(),
        kappa: report.params.kappa,
        rho: report.params.rho,
        party: report.party,
        count: done.count,
        and_gates: report.and_gates.saturating_mul(done.count.into()),
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

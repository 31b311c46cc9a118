//! The owner of a published table: `comity psi publish`, `update` and `serve`.
//!
//! The state's folder has `state` (the key and the masks that are out; readable by its owner only), `asked`
//! (what clients had), `prepared` with its key `store.key` (halves of queries that are prepared), and for a
//! while `update`: the update that the state is to follow. It is there before the state follows, and until it
//! is where it should go, so that no state is without its update, and no update is out that the state does
//! not follow.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use comity::psi::base::{BaseTerms, Published};
use comity::psi::{Item, Set};
use comity::{Adversary, Card, Error, OprfServe, Params, Session, SystemRng, Watch};
use comity_table::{Key, TableShape};
use comity_terminal::console::{OutFile, emit, note};
use comity_terminal::failure::{Ending, Failure, Outcome};
use comity_terminal::json::to_line;
use comity_terminal::numbers::{bytes, grouped};
use serde::Serialize;
use zeroize::Zeroizing;

use super::args::{Empty, PsiServeArgs, PublishArgs, TableArgs, UpdateArgs};
use super::desk::Desk;
use super::table::Table;
use crate::backend::backend;
use crate::list::List;
use crate::{guarded, interrupt};
use comity_files::{Access, replace, sync_names};

/// The pause after a session that came to nothing, so that whoever fails again and again does not so faster than this.
const PAUSE: Duration = Duration::from_millis(200);

/// A publication, as `--json` has it.
#[derive(Serialize)]
struct Done {
    update: u64,
    keys: u64,
    /// Bytes of the file.
    bytes: u64,
    mask_bits: u32,
    max_queries: u64,
    max_keys: u64,
    #[serde(flatten)]
    changed: Option<Changes>,
}

/// What an update changed.
#[derive(Serialize)]
struct Changes {
    added: usize,
    replaced: usize,
    known: usize,
    removed: usize,
    unknown: usize,
}

/// `comity psi publish`.
pub(super) fn publish(args: &PublishArgs) -> Outcome {
    let state = state_file(&args.state);
    if state.exists() {
        return Err(Failure::input(format!(
            "{} holds the key of a base, which is not overwritten: change the base with `comity psi update`, or take \
                another folder (if publishing broke off before the base's file was written, remove this one)",
            args.state.display()
        )));
    }
    let out = OutFile::create(&args.out)?;
    let table = Table::read(&args.table)?;
    let Keyed { items, header, cells, width } = one_key(&table)?;
    let payload = if width == 0 { 0 } else { args.payload_width.map_or(width, |wanted| wanted.max(width)) };
    let cells = &*widened(cells, width, payload);
    let pad_to = args.pad_to.map_or(0, |count| count.0);
    let set = Set { items, payload: cells, pad_to };
    let terms = BaseTerms {
        id: [0; 32],
        most: args.max_keys.map_or(2 * set.told().max(1), |count| count.0) as u64,
        queries: args.max_queries.0 as u64,
        rho: Params::default().rho,
        payload,
        header,
        encoding: table.made(),
    };
    let made = make_folder(&args.state)?;
    let mut writer = std::io::BufWriter::with_capacity(1 << 16, out.sink()?);
    let mut written = 0;
    let mut sink = |bytes: &[u8]| {
        written += bytes.len() as u64;
        writer.write_all(bytes).map_err(|error| Error::disk(format!("writing {}", args.out.display()), error))
    };
    let finished = Published::new(terms, &set, (backend()?, &mut SystemRng), &mut sink)
        .and_then(|kept| {
            writer.flush().map_err(|error| Error::disk(format!("writing {}", args.out.display()), error)).map(|()| kept)
        })
        .map_err(Failure::from)
        // All of the base is on the disk before its key is there: what is left to do then takes no time.
        .and_then(|kept| out.sync().map(|()| kept))
        .and_then(|kept| keep(&state, &kept.to_bytes()).map(|()| kept))
        .and_then(|kept| out.commit().map(|()| kept));
    let kept = match finished {
        Ok(kept) => kept,
        Err(failure) => {
            // A key without a base is worth nothing, and would be in the way.
            let _ = fs::remove_file(&state);
            if made {
                let _ = fs::remove_dir(&args.state);
            }
            return Err(failure);
        }
    };
    let done = done(&kept, written, None);
    if args.json {
        return emit(&to_line(&done));
    }
    note(&format!(
        "{} keys published in {}, {}: for up to {} keys with all updates, and {} queries",
        grouped(done.keys),
        args.out.display(),
        bytes(written),
        grouped(done.max_keys),
        grouped(done.max_queries)
    ));
    note(&format!("{} has the key: keep it, and let nobody read it", args.state.display()));
    Ok(())
}

/// `comity psi update`.
pub(super) fn update(args: &UpdateArgs) -> Outcome {
    let finishes = args.add.is_none() && args.remove.is_none();
    if finishes && !pending_file(&args.state).exists() {
        return Err(Failure::input(
            "what changes? Add --add FILE with the rows that come, or --remove FILE with those that go",
        ));
    }
    // Two updates at once would be two that follow the same.
    let lock = fs::File::open(&args.state).map_err(|error| unreadable(&args.state, &error))?;
    lock.try_lock().map_err(|_| Failure::new(Ending::Store, "another update of this base is under way"))?;
    let mut kept = open(&args.state)?;
    // Clients may not have it yet, and lack it then for ever.
    if args.out.symlink_metadata().is_ok_and(|data| data.is_file()) {
        return Err(Failure::input(format!(
            "{}: the file exists, and may be an update that clients do not have yet: take another name",
            args.out.display()
        )));
    }
    match (unfinished(&args.state, &kept)?, finishes) {
        (Some(file), true) => return finish(args, &kept, &file),
        (Some(_), false) => {
            let (number, state) = (kept.update(), args.state.display());
            return Err(Failure::input(format!(
                "update {number} broke off before its file was written: `comity psi update --state {state} --out \
                    FILE`, with no other flags, writes it; all clients need it. Then make this update"
            )));
        }
        (None, true) => {
            return Err(Failure::input(
                "no update broke off: name the rows that come with --add FILE, or those that go with --remove FILE",
            ));
        }
        (None, false) => {}
    }
    let out = OutFile::create(&args.out)?;
    let read = |file: &Option<PathBuf>, payload: &[String]| -> Outcome<Option<Table>> {
        let Some(file) = file else { return Ok(None) };
        let table = Table::read(&table_args(file, args, payload))?;
        if !table.made_as(&kept.terms.encoding) {
            return Err(Failure::input(format!(
                "{}: its keys are made by {}, and those of the base by {}: give the same --key as when the base was \
                    published",
                file.display(),
                table.made(),
                kept.terms.encoding
            )));
        }
        Ok(Some(table))
    };
    let (added, removed) = (read(&args.add, &args.payload)?, read(&args.remove, &[])?);
    let gone: &[Item] = removed.as_ref().map_or(&[], |table| &table.items[0]);
    let (items, wide): (&[Item], Vec<u8>) = match &added {
        None => (&[], Vec::new()),
        Some(table) => {
            let Keyed { items, header, cells, width } = one_key(table)?;
            if header != kept.terms.header {
                return Err(Failure::input(
                    "the base has other payload columns: give the same --payload as when it was published",
                ));
            }
            if width > kept.terms.payload {
                return Err(Failure::input(format!(
                    "the payload of these rows takes {width} bytes a key, and the base has room for {}: publish anew, \
                        with a larger --payload-width",
                    kept.terms.payload
                )));
            }
            (items, widened(cells, width, kept.terms.payload))
        }
    };
    let set = Set { items, payload: &wide, pad_to: 0 };
    let pad_to = args.pad_to.map_or(0, |count| count.0);
    let (file, changed) = kept.change(gone, &set, pad_to, (backend()?, &mut SystemRng))?;
    // Where it goes there is room for it, before anything changes.
    (&out.sink()?).write_all(&file).map_err(|error| unwritten(&args.out, &error))?;
    out.sync()?;
    keep(&pending_file(&args.state), &file)?;
    if let Err(failure) = keep(&state_file(&args.state), &kept.to_bytes()) {
        // Where only the folder could not be written, the state follows already, and the update is needed.
        if !open(&args.state).is_ok_and(|there| there.head() == kept.head()) {
            let _ = fs::remove_file(pending_file(&args.state));
        }
        return Err(failure);
    }
    delivered(args, out)?;
    let changes = Changes {
        added: changed.added,
        replaced: changed.replaced,
        known: changed.known,
        removed: changed.removed,
        unknown: changed.unknown,
    };
    if args.json {
        return emit(&to_line(&done(&kept, file.len() as u64, Some(changes))));
    }
    note(&format!(
        "update {}: {} keys came, {} went, {} have new columns; {} to be added were there already, {} to be removed \
            were not there",
        kept.update(),
        grouped(changes.added as u64),
        grouped(changes.removed as u64),
        grouped(changes.replaced as u64),
        grouped(changes.known as u64),
        grouped(changes.unknown as u64)
    ));
    note(&format!(
        "{}, {}, is for every client; the base has {} keys now",
        args.out.display(),
        bytes(file.len() as u64),
        grouped(kept.items() as u64)
    ));
    Ok(())
}

/// The update that the state follows, and that is not where it should go, perhaps: a call was broken off. One
/// that the state does not follow nobody has got, and it is removed.
fn unfinished(state: &Path, kept: &Published) -> Outcome<Option<Vec<u8>>> {
    let path = pending_file(state);
    let file = match fs::read(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(&path, &error)),
    };
    // An update ends with the digest that is the base's head then.
    if file.ends_with(kept.head()) {
        return Ok(Some(file));
    }
    fs::remove_file(&path).and_then(|()| sync_names(&path)).map_err(|error| unwritten(&path, &error))?;
    Ok(None)
}

/// Writes an update whose call was broken off.
fn finish(args: &UpdateArgs, kept: &Published, file: &[u8]) -> Outcome {
    let out = OutFile::create(&args.out)?;
    (&out.sink()?).write_all(file).map_err(|error| unwritten(&args.out, &error))?;
    delivered(args, out)?;
    if args.json {
        return emit(&to_line(&done(kept, file.len() as u64, None)));
    }
    note(&format!("update {}, which was broken off, is in {}: all clients need it", kept.update(), args.out.display()));
    Ok(())
}

/// Gives an update its name, and forgets it here.
fn delivered(args: &UpdateArgs, out: OutFile) -> Outcome {
    let path = pending_file(&args.state);
    let kept =
        |failure: Failure| failure.and(&format!("The update is whole in {}: all clients need it", path.display()));
    out.commit().map_err(kept)?;
    sync_names(&args.out).map_err(|error| kept(unwritten(&args.out, &error)))?;
    fs::remove_file(&path).and_then(|()| sync_names(&path)).map_err(|error| unwritten(&path, &error))
}

/// `comity psi serve`.
pub(super) fn serve(args: &PsiServeArgs, list: List) -> Outcome {
    interrupt::on();
    let over = args.protocol.as_deref().map(|name| comity::among(list.0, name)).transpose()?;
    let how = OprfServe { over, trust_clients: args.trust_clients };
    if let Some(over) = over.filter(|over| over.card().adversary == Adversary::SemiHonest && args.trust_clients) {
        note(&format!(
            "clients are trusted: {} is semi-honest, so a client that breaks the protocol's rules can learn the key of \
                the base, and with it the whole base, whatever --client-queries says",
            over.card().name
        ));
    }
    let mut desk = Desk::open(&args.state, args.client_queries.map(|count| count.0 as u64))?;
    let begin = || -> Outcome<Session<'static>> {
        // Whoever comes when the wait is almost over has as long as the first one.
        let link = &args.meet.link;
        let session =
            link.session(0)?.deadline(args.deadline.saturating_add(link.timeout)).stopped_by(interrupt::stop());
        Ok(session.any_trusted().listen(&args.listen))
    };
    let listener = begin()?.listener()?;
    let (mut sessions, mut told) = (0, false);
    while args.sessions.is_none_or(|most| sessions < most) && !interrupt::stop().is_stopped() {
        let session = match &listener {
            Some(listener) => begin()?.at(listener),
            None => begin()?,
        };
        let mut watch = Service { told, connected: false, verbose: args.meet.verbose };
        let ended = guarded(|| session.serve_oprf(&mut desk, how, &mut watch).map_err(Failure::from));
        told = true;
        match ended {
            Ok(done) => {
                let (queries, ahead) = done.outcome;
                let what = if ahead { "prepared" } else { "answered" };
                note(&format!("{} queries {what}, {} sent", grouped(queries), bytes(done.traffic.sent)));
                sessions += 1;
            }
            // What is wrong on this side is so the next time, too.
            Err(failure) if failure.kind == Ending::Store => return Err(failure),
            Err(failure) => {
                // Nobody came within the time-out: that is no session.
                if watch.connected {
                    note(&format!("a session ended: {}", failure.message));
                    sessions += 1;
                    std::thread::sleep(PAUSE);
                } else if !matches!(failure.kind, Ending::Timeout | Ending::Network | Ending::Stopped) {
                    return Err(failure);
                }
            }
        }
    }
    Ok(())
}

/// The messages of a service to the person at its terminal.
struct Service {
    told: bool,
    connected: bool,
    verbose: bool,
}

impl Watch for Service {
    fn listening(&mut self, address: &str) {
        if !self.told {
            note(&format!("serving at {address}"));
        }
    }

    fn connected(&mut self, peer: &str) {
        self.connected = true;
        if self.verbose {
            note(&format!("a client at {peer}"));
        }
    }

    fn turned_away(&mut self, why: &str) {
        // A port that is open for long has strangers all day.
        if self.verbose {
            note(&format!("turned away a stranger: {why}"));
        }
    }

    fn exposed(&mut self, _: &Card) {}
}

/// The file with the key.
pub(super) fn state_file(state: &Path) -> PathBuf {
    state.join("state")
}

/// The file of the update that the state is to follow.
fn pending_file(state: &Path) -> PathBuf {
    state.join("update")
}

/// The state that was kept in this folder.
pub(super) fn open(state: &Path) -> Outcome<Published> {
    let path = state_file(state);
    let bytes = Zeroizing::new(fs::read(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Failure::input(format!("{}: nothing was published from this folder (comity psi publish)", state.display()))
        }
        _ => unreadable(&path, &error),
    })?);
    Published::read(&bytes).map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

/// The time at which the state was written.
pub(super) fn written(state: &Path) -> Option<SystemTime> {
    fs::metadata(state_file(state)).and_then(|data| data.modified()).ok()
}

fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    Failure::disk(&format!("{}: cannot write it", path.display()), error)
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::input(format!("{}: {error}", path.display()))
}

/// Writes what only its owner may read: whole, or not at all. When this returns, it is there after a crash too.
fn keep(path: &Path, secret: &[u8]) -> Outcome {
    replace(path, Access::Owner, secret)
        .map_err(|error| Failure::new(Ending::Store, format!("{}: cannot write it: {error}", path.display())))
}

/// Makes the folder of a state, for its owner alone; whether it was not there.
fn make_folder(state: &Path) -> Outcome<bool> {
    if state.is_dir() {
        return Ok(false);
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(state).map_err(|error| unreadable(state, &error))?;
    Ok(true)
}

/// The only key of a table.
struct Keyed<'a> {
    items: &'a [Item],
    /// The words on the payload's columns.
    header: Vec<u8>,
    /// The payload beside each item, and its width.
    cells: &'a [u8],
    width: usize,
}

/// The only key of this table.
fn one_key(table: &Table) -> Outcome<Keyed<'_>> {
    let [items] = &table.items[..] else {
        return Err(Failure::input("a base has one key: publish a base for each, under a --state of its own"));
    };
    Ok(match &table.payload {
        Some(packed) => {
            let (cells, width) = &packed.cells[0];
            Keyed { items, header: packed.header.clone(), cells, width: *width }
        }
        None => Keyed { items, header: Vec::new(), cells: &[], width: 0 },
    })
}

/// Cells filled up to another width.
fn widened(cells: &[u8], width: usize, wanted: usize) -> Vec<u8> {
    let mut filled = Vec::with_capacity(cells.len() / width.max(1) * wanted);
    for cell in cells.chunks(width.max(1)) {
        filled.extend_from_slice(cell);
        filled.resize(filled.len() + wanted - width, 0);
    }
    filled
}

/// The flags of a table of an update.
fn table_args(file: &Path, args: &UpdateArgs, payload: &[String]) -> TableArgs {
    let key: Vec<Key> = args.key.clone();
    let format: Option<TableShape> = args.format;
    TableArgs {
        file: Some(file.to_owned()),
        key,
        payload: payload.to_vec(),
        duplicates: args.duplicates,
        empty: Empty::Drop,
        format,
        delimiter: None,
        no_header: false,
        no_quoting: false,
    }
}

fn done(kept: &Published, bytes: u64, changed: Option<Changes>) -> Done {
    Done {
        update: kept.update(),
        keys: kept.items() as u64,
        bytes,
        mask_bits: kept.terms.mask_bits(),
        max_queries: kept.terms.queries,
        max_keys: kept.terms.most,
        changed,
    }
}

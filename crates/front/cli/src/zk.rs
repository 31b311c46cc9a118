//! `comity zk`: proofs in files and in conversation.

pub(crate) mod args;
mod conversation;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use comity_circuit::Goal;
use comity_core::{Bits, Error, Kind};
use comity_net::SystemRng;
use comity_terminal::console::{check_writable, emit, note, write_whole};
use comity_terminal::failure::{Ending, Failure, Outcome};
use comity_terminal::json::to_line;
use comity_terminal::numbers::bytes;
use comity_zk::{FILE_BITS, Proof, ProofHead, Soundness, Statement, System, prove, verify};
use serde::Serialize;

use crate::args::{Optimize, ProgramArgs, RoleArgs};
use crate::backend::backend;
use crate::resolve::{Resolved, resolve};
use crate::values::{self, Order};
use args::{InspectArgs, MeetArgs, ProveArgs, StatementArgs, SystemArg, VerifyArgs, ZkCommand};

/// The object that `--json` prints of a proof that was made, or looked at.
#[derive(Serialize)]
struct About {
    system: &'static str,
    soundness_bits: u32,
    /// The hash of the statement.
    statement: String,
    bytes: u64,
}

/// The object that `--json` prints of a proof that holds.
#[derive(Serialize)]
struct Verdict {
    valid: bool,
    system: &'static str,
    soundness_bits: u32,
    statement: String,
}

/// The command.
pub(crate) fn run(command: &ZkCommand) -> Outcome {
    match command {
        ZkCommand::Prove(args) => make(args),
        ZkCommand::Verify(args) => check(args),
        ZkCommand::Inspect(args) => inspect(args),
    }
}

fn make(args: &ProveArgs) -> Outcome {
    let Some(out) = &args.out else { return conversation::prove(args) };
    alone(&args.how.meet)?;
    let (system, demanded) = (system(args.how.system)?, demanded(args.how.soundness)?);
    if system.bits(Soundness::Bits128) < demanded {
        return Err(Failure::input(format!(
            "--soundness {demanded}: {system} has {} bits; take --system zkb++, zkboo or kkw, which have 128",
            system.bits(Soundness::Bits128)
        )));
    }
    let (statement, witness) = known(args)?;
    check_writable(out)?;
    let proof = prove(backend()?, &statement, &witness, system, &mut SystemRng)?;
    write_whole(out, &proof.to_bytes())?;
    let size = proof.size() as u64;
    if args.how.json { emit(&to_line(&about(proof.head(), size))) } else { emit(&text(out, proof.head(), size)) }
}

/// The bits of soundness that are demanded of a proof in a file.
fn demanded(bits: Option<u32>) -> Outcome<u32> {
    match bits.unwrap_or(FILE_BITS) {
        bits @ FILE_BITS..=128 => Ok(bits),
        bits => Err(Failure::input(format!(
            "--soundness {bits}: a proof in a file has {FILE_BITS} to 128 bits: its challenge is a hash, which can be tried again and \
             again, so that fewer are for --interactive"
        ))),
    }
}

/// Refuses flags that say how to meet another side, in a command that meets nobody.
fn alone(args: &MeetArgs) -> Outcome {
    let meets = args.listen.is_some() || args.connect.is_some() || args.relay.is_some();
    if meets || args.link.tls.is_some() || args.link.plaintext || args.deadline.is_some() {
        return Err(Failure::input(
            "--listen, --connect, --relay, --tls, --plaintext and --deadline are for --interactive: a file needs no other side",
        ));
    }
    Ok(())
}

/// The statement, and the secret values.
fn known(args: &ProveArgs) -> Outcome<(Statement, Vec<Option<Bits>>)> {
    let (resolved, order) = program(&args.statement)?;
    let statement = statement(&resolved, &order, &args.statement)?;
    let secret = values::read_flags("--secret", &resolved, &order, &args.secret, Some(0))?;
    Ok((statement, by_index(secret, resolved.inputs().len())))
}

fn check(args: &VerifyArgs) -> Outcome {
    let (resolved, order) = program(&args.statement)?;
    let statement = statement(&resolved, &order, &args.statement)?;
    let (system, soundness_bits) = match &args.proof {
        Some(path) => {
            alone(&args.how.meet)?;
            if args.how.system != SystemArg::Auto {
                return Err(Failure::input("--system is for --interactive: a proof in a file names its system"));
            }
            let demanded = demanded(args.how.soundness)?;
            let mut file = open(path)?;
            let proof = Proof::read(&mut file, &statement).map_err(|error| refused(path, error))?;
            let bits = proof.head().bits();
            if bits < demanded {
                let why = format!(
                    "the proof is of {} with {bits} bits of soundness; --soundness demands {demanded}",
                    proof.head().system()
                );
                return Err(Failure::new(Ending::Misbehaved, format!("{}: not valid: {why}", path.display())));
            }
            let valid = verify(backend()?, &statement, &proof).map_err(|error| refused(path, error))?;
            (valid.system.name(), valid.bits())
        }
        None => conversation::verify(args, &statement)?,
    };
    let verdict = Verdict { valid: true, system, soundness_bits, statement: hex(statement.digest()) };
    if args.how.json {
        return emit(&to_line(&verdict));
    }
    // As many as a proof can have go without saying.
    emit(&if soundness_bits < 128 {
        format!("valid, with {soundness_bits} bits of soundness\n")
    } else {
        "valid\n".to_owned()
    })
}

fn inspect(args: &InspectArgs) -> Outcome {
    let path = &args.proof;
    let mut file = open(path)?;
    let head = ProofHead::read(&mut file).map_err(|error| refused(path, error))?;
    let size = file.metadata().map_err(|e| unreadable(path, &e.to_string()))?.len();
    if args.json {
        return emit(&to_line(&about(&head, size)));
    }
    emit(&format!("{}  not checked: `comity zk verify` says whether it is valid\n", text(path, &head, size)))
}

/// The program of a statement: all inputs but the prover's are public.
fn program(args: &StatementArgs) -> Outcome<(Resolved, Order)> {
    let roles = RoleArgs { owner: args.owner.clone(), output_to: Vec::new() };
    let named = ProgramArgs { program: args.program.clone(), roles, optimize: Optimize::Size };
    let mut resolved = resolve(&named, Goal::Size)?;
    for index in 0..resolved.inputs().len() {
        if resolved.inputs()[index].owner.party().is_some_and(|party| party != comity_zk::PROVER) {
            resolved.program = resolved.program.with_owner(index, 1).map_err(|e| Failure::input(e.to_string()))?;
        }
    }
    let order = Order::new(&resolved, &args.bits)?;
    Ok((resolved, order))
}

/// The statement, and a warning about outputs that are no part of it.
fn statement(resolved: &Resolved, order: &Order, args: &StatementArgs) -> Outcome<Statement> {
    let public = values::read_flags("--public", resolved, order, &args.public, Some(1))?;
    let expected = values::read_outputs(resolved, order, &args.expect)?;
    let (public, expected) = (by_index(public, resolved.inputs().len()), by_index(expected, resolved.outputs().len()));
    let statement = Statement::new(&resolved.program, &public, &expected, args.context.as_bytes())?;
    if !statement.unpinned().is_empty() {
        note(&format!(
            "warning: no --expect names {}, so the proof says nothing about it",
            statement.unpinned().iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        ));
    }
    Ok(statement)
}

/// Values, each at its index; `None` at the others, and for values without bits.
fn by_index(values: BTreeMap<usize, Bits>, count: usize) -> Vec<Option<Bits>> {
    let mut all = vec![None; count];
    values.into_iter().filter(|(_, value)| !value.is_empty()).for_each(|(index, value)| all[index] = Some(value));
    all
}

/// The system of a proof in a file.
fn system(arg: SystemArg) -> Outcome<System> {
    match arg {
        SystemArg::Zkboo => Ok(System::ZkBoo),
        SystemArg::Kkw => Ok(System::Kkw),
        SystemArg::ZkbPlusPlus => Ok(System::ZkbPlusPlus),
        SystemArg::Auto | SystemArg::Voleith => Ok(System::VoleInTheHead),
        SystemArg::Vole => {
            Err(Failure::input("--system vole: MACs on wires prove in conversation only: say --interactive"))
        }
        SystemArg::Gc | SystemArg::GcRows => {
            Err(Failure::input("--system gc: a garbled circuit proves in conversation only: say --interactive"))
        }
    }
}

fn open(path: &Path) -> Outcome<File> {
    File::open(path).map_err(|e| unreadable(path, &e.to_string()))
}

fn unreadable(path: &Path, why: &str) -> Failure {
    Failure::input(format!("{}: cannot read it: {why}", path.display()))
}

/// The failure of a proof: there is no peer that could have misbehaved.
fn refused(path: &Path, error: Error) -> Failure {
    match (&error.kind, error.check()) {
        (_, Some(check)) => Failure::new(Ending::Misbehaved, format!("{}: not valid: {check}", path.display())),
        (Kind::Io { source, .. }, None) => unreadable(path, &source.to_string()),
        (_, None) => Failure::from(error).at(&path.display().to_string()),
    }
}

fn about(head: &ProofHead, bytes: u64) -> About {
    About { system: head.system().name(), soundness_bits: head.bits(), statement: hex(head.statement()), bytes }
}

fn text(path: &Path, head: &ProofHead, size: u64) -> String {
    let About { system, soundness_bits, statement, .. } = about(head, size);
    format!(
        "{}: a proof, {}\n  system       {system}\n  soundness    {soundness_bits} bits: after q hashes, forged with probability \
         about q/2^{soundness_bits}\n  statement    {statement}\n",
        path.display(),
        bytes(size)
    )
}

fn hex(digest: &[u8; 32]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

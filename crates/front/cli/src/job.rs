//! `comity job`, and `comity run --job`: all that the parties of a run have to agree on, in one file that all
//! of them hold.

pub(crate) mod file;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use comity::Digest;
use comity_terminal::console::emit;
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::json::to_line;
use serde_json::json;

use crate::args::{NetworkArgs, SessionArgs};
use crate::flags::Who;
use crate::interrupt;
use crate::list::List;
use crate::onto;
use crate::resolve::{Resolved, resolve_for};
use crate::run::{self, RunArgs};
use crate::session;
use crate::shares;
use crate::storage::KeyArgs;
use file::Job;

/// The help: what a job is.
pub(crate) const ABOUT: &str = "\
A job is a TOML file that all parties hold:
  program = \"max.cty\"            a built-in, or a path of the reader's own
  digest = \"program:...\"         what it computes (`comity job show` prints it)
  protocol = \"cutchoose\"
  owners = [\"x=alice\"]           as --owner; outputs = [\"all\"] as --output-to
  rho = 40                       optimize = \"size\" or \"depth\"
  runs = 1                       the runs that `comity serve` gives each peer
  label = \"monday\"               tells apart runs that go on at the same time
  store = \"store\"                if runs use up material: the reader's own path
  keys = \"keys\"                  the reader's own folder (`comity key new`)
  [options]                      of the protocol: garbler = \"alice\"
  relay = \"HOST:PORT\"            where parties behind routers meet
  [[party]]                      as in a group's file: id, name, address, key
The job's digest covers all but the paths, which are the reader's own, from
the job's folder on. COMITY_KEYS and COMITY_STORE (folders), COMITY_KEY_FILE and
COMITY_PASSPHRASE_FILE (of the store) stand for keys and store where no flag says
them. Parties compare `comity job digest FILE` by a way that they trust; the first
message of a run compares it as well. Then each says
  comity run --job FILE --input VALUE";

#[derive(Subcommand, Debug)]
pub(crate) enum JobCommand {
    /// Check that the job can run, and that its program is the one that its digest says
    Check(FileArgs),
    /// Print the job, and what it computes
    Show {
        #[command(flatten)]
        file: FileArgs,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Print the job's digest, to compare
    Digest(FileArgs),
}

#[derive(Args, Debug)]
pub(crate) struct FileArgs {
    /// The file
    pub(crate) file: PathBuf,
}

/// The command.
pub(crate) fn run(command: &JobCommand, list: List) -> Outcome {
    match command {
        JobCommand::Check(FileArgs { file }) => {
            let (job, resolved) = checked(file, list)?;
            emit(&format!("{} can run: {}\n", file.display(), job.digest(&resolved).text("job")))
        }
        JobCommand::Digest(FileArgs { file }) => {
            let (job, resolved) = checked(file, list)?;
            emit(&format!("{}\n", job.digest(&resolved).text("job")))
        }
        JobCommand::Show { file: FileArgs { file }, json } => {
            let job = Job::read(file)?;
            let resolved = resolved(&job, list)?;
            emit(&if *json { to_line(&object(&job, &resolved)) } else { text(&job, &resolved) })
        }
    }
}

/// The job in this file and its program, which is the one that it says.
pub(crate) fn checked(path: &Path, list: List) -> Outcome<(Job, Resolved)> {
    let job = Job::read(path)?;
    let resolved = resolved(&job, list)?;
    job.check_program(&resolved).map_err(|failure| failure.at(&path.display().to_string()))?;
    Ok((job, resolved))
}

/// The job's program. That its protocol can run it is checked.
fn resolved(job: &Job, list: List) -> Outcome<Resolved> {
    let goal = list.goal(Some(&job.protocol))?;
    let resolved = resolve_for(&job.program_args()?, goal, Some(&job.party))?;
    session::fits_parties(Some(&resolved.program), &job.session_args(list, 0)?, job.party.parties())?;
    Ok(resolved)
}

/// `comity run --job`.
pub(crate) fn run_once(args: &RunArgs, path: &Path) -> Outcome {
    if !args.program.program.is_empty() {
        return Err(Failure::input("a job names its program: leave PROGRAM out"));
    }
    interrupt::on();
    let (job, mut resolved) = checked(path, args.session.list)?;
    if let Some(output) = &args.result.output {
        // The job's program is read, too, and no argument names it.
        onto::check(&["run".into(), job.program_args()?.program.into(), "--output".into(), output.into()])?;
    }
    let digest = job.digest(&resolved).0;
    let (come_in, given) = shares::come_in(&mut resolved, &args.values.input)?;
    let network = job.network(args.network.tls.as_deref(), args.network.listen.as_deref(), args.network.party.as_ref());
    let network = NetworkArgs { relay: args.network.relay.clone(), ..network };
    let party = session::party(&network, &resolved.names, Some(&job.party))?;
    let session = SessionArgs {
        timeout: args.session.timeout,
        deadline: args.session.deadline,
        verbose: args.session.verbose,
        ..job.session_args(args.session.list, party)?
    };
    let here = RunArgs {
        program: job.program_args()?,
        values: args.values.clone(),
        session,
        result: args.result.clone(),
        store: job.store_dir(args.store.as_deref())?,
        key: job.store_key(&args.key),
        runs: 1,
        attached: false,
        job: None,
        digest: Some(digest),
        shares: args.shares.clone(),
        network: NetworkArgs { plaintext: args.network.plaintext, ..network },
    };
    run::one(&here, &resolved, (&come_in, &given), party, (Some(&job.party), None))
        .map_err(|failure| resolved.names.explain(failure))
}

impl Job {
    /// Where the parties are, and which one this is: as this reader has it.
    pub(crate) fn network(&self, tls: Option<&Path>, listen: Option<&str>, party: Option<&Who>) -> NetworkArgs {
        NetworkArgs {
            party: party.cloned(),
            group: None,
            listen: listen.map(str::to_owned),
            connect: None,
            peer: Vec::new(),
            relay: None,
            tls: self.keys_dir(tls),
            plaintext: false,
            label: self.label.clone(),
        }
    }

    /// The key of the store, as the flags or the environment say.
    pub(crate) fn store_key(&self, args: &KeyArgs) -> KeyArgs {
        let said = args.passphrase_file.is_some() || args.key_file.is_some();
        let or = |own: &Option<PathBuf>, name: &str| own.clone().or_else(|| file::environment(name).filter(|_| !said));
        KeyArgs {
            passphrase_file: or(&args.passphrase_file, "COMITY_PASSPHRASE_FILE"),
            key_file: or(&args.key_file, "COMITY_KEY_FILE"),
        }
    }
}

fn object(job: &Job, resolved: &Resolved) -> serde_json::Value {
    let party = |member: &comity::Member| {
        let key = member.key.map(|key| key.to_string());
        json!({ "id": member.id.0, "name": member.name, "address": member.address, "key": key })
    };
    json!({
        "job": job.digest(resolved).text("job"),
        "program": job.program,
        "program_digest": file::of_program(resolved).text("program"),
        "protocol": job.protocol,
        "options": job.options().into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        "rho": job.rho,
        "runs": job.runs,
        "store": job.store.is_some(),
        "relay": job.party.relay(),
        "parties": job.party.members().iter().map(party).collect::<Vec<_>>(),
    })
}

/// A line for each thing that the parties agree on.
fn text(job: &Job, resolved: &Resolved) -> String {
    let input = |(index, input): (usize, &comity_circuit::Input)| {
        format!("input     {} of {}\n", resolved.title(index), resolved.names.named(&input.owner.to_string()))
    };
    let output = |output: &comity_circuit::Output| {
        format!("output    `{}` to {}\n", output.name, resolved.names.named(&output.to.to_string()))
    };
    let mut text = format!(
        "program   {}\n          {}\nprotocol  {}, rho {}\n",
        job.program,
        Digest(file::of_program(resolved).0).text("program"),
        job.protocol,
        job.rho
    );
    job.options().iter().for_each(|(name, value)| text += &format!("option    {name} = {value}\n"));
    resolved.inputs().iter().enumerate().for_each(|each| text += &input(each));
    resolved.outputs().iter().for_each(|each| text += &output(each));
    let plural = if job.runs == 1 { "run" } else { "runs" };
    text += &format!("runs      {} {plural} for each peer of a service\n", job.runs);
    if let Some(label) = &job.label {
        text += &format!("label     {label}\n");
    }
    if job.store.is_some() {
        text += "store     runs use up material\n";
    }
    if let Some(relay) = job.party.relay() {
        text += &format!("relay     {relay}\n");
    }
    for member in job.party.members() {
        let key = member.key.map_or("no key".to_owned(), |key| key.to_string());
        let address = member.address.as_deref().unwrap_or("-");
        text += &format!("party     {} {} at {address}, {key}\n", member.id, member.name);
    }
    text + &format!("{}\n", job.digest(resolved).text("job"))
}

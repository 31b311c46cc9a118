//! The `comity` command, as a library: [`run`] takes the arguments and returns the exit code.
//!
//! Results go to standard output, everything else to standard error. An error has a kind, and the kind has an
//! exit code: 2 for the user's mistakes or parties that disagree, 3 for the network and disks, 4 for a
//! malformed message or misbehaviour, 70 for a defect of comity. With `--json` a result or an error is one
//! JSON object on standard output.

// Which of it is used follows from the features.
#[allow(dead_code)]
mod absent;
mod args;
mod backend;
mod children;
mod circuit;
mod command;
mod demo;
mod eval;
mod flags;
mod group;
mod help;
mod interrupt;
mod job;
mod journal;
mod json;
mod key;
mod list;
mod local;
mod nisc;
mod onto;
#[cfg(feature = "postgres")]
mod ope;
mod parties;
mod pfe;
mod plan;
mod prepare;
mod profile;
mod protocols;
mod psi;
mod relay;
mod repl;
mod resolve;
mod run;
mod serve;
mod session;
mod shares;
mod shell;
mod source;
mod storage;
mod store;
#[cfg(unix)]
mod token;
mod values;
mod watcher;
mod zk;

use std::ffi::OsString;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use clap::error::ErrorKind;
use comity::{PROTOCOLS, Protocol};
#[cfg(feature = "bench")]
use comity_bench::run as bench;
use comity_terminal::console::{complain, deliver, emit};
use comity_terminal::failure::{Ending, Failure, Outcome};
use comity_terminal::json::to_line;

#[cfg(not(feature = "bench"))]
use crate::absent::bench;
#[cfg(not(feature = "postgres"))]
use crate::absent::ope;
use crate::backend::backend;
use crate::command::{Cli, Command, definitions};
use crate::list::List;
#[cfg(feature = "postgres")]
use crate::ope::run as ope;

/// Runs the command with these arguments, the program's name first, and returns its exit code.
///
/// `comity local` and `comity demo` start this process's own executable again, with `run` and flags: its main
/// function must call this one.
///
/// It uses this process's standard streams, and replaces the panic hook while it runs: a panic becomes exit
/// code 70.
pub fn run<I>(args: I) -> ExitCode
where
    I: IntoIterator,
    I::Item: Into<OsString>,
{
    run_with(PROTOCOLS, args)
}

/// As [`run`], with other protocols than [`PROTOCOLS`]; the first one that withstands malicious parties is
/// the default.
///
/// # Panics
/// If there are no protocols.
pub fn run_with<I>(protocols: &'static [&'static dyn Protocol], args: I) -> ExitCode
where
    I: IntoIterator,
    I::Item: Into<OsString>,
{
    let list = List(protocols);
    interrupt::long_files_are_errors();
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    let (json, attached) = (has("--json"), has("--attached"));
    let failure = match guarded(|| dispatch(&args, list)) {
        Ok(code) => return code,
        Err(failure) => failure,
    };
    // There is nobody left to tell if writing fails here.
    let _ = if attached {
        let event = json::Event::Error {
            kind: failure.kind.name().to_owned(),
            message: failure.message.clone(),
            party: failure.party,
        };
        emit(&to_line(&event))
    } else if json {
        // Where nobody takes the object there is a person, perhaps.
        deliver(to_line(&failure.to_json()), None).inspect_err(|_| complain(&failure.message))
    } else {
        complain(&failure.message);
        Ok(())
    };
    failure.exit_code()
}

fn dispatch(args: &[OsString], list: List) -> Outcome<ExitCode> {
    let cli = match Cli::read(args, list) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, args),
    };
    onto::check(args)?;
    let backend = backend()?;
    match cli.command {
        Command::Demo(args) => demo::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Plan(args) => plan::run(&args, list),
        Command::Prepare(args) => prepare::run(&args),
        Command::Local(args) => local::run(&args),
        Command::Repl(args) => repl::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Circuit(command) => circuit::run(&command),
        Command::Protocols(args) => protocols::run(&args),
        Command::Key(command) => key::run(&command),
        Command::Group(command) => group::run(&command),
        Command::Job(command) => job::run(&command, list),
        Command::Serve(args) => serve::run(&args, list),
        Command::Relay(args) => relay::run(&args),
        Command::Store(command) => store::run(&command, list),
        #[cfg(unix)]
        Command::Token(command) => token::run(&command),
        Command::Nisc(command) => return nisc::run(&command),
        Command::Ope(command) => return ope(&command),
        Command::Zk(command) => zk::run(&command),
        Command::Psi(args) => psi::run(&args, list),
        Command::Pfe(args) => pfe::run(*args),
        Command::Bench(args) => bench(&args, backend),
        Command::Completions(args) => shell::completions(&args, definitions(list)),
        Command::Man => shell::man(definitions(list)),
    }
    .map(|()| ExitCode::SUCCESS)
}

/// Help and version are results; the rest is a usage error, which clap words and colours well by itself.
fn usage(error: &clap::Error, args: &[OsString]) -> Outcome<ExitCode> {
    let help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if help || !args.iter().any(|arg| arg == "--json") {
        let _ = error.print();
        return Ok(if help { ExitCode::SUCCESS } else { ExitCode::from(Ending::Usage.code()) });
    }
    let text = error.render().to_string();
    Err(Failure::new(Ending::Usage, text.strip_prefix("error: ").unwrap_or(&text).trim()))
}

/// Runs `work`; a panic in it is a defect of comity, and is said so.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    // The first panic is the cause; what follows (a scope whose thread panicked) is not.
    static FIRST: Mutex<Option<String>> = Mutex::new(None);
    let before = panic::take_hook();
    panic::set_hook(Box::new(|info| {
        let mut first = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| info.to_string());
    }));
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    panic::set_hook(before);
    outcome.unwrap_or_else(|_| {
        let what = FIRST.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        let version = env!("CARGO_PKG_VERSION");
        let message = format!(
            "this is a defect of comity {version}, not yours: {what}\n\
             Please report it with the command that you ran (leave out secret values)."
        );
        Err(Failure::new(Ending::Bug, message))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_defect_with_its_place() {
        let failure = guarded::<()>(|| panic!("wire 7 is lost")).unwrap_err();
        assert_eq!(failure.kind.code(), 70);
        assert!(failure.message.contains("wire 7 is lost") && failure.message.contains(file!()), "{}", failure.message);
        assert!(failure.message.contains("report"), "{}", failure.message);
    }
}

//! The command line: all commands, with what the cards of the protocols add. Help, completions and the man
//! page come from here.

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

#[cfg(feature = "bench")]
use comity_bench::Args as BenchArgs;

#[cfg(not(feature = "bench"))]
use crate::absent::AbsentArgs as BenchArgs;
#[cfg(not(feature = "postgres"))]
use crate::absent::AbsentArgs as OpeCommand;
use crate::args::{programs, stores};
use crate::help::shaped;
use crate::list::{List, Use, given, help, with_protocols};
#[cfg(feature = "postgres")]
use crate::ope::{self, args::OpeCommand};
#[cfg(unix)]
use crate::token;
use crate::{
    circuit, demo, eval, group, job, key, local, nisc, pfe, plan, prepare, protocols, psi, relay, repl, run, serve,
    shell, store, zk,
};

const EXAMPLES: &str = "\
Examples:
  comity demo
  comity run aes128 --party 0 --listen 127.0.0.1:7000 --input @key.hex
  comity run aes128 --party 1 --connect 127.0.0.1:7000 --input @message.hex
  comity local add64 --input 0=u64:40 --input 1=u64:2
  comity eval add64 --input 0=u64:40 --input 1=u64:2

Exit codes:
   0  done
   2  usage, bad input, or the parties want different things
   3  network, peer gone, time-out, TLS; a store that fails, a disk that is full
   4  malformed message, or a peer misbehaved
 130  stopped (Ctrl-C)
  70  a defect of comity";

/// Compute on the joint data of parties who do not trust each other, and learn the answer and nothing else.
#[derive(Parser, Debug)]
#[command(name = "comity", version, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Two parties compute AES-128 of one's block under the other's key
    Demo(demo::DemoArgs),
    /// Be one party of a computation
    Run(run::RunArgs),
    /// Do all that can be done before the inputs are known, for later runs (`comity run --store`)
    #[command(after_help = concat!(stores!(), "\n\n", programs!()))]
    Prepare(prepare::PrepareArgs),
    /// Say what a run would cost, by protocol: bytes, rounds, time, material
    #[command(after_help = plan::ABOUT)]
    Plan(plan::PlanArgs),
    /// Be all parties at once: one process each on this machine, with the real protocol
    Local(local::LocalArgs),
    /// Be one party of an interactive session: all type the same statements, and see results as they come
    #[command(after_help = repl::ABOUT)]
    Repl(repl::ReplArgs),
    /// Evaluate in the clear, for checking
    #[command(after_help = programs!())]
    Eval(eval::EvalArgs),
    /// List, describe, convert and check circuits
    #[command(subcommand)]
    Circuit(circuit::CircuitCommand),
    /// Compute by mail: publish a query, answer one, open the answers
    #[command(subcommand, after_help = nisc::args::ABOUT)]
    Nisc(nisc::args::NiscCommand),
    /// Ask for ranges of encrypted columns of PostgreSQL
    #[cfg_attr(feature = "postgres", command(subcommand, after_help = ope::args::ABOUT))]
    Ope(OpeCommand),
    /// Prove that you know the secret inputs of a program, without revealing them
    #[command(subcommand, after_help = zk::args::ABOUT)]
    Zk(zk::args::ZkCommand),
    /// Find the rows that two tables have in common
    #[command(after_help = psi::args::ABOUT)]
    Psi(Box<psi::args::PsiArgs>),
    /// Compute a function that only one party knows, of the other one's input
    #[command(after_help = pfe::ABOUT)]
    Pfe(Box<pfe::PfeArgs>),
    /// List the protocols and services, and what each protects against
    Protocols(protocols::ProtocolsArgs),
    /// Make this party's key and say whose keys it trusts
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// List the parties of many runs in one file that all of them hold
    #[command(subcommand, after_help = group::ABOUT)]
    Group(group::GroupCommand),
    /// Check a job, which says all that its parties have to agree on, in one file that all of them hold
    #[command(subcommand, after_help = job::ABOUT)]
    Job(job::JobCommand),
    /// Be one party of a job, run after run
    #[command(after_help = serve::ABOUT)]
    Serve(serve::ServeArgs),
    /// Be a relay, where parties meet that nobody can call
    #[command(after_help = relay::ABOUT)]
    Relay(relay::RelayArgs),
    /// Look at a store of material, and remove lots from it
    #[command(subcommand, after_help = store::ABOUT)]
    Store(store::StoreCommand),
    /// Make a token that all parties trust, and serve its holder
    #[cfg(unix)]
    #[command(subcommand, after_help = token::ABOUT)]
    Token(token::TokenCommand),
    /// Measure this machine's ceilings and how close comity comes to them
    Bench(BenchArgs),
    /// Print the completions for a shell
    Completions(shell::CompletionsArgs),
    /// Print the man page
    Man,
}

/// The definitions, with what the cards of these protocols say.
pub(crate) fn definitions(list: List) -> clap::Command {
    let notes = |parts: &[&str]| parts.join("\n\n");
    let promises = help(list);
    let with = |command: clap::Command| with_protocols(command, list, Use::Programs);
    let all = Cli::command()
        .mut_subcommand("run", |c| {
            // A job names the program.
            let c = c.mut_arg("program", |arg| arg.required(false).default_value("").hide_default_value(true));
            with(c).after_help(notes(&[programs!(), &promises, stores!()]))
        })
        .mut_subcommand("local", |c| with(c).after_help(notes(&[programs!(), &promises])))
        .mut_subcommand("prepare", with)
        .mut_subcommand("psi", psi::args::shaped)
        .mut_subcommand("pfe", |c| with(c).after_help(notes(&[pfe::ABOUT, &promises])))
        .mut_subcommand("repl", |c| with_protocols(c, list, Use::ByHand));
    shaped(all, &list.option_names())
}

impl Cli {
    /// The command that these arguments give, where there are these protocols.
    pub(crate) fn read<I: IntoIterator<Item: Into<std::ffi::OsString> + Clone>>(
        args: I,
        list: List,
    ) -> Result<Cli, clap::Error> {
        let mut definitions = definitions(list);
        let matches = definitions.try_get_matches_from_mut(args)?;
        let mut cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut definitions))?;
        let session = match &mut cli.command {
            Command::Run(args) => &mut args.session,
            Command::Local(args) => &mut args.session,
            Command::Prepare(args) => &mut args.session,
            Command::Pfe(args) => &mut args.session,
            Command::Repl(args) => &mut args.session,
            Command::Protocols(args) => {
                args.list = list;
                return Ok(cli);
            }
            _ => return Ok(cli),
        };
        session.list = list;
        if let Some((_, matches)) = matches.subcommand() {
            session.option.extend(given(matches, list));
        }
        Ok(cli)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        definitions(List::default()).debug_assert();
    }
}

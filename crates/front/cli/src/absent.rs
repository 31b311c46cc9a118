//! What this build was made without says so, and how to get it.

use std::ffi::OsString;
use std::process::ExitCode;

use comity_core::Backend;
use comity_terminal::failure::{Failure, Outcome};

/// The arguments of a command that is not in this build, whatever they are.
#[derive(clap::Args, Debug)]
#[command(disable_help_flag = true)]
pub(crate) struct AbsentArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    any: Vec<OsString>,
}

/// `comity bench`.
pub(crate) fn bench(_: &AbsentArgs, _: Backend) -> Outcome {
    Err(absent("`comity bench`", "bench"))
}

/// `comity ope`.
pub(crate) fn ope(_: &AbsentArgs) -> Outcome<ExitCode> {
    Err(absent("`comity ope`", "postgres"))
}

/// The failure of `what`, which needs a feature that this build does not have.
pub(crate) fn absent(what: &str, feature: &str) -> Failure {
    Failure::input(format!(
        "{what} is not in this build of comity: build comity with `--features {feature}`, or with every command, \
            `--features full`"
    ))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    enum Command {
        Bench(AbsentArgs),
    }

    #[test]
    fn a_command_that_is_not_there_takes_any_arguments_and_says_where_it_is() {
        for args in
            [&["comity", "bench"][..], &["comity", "bench", "ot", "--n", "2^10"], &["comity", "bench", "--help"]]
        {
            let Command::Bench(given) = Command::try_parse_from(args).unwrap();
            assert_eq!(given.any, args[2..]);
        }
        let any = AbsentArgs { any: Vec::new() };
        let failures = [
            (bench(&any, Backend::detect()).err(), ["`comity bench` is not in this build", "--features bench`"]),
            (ope(&any).err(), ["`comity ope` is not in this build", "--features postgres`"]),
        ];
        for (failure, words) in failures {
            let failure = failure.unwrap();
            assert_eq!(failure.kind.code(), 2);
            for word in words.into_iter().chain(["--features full"]) {
                assert!(failure.message.contains(word), "{}", failure.message);
            }
        }
    }
}

//! The shape of help: `-h` is one screen, with what most people need; `--help` has all, under headings.
//!
//! An argument that nobody names here is in `--help` alone, so that a new one does not make the screen longer.

use clap::Command;

/// The flags that `-h` shows where a command has many. What a command cannot do without is shown in any case.
const ESSENTIAL: [&str; 23] = [
    "function",
    "shape",
    "key",
    "payload",
    "out",
    "job",
    "log",
    "party",
    "group",
    "listen",
    "connect",
    "peer",
    "relay",
    "tls",
    "parties",
    "input",
    "output_to",
    "output",
    "json",
    "protocol",
    "store",
    "count",
    "verbose",
];

/// Those of them for which there is no room where commands of its own stand above.
const IF_ROOM: [&str; 4] = ["party", "peer", "relay", "protocol"];

/// A command with more flags than these has a screen of essential ones.
const MANY: usize = 14;

/// The headings of `--help`, each with its flags.
const HEADINGS: [(&str, &[&str]); 4] = [
    (
        "Parties and network",
        &["party", "parties", "group", "listen", "connect", "peer", "relay", "tls", "plaintext", "timeout", "deadline"],
    ),
    ("Program and values", &["input", "owner", "output_to", "bits", "optimize"]),
    ("Result", &["output", "json", "format", "verbose"]),
    ("Material made ahead", &["store", "passphrase_file", "key_file", "count", "store_limit"]),
];

/// The heading of what chooses and sets a protocol.
pub(crate) const PROTOCOL: &str = "Protocol and security";

/// The same command, and all below it, with help in this shape. `options` are the flags of protocols.
pub(crate) fn shaped(command: Command, options: &[&'static str]) -> Command {
    let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
    let below: Vec<String> = command.get_subcommands().map(|c| c.get_name().to_owned()).collect();
    let command = below.iter().fold(command, |command, name| command.mut_subcommand(name, |c| shaped(c, options)));
    let command = match command.get_after_help().cloned() {
        Some(text) if !below.is_empty() || name != "comity" => {
            command.after_long_help(text).after_help("--help says more.")
        }
        _ => command,
    };
    let flags = command.get_arguments().filter(|arg| !arg.is_positional()).count();
    if flags <= MANY {
        return command;
    }
    let command = command.after_help("--help says more, and shows the other flags.");
    command.mut_args(|arg| {
        if arg.is_positional() {
            return arg;
        }
        let id = arg.get_id().as_str().to_owned();
        let of_protocol =
            options.contains(&id.as_str()) || ["protocol", "option", "kappa", "rho"].contains(&id.as_str());
        let heading = HEADINGS.iter().find(|(_, ids)| ids.contains(&id.as_str())).map(|(heading, _)| *heading);
        let room = below.is_empty() || !IF_ROOM.contains(&id.as_str());
        let shown = arg.is_required_set() || ESSENTIAL.contains(&id.as_str()) && room;
        let arg = match if of_protocol { Some(PROTOCOL) } else { heading } {
            Some(heading) => arg.help_heading(heading),
            None => arg,
        };
        arg.hide_short_help(!shown)
    })
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use crate::command::definitions;
    use crate::list::List;

    /// All commands, with what one types to get there.
    fn all(command: &Command, path: &str) -> Vec<(String, Command)> {
        let path = format!("{path} {}", command.get_name()).trim().to_owned();
        let below = command.get_subcommands().flat_map(|c| all(c, &path)).collect::<Vec<_>>();
        [(path, command.clone())].into_iter().chain(below).collect()
    }

    #[test]
    fn short_help_is_a_screen() {
        for (path, mut command) in all(&definitions(List::default()), "") {
            let text = command.render_help().to_string();
            assert!(text.lines().count() <= 40, "{path} -h has {} lines:\n{text}", text.lines().count());
        }
    }

    #[test]
    fn long_help_has_headings_and_all_flags() {
        let definitions = definitions(List::default());
        let run = definitions.find_subcommand("run").unwrap();
        let (short, long) = (run.clone().render_help().to_string(), run.clone().render_long_help().to_string());
        for heading in
            ["Parties and network:", "Program and values:", "Result:", "Material made ahead:", super::PROTOCOL]
        {
            assert!(long.contains(heading), "{heading}");
        }
        for flag in ["--kappa", "--plaintext", "--dealer", "PROGRAM is a built-in name", "WARNING: never put a copy"] {
            assert!(long.contains(flag) && !short.contains(flag), "{flag}");
        }
        for flag in ["--party", "--listen", "--connect", "--input", "--protocol", "--help says more"] {
            assert!(short.contains(flag), "{flag}");
        }
    }
}

//! Completions and the man page, out of the flag definitions.

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use comity_terminal::console::emit_bytes;
use comity_terminal::failure::{Failure, Outcome};

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

/// `comity completions SHELL`.
pub(crate) fn completions(args: &CompletionsArgs, mut definitions: Command) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut definitions, "comity", &mut script);
    let script = String::from_utf8_lossy(&script);
    emit_bytes(with_built_ins(args.shell, &script).as_bytes())
}

/// The commands whose first argument is a program.
const OF_PROGRAMS: [&str; 5] = ["run", "local", "prepare", "eval", "plan"];

/// The built-ins that are offered: those without a number in their names, and for the others an example of each.
fn built_ins() -> String {
    let numbers = |name: &str| -> Vec<String> {
        let sizes = ["64", "32", "16", "8"];
        let given = || name.replace("NxK", "16x32").replace("KxN", "32x16").replace("KofN", "4of32");
        if name.contains(|c: char| c.is_ascii_uppercase()) {
            sizes.iter().map(|size| given().replace(['N', 'W', 'K'], size)).take(1).collect()
        } else {
            vec![name.to_owned()]
        }
    };
    let names = comity_library::names().flat_map(|entry| numbers(entry.pattern));
    names.filter(|name| comity_library::is_name(name)).collect::<Vec<_>>().join(" ")
}

/// The same script, in which the first argument of commands that take a program is a built-in or a file.
fn with_built_ins(shell: Shell, script: &str) -> String {
    let names = built_ins();
    match shell {
        // What is found in no list is completed as a file: the script says so itself (`-o default`).
        Shell::Bash => OF_PROGRAMS.iter().fold(script.to_owned(), |script, command| {
            let begins = format!("        comity__subcmd__{command})\n            opts=\"");
            script.replacen(&begins, &format!("{begins}{names} "), 1)
        }),
        Shell::Zsh => {
            let action = format!("{{_alternative 'built-ins:built-in circuit:({names})' 'files:file:_files'}}");
            let mut out = String::new();
            for line in script.lines() {
                let program = line.starts_with("'::program -- ") || line.starts_with("':program -- ");
                match line.rsplit_once(":_default'").filter(|_| program) {
                    Some((before, after)) => {
                        let action = action.replace('\'', "'\\''");
                        out += &format!("{before}:{action}'{after}\n");
                    }
                    None => out += &format!("{line}\n"),
                }
            }
            out
        }
        Shell::Fish => {
            let after = OF_PROGRAMS.iter().map(|command| {
                format!("complete -c comity -n \"__fish_comity_using_subcommand {command}\" -a \"{names}\"\n")
            });
            script.to_owned() + &after.collect::<String>()
        }
        _ => script.to_owned(),
    }
}

/// `comity man`: one page, with a section for each command.
pub(crate) fn man(definitions: Command) -> Outcome {
    let mut root = definitions.disable_help_subcommand(true).disable_help_flag(true);
    root.build();
    let mut page = Vec::new();
    render(&root, &mut page).map_err(|e| Failure::input(format!("the man page: {e}")))?;
    emit_bytes(&page)
}

fn render(root: &Command, page: &mut Vec<u8>) -> std::io::Result<()> {
    let man = Man::new(root.clone());
    man.render_title(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    let mut notes = Vec::new();
    for command in root.get_subcommands() {
        section(command, page, &mut notes)?;
    }
    let mut examples = Vec::new();
    man.render_extra_section(&mut examples)?;
    verbatim(&String::from_utf8_lossy(&examples).replacen(".SH EXTRA", ".SH NOTES", 1), page);
    man.render_version_section(page)
}

/// A command's own page, turned into a section: its headings go one level down. Notes that stood in the page already
/// are not repeated.
fn section(command: &Command, page: &mut Vec<u8>, notes: &mut Vec<String>) -> std::io::Result<()> {
    if command.get_subcommands().next().is_some() {
        return command.get_subcommands().try_for_each(|c| section(c, page, notes));
    }
    let man = Man::new(command.clone().disable_help_flag(true));
    let (mut own, mut note) = (Vec::new(), Vec::new());
    man.render_synopsis_section(&mut own)?;
    man.render_description_section(&mut own)?;
    man.render_options_section(&mut own)?;
    man.render_extra_section(&mut note)?;
    let name = command.get_bin_name().unwrap_or(command.get_name()).to_uppercase();
    page.extend_from_slice(format!(".SH \"{name}\"\n").as_bytes());
    page.extend_from_slice(String::from_utf8_lossy(&own).replace(".SH ", ".SS ").as_bytes());
    let note = String::from_utf8_lossy(&note).replacen(".SH EXTRA", ".SS NOTES", 1);
    if command.get_after_help().is_some() && !notes.contains(&note) {
        verbatim(&note, page);
        notes.push(note);
    }
    Ok(())
}

/// A section whose lines stay as they are.
fn verbatim(section: &str, page: &mut Vec<u8>) {
    let (heading, lines) = section.split_once(" NOTES\n").unwrap_or((section, ""));
    page.extend_from_slice(format!("{heading} NOTES\n.nf\n{}\n.fi\n", lines.trim_end()).as_bytes());
}

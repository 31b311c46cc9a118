//! Completions and the man page, out of the flag definitions.

use clap::{Args, Command};
use clap_mangen::Man;
use comity_terminal::console::emit_bytes;
use comity_terminal::failure::{Failure, Outcome};

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// `comity completions SHELL`.
pub(crate) fn completions(args: &CompletionsArgs, mut definitions: Command) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut definitions, "comity", &mut script);
    emit_bytes(&script)
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

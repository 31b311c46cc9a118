//! The pages are the truth: every command in them is run, and what it prints is held against what stands below it.
//!
//! In a block marked `console`, a line that starts with `$ ` is a command for `sh`, run in an empty folder
//! that the page has to itself; the lines below it, up to the next command, are what it writes to standard
//! output. `…` stands for any text within a line, and alone on a line for any lines. A word before the `$`,
//! as in `alice$ `, is a person with a folder and a terminal of their own.
//!
//! A block marked `text NAME` is a file of that name in the page's folder. In it are also the repository's
//! `examples`. A block marked `rust NAME` shows the file of that name beside the page. What an example's page
//! runs by `comity local` is also run by `comity eval`, and prints the same.
//!
//! A command must succeed, unless the next one at the same prompt is `echo $?`. One with `--listen` or
//! `--group` runs in the background until its terminal is wanted again. Ports 7000 to 7002 are replaced by
//! free ones.

mod page;
mod shell;

use std::path::{Path, PathBuf};
use std::{fs, thread};

use crate::pages::page::{Command, Page};
use crate::pages::shell::Shell;

/// The pages of the book and of the examples, and the README.
fn paths() -> Vec<PathBuf> {
    let book = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages: Vec<PathBuf> = fs::read_dir(book.join("src"))
        .expect("the book has pages")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    let examples = fs::read_dir(book.join("../examples")).expect("there are examples");
    let examples = examples.map(|entry| entry.expect("the folder can be read").path().join("README.md"));
    pages.extend(examples.filter(|path| path.exists()));
    pages.extend(["../README.md", "../examples/README.md"].map(|path| book.join(path)));
    pages.sort();
    pages
}

fn read(path: &Path) -> Page {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut name = path.file_stem().expect("a page is a file").to_string_lossy().into_owned();
    if let Some(folder) = path.parent().and_then(Path::file_name).filter(|_| path.ends_with("README.md")) {
        name = format!("{}-README", folder.to_string_lossy());
    }
    let mut page = Page::new(name, &text);
    if text.contains("$ comity local examples/") {
        let clear = |command: &Command| {
            // In the clear there is no protocol.
            let text = command.text.strip_prefix("comity local ")?.replace(" --protocol gmw", "");
            Some(Command { text: format!("comity eval {text}"), ..command.clone() })
        };
        page.commands.extend(page.commands.iter().filter_map(clear).collect::<Vec<_>>());
    }
    page
}

#[test]
#[cfg(unix)]
fn every_command_does_what_the_page_says() {
    let pages: Vec<Page> = paths().iter().map(|path| read(path)).collect();
    let commands: usize = pages.iter().map(|page| page.commands.len()).sum();
    assert!(commands >= 40, "only {commands} commands were found: are the blocks still marked `console`?");
    let shells: Vec<Shell> = pages.iter().map(Shell::new).collect();
    let failures: Vec<String> = thread::scope(|scope| {
        let runs: Vec<_> = shells.into_iter().map(|shell| scope.spawn(|| shell.run())).collect();
        runs.into_iter().flat_map(|run| run.join().expect("a page's thread")).collect()
    });
    assert!(failures.is_empty(), "{} of {commands} commands failed\n\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_page_is_in_the_summary_and_every_link_leads_somewhere() {
    let mut linked = Vec::new();
    for path in paths() {
        let folder = path.parent().expect("a page lies in a folder").to_owned();
        for link in read(&path).links {
            let target = folder.join(link.split('#').next().expect("split yields one piece at least"));
            assert!(target.exists(), "{}: the link to {link} leads nowhere", path.display());
            if path.ends_with("SUMMARY.md") {
                linked.push(target);
            }
        }
    }
    for path in paths() {
        let listed = path.ends_with("SUMMARY.md") || path.ends_with("README.md") || linked.contains(&path);
        assert!(listed, "{} is not in SUMMARY.md", path.display());
    }
}

#[test]
fn every_listing_is_the_file_beside_the_page() {
    let pages: Vec<(PathBuf, Page)> = paths().into_iter().map(|path| (path.clone(), read(&path))).collect();
    assert!(pages.iter().map(|(_, page)| page.listings.len()).sum::<usize>() >= 10, "are the examples still shown?");
    for (path, page) in pages {
        for (name, shown) in page.listings {
            let text = fs::read_to_string(path.with_file_name(&name)).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(shown, text, "{}: {name} is shown as it was", path.display());
        }
    }
}

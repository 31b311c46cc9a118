//! The list of the functions that `make mutants` breaks.

use std::fs;
use std::path::Path;

#[test]
fn every_function_that_is_listed_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the harness is a folder of the workspace");
    let list = fs::read_to_string(root.join("testing/mutants/functions")).expect("the list");
    for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (file, function) = line.split_once(' ').expect("a file and a function");
        let (of, name) = function.rsplit_once("::").unwrap_or(("", function));
        let source = fs::read_to_string(root.join(file)).unwrap_or_default();
        let is_it = |line: &&str| {
            let rest = line.split_once(&format!("fn {name}")).map(|(_, rest)| rest);
            // A method is indented, and a function is not.
            rest.is_some_and(|rest| rest.starts_with(['(', '<'])) && line.starts_with("    ") != of.is_empty()
        };
        // `Type<'a>`, or `<impl Trait for Type>`.
        let of = of.trim_matches(['<', '>']).rsplit(' ').next().and_then(|of| of.split('<').next()).unwrap_or_default();
        let implements = |line: &str| line.starts_with("impl") && line.contains(of);
        assert!(
            source.lines().any(|line| is_it(&line)) && (of.is_empty() || source.lines().any(implements)),
            "testing/mutants/functions: there is no {function} in {file}"
        );
    }
}

/// One place of a patch: the lines that it looks for, and what it makes of them.
struct Hunk {
    file: String,
    before: String,
    after: String,
}

/// The changes of a patch, as `git diff` writes them. Numbers of lines are not looked at.
fn hunks(patch: &str) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut file = None;
    for line in patch.lines().skip_while(|line| !line.starts_with("--- a/")) {
        if let Some(name) = line.strip_prefix("+++ b/") {
            file = Some(name.to_owned());
        } else if line.starts_with("@@ ") {
            let file = file.clone().expect("a file before its changes");
            hunks.push(Hunk { file, before: String::new(), after: String::new() });
        } else if let (false, Some(hunk)) = (line.starts_with("--- a/"), hunks.last_mut()) {
            let (kind, text) = line.split_at_checked(1).unwrap_or((" ", ""));
            if kind != "+" {
                hunk.before += &format!("{text}\n");
            }
            if kind != "-" {
                hunk.after += &format!("{text}\n");
            }
        }
    }
    hunks
}

#[test]
fn every_mutant_made_by_hand_applies() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the harness is a folder of the workspace");
    let folder = root.join("testing/mutants/made");
    for entry in fs::read_dir(folder).expect("the patches") {
        let path = entry.expect("a patch").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let patch = fs::read_to_string(&path).expect("a patch");
        assert!(patch.contains("\nNoticed by: cargo test -p "), "{name} does not say which tests notice it");
        let hunks = hunks(&patch);
        assert!(!hunks.is_empty(), "{name} changes nothing");
        for Hunk { file, before, after } in hunks {
            let source = fs::read_to_string(root.join(&file)).unwrap_or_default();
            let places = source.matches(&before).count();
            assert!(
                places == 1 && before != after,
                "testing/mutants/made/{name}: these lines stand in {file} {places} times, and not once: mend the patch\n{before}"
            );
        }
    }
}

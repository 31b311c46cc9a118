//! One word for one thing: the glossary against the names in the code.
//!
//! What is in the way today stands in `words.txt`, each line with a reason; a line that is needed no more has to go.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What a line of `words.txt` allows, and why.
struct Exception {
    /// `type` or `word`.
    what: String,
    name: String,
    crates: BTreeSet<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the book is a folder of the workspace").to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// `type NAME: CRATE, CRATE: why`, or `word NAME: ...`. Lines that begin with # are comments.
fn exceptions(what: &str) -> Vec<Exception> {
    let text = read("book/tests/words.txt");
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let all = lines.map(|line| {
        let mut fields = line.splitn(3, ':').map(str::trim);
        let (Some(name), Some(crates), Some(why)) = (fields.next(), fields.next(), fields.next()) else {
            panic!("words.txt: `{line}` is not `type|word NAME: CRATES: why`")
        };
        let (what, name) = name.split_once(' ').unwrap_or_else(|| panic!("words.txt: `{line}` names nothing"));
        assert!(!why.is_empty(), "words.txt: `{line}` has no reason");
        let crates = crates.split(',').map(|name| name.trim().to_owned()).collect();
        Exception { what: what.to_owned(), name: name.to_owned(), crates }
    });
    all.filter(|exception| exception.what == what).collect()
}

/// The source of each crate, without its tests, comments and strings.
fn sources() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for floor in ["foundation", "systems", "front"] {
        let crates = fs::read_dir(root().join("crates").join(floor)).expect("a floor is a folder");
        for krate in crates.map(|entry| entry.expect("a folder can be read").path()) {
            let name = krate.file_name().expect("a crate has a name").to_string_lossy().into_owned();
            collect(&krate.join("src"), &name, &mut all);
        }
    }
    all
}

fn collect(folder: &Path, name: &str, all: &mut Vec<(String, String)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.expect("a folder can be read").path()) {
        let file = path.file_name().expect("a file has a name").to_string_lossy();
        if path.is_dir() && file != "tests" {
            collect(&path, name, all);
        } else if path.extension().is_some_and(|end| end == "rs") && file != "tests.rs" {
            all.push((name.to_owned(), code(&fs::read_to_string(&path).expect("source is UTF-8"))));
        }
    }
}

/// Source without comments and strings.
fn code(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(first) = rest.chars().next() {
        let after = |end: Option<usize>, len: usize| end.map_or(rest.len(), |end| end + len);
        let raw = rest.strip_prefix('r').map(|rest| rest.len() - rest.trim_start_matches('#').len());
        let in_name = out.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let skipped = if rest.starts_with("//") {
            after(rest.find('\n'), 0)
        } else if rest.starts_with("/*") {
            after(rest.find("*/"), 2)
        } else if let Some(hashes) = raw.filter(|&hashes| !in_name && rest[1 + hashes..].starts_with('"')) {
            let end = format!("\"{}", "#".repeat(hashes));
            2 + hashes + rest[2 + hashes..].find(&end).map_or(0, |at| at + end.len())
        } else if first == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            after(end, 2)
        } else if rest.starts_with("'\"'") {
            3
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        out.push(' ');
        rest = &rest[skipped..];
    }
    out
}

fn identifiers(code: &str) -> impl Iterator<Item = &str> {
    let words = code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

/// The words of an identifier: `PreparedLot` and `prepared_lot` have two.
fn parts(identifier: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut lower = false;
    for c in identifier.chars() {
        if c == '_' || c.is_ascii_uppercase() && lower {
            parts.push(String::new());
        }
        lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        if c != '_' {
            parts.last_mut().expect("there is one").push(c.to_ascii_lowercase());
        }
    }
    parts
}

/// Types that are public where they stand.
fn public_types(code: &str) -> Vec<String> {
    let words: Vec<&str> = code.split_whitespace().collect();
    let kinds = ["struct", "enum", "trait", "type", "union"];
    let named = words.windows(3).filter(|words| words[0] == "pub" && kinds.contains(&words[1]));
    named.filter_map(|words| identifiers(words[2]).next()).map(str::to_owned).collect()
}

/// What is there, by name and crate, and not allowed; and what is allowed and not there.
fn compare(found: BTreeMap<String, BTreeSet<String>>, allowed: &[Exception]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, crates) in &found {
        let exception = allowed.iter().find(|exception| exception.name == *name);
        let left: Vec<&str> =
            crates.iter().filter(|c| exception.is_none_or(|e| !e.crates.contains(*c))).map(String::as_str).collect();
        if !left.is_empty() {
            wrong.push(format!("`{name}` is in {}", left.join(", ")));
        }
    }
    for exception in allowed {
        let there = found.get(&exception.name).cloned().unwrap_or_default();
        let gone: Vec<&str> = exception.crates.difference(&there).map(String::as_str).collect();
        if !gone.is_empty() {
            wrong.push(format!(
                "`{}` is not in {} any more: take it out of words.txt",
                exception.name,
                gone.join(", ")
            ));
        }
    }
    wrong
}

#[test]
fn a_public_type_has_its_name_in_one_crate_only() {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (krate, code) in sources() {
        for name in public_types(&code) {
            found.entry(name).or_default().insert(krate.clone());
        }
    }
    assert!(found.len() > 300, "only {} types were found", found.len());
    found.retain(|_, crates| crates.len() > 1);
    let wrong = compare(found, &exceptions("type"));
    assert!(wrong.is_empty(), "types of one name:\n{}", wrong.join("\n"));
}

/// The words that the glossary gives up, in the first column of its table: `word`, or `word (name)` if only
/// types and modules must not be called so.
fn given_up() -> BTreeMap<String, bool> {
    let page = read("book/src/glossary.md");
    let (_, table) = page.split_once("| not | but |").expect("the glossary ends with the words that are not used");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let words = rows.flat_map(|row| row.split('|').nth(1).expect("a row has two columns").split(','));
    words
        .map(|word| match word.trim().strip_suffix("(name)") {
            Some(word) => (word.trim().to_owned(), true),
            None => (word.trim().to_owned(), false),
        })
        .collect()
}

#[test]
fn words_that_the_glossary_gives_up_are_no_names() {
    let words = given_up();
    assert!(words.len() > 10, "{words:?}");
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let kinds = ["struct", "enum", "trait", "type", "mod"];
    for (krate, code) in sources() {
        let all: Vec<&str> = identifiers(&code).collect();
        for pair in all.windows(2) {
            for part in parts(pair[1]) {
                if words.get(&part).is_some_and(|name| !name || kinds.contains(&pair[0])) {
                    found.entry(part).or_default().insert(krate.clone());
                }
            }
        }
    }
    let wrong = compare(found, &exceptions("word"));
    assert!(wrong.is_empty(), "words that the glossary does not use:\n{}", wrong.join("\n"));
}

#[test]
fn terms_of_the_field_stand_in_the_glossary() {
    let page = read("book/src/glossary.md").to_lowercase();
    let bold: Vec<&str> = page.split("**").skip(1).step_by(2).collect();
    let defined = |term: &str| {
        bold.iter()
            .any(|entry| entry.split([',', '(', ')']).any(|name| name.split_whitespace().eq(term.split_whitespace())))
    };
    let rules = read("CONTRIBUTING.md");
    let (_, words) = rules.split_once("\n## Words\n").expect("CONTRIBUTING has a section on words");
    let words = words.split("\n## ").next().expect("a section has a text").to_lowercase();
    let marked = |mark: char| words.split(mark).skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let terms: Vec<String> = [marked('*'), marked('`')].concat();
    assert!(terms.len() > 20, "{terms:?}");
    let missing: Vec<&String> = terms.iter().filter(|term| !defined(term)).collect();
    assert!(missing.is_empty(), "not in the glossary: {missing:?}");
}

#[test]
fn code_is_told_from_comments_and_strings() {
    let text = "fn a() { // stock\n let b = \"stock \\\" stock\"; /* stock */ r#\"sto\"ck\"#; 'x'; '\"'; for_r\"\"; c::<'_>() }";
    let found: Vec<String> = identifiers(&code(text)).map(str::to_owned).collect();
    assert_eq!(found, ["fn", "a", "let", "b", "x", "for_r", "c", "_"]);
    assert_eq!(parts("PreparedLot_of2Ots"), ["prepared", "lot", "of2", "ots"]);
    assert_eq!(public_types("pub struct A<B>; pub(crate) struct C; pub type D = E;"), ["A", "D"]);
}

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

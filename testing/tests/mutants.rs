//! The list of the functions that `make mutants` breaks.

use std::fs;
use std::path::Path;

#[test]
fn every_function_that_is_listed_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the harness is a folder of the workspace");
    let list = fs::read_to_string(root.join("testing/mutants/functions")).expect("the list");
    for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (file, function) = line.split_once(' ').expect("a file and a function");
        let name = format!("fn {}", function.rsplit("::").next().expect("a name"));
        let source = fs::read_to_string(root.join(file)).unwrap_or_default();
        let ends = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
        assert!(
            source.match_indices(&name).any(|(at, _)| ends(&source[at + name.len()..])),
            "testing/mutants/functions: there is no {function} in {file}"
        );
    }
}

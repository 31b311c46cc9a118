//! A page: the commands in its `console` blocks, the files in its `text NAME` blocks, its listings, and its links.

/// What of a page is tested.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) name: String,
    pub(crate) commands: Vec<Command>,
    /// Names and contents.
    pub(crate) files: Vec<(String, String)>,
    /// Names and contents of the files beside it that it shows, in `rust NAME` blocks.
    pub(crate) listings: Vec<(String, String)>,
    /// The targets of its links, other than to other sites and within the page.
    pub(crate) links: Vec<String>,
}

/// A command and what it prints.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Command {
    /// Where it stands in the page.
    pub(crate) line: usize,
    /// Who types it; empty where no name stands before the `$`.
    pub(crate) who: String,
    pub(crate) text: String,
    pub(crate) expected: Vec<String>,
}

impl Page {
    pub(crate) fn new(name: String, text: &str) -> Page {
        let mut page = Page { name, ..Page::default() };
        // What kind of block the line is in, and whether the line before it goes on.
        let (mut block, mut continued) = (None, false);
        for (number, line) in text.lines().enumerate() {
            match (line.trim_start().strip_prefix("```"), block) {
                (Some(kind), None) => {
                    (block, continued) = (Some(kind), false);
                    for (word, files) in [("text ", &mut page.files), ("rust ", &mut page.listings)] {
                        files.extend(kind.strip_prefix(word).map(|name| (name.to_owned(), String::new())));
                    }
                }
                (Some(_), Some(_)) => block = None,
                (None, Some("console")) => continued = page.console(number + 1, line, continued),
                (None, Some(kind)) => {
                    let files = match kind.split_once(' ') {
                        Some(("text", _)) => &mut page.files,
                        Some(("rust", _)) => &mut page.listings,
                        _ => continue,
                    };
                    if let Some((_, text)) = files.last_mut() {
                        *text += &format!("{line}\n");
                    }
                }
                (None, None) => page.links.extend(links(line)),
            }
        }
        page
    }

    /// Takes a line of a block; returns whether the next line continues its command.
    fn console(&mut self, line: usize, text: &str, continued: bool) -> bool {
        let (begins, rest) = match prompt(text) {
            Some((who, rest)) if !continued => {
                let (who, text) = (who.to_owned(), String::new());
                self.commands.push(Command { line, who, text, expected: Vec::new() });
                (true, rest)
            }
            _ => (continued, text),
        };
        let Some(command) = self.commands.last_mut() else {
            panic!("{}:{line}: a console block begins with a command", self.name);
        };
        if !begins {
            command.expected.push(rest.trim_end().to_owned());
            return false;
        }
        match rest.strip_suffix('\\') {
            Some(part) => command.text += part,
            None => command.text += rest,
        }
        rest.ends_with('\\')
    }
}

/// `who$ command`.
fn prompt(line: &str) -> Option<(&str, &str)> {
    let (who, command) = line.split_once("$ ")?;
    who.chars().all(|c| c.is_ascii_lowercase()).then_some((who, command))
}

/// The targets of `[text](target)` in a line that are files.
fn links(line: &str) -> Vec<String> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|t| !t.contains("://") && !t.starts_with('#')).map(str::to_owned).collect()
}

/// Whether what was printed is what the page shows.
pub(crate) fn matches(expected: &[String], printed: &[&str]) -> bool {
    match (expected.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((any, rest)), _) if any.trim() == "…" => {
            (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..]))
        }
        (Some((line, rest)), Some((text, more))) => line_matches(line, text.trim_end()) && matches(rest, more),
        _ => false,
    }
}

fn line_matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('…') {
        None => pattern == text,
        Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| line_matches(after, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_links_are_found() {
        let text = "\
See [this](a.md) and [that](b.md#part), not [there](https://example.org) or [here](#part).
```console
$ echo \\
  one
one
alice$ true
```
```sh
$ not this [or](this.md)
```
```text a.txt
a

b
```
```rust b.cty
c
```
```console
bob$ echo 'a$ b'
a$ b?
```
";
        let page = Page::new("test".into(), text);
        assert_eq!(page.links, ["a.md", "b.md#part"]);
        assert_eq!(page.files, [("a.txt".to_owned(), "a\n\nb\n".to_owned())]);
        assert_eq!(page.listings, [("b.cty".to_owned(), "c\n".to_owned())]);
        let command = |line, who: &str, text: &str, expected: &[&str]| Command {
            line,
            who: who.into(),
            text: text.into(),
            expected: expected.iter().map(|&e| e.into()).collect(),
        };
        assert_eq!(page.commands[..2], [command(3, "", "echo   one", &["one"]), command(6, "alice", "true", &[])]);
        assert_eq!(page.commands[2].who, "bob");
    }

    #[test]
    fn an_ellipsis_is_any_text_and_nothing_else_is() {
        let is = |expected: &[&str], printed: &[&str]| {
            matches(&expected.iter().map(|&e| e.to_owned()).collect::<Vec<_>>(), printed)
        };
        assert!(is(&["in … ms, … bytes"], &["in 3.1 ms, 77 bytes"]));
        assert!(!is(&["in … ms, … bytes"], &["in 3.1 ms, 77 bits"]));
        assert!(is(&["a", "…", "z"], &["a", "b", "c", "z"]) && is(&["a", "…", "z"], &["a", "z"]));
        assert!(!is(&["a", "…", "z"], &["a", "b"]));
        assert!(is(&[], &[]) && !is(&[], &["a"]) && !is(&["a"], &[]) && !is(&["a"], &["a", "b"]));
    }
}

//! Where statements and values come from: a person at a terminal, who may edit and call back lines, or a file.

use std::io::{BufRead, StdinLock};

use comity_terminal::console::note;
use comity_terminal::failure::{Failure, Outcome};
use rustyline::error::ReadlineError;
use rustyline::history::{History, MemHistory};
use rustyline::{Behavior, Config, Editor};
use zeroize::Zeroizing;

/// Lines that are typed.
pub(super) enum Typed {
    /// A person, with a line editor. Earlier lines are held in memory and go to no file.
    Person(Box<Editor<(), MemHistory>>),
    /// A file or a pipe: nobody is asked, and nothing is shown.
    Piped(StdinLock<'static>),
}

impl Typed {
    /// A person's lines. The editor talks to the terminal itself, so that results may go elsewhere.
    pub(super) fn person() -> Outcome<Typed> {
        let config = Config::builder().behavior(Behavior::PreferTerm).auto_add_history(false).build();
        let history = MemHistory::with_config(&config);
        let editor = Editor::with_history(config, history);
        Ok(Typed::Person(Box::new(editor.map_err(|e| Failure::input(format!("the terminal: {e}")))?)))
    }

    /// Whether somebody types, and wants to be asked.
    pub(super) fn is_person(&self) -> bool {
        matches!(self, Typed::Person(_))
    }

    /// The next line, which may hold a secret; `None` at the end.
    pub(super) fn line(&mut self, prompt: &str) -> Outcome<Option<Zeroizing<String>>> {
        let failed = |e: &dyn std::fmt::Display| Failure::input(format!("standard input: {e}"));
        match self {
            Typed::Person(editor) => match editor.readline(prompt) {
                Ok(line) => Ok(Some(Zeroizing::new(line))),
                Err(ReadlineError::Eof) => Ok(None),
                // Ctrl-C drops the line, as a shell does.
                Err(ReadlineError::Interrupted) => {
                    note("`quit` or Ctrl-D ends the session");
                    Ok(Some(Zeroizing::new(String::new())))
                }
                Err(e) => Err(failed(&e)),
            },
            Typed::Piped(input) => {
                let mut line = Zeroizing::new(String::new());
                match input.read_line(&mut line) {
                    Ok(0) => Ok(None),
                    Ok(_) => Ok(Some(line)),
                    Err(e) => Err(failed(&e)),
                }
            }
        }
    }

    /// Keeps a statement to be called back: as the other parties hear it, without the value that may stand behind it.
    pub(super) fn remember(&mut self, statement: &str) {
        if let Typed::Person(editor) = self {
            // A history that is full or off only means that nothing is called back.
            let _ = editor.history_mut().add(statement);
        }
    }
}

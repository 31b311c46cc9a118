//! Runs a page's commands, each person's in a folder of their own.

use std::collections::HashMap;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use std::{process, thread};

use comity_testing::PATIENCE;

use crate::pages::page::{Command, Page, matches};

pub(crate) struct Shell<'a> {
    page: &'a Page,
    folder: PathBuf,
    ports: [u16; 3],
    /// Holds the ports until the page runs, so that no two pages get the same.
    reserved: Vec<TcpListener>,
    /// The exit code of each person's last command, and whether it was looked at.
    codes: HashMap<&'a str, (i32, &'a Command)>,
    /// The commands that still run.
    running: HashMap<&'a str, (&'a Command, Child)>,
    failures: Vec<String>,
}

impl<'a> Shell<'a> {
    pub(crate) fn new(page: &'a Page) -> Shell<'a> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{}", page.name, process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join(".bin")).expect("the folder can be made");
        let command = env!("CARGO_BIN_EXE_comity-book");
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
        #[cfg(unix)]
        for (target, link) in [(command, ".bin/comity"), (examples, "examples")] {
            std::os::unix::fs::symlink(target, folder.join(link)).expect("it can be linked");
        }
        for (name, text) in &page.files {
            fs::write(folder.join(name), text).expect("the page's files can be written");
        }
        let reserved = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port is free"));
        let ports = reserved.each_ref().map(|held| held.local_addr().expect("it is bound").port());
        let (codes, running) = (HashMap::new(), HashMap::new());
        Shell { page, folder, ports, reserved: reserved.into(), codes, running, failures: Vec::new() }
    }

    /// Runs everything; returns what went otherwise than the page says.
    pub(crate) fn run(mut self) -> Vec<String> {
        self.reserved.clear();
        for command in &self.page.commands {
            self.wait(&command.who);
            if command.text != "echo $?" {
                self.expect_success(&command.who);
            }
            match self.start(command) {
                Ok(child) => self.running.insert(&command.who, (command, child)),
                Err(error) => panic!("{}:{}: `sh` does not start: {error}", self.page.name, command.line),
            };
            if !["--listen", "--group"].iter().any(|flag| command.text.contains(flag)) {
                self.wait(&command.who);
            }
        }
        for who in self.page.commands.iter().map(|c| &c.who) {
            self.wait(who);
            self.expect_success(who);
        }
        if self.failures.is_empty() {
            let _ = fs::remove_dir_all(&self.folder);
        }
        self.failures
    }

    fn start(&self, command: &Command) -> std::io::Result<Child> {
        let home = self.folder.join(&command.who);
        fs::create_dir_all(&home)?;
        let path = std::env::join_paths(
            [self.folder.join(".bin")]
                .into_iter()
                .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
        );
        // So that `$?` is what it would be in a terminal.
        let before = self.codes.get(command.who.as_str()).map_or(0, |code| code.0);
        let text = self.here(&command.text);
        process::Command::new("sh")
            .args(["-c", &format!("(exit {before}); {text}")])
            .current_dir(&home)
            .env("PATH", path.map_err(std::io::Error::other)?)
            .env_remove("COMITY_BACKEND")
            .stdin(Stdio::null())
            .stdout(File::create(self.capture(command, "out"))?)
            .stderr(File::create(self.capture(command, "err"))?)
            .spawn()
    }

    /// Waits for this person's terminal to be free, and judges the command that ran there.
    fn wait(&mut self, who: &str) {
        let Some((command, mut child)) = self.running.remove(who) else { return };
        let begin = Instant::now();
        let code = loop {
            if let Ok(Some(status)) = child.try_wait() {
                break status.code().unwrap_or(-1);
            }
            if begin.elapsed() > PATIENCE {
                let _ = child.kill();
                let _ = child.wait();
                self.fail(command, "it does not end");
                break 0;
            }
            thread::sleep(Duration::from_millis(5));
        };
        self.codes.insert(&command.who, (code, command));
        let printed = self.printed(command, "out");
        if !matches(&command.expected, &printed.lines().collect::<Vec<_>>()) {
            self.fail(command, &format!("the page shows\n{}\nand it is\n{printed}", command.expected.join("\n")));
        }
    }

    fn expect_success(&mut self, who: &str) {
        if let Some((code, command)) = self.codes.remove(who).filter(|&(code, _)| code != 0) {
            self.fail(command, &format!("exit code {code}, and the page does not say so with `echo $?`"));
        }
    }

    fn fail(&mut self, command: &Command, why: &str) {
        let (page, line, text, err) = (&self.page.name, command.line, &command.text, self.printed(command, "err"));
        self.failures.push(format!("{page}:{line}: {text}\n{why}\nstandard error: {err}"));
    }

    /// What the command wrote, with the page's ports again, and with the time-out that readers have.
    fn printed(&self, command: &Command, stream: &str) -> String {
        let text = fs::read_to_string(self.capture(command, stream)).unwrap_or_else(|e| format!("({e})"));
        let names = (7000..).zip(self.ports);
        let text = names.fold(text, |text, (name, port)| text.replace(&format!(":{port}"), &format!(":{name}")));
        text.replace(&format!("up to {} s", PATIENCE.as_secs()), "up to 30 s")
    }

    fn here(&self, text: &str) -> String {
        let names = (7000..).zip(self.ports);
        names.fold(text.to_owned(), |text, (name, port)| text.replace(&format!(":{name}"), &format!(":{port}")))
    }

    fn capture(&self, command: &Command, stream: &str) -> PathBuf {
        self.folder.join(format!(".bin/{}.{stream}", command.line))
    }
}

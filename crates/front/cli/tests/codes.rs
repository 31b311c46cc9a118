//! Exit codes: 2 is for mistakes, 3 for disks, whatever the command. And no command writes over what it reads.

#![cfg(unix)]

use std::fs;
use std::process::{Command, Stdio};

use crate::common::*;

/// All files that commands read.
struct Files(Folder);

impl Files {
    fn new(test: &str) -> Files {
        let folder = Folder::new(test);
        folder.file("p.cty", "parties prover, public;\nfn main(x: u8 from prover) -> (accept: bool) { x > 3 }\n");
        folder.file("add.cty", "parties a, b;\nfn main(x: u8 from a, y: u8 from b) -> u8 { x + y }\n");
        folder.file("table.csv", "id,name\n1,one\n2,two\n");
        folder.file("more.csv", "id,name\n3,three\n");
        folder.file("value", "dec:7");
        let all = Files(folder);
        let state = ["psi", "publish", "table.csv", "--key", "id", "--state", "S", "--out", "base.psi"];
        all.run(&state).ok();
        all.run(&["nisc", "publish", "add8", "--input", "0=u8:1", "--out", "query", "--secret", "secret"]).ok();
        all
    }

    /// The command, in the folder.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = command(args);
        command.current_dir(self.0.path("."));
        command
    }

    fn run(&self, args: &[&str]) -> Done {
        self.command(args).output().unwrap().into()
    }

    /// The command on a disk that takes nothing.
    fn full(&self, args: &[&str]) -> Done {
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -f 0; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_comity")]).args(args);
        shell.current_dir(self.0.path(".")).stdin(Stdio::null()).output().unwrap().into()
    }

    fn names(&self) -> Vec<String> {
        let files =
            fs::read_dir(self.0.path(".")).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = files.collect();
        names.sort_unstable();
        names
    }
}

/// Commands that write.
const WRITE: [&[&str]; 11] = [
    &["eval", "add.cty", "-i", "dec:1", "-i", "0x01", "--output", "new"],
    &["local", "add.cty", "-i", "dec:1", "-i", "01", "--protocol", "yao", "--output", "new"],
    &["circuit", "export", "add8", "--output", "new"],
    &["plan", "add8", "--plot", "new"],
    &["zk", "prove", "p.cty", "--secret", "x=7", "--out", "new"],
    &["nisc", "respond", "query", "--input", "u8:1", "--out", "new"],
    &["nisc", "publish", "add8", "--input", "0=u8:1", "--out", "new", "--secret", "newer"],
    &["psi", "publish", "table.csv", "--key", "id", "--state", "T", "--out", "new"],
    &["psi", "update", "--state", "S", "--add", "more.csv", "--key", "id", "--out", "new"],
    &["key", "new", "keys"],
    &["group", "add", "group.toml", "--name", "a", "--address", "127.0.0.1:7000"],
];

#[test]
fn a_disk_that_is_full_is_3_and_leaves_nothing() {
    let files = Files::new("codes-full");
    let before = files.names();
    for args in WRITE {
        let done = files.full(args);
        assert_eq!(done.code, 3, "{args:?}: {}", done.err);
        assert!(done.err.starts_with("error: ") || done.err.contains("\nerror: "), "{args:?}: {}", done.err);
        let left: Vec<_> = files.names().into_iter().filter(|name| !before.contains(name) && name != "keys").collect();
        assert!(left.is_empty(), "{args:?}: {left:?}");
    }
}

#[test]
fn a_file_that_is_not_there_is_2() {
    let files = Files::new("codes-missing");
    for args in [
        &["eval", "none.cty"][..],
        &["eval", "add.cty", "-i", "@none", "-i", "01"],
        &["run", "add.cty", "--party", "0", "--listen", "127.0.0.1:0", "-i", "@none"],
        &["run", "--job", "none"],
        &["serve", "none"],
        &["run", "add8", "--group", "none", "--party", "0"],
        &["run", "add8", "--party", "0", "--listen", "127.0.0.1:0", "-i", "01", "--tls", "none"],
        &["local", "none.cty"],
        &["circuit", "info", "none.txt"],
        &["circuit", "check", "none.txt"],
        &["plan", "none.cty"],
        &["zk", "prove", "none.cty", "--secret", "x=7", "--out", "new"],
        &["zk", "verify", "p.cty", "--proof", "none"],
        &["nisc", "respond", "none", "--input", "u8:1", "--out", "new"],
        &["nisc", "open", "none", "none"],
        &["psi", "none.csv", "--key", "id", "--listen", "127.0.0.1:0"],
        &["psi", "publish", "none.csv", "--key", "id", "--state", "T", "--out", "new"],
        &["psi", "update", "--state", "S", "--add", "none.csv", "--key", "id", "--out", "new"],
        &["psi", "query", "table.csv", "--key", "id", "--base", "none", "--connect", "127.0.0.1:1", "--out", "new"],
        &["key", "show", "none"],
        &["group", "show", "none"],
        &["store", "list", "--store", "none", "--key-file", "none"],
        &["eval", "add.cty", "-i", "01", "-i", "01", "--output", "none/new"],
        &["circuit", "export", "add8", "--output", "none/new"],
    ] {
        let done = files.run(args);
        assert_eq!(done.code, 2, "{args:?}: {}", done.err);
    }
}

/// A pipe without a writer, or a device without an end, is waited for by nobody.
#[test]
fn what_is_no_file_is_2() {
    let files = Files::new("codes-pipes");
    assert!(Command::new("mkfifo").arg(files.0.path("pipe")).status().unwrap().success());
    for pipe in ["pipe", "/dev/zero"] {
        for args in [
            &["run", "--job", pipe][..],
            &["run", "add8", "--group", pipe, "--party", "0"],
            &["group", "show", pipe],
            &["store", "list", "--store", ".", "--key-file", pipe],
            &["psi", "query", "table.csv", "--key", "id", "--base", pipe, "--connect", "127.0.0.1:1", "--out", "new"],
        ] {
            let done = files.run(args);
            assert_eq!(done.code, 2, "{args:?}: {}", done.err);
        }
    }
    let passphrase = ["store", "list", "--store", ".", "--passphrase-file", "/dev/zero"];
    files.run(&passphrase).fails(2, &["should be short"]);
}

/// What is read is not lost, whatever the output is called.
#[test]
fn no_output_takes_the_place_of_an_input() {
    let files = Files::new("codes-onto");
    fs::hard_link(files.0.path("add.cty"), files.0.path("same.cty")).unwrap();
    std::os::unix::fs::symlink("table.csv", files.0.path("link.csv")).unwrap();
    let held = |name: &str| fs::read(files.0.path(name)).unwrap();
    let names = ["add.cty", "p.cty", "table.csv", "value", "base.psi", "query", "secret"];
    let before = names.map(held);
    for args in [
        &["eval", "add.cty", "-i", "01", "-i", "01", "--output", "add.cty"][..],
        &["eval", "add.cty", "-i", "01", "-i", "01", "-o", "same.cty"],
        &["eval", "add.cty", "-i", "x=@value", "-i", "01", "--output=value"],
        &["local", "add.cty", "-i", "01", "-i", "01", "--output", "add.cty"],
        &["run", "add.cty", "--party", "0", "--listen", "127.0.0.1:0", "-i", "@value", "-o", "value"],
        &["circuit", "export", "add.cty", "--flatten", "--output", "add.cty"],
        &["plan", "add.cty", "--plot", "add.cty"],
        &["zk", "prove", "p.cty", "--secret", "x=@value", "--out", "value"],
        &["zk", "prove", "p.cty", "--secret", "x=7", "--out", "p.cty"],
        &["nisc", "respond", "query", "--input", "u8:1", "--out", "query"],
        &["nisc", "refresh", "secret", "--out", "secret"],
        &["psi", "table.csv", "--key", "id", "--listen", "127.0.0.1:0", "--out", "link.csv"],
        &["psi", "publish", "table.csv", "--key", "id", "--state", "T", "--out", "table.csv"],
        &[
            "psi",
            "query",
            "table.csv",
            "--key",
            "id",
            "--base",
            "base.psi",
            "--connect",
            "127.0.0.1:1",
            "--out",
            "base.psi",
        ],
    ] {
        let done = files.run(args);
        assert_eq!(done.code, 2, "{args:?}: {}", done.err);
        assert!(done.err.contains("also reads this file"), "{args:?}: {}", done.err);
    }
    assert!(names.map(held) == before);
}

/// A result that nobody hears is lost, and not done.
#[test]
fn a_result_that_nobody_takes_is_3() {
    let files = Files::new("codes-closed");
    for args in [
        &["eval", "add.cty", "-i", "01", "-i", "01"][..],
        &["eval", "add.cty", "-i", "01", "-i", "01", "--json"],
        &["local", "add.cty", "-i", "01", "-i", "01", "--protocol", "yao"],
    ] {
        let mut child = files.command(args).spawn().unwrap();
        drop(child.stdout.take());
        let done: Done = child.wait_with_output().unwrap().into();
        done.fails(3, &["standard output"]);
        #[cfg(target_os = "linux")]
        {
            let full = fs::File::options().write(true).open("/dev/full").unwrap();
            let done: Done = files.command(args).stdout(full).output().unwrap().into();
            done.fails(3, &["standard output"]);
        }
    }
    // One who has heard enough of a circuit is no failure.
    let mut child = files.command(&["circuit", "export", "sha256"]).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// More keys than any machine holds are refused before anything is reckoned with them.
#[test]
fn more_keys_than_there_can_be_are_not_reckoned_with() {
    for (mine, theirs) in [("1e15", "10"), ("10", "1e18"), ("1099511627777", "1")] {
        comity(&["psi", "plan", "--mine", mine, "--theirs", theirs]).fails(2, &["too many"]);
    }
}

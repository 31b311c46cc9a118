//! `comity serve`: run after run, whoever comes.

use std::io::Write;
use std::net::TcpStream;

use crate::common::*;
use crate::job::job;

/// A service in the background.
pub(crate) struct Service {
    party: Background,
    pub(crate) address: String,
}

impl Service {
    pub(crate) fn start(job: &str, args: &[&str]) -> Service {
        let mut party = Background::start(command(&[&["serve", job, "--party", "alice"], args].concat()));
        let address = party.address_after("serving at ").expect("it serves");
        Service { party, address }
    }

    pub(crate) fn end(self) -> Done {
        self.party.end()
    }
}

fn bob(job: &str, value: &str) -> Done {
    comity(&["run", "--job", job, "--party", "bob", "--input", value])
}

#[test]
fn a_service_runs_until_its_peers_have_had_their_runs() {
    let folder = Folder::new("serve-runs");
    let job = job(&folder, "job.toml", "runs = 3");
    let (value, log, outputs) = (folder.file("value", "dec:40"), folder.path("log"), folder.path("."));
    let input = format!("0=@{value}");
    let args = ["--input", &input, "--log", &log, "--outputs", &outputs];
    let service = Service::start(&job, &args);
    assert_eq!(bob(&job, "dec:2").ok(), "000000000000002a\n");
    // Strangers, and one who wants something else, come between; and the value has changed.
    let mut stranger = TcpStream::connect(&service.address).unwrap();
    stranger.write_all(b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n").unwrap();
    std::fs::write(&value, "dec:50").unwrap();
    let text = std::fs::read_to_string(&job).unwrap().replace("runs = 3", "runs = 4");
    let other = folder.file("other.toml", &text);
    bob(&other, "dec:1").fails(2, &["disagree on the job"]);
    // The value of this run was read when the wait for it began.
    assert!(bob(&job, "dec:2").ok().starts_with("00000000000000"));
    assert_eq!(bob(&job, "dec:3").ok(), "0000000000000035\n");
    let done = service.end();
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(
        done.err.contains("party 1 (bob) has had the 3 runs that the job allows") && done.out.is_empty(),
        "{}",
        done.err
    );
    let log = std::fs::read_to_string(&log).unwrap();
    let lines: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let results: Vec<&str> = lines.iter().map(|line| line["result"].as_str().unwrap()).collect();
    assert_eq!(results, ["done", "mismatch", "done", "done"]);
    assert_eq!(lines[0]["peers"][0]["name"], "bob");
    assert!(
        lines.iter().all(|line| line["program"].as_str().unwrap().starts_with("program:") && line["when"].is_u64())
    );
    assert!(!log.contains("2a") || !log.contains("000000000000002a"), "no values: {log}");
    let kept = std::fs::read_to_string(folder.path("run-3.json")).unwrap();
    assert!(kept.contains("0000000000000035"), "{kept}");
    // The books outlive the service.
    let again = comity(&[&["serve", &job, "--party", "alice"][..], &args].concat());
    assert_eq!(again.code, 0, "{}", again.err);
    assert!(again.err.contains("has had the 3 runs"), "{}", again.err);
}

#[test]
fn a_peer_has_one_run_if_nothing_is_said() {
    let folder = Folder::new("serve-once");
    let job = job(&folder, "job.toml", "");
    let service = Service::start(&job, &["--input-command", "echo 0=dec:4$COMITY_RUN"]);
    assert_eq!(bob(&job, "dec:1").ok(), "000000000000002a\n");
    assert!(service.end().err.contains("has had the 1 run that the job allows"));
}

#[test]
fn what_is_wrong_here_ends_the_service() {
    let folder = Folder::new("serve-wrong");
    let job = job(&folder, "job.toml", "");
    let serve = |args: &[&str]| comity(&[&["serve", &job, "--party", "alice"], args].concat());
    serve(&["--input-command", "echo 0=dec:4; false"]).fails(2, &["the command for the inputs of run 1", "exit"]);
    let told = serve(&["--input-command", "echo 17=secret"]);
    assert!(told.code == 2 && !told.err.contains("secret"), "{}", told.err);
    serve(&[]).fails(2, &["input"]);
    serve(&["--input", "0=dec:4", "--books", &folder.file("books", "no books\n")]).fails(3, &["line 1"]);
    // Before anybody comes, who would learn what is then lost here.
    serve(&["--input", "0=dec:4", "--outputs", &folder.file("file", "")])
        .fails(2, &["file: results cannot be kept there"]);
}

/// A deadline is for a run, and not for the wait for it: a peer that comes late in the wait would be cut off,
/// and have had its run.
#[test]
fn the_wait_for_a_peer_is_no_part_of_its_time() {
    let folder = Folder::new("serve-deadline");
    let job = job(&folder, "job.toml", "");
    let timeout = format!("--timeout={}", comity_testing::PATIENCE.as_secs());
    let service = Service::start(&job, &["--input", "0=dec:40", "--deadline=0.001s", &timeout]);
    assert_eq!(bob(&job, "dec:2").ok(), "000000000000002a\n");
    assert_eq!(service.end().code, 0);
}

/// The folder is made, and a service that is started anew goes on where the one before it ended.
#[test]
fn results_are_kept_and_not_written_over() {
    let folder = Folder::new("serve-results");
    let (job, results) = (job(&folder, "job.toml", "runs = 9"), folder.path("new/results"));
    for (run, value, sum) in [(1, "dec:2", "2a"), (2, "dec:3", "2b")] {
        let service = Service::start(&job, &["--input", "0=dec:40", "--jobs", "1", "--outputs", &results]);
        bob(&job, value).ok();
        assert_eq!(service.end().code, 0);
        let kept = |run: u64| std::fs::read_to_string(format!("{results}/run-{run}.json")).unwrap();
        assert!(kept(run).contains(&format!("00{sum}")) && kept(1).contains("002a"), "{}", kept(run));
        // A number that no run can have does not count.
        std::fs::write(format!("{results}/run-{}.json", u64::MAX), "somebody's file").unwrap();
    }
}

/// A result that could not be kept would be lost, and the peer's run be used up: there is room for it, or
/// nobody is served.
#[cfg(unix)]
#[test]
fn no_run_begins_without_room_for_its_result() {
    let folder = Folder::new("serve-full");
    let (job, results) = (job(&folder, "job.toml", ""), folder.path("results"));
    let args = ["serve", &job, "--party", "alice", "--input", "0=dec:40", "--outputs", &results];
    let full = Done::from(limited(&command(&args), 8).output().unwrap());
    full.fails(3, &["results", "The disk has no room for a result, so no run begins"]);
    assert_eq!(std::fs::read_dir(&results).unwrap().count(), 0);
    // The only run that the job allows is still the peer's.
    let service = Service::start(&job, &args[4..]);
    assert_eq!(bob(&job, "dec:2").ok(), "000000000000002a\n");
    service.end().ok();
    assert!(std::fs::read_to_string(folder.path("results/run-1.json")).unwrap().contains("002a"));
}

/// The result comes first, and the log after it.
#[cfg(target_os = "linux")]
#[test]
fn a_result_is_kept_whatever_becomes_of_log_and_folder() {
    let folder = Folder::new("serve-gone");
    let (job, results) = (job(&folder, "job.toml", "runs = 9"), folder.path("results"));
    let service = Service::start(&job, &["--input", "0=dec:40", "--outputs", &results, "--log", "/dev/full"]);
    std::fs::remove_dir_all(&results).unwrap();
    assert_eq!(bob(&job, "dec:2").ok(), "000000000000002a\n");
    let done = service.end();
    done.fails(3, &["/dev/full"]);
    assert!(std::fs::read_to_string(folder.path("results/run-1.json")).unwrap().contains("002a"));
}

#[test]
fn a_service_ends_after_as_many_runs_as_it_is_told() {
    let folder = Folder::new("serve-jobs");
    let job = job(&folder, "job.toml", "runs = 9");
    let service = Service::start(&job, &["--input", "0=dec:40", "--jobs", "2"]);
    for _ in 0..2 {
        assert_eq!(bob(&job, "dec:2").ok(), "000000000000002a\n");
    }
    let done = service.end();
    assert!(done.code == 0 && !done.err.contains("has had"), "{}", done.err);
}

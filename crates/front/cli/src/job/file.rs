//! `Job`: the file, and its digest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use comity::{Card, Digest, PartyGroup};
use comity_core::{Params, PartyId, SessionId};
use comity_files::OwnersAlone;
use comity_net::read_own;
use comity_protocol::{Options, Values};
use comity_terminal::failure::{Failure, Outcome};
use serde::Deserialize;

use crate::args::{Optimize, ProgramArgs, RoleArgs, SessionArgs};
use crate::list::List;
use crate::resolve::Resolved;

/// The most bytes of a job's file.
const LONGEST: u64 = 1 << 20;

/// A job, as its file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Job {
    /// The program: a built-in, or a path of the reader's own.
    pub(crate) program: String,
    /// The digest of what it computes.
    digest: Option<String>,
    #[serde(default)]
    owners: Vec<String>,
    #[serde(default)]
    outputs: Vec<String>,
    optimize: Option<String>,
    pub(crate) protocol: String,
    #[serde(default = "forty")]
    pub(crate) rho: u32,
    /// The number of runs that each peer may have of a service.
    #[serde(default = "one")]
    pub(crate) runs: u64,
    /// The name of the runs among those of the same parties at the same time.
    pub(crate) label: Option<String>,
    /// The folder of material that the runs use up: the reader's own.
    pub(crate) store: Option<PathBuf>,
    /// The folder of keys: the reader's own.
    keys: Option<PathBuf>,
    #[serde(default)]
    options: BTreeMap<String, toml::Value>,
    /// The relay where parties meet that nobody can call: a part of the group.
    relay: Option<String>,
    pub(crate) party: PartyGroup,
    /// The folder that the file is in.
    #[serde(skip)]
    folder: PathBuf,
}

fn forty() -> u32 {
    40
}

fn one() -> u64 {
    1
}

/// The path in a variable of the environment.
pub(crate) fn environment(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// The digest of a program, with its owners and recipients.
pub(crate) fn of_program(resolved: &Resolved) -> Digest {
    Digest(resolved.program.digest())
}

impl Job {
    /// The job in this file.
    pub(crate) fn read(path: &Path) -> Outcome<Job> {
        let place = path.display().to_string();
        let unreadable = |why: &dyn std::fmt::Display| Failure::input(format!("{place}: {why}"));
        let bytes = read_own(path, OwnersAlone::Write, LONGEST)?.ok_or_else(|| unreadable(&"there is no such file"))?;
        let text =
            str::from_utf8(&bytes).map_err(|_| unreadable(&"the file is not UTF-8 text; a job is a TOML file"))?;
        let mut job = Job::parse(text).map_err(|failure| failure.at(&place))?;
        job.folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(job)
    }

    fn parse(text: &str) -> Outcome<Job> {
        let mut job: Job = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            Failure::input(format!("line {line}: {}", error.message()))
        })?;
        if let Some(relay) = job.relay.take() {
            job.party = job.party.at_relay(&relay)?;
        }
        if job.runs == 0 {
            return Err(Failure::input("runs = 0: write 1 or more, or the service would serve nobody"));
        }
        let plain = |value: &toml::Value| value.is_str() || value.is_bool() || value.is_integer();
        match job.options.iter().find(|(_, value)| !plain(value)) {
            Some((name, _)) => {
                Err(Failure::input(format!("option {name}: its value must be a word, a number, true or false")))
            }
            None => Ok(job),
        }
    }

    /// The program as the command line would name it. A path begins in the job's folder.
    pub(crate) fn program_args(&self) -> Outcome<ProgramArgs> {
        fn each<T: FromStr<Err = String>>(what: &str, texts: &[String]) -> Outcome<Vec<T>> {
            let one = |text: &String| text.parse().map_err(|why| Failure::input(format!("{what} {text:?}: {why}")));
            texts.iter().map(one).collect()
        }
        let optimize = match self.optimize.as_deref() {
            None | Some("auto") => Optimize::Auto,
            Some("size") => Optimize::Size,
            Some("depth") => Optimize::Depth,
            Some(other) => return Err(Failure::input(format!("optimize = {other:?}: write size, depth or auto"))),
        };
        let base = self.program.split(['*', '^']).next().unwrap_or_default();
        let program = match comity_library::is_name(base) {
            true => self.program.clone(),
            false => self.folder.join(&self.program).display().to_string(),
        };
        let roles = RoleArgs { owner: each("owner", &self.owners)?, output_to: each("output", &self.outputs)? };
        Ok(ProgramArgs { program, roles, optimize })
    }

    /// The options as the file has them.
    pub(crate) fn options(&self) -> Vec<(String, String)> {
        let text = |value: &toml::Value| match value {
            toml::Value::String(word) => word.clone(),
            toml::Value::Boolean(on) => if *on { "yes" } else { "no" }.to_owned(),
            other => other.to_string(),
        };
        self.options.iter().map(|(name, value)| (name.clone(), text(value))).collect()
    }

    /// The options as this party's command line would name them. Where each party has a part of its own, the
    /// file names the party that has the first: `garbler = "alice"` is `role=garbler` at her and
    /// `role=evaluator` at the other one.
    fn options_of(&self, card: &'static Card, party: PartyId) -> Outcome<Vec<(String, String)>> {
        let mut options = Options::new(card);
        let mut said = self.options();
        for (name, value) in &mut said {
            let parts = card.options.iter().find_map(|option| match &option.values {
                Values::Part(parts) => {
                    Some((option.name, *parts)).filter(|_| [option.name, parts[0]].contains(&&**name))
                }
                _ => None,
            });
            if let Some((option, [first, second])) = parts {
                let whose = self.member(value).filter(|_| name == first).ok_or_else(|| {
                    Failure::input(format!(
                        "option {name} = {value:?}: write {first} = PARTY, so that all parties can hold the same job"
                    ))
                })?;
                (*name, *value) = (option.to_owned(), if whose == party { first } else { second }.to_string());
            }
            options.set(party, name, crate::list::value(card, name, value)?.as_ref())?;
        }
        Ok(said)
    }

    /// The party with this number or name.
    fn member(&self, who: &str) -> Option<PartyId> {
        let members = self.party.members().iter();
        members
            .map(|member| (member.id, &member.name))
            .find(|(id, name)| *name == who || id.to_string() == who)
            .map(|(id, _)| id)
    }

    /// The flags of a session of this party, with the time-out that they have if nobody says one.
    pub(crate) fn session_args(&self, list: List, party: u16) -> Outcome<SessionArgs> {
        let card = comity::among(list.0, &self.protocol)?.card();
        if self.store.is_some() && card.offline.is_empty() {
            return Err(Failure::input(format!(
                "{} makes no material ahead, so its runs use no store: take `store` out of the job",
                card.name
            )));
        }
        Params::new(128, self.rho)?;
        Ok(SessionArgs {
            protocol: Some(self.protocol.clone()),
            option: self.options_of(card, PartyId(party))?,
            list,
            kappa: 128,
            rho: self.rho,
            timeout: std::time::Duration::from_secs(30),
            deadline: None,
            verbose: false,
        })
    }

    /// The folder of keys: what a flag says, the environment, or the file.
    pub(crate) fn keys_dir(&self, flag: Option<&Path>) -> Option<PathBuf> {
        self.own(flag, "COMITY_KEYS", self.keys.as_deref())
    }

    /// The store, if the runs use one up. A flag alone does not make them: all parties have to agree on that.
    pub(crate) fn store_dir(&self, flag: Option<&Path>) -> Outcome<Option<PathBuf>> {
        match (self.store.as_deref(), flag) {
            (None, Some(flag)) => Err(Failure::input(format!(
                "--store {}: this job names no store, so its runs use up no material; leave the flag out, or write \
                    store = \"store\" into the job, which all parties hold",
                flag.display()
            ))),
            (None, None) => Ok(None),
            (store, flag) => Ok(self.own(flag, "COMITY_STORE", store)),
        }
    }

    fn own(&self, flag: Option<&Path>, variable: &str, written: Option<&Path>) -> Option<PathBuf> {
        let said = flag.map(Path::to_owned).or_else(|| environment(variable));
        said.or_else(|| written.map(|path| self.folder.join(path)))
    }

    /// Checks that the reader's program is the one that the job means.
    pub(crate) fn check_program(&self, resolved: &Resolved) -> Outcome {
        let here = of_program(resolved).text("program");
        match self.digest.as_deref() {
            Some(said) if said == here => Ok(()),
            Some(said) => Err(Failure::input(format!(
                "the program {} is not the job's: its digest is {here}, and the job says {said}",
                self.program
            ))),
            None => Err(Failure::input(format!(
                "the job does not say which program it means: write digest = \"{here}\" if it is this one"
            ))),
        }
    }

    /// The digest of all that the parties agree on.
    pub(crate) fn digest(&self, resolved: &Resolved) -> Digest {
        let numbers = [u64::from(self.rho), self.runs, u64::from(self.store.is_some())].map(u64::to_le_bytes);
        let (group, program, options) = (self.party.digest(), of_program(resolved), self.options());
        let mut parts: Vec<&[u8]> = vec![&group.0, &program.0, self.protocol.as_bytes(), numbers.as_flattened()];
        options.iter().for_each(|(name, value)| parts.extend([name.as_bytes(), value.as_bytes()]));
        // Options have two parts each.
        parts.extend(self.label.iter().map(|label| label.as_bytes()));
        Digest(SessionId::derive("job v1", &parts).to_bytes())
    }
}

#[cfg(test)]
mod tests {
    use comity::Goal;

    use super::*;
    use crate::resolve::resolve_for;

    const JOB: &str = "\
program = \"add64\"
protocol = \"yao\"
store = \"here\"
[options]
garbler = 1
[[party]]
id = 0
name = \"alice\"
address = \"127.0.0.1:7000\"
[[party]]
id = 1
name = \"bob\"
address = \"-\"
";

    fn digest(text: &str) -> Digest {
        let job = Job::parse(text).unwrap();
        let resolved = resolve_for(&job.program_args().unwrap(), Goal::Size, Some(&job.party)).unwrap();
        job.digest(&resolved)
    }

    #[test]
    fn the_digest_is_of_all_but_the_readers_paths() {
        let first = digest(JOB);
        assert_eq!(first, digest(&JOB.replace("\"here\"", "\"/else/where\"")));
        assert_eq!(first, digest(&format!("keys = \"mine\"\n{JOB}")));
        for (from, to) in [
            ("add64", "sub64"),
            ("\"yao\"", "\"cutchoose\""),
            ("garbler = 1", "garbler = 0"),
            ("store = \"here\"\n", ""),
            ("store =", "runs = 2\nstore ="),
            ("store =", "label = \"monday\"\nstore ="),
            ("store =", "rho = 41\nstore ="),
            ("store =", "outputs = [\"bob\"]\nstore ="),
            ("store =", "owners = [\"0=bob\"]\nstore ="),
            ("bob", "ben"),
            ("7000", "7001"),
        ] {
            assert_ne!(first, digest(&JOB.replacen(from, to, 1)), "{from} is now {to}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let why = |text: &str| Job::parse(text).unwrap_err().message;
        assert!(why(&JOB.replace("program", "programme")).contains("line 1"));
        assert!(why(&JOB.replace("id = 1", "id = 2")).contains("party 1 is missing, or listed twice"));
        assert!(why(&format!("runs = 0\n{JOB}")).contains("nobody"));
        assert!(why(&JOB.replace("garbler = 1", "garbler = [1]")).contains("garbler"));
        let job = Job::parse(JOB).unwrap();
        let resolved = resolve_for(&job.program_args().unwrap(), Goal::Size, Some(&job.party)).unwrap();
        let why = job.check_program(&resolved).unwrap_err().message;
        let digest = of_program(&resolved).text("program");
        assert!(why.contains(&format!("digest = \"{digest}\"")), "{why}");
        assert!(Job::parse(&format!("digest = \"{digest}\"\n{JOB}")).unwrap().check_program(&resolved).is_ok());
        let other = Job::parse(&format!("digest = \"program:x\"\n{JOB}")).unwrap();
        assert!(other.check_program(&resolved).unwrap_err().message.contains("is not the job's"));
    }
}

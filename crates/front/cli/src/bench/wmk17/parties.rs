//! Garbler and evaluator, played against each other.

use std::time::Instant;

use comity_channel::NetProfile;
use comity_circuit::Program;
use comity_core::{Backend, Params};
use comity_cutchoose::{Config, Form, Prepared};
use comity_net::SystemRng;

use super::super::two::{Phases, Run, Wire, inputs, play, session};
use crate::failure::{Failure, Outcome};

/// The party that garbles. Programs give the outputs to the other one, as the paper's do.
pub(super) const GARBLER: u32 = 0;

/// How the protocol runs.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    pub(super) net: Option<NetProfile>,
    pub(super) rho: u32,
    pub(super) form: Form,
}

impl Setting {
    fn config(self, party: u32) -> Outcome<Config> {
        let params = Params::new(128, self.rho).map_err(Failure::from)?;
        Ok(Config { backend: Backend::detect(), party, garbler: GARBLER, params, form: self.form })
    }
}

/// A single execution.
pub(super) fn execute(program: &Program, setting: Setting) -> Outcome<Run> {
    // So that nobody waits for it in the run.
    program.lowered();
    let (session, configs) = (session(), [setting.config(0)?, setting.config(1)?]);
    let party = |ch: &mut Wire, config: &Config| {
        let mut phases = Phases::new();
        let inputs = inputs(program, config.party as u16);
        comity_cutchoose::run(ch, &session, config, program, &inputs, &mut SystemRng, &mut phases)?;
        Ok(phases.finish())
    };
    let (mut run, garbler, evaluator) = play(setting.net, |ch| party(ch, &configs[0]), |ch| party(ch, &configs[1]))?;
    run.phases = [garbler, evaluator];
    Ok(run)
}

/// An execution in two parts.
pub(super) struct Split {
    /// The offline phase.
    pub(super) offline: Run,
    /// What each party keeps.
    pub(super) prepared: [u64; 2],
    /// How long the slower party reads, before the peer need be there.
    pub(super) load: f64,
    /// The online phase.
    pub(super) online: Run,
}

/// Offline and online. Preparations are kept in memory: what a disk takes is not in the figures.
pub(super) fn execute_split(program: &Program, setting: Setting) -> Outcome<Split> {
    program.lowered();
    let (session, configs) = (session(), [setting.config(0)?, setting.config(1)?]);
    let prepare = |ch: &mut Wire, config: &Config| {
        let mut kept = Vec::new();
        comity_cutchoose::prepare(ch, &session, config, program, &mut SystemRng, &mut kept, &mut Phases::new())?;
        Ok(kept)
    };
    let (offline, one, two) = play(setting.net, |ch| prepare(ch, &configs[0]), |ch| prepare(ch, &configs[1]))?;
    let load = |kept, party| {
        let start = Instant::now();
        let prepared = Prepared::open(kept, Backend::detect(), party, program).map_err(Failure::from)?;
        let loaded = prepared.load(program, &inputs(program, party as u16)).map_err(Failure::from)?;
        Outcome::Ok((loaded, start.elapsed().as_secs_f64()))
    };
    let ((first, a), (second, b)) = (load(&one[..], 0)?, load(&two[..], 1)?);
    let (online, (), ()) = play(
        setting.net,
        |ch| first.run(ch, &mut SystemRng, &mut Phases::new()),
        |ch| second.run(ch, &mut SystemRng, &mut Phases::new()),
    )?;
    Ok(Split { offline, prepared: [one.len() as u64, two.len() as u64], load: a.max(b), online })
}

#[cfg(test)]
mod tests {
    use comity_circuit::library;

    use super::super::subjects::for_evaluator;
    use super::*;

    #[test]
    fn both_ways_of_execution_are_measured() {
        let program = for_evaluator(library::program("add8").unwrap());
        let setting = Setting { net: None, rho: 3, form: Form::All };
        let run = execute(&program, setting).unwrap();
        assert!(run.seconds > 0.0 && run.bytes.iter().all(|&bytes| bytes > 1_000) && run.rounds > 2);
        for phases in &run.phases {
            let names: Vec<&str> = phases.iter().map(|phase| phase.0).collect();
            assert_eq!(names, ["setup", "inputs", "gates", "outputs", "checks"]);
            assert!(phases.iter().map(|phase| phase.1).sum::<f64>() <= run.seconds);
        }
        let split = execute_split(&program, setting).unwrap();
        assert!(split.online.total() < split.offline.total() && split.prepared.iter().all(|&bytes| bytes > 1_000));
        // What one execution sends, and how inputs differ from random ones, and other keys for the output tables.
        let both = split.offline.total() + split.online.total();
        assert!((run.total()..run.total() + 1_000).contains(&both), "{both} and {}", run.total());
    }
}

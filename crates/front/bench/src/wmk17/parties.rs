//! Garbler and evaluator, played against each other.

use std::time::Instant;

use comity_ag::Ag;
use comity_channel::{Mesh, NetProfile};
use comity_circuit::Program;
use comity_core::PartyId;
use comity_cutchoose::{CutChoose, Prepared};
use comity_net::SystemRng;
use comity_protocol::{Party, Protocol};
use comity_terminal::failure::{Failure, Outcome};

use crate::suite::backend;
use crate::two::{Phases, Run, Wire, Work, inputs, play};

/// The party that garbles. Programs give the outputs to the other one, as the paper's do.
pub(super) const GARBLER: u16 = 0;

/// The setting in which the protocol runs.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    pub(super) net: Option<NetProfile>,
    pub(super) rho: u32,
    /// Whether the garbled circuits travel coded.
    pub(super) coded: bool,
}

/// A single execution.
pub(super) fn execute(program: &Program, setting: Setting) -> Outcome<Run> {
    // So that nobody waits for it in the run.
    program.lowered();
    let coded = if setting.coded { "yes" } else { "no" };
    let work = Work::new(program, CutChoose.card(), setting.rho)?.with("role", "garbler")?.with("coded", coded)?;
    let party = |ch: &mut Wire, party: u16| {
        let mut phases = Phases::new();
        work.run(&CutChoose, ch, party, &mut phases)?;
        Ok(phases.finish())
    };
    let (mut run, garbler, evaluator) = play(setting.net, |ch| party(ch, 0), |ch| party(ch, 1))?;
    run.phases = [garbler, evaluator];
    Ok(run)
}

/// The same by authenticated garbling, with the same party garbling.
pub(super) fn execute_authenticated(program: &Program, setting: Setting) -> Outcome<Run> {
    program.lowered();
    let work = Work::new(program, Ag.card(), setting.rho)?.with("role", "garbler")?;
    let party = |ch: &mut Wire, party: u16| work.run(&Ag, ch, party, &mut Phases::new());
    Ok(play(setting.net, |ch| party(ch, 0), |ch| party(ch, 1))?.0)
}

/// An execution in two parts.
pub(super) struct Split {
    /// The offline phase.
    pub(super) offline: Run,
    /// The bytes that each party keeps.
    pub(super) prepared: [u64; 2],
    /// The time for which the slower party reads, before the peer need be there.
    pub(super) load: f64,
    /// The online phase.
    pub(super) online: Run,
}

/// Offline and online. Preparations are kept in memory: the figures do not include the disk's time.
pub(super) fn execute_split(program: &Program, setting: Setting) -> Outcome<Split> {
    program.lowered();
    let work = Work::new(program, CutChoose.card(), setting.rho)?;
    let prepare = |ch: &mut Wire, party: u16| {
        let (here, mut kept, mut phases) = (work.here(party), Vec::new(), Phases::new());
        let mut net = Mesh::of_two(here.me, ch);
        let mut me = Party { net: &mut net, here, rng: &mut SystemRng, observer: &mut phases };
        comity_cutchoose::prepare(&mut me, program, PartyId(GARBLER), &mut kept)?;
        Ok(kept)
    };
    let (offline, one, two) = play(setting.net, |ch| prepare(ch, 0), |ch| prepare(ch, 1))?;
    let load = |kept, party: u16| {
        let start = Instant::now();
        let prepared = Prepared::open(kept, backend(), PartyId(party), program).map_err(Failure::from)?;
        let loaded = prepared.load(program, &inputs(program, party)).map_err(Failure::from)?;
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
    use super::*;
    use crate::wmk17::subjects::for_evaluator;

    #[test]
    fn both_ways_of_execution_are_measured() {
        let program = for_evaluator(comity_library::program("add8").unwrap());
        let setting = Setting { net: None, rho: 3, coded: false };
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

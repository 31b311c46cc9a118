//! GMW: what every protocol must do, its bytes and rounds counted exactly, values in shares, material made
//! ahead, and by hand.

mod cost;
mod heard;
mod programs;
mod reactive;
mod shares;
mod stored;
mod table;

use comity_channel::{MemoryChannel, Mesh, PerPeer, memory_mesh};
use comity_core::{Backend, Params, Prg, Result, SessionId};
use comity_gmw::dealers::OtTriples;
use comity_gmw::{Gmw, run_with};
use comity_protocol::{Here, Job, Party};
use comity_share::triples::OtKind;
use comity_testing::laws::{Laws, Outputs, RunBy, Setting, rng};
use comity_testing::ot::DealtBaseOts;
use comity_testing::{Net, PATIENCE, laws};

laws!(
    Gmw,
    Laws {
        wire: &["13fe1cebd4fa6302adc25ddb2e5dd6c1", "940aaa417c7edadcb8bd3e15ccb98162"],
        programs: 6,
        deviations: 12,
        ..Laws::USUAL
    }
);

/// GMW over dealt base OTs.
fn dealt() -> RunBy<Gmw> {
    fn run(me: &mut Party<'_, '_>, job: &Job<'_>) -> Result<()> {
        let mut me = me.sub("gmw");
        let extension = if job.options.word("dealer") == "iknp" { OtKind::Iknp } else { OtKind::SoftSpoken };
        let dealer = OtTriples::setup_over::<DealtBaseOts>(&mut me.sub("dealer"), extension)?;
        run_with(&mut me, Some(Box::new(dealer)), job)
    }
    RunBy { protocol: Gmw, run }
}

/// Law 3 in more runs, over dealt base OTs. Much of what is then changed is of triples that are not used up.
#[test]
fn deviations_over_dealt_base_ots() {
    laws::deviations(&dealt(), &Laws { felt: 70, ..Laws::USUAL });
    laws::deviations(&dealt(), &Laws { felt: 70, deviations: 36, options: &[("dealer", "iknp")], ..Laws::USUAL });
}

mod iknp {
    use super::*;

    laws!(Gmw, Laws { programs: 2, deviations: 12, options: &[("dealer", "iknp")], ..Laws::USUAL });
}

mod silent {
    use super::*;

    laws!(Gmw, Laws { programs: 1, deviations: 36, options: &[("dealer", "silent")], ..Laws::USUAL });
}

fn setting(backend: Backend) -> Setting {
    Setting { params: Params::default(), backend, options: &[], session: 1 }
}

/// The place of a party.
fn here(net: &Mesh<'_>) -> Here {
    Here::new(net.me(), net.parties(), SessionId::derive("test of gmw", &[]))
}

/// Runs `N` parties as the protocol sees them.
fn parties<const N: usize, T: Send>(run: impl Fn(&mut Party<'_, '_>) -> T + Sync) -> [T; N] {
    Net::<N>::run(|net| {
        let here = here(net);
        let (mut rng, mut outputs) = (seeded(here.me.0), Outputs::default());
        run(&mut Party { net, here, rng: &mut rng, observer: &mut outputs })
    })
}

fn seeded(party: u16) -> Prg {
    rng(u128::from(party) + 1)
}

/// Runs parties over links of their own, each on a thread.
fn over_links<T: Send>(parties: u16, run: impl Fn(PerPeer<MemoryChannel>) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> =
            memory_mesh(parties, Some(PATIENCE)).into_iter().map(|links| scope.spawn(move || run(links))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a party does not panic")).collect()
    })
}

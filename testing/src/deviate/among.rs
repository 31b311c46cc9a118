//! The same among any number of parties, of whom any number cheat.

use std::fmt::Debug;
use std::time::Duration;

use comity_channel::{
    Change, Channel, Direction, Mesh, PerPeer, Recorded, Recording, Result, Tamper, Tampering, memory_mesh,
};
use comity_core::PartyId;

use super::{Deviation, LIMIT, Verdict, done, sample, verdict, ways};
use crate::PATIENCE;
use crate::parties::endings;

/// One changed message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lie {
    /// The party whose message is changed.
    pub from: PartyId,
    /// The party that it goes to.
    pub to: PartyId,
    /// The number of the message on this link, from 0. For `Lose`, message 0 may also have never gone: see `change`.
    pub message: usize,
    /// The change of the message.
    pub deviation: Deviation,
    /// The change of the message as one of the link's outgoing bytes.
    pub change: Tamper,
}

/// A run that is broken in one place or in several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenRun {
    /// The changed messages, at most one on each link. A party that sends none of them is honest.
    pub lies: Vec<Lie>,
}

impl BrokenRun {
    /// Whether this party cheats.
    pub fn cheats(&self, party: PartyId) -> bool {
        self.lies.iter().any(|lie| lie.from == party)
    }

    /// Whether somebody may wait for what never comes.
    fn starves(&self) -> bool {
        let starves = [Deviation::Truncate, Deviation::Drop, Deviation::Reorder];
        self.lies.iter().any(|lie| starves.contains(&lie.deviation))
    }
}

/// The judge of a protocol that is secure against malicious parties, however many: whatever happens to the
/// cheats' messages, each honest party ends with the correct output or an error.
///
/// # Panics
/// If an honest party's output is wrong.
pub fn never_wrong_among<T: Debug>(run: &BrokenRun, verdicts: &[Verdict<T>]) {
    for (party, verdict) in (0..).map(PartyId).zip(verdicts) {
        if let Verdict::Wrong(output) = verdict
            && !run.cheats(party)
        {
            panic!("{run:?}: party {party} took a wrong output for the result: {output:?}");
        }
    }
}

/// The patience of a cheat whose messages are held back or lost. Those who wait for them may keep it waiting
/// in turn, and the memory's ends see that of two parties only. If it gives up early, it is a party that is
/// lost, which is a cheat, too.
const HASTE: Duration = Duration::from_millis(30);

/// As [`deviate`](super::deviate()), among `parties` parties. It breaks each message from each party to each
/// other one by itself, so that of what a party says to all, one party hears something else; then the same
/// message to all, in the same way; then, for each set of cheats that leaves somebody honest, messages of
/// each of them at once.
///
/// # Panics
///
/// If an honest run fails, a party panics in any run, or the judge does. A party that does not end stops the whole
/// test process with a message.
pub fn deviate_among<T: PartialEq + Debug + Send>(
    parties: u16,
    limit: usize,
    party: impl Fn(&mut Mesh<'_>, u64) -> Result<T> + Sync,
    mut judge: impl FnMut(&BrokenRun, &[Verdict<T>]),
) -> usize {
    let honest = |session| {
        let (mut links, mut recorders) = (Vec::new(), Vec::new());
        for own in memory_mesh(parties, Some(PATIENCE)) {
            let own = own.map(|_, link| Recorded::new(link, LIMIT));
            recorders.push(PerPeer::new(own.me(), parties, |_| ()).map(|to, ()| own[to].recorder()));
            links.push(own);
        }
        let outputs = endings(links, |links| party(&mut Mesh::new(links), session));
        let outputs: Vec<T> =
            outputs.into_iter().enumerate().map(|(party, end)| done("honest run", party, end)).collect();
        let recordings = recorders.into_iter().map(|own| own.map(|_, recorder| recorder.recording())).collect();
        (outputs, recordings)
    };
    let (outputs, recordings): (Vec<T>, Vec<PerPeer<Recording>>) = honest(0);
    let (_, others) = honest(1);
    let runs = sample(runs(&recordings, &others), limit);
    for run in &runs {
        let tampered = |links: PerPeer<comity_channel::MemoryChannel>| {
            let from = links.me();
            let hasty = run.starves() && run.cheats(from);
            links.map(|to, link| -> Box<dyn Channel> {
                let link = if hasty { link.patient_for(HASTE) } else { link };
                match run.lies.iter().find(|lie| (lie.from, lie.to) == (from, to)) {
                    Some(lie) => Box::new(Tampering::new(link, &lie.change)),
                    None => Box::new(link),
                }
            })
        };
        let links = memory_mesh(parties, Some(PATIENCE)).into_iter().map(tampered).collect();
        let ends = endings(links, |links| party(&mut Mesh::new(links), 0));
        let verdicts: Vec<Verdict<T>> =
            (0..).zip(ends).zip(&outputs).map(|((party, end), honest)| verdict(run, party, end, honest)).collect();
        judge(run, &verdicts);
    }
    runs.len()
}

fn runs(recordings: &[PerPeer<Recording>], others: &[PerPeer<Recording>]) -> Vec<BrokenRun> {
    let lies: Vec<PerPeer<Vec<Lie>>> = recordings.iter().zip(others).map(|(own, others)| lies(own, others)).collect();
    let mut runs = Vec::new();
    for own in &lies {
        runs.extend(own.iter().flat_map(|(_, to)| to).map(|lie| BrokenRun { lies: vec![lie.clone()] }));
        // The same lie to all, as far as all are told something at that place.
        let most = own.iter().map(|(_, to)| to.len()).max().unwrap_or(0);
        for at in 0..most {
            let alike: Option<Vec<Lie>> = own.iter().map(|(_, to)| to.get(at).cloned()).collect();
            let way = |lie: &Lie| (lie.message, lie.deviation);
            let alike = alike.filter(|lies| lies.iter().all(|lie| way(lie) == way(&lies[0])));
            runs.extend(alike.map(|lies| BrokenRun { lies }));
        }
    }
    runs.extend(conspiracies(&lies));
    runs
}

/// The lies of a party to each other one.
fn lies(own: &PerPeer<Recording>, others: &PerPeer<Recording>) -> PerPeer<Vec<Lie>> {
    let from = own.me();
    PerPeer::new(from, own.parties(), |to| {
        let lie = |(message, deviation, change)| Lie { from, to, message, deviation, change };
        let mut lies: Vec<Lie> = ways(&own[to], &others[to]).into_iter().map(lie).collect();
        // What goes to the next party.
        let next = own.iter().find(|(party, _)| *party > to).or_else(|| own.iter().find(|(party, _)| *party != to));
        for (message, range) in own[to].messages().enumerate() {
            let told = next.and_then(|(_, next)| Some(next.sent[next.messages().nth(message)?].to_vec()));
            if let Some(with) = told.filter(|told| told[..] != own[to].sent[range.clone()]) {
                let change = Change::Replace { len: range.len(), with };
                let change = Tamper { direction: Direction::Outgoing, at: range.start, change };
                lies.push(Lie { from, to, message, deviation: Deviation::Misdirect, change });
            }
        }
        lies
    })
}

/// Runs in which several cheat: for each set of two and more that leaves somebody honest, each member lies to
/// one party that is, in some way.
fn conspiracies(lies: &[PerPeer<Vec<Lie>>]) -> Vec<BrokenRun> {
    const EACH: usize = 8;
    let parties = lies.len();
    let sets = (1..(1_usize << parties) - 1).filter(|set| set.count_ones() > 1);
    let run = |set: usize, turn: usize| {
        let honest: Vec<PartyId> =
            (0..parties).filter(|party| set >> party & 1 == 0).map(|party| PartyId(party as u16)).collect();
        let members = (0..parties).filter(|party| set >> party & 1 == 1);
        let lies = members.filter_map(|member| {
            // Numbers that go together with nothing.
            let draw = (set * EACH + turn + 1) * (member + 1) * 7919;
            let to = &lies[member][honest[draw % honest.len()]];
            to.get(draw / 13 % to.len().max(1)).cloned()
        });
        BrokenRun { lies: lies.collect() }
    };
    sets.flat_map(|set| (0..EACH).map(move |turn| (set, turn))).map(|(set, turn)| run(set, turn)).collect()
}

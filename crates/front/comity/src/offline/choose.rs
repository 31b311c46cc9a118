//! Choosing: which lot a run uses up, alike at all parties.

use std::collections::{HashMap, HashSet};

use comity_channel::{Echo, Mesh, PerPeer};
use comity_circuit::Program;
use comity_core::{Error, Params, PartyId, Result, SessionId};
use comity_protocol::{Card, Here, Need, Options, Protocol, Values};
use comity_store::{LotInfo, Meta, Store};

use super::{MOST, material};

/// The material that a run looks for in a store.
pub(crate) struct Wanted<'w> {
    /// The list whose protocols advice names.
    pub(crate) protocols: &'static [&'static dyn Protocol],
    pub(crate) card: &'static Card,
    pub(crate) program: &'w Program,
    pub(crate) need: &'w Need,
    /// All peers and their keys.
    pub(crate) peers: Vec<(PartyId, Option<[u8; 32]>)>,
}

impl Wanted<'_> {
    /// The number of batches that are wanted, as lots count them.
    pub(super) fn batches(&self) -> u32 {
        u32::try_from(self.need.batches).unwrap_or(u32::MAX)
    }

    /// The lots here that fit, oldest first.
    pub(super) fn here(&self, store: &Store, here: &Here, options: &Options) -> Result<Vec<LotInfo>> {
        Ok(store.lots()?.into_iter().filter(|lot| self.is(&lot.meta, here, options)).take(MOST).collect())
    }

    /// Whether a lot of this meta is the wanted one: made for the same use, by these parties under these
    /// keys.
    fn is(&self, meta: &Meta, here: &Here, options: &Options) -> bool {
        meta.material == self.need.material
            && meta.program == material(self.card, self.need).program.then(|| self.program.digest())
            && meta.party == here.me
            && meta.peers == self.peers
            && meta.params == here.params
            && options.made_under(&meta.options)
    }
}

/// A lot as a party offers it: its id, and the next batch. Both are public.
pub(super) type Mark = (SessionId, u32);

/// The reason why no lot can be used.
pub(super) enum Missing {
    /// No party has a lot.
    Everywhere,
    /// This party has no lot, and others do.
    Here,
    /// This party has a lot, and this other party has no lot.
    At(PartyId),
    /// All parties have lots, and no lot has `need` batches left; the fullest one has `most`.
    TooSmall { need: u32, most: u32 },
    /// All parties have lots, and not the same ones.
    Common,
}

/// A lack: why no lot can be used, and whose doing that is.
pub(crate) struct Lack {
    /// The lacking material's place among those that are wanted.
    pub(super) of: usize,
    pub(super) why: Missing,
    /// The party that lacks something where another one would have enough; this one if it is itself.
    pub(super) whose: PartyId,
}

impl Lack {
    pub(super) fn new(me: PartyId, why: Missing, ours: &[LotInfo], theirs: &PerPeer<Vec<Mark>>, need: u32) -> Lack {
        let enough = |batches: u32, next: u32| batches.saturating_sub(next) >= need;
        let lacks = |lot: &LotInfo, marks: &[Mark]| {
            !marks.iter().any(|(id, next)| *id == lot.meta.id && enough(lot.batches, *next))
        };
        let mut here = ours.iter().filter(|lot| enough(lot.batches, lot.next));
        let whose = here.find_map(|lot| theirs.iter().find(|(_, marks)| lacks(lot, marks)).map(|(peer, _)| peer));
        Lack { of: 0, why, whose: whose.unwrap_or(me) }
    }
}

/// Tells all other parties which lots of a material are here, and hears theirs. All hear the same, or the
/// error names no party. A party that told two others different things would have them choose differently,
/// and each take the other one for the cheat.
///
/// # Errors
/// Those of [`Mesh::settle`]; a list that is too long, with its sender.
pub(super) fn tell(mesh: &mut Mesh<'_>, here: &Here, material: &str, ours: &[LotInfo]) -> Result<PerPeer<Vec<Mark>>> {
    const BYTES: usize = SessionId::BYTES + 4;
    let (me, parties) = (mesh.me(), mesh.parties());
    let mut echo = Echo::new(SessionId::derive("lots", &[&here.session.to_bytes(), material.as_bytes()]));
    let counts = mesh.broadcast(&mut echo, "their number", &(ours.len() as u32).to_le_bytes())?;
    let mut into = PerPeer::new(me, parties, |_| Vec::new());
    for (peer, count) in counts.unsettled().iter() {
        let count = u32::from_le_bytes(count[..].try_into().expect("four bytes")) as usize;
        if count > MOST {
            return Err(Error::malformed(format!("the peer says that it has {count} lots")).by(peer));
        }
        into[peer] = vec![0; count * BYTES];
    }
    let bytes: Vec<u8> =
        ours.iter().flat_map(|lot| [&lot.meta.id.to_bytes()[..], &lot.next.to_le_bytes()].concat()).collect();
    mesh.exchange(&PerPeer::new(me, parties, |_| bytes.clone()), &mut into)?;
    echo.hear("ids and marks", &bytes, &into);
    mesh.settle(echo)?;
    let mark = |bytes: &[u8; BYTES]| {
        let (id, next) = bytes.split_at(SessionId::BYTES);
        let id = SessionId::new(id.try_into().expect("the length of an id"));
        (id, u32::from_le_bytes(next.try_into().expect("four bytes")))
    };
    Ok(into.map(|_, bytes| bytes.as_chunks().0.iter().map(mark).collect()))
}

/// Tells all other parties whether this party's part of a lot is whole, and hears the same of theirs. The
/// answers are the same at all parties, or the error names no party. Returns the others whose part is
/// damaged.
///
/// # Errors
/// Those of [`Mesh::settle`]; a message that says neither, with its sender.
pub(super) fn damaged_at(mesh: &mut Mesh<'_>, here: &Here, id: &SessionId, whole: bool) -> Result<Vec<PartyId>> {
    let session = SessionId::derive("part of a lot", &[&here.session.to_bytes(), &id.to_bytes()]);
    let mut echo = Echo::new(session);
    let words = mesh.broadcast(&mut echo, "whole", &[u8::from(whole)])?;
    let words = words.settled(&mesh.settle(echo)?);
    if let Some((peer, _)) = words.iter().find(|(_, word)| word[0] > 1) {
        return Err(Error::malformed(
            "the peer's message must say whether its part of a lot is whole or damaged, and says neither",
        )
        .by(peer));
    }
    Ok(words.iter().filter(|(_, word)| word[0] == 0).map(|(peer, _)| peer).collect())
}

/// The oldest lot, in the order of party 0, of which all parties have `need` batches left, and the batch at
/// which all go on.
pub(super) fn choose(ours: &[LotInfo], theirs: &PerPeer<Vec<Mark>>, need: u32) -> std::result::Result<Mark, Missing> {
    let here: HashMap<_, _> = ours.iter().map(|lot| (lot.meta.id, (lot.next, lot.batches))).collect();
    let there: Vec<HashMap<_, _>> = theirs.iter().map(|(_, marks)| marks.iter().copied().collect()).collect();
    let order: Vec<SessionId> = match theirs.me() {
        PartyId(0) => ours.iter().map(|lot| lot.meta.id).collect(),
        _ => theirs[PartyId(0)].iter().map(|&(id, _)| id).collect(),
    };
    let mut most = None;
    for id in order {
        let Some(&(next, batches)) = here.get(&id) else { continue };
        let Some(theirs) = there.iter().map(|marks| marks.get(&id)).collect::<Option<Vec<_>>>() else { continue };
        let next = theirs.into_iter().fold(next, |next, &theirs| next.max(theirs));
        let left = batches.saturating_sub(next);
        if left >= need {
            return Ok((id, next));
        }
        most = most.max(Some(left));
    }
    let without = theirs.iter().find(|(_, marks)| marks.is_empty());
    Err(match (without, most) {
        _ if ours.is_empty() && theirs.iter().all(|(_, marks)| marks.is_empty()) => Missing::Everywhere,
        _ if ours.is_empty() => Missing::Here,
        (Some((peer, _)), _) => Missing::At(peer),
        (None, Some(most)) => Missing::TooSmall { need, most },
        (None, None) => Missing::Common,
    })
}

/// The lots whose other part a peer no longer has. A peer that has none of the lots here does not count, for
/// its store may be another one; nor does a peer that had no room to list all of its lots.
pub(super) fn lost(ours: &[LotInfo], theirs: &PerPeer<Vec<Mark>>) -> Vec<SessionId> {
    let mut lost = HashSet::new();
    for (_, marks) in theirs.iter().filter(|(_, marks)| marks.len() < MOST) {
        let there: HashSet<_> = marks.iter().map(|(id, _)| *id).collect();
        let (both, lacks): (Vec<_>, Vec<_>) = ours.iter().map(|lot| lot.meta.id).partition(|id| there.contains(id));
        if !both.is_empty() {
            lost.extend(lacks);
        }
    }
    ours.iter().map(|lot| lot.meta.id).filter(|id| lost.contains(id)).collect()
}

/// The reason why there is nothing to take, in words.
pub(super) fn why(wanted: &Wanted<'_>, missing: &Missing) -> String {
    let material = material(wanted.card, wanted.need);
    let with = match material.program {
        true => format!("for `{}` with these owners, recipients, parameters, options and keys", wanted.program.name()),
        false => "with these parameters, options and keys".to_owned(),
    };
    let lot = format!("lot of {} {with}", material.name);
    match missing {
        Missing::Everywhere => format!("no party has a {lot}"),
        Missing::Here => format!("this party has no {lot}, and others have"),
        Missing::At(peer) => format!("party {peer} has no {lot}, and this party has"),
        Missing::TooSmall { need, most } => {
            let protocol = wanted.protocols.iter().find(|protocol| protocol.card().name == wanted.card.name);
            let short = protocol.and_then(|protocol| protocol.lacks(wanted.program, wanted.need, (*most).into()));
            let short = short.map_or(String::new(), |short| format!(": it lacks {short}"));
            format!("this run takes {need} batches, and all parties have at most {most} of any {lot}{short}")
        }
        Missing::Common => format!("there is no {lot} that all parties have"),
    }
}

/// How the user makes what is missing, with the options of the run.
pub(super) fn how(wanted: &Wanted<'_>, options: &Options) -> String {
    let (name, material, flags) = (wanted.card.name, material(wanted.card, wanted.need), options.flags());
    // A count is of the one material for any program, where there is only one.
    let of_any = wanted.card.offline.iter().filter(|material| !material.program).count();
    match material.program || of_any > 1 {
        true => format!("`comity prepare {} --protocol {name}{flags}`", wanted.program.name()),
        false => format!("`comity prepare --protocol {name}{flags} --count {}`", wanted.need.units[0]),
    }
}

/// The error that says why there is nothing to run on, and what to do. It is the party's that lacks
/// something: a service whose peer has no lot goes on.
pub(super) fn none_left(store: &Store, wanted: &Wanted<'_>, options: &Options, lack: &Lack) -> Error {
    let lots = store.lots().unwrap_or_default();
    let made = lots.iter().map(|lot| lot.meta.material.as_str()).filter(|made| *made != wanted.need.material);
    let made: HashSet<&str> = made.collect();
    let others: Vec<String> = wanted.protocols.iter().filter_map(|protocol| flags(*protocol, wanted, &made)).collect();
    let there = match others.is_empty() {
        true => String::new(),
        false => format!("; the store has lots for {}: to use one, name it at all parties", others.join(" or ")),
    };
    let (why, how) = (why(wanted, &lack.why), how(wanted, options));
    let changed = changed(wanted, &lots);
    let error = Error::invalid_input(format!("{why}{changed}: make one with {how}, at all parties{there}"));
    Error { party: Some(lack.whose), ..error }
}

/// A note that the store has the wanted material for an earlier form of the program, or no text if it has
/// none.
fn changed(wanted: &Wanted<'_>, lots: &[LotInfo]) -> String {
    let (name, digest) = (wanted.program.name(), wanted.program.digest());
    let of_it = |lot: &&LotInfo| lot.meta.material == wanted.need.material && lot.meta.name == name;
    match lots.iter().filter(of_it).find(|lot| lot.meta.program.is_some_and(|made_for| made_for != digest)) {
        Some(_) => format!(" (`{name}` has changed since the lot in the store was made)"),
        None => String::new(),
    }
}

/// The flags with which runs of this protocol use up a material that is made already.
fn flags(protocol: &dyn Protocol, wanted: &Wanted<'_>, made: &HashSet<&str>) -> Option<String> {
    let card = protocol.card();
    let words = card.options.iter().flat_map(|option| {
        let words: &[&str] = if let Values::OneOf(words) = option.values { words } else { &[] };
        words.iter().map(|word| Some((option.name, *word)))
    });
    let uses = |said: &Option<(&str, &str)>| {
        let mut options = Options::new(card);
        said.iter().all(|(name, word)| options.set(PartyId(0), name, word).is_ok()) && {
            protocol.settle(&mut options, wanted.program);
            let needs = protocol.needs(wanted.program, &options, Params::default());
            needs.is_ok_and(|needs| needs.iter().all(|need| made.contains(need.material)))
        }
    };
    let fits = card.parties.contains(&(wanted.peers.len() as u16 + 1));
    let said = std::iter::once(None).chain(words).filter(|_| fits).find(uses)?;
    let option = said.map(|(name, word)| format!(" --option {name}={word}"));
    Some(format!("`--protocol {}{}`", card.name, option.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use comity_circuit::Builder;
    use comity_core::Backend;
    use comity_tinyot::TinyOt;

    use super::*;

    #[test]
    fn what_is_missing_is_made_with_the_options_of_the_run() {
        let mut b = Builder::new();
        let x = b.input("x", 1);
        b.output("x", &x);
        let (program, card) = (Program::from_circuit(b.finish()).unwrap(), comity_mixed::Mixed.card());
        let need = Need { material: "adder tables", units: vec![1], batches: 1, bytes: 1 };
        let wanted = Wanted { protocols: crate::PROTOCOLS, card, program: &program, need: &need, peers: Vec::new() };
        let mut options = Options::new(card);
        assert_eq!(how(&wanted, &options), "`comity prepare circuit --protocol mixed`");
        for (name, value) in [("dealer", "softspoken"), ("tables", "prepared"), ("sharing", "yao")] {
            options.set(PartyId(0), name, value).unwrap();
        }
        let all = "`comity prepare circuit --protocol mixed --option sharing=yao --option tables=prepared`";
        assert_eq!(how(&wanted, &options), all);
    }

    #[test]
    fn a_lot_is_for_those_who_made_it() {
        let mut b = Builder::new();
        let (x, y) = (b.input("x", 1), b.input("y", 1));
        let and = b.and(x[0], y[0]);
        b.output("and", &[and]);
        let program = Program::from_circuit(b.finish()).unwrap();
        let (options, params) = (Options::new(TinyOt.card()), Params::default());
        let need = TinyOt.needs(&program, &options, params).unwrap().remove(0);
        let (session, backend) = (SessionId::new([1; 32]), Backend::detect());
        let here = Here { me: PartyId(0), parties: 2, session, params, backend };
        let wanted = Wanted {
            protocols: crate::PROTOCOLS,
            card: TinyOt.card(),
            program: &program,
            need: &need,
            peers: vec![(PartyId(1), Some([7; 32]))],
        };
        let made = Meta {
            id: session,
            material: need.material.to_owned(),
            options: options.canonical(&["dealer"]),
            program: None,
            name: String::new(),
            units: need.units.clone(),
            party: here.me,
            peers: wanted.peers.clone(),
            params,
        };
        assert!(wanted.is(&made, &here, &options));
        let others = [
            Meta { material: "copies".to_owned(), ..made.clone() },
            Meta { program: Some(program.digest()), ..made.clone() },
            Meta { party: PartyId(1), ..made.clone() },
            Meta { peers: vec![(PartyId(1), Some([8; 32]))], ..made.clone() },
            Meta { peers: vec![(PartyId(1), None)], ..made.clone() },
            Meta { peers: vec![(PartyId(2), Some([7; 32]))], ..made.clone() },
            Meta { peers: vec![], ..made.clone() },
            Meta { params: Params::new(128, 41).unwrap(), ..made.clone() },
            Meta { options: "dealer=nnob12".to_owned(), ..made },
        ];
        for (case, other) in others.iter().enumerate() {
            assert!(!wanted.is(other, &here, &options), "case {case}");
        }
    }
}

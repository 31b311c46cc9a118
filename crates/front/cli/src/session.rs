//! The session that a party's flags ask for.

use std::time::Duration;

use comity::{Error, PartyGroup, Program, Protocol, Session, fits};
use comity_core::{Kind, Params, PartyId};
use comity_net::KeyDir;
use comity_terminal::failure::{Ending, Failure, Outcome};

use crate::args::{NetworkArgs, SessionArgs};
use crate::backend::backend;
use crate::interrupt;
use crate::list::value;
use crate::parties::Names;

/// A session, and among how many it is.
pub(crate) struct Ours {
    pub(crate) session: Session<'static>,
    pub(crate) parties: u16,
    pub(crate) place: Place,
}

/// What the failures of a session are told with.
pub(crate) struct Place {
    names: Names,
    /// The address in the flags, where there is one peer.
    address: Option<String>,
    /// The relay, and the parties that are met there.
    relay: Option<(String, Vec<PartyId>)>,
}

/// The party that the flags name, or that has the key.
pub(crate) fn party(network: &NetworkArgs, names: &Names, group: Option<&PartyGroup>) -> Outcome<u16> {
    let said = network.party.as_ref().map(|who| names.find(who)).transpose()?;
    let keyed = match (group, &network.tls) {
        (Some(group), Some(dir)) if group.members()[0].key.is_some() => {
            Some(group.whose(&KeyDir::new(dir).identity()?.fingerprint())?)
        }
        _ => None,
    };
    match (said, keyed) {
        (Some(said), Some(keyed)) if said != keyed => Err(Failure::input(names.named(&format!(
            "the flags say party {said}, and the key is of party {keyed}: leave --party out, or name another folder of keys"
        )))),
        (Some(party), _) | (None, Some(party)) => Ok(party.0),
        (None, None) => Err(Failure::new(
            Ending::Usage,
            "which party is this? Say --party ID; with --group FILE and --tls DIR it follows from the key",
        )),
    }
}

/// The number of parties: those of the group, or all peers and this one.
pub(crate) fn parties(network: &NetworkArgs, group: Option<&PartyGroup>) -> u16 {
    match group {
        Some(group) => group.parties(),
        None => u16::try_from(network.peer.len().max(1)).map_or(u16::MAX, |peers| peers.saturating_add(1)),
    }
}

/// A session as the flags say.
pub(crate) fn session(
    program: Option<&Program>,
    party: u16,
    names: &Names,
    group: Option<&PartyGroup>,
    network: &NetworkArgs,
    args: &SessionArgs,
) -> Outcome<Ours> {
    let parties = self::parties(network, group);
    placed(begin(program, party, parties, args)?, party, names, group, network)
}

/// This session of that party, where the flags say.
pub(crate) fn placed(
    session: Session<'static>,
    party: u16,
    names: &Names,
    group: Option<&PartyGroup>,
    network: &NetworkArgs,
) -> Outcome<Ours> {
    let peers = network.peer.iter().map(|peer| Ok((names.find(&peer.party)?.0, peer.address.as_str())));
    let peers: Vec<(u16, &str)> = peers.collect::<Outcome<_>>()?;
    let parties = self::parties(network, group);
    let mut session = session.plaintext(network.plaintext);
    let address = match (&network.connect, &network.listen, peers.first()) {
        (Some(there), ..) => Some(there.as_str()),
        (None, Some(here), Some((peer, _))) if party < *peer => Some(here.as_str()),
        (None, _, Some((_, there))) => Some(*there),
        (None, here, None) => here.as_deref(),
    };
    if address.is_none() && group.is_none() && network.relay.is_none() {
        return Err(Failure::input(
            "where is the other party? One side adds --listen ADDR, the other --connect ADDR, such as 127.0.0.1:7000; \
                more than two name each other with --peer, or share a --group; parties that nobody can call all add \
                --relay ADDR",
        ));
    }
    let address = address.filter(|_| parties == 2 && group.is_none()).map(str::to_owned);
    let relay = relay(party, group, network);
    for (peer, there) in peers {
        session = session.peer(peer, there);
    }
    if let Some(group) = group {
        session = session.group(group);
    }
    if let Some(here) = &network.listen {
        session = session.listen(here);
    }
    if let Some(there) = &network.connect {
        session = session.connect(there);
    }
    if let Some(there) = &network.relay {
        session = session.relay(there);
    }
    if let Some(dir) = &network.tls {
        session = session.tls(dir);
    }
    if let Some(label) = &network.label {
        session = session.label(label);
    }
    Ok(Ours { session, parties, place: Place { names: names.clone(), address, relay } })
}

/// The relay that the flags or the group name, and the parties that this one meets there.
fn relay(party: u16, group: Option<&PartyGroup>, network: &NetworkArgs) -> Option<(String, Vec<PartyId>)> {
    let at = network.relay.as_deref().or(group.and_then(PartyGroup::relay))?;
    let apart = match group {
        Some(group) => group.ways(PartyId(party), Some(at)).ok()?.apart,
        None => vec![PartyId(party).other()],
    };
    Some((at.to_owned(), apart)).filter(|(_, apart)| !apart.is_empty())
}

/// The session of a process whose parent knows where the others are.
pub(crate) fn attached(
    program: &Program,
    party: u16,
    parties: u16,
    names: &Names,
    args: &SessionArgs,
    ask: impl FnOnce(&str) -> Result<Vec<String>, Error> + Send + 'static,
) -> Outcome<Ours> {
    let session = begin(Some(program), party, parties, args)?.introduced("127.0.0.1:0", parties, ask);
    Ok(Ours { session, parties, place: Place { names: names.clone(), address: None, relay: None } })
}

/// A session of party `party` of `parties`, without the addresses of the others.
fn begin(program: Option<&Program>, party: u16, parties: u16, args: &SessionArgs) -> Outcome<Session<'static>> {
    let protocol = fits_parties(program, args, parties)?;
    protocol.card().has(PartyId(party), parties)?;
    let session = Session::new(party)
        .protocols(args.list.0)
        .with(protocol)
        .params(Params::new(args.kappa, args.rho)?)
        .timeout(args.timeout)
        .stopped_by(interrupt::stop())
        .backend(backend()?);
    let session = within(session, args.deadline);
    args.option.iter().try_fold(session, |session, (name, said)| {
        Ok(session.option(name, value(protocol.card(), name, said)?.as_ref()))
    })
}

/// This session, with a deadline after this time.
pub(crate) fn within(session: Session<'static>, deadline: Option<Duration>) -> Session<'static> {
    match deadline {
        Some(time) => session.deadline(time),
        None => session,
    }
}

/// The protocol that `parties` parties run, if they can run the program with it; or advice.
pub(crate) fn fits_parties(
    program: Option<&Program>,
    args: &SessionArgs,
    parties: u16,
) -> Outcome<&'static dyn Protocol> {
    let advise = |failure: Failure| {
        match program {
        None => failure,
        Some(program) => failure.at(program.name()).and(
            "`comity eval` computes it in the clear, for checking; --owner and --output-to give values to other parties",
        ),
    }
    };
    let protocol =
        args.list.chosen(args.protocol.as_deref(), parties, program).map_err(|failure| match args.protocol {
            Some(_) => failure,
            None => advise(failure),
        })?;
    fits(args.list.0, protocol.card(), parties, program).map_err(|error| advise(error.into()))?;
    Ok(protocol)
}

/// Whether the parties disagree on a program that they call the same.
fn is_of_one_name(error: &Error) -> bool {
    let name = |text: &str| text.split(" (digest ").next().map(str::to_owned);
    match &error.kind {
        Kind::Mismatch { field: "program", ours, theirs } => name(ours) == name(theirs),
        _ => false,
    }
}

impl Place {
    /// The failure of the session, for people.
    pub(crate) fn failure(&self, error: Error) -> Failure {
        let alike = is_of_one_name(&error);
        let mut failure = Failure::from(error);
        if alike {
            failure = failure.and("Both programs have the same name: compare the two files, and the --optimize flags");
        }
        let met = |apart: &[PartyId]| failure.party.is_none_or(|party| apart.contains(&PartyId(party)));
        let failure = match &self.relay {
            Some((relay, apart)) if failure.kind == Ending::Closed && met(apart) => {
                failure.and(&format!("the connection went through the relay at {relay}, which may have ended"))
            }
            _ => failure,
        };
        self.names.explain(match &self.address {
            Some(address) => failure.with_peer(address),
            None => failure,
        })
    }
}

//! `Route`: where the peers are.

use comity_channel::{Channel, PerPeer};
use comity_core::{Error, PartyId, Result, listed};
use comity_net::{Calls, PartyGroup, Ways, ways};

/// A user's words on the place where the peers are.
pub(crate) enum Route<'a> {
    Unknown,
    Listen(String),
    Connect(String),
    Over(Box<dyn Channel + 'a>),
    Among(PerPeer<Box<dyn Channel + 'a>>),
    Introduced { address: String, parties: u16, ask: Introduction<'a> },
}

/// A function from the address where this party listens to those of all parties, in order.
pub(crate) type Introduction<'a> = Box<dyn FnOnce(&str) -> Result<Vec<String>> + Send + 'a>;

/// The places: where this party listens, if anyone comes to it, and the parties that it calls.
#[derive(Default)]
pub(crate) struct Places {
    pub(crate) listen: Option<String>,
    pub(crate) calls: Calls,
    /// The parties that call the same address, that of a relay.
    pub(crate) relayed: Vec<PartyId>,
}

/// The address of a party that nobody can call.
const NOWHERE: &str = "-";

impl Places {
    /// The places of a group's parties. If the user says where to listen, that is the address on this machine
    /// behind the address that the others call; if the user names a relay, it is used where neither of two
    /// parties can be called.
    pub(crate) fn of_group(
        group: &PartyGroup,
        me: PartyId,
        listen: Option<&str>,
        relay: Option<&str>,
    ) -> Result<Places> {
        let Ways { listens, calls, apart } = group.ways(me, relay)?;
        Ok(Places { listen: listens.map(|own| listen.unwrap_or(own).to_owned()), calls, relayed: apart })
    }

    /// The place of the other one of two parties. It calls the relay as this one does.
    pub(crate) fn at_relay(me: PartyId, relay: &str) -> Places {
        Places { listen: None, calls: vec![(me.other(), relay.to_owned())], relayed: vec![me.other()] }
    }

    /// The places of all other parties. Each must be named once.
    pub(crate) fn of_peers(me: PartyId, peers: &[(PartyId, String)], listen: Option<&str>) -> Result<Places> {
        let wrong = |why: String| Err(Error::invalid_input(why));
        let parties = peers.len() as u16 + 1;
        for (i, (peer, _)) in peers.iter().enumerate() {
            if *peer == me {
                return wrong(format!("party {peer} is this party itself: name the other parties as peers"));
            }
            if peers[..i].iter().any(|(other, _)| other == peer) {
                return wrong(format!("party {peer} has two addresses: name each other party once"));
            }
        }
        let named = |party: &PartyId| *party == me || peers.iter().any(|(peer, _)| peer == party);
        let missing: Vec<PartyId> = (0..parties).map(PartyId).filter(|party| !named(party)).collect();
        if !missing.is_empty() {
            let (all, last) = (listed(missing), parties - 1);
            return wrong(format!(
                "this party and those with an address are {parties} parties, so they are numbered 0 to {last}: where \
                    is {all}?"
            ));
        }
        let at = |address: &str| Some(address).filter(|a| *a != NOWHERE).map(str::to_owned);
        let all: Vec<(PartyId, Option<String>)> =
            peers.iter().map(|(peer, address)| (*peer, at(address))).chain([(me, listen.map(str::to_owned))]).collect();
        let all: Vec<_> = all.iter().map(|(party, address)| (*party, address.as_deref())).collect();
        let Ways { listens, calls, apart } = ways(me, &all);
        match apart.first() {
            None => Ok(Places { listen: listens.map(str::to_owned), calls, relayed: apart }),
            Some(other) => wrong(format!(
                "{} cannot call each other: give one of them an address to listen at, in the flags of both, or let all \
                    share a group that names a relay",
                listed([me.min(*other), me.max(*other)])
            )),
        }
    }

    /// Every address in it.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &str> {
        self.listen.iter().map(String::as_str).chain(self.calls.iter().map(|(_, address)| address.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(me: u16, listen: Option<&str>, peers: &[(u16, &str)]) -> Result<(Option<String>, Calls)> {
        let peers: Vec<_> = peers.iter().map(|&(id, address)| (PartyId(id), address.to_owned())).collect();
        Places::of_peers(PartyId(me), &peers, listen).map(|places| (places.listen, places.calls))
    }

    #[test]
    fn of_each_pair_the_lower_one_listens_if_it_can() {
        let calls = |to: &[(u16, &str)]| to.iter().map(|&(id, a)| (PartyId(id), a.to_owned())).collect::<Calls>();
        assert_eq!(places(0, Some("a:1"), &[(1, "b:1"), (2, "c:1")]).unwrap(), (Some("a:1".into()), calls(&[])));
        let middle = places(1, Some("b:1"), &[(2, "-"), (0, "a:1")]).unwrap();
        assert_eq!(middle, (Some("b:1".into()), calls(&[(0, "a:1")])));
        assert_eq!(places(0, None, &[(1, "b:1"), (2, "c:1")]).unwrap(), (None, calls(&[(1, "b:1"), (2, "c:1")])));
        assert_eq!(
            places(2, Some("c:1"), &[(0, "-"), (1, "b:1")]).unwrap(),
            (Some("c:1".into()), calls(&[(1, "b:1")]))
        );
        let why = |me, listen, peers: &[(u16, &str)]| places(me, listen, peers).unwrap_err().to_string();
        assert!(why(0, None, &[(1, "-"), (2, "c:1")]).contains("parties 0 and 1 cannot call each other"));
        assert!(why(1, None, &[(1, "b:1")]).contains("itself"));
        assert!(why(0, None, &[(1, "b:1"), (1, "b:2")]).contains("two addresses"));
        assert!(why(0, None, &[(1, "b:1"), (3, "d:1")]).contains("where is party 2?"));
    }
}

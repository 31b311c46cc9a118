//! The session that a party's flags ask for.

use comity::{Card, Session};
use comity_core::{Params, PartyId};
use comity_terminal::failure::{Failure, Outcome};

use crate::args::{NetworkArgs, SessionArgs};
use crate::backend::backend;
use crate::resolve::Resolved;

/// The way that this party meets its peer.
enum Route<'a> {
    Listen(&'a str),
    Connect(&'a str),
}

/// A session as the flags say, and the address in them.
pub(crate) fn session<'a>(
    resolved: Option<&Resolved>,
    network: &'a NetworkArgs,
    args: &SessionArgs,
) -> Outcome<(Session<'static>, &'a str)> {
    let protocol = args.list.named(args.protocol.as_deref())?;
    let party = network.party;
    let parties = *protocol.card().parties.start();
    protocol.card().has(PartyId(party), parties)?;
    if let Some(resolved) = resolved {
        check_parties(resolved, protocol.card(), parties)?;
    }
    let route = route(network)?;
    let mut session = Session::new(party)
        .params(Params::new(args.kappa, args.rho)?)
        .timeout(args.timeout)
        .backend(backend()?)
        .plaintext(network.plaintext);
    if args.protocol.is_some() {
        session = session.with(protocol);
    }
    for (name, value) in &args.option {
        session = session.option(name, value);
    }
    if let Some(dir) = &network.tls {
        session = session.tls(dir);
    }
    Ok(match route {
        Route::Listen(address) => (session.listen(address), address),
        Route::Connect(address) => (session.connect(address), address),
    })
}

/// The place where the peer is; of two parties that name each other, the lower one listens.
fn route(args: &NetworkArgs) -> Outcome<Route<'_>> {
    let mut peers = args.peer.iter();
    match (&args.connect, &args.listen, peers.next(), peers.next()) {
        (_, _, _, Some(_)) => Err(Failure::input("this protocol has two parties: name one peer")),
        (Some(address), ..) => Ok(Route::Connect(address)),
        (None, _, Some(peer), _) if peer.party == args.party => {
            Err(Failure::input(format!("--peer {}: this is party {} itself", peer.party, args.party)))
        }
        (None, Some(address), Some(peer), _) if args.party < peer.party => Ok(Route::Listen(address)),
        (None, _, Some(peer), _) => Ok(Route::Connect(&peer.address)),
        (None, Some(address), None, _) => Ok(Route::Listen(address)),
        (None, None, None, _) => Err(Failure::input(
            "where is the other party? One side says --listen ADDR, the other --connect ADDR, such as 127.0.0.1:7000",
        )),
    }
}

/// Whether a run of so many parties has all that give or learn a value.
pub(crate) fn check_parties(resolved: &Resolved, card: &Card, parties: u16) -> Outcome {
    card.fits(parties, &resolved.program).map_err(|error| {
        Failure::from(error).at(&resolved.text).and(
            "`comity eval` computes it in the clear, for checking; --owner and --output-to give values to other parties",
        )
    })
}

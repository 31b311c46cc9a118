//! Meeting the peer of an interactive session.

use std::time::Duration;

use comity_net::{Connection, KeyDir, Listener, Security, Settings};

use crate::args::NetworkArgs;
use crate::console::note;
use crate::failure::{Failure, Outcome};

/// The connection to the peer, and its address for messages.
pub(super) fn meet(args: &NetworkArgs, timeout: Duration) -> Outcome<(Connection, String)> {
    let (party, seconds) = (args.party, timeout.as_secs_f64().ceil());
    let security = match &args.tls {
        Some(dir) => KeyDir::new(dir).security(1 - party)?,
        None => Security::Plain { anywhere: args.plaintext },
    };
    let settings = Settings { security, timeout };
    let peer = args.peer.first().map(|peer| peer.address.as_str());
    let (listens, address) = match (&args.connect, &args.listen, peer) {
        _ if args.peer.len() > 1 || args.peer.iter().any(|peer| peer.party == party) => {
            return Err(Failure::input("name the other party with --peer, and no more"));
        }
        (None, Some(address), None) => (true, address.as_str()),
        // Of two that name each other, party 0 listens.
        (None, Some(address), Some(_)) if party == 0 => (true, address.as_str()),
        (Some(address), ..) => (false, address.as_str()),
        (None, _, Some(address)) => (false, address),
        (None, None, None) => {
            return Err(Failure::input(
                "where is the other party? One side says --listen ADDR, the other --connect ADDR, such as 127.0.0.1:7000",
            ));
        }
    };
    let met = if listens {
        Listener::bind(address, &settings).and_then(|listener| {
            note(&format!("party {party}: waiting for the peer at {}, up to {seconds} s", listener.address()));
            listener.accept(&mut |_| {})
        })
    } else {
        let waiting = || note(&format!("party {party}: connecting to {address}, trying up to {seconds} s"));
        comity_net::connect(address, &settings, &mut |_| waiting())
    };
    Ok((met.map_err(|e| Failure::from(e).at(address))?, address.to_owned()))
}

//! Two parties of an OT protocol, a thread each, over TCP on this machine.

use std::sync::mpsc::{Receiver, SendError, Sender, channel};
use std::thread;
use std::time::Instant;

use comity_channel::{Channel, Error, NetProfile, Result, Simulated};
use comity_core::{Bits, Block, PartyId, SessionId};
use comity_net::{Connection, Listener, Security, Settings, SystemRng, connect};
use comity_terminal::failure::{Failure, Outcome};
use rand_core::Rng;

use crate::ot::wire::{Line, Wire};
use crate::two::PATIENCE;

/// The session of every run: these OTs protect nothing.
pub(crate) const SESSION: SessionId = SessionId::new([0x6f; 32]);

/// The cost of some equal runs.
pub(super) struct Measured {
    /// The time of each run, from when both are ready to when both are done.
    pub(super) seconds: Vec<f64>,
    /// Bytes from the sender in the last run.
    pub(super) from_sender: u64,
    /// Bytes from the receiver in the last run.
    pub(super) from_receiver: u64,
    /// Rounds: the longest chain of messages of the last run, of which each answers the one before.
    pub(super) rounds: u64,
}

/// One party: how it is set up, which is not measured, and what it does in each run.
pub(super) struct Party<M, R> {
    make: M,
    run: R,
}

impl<P, M: FnOnce(&mut Wire) -> Result<P>, R: FnMut(&mut P, &mut Wire) -> Result<()>> Party<M, R> {
    pub(super) fn new(make: M, run: R) -> Party<M, R> {
        Party { make, run }
    }

    /// One run to warm up, if there are several, then `runs`. Gives when each began and ended, and bytes sent
    /// and rounds of the last one.
    fn play(mut self, mut ch: Wire, runs: usize, (ready, other): Ready) -> Result<(Vec<[Instant; 2]>, [u64; 2])> {
        let mut party = (self.make)(&mut ch)?;
        let mut spans = Vec::with_capacity(runs);
        let warm_ups = usize::from(runs > 1);
        for run in 0..warm_ups + runs {
            ch.restart();
            // Both start at once, whatever the network's latency. A peer that failed is never ready.
            ready.send(()).and_then(|()| other.recv().map_err(|_| SendError(()))).map_err(|_| Error::closed())?;
            let start = Instant::now();
            (self.run)(&mut party, &mut ch)?;
            ch.flush()?;
            if run >= warm_ups {
                spans.push([start, Instant::now()]);
            }
        }
        Ok((spans, [ch.sent, ch.depth]))
    }
}

/// Says that this party is ready, and hears that the other one is.
type Ready = (Sender<()>, Receiver<()>);

/// Runs a sender and a receiver against each other.
pub(super) fn measure<S, R>(
    net: Option<NetProfile>,
    runs: usize,
    sender: Party<impl FnOnce(&mut Wire) -> Result<S> + Send, impl FnMut(&mut S, &mut Wire) -> Result<()> + Send>,
    receiver: Party<impl FnOnce(&mut Wire) -> Result<R>, impl FnMut(&mut R, &mut Wire) -> Result<()>>,
) -> Outcome<Measured> {
    let settings = |me| Settings::of_two(PartyId(me), Security::Plain { anywhere: false }, PATIENCE);
    let listener = Listener::bind("127.0.0.1:0", &settings(0)).map_err(Failure::from)?;
    let address = listener.address().to_string();
    let line = Line::default();
    let wire = |connection: Connection, party: usize| -> Wire {
        let inner: Box<dyn Channel> = match net {
            Some(profile) => Box::new(Simulated::new(connection, profile)),
            None => Box::new(connection),
        };
        Wire::new(inner, &line, party)
    };
    let ((one, hears_two), (two, hears_one)) = (channel(), channel());
    let (sent, received) = thread::scope(|scope| {
        let (address, settings, wire) = (&address, &settings, &wire);
        let sending = scope.spawn(move || {
            let connection = connect(address, PartyId(0), &settings(1), &mut |_| ())?;
            sender.play(wire(connection, 0), runs, (one, hears_one))
        });
        let received = listener
            .accept(&mut |_| ())
            .and_then(|connection| receiver.play(wire(connection, 1), runs, (two, hears_two)));
        (sending.join().expect("a party does not panic"), received)
    });
    let ((ours, sent), (theirs, received)) = (sent.map_err(Failure::from)?, received.map_err(Failure::from)?);
    let spans = ours.iter().zip(&theirs);
    Ok(Measured {
        seconds: spans.map(|(a, b)| (a[1].max(b[1]) - a[0].min(b[0])).as_secs_f64()).collect(),
        from_sender: sent[0],
        from_receiver: received[0],
        rounds: sent[1].max(received[1]),
    })
}

pub(crate) fn random_bits(n: usize) -> Bits {
    let mut bytes = vec![0; n.div_ceil(8)];
    SystemRng.fill_bytes(&mut bytes);
    Bits::from_bytes(&bytes, n)
}

pub(crate) fn random_block() -> Block {
    let mut bytes = [0; 16];
    SystemRng.fill_bytes(&mut bytes);
    Block::new(bytes)
}

//! Two parties of an OT protocol, a thread each, over TCP on this machine.

use std::sync::mpsc::{Receiver, SendError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use comity_channel::{Channel, Counted, Counts, Error, NetProfile, Result, Simulated};
use comity_net::{Connection, Listener, Security, Settings, connect};

use crate::failure::{Failure, Outcome};

/// What the parties speak over.
pub(super) type Wire = Counted<Box<dyn Channel>>;

/// What some equal runs took.
pub(super) struct Measured {
    /// Of each run, from when both are ready to when both are done.
    pub(super) seconds: Vec<f64>,
    /// In the last run.
    pub(super) from_sender: u64,
    /// In the last run.
    pub(super) from_receiver: u64,
    /// How often in the last run a party that had sent something had to wait for an answer; the larger number of both.
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

    /// One run to warm up, then `runs`. Gives when each began and ended, and what the last one sent.
    fn play(mut self, mut ch: Wire, runs: usize, (ready, other): Ready) -> Result<(Vec<[Instant; 2]>, Counts)> {
        let mut party = (self.make)(&mut ch)?;
        let mut spans = Vec::with_capacity(runs);
        let mut last = Counts::default();
        for run in 0..=runs {
            // Both start at once, whatever the network's latency. A peer that failed is never ready.
            ready.send(()).and_then(|()| other.recv().map_err(|_| SendError(()))).map_err(|_| Error::PeerClosed)?;
            let (start, before) = (Instant::now(), ch.counts());
            (self.run)(&mut party, &mut ch)?;
            ch.flush()?;
            if run > 0 {
                spans.push([start, Instant::now()]);
            }
            let after = ch.counts();
            last = Counts {
                sent: after.sent - before.sent,
                received: after.received - before.received,
                rounds: after.rounds - before.rounds,
            };
        }
        Ok((spans, last))
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
    let settings = Settings { security: Security::Plain { anywhere: false }, timeout: Duration::from_secs(30) };
    let listener = Listener::bind("127.0.0.1:0", &settings).map_err(Failure::from)?;
    let address = listener.address().to_string();
    let wire = |connection: Connection| -> Wire {
        Counted::new(match net {
            Some(profile) => Box::new(Simulated::new(connection, profile)),
            None => Box::new(connection),
        })
    };
    let ((one, hears_two), (two, hears_one)) = (channel(), channel());
    let (sent, received) = thread::scope(|scope| {
        let (address, settings) = (&address, &settings);
        let sending = scope.spawn(move || {
            let connection = connect(address, settings, &mut |_| ())?;
            sender.play(wire(connection), runs, (one, hears_one))
        });
        let received =
            listener.accept(&mut |_| ()).and_then(|connection| receiver.play(wire(connection), runs, (two, hears_two)));
        (sending.join().expect("a party does not panic"), received)
    });
    let ((ours, sent), (theirs, received)) = (sent.map_err(Failure::from)?, received.map_err(Failure::from)?);
    let spans = ours.iter().zip(&theirs);
    Ok(Measured {
        seconds: spans.map(|(a, b)| (a[1].max(b[1]) - a[0].min(b[0])).as_secs_f64()).collect(),
        from_sender: sent.sent,
        from_receiver: received.sent,
        rounds: sent.rounds.max(received.rounds),
    })
}

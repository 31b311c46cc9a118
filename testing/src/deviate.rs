//! Every way to break an honest run, at every message.

mod among;

use std::fmt::Debug;

use comity_channel::{
    Change, Channel, Direction, Error, MemoryChannel, Recorded, Recording, Result, Tamper, Tampering, memory,
};

pub use among::{BrokenRun, Lie, deviate_among, never_wrong_among};

use crate::PATIENCE;
use crate::parties::{Ending, side_by_side};

/// The most bytes of a recording of an honest run.
const LIMIT: usize = 256 << 20;

/// A change of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deviation {
    /// A bit of the message's first byte, its last byte or one between is flipped.
    Flip,
    /// The message's last byte is missing.
    Truncate,
    /// The message is missing.
    Drop,
    /// The message comes twice.
    Duplicate,
    /// The message changes places with the party's next one.
    Reorder,
    /// The message of another session comes in place of this one.
    Replay,
    /// The message to another party comes in place of this one, among three parties or more.
    Misdirect,
    /// The party is lost once the message has gone.
    Lose,
}

/// One broken run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The party whose message is broken, 0 or 1. The other party is the one to protect.
    pub party: usize,
    /// The number of the message among the party's, from 0. For `Lose`, message 0 may also have never gone:
    /// see `change`.
    pub message: usize,
    /// The change of the message.
    pub deviation: Deviation,
    /// The change of the message as one of the party's outgoing bytes.
    pub change: Tamper,
}

/// The end of a party in a broken run.
#[derive(Debug)]
pub enum Verdict<T> {
    /// The party ended with the output of the honest run.
    Correct,
    /// The party ended with another output.
    Wrong(T),
    /// The party ended with an error.
    Abort(Error),
}

impl<T> Verdict<T> {
    /// The error, if the party ended with one.
    pub fn error(&self) -> Option<&Error> {
        match self {
            Verdict::Abort(error) => Some(error),
            Verdict::Correct | Verdict::Wrong(_) => None,
        }
    }
}

/// The judge of a protocol that is secure against malicious parties: whatever happens to a party's messages,
/// its peer ends with the correct output or an error.
///
/// # Panics
///
/// If the peer's output is wrong.
pub fn never_wrong<A: Debug, B: Debug>(case: &Case, verdict0: &Verdict<A>, verdict1: &Verdict<B>) {
    match (case.party, verdict0, verdict1) {
        (1, Verdict::Wrong(output), _) => panic!("{case:?}: party 0 took a wrong output for the result: {output:?}"),
        (0, _, Verdict::Wrong(output)) => panic!("{case:?}: party 1 took a wrong output for the result: {output:?}"),
        _ => {}
    }
}

/// Runs two honest parties once, and then again for each way to break each of their messages; `judge` looks
/// at how the parties ended. If there are more than `limit` broken runs, it takes `limit` of them, spread
/// over messages and ways. Returns their number.
///
/// A party is called with its channel and the number of a session, from which it seeds its randomness: for one number
/// it must do the same each time, and for two numbers its messages must differ where they depend on randomness. Its
/// output must not depend on it. Only messages on the channel itself are broken, not those on its forks.
///
/// A party whose message was lost leaves both parties waiting. The pair in memory notices that, since nobody
/// else can use the end on which a party waits, and both get an error at once, however busy the machine is.
/// It cannot know what a party does that has [`split`](Channel::split) its end, or that waits on a fork
/// meanwhile: such a party waits for [`PATIENCE`].
///
/// ```
/// use comity_channel::{Channel, Error};
/// use comity_testing::{deviate, never_wrong};
///
/// // Party 0 tells party 1 a byte, and a check of it.
/// let runs = deviate(
///     1000,
///     |ch, _session| {
///         ch.send(&[7, !7])?;
///         ch.flush()
///     },
///     |ch, _session| {
///         let mut bytes = [0; 2];
///         ch.recv(&mut bytes)?;
///         if bytes[0] == !bytes[1] { Ok(bytes[0]) } else { Err(Error::malformed("the check is wrong")) }
///     },
///     never_wrong,
/// );
/// assert!(runs > 5);
/// ```
///
/// # Panics
///
/// If an honest run fails, a party panics in any run, or the judge does. A party that does not end stops the whole
/// test process with a message.
pub fn deviate<A: PartialEq + Debug + Send, B: PartialEq + Debug + Send>(
    limit: usize,
    party0: impl Fn(&mut Box<dyn Channel>, u64) -> Result<A> + Sync,
    party1: impl Fn(&mut Box<dyn Channel>, u64) -> Result<B> + Sync,
    mut judge: impl FnMut(&Case, &Verdict<A>, &Verdict<B>),
) -> usize {
    let (party0, party1) = (&party0, &party1);
    let honest = |session| {
        let (a, b) = memory::pair_with_timeout(PATIENCE);
        let (a, b) = (Recorded::new(a, LIMIT), Recorded::new(b, LIMIT));
        let recorders = [a.recorder(), b.recorder()];
        let (output0, output1) = side_by_side(
            || party0(&mut (Box::new(a) as Box<dyn Channel>), session),
            || party1(&mut (Box::new(b) as Box<dyn Channel>), session),
        );
        let outputs = (done("honest run", 0, output0), done("honest run", 1, output1));
        (outputs, recorders.map(|recorder| recorder.recording()))
    };
    let ((output0, output1), recordings) = honest(0);
    let (_, others) = honest(1);
    let cases = sample(cases(&recordings, &others), limit);
    for case in &cases {
        let (a, b) = memory::pair_with_timeout(PATIENCE);
        let channel = |party, channel: MemoryChannel| -> Box<dyn Channel> {
            if case.party == party { Box::new(Tampering::new(channel, &case.change)) } else { Box::new(channel) }
        };
        let (mut a, mut b) = (channel(0, a), channel(1, b));
        let (ending0, ending1) = side_by_side(move || party0(&mut a, 0), move || party1(&mut b, 0));
        judge(case, &verdict(case, 0, ending0, &output0), &verdict(case, 1, ending1, &output1));
    }
    cases.len()
}

fn done<T>(run: &str, party: usize, ending: Ending<Result<T>>) -> T {
    match ending {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => panic!("{run}: party {party}: {error}"),
        Err(message) => panic!("{run}: party {party} panicked: {message}"),
    }
}

fn verdict<T: PartialEq>(case: &impl Debug, party: usize, ending: Ending<Result<T>>, honest: &T) -> Verdict<T> {
    match ending {
        Ok(Ok(output)) if output == *honest => Verdict::Correct,
        Ok(Ok(output)) => Verdict::Wrong(output),
        Ok(Err(error)) => Verdict::Abort(error),
        Err(message) => panic!("{case:?}: party {party} panicked: {message}"),
    }
}

/// The ways to break each message that was sent over a link: its number, the way, and the change. `other` is
/// the link in another session.
fn ways(link: &Recording, other: &Recording) -> Vec<(usize, Deviation, Tamper)> {
    let lost_at_once = Tamper { direction: Direction::Outgoing, at: 0, change: Change::Close };
    let mut ways = vec![(0, Deviation::Lose, lost_at_once)];
    let messages: Vec<_> = link.messages().collect();
    let elsewhere: Vec<_> = other.messages().collect();
    for (message, range) in messages.iter().enumerate() {
        let (len, last) = (range.len(), range.end - 1);
        let between = range.start + 37 * (message + 1) % len;
        let mut add = |deviation, at, change| {
            ways.push((message, deviation, Tamper { direction: Direction::Outgoing, at, change }));
        };
        for (at, bit) in [(range.start, 0), (between, message as u8 % 8), (last, 7)] {
            add(Deviation::Flip, at, Change::Flip { bit });
        }
        add(Deviation::Truncate, last, Change::Drop { len: 1 });
        add(Deviation::Drop, range.start, Change::Drop { len });
        add(Deviation::Duplicate, range.start, Change::Duplicate { len });
        if let Some(next) = messages.get(message + 1) {
            add(Deviation::Reorder, range.start, Change::Swap { first: len, second: next.len() });
        }
        if let Some(there) = elsewhere.get(message) {
            let with = other.sent[there.clone()].to_vec();
            if with != link.sent[range.clone()] {
                add(Deviation::Replay, range.start, Change::Replace { len, with });
            }
        }
        add(Deviation::Lose, range.end, Change::Close);
    }
    ways
}

fn cases(recordings: &[Recording; 2], others: &[Recording; 2]) -> Vec<Case> {
    let links = recordings.iter().zip(others).enumerate();
    links
        .flat_map(|(party, (link, other))| {
            let case = move |(message, deviation, change)| Case { party, message, deviation, change };
            ways(link, other).into_iter().map(case)
        })
        .collect()
}

/// At most `limit` of the cases, from all over them.
fn sample<C>(mut cases: Vec<C>, limit: usize) -> Vec<C> {
    let all = cases.len();
    if all > limit {
        // An even spread: case `i` stays where `i * limit / all` steps up. The ways take turns, since there are 8 or 9
        // for each message and `all / limit` is seldom a multiple of that.
        let mut at = 0;
        cases.retain(|_| {
            at += 1;
            at * limit / all > (at - 1) * limit / all
        });
    }
    cases
}

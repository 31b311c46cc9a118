//! Parties that run side by side on threads of the test.

use std::any::Any;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use comity_channel::{MemoryChannel, Mesh, memory, memory_mesh};

use crate::PATIENCE;

/// The time after which a run hangs in which no party ended. Longer than a channel waits, so that one says
/// first who waits for what.
const HANG: Duration = PATIENCE.saturating_mul(2);

/// Two parties over a pair of channels in memory.
///
/// ```
/// use comity_channel::Channel;
/// use comity_testing::Pair;
///
/// let (sent, got) = Pair::run(
///     |ch| ch.send(&[7]).and_then(|()| ch.flush()),
///     |ch| {
///         let mut byte = [0];
///         ch.recv(&mut byte).map(|()| byte[0])
///     },
/// );
/// sent?;
/// assert_eq!(got?, 7);
/// # Ok::<(), comity_channel::Error>(())
/// ```
pub struct Pair;

impl Pair {
    /// Runs both parties, each on a thread of its own, and returns what each returned.
    ///
    /// A party's channel closes when it returns, so a party that still waits for it gets `PeerClosed`; two parties
    /// that wait for each other get `TimedOut` at once.
    ///
    /// # Panics
    ///
    /// If a party panics, naming it. If a party does not return at all, the whole test process ends with a message,
    /// since a thread cannot be stopped.
    pub fn run<A: Send, B: Send>(
        party0: impl FnOnce(&mut MemoryChannel) -> A + Send,
        party1: impl FnOnce(&mut MemoryChannel) -> B + Send,
    ) -> (A, B) {
        let (mut a, mut b) = (None, None);
        on_pair(Box::new(|ch| a = Some(party0(ch))), Box::new(|ch| b = Some(party1(ch))));
        (returned(a), returned(b))
    }
}

/// `N` parties, each with a channel in memory to each other.
///
/// ```
/// use comity_channel::Channel;
/// use comity_testing::Net;
///
/// let sums: [u8; 3] = Net::run(|mesh| {
///     let own = mesh.me().0 as u8;
///     let others = mesh.tell(&[own]).expect("the exchange");
///     own + others.iter().map(|(_, said)| said[0]).sum::<u8>()
/// });
/// assert_eq!(sums, [3, 3, 3]);
/// ```
pub struct Net<const N: usize>;

impl<const N: usize> Net<N> {
    /// Runs the parties, each on a thread of its own, and returns what each returned. A party learns who it is from
    /// its mesh.
    ///
    /// # Panics
    ///
    /// As [`Pair::run`].
    pub fn run<T: Send>(party: impl Fn(&mut Mesh<'_>) -> T + Sync) -> [T; N] {
        let (party, mut results) = (&party, [const { None }; N]);
        let mut work: Vec<On<'_, Mesh<'_>>> = Vec::with_capacity(N);
        for result in &mut results {
            work.push(Box::new(move |mesh| *result = Some(party(mesh))));
        }
        on_mesh(work);
        results.map(returned)
    }
}

/// A party's work with what it talks over. It leaves its result where the caller finds it: what tests call, of
/// as many types as there are tests, does no more than that, and the rest is compiled once.
type On<'w, C> = Box<dyn FnOnce(&mut C) + Send + 'w>;

fn on_pair(party0: On<'_, MemoryChannel>, party1: On<'_, MemoryChannel>) {
    let (mut channel0, mut channel1) = memory::pair_with_timeout(PATIENCE);
    unwrap_all(side_by_side_all(vec![
        Box::new(move || party0(&mut channel0)),
        Box::new(move || party1(&mut channel1)),
    ]));
}

fn on_mesh(parties: Vec<On<'_, Mesh<'_>>>) {
    let links = memory_mesh(parties.len() as u16, Some(PATIENCE));
    let work = parties.into_iter().zip(links);
    let work = work.map(|(party, links)| Box::new(move || party(&mut Mesh::new(links))) as Work<'_>);
    unwrap_all(side_by_side_all(work.collect()));
}

fn unwrap_all(endings: Vec<Ending<()>>) {
    for (party, ending) in endings.into_iter().enumerate() {
        unwrap(party, ending);
    }
}

/// Runs a party with each of these, on a thread of its own, and returns what each returned.
///
/// # Panics
///
/// As [`Pair::run`].
pub(crate) fn all_together<S: Send, T: Send>(with: Vec<S>, party: impl Fn(S) -> T + Sync) -> Vec<T> {
    endings(with, party).into_iter().enumerate().map(|(party, ending)| unwrap(party, ending)).collect()
}

/// As [`all_together`], and a panic is one way to end.
pub(crate) fn endings<S: Send, T: Send>(with: Vec<S>, party: impl Fn(S) -> T + Sync) -> Vec<Ending<T>> {
    let mut results: Vec<Option<T>> = with.iter().map(|_| None).collect();
    let party = &party;
    let work = with.into_iter().zip(&mut results);
    let work = work.map(|(with, result)| Box::new(move || *result = Some(party(with))) as Work<'_>).collect();
    side_by_side_all(work).into_iter().zip(results).map(|(ended, result)| ending(ended, result)).collect()
}

/// The fate of a party: what it returned, or what it said when it panicked.
pub(crate) type Ending<T> = Result<T, String>;

fn unwrap<T>(party: usize, ending: Ending<T>) -> T {
    ending.unwrap_or_else(|message| panic!("party {party} panicked: {message}"))
}

/// Runs both on threads and waits; a hang ends the process.
pub(crate) fn side_by_side<A: Send, B: Send>(
    party0: impl FnOnce() -> A + Send,
    party1: impl FnOnce() -> B + Send,
) -> (Ending<A>, Ending<B>) {
    let (mut a, mut b) = (None, None);
    let work: Vec<Work<'_>> = vec![Box::new(|| a = Some(party0())), Box::new(|| b = Some(party1()))];
    let [ended0, ended1] = side_by_side_all(work).try_into().unwrap_or_else(|_| unreachable!("one a party"));
    (ending(ended0, a), ending(ended1, b))
}

fn ending<T>(ended: Ending<()>, result: Option<T>) -> Ending<T> {
    ended.map(|()| returned(result))
}

fn returned<T>(result: Option<T>) -> T {
    result.expect("a party that did not panic returned")
}

/// A party's work. It leaves its result where the caller finds it.
type Work<'w> = Box<dyn FnOnce() + Send + 'w>;

/// Runs all on threads and waits; a hang ends the process. It knows no type of a test: threads are long to
/// compile, and this is compiled once instead of for each place that runs parties.
fn side_by_side_all<'w>(work: Vec<Work<'w>>) -> Vec<Ending<()>> {
    thread::scope(|scope| {
        let ((done, over), parties) = (mpsc::channel(), work.len());
        let start = |(id, work): (usize, Work<'w>)| {
            let done = Finished(id, done.clone());
            scope.spawn(move || {
                let _done = done;
                work();
            })
        };
        let threads: Vec<_> = work.into_iter().enumerate().map(start).collect();
        watch(parties, &over);
        threads.into_iter().map(|thread| thread.join().map_err(said)).collect()
    })
}

/// A guard that tells, when dropped, that a party is over, even if it panicked.
struct Finished(usize, mpsc::Sender<usize>);

impl Drop for Finished {
    fn drop(&mut self) {
        // The watcher is gone only if the test is already failing.
        let _ = self.1.send(self.0);
    }
}

/// Waits until all parties are over. One that hangs cannot be stopped, and the scope would wait for it for ever: the
/// process ends instead, so that the test run fails and says why.
#[allow(clippy::print_stderr, reason = "the process is about to end; there is no other way to say why")]
fn watch(parties: usize, over: &mpsc::Receiver<usize>) {
    let mut running: Vec<usize> = (0..parties).collect();
    while !running.is_empty() {
        match over.recv_timeout(HANG) {
            Ok(party) => running.retain(|&p| p != party),
            Err(_) => {
                eprintln!("hang: after {HANG:?} these parties still run: {running:?}");
                std::process::abort();
            }
        }
    }
}

fn said(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast_ref::<&str>().map_or("(no message)", |text| text).to_owned(),
    }
}

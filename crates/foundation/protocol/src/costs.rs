//! `Talk`: what a run sends, said before it. A protocol goes through its messages as a run would, with
//! lengths in the place of bytes.
//!
//! Counting is that of a run's report: bytes of each party to each other one, and rounds, the number of times
//! that a party turns from sending to receiving. Beside these there is what time depends on: the longest
//! chain of messages that wait for each other ([`Talk::delays`]), and the seconds of work.

use comity_circuit::{Lowered, Program, Step};
use comity_core::{Params, PartyId};

use crate::options::Options;

/// A question about the cost of a run.
#[derive(Clone, Copy)]
pub struct Costing<'a> {
    /// The program.
    pub program: &'a Program,
    /// The options, settled.
    pub options: &'a Options,
    /// The parameters.
    pub params: Params,
    /// The number of parties.
    pub parties: u16,
}

impl Costing<'_> {
    /// Bits that a party puts in.
    pub fn bits_of(&self, party: PartyId) -> u64 {
        let own = self.program.inputs().iter().filter(|input| input.owner.includes(party));
        own.map(|input| input.bits as u64).sum()
    }

    /// Bits that are put in altogether.
    pub fn input_bits(&self) -> u64 {
        self.program.inputs().iter().map(|input| input.bits as u64).sum()
    }

    /// Bits that a party learns.
    pub fn learned_by(&self, party: PartyId) -> u64 {
        let learned = self.program.outputs().iter().filter(|output| output.to.includes(party));
        learned.map(|output| output.bits as u64).sum()
    }

    /// Walks the program's steps. The body of a loop is walked at most twice, and counted as often as it
    /// runs.
    pub fn walk(&self, talk: &mut Talk, step: &mut dyn FnMut(&mut Talk, Walked<'_>)) {
        let mut next = (0, 0);
        walk(self.program, self.program.steps(), talk, &mut next, step);
    }
}

/// A step of a program, as its cost depends on it.
#[derive(Clone, Copy)]
pub enum Walked<'a> {
    /// Input value of this index.
    Input(usize),
    /// Calls of a circuit, side by side.
    Call {
        /// The circuit.
        circuit: &'a Lowered,
        /// The AND gates of one call.
        ands: u64,
        /// The number of calls.
        times: u64,
    },
    /// Output value of this index.
    Output(usize),
}

fn walk(
    program: &Program,
    steps: &[Step],
    talk: &mut Talk,
    next: &mut (usize, usize),
    step: &mut dyn FnMut(&mut Talk, Walked<'_>),
) {
    for each in steps {
        match each {
            Step::Input { .. } => {
                step(talk, Walked::Input(next.0));
                next.0 += 1;
            }
            Step::Reveal { .. } => {
                step(talk, Walked::Output(next.1));
                next.1 += 1;
            }
            Step::Call { circuit, times, .. } => {
                let ands = program.circuits()[*circuit].counts().and;
                step(talk, Walked::Call { circuit: &program.lowered()[*circuit], ands, times: *times });
            }
            Step::Repeat { times, body } => talk.repeat(*times, &mut |talk| walk(program, body, talk, next, step)),
        }
    }
}

/// The bytes that one party has sent to another, and how often it turned to receive from it.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    sent: u64,
    /// The bytes sent when the direction last turned.
    turned_at: u64,
    rounds: u64,
}

/// The messages of a run, as far as they have been said.
#[derive(Clone, Debug)]
pub struct Talk {
    parties: usize,
    /// From each party to each.
    lines: Vec<Line>,
    /// For each party, the messages that its next one waits for, one after another.
    clocks: Vec<u64>,
    seconds: f64,
    exact: bool,
}

impl Talk {
    /// A conversation of `parties` parties, without messages yet.
    pub fn new(parties: u16) -> Talk {
        let n = usize::from(parties);
        Talk { parties: n, lines: vec![Line::default(); n * n], clocks: vec![0; n], seconds: 0.0, exact: true }
    }

    fn line(&mut self, from: usize, to: usize) -> &mut Line {
        &mut self.lines[from * self.parties + to]
    }

    fn send(&mut self, from: usize, to: usize, bytes: u64) {
        self.line(from, to).sent += bytes;
    }

    fn hear(&mut self, from: usize, to: usize, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let line = self.line(to, from);
        if line.sent != line.turned_at {
            (line.turned_at, line.rounds) = (line.sent, line.rounds + 1);
        }
    }

    /// A message from one party to another, which waits for it.
    pub fn say(&mut self, from: PartyId, to: PartyId, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let (from, to) = (usize::from(from.0), usize::from(to.0));
        self.send(from, to, bytes);
        self.hear(from, to, bytes);
        self.clocks[to] = self.clocks[to].max(self.clocks[from] + 1);
    }

    /// Messages of `bytes` bytes from each party to each other one, all at once.
    pub fn exchange(&mut self, bytes: u64) {
        self.exchange_each(|_, _| bytes);
    }

    /// As [`Talk::exchange`], of as many bytes as `bytes(from, to)` says.
    pub fn exchange_each(&mut self, bytes: impl Fn(PartyId, PartyId) -> u64) {
        let n = self.parties;
        let said =
            |from: usize, to: usize| if from == to { 0 } else { bytes(PartyId(from as u16), PartyId(to as u16)) };
        let pairs = || (0..n).flat_map(|from| (0..n).map(move |to| (from, to)));
        pairs().for_each(|(from, to)| self.send(from, to, said(from, to)));
        let before = self.clocks.clone();
        for (from, to) in pairs().filter(|&(from, to)| said(from, to) > 0) {
            self.hear(from, to, said(from, to));
            self.clocks[to] = self.clocks[to].max(before[from] + 1);
        }
    }

    /// The messages of `talk`, `times` times in a row. `talk` is called at most twice: its second call stands
    /// for the rest.
    pub fn repeat(&mut self, times: u64, talk: &mut dyn FnMut(&mut Talk)) {
        if times == 0 {
            return;
        }
        talk(self);
        if times == 1 {
            return;
        }
        let before = self.clone();
        talk(self);
        let more = times - 2;
        for (line, before) in self.lines.iter_mut().zip(&before.lines) {
            let sent = (line.sent - before.sent).saturating_mul(more);
            (line.sent, line.turned_at) = (line.sent.saturating_add(sent), line.turned_at.saturating_add(sent));
            line.rounds = line.rounds.saturating_add((line.rounds - before.rounds).saturating_mul(more));
        }
        for (clock, before) in self.clocks.iter_mut().zip(&before.clocks) {
            *clock = clock.saturating_add((*clock - before).saturating_mul(more));
        }
        self.seconds += (self.seconds - before.seconds) * more as f64;
    }

    /// `times` exchanges of all with all, one after another, whose bytes are counted elsewhere.
    pub fn turns(&mut self, times: u64) {
        let n = self.parties;
        for line in 0..n * n {
            if line / n != line % n {
                self.lines[line].rounds += times;
            }
        }
        self.clocks.iter_mut().for_each(|clock| *clock += times);
    }

    /// Work of `seconds` on one core of a machine with AES instructions, while nobody waits for the network.
    pub fn work(&mut self, seconds: f64) {
        self.seconds += seconds;
    }

    /// Marks all that is said, before and after, as an estimate: within ten per cent of the bytes of a run,
    /// except for runs of a few gates.
    pub fn about(&mut self) {
        self.exact = false;
    }

    /// Whether bytes and rounds are those of a run, to the last one.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The bytes that a party sends to another.
    pub fn between(&self, from: PartyId, to: PartyId) -> u64 {
        self.lines[usize::from(from.0) * self.parties + usize::from(to.0)].sent
    }

    /// The bytes that a party sends to all others.
    pub fn sent(&self, party: PartyId) -> u64 {
        self.of(party).map(|line| line.sent).sum()
    }

    /// The rounds of a party: those with the peer with which it has most of them.
    pub fn rounds(&self, party: PartyId) -> u64 {
        self.of(party).map(|line| line.rounds).max().unwrap_or(0)
    }

    fn of(&self, party: PartyId) -> impl Iterator<Item = &Line> {
        self.lines.iter().skip(usize::from(party.0) * self.parties).take(self.parties)
    }

    /// The longest chain of messages that wait for each other: each takes half a round trip.
    pub fn delays(&self) -> u64 {
        self.clocks.iter().copied().max().unwrap_or(0)
    }

    /// Seconds of work.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: PartyId = PartyId(0);
    const B: PartyId = PartyId(1);

    #[test]
    fn rounds_are_turns_from_sending_to_hearing() {
        let mut talk = Talk::new(2);
        talk.say(A, B, 10);
        talk.say(A, B, 10);
        assert_eq!((talk.rounds(A), talk.rounds(B), talk.delays()), (0, 0, 1));
        talk.say(B, A, 1);
        assert_eq!((talk.rounds(A), talk.rounds(B), talk.delays()), (1, 0, 2));
        talk.exchange(5);
        assert_eq!((talk.rounds(A), talk.rounds(B), talk.delays()), (2, 1, 3));
        assert_eq!((talk.sent(A), talk.sent(B)), (25, 6));
        talk.say(A, B, 0);
        assert_eq!((talk.rounds(B), talk.sent(A)), (1, 25));
    }

    #[test]
    fn what_is_repeated_counts_as_often() {
        let body = |talk: &mut Talk| {
            talk.say(A, B, 7);
            talk.say(B, A, 3);
            talk.exchange_each(|from, _| u64::from(from.0));
            talk.work(0.5);
        };
        for times in [0, 1, 2, 3, 10] {
            let (mut short, mut long) = (Talk::new(2), Talk::new(2));
            short.repeat(times, &mut |talk| body(talk));
            (0..times).for_each(|_| body(&mut long));
            let all = |talk: &Talk| (talk.sent(A), talk.sent(B), talk.rounds(A), talk.rounds(B), talk.delays());
            assert_eq!((all(&short), short.seconds()), (all(&long), long.seconds()), "{times}");
        }
    }

    #[test]
    fn of_many_each_has_its_own_lines() {
        let mut talk = Talk::new(3);
        talk.exchange_each(|from, to| u64::from(10 * from.0 + to.0));
        assert_eq!([0, 1, 2].map(|party| talk.sent(PartyId(party))), [3, 22, 41]);
        assert_eq!(talk.between(PartyId(2), B), 21);
        assert_eq!([0, 1, 2].map(|party| talk.rounds(PartyId(party))), [1, 1, 1]);
    }
}

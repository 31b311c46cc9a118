//! Law 7: fresh. What a party draws is drawn: two runs of one session on equal inputs, with other generators,
//! have nothing in common.
//!
//! Looked at are windows of 16 bytes of every message of every party, aligned in the message, and its
//! last 16. A label, nonce, point, delta, seed or coefficient that is constant, or follows from the session
//! alone, stands in both runs. Public constants do as well: they are few, and whoever holds a protocol to the
//! law says how many there are.
//!
//! What is drawn and never seen on the wire (a global key, which hash, the start of its keys) is in the
//! digest of all that is said, if that is *pinned*: whoever changes the wire on purpose changes the pin, and
//! nobody does by chance.

use std::collections::HashSet;

use comity_channel::{Channel, MemoryChannel, Recorded};
use comity_circuit::Program;
use comity_core::Result;
use comity_protocol::{Protocol, Takes};

use super::heard::{Heard, messages};
use super::{Laws, Setting, bits, chain_and_layer, random_circuit, rng, words};
use crate::parties::Pair;

/// Law 7: fresh, among two and three.
///
/// # Panics
/// If two runs have more in common than the public constants, or less; or if the bytes of a run are not those
/// that are pinned.
pub fn fresh(protocol: &dyn Protocol, laws: &Laws) {
    let (card, mut pins, mut said) = (protocol.card(), laws.wire.iter(), Vec::new());
    let Some(constants) = laws.constants else { return };
    for parties in [2, 3].into_iter().filter(|parties| card.parties.contains(parties)) {
        let circuit = match card.takes {
            Takes::NoAnds => random_circuit(&[40, 40], 60, false, &mut rng(9)),
            Takes::Words => words::chain(8, 5),
            _ => chain_and_layer(40),
        };
        let program = Program::from_circuit(circuit).expect("a program");
        let program = program.with_owner(1, parties - 1).expect("an owner");
        let inputs = [bits(40, &mut rng(10)), bits(40, &mut rng(11))];
        let setting = Setting::of(laws, 5);
        let [one, other] = [1, 2].map(|seed| Heard::among(parties, protocol, &program, &inputs, setting, seed));
        let [said_by_one, said_by_other] = [&one, &other].map(|run| run.all().collect::<Vec<_>>());
        assert_shared(constants, &said_by_one, &said_by_other);
        if pins.next().is_some() {
            said.push(one.digest());
        }
    }
    assert_eq!(said, laws.wire, "what the parties of {} say", card.name);
}

/// Compares all messages of two runs of one session. `run` is given the seed of all generators, makes
/// everything else the same, and returns all messages. The runs must share exactly `constants` strings of 16
/// bytes.
///
/// # Panics
/// If they share more, or fewer.
pub fn assert_fresh(constants: usize, run: impl Fn(u128) -> Vec<Vec<u8>>) {
    let [one, other] = [1, 2].map(run);
    let [one, other] = [&one, &other].map(|run| run.iter().map(Vec::as_slice).collect::<Vec<_>>());
    assert_shared(constants, &one, &other);
}

/// Compares all messages of two runs, as [`assert_fresh`] says.
fn assert_shared(constants: usize, one: &[&[u8]], other: &[&[u8]]) {
    // Runs are of millions of windows, of which few are in both: what is not, a marker of each tells.
    let own = Marked::of(one.iter().flat_map(|message| windows(message)));
    let theirs = other.iter().flat_map(|message| windows(message));
    let theirs: HashSet<&[u8]> = theirs.filter(|window| own.may_have(window)).collect();
    let marked = Marked::of(theirs.iter().copied());
    let mut common: Vec<&[u8]> = Vec::new();
    let mut places = String::new();
    for (number, message) in one.iter().enumerate() {
        for window in windows(message).filter(|window| marked.may_have(window) && theirs.contains(window)) {
            if !common.contains(&window) {
                common.push(window);
                places += &format!("\nmessage {number} of {}, of {} bytes: {window:02x?}", one.len(), message.len());
            }
        }
    }
    assert!(
        common.len() == constants,
        "two runs with other generators have {} windows of 16 bytes in common, and {constants} are public constants{places}",
        common.len()
    );
}

/// Marks of a set of windows, one of 2^26 each: a window without its mark is not in the set.
struct Marked(Vec<u64>);

impl Marked {
    fn of<'w>(windows: impl Iterator<Item = &'w [u8]>) -> Marked {
        let mut marks = vec![0; 1 << 20];
        windows.map(Marked::place).for_each(|(word, bit)| marks[word] |= bit);
        Marked(marks)
    }

    fn may_have(&self, window: &[u8]) -> bool {
        let (word, bit) = Marked::place(window);
        self.0[word] & bit != 0
    }

    /// The word and the bit in it, by a multiplicative hash.
    fn place(window: &[u8]) -> (usize, u64) {
        let window = u128::from_le_bytes(window.try_into().expect("a window of 16 bytes"));
        let mixed = (window as u64 ^ (window >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed >> 44) as usize, 1 << (mixed >> 38 & 63))
    }
}

/// The messages of two parties, whose generators follow from a seed.
///
/// # Panics
/// If a party fails.
pub fn said_by_two(
    party0: impl FnOnce(&mut dyn Channel) -> Result<()> + Send,
    party1: impl FnOnce(&mut dyn Channel) -> Result<()> + Send,
) -> Vec<Vec<u8>> {
    fn said(ch: &mut MemoryChannel, party: impl FnOnce(&mut dyn Channel) -> Result<()>) -> Vec<Vec<u8>> {
        let mut ch = Recorded::new(ch, 64 << 20);
        let recorder = ch.recorder();
        party(&mut ch).unwrap_or_else(|error| panic!("{error}"));
        messages(&recorder.recording())
    }
    let (a, b) = Pair::run(|ch| said(ch, party0), |ch| said(ch, party1));
    [a, b].concat()
}

fn windows(message: &[u8]) -> impl Iterator<Item = &[u8]> {
    let last = message.len().checked_sub(16).map(|at| &message[at..]);
    message.chunks_exact(16).chain(last)
}

//! Oblivious transfer: every message's decoder, and both parties of every protocol against a peer that says
//! anything. The base OTs of an extension are ideal here.

use std::sync::OnceLock;

use comity_channel::{Channel, MemoryChannel, Recorded, Result, memory};
use comity_core::{Backend, Bits, Block, Params, Prg, SessionId};
use comity_ot::base::{BaseOt, Csw, Pvw, Simplest, csw, pvw};
use comity_ot::softspoken::{self, Checking};
use comity_ot::{
    AtLeast, HashedReceiver, HashedSender, Malicious, RandomReceiver, RandomSender, SemiHonest, alsz, committing, iknp,
    one_of_n, silent,
};

use crate::ideal::Ideal;
use crate::peer::Script;

/// The protocols, each the first byte of an input.
const PROTOCOLS: [&str; 10] =
    ["simplest", "csw", "pvw", "iknp", "alsz", "softspoken", "softspoken_malicious", "committing", "kk13", "oos16"];

/// OTs of the call whose messages are fuzzed.
const N: usize = 20;

/// Base OTs, of which each takes a hundred times as long.
const BASE: usize = 2;

const SESSION: SessionId = SessionId::new([3; 32]);

fn rng(party: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(party))
}

fn choices() -> Bits {
    Bits::from_bytes(&[0b1010_0110, 0b0011_1010, 0b1001], N)
}

/// The shape of ALSZ, whose bound takes longer to compute than the protocol to run.
fn shape() -> alsz::Parameters {
    static SHAPE: OnceLock<alsz::Parameters> = OnceLock::new();
    *SHAPE.get_or_init(|| alsz::Parameters::new(Params::default()).expect("the default has enough rows"))
}

/// One party of a protocol: its set-up, and a call if the set-up is not all.
fn sender(protocol: u8, ch: &mut dyn Channel, call: bool) -> Result<()> {
    let (backend, rng) = (Backend::detect(), &mut rng(1));
    let delta = Block::from_u128(u128::MAX / 3);
    match PROTOCOLS[usize::from(protocol)] {
        "simplest" => base_sender::<Simplest>(ch, call),
        "csw" => base_sender::<Csw>(ch, call),
        "pvw" => base_sender::<Pvw>(ch, call),
        "iknp" => {
            let ot = iknp::Sender::setup::<Ideal>(ch, &SESSION, backend, delta, rng)?;
            random_sender(HashedSender::new(ot), ch, call)
        }
        "alsz" => random_sender(alsz::Sender::setup::<Ideal>(ch, &SESSION, backend, shape(), rng)?, ch, call),
        "softspoken" => softspoken_sender::<SemiHonest>(2, ch, call),
        "softspoken_malicious" => softspoken_sender::<Malicious>(4, ch, call),
        "committing" => {
            let mut ot = committing::Sender::setup::<Ideal>(ch, &SESSION, backend, rng)?;
            if call {
                ot.send(ch, 5, &[[b"right", b"wrong"]; N])?;
                ot.open(ch)?;
            }
            ch.flush()
        }
        "kk13" => entry_sender::<one_of_n::Kk13>(ch, call),
        _ => entry_sender::<one_of_n::Oos16>(ch, call),
    }
}

fn receiver(protocol: u8, ch: &mut dyn Channel, call: bool) -> Result<()> {
    let (backend, rng) = (Backend::detect(), &mut rng(2));
    match PROTOCOLS[usize::from(protocol)] {
        "simplest" => base_receiver::<Simplest>(ch, call),
        "csw" => base_receiver::<Csw>(ch, call),
        "pvw" => base_receiver::<Pvw>(ch, call),
        "iknp" => {
            let ot = iknp::Receiver::setup::<Ideal>(ch, &SESSION, backend, rng)?;
            random_receiver(HashedReceiver::new(ot), ch, call)
        }
        "alsz" => random_receiver(alsz::Receiver::setup::<Ideal>(ch, &SESSION, backend, shape(), rng)?, ch, call),
        "softspoken" => softspoken_receiver::<SemiHonest>(2, ch, call),
        "softspoken_malicious" => softspoken_receiver::<Malicious>(4, ch, call),
        "committing" => {
            let mut ot = committing::Receiver::setup::<Ideal>(ch, &SESSION, backend, rng)?;
            if call {
                let got = ot.receive(ch, 5, &choices())?;
                let opened = ot.open(ch)?;
                // Whatever is opened, what was chosen does not change.
                let choices = choices();
                let chosen = opened.iter().zip(choices.iter()).map(|(pair, bit)| &pair[usize::from(bit)]);
                assert!(got.iter().eq(chosen), "the opening contradicts what was received");
            }
            ch.flush()
        }
        "kk13" => entry_receiver::<one_of_n::Kk13>(ch, call),
        _ => entry_receiver::<one_of_n::Oos16>(ch, call),
    }
}

fn base_sender<B: BaseOt>(ch: &mut dyn Channel, call: bool) -> Result<()> {
    if call {
        assert_eq!(B::send(ch, &SESSION, BASE, &mut rng(1))?.len(), BASE);
    }
    ch.flush()
}

fn base_receiver<B: BaseOt>(ch: &mut dyn Channel, call: bool) -> Result<()> {
    if call {
        assert_eq!(B::receive(ch, &SESSION, &choices().slice(0, BASE), &mut rng(2))?.len(), BASE);
    }
    ch.flush()
}

fn softspoken_sender<M: Checking>(k: usize, ch: &mut dyn Channel, call: bool) -> Result<()>
where
    Malicious: AtLeast<M>,
{
    let delta = Block::from_u128(u128::MAX / 5);
    let ot = softspoken::Sender::<M>::setup::<Ideal>(ch, &SESSION, Backend::detect(), k, delta, &mut rng(1))?;
    random_sender(HashedSender::new(ot), ch, call)
}

fn softspoken_receiver<M: Checking>(k: usize, ch: &mut dyn Channel, call: bool) -> Result<()>
where
    Malicious: AtLeast<M>,
{
    let ot = softspoken::Receiver::<M>::setup::<Ideal>(ch, &SESSION, Backend::detect(), k, &mut rng(2))?;
    random_receiver(HashedReceiver::new(ot), ch, call)
}

fn random_sender(mut ot: impl RandomSender, ch: &mut dyn Channel, call: bool) -> Result<()> {
    if call {
        let mut pairs = [[Block::ZERO; 2]; N];
        ot.sender_random(ch, &mut pairs)?;
        assert!(pairs.iter().all(|[zero, one]| zero != one), "both messages of an OT are the same");
    }
    ch.flush()
}

fn random_receiver(mut ot: impl RandomReceiver, ch: &mut dyn Channel, call: bool) -> Result<()> {
    if call {
        ot.sender_random(ch, &choices(), &mut [Block::ZERO; N])?;
    }
    ch.flush()
}

fn entry_sender<S: one_of_n::OneOfN>(ch: &mut dyn Channel, call: bool) -> Result<()>
where
    Malicious: AtLeast<S::Model>,
{
    let mut ot = one_of_n::Sender::<S>::setup::<Ideal>(ch, &SESSION, Backend::detect(), &mut rng(1))?;
    if call {
        ot.keys(ch, N)?.tables(3, &mut [Block::ZERO; 3 * N])?;
    }
    ch.flush()
}

fn entry_receiver<S: one_of_n::OneOfN>(ch: &mut dyn Channel, call: bool) -> Result<()>
where
    Malicious: AtLeast<S::Model>,
{
    let mut ot = one_of_n::Receiver::<S>::setup::<Ideal>(ch, &SESSION, Backend::detect(), &mut rng(2))?;
    if call {
        ot.receive(ch, &[77; N], &mut [Block::ZERO; N])?;
    }
    ch.flush()
}

/// The bytes that the sender and the receiver hear in an honest run, with or without the call.
fn heard(protocol: u8, call: bool) -> [Vec<u8>; 2] {
    const LIMIT: usize = 1 << 24;
    let (a, b) = memory::pair();
    let [mut a, mut b]: [Recorded<MemoryChannel>; 2] = [a, b].map(|channel| Recorded::new(channel, LIMIT));
    let recorders = [a.recorder(), b.recorder()];
    std::thread::scope(|scope| {
        let other = scope.spawn(move || receiver(protocol, &mut b, call));
        sender(protocol, &mut a, call).expect("an honest receiver");
        other.join().expect("no panic").expect("an honest sender");
    });
    recorders.map(|recorder| recorder.recording().received)
}

/// The bytes of an honest peer in the set-up of a protocol. With equal randomness it is the same in every run.
fn set_up(protocol: u8, party: usize) -> &'static [u8] {
    static HEARD: [OnceLock<[Vec<u8>; 2]>; PROTOCOLS.len()] = [const { OnceLock::new() }; PROTOCOLS.len()];
    &HEARD[usize::from(protocol)].get_or_init(|| heard(protocol, false))[party]
}

/// An honest set-up, and then what the input says.
fn script(party: usize, data: &[u8]) -> Option<(u8, Vec<u8>)> {
    let (&first, said) = data.split_first()?;
    let protocol = first % PROTOCOLS.len() as u8;
    Some((protocol, [set_up(protocol, party), said].concat()))
}

/// A sender against a receiver that says anything after the set-up. The first byte says which protocol.
pub(crate) fn ot_sender(data: &[u8]) {
    if let Some((protocol, said)) = script(0, data) {
        // An error is as good as an output.
        let _ = sender(protocol, &mut Script(&said), true);
    }
}

/// A receiver against a sender that says anything after the set-up. The first byte says which protocol.
pub(crate) fn ot_receiver(data: &[u8]) {
    if let Some((protocol, said)) = script(1, data) {
        let _ = receiver(protocol, &mut Script(&said), true);
    }
}

/// Every typed message: the first byte says for how many OTs. What decodes is encoded to the same bytes.
pub(crate) fn ot_messages(data: &[u8]) {
    let Some((&n, bytes)) = data.split_first() else { return };
    let n = usize::from(n);
    let same = |encoded: Vec<u8>| assert_eq!(encoded, bytes);
    let accepted = [
        csw::Points::from_bytes(bytes, n).map(|message| same(message.to_bytes())),
        csw::Challenge::from_bytes(bytes, n).map(|message| same(message.to_bytes())),
        pvw::Query::from_bytes(bytes, n).map(|message| same(message.to_bytes())),
        pvw::Answer::from_bytes(bytes, n).map(|message| same(message.to_bytes())),
        pvw::AnswerOpening::from_bytes(bytes, n).map(|message| same(message.to_bytes())),
        softspoken::Answer::from_bytes(bytes).map(|message| same(message.to_bytes().to_vec())),
        committing::DeltaOpening::from_bytes(bytes).map(|message| same(message.to_bytes().to_vec())),
        silent::Trees::from_bytes(bytes, &silent::Parameters::STANDARD).map(|message| same(message.to_bytes())),
        one_of_n::Answer::from_bytes(bytes).map(|message| same(message.to_bytes())),
        one_of_n::Corrections::from_bytes::<one_of_n::Kk13>(bytes, n).map(|message| same(message.as_bytes().to_vec())),
        one_of_n::Corrections::from_bytes::<one_of_n::Oos16>(bytes, n).map(|message| same(message.as_bytes().to_vec())),
    ];
    // No message of any OT is so short.
    assert!(n == 0 || bytes.len() >= 16 || accepted.iter().all(|result| result.is_err()));
    // Messages of fixed length and any content.
    if let Some(first) = bytes.first_chunk() {
        assert_eq!(silent::Challenge::from_bytes(first).to_bytes(), *first);
        assert_eq!(silent::Answer::from_bytes(*first).to_bytes(), *first);
    }
    for k in 0..10 {
        let trees = softspoken::Trees::from_bytes::<SemiHonest>(bytes, k);
        assert!(trees.is_err() || trees.is_ok_and(|message| message.as_bytes() == bytes && k > 0 && k <= 8));
        let trees = softspoken::Trees::from_bytes::<Malicious>(bytes, k);
        assert!(trees.is_err() || trees.is_ok_and(|message| message.as_bytes() == bytes && k > 0 && k <= 8));
        for random in [false, true] {
            let corrections = softspoken::Corrections::from_bytes::<Malicious>(bytes, k, n, random);
            assert!(corrections.is_err() || corrections.is_ok_and(|message| message.as_bytes() == bytes));
        }
    }
    if let Ok(query) = pvw::Query::from_bytes(bytes, n)
        && let Ok(answering) = pvw::Sender::new(pvw::Crs::common(), &query)
    {
        assert!(answering.answer(&SESSION, 0, Block::ZERO, &vec![[Block::ZERO; 2]; n]).is_ok());
    }
}

/// Target, name and bytes of each seed: what honest peers say, where it is short.
pub(crate) fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    const LONG: usize = 4096;
    let mut seeds = Vec::new();
    for (protocol, name) in (0..).zip(PROTOCOLS) {
        let full = heard(protocol, true);
        for (party, target) in ["ot_sender", "ot_receiver"].into_iter().enumerate() {
            let said = &full[party][set_up(protocol, party).len()..];
            if said.len() <= LONG {
                seeds.push((target, name, [&[protocol], said].concat()));
            }
        }
    }
    let (n, session) = (3u8, &SESSION);
    let message = |bytes: Vec<u8>| [vec![n], bytes].concat();
    let bits = choices().slice(0, n.into());
    let (_, points) = csw::Receiver::new(session, &bits, &mut rng(2));
    let (challenging, _) = csw::Sender::new(session, &mut rng(1));
    let (_, challenge) = challenging.challenge(&points).expect("honest points");
    let (_, query) = pvw::Receiver::new(pvw::Crs::common(), &bits, &mut rng(2));
    let answering = pvw::Sender::new(pvw::Crs::common(), &query).expect("honest points");
    let payloads = [[Block::ZERO; 2]; 3];
    let answer = answering.answer(session, 0, Block::ZERO, &payloads).expect("a payload for each OT");
    seeds.extend([
        ("ot_messages", "csw_points", message(points.to_bytes())),
        ("ot_messages", "csw_challenge", message(challenge.to_bytes())),
        ("ot_messages", "pvw_query", message(query.to_bytes())),
        ("ot_messages", "pvw_answer", message(answer.to_bytes())),
        ("ot_messages", "pvw_query_identity", message(vec![0; 64 * usize::from(n)])),
        ("ot_messages", "opening", message(vec![7; committing::DeltaOpening::BYTES])),
        ("ot_messages", "one_of_n_answer", message(vec![7; one_of_n::Answer::BYTES])),
        ("ot_messages", "cut", message(points.to_bytes()[..50].to_vec())),
    ]);
    seeds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_honest_peers_say_is_taken_and_a_changed_set_up_would_show() {
        for (protocol, name) in (0..).zip(PROTOCOLS) {
            let said = heard(protocol, true);
            for (party, said) in said.iter().enumerate() {
                assert!(said.starts_with(set_up(protocol, party)), "{name}");
            }
            sender(protocol, &mut Script(&said[0]), true).unwrap_or_else(|e| panic!("{name}: sender: {e}"));
            receiver(protocol, &mut Script(&said[1]), true).unwrap_or_else(|e| panic!("{name}: receiver: {e}"));
        }
    }
}

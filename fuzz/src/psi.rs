//! Private set intersection: lists of masks, and both sides against a peer who says anything.

use comity_channel::{Channel, Mesh, Recorded, memory};
use comity_circuit::Observer;
use comity_core::{Backend, Bits, Error, Params, PartyId, SessionId};
use comity_protocol::{Adversary, Here, Party};
use comity_psi::{Item, MaskList, Method, Set, Terms, receive, send};

use crate::mutate::rng;
use crate::peer::Script;

/// The most bytes of a recording.
const LIMIT: usize = 1 << 22;

/// A list of masks, behind its length and theirs: what is one has this encoding and no other, and is in order.
pub(crate) fn psi_masks(data: &[u8]) {
    let [n, bits, list @ ..] = data else { return };
    let list_of = MaskList::new(usize::from(*n), u32::from(*bits % 128) + 1);
    let mut masks: Vec<u128> = Vec::new();
    if list_of.receive(&mut Script(list), |mask| masks.push(mask)).is_ok() {
        assert!(masks.len() == usize::from(*n) && masks.is_sorted());
        assert_eq!(encoded(&list_of, &masks), list[..list_of.len()], "one list, one form");
    }
}

/// The receiver of KKRT16 against a sender who says anything.
pub(crate) fn psi_receiver(data: &[u8]) {
    let _ = run(1, &mut Script(data));
}

/// The sender of KKRT16 against a receiver who says anything.
pub(crate) fn psi_sender(data: &[u8]) {
    let _ = run(0, &mut Script(data));
}

fn encoded(list: &MaskList, masks: &[u128]) -> Vec<u8> {
    let mut ch = Recorded::new(Script(&[]), LIMIT);
    list.send(&mut ch, masks).expect("a script takes everything");
    ch.recorder().recording().sent
}

struct Nobody;

impl Observer for Nobody {
    fn output(&mut self, _: usize, _: Bits) {}
}

/// A side of a run: party 0 sends items 0 to 4 with a byte each, party 1 has items 3 to 7.
fn run(party: u16, ch: &mut dyn Channel) -> Result<Vec<u32>, Error> {
    let me = PartyId(party);
    let here = Here {
        me,
        parties: 2,
        session: SessionId::new([9; 32]),
        params: Params::default(),
        backend: Backend::detect(),
    };
    let terms = Terms { payload: 1, ..Terms::new(Method::Kkrt, Adversary::SemiHonest) };
    let items: Vec<Item> = (3 * party as u8..3 * party as u8 + 5).map(|n| Item([n; 32])).collect();
    let (mut net, mut rng) = (Mesh::of_two(me, ch), rng());
    let mut me = Party { net: &mut net, here, rng: &mut rng, observer: &mut Nobody };
    if party == 0 {
        let set = Set { items: &items, payload: b"abcde", pad_to: 0 };
        return send(&mut me, &terms, &set).map(|_| Vec::new());
    }
    let got = receive(&mut me, &terms, &Set { items: &items, ..Set::default() })?;
    // Whatever it hears, it is told of its own items, each once.
    assert!(got.matched.is_sorted_by(|a, b| a < b) && got.matched.iter().all(|&item| item < 5));
    assert_eq!(got.payload.len(), got.matched.len());
    Ok(got.matched)
}

/// What each side says in an honest run: the sender, the receiver.
fn honest() -> [Vec<u8>; 2] {
    let (one, two) = memory::pair();
    let (mut one, mut two) = (Recorded::new(one, LIMIT), Recorded::new(two, LIMIT));
    std::thread::scope(|scope| {
        scope.spawn(|| run(0, &mut one).expect("an honest peer"));
        assert_eq!(run(1, &mut two).expect("an honest peer"), [0, 1]);
    });
    [one.recorder().recording().sent, two.recorder().recording().sent]
}

pub(crate) fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let masks: Vec<u128> = (0..5).map(|n| (n * n) << 30).collect();
    let list = [&[5, 39][..], &encoded(&MaskList::new(5, 40), &masks)].concat();
    let [sender, receiver] = honest();
    let cut = |bytes: &[u8]| bytes[..bytes.len() * 2 / 3].to_vec();
    let mut flipped = sender.clone();
    // In the lists of masks, which come last.
    let at = flipped.len() - 40;
    flipped[at] ^= 4;
    vec![
        ("psi_masks", "five", list.clone()),
        ("psi_masks", "cut", cut(&list)),
        ("psi_masks", "too_many", [&[4][..], &list[1..]].concat()),
        ("psi_masks", "none", vec![0, 81]),
        ("psi_receiver", "valid", sender.clone()),
        ("psi_receiver", "cut", cut(&sender)),
        ("psi_receiver", "flipped", flipped),
        ("psi_sender", "valid", receiver.clone()),
        ("psi_sender", "cut", cut(&receiver)),
        ("psi_sender", "same_role", sender),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_honest_peers_bytes_end_a_run() {
        let [sender, receiver] = honest();
        assert_eq!(run(1, &mut Script(&sender)).unwrap(), [0, 1]);
        assert!(run(0, &mut Script(&receiver)).is_ok());
    }
}

//! Private set intersection: lists of masks, and both sides against a peer who says anything.

use comity_channel::{Channel, Mesh, Recorded, memory};
use comity_circuit::Observer;
use comity_core::{Backend, Bits, Block, Error, Params, PartyId, SessionId};
use comity_protocol::{Adversary, Here, Party};
use comity_psi::base::{BaseFile, BaseTerms, BaseUpdate, Published};
use comity_psi::oprf::{OPRF_ONLINE, OprfAnswers};
use comity_psi::{Item, MaskList, Method, Set, Terms, receive_over, send_over};

use crate::ideal::Ideal;
use crate::mutate::rng;
use crate::peer::Script;

/// The most bytes of a recording.
const LIMIT: usize = 1 << 22;

/// A list of masks, behind its length and the masks' length: a list that decodes has only this encoding, and
/// is in order.
pub(crate) fn psi_masks(data: &[u8]) {
    let [n, bits, list @ ..] = data else { return };
    let list_of = MaskList::new(usize::from(*n), u32::from(*bits % 128) + 1);
    let mut masks: Vec<u128> = Vec::new();
    if list_of.receive(&mut Script(list), |some| masks.extend_from_slice(some)).is_ok() {
        assert!(masks.len() == usize::from(*n) && masks.is_sorted());
        assert_eq!(encoded(&list_of, &masks), list[..list_of.len()], "one list, one form");
    }
}

/// The receiver of KKRT16 over ideal base OTs against a sender who says anything.
pub(crate) fn psi_receiver(data: &[u8]) {
    let _ = run(1, &mut Script(data));
}

/// The sender of KKRT16 over ideal base OTs against a receiver who says anything.
pub(crate) fn psi_sender(data: &[u8]) {
    let _ = run(0, &mut Script(data));
}

/// A base, an update or what a server keeps, behind a byte that says which, and without the digest at its
/// end: what is one is itself again, and is looked up in.
pub(crate) fn psi_base(data: &[u8]) {
    let [kind, content @ ..] = data else { return };
    let bytes = [content, blake3::hash(content).as_bytes()].concat();
    let backend = Backend::detect();
    let values = [Block::ZERO, Block::from_u128(5), Block::from_u128(u128::MAX)];
    match kind {
        0 => {
            if let Ok(base) = BaseFile::read(bytes) {
                assert!(base.find(backend, &values).matched.len() <= values.len());
            }
        }
        1 => {
            let [base, ..] = published();
            let mut base = BaseFile::read(base).expect("what was published");
            if let Ok(update) = BaseUpdate::read(&base.terms, bytes) {
                let _ = base.apply(update);
                assert!(base.find(backend, &values).matched.len() <= values.len());
            }
        }
        _ => {
            if let Ok(kept) = Published::read(&bytes) {
                assert_eq!(*kept.to_bytes(), bytes, "one state, one form");
            }
        }
    }
}

/// A server's half of queries, and questions to it.
pub(crate) fn psi_queries(data: &[u8]) {
    let mut rest = data;
    if let Ok(half) = OprfAnswers::read(&mut rest) {
        let (mut bytes, count) = (Vec::new(), half.count());
        half.write(&mut bytes).expect("memory takes everything");
        assert!(bytes == data[..data.len() - rest.len()], "one half, one form");
        if let Ok(answer) = half.answer(rest) {
            assert!(answer.len() <= OPRF_ONLINE[1] * count);
        }
    }
}

/// A base of three items with a byte each, an update of it, and what the server keeps.
fn published() -> [Vec<u8>; 3] {
    let terms = BaseTerms {
        id: [0; 32],
        most: 100,
        queries: 100,
        rho: 40,
        payload: 1,
        header: b"age".to_vec(),
        encoding: "lower".into(),
    };
    let items: Vec<Item> = (0..3).map(|n| Item([n; 32])).collect();
    let (mut base, backend) = (Vec::new(), Backend::detect());
    let mut out = |bytes: &[u8]| {
        base.extend_from_slice(bytes);
        Ok(())
    };
    let set = Set { items: &items, payload: b"abc", pad_to: 4 };
    let made = Published::new(terms, &set, (backend, &mut rng()), &mut out).and_then(|mut kept| {
        let set = Set { items: &items[1..], payload: b"de", pad_to: 0 };
        let (update, _) = kept.change(&items[..1], &set, 4, (backend, &mut rng()))?;
        Ok((kept.to_bytes().to_vec(), update))
    });
    let (kept, update) = made.expect("a set that fits");
    [base, update, kept]
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
        return send_over::<Ideal>(&mut me, &terms, &set).map(|_| Vec::new());
    }
    let got = receive_over::<Ideal>(&mut me, &terms, &Set { items: &items, ..Set::default() })?;
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
    // Without their digests, which the body makes.
    let [base, update, kept] = published().map(|bytes| bytes[..bytes.len() - 32].to_vec());
    let of = |kind: u8, bytes: &[u8]| [&[kind][..], bytes].concat();
    let mut later = base.clone();
    later[16] += 1;
    let half = [&[1, 0, 0, 0][..], &[7; 16 + 128 * 16 + 16]].concat();
    vec![
        ("psi_base", "base", of(0, &base)),
        ("psi_base", "base_cut", of(0, &cut(&base))),
        ("psi_base", "base_of_a_later_version", of(0, &later)),
        ("psi_base", "update", of(1, &update)),
        ("psi_base", "update_for_a_base", of(0, &update)),
        ("psi_base", "state", of(2, &kept)),
        ("psi_base", "state_cut", of(2, &cut(&kept))),
        ("psi_queries", "one", [&half[..], &[9; 16]].concat()),
        ("psi_queries", "cut", cut(&half)),
        ("psi_queries", "too_many", [&[65][..], &half[1..]].concat()),
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

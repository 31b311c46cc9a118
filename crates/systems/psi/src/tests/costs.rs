//! What is sent is what the formulas say.

use comity_channel::{Counted, Recorded};

use super::*;

/// The bytes from the sender and from the receiver.
fn sent(terms: &Terms, sender: &[Item], receiver: &[Item]) -> [u64; 2] {
    let payload = vec![1; sender.len() * terms.payload];
    let bytes = |counted: &Counted<&mut comity_channel::MemoryChannel>| counted.counts().sent;
    let (one, two) = Pair::run(
        |ch| {
            let mut ch = Counted::new(ch);
            let set = Set { items: sender, payload: &payload, pad_to: 0 };
            party(0, 1, &mut ch, |me| send(me, terms, &set)).expect("the sender");
            bytes(&ch)
        },
        |ch| {
            let mut ch = Counted::new(ch);
            let set = Set { items: receiver, ..Set::default() };
            party(1, 1, &mut ch, |me| receive(me, terms, &set)).expect("the receiver");
            bytes(&ch)
        },
    );
    [one, two]
}

#[test]
fn bytes_are_exactly_as_said() {
    for (method, adversary) in methods() {
        let mut setup = None;
        let mut sizes = vec![(0, 0, 0), (1, 1, 0), (100, 1, 0), (50, 70, 9)];
        match method {
            Method::OprfAes => sizes.push((3000, 130, 0)),
            // One and two iterations of the vector OLE, too.
            Method::Vole => sizes.extend([(1, 1100, 0), (1500, 3000, 0), (2, 100_000, 0), (10, 1_800_000, 0)]),
            _ => sizes.extend([(1, 1100, 0), (1500, 3000, 0)]),
        }
        for (n1, n2, payload) in sizes {
            let terms = Terms { payload, ..Terms::new(method, adversary) };
            let Some(cost) = method.cost(adversary, (n1, n2), payload, 40) else { continue };
            let [sender, receiver] = sent(&terms, &items(0..n1), &items(n1 / 2..n1 / 2 + n2));
            let over = [sender - cost.from_sender, receiver - cost.from_receiver];
            assert_eq!(*setup.get_or_insert(over), over, "{}, {n1} and {n2}", method.name());
            assert!(over[0] + over[1] < 40 << 10, "{over:?}");
        }
    }
}

/// Section 5.2.2: `512 (s + b)` bits, `k l n1` bits, `(k + s) n1` evaluations, with `b = 1.2 n2`, `k = 3`, no
/// stash, and `l = rho + log2(k n1) + log2(n2)`.
#[test]
fn protocol_6_costs_what_its_section_says() {
    let n = 1 << 20;
    let cost = Method::OtBch.cost(Adversary::SemiHonest, (n, n), 0, 40).unwrap();
    let (b, l) = (1_258_292, 82);
    assert_eq!((cost.bins, cost.mask_bits, cost.evaluations), (b, l, 3 * n as u64));
    assert_eq!(8 * cost.from_receiver, 512 * b.next_multiple_of(128));
    assert_eq!(8 * cost.from_sender, u64::from(l - 20 + 2) * 3 * n as u64, "18 bits of each mask are its place");
    assert_eq!(cost.from_receiver + cost.from_sender, 105_701_376);
    let kkrt = Method::Kkrt.cost(Adversary::SemiHonest, (n, n), 0, 40).unwrap();
    assert_eq!(kkrt.from_receiver + kkrt.from_sender, 110_395_392);
    assert_eq!(Method::Phasing.cost(Adversary::SemiHonest, (n, n), 0, 40).unwrap().ots, 8 * kkrt.bins);
}

/// What the sender sends last, its masks, has one length and one order, however its items are ordered.
#[test]
fn the_senders_message_does_not_depend_on_the_order_of_items() {
    for (method, adversary) in methods() {
        let terms = Terms::new(method, adversary);
        let message = |sender: Vec<Item>| {
            let receiver = items(50..300);
            let (said, _) = Pair::run(
                |ch| {
                    let mut ch = Recorded::new(ch, 1 << 28);
                    let set = Set { items: &sender, ..Set::default() };
                    party(0, 1, &mut ch, |me| send(me, &terms, &set)).expect("the sender");
                    ch.recorder().recording().sent
                },
                |ch| party(1, 1, ch, |me| receive(me, &terms, &Set { items: &receiver, ..Set::default() })),
            );
            said
        };
        let ascending = message(items(0..200));
        assert_eq!(ascending, message(items((0..200).rev())), "{}", method.name());
        let others = message(items(1000..1200));
        assert_eq!(ascending.len(), others.len(), "{}", method.name());
        assert_ne!(ascending, others, "{}", method.name());
    }
}

/// What the receiver sends is as long for any set of its size, and every byte of it takes every value equally
/// often: its OTs hide what it has.
#[test]
fn the_receivers_message_looks_random() {
    for (method, adversary) in methods() {
        let terms = Terms::new(method, adversary);
        let message = |receiver: Vec<Item>| {
            let sender = items(0..20);
            let (_, said) = Pair::run(
                |ch| party(0, 1, ch, |me| send(me, &terms, &Set { items: &sender, ..Set::default() })),
                |ch| {
                    let mut ch = Recorded::new(ch, 1 << 28);
                    let set = Set { items: &receiver, ..Set::default() };
                    party(1, 1, &mut ch, |me| receive(me, &terms, &set)).expect("the receiver");
                    ch.recorder().recording().sent
                },
            );
            said
        };
        let (one, other) = (message(items(0..300)), message(items(5000..5300)));
        assert_eq!(one.len(), other.len(), "{}", method.name());
        // The last 64 KiB are corrections of OTs (or, with few bytes, all that there is).
        for message in [one, other] {
            let last = &message[message.len().saturating_sub(1 << 16)..];
            let mut counts = [0f64; 256];
            last.iter().for_each(|&byte| counts[usize::from(byte)] += 1.0);
            let mean = last.len() as f64 / 256.0;
            let chi: f64 = counts.iter().map(|count| (count - mean).powi(2) / mean).sum();
            // 255 degrees of freedom: nine standard deviations.
            assert!(chi < 255.0 + 9.0 * 510f64.sqrt(), "{}: {chi}", method.name());
        }
    }
}

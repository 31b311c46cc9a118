//! Equal to the naive intersection.

use comity_protocol::Protocol;

use super::*;

/// Runs a method on two sets, with payload, and compares.
fn check(terms: Terms, sender: &[Item], receiver: &[Item], pad: [usize; 2]) {
    let payload: Vec<u8> =
        sender.iter().flat_map(|item| item.0.into_iter().cycle().skip(3).take(terms.payload)).collect();
    let what = format!("{} of {} and {}", terms.method.name(), sender.len(), receiver.len());
    let ours = Set { items: sender, payload: &payload, pad_to: pad[0] };
    let theirs = Set { items: receiver, payload: &[], pad_to: pad[1] };
    let (sent, got) = run(&terms, &ours, &theirs);
    let (sent, got) = (sent.expect(&what), got.expect(&what));
    assert_eq!((sent.theirs, sent.left_out), (theirs.told(), 0), "{what}");
    assert_eq!((got.theirs, got.left_out), (ours.told(), 0), "{what}");
    let common: Vec<u32> =
        (0..).zip(receiver).filter(|(_, item)| sender.contains(item)).map(|(number, _)| number).collect();
    assert_eq!(got.matched, common, "{what}");
    let expected: Vec<u8> =
        common.iter().flat_map(|&i| receiver[i as usize].0.into_iter().cycle().skip(3).take(terms.payload)).collect();
    assert_eq!(got.payload, expected, "{what}");
}

#[test]
fn all_sizes_and_overlaps() {
    let sizes = [(0, 0), (0, 5), (5, 0), (1, 1), (1, 2), (2, 1), (63, 64), (65, 64), (300, 3), (3, 300)];
    for (method, adversary) in methods() {
        for (n1, n2) in sizes {
            let terms = Terms::new(method, adversary);
            // All different, all equal, and an overlap that is in the middle of both.
            check(terms, &items(0..n1), &items(1000..1000 + n2), [0, 0]);
            check(terms, &items(0..n1), &items(0..n2), [0, 0]);
            check(terms, &items(0..n1), &items((n1 / 2)..(n1 / 2 + n2)), [0, 0]);
        }
    }
}

#[test]
fn thousands_of_items() {
    for (method, adversary) in methods() {
        let n = match method {
            Method::Phasing => 600,
            Method::OprfAes => 150,
            _ => 4097,
        };
        check(Terms::new(method, adversary), &items(0..n), &items((n / 3..2 * n).rev()), [0, 0]);
    }
}

#[test]
fn payload_comes_beside_its_item() {
    for (method, adversary) in methods().filter(|(method, _)| method.card().payload) {
        for payload in [1, 16, 100] {
            let terms = Terms { payload, ..Terms::new(method, adversary) };
            check(terms, &items(0..200), &items((100..400).rev()), [0, 0]);
        }
        check(Terms { payload: 7, ..Terms::new(method, adversary) }, &[], &items(0..3), [0, 0]);
    }
}

#[test]
fn a_set_is_padded_to_what_was_said() {
    for (method, adversary) in methods() {
        let terms = Terms { payload: 3, ..Terms::new(method, adversary) };
        check(terms, &items(0..20), &items(10..40), [100, 50]);
        let most = if method == Method::OprfAes { 70 } else { 1500 };
        check(terms, &items(0..20), &items(10..40), [2000, most]);
        check(terms, &[], &[], [10, 10]);
    }
}

#[test]
fn circuits_find_the_same() {
    for (n1, n2) in [(0, 3), (3, 0), (1, 1), (63, 65), (300, 20)] {
        check(circuit(), &items(0..n1), &items((n1 / 2)..(n1 / 2 + n2)), [0, 0]);
    }
    check(circuit(), &items(0..5), &items(3..9), [7, 10]);
}

#[test]
fn circuits_run_under_protocols_that_know_nothing_of_sets() {
    let protocols: [&'static dyn Protocol; 2] = [&comity_gmw::Gmw, &comity_tinyot::TinyOt];
    for over in protocols {
        let terms = Terms { over: Some(over), ..Terms::new(Method::Circuit, over.card().adversary) };
        check(terms, &items(0..3), &items(2..4), [0, 0]);
    }
}

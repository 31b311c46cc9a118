//! The machine by hand: every command of F_2PC, in any order.

use comity_channel::{Channel, MemoryChannel};
use comity_circuit::Recipients;
use comity_core::{Bits, PartyId, Result, SessionId};
use comity_share::Share;
use comity_testing::Pair;

use super::dealer::Trusted;
use super::here;
use crate::machine::Machine;

/// The machine of a party on trusted material.
pub(crate) fn machine(party: u16, session: &str) -> Machine<'static> {
    let here = here(party, SessionId::derive(session, &[]));
    Machine::new(here, Box::new(Trusted::new(here.me, 7, 100)))
}

fn bits(text: &str) -> Bits {
    text.chars().map(|c| c == '1').collect()
}

/// What party `owner` puts in, at either party.
pub(crate) fn put(machine: &mut Machine, ch: &mut dyn Channel, owner: u16, value: &Bits) -> Result<Vec<Share>> {
    let mut out = vec![Share::default(); value.len()];
    let given = (machine.party() == PartyId(owner)).then_some(value);
    machine.input(ch, PartyId(owner), given, &mut out)?;
    Ok(out)
}

/// Runs the same at both parties.
fn both<T: Send>(run: impl Fn(&mut Machine, &mut MemoryChannel) -> Result<T> + Sync) -> [Result<T>; 2] {
    let (a, b) = Pair::run(|ch| run(&mut machine(0, "test"), ch), |ch| run(&mut machine(1, "test"), ch));
    [a, b]
}

#[test]
fn gates_compute_and_outputs_go_to_whom_they_are_for() {
    let (x, y) = (bits("0011"), bits("0101"));
    let [a, b] = both(|m, ch| {
        let (x, y) = (put(m, ch, 0, &x)?, put(m, ch, 1, &y)?);
        let mut and = [Share::default(); 4];
        m.and(ch, &x, &y, &mut and)?;
        let one = m.constant(true);
        let xor: Vec<Share> = x.iter().zip(&y).map(|(&x, &y)| x ^ y).collect();
        let nor: Vec<Share> = xor.iter().zip(&and).map(|(&x, &a)| x ^ a ^ one).collect();
        let values = [
            m.reveal(ch, Recipients::All, &and)?,
            m.reveal(ch, Recipients::only(0), &xor)?,
            m.reveal(ch, Recipients::only(1), &nor)?,
            m.reveal(ch, Recipients::All, &[])?,
        ];
        Ok(values)
    });
    let wanted = |text| Some(bits(text));
    assert_eq!(a.unwrap(), [wanted("0001"), wanted("0110"), None, wanted("")]);
    assert_eq!(b.unwrap(), [wanted("0001"), None, wanted("1000"), wanted("")]);
}

#[test]
fn many_ands_in_pieces_and_batches() {
    // More than a piece, with the dealer's batches ending anywhere.
    let n = (1 << 16) + 77;
    let [a, b] = both(|m, ch| {
        let (mut x, mut y) = (vec![Share::default(); n], vec![Share::default(); n]);
        m.random(ch, &mut x)?;
        m.random(ch, &mut y)?;
        let mut and = vec![Share::default(); n];
        m.plan(1000);
        m.and(ch, &x, &y, &mut and)?;
        let mut opened = Vec::new();
        for shares in [x, y, and] {
            opened.extend(m.reveal(ch, Recipients::All, &shares)?);
        }
        Ok(opened)
    });
    let opened = a.unwrap();
    assert_eq!(opened, b.unwrap());
    let ones = opened[0].iter().filter(|&bit| bit).count();
    assert!((n * 2 / 5..n * 3 / 5).contains(&ones), "random bits: {ones} of {n}");
    assert!((0..n).all(|i| opened[2].get(i) == opened[0].get(i) & opened[1].get(i)));
}

#[test]
fn an_input_may_depend_on_an_output() {
    // Party 0 puts in x; party 1 learns x + 1 and puts it in; their AND is zero and their sum is one.
    let [a, b] = both(|m, ch| {
        let x = put(m, ch, 0, &bits("0110"))?;
        let one = m.constant(true);
        let not: Vec<Share> = x.iter().map(|&x| x ^ one).collect();
        let learned = m.reveal(ch, Recipients::only(1), &not)?;
        let y = put(m, ch, 1, &learned.unwrap_or(bits("0000")))?;
        let mut and = [Share::default(); 4];
        m.and(ch, &x, &y, &mut and)?;
        let sum: Vec<Share> = x.iter().zip(&y).map(|(&x, &y)| x ^ y).collect();
        Ok([m.reveal(ch, Recipients::All, &and)?, m.reveal(ch, Recipients::All, &sum)?])
    });
    for result in [a, b] {
        assert_eq!(result.unwrap(), [Some(bits("0000")), Some(bits("1111"))]);
    }
}

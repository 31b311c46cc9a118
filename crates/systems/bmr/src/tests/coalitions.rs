//! Liars over the dealer that parties have, and over shares in a field with free XOR gates and with garbled
//! ones: one and all but one of two, three and five.

use comity_channel::Mesh;
use comity_core::{Block, Check, PartyId, Result};
use comity_protocol::{Conduct, Here, Honest};
use comity_share::checks::{EQUIVOCATION, WRONG_MAC};
use comity_share::joint::JointAct;
use comity_testing::laws;
use comity_triples::bucket::Budget;
use comity_triples::many::{Many, objects};

use super::cheats::{Dealt, Ends, judge, run_on, spoil};
use super::field::ideal_masks;
use crate::act::GarblingAct;
use crate::checks::GARBLED_ROW;
use crate::hash::ROWS;
use crate::{Masks, Opener, Planned, TripleMasks, Xor};

/// The number of parties, and those who lie.
const COALITIONS: [(u16, &[u16]); 5] = [(2, &[0]), (2, &[1]), (3, &[1]), (3, &[0, 2]), (5, &[0, 1, 2, 4])];

/// Inputs with which every gate's output is needed.
const VALUES: u8 = 7;

fn dealt(net: &mut Mesh<'_>, here: Here, conduct: impl for<'a> Conduct<JointAct<'a>> + 'static) -> Result<Dealt> {
    let mut rng = laws::rng(u128::from(here.me.0) + 70);
    let budget = Budget::known(2, here.params.rho, 1, objects(here.parties))?;
    let dealer = Many::new_for(net, here.child("dealer"), budget, 4, &mut rng)?;
    let planned = Planned { shares: 2, own: 2, ands: 2 };
    let masks = TripleMasks::with(here.child("masks"), Box::new(dealer), planned, &mut rng, conduct);
    let mut offsets = vec![Block::ZERO; here.parties.into()];
    offsets[usize::from(here.me.0)] = masks.offset();
    Ok((Box::new(masks), offsets))
}

/// The same over shares in a field. With offsets of wires a lie that takes the offset has some other element.
fn dealt_in_a_field(net: &mut Mesh<'_>, here: Here, xor: Xor) -> Result<Dealt> {
    let masks = ideal_masks(net, here, xor)?;
    let offset = if xor == Xor::Free { masks.offset() } else { Block::from_u128(0x5a5a << 50) };
    Ok((Box::new(masks), vec![offset; here.parties.into()]))
}

/// A party that is honest among these liars.
fn victim(n: u16, liars: &[u16]) -> u16 {
    (0..n).find(|party| !liars.contains(party)).expect("one is honest")
}

/// Lies in the garbling that each party opens a part of: of honest parties each has the right outputs, or
/// names one of these checks, and some name one if `found`.
fn lies(
    n: u16,
    liars: &[u16],
    checks: &[&'static Check],
    found: bool,
    lie: impl Fn(u16, GarblingAct<'_>, Block) + Sync,
) {
    lies_to(Opener::Balanced, (n, liars), checks, found, lie);
}

/// The same in garbling that is opened so.
fn lies_to(
    opener: Opener,
    (n, liars): (u16, &[u16]),
    checks: &[&'static Check],
    found: bool,
    lie: impl Fn(u16, GarblingAct<'_>, Block) + Sync,
) {
    for kind in [None, Some(Xor::Free), Some(Xor::Garbled)] {
        let bits = |net: &mut Mesh<'_>, here: Here| match kind {
            Some(xor) => dealt_in_a_field(net, here, xor),
            None => dealt(net, here, Honest),
        };
        let lie = |me: u16, act: GarblingAct<'_>, offsets: &[Block]| lie(me, act, offsets[usize::from(me)]);
        let ends = run_on(n, VALUES, 1, liars, opener, bits, lie);
        judge_liars(&ends, (n, liars), checks, found);
    }
}

fn judge_liars(ends: &Ends, (n, liars): (u16, &[u16]), checks: &[&'static Check], found: bool) {
    let named = judge(ends, VALUES, liars);
    assert!(named.iter().all(|check| checks.contains(check)), "{n} parties, liars {liars:?}: {named:?}");
    assert!(!found || !named.is_empty(), "{n} parties, liars {liars:?}: nobody noticed");
    assert!(!checks.is_empty() || ends.iter().enumerate().all(|(id, end)| liars.contains(&(id as u16)) || end.is_ok()));
}

/// An error in an entry of all these rows.
fn spoil_all(rows: &mut [u8], n: u16, entry: u16) {
    (0..rows.len() / (usize::from(n) * Block::BYTES))
        .for_each(|row| spoil(rows, row * usize::from(n) + usize::from(entry)));
}

/// An error in all rows that liars collect, of which one is visited, chosen when all others' shares are
/// known: by who collects them, or says its share to another liar who does.
#[test]
fn late_changes_of_a_table_stop_whose_entry_it_is() {
    for (n, liars) in COALITIONS {
        let victim = victim(n, liars);
        lies(n, liars, &[GARBLED_ROW], true, |me, act, _| match act {
            GarblingAct::Shares(to, shares) if me == liars[0] && liars.contains(&to.0) && !shares.is_empty() => {
                spoil_all(shares, n, victim);
            }
            // Who is alone collects some of the gates, and adds its own share last.
            GarblingAct::Garbled(shares) if liars.len() == 1 => {
                let gate = usize::from(me * 2 / n) * ROWS * usize::from(n);
                spoil_all(Block::bytes_of_mut(&mut shares[gate..][..ROWS * usize::from(n)]), n, victim);
            }
            _ => {}
        });
    }
}

/// Other rows for one party than for the rest, by those who collect a part, and by party 0 that collects all.
/// Of two there is nobody else who could have heard them: who was lied to alone finds a false row if it
/// visits it.
#[test]
fn different_circuits_are_noticed() {
    for opener in [Opener::Balanced, Opener::Collector] {
        for (n, liars) in COALITIONS.into_iter().filter(|(_, liars)| opener == Opener::Balanced || liars.contains(&0)) {
            let (victim, check) = (victim(n, liars), if n == 2 { GARBLED_ROW } else { EQUIVOCATION });
            lies_to(opener, (n, liars), &[check], true, |_, act, _| match act {
                GarblingAct::Rows(PartyId(to), rows) if to == victim && !rows.is_empty() => {
                    spoil_all(rows, n, victim);
                }
                _ => {}
            });
        }
    }
}

/// Another circuit for all alike, by party 0 that collects all shares and knows them: a false row, at the
/// party whose entry it is.
#[test]
fn the_collector_cannot_choose_the_circuit() {
    for (n, liars) in COALITIONS.into_iter().filter(|(_, liars)| liars.contains(&0)) {
        let victim = victim(n, liars);
        lies_to(Opener::Collector, (n, liars), &[GARBLED_ROW], true, |me, act, _| match act {
            GarblingAct::Garbled(shares) if me == 0 => spoil_all(Block::bytes_of_mut(shares), n, victim),
            _ => {}
        });
    }
}

/// Keys are their owner's business: equal ones, zeros, its offset, and pairs that differ by it change
/// nobody's outputs.
#[test]
fn own_keys_are_anybodys_choice() {
    let choices: [fn(&mut Block, Block); 4] = [
        |key, _| *key = Block::from_u128(0x77 << 64),
        |key, _| *key = Block::ZERO,
        |key, offset| *key = offset,
        |key, offset| *key = offset.masked(key.to_u128() & 2 > 0),
    ];
    for (n, liars) in COALITIONS {
        for choose in choices {
            lies(n, liars, &[], false, |_, act, offset| match act {
                GarblingAct::NewKey(key) => choose(key, offset),
                _ => {}
            });
        }
    }
}

#[test]
fn masked_inputs_are_the_same_for_all() {
    for (n, liars) in COALITIONS {
        let victim = victim(n, liars);
        lies(n, liars, &[EQUIVOCATION], true, |_, act, _| match act {
            GarblingAct::Public(PartyId(to), bits) if to == victim && !bits.is_empty() => bits[0] ^= 1,
            _ => {}
        });
    }
}

/// Keys of the other value, of another wire, and none: told to all, or to one.
#[test]
fn false_keys_open_nothing() {
    let keys: [fn(&mut [u8], Block); 3] = [
        |keys, offset| keys[..16].iter_mut().zip(offset.to_bytes()).for_each(|(key, byte)| *key ^= byte),
        |keys, _| keys.copy_within(16..32, 0),
        |keys, _| keys.fill(0),
    ];
    for (n, liars) in COALITIONS {
        let victim = victim(n, liars);
        for change in keys {
            for all in [true, false] {
                lies(n, liars, &[GARBLED_ROW], true, |me, act, offset| match act {
                    GarblingAct::Keys(PartyId(to), keys) if me == liars[0] && (all || to == victim) => {
                        change(keys, offset);
                    }
                    _ => {}
                });
            }
        }
    }
}

/// False shares of `d` and `e`, and of masks of outputs, sent to all, or to one.
#[test]
fn masks_are_opened_truly() {
    for (n, liars) in COALITIONS {
        let victim = victim(n, liars);
        for bit in [0, 3, 4, 5] {
            for all in [true, false] {
                let bits = |net: &mut Mesh<'_>, here: Here| {
                    let lies = here.me.0 == liars[0];
                    dealt(net, here, move |act: JointAct<'_>| match act {
                        JointAct::Says { what: "opened bits", peer, bytes } if lies && (all || peer.0 == victim) => {
                            bytes[0] ^= 1 << bit;
                        }
                        _ => {}
                    })
                };
                let ends = run_on(n, VALUES, 2, liars, Opener::Balanced, bits, |_, _, _| {});
                let named = judge(&ends, VALUES, liars);
                assert!(!named.is_empty() && named.iter().all(|&check| [WRONG_MAC, EQUIVOCATION].contains(&check)));
            }
        }
    }
}

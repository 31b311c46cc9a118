//! Parties that lie: the cheats that the paper's proof names, and some that it does not.

use comity_channel::{Mesh, memory_mesh};
use comity_circuit::{Builder, Program};
use comity_core::{Bits, Block, Check, PartyId, Result, SessionId};
use comity_protocol::{Here, Job, Options, Party};
use comity_share::checks::EQUIVOCATION;
use comity_testing::laws::{self, Outputs};

use super::CARD;
use super::field::ideal_masks;
use super::ideal::Ideal;
use crate::act::GarblingAct;
use crate::checks::GARBLED_ROW;
use crate::hash::{OUTPUT_ROWS, ROWS};
use crate::{Ground, Masks, Opener, Xor, run_as};

/// The end of each party's run: its outputs, or its error.
pub(super) type Ends = Vec<Result<Vec<(usize, Bits)>>>;

/// `x y`, then that times `z`, and a sum of inputs that goes through no gate: inputs of the first parties,
/// outputs to all.
fn program() -> Program {
    let mut b = Builder::new();
    let (x, y, z) = (b.input("x", 1), b.input("y", 1), b.input("z", 1));
    let xy = b.and(x[0], y[0]);
    let xyz = b.and(xy, z[0]);
    let sum = b.xor(x[0], y[0]);
    b.output("product", &[xyz]);
    b.output("sum", &[sum]);
    let program = Program::from_circuit(b.finish()).unwrap();
    (0..3).fold(program, |program, i| program.with_owner(i, (i % 2) as u16).unwrap())
}

/// The input values whose bits these are.
fn inputs(bits: u8) -> Vec<Bits> {
    (0..3).map(|i| Bits::from_bytes(&[bits >> i & 1], 1)).collect()
}

/// A protocol for bits, and the offsets that a test may know of.
pub(super) type Dealt = (Box<dyn Masks>, Vec<Block>);

/// What parties garble on: an ideal protocol for bits, or one for a field.
#[derive(Clone, Copy, Debug, PartialEq)]
enum On {
    Bits,
    Field(Xor),
}

impl On {
    fn deal(self, net: &mut Mesh<'_>, here: Here) -> Result<Dealt> {
        let On::Field(xor) = self else {
            let masks = Ideal::new(here.session, here.me.0.into(), here.parties.into());
            let offsets = masks.offsets().to_vec();
            return Ok((Box::new(masks), offsets));
        };
        let masks = ideal_masks(net, here, xor)?;
        // Its own, in the place of all.
        let offsets = vec![masks.offset(); here.parties.into()];
        Ok((Box::new(masks), offsets))
    }

    /// Rows of the program's gates before those of outputs: the sum has some where XOR has.
    fn before_outputs(self) -> usize {
        if self == On::Field(Xor::Garbled) { 3 * ROWS } else { 2 * ROWS }
    }

    /// Runs the program among `n`, of whom `liars` lie.
    fn run(
        self,
        n: u16,
        values: u8,
        session: u64,
        liars: &[u16],
        lie: impl Fn(u16, GarblingAct<'_>, &[Block]) + Sync,
    ) -> Ends {
        let deal = |net: &mut Mesh<'_>, here: Here| self.deal(net, here);
        run_on(n, values, session, liars, Opener::Balanced, deal, lie)
    }
}

/// These tests, on each.
macro_rules! on_each {
    ($($test:ident)*) => {
        mod on_bits {
            $(#[test] fn $test() { super::$test(super::On::Bits) })*
        }
        mod on_a_field {
            $(#[test] fn $test() { super::$test(super::On::Field(crate::Xor::Free)) })*
        }
        mod on_a_field_with_rows_of_xor_gates {
            $(#[test] fn $test() { super::$test(super::On::Field(crate::Xor::Garbled)) })*
        }
    };
}

on_each! {
    nobody_lies
    false_shares_of_rows_stop_the_party_whose_entry_it_is
    false_rows_of_outputs_stop_whose_entry_it_is
    false_own_entries_are_found_at_the_next_gate
    collectors_cannot_choose_what_others_hear
    late_errors_are_errors_of_rows
    public_values_are_the_same_for_all
    nobody_has_keys_of_two_public_values
    false_keys_open_nothing
    chosen_keys_change_nothing
    stopping_does_not_depend_on_inputs
}

/// The same over other bits.
pub(super) fn run_on(
    n: u16,
    values: u8,
    session: u64,
    liars: &[u16],
    opener: Opener,
    bits: impl Fn(&mut Mesh<'_>, Here) -> Result<Dealt> + Sync,
    lie: impl Fn(u16, GarblingAct<'_>, &[Block]) + Sync,
) -> Ends {
    run_as_told(n, values, session, liars, opener, (&bits, &lie))
}

/// Where a party has its bits from.
type Dealing<'d> = dyn Fn(&mut Mesh<'_>, Here) -> Result<Dealt> + Sync + 'd;

/// What a liar does.
type Lies<'l> = dyn Fn(u16, GarblingAct<'_>, &[Block]) + Sync + 'l;

/// It knows no type of a lie, for each of which the gates of all parties would be compiled once more.
fn run_as_told(
    n: u16,
    values: u8,
    session: u64,
    liars: &[u16],
    opener: Opener,
    (bits, lie): (&Dealing<'_>, &Lies<'_>),
) -> Ends {
    let program = program();
    let ends: Vec<_> = std::thread::scope(|scope| {
        let program = &program;
        let party = |links| {
            let mut mesh = Mesh::new(links);
            let (me, parties) = (mesh.me(), mesh.parties());
            let session = SessionId::derive("cheats", &[&session.to_le_bytes()]);
            let here = Here::new(me, parties, session);
            let (mut masks, offsets) = bits(&mut mesh, here)?;
            let own = program.inputs().iter().zip(inputs(values));
            let own: Vec<_> = own.map(|(input, value)| input.owner.includes(me).then_some(value)).collect();
            let (mut outputs, options) = (Outputs::default(), Options::new(&CARD));
            let mut rng =
                laws::rng(u128::from_le_bytes(session.to_bytes()[..16].try_into().unwrap()) ^ u128::from(me.0));
            let mut party = Party { net: &mut mesh, here, rng: &mut rng, observer: &mut outputs };
            let job = Job { program, inputs: &own, options: &options };
            let mut conduct = |act: GarblingAct<'_>| {
                if liars.contains(&me.0) {
                    lie(me.0, act, &offsets);
                }
            };
            run_as(&mut party, Ground { masks: &mut *masks, opener }, &job, &mut conduct)?;
            Ok(outputs.0)
        };
        let threads: Vec<_> = memory_mesh(n, Some(comity_testing::PATIENCE))
            .into_iter()
            .map(|links| scope.spawn(move || party(links)))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    ends
}

/// The right outputs.
fn right(values: u8) -> Vec<(usize, Bits)> {
    laws::clear(&program(), &inputs(values)).into_iter().enumerate().collect()
}

/// Whether each honest party ended with the right outputs or an error; the checks that honest parties named.
pub(super) fn judge(ends: &Ends, values: u8, liars: &[u16]) -> Vec<&'static Check> {
    let honest = (0..).zip(ends).filter(|(id, _)| !liars.contains(id));
    honest
        .filter_map(|(id, end)| match end {
            Ok(outputs) => {
                assert_eq!(*outputs, right(values), "party {id} took wrong outputs for the result");
                None
            }
            Err(error) => error.check(),
        })
        .collect()
}

/// Adds a pattern to one block.
pub(super) fn spoil(blocks: &mut [u8], block: usize) {
    blocks[block * Block::BYTES + 5] ^= 0x41;
}

fn nobody_lies(on: On) {
    for n in [2, 3, 5] {
        for values in 0..8 {
            let ends = on.run(n, values, 1, &[], |_, _, _| {});
            assert!(ends.iter().all(Result::is_ok));
            judge(&ends, values, &[]);
        }
    }
}

/// A false share of a row, as of a wrong `F`, a wrong key or a wrong product: the party whose entry it is
/// stops if the row is visited, and if none is, nothing happens. Of the four rows of a gate one is.
fn false_shares_of_rows_stop_the_party_whose_entry_it_is(on: On) {
    for (n, liars) in [(2, &[0][..]), (3, &[2]), (3, &[0, 2]), (5, &[0, 1, 2, 4])] {
        for gate in 0..2 {
            for entry in (0..n).filter(|entry| !liars.contains(entry)) {
                let mut stopped = 0;
                for row in 0..ROWS {
                    let at = (gate * ROWS + row) * usize::from(n) + usize::from(entry);
                    let ends = on.run(n, 5, 2, liars, |me, act, _| match act {
                        GarblingAct::Garbled(shares) if me == liars[0] => spoil(Block::bytes_of_mut(shares), at),
                        _ => {}
                    });
                    let named = judge(&ends, 5, liars);
                    let end = &ends[usize::from(entry)];
                    match end {
                        Err(error) => {
                            assert_eq!(error.check(), Some(GARBLED_ROW));
                            stopped += 1;
                        }
                        Ok(_) => assert!(named.is_empty(), "a row that nobody visits"),
                    }
                }
                assert_eq!(stopped, 1, "{n} parties, gate {gate}, entry {entry}");
            }
        }
    }
}

/// The same of the gates of outputs, of which one of two rows is visited: of a product, and of a sum of
/// inputs, which goes through no other gate.
fn false_rows_of_outputs_stop_whose_entry_it_is(on: On) {
    for (n, liar) in [(2, 0), (3, 2)] {
        for output in 0..2 {
            for entry in (0..n).filter(|&entry| entry != liar) {
                let mut stopped = 0;
                for row in 0..OUTPUT_ROWS {
                    let at = (on.before_outputs() + output * OUTPUT_ROWS + row) * usize::from(n) + usize::from(entry);
                    let ends = on.run(n, 5, 2, &[liar], |_, act, _| match act {
                        GarblingAct::Garbled(shares) => spoil(Block::bytes_of_mut(shares), at),
                        _ => {}
                    });
                    let named = judge(&ends, 5, &[liar]);
                    assert!(named.iter().all(|&check| check == GARBLED_ROW));
                    stopped += usize::from(ends[usize::from(entry)].is_err());
                }
                assert_eq!(stopped, 1, "{n} parties, output {output}, entry {entry}");
            }
        }
    }
}

/// A false own entry is a false key of the liar's: whoever needs it for the next gate stops, or nobody needs it.
fn false_own_entries_are_found_at_the_next_gate(on: On) {
    for (n, liar) in [(2, 1), (3, 0)] {
        for gate in 0..2 {
            let mut stopped = 0;
            for row in 0..ROWS {
                let at = (gate * ROWS + row) * usize::from(n) + usize::from(liar);
                let ends = on.run(n, 3, 3, &[liar], |_, act, _| match act {
                    GarblingAct::Garbled(shares) => spoil(Block::bytes_of_mut(shares), at),
                    _ => {}
                });
                stopped += usize::from(judge(&ends, 3, &[liar]).contains(&GARBLED_ROW));
            }
            assert_eq!(stopped, 1, "the gate of the output needs that of the last one");
        }
    }
}

/// Whoever collects rows knows all shares before it says the sums. An error that all hear alike is an error
/// of a row; what not all hear alike is noticed by all, before anything is evaluated.
fn collectors_cannot_choose_what_others_hear(on: On) {
    // Of two gates party 1 collects the first, party 2 the second.
    for (liar, gate) in [(1, 0), (2, 1)] {
        for row in 0..ROWS {
            let ends = on.run(3, 6, 4, &[liar], |_, act, _| match act {
                GarblingAct::Rows(_, rows) => spoil(rows, row * 3),
                _ => {}
            });
            // The liar's own copy is the true one, so that its digest is another.
            assert!(judge(&ends, 6, &[liar]).iter().all(|&check| check == EQUIVOCATION));
            let ends = on.run(3, 6, 4, &[liar], |_, act, _| match act {
                GarblingAct::Rows(PartyId(0), rows) => spoil(rows, row * 3),
                _ => {}
            });
            let named = judge(&ends, 6, &[liar]);
            assert!(named.contains(&EQUIVOCATION) && named.iter().all(|&check| check == EQUIVOCATION), "gate {gate}");
        }
    }
}

/// The same error in the share of whoever collects, which it might choose after it has heard all others'.
fn late_errors_are_errors_of_rows(on: On) {
    for row in 0..ROWS {
        let ends = on.run(3, 7, 5, &[1], |_, act, _| match act {
            GarblingAct::Shares(_, shares) if !shares.is_empty() => spoil(shares, row * 3),
            _ => {}
        });
        assert!(judge(&ends, 7, &[1]).iter().all(|&check| check == GARBLED_ROW));
    }
}

fn public_values_are_the_same_for_all(on: On) {
    for n in [2, 3, 5] {
        for peer in 1..n {
            let ends = on.run(n, 1, 6, &[0], |_, act, _| match act {
                GarblingAct::Public(to, bytes) if to == PartyId(peer) => bytes[0] ^= 1,
                _ => {}
            });
            let named = judge(&ends, 1, &[0]);
            assert!(named.contains(&EQUIVOCATION) && named.iter().all(|&check| check == EQUIVOCATION));
        }
    }
}

/// Keys leave when all have heard the same public values, and not before.
fn nobody_has_keys_of_two_public_values(on: On) {
    let said = std::sync::Mutex::new(0);
    on.run(3, 1, 6, &[0, 1, 2], |me, act, _| match act {
        GarblingAct::Public(to, bytes) if me == 0 && to == PartyId(2) => bytes[0] ^= 1,
        GarblingAct::Keys(..) if me != 0 => *said.lock().unwrap() += 1,
        _ => {}
    });
    assert_eq!(*said.lock().unwrap(), 0, "keys left");
}

/// Keys of the other value, of another wire, zero, or any: told to all, or to one.
fn false_keys_open_nothing(on: On) {
    type Lie = fn(&mut [u8], Block);
    let lies: [Lie; 4] = [
        |keys, offset| keys[..16].iter_mut().zip(offset.to_bytes()).for_each(|(key, byte)| *key ^= byte),
        |keys, _| keys.copy_within(16..32, 0),
        |keys, _| keys.fill(0),
        |keys, _| spoil(keys, 0),
    ];
    for (n, liar) in [(2, 0), (2, 1), (3, 1), (5, 4)] {
        // Where wires have offsets of their own no lie is by another wire's.
        let known = if on == On::Field(Xor::Garbled) { &lies[1..] } else { &lies[..] };
        for lie in known {
            for only in [None, Some(PartyId((liar + 1) % n))] {
                let ends = on.run(n, 7, 7, &[liar], |me, act, offsets| match act {
                    GarblingAct::Keys(to, keys) if only.is_none_or(|only| only == to) => {
                        lie(keys, offsets[usize::from(me)])
                    }
                    _ => {}
                });
                let named = judge(&ends, 7, &[liar]);
                assert!(named.contains(&GARBLED_ROW) && named.iter().all(|&check| check == GARBLED_ROW));
            }
        }
    }
}

/// Keys that a liar chooses, all alike: two wires of the same keys are still two wires.
fn chosen_keys_change_nothing(on: On) {
    // The liar's shares are made of its keys, so that it has to change both: here it adds the same to the
    // keys behind an output's gate, of which no other rows are made, and to the rows that lead there.
    let change = Block::from_u128(0x1234_5678 << 40);
    let ends = on.run(3, 7, 8, &[2], |me, act, _| match act {
        GarblingAct::Garbled(shares) => {
            for row in 0..OUTPUT_ROWS {
                shares[(on.before_outputs() + row) * 3 + usize::from(me)] ^= change;
            }
        }
        _ => {}
    });
    // The liar itself does not know of it.
    assert!(ends[2].is_err());
    assert!(judge(&ends, 7, &[2]).is_empty());
}

/// Party 1 knows all its own keys, and the active ones of party 0. Party 0's offset is no difference of what
/// it can compute of rows.
#[test]
fn rows_do_not_show_offsets() {
    use std::sync::Mutex;
    let table = Mutex::new(Vec::new());
    let offset = Mutex::new(Block::ZERO);
    let ends = On::Bits.run(2, 3, 9, &[1], |_, act, offsets| match act {
        GarblingAct::Garbled(shares) => {
            *offset.lock().unwrap() = offsets[0];
            table.lock().unwrap().push(shares.to_vec());
        }
        GarblingAct::Opened(rows) => table.lock().unwrap().push(rows.to_vec()),
        _ => {}
    });
    assert!(ends.iter().all(Result::is_ok));
    let (table, offset) = (table.into_inner().unwrap(), offset.into_inner().unwrap());
    let [own, open] = &table[..] else { panic!("a chunk") };
    // What party 0 added to the rows, in which its offset is.
    let theirs: Vec<Block> = own.iter().zip(open).map(|(&own, &open)| own ^ open).collect();
    let seen: Vec<Block> = theirs.iter().chain(open).chain(own).copied().collect();
    for (i, &a) in seen.iter().enumerate() {
        assert!(a != offset && seen[..i].iter().all(|&b| a ^ b != offset), "block {i}");
    }
}

/// Whether the run stops tells nothing of inputs: a false row is visited once in four times, whatever they
/// are, and then the party whose entry it is stops; if it is not, the output is right. `runs` runs with each.
fn stops_do_not_depend_on_inputs(on: On, runs: u64) {
    for values in 0..8 {
        let stops = |session: &u64| {
            let ends = on.run(2, values, 100 + session, &[1], |_, act, _| match act {
                GarblingAct::Garbled(shares) => spoil(Block::bytes_of_mut(shares), 8 + 2),
                _ => {}
            });
            judge(&ends, values, &[1]).contains(&GARBLED_ROW)
        };
        let stopped = (0..runs).filter(stops).count() as f64;
        let (expected, deviation) = (runs as f64 / 4.0, (runs as f64 * 3.0).sqrt() / 4.0);
        assert!(
            (stopped - expected).abs() < 6.0 * deviation,
            "{stopped} of {runs} with inputs {values:03b}: {expected} are expected, with a deviation of {deviation:.1}"
        );
    }
}

fn stopping_does_not_depend_on_inputs(on: On) {
    stops_do_not_depend_on_inputs(on, 96);
}

#[test]
#[ignore = "thirty thousand runs"]
fn stopping_does_not_depend_on_inputs_in_many_runs() {
    for on in [On::Bits, On::Field(Xor::Free), On::Field(Xor::Garbled)] {
        stops_do_not_depend_on_inputs(on, 1250);
    }
}

//! Masks that are shares in a field: over an ideal protocol for these, over SPDZ, and parties that lie in it.

mod garbled;
mod ideal;

use std::sync::{Arc, Mutex};

use comity_channel::Mesh;
use comity_circuit::{Program, Recipients};
use comity_core::{Bits, Block, Check, Params, PartyId, Result};
use comity_field_shares::checks::FALSE_MAC;
use comity_field_shares::{FieldAct, FieldDealer};
use comity_protocol::{Ahead, Card, Conduct, Empty, Here, Job, Options, Party, ProgramBound, Protocol, Supplies};
use comity_share::checks::EQUIVOCATION;
use comity_share::joint::JointAct;
use comity_spdz::{FieldMachine, Fresh};
use comity_testing::laws::{self, Laws, Outputs};
use comity_testing::{Kept, Net};

use super::cheats::{Dealt, Ends, run_on};
use crate::act::GarblingAct;
use crate::checks::GARBLED_ROW;
use crate::{FieldMasks, Ground, Opener, SpdzBmr, Xor, run_with};
use ideal::IdealField;

/// Masks over an ideal protocol for shares in a field.
pub(super) fn ideal_masks(net: &mut Mesh<'_>, here: Here, xor: Xor) -> Result<FieldMasks<'static>> {
    let field = Box::new(IdealField::new(here));
    match xor {
        Xor::Free => FieldMasks::setup(net, field, 10),
        Xor::Garbled => Ok(FieldMasks::of_wires(net, field, 10)),
    }
}

/// Garbling over an ideal protocol for shares in a field.
struct OverField;

impl Protocol for OverField {
    fn card(&self) -> &'static Card {
        &super::CARD
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        let mut masks = ideal_masks(me.net, me.here, Xor::Free)?;
        run_with(me, Ground { masks: &mut masks, opener: Opener::Balanced }, job)
    }
}

comity_testing::laws!(OverField, Laws { deviations: 60, listened: 0, constants: None, ..Laws::USUAL });

mod over_spdz {
    use super::*;

    comity_testing::laws!(
        SpdzBmr,
        Laws {
            programs: 1,
            gates: 16,
            deviations: 12,
            listened: 0,
            constants: Some(1),
            wire: &["529355ba82448b264d0b7899f6bd9da4"],
            ..Laws::USUAL
        }
    );

    mod garbled {
        use super::*;

        comity_testing::laws!(
            SpdzBmr,
            Laws {
                programs: 1,
                gates: 8,
                deviations: 12,
                listened: 0,
                constants: Some(1),
                wire: &["ed710dc0a13ad6f07f22fe916480b139"],
                options: &[("xor", "garbled")],
                ..Laws::USUAL
            }
        );
    }
}

/// Material for a bound suffices for every program within it, whichever way XOR gates are garbled; a bound
/// that no program is within, and `--wires` for a protocol that counts by one number, are refused.
#[test]
fn a_bound_holds_for_programs_within_it() {
    let program = Program::from_circuit(laws::chain_and_layer(700)).unwrap();
    let count = |bits: usize| bits as u64;
    let inputs: u64 = program.inputs().iter().map(|input| count(input.bits)).sum();
    let outputs: u64 = program.outputs().iter().map(|output| count(output.bits)).sum();
    let ands = program.and_gates();
    let of = |protocol: &dyn Protocol, xor: &str, wires: u64| {
        let mut options = Options::new(protocol.card());
        if protocol.card().name == "spdz-bmr" {
            options.set(PartyId(0), "xor", xor).unwrap();
            options.set(PartyId(0), "stored", "field").unwrap();
        }
        let bound = ProgramBound { parties: 2, ands, wires };
        let needs = protocol.needs(&program, &options, Params::default()).unwrap().remove(0);
        (protocol.amount_within(&bound, &options, Params::default()).map_err(|error| error.to_string()), needs)
    };
    let free = of(&SpdzBmr, "free", inputs + outputs + ands);
    let xors = crate::planned::garbled_xors(&program);
    let garbled = of(&SpdzBmr, "garbled", inputs + outputs + ands + xors);
    for (bound, need) in [&free, &garbled] {
        assert!(bound.as_ref().unwrap().batches >= need.batches);
    }
    assert!(xors > 0 && garbled.1.batches > free.1.batches);
    assert!(of(&SpdzBmr, "free", ands - 1).0.is_err_and(|why| why.contains("behind each gate there is one")));
    assert!(of(&crate::Bmr, "", 10).0.is_err_and(|why| why.contains("leave --wires out")));
}

/// The conduct of a party that changes some messages, or some values, by name, and logs what it says to its
/// first peer.
#[derive(Clone)]
struct Liar {
    says: Option<(&'static str, PartyId)>,
    holds: Option<&'static str>,
    me: PartyId,
    log: Arc<Mutex<Vec<&'static str>>>,
}

impl<'a> Conduct<JointAct<'a>> for Liar {
    fn before(&mut self, act: JointAct<'a>) {
        let JointAct::Says { what, peer, bytes } = act else { return };
        if peer.0 == u16::from(self.me.0 == 0) {
            self.log.lock().unwrap().push(what);
        }
        if self.says == Some((what, peer)) && !bytes.is_empty() {
            bytes[0] ^= 1;
        }
    }
}

impl<'a> Conduct<FieldAct<'a, Block>> for Liar {
    fn before(&mut self, FieldAct::Holds { what, values }: FieldAct<'a, Block>) {
        if self.holds == Some(what) {
            values[0] ^= Block::from_u128(1);
        }
    }
}

/// What party 1 lies in: a message to a party, or values.
type Lie = (Option<(&'static str, PartyId)>, Option<&'static str>);

const NO_LIE: Lie = (None, None);

const XORS: [Xor; 2] = [Xor::Free, Xor::Garbled];

/// The logs of parties by number.
type Logs = [Arc<Mutex<Vec<&'static str>>>; 3];

/// Runs the program of the cheats among `n`, of whom party 1 lies in messages or values of the masks. What
/// all do in garbling goes through `lie`.
fn run(n: u16, xor: Xor, (says, holds): Lie, logs: &Logs, lie: impl Fn(u16, GarblingAct<'_>, &[Block]) + Sync) -> Ends {
    let bits = |net: &mut Mesh<'_>, here: Here| -> Result<Dealt> {
        let mut rng = laws::rng(40 + u128::from(here.me.0));
        let dealer = FieldDealer::<Block>::setup(net, here.child("dealer"), &mut rng)?;
        let lies = here.me.0 == 1;
        let conduct = Liar {
            says: says.filter(|_| lies),
            holds: holds.filter(|_| lies),
            me: here.me,
            log: logs[usize::from(here.me.0).min(2)].clone(),
        };
        let machine = FieldMachine::with(here.child("machine"), Box::new(Fresh(dealer)), &mut rng, conduct);
        let masks = match xor {
            Xor::Free => FieldMasks::setup(net, Box::new(machine), 4)?,
            Xor::Garbled => FieldMasks::of_wires(net, Box::new(machine), 4),
        };
        Ok((Box::new(masks), Vec::new()))
    };
    run_on(n, 0b101, 7, &[0, 1, 2], Opener::Balanced, bits, lie)
}

/// The checks that the honest parties ended with.
fn checks(ends: &Ends) -> Vec<&'static Check> {
    let honest = ends.iter().enumerate().filter(|(party, _)| *party != 1);
    honest.filter_map(|(_, end)| end.as_ref().err().and_then(|error| error.check())).collect()
}

/// A lie in the shares ends the run by its check, before a share of a row leaves an honest party.
#[test]
fn lies_in_the_shares_end_the_run_before_rows_leave() {
    let values = ["factors", "masks of outputs", "sigma"].map(|what| (None, Some(what), FALSE_MAC));
    let said = ["lowest bit of an offset", "factors", "masks of outputs"]
        .map(|what| (Some((what, PartyId(0))), None, EQUIVOCATION));
    let lies = values.into_iter().chain(said).flat_map(|lie| XORS.map(|xor| (xor, lie)));
    // With offsets of their own no bit of them is said.
    let none = ("lowest bit of an offset", PartyId(0));
    for (xor, (says, holds, check)) in lies.filter(|(xor, lie)| *xor == Xor::Free || lie.0 != Some(none)) {
        let rows = Mutex::new(0);
        let ends = run(3, xor, (says, holds), &Logs::default(), |_, act, _| {
            if let GarblingAct::Shares(..) = act {
                *rows.lock().unwrap() += 1;
            }
        });
        let found = checks(&ends);
        assert!([0, 2].iter().all(|&party| ends[party].is_err()), "{says:?} {holds:?}: a party went on");
        assert!(!found.is_empty() && found.iter().all(|found| *found == check), "{says:?} {holds:?}: {found:?}");
        assert_eq!(*rows.lock().unwrap(), 0, "{says:?} {holds:?}: rows left");
    }
}

/// A wrong value of `F`, or a wrong own key, in a row that is visited: whose entry it is stops, and no output
/// is wrong.
#[test]
fn a_wrong_prf_value_only_stops_a_party() {
    for (xor, entry) in XORS.into_iter().flat_map(|xor| [(xor, 0), (xor, 1)]) {
        let ends = run(2, xor, NO_LIE, &Logs::default(), |me, act, _| {
            if let GarblingAct::Garbled(shares) = act
                && me == 1
            {
                // In all four rows of the first gate, so that one is visited.
                shares.chunks_exact_mut(2).take(4).for_each(|row| row[entry] ^= Block::from_u128(0x5a << 64));
            }
        });
        let right = [(0, Bits::zeros(1)), (1, Bits::from_bytes(&[1], 1))];
        for end in &ends {
            match end {
                Ok(outputs) => assert!(outputs.iter().eq(&right)),
                Err(error) => assert!(error.check().is_none_or(|check| check == GARBLED_ROW), "{error}"),
            }
        }
        assert!(ends[entry].as_ref().is_err_and(|error| error.check() == Some(GARBLED_ROW)), "entry {entry}");
    }
}

/// What parties say on the shares, in order: all of it is checked before rows leave, and nothing after.
#[test]
fn masks_are_checked_before_rows_leave() {
    for xor in XORS {
        masks_are_checked(xor);
    }
}

fn masks_are_checked(xor: Xor) {
    let logs = Logs::default();
    let ends = run(3, xor, NO_LIE, &logs, |me, act, _| {
        if let GarblingAct::Shares(peer, _) = act
            && peer.0 == u16::from(me == 0)
        {
            logs[usize::from(me)].lock().unwrap().push("rows");
        }
    });
    assert!(ends.iter().all(Result::is_ok));
    let check = ["echo", "commitments", "echo", "coin", "commitments", "echo", "sigma"];
    let offsets = vec!["lowest bit of an offset"; if xor == Xor::Free { 3 } else { 0 }];
    let products = ["factors", "masks of outputs", "factors"];
    let all = [&offsets[..], &products, &check, &["rows"]].concat();
    for log in logs {
        assert_eq!(*log.lock().unwrap(), all);
    }
}

/// Stored shares in a field are masks, in a run or for a garbled program, to all or to some.
fn on_stored<const N: usize>(program: &Program, xor: &'static str, garbled: bool) {
    let mut rng = laws::rng(3);
    let inputs: Vec<Bits> = program.inputs().iter().map(|input| laws::bits(input.bits, &mut rng)).collect();
    let right: Vec<(usize, Bits)> = laws::clear(program, &inputs).into_iter().enumerate().collect();
    Net::<N>::run(|net| {
        let here = super::place(net, "stored field");
        let me = here.me;
        let mut options = Options::new(SpdzBmr.card());
        options.set(me, "xor", xor).unwrap();
        let (mut field, mut outputs, mut rng) = (Kept::new("field", []), Outputs::default(), laws::rng(me.0.into()));
        let mut party = Party { net, here, rng: &mut rng, observer: &mut outputs };
        let make = SpdzBmr.source(program, &options).unwrap();
        let ahead = Ahead { program: None, options: &options, make: &make, together: 1 };
        SpdzBmr.prepare(&mut party, &ahead, &mut Empty, &mut field).unwrap();
        let stored = field.batches.iter().map(|batch| batch.len() as u64).sum::<u64>();
        assert!(stored <= SpdzBmr.stored_bytes(&make, here.parties));
        let own = program.inputs().iter().zip(&inputs);
        let own: Vec<_> = own.map(|(input, value)| input.owner.includes(me).then(|| value.clone())).collect();
        if garbled {
            let mut kept = Kept::new("field garbled", []);
            let make = SpdzBmr.needs(program, &options, here.params).unwrap();
            let ahead = Ahead { program: Some(program), make: &make[0], ..ahead };
            SpdzBmr.prepare(&mut party, &ahead, &mut field, &mut kept).unwrap();
            assert!(kept.batches[0].len() as u64 <= make[0].bytes);
            assert!(SpdzBmr.prepare(&mut party, &ahead, &mut field, &mut kept).is_err(), "no share is left");
            SpdzBmr.run(&mut party, &Job { program, inputs: &own, options: &options }, &mut kept).unwrap();
        } else {
            options.set(me, "stored", "field").unwrap();
            assert_eq!(SpdzBmr.needs(program, &options, here.params).unwrap(), vec![make]);
            let job = Job { program, inputs: &own, options: &options };
            SpdzBmr.run(&mut party, &job, &mut field).unwrap();
            assert!(SpdzBmr.run(&mut party, &job, &mut field).is_err());
        }
        assert!(field.batches.is_empty() && field.notes().replace("()", "").is_empty() && !field.notes().is_empty());
        let learns = |index: usize| program.outputs()[index].to.includes(me);
        assert!(outputs.0.iter().eq(right.iter().filter(|(index, _)| learns(*index))));
    });
}

#[test]
fn stored_shares_in_a_field_are_masks() {
    let program = || Program::from_circuit(laws::chain_and_layer(6)).unwrap();
    let to_one = program().with_recipients(0, Recipients::only(1)).unwrap();
    on_stored::<2>(&program(), "free", false);
    for xor in ["free", "garbled"] {
        on_stored::<2>(&program(), xor, true);
        on_stored::<2>(&to_one, xor, false);
    }
}

/// Stored shares are counted for the parties that a program names: more are told so before any is taken.
#[test]
fn more_parties_than_were_counted_are_refused() {
    let program = Program::from_circuit(laws::chain_and_layer(2)).unwrap();
    Net::<3>::run(|net| {
        let here = super::place(net, "too many");
        let mut options = Options::new(SpdzBmr.card());
        options.set(here.me, "stored", "field").unwrap();
        let (mut outputs, mut rng) = (Outputs::default(), laws::rng(1));
        let own: Vec<_> =
            program.inputs().iter().map(|i| i.owner.includes(here.me).then(|| Bits::zeros(i.bits))).collect();
        let mut kept = Kept::new("field", [vec![0]]);
        let mut party = Party { net, here, rng: &mut rng, observer: &mut outputs };
        let ended = SpdzBmr.run(&mut party, &Job { program: &program, inputs: &own, options: &options }, &mut kept);
        assert!(
            ended.is_err_and(|error| error.to_string().contains("2 parties that the program names, and there are 3"))
        );
        assert_eq!(kept.batches.len(), 1);
    });
}

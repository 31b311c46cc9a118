//! Material made ahead: the same outputs, each batch once, the shelf told of each check, and bytes that are
//! no batch.

use std::collections::VecDeque;

use comity_circuit::{Program, Recipients};
use comity_core::Kind;
use comity_protocol::{Ahead, Dealer, Empty, Job, Options, Party, Protocol};
use comity_spdz::FieldSource;
use comity_spdz::stored::{FieldAmounts, FieldBatch, FieldsFromShelf};
use comity_testing::Kept;
use comity_testing::laws::{Outputs, chain_and_layer, clear};

use super::*;

const SMALL: FieldAmounts = FieldAmounts { parties: 3, triples: 5, shares: 4, masks: 16, elements: 2 };

/// A small batch of each of three parties.
fn batches() -> [Vec<u8>; 3] {
    batches_of(0)
}

/// The same, of other generators.
fn batches_of(seed: u128) -> [Vec<u8>; 3] {
    Net::<3>::run(|mesh| {
        let mut rng = rng(seed + u128::from(mesh.me().0));
        let dealer = FieldDealer::<Block>::setup(mesh, here(mesh), &mut rng).unwrap();
        let mut bytes = Vec::new();
        FieldBatch::make(&mut Fresh(dealer), mesh, &SMALL).unwrap().write(&mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, SMALL.bytes());
        bytes
    })
}

#[test]
fn a_batch_is_read_as_it_was_written() {
    for (me, bytes) in (0..).map(PartyId).zip(batches()) {
        let mut again = Vec::new();
        FieldBatch::read(&mut &bytes[..], me, &SMALL).unwrap().write(&mut again).unwrap();
        assert!(bytes == again);
        let refused = |bytes: &[u8], me: u16, amounts: &FieldAmounts| {
            let error = FieldBatch::read(&mut &*bytes, PartyId(me), amounts).err().expect("it is none");
            assert!(matches!(error.kind, Kind::Store(_)), "{error}");
        };
        refused(&bytes[..bytes.len() - 1], me.0, &SMALL);
        refused(&[&bytes[..], &[0]].concat(), me.0, &SMALL);
        refused(&bytes, (me.0 + 1) % 3, &SMALL);
        refused(&bytes, me.0, &FieldAmounts { parties: 4, ..SMALL });
        refused(&bytes, me.0, &FieldAmounts { triples: 6, ..SMALL });
        refused(&[b"other", &bytes[5..]].concat(), me.0, &SMALL);
        refused(&[], me.0, &SMALL);
    }
}

/// Prepares for two runs of a program and runs it so often, and once more.
#[test]
fn programs_run_on_stored_material_until_it_is_used_up() {
    let program = Program::from_circuit(chain_and_layer(20)).unwrap().with_recipients(0, Recipients::All).unwrap();
    let inputs: Vec<Bits> =
        program.inputs().iter().map(|input| comity_testing::laws::bits(input.bits, &mut rng(7))).collect();
    let expected = clear(&program, &inputs);
    let ends = Net::<2>::run(|net| {
        let (here, options) = (here(net), Options::new(Spdz.card()));
        let mut rng = rng(u128::from(here.me.0) + 1);
        let mut none = Outputs::default();
        let mut me = Party { net, here, rng: &mut rng, observer: &mut none };
        let need = Spdz.needs(&program, &options, here.params).unwrap().remove(0);
        let make = comity_protocol::Need { batches: 2 * need.batches, ..need.clone() };
        let ahead = Ahead { program: None, options: &options, make: &make, together: need.batches };
        let mut shelf = Kept::new("field", VecDeque::new());
        Spdz.prepare(&mut me.sub("ahead"), &ahead, &mut Empty, &mut shelf).unwrap();
        assert_eq!(shelf.batches.len() as u64, 2 * need.batches);
        let own: Vec<Option<Bits>> = program
            .inputs()
            .iter()
            .zip(&inputs)
            .map(|(input, value)| (input.owner.includes(here.me)).then(|| value.clone()))
            .collect();
        let job = Job { program: &program, inputs: &own, options: &options };
        let mut all = Vec::new();
        for run in 0..2 {
            let mut outputs = Outputs::default();
            let mut me =
                Party { net: me.net, here: here.child(&format!("run {run}")), rng: me.rng, observer: &mut outputs };
            Spdz.run(&mut me, &job, &mut shelf).unwrap();
            all.push(outputs.0);
        }
        assert!(shelf.notes().starts_with("()") && shelf.notes().len().is_multiple_of(2), "{}", shelf.notes());
        while shelf.batches.pop_front().is_some() {}
        assert!(Spdz.run(&mut me.sub("once more"), &job, &mut shelf).is_err());
        all
    });
    for outputs in ends.iter().flatten() {
        assert!(outputs.iter().any(|(index, value)| *index == 0 && *value == expected[0]));
    }
}

/// What a check has not passed is noted before it begins, and stays so.
#[test]
fn a_check_that_fails_is_noted_first() {
    let program = Program::from_circuit(chain_and_layer(4)).unwrap();
    let ends = Net::<2>::run(|net| {
        let (here, options) = (here(net), Options::new(Spdz.card()));
        let mut rng = rng(u128::from(here.me.0) + 1);
        let mut none = Outputs::default();
        let mut me = Party { net, here, rng: &mut rng, observer: &mut none };
        let need = Spdz.needs(&program, &options, here.params).unwrap().remove(0);
        let ahead = Ahead { program: None, options: &options, make: &need, together: 0 };
        let mut shelf = Kept::new("field", VecDeque::new());
        Spdz.prepare(&mut me.sub("ahead"), &ahead, &mut Empty, &mut shelf).unwrap();
        if here.me.0 == 1 {
            // A bit of the MAC of its first triple's first factor: behind the head and the key.
            shelf.batches[0][16 + 4 + 16 + 16] ^= 1;
        }
        let own: Vec<Option<Bits>> = program
            .inputs()
            .iter()
            .map(|input| input.owner.includes(here.me).then(|| Bits::zeros(input.bits)))
            .collect();
        let job = Job { program: &program, inputs: &own, options: &options };
        let ended = Spdz.run(&mut me.sub("run"), &job, &mut shelf);
        (ended.err().and_then(|error| error.check()), shelf.notes())
    });
    assert!(ends.iter().any(|(check, _)| *check == Some(comity_field_shares::checks::FALSE_MAC)));
    assert!(ends.iter().all(|(_, notes)| notes == "("), "{ends:?}");
}

/// What is drawn from a shelf across batches is each once, shared with its MAC, and one's own is what one
/// knows.
#[test]
fn what_is_drawn_is_there_once_and_is_right() {
    let ends = Net::<3>::run(|mesh| {
        let dealer = FieldDealer::<Block>::setup(mesh, here(mesh), &mut rng(u128::from(mesh.me().0))).unwrap();
        let mut fresh = Fresh(dealer);
        let batches = (0..2).map(|_| {
            let mut bytes = Vec::new();
            FieldBatch::make(&mut fresh, mesh, &SMALL).unwrap().write(&mut bytes).unwrap();
            bytes
        });
        let mut kept = Kept::new("field", batches.collect::<Vec<_>>());
        let mut shelf = FieldsFromShelf::new(&mut kept, mesh.me(), SMALL).unwrap();
        let key = shelf.key().element();
        // Of eight, 32 and four.
        let (mut bits, more) = (shelf.bits(mesh, 5, 15).unwrap(), shelf.bits(mesh, 3, 7).unwrap());
        bits.shared.extend_from_slice(&more.shared);
        bits.masks.iter_mut().zip(&more.masks).for_each(|(all, more)| all.extend_from_slice(more));
        bits.own.extend_from(&more.own);
        let (elements, own) = shelf.elements(mesh, 3).unwrap();
        let triples = [shelf.deal(mesh, 9).unwrap(), shelf.deal(mesh, 1).unwrap()].map(|some| some.to_vec()).concat();
        assert!(
            shelf.bits(mesh, 1, 0).is_err_and(|error| error.to_string().contains("no batch of field material is left"))
        );
        (key, bits, elements, own, triples)
    });
    let key = ends.iter().fold(Block::ZERO, |sum, end| sum ^ end.0);
    let mul = |a, b| comity_core::gf128::mul(Backend::detect(), a, b);
    let value = |shares: [SumShare<Block>; 3]| {
        let sum = shares.into_iter().fold(SumShare::ZERO, SumShare::plus);
        assert!(sum.mac == mul(key, sum.value), "a wrong MAC");
        sum.value
    };
    let of = |share: &dyn Fn(usize) -> SumShare<Block>| value([0, 1, 2].map(share));
    let mut seen = std::collections::HashSet::new();
    for i in 0..8 {
        assert!(of(&|party| ends[party].1.shared[i]).to_u128() < 2);
        assert!(seen.insert(ends[0].1.shared[i].value.to_u128()), "a bit twice");
    }
    for owner in 0..3 {
        for i in 0..22 {
            let bit = of(&|party| ends[party].1.masks[owner][i]);
            assert!(bit == Block::from_u128(ends[owner].1.own.get(i).into()));
            assert!(seen.insert(ends[0].1.masks[owner][i].value.to_u128()), "a bit twice");
        }
        for i in 0..3 {
            assert!(of(&|party| ends[party].2[owner][i]) == ends[owner].3[i]);
            assert!(seen.insert(ends[owner].3[i].to_u128()), "an element twice");
        }
    }
    for i in 0..10 {
        let [a, b, c] =
            [of(&|party| ends[party].4[i].a), of(&|party| ends[party].4[i].b), of(&|party| ends[party].4[i].c)];
        assert!(c == mul(a, b) && seen.insert(a.to_u128()));
    }
}

#[test]
fn batches_of_two_lots_do_not_mix() {
    let [a, b] = [batches(), batches_of(9)].map(|lots| lots[0].clone());
    Net::<3>::run(|mesh| {
        if mesh.me().0 == 0 {
            let mut kept = Kept::new("field", [a.clone(), b.clone()]);
            let mut shelf = FieldsFromShelf::new(&mut kept, mesh.me(), SMALL).unwrap();
            assert!(shelf.bits(mesh, 5, 0).is_err_and(|error| error.to_string().contains("not of one lot")));
        }
    });
}

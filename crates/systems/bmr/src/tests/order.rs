//! What leaves a party before which check has passed.

use core::cell::Cell;
use std::sync::Mutex;

use comity_core::{Check, PartyId};
use comity_protocol::Options;
use comity_share::Joint;
use comity_share::checks::{EQUIVOCATION, WRONG_MAC};
use comity_share::joint::JointAct;
use comity_testing::Net;
use comity_testing::laws::Outputs;

use super::cheats::spoil;
use super::dealing::{IdealDealer, Noted};
use super::*;
use crate::act::GarblingAct;
use crate::checks::GARBLED_ROW;
use crate::{Masks, StringMasks, run_as};

/// What a party of a program does, and the check that ends it.
fn party(
    net: &mut Mesh<'_>,
    program: &Program,
    does: impl FnOnce(&mut Party<'_, '_>, &Job<'_>) -> Result<()>,
) -> Result<(), Option<&'static Check>> {
    let (me, parties) = (net.me(), net.parties());
    let session = SessionId::derive("test", &[b"order"]);
    let here = Here::new(me, parties, session);
    let own =
        |input: &comity_circuit::Input| input.owner.includes(me).then(|| laws::bits(input.bits, &mut laws::rng(4)));
    let inputs: Vec<_> = program.inputs().iter().map(own).collect();
    let (mut outputs, options, mut rng) = (Outputs::default(), Options::new(&CARD), laws::rng(me.0.into()));
    let mut party = Party { net, here, rng: &mut rng, observer: &mut outputs };
    let job = Job { program, inputs: &inputs, options: &options };
    does(&mut party, &job).map_err(|error| error.check())
}

/// A program at a party, over these masks, in a run or ahead of it.
fn garble(
    net: &mut Mesh<'_>,
    program: &Program,
    masks: &mut dyn Masks,
    run: bool,
    mut watch: &mut dyn for<'a> FnMut(GarblingAct<'a>),
) -> Result<(), Option<&'static Check>> {
    let ground = Ground { masks, opener: Opener::Collector };
    party(net, program, |me, job| match run {
        true => run_as(me, ground, job, &mut watch),
        false => prepare_with(me, ground, program, &mut Vec::new(), &mut watch),
    })
}

fn ideal(net: &Mesh<'_>) -> Ideal {
    Ideal::new(SessionId::derive("test", &[b"ideal"]), net.me().0.into(), net.parties().into())
}

/// Rows of what is garbled ahead that one hears otherwise are noticed before they are kept.
#[test]
fn rows_are_kept_if_all_heard_the_same() {
    let program = Program::from_circuit(laws::chain_and_layer(4)).unwrap();
    let ends = Net::<3>::run(|net| {
        let (mut masks, liar) = (ideal(net), net.me() == PartyId(0));
        garble(net, &program, &mut masks, false, &mut |act: GarblingAct<'_>| {
            if let GarblingAct::Rows(PartyId(1), rows) = act
                && liar
            {
                spoil(rows, 0);
            }
        })
    });
    assert!(ends[1..].iter().all(|end| *end == Err(Some(EQUIVOCATION))), "{ends:?}");
}

/// On what was garbled ahead, public values that one hears otherwise are noticed before anything is evaluated.
#[test]
fn what_is_used_up_has_the_same_inputs_at_all() {
    let program = Program::from_circuit(laws::chain_and_layer(4)).unwrap();
    let ends = Net::<3>::run(|net| {
        let (mut masks, liar) = (ideal(net), net.me() == PartyId(0));
        party(net, &program, |me, job| {
            let (ground, mut kept) = (Ground { masks: &mut masks, opener: Opener::Balanced }, Vec::new());
            prepare_with(me, ground, &program, &mut kept, &mut Honest)?;
            use_up(me, &mut &kept[..], job, &mut |act: GarblingAct<'_>| {
                if let GarblingAct::Public(PartyId(1), bits) = act
                    && liar
                {
                    bits[0] ^= 1;
                }
            })
        })
    });
    assert!(ends[1..].iter().all(|end| *end == Err(Some(EQUIVOCATION))), "{ends:?}");
}

/// After the first chunk everybody has keys of the wires that go on. Who lies in the products of the next one
/// must not get its rows: they would open to values of another program, on the inputs of all, before the lie
/// is seen. What is garbled ahead has no keys.
#[test]
fn who_lies_in_a_later_chunk_gets_none_of_its_rows() {
    let program = laws::turns(1000, 50);
    assert!(program.and_gates() as usize > crate::chunk::CHUNK / 3);
    for (run, lies, caught, chunks) in
        [(true, false, Ok(()), 2), (true, true, Err(Some(WRONG_MAC)), 1), (false, true, Err(Some(WRONG_MAC)), 2)]
    {
        let ends = Net::<3>::run(|net| {
            let mut masks = ideal(net);
            // The first chunk has one opening: it has no outputs.
            masks.false_from = if lies && net.me() == PartyId(0) { 1 } else { usize::MAX };
            let mut shares = 0;
            let end = garble(net, &program, &mut masks, run, &mut |act: GarblingAct<'_>| {
                shares += usize::from(matches!(act, GarblingAct::Shares(PartyId(0), _)));
            });
            (end, shares)
        });
        assert!(ends[1..].iter().all(|end| *end == (caught, chunks)), "{run}: {ends:?}");
    }
}

/// Public values leave beside the openings of a run's products: nothing is shown then that would tell an
/// offset to who lies. Ahead of inputs it is, of the first chunk.
#[test]
fn nothing_is_shown_of_products_beside_public_values() {
    let program = Program::from_circuit(laws::chain_and_layer(4)).unwrap();
    for (run, shown) in [(true, 0), (false, 1)] {
        let counts = Net::<2>::run(|net| {
            let (me, parties) = (net.me(), net.parties());
            let session = SessionId::derive("test", &[b"shown"]);
            let here = Here::new(me, parties, session);
            let count = Mutex::new(0);
            let watch = |act: JointAct<'_>| *count.lock().unwrap() += usize::from(matches!(act, JointAct::Combined(_)));
            let joint = Joint::with(net, here.child("offsets"), &mut laws::rng(me.0.into()), watch).unwrap();
            // Global keys were compared so, before there was anything to mask.
            *count.lock().unwrap() = 0;
            let ideal = Ideal::new(session.child("bits"), me.0.into(), parties.into());
            let public = Cell::new(false);
            let end = garble(net, &program, &mut StringMasks::new(ideal, joint), run, &mut |act: GarblingAct<'_>| {
                public.set(public.get() || matches!(act, GarblingAct::Public(_, said) if !said.is_empty()));
            });
            assert!(end.is_ok() && public.get() == run);
            *count.lock().unwrap()
        });
        assert_eq!(counts, [shown; 2]);
    }
}

/// A key that is not one of a wire's two is an error under a global key, that of a whole lot. So evaluation
/// is a check of the lot, which begins before this party's keys leave, and has not passed if somebody lied.
#[test]
fn stored_shares_are_told_of_an_evaluation() {
    let program = Program::from_circuit(laws::chain_and_layer(4)).unwrap();
    for (lies, end, checks) in [(false, Ok(()), "()(kk)"), (true, Err(Some(GARBLED_ROW)), "()(kk")] {
        let ends = Net::<3>::run(|net| {
            let (me, parties) = (net.me(), net.parties());
            let here = Here::new(me, parties, SessionId::derive("test", &[b"told"]));
            let (noted, mut rng) = (Mutex::<Noted>::default(), laws::rng(me.0.into()));
            let dealer = Box::new(IdealDealer::new(here, &noted));
            let mut masks = TripleMasks::new(here, dealer, Planned::of(&program), &mut rng);
            let end = garble(net, &program, &mut masks, true, &mut |act: GarblingAct<'_>| match act {
                GarblingAct::Keys(..) => noted.lock().unwrap().checks.push('k'),
                GarblingAct::Shares(_, shares) if lies && me.0 == 2 => {
                    (0..shares.len() / Block::BYTES).for_each(|block| spoil(shares, block));
                }
                _ => {}
            });
            drop(masks);
            (end, noted.into_inner().unwrap().checks)
        });
        assert!(ends[..2].iter().all(|found| *found == (end, checks.to_owned())), "{ends:?}");
    }
}

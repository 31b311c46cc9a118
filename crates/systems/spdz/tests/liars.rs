//! Lies online and in the material, and the checks that see them before an output is known.

use comity_circuit::Recipients;
use comity_field_shares::FieldConduct;
use comity_field_shares::checks::{FALSE_MAC, MAC_OPENING, NOT_A_BIT};
use comity_share::checks::EQUIVOCATION;

use super::*;

/// Both of three parties' four bits, ANDed, to all, and a sum to one.
pub(crate) fn ands<C: FieldConduct<Block>>(
    machine: &mut FieldMachine<'_, Block, C>,
    mesh: &mut Mesh<'_>,
) -> Result<[Option<Bits>; 2]> {
    let me = mesh.me();
    let mut input = |machine: &mut FieldMachine<'_, Block, C>, owner: u16, value: u128| {
        machine.input(mesh, PartyId(owner), (me.0 == owner).then(|| bits(value, 4)).as_ref(), 4)
    };
    let (mut x, y) = (input(machine, 0, 0b1100)?, input(machine, 1, 0b1010)?);
    let sum: Vec<_> = x.iter().zip(&*y).map(|(x, y)| x.plus(*y)).collect();
    machine.products(mesh, &mut x, &y)?;
    let all = machine.reveal(mesh, Recipients::All, &x)?;
    Ok([all, machine.reveal(mesh, Recipients::only(0), &sum)?])
}

#[test]
fn values_by_hand() {
    for (me, ended) in run::<3, _>(|_| None, ands) {
        assert_eq!(ended.unwrap(), [Some(bits(0b1000, 4)), (me.0 == 0).then(|| bits(0b0110, 4))]);
    }
}

fn online(lie: fn() -> Liar) -> impl Fn(PartyId) -> Option<[Liar; 2]> + Sync {
    move |me| (me.0 == 1).then(|| [Liar::honest(), lie()])
}

#[test]
fn lies_online_end_the_run() {
    let held: [(&str, Lie); 3] = [
        ("a false factor", || Liar::holds("factors")),
        ("a false output", || Liar::holds("outputs")),
        ("a false part of a check", || Liar::holds("sigma")),
    ];
    for (what, lie) in held {
        ended_by(what, &run::<3, _>(online(lie), ands), FALSE_MAC);
        ended_by(what, &run::<2, _>(online(lie), ands), FALSE_MAC);
    }
    let said: [(&str, Lie); 3] = [
        ("other announced bits to one", || Liar::says("announced bits")),
        ("another factor to one", || Liar::says("factors")),
        ("another output to one", || Liar::says("outputs")),
    ];
    for (what, lie) in said {
        ended_by(what, &run::<3, _>(online(lie), ands), EQUIVOCATION);
    }
    ended_by("a false opening", &run::<3, _>(online(|| Liar::says("sigma")), ands), MAC_OPENING);
    let offline = |me: PartyId| (me.0 == 1).then(|| [Liar::holds("bits"), Liar::honest()]);
    ended_by("no bit", &run::<3, _>(offline, ands), NOT_A_BIT);
}

/// A false share of an output is seen before the output is given out, to all or to some.
#[test]
fn a_false_output_is_given_to_nobody() {
    for to in [Recipients::All, Recipients::only(0)] {
        let ends = run::<3, _>(online(|| Liar::holds("outputs")), |machine, mesh| {
            let random = machine.random_bits(mesh, 4)?;
            machine.reveal(mesh, to, &random)
        });
        ended_by("a false output", &ends, FALSE_MAC);
    }
}

/// After an error a machine refuses everything.
#[test]
fn a_machine_ends_with_an_error() {
    let ends = run::<2, _>(online(|| Liar::holds("factors")), |machine, mesh| {
        let ended = ands(machine, mesh);
        assert!(ended.is_err() && machine.random_bits(mesh, 1).is_err() && machine.prepare(mesh, 1).is_err());
        assert!(machine.reveal(mesh, Recipients::All, &[]).is_err());
        ended
    });
    ended_by("a false factor", &ends, FALSE_MAC);
}

/// Which checks of the shares these lies provoke.
pub(crate) fn provoked() -> Vec<&'static Check> {
    let offline = |me: PartyId| (me.0 == 1).then(|| [Liar::holds("bits"), Liar::honest()]);
    [
        named(&run::<3, _>(online(|| Liar::holds("factors")), ands)),
        named(&run::<3, _>(online(|| Liar::says("sigma")), ands)),
        named(&run::<3, _>(offline, ands)),
    ]
    .concat()
}

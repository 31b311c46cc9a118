//! Values that go out of one run in shares, and into another one: under the same protocol or another, at another time.

use std::thread;

use comity::{Bits, Error, Kind, Owner, Program, Recipients, Report, Result, Session, ValueShare, compile};
use comity_channel::memory_mesh;
use comity_testing::PATIENCE;

/// Runs a program among `parties` parties, where `side` sets up each one's session and inputs.
fn among<'a>(
    parties: u16,
    program: &Program,
    protocol: &str,
    side: impl Fn(Session<'a>, u16) -> (Session<'a>, Vec<(usize, Bits)>) + Sync,
) -> Vec<Result<Report>> {
    let side = &side;
    thread::scope(|scope| {
        let sides = memory_mesh(parties, Some(PATIENCE)).into_iter().map(|links| {
            scope.spawn(move || {
                let me = links.me().0;
                let (session, inputs) = side(Session::new(me).protocol(protocol).among(links), me);
                session.run(program, inputs)
            })
        });
        let sides: Vec<_> = sides.collect();
        sides.into_iter().map(|side| side.join().unwrap()).collect()
    })
}

fn number(value: u32) -> Bits {
    Bits::from_bytes(&value.to_le_bytes(), 32)
}

/// `x + y`, and `x`; both stay shared, and the constant 7, too.
fn first() -> Program {
    let text = "fn main(x: u32 from 0, y: u32 from 1) -> (sum: u32, x: u32, seven: u32) { (x + y, x, 7) }";
    let program = compile("first.cty", text).unwrap();
    (0..3).fold(program, |program, output| program.with_recipients(output, Recipients::Shared).unwrap())
}

/// The product of a value in shares and one of party 1's.
fn second() -> Program {
    let text = "fn main(s: u32 from 0, z: u32 from 1) -> (product: u32, s: u32) { (s * z, s) }";
    compile("second.cty", text).unwrap().with_owner(0, Owner::Shared).unwrap()
}

/// What each party has of 40 + 2, of 40 and of 7.
fn shared(parties: u16, protocol: &str) -> Vec<Vec<ValueShare>> {
    let reports = among(parties, &first(), protocol, |session, me| {
        (session, if me < 2 { vec![(usize::from(me), number([40, 2][usize::from(me)]))] } else { vec![] })
    });
    let shares = |report: Result<Report>| {
        let report = report.unwrap();
        assert!(report.outputs.is_empty());
        assert_eq!(report.shares.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [0, 1, 2]);
        report.shares.into_iter().map(|(_, share)| share).collect()
    };
    reports.into_iter().map(shares).collect()
}

/// Runs the second program on these shares.
fn used(
    shares: &[Vec<ValueShare>],
    which: impl Fn(usize) -> usize + Sync,
    protocol: &str,
    all_the_same: bool,
) -> Vec<Result<Report>> {
    among(shares.len() as u16, &second(), protocol, |session, me| {
        let own = shares[usize::from(me)][which(usize::from(me))].clone();
        (
            session.share(0, own).unauthenticated_shares(all_the_same),
            if me == 1 { vec![(1, number(1000))] } else { vec![] },
        )
    })
}

#[test]
fn shares_of_one_protocol_are_another_ones_inputs() {
    let cases = [
        (2, "gmw", "yao"),
        (2, "yao", "gmw"),
        (2, "gmw", "ag"),
        (3, "gmw", "gmw"),
        (3, "gmw", "bmr"),
        (2, "tinyot", "gmw"),
        (3, "bmr", "gmw"),
        (5, "gmw", "gmw"),
    ];
    for (parties, from, to) in cases {
        let shares = shared(parties, from);
        for output in 0..3 {
            let mut sum = Bits::zeros(32);
            for (me, own) in (0..parties).zip(&shares) {
                let share = &own[output];
                assert_eq!((share.party.0, share.parties, &*share.ty), (me, parties, "u32"));
                assert!(share.tag == shares[0][output].tag && share.tag != shares[0][(output + 1) % 3].tag);
                assert!(share.share != number([42, 40, 7][output]), "one share is not the value");
                sum.xor_assign(&share.share);
            }
            assert_eq!(sum, number([42, 40, 7][output]));
        }
        for report in used(&shares, |_| 0, to, true) {
            let report = report.unwrap();
            assert_eq!(report.outputs, [(0, number(42_000)), (1, number(42))], "{from} to {to} among {parties}");
            let unseen: &[usize] = if ["gmw", "yao"].contains(&to) { &[] } else { &[0] };
            assert_eq!(report.unauthenticated, unseen);
        }
    }
}

/// One share alone is uniform, also of what its holder put in, and of constants.
#[test]
fn a_share_is_as_likely_one_as_the_other() {
    for (parties, protocol) in [(2, "gmw"), (3, "gmw"), (2, "yao")] {
        let text = "fn main(x: [u64; 64] from 0, y: u8 from 1) -> (x: [u64; 64], none: [u64; 64]) { (x, [0; 64]) }";
        let program = compile("through.cty", text).unwrap();
        let program = (0..2).fold(program, |p, output| p.with_recipients(output, Recipients::Shared).unwrap());
        let reports = among(parties, &program, protocol, |session, me| {
            let inputs = [(0, Bits::zeros(4096)), (1, Bits::zeros(8))];
            (session, inputs.into_iter().filter(|(of, _)| *of == usize::from(me)).collect())
        });
        for report in reports {
            for (index, share) in report.unwrap().shares {
                let ones = share.share.iter().filter(|&bit| bit).count();
                assert!((1800..2300).contains(&ones), "{protocol}, output {index}: {ones} ones");
            }
        }
    }
}

#[test]
fn shares_that_do_not_belong_together_are_told_in_words() {
    let shares = shared(3, "gmw");
    // Party 2 brings its share of another value, and then one of the same value of another run.
    let other_run: Vec<Vec<ValueShare>> =
        [shares[0].clone(), shares[1].clone(), shared(3, "gmw").remove(2)].into_iter().collect();
    for reports in [used(&shares, |me| usize::from(me == 2), "gmw", false), used(&other_run, |_| 0, "gmw", false)] {
        for report in reports {
            match report.map(drop) {
                Err(Error { kind: Kind::Mismatch { field, ours, theirs }, .. }) => {
                    assert!(field.contains("do not belong together") && ours.starts_with("0:"), "{field}, {ours}");
                    assert!(ours.contains("digest") && ours != theirs);
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[track_caller]
fn refused(session: Session<'_>, program: &Program, inputs: &[(usize, Bits)], words: &str) {
    match session.run(program, inputs.iter().cloned()).map(drop) {
        Err(Error { kind: Kind::InvalidInput(why), .. }) => assert!(why.contains(words), "`{words}` is not in: {why}"),
        other => panic!("{words}: {other:?}"),
    }
}

#[test]
fn what_is_no_share_of_this_party_is_refused_before_anybody_hears_of_it() {
    let shares = shared(2, "gmw");
    let own = || shares[0][0].clone();
    let alone = || Session::new(0).protocol("gmw").over(comity::memory::pair().0);
    let program = second();
    refused(alone(), &program, &[], "this party's is missing");
    refused(alone(), &program, &[(0, number(42))], "and a plain value is given");
    refused(alone().share(0, own()).share(0, own()), &program, &[], "given twice");
    refused(alone().share(1, own()).share(0, own()), &program, &[], "`z`) belongs to one party, and a share is given");
    refused(alone().share(0, own()).share(2, own()), &program, &[], "no input 2");
    refused(
        alone().share(0, shares[1][0].clone()),
        &program,
        &[],
        "the share belongs to party 1 of 2, and this side is party 0 of 2",
    );
    let three = ValueShare { parties: 3, ..own() };
    refused(alone().share(0, three), &program, &[], "the share belongs to party 0 of 3");
    let signed = ValueShare { ty: "i32".into(), ..own() };
    refused(alone().share(0, signed), &program, &[], "has the type u32 (32 bits), and the share is of i32");
    let long = ValueShare { share: Bits::zeros(33), ..own() };
    refused(alone().share(0, long), &program, &[], "(33 bits)");
    for protocol in ["cutchoose", "tinyot", "ag", "bmr"] {
        let words = format!("no MACs: even under {protocol} a party could flip bits");
        refused(alone().protocol(protocol).share(0, own()), &program, &[], &words);
    }
}

/// A party that thinks that a value comes in shared meets none that thinks that it is one party's.
#[test]
fn all_have_to_mean_the_same_values() {
    let shares = shared(2, "gmw");
    let [whole, part] = [second().with_owner(0, 0).unwrap(), second()];
    let (a, b) = comity::memory::pair_with_timeout(PATIENCE);
    let (one, other) = thread::scope(|scope| {
        let one = scope.spawn(|| Session::new(0).protocol("gmw").over(a).run(&whole, [(0, number(1))]));
        let own = shares[1][0].clone();
        let other = Session::new(1).protocol("gmw").over(b).share(0, own).run(&part, [(1, number(1))]);
        (one.join().unwrap(), other)
    });
    for end in [one, other] {
        assert!(matches!(end, Err(Error { kind: Kind::Mismatch { field: "owners of the inputs", .. }, .. })));
    }
}

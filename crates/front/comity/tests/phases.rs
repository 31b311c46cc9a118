//! The three phases of `bmr`: shares for any program, a program garbled on them, and the run.

use comity::{Bits, Program, Report, Result, library};
use comity_bmr::Bmr;

use crate::stores::{Stores, Told};

fn shares(stores: &Stores, units: u64) {
    for (made, _) in stores.all(|session, _, told| session.prepare_any(units, 1 << 30, told)) {
        assert_eq!(made.unwrap().unit, "AND gates");
    }
}

fn garbled(stores: &Stores, program: &Program, runs: u64) -> Vec<Told> {
    let made = stores.all(|session, _, told| session.prepare(program, runs, 1 << 30, told));
    made.into_iter()
        .map(|(made, told)| {
            assert_eq!(made.unwrap().count, runs);
            told
        })
        .collect()
}

fn run(stores: &Stores, program: &Program) -> Vec<Result<Report>> {
    let input = |me: u16| (me < 2).then(|| (usize::from(me), number([40, 2][usize::from(me)])));
    stores.all(|session, me, told| session.run_watched(program, input(me), told)).into_iter().map(|end| end.0).collect()
}

fn number(value: u8) -> Bits {
    Bits::from_bytes(&[value], 8)
}

/// A garbled program takes the shares that a run on them would, and where they are too few it is said so and made anew.
#[test]
fn programs_are_garbled_on_stored_shares() {
    for parties in [2, 3] {
        let stores = Stores::new("phases", parties, &Bmr);
        let program = library::program("add8").unwrap();
        let all = |left: u32| vec![left; usize::from(parties)];
        shares(&stores, 2 << 13);
        assert_eq!(stores.left("shares"), all(2));
        // Two on what is there, and a third, for which nothing is left.
        for told in garbled(&stores, &program, 3) {
            let taken: Vec<_> = told.taken.iter().map(|taken| (taken.material, taken.need, taken.left)).collect();
            assert_eq!(taken, [("shares", 8192, 8192), ("shares", 8192, 0)]);
            assert!(told.anew.is_empty(), "there is nothing to tell: {:?}", told.anew);
        }
        assert_eq!((stores.left("shares"), stores.left("garbled")), (all(0), all(3)));
        for left in [2, 1, 0] {
            for report in run(&stores, &program) {
                assert_eq!(report.unwrap().outputs, [(0, number(42))]);
            }
            assert_eq!(stores.left("garbled"), all(left));
        }
        for end in run(&stores, &program) {
            assert!(end.unwrap_err().to_string().contains("no party has a lot of garbled for `add8`"));
        }
    }
}

#[test]
fn shares_that_are_too_few_are_told_in_words_and_stay() {
    let stores = Stores::new("too-few", 2, &Bmr);
    let program = library::program("sha256").unwrap();
    shares(&stores, 1 << 13);
    for told in garbled(&stores, &program, 1) {
        assert!(told.taken.is_empty());
        let [why] = &told.anew[..] else { panic!("{:?}", told.anew) };
        assert!(why.contains("this run takes 3 batches") && why.contains("all parties have at most 1"), "{why}");
        assert!(why.contains("`comity prepare --protocol bmr --count 24576`"), "{why}");
    }
    assert_eq!((stores.left("shares"), stores.left("garbled")), (vec![1, 1], vec![1, 1]));
}

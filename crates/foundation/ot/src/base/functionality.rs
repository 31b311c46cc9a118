//! Every base OT against the ideal functionality.

use comity_core::SessionId;
use comity_testing::ot::{Choices, RandomOt, SIZES, holds};

use super::{BaseOt, Csw, Pvw, Simplest};
use crate::softspoken::tests::rng;

const SESSION: SessionId = SessionId::new([0x62; 32]);

/// Numbers of OTs, the largest one smaller than for extensions: these cost group operations.
const NUMBERS: [usize; 6] = [SIZES[0], SIZES[1], SIZES[2], SIZES[3], SIZES[4], 1027];

fn base<B: BaseOt>(name: &str, sizes: &[usize]) {
    holds(
        name,
        RandomOt(Choices::Given),
        sizes,
        |ch, sizes| {
            let run = |(&n, i): (&usize, u128)| {
                let session = SESSION.child(&i.to_string());
                Ok(B::send(ch, &session, n, &mut rng(i))?.pairs().to_vec())
            };
            sizes.iter().zip(0..).map(run).collect()
        },
        |ch, choices| {
            let run = |(choices, i): (_, u128)| {
                let session = SESSION.child(&i.to_string());
                let seeds = B::receive(ch, &session, choices, &mut rng(i + 100))?;
                Ok((seeds.choices().clone(), seeds.chosen().to_vec()))
            };
            choices.iter().zip(0..).map(run).collect()
        },
    );
}

#[test]
fn simplest_is_endemic_random_ot() {
    base::<Simplest>("simplest", &NUMBERS);
}

#[test]
fn csw_is_endemic_random_ot() {
    base::<Csw>("CSW", &NUMBERS);
}

#[test]
fn pvw_is_endemic_random_ot() {
    base::<Pvw>("PVW", &NUMBERS);
}

#[test]
#[ignore = "some seconds of group operations: make test-long"]
fn many_base_ots_are_no_different() {
    base::<Simplest>("simplest", &SIZES[5..]);
    base::<Csw>("CSW", &SIZES[5..]);
    base::<Pvw>("PVW", &SIZES[5..]);
}

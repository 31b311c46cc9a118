//! GMW with a token: what every protocol must do, each cheat by its name, seeds that are drawn and never come
//! twice, bytes by phase.

mod bytes;
mod cheats;
mod seeds;

use comity_channel::Mesh;
use comity_core::{Backend, Prg, SessionId};
use comity_protocol::{Here, Party};
use comity_testing::laws::{Laws, Outputs, rng};
use comity_testing::{Net, laws};

use crate::keys::TokenKeys;
use crate::{GmwToken, checks};

/// A token in party 0's memory, which the others take as it is.
const TRIAL: &[(&str, &str)] = &[("token", "memory"), ("token-key", "any")];

// Of a broken run among two nothing is felt where the flipped bit of a share changes no output: a flip of a
// seed or a key always is.
laws!(
    GmwToken,
    Laws { options: TRIAL, checks: Some((checks::ALL, cheats::all)), wire: WIRE, programs: 6, felt: 75, ..Laws::USUAL }
);

/// What is said among two, and among three.
const WIRE: &[&str] = &["1f0e5cd37d06e0f1c3f61443d38af995", "c4291eb7ef24fcb210068ea5ccb2e637"];

/// The keys of a token that follow from a number.
fn keys(number: u128) -> TokenKeys {
    TokenKeys::new(&TokenKeys::draw(&mut rng(number)))
}

fn session(number: u8) -> SessionId {
    SessionId::derive("test of the token", &[&[number]])
}

fn backend() -> Backend {
    Backend::detect()
}

/// Runs `N` parties as the protocol sees them.
fn parties<const N: usize, T: Send>(run: impl Fn(&mut Party<'_, '_>) -> T + Sync) -> [T; N] {
    Net::<N>::run(|net: &mut Mesh<'_>| {
        let (me, parties) = (net.me(), net.parties());
        let here = Here::new(me, parties, session(0));
        let (mut rng, mut outputs): (Prg, _) = (rng(u128::from(me.0) + 1), Outputs::default());
        run(&mut Party { net, here, rng: &mut rng, observer: &mut outputs })
    })
}

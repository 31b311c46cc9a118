//! A common random string that no party can choose: the sum of a seed of each, said at the same time
//! ([simultaneous broadcast](crate::simultaneous)).
//!
//! Whoever would rather not see the result can stop; it cannot try again in the same session. What the string
//! decides is fixed before the first message: a party opens its seed only after it has received all of that,
//! too.

use comity_channel::Mesh;
use comity_core::{Result, SessionId, declassify_all};
use comity_protocol::{Conduct, Honest};
use rand_core::CryptoRng;

use crate::checks;
use crate::joint::JointAct;
use crate::simultaneous::say_string;

/// 256 random bits, the same for all parties. `session` is used for one string.
///
/// # Errors
/// [`COIN_OPENING`](checks::COIN_OPENING) by a party that opens another seed than it committed to;
/// [`EQUIVOCATION`](checks::EQUIVOCATION), which names no party, if some party told different commitments to
/// different parties; those of the channels.
pub fn coin(mesh: &mut Mesh<'_>, session: SessionId, rng: &mut (impl CryptoRng + ?Sized)) -> Result<[u8; 32]> {
    coin_with(mesh, session, rng, &mut Honest)
}

/// As [`coin`], for a party that may not be honest.
///
/// # Errors
/// As [`coin`].
pub fn coin_with(
    mesh: &mut Mesh<'_>,
    session: SessionId,
    rng: &mut (impl CryptoRng + ?Sized),
    conduct: &mut impl for<'a> Conduct<JointAct<'a>>,
) -> Result<[u8; 32]> {
    let mut coin = [0; 32];
    rng.fill_bytes(&mut coin);
    let seeds = say_string(mesh, session, ("coin", checks::COIN_OPENING), &coin, rng, conduct)?;
    for (_, seed) in seeds.iter() {
        coin.iter_mut().zip(seed).for_each(|(coin, byte)| *coin ^= byte);
    }
    declassify_all(&mut coin, "all seeds were opened");
    Ok(coin)
}

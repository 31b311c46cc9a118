//! The local linear code: every output is a leaf plus ten elements of the secret, five at public random
//! places of either half.
//!
//! **Why halves.** Look-ups take most of the time of silent OT, and one takes half as long again where the
//! table does not fit the second-level cache. Half of it does: so outputs get the elements of one half first,
//! many outputs in a row, and then those of the other. A place takes 16 bits. No known attack gains by it
//! ([`Parameters`](super::Parameters)).
//!
//! **Cost**: 1.25 AES blocks an output for the places, and ten look-ups in 1 MiB, which take most of the time.

use comity_channel::Channel;
use comity_core::{Backend, Block, HugeTable, Prg, Result, SessionId, declassify};
use rand_core::CryptoRng;

use super::parameters::ROW;

/// Parts of the secret.
pub(super) const HALVES: usize = 2;

/// Outputs whose places are drawn together: as many as fill the widest steps of AES, and stay in the first-level cache.
const DRAWN: usize = 256;

/// Draws and sends a nonce, and gives the session that codes follow from. The side whose noise the code hides
/// does this: otherwise its peer could search for a weak code, for instance among the ids that a session may
/// get.
///
/// # Errors
/// Those of the channel.
pub fn tell_nonce(ch: &mut dyn Channel, session: &SessionId, rng: &mut dyn CryptoRng) -> Result<SessionId> {
    let nonce = declassify(Block::random(rng), "the peer is told the nonce");
    ch.send(&nonce.to_bytes())?;
    ch.flush()?;
    Ok(with_nonce(session, nonce))
}

/// Receives the nonce of [`tell_nonce`], and gives the same session.
///
/// # Errors
/// Those of the channel.
pub fn hear_nonce(ch: &mut dyn Channel, session: &SessionId) -> Result<SessionId> {
    let mut nonce = [0; Block::BYTES];
    ch.recv(&mut nonce)?;
    Ok(with_nonce(session, Block::new(nonce)))
}

fn with_nonce(session: &SessionId, nonce: Block) -> SessionId {
    SessionId::derive(
        "comity LPN codes: session and the nonce of whose noise they hide v1",
        &[&session.to_bytes(), &nonce.to_bytes()],
    )
}

/// The rows of an iteration's matrix, in order.
pub(super) struct Code {
    backend: Backend,
    /// The places in either half.
    places: [Prg; HALVES],
    numbers: [[u16; ROW / HALVES]; DRAWN],
}

impl Code {
    /// The matrix of an iteration of a session.
    pub(super) fn new(backend: Backend, session: &SessionId, iteration: u64) -> Code {
        let places = [0, 1].map(|half| {
            Prg::new(backend, session.block(&format!("half {half} of the matrix of iteration {iteration}")))
        });
        Code { backend, places, numbers: [[0; ROW / HALVES]; DRAWN] }
    }

    /// Adds the elements of one half to the next outputs.
    pub(super) fn add(&mut self, half: usize, secret: &HugeTable, out: &mut [Block]) {
        let size = secret.len() / HALVES;
        for out in out.chunks_mut(DRAWN) {
            let numbers = &mut self.numbers[..out.len()];
            self.places[half].fill_shorts(numbers.as_flattened_mut());
            secret.add_gathered(self.backend, half * size..(half + 1) * size, numbers, out);
        }
    }
}

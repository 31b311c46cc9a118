//! The operating system's randomness.

use std::convert::Infallible;

use rand_core::{TryCryptoRng, TryRng};

/// The operating system's random generator. Every request is a system call: it is for keys, seeds and nonces.
///
/// # Panics
///
/// If the system has no randomness: there is no safe way to go on.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRng;

impl TryRng for SystemRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        getrandom::fill(bytes).expect("the operating system gives no random bytes");
        Ok(())
    }
}

impl TryCryptoRng for SystemRng {}

//! What is secret of a party, marked: its randomness and its inputs. What it sends is public.

use std::convert::Infallible;

use comity_channel::{Channel, RecvHalf, Result, SendHalf};
use comity_core::{Backend, Bits, Block, Prg, classify, declassify_all};
use rand_core::{Rng, TryCryptoRng, TryRng};

/// The backend of every case: the one whose instructions Valgrind knows.
pub(crate) fn backend() -> Backend {
    Backend::named("aesni").expect("Valgrind's machine has AES instructions and AVX2")
}

/// A generator all of whose output is secret.
pub(crate) struct SecretRng(Prg);

impl SecretRng {
    /// The generator of this seed, which differs from party to party.
    pub(crate) fn new(seed: u128) -> SecretRng {
        SecretRng(Prg::new(backend(), Block::from_u128(seed)))
    }
}

impl TryRng for SecretRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> std::result::Result<u32, Infallible> {
        let mut number = [self.0.next_u32()];
        classify(&mut number);
        Ok(number[0])
    }

    fn try_next_u64(&mut self) -> std::result::Result<u64, Infallible> {
        let mut number = [self.0.next_u64()];
        classify(&mut number);
        Ok(number[0])
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> std::result::Result<(), Infallible> {
        self.0.fill(out);
        classify(out);
        Ok(())
    }
}

impl TryCryptoRng for SecretRng {}

/// Secret bits.
pub(crate) fn bits(len: usize) -> Bits {
    let mut words = vec![0x5a96_3c71_e8d2_0fb4; len.div_ceil(64)];
    classify(&mut words);
    Bits::from_words(words, len)
}

/// A channel on which whatever is sent is public from then on.
pub(crate) struct Wire<C>(pub(crate) C);

fn public(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    declassify_all(&mut bytes, "the peer sees what is sent");
    bytes
}

impl<C: Channel> Channel for Wire<C> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.send(&public(bytes))
    }

    fn recv(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.0.recv(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.0.flush()
    }

    fn post(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.post(&public(bytes))
    }

    fn split(&mut self) -> (Box<dyn SendHalf + '_>, Box<dyn RecvHalf + '_>) {
        let (send, recv) = self.0.split();
        (Box::new(WireHalf(send)), recv)
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<()> {
        self.0.exchange(&public(out), into)
    }

    fn fork(&mut self, label: &str) -> Result<Box<dyn Channel>> {
        Ok(Box::new(Wire(self.0.fork(label)?)))
    }
}

struct WireHalf<'a>(Box<dyn SendHalf + 'a>);

impl SendHalf for WireHalf<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.send(&public(bytes))
    }

    fn flush(&mut self) -> Result<()> {
        self.0.flush()
    }
}

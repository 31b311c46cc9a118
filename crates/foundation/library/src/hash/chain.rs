//! Chained hashes: a compression function takes one block after another into a chaining value.

use comity_circuit::{Builder, Circuit, Goal, Program, ProgramBuilder, Recipients, Register, Wire};

use super::{block, bytes, finish, md5, rest};
use crate::{arith, sha};

/// A chained hash of the family of MD5.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    /// The bytes of a block.
    pub(super) block: usize,
    /// The bits of a chaining value, which is the digest.
    pub(super) state: usize,
    /// The bytes of the message's length at the end of the padding.
    length: usize,
    /// Whether the length's first byte is its least significant.
    little_endian: bool,
    initial: fn() -> Vec<Wire>,
    compress: fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>,
}

/// The start of a hash.
#[derive(Clone, Copy)]
pub(super) enum Start {
    /// The initial chaining value.
    Initial,
    /// The chaining value in this register, after this number of bytes.
    State(Register, usize),
}

/// The wires of a chaining value of words of `bits` bits.
fn words(state: &[u64], bits: usize) -> Vec<Wire> {
    state.iter().rev().flat_map(|&word| arith::constant(word.into(), bits)).collect()
}

impl Chain {
    /// MD5 (RFC 1321).
    pub const MD5: Chain = Chain {
        block: 64,
        state: 128,
        length: 8,
        little_endian: true,
        initial: || bytes(&md5::MD5_INITIAL),
        compress: md5::md5,
    };
    /// SHA-1 (FIPS 180-4).
    pub const SHA1: Chain = Chain {
        block: 64,
        state: 160,
        length: 8,
        little_endian: false,
        initial: || words(&sha::SHA1_INITIAL.map(u64::from), 32),
        compress: sha::sha1,
    };
    /// SHA-256 (FIPS 180-4).
    pub const SHA256: Chain = Chain {
        block: 64,
        state: 256,
        length: 8,
        little_endian: false,
        initial: || words(&sha::SHA256_INITIAL.map(u64::from), 32),
        compress: sha::sha256,
    };
    /// SHA-512 (FIPS 180-4).
    pub const SHA512: Chain = Chain {
        block: 128,
        state: 512,
        length: 16,
        little_endian: false,
        initial: || words(&sha::SHA512_INITIAL, 64),
        compress: sha::sha512,
    };

    /// The bits of a digest.
    pub fn digest_bits(&self) -> usize {
        self.state
    }

    /// The initial chaining value.
    pub fn initial(&self) -> Vec<Wire> {
        (self.initial)()
    }

    /// The compression of a block into a chaining value.
    ///
    /// # Panics
    /// If an input has another length.
    pub fn compress(&self, b: &mut Builder, block: &[Wire], state: &[Wire]) -> Vec<Wire> {
        b.quiet(|b| (self.compress)(b, block, state))
    }

    /// The digest of a message.
    ///
    /// # Panics
    /// If the message is not of whole bytes.
    pub fn digest(&self, b: &mut Builder, message: &[Wire]) -> Vec<Wire> {
        self.close(b, &self.initial(), message, 0)
    }

    /// The digest of a message of `bytes` bytes, as a program: each whole block is one call, and the rest
    /// with the padding another, in the form for a goal. The message belongs to party 0.
    pub fn program(&self, goal: Goal, bytes: usize) -> Program {
        let mut p = ProgramBuilder::for_goal("hash", goal);
        let message = p.input("message", 0, 8 * bytes as u64);
        let digest = self.steps(&mut p, Start::Initial, message);
        p.reveal("digest", Recipients::All, digest);
        finish(p)
    }

    /// The chaining value after whole blocks.
    fn absorb(&self, b: &mut Builder, state: &[Wire], blocks: &[Wire]) -> Vec<Wire> {
        blocks.rchunks(8 * self.block).fold(state.to_vec(), |state, block| self.compress(b, block, &state))
    }

    /// The digest from the last bytes of a message and its padding; `before` bytes came before.
    pub(super) fn close(&self, b: &mut Builder, state: &[Wire], last: &[Wire], before: usize) -> Vec<Wire> {
        assert!(last.len().is_multiple_of(8), "a message has whole bytes");
        let padding = self.padding(before + last.len() / 8);
        self.absorb(b, state, &[&bytes(&padding), last].concat())
    }

    /// The padding: a one, zeros to the end of a block, and the length in bits as its last bytes.
    fn padding(&self, bytes: usize) -> Vec<u8> {
        let mut padding = vec![0x80];
        while !(bytes + padding.len() + self.length).is_multiple_of(self.block) {
            padding.push(0);
        }
        let mut length = (8 * bytes as u128).to_le_bytes()[..self.length].to_vec();
        if !self.little_endian {
            length.reverse();
        }
        [padding, length].concat()
    }

    /// The register of a message's digest, after the steps that hash it.
    pub(super) fn steps(&self, p: &mut ProgramBuilder, start: Start, message: Register) -> Register {
        let (bits, size) = (8 * self.block, self.block);
        let (mut blocks, last) = (message.bits() / bits as u64, rest(message, size));
        let bytes = message.bits() as usize / 8;
        let state = p.register(self.state as u64);
        let (mut known, before) = match start {
            Start::Initial => (None, bytes - last.bits() as usize / 8),
            Start::State(from, before) => (Some(from), before + bytes - last.bits() as usize / 8),
        };
        let mut next = 0;
        if blocks > 0 && known.is_none() {
            let first =
                p.circuit(self.circuit(p.builder(), &["block"], &[bits], |b, v| self.absorb(b, &self.initial(), v[0])));
            p.call(first, &[block(message, 0, size).span()], &[state.span()]);
            (known, next, blocks) = (Some(state), 1, blocks - 1);
        }
        if blocks > 0 {
            let circuit =
                self.circuit(p.builder(), &["block", "state"], &[bits, self.state], |b, v| self.absorb(b, v[1], v[0]));
            let circuit = p.circuit(circuit);
            if let Some(from) = known.filter(|&from| from != state) {
                p.call(circuit, &[block(message, next, size).span(), from.span()], &[state.span()]);
                (known, next, blocks) = (Some(state), next + 1, blocks - 1);
            }
            if blocks > 0 {
                p.repeat(blocks, |p, turn| {
                    let block = block(message, next, size).span().moving(turn, -(bits as i64));
                    p.call(circuit, &[block, state.span()], &[state.span()]);
                });
            }
        }
        let tail = last.bits() as usize;
        let values = [tail, self.state];
        let digest = p.register(self.state as u64);
        let (circuit, args) = match known {
            Some(from) => (
                self.circuit(p.builder(), &["last", "state"], &values, |b, v| self.close(b, v[1], v[0], before)),
                vec![last.span(), from.span()],
            ),
            None => (
                self.circuit(p.builder(), &["last"], &values[..1], |b, v| self.close(b, &self.initial(), v[0], before)),
                vec![last.span()],
            ),
        };
        let circuit = p.circuit(circuit);
        p.call(circuit, &args, &[digest.span()]);
        digest
    }

    /// A circuit from values of these widths to a chaining value.
    fn circuit(
        &self,
        mut b: Builder,
        names: &[&str],
        widths: &[usize],
        build: impl FnOnce(&mut Builder, &[&[Wire]]) -> Vec<Wire>,
    ) -> Circuit {
        let inputs: Vec<Vec<Wire>> = names.iter().zip(widths).map(|(name, &bits)| b.input(name, bits)).collect();
        let inputs: Vec<&[Wire]> = inputs.iter().map(Vec::as_slice).collect();
        let state = build(&mut b, &inputs);
        b.output("state", &state);
        b.finish()
    }
}

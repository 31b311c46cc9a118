//! Sponges over Keccak-f[1600] (FIPS 202).

use comity_circuit::{Builder, Goal, Program, ProgramBuilder, Recipients, Wire};

use super::{block, bytes, finish, rest};
use crate::arith::xor;
use crate::sha::keccak_f;

/// The bits of the state.
const STATE: usize = 1600;

/// SHA-3 or SHAKE. 38,400 ANDs for each block of the message with its padding, and for each further block of output.
#[derive(Clone, Copy, Debug)]
pub struct Sponge {
    /// The bytes of a block.
    rate: usize,
    /// The bits after the message that tell the function, and the first of the padding.
    suffix: u8,
}

impl Sponge {
    /// SHA-3 with a digest of `bits` bits: 224, 256, 384 or 512.
    ///
    /// # Panics
    /// If there is no such SHA-3.
    pub const fn sha3(bits: usize) -> Sponge {
        assert!(matches!(bits, 224 | 256 | 384 | 512), "SHA-3 has digests of 224, 256, 384 or 512 bits");
        Sponge { rate: 200 - bits / 4, suffix: 0x06 }
    }

    /// SHAKE with a strength of `bits` bits: 128 or 256.
    ///
    /// # Panics
    /// If there is no such SHAKE.
    pub const fn shake(bits: usize) -> Sponge {
        assert!(matches!(bits, 128 | 256), "SHAKE has a strength of 128 or 256 bits");
        Sponge { rate: 200 - bits / 4, suffix: 0x1f }
    }

    /// The output of `bytes` bytes for a message.
    ///
    /// # Panics
    /// If the message is not of whole bytes.
    pub fn digest(&self, b: &mut Builder, message: &[Wire], bytes: usize) -> Vec<Wire> {
        b.quiet(|b| {
            assert!(message.len().is_multiple_of(8), "a message has whole bytes");
            let rate = 8 * self.rate;
            let split = message.len() % rate;
            let (last, blocks) = message.split_at(split);
            let zero = vec![Wire::ZERO; STATE];
            let state = blocks.rchunks(rate).fold(zero, |state, block| self.absorb(b, &state, block));
            let mut state = self.close(b, &state, last);
            // The first byte is the most significant, so what comes later stands before it.
            let mut out = self.output(&state).to_vec();
            while out.len() < 8 * bytes {
                state = keccak_f(b, &state);
                out = [self.output(&state), &out].concat();
            }
            out.split_off(out.len() - 8 * bytes)
        })
    }

    /// The output of `out` bytes for a message of `bytes` bytes, as a program in the form for a goal. The
    /// message belongs to party 0.
    pub fn program(&self, goal: Goal, bytes: usize, out: usize) -> Program {
        let mut p = ProgramBuilder::for_goal("sponge", goal);
        let message = p.input("message", 0, 8 * bytes as u64);
        let (rate, state) = (8 * self.rate as u64, p.register(STATE as u64));
        let digest = p.register(8 * out as u64);
        let blocks = message.bits() / rate;
        if blocks > 0 {
            let absorb = p.circuit(self.step(p.builder(), self.rate, |b, state, block| self.absorb(b, state, block)));
            p.repeat(blocks, |p, turn| {
                let block = block(message, 0, self.rate).span().moving(turn, -(rate as i64));
                p.call(absorb, &[state.span(), block], &[state.span()]);
            });
        }
        let last = rest(message, self.rate);
        let close =
            p.circuit(self.step(p.builder(), last.bits() as usize / 8, |b, state, last| self.close(b, state, last)));
        p.call(close, &[state.span(), last.span()], &[state.span()]);
        let first = |bits: u64| state.slice(STATE as u64 - bits, bits).span();
        let more = (out as u64 - 1) / self.rate as u64;
        if more > 0 {
            p.copy(&first(rate), &block(digest, 0, self.rate).span());
            let squeeze = p.circuit(self.step(p.builder(), 0, |b, state, _| keccak_f(b, state)));
            let permute =
                |p: &mut ProgramBuilder| p.call(squeeze, &[state.span(), state.slice(0, 0).span()], &[state.span()]);
            if more > 1 {
                p.repeat(more - 1, |p, turn| {
                    permute(p);
                    let to = block(digest, 1, self.rate).span().moving(turn, -(rate as i64));
                    p.copy(&first(rate), &to);
                });
            }
            permute(&mut p);
        }
        let left = digest.bits() - more * rate;
        p.copy(&first(left), &digest.slice(0, left).span());
        p.reveal("digest", Recipients::All, digest);
        finish(p)
    }

    /// The block of output that a state holds.
    fn output<'a>(&self, state: &'a [Wire]) -> &'a [Wire] {
        &state[STATE - 8 * self.rate..]
    }

    fn absorb(&self, b: &mut Builder, state: &[Wire], block: &[Wire]) -> Vec<Wire> {
        let block = [&vec![Wire::ZERO; STATE - block.len()], block].concat();
        let state = xor(b, state, &block);
        keccak_f(b, &state)
    }

    /// The state after the last bytes of a message, fewer than a block, and the padding.
    fn close(&self, b: &mut Builder, state: &[Wire], last: &[Wire]) -> Vec<Wire> {
        let mut padding = vec![0; self.rate - last.len() / 8];
        padding[0] = self.suffix;
        *padding.last_mut().expect("at least a byte") |= 0x80;
        self.absorb(b, state, &[&bytes(&padding), last].concat())
    }

    /// A circuit from a state and `bytes` bytes to a state.
    fn step(
        &self,
        mut b: Builder,
        bytes: usize,
        build: impl FnOnce(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>,
    ) -> comity_circuit::Circuit {
        let (state, block) = (b.input("state", STATE), b.input("block", 8 * bytes));
        let next = build(&mut b, &state, &block);
        b.output("state", &next);
        b.finish()
    }
}

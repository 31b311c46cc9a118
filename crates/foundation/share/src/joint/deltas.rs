//! The check that every party has one global key towards all: once, at set-up, on 128 bits that are used for
//! nothing else.
//!
//! Deviation: a party `j` uses one `R_j` towards one peer and another towards another (Hazay, Scholl,
//! Soria-Vazquez, Asiacrypt 2017, section 3.4). The check is that of figure 8 there, over GF(2^128) and on
//! the mask bits alone.
//!
//! **Check.** All make 128 bits, whose shares `X_i` are an element of the field, the same towards all
//! ([`alike`](super::alike)).
//! 1. Each says `X_i` plus its share of zero, with the coin of their chunk, when no share can change any
//!    more; the sum of all is `c = sum X_i`. In the echo, which is settled with the commitments of step 3.
//! 2. Each combines its rows with the powers of x: `C_j = sum x^l Z_j[l]` for each `j`, and adds `c R_i` to
//!    its own, `C_i`.
//! 3. All commit to their `C`, in the echo, which is settled, and open. For each `j` the sum over the parties
//!    must be zero: it is `c R_j + c R_j`, where one `R_j` was used.
//!
//! **Sound**, where two or more parties are honest. Let `j` use `R_j + d_i` towards the honest `i`, where not
//! all `d_i` are the same. The sum is zero only if the liars' committed part is `sum d_i X_i` plus what they
//! know. `c` tells them the sum of the honest `X_i`, the shares of zero hide each of them, and the
//! commitments come before any `C` that depends on one is open: so this is a guess, of an element that is
//! uniform, 2^-128. Were an `X_i` seen before the commitments, the liar would compute it.
//!
//! **The rule.** `C_i` depends on its sender's own `R_i`, and a party that lies about `X_i` or `c` learns
//! `R_i` times a factor that it knows. That is why the check stands at set-up: it is before anything secret
//! is masked under any global key. What is masked so far are the seeds of the extension one way, and what
//! these make is the 128 bits, which are dropped, and others of the same chunk, of which none was used.
//! Failure, whatever the reason, ends every global key and every base OT of the group. In an honest run `C`
//! shows nothing: MACs on bits that are dropped, which are uniform but for the sums that are zero.

use comity_channel::Mesh;
use comity_core::{Block, Check, Error, Result, gf128, verdict};
use comity_protocol::Conduct;
use subtle::ConstantTimeEq;

use super::{Joint, JointAct, Talk};
use crate::checks;
use crate::forms::RowShares;
use crate::simultaneous::{Saying, say_among};

/// Mask bits: as many as an element of the field has.
pub(super) const BITS: usize = 128;

impl<C: for<'a> Conduct<JointAct<'a>>> Joint<C> {
    /// The check, on the rows of bits for nothing else, of which `sum` is the sum of all that was said.
    pub(super) fn check_deltas(&mut self, mesh: &mut Mesh<'_>, rows: &RowShares, sum: Block) -> Result<()> {
        let powers: [Block; BITS] = std::array::from_fn(|l| Block::from_u128(1 << l));
        let mut combined: Vec<Block> =
            rows.columns().map(|column| gf128::inner_product(self.backend, column, &powers)).collect();
        combined[usize::from(self.me.0)] ^= gf128::mul(self.backend, sum, self.key.block());
        self.vanishes(mesh, &mut combined, checks::DELTAS)
    }

    /// Shows these blocks to all at the same time as the others show theirs. Their sums over the parties must be zero.
    pub(super) fn vanishes(&mut self, mesh: &mut Mesh<'_>, own: &mut [Block], otherwise: &'static Check) -> Result<()> {
        let session = self.session.child(&format!("shown rows {}", self.tests[1]));
        self.tests[1] += 1;
        self.conduct.before(JointAct::Combined(own));
        let unsettled = core::mem::take(&mut self.unsettled);
        let mut talk = Talk { mesh, echo: &mut self.echo, conduct: &mut self.conduct };
        let saying = Saying {
            names: ["commitment to rows", "rows"],
            false_opening: checks::ROW_OPENING,
            own: Block::bytes_of(own),
            unsettled,
            beside: None,
        };
        let (shown, _) = say_among(&mut talk, session, saying, &mut self.rng)?;
        for (_, bytes) in shown.iter() {
            own.iter_mut().zip(bytes.chunks_exact(Block::BYTES)).for_each(|(sum, bytes)| *sum ^= block(bytes));
        }
        let rest = own.iter().fold(Block::ZERO, |rest, sum| Block::from_u128(rest.to_u128() | sum.to_u128()));
        if verdict(rest.ct_eq(&Block::ZERO)) { Ok(()) } else { Err(Error::from(otherwise)) }
    }
}

/// The block of a message that is one.
pub(super) fn block(bytes: &[u8]) -> Block {
    let mut block = [Block::ZERO];
    Block::bytes_of_mut(&mut block).copy_from_slice(bytes);
    block[0]
}

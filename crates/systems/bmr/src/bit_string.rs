//! [`Masks`] from any protocol for bits, and correlated OT: section 3.3, figure 8.
//!
//! The bits are another protocol's ([`BitMpc`]), which knows nothing of the offsets. For each ordered pair of
//! parties a correlated OT under the offset `R^j` of the one, in which the other chooses by its additive
//! shares, makes the products; [`Joint`] has these OTs, and sees to it that each party chooses alike towards
//! all. That it chooses by the shares which the protocol for bits has is the figure's check.
//!
//! **Over the field.** The figure's matrices `H` and `C` are `s` by something, with `s = 128`. Here `H` has
//! the coefficients as its columns, so that `H x` is an element of GF(2^128), and `C_j` is the element
//! `sum of chi_k Z_j[k]` in place of the matrix of the same sum of tensor products: 16 bytes for 2 KiB. An
//! error `e` of bits that escapes has `(H e) R^j = 0`, as before.
//!
//! **The rule of checks**: no message depends on its sender's own offset while something secret is masked
//! under it. In step 4 `C_i` has the term `c R^i`, and a party that causes an error it knows can compute `R^i`
//! from what is opened then. So the figure's check stands as printed where it comes before any use of the offsets:
//! at the first products of what is garbled ahead ([`Masks::ahead_of_inputs`]). Whoever knows `R^i` knows
//! both seeds of each pair that the extension made under it, and with them the masks by which `i` chose:
//! public values that have left would tell its inputs. So in a run, whose public values leave beside the
//! openings of its products, and once rows of a chunk are known, the same sums are tested blind
//! ([`Joint::sums_to_zero`]): the sum over `j` of `C_j` times a coefficient each. Any failure ends the
//! offsets.
//!
//! **Cost** of a bit, to each peer: 4 bytes, and its part in the protocol for bits. A call: one opening of
//! 128 bits by that protocol, nine rounds, and four for each further 262,016 bits.

use comity_channel::{Mesh, PerPeer};
use comity_circuit::Recipients;
use comity_core::{Backend, Bits, Block, Error, PartyId, Prg, Result, gf128};
use comity_protocol::{Conduct, Honest};
use comity_share::joint::JointAct;
use comity_share::{Beside, Joint, RowShares};
use zeroize::Zeroizing;

use crate::checks;
use crate::masks::{BitMpc, MaskOpening, Masks, SettledBeside};

/// The number of masking bits: `s` of the figure, the bits of an element of the field.
pub(crate) const MASKING: usize = 128;

/// The bits of a protocol, with their products with every offset.
pub struct StringMasks<B, C = Honest> {
    bits: B,
    joint: Joint<C>,
    /// Values that were opened before the products, and settled with the check.
    settled: Vec<Option<Bits>>,
    /// Whether nothing has left yet that is masked under the offsets, or by bits that choose in their OTs:
    /// the check is the printed one.
    in_sight: bool,
    /// Set while a call runs: an error leaves it set.
    broken: bool,
}

impl<B: BitMpc, C: for<'a> Conduct<JointAct<'a>>> StringMasks<B, C> {
    /// The masks of these bits, with the global keys of `joint`, of which they are the only user, as offsets.
    /// It is newly set up, which is step I.
    pub fn new(bits: B, joint: Joint<C>) -> StringMasks<B, C> {
        StringMasks { bits, joint, settled: Vec::new(), in_sight: false, broken: false }
    }

    /// Part II. The additive shares of the bits choose.
    fn multiply(&mut self, net: &mut Mesh<'_>, shares: &Bits) -> Result<RowShares> {
        // Step 1.
        let pairs = self.joint.chosen(net, shares)?;
        // Step 2.
        let mut rows = pairs.rows(self.joint.key());
        for party in (0..self.joint.parties()).map(PartyId) {
            let blocks = rows.column_mut(party);
            self.joint.conduct().before(JointAct::Holds { what: "Z", blocks });
        }
        Ok(rows)
    }

    /// Part III, of the rows of bits, the last of which are the masking bits, and the products `z` of all of them.
    fn check(&mut self, net: &mut Mesh<'_>, rows: &[Block], z: &RowShares) -> Result<()> {
        // Step 1.
        let (width, me, backend) = (self.bits.width(), self.joint.me(), self.joint.backend());
        let (bits, masking) = rows.split_at(rows.len() - MASKING * width);
        // Step 2: all OTs are there when the coin is opened.
        let mut coefficients = coefficients(backend, &self.joint.coin(net)?, bits.len() / width);
        // Step 3.
        let mut hashed = Zeroizing::new(masking.to_vec());
        for (row, coefficient) in bits.chunks_exact(width).zip(&coefficients) {
            let mut left = coefficient.to_u128();
            while left != 0 {
                let at = left.trailing_zeros() as usize;
                crate::hash::add(&mut hashed[at * width..][..width], row);
                left &= left - 1;
            }
        }
        let opening = MaskOpening { rows: &hashed, to: Recipients::All };
        let nothing = Beside::nothing(net);
        self.bits.products(net, [&[], &[]], &mut [], &[opening], &nothing)?;
        let (mut opened, _) = self.bits.settle(net, &nothing)?;
        let last = opened.pop().flatten().expect("all learn it");
        self.settled.append(&mut opened);
        let mut c = Block::ZERO;
        Block::bytes_of_mut(core::slice::from_mut(&mut c)).copy_from_slice(&last.to_bytes());
        // Step 4.
        coefficients.extend((0..MASKING).map(|l| Block::from_u128(1 << l)));
        let mut sums: Vec<Block> = z.columns().map(|z| gf128::inner_product(backend, z, &coefficients)).collect();
        sums[usize::from(me.0)] ^= gf128::mul(backend, c, self.joint.key().block());
        // Step 5.
        if core::mem::take(&mut self.in_sight) {
            self.joint.shown_zero(net, &mut sums, checks::BIT_STRING)
        } else {
            let coin = self.joint.coin(net)?;
            let of_parties = self::coefficients(backend, &coin, sums.len());
            let sigma = gf128::inner_product(backend, &sums, &of_parties);
            self.joint.sums_to_zero(net, sigma, checks::BIT_STRING)
        }
    }
}

/// `count` coefficients, which the coin determines.
fn coefficients(backend: Backend, coin: &[u8; 32], count: usize) -> Vec<Block> {
    let seed = blake3::derive_key("comity bmr: coefficients of the check of bit/string products", coin);
    let mut coefficients = vec![Block::ZERO; count];
    Prg::new(backend, Block::new(core::array::from_fn(|i| seed[i]))).fill_blocks(&mut coefficients);
    coefficients
}

impl<B: BitMpc, C> BitMpc for StringMasks<B, C> {
    fn width(&self) -> usize {
        self.bits.width()
    }

    fn one(&self) -> Vec<Block> {
        self.bits.one()
    }

    fn random(&mut self, net: &mut Mesh<'_>, rows: &mut [Block]) -> Result<()> {
        self.bits.random(net, rows)
    }

    fn random_of(&mut self, net: &mut Mesh<'_>, owner: PartyId, rows: &mut [Block]) -> Result<Option<Bits>> {
        self.bits.random_of(net, owner, rows)
    }

    fn products(
        &mut self,
        net: &mut Mesh<'_>,
        factors: [&[Block]; 2],
        products: &mut [Block],
        opened: &[MaskOpening<'_>],
        beside: &Beside,
    ) -> Result<PerPeer<Vec<u8>>> {
        self.bits.products(net, factors, products, opened, beside)
    }

    fn settle(&mut self, net: &mut Mesh<'_>, beside: &Beside) -> Result<SettledBeside> {
        let (mut later, heard) = self.bits.settle(net, beside)?;
        let mut values = core::mem::take(&mut self.settled);
        values.append(&mut later);
        Ok((values, heard))
    }
}

impl<B: BitMpc, C: for<'a> Conduct<JointAct<'a>>> Masks for StringMasks<B, C> {
    fn offset(&self) -> Block {
        self.joint.key().block()
    }

    fn ahead_of_inputs(&mut self) {
        self.in_sight = true;
    }

    fn times_offsets(
        &mut self,
        net: &mut Mesh<'_>,
        mut rows: Zeroizing<Vec<Block>>,
        _: &[usize],
    ) -> Result<Zeroizing<Vec<Block>>> {
        let (width, n) = (self.bits.width(), usize::from(self.joint.parties()));
        let bits = rows.len() / width;
        if bits == 0 {
            return Ok(Zeroizing::new(Vec::new()));
        }
        if core::mem::replace(&mut self.broken, true) {
            return Err(Error::invalid_input("these offsets ended with an earlier error: set up new ones"));
        }
        // Figure 6, step 3b. Memory that is moved is wiped where it was.
        let mut all = Zeroizing::new(Vec::with_capacity((bits + MASKING) * width));
        all.append(&mut rows);
        all.resize((bits + MASKING) * width, Block::ZERO);
        self.bits.random(net, &mut all[bits * width..])?;
        // The coins of the chunks, of the check, and of the blind test with its bits.
        self.joint.plan(net, (bits + MASKING).div_ceil(Joint::CHUNK) + if self.in_sight { 1 } else { 3 })?;
        let shares: Bits = all.chunks_exact(width).map(|row| row[0].lsb()).collect();
        let z = self.multiply(net, &shares)?;
        self.check(net, &all, &z)?;
        self.broken = false;
        let mut strings = Zeroizing::new(vec![Block::ZERO; bits * n]);
        for (j, column) in z.columns().enumerate() {
            for (string, &block) in strings.chunks_exact_mut(n).zip(column) {
                string[j] = block;
            }
        }
        Ok(strings)
    }
}

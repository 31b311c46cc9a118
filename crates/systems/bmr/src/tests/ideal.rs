//! The ideal protocol for bits: every party knows the dealer's seed, looks at its own shares, and is honest.

use comity_channel::{Mesh, PerPeer};
use comity_core::{Backend, Bits, Block, Error, PartyId, Prg, Result, SessionId};
use comity_share::Beside;
use comity_share::checks::WRONG_MAC;
use zeroize::Zeroizing;

use crate::{BitMpc, MaskOpening, Masks, SettledBeside};

/// One party's side of it. What is opened goes from party to party; nothing else does.
pub(super) struct Ideal {
    me: usize,
    dealer: Prg,
    offsets: Vec<Block>,
    /// The opening, counted from 0, from which on this party says another share of the first bit.
    pub(super) false_from: usize,
    openings: usize,
    /// Whether something was opened falsely, which is said when it is settled.
    wrong: bool,
    /// What was opened since it was settled.
    opened: Vec<Option<Bits>>,
}

/// One bit, shared: its value and the rows of all parties.
struct Dealt {
    value: bool,
    rows: Vec<Vec<Block>>,
}

impl Ideal {
    pub(super) fn new(session: SessionId, me: usize, parties: usize) -> Ideal {
        let mut dealer = Prg::new(Backend::detect(), session.block("ideal dealer"));
        let offsets = (0..parties).map(|_| dealer.block().with_lsb(true)).collect();
        Ideal { me, dealer, offsets, false_from: usize::MAX, openings: 0, wrong: false, opened: Vec::new() }
    }

    /// The offsets of all.
    pub(super) fn offsets(&self) -> &[Block] {
        &self.offsets
    }

    /// Deals a bit, this one or a random one, as pairwise MACs give it.
    fn deal(&mut self, value: Option<bool>) -> Dealt {
        let n = self.offsets.len();
        let mut bits: Vec<bool> = (0..n).map(|_| self.dealer.block().lsb()).collect();
        if let Some(value) = value {
            bits[n - 1] ^= sum(&bits) ^ value;
        }
        self.share(bits)
    }

    /// Shares with their MACs.
    fn share(&mut self, bits: Vec<bool>) -> Dealt {
        let n = self.offsets.len();
        let mut rows = vec![vec![Block::ZERO; n]; n];
        for (i, &bit) in bits.iter().enumerate() {
            #[allow(clippy::needless_range_loop, reason = "two rows at a time")]
            for j in 0..n {
                rows[i][j] ^= self.offsets[j].masked(bit);
                if i != j {
                    let key = self.dealer.block().with_lsb(false);
                    rows[i][j] ^= key;
                    rows[j][j] ^= key;
                }
            }
        }
        Dealt { value: sum(&bits), rows }
    }

    /// This party's rows of two random bits and their product.
    pub(super) fn triple(&mut self) -> [Vec<Block>; 3] {
        let (a, b) = (self.deal(None), self.deal(None));
        let c = self.deal(Some(a.value & b.value));
        [a, b, c].map(|dealt| self.own(dealt))
    }

    fn own(&self, dealt: Dealt) -> Vec<Block> {
        dealt.rows.into_iter().nth(self.me).expect("a row a party")
    }

    /// The values of bits, to those who are to learn them: each peer gets this party's share, and of its own
    /// products with the bits, which have to add up.
    fn open(&mut self, net: &mut Mesh<'_>, rows: &[Block], to: impl Fn(u16) -> bool) -> Result<Option<Bits>> {
        let (me, parties, n) = (net.me(), net.parties(), self.offsets.len());
        let mut value: Bits = rows.chunks_exact(n).map(|row| row[0].lsb()).collect();
        let mut bytes = value.to_bytes();
        self.openings += 1;
        if self.openings > self.false_from {
            bytes.first_mut().into_iter().for_each(|byte| *byte ^= 1);
        }
        let column = |j: usize| -> Vec<Block> { rows.chunks_exact(n).map(|row| row[j]).collect() };
        let message = |peer: PartyId| [&bytes[..], Block::bytes_of(&column(peer.0.into()))].concat();
        let out = PerPeer::new(me, parties, |peer| if to(peer.0) { message(peer) } else { Vec::new() });
        let mut heard =
            PerPeer::new(me, parties, |_| if to(me.0) { vec![0; out_len(value.len())] } else { Vec::new() });
        net.exchange(&out, &mut heard)?;
        if !to(me.0) {
            return Ok(None);
        }
        let (mut products, mut theirs) = (column(self.me), vec![Block::ZERO; value.len()]);
        for (_, heard) in heard.iter() {
            let (bits, of_products) = heard.split_at(bytes.len());
            value.xor_assign(&Bits::from_bytes(bits, rows.len() / n));
            Block::bytes_of_mut(&mut theirs).copy_from_slice(of_products);
            crate::hash::add(&mut products, &theirs);
        }
        let right = products.iter().zip(value.iter()).all(|(&product, bit)| product == self.offset().masked(bit));
        self.wrong |= !right;
        Ok(Some(value))
    }
}

fn sum(bits: &[bool]) -> bool {
    bits.iter().fold(false, |sum, bit| sum ^ bit)
}

/// Says what goes beside, and hears the others'.
fn said(net: &mut Mesh<'_>, beside: &Beside) -> Result<PerPeer<Vec<u8>>> {
    let mut heard = PerPeer::new(net.me(), net.parties(), |peer| vec![0; beside.lengths[peer]]);
    net.exchange(&beside.out, &mut heard)?;
    Ok(heard)
}

/// Bytes of a message that opens `bits` bits.
fn out_len(bits: usize) -> usize {
    bits.div_ceil(8) + bits * Block::BYTES
}

impl BitMpc for Ideal {
    fn width(&self) -> usize {
        self.offsets.len()
    }

    fn one(&self) -> Vec<Block> {
        let mut one = vec![Block::ZERO; self.width()];
        one[self.me] = self.offset();
        one
    }

    fn random(&mut self, _: &mut Mesh<'_>, rows: &mut [Block]) -> Result<()> {
        for row in rows.chunks_exact_mut(self.offsets.len()) {
            let dealt = self.deal(None);
            row.copy_from_slice(&self.own(dealt));
        }
        Ok(())
    }

    fn random_of(&mut self, _: &mut Mesh<'_>, owner: PartyId, rows: &mut [Block]) -> Result<Option<Bits>> {
        let mut values = Bits::default();
        for row in rows.chunks_exact_mut(self.offsets.len()) {
            let mut bits = vec![false; self.offsets.len()];
            bits[usize::from(owner.0)] = self.dealer.block().lsb();
            let dealt = self.share(bits);
            values.extend_from(&[dealt.value].into_iter().collect());
            row.copy_from_slice(&self.own(dealt));
        }
        Ok((usize::from(owner.0) == self.me).then_some(values))
    }

    fn products(
        &mut self,
        net: &mut Mesh<'_>,
        [u, v]: [&[Block]; 2],
        products: &mut [Block],
        opened: &[MaskOpening<'_>],
        beside: &Beside,
    ) -> Result<PerPeer<Vec<u8>>> {
        let (n, me, offset) = (self.offsets.len(), self.me, self.offset());
        // Beaver's triples, dealt; `d = u + a` and `e = v + b` are opened.
        let (mut masked, mut triples) = (Vec::new(), Vec::new());
        for (u, v) in u.chunks_exact(n).zip(v.chunks_exact(n)) {
            let [a, b, c] = self.triple();
            let sum = |x: &[Block], y: &[Block]| x.iter().zip(y).map(|(&x, &y)| x ^ y).collect::<Vec<_>>();
            masked.extend(sum(u, &a));
            masked.extend(sum(v, &b));
            triples.push([a, b, c]);
        }
        let values = self.open(net, &masked, |_| true)?.expect("all learn it");
        for (gate, (product, [a, b, c])) in products.chunks_exact_mut(n).zip(triples).enumerate() {
            let [d, e] = [2 * gate, 2 * gate + 1].map(|bit| values.get(bit));
            for j in 0..n {
                product[j] = c[j] ^ b[j].masked(d) ^ a[j].masked(e);
            }
            product[me] ^= offset.masked(d & e);
        }
        for opened in opened {
            let value = self.open(net, opened.rows, |party| opened.to.includes(party))?;
            self.opened.push(value);
        }
        said(net, beside)
    }

    fn settle(&mut self, net: &mut Mesh<'_>, beside: &Beside) -> Result<SettledBeside> {
        let heard = said(net, beside)?;
        if self.wrong { Err(Error::from(WRONG_MAC)) } else { Ok((core::mem::take(&mut self.opened), heard)) }
    }
}

impl Masks for Ideal {
    fn offset(&self) -> Block {
        self.offsets[self.me]
    }

    fn times_offsets(
        &mut self,
        _: &mut Mesh<'_>,
        rows: Zeroizing<Vec<Block>>,
        _: &[usize],
    ) -> Result<Zeroizing<Vec<Block>>> {
        Ok(rows)
    }
}

//! Triples: random `a`, `b` and their products, each shared and authenticated (Keller, Orsini, Scholl, CCS
//! 2016, ePrint 2016/505, figure 5).
//!
//! *Multiply*: 1. Each party draws `a_i` of [`TAU`] elements, and `b_i`. 2. For each ordered pair, an OT for
//! each digit of `a_i`: (a) party `i` chooses by it, and the OTs are checked, all alike towards all, before
//! anything else is said; (b, c) party `j` has both hashed strings `q_0`, `q_1` of each, and says
//! `d = q_0 - q_1 + b_j`; (d) party `i` adds `d` to its string where the digit is set, and has
//! `q_0 + a_h b_j`; (e, f) both compose over the digits: shares of the product of each element of `a_i` with
//! `b_j`. 3. Each adds its `a_i b_i` and what it has with all others.
//!
//! *Combine*: a coin names `r`, `r^` of [`TAU`] elements for each triple; `a = <a, r>`, `c = <c, r>`, and
//! `a^`, `c^` by `r^`.
//!
//! *Authenticate*: every party puts in its shares of `a`, `b`, `c`, `a^`, `c^`
//! ([`inputs`](crate::FieldDealer::authenticated)).
//!
//! *Sacrifice*: a coin names `s` for each triple. `rho = s a - a^` is opened; `s c - c^ - rho b` must be
//! zero, whose MAC is checked with that of `rho` and nothing of it is said. (a, b, c) is the triple.
//!
//! **What a lie gives.** Another `b_j` in one digit's OT makes `c` wrong where the digit is set, so a party
//! that lies there and is not caught has guessed a digit of an `a_i`. *Combine* makes `a` and `a^` of enough
//! more digits that they are uniform whatever was guessed: with [`TAU`] elements in their place the distance
//! from uniform, times the probability to pass, is at most |F|^(-([`TAU`] - 2) / 2), 2^-128. The paper's
//! three elements leave 2^-64. *Sacrifice* then sees a wrong `c` except with probability 2 / |F|: the coins
//! come when nothing they decide on can change any more.
//!
//! **Pieces.** (b) to (f) go by pieces, so that a string is used while it is in the cache: what is said of the
//! elements of one piece depends on nothing that is heard of it. The first piece leaves when the OTs of the whole
//! batch are checked, and the coin of *Combine* is opened when the last one has come: the checks and coins are as
//! in the figure.
//!
//! **Cost** of a triple to each peer, in GF(2^128): 512 OTs of 4 bytes, as many corrections of 16 bytes, five
//! inputs of 512 bytes: 12.8 kB. Memory: some 28 kB a peer for each of a batch, the OTs, which the next batch uses
//! again.

use comity_channel::{Mesh, PerPeer, Pieces};
use comity_core::{Backend, Block, PartyId, Result};
use comity_share::{Joint, Pairwise};
use zeroize::{Zeroize, Zeroizing};

use crate::act::{FieldAct, FieldConduct};
use crate::dealer::{FieldDealer, Link, both};
use crate::field::{Field, coefficients};
use crate::openings::stream;
use crate::sum_share::{SumShare, SumShares, sum_of_owners};

/// Elements that are combined into one.
pub const TAU: usize = 4;

/// Memory for the MACs of a batch's bits under all peers' keys. The keys of theirs, and the rows, take as much each.
const MEMORY: usize = 16 << 20;

/// The most triples that come of one checked chunk of bits.
fn batch<F: Field>(parties: u16) -> usize {
    let bits = TAU * F::BITS;
    let fits = MEMORY / (bits * Block::BYTES * (usize::from(parties) - 1));
    (Joint::CHUNK / bits).min(fits).max(1)
}

/// A party's part of a triple: `c = a b`. Secret.
#[derive(Clone, Copy)]
pub struct FieldTriple<F> {
    /// A random element.
    pub a: SumShare<F>,
    /// Another one.
    pub b: SumShare<F>,
    /// Their product.
    pub c: SumShare<F>,
}

/// Triples, wiped on drop. Only a dealer makes them, when every check has passed.
pub type FieldTriples<F> = Zeroizing<Vec<FieldTriple<F>>>;

impl<F: Field> Zeroize for FieldTriple<F> {
    fn zeroize(&mut self) {
        [&mut self.a, &mut self.b, &mut self.c].into_iter().for_each(Zeroize::zeroize);
    }
}

/// Unauthenticated shares of a batch: for each triple [`TAU`] elements of `a` and `c`, and `b`.
struct Products<F: Field> {
    a: Zeroizing<Vec<F>>,
    b: Zeroizing<Vec<F>>,
    c: Zeroizing<Vec<F>>,
}

/// Elements of `a` whose products with a peer's factors are said at a time.
const PIECE: usize = 1 << 6;

/// *Multiply* with all peers, once the bits are checked.
struct Multiplying<'a, F: Field> {
    backend: Backend,
    delta: Block,
    links: &'a mut PerPeer<Link<F>>,
    bits: &'a Pairwise,
    /// `a`, `b`, and this party's shares of their products so far.
    products: (&'a [F], &'a [F], &'a mut [F]),
    /// Memory for the strings of an element of `a`, which stays in the first-level cache.
    strings: Zeroizing<Vec<Block>>,
    elements: Zeroizing<Vec<F>>,
}

impl<F: Field> Pieces for Multiplying<'_, F> {
    /// Steps 2 (b) and (c), and (f) of the sender.
    fn say(&mut self, piece: usize, peer: PartyId, message: &mut Vec<u8>) {
        let (hash, keys) = (&mut self.links[peer].hashes[0], &self.bits.keys[peer]);
        let (_, b, c) = &mut self.products;
        let ((one, other), (zero, d)) = (self.strings.split_at_mut(F::BITS), self.elements.split_at_mut(F::BITS));
        let keys = keys.chunks(F::BITS).zip(&mut **c).enumerate().skip(piece * PIECE).take(PIECE);
        for (i, (keys, c)) in keys {
            both(hash, keys, self.delta, [one, other]);
            let b = b[i / TAU];
            for (((zero, d), one), other) in zero.iter_mut().zip(&mut *d).zip(&*one).zip(&*other) {
                *zero = F::of_block(*one);
                *d = zero.minus(F::of_block(*other)).plus(b);
            }
            F::write(d, message);
            *c = c.minus(F::composed(self.backend, zero));
        }
    }

    /// Steps 2 (d), and (f) of the receiver: it has of a digit `q_0` and, where it is set, `d`.
    fn hear(&mut self, piece: usize, peer: PartyId, message: &[u8]) -> Result<()> {
        let (hash, macs) = (&mut self.links[peer].hashes[1], self.bits.macs[peer].chunks(F::BITS));
        let (a, _, c) = &mut self.products;
        let (strings, (mine, d)) = (&mut self.strings[..F::BITS], self.elements.split_at_mut(F::BITS));
        let places = a.iter().zip(&mut **c).zip(macs).skip(piece * PIECE);
        for (((a, c), macs), said) in places.zip(message.chunks_exact(F::BITS * F::BYTES)) {
            strings.copy_from_slice(macs);
            hash.each(strings);
            F::read(said, d)?;
            mine.iter_mut().zip(&*strings).for_each(|(mine, &string)| *mine = F::of_block(string));
            a.add_chosen(self.backend, d, mine);
            *c = c.plus(F::composed(self.backend, mine));
        }
        Ok(())
    }
}

/// The elements of a triple that are authenticated: `a`, `b`, `c`, and `a^`, `c^`.
const PUT_IN: usize = 5;

impl<F: Field, C: FieldConduct<F>> FieldDealer<F, C> {
    /// Triples, `n` of them, which are checked.
    ///
    /// # Errors
    /// [`FALSE_MAC`](crate::checks::FALSE_MAC) and [`EQUIVOCATION`](comity_share::checks::EQUIVOCATION) by
    /// nobody in particular; those of [`Joint::chosen`], of [`coin`](comity_share::coin) and of the channels.
    /// Then nothing is returned.
    pub fn triples(&mut self, mesh: &mut Mesh<'_>, n: usize) -> Result<FieldTriples<F>> {
        self.guarded(|dealer| {
            let most = batch::<F>(dealer.parties());
            dealer.joint.plan(mesh, n.div_ceil(most))?;
            let mut all = Zeroizing::new(Vec::with_capacity(n));
            while all.len() < n {
                let next = most.min(n - all.len());
                all.extend_from_slice(&dealer.batch(mesh, next)?);
            }
            Ok(all)
        })
    }

    fn batch(&mut self, mesh: &mut Mesh<'_>, n: usize) -> Result<FieldTriples<F>> {
        let products = self.multiply(mesh, n)?;
        let combined = self.combine(mesh, products)?;
        // Authenticate.
        let by_owner = self.put_in(mesh, &combined)?;
        self.sacrifice(mesh, &by_owner, n)
    }

    /// *Multiply*.
    fn multiply(&mut self, mesh: &mut Mesh<'_>, n: usize) -> Result<Products<F>> {
        let backend = self.backend();
        // Step 1.
        let mut a = Zeroizing::new(vec![F::ZERO; TAU * n]);
        let mut b = Zeroizing::new(vec![F::ZERO; n]);
        F::draw(&mut self.rng, &mut a);
        F::draw(&mut self.rng, &mut b);
        self.joint.conduct().before(FieldAct::Holds { what: "choices", values: &mut a });
        // Step 2 (a). Bits that are told differently to several, or chosen differently, end here.
        let digits = F::digits(&a);
        if self.bits.len() != digits.len() {
            self.bits = Pairwise::zeros(self.me(), self.parties(), digits.len());
        }
        self.joint.chosen_into(mesh, &digits, &mut self.bits)?;
        // Step 3, this party's term.
        let mut c = Zeroizing::new(Vec::with_capacity(a.len()));
        for (a, &b) in a.chunks(TAU).zip(&*b) {
            c.extend(a.iter().map(|a| a.times(backend, b)));
        }
        let FieldDealer { joint, links, bits, .. } = self;
        joint.conduct().before(FieldAct::Holds { what: "factor", values: &mut b });
        // Steps 2 (b) to (f).
        let lengths = (a.len().div_ceil(PIECE), |piece| PIECE.min(a.len() - piece * PIECE) * F::BITS * F::BYTES);
        let mut work = Multiplying {
            backend,
            delta: joint.key().block(),
            links,
            bits,
            products: (&a, &b, &mut c),
            strings: Zeroizing::new(vec![Block::ZERO; 2 * F::BITS]),
            elements: Zeroizing::new(vec![F::ZERO; 2 * F::BITS]),
        };
        stream(mesh, "products", joint.conduct(), lengths, &mut work)?;
        Ok(Products { a, b, c })
    }

    /// *Combine*: the five elements of each triple.
    fn combine(&mut self, mesh: &mut Mesh<'_>, mut products: Products<F>) -> Result<Zeroizing<Vec<F>>> {
        let backend = self.backend();
        self.joint.conduct().before(FieldAct::Holds { what: "products before combining", values: &mut products.c });
        let coin = self.openings.coin(mesh, self.joint.conduct())?;
        let Products { a, b, c } = &products;
        let r: Vec<F> = coefficients(backend, &coin, 2 * a.len());
        let mut combined = Zeroizing::new(Vec::with_capacity(PUT_IN * b.len()));
        for (((a, c), b), r) in a.chunks(TAU).zip(c.chunks(TAU)).zip(&**b).zip(r.chunks(2 * TAU)) {
            let (r, other) = r.split_at(TAU);
            let with = |of, r| F::inner_product(backend, of, r);
            combined.extend([with(a, r), *b, with(c, r), with(a, other), with(c, other)]);
        }
        self.joint.conduct().before(FieldAct::Holds { what: "combined products", values: &mut combined });
        Ok(combined)
    }

    /// *Sacrifice*.
    fn sacrifice(&mut self, mesh: &mut Mesh<'_>, by_owner: &[SumShares<F>], n: usize) -> Result<FieldTriples<F>> {
        let backend = self.backend();
        let coin = self.openings.coin(mesh, self.joint.conduct())?;
        let s: Vec<F> = coefficients(backend, &coin, n);
        let mut triples = Zeroizing::new(Vec::with_capacity(n));
        let mut rests: SumShares<F> = Zeroizing::new(Vec::with_capacity(n));
        let mut rho: SumShares<F> = Zeroizing::new(Vec::with_capacity(n));
        for (i, &s) in s.iter().enumerate() {
            let [a, b, c, other_a, other_c] = core::array::from_fn(|k| sum_of_owners(by_owner, PUT_IN * i + k));
            rho.push(a.times(backend, s).minus(other_a));
            rests.push(c.times(backend, s).minus(other_c));
            triples.push(FieldTriple { a, b, c });
        }
        let opened = self.openings.open(mesh, "rho", &rho, self.joint.conduct())?;
        for ((triple, rest), rho) in triples.iter().zip(&*rests).zip(opened) {
            let rest = rest.minus(triple.b.times(backend, rho));
            self.openings.opened(F::ZERO, rest.mac);
        }
        self.check(mesh)?;
        Ok(triples)
    }
}

//! *Input*: elements that parties put in, each shared and authenticated (Keller, Orsini, Scholl, CCS 2016,
//! ePrint 2016/505, figure 7).
//!
//! All parties put in as many at the same time. For each owner:
//! 1. It draws one more, `x_0`. 2. The value is shared: the owner's share is `x` and a share of zero, the
//!    others' are shares of zero; nothing is said. (Shares `(x, 0, .., 0)` would do for the MACs, and would
//!    tell others' inputs where a sum of several owners' values is opened.)
//! 3. COPEe of all its elements with every other party's share of the key. 4, 5. The shares of the MAC: what
//!    the others have, and the owner's `x alpha_i` and what it has.
//! 6. A coin, when all has been received: coefficients. 7. The owner says `y = sum r_h x_h` to all. 8, 9.
//!    Each takes in `y` with its share of the MAC `sum r_h m_h`, for the next *MACCheck*.
//!
//! Steps 3 to 5 go by pieces of the elements; the coin is opened when the last piece has come from all.
//!
//! **Sound.** With another `x` in one tree of a COPEe than in the others the MAC is wrong by the number that the
//! tree's digits of `alpha_i` make, times the difference; so `y` has the right MAC only if the owner guesses
//! what the trees at which it lies add up to, or by a coefficient, 1 / |F|. A guess of c digits, or of c sums of
//! digits, passes with probability 2^-c, and takes c digits from what the liar does not know of the key. `x_0`
//! masks `y`.
//!
//! **Cost** of an element, to each peer: [`BITS`](Field::BITS) / [`TREE`](crate::TREE) elements, 512 bytes in
//! GF(2^128), and 512 blocks of streams at both. Five rounds, and those of a check.

use core::ops::Range;

use comity_channel::{Mesh, PerPeer, Pieces};
use comity_core::{PartyId, Result};
use zeroize::Zeroizing;

use crate::act::{FieldAct, FieldConduct};
use crate::cope::{PIECE, message_bytes};
use crate::dealer::{FieldDealer, Link};
use crate::field::{Field, bytes, coefficients, drawn, elements};
use crate::openings::stream;
use crate::sum_share::{ByOwner, SumShare};

impl<F: Field, C: FieldConduct<F>> FieldDealer<F, C> {
    /// Checked shares of elements that each party puts in, by party. All put in the same number of elements.
    ///
    /// # Errors
    /// [`FALSE_MAC`](crate::checks::FALSE_MAC) and [`EQUIVOCATION`](comity_share::checks::EQUIVOCATION) by
    /// nobody in particular; those of [`coin`](comity_share::coin) and of the channels.
    pub fn authenticated(&mut self, mesh: &mut Mesh<'_>, own: &[F]) -> Result<ByOwner<F>> {
        self.guarded(|dealer| {
            let shares = dealer.put_in(mesh, own)?;
            dealer.check(mesh)?;
            Ok(shares)
        })
    }

    /// Random elements of each party, which it alone knows, by party, and this party's own. They are checked.
    ///
    /// # Errors
    /// As [`FieldDealer::authenticated`].
    pub fn masks(&mut self, mesh: &mut Mesh<'_>, n: usize) -> Result<(ByOwner<F>, Zeroizing<Vec<F>>)> {
        let mut own = Zeroizing::new(vec![F::ZERO; n]);
        F::draw(&mut self.rng, &mut own);
        Ok((self.authenticated(mesh, &own)?, own))
    }

    /// As [`FieldDealer::authenticated`]; the next *MACCheck* is to pass before they are used.
    pub(crate) fn put_in(&mut self, mesh: &mut Mesh<'_>, own: &[F]) -> Result<ByOwner<F>> {
        let (me, parties, backend) = (self.here.me, self.here.parties, self.here.backend);
        let key = self.key().element();
        // Step 1.
        let mut x = Zeroizing::new(Vec::with_capacity(own.len() + 1));
        x.push(drawn(&mut self.rng));
        self.joint.conduct().before(FieldAct::Holds { what: "mask of inputs", values: &mut x });
        x.extend_from_slice(own);
        let n = x.len();
        // Step 2.
        let mut all: ByOwner<F> = Vec::with_capacity(parties.into());
        let mut values = Zeroizing::new(vec![F::ZERO; n]);
        for owner in 0..parties {
            values.fill(F::ZERO);
            if owner == me.0 {
                values.copy_from_slice(&x);
            }
            self.add_zero(&mut values);
            all.push(Zeroizing::new(values.iter().map(|&value| SumShare { value, mac: F::ZERO }).collect()));
        }
        // Step 4, this party's term.
        for (share, x) in all[usize::from(me.0)].iter_mut().zip(&*x) {
            share.mac = key.times(backend, *x);
        }
        // Steps 3 to 5.
        let FieldDealer { joint, links, openings, .. } = self;
        let lengths = (n.div_ceil(PIECE), |piece| message_bytes::<F>(PIECE.min(n - piece * PIECE)));
        let mut products = Products { me, links, x: &x, shares: &mut all, some: Zeroizing::new(vec![F::ZERO; PIECE]) };
        stream(mesh, "products with keys", joint.conduct(), lengths, &mut products)?;
        // Step 6.
        let coin = openings.coin(mesh, joint.conduct())?;
        let r: Vec<F> = coefficients(backend, &coin, n);
        // Step 7.
        let mut y = [F::inner_product(backend, &x, &r)];
        joint.conduct().before(FieldAct::Holds { what: "combination of inputs", values: &mut y });
        let said = openings.tell(mesh, "combination of inputs", &bytes(&y), joint.conduct())?;
        // Steps 8 and 9.
        for (owner, shares) in (0..parties).map(PartyId).zip(&mut all) {
            let macs = Zeroizing::new(shares.iter().map(|share| share.mac).collect::<Vec<F>>());
            let mac = F::inner_product(backend, &macs, &r);
            let y = if owner == me { y[0] } else { elements::<F>(&said[owner]).map_err(|error| error.by(owner))?[0] };
            openings.opened(y, mac);
            shares.remove(0);
        }
        Ok(all)
    }
}

/// Products of what all put in with all shares of the key, a piece of elements at a time.
struct Products<'a, F: Field> {
    me: PartyId,
    links: &'a mut PerPeer<Link<F>>,
    /// What this party puts in.
    x: &'a [F],
    /// Shares of what each party put in.
    shares: &'a mut ByOwner<F>,
    /// Memory for a piece of products.
    some: Zeroizing<Vec<F>>,
}

impl<F: Field> Products<'_, F> {
    /// The places of a piece.
    fn range(&self, piece: usize) -> Range<usize> {
        piece * PIECE..self.x.len().min((piece + 1) * PIECE)
    }
}

impl<F: Field> Pieces for Products<'_, F> {
    /// Step 4, a peer's term.
    fn say(&mut self, piece: usize, peer: PartyId, message: &mut Vec<u8>) {
        let range = self.range(piece);
        let some = &mut self.some[..range.len()];
        self.links[peer].sender.extend(&self.x[range.clone()], some, message);
        let shares = &mut self.shares[usize::from(self.me.0)][range];
        shares.iter_mut().zip(&*some).for_each(|(share, t)| share.mac = share.mac.plus(*t));
    }

    /// Step 5.
    fn hear(&mut self, piece: usize, peer: PartyId, message: &[u8]) -> Result<()> {
        let range = self.range(piece);
        let some = &mut self.some[..range.len()];
        self.links[peer].receiver.extend(message, some)?;
        let shares = &mut self.shares[usize::from(peer.0)][range];
        shares.iter_mut().zip(&*some).for_each(|(share, q)| share.mac = *q);
        Ok(())
    }
}

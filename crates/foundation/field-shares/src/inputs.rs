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
//! **Sound.** With another `x` in one tree of a COPEe than in the others the MAC is wrong by the number that the
//! tree's digits of `alpha_i` make, times the difference; so `y` has the right MAC only if the owner guesses
//! what the trees at which it lies add up to, or by a coefficient, 1 / |F|. A guess of c digits, or of c sums of
//! digits, passes with probability 2^-c, and takes c digits from what the liar does not know of the key. `x_0`
//! masks `y`.
//!
//! **Cost** of an element, to each peer: [`BITS`](Field::BITS) / [`TREE`](crate::TREE) elements, 512 bytes in
//! GF(2^128), and 512 blocks of streams at both. Five rounds, and those of a check.

use comity_channel::Mesh;
use comity_core::{PartyId, Result};
use zeroize::Zeroizing;

use crate::act::{FieldAct, FieldConduct};
use crate::cope::message_bytes;
use crate::dealer::FieldDealer;
use crate::field::{Field, bytes, coefficients, drawn, elements};
use crate::sum_share::{ByOwner, SumShare};

impl<F: Field, C: FieldConduct<F>> FieldDealer<F, C> {
    /// Shares of elements that each party puts in, by party: of each as many as this one has. They are checked.
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
        // Step 3.
        let mut sum = Zeroizing::new(vec![F::ZERO; n]);
        let mut product = Zeroizing::new(vec![F::ZERO; n]);
        let FieldDealer { joint, links, openings, messages, .. } = self;
        messages.alike(mesh, "products with keys", joint.conduct(), |peer, message| {
            links[peer].sender.extend(&x, &mut product, message);
            sum.iter_mut().zip(&*product).for_each(|(sum, t)| *sum = sum.plus(*t));
        })?;
        debug_assert!(messages.heard.iter().all(|(_, message)| message.len() == message_bytes::<F>(n)));
        // Step 4.
        for (share, (x, t)) in all[usize::from(me.0)].iter_mut().zip(x.iter().zip(&*sum)) {
            share.mac = key.times(backend, *x).plus(*t);
        }
        // Step 5.
        for (peer, message) in messages.heard.iter() {
            links[peer].receiver.extend(message, &mut product).map_err(|error| error.by(peer))?;
            let shares = all[usize::from(peer.0)].iter_mut();
            shares.zip(&*product).for_each(|(share, q)| share.mac = *q);
        }
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

//! `FieldOpenings`: values that open to all, and the check of their MACs (Keller, Orsini, Scholl, CCS 2016,
//! ePrint 2016/505, figure 6; as in Damgard, Keller, Larraia, Pastro, Scholl, Smart, ESORICS 2013, whose
//! check keeps the MAC key).
//!
//! *Open*: all say their shares of a value; it is the sum. The check waits: it is one for all that was opened
//! since the last one. *MACCheck*: 1. It is made sure that all heard the same values. 2. A coin, which nobody
//! knew when the last value was said, names a combination: `y` of the values, `gamma_i` of this party's
//! shares of their MACs. 3. `sigma_i = gamma_i - alpha_i y`. 4. All say their `sigma_i` at the same time
//! ([simultaneous broadcast](comity_share::say_string)). 5. The sum must be zero.
//!
//! **Sound.** If some value is not the one that was shared, the sum is a random combination of errors times
//! `alpha`, less what the liars add; that is zero if they guess `alpha`, of which an honest party's share is
//! uniform, or if the coin makes the combination of the errors zero: 2 / |F|.
//!
//! **What it tells.** In an honest run `sigma_i` is the sum of what masks this party's MACs towards the
//! others, and depends on no value. A party that lies by `e` learns `alpha_i e` of each honest party.
//! That unmasks nothing, since `alpha` masks nothing, but with it a lie would pass every later check. So a
//! check that begins and does not pass, whatever the reason, ends the key; a party that stores something
//! under it notes that before the check begins.
//!
//! **Cost**: an element to each peer for a value that is opened, and for each check seven rounds and 272
//! bytes to each peer, between two parties four rounds and 224 bytes both ways together.

use comity_channel::{Echo, Mesh, PerPeer, Pieces};
use comity_core::{Backend, Block, Error, PartyId, Prg, Result, SessionId, declassify_all, verdict};
use comity_protocol::{Conduct, Here};
use comity_share::joint::JointAct;
use comity_share::{coin_with, say_string};
use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

use crate::act::{FieldAct, FieldConduct};
use crate::checks;
use crate::field::{Field, bytes, coefficients, elements, ended};
use crate::sum_share::{MacKey, SumShare};

/// One party's view of what was opened to all under one MAC key.
///
/// All parties make the same calls in the same order. After an error it refuses to go on.
pub struct FieldOpenings<F: Field> {
    session: SessionId,
    backend: Backend,
    key: MacKey<F>,
    echo: Echo,
    /// The number of checks and coins so far: each has a session of its own.
    count: u64,
    /// Values since the last check, and this party's shares of their MACs.
    values: Vec<F>,
    macs: Zeroizing<Vec<F>>,
    rng: Prg,
    broken: bool,
}

impl<F: Field> FieldOpenings<F> {
    /// Openings under this key. The session is for them alone.
    pub fn new(here: Here, key: MacKey<F>, rng: &mut dyn CryptoRng) -> FieldOpenings<F> {
        FieldOpenings {
            session: here.session,
            backend: here.backend,
            key,
            echo: Echo::new(here.session.child("echo 0")),
            count: 0,
            values: Vec::new(),
            macs: Zeroizing::default(),
            rng: Prg::new(here.backend, Block::random(rng)),
            broken: false,
        }
    }

    /// This party's share of the MAC key.
    pub fn key(&self) -> &MacKey<F> {
        &self.key
    }

    /// The number of values that are to be checked.
    pub fn unchecked(&self) -> usize {
        self.values.len()
    }

    /// *Open*: the values of these shares. They are not checked.
    ///
    /// # Errors
    /// Those of the channels, and of what does not decode.
    pub fn open<C: FieldConduct<F>>(
        &mut self,
        mesh: &mut Mesh<'_>,
        what: &'static str,
        shares: &[SumShare<F>],
        conduct: &mut C,
    ) -> Result<Vec<F>> {
        let mut own = Zeroizing::new(shares.iter().map(|share| share.value).collect::<Vec<F>>());
        conduct.before(FieldAct::Holds { what, values: &mut own });
        let heard = self.tell(mesh, what, &bytes(&own), conduct)?;
        let mut values = own.to_vec();
        self.guarded(|_| {
            heard.iter().try_for_each(|(peer, said)| {
                let said: Vec<F> = elements(said).map_err(|error| error.by(peer))?;
                values.iter_mut().zip(said).for_each(|(sum, share)| *sum = sum.plus(share));
                Ok(())
            })
        })?;
        declassify_all(&mut values, "all shares of it were said");
        for (value, share) in values.iter().zip(shares) {
            self.opened(*value, share.mac);
        }
        Ok(values)
    }

    /// Says something to all and hears as much from each: that all heard the same is part of the next check.
    ///
    /// # Errors
    /// Those of the channels.
    pub fn tell<C: FieldConduct<F>>(
        &mut self,
        mesh: &mut Mesh<'_>,
        what: &'static str,
        own: &[u8],
        conduct: &mut C,
    ) -> Result<PerPeer<Vec<u8>>> {
        self.guarded(|openings| {
            let heard = exchange(mesh, what, conduct, own)?;
            openings.echo.hear(what, own, &heard);
            Ok(heard)
        })
    }

    /// Bytes that one party says to all. It gives them as `own`, and the others give nothing. The next check
    /// also checks that all heard the same.
    ///
    /// # Errors
    /// Those of the channels.
    pub fn announced<C: FieldConduct<F>>(
        &mut self,
        mesh: &mut Mesh<'_>,
        what: &'static str,
        (owner, len): (PartyId, usize),
        own: &[u8],
        conduct: &mut C,
    ) -> Result<Vec<u8>> {
        self.guarded(|openings| {
            let me = mesh.me();
            let mut messages = Messages::new(mesh);
            messages.say(own);
            messages.exchange(mesh, what, conduct, |peer| if peer == owner { len } else { 0 })?;
            openings.echo.hear(what, own, &messages.heard);
            let mut said = if me == owner { own.to_vec() } else { messages.heard[owner].clone() };
            declassify_all(&mut said, "its owner said it to all");
            Ok(said)
        })
    }

    /// Takes in a value that is known to all, such as one that its owner said, with this party's share of its
    /// MAC.
    pub fn opened(&mut self, value: F, mac: F) {
        self.values.push(value);
        self.macs.push(mac);
    }

    /// 256 random bits, the same for all, which nobody knows before all have begun this call.
    ///
    /// # Errors
    /// As [`coin_with`].
    pub fn coin<C: FieldConduct<F>>(&mut self, mesh: &mut Mesh<'_>, conduct: &mut C) -> Result<[u8; 32]> {
        self.guarded(|openings| {
            openings.count += 1;
            let session = openings.session.child(&format!("coin {}", openings.count));
            coin_with(mesh, session, &mut openings.rng, conduct)
        })
    }

    /// *MACCheck*, of all values since the last one.
    ///
    /// # Errors
    /// [`FALSE_MAC`](checks::FALSE_MAC) and [`EQUIVOCATION`](comity_share::checks::EQUIVOCATION) by nobody in
    /// particular, [`MAC_OPENING`](checks::MAC_OPENING) by a party; those of the channels.
    pub fn check<C: FieldConduct<F>>(&mut self, mesh: &mut Mesh<'_>, conduct: &mut C) -> Result<()> {
        // Step 1.
        self.settle(mesh, conduct)?;
        if self.values.is_empty() {
            return Ok(());
        }
        // Step 2.
        let coin = self.coin(mesh, conduct)?;
        self.guarded(|openings| {
            let FieldOpenings { backend, values, macs, key, rng, session, count, .. } = openings;
            let chi: Vec<F> = coefficients(*backend, &coin, values.len());
            let y = F::inner_product(*backend, values, &chi);
            let gamma = F::inner_product(*backend, macs, &chi);
            // Step 3.
            let mut sigma = Zeroizing::new([gamma.minus(key.element().times(*backend, y))]);
            conduct.before(FieldAct::Holds { what: "sigma", values: &mut *sigma });
            // Step 4.
            let session = session.child(&format!("sigma {count}"));
            let what = ("sigma", checks::MAC_OPENING);
            let said = say_string(mesh, session, what, &Zeroizing::new(bytes(&*sigma)), rng, conduct)?;
            // Step 5.
            let mut sum = sigma[0];
            for (peer, said) in said.iter() {
                sum = sum.plus(elements::<F>(said).map_err(|error| error.by(peer))?[0]);
            }
            if !verdict(sum.ct_eq(&F::ZERO)) {
                return Err(Error::from(checks::FALSE_MAC));
            }
            values.clear();
            macs.zeroize();
            Ok(())
        })
    }

    /// Makes sure that all heard the same of what was said to all.
    fn settle<C: FieldConduct<F>>(&mut self, mesh: &mut Mesh<'_>, conduct: &mut C) -> Result<()> {
        self.guarded(|openings| {
            openings.count += 1;
            let next = Echo::new(openings.session.child(&format!("echo {}", openings.count)));
            let echo = core::mem::replace(&mut openings.echo, next);
            if mesh.parties() > 2 {
                let digest = echo.digest();
                let heard = exchange(mesh, "echo", conduct, &digest)?;
                echo.compare(heard.iter().map(|(_, digest)| &digest[..]))?;
            }
            Ok(())
        })
    }

    /// Does what a call asks for, unless an earlier one failed: then the key is wiped.
    fn guarded<T>(&mut self, call: impl FnOnce(&mut FieldOpenings<F>) -> Result<T>) -> Result<T> {
        if core::mem::replace(&mut self.broken, true) {
            return Err(ended());
        }
        let result = call(self);
        match result {
            Ok(_) => self.broken = false,
            Err(_) => self.end(),
        }
        result
    }

    /// Wipes the key and goes on no more.
    pub(crate) fn end(&mut self) {
        self.broken = true;
        self.key.zeroize();
        self.macs.zeroize();
    }
}

/// Says the same to all, and hears as much from each. One round.
fn exchange<C: for<'a> Conduct<JointAct<'a>>>(
    mesh: &mut Mesh<'_>,
    what: &'static str,
    conduct: &mut C,
    own: &[u8],
) -> Result<PerPeer<Vec<u8>>> {
    let mut messages = Messages::new(mesh);
    messages.say(own);
    messages.exchange(mesh, what, conduct, |_| own.len())?;
    Ok(messages.heard)
}

/// Says what `work` says, and has it take in as much from each: pieces, their number and the bytes of each. One round.
pub(crate) fn stream<C: for<'a> Conduct<JointAct<'a>>>(
    mesh: &mut Mesh<'_>,
    what: &'static str,
    conduct: &mut C,
    (pieces, bytes): (usize, impl Fn(usize) -> usize),
    work: &mut impl Pieces,
) -> Result<()> {
    mesh.stream(pieces, bytes, &mut Named { what, conduct, work })
}

/// Messages to all peers, and theirs. What is said again and again takes the memory of the time before, so
/// that no page of it has to be cleared again.
pub(crate) struct Messages {
    pub(crate) out: PerPeer<Vec<u8>>,
    pub(crate) heard: PerPeer<Vec<u8>>,
}

impl Messages {
    pub(crate) fn new(mesh: &Mesh<'_>) -> Messages {
        let none = || PerPeer::new(mesh.me(), mesh.parties(), |_| Vec::new());
        Messages { out: none(), heard: none() }
    }

    /// The same to all.
    fn say(&mut self, own: &[u8]) {
        self.out.iter_mut().for_each(|(_, out)| out.extend_from_slice(own));
    }

    /// Says what is in `out`, and hears as many bytes from each peer as `lengths` gives. One round.
    fn exchange<C: for<'a> Conduct<JointAct<'a>>>(
        &mut self,
        mesh: &mut Mesh<'_>,
        what: &'static str,
        conduct: &mut C,
        lengths: impl Fn(PartyId) -> usize,
    ) -> Result<()> {
        let Messages { out, heard } = self;
        for (peer, bytes) in out.iter_mut() {
            conduct.before(JointAct::Says { what, peer, bytes });
        }
        heard.iter_mut().for_each(|(peer, bytes)| bytes.resize(lengths(peer), 0));
        mesh.exchange(out, heard)?;
        for (peer, bytes) in heard.iter() {
            conduct.before(JointAct::Hears { what, peer, bytes });
        }
        Ok(())
    }

    /// Says to each what `say` appends, and hears as much from each. One round.
    pub(crate) fn alike<C: for<'a> Conduct<JointAct<'a>>>(
        &mut self,
        mesh: &mut Mesh<'_>,
        what: &'static str,
        conduct: &mut C,
        mut say: impl FnMut(PartyId, &mut Vec<u8>),
    ) -> Result<()> {
        for (peer, bytes) in self.out.iter_mut() {
            bytes.clear();
            say(peer, bytes);
        }
        let lengths = PerPeer::new(mesh.me(), mesh.parties(), |peer| self.out[peer].len());
        self.exchange(mesh, what, conduct, |peer| lengths[peer])
    }
}

/// The pieces of a message, each of which the conduct sees under the message's name.
struct Named<'a, C, W> {
    what: &'static str,
    conduct: &'a mut C,
    work: &'a mut W,
}

impl<C: for<'a> Conduct<JointAct<'a>>, W: Pieces> Pieces for Named<'_, C, W> {
    fn say(&mut self, piece: usize, peer: PartyId, bytes: &mut Vec<u8>) {
        self.work.say(piece, peer, bytes);
        self.conduct.before(JointAct::Says { what: self.what, peer, bytes });
    }

    fn hear(&mut self, piece: usize, peer: PartyId, bytes: &[u8]) -> Result<()> {
        self.conduct.before(JointAct::Hears { what: self.what, peer, bytes });
        self.work.hear(piece, peer, bytes)
    }
}

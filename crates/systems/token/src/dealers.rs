//! The dealers of the holder and of the other parties.

use comity_channel::Mesh;
use comity_core::{Backend, Block, Error, PartyId, Prg, Result, SessionId};
use comity_protocol::{Dealer, Party};
use comity_share::BitTriples;

use crate::messages::{SeedLetter, SeedOrder, SeedRequest};
use crate::seal::{RecipientKey, SeedUse, open, vouched};
use crate::seeds::{Share, triples};
use crate::token::TokenAccess;

/// The party that holds the token.
pub const HOLDER: PartyId = PartyId(0);

/// The sessions of a dealer, one after another.
struct Sessions {
    session: SessionId,
    next: u64,
}

impl Sessions {
    fn next(&mut self) -> SessionId {
        self.next += 1;
        self.session.child(&format!("seeds {}", self.next))
    }
}

/// The holder's dealer.
///
/// Whatever answers at the address of its token knows this party's shares of all triples; together with the
/// messages to another party these give away its inputs. So a holder that was given its token's fingerprint
/// takes no seed before that token has signed the others'.
pub struct HolderTriples<'t> {
    token: Box<dyn TokenAccess + 't>,
    known: Option<[u8; 32]>,
    sessions: Sessions,
    backend: Backend,
}

impl<'t> HolderTriples<'t> {
    /// Deals from this token. The session of the party is this dealer's alone.
    pub fn new(me: &Party<'_, '_>, token: Box<dyn TokenAccess + 't>) -> HolderTriples<'t> {
        let sessions = Sessions { session: me.here.session, next: 0 };
        HolderTriples { token, known: None, sessions, backend: me.here.backend }
    }

    /// The same, from the token that has this fingerprint, or whose issuer has it.
    #[must_use]
    pub fn knowing(self, known: Option<[u8; 32]>) -> HolderTriples<'t> {
        HolderTriples { known, ..self }
    }
}

impl Dealer for HolderTriples<'_> {
    type Batch = BitTriples;

    fn deal(&mut self, net: &mut Mesh<'_>, at_least: usize) -> Result<BitTriples> {
        // Init: the token makes seeds, and party 0's share of c, whoever the others are.
        let order = SeedOrder::new(net.parties(), at_least)?;
        let init = self.token.init(order)?;
        // Set-up: keys come from the others, and sealed seeds go to them.
        let mut recipients = vec![[0; 32]; usize::from(net.parties() - 1)];
        for (peer, key) in net.peers().zip(&mut recipients) {
            net.link(peer).recv(key).map_err(|error| error.by(peer))?;
        }
        let request = SeedRequest { session: self.sessions.next(), recipients };
        let answer = self.token.set_up(&request)?;
        let letter = |sealed| SeedLetter { introduction: init.introduction, counter: init.counter, sealed };
        let letters: Vec<SeedLetter> = answer.sealed.into_iter().map(letter).collect();
        if self.known.is_some() {
            for ((peer, letter), &recipient) in net.peers().zip(&letters).zip(&request.recipients) {
                let (session, parties, triples) = (request.session, net.parties(), order.triples());
                let for_ = SeedUse { session, party: peer.0, parties, recipient, triples };
                // It is no other party's doing.
                vouched(letter, self.known, &for_)
                    .map_err(|error| Error::store(format!("the token of this party: {}", error.kind)))?;
            }
        }
        for (peer, letter) in net.peers().zip(&letters) {
            net.link(peer).send(&letter.to_bytes()).map_err(|error| error.by(peer))?;
        }
        net.flush()?;
        Ok(triples(self.backend, Block::new(*answer.seed), Share::Told(init.product_share)))
    }
}

/// The dealer of any other party.
pub struct PartnerTriples {
    known: Option<[u8; 32]>,
    sessions: Sessions,
    backend: Backend,
    rng: Prg,
}

impl PartnerTriples {
    /// Deals from the token that has this fingerprint, or whose issuer has it; from any token if none is
    /// known. The session of the party is this dealer's alone.
    pub fn new(me: &mut Party<'_, '_>, known: Option<[u8; 32]>) -> PartnerTriples {
        let (session, backend) = (me.here.session, me.here.backend);
        PartnerTriples {
            known,
            sessions: Sessions { session, next: 0 },
            backend,
            rng: Prg::new(backend, Block::random(me.rng)),
        }
    }
}

impl Dealer for PartnerTriples {
    type Batch = BitTriples;

    fn deal(&mut self, net: &mut Mesh<'_>, at_least: usize) -> Result<BitTriples> {
        let order = SeedOrder::new(net.parties(), at_least)?;
        let key = RecipientKey::draw(&mut self.rng);
        let for_ = SeedUse {
            session: self.sessions.next(),
            party: net.me().0,
            parties: net.parties(),
            recipient: *key.public(),
            triples: order.triples(),
        };
        let mut letter = [0; SeedLetter::BYTES];
        let link = net.link(HOLDER);
        let heard = link.send(&for_.recipient).and_then(|()| link.recv(&mut letter));
        let seed = heard.and_then(|()| open(&SeedLetter::from_bytes(&letter), self.known, &for_, key));
        let seed = seed.map_err(|error| error.by(HOLDER))?;
        Ok(triples(self.backend, seed, Share::Drawn(order.rows())))
    }
}

//! The line between a token and its holder: the messages of both over a channel, one order after another.

use comity_channel::Channel;
use comity_core::{Backend, Block, Error, Kind, Result};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::keys::TokenKeys;
use crate::messages::{SeedAnswer, SeedInit, SeedOrder, SeedRequest};
use crate::token::{FreshSeeds, SeedCounter, TokenAccess};

/// The token's side: serves one holder until it closes the line, and returns how many set-ups it did. What
/// went wrong is said here alone: the holder sees that the line is closed.
///
/// # Errors
/// [`Malformed`](comity_core::Kind) names what is wrong with the holder's message; those of the counter and
/// of the channel.
pub fn serve_holder(
    ch: &mut dyn Channel,
    keys: &TokenKeys,
    counter: &mut dyn SeedCounter,
    backend: Backend,
    rng: &mut dyn CryptoRng,
) -> Result<u64> {
    let mut set_ups = 0;
    loop {
        // Init.
        let mut order = [0; SeedOrder::BYTES];
        match ch.recv(&mut order) {
            Err(Error { kind: Kind::Closed, .. }) => return Ok(set_ups),
            read => read?,
        }
        let order = SeedOrder::from_bytes(&order)?;
        let (fresh, init) = FreshSeeds::init(keys, counter, order, backend, rng)?;
        ch.send(&init.head())?;
        ch.send(Block::bytes_of(&init.product_share))?;
        ch.flush()?;
        // Set-up.
        let mut request = vec![0; SeedRequest::bytes(order.parties())];
        match ch.recv(&mut request) {
            // Nobody came to whom the holder could hand them on.
            Err(Error { kind: Kind::Closed, .. }) => return Ok(set_ups),
            read => read?,
        }
        let request = SeedRequest::from_bytes(&request, order.parties())?;
        ch.send(&fresh.set_up(keys, &request, rng)?.to_bytes())?;
        ch.flush()?;
        set_ups += 1;
    }
}

/// The holder's side.
pub struct TokenLine<'c> {
    ch: &'c mut dyn Channel,
    parties: u16,
}

impl<'c> TokenLine<'c> {
    /// The token at the other end of this channel.
    pub fn new(ch: &'c mut dyn Channel) -> TokenLine<'c> {
        TokenLine { ch, parties: 0 }
    }
}

/// An error of the line is no other party's doing.
fn of_token(error: Error) -> Error {
    match error.kind {
        Kind::Stopped | Kind::Deadline(_) => error,
        Kind::Closed => {
            Error::store("the token closed the line: its process ended, or it refused, and then it says why itself")
        }
        kind => Error::store(format!("the token: {kind}")),
    }
}

impl TokenAccess for TokenLine<'_> {
    fn init(&mut self, order: SeedOrder) -> Result<SeedInit> {
        self.parties = order.parties();
        let mut head = [0; SeedInit::HEAD];
        let mut product_share = Zeroizing::new(vec![Block::ZERO; order.rows()]);
        self.ch.send(&order.to_bytes()).map_err(of_token)?;
        self.ch.recv(&mut head).map_err(of_token)?;
        self.ch.recv(Block::bytes_of_mut(&mut product_share)).map_err(of_token)?;
        let (counter, introduction) = SeedInit::read_head(&head);
        Ok(SeedInit { counter, introduction, product_share })
    }

    fn set_up(&mut self, request: &SeedRequest) -> Result<SeedAnswer> {
        let mut answer = Zeroizing::new(vec![0; SeedAnswer::bytes(self.parties)]);
        self.ch.send(&request.to_bytes()).map_err(of_token)?;
        self.ch.recv(&mut answer).map_err(of_token)?;
        SeedAnswer::from_bytes(&answer, self.parties)
    }
}

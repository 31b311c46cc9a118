//! The messages between a token, its holder and the other parties. Each has one length, which follows from
//! what its reader asked for.

use comity_core::{Block, Error, Result, SessionId};
use zeroize::Zeroizing;

use crate::keys::{Introduction, SIGNATURE};
use crate::seeds::ROW;

/// The first bytes of an order: what it is, and of which version.
const MAGIC: &[u8; 8] = b"token v1";

/// The most rows of one order: 2^24 triples, two megabytes of shares of `c`.
pub const MOST_ROWS: u32 = 1 << 17;

/// The most parties.
pub(crate) const MOST_PARTIES: u16 = 16;

/// The order of a holder in the init phase: seeds for a number of parties, for a number of rows of triples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedOrder {
    parties: u16,
    rows: u32,
}

impl SeedOrder {
    /// Bytes of an order.
    pub const BYTES: usize = MAGIC.len() + 2 + 4;

    /// An order for at least `triples` triples.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if these are too many or none, or it is for fewer than two parties
    /// or more than sixteen.
    pub fn new(parties: u16, triples: usize) -> Result<SeedOrder> {
        let rows = u32::try_from(triples.div_ceil(ROW)).unwrap_or(u32::MAX);
        SeedOrder::checked(parties, rows).map_err(Error::invalid_input)
    }

    fn checked(parties: u16, rows: u32) -> core::result::Result<SeedOrder, String> {
        if !(2..=MOST_PARTIES).contains(&parties) {
            return Err(format!("a token serves two to {MOST_PARTIES} parties, and the order is for {parties}"));
        }
        if !(1..=MOST_ROWS).contains(&rows) {
            return Err(format!("an order is for 1 to {MOST_ROWS} rows of {ROW} triples, and this one for {rows}"));
        }
        Ok(SeedOrder { parties, rows })
    }

    /// The number of parties.
    pub fn parties(&self) -> u16 {
        self.parties
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows as usize
    }

    /// The number of triples.
    pub fn triples(&self) -> u64 {
        ROW as u64 * u64::from(self.rows)
    }

    /// The bytes of an order.
    pub fn to_bytes(&self) -> [u8; SeedOrder::BYTES] {
        let mut bytes = [0; SeedOrder::BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..10].copy_from_slice(&self.parties.to_le_bytes());
        bytes[10..].copy_from_slice(&self.rows.to_le_bytes());
        bytes
    }

    /// The order with these bytes.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if the bytes are not an order.
    pub fn from_bytes(bytes: &[u8; SeedOrder::BYTES]) -> Result<SeedOrder> {
        let [magic @ .., p, q, r, s, t, u] = bytes;
        if magic != MAGIC {
            return Err(Error::malformed(
                "this is not an order of seeds: the holder speaks another version, or asks for a second set-up of seeds \
                 that are spent",
            ));
        }
        SeedOrder::checked(u16::from_le_bytes([*p, *q]), u32::from_le_bytes([*r, *s, *t, *u])).map_err(Error::malformed)
    }
}

/// What a token answers in the init phase.
pub struct SeedInit {
    /// The number of the seeds, which no others of this token have.
    pub counter: u64,
    /// Who the token is.
    pub introduction: Introduction,
    /// Party 0's share of `c`.
    pub product_share: Zeroizing<Vec<Block>>,
}

impl SeedInit {
    /// Bytes before the share of `c`.
    pub const HEAD: usize = 8 + Introduction::BYTES;

    /// The bytes before the share of `c`.
    pub fn head(&self) -> [u8; SeedInit::HEAD] {
        let mut bytes = [0; SeedInit::HEAD];
        bytes[..8].copy_from_slice(&self.counter.to_le_bytes());
        bytes[8..].copy_from_slice(&self.introduction.to_bytes());
        bytes
    }

    /// The counter and the introduction in these bytes.
    pub fn read_head(bytes: &[u8; SeedInit::HEAD]) -> (u64, Introduction) {
        let (counter, introduction) = bytes.split_first_chunk().expect("a head is longer");
        (u64::from_le_bytes(*counter), Introduction::from_bytes(introduction.try_into().expect("the rest of a head")))
    }
}

/// What a holder asks for in the set-up phase: its own seed, and every other party's, sealed to that party's key.
pub struct SeedRequest {
    /// The session in which the seeds will be used.
    pub session: SessionId,
    /// The keys of party 1 and those after it.
    pub recipients: Vec<[u8; 32]>,
}

impl SeedRequest {
    /// Bytes of a request among `parties` parties.
    pub fn bytes(parties: u16) -> usize {
        SessionId::BYTES + 32 * usize::from(parties - 1)
    }

    /// The bytes of a request.
    pub fn to_bytes(&self) -> Vec<u8> {
        [&self.session.to_bytes()[..], self.recipients.as_flattened()].concat()
    }

    /// The request with these bytes, among `parties` parties.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if they are of another length.
    pub fn from_bytes(bytes: &[u8], parties: u16) -> Result<SeedRequest> {
        let wanted = SeedRequest::bytes(parties);
        let (session, keys) = bytes.split_first_chunk().filter(|_| bytes.len() == wanted).ok_or_else(|| {
            Error::malformed(format!("a request among {parties} has {wanted} bytes, and this one {}", bytes.len()))
        })?;
        Ok(SeedRequest { session: SessionId::new(*session), recipients: keys.as_chunks().0.to_vec() })
    }
}

/// A seed that only its recipient can open, and the token's signature of all that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealedSeed {
    pub(crate) sealed: [u8; SealedSeed::CIPHERTEXT],
    pub(crate) signature: [u8; SIGNATURE],
}

impl SealedSeed {
    /// Bytes of the ciphertext: an encapsulated key, a seed and a tag.
    pub(crate) const CIPHERTEXT: usize = 32 + 16 + 16;

    /// Bytes of a sealed seed.
    pub const BYTES: usize = SealedSeed::CIPHERTEXT + SIGNATURE;

    /// The bytes of a sealed seed.
    pub fn to_bytes(&self) -> [u8; SealedSeed::BYTES] {
        let mut bytes = [0; SealedSeed::BYTES];
        bytes[..SealedSeed::CIPHERTEXT].copy_from_slice(&self.sealed);
        bytes[SealedSeed::CIPHERTEXT..].copy_from_slice(&self.signature);
        bytes
    }

    /// The sealed seed with these bytes.
    pub fn from_bytes(bytes: &[u8; SealedSeed::BYTES]) -> SealedSeed {
        let (sealed, signature) = bytes.split_at(SealedSeed::CIPHERTEXT);
        SealedSeed {
            sealed: sealed.try_into().expect("the first part"),
            signature: signature.try_into().expect("the second part"),
        }
    }
}

/// What a token answers in the set-up phase.
pub struct SeedAnswer {
    /// Party 0's seed.
    pub seed: Zeroizing<[u8; 16]>,
    /// The seeds of party 1 and those after it.
    pub sealed: Vec<SealedSeed>,
}

impl SeedAnswer {
    /// Bytes of an answer among `parties` parties.
    pub fn bytes(parties: u16) -> usize {
        16 + SealedSeed::BYTES * usize::from(parties - 1)
    }

    /// The bytes of an answer.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(16 + SealedSeed::BYTES * self.sealed.len()));
        bytes.extend_from_slice(&self.seed[..]);
        self.sealed.iter().for_each(|sealed| bytes.extend(sealed.to_bytes()));
        bytes
    }

    /// The answer with these bytes, among `parties` parties.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if they are of another length.
    pub fn from_bytes(bytes: &[u8], parties: u16) -> Result<SeedAnswer> {
        let wanted = SeedAnswer::bytes(parties);
        let (seed, sealed) = bytes.split_first_chunk::<16>().filter(|_| bytes.len() == wanted).ok_or_else(|| {
            Error::malformed(format!("an answer among {parties} has {wanted} bytes, and this one {}", bytes.len()))
        })?;
        let sealed = sealed.as_chunks().0.iter().map(SealedSeed::from_bytes).collect();
        Ok(SeedAnswer { seed: Zeroizing::new(*seed), sealed })
    }
}

/// What party 0 hands on to another party: the token's introduction, the seeds' number, and that party's seed, sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedLetter {
    /// Who the token is.
    pub introduction: Introduction,
    /// The number of the seeds.
    pub counter: u64,
    /// The recipient's seed.
    pub sealed: SealedSeed,
}

impl SeedLetter {
    /// Bytes of a letter.
    pub const BYTES: usize = Introduction::BYTES + 8 + SealedSeed::BYTES;

    /// The bytes of a letter.
    pub fn to_bytes(&self) -> [u8; SeedLetter::BYTES] {
        let mut bytes = [0; SeedLetter::BYTES];
        bytes[..Introduction::BYTES].copy_from_slice(&self.introduction.to_bytes());
        bytes[Introduction::BYTES..][..8].copy_from_slice(&self.counter.to_le_bytes());
        bytes[Introduction::BYTES + 8..].copy_from_slice(&self.sealed.to_bytes());
        bytes
    }

    /// The letter with these bytes. Whether it is for this party, [`open`](crate::open) says.
    pub fn from_bytes(bytes: &[u8; SeedLetter::BYTES]) -> SeedLetter {
        let (introduction, rest) = bytes.split_first_chunk().expect("a letter begins with an introduction");
        let (counter, sealed) = rest.split_first_chunk().expect("then there is a counter");
        SeedLetter {
            introduction: Introduction::from_bytes(introduction),
            counter: u64::from_le_bytes(*counter),
            sealed: SealedSeed::from_bytes(sealed.try_into().expect("the rest is a sealed seed")),
        }
    }
}

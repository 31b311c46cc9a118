//! The seal of an answer, and of its stored copies: HPKE (RFC 9180), in chunks, streaming both ways.
//!
//! Copies are sealed in HPKE's PSK mode, with a secret that the seal of their answer exports: nobody but the
//! answer's sender can have sealed them.

use std::io::{self, ErrorKind, Read, Write};

use blake3::Hasher;
use comity_core::{Error, Result};
use hpke::aead::{AeadCtxR, AeadCtxS, AeadTag, ChaCha20Poly1305};
use hpke::inout::InOutBuf;
use hpke::kdf::HkdfSha256;
use hpke::kem::X25519HkdfSha256;
use hpke::{Deserializable, Kem, OpModeR, OpModeS, Serializable, setup_receiver, setup_sender_with_rng};
use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

use crate::envelope::{ENCAPSULATED, Envelope, Tie, context};
use crate::file::{CHECKSUM, FileKind, START};
use crate::head::Head;
use crate::name::Name;
use crate::query::Query;

/// Bytes of a chunk before it is encrypted; the last one may be shorter.
pub(crate) const CHUNK: usize = 64 << 10;

/// Bytes that encryption adds to a chunk.
pub(crate) const TAG: usize = 16;

/// Bytes of the chunks that hold `plain` bytes.
pub(crate) fn sealed_bytes(plain: u64) -> u64 {
    plain.saturating_add(TAG as u64 * plain.div_ceil(CHUNK as u64).max(1))
}

/// The size of the file of a stored copy of `copy` bytes ([`copy_bytes`](comity_nisc::Cost::copy_bytes)).
pub fn stored_bytes(copy: u64) -> u64 {
    sealed_bytes(copy).saturating_add((START + ENCAPSULATED + CHECKSUM) as u64)
}

/// The public key of this seed.
pub(crate) fn public_key(seed: &[u8; 32]) -> [u8; 32] {
    let (_, key) = X25519HkdfSha256::derive_keypair(seed);
    key.to_bytes().into()
}

/// Seals the bytes that are written to it: those that [`comity_nisc::respond()`] writes in the
/// [context](Sealer::context) of this seal. Only [`Sealer::finish`] completes the answer.
pub struct Sealer<'a> {
    kind: FileKind,
    answer: [u8; 32],
    to: &'a mut dyn Write,
    hash: Hasher,
    context: AeadCtxS<ChaCha20Poly1305, HkdfSha256, X25519HkdfSha256>,
    bound: [u8; 33],
    /// The bytes that are not on their way yet: up to a chunk.
    buffer: Vec<u8>,
    /// Whether a chunk could not be written: then nothing more is.
    broken: bool,
}

impl<'a> Sealer<'a> {
    /// Begins the answer of this sender to a query: writes the head and the encapsulated key.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if the query's key for answers is not a point of the group; errors of
    /// `to`.
    pub fn new(query: &Query, name: &Name, rng: &mut dyn CryptoRng, to: &'a mut dyn Write) -> Result<Sealer<'a>> {
        Ok(Sealer::with_tie(query, name, rng, to)?.0)
    }

    /// As [`Sealer::new`], and what ties the answer's stored copies to it.
    pub(crate) fn with_tie(
        query: &Query,
        name: &Name,
        rng: &mut dyn CryptoRng,
        to: &'a mut dyn Write,
    ) -> Result<(Sealer<'a>, Tie)> {
        let (program, fingerprint) = (*query.message().program(), *query.fingerprint());
        let head = Head { program, query: fingerprint, name: name.clone() }.to_bytes();
        let answer = |encapsulated: &_| context(&head, encapsulated);
        let sealer = Sealer::begin(query, Envelope::answer(OpModeS::Base, &fingerprint, &head), answer, rng, to)?;
        let tie = Tie::new(sealer.answer, |label, secret| sealer.context.export(label, secret));
        Ok((sealer, tie))
    }

    /// The context of this answer. The sealed bytes must be made in it, and open in no other seal.
    pub fn context(&self) -> &[u8; 32] {
        &self.answer
    }

    /// Begins copy `i` of the answer with this tie.
    pub(crate) fn copy(
        query: &Query,
        tie: &Tie,
        i: usize,
        rng: &mut dyn CryptoRng,
        to: &'a mut dyn Write,
    ) -> Result<Sealer<'a>> {
        let start = FileKind::Copy.start();
        let envelope = Envelope::copy(OpModeS::Psk(tie.psk()), query.fingerprint(), tie, i, &start);
        Sealer::begin(query, envelope, |_| tie.answer, rng, to)
    }

    /// Writes the head and the encapsulated key, unencrypted; `answer` makes the context from the key.
    fn begin(
        query: &Query,
        envelope: Envelope<'_, OpModeS<'_, X25519HkdfSha256>>,
        answer: impl FnOnce(&[u8; ENCAPSULATED]) -> [u8; 32],
        rng: &mut dyn CryptoRng,
        to: &'a mut dyn Write,
    ) -> Result<Sealer<'a>> {
        let Envelope { kind, mode, info, clear, bound } = envelope;
        let refused = |_| Error::malformed("the query's key for answers is not a key of X25519");
        let key = <X25519HkdfSha256 as Kem>::PublicKey::from_bytes(&query.sealing).map_err(refused)?;
        let (encapsulated, context) = setup_sender_with_rng(&mode, &key, &info, &mut &mut *rng).map_err(refused)?;
        let encapsulated: [u8; ENCAPSULATED] = encapsulated.to_bytes().into();
        let buffer = Vec::with_capacity(CHUNK + TAG);
        let answer = answer(&encapsulated);
        let mut sealer = Sealer { kind, answer, to, hash: kind.checksum(), context, bound, buffer, broken: false };
        let begun = sealer.write_all_hashed(clear).and_then(|()| sealer.write_all_hashed(&encapsulated));
        begun.map_err(|error| failed(kind, error))?;
        Ok(sealer)
    }

    /// Completes the answer: the last chunk, and the checksum.
    ///
    /// # Errors
    /// [`Io`](comity_core::Kind) from the writer.
    pub fn finish(mut self) -> Result<()> {
        let kind = self.kind;
        self.put(true).map_err(|error| failed(kind, error))?;
        let sum = self.hash.finalize();
        self.to.write_all(sum.as_bytes()).and_then(|()| self.to.flush()).map_err(|error| failed(kind, error))
    }

    fn put(&mut self, last: bool) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("an earlier part could not be written"));
        }
        self.broken = true;
        self.bound[32] = last.into();
        let sealed = self.context.seal_inout_detached(InOutBuf::from(&mut self.buffer[..]), &self.bound);
        let tag = sealed.map_err(|e| io::Error::other(e.to_string()))?;
        self.buffer.extend_from_slice(&tag.to_bytes());
        let buffer = std::mem::take(&mut self.buffer);
        self.write_all_hashed(&buffer)?;
        self.buffer = buffer;
        self.buffer.clear();
        self.broken = false;
        Ok(())
    }

    fn write_all_hashed(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.to.write_all(bytes)
    }
}

impl Write for Sealer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The last chunk goes out at the end, so a full one waits for a byte after it.
        if self.broken || (self.buffer.len() == CHUNK && !bytes.is_empty()) {
            self.put(false)?;
        }
        let some = bytes.len().min(CHUNK - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..some]);
        Ok(some)
    }

    /// Does nothing: only [`Sealer::finish`] makes an answer.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Sealer<'_> {
    fn drop(&mut self) {
        self.buffer.zeroize();
    }
}

fn failed(kind: FileKind, error: io::Error) -> Error {
    Error::io(format!("writing {}", kind.the()), error)
}

/// Reads sealed bytes, whose number is known beforehand. No byte comes out that is not in its place; whether
/// the answer is whole, [`Opener::finish`] says.
pub(crate) struct Opener<'a> {
    kind: FileKind,
    answer: [u8; 32],
    from: &'a mut dyn Read,
    hash: Hasher,
    context: AeadCtxR<ChaCha20Poly1305, HkdfSha256, X25519HkdfSha256>,
    bound: [u8; 33],
    /// The chunk at hand, decrypted, and how much of it was read.
    buffer: Zeroizing<Vec<u8>>,
    at: usize,
    /// Bytes in the chunks after it.
    left: u64,
    /// Bytes of the whole answer.
    total: u64,
    failure: Option<Error>,
}

impl<'a> Opener<'a> {
    /// Opens the answer with this head to this query; it contains `plain` bytes.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if the encapsulated key is not a point of the group.
    pub(crate) fn new(
        seed: &[u8; 32],
        query: &[u8; 32],
        head: &[u8],
        encapsulated: &[u8; ENCAPSULATED],
        plain: u64,
        from: &'a mut dyn Read,
    ) -> Result<Opener<'a>> {
        let answer = context(head, encapsulated);
        Opener::begin(seed, Envelope::answer(OpModeR::Base, query, head), answer, encapsulated, plain, from)
    }

    /// As [`Sealer::context`].
    pub(crate) fn context(&self) -> [u8; 32] {
        self.answer
    }

    /// The tie between the answer and its stored copies.
    pub(crate) fn tie(&self) -> Tie {
        Tie::new(self.answer, |label, secret| self.context.export(label, secret))
    }

    /// Opens copy `i` of the answer with this tie; `plain` bytes are in it.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if this is no stored copy.
    pub(crate) fn copy(
        seed: &[u8; 32],
        query: &[u8; 32],
        tie: &Tie,
        i: usize,
        plain: u64,
        from: &'a mut dyn Read,
    ) -> Result<Opener<'a>> {
        let (mut start, mut encapsulated) = ([0; START], [0; ENCAPSULATED]);
        read(FileKind::Copy, from, &mut start, stored_bytes(plain))?;
        FileKind::Copy.check(&start)?;
        read(FileKind::Copy, from, &mut encapsulated, stored_bytes(plain))?;
        let envelope = Envelope::copy(OpModeR::Psk(tie.psk()), query, tie, i, &start);
        Opener::begin(seed, envelope, tie.answer, &encapsulated, plain, from)
    }

    /// Begins after the bytes in the clear and the encapsulated key.
    fn begin(
        seed: &[u8; 32],
        envelope: Envelope<'_, OpModeR<'_, X25519HkdfSha256>>,
        answer: [u8; 32],
        encapsulated: &[u8; ENCAPSULATED],
        plain: u64,
        from: &'a mut dyn Read,
    ) -> Result<Opener<'a>> {
        let Envelope { kind, mode, info, clear, bound } = envelope;
        let refused = |_| Error::malformed(format!("the encapsulated key of {} is not a key of X25519", kind.the()));
        let (key, _) = X25519HkdfSha256::derive_keypair(seed);
        let point = <X25519HkdfSha256 as Kem>::EncappedKey::from_bytes(encapsulated).map_err(refused)?;
        let context = setup_receiver(&mode, &key, &point, &info).map_err(refused)?;
        let mut hash = kind.checksum();
        hash.update(clear).update(encapsulated);
        let total = sealed_bytes(plain).saturating_add((clear.len() + ENCAPSULATED + CHECKSUM) as u64);
        let buffer = Zeroizing::new(Vec::with_capacity(CHUNK + TAG));
        Ok(Opener { kind, answer, from, hash, context, bound, buffer, at: 0, left: plain, total, failure: None })
    }

    /// Reads the rest, and looks at the checksum and that nothing follows. Returns the checksum.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if the answer is not as its sender sealed it.
    pub(crate) fn finish(mut self) -> Result<[u8; CHECKSUM]> {
        while self.left > 0 && self.failure.is_none() {
            self.next();
        }
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let sum = self.checksum()?;
        let more = loop {
            match self.from.read(&mut [0]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                more => break more.map_err(|error| Error::io(format!("reading {}", self.kind.the()), error))?,
            }
        };
        match more {
            0 => Ok(sum),
            _ => Err(Error::malformed(format!("more follows the {} bytes of {}", self.total, self.kind.the()))),
        }
    }

    /// Reads the next chunk; an error is kept for later.
    fn next(&mut self) {
        if let Err(error) = self.chunk() {
            self.buffer.clear();
            self.at = 0;
            self.failure = Some(error);
        }
    }

    fn chunk(&mut self) -> Result<()> {
        let length = self.left.min(CHUNK as u64) as usize;
        let last = self.left == length as u64;
        self.fill(length)?;
        let (bytes, tag) = self.buffer.split_at_mut(length);
        self.bound[32] = last.into();
        let tag = AeadTag::<ChaCha20Poly1305>::from_bytes(tag);
        let opened = tag.and_then(|tag| self.context.open_inout_detached(InOutBuf::from(bytes), &self.bound, &tag));
        self.left -= length as u64;
        if opened.is_ok() {
            self.buffer.truncate(length);
            self.at = 0;
            return Ok(());
        }
        // Damage on the way is nobody's fault, and the checksum knows.
        while self.left > 0 {
            let length = self.left.min(CHUNK as u64) as usize;
            self.fill(length)?;
            self.left -= length as u64;
        }
        self.checksum()?;
        Err(Error::malformed(match self.kind {
            FileKind::Copy => {
                "the seal of a stored copy does not open: the copy is not the one that the sender of the answer stored"
            }
            _ => {
                "the answer's seal does not open: it was sealed for another query, or put together from several answers"
            }
        }))
    }

    /// Reads a chunk of `length` bytes, and its tag.
    fn fill(&mut self, length: usize) -> Result<()> {
        self.buffer.resize(length + TAG, 0);
        let Opener { kind, from, buffer, total, hash, .. } = self;
        read(*kind, *from, buffer, *total)?;
        hash.update(buffer);
        Ok(())
    }

    /// The checksum, which is right.
    fn checksum(&mut self) -> Result<[u8; CHECKSUM]> {
        let mut sum = [0; CHECKSUM];
        read(self.kind, self.from, &mut sum, self.total)?;
        if self.hash.finalize() != sum {
            let what = self.kind.the();
            return Err(Error::malformed(format!("{what} was damaged on its way: its checksum is wrong")));
        }
        Ok(sum)
    }
}

fn read(kind: FileKind, from: &mut dyn Read, bytes: &mut [u8], total: u64) -> Result<()> {
    let what = kind.the();
    from.read_exact(bytes).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => Error::malformed(format!("{what} is cut short: it should have {total} bytes")),
        _ => Error::io(format!("reading {what}"), error),
    })
}

impl Read for Opener<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.at == self.buffer.len() && self.left > 0 && self.failure.is_none() {
            self.next();
        }
        if self.failure.is_some() {
            return Err(io::Error::other("the seal does not open"));
        }
        let some = bytes.len().min(self.buffer.len() - self.at);
        bytes[..some].copy_from_slice(&self.buffer[self.at..][..some]);
        self.at += some;
        Ok(some)
    }
}

#[cfg(test)]
mod tests {
    use comity_circuit::Recipients;
    use comity_core::{Backend, Bits, Block, Prg};
    use comity_nisc::Copies;

    use super::*;
    use crate::key::QueryKey;

    /// The part that opens of an answer that contains `sealed` bytes, when the last `cut` of them are lost
    /// and `plain` are expected.
    fn opened(sealed: usize, cut: usize, plain: u64) -> Result<usize> {
        let (backend, rng) = (Backend::detect(), &mut Prg::new(Backend::detect(), Block::from_u128(1)));
        let program = comity_library::program("add8").unwrap().with_recipients(0, Recipients::only(0)).unwrap();
        let inputs = [Some(Bits::zeros(8)), None];
        let key = QueryKey::publish(backend, &program, "add8", &inputs, Copies::all(1).unwrap(), 1, rng).unwrap();
        let (query, mut answer) = (key.query(), Vec::new());
        let mut sealer = Sealer::new(&query, &Name::new("ann").unwrap(), rng, &mut answer).unwrap();
        sealer.write_all(&vec![7; sealed]).unwrap();
        sealer.finish().unwrap();
        answer.truncate(answer.len() - CHECKSUM - cut);
        let sum = FileKind::Answer.checksum().update(&answer).finalize();
        answer.extend_from_slice(sum.as_bytes());

        let from = &mut &answer[..];
        let head = Head::read(from).unwrap().to_bytes();
        let (encapsulated, mut rest) = from.split_first_chunk().unwrap();
        let mut opener = Opener::new(&key.seed, key.fingerprint(), &head, encapsulated, plain, &mut rest)?;
        let mut bytes = Vec::new();
        // Why it ends early, `finish` says.
        let _ = opener.read_to_end(&mut bytes);
        assert!(bytes.iter().all(|&byte| byte == 7));
        opener.finish().map(|_| bytes.len())
    }

    #[test]
    fn chunks_end_where_the_answer_does() {
        for count in [1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1] {
            assert_eq!(opened(count, 0, count as u64).unwrap(), count);
            for other in [count as u64 - 1, count as u64 + 1] {
                assert!(opened(count, 0, other).is_err(), "{count} bytes for {other}");
            }
        }
        // Whole chunks, of the length that is expected; but the sender had more to say.
        for cut in [1, 2] {
            assert!(opened(2 * CHUNK + cut, cut + TAG, 2 * CHUNK as u64).is_err());
        }
    }
}

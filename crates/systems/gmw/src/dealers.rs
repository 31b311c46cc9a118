//! Dealers of bit triples: from OT, and from material made ahead.

use std::io::{Read, Write};

use comity_channel::Mesh;
use comity_core::{Error, PartyId, Result};
use comity_ot::base::{BaseOt, Simplest};
use comity_ot::{AtLeast, SemiHonest};
use comity_protocol::{BatchForm, Dealer, Material, Party, Shelf};
use comity_share::BitTriples;
use comity_share::bits::BitShares;
use comity_share::triples::{Links, OtKind, TakenTriples};
use zeroize::Zeroizing;

/// A dealer of bit triples.
pub type BitDealer<'d> = dyn Dealer<Batch = BitTriples> + 'd;

/// The most triples that are made at once: 384 KiB.
pub const MOST: usize = 1 << 20;

/// Makes triples from OT, as they are needed.
pub struct OtTriples(Links);

impl OtTriples {
    /// Runs the base OTs. The session of the party must serve this dealer alone.
    ///
    /// # Errors
    /// Those of [`Links::setup`].
    pub fn setup(me: &mut Party<'_, '_>, extension: OtKind) -> Result<OtTriples> {
        OtTriples::setup_over::<Simplest>(me, extension)
    }

    /// As [`OtTriples::setup`], by other base OTs.
    ///
    /// # Errors
    /// Those of [`Links::setup`].
    pub fn setup_over<B: BaseOt<Model: AtLeast<SemiHonest>>>(
        me: &mut Party<'_, '_>,
        extension: OtKind,
    ) -> Result<OtTriples> {
        let mut rngs = me.rngs();
        Ok(OtTriples(Links::setup::<B>(me.net, me.here.session, me.here.backend, extension, &mut rngs)?))
    }
}

impl Dealer for OtTriples {
    type Batch = BitTriples;

    fn deal(&mut self, net: &mut Mesh<'_>, at_least: usize) -> Result<BitTriples> {
        self.0.triples(net, at_least)
    }
}

/// Stored triples.
pub const TRIPLES: Material =
    Material { name: "triples", program: false, from: None, options: &["dealer"], units: &["AND gates"] };

/// The form of a stored batch.
const FORM: BatchForm = BatchForm { magic: b"comity triples 1", name: "a batch of triples" };

/// The triples in a stored batch: 24 KiB. A run uses up whole batches, so that on average it wastes half of
/// one; and each batch is a file, and a mark on the disk.
pub const BATCH: usize = 1 << 16;

/// Bytes of a stored batch of `triples` triples.
pub const fn batch_bytes(triples: usize) -> u64 {
    (BatchForm::BEGINNING + 4 + 3 * triples.div_ceil(8)) as u64
}

/// Writes a batch of triples of party `me` among `parties`. A reader of the bytes can use the triples.
///
/// # Errors
/// [`Store`](comity_core::Kind).
pub fn write_batch(triples: BitTriples, me: PartyId, parties: u16, to: &mut dyn Write) -> Result<()> {
    let (mut triples, mut all) = (triples, TakenTriples::default());
    triples.take(usize::MAX, &mut all);
    FORM.begin(to)?;
    FORM.put(to, &me.0.to_le_bytes())?;
    FORM.put(to, &parties.to_le_bytes())?;
    for shares in [&all.a, &all.b, &all.c] {
        let bytes: Zeroizing<Vec<u8>> =
            Zeroizing::new(shares.words().iter().flat_map(|word| word.to_le_bytes()).collect());
        FORM.put(to, &bytes[..shares.len().div_ceil(8)])?;
    }
    Ok(())
}

/// Reads a batch of `n` triples of party `me` among `parties`, and nothing after it.
///
/// # Errors
/// [`Store`](comity_core::Kind) if these are not the bytes of such a batch.
pub fn read_batch(from: &mut dyn Read, me: PartyId, parties: u16, n: usize) -> Result<BitTriples> {
    FORM.begins(from)?;
    let mut of = [0; 4];
    FORM.take(from, &mut of)?;
    let [a, b, c, d] = of;
    if (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d])) != (me.0, parties) {
        return Err(FORM.damaged(format!("it is of another party than party {me} of {parties}")));
    }
    let mut shares = || -> Result<BitShares> {
        let mut bytes = Zeroizing::new(vec![0; n.div_ceil(64) * 8]);
        FORM.take(from, &mut bytes[..n.div_ceil(8)])?;
        let words = bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        Ok(BitShares::from_words(words, n))
    };
    let triples = BitTriples::new(shares()?, shares()?, shares()?);
    FORM.ends(from)?;
    Ok(triples)
}

/// Deals the triples of a shelf, batch by batch. It sends nothing.
pub struct StoredTriples<'s> {
    shelf: &'s mut dyn Shelf,
    batch: usize,
}

impl<'s> StoredTriples<'s> {
    /// Deals from this shelf, whose batches hold `batch` triples.
    pub fn new(shelf: &'s mut dyn Shelf, batch: usize) -> StoredTriples<'s> {
        StoredTriples { shelf, batch }
    }
}

impl Dealer for StoredTriples<'_> {
    type Batch = BitTriples;

    fn deal(&mut self, net: &mut Mesh<'_>, _: usize) -> Result<BitTriples> {
        match self.shelf.take()? {
            Some(mut reader) => read_batch(&mut *reader, net.me(), net.parties(), self.batch),
            None => Err(Error::invalid_input(
                "no batch of triples is left: prepare more together with the other parties, or run without a store",
            )),
        }
    }
}

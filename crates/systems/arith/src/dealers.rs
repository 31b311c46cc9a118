//! Dealers of what products of words take: from OT, and from material made ahead; and what a run needs of that.
//!
//! Material is for any program, whose words may have any width: triples modulo 2^64 serve words of up to 64
//! bits, and triples modulo 2^128 wider ones, since what holds modulo 2^64 holds modulo 2^k. Squares on a
//! store are products.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use comity_channel::Mesh;
use comity_core::{Error, PartyId, Result};
use comity_ot::base::{BaseOt, Simplest};
use comity_ot::{AtLeast, SemiHonest};
use comity_protocol::{BatchForm, Material, Need, Party, Shelf};
use comity_share::ring::{MatrixProduct, RingDealer, RingTriples, WordProduct, word_mask};
use comity_share::triples::OtKind;
use zeroize::Zeroizing;

use crate::conversions::{ADDER_BATCH_BYTES, ADDERS, CELLS, OT_BATCH, adder_batches, class};
pub use crate::conversions::{AdderTables, OtBatch, OtMaterial};
use crate::machine::one_by_one;

/// A dealer of triples and square pairs of words. It has its own randomness and its own session.
pub trait WordDealer {
    /// Makes material for at least `at_least` products of a kind. Both parties ask for the same, in the same
    /// order. After an error a dealer must not be used again.
    ///
    /// # Errors
    /// Errors of the channel: then nothing is given out.
    fn deal(&mut self, net: &mut Mesh<'_>, what: WordProduct, at_least: usize) -> Result<RingTriples>;

    /// Whether it makes square pairs. If not, squares are products.
    fn has_squares(&self) -> bool {
        true
    }

    /// The dealer of triples of matrices; `None` if products of matrices are computed as products of words.
    fn matrices(&mut self) -> Option<&mut RingDealer> {
        None
    }
}

/// The most triples of a kind that are made at once: 6 MiB.
pub const MOST_WORDS: usize = 1 << 17;

/// The most triples of matrices of a kind that are made at once: as many words as there are in triples, or one.
pub(crate) fn most_matrices(what: MatrixProduct) -> usize {
    (3 * MOST_WORDS / what.words().iter().sum::<usize>()).max(1)
}

impl WordDealer for RingDealer {
    fn deal(&mut self, net: &mut Mesh<'_>, what: WordProduct, at_least: usize) -> Result<RingTriples> {
        RingDealer::deal(self, net, what, at_least)
    }

    fn matrices(&mut self) -> Option<&mut RingDealer> {
        Some(self)
    }
}

/// A dealer from OT. The session of the party is this dealer's alone.
///
/// # Errors
/// Those of [`RingDealer::setup`].
pub fn from_ot(me: &mut Party<'_, '_>, extension: OtKind) -> Result<Box<RingDealer>> {
    from_ot_over::<Simplest>(me, extension)
}

/// As [`from_ot`], by other base OTs.
///
/// # Errors
/// Those of [`RingDealer::setup`].
pub fn from_ot_over<B: BaseOt<Model: AtLeast<SemiHonest>>>(
    me: &mut Party<'_, '_>,
    extension: OtKind,
) -> Result<Box<RingDealer>> {
    let (session, backend) = (me.here.session, me.here.backend);
    Ok(Box::new(RingDealer::setup::<B>(me.net, session, backend, extension, me.rng)?))
}

/// Triples in a stored batch. A run uses up whole batches for the products of each width.
pub const WORD_BATCH: usize = 1 << 12;

/// The stored material of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordMaterial {
    /// Triples modulo 2^64.
    Narrow,
    /// Triples modulo 2^128.
    Wide,
}

impl WordMaterial {
    /// Both.
    pub const ALL: [WordMaterial; 2] = [WordMaterial::Narrow, WordMaterial::Wide];

    /// The material that products of words of `bits` bits use up.
    pub fn of(bits: u32) -> WordMaterial {
        if bits <= 64 { WordMaterial::Narrow } else { WordMaterial::Wide }
    }

    /// The material's name.
    pub const fn name(self) -> &'static str {
        match self {
            WordMaterial::Narrow => "word triples",
            WordMaterial::Wide => "wide word triples",
        }
    }

    /// The kind of product that the dealer makes its triples for.
    pub fn product(self) -> WordProduct {
        let bits = match self {
            WordMaterial::Narrow => 64,
            WordMaterial::Wide => 128,
        };
        WordProduct { bits, square: false }
    }

    fn form(self) -> BatchForm {
        match self {
            WordMaterial::Narrow => BatchForm { magic: b"comity ring 64 1", name: "a batch of triples of words" },
            WordMaterial::Wide => BatchForm { magic: b"comity ring128 1", name: "a batch of triples of wide words" },
        }
    }

    /// Bytes of a share.
    fn width(self) -> usize {
        self.product().bits as usize / 8
    }

    /// Bytes of a batch of `triples` triples.
    pub fn batch_bytes(self, triples: usize) -> u64 {
        (BatchForm::BEGINNING + 1 + 3 * triples * self.width()) as u64
    }

    /// Writes a batch of triples of party `me`. A reader of the bytes can use the triples.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind).
    pub fn write(self, triples: &RingTriples, me: PartyId, to: &mut dyn Write) -> Result<()> {
        let form = self.form();
        form.begin(to)?;
        form.put(to, &[me.0 as u8])?;
        for shares in triples.shares() {
            let bytes = shares.iter().flat_map(|share| share.to_le_bytes().into_iter().take(self.width()));
            form.put(to, &Zeroizing::new(bytes.collect::<Vec<u8>>()))?;
        }
        Ok(())
    }

    /// Reads a batch of `n` triples of party `me`, modulo 2^bits. The reader has nothing else.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if these are not the bytes of such a batch.
    pub fn read(self, from: &mut dyn Read, me: PartyId, n: usize, bits: u32) -> Result<RingTriples> {
        let form = self.form();
        form.begins(from)?;
        let mut of = [0];
        form.take(from, &mut of)?;
        if u16::from(of[0]) != me.0 {
            return Err(form.damaged(format!("it is of another party than party {me}")));
        }
        let mut bytes = Zeroizing::new(vec![0; n * self.width()]);
        let mut shares = || -> Result<Vec<u128>> {
            form.take(from, &mut bytes)?;
            let share = |bytes: &[u8]| {
                let mut share = [0; 16];
                share[..bytes.len()].copy_from_slice(bytes);
                u128::from_le_bytes(share) & word_mask(bits)
            };
            Ok(bytes.chunks(self.width()).map(share).collect())
        };
        let triples = RingTriples::new(shares()?, shares()?, shares()?);
        form.ends(from)?;
        Ok(triples)
    }
}

const fn of_card(name: &'static str, units: &'static [&'static str]) -> Material {
    Material { name, program: false, from: None, options: &["dealer"], units }
}

/// All material that runs on words use up: triples of both widths, and for conversions the OTs that either
/// party sends.
pub const MATERIALS: [Material; 4] = [
    of_card(WordMaterial::Narrow.name(), &["products of up to 64 bits"]),
    of_card(WordMaterial::Wide.name(), &["wider products"]),
    of_card(OtMaterial::First.name(), &["choice bits"]),
    of_card(OtMaterial::Second.name(), &["choice bits"]),
];

/// Adders of conversions, garbled ahead.
pub const ADDER_TABLES: Material = of_card(ADDERS, &["bits of words"]);

/// The words of a run that adders open, by the segments that one takes: 32 bits, 64 or 128.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Adds(pub [u64; 3]);

impl Adds {
    /// Adds `words` words of `bits` bits.
    pub fn add(&mut self, bits: u32, words: u64) {
        let all = &mut self.0[class(bits)];
        *all = all.saturating_add(words);
    }
}

/// The need of a run of these adders and, beside them, of `ots` OTs of labels.
pub fn need_of_adders(adders: Adds, ots: u64) -> Need {
    need(ADDERS, adder_batches(adders.0, ots), CELLS, ADDER_BATCH_BYTES)
}

/// The need of `batches` batches of triples.
pub(crate) fn need_of_words(material: WordMaterial, batches: u64) -> Need {
    need(material.name(), batches, WORD_BATCH, material.batch_bytes(WORD_BATCH))
}

fn need(material: &'static str, batches: u64, units: usize, bytes: u64) -> Need {
    Need {
        material,
        units: vec![batches.saturating_mul(units as u64)],
        batches,
        bytes: batches.saturating_mul(bytes + 4096),
    }
}

/// The needs of a run with these products of words and of matrices and, for conversions, these numbers of OTs
/// from party 0 and from party 1.
pub fn needs(
    products: &BTreeMap<WordProduct, u64>,
    matrices: &BTreeMap<MatrixProduct, u64>,
    ots: [u64; 2],
) -> Vec<Need> {
    // Squares are products on a store, those of matrices too, and each width has batches of its own.
    let of_matrices = matrices.iter().map(|(what, count)| one_by_one(*what, *count));
    let mut widths: BTreeMap<u32, u64> = BTreeMap::new();
    for (what, count) in products.iter().map(|(what, count)| (*what, *count)).chain(of_matrices) {
        let all = widths.entry(what.bits).or_default();
        *all = all.saturating_add(count);
    }
    let mut batches = [0; 2];
    for (bits, count) in widths {
        batches[WordMaterial::of(bits) as usize] += count.div_ceil(WORD_BATCH as u64);
    }
    let words = WordMaterial::ALL.into_iter().zip(batches).map(|(material, batches)| need_of_words(material, batches));
    let ots = OtMaterial::ALL
        .into_iter()
        .zip(ots)
        .map(|(material, ots)| need(material.name(), ots.div_ceil(OT_BATCH as u64), OT_BATCH, material.batch_bytes()));
    words.chain(ots).filter(|need| need.batches > 0).collect()
}

/// Deals the triples of shelves, batch by batch. It sends nothing.
pub struct StoredWords<'s> {
    shelves: [Option<&'s mut dyn Shelf>; 2],
}

impl<'s> StoredWords<'s> {
    /// Deals from the shelves of [both materials](WordMaterial::ALL), as far as there are any.
    pub fn new(shelves: [Option<&'s mut dyn Shelf>; 2]) -> StoredWords<'s> {
        StoredWords { shelves }
    }
}

impl WordDealer for StoredWords<'_> {
    fn deal(&mut self, net: &mut Mesh<'_>, what: WordProduct, _: usize) -> Result<RingTriples> {
        let material = WordMaterial::of(what.bits);
        let lacking = || {
            Error::invalid_input(format!(
                "no batch of {} is left: prepare more together with the other party, or run without a store",
                material.name()
            ))
        };
        let shelf = self.shelves[material as usize].as_mut().ok_or_else(lacking)?;
        let mut batch = shelf.take()?.ok_or_else(lacking)?;
        material.read(&mut *batch, net.me(), WORD_BATCH, what.bits)
    }

    fn has_squares(&self) -> bool {
        false
    }
}

//! Adders from a shelf, as a run uses them up: each word takes one, and labels of other bits take OTs.

use std::ops::Range;
use std::sync::Arc;

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Error, PartyId, Prg, Result, SessionId};
use comity_protocol::{Here, Shelf};
use comity_share::ring::{WordReader, WordWriter, word_mask};
use zeroize::Zeroizing;

use super::chains::{ABREAST, Keys, Lanes, SEGMENT, SEGMENTS, SHEET};
use super::{ADDERS, AdderTables, CHAINS, Drawn, FORM, Part, SHEETS, class, public_labels, tables_of_sheet};

/// Words that are to be opened to labels of their bits.
pub struct OpenedWords {
    /// The bits of a word.
    pub bits: u32,
    /// This party's shares.
    pub shares: Zeroizing<Vec<u128>>,
}

/// A sheet of adders, as one party has it.
pub(super) struct Sheet {
    keys: Keys,
    /// A word for each 32 cells: at the garbler the numbers of its adders, at the evaluator its random bits.
    numbers: Zeroizing<Vec<u32>>,
    /// The public labels of the garbler's numbers: those for zero at the garbler, the active ones at the evaluator.
    public: Zeroizing<Vec<Block>>,
    /// The labels of the evaluator's random bits, in the same way.
    random: Zeroizing<Vec<Block>>,
    of: Of,
}

enum Of {
    Garbler { drawn: Drawn, carries: Zeroizing<Vec<Block>> },
    Evaluator { tables: Vec<Block> },
}

impl AdderTables {
    /// The sheets of a batch, the first one last.
    fn sheets(self, backend: Backend) -> Vec<Arc<Sheet>> {
        let AdderTables { lot, number, part } = self;
        let mut labels = public_labels(backend, &lot, number);
        let mut public = || {
            let mut public = Zeroizing::new(vec![Block::ZERO; SHEET]);
            labels.fill_blocks(&mut public);
            public
        };
        let keys = |sheet: usize| Keys::new(backend, &lot, number * SHEETS as u64 + sheet as u64);
        let copied = |blocks: &[Block]| Zeroizing::new(blocks.to_vec());
        let mut sheets: Vec<Arc<Sheet>> = match part {
            Part::Garbler { delta, seed, zeros, carries } => {
                let mut from = Prg::new(backend, *seed);
                let sheet = |(sheet, (zeros, carries)): (usize, (&[Block], &[Block]))| {
                    let (mut drawn, mut public) = (Drawn::next(&mut from), public());
                    let numbers = std::mem::take(&mut drawn.numbers);
                    for (cell, label) in public.iter_mut().enumerate() {
                        *label ^= delta.masked(numbers[cell / SEGMENT] >> (cell % SEGMENT) & 1 == 1);
                    }
                    let of = Of::Garbler { drawn, carries: copied(carries) };
                    Arc::new(Sheet { keys: keys(sheet), numbers, public, random: copied(zeros), of })
                };
                zeros.chunks(SHEET).zip(carries.chunks(SHEET)).enumerate().map(sheet).collect()
            }
            Part::Evaluator { choices, labels, tables } => {
                let bits = Zeroizing::new(choices.to_bytes());
                let numbers = |sheet: usize| {
                    let words = bits[sheet * SHEET / 8..][..SHEET / 8].as_chunks().0.iter();
                    Zeroizing::new(words.map(|word| u32::from_le_bytes(*word)).collect::<Vec<u32>>())
                };
                let sheet = |(sheet, (labels, tables)): (usize, (&[Block], &[Block]))| {
                    let (of, random) = (Of::Evaluator { tables: tables.to_vec() }, copied(labels));
                    Arc::new(Sheet { keys: keys(sheet), numbers: numbers(sheet), public: public(), random, of })
                };
                labels.chunks(SHEET).zip(tables.chunks(tables_of_sheet())).enumerate().map(sheet).collect()
            }
        };
        sheets.reverse();
        sheets
    }
}

/// Where a word's adder is: the segments of a chain of a sheet.
struct Taken {
    sheet: Arc<Sheet>,
    chain: usize,
    segments: Range<usize>,
    bits: u32,
}

impl Taken {
    /// The cells of a segment, as far as the word has them, and the bits that are below these.
    fn cells(&self) -> impl Iterator<Item = (usize, usize, Range<usize>)> + '_ {
        let bits = self.bits as usize;
        self.segments.clone().enumerate().filter(move |(below, _)| below * SEGMENT < bits).map(
            move |(below, segment)| {
                let first = (segment * ABREAST + self.chain) * SEGMENT;
                (segment, below * SEGMENT, first..first + SEGMENT.min(bits - below * SEGMENT))
            },
        )
    }

    /// The adder's number, or the random bits.
    fn number(&self) -> u128 {
        let words =
            self.cells().map(|(_, below, cells)| u128::from(self.sheet.numbers[cells.start / SEGMENT]) << below);
        words.fold(0, |number, word| number | word) & word_mask(self.bits)
    }

    /// At the garbler, bit by bit: the labels for zero of the public bit, and of the sum.
    fn zeros(&self) -> impl Iterator<Item = [Block; 2]> + '_ {
        let Of::Garbler { drawn, carries } = &self.sheet.of else {
            unreachable!("the garbler has the labels for zero")
        };
        self.cells().flat_map(move |(segment, below, cells)| {
            let first = cells.start;
            cells.map(move |cell| {
                let goes_on = below > 0 && cell == first;
                let zero = if goes_on { drawn.going_on[cell / SEGMENT] } else { drawn.zeros[cell] };
                let carry = match cell - first {
                    0 if below == 0 => Block::ZERO,
                    // The last cell of the segment below.
                    0 => carries[((segment - 1) * ABREAST + self.chain + 1) * SEGMENT - 1],
                    _ => carries[cell - 1],
                };
                [zero, zero ^ self.sheet.public[cell] ^ self.sheet.random[cell] ^ carry]
            })
        })
    }

    /// Whether another word's adder is beside this one.
    fn is_beside(&self, other: &Taken) -> bool {
        Arc::ptr_eq(&self.sheet, &other.sheet) && self.segments == other.segments
    }
}

/// The adders of a shelf, as one party has them.
pub(in crate::conversions) struct Adders<'s> {
    shelf: &'s mut dyn Shelf,
    me: PartyId,
    backend: Backend,
    /// The lot's session.
    lot: Option<SessionId>,
    /// At the garbler.
    delta: Zeroizing<Block>,
    /// The sheets of the batch under way, the next one last.
    sheets: Vec<Arc<Sheet>>,
    /// For adders of one, two and four segments: the sheet under way, and how many of its adders were taken.
    open: [Option<(Arc<Sheet>, usize)>; 3],
    /// The same for OTs.
    ots: Option<(Arc<Sheet>, usize)>,
    lanes: Lanes,
}

impl<'s> Adders<'s> {
    /// Takes the first batch.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is none; [`Store`](comity_core::Kind) if it is damaged.
    pub(in crate::conversions) fn open(shelf: &'s mut dyn Shelf, here: &Here) -> Result<Adders<'s>> {
        let (lot, delta, sheets, open, ots, lanes) = Default::default();
        let mut adders = Adders { shelf, me: here.me, backend: here.backend, lot, delta, sheets, open, ots, lanes };
        adders.next()?;
        Ok(adders)
    }

    /// The garbling's delta, if this party garbles.
    pub(in crate::conversions) fn delta(&self) -> Option<Block> {
        (self.me == PartyId(0)).then_some(*self.delta)
    }

    /// Reads the next batch.
    fn next(&mut self) -> Result<()> {
        let Some(mut batch) = self.shelf.take()? else {
            return Err(Error::invalid_input(format!(
                "no batch of {ADDERS} is left: prepare more together with the other party, or run without tables=prepared"
            )));
        };
        let batch = AdderTables::read(&mut batch, self.me, CHAINS)?;
        if self.lot.replace(batch.lot).is_some_and(|before| before != batch.lot) {
            return Err(FORM.damaged("it is of another lot than the one before it"));
        }
        if let Part::Garbler { delta, .. } = &batch.part {
            self.delta = delta.clone();
        }
        self.sheets = batch.sheets(self.backend);
        Ok(())
    }

    pub(super) fn sheet(&mut self) -> Result<Arc<Sheet>> {
        if self.sheets.is_empty() {
            self.next()?;
        }
        Ok(self.sheets.pop().expect("a batch has sheets"))
    }

    /// Uses up an adder.
    fn take(&mut self, bits: u32) -> Result<Taken> {
        let class = class(bits);
        let each = 1 << class;
        let adders = ABREAST * SEGMENTS / each;
        let (sheet, next) = match self.open[class].take().filter(|(_, next)| *next < adders) {
            Some(open) => open,
            None => (self.sheet()?, 0),
        };
        self.open[class] = Some((sheet.clone(), next + 1));
        let segment = next / ABREAST * each;
        Ok(Taken { sheet, chain: next % ABREAST, segments: segment..segment + each, bits })
    }

    /// Labels of the bits of words: of all words one after another. Three messages.
    ///
    /// # Errors
    /// Those of the shelf, and of the channel.
    pub(in crate::conversions) fn sums(
        &mut self,
        ch: &mut dyn Channel,
        words: &[OpenedWords],
        sums: &mut [Block],
    ) -> Result<()> {
        let each = || words.iter().flat_map(|words| words.shares.iter().map(|share| (*share, words.bits)));
        let taken = each().map(|(_, bits)| self.take(bits)).collect::<Result<Vec<Taken>>>()?;
        let bits: usize = taken.iter().map(|taken| taken.bits as usize).sum();
        if bits != sums.len() {
            return Err(Error::invalid_input(format!("{} labels for {bits} bits", sums.len())));
        }
        let (mut told, mut heard) = (WordWriter::with_room(bits), vec![0; bits.div_ceil(8)]);
        if self.me == PartyId(0) {
            for ((share, bits), taken) in each().zip(&taken) {
                told.put(share.wrapping_sub(taken.number()) & word_mask(bits), bits);
            }
            ch.send(&told.finish())?;
            ch.recv(&mut heard)?;
            let mut heard = WordReader::new(&heard);
            let mut labels = Zeroizing::new(Vec::with_capacity(bits));
            let mut to = sums.iter_mut();
            for taken in &taken {
                let public = heard.take(taken.bits);
                for (bit, [zero, sum]) in taken.zeros().enumerate() {
                    labels.push(zero ^ self.delta.masked(public >> bit & 1 == 1));
                    *to.next().expect("a label for each bit") = sum;
                }
            }
            ch.send(Block::bytes_of(&labels))?;
            return ch.flush();
        }
        ch.recv(&mut heard)?;
        let mut heard = WordReader::new(&heard);
        for ((share, bits), taken) in each().zip(&taken) {
            let sum = share.wrapping_add(heard.take(bits));
            told.put((sum ^ taken.number()) & word_mask(bits), bits);
        }
        ch.send(&told.finish())?;
        ch.flush()?;
        ch.recv(Block::bytes_of_mut(sums))?;
        let mut rest = sums;
        for run in taken.chunk_by(Taken::is_beside) {
            let (now, later) = rest.split_at_mut(run.iter().map(|taken| taken.bits as usize).sum());
            self.evaluate(run, now);
            rest = later;
        }
        Ok(())
    }

    /// Evaluates adders that are beside each other: the labels of the public bits become those of the sums.
    fn evaluate(&mut self, run: &[Taken], labels: &mut [Block]) {
        let sheet = &run[0].sheet;
        let Of::Evaluator { tables } = &sheet.of else { unreachable!("the evaluator has the tables") };
        let most = run.iter().map(|taken| taken.bits as usize).max().unwrap_or(0);
        for (place, segment) in run[0].segments.clone().enumerate() {
            let below = place * SEGMENT;
            if below >= most {
                break;
            }
            // The word's first label, its chain, and those of its cells that are in this segment.
            let words = || {
                run.iter().scan(0, |first, taken| {
                    let (word, bits) = (*first, taken.bits as usize);
                    *first += bits;
                    Some((word + below, taken.chain, bits.saturating_sub(below).min(SEGMENT)))
                })
            };
            for (first, chain, cells) in words() {
                let place = (segment * ABREAST + chain) * SEGMENT;
                for cell in 0..cells {
                    let random = sheet.random[place + cell];
                    self.lanes.put(chain, cell, sheet.public[place + cell], labels[first + cell] ^ random);
                }
            }
            let (begins, ends) = (place == 0, below + SEGMENT >= most);
            let cells = SEGMENT.min(most - below);
            self.lanes.evaluate(&sheet.keys, (segment, begins, ends), cells, tables);
            for (first, chain, cells) in words() {
                for cell in 0..cells {
                    labels[first + cell] = self.lanes.sum(chain, cell, begins);
                }
            }
        }
    }

    /// Labels of bits of party 1, which that party gives: those for zero at the garbler, the active ones at the
    /// evaluator. A message.
    ///
    /// # Errors
    /// Those of the shelf, and of the channel; [`InvalidInput`](comity_core::Kind) if the bits are missing.
    pub(in crate::conversions) fn labels(
        &mut self,
        ch: &mut dyn Channel,
        value: Option<&Bits>,
        labels: &mut [Block],
    ) -> Result<()> {
        let mut choices = Bits::default();
        for label in labels.iter_mut() {
            let (sheet, cell) = match self.ots.take().filter(|(_, next)| *next < SHEET) {
                Some(open) => open,
                None => (self.sheet()?, 0),
            };
            *label = sheet.random[cell];
            if self.me != PartyId(0) {
                choices.push(sheet.numbers[cell / SEGMENT] >> (cell % SEGMENT) & 1 == 1);
            }
            self.ots = Some((sheet, cell + 1));
        }
        if self.me != PartyId(0) {
            let value = value.filter(|value| value.len() == labels.len());
            choices.xor_assign(value.ok_or_else(|| Error::invalid_input("party 1 gives the bits of these labels"))?);
            ch.send(&choices.to_bytes())?;
            return ch.flush();
        }
        let mut told = vec![0; labels.len().div_ceil(8)];
        ch.recv(&mut told)?;
        let told = Bits::from_bytes(&told, labels.len());
        labels.iter_mut().zip(told.iter()).for_each(|(zero, bit)| *zero ^= self.delta.masked(bit));
        Ok(())
    }
}

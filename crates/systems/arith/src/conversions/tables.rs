//! Adders that were garbled ahead: their batches, and who makes them.
//!
//! A word of k bits becomes labels of its bits by a circuit that adds the two shares. Where it is garbled
//! ahead the shares are not known yet: party 0 draws a number `x`, party 1 a number `r`, and the circuit adds
//! `x` and `e + r`, a bit of `e` and one of `r` being summed by XOR, which costs nothing. The labels of `x`
//! are pseudo-random and public, those of `r` correlated OTs under the garbling's delta, and those of `e` are
//! party 0's alone until it tells them. Then party 0 tells its share minus `x`, party 1 adds that to its own
//! share and tells the sum plus `r`, by XOR, which is `e`, and party 0 tells the active labels of `e`: k
//! bits, k bits and 16 k bytes. Each of them is uniform, since `x`, `r` and the labels are, and serve one
//! word. This is the form of Demmler, Schneider, Zohner: ABY (NDSS 2015), whose conversion is made ahead,
//! with the garbler's share shared anew, so that its labels need not be sent.
//!
//! - A *cell* is a bit of an adder: an OT and an AND gate, whose output is the carry into the next one. 32
//!   cells are a *segment*, four of these a *chain*. A word takes one segment, two or all four, and of its
//!   last one the lowest cells: what is above them is neither told nor evaluated, and does not matter for the
//!   sum modulo 2^k.
//! - The first cell of a segment has two gates: one without a carry, where a word begins, and one that goes
//!   on from the segment below it. Each has a label of its own for its bit of `e`. As only one of these is
//!   ever told, only one of the gates can be evaluated, and the difference of their outputs, which is kept
//!   beside the tables, makes one carry of the two.
//! - 16 chains are garbled side by side, a *sheet*. Words of one width come from a sheet of their own, and
//!   OTs of labels that no adder needs from another one: these use up cells whose tables nobody looks at.
//!
//! A lot has one delta, and it is the garbling's in a run on the lot. The keys of its gates follow from the
//! lot and their numbers in it, those of the run from the run's session, so that no key serves two gates. OTs
//! that are hashed are of another material, and another delta.

mod adders;
mod chains;

use std::io::{Read, Write};

use comity_core::{Backend, Bits, Block, Delta, Error, PartyId, Prg, Result, SessionId};
use comity_ot::base::BaseOt;
use comity_ot::{AtLeast, SemiHonest};
use comity_protocol::{BatchForm, Party};
use comity_share::triples::OtKind;
use zeroize::Zeroizing;

use super::stored::EVEN;
use super::ways::Way;
pub(super) use adders::Adders;
pub use adders::OpenedWords;
use chains::{CHAIN, Lanes, MOST_SHEETS, OF_CHAIN, SHEET};

/// The material's name.
pub(crate) const ADDERS: &str = "adder tables";

/// Sheets of a batch.
const SHEETS: usize = 8;

/// Chains of a batch.
pub(crate) const CHAINS: usize = SHEETS * SHEET / CHAIN;

/// Cells of a batch, each of which can serve as an OT.
pub(crate) const CELLS: usize = CHAINS * CHAIN;

const FORM: BatchForm = BatchForm { magic: b"comity adders 1\n", name: "a batch of adder tables" };

/// The bytes of a batch at the evaluator, whose part is the larger one.
pub(crate) const BATCH_BYTES: u64 =
    (BatchForm::BEGINNING + 1 + SessionId::BYTES + 8 + CELLS / 8 + (CELLS + CHAINS * OF_CHAIN) * Block::BYTES) as u64;

/// The batches that a run uses up: which adders it takes, by the segments of one (1, 2 and 4), and how many OTs beside
/// these.
pub(crate) fn batches(adders: [u64; 3], ots: u64) -> u64 {
    let of = |(count, segments): (u64, usize)| count.div_ceil((SHEET / (32 * segments)) as u64);
    let sheets = adders.into_iter().zip([1, 2, 4]).map(of).fold(0, u64::saturating_add);
    sheets.saturating_add(ots.div_ceil(SHEET as u64)).div_ceil(SHEETS as u64)
}

/// Where the adder of words of this width is among three: those of one segment, of two, and of four.
pub(crate) fn class(bits: u32) -> usize {
    [32, 64].iter().filter(|most| bits > **most).count()
}

/// A batch of adders, as one party has it.
pub struct AdderTables {
    lot: SessionId,
    /// The batch's number in its lot.
    number: u64,
    part: Part,
}

enum Part {
    Garbler {
        delta: Zeroizing<Block>,
        /// What the numbers of the adders and the labels of the public bits follow from.
        seed: Zeroizing<Block>,
        /// The labels for zero of the evaluator's random bits, and of the carries, cell by cell.
        zeros: Zeroizing<Vec<Block>>,
        carries: Zeroizing<Vec<Block>>,
    },
    Evaluator {
        /// The random bits, their labels, and the tables.
        choices: Bits,
        labels: Zeroizing<Vec<Block>>,
        tables: Vec<Block>,
    },
}

impl AdderTables {
    /// Reads party `me`'s part of a batch of `chains` chains. The reader has nothing else.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if these are not the bytes of such a batch.
    pub fn read(from: &mut dyn Read, me: PartyId, chains: usize) -> Result<AdderTables> {
        let (mut of, mut lot, mut number) = ([0], [0; SessionId::BYTES], [0; 8]);
        FORM.begins(from)?;
        FORM.take(from, &mut of)?;
        FORM.take(from, &mut lot)?;
        FORM.take(from, &mut number)?;
        if u16::from(of[0]) != me.0 {
            return Err(FORM.damaged(format_args!("it is of another party than party {me}")));
        }
        let cells = chains * CHAIN;
        let blocks = |from: &mut dyn Read, n: usize| {
            let mut blocks = Zeroizing::new(vec![Block::ZERO; n]);
            FORM.take_blocks(from, &mut blocks).map(|()| blocks)
        };
        let part = if me == PartyId(0) {
            let [delta, seed] = [(); 2].map(|()| blocks(from, 1));
            let [delta, seed] = [delta?, seed?].map(|block| Zeroizing::new(block[0]));
            if !delta.lsb() {
                return Err(FORM.damaged(EVEN));
            }
            Part::Garbler { delta, seed, zeros: blocks(from, cells)?, carries: blocks(from, cells)? }
        } else {
            let choices = FORM.take_bits(from, cells)?;
            let labels = blocks(from, cells)?;
            let mut tables = vec![Block::ZERO; chains * OF_CHAIN];
            FORM.take_blocks(from, &mut tables)?;
            Part::Evaluator { choices, labels, tables }
        };
        FORM.ends(from)?;
        Ok(AdderTables { lot: SessionId::new(lot), number: u64::from_le_bytes(number), part })
    }

    /// Writes the batch. A reader of the bytes can use the adders.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind).
    pub fn write(&self, to: &mut dyn Write) -> Result<()> {
        FORM.begin(to)?;
        FORM.put(to, &[u8::from(matches!(self.part, Part::Evaluator { .. }))])?;
        FORM.put(to, &self.lot.to_bytes())?;
        FORM.put(to, &self.number.to_le_bytes())?;
        match &self.part {
            Part::Garbler { delta, seed, zeros, carries } => {
                FORM.put_blocks(to, &[**delta, **seed])?;
                FORM.put_blocks(to, zeros)?;
                FORM.put_blocks(to, carries)
            }
            Part::Evaluator { choices, labels, tables } => {
                FORM.put_bits(to, choices)?;
                FORM.put_blocks(to, labels)?;
                FORM.put_blocks(to, tables)
            }
        }
    }
}

/// The public labels of the garbler's numbers in a batch: the active ones.
fn public_labels(backend: Backend, lot: &SessionId, number: u64) -> Prg {
    let batch = lot.child(&format!("adder tables, batch {number}"));
    Prg::new(backend, batch.block("active labels of the garbler's numbers"))
}

/// What the garbler draws for a sheet.
struct Drawn {
    /// The numbers, a word for each 32 cells.
    numbers: Zeroizing<Vec<u32>>,
    /// The labels for zero of the public bits, and those of the first cells of segments that go on.
    zeros: Zeroizing<Vec<Block>>,
    going_on: Zeroizing<Vec<Block>>,
}

impl Drawn {
    /// What is drawn for the next sheet of a batch, from its seed.
    fn next(from: &mut Prg) -> Drawn {
        let [mut zeros, mut going_on] = [SHEET, SHEET / 32].map(|blocks| Zeroizing::new(vec![Block::ZERO; blocks]));
        let mut numbers = Zeroizing::new(vec![0; SHEET / 32]);
        from.fill_blocks(&mut zeros);
        from.fill_blocks(&mut going_on);
        from.fill_words(&mut numbers);
        Drawn { numbers, zeros, going_on }
    }
}

/// Makes batches of adders.
pub(crate) struct TableMaker {
    delta: Delta,
    way: Way<'static>,
    /// The batches that were made.
    made: u64,
}

impl TableMaker {
    /// Draws a delta and runs base OTs. The session of the party is that of the lot.
    ///
    /// # Errors
    /// Errors of the base OTs and of the channel.
    pub(crate) fn setup<B: BaseOt<Model: AtLeast<SemiHonest>>>(
        me: &mut Party<'_, '_>,
        extension: OtKind,
    ) -> Result<TableMaker> {
        let delta = Delta::new(Block::random(me.rng));
        let way = Way::setup::<B>(me, PartyId(0), extension, delta.block())?;
        Ok(TableMaker { delta, way, made: 0 })
    }

    /// Makes a batch and writes this party's part.
    ///
    /// # Errors
    /// Errors of the OTs and of the channel; [`Store`](comity_core::Kind).
    pub(crate) fn write(&mut self, me: &mut Party<'_, '_>, to: &mut dyn Write) -> Result<()> {
        let (ch, here, rng, _) = me.pair()?;
        let (lot, number) = (here.session, self.made);
        if number >= MOST_SHEETS / SHEETS as u64 {
            return Err(Error::invalid_input("a lot cannot have more batches of adder tables: make another one"));
        }
        self.made += 1;
        let mut labels = Zeroizing::new(vec![Block::ZERO; CELLS]);
        let mut tables = vec![Block::ZERO; CHAINS * OF_CHAIN];
        let part = match &mut self.way {
            Way::Out(sender) => {
                sender.labels(ch, &mut labels)?;
                let seed = Zeroizing::new(Block::random(rng));
                let mut carries = Zeroizing::new(vec![Block::ZERO; CELLS]);
                let (mut public, mut drawn) =
                    (public_labels(here.backend, &lot, number), Prg::new(here.backend, *seed));
                let mut lanes = Lanes::default();
                let sheets = labels.chunks(SHEET).zip(carries.chunks_mut(SHEET));
                for ((sheet, (zeros, carries)), tables) in sheets.enumerate().zip(tables.chunks_mut(tables_of_sheet()))
                {
                    let drawn = Drawn::next(&mut drawn);
                    let mut active = vec![Block::ZERO; SHEET];
                    public.fill_blocks(&mut active);
                    let keys = chains::Keys::new(here.backend, &lot, number * SHEETS as u64 + sheet as u64);
                    let of = chains::Garbled { delta: self.delta.block(), active: &active, drawn: &drawn, zeros };
                    lanes.garble(&keys, &of, carries, tables);
                }
                ch.send(Block::bytes_of(&tables))?;
                Part::Garbler { delta: Zeroizing::new(self.delta.block()), seed, zeros: labels, carries }
            }
            Way::In(receiver) => {
                let mut drawn = Zeroizing::new(vec![0; CELLS / 8]);
                rng.fill_bytes(&mut drawn);
                let choices = Bits::from_bytes(&drawn, CELLS);
                receiver.labels(ch, &choices, &mut labels)?;
                ch.flush()?;
                ch.recv(Block::bytes_of_mut(&mut tables))?;
                Part::Evaluator { choices, labels, tables }
            }
        };
        ch.flush()?;
        AdderTables { lot, number, part }.write(to)
    }
}

/// The blocks of tables of a sheet.
const fn tables_of_sheet() -> usize {
    SHEET / CHAIN * OF_CHAIN
}

#[cfg(test)]
mod tests;

//! The semi-honest protocol, by the steps of the figures 2.5 and 2.6 of D13.3.
//!
//! **Figure 2.5**, [`MaskSharing`]: a walk over the program in which a wire is the party's share of its mask.
//! 1. The mask of an input bit is drawn by its owner, the other party's share is zero; that of an AND's
//!    output is the sum of what each party draws. Those of XOR and NOT follow.
//! 2. The table of an AND: at `(c, d)` stands `r_o + (c + r_u)(d + r_v) = r_o + r_u r_v + c r_v + d r_u +
//!    cd`, which is linear in the masks but for one product. So both parties multiply their shares of `r_u`
//!    and `r_v`, as GMW does ([`BitMachine`]), for all gates at once; `t` is a party's share of `r_u r_v +
//!    r_o`. What is looked up whole ([`crate::boxes`]) has the unit vector of its index's mask, by
//!    products as well.
//! 3. Each party keeps its table of each gate, its own masks of inputs, and of outputs the masks of those
//!    that it is to learn: the peer shows its shares of them.
//!
//! **Figure 2.6**, [`GateTables`]:
//! 1. The tables are there.
//! 2. The owner of an input sends `x + r_u`.
//! 3. Gate after gate, as many at once as do not depend on each other, each party sends its table's bit at
//!    `(e_u, e_v)`; the sum is `e_o`.
//! 4. An output is `e_o + r_o`, which sends nothing.

use core::ops::Range;
use std::collections::BTreeMap;
use std::io::{Read, Write};

use comity_channel::{Channel, Mesh};
use comity_circuit::{Call, Put, Recipients, Shown};
use comity_core::{Backend, Bits, PartyId, Result, TapeGate, Vectorize};
use comity_gmw::BitMachine;
use comity_gmw::dealers::BitDealer;
use comity_gmw::table::{self, PublicTable, UnitVectors, entries};
use comity_protocol::{BatchForm, Job, Party};
use comity_share::bits::BitShares;
use comity_sharing::{BitOperands, BitRows, SharedEngine, Sharing};

use crate::boxes::{self, Boxed, Boxing};
use crate::kept::{Kept, Tables, TablesHead, put_bits};
use crate::masked::{LookUps, MaskedSharing, no_random};

/// The form of a batch's bytes.
pub static FORM: BatchForm = BatchForm { magic: b"comity tinytabp2", name: "a batch of tables" };

/// AND gates whose products are made together.
pub const TOGETHER: usize = 1 << 20;

/// Shares of masks, on a machine that multiplies them. Tables go to a writer.
pub struct MaskSharing<'a, 'n, 'd> {
    net: &'a mut Mesh<'n>,
    machine: &'a mut BitMachine<'d>,
    to: &'a mut dyn Write,
    boxed: &'a Boxed<'a>,
    /// The gates whose tables are not made yet: their shares of the masks of both inputs and of the output.
    u: BitShares,
    v: BitShares,
    o: BitShares,
    /// What of a run's messages has no tables yet, in order.
    pieces: Vec<Piece>,
    /// The bits of the unit vectors that are to be made.
    unit_bits: u64,
}

/// What one message of a run is about.
enum Piece {
    /// This number of gates.
    Gates(usize),
    /// Boxes: the masks of their indices, and of their rows.
    Boxes { index: Vec<BitShares>, rows: BitShares },
}

impl<'a, 'n, 'd> MaskSharing<'a, 'n, 'd> {
    /// Masks over these links.
    pub fn new(
        net: &'a mut Mesh<'n>,
        machine: &'a mut BitMachine<'d>,
        boxed: &'a Boxed<'a>,
        to: &'a mut dyn Write,
    ) -> MaskSharing<'a, 'n, 'd> {
        let [u, v, o] = [(); 3].map(|()| BitShares::default());
        MaskSharing { net, machine, to, boxed, u, v, o, pieces: Vec::new(), unit_bits: 0 }
    }

    fn gates(&mut self, mut operands: impl BitOperands) -> Result<()> {
        for count in operands.pieces() {
            operands.read(count, &mut self.u, &mut self.v);
            // Step 1.
            let masks = self.machine.random(count);
            operands.write(&masks);
            self.o.push(masks.words(), count);
            self.pieces.push(Piece::Gates(count));
            if self.u.len() >= TOGETHER {
                self.tables()?;
            }
        }
        Ok(())
    }

    /// Steps 2 and 3, of the gates and boxes whose tables are not made yet.
    ///
    /// # Errors
    /// Those of the machine and of the writer.
    pub fn tables(&mut self) -> Result<()> {
        if self.pieces.is_empty() {
            return Ok(());
        }
        let mut t = self.machine.and(self.net, &self.u, &self.v)?;
        t.words_mut().iter_mut().zip(self.o.words()).for_each(|(t, o)| *t ^= o);
        let mut vectors = self.vectors()?;
        let (mut start, mut part) = (0, BitShares::default());
        for piece in self.pieces.drain(..) {
            match piece {
                Piece::Gates(count) => {
                    for bits in [&t, &self.o] {
                        part.clear();
                        part.push_from(bits, start, count);
                        put_bits(&FORM, self.to, &part)?;
                    }
                    start += count;
                }
                Piece::Boxes { index, rows } => {
                    let (of, done) = vectors.get_mut(&index.len()).expect("the vectors were made");
                    let copies = index[0].len();
                    for first in (0..copies).step_by(table::TOGETHER) {
                        let copies = table::TOGETHER.min(copies - first);
                        for line in of.part(*done, copies).lines() {
                            put_bits(&FORM, self.to, &BitShares::from_words(line.to_vec(), copies))?;
                        }
                        *done += copies;
                    }
                    put_bits(&FORM, self.to, &rows)?;
                }
            }
        }
        [&mut self.u, &mut self.v, &mut self.o].into_iter().for_each(BitShares::clear);
        self.unit_bits = 0;
        Ok(())
    }

    /// The unit vectors of the masks of the boxes' indices, by the bits of an index, and how many are written.
    fn vectors(&mut self) -> Result<BTreeMap<usize, (UnitVectors, usize)>> {
        let mut indices = BTreeMap::<usize, Vec<BitShares>>::new();
        for piece in &self.pieces {
            if let Piece::Boxes { index, .. } = piece {
                let all = indices.entry(index.len()).or_default();
                all.resize_with(index.len(), BitShares::default);
                all.iter_mut().zip(index).for_each(|(all, bit)| all.push(bit.words(), bit.len()));
            }
        }
        let made = indices.into_iter().map(|(delta, index)| {
            let vectors = UnitVectors::of(self.net, self.machine, index)?;
            Ok((delta, (vectors, 0)))
        });
        made.collect()
    }
}

impl Sharing for MaskSharing<'_, '_, '_> {
    type Rows = BitRows;
    const SHARES: bool = false;

    fn rows(&self) -> BitRows {
        BitRows::new(self.machine.backend())
    }

    fn together(&self, slots: usize, times: u64) -> u64 {
        GateTables::together(slots, times)
    }

    fn constants(&self, rows: &mut BitRows) {
        rows.fill(0, false);
        rows.fill(1, false);
    }

    fn xors(&self, rows: &mut BitRows, gates: &[TapeGate]) {
        rows.add(gates);
    }

    fn ands(&mut self, rows: &mut BitRows, gates: &[TapeGate]) -> Result<()> {
        if let Some(single) = rows.single(gates) {
            return self.gates(single);
        }
        self.gates(rows.lanes(gates))
    }

    // Step 1.
    fn input(&mut self, put: Put, _: Option<&Bits>, to: &mut BitRows) -> Result<()> {
        let own = put.owner.includes(self.net.me());
        let masks = match own {
            true => self.machine.random(put.bits),
            false => BitShares::from_words(vec![0; put.bits.div_ceil(64)], put.bits),
        };
        // What is kept comes in the order of the program, at both parties.
        self.tables()?;
        if own {
            put_bits(&FORM, self.to, &masks)?;
        }
        to.unpack(&masks, put.start);
        Ok(())
    }

    fn random(&mut self, _: &mut BitRows, _: Range<usize>) -> Result<()> {
        Err(no_random())
    }

    // Step 3.
    fn reveal(&mut self, shown: Shown, from: &BitRows) -> Result<Option<Bits>> {
        self.tables()?;
        if let Some(masks) = self.machine.reveal(self.net, shown.to, &from.pack(shown.wires()))? {
            put_bits(&FORM, self.to, &BitShares::from_words(masks.words().to_vec(), shown.bits))?;
        }
        Ok(None)
    }

    // Step 1 of boxes.
    fn look_up(&mut self, call: &Call<'_>, memory: &mut BitRows) -> Result<bool> {
        let boxed = self.boxed;
        let Some(table) = boxed.table(call.index) else { return Ok(false) };
        for (first, copies) in boxes::messages(table.delta(), call.times) {
            let index = boxes::indices(call, memory, first, copies);
            let rows: Vec<BitShares> = (0..table.bits()).map(|_| self.machine.random(copies)).collect();
            boxes::put_rows(call, memory, first, &rows);
            self.pieces.push(Piece::Boxes { index, rows: boxes::joined(&rows) });
            self.unit_bits += (copies as u64) << table.delta();
            if boxes::is_full(self.unit_bits) {
                self.tables()?;
            }
        }
        Ok(true)
    }
}

/// The tables of a semi-honest form.
pub struct GateTables<'r> {
    from: Tables<'r>,
    me: PartyId,
    backend: Backend,
    /// The message under way: `t`, which becomes the bits that are sent and then their sums with the peer's,
    /// and the masks of what is looked up.
    t: BitShares,
    o: BitShares,
    out: Vec<u8>,
    into: Vec<u8>,
}

impl<'r> GateTables<'r> {
    /// Party `me`'s tables, behind their head.
    pub fn new(from: Tables<'r>, me: PartyId, backend: Backend) -> GateTables<'r> {
        let [t, o] = [(); 2].map(|()| BitShares::default());
        GateTables { from, me, backend, t, o, out: Vec::new(), into: Vec::new() }
    }

    /// Sends the bits of the message under way, and adds the peer's.
    fn exchange(&mut self, ch: &mut dyn Channel) -> Result<()> {
        let bytes = self.t.len().div_ceil(8);
        self.out.resize(bytes, 0);
        self.t.put_bytes(&mut self.out);
        self.into.resize(bytes, 0);
        ch.exchange(&self.out, &mut self.into)?;
        self.t.add_bytes(self.backend, &self.into);
        Ok(())
    }

    /// Checks that all tables were used.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if there are more.
    pub fn ended(self) -> Result<()> {
        self.from.ended()
    }
}

impl LookUps for GateTables<'_> {
    fn together(slots: usize, times: u64) -> u64 {
        BitRows::together(slots, times)
    }

    fn input(&mut self, value: &Bits) -> Result<Bits> {
        let mut masked = self.from.bits(value.len())?;
        masked.xor_assign(value);
        Ok(masked)
    }

    fn look_up(
        &mut self,
        ch: &mut dyn Channel,
        [c, d]: [&BitShares; 2],
        [u, v]: [&BitShares; 2],
    ) -> Result<&BitShares> {
        for bits in [&mut self.t, &mut self.o] {
            bits.resize(c.len());
            self.from.fill(bits)?;
        }
        let both = if self.me == PartyId(0) { u64::MAX } else { 0 };
        let at = (c.words(), d.words());
        self.backend.vectorize(Entries { at, t: self.t.words_mut(), u: u.words(), v: v.words(), both });
        self.exchange(ch)?;
        Ok(&self.t)
    }

    fn masks(&self) -> &BitShares {
        &self.o
    }

    fn look_up_whole(&mut self, ch: &mut dyn Channel, table: &PublicTable, at: &[BitShares]) -> Result<Vec<BitShares>> {
        let GateTables { from, t, o, .. } = self;
        let rows = entries(self.backend, &[table], at, |copies, lines| -> Result<()> {
            let bytes = copies.len().div_ceil(8);
            let vectors = from.next(bytes << table.delta())?.chunks_exact(bytes);
            lines.iter_mut().zip(vectors).for_each(|(line, bytes)| line.put_bytes(bytes));
            Ok(())
        })?;
        let copies = at[0].len();
        o.resize(table.bits() * copies);
        from.fill(o)?;
        *t = boxes::joined(&rows);
        t.words_mut().iter_mut().zip(o.words()).for_each(|(t, mask)| *t ^= mask);
        self.exchange(ch)?;
        Ok(boxes::parted(&self.t, copies))
    }

    fn unmask(&mut self, _: &mut dyn Channel, to: Recipients, masked: Bits) -> Result<Option<Bits>> {
        if !to.includes(self.me) {
            return Ok(None);
        }
        let mut value = self.from.bits(masked.len())?;
        value.xor_assign(&masked);
        Ok(Some(value))
    }
}

/// Makes tables for one run of a program on a dealer's triples, and writes them: figure 2.5.
///
/// # Errors
/// Those of the dealer, of the channel, and of the writer. What was written before an error is useless.
pub fn prepare_with(
    me: &mut Party<'_, '_>,
    boxed: &Boxed<'_>,
    dealer: Option<Box<BitDealer<'_>>>,
    to: &mut dyn Write,
) -> Result<()> {
    let program = boxed.program();
    TablesHead { deal: me.here.session, program: boxed.digest(), party: me.me() }.write(&FORM, to)?;
    let mut machine = BitMachine::setup(me, dealer)?;
    me.observer.phase("offline");
    for circuit in program.lowered() {
        circuit.layered();
    }
    machine.plan(boxed.triples());
    let mut engine = SharedEngine::new(MaskSharing::new(me.net, &mut machine, boxed, to));
    comity_circuit::run(program, &mut engine, &vec![None; program.inputs().len()], &mut ())?;
    engine.parts().0.tables()?;
    me.net.flush()
}

/// Runs a program on tables that were made for it: figure 2.6. Outputs for this party go to the observer.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) where the inputs do not fit the program; [`Store`](comity_core::Kind) if
/// the tables are not of this program and party; those of the channel.
pub fn run_on(me: &mut Party<'_, '_>, job: &Job<'_>, tables: Box<dyn Read + Send + '_>) -> Result<()> {
    let boxed = Boxed::new(job.program, Boxing::of(job.options));
    let mut tables = Tables::new(&FORM, tables);
    TablesHead::read(&mut tables, boxed.digest(), me.me())?;
    let (ch, here, _, observer) = me.pair()?;
    for circuit in job.program.lowered() {
        circuit.layered();
    }
    let tables = GateTables::new(tables, here.me, here.backend);
    let mut engine = SharedEngine::new(MaskedSharing::new(ch, here, Some(&boxed), tables));
    comity_circuit::run(job.program, &mut engine, job.inputs, observer)?;
    let (ch, tables) = engine.into_sharing().into_parts();
    ch.flush()?;
    tables.ended()
}

/// Makes tables in memory, on a dealer's triples, and runs a program on them.
///
/// # Errors
/// As [`prepare_with`] and [`run_on`].
pub fn run_with(me: &mut Party<'_, '_>, dealer: Option<Box<BitDealer<'_>>>, job: &Job<'_>) -> Result<()> {
    let mut kept = Kept::default();
    let boxed = Boxed::new(job.program, Boxing::of(job.options));
    prepare_with(&mut me.sub("tables"), &boxed, dealer, &mut kept)?;
    run_on(me, job, Box::new(kept))
}

/// `t + c r_v + d r_u`, and `cd` where `both` is ones, in the place of `t`.
struct Entries<'a> {
    at: (&'a [u64], &'a [u64]),
    t: &'a mut [u64],
    u: &'a [u64],
    v: &'a [u64],
    both: u64,
}

impl Vectorize for Entries<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Entries { at: (c, d), t, u, v, both } = self;
        for ((((t, c), d), u), v) in t.iter_mut().zip(c).zip(d).zip(u).zip(v) {
            *t ^= c & (v ^ d & both) ^ d & u;
        }
    }
}

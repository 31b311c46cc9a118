//! The malicious form, for which the deliverable has no construction: tables of authenticated bits, on
//! checked triples.
//!
//! **Ahead**, `AuthMaskSharing`: a walk over the program in which a wire is an authenticated share of its
//! mask.
//! 1. The mask of an input is an authenticated bit of its owner alone, that of an AND's output an
//!    authenticated bit of both. Those of XOR and NOT follow.
//! 2. `r_u r_v` of each AND comes from a checked triple: both open `d = r_u + a` and `e = r_v + b`, and take
//!    `c + d b + e a + d e` ([`Machine`]). With the output's mask it is `t`. All that was opened is settled
//!    before the tables are kept, and so before any masked input leaves.
//!
//! **The run**, `AuthTables`:
//!
//! 3. The owner of an input sends `e = x + r`, and for each layer of gates each party only the bit of `t + c
//!    r_v + d r_u`, and `cd` at party 0.
//! 4. The sender takes the MAC on its bit, the receiver what the MAC must be, `K + s delta`, each into a
//!    hash, gate by gate, where 64 of them are packed into one by powers of x ([`comity_share::tally`]). In a
//!    plain sum of MACs under one delta two lies cancel.
//! 5. Before an output each party sends the digest of its MACs, which is under the *other's* delta, and both
//!    are compared; only then the shares of the output's masks leave, with a digest that has the MACs on them
//!    too.
//! 6. The session, the tables and the program are in the hash. A batch of tables is a lot by itself: whatever
//!    becomes of a check, nothing is left under its keys.
//!
//! **Why it is safe.** Each bit that is sent is padded by its sender's share of the output's mask, which
//! nothing else shows. A liar could compute the honest party's digest itself, and so learns nothing by it. To
//! pass after a lie takes delta, which has 126 secret bits, whatever the inputs are: that a run ends says
//! nothing about them. What a party sends as a masked input is its choice of an input.

use core::ops::Range;
use std::io::{Read, Write};

use comity_channel::Channel;
use comity_circuit::Program;
use comity_circuit::{Put, Recipients, Shown};
use comity_core::{Backend, Bits, Block, Error, PartyId, Result, SessionId, TapeGate, Vectorize};
use comity_protocol::{BatchForm, Conduct, Honest, Job, Party};
use comity_share::bits::BitShares;
use comity_share::tally::{WORD, turned};
use comity_share::{GlobalKey, KeyMultiples, MacTally, Packer, Share};
use comity_sharing::{PIECE, ShareRows, SharedEngine, Sharing, evenly};
use comity_tinyot::Machine;
use comity_triples::TripleDealer;
use zeroize::{Zeroize, Zeroizing};

use crate::conduct::Act;
use crate::kept::{Kept, Tables, TablesHead, put_bits};
use crate::masked::{LookUps, MaskedSharing, no_random};

/// The form of a batch's bytes.
pub static FORM: BatchForm = BatchForm { magic: b"comity tinytab m", name: "a batch of authenticated tables" };

/// A gate's table: the shares of `t`, `r_u` and `r_v`.
type Entry = [Share; 3];

/// AND gates whose tables are made together.
const TOGETHER: usize = 1 << 16;

/// Wires of calls side by side, ahead: 64 MiB.
const WIRES: usize = (64 << 20) / Share::BYTES;

/// The number of calls that run side by side, of `times` calls of a circuit of `slots` slots.
pub(crate) fn together(slots: usize, times: u64) -> u64 {
    evenly(times, (WIRES / slots).clamp(1, PIECE) as u64)
}

/// The bytes of a batch of tables for a program, at a party that has most.
pub(crate) fn table_bytes(program: &Program) -> u64 {
    let inputs: u64 = program.inputs().iter().map(|input| input.bits.div_ceil(8) as u64).sum();
    let outputs: u64 = program.outputs().iter().map(|output| (output.bits * Share::BYTES) as u64).sum();
    let gates = program.and_gates().saturating_mul(size_of::<Entry>() as u64);
    gates.saturating_add(TablesHead::BYTES + Block::BYTES as u64 + inputs + outputs)
}

/// Authenticated shares of masks, on a machine that multiplies them. Tables go to a writer.
struct AuthMaskSharing<'a, 'm> {
    ch: &'a mut (dyn Channel + 'a),
    machine: &'a mut Machine<'m>,
    to: &'a mut dyn Write,
    /// Masks of outputs that were made ahead, and how many are to be made yet.
    drawn: Zeroizing<Vec<Share>>,
    left: u64,
    /// The gates whose tables are not made yet: the masks of both inputs, and of the output.
    u: Zeroizing<Vec<Share>>,
    v: Zeroizing<Vec<Share>>,
    o: Zeroizing<Vec<Share>>,
}

impl<'a, 'm> AuthMaskSharing<'a, 'm> {
    fn new(
        ch: &'a mut (dyn Channel + 'a),
        machine: &'a mut Machine<'m>,
        ands: u64,
        to: &'a mut dyn Write,
    ) -> AuthMaskSharing<'a, 'm> {
        let room = usize::try_from(ands).unwrap_or(usize::MAX).min(TOGETHER);
        let [u, v, o] = [(); 3].map(|()| Zeroizing::new(Vec::with_capacity(room)));
        AuthMaskSharing { ch, machine, to, drawn: Zeroizing::default(), left: ands, u, v, o }
    }

    /// Step 1, of some gates.
    fn draw(&mut self, out: &mut [Share]) -> Result<()> {
        let had = self.drawn.len();
        if had < out.len() {
            let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(TOGETHER).max(out.len());
            let mut more = Zeroizing::new(vec![Share::default(); wanted]);
            let new = wanted - had;
            self.machine.random(self.ch, &mut more[..new])?;
            more[new..].copy_from_slice(&self.drawn);
            self.left = self.left.saturating_sub(new as u64);
            self.drawn = more;
        }
        let rest = self.drawn.len() - out.len();
        out.copy_from_slice(&self.drawn[rest..]);
        self.drawn[rest..].zeroize();
        self.drawn.truncate(rest);
        Ok(())
    }

    /// Step 2, of the gates whose tables are not made yet.
    fn tables(&mut self) -> Result<()> {
        let mut t = Zeroizing::new(vec![Share::default(); self.u.len()]);
        self.machine.and(self.ch, &self.u, &self.v, &mut t)?;
        let gates = t.iter().zip(&*self.o).zip(self.u.iter().zip(&*self.v));
        let entries: Zeroizing<Vec<Entry>> = Zeroizing::new(gates.map(|((&t, &o), (&u, &v))| [t ^ o, u, v]).collect());
        FORM.put(self.to, Share::bytes_of(entries.as_flattened()))?;
        for masks in [&mut self.u, &mut self.v, &mut self.o] {
            masks.iter_mut().for_each(Zeroize::zeroize);
            masks.clear();
        }
        Ok(())
    }
}

impl Sharing for AuthMaskSharing<'_, '_> {
    type Rows = ShareRows<Share>;
    const SHARES: bool = false;

    fn rows(&self) -> ShareRows<Share> {
        ShareRows::new(1)
    }

    fn together(&self, slots: usize, times: u64) -> u64 {
        together(slots, times)
    }

    fn constants(&self, rows: &mut ShareRows<Share>) {
        [0, 1].into_iter().for_each(|slot| rows.fill(slot, &[Share::default()]));
    }

    fn xors(&self, rows: &mut ShareRows<Share>, gates: &[TapeGate]) {
        rows.add(gates);
    }

    fn ands(&mut self, rows: &mut ShareRows<Share>, gates: &[TapeGate]) -> Result<()> {
        let copies = rows.copies();
        for gate in gates {
            let mut at = 0;
            while at < copies {
                let count = (copies - at).min(TOGETHER - self.u.len());
                let of = |slot: usize| slot * copies + at..slot * copies + at + count;
                self.u.extend_from_slice(&rows.elements()[of(gate.a())]);
                self.v.extend_from_slice(&rows.elements()[of(gate.b())]);
                let out = &mut rows.elements_mut()[of(gate.out())];
                self.draw(out)?;
                self.o.extend_from_slice(out);
                at += count;
                if self.u.len() == TOGETHER {
                    self.tables()?;
                }
            }
        }
        Ok(())
    }

    // Step 1.
    fn input(&mut self, put: Put, _: Option<&Bits>, to: &mut ShareRows<Share>) -> Result<()> {
        let owner =
            put.owner.party().ok_or_else(|| Error::invalid_input("this protocol takes no input values in shares"))?;
        self.tables()?;
        let masks = to.slots_mut(put.wires());
        self.machine.masks(self.ch, owner, masks)?;
        if owner == self.machine.party() {
            let own: Bits = masks.iter().map(|mask| mask.bit()).collect();
            put_bits(&FORM, self.to, &BitShares::from_bytes(&Zeroizing::new(own.to_bytes()), put.bits))?;
        }
        Ok(())
    }

    fn random(&mut self, _: &mut ShareRows<Share>, _: Range<usize>) -> Result<()> {
        Err(no_random())
    }

    fn reveal(&mut self, shown: Shown, from: &ShareRows<Share>) -> Result<Option<Bits>> {
        self.tables()?;
        FORM.put(self.to, Share::bytes_of(from.slots(shown.wires())))?;
        Ok(None)
    }
}

/// The tables of the malicious form.
struct AuthTables<'r, 'c> {
    from: Tables<'r>,
    me: PartyId,
    backend: Backend,
    multiples: KeyMultiples,
    packer: Packer,
    /// A share of the constant one.
    one: Share,
    tally: MacTally,
    /// Whether bits were shown, either way, since the last settlement.
    pending: bool,
    conduct: &'c mut dyn for<'a> Conduct<Act<'a>>,
    /// The message under way: the bits, which become their sums with the peer's, and for each word the key
    /// to the peer's.
    bits: BitShares,
    keys: Zeroizing<Vec<Block>>,
    room: Box<Room>,
    out: Vec<u8>,
    into: Vec<u8>,
}

impl<'r, 'c> AuthTables<'r, 'c> {
    /// Party `me`'s tables for a program, in a session.
    fn open(
        mut from: Tables<'r>,
        (me, backend, session): (PartyId, Backend, SessionId),
        program: [u8; 32],
        conduct: &'c mut dyn for<'a> Conduct<Act<'a>>,
    ) -> Result<AuthTables<'r, 'c>> {
        let head = TablesHead::read(&mut from, program, me)?;
        let mut delta = Zeroizing::new([0; Block::BYTES]);
        from.take(&mut *delta)?;
        let key = GlobalKey::new(Block::new(*delta));
        let key = key.ok_or_else(|| from.damaged("its global key does not end in a one bit"))?;
        let zero = Share::default();
        let one = if me == PartyId(0) { zero.add_to_own(true) } else { zero.add_to_theirs(true, &key) };
        // Step 6.
        let session = SessionId::derive("tinytable", &[&session.to_bytes(), &head.deal.to_bytes(), &program]);
        Ok(AuthTables {
            from,
            me,
            backend,
            multiples: KeyMultiples::new(&key),
            packer: Packer::new(backend),
            one,
            tally: MacTally::new(session, me),
            pending: false,
            conduct,
            bits: BitShares::default(),
            keys: Zeroizing::default(),
            room: Box::default(),
            out: Vec::new(),
            into: Vec::new(),
        })
    }

    /// Step 5: all bits so far are held against their MACs.
    fn settle(&mut self, ch: &mut dyn Channel) -> Result<()> {
        if std::mem::take(&mut self.pending) {
            let (mut ours, mut theirs) = (self.tally.digest(), [0; 32]);
            self.conduct.before(Act::Digest(&mut ours));
            ch.send(&ours)?;
            ch.recv(&mut theirs)?;
            self.tally.verify(&theirs)?;
        }
        Ok(())
    }
}

impl LookUps for AuthTables<'_, '_> {
    fn together(slots: usize, times: u64) -> u64 {
        together(slots, times)
    }

    // Step 3.
    fn input(&mut self, value: &Bits) -> Result<Bits> {
        let mut masked = self.from.bits(value.len())?;
        masked.xor_assign(value);
        self.conduct.before(Act::Input(&mut masked));
        Ok(masked)
    }

    // Steps 3 and 4.
    fn look_up(&mut self, ch: &mut dyn Channel, [c, d]: [&BitShares; 2], _: [&BitShares; 2]) -> Result<&BitShares> {
        let (count, groups) = (c.len(), c.words().len());
        self.bits.resize(count);
        if self.keys.len() < groups {
            self.keys = Zeroizing::new(vec![Block::ZERO; groups]);
        }
        let lengths = (0..count).step_by(WORD).map(|at| WORD.min(count - at));
        let at = c.words().iter().zip(d.words());
        for (((at, len), bits), key) in at.zip(lengths.clone()).zip(self.bits.words_mut()).zip(self.keys.iter_mut()) {
            let Room { entries, macs, keys } = &mut *self.room;
            let (entries, macs, keys) = (&mut entries[..len], &mut macs[..len], &mut keys[..len]);
            self.from.take(Share::bytes_of_mut(entries.as_flattened_mut()))?;
            self.backend.vectorize(AuthEntries { at, entries, one: self.one, macs, keys });
            let packed = self.packer.pack(macs, keys);
            self.tally.show(packed.mac);
            (*bits, *key) = (turned(packed.word, len), packed.key);
        }
        self.conduct.before(Act::Table(&mut self.bits));
        let bytes = count.div_ceil(8);
        self.out.resize(bytes, 0);
        self.bits.put_bytes(&mut self.out);
        self.into.resize(bytes, 0);
        self.pending = true;
        ch.exchange(&self.out, &mut self.into)?;
        let theirs = BitShares::from_bytes(&self.into, count);
        for ((&word, len), key) in theirs.words().iter().zip(lengths).zip(self.keys.iter()) {
            self.tally.see(*key ^ self.multiples.product(turned(word, len)));
        }
        self.bits.add_bytes(self.backend, &self.into);
        Ok(&self.bits)
    }

    // Step 5.
    fn unmask(&mut self, ch: &mut dyn Channel, to: Recipients, masked: Bits) -> Result<Option<Bits>> {
        self.settle(ch)?;
        let mut masks = Zeroizing::new(vec![Share::default(); masked.len()]);
        self.from.take(Share::bytes_of_mut(&mut masks))?;
        let own: Bits = masks.iter().map(|mask| mask.bit()).collect();
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        if to.includes(self.me.other()) {
            masks.chunks(WORD).for_each(|masks| self.tally.show(self.packer.shares(masks).mac));
            let (mut shown, mut digest) = (own.clone(), self.tally.digest());
            self.conduct.before(Act::Output(&mut shown));
            self.conduct.before(Act::OutputDigest(&mut digest));
            ours = shown.to_bytes();
            ours.extend(digest);
        }
        if to.includes(self.me) {
            theirs = vec![0; masked.len().div_ceil(8) + 32];
        }
        ch.exchange(&ours, &mut theirs)?;
        let Some((bits, digest)) = theirs.split_last_chunk::<32>() else {
            ch.flush()?;
            return Ok(None);
        };
        let mut value = Bits::from_bytes(bits, masked.len());
        for (masks, &word) in masks.chunks(WORD).zip(value.words()) {
            let word = turned(word, masks.len());
            self.tally.see(self.packer.shares(masks).key ^ self.multiples.product(word));
        }
        self.tally.verify(digest)?;
        [&own, &masked].into_iter().for_each(|part| value.xor_assign(part));
        Ok(Some(value))
    }
}

/// The tables of a word of gates, and the MACs and keys at the places that are looked up. Secret.
struct Room {
    entries: [Entry; WORD],
    macs: [Block; WORD],
    keys: [Block; WORD],
}

impl Default for Room {
    fn default() -> Room {
        Room { entries: [Entry::default(); WORD], macs: [Block::ZERO; WORD], keys: [Block::ZERO; WORD] }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.entries.as_flattened_mut().zeroize();
        [&mut self.macs, &mut self.keys].into_iter().for_each(|blocks| blocks.zeroize());
    }
}

/// The shares at `(c, d)` of the tables of at most 64 gates, `t + c r_v + d r_u + cd`: their MACs, and the keys
/// to the peer's.
struct AuthEntries<'a> {
    at: (&'a u64, &'a u64),
    entries: &'a [Entry],
    one: Share,
    macs: &'a mut [Block],
    keys: &'a mut [Block],
}

impl Vectorize for AuthEntries<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let AuthEntries { at: (c, d), entries, one, macs, keys } = self;
        let one = one.words();
        for (i, ((entry, mac), key)) in entries.iter().zip(macs).zip(keys).enumerate() {
            let [c, d] = [c, d].map(|word| (word >> i & 1).wrapping_neg());
            let [t, u, v] = entry.map(Share::words);
            let share = Share::from_words(core::array::from_fn(|i| t[i] ^ c & (v[i] ^ d & one[i]) ^ d & u[i]));
            (*mac, *key) = (share.mac(), share.key());
        }
    }
}

/// Makes tables for one run of a program on a dealer's triples, and writes them: steps 1 and 2.
///
/// # Errors
/// Those of the dealer, of the channel, and of the writer; [`WRONG_MAC`](comity_share::checks::WRONG_MAC) if
/// the peer opened a wrong bit. What was written before an error is useless.
pub fn prepare_with(
    me: &mut Party<'_, '_>,
    program: &Program,
    dealer: Box<dyn TripleDealer + '_>,
    to: &mut dyn Write,
) -> Result<()> {
    let (ch, here, _, observer) = me.pair()?;
    TablesHead { deal: here.session, program: program.digest(), party: here.me }.write(&FORM, to)?;
    FORM.put(to, &Zeroizing::new(dealer.key().block().to_bytes())[..])?;
    observer.phase("offline");
    for circuit in program.lowered() {
        circuit.layered();
    }
    let ands = program.and_gates();
    let mut machine = Machine::new(here.child("machine"), dealer);
    machine.plan(ands);
    let own = |party: u16| program.inputs().iter().filter(move |input| input.owner.includes(party));
    machine.prepare(ch, [0, 1].map(|party| own(party).map(|input| input.bits).sum()))?;
    let mut engine = SharedEngine::new(AuthMaskSharing::new(ch, &mut machine, ands, to));
    comity_circuit::run(program, &mut engine, &vec![None; program.inputs().len()], &mut ())?;
    let mut masks = engine.into_sharing();
    masks.tables()?;
    let AuthMaskSharing { ch, machine, .. } = masks;
    machine.check(ch)?;
    ch.flush()
}

/// Runs a program on tables that were made for it: steps 3 to 6. Outputs for this party go to the observer.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) where the inputs do not fit the program; [`Store`](comity_core::Kind) if
/// the tables are not of this program and party; [`WRONG_MAC`](comity_share::checks::WRONG_MAC) if the peer
/// ever sent a wrong bit; those of the channel.
pub fn run_on(me: &mut Party<'_, '_>, job: &Job<'_>, tables: Box<dyn Read + Send + '_>) -> Result<()> {
    run_as(me, job, tables, &mut Honest)
}

pub(crate) fn run_as(
    me: &mut Party<'_, '_>,
    job: &Job<'_>,
    tables: Box<dyn Read + Send + '_>,
    conduct: &mut dyn for<'a> Conduct<Act<'a>>,
) -> Result<()> {
    let (ch, here, _, observer) = me.pair()?;
    let place = (here.me, here.backend, here.session);
    let tables = AuthTables::open(Tables::new(&FORM, tables), place, job.program.digest(), conduct)?;
    for circuit in job.program.lowered() {
        circuit.layered();
    }
    let mut engine = SharedEngine::new(MaskedSharing::new(ch, here, None, tables));
    comity_circuit::run(job.program, &mut engine, job.inputs, observer)?;
    let (ch, tables) = engine.into_sharing().into_parts();
    ch.flush()?;
    tables.from.ended()
}

/// Makes tables in memory, on a dealer's triples, and runs a program on them.
///
/// # Errors
/// As [`prepare_with`] and [`run_on`].
pub fn run_with(me: &mut Party<'_, '_>, dealer: Box<dyn TripleDealer + '_>, job: &Job<'_>) -> Result<()> {
    let mut kept = Kept::default();
    prepare_with(&mut me.sub("tables"), job.program, dealer, &mut kept)?;
    run_on(me, job, Box::new(kept))
}

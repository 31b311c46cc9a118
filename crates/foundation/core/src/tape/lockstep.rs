//! Garbling many copies of one circuit in lockstep, gate by gate across the copies.
//!
//! Cut-and-choose garbles the same circuit some forty times. In lockstep the tape is walked once, a gate's two keys are
//! expanded once and serve every copy, and all AES lanes are full whatever the circuit's shape. Each copy has its own
//! delta. Sharing keys costs about log2(2 * copies) bits of the hash's concrete security (ePrint 2019/1168).
//!
//! A slot holds one label of each copy, side by side. Where the slots of all copies together would leave the L2 cache,
//! the copies are garbled in several groups; the tables do not depend on that: for each AND gate first the generator's
//! row of every copy, then the evaluator's row of every copy.
//!
//! The evaluator of cut-and-choose evaluates some of the copies and garbles the others again. Both read their
//! own columns of the tables as they arrived, so that a choice costs no copy of the tables. Which columns
//! those are shows in the addresses that are read, though all the lines of cache are, between the two; the
//! labels never do.

use core::ops::Range;

use subtle::ConstantTimeEq;

use crate::arch::garble::KeyRing;
use crate::arch::garble::lockstep as kernels;
use crate::arch::{Backend, verdict};
use crate::memory::block::Block;
use crate::tape::gates::Delta;
use crate::tape::part::Part;
use crate::tape::{LANES, Tape};

/// Bytes of labels that one group may touch: half of a usual L2 cache. Few for Miri, whose tests are small.
const GROUP_BYTES: usize = if cfg!(miri) { 1 << 14 } else { 1 << 20 };

/// A vector's worth of labels, where one aligned access finds it: an access across cache lines costs two.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
struct Vector([Block; LANES]);

/// Room for `len` zero blocks, aligned to vectors.
fn vectors(len: usize) -> Vec<Vector> {
    vec![Vector([Block::ZERO; LANES]); len / LANES]
}

/// A group of copies: their labels and their keys.
struct Group {
    copies: Range<usize>,
    /// The blocks of slot ONE: deltas when garbling, zeros when evaluating; padded to whole vectors.
    deltas: Vec<Vector>,
    /// The column of each copy, when reading tables; the last one's again in the lanes that are too many.
    columns: Vec<u32>,
    /// The bits in which tables differed so far, when checking them.
    differences: Vec<Vector>,
    /// The labels: that of a copy's slot is `slots[slot * width + copy]`.
    slots: Vec<Vector>,
    width: usize,
    keys: KeyRing,
}

impl Group {
    fn new(copies: Range<usize>, deltas: &[Delta], columns: &[usize], slots: usize, start: Block) -> Group {
        let width = copies.len().next_multiple_of(LANES);
        let mut padded = vectors(width);
        let lanes: &mut [Block] = bytemuck::cast_slice_mut(&mut padded);
        lanes.iter_mut().zip(deltas).for_each(|(lane, delta)| *lane = delta.block());
        let last = columns.last().into_iter().cycle();
        let columns = columns.iter().chain(last).take(width).map(|&column| column as u32).collect();
        let (slots, differences, keys) = (vectors(slots * width), vectors(width), KeyRing::new(start));
        let mut group = Group { copies, deltas: padded, columns, differences, slots, width, keys };
        group.constants();
        group
    }

    /// Sets the slots of the constants.
    fn constants(&mut self) {
        let Group { deltas, slots, width, .. } = self;
        let (deltas, slots): (&[Block], &mut [Block]) = (bytemuck::cast_slice(deltas), bytemuck::cast_slice_mut(slots));
        slots[Tape::ZERO as usize * *width..][..*width].fill(Block::ZERO);
        slots[Tape::ONE as usize * *width..][..*width].copy_from_slice(deltas);
    }

    fn slots(&mut self) -> &mut [Block] {
        bytemuck::cast_slice_mut(&mut self.slots)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        use zeroize::Zeroize;
        bytemuck::cast_slice_mut::<Vector, Block>(&mut self.deltas).zeroize();
        self.slots().zeroize();
    }
}

/// The groups of either side.
struct Groups {
    backend: Backend,
    /// The number of copies here.
    copies: usize,
    /// The number of copies in the tables.
    all: usize,
    slots: usize,
    groups: Vec<Group>,
}

impl Groups {
    /// Groups of the copies that have these columns of tables of `all` copies; a delta for each when
    /// garbling, none when evaluating.
    fn new(backend: Backend, deltas: &[Delta], columns: &[usize], all: usize, start: Block, slots: usize) -> Groups {
        let (slots, copies) = (slots.max(2), columns.len());
        assert!(columns.iter().all(|&column| column < all), "a column of tables of {all} copies");
        let fitting = (GROUP_BYTES / (size_of::<Block>() * slots)).max(LANES);
        // Groups of equal size, whole vectors each.
        let count = copies.div_ceil(fitting).max(1);
        let size = copies.div_ceil(count).next_multiple_of(LANES).max(LANES);
        let groups = (0..copies)
            .step_by(size)
            .map(|first| {
                let range = first..copies.min(first + size);
                let deltas = deltas.get(range.clone()).unwrap_or(&[]);
                Group::new(range.clone(), deltas, &columns[range], slots, start)
            })
            .collect();
        Groups { backend, copies, all, slots, groups }
    }

    fn find(&mut self, copy: usize) -> (&mut Group, usize) {
        assert!(copy < self.copies, "copy {copy} of {}", self.copies);
        let size = self.groups[0].copies.len().next_multiple_of(LANES);
        (&mut self.groups[copy / size], copy % size)
    }

    fn label(&mut self, copy: usize, slot: usize) -> &mut Block {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        let (group, lane) = self.find(copy);
        let width = group.width;
        &mut group.slots()[slot * width + lane]
    }

    /// Copies labels between whole rows, `copies` blocks a slot from slot `first` on, and the groups: `copy`
    /// gets a row's part of one group and where it is in the rows.
    fn rows(&mut self, first: usize, len: usize, mut copy: impl FnMut(&mut [Block], Range<usize>)) {
        let copies = self.copies;
        // Over no copies any slot has an empty row.
        let rows = len.checked_div(copies).unwrap_or(0);
        assert_eq!(len, rows * copies, "rows of {copies} labels");
        assert!(
            first.checked_add(rows).is_some_and(|end| end <= self.slots),
            "slots {first} and {rows} more of {}",
            self.slots
        );
        for group in &mut self.groups {
            let (range, width) = (group.copies.clone(), group.width);
            let slots = &mut group.slots()[first * width..(first + rows) * width];
            for (row, slot) in slots.chunks_exact_mut(width).enumerate() {
                let at = row * copies;
                copy(&mut slot[..range.len()], at + range.start..at + range.end);
            }
        }
    }

    fn check(&self, part: &Part<'_>, tables: usize) {
        assert!(part.tape().slots() <= self.slots, "the tape has more slots than were asked for");
        assert_eq!(tables, 2 * self.all * part.ands(), "two blocks for each AND gate and copy");
    }
}

/// Defines what both sides do with labels.
macro_rules! labels {
    ($side:ident, $label:literal) => {
        impl $side {
            /// The number of copies.
            pub fn copies(&self) -> usize {
                self.0.copies
            }

            #[doc = concat!("The ", $label, " of a copy's slot.")]
            ///
            /// # Panics
            /// If there is no such copy or slot.
            pub fn label(&mut self, copy: usize, slot: usize) -> &mut Block {
                self.0.label(copy, slot)
            }

            #[doc = concat!("Sets the ", $label, " in every copy, side by side, of slot `first` and as many more as there")]
            /// are rows.
            ///
            /// # Panics
            /// If `rows` is not a whole number of rows of a label for each copy, or there are too few slots.
            pub fn set(&mut self, first: usize, rows: &[Block]) {
                self.0.rows(first, rows.len(), |slot, at| slot.copy_from_slice(&rows[at]));
            }

            /// Reads the labels that [`set`](Self::set) writes. The slots of the constants have their labels
            /// even before the first gate.
            ///
            /// # Panics
            /// As `set`.
            pub fn get(&mut self, first: usize, rows: &mut [Block]) {
                self.0.rows(first, rows.len(), |slot, at| rows[at].copy_from_slice(slot));
            }
        }
    };
}

labels!(LockstepGarbler, "label for zero");
labels!(LockstepEvaluator, "active label");
labels!(LockstepChecker, "label for zero");

/// The garbler of copies in lockstep.
pub struct LockstepGarbler(Groups);

impl LockstepGarbler {
    /// A garbler with a copy for each delta, for tapes of at most `slots` slots. `start` is the random start
    /// of the gate keys, shared by the copies; it must not be used with other deltas.
    pub fn new(backend: Backend, deltas: &[Delta], start: Block, slots: usize) -> LockstepGarbler {
        let columns: Vec<usize> = (0..deltas.len()).collect();
        LockstepGarbler(Groups::new(backend, deltas, &columns, columns.len(), start, slots))
    }

    /// Garbles a stretch of a tape in every copy: `2 * copies` blocks of tables for each AND gate.
    ///
    /// # Panics
    /// If the tape has more slots than the garbler has, or `tables` has another length.
    pub fn garble(&mut self, part: &Part<'_>, tables: &mut [Block]) {
        self.0.check(part, tables.len());
        let copies = self.0.copies;
        for group in &mut self.0.groups {
            group.constants();
            let Group { copies: range, deltas, slots, width, keys, .. } = group;
            let (deltas, slots) = (bytemuck::cast_slice(deltas), bytemuck::cast_slice_mut(slots));
            let shape = kernels::Shape { width: *width, first: range.start, end: range.end, copies };
            kernels::garble(self.0.backend, keys, deltas, part, &shape, slots, tables);
        }
    }
}

/// The evaluator of copies in lockstep.
pub struct LockstepEvaluator(Groups);

impl LockstepEvaluator {
    /// An evaluator for a [`LockstepGarbler`] of `copies` copies.
    pub fn new(backend: Backend, copies: usize, start: Block, slots: usize) -> LockstepEvaluator {
        LockstepEvaluator::of(backend, &(0..copies).collect::<Vec<_>>(), copies, start, slots)
    }

    /// An evaluator of only some of the copies: those with these columns in tables of `all` copies, in this
    /// order.
    ///
    /// # Panics
    /// If a column is not below `all`.
    pub fn of(backend: Backend, columns: &[usize], all: usize, start: Block, slots: usize) -> LockstepEvaluator {
        LockstepEvaluator(Groups::new(backend, &[], columns, all, start, slots))
    }

    /// Evaluates a stretch of a tape in every copy; `tables` are those of all copies, evaluated here or not.
    ///
    /// # Panics
    /// If the tape has more slots than the evaluator has, or `tables` has another length.
    pub fn evaluate(&mut self, part: &Part<'_>, tables: &[Block]) {
        self.0.check(part, tables.len());
        let copies = self.0.all;
        for group in &mut self.0.groups {
            group.constants();
            let Group { columns, slots, keys, .. } = group;
            let picked = kernels::Picked { columns, copies };
            kernels::evaluate(self.0.backend, keys, part, &picked, bytemuck::cast_slice_mut(slots), tables);
        }
    }
}

/// The checker of copies in lockstep: it garbles them again and compares their tables with those that
/// arrived, which is the check of cut-and-choose.
pub struct LockstepChecker(Groups);

impl LockstepChecker {
    /// A checker of the copies that have these columns in tables of `all` copies, with the delta of each; `start` and
    /// `slots` as the [`LockstepGarbler`] of all copies has them.
    ///
    /// # Panics
    /// If there is not a delta for each column, or a column is not below `all`.
    pub fn new(
        backend: Backend,
        deltas: &[Delta],
        columns: &[usize],
        all: usize,
        start: Block,
        slots: usize,
    ) -> LockstepChecker {
        assert_eq!(deltas.len(), columns.len(), "a delta for each column");
        LockstepChecker(Groups::new(backend, deltas, columns, all, start, slots))
    }

    /// Garbles a stretch of a tape and compares; `tables` are those of all copies, checked here or not. It
    /// takes the same time whether they are equal or not: [`differing`](LockstepChecker::differing) gives the
    /// verdict.
    ///
    /// # Panics
    /// If the tape has more slots than the checker has, or `tables` has another length.
    pub fn check(&mut self, part: &Part<'_>, tables: &[Block]) {
        self.0.check(part, tables.len());
        let copies = self.0.all;
        for group in &mut self.0.groups {
            group.constants();
            let Group { deltas, columns, differences, slots, keys, .. } = group;
            let compared = kernels::Compared {
                deltas: bytemuck::cast_slice(deltas),
                picked: kernels::Picked { columns, copies },
                differences: bytemuck::cast_slice_mut(differences),
            };
            kernels::check(self.0.backend, keys, part, compared, bytemuck::cast_slice_mut(slots), tables);
        }
    }

    /// The columns of the copies whose tables so far differ in any block from an honest garbler's.
    pub fn differing(&self) -> impl Iterator<Item = usize> {
        self.0.groups.iter().flat_map(|group| {
            let differences: &[Block] = bytemuck::cast_slice(&group.differences);
            let copies = group.columns.iter().zip(differences).take(group.copies.len());
            copies
                .filter(|(_, difference)| !verdict(difference.ct_eq(&Block::ZERO)))
                .map(|(&column, _)| column as usize)
        })
    }
}

//! Sums of rows of blocks that digits name: the kernel of [`SubsetSums`](crate::SubsetSums).
//!
//! Rows go in tiles that stay in registers. The sums of a few groups of rows, restricted to a tile, are
//! formed at a time, in the first-level cache, and then each output takes one of each.
//!
//! *Cost.* For each output, group and tile as many loads as the tile has registers, and an addition with each.

use super::Backend;
use super::kernels::safe;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::lanes::Lanes;
use crate::memory::block::Block;

/// Rows whose sums are looked up together: the bits of a digit.
pub(crate) const GROUP: usize = 6;
/// The sums of a group.
const SUBSETS: usize = 1 << GROUP;
/// Groups whose sums are kept at a time: 32 KiB of them.
const KEPT: usize = 4;
/// Blocks of a tile.
pub(super) const TILE: usize = 8;
/// Blocks of memory for sums.
pub(crate) const ROOM: usize = KEPT * SUBSETS * TILE;

/// The rows to be added, and the digits that name them.
pub(crate) struct Rows<'a> {
    /// Blocks in a row.
    pub(crate) width: usize,
    /// The rows that digits name.
    pub(crate) rows: &'a [Block],
    /// Digits of an output.
    pub(crate) groups: usize,
    /// The digits of all outputs, one output after another.
    pub(crate) digits: &'a [u8],
}

impl Rows<'_> {
    /// The number of rows of a group.
    #[inline(always)]
    fn members(&self, group: usize) -> usize {
        GROUP.min((self.rows.len() / self.width).saturating_sub(GROUP * group))
    }
}

/// Adds to each row of `out` the sum of the rows that its digits name. The caller has checked the lengths: `out` and
/// `rows` hold whole rows, there are `groups` digits for each row of `out`, and `room` has [`ROOM`] blocks.
pub(crate) fn add(backend: Backend, all: &Rows<'_>, out: &mut [Block], room: &mut [Block]) {
    safe!(backend, subset_add(all, out, room));
}

/// Adds all tiles: of `N` wide registers, then of one, then of single blocks.
///
/// # Safety
/// As for [`Lanes`]; `S` has one lane, and the lengths are what [`add`] says.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
pub(super) unsafe fn wide<V: Lanes, const N: usize, S: Lanes>(all: &Rows<'_>, out: &mut [Block], room: &mut [Block]) {
    const { assert!(S::LANES == 1 && N * V::LANES == TILE) }
    let mut at = 0;
    // SAFETY: the caller's promise, and each tile is inside a row.
    unsafe {
        while at + TILE <= all.width {
            tile::<V, N>(all, at, out, room);
            at += TILE;
        }
        while at + V::LANES <= all.width {
            tile::<V, 1>(all, at, out, room);
            at += V::LANES;
        }
        while at < all.width {
            tile::<S, 1>(all, at, out, room);
            at += 1;
        }
    }
}

/// Adds the tile of each row that starts with block `at`.
///
/// # Safety
/// As for [`Lanes`]; the tile is inside a row, and the lengths are what [`add`] says.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn tile<V: Lanes, const N: usize>(all: &Rows<'_>, at: usize, out: &mut [Block], room: &mut [Block]) {
    const { assert!(N * V::LANES <= TILE) }
    let size = N * V::LANES;
    let (rows, tables) = (all.rows.as_ptr(), room.as_mut_ptr());
    let outputs = out.len() / all.width;
    for first in (0..all.groups).step_by(KEPT) {
        let kept = KEPT.min(all.groups - first);
        // SAFETY: the sums of `KEPT` groups fit the room, digits are cut to six bits, and every tile that is
        // read or written is inside a row of `rows` or `out`.
        unsafe {
            for k in 0..kept {
                let table = tables.add(k * SUBSETS * size);
                store([V::broadcast([0; 16]); N], table);
                let members = all.members(first + k);
                for member in 0..GROUP {
                    // A row that is not there is zero.
                    let row = if member < members {
                        load::<V, N>(rows.add((GROUP * (first + k) + member) * all.width + at))
                    } else {
                        [V::broadcast([0; 16]); N]
                    };
                    for subset in 0..1 << member {
                        let sum = xor(load(table.add(subset * size)), row);
                        store(sum, table.add((1 << member | subset) * size));
                    }
                }
            }
            let mut digits = all.digits.as_ptr().add(first);
            let mut to = out.as_mut_ptr().add(at);
            for _ in 0..outputs {
                let mut sum = load::<V, N>(to);
                if kept == KEPT {
                    for k in 0..KEPT {
                        let digit = usize::from(*digits.add(k)) % SUBSETS;
                        sum = xor(sum, load(tables.add((k * SUBSETS + digit) * size)));
                    }
                } else {
                    for k in 0..kept {
                        let digit = usize::from(*digits.add(k)) % SUBSETS;
                        sum = xor(sum, load(tables.add((k * SUBSETS + digit) * size)));
                    }
                }
                store(sum, to);
                digits = digits.wrapping_add(all.groups);
                to = to.wrapping_add(all.width);
            }
        }
    }
}

/// # Safety
/// As for [`Lanes`]; the blocks of `N` registers are there.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn load<V: Lanes, const N: usize>(from: *const Block) -> [V; N] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut tile = [V::broadcast([0; 16]); N];
        for (i, register) in tile.iter_mut().enumerate() {
            *register = V::load(from.add(i * V::LANES).cast());
        }
        tile
    }
}

/// # Safety
/// As for [`Lanes`]; there is room for the blocks of `N` registers.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn store<V: Lanes, const N: usize>(tile: [V; N], to: *mut Block) {
    // SAFETY: the caller's promise.
    unsafe {
        for (i, register) in tile.iter().enumerate() {
            register.store(to.add(i * V::LANES).cast());
        }
    }
}

/// # Safety
/// As for [`Lanes`].
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn xor<V: Lanes, const N: usize>(mut a: [V; N], b: [V; N]) -> [V; N] {
    // SAFETY: the caller's promise.
    unsafe {
        for i in 0..N {
            a[i] = a[i].xor(b[i]);
        }
        a
    }
}

/// Adds a block at a time.
pub(super) fn portable(all: &Rows<'_>, out: &mut [Block], room: &mut [Block]) {
    for at in 0..all.width {
        for group in 0..all.groups {
            let table = &mut room[..SUBSETS];
            table.fill(Block::ZERO);
            for member in 0..GROUP {
                // A row that is not there is zero.
                let row = if member < all.members(group) {
                    all.rows[(GROUP * group + member) * all.width + at]
                } else {
                    Block::ZERO
                };
                let (without, with) = table[..2 << member].split_at_mut(1 << member);
                with.iter_mut().zip(without).for_each(|(with, without)| *with = *without ^ row);
            }
            for (out, digits) in out.chunks_exact_mut(all.width).zip(all.digits.chunks_exact(all.groups)) {
                out[at] ^= table[usize::from(digits[group]) % SUBSETS];
            }
        }
    }
}

//! Memory for a table that is read at random places: aligned, and on huge pages where the system has them.
//!
//! *Cost.* A page of 4 KiB needs an entry of the processor's address cache, whose first level holds about a
//! hundred, and lies anywhere in physical memory, so that a table that would fit the second-level cache does
//! not: look-ups in 1.6 MiB take half as long again as on one page of 2 MiB.

use core::ptr::NonNull;
use std::alloc::{Layout, alloc_zeroed, dealloc};

use zeroize::Zeroize;

use crate::memory::block::Block;

/// A huge page's size: of x86-64, and of ARMv8 with pages of 4 KiB.
const HUGE: usize = 2 << 20;

/// A fixed number of blocks, wiped on drop.
pub(crate) struct Memory {
    blocks: NonNull<Block>,
    len: usize,
    /// The start of the allocated memory: the blocks lie inside.
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the memory is this value's alone, as a vector's is.
unsafe impl Send for Memory {}
// SAFETY: likewise; a shared reference only reads.
unsafe impl Sync for Memory {}

impl Memory {
    /// Memory of `len` zero blocks, if they fit.
    pub(crate) fn zeroed(len: usize) -> Option<Memory> {
        let bytes = len.checked_mul(Block::BYTES)?.max(1);
        // Whole pages, if it is worth one: nothing else then lies on the last one. The allocator would write zeros to
        // what it has to align, and so touch all of it; it knows that fresh memory is zero. So the aligning is ours.
        let huge = bytes > HUGE / 4;
        let (size, room, align) = if huge {
            let size = bytes.checked_next_multiple_of(HUGE)?;
            (size, size.checked_add(HUGE)?, align_of::<Block>())
        } else {
            (bytes, bytes, 64)
        };
        let layout = Layout::from_size_align(room, align).ok()?;
        // SAFETY: the layout is not of size zero; zero bytes are blocks, and `len` of them fit, from the
        // first border of a huge page on too.
        unsafe {
            let start = NonNull::new(alloc_zeroed(layout))?;
            let memory = if huge { start.add(start.addr().get().wrapping_neg() % HUGE) } else { start };
            if huge {
                advise(memory, size);
            }
            Some(Memory { blocks: memory.cast(), len, start, layout })
        }
    }

    pub(crate) fn blocks(&self) -> &[Block] {
        // SAFETY: `len` blocks are there, and were written.
        unsafe { core::slice::from_raw_parts(self.blocks.as_ptr(), self.len) }
    }

    pub(crate) fn blocks_mut(&mut self) -> &mut [Block] {
        // SAFETY: likewise, and no one else has them.
        unsafe { core::slice::from_raw_parts_mut(self.blocks.as_ptr(), self.len) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.blocks_mut().zeroize();
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// Asks for huge pages for memory, before the first write. Without them all is the same, but slower: errors
/// do not matter.
///
/// # Safety
/// The bytes are an allocation.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
unsafe fn advise(memory: NonNull<u8>, bytes: usize) {
    use core::ffi::{c_int, c_void};

    // A function of the C library, which the standard library is linked to.
    unsafe extern "C" {
        fn madvise(start: *mut c_void, bytes: usize, advice: c_int) -> c_int;
    }
    const HUGE_PAGES: c_int = 14;
    // SAFETY: this advice changes nothing of what the memory holds.
    unsafe {
        madvise(memory.as_ptr().cast(), bytes, HUGE_PAGES);
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
unsafe fn advise(_: NonNull<u8>, _: usize) {}

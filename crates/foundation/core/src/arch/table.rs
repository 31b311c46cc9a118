//! Memory for a table that is read at random places: aligned, and on huge pages where the system has them.
//!
//! *Cost.* A page of 4 KiB needs an entry of the processor's address cache, whose first level holds about a hundred, and lies
//! anywhere in physical memory, so that a table that would fit the second-level cache does not: look-ups in 1.6 MiB
//! take half as long again as on one page of 2 MiB.

use core::ptr::NonNull;
use std::alloc::{Layout, alloc_zeroed, dealloc};

use zeroize::Zeroize;

use crate::Block;

/// A huge page's size: of x86-64, and of ARMv8 with pages of 4 KiB.
const HUGE: usize = 2 << 20;

/// A fixed number of blocks, wiped on drop.
pub(crate) struct Memory {
    blocks: NonNull<Block>,
    len: usize,
    /// What was allocated: the blocks lie inside.
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the memory is this value's alone, as a vector's is.
unsafe impl Send for Memory {}
// SAFETY: likewise; a shared reference only reads.
unsafe impl Sync for Memory {}

impl Memory {
    /// So many zero blocks, if they fit.
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
        // SAFETY: the layout is not of size zero; zero bytes are blocks, and `len` of them fit, from the first border of a
        // huge page on too.
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
        // SAFETY: so many blocks are there, and were written.
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

/// Pages of the system, which are zero when they are first touched: nobody writes them twice.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
mod pages {
    use core::ffi::{c_int, c_void};
    use core::ptr::{NonNull, null_mut};
    use std::alloc::Layout;

    // Of the C library, which the standard library is linked to.
    unsafe extern "C" {
        fn mmap(at: *mut c_void, bytes: usize, access: c_int, flags: c_int, file: c_int, offset: i64) -> *mut c_void;
        fn munmap(start: *mut c_void, bytes: usize) -> c_int;
        fn madvise(start: *mut c_void, bytes: usize, advice: c_int) -> c_int;
    }
    const READ_WRITE: c_int = 1 | 2;
    const PRIVATE_ANONYMOUS: c_int = 2 | 0x20;
    const HUGE_PAGES: c_int = 14;

    /// Zero bytes, if they fit, on huge pages if there are any.
    ///
    /// # Safety
    /// Size and alignment are whole pages.
    pub(super) unsafe fn zeroed(layout: Layout) -> Option<NonNull<u8>> {
        let (size, align) = (layout.size(), layout.align());
        let room = size.checked_add(align)?;
        // SAFETY: a new mapping, of which what is before and after the aligned part goes back; the advice changes nothing of what
        // the memory holds, and without huge pages all is the same, but slower.
        unsafe {
            let start = mmap(null_mut(), room, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0);
            if start.addr() == usize::MAX {
                return None;
            }
            let before = start.addr().next_multiple_of(align) - start.addr();
            let memory = start.byte_add(before);
            if before > 0 {
                munmap(start, before);
            }
            if before < align {
                munmap(memory.byte_add(size), align - before);
            }
            madvise(memory, size, HUGE_PAGES);
            NonNull::new(memory.cast())
        }
    }

    /// # Safety
    /// The bytes come from [`zeroed`] with this layout, and nobody uses them any more.
    pub(super) unsafe fn free(memory: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe {
            munmap(memory.as_ptr().cast(), layout.size());
        }
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
mod pages {
    use core::ptr::NonNull;
    use std::alloc::{Layout, alloc_zeroed, dealloc};

    pub(super) unsafe fn zeroed(layout: Layout) -> Option<NonNull<u8>> {
        // SAFETY: the layout is not of size zero.
        NonNull::new(unsafe { alloc_zeroed(layout) })
    }

    pub(super) unsafe fn free(memory: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller's promise: it was allocated with this layout.
        unsafe { dealloc(memory.as_ptr(), layout) }
    }
}

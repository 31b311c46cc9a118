//! Secrets made visible to Valgrind's memcheck, so that it reports each branch and each memory index that
//! depends on one.
//!
//! Memcheck follows bytes that were never written through all that is computed of them, and reports where the
//! program's course or an address depends on them. A check marks secrets as never written (`classify`), which
//! changes no byte; what such a report names is then a branch or an index on a secret. What a protocol makes
//! public on purpose, say that a check failed, is marked as written again, in the code that publishes it,
//! with the reason ([`declassify`]). The idea is Adam Langley's (ctgrind, 2010).
//!
//! Without the feature `ct` nothing of it is left; with it, on anything but Valgrind on x86-64, the marks are no-ops.

use subtle::Choice;

/// This value, which was computed from secrets and is public: `why` gives the reason.
#[inline(always)]
pub fn declassify<T: Copy>(mut value: T, why: &'static str) -> T {
    declassify_all(core::slice::from_mut(&mut value), why);
    value
}

/// Whether a check passed. The verdict is public: the others see whether this party goes on. Everything else
/// that it was computed from stays secret.
#[inline(always)]
pub fn verdict(right: Choice) -> bool {
    declassify(bool::from(right), "the others see whether a check passed")
}

/// All ones if `bit` is set, else zeros, hidden from the compiler: with `bit.wrapping_neg()` it knows that
/// there are only these two words, and where a loop adds what is under such a mask it makes one loop for
/// each, with a branch between them.
#[inline(always)]
pub fn mask(bit: bool) -> u64 {
    opaque(u64::from(bit).wrapping_neg())
}

/// The same word, about which the compiler knows nothing.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
#[inline(always)]
fn opaque(mut word: u64) -> u64 {
    // SAFETY: no instruction at all, and a register that stays as it was.
    unsafe { core::arch::asm!("/* {0} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags)) };
    word
}

#[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
#[inline(always)]
fn opaque(word: u64) -> u64 {
    core::hint::black_box(word)
}

/// As [`declassify`], for many values in place.
#[inline(always)]
pub fn declassify_all<T: Copy>(values: &mut [T], _why: &'static str) {
    #[cfg(feature = "ct")]
    requests::mark(requests::DEFINED, values);
    #[cfg(not(feature = "ct"))]
    let _ = values;
}

/// Marks values as secret where they enter. For values that a test cannot mark, since they come from a file.
#[inline(always)]
pub fn classify<T: Copy>(values: &mut [T]) {
    #[cfg(feature = "ct")]
    requests::mark(requests::UNDEFINED, values);
    #[cfg(not(feature = "ct"))]
    let _ = values;
}

/// The requests of the check of secrets to Valgrind, which runs the program.
#[cfg(feature = "ct")]
pub mod ct {
    use super::requests;

    /// Whether Valgrind runs the program: otherwise marks do nothing.
    pub fn watched() -> bool {
        requests::request([requests::RUNNING_ON_VALGRIND, 0, 0, 0, 0, 0]) != 0
    }

    /// The number of reports so far.
    pub fn reports() -> usize {
        requests::request([requests::COUNT_ERRORS, 0, 0, 0, 0, 0])
    }
}

#[cfg(feature = "ct")]
mod requests {
    // The numbers are in Valgrind's `valgrind.h` and `memcheck.h`, which promise not to change them.
    pub(super) const RUNNING_ON_VALGRIND: usize = 0x1001;
    pub(super) const COUNT_ERRORS: usize = 0x1201;
    pub(super) const UNDEFINED: usize = 0x4d43_0001;
    pub(super) const DEFINED: usize = 0x4d43_0002;

    /// Tells memcheck what these values are.
    #[inline(always)]
    pub(super) fn mark<T>(kind: usize, values: &mut [T]) {
        request([kind, values.as_mut_ptr().expose_provenance(), core::mem::size_of_val(values), 0, 0, 0]);
    }

    /// Asks Valgrind for something: its number, and five arguments. Zero where nobody listens.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[inline(always)]
    pub(super) fn request(question: [usize; 6]) -> usize {
        let answer;
        // SAFETY: the four rotations give the register back as it was, and an exchange of a register with
        // itself does nothing: the sequence changes flags alone. Valgrind knows it, and puts the answer into
        // rdx; it reads `question`, which lives, and changes no byte of the program. That the compiler
        // believes otherwise, for want of `nomem`, makes it load marked values anew.
        unsafe {
            core::arch::asm!(
                "rol rdi, 3",
                "rol rdi, 13",
                "rol rdi, 61",
                "rol rdi, 51",
                "xchg rbx, rbx",
                in("rax") &question,
                inout("rdx") 0usize => answer,
                options(nostack),
            );
        }
        answer
    }

    #[cfg(any(not(target_arch = "x86_64"), miri))]
    pub(super) fn request(_: [usize; 6]) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_all_or_nothing_and_what_is_declared_public_is_unchanged() {
        assert_eq!([mask(true), mask(false)], [u64::MAX, 0]);
        assert_eq!(declassify([7u32, 9], "a test"), [7, 9]);
        let mut bytes = *b"bytes";
        classify(&mut bytes);
        declassify_all(&mut bytes, "a test");
        assert!(&bytes == b"bytes" && verdict(Choice::from(1)) && !verdict(Choice::from(0)));
    }
}

//! The kernels and what stands on them, as their users have them: each backend against the others.

mod aes;
mod authenticated;
#[cfg(not(miri))] // safe code
mod bits;
mod erasure;
mod gates;
mod gf128;
mod lockstep;
#[cfg(not(miri))] // safe code
mod names;
mod one_row;
mod private;
mod transpose;
mod trees;
mod vole;

use comity_core::Backend;

/// The backends to compare. Miri has no time for the portable one, which is plain Rust: a backend with kernels is
/// then what others are compared to.
fn backends() -> Vec<Backend> {
    let mut backends = Backend::available();
    if cfg!(miri) && backends.len() > 1 {
        backends.pop();
    }
    backends
}

/// The backend that the others are compared to.
fn reference() -> Backend {
    backends()[backends().len() - 1]
}

//! The same on arrays of any size, as steps of a program.
//!
//! An [`Array`] is a register of rows. Each function adds a few steps, whose number grows with the square of log n at
//! most; independent gates are one call done many times, so that a protocol sees layers as wide as they are. Costs in
//! AND gates are those of the functions of the same name in [`arrays`](super), unless stated.
//!
//! ```
//! use comity_circuit::{ProgramBuilder, Recipients};
//! use comity_library::arrays::{Order, steps};
//!
//! // The three highest of a million bids of 32 bits.
//! let mut p = ProgramBuilder::new("bids");
//! let bids = p.input("bids", 0, 32 * 1_000_000);
//! let highest = steps::top_k(&mut p, steps::Array::of(bids, 32), 3, Order::descending(32));
//! p.reveal("highest", Recipients::All, highest.register());
//! assert!(p.finish()?.and_gates() < 200_000_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod array;
mod compact;
mod join;
mod select;
mod sort;

pub use array::Array;
pub use compact::{compact, dedup};
pub use join::{Joined, join_sorted};
pub use select::{arg_first, prefix, read, write};
pub use sort::{merge, sort, top_k};

use comity_circuit::{Builder, Circuit, CircuitId, ProgramBuilder, Span, Wire};

/// A circuit from values of given widths to the values that `build` makes of them.
fn circuit(
    p: &mut ProgramBuilder,
    widths: &[usize],
    build: impl FnOnce(&mut Builder, &[Vec<Wire>]) -> Vec<Vec<Wire>>,
) -> CircuitId {
    let mut b = p.builder();
    let inputs: Vec<Vec<Wire>> = widths.iter().map(|&bits| b.input("in", bits)).collect();
    for value in build(&mut b, &inputs) {
        b.output("out", &value);
    }
    let circuit: Circuit = b.finish();
    p.circuit(circuit)
}

/// Calls a circuit for each row: it reads row i of the arrays in `args` and writes row i of those in `outs`.
/// The calls are independent; an array may be in both.
///
/// # Panics
/// If the arrays differ in length, or have no rows.
pub fn each(p: &mut ProgramBuilder, circuit: CircuitId, args: &[Array], outs: &[Array]) {
    let len = outs.first().map_or(0, |out| out.len());
    assert!(len > 0 && args.iter().chain(outs).all(|array| array.len() == len), "arrays of the same length");
    let rows = |arrays: &[Array]| arrays.iter().map(|array| array.from(0)).collect::<Vec<Moving>>();
    map(p, circuit, len, &rows(args), &rows(outs));
}

/// Spans that move from one call to the next.
type Moving = (Span, i64);

/// Calls a circuit `times` times, if any.
fn map(p: &mut ProgramBuilder, circuit: CircuitId, times: usize, args: &[Moving], outs: &[Moving]) {
    if times > 0 {
        p.map(circuit, times as u64, args, outs);
    }
}

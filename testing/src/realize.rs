//! A protocol against the ideal function that it should realize.

use std::fmt::Debug;

use comity_channel::{MemoryChannel, Result};
use comity_core::{Backend, Block, Prg};

use crate::parties::Pair;

/// Runs a protocol `runs` times on random inputs and checks that both outputs are the ideal function's.
///
/// `inputs` draws both inputs. Each party gets its input and a generator of its own. Every run is the same each time
/// the test runs.
///
/// ```
/// use comity_channel::Channel;
/// use comity_core::Block;
/// use comity_testing::assert_realizes;
///
/// // Party 0 learns the sum, party 1 nothing.
/// assert_realizes(
///     10,
///     |rng| (rng.block(), rng.block()),
///     |x, y| (*x ^ *y, ()),
///     |ch, x, _rng| {
///         let mut bytes = [0; 16];
///         ch.recv(&mut bytes)?;
///         Ok(*x ^ Block::new(bytes))
///     },
///     |ch, y, _rng| {
///         ch.send(&y.to_bytes())?;
///         ch.flush()
///     },
/// );
/// ```
///
/// # Panics
///
/// If an output differs, or a party fails or panics. The message names the run.
pub fn assert_realizes<X: Sync, Y: Sync, A: PartialEq + Debug + Send, B: PartialEq + Debug + Send>(
    runs: u64,
    inputs: impl Fn(&mut Prg) -> (X, Y),
    ideal: impl Fn(&X, &Y) -> (A, B),
    party0: impl Fn(&mut MemoryChannel, &X, &mut Prg) -> Result<A> + Sync,
    party1: impl Fn(&mut MemoryChannel, &Y, &mut Prg) -> Result<B> + Sync,
) {
    for run in 0..runs {
        let seed = |role: u128| Prg::new(Backend::detect(), Block::from_u128(role << 64 | u128::from(run)));
        let (x, y) = inputs(&mut seed(0));
        let (expected0, expected1) = ideal(&x, &y);
        let (output0, output1) = Pair::run(|ch| party0(ch, &x, &mut seed(1)), |ch| party1(ch, &y, &mut seed(2)));
        let output0 = output0.unwrap_or_else(|error| panic!("run {run}: party 0: {error}"));
        let output1 = output1.unwrap_or_else(|error| panic!("run {run}: party 1: {error}"));
        assert_eq!(output0, expected0, "run {run}: party 0's output is not the ideal one");
        assert_eq!(output1, expected1, "run {run}: party 1's output is not the ideal one");
    }
}

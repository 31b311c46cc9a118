//! `Conduct`: how a party behaves, so that tests can have one that lies.
//!
//! A protocol says before each step what it is about to use or send, an act `A` of its own with the values by
//! mutable reference. *Before* and not after: a lie has to be made before its maker computes on with it, so
//! that all that follows is as an honest party would go on from there, and the lie is the only one. An honest
//! party does not look, and its calls compile to nothing.

/// How a party behaves; a protocol takes `impl for<'a> Conduct<Act<'a>>` where its gates are acts, and
/// `dyn for<'a> Conduct<Act<'a>>` where only chunks of them are. Code that is generic over a conduct is
/// compiled once for each type of it: tests pass liars by `&mut dyn FnMut(Act<'_>)`.
pub trait Conduct<A> {
    /// May change the act before it is used or sent.
    fn before(&mut self, act: A);
}

/// The conduct of a party that follows the protocol.
#[derive(Clone, Copy, Debug)]
pub struct Honest;

impl<A> Conduct<A> for Honest {
    #[inline(always)]
    fn before(&mut self, _: A) {}
}

impl<A, F: FnMut(A)> Conduct<A> for F {
    fn before(&mut self, act: A) {
        self(act);
    }
}

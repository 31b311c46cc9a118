//! Copies that wait in a store: writing them, and reading those that are needed.

use std::io::{Read, Write};

use comity_circuit::Program;
use comity_core::{Backend, Bits, Result};
use comity_nisc::{Cost, Opened, Writers};
use rand_core::CryptoRng;

use crate::key::QueryKey;
use crate::name::Name;
use crate::query::Query;
use crate::seal::{Opener, Sealer};

/// A store from which the copies of answers are read.
pub trait CopyStore {
    /// Whether all copies of an answer are read, in step, and not only those that are needed: then an
    /// observer of the store does not see which are needed.
    fn whole(&self) -> bool;

    /// The file of this name. It should have `bytes` bytes; no more than these need be read.
    ///
    /// # Errors
    /// The reason why the file cannot be read. The message is shown to the receiver, who might show it to
    /// others: unless the store is [`whole`](CopyStore::whole), it should not say which copy was asked for.
    fn fetch(&mut self, name: &str, bytes: u64) -> Result<Box<dyn Read>>;
}

/// The destination of an answer whose copies are stored.
pub struct Destination<'a, P> {
    /// The answer.
    pub answer: &'a mut dyn Write,
    /// Makes a writer for the file of that name in the store; called for each copy.
    pub place: P,
}

/// As [`respond`](crate::respond()), for a query whose copies are to be stored. Returns the writers of the
/// copies, completely written. The answer is of use only if all of them are in the store.
///
/// # Errors
/// As [`respond`](crate::respond()), and errors of [`place`](Destination::place).
pub fn respond_stored<W: Write>(
    backend: Backend,
    query: &Query,
    program: &Program,
    inputs: &[Option<Bits>],
    name: &Name,
    rng: &mut dyn CryptoRng,
    to: Destination<'_, impl FnMut(&str) -> Result<W>>,
) -> Result<Vec<W>> {
    let Destination { answer, mut place } = to;
    let (mut sealer, tie) = Sealer::with_tie(query, name, rng, answer)?;
    let copies = query.message().copies();
    let count = if copies.is_stored() { copies.total() } else { 0 };
    let mut places = (0..count).map(|i| place(&tie.name(i))).collect::<Result<Vec<W>>>()?;
    let numbered = places.iter_mut().enumerate();
    let mut sealers =
        numbered.map(|(i, place)| Sealer::copy(query, &tie, i, rng, place)).collect::<Result<Vec<Sealer<'_>>>>()?;
    let context = *sealer.context();
    let to = Writers { answer: &mut sealer, copies: &mut sealers };
    comity_nisc::respond_stored(backend, query.message(), &context, program, inputs, rng, to)?;
    sealers.into_iter().try_for_each(Sealer::finish)?;
    sealer.finish()?;
    Ok(places)
}

/// Opens an answer with copies from a store.
pub(crate) fn open_stored(
    backend: Backend,
    key: &QueryKey,
    program: &Program,
    cost: &Cost,
    answer: &mut Opener<'_>,
    store: &mut dyn CopyStore,
) -> Result<Opened> {
    let (evaluated, whole) = (key.secret.evaluated(), store.whole());
    let (context, tie) = (answer.context(), &answer.tie());
    let bytes = crate::seal::stored_bytes(cost.copy_bytes);
    let mut file = |i| match whole || evaluated.contains(&i) {
        true => store.fetch(&tie.name(i), bytes).map(Some),
        false => Ok(None),
    };
    let mut files = (0..key.secret.copies().total()).map(&mut file).collect::<Result<Vec<_>>>()?;
    let mut copies = Vec::with_capacity(files.len());
    for (i, file) in files.iter_mut().enumerate() {
        copies.push(match file {
            Some(file) => Some(Opener::copy(&key.seed, &key.fingerprint, tie, i, cost.copy_bytes, file)?),
            None => None,
        });
    }
    let opened = comity_nisc::open_stored(backend, &key.secret, &context, program, answer, &mut copies);
    // Broken seals explain whatever the protocol made of them; and all are read to their end.
    let ends: Vec<_> = copies.into_iter().flatten().map(Opener::finish).collect();
    ends.into_iter().collect::<Result<Vec<_>>>()?;
    opened
}

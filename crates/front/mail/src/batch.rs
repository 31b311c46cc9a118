//! `Batch`: opening answers, and who may hear of it when.

use std::collections::BTreeSet;
use std::io::Read;

use comity_circuit::Program;
use comity_core::{Backend, Error, Kind, Result};
use comity_nisc::{Cost, Opened};

use crate::envelope::ENCAPSULATED;
use crate::file::{CHECKSUM, hex};
use crate::head::{Head, cut, fill};
use crate::key::QueryKey;
use crate::name::Name;
use crate::seal::Opener;
use crate::store::{CopyStore, open_stored};

/// The verdict on an answer.
#[derive(Debug)]
pub struct Verdict {
    /// The name that the sender gave itself, if the answer could be read that far. Only a whole seal makes it
    /// the sender's name: after [`Malformed`](comity_core::Kind) or [`Mismatch`](comity_core::Kind), do not
    /// blame anybody whom it names.
    pub name: Option<Name>,
    /// The outputs, or the reason why the answer was refused. [`Misbehaved`](comity_core::Kind) names the
    /// cheat.
    pub outcome: Result<Opened>,
}

/// Answers that are opened together. Their verdicts are kept inside until the key is saved.
pub struct Batch<'a> {
    key: &'a mut QueryKey,
    backend: Backend,
    program: &'a Program,
    cost: Cost,
    verdicts: Vec<Verdict>,
    /// The encapsulated keys of this batch.
    seen: BTreeSet<[u8; ENCAPSULATED]>,
    /// Answers that the key did not know before.
    fresh: Vec<([u8; ENCAPSULATED], [u8; CHECKSUM])>,
    /// Whether an answer was that no honest sender makes.
    refused: bool,
}

/// An answer whose seal was whole.
struct Unsealed {
    encapsulated: [u8; ENCAPSULATED],
    sum: [u8; CHECKSUM],
    outcome: Result<Opened>,
}

impl QueryKey {
    /// Begins to open answers.
    ///
    /// # Errors
    /// [`Mismatch`](comity_core::Kind) if this is not the query's program; as [`comity_nisc::publish`].
    pub fn batch<'a>(&'a mut self, backend: Backend, program: &'a Program) -> Result<Batch<'a>> {
        let cost = self.cost(program)?;
        Ok(Batch {
            key: self,
            backend,
            program,
            cost,
            verdicts: Vec::new(),
            seen: BTreeSet::new(),
            fresh: Vec::new(),
            refused: false,
        })
    }

    /// Checks that an answer to this query is whole, without opening it: this shows nothing that must stay
    /// secret. Returns the sender's name.
    ///
    /// # Errors
    /// [`Mismatch`](comity_core::Kind) if it is for another query or program,
    /// [`Malformed`](comity_core::Kind) if it is not an answer, or is damaged.
    pub fn check(&self, program: &Program, answer: &mut dyn Read) -> Result<Name> {
        Ok(self.whole(&self.cost(program)?, answer)?.0.name)
    }

    /// The head of an answer that is whole, its encapsulated key and its checksum.
    fn whole(&self, cost: &Cost, answer: &mut dyn Read) -> Result<(Head, [u8; ENCAPSULATED], [u8; CHECKSUM])> {
        let head = self.head(answer)?;
        let encapsulated = encapsulated(answer)?;
        let sum = self.opener(&head, &encapsulated, cost, answer)?.finish()?;
        Ok((head, encapsulated, sum))
    }

    fn cost(&self, program: &Program) -> Result<Cost> {
        let (ours, theirs) = (program.digest(), self.secret.program());
        if ours != *theirs {
            return Err(Error::mismatch("program", hex(&ours), hex(theirs)));
        }
        Cost::new(program, self.secret.copies())
    }

    /// The head of an answer to this query.
    fn head(&self, answer: &mut dyn Read) -> Result<Head> {
        self.fits(Head::read(answer)?)
    }

    fn fits(&self, head: Head) -> Result<Head> {
        let differ = |field, ours: &[u8], theirs: &[u8]| Error::mismatch(field, hex(ours), hex(theirs));
        if head.program != *self.secret.program() {
            return Err(differ("program", self.secret.program(), &head.program));
        }
        if head.query != self.fingerprint {
            return Err(differ("query", &self.fingerprint, &head.query));
        }
        Ok(head)
    }

    fn opener<'a>(
        &self,
        head: &Head,
        encapsulated: &[u8; ENCAPSULATED],
        cost: &Cost,
        answer: &'a mut dyn Read,
    ) -> Result<Opener<'a>> {
        Opener::new(&self.seed, &self.fingerprint, &head.to_bytes(), encapsulated, cost.answer_bytes, answer)
    }
}

fn encapsulated(answer: &mut dyn Read) -> Result<[u8; ENCAPSULATED]> {
    let mut bytes = [0; ENCAPSULATED];
    fill(answer, &mut bytes)?.ok_or_else(cut)?;
    Ok(bytes)
}

impl<'a> Batch<'a> {
    /// Opens an answer as far as possible, and keeps the verdict. If copies are stored, call [`Batch::fetch`]
    /// first.
    pub fn add(&mut self, answer: &mut dyn Read) {
        self.add_from(answer, None);
    }

    fn add_from(&mut self, answer: &mut dyn Read, store: Option<&mut dyn CopyStore>) {
        let (name, opened) = match Head::read(answer) {
            Ok(head) => (Some(head.name.clone()), self.key.fits(head).and_then(|head| self.open(&head, answer, store))),
            Err(error) => (None, Err(error)),
        };
        let outcome = match opened {
            Ok(unsealed) => self.note(unsealed),
            Err(error) => Err(error),
        };
        self.verdicts.push(Verdict { name, outcome });
    }

    /// Notes the part of an answer that the key has to know.
    fn note(&mut self, Unsealed { encapsulated, sum, outcome }: Unsealed) -> Result<Opened> {
        self.seen.insert(encapsulated);
        if !self.key.opened.contains_key(&encapsulated) {
            self.fresh.push((encapsulated, sum));
        }
        // Not what was recovered: that can depend on the receiver's input, and a spent key shows.
        self.refused |= outcome.is_err();
        outcome
    }

    /// An error says nothing about which copies are checked; the outcome inside does.
    fn open(&self, head: &Head, answer: &mut dyn Read, store: Option<&mut dyn CopyStore>) -> Result<Unsealed> {
        if store.is_none() && self.key.secret.copies().is_stored() {
            return Err(Error::invalid_input("its copies are in a store: they must be fetched to open it"));
        }
        let encapsulated = encapsulated(answer)?;
        let repeated = || Error::invalid_input("it repeats an answer that is opened already, and is refused");
        let before = self.key.opened.get(&encapsulated);
        if before.is_none() && (self.key.spent || store.is_some()) {
            let late = || {
                Error::invalid_input(
                    "answers to this query were opened already, and this one was not among them: a sender that has \
                        heard of a result may know which copies are checked, and could cheat unseen. Refresh the key, \
                        and ask for an answer to the new query",
                )
            };
            // Where copies are stored, what is not whole is not among them either.
            let mut whole = || self.key.opener(head, &encapsulated, &self.cost, answer)?.finish();
            return Err(store.and_then(|_| whole().err()).unwrap_or_else(late));
        }
        if self.seen.contains(&encapsulated) {
            return Err(repeated());
        }
        let mut opener = self.key.opener(head, &encapsulated, &self.cost, answer)?;
        let outcome = match store {
            None => {
                let context = opener.context();
                comity_nisc::open(self.backend, &self.key.secret, &context, self.program, &mut opener)
            }
            Some(store) => open_stored(self.backend, self.key, self.program, &self.cost, &mut opener, store),
        };
        // Its head is that of an answer to this query; so it was sealed to be one, and is not.
        let foreign = || Error::malformed("its content was made for another seal: it is a copy of another answer");
        let outcome = outcome.map_err(|error| match error {
            Error { kind: Kind::Mismatch { .. }, .. } => foreign(),
            error => error,
        });
        // A broken seal explains whatever the protocol made of it.
        let sum = opener.finish()?;
        match before {
            Some(known) if *known != sum => Err(repeated()),
            _ => Ok(Unsealed { encapsulated, sum, outcome }),
        }
    }

    /// Notes an answer whose copies are to be fetched, if it is an answer to this query, sealed and whole.
    /// Opens nothing.
    pub fn admit(&mut self, answer: &mut dyn Read) {
        let Ok((_, encapsulated, sum)) = self.key.whole(&self.cost, answer) else { return };
        let known = self.key.spent || self.key.opened.contains_key(&encapsulated);
        if !known && self.fresh.iter().all(|(other, _)| *other != encapsulated) {
            self.fresh.push((encapsulated, sum));
        }
    }

    /// Closes the batch, as [`Batch::close`] does, before any copy is fetched, since fetching shows which
    /// copies are evaluated. Marks the key as spent, and has it saved; from then on the admitted answers are
    /// opened and no others. If no answer was admitted, the key stays as it is.
    ///
    /// # Errors
    /// As [`Batch::close`].
    pub fn fetch<E>(mut self, save: impl FnOnce(&QueryKey) -> Result<(), E>) -> Result<Fetching<'a>, E> {
        let spends = !self.key.spent && !self.fresh.is_empty();
        self.tell(spends, save)?;
        Ok(Fetching(self))
    }

    /// Closes the batch, as MS-NISC requires: marks the key as spent, has it saved, and then returns the
    /// verdicts on the answers, in their order. If none of them was an answer to this query, sealed and
    /// whole, the key stays as it is.
    ///
    /// `save` must not return before the key would survive a crash.
    ///
    /// # Errors
    /// The error that `save` reports. Then no verdict is returned, and the key must be loaded again before it
    /// is used.
    pub fn close<E>(mut self, save: impl FnOnce(&QueryKey) -> Result<(), E>) -> Result<Vec<Verdict>, E> {
        let spends = !self.key.spent && !self.seen.is_empty();
        self.tell(spends, save)
    }

    /// Returns the verdicts on the answers, and allows further answers unless one was refused: adaptive
    /// MS-NISC. Saves the key first, as [`Batch::close`] does. A recovered output does not stop further
    /// answers: whether there is one can depend on the receiver's input.
    ///
    /// # Errors
    /// As [`Batch::close`].
    pub fn settle<E>(mut self, save: impl FnOnce(&QueryKey) -> Result<(), E>) -> Result<Vec<Verdict>, E> {
        let spends = !self.key.spent && self.refused;
        self.tell(spends, save)
    }

    fn tell<E>(&mut self, spends: bool, save: impl FnOnce(&QueryKey) -> Result<(), E>) -> Result<Vec<Verdict>, E> {
        let changed = spends || !self.fresh.is_empty();
        self.key.spent |= spends;
        self.key.opened.extend(self.fresh.drain(..));
        if changed {
            save(self.key)?;
        }
        Ok(std::mem::take(&mut self.verdicts))
    }
}

/// A batch whose key was saved as spent: copies may be fetched.
pub struct Fetching<'a>(Batch<'a>);

impl Fetching<'_> {
    /// Opens an admitted answer as far as possible, with copies from a store, and keeps the verdict.
    pub fn add(&mut self, answer: &mut dyn Read, store: &mut dyn CopyStore) {
        self.0.add_from(answer, Some(store));
    }

    /// Returns the verdicts on the answers, in their order.
    pub fn tell(self) -> Vec<Verdict> {
        self.0.verdicts
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use comity_circuit::Recipients;
    use comity_core::{Bits, Block, Prg};
    use comity_nisc::Copies;

    use super::*;

    /// Whether the key is spent by one answer with this outcome, opened adaptively.
    fn spent(outcome: Result<Opened>) -> bool {
        let (backend, rng) = (Backend::detect(), &mut Prg::new(Backend::detect(), Block::from_u128(1)));
        let program = comity_library::program("add8").unwrap().with_recipients(0, Recipients::only(0)).unwrap();
        let inputs = [Some(Bits::zeros(8)), None];
        let mut key = QueryKey::publish(backend, &program, "add8", &inputs, Copies::all(1).unwrap(), 1, rng).unwrap();
        let mut batch = key.batch(backend, &program).unwrap();
        let _ = batch.note(Unsealed { encapsulated: [1; 32], sum: [2; 32], outcome });
        let saved = |key: &QueryKey| {
            assert_eq!(key.opened(), 1);
            Ok::<(), Infallible>(())
        };
        batch.settle(saved).unwrap();
        key.spent()
    }

    /// A sender who sees a key spent learns that an answer was refused, and from an honest output nothing; so it must
    /// learn nothing from a recovered one.
    #[test]
    fn a_recovered_output_spends_no_more_than_an_honest_one() {
        for recovered in [false, true] {
            assert!(!spent(Ok(Opened { outputs: vec![Bits::zeros(8)], recovered })));
        }
        assert!(spent(Err(comity_nisc::checks::GARBLED_CIRCUIT.into())));
    }
}

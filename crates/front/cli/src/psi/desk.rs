//! `Desk`: a published base as it is served, and what each client has had.
//!
//! `asked` has a line of JSON for each session that was granted queries, on the disk before any is answered,
//! and for each that ended in misbehaviour. Clients are known by their keys; all without one are one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use comity::psi::base::Published;
use comity::{Error, OprfDesk, OprfRefusal, Store, StoreKey, SystemRng};
use comity_terminal::console::note;
use comity_terminal::failure::Outcome;
use serde::{Deserialize, Serialize};

use super::base::{open, written};
use crate::journal::{Journal, Words};

/// A session, as a line has it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    client: String,
    queries: u64,
    /// Whether it ended in misbehaviour.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    misbehaved: bool,
}

/// The words for counts that cannot be opened.
const WORDS: Words =
    Words { busy: "another service is using this state", other: "this file is not a record of clients' queries" };

/// The base of a service, and its books.
pub(super) struct Desk {
    state: PathBuf,
    published: Published,
    /// The time at which it was written: an update makes it another one.
    as_of: Option<SystemTime>,
    journal: Journal,
    asked: BTreeMap<String, u64>,
    /// The clients that are not served again.
    misbehaved: BTreeSet<String>,
    /// The most queries of a client.
    each: u64,
    store: Store,
}

impl Desk {
    /// The desk of the base that was published from this folder, with `each` queries for each client.
    pub(super) fn open(state: &Path, each: Option<u64>) -> Outcome<Desk> {
        let (as_of, published) = (written(state), open(state)?);
        let (mut asked, mut barred) = (BTreeMap::new(), BTreeSet::new());
        let journal = Journal::open(&state.join("asked"), WORDS, |Line { client, queries, misbehaved }| {
            barred.extend(misbehaved.then(|| client.clone()));
            *asked.entry(client).or_default() += queries;
        })?;
        let (folder, key) = (state.join("prepared"), state.join("store.key"));
        let key = if key.exists() { StoreKey::read(&key)? } else { StoreKey::create(&key, &mut SystemRng)? };
        let store = Store::open_or_create(&folder, &key, &mut SystemRng)?;
        let each = each.unwrap_or(published.terms.queries);
        Ok(Desk { state: state.to_owned(), published, as_of, journal, asked, misbehaved: barred, each, store })
    }
}

impl OprfDesk for Desk {
    fn published(&mut self) -> comity::Result<&Published> {
        let now = written(&self.state);
        if now != self.as_of {
            self.published = open(&self.state).map_err(|failure| Error::store(failure.message))?;
            self.as_of = now;
        }
        Ok(&self.published)
    }

    fn grant(&mut self, client: Option<[u8; 32]>, queries: u64, ahead: bool) -> Result<(), OprfRefusal> {
        let client = name(client);
        if self.misbehaved.contains(&client) {
            return Err(OprfRefusal::Barred);
        }
        let had = self.asked.get(&client).copied().unwrap_or(0);
        let all = self.asked.values().sum::<u64>();
        let left = self.each.saturating_sub(had).min(self.published.terms.queries.saturating_sub(all));
        if queries > left {
            return Err(OprfRefusal::Left(left));
        }
        if ahead || queries == 0 {
            return Ok(());
        }
        let noted = self.journal.write(&[Line { client: client.clone(), queries, misbehaved: false }]);
        noted.map_err(|failure| OprfRefusal::Cannot(Error::store(failure.message)))?;
        *self.asked.entry(client).or_default() += queries;
        Ok(())
    }

    fn misbehaved(&mut self, client: Option<[u8; 32]>) -> comity::Result<()> {
        let client = name(client);
        note(&format!("the client {client} misbehaved in an earlier session, and is not served again"));
        let noted = self.journal.write(&[Line { client: client.clone(), queries: 0, misbehaved: true }]);
        noted.map_err(|failure| Error::store(failure.message))?;
        self.misbehaved.insert(client);
        Ok(())
    }

    fn store(&self) -> Option<&Store> {
        Some(&self.store)
    }
}

/// The name of a client in the books.
fn name(client: Option<[u8; 32]>) -> String {
    client.map_or_else(|| "without a key".to_owned(), |key| comity::Fingerprint::from_bytes(key).to_string())
}

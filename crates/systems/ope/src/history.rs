//! [`History`]: how a state came about, so that a client proves that the version which it saw last is one of
//! those before it.
//!
//! Each version has a *chain*, a hash of its state and of two chains: of the version before, and of the
//! version whose number lacks the lowest bit that is set (of 12 that is 8, of 13 it is 12). What goes into
//! the hash is the version's [`Link`], which the server keeps. From any version down to any other leads a
//! [path](History::path) of some of these, half the square of a number's bits at most (190 of a million
//! versions); a server that shows links which lead there and are not those would have found two messages with
//! one hash. A state has its own chain and those of the versions that are its number without lowest bits,
//! which is all that the next one needs.
//!
//! It is a skip list with the steps of Fenwick's trees (1994), over a chain of hashes.

use crate::bytes::Reader;
use crate::error::Result;

/// The chain of a version: a hash over all versions up to it. It differs between histories that differ before
/// it.
pub type ChainHash = [u8; 32];

/// A version and those before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    version: u64,
    /// The chain of each version whose number is that of this one without some of its lowest bits; this one's
    /// own is the last.
    chains: Vec<ChainHash>,
}

/// The data that a version's chain is a hash of, besides the version's number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// A hash of the state.
    content: [u8; 32],
    /// The chain of the version before.
    before: ChainHash,
    /// The chain of the version whose number lacks the lowest bit.
    back: ChainHash,
}

/// The number without its lowest bit that is set.
fn back(version: u64) -> u64 {
    version & (version - 1)
}

impl Link {
    /// Bytes of a link.
    pub const BYTES: usize = 96;

    /// The chain of the version with this link.
    fn chain(&self, version: u64) -> ChainHash {
        let mut hash = blake3::Hasher::new_derive_key("comity ope v2 chain of states");
        hash.update(&version.to_le_bytes()).update(&self.to_bytes());
        *hash.finalize().as_bytes()
    }

    /// The bytes that the server keeps.
    pub fn to_bytes(&self) -> [u8; Link::BYTES] {
        let mut bytes = [0; Link::BYTES];
        for (part, to) in [self.content, self.before, self.back].iter().zip(bytes.chunks_mut(32)) {
            to.copy_from_slice(part);
        }
        bytes
    }

    /// Decodes a link; `None` if the number of bytes is not [`Link::BYTES`].
    pub fn from_bytes(bytes: &[u8]) -> Option<Link> {
        let (parts, []) = bytes.as_chunks::<32>() else { return None };
        let [content, before, back] = *parts else { return None };
        Some(Link { content, before, back })
    }
}

impl History {
    /// The history of a client that remembers only the last version and its chain.
    pub fn remembered(version: u64, chain: ChainHash) -> History {
        let mut chains = vec![[0; 32]; version.count_ones() as usize];
        if let Some(last) = chains.last_mut() {
            *last = chain;
        }
        History { version, chains }
    }

    /// The last version.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Its chain.
    pub fn chain(&self) -> ChainHash {
        self.chains.last().copied().unwrap_or_default()
    }

    /// Moves on to the next version, whose state has this hash. Returns the version's link, which the server
    /// keeps.
    pub fn advance(&mut self, content: [u8; 32]) -> Link {
        let before = self.chain();
        self.version += 1;
        // Each version that is this one's number without lowest bits was that of the one before, too.
        self.chains.truncate(self.version.count_ones() as usize - 1);
        let link = Link { content, before, back: self.chain() };
        self.chains.push(link.chain(self.version));
        link
    }

    /// The versions whose links lead from this history back to the version `seen`, in this order. Empty if no
    /// version was seen, or if `seen` is not an earlier one.
    pub fn path(&self, seen: u64) -> Vec<u64> {
        if seen == 0 {
            return Vec::new();
        }
        let (mut at, mut path) = (self.start(seen).0, Vec::new());
        while at > seen {
            path.push(at);
            at = if back(at) >= seen { back(at) } else { at - 1 };
        }
        path
    }

    /// Whether the version `seen`, with this chain, belongs to this history. `links` are those of its
    /// [path](History::path).
    pub fn follows(&self, seen: u64, chain: ChainHash, links: &[Link]) -> bool {
        if seen == 0 || seen > self.version {
            return seen == 0;
        }
        let (_, mut reached) = self.start(seen);
        let path = self.path(seen);
        if path.len() != links.len() {
            return false;
        }
        for (&at, link) in path.iter().zip(links) {
            if link.chain(at) != reached {
                return false;
            }
            reached = if back(at) >= seen { link.back } else { link.before };
        }
        reached == chain
    }

    /// The version nearest to what was seen, and not before it, of those whose chains are here.
    fn start(&self, seen: u64) -> (u64, ChainHash) {
        let (mut at, mut chain) = (self.version, self.chain());
        for &earlier in self.chains.iter().rev().skip(1) {
            if back(at) < seen {
                break;
            }
            (at, chain) = (back(at), earlier);
        }
        (at, chain)
    }

    /// The bytes of the chains: the version says how many there are.
    pub(crate) fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self.chains.as_flattened());
    }

    /// The history of this version whose chains come next.
    pub(crate) fn read(version: u64, reader: &mut Reader<'_>) -> Result<History> {
        let chains = (0..version.count_ones()).map(|_| reader.array()).collect::<Result<_>>()?;
        Ok(History { version, chains })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A history of `versions` versions, whose states differ from those of another history from version
    /// `fork` on; and all links.
    fn history(versions: u64, fork: u64) -> (History, Vec<Link>) {
        let mut history = History::default();
        let content = |version: u64| {
            let mut content = [0; 32];
            content[..8].copy_from_slice(&version.to_le_bytes());
            content[8] = (version >= fork).into();
            content
        };
        let links = (1..=versions).map(|version| history.advance(content(version))).collect();
        (history, links)
    }

    fn path(history: &History, seen: u64, links: &[Link]) -> Vec<Link> {
        history.path(seen).iter().map(|at| links[*at as usize - 1].clone()).collect()
    }

    #[test]
    fn each_earlier_version_is_found_and_no_other() {
        let all: Vec<(History, Vec<Link>)> = (0..=70).map(|versions| history(versions, u64::MAX)).collect();
        let (_, links) = all.last().unwrap();
        for (now, (history, _)) in all.iter().enumerate() {
            assert_eq!(history.version(), now as u64);
            for (seen, (earlier, _)) in all.iter().enumerate() {
                let (seen, shown) = (seen as u64, path(history, seen as u64, links));
                let there = history.follows(seen, earlier.chain(), &shown);
                assert_eq!(there, seen <= now as u64, "{seen} before {now}");
                if seen > 0 && there {
                    let mut other = earlier.chain();
                    other[3] ^= 1;
                    assert!(!history.follows(seen, other, &shown), "another chain");
                    for at in 0..shown.len() {
                        assert!(!history.follows(seen, earlier.chain(), &shown[..at]), "too few links");
                        for part in 0..3 {
                            let (mut shown, mut bytes) = (shown.clone(), shown[at].to_bytes());
                            bytes[32 * part] ^= 1;
                            shown[at] = Link::from_bytes(&bytes).unwrap();
                            assert!(!history.follows(seen, earlier.chain(), &shown), "another link");
                        }
                    }
                }
            }
        }
    }

    /// A copy that went on by itself: whatever was seen of the one after they parted is not found in the
    /// other, and what was before is.
    #[test]
    fn a_fork_is_seen() {
        for fork in 1..40 {
            let (other, links) = history(40, fork);
            for seen in 1..40 {
                let (own, _) = history(seen, u64::MAX);
                let follows = other.follows(seen, own.chain(), &path(&other, seen, &links));
                assert_eq!(follows, seen < fork, "{seen} was seen, and they part at {fork}");
            }
        }
    }

    #[test]
    fn a_path_is_short() {
        let now = History::remembered((1 << 40) - 1, [1; 32]);
        let longest = [1, 2, 3, 1 << 20, (1 << 39) + 1, (1 << 40) - 2].map(|seen| now.path(seen).len());
        assert!(longest.iter().all(|length| *length <= 40 * 39 / 2), "{longest:?}");
        let now = History::remembered(1 << 40, [1; 32]);
        assert!(
            now.path((1 << 39) + 1).len() <= 40 * 39 / 2
                && now.path(1 << 40).is_empty()
                && now.path(1 << 41).is_empty()
        );
        assert_eq!(History::remembered(0, [7; 32]), History::default());
        assert!(now.path(0).is_empty(), "nothing was seen");
    }

    #[test]
    fn a_link_is_read_as_it_is_written() {
        let (_, links) = history(3, 2);
        for link in &links {
            assert_eq!(Link::from_bytes(&link.to_bytes()).as_ref(), Some(link));
        }
        assert!(Link::from_bytes(&[0; 95]).is_none() && Link::from_bytes(&[0; 128]).is_none());
    }
}

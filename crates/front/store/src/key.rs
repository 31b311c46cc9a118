//! What opens a store: a passphrase, or a file with a key. And the store's own file, which says which.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use argon2::{Algorithm, Argon2, Params, Version};
use comity_core::{Error, Result, classify, declassify, declassify_all};
use comity_files::OwnersAlone;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::folder::{check_mode, failed, new_file};

/// The first bytes of a store's own file.
const MAGIC: &[u8; 16] = b"comity store v2\n";

/// The first bytes of the file of a store of entries and deals, which is of version 1.
const OLDER: &[u8; 16] = b"comity store v1\n";

/// Bytes of a store's own file: magic, kind of key, cost, salt, check.
pub(crate) const FILE: usize = 16 + 1 + 12 + 32 + 32;

/// The cost of Argon2id for a new store's passphrase: the second choice of RFC 9106, section 4: 64 MiB, 3
/// passes, 4 lanes.
const COST: Cost = Cost { kibibytes: 64 << 10, passes: 3, lanes: 4 };

/// The most that Argon2id may cost, which no honest store exceeds: 4 GiB, 64 passes, 64 lanes.
const MOST: Cost = Cost { kibibytes: 4 << 20, passes: 64, lanes: 64 };

/// The secret that protects a store. Wiped on drop.
pub struct StoreKey(Secret);

enum Secret {
    Passphrase(Zeroizing<Vec<u8>>),
    Bytes(Zeroizing<[u8; 32]>),
}

/// Parameters of Argon2id.
struct Cost {
    kibibytes: u32,
    passes: u32,
    lanes: u32,
}

impl StoreKey {
    /// A key from a passphrase. A thief of the folder can try passphrases; each try costs three passes over
    /// 64 MiB of memory.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the passphrase is empty.
    pub fn passphrase(text: impl AsRef<[u8]>) -> Result<StoreKey> {
        let text = text.as_ref();
        if text.is_empty() {
            return Err(Error::invalid_input("the passphrase is empty"));
        }
        Ok(StoreKey(Secret::Passphrase(Zeroizing::new(text.to_vec()))))
    }

    /// The key in this file of 32 bytes.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the file does not have 32 bytes, if others may read it, or if
    /// it cannot be read.
    pub fn read(path: &Path) -> Result<StoreKey> {
        let cannot = |error| failed("cannot read the key in", path, error);
        // A pipe without a writer is waited for without end.
        if fs::metadata(path).is_ok_and(|data| !data.is_file()) {
            let path = path.display();
            return Err(Error::invalid_input(format!("{path} is not a key file: it is a folder, a pipe or a device")));
        }
        let file = File::open(path).map_err(cannot)?;
        check_mode(&file, path, OwnersAlone::Use)?;
        let mut bytes = Zeroizing::new(Vec::with_capacity(33));
        file.take(33).read_to_end(&mut bytes).map_err(cannot)?;
        classify(&mut bytes);
        let bytes: [u8; 32] = bytes
            .as_slice()
            .try_into()
            .map_err(|_| Error::invalid_input(format!("{} is not a key file: a key has 32 bytes", path.display())))?;
        Ok(StoreKey(Secret::Bytes(Zeroizing::new(bytes))))
    }

    /// A new key, in a new file that only its owner can read.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if it cannot be written, or the file exists: it is never
    /// overwritten.
    pub fn create(path: &Path, rng: &mut dyn CryptoRng) -> Result<StoreKey> {
        let mut bytes = Zeroizing::new([0; 32]);
        rng.fill_bytes(&mut bytes[..]);
        declassify_all(&mut bytes[..], "the key's own file holds it");
        new_file(path, &bytes[..])?;
        Ok(StoreKey(Secret::Bytes(bytes)))
    }

    /// The bytes of a new store's own file, and the store's root key.
    pub(crate) fn protect(&self, rng: &mut dyn CryptoRng) -> Result<(Vec<u8>, Zeroizing<[u8; 32]>)> {
        let mut salt = [0; 32];
        rng.fill_bytes(&mut salt);
        let mut file = MAGIC.to_vec();
        let (kind, cost) = match self.0 {
            Secret::Passphrase(_) => (1, COST),
            Secret::Bytes(_) => (0, Cost { kibibytes: 0, passes: 0, lanes: 0 }),
        };
        file.push(kind);
        file.extend([cost.kibibytes, cost.passes, cost.lanes].into_iter().flat_map(u32::to_le_bytes));
        file.extend(salt);
        let root = self.root(&file, &cost, &salt)?;
        file.extend(check(&root).as_bytes());
        declassify_all(&mut file, "the store's own file is for all to read");
        Ok((file, root))
    }

    /// The root key of the store, or vault, whose own file begins with this. `what` is the word for it in errors.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if it is no such file, of an older version, or for another key.
    pub(crate) fn unlock(&self, what: &str, file: &[u8], path: &Path) -> Result<Zeroizing<[u8; 32]>> {
        let refuse = |why: String| Error::invalid_input(format!("{}: {why}", path.display()));
        let damaged = || refuse(format!("this is not the file of a {what}, or it is damaged"));
        if file.starts_with(OLDER) {
            return Err(refuse(
                "an older comity made this store in version 1 of the format, and this comity uses version 2. Its \
                    material cannot be used any more: delete the folder, and prepare new material, at all parties"
                    .to_owned(),
            ));
        }
        let file: &[u8; FILE] = file.try_into().map_err(|_| damaged())?;
        let number = |at: usize| u32::from_le_bytes([file[at], file[at + 1], file[at + 2], file[at + 3]]);
        let cost = Cost { kibibytes: number(17), passes: number(21), lanes: number(25) };
        let too_much = cost.kibibytes > MOST.kibibytes || cost.passes > MOST.passes || cost.lanes > MOST.lanes;
        if !file.starts_with(MAGIC) || too_much {
            return Err(damaged());
        }
        match (&self.0, file[16]) {
            (Secret::Passphrase(_), 1) | (Secret::Bytes(_), 0) => {}
            (_, 0) => {
                return Err(refuse(format!("the {what} was made with a key file: name that file, not a passphrase")));
            }
            (_, 1) => return Err(refuse(format!("the {what} was made with a passphrase: name it, not a key file"))),
            _ => return Err(damaged()),
        }
        let (head, tag) = file.split_at(FILE - 32);
        let root = self.root(head, &cost, &head[29..])?;
        let tag: [u8; 32] = tag.try_into().map_err(|_| damaged())?;
        // This comparison takes the same time wherever the bytes differ.
        let right = check(&root) == blake3::Hash::from_bytes(tag);
        if !declassify(right, "whether the key is right is told") {
            return Err(refuse(format!("the passphrase or key is not the one that the {what} was made with")));
        }
        Ok(root)
    }

    /// The root key, which follows from the secret and all that stands before the check in the store's own file.
    fn root(&self, head: &[u8], cost: &Cost, salt: &[u8]) -> Result<Zeroizing<[u8; 32]>> {
        let mut secret = Zeroizing::new([0; 32]);
        match &self.0 {
            Secret::Bytes(bytes) => secret.copy_from_slice(&bytes[..]),
            Secret::Passphrase(text) => {
                let cannot = |error| Error::invalid_input(format!("the passphrase cannot be used: {error}"));
                let cost = Params::new(cost.kibibytes, cost.passes, cost.lanes, Some(32)).map_err(cannot)?;
                let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, cost);
                argon2.hash_password_into(text, salt, &mut secret[..]).map_err(cannot)?;
            }
        }
        Ok(derived("comity store v2 root key", &[&secret[..], head]))
    }
}

/// The check in a store's own file, which tells a wrong key from a right one.
fn check(root: &[u8; 32]) -> blake3::Hash {
    blake3::Hash::from_bytes(*derived("comity store v2 check of the key", &[root]))
}

/// The key derived from a secret for a use. Nothing of the key stays in the hash's memory.
pub(crate) fn derived(context: &str, parts: &[&[u8]]) -> Zeroizing<[u8; 32]> {
    let mut hash = blake3::Hasher::new_derive_key(context);
    parts.iter().for_each(|part| _ = hash.update(part));
    let key = Zeroizing::new(*hash.finalize().as_bytes());
    // Its buffer holds the last bytes that it took in, which are all of these.
    hash.reset();
    std::hint::black_box(&mut hash);
    key
}

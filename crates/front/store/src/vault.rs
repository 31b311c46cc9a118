//! `Vault`: a folder with a secret that only its key opens, and a counter that gives no number twice.
//!
//! | file | holds |
//! | --- | --- |
//! | `vault` | what tells the key from others, as in a store; the secret, encrypted under a key that follows from it |
//! | `counter` | a number: all below it may be used already |
//! | another | what is [shown](Vault::create) in the clear |
//!
//! The counter takes numbers in blocks: the end of a block is on the disk before its first number is given
//! out. So a crash at any instant skips the rest of a block and repeats nothing. A folder that was put back
//! from a copy does give numbers again: nothing in it can tell that it is old.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use comity_core::{Error, Result, declassify_all};
use comity_files::Access;
use rand_core::CryptoRng;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use zeroize::Zeroizing;

use crate::folder::{self, failed};
use crate::key::{FILE, StoreKey, derived};

/// The first bytes of a counter's file.
const MAGIC: &[u8; 8] = b"counter\n";

/// Numbers of a block.
const BLOCK: u64 = 1 << 12;

/// A vault: a folder with one encrypted secret. It is locked as long as this lives.
pub struct Vault {
    dir: PathBuf,
    next: u64,
    /// The first number that is not taken on the disk.
    end: u64,
    _lock: File,
}

impl Vault {
    /// A new vault in this folder, with this secret, and with a file of this name whose bytes all may see.
    /// The secret is written last: whatever fails, there is a whole vault or none.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is a vault already, or others may write into the folder;
    /// [`Store`](comity_core::Kind) if the disk refuses.
    pub fn create(
        dir: &Path,
        key: &StoreKey,
        secret: &[u8],
        (name, shown): (&str, &[u8]),
        rng: &mut dyn CryptoRng,
    ) -> Result<Vault> {
        let path = dir.join("vault");
        if path.exists() {
            return Err(Error::invalid_input(format!("{} exists, and is not overwritten", path.display())));
        }
        folder::make(dir)?;
        folder::owned(dir)?;
        let lock = folder::lock(dir)?;
        let vault = Vault { dir: dir.to_owned(), next: 0, end: 0, _lock: lock };
        vault.note_end(0)?;
        replace(dir, name, shown)?;
        let (mut file, root) = key.protect(rng)?;
        let mut sealed = secret.to_vec();
        let done = cipher(&root).seal_in_place_append_tag(nonce(), Aad::from(&file), &mut sealed);
        done.expect("a secret is far below the cipher's limit");
        declassify_all(&mut sealed, "a ciphertext is for all to read");
        file.extend(sealed);
        replace(dir, "vault", &file)?;
        Ok(vault)
    }

    /// The vault in this folder, and its secret.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is no vault, the key is not its key, others may write
    /// into the folder, or another process uses it; [`Store`](comity_core::Kind) if it is damaged or cannot
    /// be read.
    pub fn open(dir: &Path, key: &StoreKey) -> Result<(Vault, Zeroizing<Vec<u8>>)> {
        let path = dir.join("vault");
        if !path.exists() {
            return Err(Error::invalid_input(format!(
                "{} does not exist: nothing was made in this folder",
                path.display()
            )));
        }
        folder::owned(dir)?;
        let lock = folder::lock(dir)?;
        let file = fs::read(&path).map_err(|error| failed("cannot read", &path, error))?;
        let damaged = || Error::store(format!("{} is damaged: make a new one", path.display()));
        let (head, sealed) = file.split_at_checked(FILE).ok_or_else(damaged)?;
        let root = key.unlock("vault", head, &path)?;
        let mut secret = Zeroizing::new(sealed.to_vec());
        let len = cipher(&root).open_in_place(nonce(), Aad::from(head), &mut secret).map_err(|_| damaged())?.len();
        secret.truncate(len);
        let end = read_end(dir)?;
        Ok((Vault { dir: dir.to_owned(), next: end, end, _lock: lock }, secret))
    }

    /// A number that was never given before. When this returns, it counts as given even after a crash.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses.
    pub fn take_number(&mut self) -> Result<u64> {
        if self.next == self.end {
            let end = self.end.checked_add(BLOCK).ok_or_else(|| Error::store("the counter has reached its maximum"))?;
            self.note_end(end)?;
            self.end = end;
        }
        let number = self.next;
        self.next += 1;
        Ok(number)
    }

    fn note_end(&self, end: u64) -> Result<()> {
        replace(&self.dir, "counter", &encode(end))
    }

    /// Writes what all may see anew, without the key, in the folder of a vault that is not in use. After a
    /// crash the file is whole, or as it was before.
    ///
    /// # Errors
    /// As [`Vault::open`].
    pub fn show_in(dir: &Path, name: &str, bytes: &[u8]) -> Result<()> {
        folder::owned(dir)?;
        let _lock = folder::lock(dir)?;
        replace(dir, name, bytes)
    }
}

/// A counter's file: its first bytes, the number, and a digest of both.
fn encode(end: u64) -> Vec<u8> {
    let bytes = [&MAGIC[..], &end.to_le_bytes()].concat();
    let digest = blake3::hash(&bytes);
    [&bytes[..], &digest.as_bytes()[..8]].concat()
}

fn read_end(dir: &Path) -> Result<u64> {
    let path = dir.join("counter");
    let file = fs::read(&path).map_err(|error| failed("cannot read", &path, error))?;
    let end = file.get(8..16).and_then(|end| end.try_into().ok()).map(u64::from_le_bytes);
    end.filter(|end| encode(*end) == file).ok_or_else(|| {
        Error::store(format!("{} is damaged, so the used numbers are unknown: make a new folder", path.display()))
    })
}

/// Writes a file of the folder. When this returns, it is there after a crash too.
fn replace(dir: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = dir.join(name);
    comity_files::replace(&path, Access::Owner, bytes).map_err(|error| failed("cannot write", &path, error))
}

/// The cipher of one secret: its key follows from the vault's salt, and is used once.
fn cipher(root: &[u8; 32]) -> LessSafeKey {
    let key = derived("comity vault v1 key of the secret", &[root]);
    LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &key[..]).expect("the key has the cipher's 32 bytes"))
}

fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}

#[cfg(test)]
mod tests {
    use comity_core::{Backend, Block, Kind, Prg};

    use super::*;

    const SHOWN: (&str, &[u8]) = ("shown", b"for all");

    fn rng() -> Prg {
        Prg::new(Backend::detect(), Block::from_u128(5))
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("comity-vault-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    fn key(dir: &Path) -> StoreKey {
        let path = dir.with_extension("key");
        let _ = fs::remove_file(&path);
        StoreKey::create(&path, &mut rng()).unwrap()
    }

    #[test]
    fn a_secret_comes_back_and_no_number_does() {
        let dir = folder("numbers");
        let key = key(&dir);
        let mut vault = Vault::create(&dir, &key, b"the secret", SHOWN, &mut rng()).unwrap();
        let mut last: Vec<u64> = (0..BLOCK + 3).map(|_| vault.take_number().unwrap()).collect();
        assert!(Vault::open(&dir, &key).err().unwrap().to_string().contains("in use"));
        drop(vault);
        for _ in 0..5 {
            let (mut vault, secret) = Vault::open(&dir, &key).unwrap();
            assert_eq!(&secret[..], b"the secret");
            last.extend((0..3).map(|_| vault.take_number().unwrap()));
        }
        assert!(last.windows(2).all(|two| two[0] < two[1]), "{last:?}");
        // A number is on the disk before it is given out.
        let (mut vault, _) = Vault::open(&dir, &key).unwrap();
        let next = vault.take_number().unwrap();
        assert!(read_end(&dir).unwrap() > next);
        assert!(
            Vault::create(&dir, &key, b"another", SHOWN, &mut rng())
                .err()
                .unwrap()
                .to_string()
                .contains("not overwritten")
        );
        drop(vault);
        fs::remove_dir_all(dir).unwrap();
    }

    /// Where a file cannot be written there is no vault, and one can be made when it can.
    #[test]
    fn a_vault_is_there_whole_or_not_at_all() {
        let dir = folder("whole");
        let key = key(&dir);
        let create = || Vault::create(&dir, &key, b"the secret", SHOWN, &mut rng());
        for name in ["counter", SHOWN.0] {
            let stands = dir.join(name);
            fs::create_dir_all(stands.join("in the way")).unwrap();
            assert!(matches!(create().err().unwrap().kind, Kind::Store(_)), "{name}");
            assert!(Vault::open(&dir, &key).err().unwrap().to_string().contains("does not exist"), "{name}");
            fs::remove_dir_all(stands).unwrap();
        }
        drop(create().unwrap());
        assert_eq!(&Vault::open(&dir, &key).unwrap().1[..], b"the secret");
        assert_eq!(fs::read(dir.join(SHOWN.0)).unwrap(), SHOWN.1);
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn what_is_damaged_or_anothers_is_refused() {
        let dir = folder("damaged");
        let key = key(&dir);
        drop(Vault::create(&dir, &key, &[7; 64], SHOWN, &mut rng()).unwrap());
        let open = |key: &StoreKey| Vault::open(&dir, key).map(|_| ()).unwrap_err();
        let other = StoreKey::passphrase("another").unwrap();
        assert!(matches!(open(&other).kind, Kind::InvalidInput(_)));
        for name in ["vault", "counter"] {
            let whole = fs::read(dir.join(name)).unwrap();
            for at in [0, 9, whole.len() - 1] {
                let mut bytes = whole.clone();
                bytes[at] ^= 1;
                fs::write(dir.join(name), bytes).unwrap();
                open(&key);
            }
            for length in [0, 10, whole.len() - 1] {
                fs::write(dir.join(name), &whole[..length]).unwrap();
                assert!(open(&key).to_string().contains(name));
            }
            fs::write(dir.join(name), &whole).unwrap();
        }
        Vault::open(&dir, &key).unwrap();
        fs::remove_file(dir.join("counter")).unwrap();
        assert!(matches!(open(&key).kind, Kind::Store(_)), "a counter that is gone does not begin anew");
        fs::remove_dir_all(dir).unwrap();
    }
}

//! Offline material on disk: a folder of preparations, each used at most once.
//!
//! A [`Store`] is a folder. [`Store::create`] gives a [`Writer`] for a new entry, [`Store::list`] tells what is ready, and
//! [`Store::take`] gives a [`Reader`] of an entry that nobody gets a second time. Beside entries, which are used whole, it holds
//! [deals](deal), which are used block by block.
//!
//! **Once**. An entry is `ID.partial` while it is written, `ID.ready` when it is whole, and `ID.used` before its first byte
//! is given out; each step is a renaming, and the folder is on the disk before the next one. So after a crash at any
//! instant an entry is whole or not there, and none is used twice. What is half-written or used is removed by the reader or
//! writer, or else when the store is opened again. A lock stops a second process.
//!
//! **Damage** is of what is damaged: [`Store::damaged`] names the files, and all else can be used.
//!
//! **Secret and whole**. Entries are encrypted and authenticated in chunks of 64 KiB under a key of their own (ChaCha20-Poly1305
//! in the STREAM construction of Hoang, Reyhanitabar, Rogaway and Vizár, Crypto 2015), which follows from the store's key and fresh
//! random bytes. Associated data are the entry's id and all of its [`Meta`]: a flipped byte, a chunk that is missing, moved
//! or taken from elsewhere, and an entry under another name are errors. A store's key comes from a passphrase (Argon2id) or from a
//! file. Not hidden: how many entries there are, their ids and sizes.
//!
//! **Not prevented**: a copy of the folder that is put back, be it a backup, a snapshot of a virtual machine, or a second
//! folder. Nothing in the folder can tell that it is old. Two runs on one preparation can reveal a party's input, so keep no
//! copies of a store. A deleted entry may also still be found on the disk by whoever has the store's key.
//!
//! **Cost**: one pass of the cipher each way, and half a kilobyte and two waits for the disk an entry.
//!
//! ```
//! use std::io::{Read, Write};
//! use comity_core::{Backend, Block, Params, Prg, SessionId};
//! use comity_store::{Key, Meta, Store};
//!
//! # let dir = std::env::temp_dir().join(format!("comity-store-doc-{}", std::process::id()));
//! let mut rng = Prg::new(Backend::detect(), Block::from_u128(7)); // the system's randomness, outside of examples
//! let key = Key::passphrase("correct horse battery staple")?;
//! let store = Store::open_or_create(&dir, &key, &mut rng)?;
//! let meta = Meta {
//!     id: SessionId::derive("example", &[]),
//!     protocol: "cutchoose".into(),
//!     program: [0; 32],
//!     name: "add64".into(),
//!     party: 0,
//!     params: Params::default(),
//!     peer: String::new(),
//! };
//! let mut writer = store.create(&meta, &mut rng)?;
//! writer.write_all(b"preparation").unwrap();
//! writer.finish()?;
//! assert_eq!(store.list()?, [meta.clone()]);
//!
//! let mut bytes = Vec::new();
//! store.take(&meta.id)?.read_to_end(&mut bytes).unwrap();
//! assert_eq!(bytes, b"preparation");
//! assert!(store.take(&meta.id).is_err());
//! # std::fs::remove_dir_all(&dir).unwrap();
//! # Ok::<(), comity_core::Error>(())
//! ```

pub mod deal;
mod folder;
mod key;
mod meta;
mod reader;
mod seal;
mod store;
mod writer;

pub use deal::{Deal, DealInfo, DealWriter};
pub use key::Key;
pub use meta::Meta;
pub use reader::Reader;
pub use store::Store;
pub use writer::Writer;

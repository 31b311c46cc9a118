//! Offline material on disk: a folder of lots, each batch of which is used at most once.
//!
//! A *lot* is what all parties made together in one session, under keys of its own: numbered *batches* that
//! are used up in order. Batch `n` of one party's part fits batch `n` of the others' parts, and nothing else.
//! [`Store::new_lot`] makes one, [`Store::lots`] lists them, [`Store::open_lot`] works on one. A batch may be
//! of any size: it is written and read as a stream.
//!
//! | file | holds |
//! | --- | --- |
//! | `store` | what tells the store's key from others |
//! | `ID.lot` | the record: the [`Meta`], encrypted; the next batch, how many there are, whether a check is pending; a MAC on all |
//! | `ID.batch-NNNNNNNN` | batch N (in hex), encrypted in chunks under the lot's key and its number |
//!
//! **Used once, in order.** [`OpenLot::take`] first has a record on the disk that counts the batch as used,
//! then gives out its first byte, and removes its file in the end. So after a crash at any instant no batch
//! is given out a second time, and what is lost is the batch in flight. A lot is there when it is whole: a
//! crash while it is made leaves nothing of it. A lock stops a second process.
//!
//! **All parties alike.** After a crash one party may count more batches as used than another. All go on at
//! the largest number ([`OpenLot::advance_to`], which never goes back): a peer that lies about its number can
//! only burn material.
//!
//! **Checks.** A MAC check that a peer can break off after it has learned the outcome lets it guess at the
//! global key, again and again. [`OpenLot::check_begins`] marks the lot on the disk before the first message
//! of a check, and [`OpenLot::check_passed`] takes the mark away. A lot that is dropped with the mark, or
//! found with it when the store is opened, is destroyed: with it go the keys and everything under them.
//!
//! **Damage.** A file that was cut, changed, put in another's place or taken from another lot or store is an
//! error with its name ([`Store::damaged`]), and other lots are as good as ever. Batches that were put back
//! after they were used are removed: the record says that they are used. An older record that was put back is
//! an error: it counts batches as unused whose files are gone. What cannot be told on this side alone is that
//! record and batches were put back together. A peer's number tells it: it is larger, by more than the
//! batches that can be in flight, and nothing is used twice as long as one peer is honest and its own store
//! is not old as well.
//!
//! **Secret and whole.** Batches are encrypted and authenticated in chunks of 64 KiB under a key of the lot
//! (ChaCha20-Poly1305 in the STREAM construction of Hoang, Reyhanitabar, Rogaway and Vizár, Crypto 2015),
//! which follows from the store's key and fresh random bytes. Associated data are the lot's id and all of its
//! [`Meta`]. A store's key comes from a passphrase (Argon2id) or from a file. Not hidden: how many lots there
//! are, their ids, and how many batches of which size are left.
//!
//! **Not prevented**: a copy of the folder that is put back, be it a backup, a snapshot of a virtual machine,
//! or a second folder. Nothing in the folder can tell that it is old. Two runs on one batch can reveal a
//! party's input, so keep no copies of a store. A deleted batch may also still be found on the disk by
//! whoever has the store's key.
//!
//! **Cost**: one pass of the cipher each way; three waits for the disk for each batch that is written and
//! taken, two more for a lot, two for the beginning and the end of a check (some milliseconds together); 16
//! bytes for 64 KiB.
//!
//! ```
//! use std::io::{Read, Write};
//! use comity_core::{Backend, Block, Params, PartyId, Prg, SessionId};
//! use comity_store::{Meta, Store, StoreKey};
//!
//! # let dir = std::env::temp_dir().join(format!("comity-store-doc-{}", std::process::id()));
//! let mut rng = Prg::new(Backend::detect(), Block::from_u128(7)); // the system's randomness, outside of examples
//! let key = StoreKey::passphrase("correct horse battery staple")?;
//! let store = Store::open_or_create(&dir, &key, &mut rng)?;
//! let meta = Meta {
//!     id: SessionId::derive("example", &[]),
//!     material: "shares".into(),
//!     options: "dealer=fast".into(),
//!     program: None,
//!     name: String::new(),
//!     units: vec![2],
//!     party: PartyId(0),
//!     peers: vec![(PartyId(1), None)],
//!     params: Params::default(),
//! };
//! let mut writer = store.new_lot(&meta, &mut rng)?;
//! writer.batch(|out| out.write_all(b"one").map_err(|e| comity_core::Error::io("an example", e)))?;
//! writer.batch(|out| out.write_all(b"two").map_err(|e| comity_core::Error::io("an example", e)))?;
//! writer.finish()?;
//! assert_eq!(store.lots()?[0].meta, meta);
//!
//! let mut lot = store.open_lot(&meta.id)?;
//! let mut bytes = Vec::new();
//! lot.take()?.expect("a batch is left").read_to_end(&mut bytes).unwrap();
//! assert_eq!(bytes, b"one");
//! assert_eq!((store.lots()?[0].next, store.lots()?[0].batches), (1, 2));
//! # std::fs::remove_dir_all(&dir).unwrap();
//! # Ok::<(), comity_core::Error>(())
//! ```

mod folder;
mod key;
mod lot;
mod meta;
mod reader;
mod record;
mod seal;
mod store;
mod vault;
mod writer;

pub use key::StoreKey;
pub use lot::{LotInfo, OpenLot};
pub use meta::Meta;
pub use reader::BatchReader;
pub use store::{Damaged, OnDisk, Store};
pub use vault::Vault;
pub use writer::{BatchWriter, LotWriter};

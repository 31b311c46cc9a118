//! Batches of a lot come back once and in order; a lot whose check did not end is gone; what was tampered
//! with is an error.

use std::fs;
use std::io::{Read, Write};

use comity_core::{Error, Kind, SessionId};
use comity_store::{BatchWriter, Damaged, Meta, Store};

use crate::common::*;

const CHUNK: usize = 64 << 10;

#[test]
fn batches_of_any_size_come_back_once_and_in_order() {
    let folder = Folder::new("lot-order");
    let store = folder.store();
    let sizes = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7];
    let mut writer = store.new_lot(&meta(1), &mut rng(1)).unwrap();
    for (i, len) in sizes.into_iter().enumerate() {
        // In pieces that fit nothing, written and read.
        let bytes = content(i as u64, len);
        let mut pieces = bytes.chunks(777);
        let write =
            |out: &mut BatchWriter| pieces.try_for_each(|p| out.write_all(p)).map_err(|e| Error::io("a test", e));
        writer.batch(write).unwrap();
    }
    assert!(store.lots().unwrap().is_empty(), "it is not there before it is finished");
    assert_eq!(writer.finish().unwrap(), store.bytes().unwrap());
    for (i, len) in sizes.into_iter().enumerate() {
        // Each time in a new session.
        let mut lot = store.open_lot(&meta(1).id).unwrap();
        assert_eq!((lot.info().next, lot.info().batches, &lot.info().meta), (i as u32, 6, &meta(1)));
        assert_eq!(store.lots().unwrap(), [lot.info().clone()]);
        let mut reader = lot.take().unwrap().unwrap();
        assert!(batch(&folder, 1, i as u32).exists(), "it is removed when it was read");
        let mut read = Vec::new();
        let mut piece = [0; 501];
        loop {
            match reader.read(&mut piece).unwrap() {
                0 => break,
                some => read.extend_from_slice(&piece[..some]),
            }
        }
        drop(reader);
        assert!(read == content(i as u64, len) && !batch(&folder, 1, i as u32).exists(), "batch {i}");
        if i == 5 {
            assert!(lot.take().unwrap().is_none());
        }
    }
    assert!(store.lots().unwrap().is_empty());
    refused(store.open_lot(&meta(1).id).map(drop), &["no such lot", "used up"]);
    assert_eq!(store.bytes().unwrap(), 0);
}

#[test]
fn lots_are_listed_in_order_and_have_ids_of_their_own() {
    let folder = Folder::new("lot-list");
    let store = folder.store();
    for number in [5, 3, 8] {
        fill(&store, number, 2, 10);
    }
    let listed = || store.lots().unwrap().into_iter().map(|lot| lot.meta).collect::<Vec<_>>();
    assert_eq!(listed(), [5, 3, 8].map(meta));
    refused(store.new_lot(&meta(3), &mut rng(1)).map(drop), &["already"]);
    let long = Meta { options: "x".repeat(256), ..meta(9) };
    refused(store.new_lot(&long, &mut rng(1)).map(drop), &["255"]);
    // One works on a lot at a time, also on one that is not there yet.
    let three = store.open_lot(&meta(3).id).unwrap();
    refused(store.open_lot(&meta(3).id).map(drop), &["is using this lot"]);
    let writer = store.new_lot(&meta(6), &mut rng(1)).unwrap();
    refused(store.new_lot(&meta(6), &mut rng(1)).map(drop), &["is using this lot"]);
    drop((three, writer));
    store.open_lot(&meta(3).id).unwrap().destroy().unwrap();
    assert_eq!(listed(), [5, 8].map(meta));
    assert!(!batch(&folder, 3, 0).exists() && batch(&folder, 5, 0).exists());
    // One without batches is used up from the start.
    store.new_lot(&meta(7), &mut rng(1)).unwrap().finish().unwrap();
    assert_eq!(listed(), [5, 8].map(meta));
}

#[test]
fn what_the_peer_has_lost_is_discarded() {
    let folder = Folder::new("lot-discard");
    let store = folder.store();
    for number in 1..=3 {
        fill(&store, number, 3, 100);
    }
    let open = store.open_lot(&meta(3).id).unwrap();
    refused(store.remove(&meta(3).id), &["is using this lot"]);
    drop(open);
    store.remove(&meta(2).id).unwrap();
    // Nothing is left of it here, nor after a crash; it may be gone already.
    assert!((0..3).all(|i| !batch(&folder, 2, i).exists()) && !file(&folder, 2, "lot").exists());
    assert_eq!(numbers(&crashed(&folder, "lot-discard-image").store()), [1, 3]);
    store.remove(&meta(2).id).unwrap();
    assert_eq!(numbers(&store), [1, 3]);
    assert!((0..3).all(|i| batch(&folder, 1, i).exists()));
}

#[test]
fn half_a_lot_is_nothing() {
    let folder = Folder::new("lot-half");
    let store = folder.store();
    let mut writer = store.new_lot(&meta(1), &mut rng(1)).unwrap();
    write(&mut writer, &[1; 1000]).unwrap();
    assert!(batch(&folder, 1, 0).exists());
    drop(writer);
    assert!(!batch(&folder, 1, 0).exists() && store.bytes().unwrap() == 0);
    // A batch that cannot be written ends it.
    let mut writer = store.new_lot(&meta(1), &mut rng(1)).unwrap();
    fs::create_dir(batch(&folder, 1, 0)).unwrap();
    refused(write(&mut writer, &[1]), &["batch-00000000"]);
    fs::remove_dir(batch(&folder, 1, 0)).unwrap();
    refused(write(&mut writer, &[1]), &["could not be written"]);
    refused(writer.finish().map(drop), &["could not be written"]);
    assert_eq!(store.bytes().unwrap(), 0);
}

#[test]
fn the_larger_number_counts_and_never_a_smaller_one() {
    let folder = Folder::new("lot-advance");
    let store = folder.store();
    fill(&store, 1, 6, 100);
    let mut lot = store.open_lot(&meta(1).id).unwrap();
    assert_eq!(lot.advance_to(2).unwrap(), 2);
    assert!(!batch(&folder, 1, 1).exists());
    assert_eq!((lot.advance_to(1).unwrap(), lot.advance_to(2).unwrap(), lot.info().next), (0, 0, 2));
    assert!(next(&mut lot).unwrap().unwrap() == content(1 + 2, 100));
    drop(lot);
    let mut lot = store.open_lot(&meta(1).id).unwrap();
    assert_eq!((lot.advance_to(0).unwrap(), lot.info().next), (0, 3));
    // A peer that lies burns material and does nothing else.
    assert_eq!(lot.advance_to(u32::MAX).unwrap(), 3);
    assert!(lot.take().unwrap().is_none());
    drop(lot);
    assert_eq!(store.bytes().unwrap(), 0);
}

#[test]
fn a_lot_whose_check_did_not_end_is_destroyed() {
    let folder = Folder::new("lot-check");
    let store = folder.store();
    for number in 1..=3 {
        fill(&store, number, 3, 100);
    }
    // Passed: as if nothing were.
    let mut passed = store.open_lot(&meta(1).id).unwrap();
    passed.check_begins().unwrap();
    // Blocks can be taken before the verdict; it is pending all the same.
    assert!(next(&mut passed).unwrap().is_some());
    assert_eq!(found(&crashed(&folder, "lot-check-pending")), (vec![(2, 0), (3, 0)], vec![1]));
    passed.check_passed().unwrap();
    drop(passed);
    assert_eq!(found(&crashed(&folder, "lot-check-passed")), (vec![(1, 1), (2, 0), (3, 0)], vec![]));
    // The connection is lost: the lot is dropped on the way out.
    let mut lost = store.open_lot(&meta(2).id).unwrap();
    lost.check_begins().unwrap();
    drop(lost);
    refused(store.open_lot(&meta(2).id).map(drop), &["no such lot"]);
    assert!(!batch(&folder, 2, 0).exists());
    // It failed.
    let mut failed = store.open_lot(&meta(3).id).unwrap();
    failed.check_begins().unwrap();
    failed.destroy().unwrap();
    assert_eq!(found(&crashed(&folder, "lot-check-failed")), (vec![(1, 1)], vec![]));
    drop(store);
    assert!(folder.store().destroyed().is_empty());
}

/// The numbers of the lots that can be used.
fn numbers(store: &Store) -> Vec<u64> {
    store.lots().unwrap().iter().map(|lot| number(&lot.meta)).collect()
}

/// The lots that opening a store finds, as (lot, next batch), and those that it destroys.
fn found(image: &Folder) -> (Vec<(u64, u32)>, Vec<u64>) {
    let store = image.store();
    let lots = store.lots().unwrap();
    for lot in &lots {
        drop(store.open_lot(&lot.meta.id).unwrap());
    }
    let destroyed: Vec<u64> = store.destroyed().iter().map(number).collect();
    for &number in &destroyed {
        assert!((0..3).all(|i| !batch(image, number, i).exists()) && !file(image, number, "lot").exists());
    }
    (lots.iter().map(|lot| (number(&lot.meta), lot.next)).collect(), destroyed)
}

#[test]
fn every_flipped_byte_and_every_cut_of_a_record_is_noticed() {
    let folder = Folder::new("lot-record");
    let store = folder.store();
    fill(&store, 1, 2, 10);
    fill(&store, 2, 2, 10);
    let path = file(&folder, 1, "lot");
    let bytes = fs::read(&path).unwrap();
    let open = || store.open_lot(&meta(1).id).map(drop);
    // It does not stand in another's way, and what is wrong is said.
    let others = |what: &str| {
        let damaged = store.damaged().unwrap();
        let [Damaged { id, why: Error { kind: Kind::Store(why), .. } }] = &damaged[..] else {
            panic!("{what}: {damaged:?}")
        };
        assert!(*id == meta(1).id && why.contains(path.to_str().unwrap()) && why.contains("damaged"), "{what}: {why}");
        assert_eq!(numbers(&store), [2], "{what}");
        drop(store.open_lot(&meta(2).id).unwrap());
    };
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        fs::write(&path, &flipped).unwrap();
        refused(open(), &[".lot", "damaged", "delete"]);
        others(&format!("byte {at}"));
        fs::write(&path, &bytes[..at]).unwrap();
        refused(open(), &[".lot", "damaged"]);
        others(&format!("cut at {at}"));
    }
    fs::write(&path, [&bytes[..], &[0]].concat()).unwrap();
    refused(open(), &["damaged"]);
    // A new lot can be made beside it. Nothing of the rest is lost, nor are its own batches.
    fill(&store, 3, 2, 10);
    assert_eq!(numbers(&store), [2, 3]);
    drop(store);
    let store = folder.store();
    assert!(batch(&folder, 1, 1).exists() && numbers(&store) == [2, 3]);
    fs::write(&path, &bytes).unwrap();
    assert_eq!(numbers(&store), [1, 2, 3]);
    assert!(store.damaged().unwrap().is_empty());
    assert!(next(&mut store.open_lot(&meta(1).id).unwrap()).unwrap().is_some());
}

#[test]
fn a_batch_that_was_cut_changed_or_exchanged_is_an_error() {
    let (folder, other) = (Folder::new("lot-batches"), Folder::new("lot-batches-other"));
    let store = folder.store();
    let elsewhere = Store::open_or_create(&other.path("store"), &folder.key(), &mut rng(7)).unwrap();
    let len = CHUNK + 100;
    fill(&store, 1, 3, len);
    fill(&store, 2, 3, len);
    fill(&elsewhere, 1, 3, len);
    let record = fs::read(file(&folder, 1, "lot")).unwrap();
    let [right, second, of_another, of_elsewhere] =
        [batch(&folder, 1, 0), batch(&folder, 1, 1), batch(&folder, 2, 0), batch(&other, 1, 0)]
            .map(|path| fs::read(path).unwrap());
    let mut flipped = right.clone();
    flipped[len / 2] ^= 4;
    let sealed = CHUNK + 16;
    let wrong = [
        ("a flipped bit", flipped),
        ("cut", right[..right.len() - 1].to_vec()),
        ("the last chunk is missing", right[..sealed].to_vec()),
        ("nothing is left", Vec::new()),
        ("longer", [&right[..], &[0]].concat()),
        ("its chunks are swapped", [&right[sealed..], &right[..sealed]].concat()),
        ("spliced", [&right[..sealed], &second[sealed..]].concat()),
        ("the batch after it", second),
        ("another lot's", of_another),
        ("another store's", of_elsewhere),
        ("its record", record),
    ];
    let image = |name| crashed(&folder, name);
    drop(store);
    for (what, bytes) in wrong {
        let image = image("lot-batches-image");
        fs::write(batch(&image, 1, 0), bytes).unwrap();
        let store = image.store();
        let mut lot = store.open_lot(&meta(1).id).unwrap();
        // A party that looks before is told, and nothing is used up by it.
        let error = lot.check(0..1).expect_err(what).to_string();
        assert!(error.contains("batch-00000000 is damaged") && error.contains("delete"), "{what}: {error}");
        assert!(lot.check(1..9).is_ok() && lot.info().next == 0, "{what}");
        let error = next(&mut lot).map(drop).expect_err(what);
        assert!(error.contains("batch-00000000 is damaged"), "{what}: {error}");
        // It counts as used, and the next one is as good as ever.
        assert_eq!(lot.info().next, 1);
        assert!(next(&mut lot).unwrap().unwrap() == content(2, len), "{what}");
    }
}

#[test]
fn what_was_put_back_is_removed_or_an_error() {
    let folder = Folder::new("lot-back");
    let store = folder.store();
    fill(&store, 1, 4, 100);
    let [record, first, second] =
        [file(&folder, 1, "lot"), batch(&folder, 1, 0), batch(&folder, 1, 1)].map(|path| fs::read(path).unwrap());
    let mut lot = store.open_lot(&meta(1).id).unwrap();
    for _ in 0..2 {
        next(&mut lot).unwrap().unwrap();
    }
    drop((lot, store));
    // Used batches put back.
    fs::write(batch(&folder, 1, 0), &first).unwrap();
    let store = folder.store();
    assert!(!batch(&folder, 1, 0).exists());
    assert_eq!(store.lots().unwrap()[0].next, 2);
    drop(store);
    // An older record put back: the batches that it has as unused are gone.
    fs::write(file(&folder, 1, "lot"), &record).unwrap();
    let store = folder.store();
    refused(store.open_lot(&meta(1).id).map(drop), &["batch 0 is missing", "older copy", "delete"]);
    fill(&store, 2, 1, 100);
    assert_eq!(numbers(&store), [2], "what cannot be used is not offered");
    let damaged = store.damaged().unwrap();
    assert!(damaged.len() == 1 && damaged[0].why.to_string().contains("batch 0 is missing"));
    store.remove(&meta(2).id).unwrap();
    drop(store);
    // Both put back together, but not all of it.
    fs::write(batch(&folder, 1, 1), &second).unwrap();
    refused(folder.store().open_lot(&meta(1).id).map(drop), &["batch 0 is missing"]);
    // All of it: only the peer's number tells, and moves this side past what was used.
    fs::write(batch(&folder, 1, 0), &first).unwrap();
    fs::write(batch(&folder, 1, 1), &second).unwrap();
    let store = folder.store();
    let mut lot = store.open_lot(&meta(1).id).unwrap();
    assert_eq!((lot.info().next, lot.advance_to(2).unwrap()), (0, 2));
    assert!(next(&mut lot).unwrap().unwrap() == content(3, 100));
}

#[test]
fn after_an_error_of_the_disk_nothing_more_is_given_out() {
    let folder = Folder::new("lot-disk");
    let store = folder.store();
    fill(&store, 1, 4, 100);
    let mut lot = store.open_lot(&meta(1).id).unwrap();
    // A folder where the next record is to be written.
    let draft = file(&folder, 1, "lot-partial");
    fs::create_dir(&draft).unwrap();
    refused(lot.take().map(drop), &["lot-partial"]);
    fs::remove_dir(&draft).unwrap();
    for _ in 0..2 {
        refused(lot.take().map(drop), &["open the store again"]);
        refused(lot.check_begins(), &["open the store again"]);
        refused(lot.advance_to(3).map(drop), &["open the store again"]);
    }
    drop(lot);
    assert_eq!(store.open_lot(&meta(1).id).unwrap().info().next, 0);
}

#[test]
fn how_much_is_left_and_what_it_takes_is_said() {
    let folder = Folder::new("lot-left");
    let store = folder.store();
    let mut writer = store.new_lot(&Meta { units: vec![12, u64::MAX], ..meta(1) }, &mut rng(1)).unwrap();
    (0..4).for_each(|_| write(&mut writer, &[1; 1000]).unwrap());
    let bytes = writer.finish().unwrap();
    fill(&store, 2, 1, 10);
    let on_disk = store.on_disk().unwrap();
    assert_eq!(on_disk[&meta(1).id].bytes, bytes);
    assert!(on_disk.len() == 2 && on_disk.values().all(|lot| lot.made.is_some()));
    let mut lot = store.open_lot(&meta(1).id).unwrap();
    assert_eq!(lot.info().left(), [12, u64::MAX]);
    next(&mut lot).unwrap().unwrap();
    assert_eq!(lot.info().left(), [9, u64::MAX / 4 * 3 + 2]);
    assert_eq!(store.on_disk().unwrap()[&meta(1).id].bytes, bytes - 1016);
}

#[test]
fn files_of_version_1_are_named_and_can_be_removed() {
    let folder = Folder::new("lot-older");
    let store = folder.store();
    fill(&store, 1, 1, 10);
    for (number, ending, more) in [(2, "ready", "used"), (3, "deal", "block-00000000")] {
        fs::write(file(&folder, number, ending), b"comity entry v1\n").unwrap();
        fs::write(file(&folder, number, more), b"more").unwrap();
    }
    let mut damaged = store.damaged().unwrap();
    damaged.sort_by_key(|lot| number_of(&lot.id));
    assert_eq!(damaged.iter().map(|lot| number_of(&lot.id)).collect::<Vec<_>>(), [2, 3]);
    assert!(damaged.iter().all(|lot| lot.why.to_string().contains("version 1") && numbers(&store) == [1]));
    damaged.iter().for_each(|lot| store.remove(&lot.id).unwrap());
    assert!(store.damaged().unwrap().is_empty() && !file(&folder, 3, "block-00000000").exists());
}

/// The number of the lot with this id, one of the first.
fn number_of(id: &SessionId) -> u64 {
    (0..10).find(|&number| meta(number).id == *id).unwrap()
}

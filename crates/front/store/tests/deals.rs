//! Blocks of a deal come back once and in order; a deal whose check did not end is gone; what was tampered with is an error.

#[allow(dead_code, reason = "each test file uses a part")]
mod common;

use std::fs;
use std::io::Read;

use comity_core::{Error, Kind};
use comity_store::{Meta, Store};

use common::*;

const CHUNK: usize = 64 << 10;

#[test]
fn blocks_come_back_once_and_in_order() {
    let folder = Folder::new("deal-order");
    let store = folder.store();
    let sizes = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7];
    let mut writer = store.new_deal(&meta(1), &mut rng(1)).unwrap();
    for (i, len) in sizes.into_iter().enumerate() {
        writer.block(&content(i as u64, len)).unwrap();
    }
    assert!(store.deals().unwrap().is_empty(), "it is not there before it is finished");
    let bytes = writer.finish().unwrap();
    assert!(bytes <= store.bytes().unwrap() && store.bytes().unwrap() < bytes + 100);
    for (i, len) in sizes.into_iter().enumerate() {
        // Each time in a new session.
        let mut deal = store.open_deal(&meta(1).id).unwrap();
        assert_eq!((deal.info().next, deal.info().blocks, &deal.info().meta), (i as u32, 6, &meta(1)));
        assert_eq!(store.deals().unwrap(), [deal.info().clone()]);
        let mut reader = deal.take().unwrap().unwrap();
        assert!(block(&folder, 1, i as u32).exists(), "it is removed when it was read");
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        drop(reader);
        assert!(read == content(i as u64, len) && !block(&folder, 1, i as u32).exists(), "block {i}");
        if i == 5 {
            assert!(deal.take().unwrap().is_none());
        }
    }
    assert!(store.deals().unwrap().is_empty());
    refused(store.open_deal(&meta(1).id).map(drop), &["no such deal", "used up"]);
    assert_eq!(store.bytes().unwrap(), 0);
}

#[test]
fn deals_are_listed_in_order_and_have_ids_of_their_own() {
    let folder = Folder::new("deal-list");
    let store = folder.store();
    for number in [5, 3, 8] {
        deal(&store, number, 2, 10);
    }
    fill(&store, 4, 10);
    let listed = || store.deals().unwrap().into_iter().map(|deal| deal.meta).collect::<Vec<_>>();
    assert_eq!(listed(), [5, 3, 8].map(meta));
    assert_eq!(store.list().unwrap(), [meta(4)], "a deal is no entry");
    refused(store.new_deal(&meta(3), &mut rng(1)).map(drop), &["already"]);
    refused(store.new_deal(&meta(4), &mut rng(1)).map(drop), &["already"]);
    refused(store.create(&meta(3), &mut rng(1)).map(drop), &["already"]);
    let long = Meta { peer: "x".repeat(128), ..meta(9) };
    refused(store.new_deal(&long, &mut rng(1)).map(drop), &["127"]);
    // One works on a deal at a time, also on one that is not there yet.
    let three = store.open_deal(&meta(3).id).unwrap();
    refused(store.open_deal(&meta(3).id).map(drop), &["works on this deal"]);
    let writer = store.new_deal(&meta(6), &mut rng(1)).unwrap();
    refused(store.new_deal(&meta(6), &mut rng(1)).map(drop), &["works on this deal"]);
    drop((three, writer));
    store.open_deal(&meta(3).id).unwrap().destroy().unwrap();
    assert_eq!(listed(), [5, 8].map(meta));
    assert!(!block(&folder, 3, 0).exists() && block(&folder, 5, 0).exists());
    // One without blocks is used up from the start.
    store.new_deal(&meta(7), &mut rng(1)).unwrap().finish().unwrap();
    assert_eq!(listed(), [5, 8].map(meta));
}

#[test]
fn what_the_peer_has_lost_is_discarded() {
    let folder = Folder::new("deal-discard");
    let store = folder.store();
    for number in 1..=3 {
        deal(&store, number, 3, 100);
    }
    let open = store.open_deal(&meta(3).id).unwrap();
    refused(store.discard_deal(&meta(3).id), &["works on this deal"]);
    drop(open);
    store.discard_deal(&meta(2).id).unwrap();
    // Nothing is left of it here, nor after a crash; it may be gone already.
    assert!((0..3).all(|i| !block(&folder, 2, i).exists()) && !file(&folder, 2, "deal").exists());
    assert_eq!(numbers(&crashed(&folder, "deal-discard-image").store()), [1, 3]);
    store.discard_deal(&meta(2).id).unwrap();
    assert_eq!(numbers(&store), [1, 3]);
    assert!((0..3).all(|i| block(&folder, 1, i).exists()));
}

#[test]
fn half_a_deal_is_nothing() {
    let folder = Folder::new("deal-half");
    let store = folder.store();
    let mut writer = store.new_deal(&meta(1), &mut rng(1)).unwrap();
    writer.block(&[1; 1000]).unwrap();
    assert!(block(&folder, 1, 0).exists());
    drop(writer);
    assert!(!block(&folder, 1, 0).exists() && store.bytes().unwrap() == 0);
    // A block that cannot be written ends it.
    let mut writer = store.new_deal(&meta(1), &mut rng(1)).unwrap();
    fs::create_dir(block(&folder, 1, 0)).unwrap();
    refused(writer.block(&[1]), &["block-00000000"]);
    fs::remove_dir(block(&folder, 1, 0)).unwrap();
    refused(writer.block(&[1]), &["could not be written"]);
    refused(writer.finish().map(drop), &["could not be written"]);
    assert_eq!(store.bytes().unwrap(), 0);
}

#[test]
fn the_larger_number_counts_and_never_a_smaller_one() {
    let folder = Folder::new("deal-advance");
    let store = folder.store();
    deal(&store, 1, 6, 100);
    let mut deal = store.open_deal(&meta(1).id).unwrap();
    assert_eq!(deal.advance_to(2).unwrap(), 2);
    assert!(!block(&folder, 1, 1).exists());
    assert_eq!((deal.advance_to(1).unwrap(), deal.advance_to(2).unwrap(), deal.info().next), (0, 0, 2));
    assert!(next(&mut deal).unwrap().unwrap() == content(1 + 2, 100));
    drop(deal);
    let mut deal = store.open_deal(&meta(1).id).unwrap();
    assert_eq!((deal.advance_to(0).unwrap(), deal.info().next), (0, 3));
    // A peer that lies burns material and does nothing else.
    assert_eq!(deal.advance_to(u32::MAX).unwrap(), 3);
    assert!(deal.take().unwrap().is_none());
    drop(deal);
    assert_eq!(store.bytes().unwrap(), 0);
}

#[test]
fn a_deal_whose_check_did_not_end_is_destroyed() {
    let folder = Folder::new("deal-check");
    let store = folder.store();
    for number in 1..=3 {
        deal(&store, number, 3, 100);
    }
    // Passed: as if nothing were.
    let mut passed = store.open_deal(&meta(1).id).unwrap();
    passed.check_begins().unwrap();
    // Blocks can be taken before the verdict; it is pending all the same.
    assert!(next(&mut passed).unwrap().is_some());
    assert_eq!(found(&crashed(&folder, "deal-check-pending")), (vec![(2, 0), (3, 0)], vec![1]));
    passed.check_passed().unwrap();
    drop(passed);
    assert_eq!(found(&crashed(&folder, "deal-check-passed")), (vec![(1, 1), (2, 0), (3, 0)], vec![]));
    // The connection is lost: the deal is dropped on the way out.
    let mut lost = store.open_deal(&meta(2).id).unwrap();
    lost.check_begins().unwrap();
    drop(lost);
    refused(store.open_deal(&meta(2).id).map(drop), &["no such deal"]);
    assert!(!block(&folder, 2, 0).exists());
    // It failed.
    let mut failed = store.open_deal(&meta(3).id).unwrap();
    failed.check_begins().unwrap();
    failed.destroy().unwrap();
    assert_eq!(found(&crashed(&folder, "deal-check-failed")), (vec![(1, 1)], vec![]));
    drop(store);
    assert!(folder.store().destroyed().is_empty());
}

/// The numbers of the deals that can be used.
fn numbers(store: &Store) -> Vec<u64> {
    let number = |meta: &Meta| meta.name["program ".len()..].parse().unwrap();
    store.deals().unwrap().iter().map(|deal| number(&deal.meta)).collect()
}

/// The deals that opening a store finds, as (deal, next block), and those that it destroys.
fn found(image: &Folder) -> (Vec<(u64, u32)>, Vec<u64>) {
    let number = |meta: &Meta| meta.name["program ".len()..].parse().unwrap();
    let store = image.store();
    let deals = store.deals().unwrap();
    for deal in &deals {
        drop(store.open_deal(&deal.meta.id).unwrap());
    }
    let destroyed: Vec<u64> = store.destroyed().iter().map(number).collect();
    for &number in &destroyed {
        assert!((0..3).all(|i| !block(image, number, i).exists()) && !file(image, number, "deal").exists());
    }
    (deals.iter().map(|deal| (number(&deal.meta), deal.next)).collect(), destroyed)
}

#[test]
fn every_flipped_byte_and_every_cut_of_a_record_is_noticed() {
    let folder = Folder::new("deal-record");
    let store = folder.store();
    deal(&store, 1, 2, 10);
    deal(&store, 2, 2, 10);
    let path = file(&folder, 1, "deal");
    let bytes = fs::read(&path).unwrap();
    let open = || store.open_deal(&meta(1).id).map(drop);
    // It does not stand in another's way, and what is wrong is said.
    let others = |what: &str| {
        let damaged = store.damaged().unwrap();
        let [Error { kind: Kind::Store(why), .. }] = &damaged[..] else { panic!("{what}: {damaged:?}") };
        assert!(why.contains(path.to_str().unwrap()) && why.contains("damaged"), "{what}: {why}");
        assert_eq!(numbers(&store), [2], "{what}");
        drop(store.open_deal(&meta(2).id).unwrap());
    };
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        fs::write(&path, &flipped).unwrap();
        refused(open(), &[".deal", "damaged", "delete"]);
        others(&format!("byte {at}"));
        fs::write(&path, &bytes[..at]).unwrap();
        refused(open(), &[".deal", "damaged"]);
        others(&format!("cut at {at}"));
    }
    fs::write(&path, [&bytes[..], &[0]].concat()).unwrap();
    refused(open(), &["damaged"]);
    // A new deal can be made beside it. Nothing of the rest is lost, nor are its own blocks.
    deal(&store, 3, 2, 10);
    assert_eq!(numbers(&store), [2, 3]);
    drop(store);
    let store = folder.store();
    assert!(block(&folder, 1, 1).exists() && numbers(&store) == [2, 3]);
    fs::write(&path, &bytes).unwrap();
    assert_eq!(numbers(&store), [1, 2, 3]);
    assert!(store.damaged().unwrap().is_empty());
    assert!(next(&mut store.open_deal(&meta(1).id).unwrap()).unwrap().is_some());
}

#[test]
fn a_block_that_was_cut_changed_or_exchanged_is_an_error() {
    let (folder, other) = (Folder::new("deal-blocks"), Folder::new("deal-blocks-other"));
    let store = folder.store();
    let elsewhere = Store::open_or_create(&other.path("store"), &folder.key(), &mut rng(7)).unwrap();
    let len = CHUNK + 100;
    deal(&store, 1, 3, len);
    deal(&store, 2, 3, len);
    deal(&elsewhere, 1, 3, len);
    fill(&store, 9, len);
    let entry = fs::read(file(&folder, 9, "ready")).unwrap();
    let [right, second, of_another, of_elsewhere] =
        [block(&folder, 1, 0), block(&folder, 1, 1), block(&folder, 2, 0), block(&other, 1, 0)]
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
        ("the block after it", second),
        ("another deal's", of_another),
        ("another store's", of_elsewhere),
        ("an entry", entry),
    ];
    let image = |name| crashed(&folder, name);
    drop(store);
    for (what, bytes) in wrong {
        let image = image("deal-blocks-image");
        fs::write(block(&image, 1, 0), bytes).unwrap();
        let store = image.store();
        let mut deal = store.open_deal(&meta(1).id).unwrap();
        let error = next(&mut deal).map(drop).expect_err(what);
        assert!(error.contains("block-00000000 is damaged"), "{what}: {error}");
        // It counts as used, and the next one is as good as ever.
        assert_eq!(deal.info().next, 1);
        assert!(next(&mut deal).unwrap().unwrap() == content(2, len), "{what}");
    }
}

#[test]
fn what_was_put_back_is_removed_or_an_error() {
    let folder = Folder::new("deal-back");
    let store = folder.store();
    deal(&store, 1, 4, 100);
    let [record, first, second] =
        [file(&folder, 1, "deal"), block(&folder, 1, 0), block(&folder, 1, 1)].map(|path| fs::read(path).unwrap());
    let mut deal = store.open_deal(&meta(1).id).unwrap();
    for _ in 0..2 {
        next(&mut deal).unwrap().unwrap();
    }
    drop((deal, store));
    // Used blocks put back.
    fs::write(block(&folder, 1, 0), &first).unwrap();
    let store = folder.store();
    assert!(!block(&folder, 1, 0).exists());
    assert_eq!(store.deals().unwrap()[0].next, 2);
    drop(store);
    // An older record put back: the blocks that it has as unused are gone.
    fs::write(file(&folder, 1, "deal"), &record).unwrap();
    let store = folder.store();
    refused(store.open_deal(&meta(1).id).map(drop), &["block 0 is missing", "older copy", "delete"]);
    common::deal(&store, 2, 1, 100);
    assert_eq!(numbers(&store), [2], "what cannot be used is not offered");
    let damaged = store.damaged().unwrap();
    assert!(damaged.len() == 1 && damaged[0].to_string().contains("block 0 is missing"));
    store.discard_deal(&meta(2).id).unwrap();
    drop(store);
    // Both put back together, but not all of it.
    fs::write(block(&folder, 1, 1), &second).unwrap();
    refused(folder.store().open_deal(&meta(1).id).map(drop), &["block 0 is missing"]);
    // All of it: only the peer's number tells, and moves this side past what was used.
    fs::write(block(&folder, 1, 0), &first).unwrap();
    fs::write(block(&folder, 1, 1), &second).unwrap();
    let store = folder.store();
    let mut deal = store.open_deal(&meta(1).id).unwrap();
    assert_eq!((deal.info().next, deal.advance_to(2).unwrap()), (0, 2));
    assert!(next(&mut deal).unwrap().unwrap() == content(3, 100));
}

#[test]
fn after_an_error_of_the_disk_nothing_more_is_given_out() {
    let folder = Folder::new("deal-disk");
    let store = folder.store();
    deal(&store, 1, 4, 100);
    let mut deal = store.open_deal(&meta(1).id).unwrap();
    // A folder where the next record is to be written.
    let draft = file(&folder, 1, "deal-partial");
    fs::create_dir(&draft).unwrap();
    refused(deal.take().map(drop), &["deal-partial"]);
    fs::remove_dir(&draft).unwrap();
    for _ in 0..2 {
        refused(deal.take().map(drop), &["open the store again"]);
        refused(deal.check_begins(), &["open the store again"]);
        refused(deal.advance_to(3).map(drop), &["open the store again"]);
    }
    drop(deal);
    assert_eq!(store.open_deal(&meta(1).id).unwrap().info().next, 0);
}

#[test]
fn a_deal_keeps_others_out_of_the_store() {
    let folder = Folder::new("deal-lock");
    let store = folder.store();
    deal(&store, 1, 2, 10);
    let again = || Store::open(&folder.path("store"), &folder.key()).map(drop);
    let mut deal = store.open_deal(&meta(1).id).unwrap();
    drop(store);
    refused(again(), &["in use by another process"]);
    let reader = deal.take().unwrap();
    drop(deal);
    refused(again(), &["in use"]);
    drop(reader);
    again().unwrap();
}

//! Broken off at any step: what is on the disk is a whole store.

use std::fs;
use std::io::{Read, Write};

use comity_store::Store;

use crate::common::*;

/// The lots that opening the store finds, and the number of its files besides `store` and `lock`.
fn found(image: &Folder) -> (Vec<(u64, u32)>, usize) {
    let store = Store::open(&image.path("store"), &image.key()).unwrap();
    let files = fs::read_dir(image.path("store")).unwrap().count();
    (store.lots().unwrap().iter().map(|lot| (number(&lot.meta), lot.next)).collect(), files - 2)
}

#[test]
fn each_step_leaves_a_whole_store() {
    let folder = Folder::new("steps");
    let store = folder.store();
    fs::write(folder.path("store").join("a stranger's file.lot"), b"x").unwrap();
    fill(&store, 1, 2, 100);
    assert_eq!(found(&crashed(&folder, "made")), (vec![(1, 0)], 4));

    // While a lot is made, in a batch and between two: nothing of it.
    let mut writer = store.new_lot(&meta(2), &mut rng(5)).unwrap();
    assert_eq!(found(&crashed(&folder, "begun")), (vec![(1, 0)], 4));
    let half = |out: &mut comity_store::BatchWriter| {
        out.write_all(&content(2, 200_000)).unwrap();
        assert_eq!(found(&crashed(&folder, "half a batch")), (vec![(1, 0)], 4));
        Ok(())
    };
    writer.batch(half).unwrap();
    assert!(batch(&folder, 2, 0).exists());
    assert_eq!(found(&crashed(&folder, "half a lot")), (vec![(1, 0)], 4));
    drop(writer);
    assert!(!batch(&folder, 2, 0).exists());
    fill(&store, 2, 1, 200_000);
    assert_eq!(found(&crashed(&folder, "both")), (vec![(1, 0), (2, 0)], 6));

    // While a batch is used, at its first byte and at the last: gone. The lot goes with its last batch.
    let mut lot = store.open_lot(&meta(1).id).unwrap();
    for (used, files) in [(1, 5), (2, 3)] {
        let mut reader = lot.take().unwrap().unwrap();
        let left: Vec<(u64, u32)> = [(1, used), (2, 0)].into_iter().filter(|&(_, next)| next < 2).collect();
        assert_eq!(found(&crashed(&folder, "taken")), (left.clone(), files));
        reader.read_exact(&mut [0; 50]).unwrap();
        assert_eq!(found(&crashed(&folder, "half read")), (left.clone(), files));
        drop(reader);
        assert_eq!(found(&crashed(&folder, "used")), (left, files));
    }
    drop(lot);
    assert_eq!(found(&crashed(&folder, "used up")), (vec![(2, 0)], 3));

    // While the store itself is made.
    let begun = Folder::new("no store");
    fs::create_dir(begun.path("store")).unwrap();
    fs::write(begun.path("store").join(".store.7.partial"), b"comi").unwrap();
    assert!(begun.store().lots().unwrap().is_empty());
}

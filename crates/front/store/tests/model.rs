//! Whatever is done to a store's lots, with crashes in between: it is as in a model of a few lines.

use std::collections::BTreeMap;
use std::fs;

use comity_store::{OpenLot, Store};
use proptest::prelude::*;

use crate::common::*;

#[derive(Clone, Debug)]
enum Op {
    New {
        batches: u32,
    },
    Open {
        at: usize,
    },
    Take,
    Advance {
        to: u32,
    },
    Begin,
    Pass,
    Close,
    Destroy,
    /// The process dies and comes back; with `draft` in the middle of writing a record, with `put_back` after somebody
    /// has put used batches back.
    Crash {
        draft: bool,
        put_back: bool,
    },
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        2 => (0u32..5).prop_map(|batches| Op::New { batches }),
        4 => any::<usize>().prop_map(|at| Op::Open { at }),
        6 => Just(Op::Take),
        1 => (0u32..6).prop_map(|to| Op::Advance { to }),
        2 => Just(Op::Begin),
        2 => Just(Op::Pass),
        1 => Just(Op::Close),
        1 => Just(Op::Destroy),
        2 => any::<(bool, bool)>().prop_map(|(draft, put_back)| Op::Crash { draft, put_back }),
    ];
    prop::collection::vec(op, 0..40)
}

/// A lot in the model.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Model {
    next: u32,
    batches: u32,
    pending: bool,
}

/// The store itself, and the model beside it.
struct Both {
    folder: Folder,
    store: Option<Store>,
    open: Option<(u64, OpenLot)>,
    model: BTreeMap<u64, Model>,
    made: u64,
    crashes: u32,
    /// Each batch that was given out.
    used: Vec<(u64, u32)>,
}

impl Both {
    fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    /// Ends a session in the model: pending lots and used up ones go.
    fn close(&mut self) {
        if let Some((number, lot)) = self.open.take() {
            drop(lot);
            if self.model[&number].pending || self.model[&number].next == self.model[&number].batches {
                self.model.remove(&number);
            }
        }
    }

    fn apply(&mut self, op: Op) {
        match op {
            Op::New { batches } => {
                fill(self.store(), self.made, batches, 100);
                self.model.insert(self.made, Model { next: 0, batches, pending: false });
                self.made += 100;
            }
            Op::Open { at } => {
                self.close();
                let usable: Vec<u64> = self.model.iter().filter(|(_, m)| m.next < m.batches).map(|(n, _)| *n).collect();
                if let Some(&number) = usable.get(at % usable.len().max(1)) {
                    self.open = Some((number, self.store().open_lot(&meta(number).id).unwrap()));
                }
            }
            Op::Close => self.close(),
            Op::Destroy => {
                if let Some((number, lot)) = self.open.take() {
                    lot.destroy().unwrap();
                    self.model.remove(&number);
                }
            }
            Op::Crash { draft, put_back } => self.crash(draft, put_back),
            Op::Take | Op::Advance { .. } | Op::Begin | Op::Pass => {
                let Some((number, lot)) = &mut self.open else { return };
                let model = self.model.get_mut(number).unwrap();
                match op {
                    Op::Take => {
                        let batch = next(lot).unwrap();
                        assert_eq!(batch.is_some(), model.next < model.batches);
                        if let Some(bytes) = batch {
                            assert!(bytes == content(*number + u64::from(model.next), 100));
                            self.used.push((*number, model.next));
                            model.next += 1;
                        }
                    }
                    Op::Advance { to } => {
                        let next = to.min(model.batches).max(model.next);
                        assert_eq!(lot.advance_to(to).unwrap(), next - model.next);
                        model.next = next;
                    }
                    Op::Begin => lot.check_begins().map(|()| model.pending = true).unwrap(),
                    _ => lot.check_passed().map(|()| model.pending = false).unwrap(),
                }
            }
        }
        let mut listed = self.model.clone();
        listed.retain(|_, m| m.next < m.batches && !m.pending);
        let lots = self.store().lots().unwrap();
        assert!(
            lots.iter().map(|d| (&d.meta.name, d.next, d.batches)).eq(listed
                .iter()
                .map(|(number, m)| (format!("program {number}"), m.next, m.batches))
                .collect::<Vec<_>>()
                .iter()
                .map(|(name, next, batches)| (name, *next, *batches)))
        );
    }

    fn crash(&mut self, draft: bool, put_back: bool) {
        self.crashes += 1;
        let image = crashed(&self.folder, &format!("lot-model-{}", self.crashes % 2));
        for (&number, model) in &self.model {
            if draft {
                fs::write(file(&image, number, "lot-partial"), b"half a rec").unwrap();
            }
            for used in (0..model.next).filter(|_| put_back) {
                fs::write(batch(&image, number, used), b"old").unwrap();
            }
        }
        // As the crash would: nothing of the old process runs on the new folder.
        (self.open, self.store) = (None, None);
        self.store = Some(image.store());
        self.folder = image;
        let mut destroyed = 0;
        self.model.retain(|_, m| {
            destroyed += usize::from(m.pending);
            !m.pending && m.next < m.batches
        });
        assert_eq!(self.store().destroyed().len(), destroyed);
        // Nothing is left of what is gone.
        let files = |m: &Model| 1 + (m.batches - m.next) as usize;
        let there = fs::read_dir(self.folder.path("store")).unwrap().count();
        assert_eq!(there, 2 + self.model.values().map(files).sum::<usize>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_store_is_as_its_model(ops in ops()) {
        let folder = Folder::new("lot-model");
        let store = Some(folder.store());
        let mut both = Both { folder, store, open: None, model: BTreeMap::new(), made: 0, crashes: 0, used: Vec::new() };
        ops.into_iter().for_each(|op| both.apply(op));
        let count = both.used.len();
        both.used.sort_unstable();
        both.used.dedup();
        prop_assert_eq!(both.used.len(), count, "a batch was given out twice");
    }
}

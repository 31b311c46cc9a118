//! Whatever is done to a store's deals, with crashes in between: it is as in a model of a few lines.

#[allow(dead_code, reason = "each test file uses a part")]
mod common;

use std::collections::BTreeMap;
use std::fs;

use comity_store::{Deal, Store};
use proptest::prelude::*;

use common::*;

#[derive(Clone, Debug)]
enum Op {
    New {
        blocks: u32,
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
    /// has put used blocks back.
    Crash {
        draft: bool,
        put_back: bool,
    },
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        2 => (0u32..5).prop_map(|blocks| Op::New { blocks }),
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

/// A deal in the model.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Model {
    next: u32,
    blocks: u32,
    pending: bool,
}

/// The real thing, and the model beside it.
struct Both {
    folder: Folder,
    store: Option<Store>,
    open: Option<(u64, Deal)>,
    model: BTreeMap<u64, Model>,
    made: u64,
    crashes: u32,
    /// Each block that was given out.
    used: Vec<(u64, u32)>,
}

impl Both {
    fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    /// What happens when a session ends: pending deals and used up ones go.
    fn close(&mut self) {
        if let Some((number, deal)) = self.open.take() {
            drop(deal);
            if self.model[&number].pending || self.model[&number].next == self.model[&number].blocks {
                self.model.remove(&number);
            }
        }
    }

    fn apply(&mut self, op: Op) {
        match op {
            Op::New { blocks } => {
                deal(self.store(), self.made, blocks, 100);
                self.model.insert(self.made, Model { next: 0, blocks, pending: false });
                self.made += 100;
            }
            Op::Open { at } => {
                self.close();
                let usable: Vec<u64> = self.model.iter().filter(|(_, m)| m.next < m.blocks).map(|(n, _)| *n).collect();
                if let Some(&number) = usable.get(at % usable.len().max(1)) {
                    self.open = Some((number, self.store().open_deal(&meta(number).id).unwrap()));
                }
            }
            Op::Close => self.close(),
            Op::Destroy => {
                if let Some((number, deal)) = self.open.take() {
                    deal.destroy().unwrap();
                    self.model.remove(&number);
                }
            }
            Op::Crash { draft, put_back } => self.crash(draft, put_back),
            Op::Take | Op::Advance { .. } | Op::Begin | Op::Pass => {
                let Some((number, deal)) = &mut self.open else { return };
                let model = self.model.get_mut(number).unwrap();
                match op {
                    Op::Take => {
                        let block = next(deal).unwrap();
                        assert_eq!(block.is_some(), model.next < model.blocks);
                        if let Some(bytes) = block {
                            assert!(bytes == content(*number + u64::from(model.next), 100));
                            self.used.push((*number, model.next));
                            model.next += 1;
                        }
                    }
                    Op::Advance { to } => {
                        let next = to.min(model.blocks).max(model.next);
                        assert_eq!(deal.advance_to(to).unwrap(), next - model.next);
                        model.next = next;
                    }
                    Op::Begin => deal.check_begins().map(|()| model.pending = true).unwrap(),
                    _ => deal.check_passed().map(|()| model.pending = false).unwrap(),
                }
            }
        }
        let mut listed = self.model.clone();
        listed.retain(|_, m| m.next < m.blocks && !m.pending);
        let deals = self.store().deals().unwrap();
        assert!(
            deals.iter().map(|d| (&d.meta.name, d.next, d.blocks)).eq(listed
                .iter()
                .map(|(number, m)| (format!("program {number}"), m.next, m.blocks))
                .collect::<Vec<_>>()
                .iter()
                .map(|(name, next, blocks)| (name, *next, *blocks)))
        );
    }

    fn crash(&mut self, draft: bool, put_back: bool) {
        self.crashes += 1;
        let image = crashed(&self.folder, &format!("deal-model-{}", self.crashes % 2));
        for (&number, model) in &self.model {
            if draft {
                fs::write(file(&image, number, "deal-partial"), b"half a rec").unwrap();
            }
            for used in (0..model.next).filter(|_| put_back) {
                fs::write(block(&image, number, used), b"old").unwrap();
            }
        }
        // As the crash would: nothing of the old process runs on the new folder.
        (self.open, self.store) = (None, None);
        self.store = Some(image.store());
        self.folder = image;
        let mut destroyed = 0;
        self.model.retain(|_, m| {
            destroyed += usize::from(m.pending);
            !m.pending && m.next < m.blocks
        });
        assert_eq!(self.store().destroyed().len(), destroyed);
        // Nothing is left of what is gone.
        let files = |m: &Model| 1 + (m.blocks - m.next) as usize;
        let there = fs::read_dir(self.folder.path("store")).unwrap().count();
        assert_eq!(there, 2 + self.model.values().map(files).sum::<usize>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_store_is_as_its_model(ops in ops()) {
        let folder = Folder::new("deal-model");
        let store = Some(folder.store());
        let mut both = Both { folder, store, open: None, model: BTreeMap::new(), made: 0, crashes: 0, used: Vec::new() };
        ops.into_iter().for_each(|op| both.apply(op));
        let count = both.used.len();
        both.used.sort_unstable();
        both.used.dedup();
        prop_assert_eq!(both.used.len(), count, "a block was given out twice");
    }
}

//! `Kept`: lots in memory, which note what they are told; `Stock`: such of several materials; and `Stocked`: runs
//! on these.

use std::collections::{BTreeMap, VecDeque};
use std::io::{Cursor, Read};
use std::sync::{Arc, Mutex};

use comity_circuit::Program;
use comity_core::{Params, Result, SessionId};
use comity_protocol::{
    Ahead, Card, Empty, Job, Lot, Need, Options, Party, Press, Protocol, Shelf, Supplies, WriteBatch,
};

/// A shelf in memory, of one material: it gives out batches in order, each once.
#[derive(Default)]
pub struct Kept {
    /// The material's name.
    pub material: &'static str,
    /// The lots that were put, each with the session in which it was made.
    pub lots: Vec<(SessionId, Lot)>,
    /// The batches that are left, of all lots.
    pub batches: VecDeque<Vec<u8>>,
    /// How often a batch was asked for.
    pub taken: usize,
    /// The checks: `(` where one began, `)` where it passed. A test may note in it what else happens in between.
    pub notes: Arc<Mutex<String>>,
}

impl Kept {
    /// A shelf of this material, with these batches.
    pub fn new(material: &'static str, batches: impl IntoIterator<Item = Vec<u8>>) -> Kept {
        Kept { material, batches: batches.into_iter().collect(), ..Kept::default() }
    }

    /// What was noted until now.
    ///
    /// # Panics
    /// If a thread panicked while it noted.
    pub fn notes(&self) -> String {
        self.notes.lock().expect("nobody panics while noting").clone()
    }

    fn note(&self, what: char) {
        self.notes.lock().expect("nobody panics while noting").push(what);
    }
}

impl Press for Kept {
    fn put(&mut self, me: &mut Party<'_, '_>, lot: &Lot, write: &mut WriteBatch<'_>) -> Result<()> {
        for batch in 0..lot.batches {
            let mut bytes = Vec::new();
            write(me, batch, &mut bytes)?;
            self.batches.push_back(bytes);
        }
        self.lots.push((me.here.session, lot.clone()));
        Ok(())
    }
}

impl Shelf for Kept {
    fn take(&mut self) -> Result<Option<Box<dyn Read + Send + '_>>> {
        self.taken += 1;
        Ok(self.batches.pop_front().map(|bytes| Box::new(Cursor::new(bytes)) as Box<dyn Read + Send>))
    }

    fn check_begins(&mut self) -> Result<()> {
        self.note('(');
        Ok(())
    }

    fn check_passed(&mut self) -> Result<()> {
        self.note(')');
        Ok(())
    }
}

impl Supplies for Kept {
    fn shelves(&mut self) -> BTreeMap<&'static str, &mut dyn Shelf> {
        BTreeMap::from([(self.material, self as &mut dyn Shelf)])
    }
}

/// Shelves in memory, one of each material.
#[derive(Default)]
pub struct Stock(pub Vec<Kept>);

impl Supplies for Stock {
    fn shelves(&mut self) -> BTreeMap<&'static str, &mut dyn Shelf> {
        self.0.iter_mut().map(|kept| (kept.material, kept as &mut dyn Shelf)).collect()
    }
}

impl Stock {
    /// Has a protocol make what a run of a program takes, each material in a session of its own.
    ///
    /// # Errors
    /// Those of the protocol.
    ///
    /// # Panics
    /// If it makes more or other material than it says.
    pub fn of(protocol: &dyn Protocol, me: &mut Party<'_, '_>, program: &Program, options: &Options) -> Result<Stock> {
        let mut stock = Stock::default();
        for need in protocol.needs(program, options, me.here.params)? {
            let mut kept = Kept::new(need.material, []);
            let ahead = Ahead { program: Some(program), options, make: &need, together: need.batches };
            protocol.prepare(&mut me.sub(need.material), &ahead, &mut Empty, &mut kept)?;
            assert_eq!(kept.batches.len() as u64, need.batches, "batches of {}", need.material);
            let bytes: usize = kept.batches.iter().map(Vec::len).sum();
            assert!(bytes as u64 <= need.bytes, "{} take {bytes} bytes", need.material);
            stock.0.push(kept);
        }
        Ok(stock)
    }

    /// Whether a run has used up all; of one batch alone it may have needed nothing.
    pub fn is_used_up(&self) -> bool {
        let left: usize = self.0.iter().map(|kept| kept.batches.len()).sum();
        left == 0 || left == 1 && self.0.len() == 1 && self.0[0].taken == 0
    }
}

/// A protocol whose runs first make their material, and then use it up.
pub struct Stocked<P>(pub P);

impl<P: Protocol> Protocol for Stocked<P> {
    fn card(&self) -> &'static Card {
        self.0.card()
    }

    fn fits(&self, program: &Program, options: &Options, params: Params) -> Result<()> {
        self.0.fits(program, options, params)
    }

    fn needs(&self, program: &Program, options: &Options, params: Params) -> Result<Vec<Need>> {
        self.0.needs(program, options, params)
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        let mut stock = Stock::of(&self.0, &mut me.sub("material"), job.program, job.options)?;
        self.0.run(me, job, &mut stock)?;
        assert!(stock.is_used_up(), "a run takes what it needs");
        Ok(())
    }
}

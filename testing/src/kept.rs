//! `Kept`: lots in memory, which note what they are told.

use std::collections::VecDeque;
use std::io::{Cursor, Read};

use comity_core::{Result, SessionId};
use comity_protocol::{Lot, Party, Press, Shelf, Supplies, WriteBatch};

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
    /// The checks: `(` where one began, `)` where it passed.
    pub notes: String,
}

impl Kept {
    /// A shelf of this material, with these batches.
    pub fn new(material: &'static str, batches: impl IntoIterator<Item = Vec<u8>>) -> Kept {
        Kept { material, batches: batches.into_iter().collect(), ..Kept::default() }
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
        self.notes.push('(');
        Ok(())
    }

    fn check_passed(&mut self) -> Result<()> {
        self.notes.push(')');
        Ok(())
    }
}

impl Supplies for Kept {
    fn shelf(&mut self, material: &str) -> Option<&mut dyn Shelf> {
        (material == self.material).then_some(self)
    }
}

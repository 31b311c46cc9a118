//! Material that is made ahead, in memory: the figures do not contain the time of a disk.

use std::collections::{BTreeMap, VecDeque};
use std::io::{Cursor, Read};

use comity_channel::Result;
use comity_protocol::{Lot, Party, Press, Shelf, Supplies, WriteBatch};

/// Batches of one material.
pub(crate) struct Kept {
    material: &'static str,
    pub(crate) batches: VecDeque<Vec<u8>>,
}

impl Kept {
    /// A shelf without batches of this material.
    pub(crate) fn of(material: &'static str) -> Kept {
        Kept { material, batches: VecDeque::new() }
    }
}

impl Press for Kept {
    fn put(&mut self, me: &mut Party<'_, '_>, lot: &Lot, write: &mut WriteBatch<'_>) -> Result<()> {
        for batch in 0..lot.batches {
            let mut bytes = Vec::new();
            write(me, batch, &mut bytes)?;
            self.batches.push_back(bytes);
        }
        Ok(())
    }
}

impl Shelf for Kept {
    fn take(&mut self) -> Result<Option<Box<dyn Read + Send + '_>>> {
        Ok(self.batches.pop_front().map(|bytes| Box::new(Cursor::new(bytes)) as Box<dyn Read + Send>))
    }

    fn check_begins(&mut self) -> Result<()> {
        Ok(())
    }

    fn check_passed(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Supplies for Kept {
    fn shelves(&mut self) -> BTreeMap<&'static str, &mut dyn Shelf> {
        BTreeMap::from([(self.material, self as &mut dyn Shelf)])
    }
}

//! Filling: lots that are made, and put into the store.

use comity_core::Result;
use comity_net::SystemRng;
use comity_protocol::{Lot, Party, Press, WriteBatch};
use comity_store::{Meta, Store};

use super::settle;

/// Lots of one material, on their way into the store.
pub(super) struct Filling<'s> {
    store: &'s Store,
    /// The meta of each lot, but for its id and size.
    meta: Meta,
    pub(super) stored_bytes: u64,
}

impl<'s> Filling<'s> {
    pub(super) fn new(store: &'s Store, meta: Meta) -> Filling<'s> {
        Filling { store, meta, stored_bytes: 0 }
    }
}

impl Press for Filling<'_> {
    fn put(&mut self, me: &mut Party<'_, '_>, lot: &Lot, write: &mut WriteBatch<'_>) -> Result<()> {
        let meta = Meta { id: me.here.session, units: lot.units.clone(), ..self.meta.clone() };
        let mut writer = self.store.new_lot(&meta, &mut SystemRng)?;
        (0..lot.batches).try_for_each(|batch| writer.batch(|out| write(me, batch, out)))?;
        self.stored_bytes += writer.finish()?;
        // The other parts are on their disks, too.
        settle(me.net, &meta.id, "stored")
    }
}

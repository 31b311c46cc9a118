//! Material: correlated randomness that is made before it is needed, lot by lot, and used up batch by batch.
//!
//! A *lot* is made together, under keys of its own, by all parties at once; a *batch* is what of it is used
//! up in one piece. A [`Dealer`] makes material, a [`Press`] takes lots of one kind and a [`Shelf`] gives one
//! out: whoever stores them sees to it that every batch is used at most once, at all parties the same one,
//! whatever crashes.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use comity_channel::{Channel, Mesh};
use comity_core::Result;

use crate::party::Party;

/// A kind of material that a protocol makes ahead.
#[derive(Debug)]
pub struct Material {
    /// The material's name, the same wherever it is used.
    pub name: &'static str,
    /// Whether the material is for one program, or for any.
    pub program: bool,
    /// The material that this one is made from, if enough of that is stored; `None` if there is no such
    /// material ([`Protocol::source`](crate::Protocol::source)).
    pub from: Option<&'static str>,
    /// The options that parties agree on and that the material depends on: a run that uses it must have the
    /// same values.
    pub options: &'static [&'static str],
    /// The units that the material is counted in. Users give amounts in the first one.
    pub units: &'static [&'static str],
}

/// An amount of one material: what a run uses up, or what an order asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The material's name.
    pub material: &'static str,
    /// The amount, in each of the material's units.
    pub units: Vec<u64>,
    /// The number of batches that the amount is in.
    pub batches: u64,
    /// The most that a party of two stores for it, in bytes
    /// ([`Protocol::stored_bytes`](crate::Protocol::stored_bytes) knows it for more).
    pub bytes: u64,
}

/// The greatest size of programs that are not known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramBound {
    /// Parties.
    pub parties: u16,
    /// AND gates at most.
    pub ands: u64,
    /// Wires at most, without those that are sums of others: the wires of inputs and outputs, and those
    /// behind AND gates.
    pub wires: u64,
}

/// A lot that is to be put on a shelf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lot {
    /// The amount in the lot, in each of the material's units.
    pub units: Vec<u64>,
    /// The number of batches that the amount is in.
    pub batches: u64,
}

/// Writes one batch of a lot, given the batch's number (from 0 on) and where it goes.
pub type WriteBatch<'w> = dyn FnMut(&mut Party<'_, '_>, u64, &mut dyn Write) -> Result<()> + 'w;

/// Keeps the lots of one material that all parties make ahead together.
pub trait Press: Send {
    /// Makes a lot and keeps it. `me` is the party in the lot's own session, in which all of it is made. When
    /// this returns all parties have their part on their disks, whole; after an error nobody uses it.
    ///
    /// # Errors
    /// Errors of `write`, of the channels, and of what stores it.
    fn put(&mut self, me: &mut Party<'_, '_>, lot: &Lot, write: &mut WriteBatch<'_>) -> Result<()>;
}

/// A lot of one material, which all parties use up alike.
pub trait Shelf: Send {
    /// The next batch of the lot that all parties chose, which from now on counts as used; `None` if none is
    /// left.
    ///
    /// # Errors
    /// If the batch cannot be read.
    fn take(&mut self) -> Result<Option<Box<dyn Read + Send + '_>>>;

    /// Notes that a check begins whose failure would spoil the rest of the lot. Called before the check's
    /// first message. If no [`Shelf::check_passed`] follows, no batch of the lot is used again, in no run.
    ///
    /// # Errors
    /// If this cannot be noted for good; the check is then not begun.
    fn check_begins(&mut self) -> Result<()>;

    /// The check that began has passed.
    ///
    /// # Errors
    /// If this cannot be noted for good.
    fn check_passed(&mut self) -> Result<()>;
}

/// Supplies: the material and the helper that a run or a preparation can use, besides the parties.
pub trait Supplies {
    /// The shelves that are to be used, by their materials' names.
    fn shelves(&mut self) -> BTreeMap<&'static str, &mut dyn Shelf>;

    /// The shelf of this material, if there is one to be used.
    fn shelf(&mut self, material: &str) -> Option<&mut dyn Shelf> {
        self.shelves().remove(material)
    }

    /// The helper at the address that an option gives. A helper is not a party; a token is one.
    fn helper(&mut self) -> Option<&mut dyn Channel> {
        None
    }

    /// The fingerprint by which this party knows another one's helper, if an option says it.
    fn helper_key(&self) -> Option<[u8; 32]> {
        None
    }
}

/// No supplies: all is made in the run.
#[derive(Clone, Copy, Debug)]
pub struct Empty;

impl Supplies for Empty {
    fn shelves(&mut self) -> BTreeMap<&'static str, &mut dyn Shelf> {
        BTreeMap::new()
    }
}

/// Makes correlated randomness of one kind: from OT, from a shelf, from a helper, in tests from nowhere.
///
/// It has its own randomness and its own session, or its material already. It only lacks the links: a dealer
/// for two takes its link by [`Mesh::pair`].
pub trait Dealer: Send {
    /// The type of what it makes in one call.
    type Batch;

    /// Makes at least `at_least` units. All parties ask for the same amounts, in the same order. After an
    /// error the dealer must not be used again.
    ///
    /// # Errors
    /// Errors of the channels and of the dealer's checks: then nothing is given out.
    fn deal(&mut self, net: &mut Mesh<'_>, at_least: usize) -> Result<Self::Batch>;

    /// As [`Shelf::check_begins`], for a dealer whose keys outlive a run.
    ///
    /// # Errors
    /// If this cannot be noted.
    fn check_begins(&mut self) -> Result<()> {
        Ok(())
    }

    /// As [`Shelf::check_passed`].
    ///
    /// # Errors
    /// If this cannot be noted.
    fn check_passed(&mut self) -> Result<()> {
        Ok(())
    }
}

//! What garbling asks of others: a protocol for bits, and the products of its bits with every party's offset.

use comity_channel::{Mesh, PerPeer};
use comity_circuit::Recipients;
use comity_core::{Bits, Block, PartyId, Result};
use comity_share::Beside;
use zeroize::Zeroizing;

/// The functionality of figure 4, for malicious adversaries: bits that are stored, added, multiplied and
/// opened, and of which each party has an additive share.
///
/// A party holds a bit as a *row* of blocks, of which bit 0 of the first is its additive share. Rows of
/// several bits follow one another, and a sum of rows is a row of the sum (*Add*).
///
/// All parties make the same calls in the same order. After an error nothing of it is used again.
pub trait BitMpc {
    /// Blocks of a row.
    fn width(&self) -> usize;

    /// This party's row of the constant one.
    fn one(&self) -> Vec<Block>;

    /// *Input* of random bits by all parties, added up: rows of bits that nobody knows.
    ///
    /// # Errors
    /// Errors of the channels and of checks.
    fn random(&mut self, net: &mut Mesh<'_>, rows: &mut [Block]) -> Result<()>;

    /// *Input* of random bits by `owner`: their rows, and at the owner the bits. The others' shares may be
    /// zero.
    ///
    /// # Errors
    /// Errors of the channels and of checks.
    fn random_of(&mut self, net: &mut Mesh<'_>, owner: PartyId, rows: &mut [Block]) -> Result<Option<Bits>>;

    /// *Multiply* and *Open*, side by side, and beside them another message, of which what was heard is
    /// returned. The rows of the products `u v` may be false, and the values of what is opened are not there,
    /// before it is [settled](BitMpc::settle).
    ///
    /// # Errors
    /// Errors of the channels and of checks.
    fn products(
        &mut self,
        net: &mut Mesh<'_>,
        factors: [&[Block]; 2],
        products: &mut [Block],
        opened: &[MaskOpening<'_>],
        beside: &Beside,
    ) -> Result<PerPeer<Vec<u8>>>;

    /// Checks all that was said since the last time, at the same time as another message, which does no harm
    /// if something was false. Returns what of it was heard, and the values of all that was opened, in order,
    /// each of which is there if this party is to learn it. When it returns, every check has passed, at this
    /// party.
    ///
    /// # Errors
    /// Errors of the channels and of checks.
    fn settle(&mut self, net: &mut Mesh<'_>, beside: &Beside) -> Result<SettledBeside>;

    /// Notes that a check begins on which what is kept of these bits depends: unless it passes, none of that
    /// is used again. What is kept nowhere notes nothing.
    ///
    /// # Errors
    /// Those of where it is kept.
    fn check_begins(&mut self) -> Result<()> {
        Ok(())
    }

    /// Notes that the check has passed.
    ///
    /// # Errors
    /// As [`BitMpc::check_begins`].
    fn check_passed(&mut self) -> Result<()> {
        Ok(())
    }
}

/// How XOR gates are garbled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Xor {
    /// Not at all: a party has one offset between the two keys of every wire, and the sum of keys is a key of
    /// the sum.
    Free,
    /// In rows, as AND gates are: each wire has offsets of its own, and keys that have nothing in common with
    /// those of other wires.
    Garbled,
}

/// A protocol for bits whose bits are multiplied by the offsets of garbling: figure 8, or Claim 41.
pub trait Masks: BitMpc {
    /// How XOR gates are garbled: all parties' masks say the same.
    fn xor(&self) -> Xor {
        Xor::Free
    }

    /// This party's offset `R`, whose bit 0 is one. The peers know nothing of the other bits, but for one
    /// guess or two. Zero if wires have their own.
    fn offset(&self) -> Block;

    /// This party's offsets of `wires` more wires, which are uniform and unknown to the peers: they are counted
    /// from the last [products with offsets](Masks::times_offsets) on. With one offset for all wires none.
    ///
    /// # Errors
    /// Errors of the channels and of checks.
    fn new_offsets(&mut self, net: &mut Mesh<'_>, wires: usize) -> Result<Zeroizing<Vec<Block>>> {
        let _ = (net, wires);
        Ok(Zeroizing::default())
    }

    /// Says, before the first products, that until they are checked nothing leaves that depends on an input:
    /// their check may then show what would tell the offset to a party that lies in it.
    fn ahead_of_inputs(&mut self) {}

    /// Shares of the products of bits with the offsets of all parties, from their rows: of a bit `x` a block
    /// for each party `j`; these blocks add up to `x R^j` over the parties, if the bits are right. `wires`
    /// has the number of the wire of each bit, if wires have offsets of their own. When it returns, every
    /// check of what else was said for this has passed, at this party.
    ///
    /// # Errors
    /// Errors of the channels and of checks.
    fn times_offsets(
        &mut self,
        net: &mut Mesh<'_>,
        rows: Zeroizing<Vec<Block>>,
        wires: &[usize],
    ) -> Result<Zeroizing<Vec<Block>>>;
}

/// The values that were opened, each of which is there if this party is to learn it, and what was heard
/// beside their check.
pub type SettledBeside = (Vec<Option<Bits>>, PerPeer<Vec<u8>>);

/// Bits that are to be opened, one recipient at least.
#[derive(Clone, Copy)]
pub struct MaskOpening<'a> {
    /// The rows of the bits.
    pub rows: &'a [Block],
    /// Those who learn them, and nobody else does.
    pub to: Recipients,
}

/// Says what goes beside, where there is nothing else to say, and hears the others'. One round.
pub(crate) fn said_beside(net: &mut Mesh<'_>, beside: &Beside) -> Result<PerPeer<Vec<u8>>> {
    let mut heard = PerPeer::new(net.me(), net.parties(), |peer| vec![0; beside.lengths[peer]]);
    net.exchange(&beside.out, &mut heard)?;
    Ok(heard)
}

//! Short items: what permutation-based hashing leaves of them.

use comity_core::{Block, Error, Result};
use comity_hashing::Permutation;
use comity_protocol::Party;

use crate::bins::{FUNCTION_BITS, Placed};
use crate::digest::DigestKey;
use crate::set::Set;
use crate::sizes::Sizes;

/// Tosses the digests' key, cuts the digests to the bits that it takes to tell all items apart, and puts them
/// into `bins` bins, where they have at most `most` bits with the two of the function.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) if they have more; those of the coin.
pub(crate) fn place(me: &mut Party<'_, '_>, set: &Set<'_>, sizes: Sizes, bins: u32, most: u32) -> Result<Placed> {
    let key = DigestKey::toss(me)?;
    let bits = sizes.item_bits();
    let function = Block::new(*key.child("permutation").first_chunk().expect("32 bytes"));
    let permutation = Permutation::new(me.here.backend, function, bins);
    let rest_bits = Permutation::rest_bits(bins, bits);
    fits(rest_bits + FUNCTION_BITS, most, bits)?;
    let mut digests = key.digests(me.rng, set);
    me.observer.phase("hashing");
    digests.iter_mut().for_each(|digest| *digest >>= 128 - bits);
    let mut placed = Placed::room(digests.len(), rest_bits, bins);
    permutation.shorten(&digests, |short| placed.push(short));
    Ok(placed)
}

/// Checks that short items are not too long.
fn fits(bits: u32, most: u32, item: u32) -> Result<()> {
    if bits > most {
        return Err(Error::invalid_input(format!(
            "items of {item} bits are {bits} bits in their bins, and this method takes {most}: one set is far larger than the other, \
             or the statistical parameter too high; take kkrt"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_refused() {
        assert!(fits(76, 76, 90).is_ok());
        assert!(fits(77, 76, 91).unwrap_err().to_string().contains("77 bits in their bins"));
    }
}

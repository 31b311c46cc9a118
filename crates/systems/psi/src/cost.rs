//! What a run costs, by formulas: they are held to what runs send.

use comity_hashing::{DENSE, FUNCTIONS, Permutation, ROOMY, bins};
use comity_ot::one_of_n::{Kk13, OneOfN};

use crate::bins::{Digits, FUNCTION_BITS};
use crate::code::MaskList;
use crate::method::Method;
use crate::payload::TAG;
use crate::phasing;
use crate::sizes::Sizes;

/// Bits that the receiver sends for a 1-out-of-N OT.
const OT_BITS: u64 = 512;

/// OTs are made in blocks of so many.
const BLOCK: u64 = 128;

/// The counts of a run. Terms, the coin and the set-up of the OTs are not in them: some 20 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodCost {
    /// Bins of the receiver's table.
    pub bins: u64,
    /// OTs, one or several a bin.
    pub ots: u64,
    /// Points at which the sender evaluates an OT.
    pub evaluations: u64,
    /// Masks that the sender sends.
    pub masks: u64,
    /// The bits of a mask.
    pub mask_bits: u32,
    /// Bytes from the receiver: OTs, rounded up to whole blocks.
    pub from_receiver: u64,
    /// Bytes from the sender: coded masks, and payload with its tags.
    pub from_sender: u64,
}

impl Method {
    /// The cost of a run between sets that are told to have these sizes, with payload of so many bytes an item and the statistical
    /// parameter rho; none for a method whose cost is that of a program.
    pub fn cost(self, sender: usize, receiver: usize, payload: usize, rho: u32) -> Option<MethodCost> {
        let sizes = Sizes { sender, receiver, rho };
        let (percent, digits) = match self {
            Method::Kkrt => (ROOMY, Digits::WHOLE),
            Method::OtBch => (DENSE, Digits::WHOLE),
            Method::Phasing => {
                let rest = Permutation::rest_bits(bins(receiver, ROOMY), sizes.item_bits());
                (ROOMY, phasing::digits(rest + FUNCTION_BITS))
            }
            Method::Vole | Method::Circuit | Method::OprfAes => return None,
        };
        let (bins, digits) = (u64::from(bins(receiver, percent)), digits.count as u64);
        let call = Kk13::CHUNK as u64 / digits * digits;
        let ots = bins * digits;
        let blocks = ots / call * call.div_ceil(BLOCK) + (ots % call).div_ceil(BLOCK);
        let masks = (FUNCTIONS * sender) as u64;
        let mask_bits = sizes.mask_bits(FUNCTIONS);
        let sealed = if payload == 0 { 0 } else { (payload + TAG) as u64 };
        Some(MethodCost {
            bins,
            ots,
            evaluations: masks * digits,
            masks,
            mask_bits,
            from_receiver: blocks * BLOCK * OT_BITS / 8,
            from_sender: FUNCTIONS as u64 * MaskList::new(sender, mask_bits).len() as u64 + masks * sealed,
        })
    }
}

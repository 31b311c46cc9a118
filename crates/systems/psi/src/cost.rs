//! What a run costs, by formulas: they are held to what runs send.

use comity_hashing::{DENSE, FUNCTIONS, Permutation, ROOMY, bins};
use comity_okvs::{Okvs, Sparse};
use comity_ot::one_of_n::{Kk13, OneOfN};
use comity_ot::{Malicious, SemiHonest, softspoken};
use comity_protocol::Adversary;

use crate::bins::{Digits, FUNCTION_BITS};
use crate::circuit;
use crate::code::MaskList;
use crate::method::Method;
use crate::oprf;
use crate::payload::TAG;
use crate::phasing;
use crate::sizes::Sizes;
use crate::terms::Terms;

/// Bits that the receiver sends for a 1-out-of-N OT.
const OT_BITS: u64 = 512;

/// The number of OTs of a block, in which they are made.
const BLOCK: u64 = 128;

/// The counts of a run, without terms, coin and the set-up of the OTs: some 20 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodCost {
    /// Bins of the receiver's table, or columns of its key-value store.
    pub bins: u64,
    /// OTs: one or several a bin, or one for each bit of an input. Those below a vector OLE are not counted.
    pub ots: u64,
    /// Points at which the sender evaluates its function.
    pub evaluations: u64,
    /// Masks that the sender sends.
    pub masks: u64,
    /// The bits of a mask.
    pub mask_bits: u32,
    /// Bytes from the receiver: OTs, rounded up to whole blocks; or the vector OLE and the key-value store;
    /// or OTs and questions.
    pub from_receiver: u64,
    /// Bytes from the sender: coded masks, and payload with its tags; its part of the vector OLE; circuits
    /// and answers.
    pub from_sender: u64,
}

impl Method {
    /// The cost of a run between sets of these announced sizes, with a payload for each item and the
    /// statistical parameter rho; `None` for a method that runs a program: it costs what the program costs.
    pub fn cost(
        self,
        adversary: Adversary,
        (sender, receiver): (usize, usize),
        payload: usize,
        rho: u32,
    ) -> Option<MethodCost> {
        let sizes = Sizes { sender, receiver, rho };
        let sealed = if payload == 0 { 0 } else { (payload + TAG) as u64 };
        let (percent, digits) = match self {
            Method::Kkrt => (ROOMY, Digits::WHOLE),
            Method::OtBch => (DENSE, Digits::WHOLE),
            Method::Phasing => {
                let rest = Permutation::rest_bits(bins(receiver, ROOMY), sizes.item_bits());
                (ROOMY, phasing::digits(rest + FUNCTION_BITS))
            }
            Method::Vole => return vole(adversary, sizes, sealed),
            Method::OprfAes => return oprf(sizes, sealed),
            Method::Circuit => return None,
        };
        let (bins, digits) = (u64::from(bins(receiver, percent)), digits.count as u64);
        let call = Kk13::CHUNK as u64 / digits * digits;
        let ots = bins * digits;
        let blocks = ots / call * call.div_ceil(BLOCK) + (ots % call).div_ceil(BLOCK);
        let masks = (FUNCTIONS * sender) as u64;
        let mask_bits = sizes.mask_bits(FUNCTIONS);
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

impl Terms {
    /// The most items that a cheating party can have compared, given the sizes that the sender and the
    /// receiver announced. `sends` says whether the cheat is the sender. `None` if the method is only for
    /// semi-honest parties.
    ///
    /// *`vole`*: a receiver's vector needs at least a column for each item that it shall find, and linear
    /// algebra finds a vector that has as many items as columns: 1,470 for a set of at most 1,024. Twice as
    /// many are the proven bound. A sender has one mask for each item. *`circuit`*: an item for each slot of
    /// a bin.
    pub fn reach(&self, sends: bool, (sender, receiver): (usize, usize), rho: u32) -> Option<usize> {
        let sizes = Sizes { sender, receiver, rho };
        match (self.adversary, self.method, sends) {
            (Adversary::SemiHonest, ..) => None,
            (_, Method::Vole, false) => Some(Sparse::columns(receiver)),
            (_, Method::Vole, true) => Some(sender),
            (_, Method::Circuit, sends) => circuit::slots(sizes, sends),
            (_, Method::Kkrt | Method::OtBch | Method::Phasing | Method::OprfAes, _) => None,
        }
    }
}

/// The cost of an OKVS over a vector OLE.
fn vole(adversary: Adversary, sizes: Sizes, sealed: u64) -> Option<MethodCost> {
    let columns = Sparse::columns(sizes.receiver);
    let ([from_receiver, from_sender], mask_bits) = match adversary {
        Adversary::SemiHonest => (comity_vole::bytes::<SemiHonest>(columns), sizes.mask_bits(1)),
        Adversary::Malicious => (comity_vole::bytes::<Malicious>(columns), 128),
    };
    let masks = sizes.sender as u64;
    Some(MethodCost {
        bins: columns as u64,
        ots: 0,
        evaluations: masks,
        masks,
        mask_bits,
        from_receiver: from_receiver + 16 * columns as u64,
        from_sender: from_sender + MaskList::new(sizes.sender, mask_bits).len() as u64 + masks * sealed,
    })
}

/// The cost of a garbled AES for each item of the receiver.
fn oprf(sizes: Sizes, sealed: u64) -> Option<MethodCost> {
    let (queries, masks, mask_bits) = (sizes.receiver as u64, sizes.sender as u64, sizes.mask_bits(1));
    let [mut from_receiver, mut from_sender] = oprf::OPRF_ONLINE.map(|bytes| bytes as u64 * queries);
    for from in (0..sizes.receiver).step_by(oprf::OPRF_TOGETHER) {
        let ots = 128 * oprf::OPRF_TOGETHER.min(sizes.receiver - from);
        let [receiver, sender] = softspoken::random_bytes::<Malicious>(oprf::LEVELS, ots);
        from_receiver += receiver;
        from_sender += sender;
    }
    from_sender += oprf::OPRF_TABLES as u64 * queries;
    Some(MethodCost {
        bins: 0,
        ots: 128 * queries,
        evaluations: masks,
        masks,
        mask_bits,
        from_receiver,
        from_sender: from_sender + MaskList::new(sizes.sender, mask_bits).len() as u64 + masks * sealed,
    })
}

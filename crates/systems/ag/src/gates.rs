//! The AND gates of a chunk: shares of their masks, what garbling adds to their rows, and what the circuit
//! check looks at.

use std::ops::Range;

use comity_core::{Block, PartyId};
use comity_share::{GlobalKey, Share};
use comity_triples::Triple;
use zeroize::Zeroize;

/// One party's shares for the AND gates of a chunk. Wiped on drop.
#[derive(Default)]
pub(crate) struct Gates {
    /// The masks of both inputs.
    pub(crate) inputs: [Vec<Share>; 2],
    /// The masks of the outputs.
    pub(crate) outputs: Vec<Share>,
    /// The products of the inputs' masks, each plus the mask of the output.
    pub(crate) products: Vec<Share>,
}

impl Gates {
    /// Makes room for `ands` gates. The old content is lost.
    pub(crate) fn resize(&mut self, ands: usize) {
        for shares in self.inputs.iter_mut().chain([&mut self.outputs, &mut self.products]) {
            if shares.capacity() < ands {
                // Memory that is moved is not wiped where it was.
                shares.zeroize();
            }
            shares.resize(ands, Share::default());
        }
    }

    /// The number of gates.
    pub(crate) fn len(&self) -> usize {
        self.outputs.len()
    }
}

impl Drop for Gates {
    fn drop(&mut self) {
        self.inputs.zeroize();
        self.outputs.zeroize();
        self.products.zeroize();
    }
}

/// A party's part of constants, and of `x R` under the garbler's key `R`.
#[derive(Clone)]
pub(crate) struct Algebra {
    pub(crate) me: PartyId,
    pub(crate) garbles: bool,
    pub(crate) key: GlobalKey,
}

impl Algebra {
    /// A share of the constant `bit`, which goes to party 0's share.
    pub(crate) fn constant(&self, bit: bool) -> Share {
        let zero = Share::default();
        if self.me.0 == 0 { zero.add_to_own(bit) } else { zero.add_to_theirs(bit, &self.key) }
    }

    /// The garbler's `Z(x)`, or the evaluator's `M(x)`: their sum is `x R`. Bit 0 is this party's share of `x`.
    #[inline(always)]
    fn term(&self, share: Share) -> Block {
        if self.garbles { share.expected(share.bit(), &self.key) } else { share.mac() }
    }

    /// The terms of some gates, as the kernels want them: of all first inputs, of all second ones, of all products.
    pub(crate) fn terms(&self, gates: &Gates, range: Range<usize>, terms: &mut [Block]) {
        let [first, second] = &gates.inputs;
        let from = [&first[range.clone()], &second[range.clone()], &gates.products[range.clone()]];
        for (shares, terms) in from.into_iter().zip(terms.chunks_exact_mut(range.len().max(1))) {
            for (term, &share) in terms.iter_mut().zip(shares) {
                *term = self.term(share);
            }
        }
    }

    /// The products of the inputs' masks, by Beaver's trick, plus the outputs' masks: `c + d b + e a + d e + l_w`.
    pub(crate) fn multiply(&self, gates: &mut Gates, triples: &[Triple], opened: [&[u8]; 2]) {
        let one = self.constant(true);
        let sums = gates.products.iter_mut().zip(&gates.outputs).zip(triples);
        for (i, ((product, &output), &Triple { a, b, c })) in sums.enumerate() {
            let [d, e] = opened.map(|bits| bits[i / 8] >> (i % 8) & 1 == 1);
            *product = c ^ b.masked(d) ^ a.masked(e) ^ one.masked(d & e) ^ output;
        }
    }

    /// The shares that the circuit check compares: for each of some gates that of
    /// `(a + l_u)(b + l_v) + c + l_w`, where `a`, `b` and `c` are the public masked values of its inputs and
    /// its output. The value is zero, so the peer's share is this party's. Returned are the garbler's MAC on
    /// it and the evaluator's: this party has one of them and computes the other by its key.
    pub(crate) fn checked(&self, gates: &Gates, masked: &Masked, range: Range<usize>, macs: &mut Vec<[Block; 2]>) {
        let one = self.constant(true);
        macs.clear();
        let [first, second] = gates.inputs.each_ref().map(|shares| &shares[range.clone()]);
        let inputs = first.iter().zip(second).zip(&gates.products[range.clone()]);
        let [a, b] = masked.inputs.each_ref().map(|bits| &bits[range.clone()]);
        let bits = a.iter().zip(b).zip(&masked.outputs[range]);
        macs.extend(inputs.zip(bits).map(|(((&u, &v), &product), ((&a, &b), &c))| {
            let sum = product ^ v.masked(a == 1) ^ u.masked(b == 1) ^ one.masked(a & b ^ c == 1);
            let (own, theirs) = (sum.mac(), sum.expected(sum.bit(), &self.key));
            if self.garbles { [own, theirs] } else { [theirs, own] }
        }));
    }
}

/// The masked values of a chunk's AND gates: zeros and ones.
#[derive(Default)]
pub(crate) struct Masked {
    pub(crate) inputs: [Vec<u8>; 2],
    pub(crate) outputs: Vec<u8>,
}

impl Masked {
    /// Makes room for `ands` gates.
    pub(crate) fn resize(&mut self, ands: usize) {
        self.inputs.iter_mut().chain([&mut self.outputs]).for_each(|bits| bits.resize(ands, 0));
    }
}

/// Packs bits, eight to a byte.
pub(crate) fn pack(bits: impl ExactSizeIterator<Item = bool>) -> Vec<u8> {
    let mut bytes = vec![0; bits.len().div_ceil(8)];
    bits.enumerate().for_each(|(i, bit)| bytes[i / 8] |= u8::from(bit) << (i % 8));
    bytes
}

/// The packed bits one by one: zeros and ones.
pub(crate) fn unpack(bytes: &[u8], bits: usize) -> impl Iterator<Item = u8> + '_ {
    (0..bits).map(|i| bytes[i / 8] >> (i % 8) & 1)
}

//! How much noise there is, how large the instances of LPN are, and what the known attacks on them cost.

use comity_ot::silent;
use comity_ot::softspoken::{self, Checking};

use crate::COT_K;

/// Sizes of a run, which follow from the number of elements alone.
///
/// **Dual LPN** (stage 1). A linear test of the outputs is a word of the code; noise of `t` blocks, each an
/// element of GF(2^128) at a random place, misses a word of relative weight `d` with probability `(1 - d)^t`,
/// or its bits do: a test over GF(2) sees a random element as zero half of the time, and so gains
/// `(1 - 2 d / 2)^t`, as much. `t = 398` is 128 bits for `d = 0.2`. Whether the code has no lighter words is
/// not proven: a random code of rate 1/2 has some of weight 0.11. What counts is what can be found.
/// [`prange`](LpnSizes::prange) finds weight 1/4 at once, and for weight 0.24 of 2^17 outputs takes 2^150
/// trials. Information-set decoding of single bits, which is the same attack seen from the other side, costs
/// 2^165 here.
///
/// **Primal LPN** (stage 2). [Silent OT](comity_ot::silent::Parameters) tells how attacks are counted;
/// [`security`](LpnSizes::security) has 130.9 bits for the largest iteration, and 135.6 for 2^20 elements in
/// an OKVS. Over GF(2^128) noise has no known value, which takes an equation a block from the attacks.
/// *Single bits.* An attacker may look at `r` bits of each output that need `(1 + 1/r) k` unknown bits an
/// equation, since half of the elements have a factor of x, and that are all free of noise with probability
/// `2^-r` even where noise is. For `r = 1` that doubles the unknowns and halves the noise: the same where
/// nothing else is done, and with errors that are put up with still eight bits more than elements take. For
/// more it is worse for the attacker. Tests have both.
///
/// No published estimates cover this code: these are our own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LpnSizes {
    /// Blocks with noise of stage 1, at least.
    pub(crate) noise: usize,
    /// Elements of the secret of stage 2.
    pub(crate) dimension: usize,
    /// log2 of the outputs of a block of stage 2.
    pub(crate) depth: usize,
    /// Blocks of an iteration of stage 2, at most.
    pub(crate) blocks: usize,
}

/// The sizes of a run's steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Blocks of stage 1, and log2 of their length.
    pub(crate) dual: (usize, usize),
    /// Outputs of stage 1.
    pub(crate) first: usize,
    /// Blocks of each iteration of stage 2.
    pub(crate) iterations: Vec<usize>,
}

impl LpnSizes {
    /// The parameters of all runs.
    pub const STANDARD: LpnSizes = LpnSizes { noise: 398, dimension: 122 << 10, depth: 10, blocks: 1728 };

    /// The sizes of the steps of a run for `n` elements.
    pub(crate) fn plan(&self, n: usize) -> Plan {
        let mut iterations = Vec::new();
        // As many as stage 2 would start from stage 1 makes by itself.
        if n > self.dimension {
            let mut left = n;
            while left > self.blocks << self.depth {
                iterations.push(self.blocks);
                left -= (self.blocks << self.depth) - self.reserved(self.blocks);
            }
            iterations.push(left.div_ceil(1 << self.depth));
        }
        let first = iterations.first().map_or(n.max(1), |&blocks| self.reserved(blocks));
        let depth = (2 * first / self.noise).max(8).ilog2() as usize;
        Plan { dual: (self.noise.max((2 * first).div_ceil(1 << depth)), depth), first, iterations }
    }

    /// Elements that an iteration of `blocks` blocks starts from: the secret, a product for each block, and
    /// one that masks the check.
    pub(crate) fn reserved(&self, blocks: usize) -> usize {
        self.dimension + blocks + 1
    }

    /// log2 of the bit operations of the cheapest known attack on an iteration of stage 2 with `blocks`
    /// blocks: on elements, or on one bit of each.
    pub fn security(&self, blocks: usize) -> f64 {
        let elements = silent::Parameters::new(blocks, self.depth, self.dimension).security_of_elements();
        elements.min(silent::Parameters::new(blocks, self.depth, 2 * self.dimension).sparse_enumeration(0.5))
    }

    /// log2 of the trials until Prange's algorithm finds a word of relative weight `weight` in a random code
    /// of rate 1/2 and length `length`: those whose information set has the expected share of it have weight
    /// 1/4.
    pub fn prange(length: f64, weight: f64) -> f64 {
        let entropy = |p: f64| -p * p.log2() - (1.0 - p) * (1.0 - p).log2();
        length / 2.0 * (1.0 - entropy(2.0 * weight))
    }
}

/// The bytes of `n` products with delta: from the receiver, and from the sender. The set-up of the OTs is not
/// counted.
pub fn bytes<M: Checking>(n: usize) -> [u64; 2] {
    let plan = LpnSizes::STANDARD.plan(n);
    let checked = u64::from(M::MALICIOUS);
    let (blocks, depth) = plan.dual;
    // The products' differences, and in the malicious model the answer and the challenge; then the codes' nonce.
    let products = (blocks as u64 + 1 + checked) * 16 * 128;
    let mut all = [products + 32 * checked + 16, 16 * checked];
    let later = plan.iterations.iter().map(|&blocks| (blocks, LpnSizes::STANDARD.depth));
    for (trees, depth) in [(blocks, depth)].into_iter().chain(later) {
        let [receiver, sender] = softspoken::random_bytes::<M>(COT_K, trees * depth);
        // The nonce and a block for each level; the check's challenge and answer.
        all[0] += receiver + 32 * checked;
        all[1] += sender + 16 + (16 * trees * depth) as u64 + 32 * checked;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_make_what_is_wanted() {
        let it = LpnSizes::STANDARD;
        for n in [0, 1, 1000, 1474, 124_928, 124_929, 1_355_904, 1_769_472, 1_769_473, 5_000_000, 40_000_000] {
            let Plan { dual: (blocks, depth), first, iterations } = it.plan(n);
            assert!(
                blocks >= it.noise && blocks < 2 * it.noise + 2 && depth >= 3 && blocks << depth >= 2 * first,
                "{n}"
            );
            let mut made = 0;
            for (i, &blocks) in iterations.iter().enumerate() {
                assert!(blocks <= it.blocks);
                let next = iterations.get(i + 1).map_or(0, |_| it.reserved(it.blocks));
                made += (blocks << it.depth) - next;
            }
            assert!(if iterations.is_empty() { first >= n } else { made >= n && made - n < 1 << it.depth }, "{n}");
        }
        // Products of 2^20 elements in an OKVS.
        assert_eq!(it.plan(1_355_904), Plan { dual: (494, 9), first: 126_254, iterations: vec![1325] });
    }

    #[test]
    fn dual_instances_withstand_what_is_known() {
        let t = LpnSizes::STANDARD.noise as f64;
        assert!(-t * 0.8f64.log2() >= 128.0);
        // Information-set decoding of a bit: half of the outputs, of which noise spares one with probability 3/4.
        assert!((-t * 0.75f64.log2() - 165.2).abs() < 0.1);
        assert!(LpnSizes::prange((1 << 18) as f64, 0.24) > 150.0);
    }

    #[test]
    fn primal_instances_withstand_what_is_known() {
        let it = LpnSizes::STANDARD;
        for blocks in [123, 200, 500, 1000, 1325, it.blocks] {
            let security = it.security(blocks);
            assert!(security >= 130.0, "{blocks} blocks: {security}");
        }
        assert!((it.security(it.blocks) - 130.9).abs() < 0.1 && (it.security(1325) - 135.6).abs() < 0.1);
        // As they were before errors were put up with: 13 bits less than was said.
        let before = LpnSizes { dimension: 116 << 10, blocks: 2208, ..it };
        assert!((before.security(before.blocks) - 121.1).abs() < 0.1);
        // Over GF(2) a bit has half the noise, and the margin of guessing outputs without noise is half.
        for r in 1..128 {
            let r = f64::from(r);
            assert!((1.0 + 1.0 / r) * (1.0 - (-r).exp2()) >= 1.0, "{r} bits");
        }
    }
}

//! `WaBit`: authenticated bits with a weak key (figures 8 and 11).
//!
//! LaBit's matrices read by columns. The offerer's `Gamma` becomes its bits `x_j`; column `j` of the kept `L` is the
//! MAC on `x_j`, and column `j` of the chooser's `N` the key, under the key `Gamma_A = y_1 ... y_tau` of which some
//! bits may have leaked: `N_i = L_i + y_i Gamma` is, in column `j`, `K_j = M_j + x_j Gamma_A`. Local and free (theorem
//! 3): nothing is copied.

use super::labit::{LaBit, Rows};

/// One party's half of one direction: MACs or keys of `tau` bits, a row for each of their bits.
#[derive(Clone, Copy)]
pub(super) struct Half<'a> {
    rows: &'a Rows,
    kept: &'a [usize],
}

impl<'a> Half<'a> {
    /// Bits of a MAC, or key.
    pub(super) fn tau(&self) -> usize {
        self.kept.len()
    }

    /// The number of authenticated bits.
    pub(super) fn columns(&self) -> usize {
        self.rows.columns()
    }

    /// Bit `i` of all MACs, or keys.
    pub(super) fn row(&self, i: usize) -> &'a [u8] {
        self.rows.get(self.kept[i])
    }
}

impl LaBit {
    /// The MACs on this party's bits, which are `gamma`.
    pub(super) fn macs(&self) -> Half<'_> {
        Half { rows: &self.offered, kept: &self.offered_kept }
    }

    /// The keys to the peer's bits; `y` is the global key.
    pub(super) fn keys(&self) -> Half<'_> {
        Half { rows: &self.chosen, kept: &self.chosen_kept }
    }
}

//! Where the published counts stand.

pub(super) const BP: &str = "Boyar, Peralta 2008; optimal";
pub(super) const BPP: &str = "Boyar, Peralta, Pochuev 2000; optimal";
pub(super) const BRISTOL: &str = "Bristol Fashion files";
pub(super) const CGGN: &str = "Campanelli, Gennaro, Goldfeder, Nizzardo 2017";
pub(super) const EPFL: &str = "Testa, Soeken, Riener, Amarù, De Micheli 2020";
pub(super) const KSS: &str = "Kolesnikov, Sadeghi, Schneider 2009";
pub(super) const NIST: &str = "NIST circuit complexity project";
pub(super) const WMK: &str = "Wang, Malozemoff, Katz 2017";

//! Which forms somebody wants of a program's operations, in a file.

use std::sync::OnceLock;

use comity_circuit::Program;
use comity_core::{Params, PartyId};
use comity_mixed::Mixed;
use comity_protocol::{Options, Protocol};

/// A program of sums, products, comparisons, pinned parts and gates.
const SOURCE: &str = "fn main(x: u8 from 0, y: u8 from 1) -> (u8, bool, u8) {
    let d = x * y + 3;
    let e = yao { d - x };
    (e, arithmetic { d * d } < y, x ^ d)
}";

/// A plan file: what fits the program is planned, and what does not is refused by its line.
pub(crate) fn plan_file(data: &[u8]) {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    let Ok(text) = str::from_utf8(data) else { return };
    let program = PROGRAM.get_or_init(|| comity_language::compile("fuzz.cty", SOURCE).expect("it compiles"));
    let mut options = Options::new(Mixed.card());
    if options.set(PartyId(0), "sharing", text).is_err() {
        return;
    }
    if let Err(error) = Mixed.fits(program, &options, Params::default()) {
        let shown = error.to_string();
        assert!(shown.contains(" of the plan: ") && !shown.contains(char::is_control), "{shown:?}");
    }
}

//! `comity ope leakage`: what a thief of the database recovers.

use comity_ope::Column;
use comity_ope::leakage::{Leakage, Recovered};
use serde::Serialize;

/// An attack, and how many rows it recovers.
#[derive(Serialize)]
pub(crate) struct Attack {
    attack: &'static str,
    /// The rows recovered; `None` where the attack does not apply.
    rows: Option<u64>,
    of: u64,
}

/// Runs all attacks. Without public data the thief has the column's own histogram.
pub(crate) fn run(codes: &[(u128, u128)], public: Option<Vec<(u128, u64)>>) -> Vec<Attack> {
    let own = || codes.iter().map(|row| (row.1, 1)).collect();
    let leakage = Leakage::new(codes.to_vec(), public.unwrap_or_else(own));
    let of = codes.len() as u64;
    let attack = |attack, recovered: Option<Recovered>| Attack { attack, rows: recovered.map(|found| found.rows), of };
    vec![
        attack("sorting", leakage.sorting()),
        attack("cumulative", leakage.cumulative()),
        attack("ranks", (of > 0).then(|| leakage.ranks())),
    ]
}

/// The attacks and what they recover, for people.
pub(crate) fn text(column: &Column, attacks: &[Attack]) -> String {
    if attacks.iter().all(|attack| attack.of == 0) {
        return format!(
            "`{}` ({}) has no codes: what is stored shows no order, and these attacks have nothing to work on\n",
            column.name, column.scheme
        );
    }
    let line = |attack: &Attack| match attack.rows {
        Some(rows) => format!(
            "{:10}  {rows} of {} rows ({:.1} %)\n",
            attack.attack,
            attack.of,
            100.0 * rows as f64 / attack.of as f64
        ),
        None => format!("{:10}  does not apply\n", attack.attack),
    };
    attacks.iter().map(line).collect()
}

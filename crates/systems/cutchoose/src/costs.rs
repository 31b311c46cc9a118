//! What a run costs: copies of the circuit and of labels, with lengths.

use comity_core::Result;
use comity_protocol::{Costing, Talk};

use crate::intake::Form;
use crate::plan::Plan;

/// Seconds of work for an AND gate of a copy, garbled and checked or evaluated at the same time; and for the
/// group operations of a run.
const GATE: f64 = 16e-9;
const GROUP: f64 = 0.013;

/// Bytes of base OTs, trees and commitments that every run has: from the garbler besides those of each copy,
/// and from the evaluator.
const FROM_GARBLER: u64 = 10_896;
const FROM_EVALUATOR: u64 = 8_488;

/// Exchanges of a run, of which the last one is long.
const EXCHANGES: u64 = 7;

/// Goes through the messages of a run.
pub(crate) fn costs(of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
    let garbler = of.options.first("role");
    let plan = Plan::new(of.program, garbler, of.params, Form::of(of.options));
    let copies = plan.copies as u64;
    let coded = Form::of(of.options) == Form::Coded;
    // The extension rounds the evaluator's choices to whole blocks, of which this may be one off.
    talk.about();
    let ands = of.program.and_gates().saturating_add(plan.tag_gates());
    // Coded, nearly only the copies that are evaluated travel: 19 of 44 at rho = 40.
    let sent = if coded { copies * 19 / 44 } else { copies };
    let bits = 32 * copies * plan.probe.encoded() as u64
        + 32 * copies * plan.garblers() as u64
        + (32 * copies + 80) * plan.revealed() as u64;
    let tables = ands.saturating_mul(32 * sent);
    let learned = of.program.outputs().iter().filter(|output| output.to.includes(garbler));
    let told: u64 = learned.map(|output| output.bits.div_ceil(8) as u64).sum();
    let choices = 512 * (plan.probe.encoded() + 16).div_ceil(128) as u64;
    let short = FROM_EVALUATOR / (EXCHANGES - 1);
    talk.repeat(EXCHANGES - 1, &mut |talk| talk.exchange_each(|from, _| if from == garbler { 208 } else { short }));
    let once = (FROM_GARBLER + 208 * copies).saturating_sub(208 * (EXCHANGES - 1));
    let rest = FROM_EVALUATOR - short * (EXCHANGES - 1);
    talk.exchange_each(
        |from, _| if from == garbler { tables.saturating_add(bits + once) } else { choices + told + rest },
    );
    talk.work(GROUP + GATE * ands as f64 * copies as f64);
    Ok(())
}

//! What a protocol that computes in several forms makes of a program, line by line, and what others of its
//! options would cost.

use comity::{NetProfile, RunCost};
use comity_circuit::Form;
use comity_protocol::{Converted, Outline, Outlined};
use comity_terminal::numbers::{bytes, duration};
use comity_terminal::text::Listing;
use serde::Serialize;

/// A plan by line of the source, and those that it is compared with.
pub(super) struct Detail {
    pub(super) outline: Outline,
    /// Each with the option's name and value.
    pub(super) others: Vec<(&'static str, &'static str, RunCost)>,
}

/// As `--json` has it.
#[derive(Serialize)]
pub(super) struct Described {
    lines: Vec<Line>,
    remarks: Vec<String>,
    others: Vec<Other>,
}

#[derive(Serialize)]
struct Line {
    line: u32,
    operation: &'static str,
    times: u64,
    form: &'static str,
    conversions: Vec<Conversion>,
    bytes: u64,
    rounds: f64,
}

#[derive(Serialize)]
struct Conversion {
    from: &'static str,
    to: &'static str,
    bits: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    adder: Option<&'static str>,
    times: u64,
}

#[derive(Serialize)]
struct Other {
    option: &'static str,
    value: &'static str,
    bytes: u64,
    rounds: u64,
    seconds: f64,
}

/// The most rounds of all parties.
fn rounds(plan: &RunCost) -> u64 {
    plan.rounds.iter().max().copied().unwrap_or(0)
}

impl Detail {
    pub(super) fn describe(&self, net: &NetProfile) -> Described {
        let conversion = |&Converted { from, to, bits, adder, times }: &Converted| {
            let [from, to] = [from, to].map(|form| form.name());
            Conversion { from, to, bits, adder: adder.map(|form| form.name()), times }
        };
        let line = |of: &Outlined| Line {
            line: of.line,
            operation: of.operation,
            times: of.times,
            form: of.form.name(),
            conversions: of.conversions.iter().map(conversion).collect(),
            bytes: of.bytes,
            rounds: of.rounds,
        };
        let other = |&(option, value, ref plan): &(&'static str, &'static str, RunCost)| Other {
            option,
            value,
            bytes: plan.bytes(),
            rounds: rounds(plan),
            seconds: plan.seconds(net),
        };
        Described {
            lines: self.outline.lines.iter().map(line).collect(),
            remarks: self.outline.remarks.clone(),
            others: self.others.iter().map(other).collect(),
        }
    }

    /// Two tables: of the lines, and of the plan beside others.
    pub(super) fn tables(&self, plan: &RunCost, net: &NetProfile) -> String {
        let mut lines = Listing::new(&[4, -12, 8, -11, 10, 8]);
        let heads = ["line", " operation", "times", " form", "sent", "rounds", "  conversions before it"];
        lines.row(heads.map(str::to_owned));
        for of in &self.outline.lines {
            let line = if of.line == 0 { "-".to_owned() } else { of.line.to_string() };
            let converted = |of: &Converted| {
                let Converted { from, to, bits, adder, times } = of;
                let added = if *adder == Some(Form::Boolean) { ", added as boolean" } else { "" };
                format!("{from} to {to}: {times} of {bits} bits{added}")
            };
            let all: Vec<String> = of.conversions.iter().map(converted).collect();
            let conversions = if all.is_empty() { "-".to_owned() } else { all.join(", ") };
            let (operation, form) = (format!(" {}", of.operation), format!(" {}", of.form));
            let (times, rounds) = (of.times.to_string(), of.rounds.to_string());
            lines.row([line, operation, times, form, bytes(of.bytes), rounds, format!("  {conversions}")]);
        }
        let mut beside = Listing::new(&[-24, 10, 8, 11]);
        beside.row(["beside it", "sent", "rounds", "time"].map(str::to_owned));
        let planned = [("this plan".to_owned(), plan)].into_iter();
        let others = self.others.iter().map(|(option, value, plan)| (format!("{option}={value}"), plan));
        for (name, plan) in planned.chain(others) {
            beside.row([name, bytes(plan.bytes()), rounds(plan).to_string(), duration(plan.seconds(net))]);
        }
        let remarks: String = self.outline.remarks.iter().map(|remark| format!("{remark}\n")).collect();
        format!("\n{lines}{remarks}\n{beside}")
    }
}

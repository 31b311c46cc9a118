//! Figure 7 and Table 7: what a bit of either input, an output bit and an AND gate cost.
//!
//! One size grows at a time, from the paper's base. The cost is the slope of the least-squares line; the
//! constant is what is left of the base.

use comity_circuit::Program;
use comity_terminal::chart::{Curves, Panel, Scale};
use comity_terminal::failure::Outcome;

use crate::picture::Rows;
use crate::suite::{Bench, Suite};
use crate::text::{Table, rate, ratio, time};
use crate::two::{NETWORKS, Run, median, repeat};
use crate::wmk17::parties::{Setting, execute, execute_authenticated};
use crate::wmk17::single::{RHO, named};
use crate::wmk17::subjects::sized;

/// The cost of a bit and a gate.
pub(crate) const TABLE7: Bench = Bench {
    name: "wmk17.table7",
    about: "WMK17, figure 7 and table 7: the cost of an input bit, an output bit and an AND gate (if wmk17 is named)",
    ceiling: Some("machine.loopback"),
    run,
};

/// Garbler's input, evaluator's input, output, AND gates.
const BASE: [usize; 4] = [128, 128, 128, 16_384];

/// The size that grows, and by how much in each of two steps.
const AXES: [(&str, usize); 4] =
    [("garbler_bit", 8_000), ("evaluator_bit", 8_000), ("output_bit", 8_000), ("and", 65_536)];

/// The paper's microseconds, for each network and axis.
const PAPER: [[f64; 4]; 3] = [[9.8, 16.4, 13.3, 1.7], [16.0, 22.5, 20.3, 4.4], [191.4, 146.9, 131.1, 63.1]];

/// The paper's constant, of the fast network, in seconds.
const CONSTANT: f64 = 0.023;

/// The linear model of a network: the constant, and the seconds for each size.
pub(super) struct Model {
    constant: f64,
    slopes: [f64; 4],
}

impl Model {
    /// The model that was measured in this run.
    pub(super) fn of(suite: &Suite, network: &str) -> Option<Model> {
        let value = |what: &str| suite.value(&format!("{}.{what}.{network}", TABLE7.name));
        let [a, b, c, d] = AXES.map(|axis| value(axis.0));
        Some(Model { constant: value("constant")?, slopes: [a?, b?, c?, d?] })
    }

    /// The projected time of a program.
    pub(super) fn project(&self, sizes: [f64; 4]) -> f64 {
        self.constant + self.slopes.iter().zip(sizes).map(|(slope, size)| slope * size).sum::<f64>()
    }
}

pub(super) fn run(suite: &mut Suite) -> Outcome {
    if !named(suite) {
        return Ok(());
    }
    let group = TABLE7.name;
    for ((network, net), paper) in NETWORKS.into_iter().zip(PAPER) {
        let names = AXES.map(|axis| format!("{group}.{}.{network}", axis.0));
        if network == "wan" && !suite.named(group) || !names.iter().any(|name| suite.wants(name)) {
            continue;
        }
        let setting = Setting { net, rho: RHO, coded: false };
        let ours = slopes(suite, network, setting, &CUT_AND_CHOOSE)?;
        let ag = slopes(suite, network, setting, &AUTHENTICATED)?;
        let mut table = Table::new(["", "paper", "ours", "ratio", "ag"]);
        let mut drawn = Rows::of(["paper", "ours", "ag"]);
        for (axis, ((name, _), paper)) in AXES.into_iter().zip(paper).enumerate() {
            let (paper, of) = (Some(paper * 1e-6), |slopes: [f64; 4]| (slopes[axis] != 0.0).then_some(slopes[axis]));
            drawn.row(name, [paper, of(ours), of(ag)]);
            table.row([name.to_owned(), time(paper), time(of(ours)), ratio(paper, of(ours)), time(of(ag))]);
        }
        let constant = (network == "lan").then_some(CONSTANT);
        let [ours, ag] = [CUT_AND_CHOOSE, AUTHENTICATED]
            .map(|subject| suite.value(&format!("{group}.constant.{network}{}", subject.suffix)));
        drawn.row("constant", [constant, ours, ag]);
        drawn.draw(suite, &format!("WMK17, Table 7, {network}"), "seconds each");
        table.row(["constant".to_owned(), time(constant), time(ours), ratio(constant, ours), time(ag)]);
        table.print(suite, &format!("WMK17, Table 7, {network}: the linear model"));
    }
    Ok(())
}

/// A protocol whose model is measured.
struct Subject {
    /// The protocol's name in a heading.
    called: &'static str,
    /// The end of the names of its measurements.
    suffix: &'static str,
    /// Bytes of an AND gate's tables.
    bytes: u32,
    execute: fn(&Program, Setting) -> Outcome<Run>,
}

const CUT_AND_CHOOSE: Subject = Subject { called: "cut and choose", suffix: "", bytes: 32 * RHO, execute };

const AUTHENTICATED: Subject =
    Subject { called: "authenticated garbling", suffix: ".ag", bytes: 32, execute: execute_authenticated };

/// Measures the model of a protocol on a network: the slopes, zero where none was wanted.
fn slopes(suite: &mut Suite, network: &str, setting: Setting, of: &Subject) -> Outcome<[f64; 4]> {
    let group = TABLE7.name;
    let names = AXES.map(|axis| format!("{group}.{}.{network}{}", axis.0, of.suffix));
    let mut slopes = [0.0; 4];
    if !names.iter().any(|name| suite.wants(name)) {
        return Ok(slopes);
    }
    let mut figure = Table::new(["", "base", "+ 1 step", "+ 2 steps", "step"]);
    let point = |[n1, n2, n3, ands]: [usize; 4]| -> Outcome<f64> {
        let program = sized([n1, n2, n3], ands);
        let runs = repeat(|| (of.execute)(&program, setting))?;
        Ok(median(runs).map_or(f64::NAN, |run| run.seconds))
    };
    let base = point(BASE)?;
    let (mut constant, mut curves) = (base, Vec::new());
    for (axis, (name, step)) in AXES.into_iter().enumerate() {
        if !suite.wants(&names[axis]) {
            continue;
        }
        let mut times = [base; 3];
        for (steps, time) in times.iter_mut().enumerate().skip(1) {
            let mut sizes = BASE;
            sizes[axis] += steps * step;
            *time = point(sizes)?;
        }
        slopes[axis] = slope(times) / step as f64;
        constant -= slopes[axis] * BASE[axis] as f64;
        let wire = rate(suite, setting.net).filter(|_| name == "and").map(|rate| f64::from(of.bytes) / rate);
        suite.record(&names[axis], "s", wire, vec![slopes[axis]]);
        let points = times.iter().enumerate().map(|(steps, &time)| ((BASE[axis] + steps * step) as f64, time));
        curves.push((name.to_owned(), points.collect()));
        let [a, b, c] = times.map(|seconds| time(Some(seconds)));
        figure.row([name.to_owned(), a, b, c, step.to_string()]);
    }
    if slopes.iter().all(|slope| *slope != 0.0) {
        suite.record(&format!("{group}.constant.{network}{}", of.suffix), "s", None, vec![constant]);
    }
    let heading = format!("WMK17, Figure 7, {network}, {}: one size grows from 128 / 128 / 128 / 16,384", of.called);
    suite.draw(Panel::Curves(Curves {
        title: format!("WMK17, Figure 7, {network}, {}", of.called),
        x: "bits, or AND gates".into(),
        y: "seconds".into(),
        scales: [Scale::Decades, Scale::Even],
        series: curves,
    }));
    figure.print(suite, &heading);
    Ok(slopes)
}

/// The slope of the least-squares line through three points one step apart: the middle one does not turn it.
fn slope([first, _, last]: [f64; 3]) -> f64 {
    (last - first) / 2.0
}

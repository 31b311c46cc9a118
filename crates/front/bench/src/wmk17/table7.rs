//! Figure 7 and Table 7: what a bit of either input, an output bit and an AND gate cost.
//!
//! One size grows at a time, from the paper's base. The cost is the slope of the least-squares line; the constant is what is
//! left of the base.

use comity_terminal::failure::Outcome;

use crate::suite::{Bench, Suite};
use crate::text::{Table, rate, ratio, time};
use crate::two::NETWORKS;
use crate::wmk17::parties::Setting;
use crate::wmk17::single::{RHO, named, single};
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

/// The linear model of a network: the constant, and what each size costs, in seconds.
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
        let mut figure = Table::new(["", "base", "+ 1 step", "+ 2 steps", "step"]);
        let point = |sizes: [usize; 4]| -> Outcome<f64> {
            let [n1, n2, n3, ands] = sizes;
            let name = format!("{group}.point.{network}.n{n1}.n{n2}.n{n3}.and{ands}");
            let program = sized([n1, n2, n3], ands);
            let mut points = Suite::new(Vec::new(), None, None);
            single(&mut points, &name, &program, setting)?;
            Ok(points.value(&name).unwrap_or(f64::NAN))
        };
        let base = point(BASE)?;
        let mut model = Model { constant: base, slopes: [0.0; 4] };
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
            let slope = slope(times) / step as f64;
            model.slopes[axis] = slope;
            model.constant -= slope * BASE[axis] as f64;
            // The tables of a gate in all copies on the wire.
            let wire = rate(suite, net).filter(|_| name == "and").map(|rate| f64::from(32 * RHO) / rate);
            suite.record(&names[axis], "s", wire, vec![slope]);
            let [a, b, c] = times.map(|seconds| time(Some(seconds)));
            figure.row([name.to_owned(), a, b, c, step.to_string()]);
        }
        if model.slopes.iter().all(|slope| *slope != 0.0) {
            suite.record(&format!("{group}.constant.{network}"), "s", None, vec![model.constant]);
        }
        figure.print(suite, &format!("WMK17, Figure 7, {network}: one size grows from 128 / 128 / 128 / 16,384"));
        let mut table = Table::new(["", "paper", "ours", "ratio"]);
        for ((name, _), (paper, ours)) in AXES.into_iter().zip(paper.into_iter().zip(model.slopes)) {
            let (paper, ours) = (Some(paper * 1e-6), (ours != 0.0).then_some(ours));
            table.row([name.to_owned(), time(paper), time(ours), ratio(paper, ours)]);
        }
        let constant = (network == "lan").then_some(CONSTANT);
        let ours = suite.value(&format!("{group}.constant.{network}"));
        table.row(["constant".to_owned(), time(constant), time(ours), ratio(constant, ours)]);
        table.print(suite, &format!("WMK17, Table 7, {network}: the linear model"));
    }
    Ok(())
}

/// The slope of the least-squares line through three points one step apart: the middle one does not turn it.
fn slope([first, _, last]: [f64; 3]) -> f64 {
    (last - first) / 2.0
}

//! Tables 4 and 6: common functions, in a single execution and in two parts.

use comity_circuit::Program;
use comity_terminal::failure::Outcome;

use crate::picture::Rows;
use crate::suite::{Bench, Suite};
use crate::text::{Table, bytes, ratio, time};
use crate::two::{NETWORKS, repeat};
use crate::wmk17::parties::{Setting, Split, execute_split};
use crate::wmk17::single::{RHO, authenticated, named, single};
use crate::wmk17::subjects::FUNCTIONS;
use crate::wmk17::text::{bounds, profile};

/// Single executions, and in two parts, of common functions; and Table 6, which are the paper's figures for
/// other protocols.
pub(crate) const TABLE4: Bench = Bench {
    name: "wmk17.table4",
    about: "WMK17, tables 4 and 6: ADD, AES, SHA-1, SHA-256 against malicious parties (the slow network only if named)",
    ceiling: Some("machine.loopback"),
    run: |suite| run(suite, TABLE4.name, RHO),
};

/// Table 4 on localhost with more copies.
pub(crate) const RHO64: Bench = Bench {
    name: "wmk17.rho64",
    about: "WMK17, table 4 on localhost with rho = 64 (if named)",
    ceiling: Some("machine.loopback"),
    run: |suite| run(suite, RHO64.name, 64),
};

/// Table 4 on localhost with still more copies.
pub(crate) const RHO80: Bench = Bench {
    name: "wmk17.rho80",
    about: "WMK17, table 4 on localhost with rho = 80 (if named)",
    ceiling: Some("machine.loopback"),
    run: |suite| run(suite, RHO80.name, 80),
};

/// The paper's milliseconds: for each function on each network in one execution, offline, and online.
const PAPER: [[[u32; 3]; 3]; 4] = [
    [[29, 60, 6], [39, 27, 12], [1060, 474, 697]],
    [[50, 82, 14], [65, 62, 21], [1513, 867, 736]],
    [[136, 156, 48], [200, 206, 52], [3439, 2705, 820]],
    [[277, 356, 85], [438, 497, 92], [6716, 5990, 856]],
];

/// Table 6, on the fast network: Lindell and Riva (2015), and Afshar, Mohassel, Pinkas and Riva (2014).
const OTHERS: [[Option<u32>; 2]; 4] =
    [[Some(1034), None], [Some(1442), Some(5860)], [Some(2007), None], [Some(2621), Some(7580)]];

fn seconds(milliseconds: u32) -> f64 {
    f64::from(milliseconds) / 1e3
}

pub(super) fn run(suite: &mut Suite, group: &str, rho: u32) -> Outcome {
    if rho != RHO && !suite.named(group) {
        return Ok(());
    }
    let mut others = Table::new(["", "ANDs", "ours", "[29]", "[1]", "[29] / ours"]);
    let mut beside = Rows::of(["[29]", "[1]", "ours"]);
    for (n, (network, net)) in NETWORKS.into_iter().enumerate() {
        let slow = network == "wan";
        if network != "localhost" && rho != RHO || slow && !suite.named(group) || n > 0 && !named(suite) {
            continue;
        }
        let mut table = Table::new([
            "", "ANDs", "paper", "ours", "ratio", "ag", "bytes", "rounds", "wire", "AES", "coded", "offline", "paper",
            "online", "paper", "load", "kept",
        ]);
        let mut drawn = Rows::of(["paper", "ours", "ag", "paper, online", "ours, online"]);
        for ((function, paper), other) in FUNCTIONS.iter().zip(PAPER).zip(OTHERS) {
            let paper = paper[n].map(|ms| (rho == RHO).then(|| seconds(ms)));
            for (program, papers) in [(function.program(), false), (function.program_of_the_papers_size(), true)] {
                let ands = program.and_gates();
                let size = if papers { format!(".gates{ands}") } else { String::new() };
                let name = format!("{group}.{}{size}.{network}", function.name);
                let setting = Setting { net, rho, coded: false };
                let Some(run) = single(suite, &name, &program, setting)? else { continue };
                if n == 0 {
                    suite.record(
                        &format!("{group}.{}{size}.bytes", function.name),
                        "bytes",
                        None,
                        vec![run.total() as f64],
                    );
                    suite.record(
                        &format!("{group}.{}{size}.rounds", function.name),
                        "rounds",
                        None,
                        vec![run.rounds as f64],
                    );
                    if [("aes", false), ("sha256", true)].contains(&(function.name, papers)) {
                        profile(suite, &name, &run);
                    }
                }
                let ag = authenticated(suite, &name, &program, setting)?;
                let coded = format!("{name}.coded");
                if slow {
                    single(suite, &coded, &program, Setting { coded: true, ..setting })?;
                }
                let kept = if named(suite) { split(suite, &name, &program, setting)? } else { None };
                let of = |part: &str| suite.value(&format!("{name}{part}"));
                let [wire, aes] = bounds(suite, &program, setting, &run);
                table.row([
                    function.name.to_owned(),
                    ands.to_string(),
                    time(paper[0]),
                    time(of("")),
                    ratio(paper[0], of("")),
                    time(ag),
                    bytes(run.total()),
                    run.rounds.to_string(),
                    time(wire),
                    time(aes),
                    time(of(".coded")),
                    time(of(".offline")),
                    time(paper[1]),
                    time(of(".online")),
                    time(paper[2]),
                    time(of(".load")),
                    kept.map_or("-".to_owned(), bytes),
                ]);
                let row = format!("{}, {ands} ANDs", function.name);
                drawn.row(&row, [paper[0], of(""), ag, paper[2], of(".online")]);
                if network == "lan" {
                    let [lindell, afshar] = other.map(|ms| ms.map(seconds));
                    let ours = of("");
                    beside.row(&row, [lindell, afshar, ours]);
                    let name = function.name.to_owned();
                    others.row([name, ands.to_string(), time(ours), time(lindell), time(afshar), ratio(lindell, ours)]);
                }
            }
        }
        let heading = format!("WMK17, Table 4, {network}, rho = {rho}: a single execution, and in two parts");
        table.print(suite, &heading);
        drawn.draw(suite, &format!("WMK17, Table 4, {network}, rho = {rho}"), "seconds");
    }
    if group == TABLE4.name {
        beside.draw(suite, "WMK17, Table 6, lan", "seconds");
        others.print(suite, "WMK17, Table 6: single executions on the LAN beside [29] (LR15) and [1] (AMPR14)");
    }
    Ok(())
}

/// Measures the two parts. The bytes that the parties keep between them.
fn split(suite: &mut Suite, name: &str, program: &Program, setting: Setting) -> Outcome<Option<u64>> {
    let runs = repeat(|| execute_split(program, setting))?;
    let mut take = |part: &str, of: &dyn Fn(&Split) -> f64| {
        suite.record(&format!("{name}.{part}"), "s", None, runs.iter().map(of).collect());
    };
    take("offline", &|split| split.offline.seconds);
    take("load", &|split| split.load);
    take("online", &|split| split.online.seconds);
    Ok(runs.iter().map(|split| split.prepared.iter().sum()).max())
}

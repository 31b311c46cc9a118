//! `comity bench`: what the machine can do, and how close comity comes to it.
//!
//! A benchmark is a name and a function that fills a [`Suite`]. Ceilings are measured in the same run as what is
//! held against them, since a machine's speed differs from hour to hour.

mod ampr14;
mod circuit;
mod garble;
mod machine;
mod nnob12;
mod ope;
mod ot;
mod suite;
mod text;
mod two;
mod wmk17;
mod yao;

use std::time::Duration;

use comity_channel::NetProfile;

use crate::args::BenchArgs;
use crate::console::{check_writable, deliver, emit, note};
use crate::failure::{Failure, Outcome};
use crate::suggest::did_you_mean;

pub(crate) use suite::{Suite, scaled};

/// How long the two parties of a benchmark, threads of this process, wait for each other: a busy machine makes it slow, and
/// does not break it off.
const PATIENCE: Duration = Duration::from_secs(600);

/// A group of measurements.
pub(crate) struct Bench {
    /// What the names of its measurements start with.
    pub(crate) name: &'static str,
    /// One line on what it measures.
    pub(crate) about: &'static str,
    /// The measurement that its figures are held against, so that it is made in the same run.
    pub(crate) ceiling: Option<&'static str>,
    /// Measures what [`Suite::wants`].
    pub(crate) run: fn(&mut Suite) -> Outcome,
}

/// All benchmarks, in the order in which they run: ceilings first.
static BENCHES: &[Bench] = &[
    machine::AES,
    machine::MEMORY,
    machine::CACHE,
    machine::LOOPBACK,
    machine::GROUP,
    circuit::BUILD,
    circuit::LOWER,
    circuit::PLAIN,
    circuit::SLICED,
    garble::HASH,
    garble::HALF_GATES,
    garble::LOCKSTEP,
    ot::BASE,
    ot::EXTENSION,
    ot::FIGURE,
    yao::YAO,
    wmk17::TABLE4,
    wmk17::TABLE5,
    wmk17::TABLE7,
    wmk17::TABLE8,
    wmk17::RHO64,
    wmk17::RHO80,
    nnob12::NNOB12,
    ampr14::AMPR14,
    ope::CLIENT,
    ope::STORAGE,
    ope::INTERACTION,
    ope::POSTGRES,
];

/// The command.
pub(crate) fn run(args: &BenchArgs) -> Outcome {
    if args.list {
        let width = BENCHES.iter().map(|b| b.name.len()).max().unwrap_or(0);
        let lines: Vec<String> = BENCHES.iter().map(|b| format!("{:width$}  {}\n", b.name, b.about)).collect();
        return emit(&lines.concat());
    }
    let network = args.net.as_deref().map(str::parse::<NetProfile>).transpose().map_err(Failure::from)?;
    if let Some(unknown) = args.names.iter().find(|name| !BENCHES.iter().any(|b| overlaps(name, b.name))) {
        let hint = did_you_mean(unknown, BENCHES.iter().map(|b| b.name));
        return Err(Failure::input(format!(
            "there is no benchmark `{unknown}`{hint}; `comity bench --list` lists them"
        )));
    }
    if let Some(path) = &args.plot {
        if !args.names.iter().any(|name| name.starts_with(ot::FIGURE.name)) {
            let name = ot::FIGURE.name;
            return Err(Failure::input(format!("--plot draws `{name}`, which is measured only if it is named")));
        }
        check_writable(path)?;
    }
    let wanted = |wishes: &[String], b: &Bench| wishes.is_empty() || wishes.iter().any(|n| overlaps(n, b.name));
    let ceilings = BENCHES.iter().filter(|b| wanted(&args.names, b)).filter_map(|b| b.ceiling).map(String::from);
    if args.n.is_some() && !wanted(&args.names, &ot::EXTENSION) {
        return Err(Failure::input(format!("--n is for `{}`, of which nothing is named", ot::EXTENSION.name)));
    }
    let mut wishes = args.names.clone();
    if !wishes.is_empty() {
        wishes.extend(ceilings);
    }
    let mut suite = Suite::new(wishes.clone(), network, args.n.map(|count| count.0));
    for bench in BENCHES.iter().filter(|b| wanted(&wishes, b)) {
        note(&format!("{}: {}", bench.name, bench.about));
        (bench.run)(&mut suite)?;
    }
    if let (Some(path), Some(plot)) = (&args.plot, suite.plot()) {
        deliver(plot, Some(path))?;
    }
    let json = serde_json::to_string_pretty(suite.measurements()).expect("measurements have string keys") + "\n";
    match &args.json {
        Some(path) if path.as_os_str() == "-" => emit(&json),
        Some(path) => deliver(&json, Some(path)).and_then(|()| emit(&suite.report())),
        None => emit(&suite.report()),
    }
}

/// Whether a wish and a group's name can have measurements in common: one is the start of the other.
fn overlaps(wish: &str, group: &str) -> bool {
    wish.starts_with(group) || group.starts_with(wish)
}

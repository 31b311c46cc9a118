//! `comity bench`: what the machine can do, and how close comity comes to it.
//!
//! A benchmark is a name and a function that fills a `Suite`. Ceilings are measured in the same run as what is
//! held against them, since a machine's speed differs from hour to hour.

mod aby;
mod ag;
mod ampr14;
mod circuit;
mod count;
mod d133_arith;
mod d133_pfe;
mod d133_spdz_bmr;
mod d133_standard;
mod dnnr17;
mod garble;
mod gmw;
mod hss17;
mod kept;
mod machine;
mod many;
mod measurement;
mod mesh;
mod nnob12;
mod ope;
mod ot;
mod picture;
mod psi;
mod psi_oprf;
mod psi_parts;
mod suite;
mod text;
mod token;
mod two;
mod wmk17;
mod yao;
mod zk;

use std::path::PathBuf;

use comity_channel::NetProfile;
use comity_core::Backend;
use comity_terminal::chart::svg;
use comity_terminal::console::{check_writable, deliver, emit, note};
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::suggest::did_you_mean;

use crate::count::Count;
use crate::suite::{Bench, Suite, measure_on};

/// All benchmarks, in the order in which they run: ceilings first.
static BENCHES: &[Bench] = &[
    machine::AES,
    machine::MEMORY,
    machine::CACHE,
    machine::LOOPBACK,
    machine::GROUP,
    mesh::MESH,
    many::SHARES,
    many::ANDS,
    circuit::BUILD,
    circuit::LOWER,
    circuit::PLAIN,
    circuit::SLICED,
    garble::HASH,
    garble::HALF_GATES,
    garble::THREE_HALVES,
    garble::STANDARD,
    garble::PRIVACY_FREE,
    garble::LOCKSTEP,
    ot::BASE,
    ot::EXTENSION,
    ot::FIGURE,
    yao::YAO,
    gmw::GMW,
    token::TOKEN,
    ag::AG,
    d133_spdz_bmr::D133_SPDZ_BMR,
    hss17::HSS17,
    hss17::DELAY,
    wmk17::TABLE4,
    wmk17::TABLE5,
    wmk17::TABLE7,
    wmk17::TABLE8,
    wmk17::RHO64,
    wmk17::RHO80,
    nnob12::NNOB12,
    dnnr17::DNNR17,
    ampr14::AMPR14,
    aby::ABY,
    d133_arith::D133_ARITH,
    d133_pfe::D133_PFE,
    d133_standard::D133_STANDARD,
    ope::CLIENT,
    ope::STORAGE,
    ope::INTERACTION,
    ope::POSTGRES,
    psi::METHODS,
    psi::SECTION,
    psi_oprf::OPRF,
    psi_parts::OKVS,
    psi_parts::VOLE,
    zk::ZKBOO,
    zk::SYSTEMS,
    zk::GARBLED,
    zk::GARBLED_ROWS,
    zk::VOLE,
];

/// The flags of the command.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Only what starts with one of these names (`garble`, `yao.aes128`, …)
    names: Vec<String>,
    /// Write the measurements to FILE as a JSON array; - for standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Simulate a network between the parties: `lan`, `wan`, or round-trip time and bandwidth as `20ms,100mbit`
    #[arg(long, value_name = "NET")]
    net: Option<String>,
    /// OTs in each run of `ot.extension`: a number, or a power as 2^20 [default: 2^24; of `committing` 2^20]
    #[arg(long, value_name = "N")]
    n: Option<Count>,
    /// Draw what is measured to FILE as SVG: of a paper's table or figure the same beside the paper's
    /// numbers; else bars by unit, each with a mark at its ceiling
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// List the names and measure nothing
    #[arg(long)]
    list: bool,
}

/// The command: measures, and prints the results.
///
/// # Errors
/// Errors for names and flags that fit nothing, before anything is measured; those of a benchmark.
pub fn run(args: &Args, backend: Backend) -> Outcome {
    measure_on(backend);
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
    if let Some(path) = &args.plot {
        let bars = || picture::bars(suite.measurements(), &args.names);
        let drawing = if suite.panels().is_empty() { svg(&bars()) } else { svg(suite.panels()) };
        deliver(drawing, Some(path))?;
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

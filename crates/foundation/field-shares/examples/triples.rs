//! What triples take when parties, each a thread of this process, make them over channels in memory: to point
//! a profiler at. `cargo run --release -p comity-field-shares --example triples [PARTIES [TRIPLES]]`
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;
use std::time::Instant;

use comity_channel::Mesh;
use comity_core::{Backend, Block, Prg, SessionId};
use comity_field_shares::FieldDealer;
use comity_protocol::Here;
use comity_testing::Net;

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse::<usize>());
    let (Ok(parties), Ok(triples)) = (numbers.next().unwrap_or(Ok(2)), numbers.next().unwrap_or(Ok(1 << 13))) else {
        eprintln!("triples [PARTIES [TRIPLES]]: two numbers");
        return ExitCode::from(2);
    };
    let run = |mesh: &mut Mesh<'_>| {
        let mut rng = Prg::new(Backend::detect(), Block::from_u128(mesh.me().0.into()));
        let here = Here::new(mesh.me(), mesh.parties(), SessionId::new([1; 32]));
        let mut dealer = FieldDealer::<Block>::setup(mesh, here, &mut rng).expect("a set-up");
        let start = Instant::now();
        let made = dealer.triples(mesh, triples).expect("triples").len();
        start.elapsed().as_secs_f64() / made as f64
    };
    let seconds = match parties {
        2 => Net::<2>::run(run)[0],
        3 => Net::<3>::run(run)[0],
        5 => Net::<5>::run(run)[0],
        _ => {
            eprintln!("2, 3 or 5 parties, not {parties}");
            return ExitCode::from(2);
        }
    };
    println!("{parties} parties, {triples} triples: {:.1} microseconds each", seconds * 1e6);
    ExitCode::SUCCESS
}

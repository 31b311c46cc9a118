//! What this machine's kernels do a second, on one thread, with data in cache: the ceilings of every protocol.
//!
//! `cargo run --release -p comity-core --example ceilings [BACKEND...]`
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use comity_core::{Aes128, Backend, Block, GateHash, Prg, SmallFieldVole, TccrHash, TreeHash, gf128, transpose};

/// The blocks of a run, 64 KiB: in the second-level cache of any machine.
const BLOCKS: usize = 4096;

const RUNS: usize = 200;

fn main() -> ExitCode {
    let mut backends = Vec::new();
    for name in std::env::args().skip(1) {
        let Some(backend) = Backend::named(&name) else {
            let available: Vec<&str> = Backend::available().into_iter().map(Backend::name).collect();
            eprintln!("{name:?} is not a backend of this machine, which has {}", available.join(", "));
            return ExitCode::from(2);
        };
        backends.push(backend);
    }
    if backends.is_empty() {
        backends = Backend::available();
    }
    println!("{:40}{:>14}", "million blocks a second", format!("best of {RUNS}"));
    for backend in backends {
        measure(backend);
    }
    ExitCode::SUCCESS
}

fn measure(backend: Backend) {
    let mut blocks = vec![Block::ZERO; BLOCKS];
    let mut other = vec![Block::ZERO; BLOCKS];
    let mut prg = Prg::new(backend, Block::ZERO);
    prg.fill_blocks(&mut blocks);
    prg.fill_blocks(&mut other);

    let aes = Aes128::new(backend, blocks[0]);
    report(backend, "Aes128::encrypt", BLOCKS, || aes.encrypt(black_box(&mut blocks)));
    report(backend, "Aes128::encrypt, 8 blocks a call", 8, || aes.encrypt(black_box(&mut blocks[..8])));
    report(backend, "Aes128::new", 1, || {
        black_box(Aes128::new(backend, black_box(Block::ZERO)));
    });
    report(backend, "Prg::fill_blocks", BLOCKS, || prg.fill_blocks(black_box(&mut blocks)));
    report(backend, "Prg::block", 1, || {
        black_box(prg.block());
    });
    // Blocks encrypted, so that this stands beside `Prg::fill_blocks`. A row is 2 KiB.
    for bits in [1, 2, 4, 8] {
        let mut vole = SmallFieldVole::new(backend, &blocks[..1 << bits]);
        report(backend, &format!("SmallFieldVole::fill, {bits} bits"), 128 << bits, || {
            vole.fill(black_box(&mut other[..128]), &mut blocks[..128 * bits]);
        });
    }
    let hash = TccrHash::new(backend);
    report(backend, "TccrHash::hash", BLOCKS, || hash.hash(7, black_box(&mut blocks)));
    // Hashes, each key expanded: two under each, as a garbler has them, and one, as an evaluator.
    let mut gates = GateHash::new(backend, Block::ZERO);
    report(backend, "GateHash::pairs", 2 * BLOCKS, || gates.pairs(black_box(&mut blocks), black_box(&mut other)));
    report(backend, "GateHash::each", BLOCKS, || gates.each(black_box(&mut blocks)));
    let tree = TreeHash::new(backend, Block::ZERO);
    report(backend, "TreeHash::children, 1024 nodes", 1024, || {
        black_box(tree.children(black_box(&mut blocks[..2048]), false));
    });
    report(backend, "transpose, 128 rows", BLOCKS, || {
        transpose(backend, Block::bytes_of(black_box(&blocks)), Block::bytes_of_mut(&mut other), 128, BLOCKS);
    });
    report(backend, "gf128::inner_product", BLOCKS, || {
        black_box(gf128::inner_product(backend, black_box(&blocks), black_box(&other)));
    });
    report(backend, "gf128::mul", 1, || {
        black_box(gf128::mul(backend, black_box(blocks[0]), black_box(blocks[1])));
    });
}

/// Times short runs and keeps the best, which other processes on the machine have not disturbed.
fn report(backend: Backend, what: &str, blocks: usize, mut f: impl FnMut()) {
    let mut time = |calls: u32| {
        let start = Instant::now();
        (0..calls).for_each(|_| f());
        start.elapsed()
    };
    let mut calls = 1;
    while time(calls) < Duration::from_micros(500) {
        calls *= 2;
    }
    let best = (0..RUNS).map(|_| time(calls)).min().unwrap_or_default();
    let rate = blocks as f64 * f64::from(calls) / best.as_secs_f64() / 1e6;
    println!("{:40}{rate:>14.1}", format!("{backend}: {what}"));
}

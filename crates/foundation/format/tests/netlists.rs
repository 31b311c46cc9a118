//! Netlists that yosys wrote: committed ones, and where yosys is installed, fresh ones of the same Verilog.

#![allow(clippy::print_stdout, reason = "a test says that it was skipped")]

use std::path::{Path, PathBuf};
use std::process::Command;

use comity_circuit::{Observer, Plain, Program};
use comity_core::Bits;
use comity_format::{Format, SequentialCircuit};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/netlists")
}

fn read(path: &Path) -> SequentialCircuit {
    let text = std::fs::read(path).unwrap();
    let (design, format) = comity_format::read_sequential(&*text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let json = path.extension().is_some_and(|extension| extension == "json");
    assert_eq!(format, if json { Format::Yosys } else { Format::Blif });
    design
}

struct Values(Vec<u64>);

impl Observer for Values {
    fn output(&mut self, _: usize, value: Bits) {
        self.0.push(value.words().first().copied().unwrap_or(0));
    }
}

fn run(program: &Program, inputs: &[u64]) -> Vec<u64> {
    let value = |(input, &value): (&comity_circuit::Input, &u64)| Some(Bits::from_words(vec![value], input.bits));
    let values: Vec<Option<Bits>> = program.inputs().iter().zip(inputs).map(value).collect();
    let mut outputs = Values(Vec::new());
    comity_circuit::run(program, &mut Plain::new(), &values, &mut outputs).unwrap();
    outputs.0
}

fn names(program: &Program) -> Vec<(String, usize)> {
    let inputs = program.inputs().iter().map(|v| (v.name.clone(), v.bits));
    inputs.chain(program.outputs().iter().map(|v| (v.name.clone(), v.bits))).collect()
}

fn are(program: &Program, want: &[(&str, usize)]) {
    let want: Vec<(String, usize)> = want.iter().map(|(name, bits)| ((*name).to_owned(), *bits)).collect();
    assert_eq!(names(program), want);
}

fn auction(design: &SequentialCircuit) {
    let program = design.cycles(1).unwrap();
    are(&program, &[("alice", 8), ("bob", 8), ("price", 8), ("winner", 1)]);
    for i in 0..500u64 {
        let (alice, bob) = (i * 37 % 256, i * i % 251);
        assert_eq!(run(&program, &[alice, bob]), [alice.max(bob), u64::from(bob > alice)]);
    }
}

fn fibonacci(design: &SequentialCircuit) {
    assert_eq!(design.flip_flops(), 17);
    are(&design.cycles(1).unwrap(), &[("hold", 1), ("start", 8), ("value", 8), ("odd", 1)]);
    for hold in [0, 1] {
        let (mut a, mut b, mut even) = (0u64, 1u64, 1);
        for cycles in 1..20 {
            let program = design.cycles(cycles).unwrap();
            assert_eq!(run(&program, &[hold, 5]), [(a + 5) % 256, 1 - even], "{cycles}");
            if hold == 0 {
                even = 1 - b % 2;
            }
            (a, b) = (b, (a + b) % 256);
        }
    }
}

fn parity(design: &SequentialCircuit, descending: bool) {
    let program = design.cycles(1).unwrap();
    are(&program, &[("low", 8), ("high", 4), ("odd", 2), ("all", 1)]);
    for i in 0..4096u64 {
        let (low, high) = (i & 0xff, i >> 8);
        let odd = |bits: u64| u64::from(bits.count_ones() % 2);
        // `high[0]` is the most significant bit of `[0:3]`, as JSON tells and BLIF does not.
        let first = if descending { high >> 3 } else { high & 1 };
        let want = [odd(low & 15) | odd(low >> 4) << 1, odd(low) ^ odd(high) ^ first];
        assert_eq!(run(&program, &[low, high]), want, "{i:#x}");
    }
}

fn check(folder: &Path) {
    for extension in ["json", "blif"] {
        let file = |name: &str| read(&folder.join(name).with_extension(extension));
        auction(&file("auction"));
        fibonacci(&file("fibonacci"));
        parity(&file("parity"), extension == "json");
    }
}

#[test]
fn committed_netlists_compute_what_their_verilog_says() {
    check(&folder());
}

/// Runs a yosys script; false if yosys is not installed.
fn yosys(script: &str) -> bool {
    match Command::new("yosys").args(["-q", "-p", script]).output() {
        Ok(output) => {
            assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
            true
        }
        Err(_) => {
            println!("SKIPPED: yosys is not installed");
            false
        }
    }
}

#[test]
fn fresh_netlists_compute_what_their_verilog_says() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // The first is the script that the book tells; the others end in other cells.
    for (i, map) in [
        "synth -flatten -auto-top; abc -g AND,XOR; clean",
        "synth -auto-top; clean",
        "synth -flatten -auto-top; abc -g cmos4,MUX; clean",
        "synth -flatten -auto-top; abc -lut 4; clean",
        "hierarchy -auto-top; proc; flatten; opt; techmap; opt; dfflegalize -cell $_DFFE_PN_ 01; opt",
    ]
    .iter()
    .enumerate()
    {
        let folder = target.join(format!("yosys-{}-{i}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for name in ["auction", "fibonacci", "parity"] {
            let source = self::folder().join(name).with_extension("v");
            let to = folder.join(name);
            let (source, to) = (source.display(), to.display());
            if !yosys(&format!("read_verilog {source}; {map}; write_json {to}.json; dffunmap; write_blif {to}.blif")) {
                return;
            }
        }
        check(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn what_is_not_mapped_to_gates_is_told_with_the_command() {
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("words-{}.json", std::process::id()));
    let source = folder().join("auction.v");
    if !yosys(&format!("read_verilog {}; proc; write_json {}", source.display(), to.display())) {
        return;
    }
    let error = comity_format::read_sequential(&*std::fs::read(&to).unwrap()).unwrap_err().to_string();
    assert!(error.contains("`$gt`") || error.contains("`$lt`") || error.contains("`$mux`"), "{error}");
    assert!(error.contains("synth -flatten"), "{error}");
    std::fs::remove_file(&to).unwrap();
}

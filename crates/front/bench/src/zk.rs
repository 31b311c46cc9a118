//! Zero-knowledge proofs: the figures of deliverable D13.3, section 3.7, and each system on SHA-256.

use std::hint::black_box;
use std::time::Instant;

use comity_channel::{Counted, memory};
use comity_circuit::{Program, eval_many};
use comity_core::{Bits, Block, Params, PartyId, Prg, Result, SessionId};
use comity_protocol::Here;
use comity_terminal::failure::Outcome;
use comity_zk::{
    Conversation, Proof, ProofTerms, Prover, Soundness, Statement, System, Verifier, prove, prove_to, verify,
    verify_from,
};

use crate::picture::Rows;
use crate::suite::{Bench, Suite, backend};

/// The section's figures beside ours.
pub(super) const ZKBOO: Bench = Bench {
    name: "d133.zkboo",
    about: "ZKBoo of SHA-1 and SHA-256 at 69, 137 and 219 rounds, one thread, beside D13.3 section 3.7",
    ceiling: None,
    run: zkboo,
};

/// Each system, in a file.
pub(super) const SYSTEMS: Bench = Bench {
    name: "zk",
    about: "a preimage of SHA-256 proved and checked with 128 bits, one thread",
    ceiling: None,
    run: systems,
};

/// The garbled circuit, both sides on a thread each.
pub(super) const GARBLED: Bench = Bench {
    name: "zk.gc",
    about: "proofs by a garbled circuit: a preimage of SHA-256 with its OTs, its bytes, and the rate of a long program, in memory",
    ceiling: Some("machine.aes"),
    run: |suite| {
        let ceiling = suite.value("machine.aes");
        streamed(suite, "gc", Conversation::Garbled, 1000, ceiling)
    },
};

/// The same with the rows of section 3.6.
pub(super) const GARBLED_ROWS: Bench = Bench {
    name: "zk.gc-rows",
    about: "the same with a ciphertext for gates of every kind, as in D13.3 section 3.6",
    ceiling: None,
    run: |suite| streamed(suite, "gc-rows", Conversation::GarbledRows, 1000, None),
};

/// MACs on wires, both sides on a thread each.
pub(super) const VOLE: Bench = Bench {
    name: "zk.vole",
    about: "proofs by MACs on wires: a preimage of SHA-256 with its OTs, and the rate of a long program, in memory",
    ceiling: None,
    run: |suite| streamed(suite, "vole", Conversation::Vole, 2000, None),
};

const RUNS: usize = 9;

/// The statement that one knows a block with this digest, and the block.
fn preimage(name: &str) -> (Statement, [Option<Bits>; 1]) {
    let program: Program = comity_library::program(name).expect("the library has the circuits of the benchmarks");
    let mut block = [Block::ZERO; 4];
    rng(1).fill_blocks(&mut block);
    let block = Bits::from_bytes(Block::bytes_of(&block), 512);
    let digest = eval_many(&program, &[vec![block.clone()]]).expect("the input fits").remove(0).remove(0);
    let statement = Statement::new(&program, &[None], &[Some(digest)], b"").expect("a statement");
    (statement, [Some(block)])
}

fn rng(seed: u128) -> Prg {
    Prg::new(backend(), Block::from_u128(seed))
}

/// The medians of proving and checking in conversation, in seconds, and the bytes from the prover.
fn conversation(
    suite: &mut Suite,
    name: &str,
    system: System,
    level: Soundness,
    of: &(Statement, [Option<Bits>; 1]),
) -> Outcome<(f64, f64, usize)> {
    let (statement, witness) = of;
    let (mut proving, mut checking, mut bytes) = (Vec::new(), Vec::new(), 0);
    for run in 0..RUNS as u128 {
        let terms = ProofTerms { session: SessionId::new([0; 32]), statement, system, level };
        let verifier = Verifier::new(backend(), terms, &mut rng(100 + run))?;
        let begun = Instant::now();
        let prover = Prover::new(backend(), terms, witness, verifier.commitment(), &mut rng(2 + run))?;
        let first = prover.first();
        let committed = begun.elapsed();
        let asked = verifier.ask(first);
        let begun = Instant::now();
        let answer = prover.answer(asked.opening())?;
        proving.push((committed + begun.elapsed()).as_secs_f64());
        bytes = first.len() + answer.len();
        let begun = Instant::now();
        black_box(asked.finish(&answer)?);
        checking.push(begun.elapsed().as_secs_f64());
    }
    let (prove, check) = (median(&proving), median(&checking));
    suite.record(&format!("{name}.prove"), "s", None, proving);
    suite.record(&format!("{name}.verify"), "s", None, checking);
    suite.record(&format!("{name}.bytes"), "bytes", None, vec![bytes as f64]);
    Ok((prove, check, bytes))
}

fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn zkboo(suite: &mut Suite) -> Outcome {
    let mut lines = format!("{:28} {:>10} {:>10} {:>10}\n", "", "prove", "verify", "bytes");
    let mut drawn = Rows::of(["section, prove", "prove", "section, verify", "verify"]);
    let mut sizes = Rows::of(["section", "bytes"]);
    for circuit in ["sha1-iv", "sha256-iv"] {
        let of = preimage(circuit);
        let name = circuit.trim_end_matches("-iv");
        for level in Soundness::ALL {
            let rounds = level.rounds();
            let title = format!("d133.zkboo.{name}.{rounds}");
            if !suite.wants(&format!("{title}.prove")) {
                continue;
            }
            let (prove, check, bytes) = conversation(suite, &title, System::ZkBoo, level, &of)?;
            // The section names no number of rounds; its sizes are those of 137, which are 80 bits.
            let section =
                [13e-3, 5e-3, 444e3].map(|value| (name == "sha1" && level == Soundness::Bits80).then_some(value));
            let row = format!("{name}, {rounds} rounds");
            drawn.row(&row, [section[0], Some(prove), section[1], Some(check)]);
            sizes.row(&row, [section[2], Some(bytes as f64)]);
            let (prove, check, kilobytes) = (1e3 * prove, 1e3 * check, bytes as f64 / 1e3);
            let title = format!("{name}, {rounds} rounds");
            lines += &format!("{title:28} {prove:7.2} ms {check:7.2} ms {kilobytes:7.1} kB\n");
            if (name, level) == ("sha1", Soundness::Bits80) {
                lines += &format!("{:28} {:>10} {:>10} {:>10}\n", "  in the section", "13 ms", "5 ms", "444 kB");
            }
        }
    }
    drawn.draw(suite, "D13.3, section 3.7: ZKBoo", "seconds");
    sizes.draw(suite, "D13.3, section 3.7: a proof", "bytes");
    suite.page("ZKBoo, one thread (the section names no number of rounds; its sizes are those of 137)", &lines);
    Ok(())
}

fn systems(suite: &mut Suite) -> Outcome {
    let (statement, witness) = preimage("sha256-iv");
    for system in System::ALL {
        let name = format!("zk.{}.sha256", system.name().replace("++", "pp"));
        if !suite.wants(&format!("{name}.prove")) {
            continue;
        }
        let (mut proving, mut checking, mut bytes) = (Vec::new(), Vec::new(), 0);
        for run in 0..RUNS as u128 {
            let begun = Instant::now();
            let proof = prove(backend(), &statement, &witness, system, &mut rng(2 + run))?.to_bytes();
            proving.push(begun.elapsed().as_secs_f64());
            bytes = proof.len();
            let begun = Instant::now();
            black_box(verify(backend(), &statement, &Proof::from_bytes(&proof)?)?);
            checking.push(begun.elapsed().as_secs_f64());
        }
        suite.record(&format!("{name}.prove"), "s", None, proving);
        suite.record(&format!("{name}.verify"), "s", None, checking);
        suite.record(&format!("{name}.bytes"), "bytes", None, vec![bytes as f64]);
    }
    Ok(())
}

/// A short statement, and one of `blocks` blocks of AES.
fn streamed(suite: &mut Suite, name: &str, way: Conversation, blocks: u64, ceiling: Option<f64>) -> Outcome {
    let short = format!("zk.{name}.sha256");
    if suite.wants(&short) {
        let (statement, witness) = preimage("sha256-iv");
        let runs = (0..RUNS).map(|_| talk(&statement, &witness, way)).collect::<Result<Vec<(f64, u64)>>>()?;
        suite.record(&format!("{short}.bytes"), "bytes", None, vec![runs[0].1 as f64]);
        suite.record(&short, "s", None, runs.into_iter().map(|(seconds, _)| seconds).collect());
    }
    let long = format!("zk.{name}.aes128chain{blocks}");
    if suite.wants(&long) {
        // Each block is the one before, encrypted: few secret bits, so that gates are what takes the time, and not OTs.
        let program = Program::iterate(comity_library::find("aes128").expect("it is built in"), blocks, &[(0, 1)]);
        let program = program.and_then(|program| program.with_owner(1, 0)).expect("a valid program");
        let values: Vec<Bits> = (0..2).map(|_| Bits::zeros(128)).collect();
        let outputs = eval_many(&program, std::slice::from_ref(&values)).expect("the inputs fit").remove(0);
        let expected: Vec<_> = outputs.into_iter().map(Some).collect();
        let statement = Statement::new(&program, &[None, None], &expected, b"").expect("a statement");
        let witness: Vec<_> = values.into_iter().map(Some).collect();
        suite.rate(&long, "and/s", ceiling, 5, || {
            talk(&statement, &witness, way)?;
            Ok(program.and_gates() as f64)
        })?;
    }
    Ok(())
}

/// The seconds that both sides take for a proof in conversation, and the bytes that go both ways.
fn talk(statement: &Statement, witness: &[Option<Bits>], way: Conversation) -> Result<(f64, u64)> {
    let (mut ours, theirs) = memory::pair();
    let mut theirs = Counted::new(theirs);
    let here = |me| Here {
        me: PartyId(me),
        parties: 2,
        session: SessionId::new([1; 32]),
        params: Params::default(),
        backend: backend(),
    };
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let prover = scope.spawn(move || prove_to(&mut ours, here(0), statement, witness, way, &mut rng(1)));
        verify_from(&mut theirs, here(1), statement, way, &mut rng(2))?;
        prover.join().expect("the prover's thread")
    })?;
    let counts = theirs.counts();
    Ok((begun.elapsed().as_secs_f64(), counts.sent + counts.received))
}

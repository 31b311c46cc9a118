//! What honest parties see.

use comity_circuit::random::Rng;
use comity_circuit::{Program, eval_many};
use comity_core::{Backend, Bits};
use proptest::prelude::*;

use super::{bits, conversing, masked, rng, statement, terms, witness};
use crate::{Commitment, Proof, Prover, Soundness, Statement, System, Verifier, prove, verify};

/// A program of two secret values and a public one, the statement of what it computes of random ones, and the witness.
fn any_statement(program: Program, seed: u64) -> (Statement, Vec<Option<Bits>>) {
    let program = program.with_owner(1, 0).unwrap().with_owner(2, 1).unwrap();
    let widths: Vec<usize> = program.inputs().iter().map(|input| input.bits).collect();
    let values = Rng(seed).values(&widths);
    let outputs = eval_many(&program, std::slice::from_ref(&values)).unwrap().remove(0);
    let public: Vec<_> = values.iter().enumerate().map(|(i, value)| (i == 2).then(|| value.clone())).collect();
    let secret = values.iter().enumerate().map(|(i, value)| (i != 2).then(|| value.clone())).collect();
    let expected: Vec<_> = outputs.into_iter().map(Some).collect();
    (Statement::new(&program, &public, &expected, b"").unwrap(), secret)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn what_is_true_is_proved(gates in 0usize..900, seed in any::<u64>()) {
        let circuit = Rng(seed).circuit(&[9, 130, 5], gates, 40, &[70, 3]);
        // Two turns of the circuit: a program that is walked.
        let program = if gates % 2 == 0 { Program::from_circuit(circuit) } else { Program::map(circuit, 2, &[]) };
        let (statement, witness) = any_statement(program.unwrap(), seed);
        for system in System::ALL {
            let proof = prove(Backend::detect(), &statement, &witness, system, &mut rng(1)).unwrap();
            let again = Proof::from_bytes(&proof.to_bytes()).unwrap();
            prop_assert_eq!((again.to_bytes(), again.size()), (proof.to_bytes(), proof.to_bytes().len()));
            let valid = verify(Backend::detect(), &statement, &again).unwrap();
            prop_assert_eq!((valid.system, valid.soundness), (system, Soundness::Bits128));
        }
    }
}

#[test]
fn sha256_of_abc_has_the_published_digest() {
    // FIPS 180-4's example, padded to a block; the digest's first byte is the topmost.
    let number = |hex: &str, bits| of_hex(hex, bits);
    let message = ["61626380", &"0".repeat(102), "000000000000000018"].concat();
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let program = comity_library::program("sha256-iv").unwrap();
    let expected = [Some(number(digest, 256))];
    let statement = Statement::new(&program, &[None], &expected, b"").unwrap();
    for (system, bytes) in [
        (System::ZkBoo, 1_230_000),
        (System::ZkbPlusPlus, 635_000),
        (System::Kkw, 166_000),
        (System::VoleInTheHead, 46_000),
    ] {
        let witness = [Some(number(&message, 512))];
        let proof = prove(Backend::detect(), &statement, &witness, system, &mut rng(2)).unwrap();
        assert!(verify(Backend::detect(), &statement, &proof).is_ok());
        assert!(proof.size() < bytes, "{system}: {} bytes", proof.size());
    }
    let refused = prove(Backend::detect(), &statement, &[Some(Bits::zeros(512))], System::ZkBoo, &mut rng(2));
    let refused = refused.err().unwrap().to_string();
    assert!(refused.contains("false for these secret values") && refused.contains("digest"), "{refused}");
}

/// The value whose number has these hex digits, the topmost first.
fn of_hex(hex: &str, bits: usize) -> Bits {
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(digit).rev().collect();
    Bits::from_bytes(&bytes, bits)
}

#[test]
fn every_backend_makes_the_same_proof() {
    let all = |system| -> Vec<Vec<u8>> {
        let prove = |backend| prove(backend, &statement(b""), &witness(), system, &mut rng(3)).unwrap().to_bytes();
        Backend::available().into_iter().map(prove).collect()
    };
    for system in System::ALL {
        let proofs = all(system);
        assert!(proofs.iter().all(|proof| *proof == proofs[0]), "{system}");
        for backend in Backend::available() {
            verify(backend, &statement(b""), &Proof::from_bytes(&proofs[0]).unwrap()).unwrap();
        }
    }
}

#[test]
fn a_conversation_has_a_challenge_of_its_own() {
    for system in conversing() {
        for level in Soundness::ALL {
            let (statement, backend) = (statement(b""), Backend::detect());
            let terms = terms(&statement, system, level);
            let verifier = Verifier::new(backend, terms, &mut rng(5)).unwrap();
            let prover = Prover::new(backend, terms, &witness(), verifier.commitment(), &mut rng(4)).unwrap();
            let asked = verifier.ask(prover.first());
            let answer = prover.answer(asked.opening()).unwrap();
            assert_eq!(answer.len(), asked.answer_bytes());
            assert_eq!(asked.finish(&answer).unwrap().soundness, level);
        }
    }
}

#[test]
fn a_system_whose_challenges_are_hashes_does_not_converse() {
    let (statement, backend) = (statement(b""), Backend::detect());
    let terms = terms(&statement, System::VoleInTheHead, Soundness::Bits128);
    let prover = Prover::new(backend, terms, &witness(), Commitment::new([0; 32]), &mut rng(4)).err().unwrap();
    let verifier = Verifier::new(backend, terms, &mut rng(5)).err().unwrap();
    for refused in [prover, verifier] {
        assert!(refused.to_string().contains("voleith proves in files only"), "{refused}");
    }
}

#[test]
fn proofs_are_these_bytes() {
    // What was proved yesterday is checked tomorrow: whatever changes these changes the version of the encoding.
    let digests = System::ALL.map(|system| {
        let proof = prove(Backend::detect(), &statement(b""), &witness(), system, &mut rng(3)).unwrap().to_bytes();
        blake3::hash(&proof).to_hex()[..32].to_string()
    });
    let expected = [
        "5af8c27b2f6c5dc46bf4959465f49fb0",
        "cb05530f08596b633ba8cbfa1c3a4c4a",
        "5f754698222d5c053b390a257cf58838",
        "a7274e7e4b92c2743e65f796ecbc4f35",
    ];
    assert_eq!(digests, expected);
}

#[test]
fn nothing_is_proved_of_an_output_that_may_be_anything() {
    let statement = statement(b"");
    assert_eq!(statement.unpinned(), ["sum"]);
    // It is not there at all: neither in what is run nor in what is shown.
    assert_eq!(statement.program().outputs().len(), 1);
    let refused = Statement::new(&masked(), &[None, bits(6, 4)], &[None, None], b"").err().unwrap().to_string();
    assert!(refused.contains("any inputs would prove it") && refused.contains("both, sum"), "{refused}");
}

#[test]
fn an_output_that_is_called_accept_must_be_one() {
    let mut b = comity_circuit::Builder::new();
    let x = b.input("x", 2);
    let both = b.and(x[0], x[1]);
    b.output("accept", &[both]);
    let program = Program::from_circuit(b.finish()).unwrap();
    let statement = Statement::new(&program, &[None], &[None], b"").unwrap();
    assert!(statement.unpinned().is_empty());
    assert!(prove(Backend::detect(), &statement, &[bits(3, 2)], System::ZkBoo, &mut rng(6)).is_ok());
    assert!(prove(Backend::detect(), &statement, &[bits(1, 2)], System::ZkBoo, &mut rng(6)).is_err());
    // Unless it is said that it must be zero.
    let zero = Statement::new(&program, &[None], &[bits(0, 1)], b"").unwrap();
    assert!(prove(Backend::detect(), &zero, &[bits(1, 2)], System::ZkBoo, &mut rng(6)).is_ok());
}

#[test]
fn what_does_not_fit_is_refused_in_words() {
    let program = masked();
    let refused = |public: &[Option<Bits>], expected: &[Option<Bits>]| {
        Statement::new(&program, public, expected, b"").err().unwrap().to_string()
    };
    let pinned = [bits(2, 4), None];
    let cases = [
        (refused(&[None, None], &pinned), "`mask` is public, and its value is missing"),
        (refused(&[bits(1, 4), bits(1, 4)], &pinned), "`secret` is the prover's"),
        (refused(&[None, bits(1, 3)], &pinned), "`mask` has 4 bits; the value given has 3"),
        (refused(&[None], &pinned), "1 public values"),
        (refused(&[None, bits(6, 4)], &[bits(2, 5), None]), "`both` has 4 bits; the value expected has 5"),
        (refused(&[None, bits(6, 4)], &[bits(2, 4)]), "1 expected values"),
        (refused(&[None, bits(6, 4)], &[None, None]), "any inputs would prove it"),
    ];
    for (is, wants) in cases {
        assert!(is.contains(wants), "{is}");
    }
    let nobody = program.clone().with_owner(0, 1).unwrap();
    let refused = Statement::new(&nobody, &[bits(1, 4), bits(6, 4)], &pinned, b"").err().unwrap().to_string();
    assert!(refused.contains("no secret input"), "{refused}");
    let statement = statement(b"");
    for witness in [vec![None, None], vec![bits(1, 4), bits(1, 4)], vec![bits(1, 3), None], vec![bits(1, 4)]] {
        assert!(prove(Backend::detect(), &statement, &witness, System::ZkBoo, &mut rng(6)).is_err());
    }
}

#[test]
fn a_file_has_no_room_for_a_large_statement() {
    let mut b = comity_circuit::Builder::new();
    let (x, y) = (b.input("x", 1), b.input("y", 1));
    let both = b.and(x[0], y[0]);
    b.output("both", &[both]);
    let program = Program::map(b.finish(), (1 << 20) + 1, &[0, 1]).unwrap().with_owner(1, 0).unwrap();
    let expected = [Some((0..(1 << 20) + 1).map(|_| true).collect())];
    let statement = Statement::new(&program, &[None, None], &expected, b"").unwrap();
    let refused = prove(Backend::detect(), &statement, &[bits(1, 1), bits(1, 1)], System::ZkBoo, &mut rng(6));
    let refused = refused.err().unwrap().to_string();
    assert!(refused.contains("1048577 AND gates") && refused.contains("in conversation"), "{refused}");
    // Nor is one looked at.
    let proof = prove(Backend::detect(), &self::statement(b""), &witness(), System::ZkBoo, &mut rng(6)).unwrap();
    let refused = verify(Backend::detect(), &statement, &proof).err().unwrap().to_string();
    assert!(refused.contains("1048577 AND gates"), "{refused}");
}

#[test]
fn a_file_has_no_room_for_many_secret_or_pinned_bits() {
    // A secret bit or two, a public one, and a pinned sum of them, so often; no AND gate.
    let sums = |secret: usize, times: u64| {
        let mut b = comity_circuit::Builder::new();
        let (x, y) = (b.input("x", secret), b.input("y", 1));
        let sum = b.xor(x[0], y[0]);
        b.output("sum", &[sum]);
        let shared: &[usize] = if secret == 1 { &[0] } else { &[1] };
        let program = Program::map(b.finish(), times, shared).unwrap().with_owner(1, 1).unwrap();
        let public = Bits::zeros(program.inputs()[1].bits);
        Statement::new(&program, &[None, Some(public)], &[Some(Bits::zeros(times as usize))], b"").unwrap()
    };
    // As many secret bits as fit, or pinned ones, and one more.
    let limit = 1 << 20;
    for (secret, times, refusal) in [
        (2, limit / 2, None),
        (2, limit / 2 + 1, Some("1048578 secret input bits")),
        (1, limit, None),
        (1, limit + 1, Some("1048577 pinned output bits")),
    ] {
        let refused = sums(secret, times).fits_a_file().err().map(|error| error.to_string());
        assert_eq!(refused.is_some(), refusal.is_some(), "{secret} bits, {times} times");
        assert!(refused.unwrap_or_default().contains(refusal.unwrap_or_default()));
    }
    // And nothing of it is proved.
    let (statement, witness) = (sums(2, limit / 2 + 1), [Some(Bits::zeros(limit as usize + 2)), None]);
    for system in System::ALL {
        let refused = prove(Backend::detect(), &statement, &witness, system, &mut rng(6)).err().unwrap().to_string();
        assert!(refused.contains("secret input bits"), "{system}: {refused}");
    }
}

//! What is drawn from a generator, and from one that repeats itself.

use comity_core::{Backend, SessionId};

use super::{conversing, rng, statement, terms, witness};
use crate::{Commitment, ProofTerms, Prover, Soundness, System, prove};

#[test]
fn two_challenges_never_meet_the_same_commitments() {
    // All that is proved is the same, and so is the generator: but a file has a challenge, and each
    // commitment of a verifier another one.
    let statement = statement(b"");
    for system in conversing() {
        let conversed = |session: u8, commitment: u8| {
            let terms =
                ProofTerms { session: SessionId::new([session; 32]), ..terms(&statement, system, Soundness::Bits128) };
            let commitment = Commitment::new([commitment; 32]);
            let prover = Prover::new(Backend::detect(), terms, &witness(), commitment, &mut rng(1));
            prover.unwrap().first()[..32].to_vec()
        };
        let file = prove(Backend::detect(), &statement, &witness(), system, &mut rng(1)).unwrap().to_bytes();
        let salts = [file[10..42].to_vec(), conversed(0, 0), conversed(1, 0), conversed(0, 1)];
        assert!(salts.iter().enumerate().all(|(i, salt)| !salts[..i].contains(salt)), "{system}");
        assert_eq!(conversed(1, 1), conversed(1, 1), "{system}: nothing else tells them apart");
    }
}

#[test]
fn a_proof_is_no_function_of_the_witness() {
    // Else a PIN is found by search: salt and hash are in the open.
    let statement = statement(b"");
    for system in System::ALL {
        let head = |seed: u8| {
            let proof = prove(Backend::detect(), &statement, &witness(), system, &mut rng(seed)).unwrap().to_bytes();
            [proof[10..42].to_vec(), proof[74..106].to_vec()]
        };
        let (one, other) = (head(1), head(2));
        assert!(one[0] != other[0] && one[1] != other[1], "{system}");
    }
}

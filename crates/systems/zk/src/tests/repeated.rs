//! What is drawn from a generator, and from one that repeats itself.

use comity_core::{Backend, SessionId};

use super::{rng, statement, witness};
use crate::{Prover, Soundness, System, prove};

#[test]
fn two_challenges_never_meet_the_same_commitments() {
    // All that is proved is the same, and so is the generator: but a file has a challenge, and each conversation another one.
    let statement = statement(b"");
    for system in System::ALL.into_iter().filter(|system| system.converses().is_ok()) {
        let conversed = |session: u8| {
            let session = SessionId::new([session; 32]);
            let (backend, level) = (Backend::detect(), Soundness::Bits128);
            let prover = Prover::new(backend, &session, &statement, &witness(), system, level, &mut rng(1));
            prover.unwrap().first()[..32].to_vec()
        };
        let file = prove(Backend::detect(), &statement, &witness(), system, &mut rng(1)).unwrap().to_bytes();
        let salts = [file[10..42].to_vec(), conversed(0), conversed(1)];
        assert!(salts.iter().enumerate().all(|(i, salt)| !salts[..i].contains(salt)), "{system}");
        assert_eq!(conversed(1), conversed(1), "{system}: nothing else tells them apart");
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

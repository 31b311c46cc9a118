//! Proofs in files.

use std::io::{self, Read};

use comity_circuit::{Builder, Program};
use comity_core::{Backend, Bits};
use comity_zk::{Proof, Statement, System, prove, verify};

use crate::mutate::rng;

/// A proof: one that holds is one of those that were made, to the bit.
pub(crate) fn zk_proof(data: &[u8]) {
    let Ok(proof) = Proof::from_bytes(data) else { return };
    assert_eq!(proof.to_bytes(), data, "one proof, one form");
    // A source that does not end is read no further than the verifier's statement has answers for.
    const MOST: u64 = 1 << 20;
    let mut endless = data.chain(io::repeat(0)).take(2 * MOST);
    assert!(Proof::read(&mut endless, &statement()).is_err() && endless.limit() > MOST, "it was read on");
    if let Ok(read) = Proof::read(&mut &*data, &statement()) {
        assert_eq!(read.to_bytes(), data, "one proof, one form");
    }
    if verify(Backend::detect(), &statement(), &proof).is_ok() {
        assert!(System::ALL.into_iter().any(|system| made(system) == data), "nobody else knows a witness");
    }
}

/// The statement that two secret bits are both one.
fn statement() -> Statement {
    let mut b = Builder::new();
    let x = b.input("x", 2);
    let both = b.and(x[0], x[1]);
    b.output("accept", &[both]);
    let program = Program::from_circuit(b.finish()).expect("a circuit is a program");
    Statement::new(&program, &[None], &[None], b"").expect("a statement")
}

fn made(system: System) -> Vec<u8> {
    let witness = [Some(Bits::from_bytes(&[3], 2))];
    let proof = prove(Backend::detect(), &statement(), &witness, system, &mut rng()).expect("the statement is true");
    proof.to_bytes()
}

pub(crate) fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let [boo, plus, kkw, voleith] = System::ALL.map(made);
    let cut = boo[..boo.len() * 2 / 3].to_vec();
    let mut flipped = plus.clone();
    flipped[200] ^= 1;
    // A correction, of a bit that no other one hides.
    let mut told = voleith.clone();
    told[106 + 48] ^= 1;
    vec![
        ("zk_proof", "zkboo", boo),
        ("zk_proof", "zkbpp", plus),
        ("zk_proof", "kkw", kkw),
        ("zk_proof", "voleith-told", told),
        ("zk_proof", "voleith", voleith),
        ("zk_proof", "cut", cut),
        ("zk_proof", "flipped", flipped),
        ("zk_proof", "head", b"comityzk\x02\x01".to_vec()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seeds_that_are_proofs_hold() {
        for system in System::ALL {
            assert!(verify(Backend::detect(), &statement(), &Proof::from_bytes(&made(system)).unwrap()).is_ok());
        }
    }
}

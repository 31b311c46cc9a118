//! What a garbled program says of itself, and the masks of its outputs.

use comity_core::PartyId;

use comity_testing::Net;

use super::*;
use crate::stored::Head;

/// It is for one program, one party and one number of parties: rows of another would be opened by keys that
/// are not theirs.
#[test]
fn a_garbled_program_is_for_its_program_and_party() {
    let [program, other] = [20, 21].map(|width| Program::from_circuit(laws::chain_and_layer(width)).unwrap());
    let session = SessionId::derive("test", &[b"head"]);
    let here = |me, parties| Here::new(PartyId(me), parties, session);
    let mut bytes = Vec::new();
    Head::new(here(1, 3), &program, Some(Block::from_u128(7))).write(&mut bytes).unwrap();
    let read = |here, program: &Program| Head::read(&mut &bytes[..], here, program).map_err(|error| error.to_string());
    assert!(read(here(1, 3), &program).is_ok_and(|head| head.offset == Some(Block::from_u128(7))));
    assert!(read(here(1, 3), &other).is_err_and(|why| why.contains("of another program")));
    for another in [here(2, 3), here(1, 4)] {
        assert!(read(another, &program).is_err_and(|why| why.contains("as party 1 of 3")));
    }
    // If wires have offsets of their own the head has no offset.
    let mut shares = Vec::new();
    Head::new(here(1, 3), &program, None).write(&mut shares).unwrap();
    assert!(Head::read(&mut &shares[..], here(1, 3), &program).is_ok_and(|head| head.offset.is_none()));
    assert!(Head::read(&mut &bytes[..20], here(1, 3), &program).is_err());
    // What an earlier version kept has no name of its form.
    let old = Head::read(&mut &bytes[16..], here(1, 3), &program).map_err(|error| error.to_string());
    assert!(old.is_err_and(|why| why.contains("by an earlier version")));
}

/// One value that goes out twice, of an input of the other party: the masks of its outputs are new bits each
/// time, and so are they in another run.
#[test]
fn each_output_has_a_mask_of_its_own() {
    let mut b = comity_circuit::Builder::new();
    let x = b.input("x", 128);
    b.output("x", &x);
    b.output("again", &x);
    let program = Program::from_circuit(b.finish()).unwrap();
    let mut seen = Vec::new();
    for run in 0..2u8 {
        let stored = Net::<2>::run(|net| {
            let (me, parties) = (net.me(), net.parties());
            let here = Here::new(me, parties, SessionId::derive("test", &[&[run]]));
            let mut masks = Ideal::new(here.session, me.0.into(), parties.into());
            let (mut rng, mut observer, mut kept) = (laws::rng(me.0.into()), laws::Outputs::default(), Vec::new());
            let mut party = Party { net, here, rng: &mut rng, observer: &mut observer };
            let ground = Ground { masks: &mut masks, opener: Opener::Balanced };
            prepare_with(&mut party, ground, &program, &mut kept, &mut Honest).unwrap();
            kept
        });
        // At party 1, which has no input, behind the head.
        let masks = &stored[1][16 + 32 + 32 + 2 + 2 + 16..];
        seen.extend([masks[..16].to_vec(), masks[16..32].to_vec()]);
    }
    seen.push(vec![0; 16]);
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), count);
}

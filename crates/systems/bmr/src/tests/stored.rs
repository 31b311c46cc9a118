//! What a garbled program says of itself.

use comity_core::PartyId;

use super::*;
use crate::stored::Head;

/// It is for one program and one party of so many: rows of another would be opened by keys that are not theirs.
#[test]
fn a_garbled_program_is_for_its_program_and_party() {
    let [program, other] = [20, 21].map(|width| Program::from_circuit(laws::chain_and_layer(width)).unwrap());
    let session = SessionId::derive("test", &[b"head"]);
    let here =
        |me, parties| Here { me: PartyId(me), parties, session, params: Params::default(), backend: Backend::detect() };
    let mut bytes = Vec::new();
    Head::new(here(1, 3), &program, Block::from_u128(7)).write(&mut bytes).unwrap();
    let read = |here, program: &Program| Head::read(&mut &bytes[..], here, program).map_err(|error| error.to_string());
    assert!(read(here(1, 3), &program).is_ok_and(|head| head.offset == Block::from_u128(7)));
    assert!(read(here(1, 3), &other).is_err_and(|why| why.contains("for another program")));
    for another in [here(2, 3), here(1, 4)] {
        assert!(read(another, &program).is_err_and(|why| why.contains("as party 1 of 3")));
    }
    assert!(Head::read(&mut &bytes[..20], here(1, 3), &program).is_err());
    // What an earlier version kept has no name of its form.
    let old = Head::read(&mut &bytes[16..], here(1, 3), &program).map_err(|error| error.to_string());
    assert!(old.is_err_and(|why| why.contains("by an earlier version")));
}

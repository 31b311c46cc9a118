use super::*;

fn set(parties: &[u16]) -> PartySet {
    parties.iter().copied().collect()
}

#[test]
fn a_set_has_the_parties_that_were_put_in() {
    let parties = set(&[63, 0, 5, 0]);
    assert_eq!((parties.mask(), parties.len()), (1 << 63 | 1 << 5 | 1, 3));
    assert_eq!(parties.iter().collect::<Vec<_>>(), [0, 5, 63].map(PartyId));
    assert!((0..200).all(|party| parties.contains(party) == [0, 5, 63].contains(&party)));
    assert_eq!(PartySet::from_mask(parties.mask()), parties);
    assert!(set(&[]).is_empty() && !parties.is_empty());
}

#[test]
fn a_set_refuses_a_party_that_there_cannot_be() {
    let mut parties = set(&[1]);
    assert_eq!(parties.insert(64), Err(ProgramError::NoParty(PartyId(64))));
    assert_eq!(parties, set(&[1]));
    let words = "there is no party 64; at most 64 take part, numbered from 0 to 63";
    assert_eq!(ProgramError::NoParty(PartyId(64)).to_string(), words);
    assert!(std::panic::catch_unwind(|| Recipients::only(64)).is_err());
}

#[test]
fn people_read_whose_a_value_is() {
    let words = |parties: &[u16]| Recipients::Parties(set(parties)).to_string();
    assert_eq!(words(&[3]), "party 3");
    assert_eq!(words(&[2, 0]), "parties 0 and 2");
    assert_eq!(words(&[2, 0, 7]), "parties 0, 2 and 7");
    assert_eq!(words(&[]), "nobody");
    assert_eq!(Recipients::All.to_string(), "all parties");
    assert_eq!(Recipients::Shared.to_string(), "each party a share");
    assert_eq!(
        (Owner::from(4).to_string(), Owner::Shared.to_string()),
        ("party 4".into(), "every party, in shares".into())
    );
}

#[test]
fn recipients_learn_and_owners_give() {
    let some = Recipients::Parties(set(&[0, 2]));
    let learn = |to: Recipients| [0, 1, 2, 99].map(|party| to.includes(party));
    assert_eq!(learn(some), [true, false, true, false]);
    assert_eq!(learn(Recipients::only(1)), [false, true, false, false]);
    assert_eq!(learn(Recipients::All), [true; 4]);
    assert_eq!(learn(Recipients::Shared), [false; 4]);
    assert_eq!((some.named(), Recipients::All.named()), (set(&[0, 2]), set(&[])));
    assert!(Owner::from(2).includes(2) && !Owner::from(2).includes(0) && Owner::Shared.includes(7));
}

#[test]
fn values_belong_to_parties_in_order_and_then_to_the_last() {
    let owners = [0, 1, 63, 64, 100_000].map(Owner::of_value);
    assert_eq!(owners, [0, 1, 63, 63, 63].map(|party: u16| Owner::from(party)));
}

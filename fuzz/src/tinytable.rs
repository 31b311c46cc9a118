//! What tinytable reads: tables that were made ahead, and what a peer says in a run on them.

use comity_channel::Channel;
use comity_core::Result;
use comity_tinytable::semi_honest::run_on;

use crate::peer::{Script, program, run};

/// Party `party`'s tables for the program of these bodies: a head, the masks of its input, three bits for each gate, and
/// the masks of the output.
fn tables(party: u8) -> Vec<u8> {
    let bits = (0..5).map(|i: u8| i.wrapping_mul(91) ^ 0x5a);
    [&b"comity tinytab p"[..], &[8; 32], &program().digest(), &[party]].concat().into_iter().chain(bits).collect()
}

/// One party of a run on these tables, with this peer. Returns how many outputs it learned.
fn on(tables: &[u8], party: u16, peer: &mut dyn Channel) -> Result<usize> {
    run(|me, job| run_on(me, job, Box::new(tables)), party, peer)
}

/// Tables as they are behind the store's encryption. What a semi-honest protocol cannot check may make an output wrong,
/// but it comes once, and whole.
pub(crate) fn stored_tables(data: &[u8]) {
    for party in 0..2 {
        if let Ok(outputs) = on(data, party, &mut Script(&[7; 2])) {
            assert_eq!(outputs, 1);
        }
    }
}

/// Party 0 of a run, against a peer who says anything.
pub(crate) fn tables_peer(data: &[u8]) {
    if let Ok(outputs) = on(&tables(0), 0, &mut Script(data)) {
        assert_eq!(outputs, 1);
    }
}

/// Whole tables of either party, and what is wrong with others; what an honest peer says, and less.
pub(crate) fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let mut version = tables(0);
    version[7] = b'2';
    let mut program = tables(0);
    program[60] ^= 1;
    vec![
        ("stored_tables", "party_0", tables(0)),
        ("stored_tables", "party_1", tables(1)),
        ("stored_tables", "another_version", version),
        ("stored_tables", "another_program", program),
        ("stored_tables", "too_long", [tables(0), vec![0]].concat()),
        ("stored_tables", "cut", tables(1)[..83].to_vec()),
        ("tables_peer", "valid", vec![0x3c, 0xa5]),
        ("tables_peer", "cut", vec![0x3c]),
        ("tables_peer", "zeros", vec![0; 2]),
        ("tables_peer", "too_long", vec![0x3c, 0xa5, 0x81]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_tables_are_read_and_others_are_not() {
        for (target, name, bytes) in seeds().into_iter().filter(|seed| seed.0 == "stored_tables") {
            let read = [0, 1].map(|party| on(&bytes, party, &mut Script(&[7; 2])).is_ok());
            assert_eq!(read, [name == "party_0", name == "party_1"], "{target} {name}");
        }
    }

    #[test]
    fn an_honest_peer_is_heard_to_its_last_byte() {
        let mut peer = Script(&[0x3c, 0xa5]);
        assert_eq!(on(&tables(0), 0, &mut peer).expect("an honest peer"), 1);
        assert!(peer.0.is_empty() && on(&tables(0), 0, &mut Script(&[0x3c])).is_err());
    }
}

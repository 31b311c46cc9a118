//! What tinytable reads: tables that were made ahead, of either form, and what a peer says in a run on them.

use std::sync::OnceLock;

use comity_channel::{Channel, Recorded};
use comity_core::{Block, PartyId, Result, SessionId};
use comity_protocol::{BatchForm, Job, Options, Protocol};
use comity_share::Share;
use comity_testing::Net;
use comity_tinytable::kept::TablesHead;
use comity_tinytable::{TinyTableSemiHonest, authenticated, semi_honest};

use crate::peer::{Script, program, run};

/// Party `party`'s head of tables for the program of these bodies.
fn head(form: &BatchForm, party: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let head = TablesHead { deal: SessionId::new([8; 32]), program: program().digest(), party: PartyId(party.into()) };
    head.write(form, &mut bytes).expect("writing to memory");
    bytes
}

/// Party `party`'s tables: a head, the masks of its input, two bits for each gate, and the masks of the output.
fn tables(party: u8) -> Vec<u8> {
    let bits = (0..4).map(|i: u8| i.wrapping_mul(91) ^ 0x5a);
    head(&semi_honest::FORM, party).into_iter().chain(bits).collect()
}

/// Party `party`'s authenticated tables: a head, its global key, the masks of its input, three shares for each
/// gate, and shares of the masks of the output. Those of both parties belong together.
fn auth_tables(party: u8) -> Vec<u8> {
    let me = usize::from(party);
    // A global key ends in a one bit and a local one in a zero.
    let delta =
        |of: usize| Block::from_u128(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834_u128.rotate_left(9 * of as u32) | 1);
    let key = |of: usize, number: usize| {
        Block::from_u128(0x2545_f491_4f6c_dd1d_u128.wrapping_mul((2 * number + of + 3) as u128) << 17)
    };
    // Bit `number`, shared so.
    let share = |number: usize, shares: [bool; 2]| {
        let mac = key(1 - me, number) ^ if shares[me] { delta(1 - me) } else { Block::ZERO };
        Share::from_parts(mac, key(me, number))
    };
    let masks = [0x5a_u8, 0xc6];
    let mut bytes = head(&authenticated::FORM, party);
    bytes.extend(delta(me).to_bytes());
    bytes.push(masks[me]);
    let (mut gates, mut outputs) = (Vec::new(), Vec::new());
    for gate in 0..8 {
        let [u, v] = masks.map(|mask| mask >> gate & 1 == 1);
        let (o, t) = ([gate % 3 == 0, gate % 2 == 0], gate % 5 < 2);
        let product = o[0] ^ o[1] ^ u & v;
        gates.extend([
            share(4 * gate, [t, t ^ product]),
            share(4 * gate + 1, [u, false]),
            share(4 * gate + 2, [false, v]),
        ]);
        outputs.push(share(4 * gate + 3, o));
    }
    bytes.extend(Share::bytes_of(&gates));
    bytes.extend(Share::bytes_of(&outputs));
    bytes
}

/// One party of a run on these tables, with this peer. Returns how many outputs it learned.
fn on(tables: &[u8], party: u16, peer: &mut dyn Channel) -> Result<usize> {
    let options = Options::new(TinyTableSemiHonest.card());
    run(|me, job| semi_honest::run_on(me, &Job { options: &options, ..*job }, Box::new(tables)), party, peer)
}

/// Likewise on authenticated ones.
fn auth_on(tables: &[u8], party: u16, peer: &mut dyn Channel) -> Result<usize> {
    run(|me, job| authenticated::run_on(me, job, Box::new(tables)), party, peer)
}

/// What either party says in an honest run on authenticated tables.
fn honest(party: u16) -> &'static [u8] {
    static SAID: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
    let said = SAID.get_or_init(|| {
        Net::<2>::run(|net| {
            let me = net.me();
            let mut channel = Recorded::new(net.pair().expect("a net of two").1, 1 << 12);
            let recorder = channel.recorder();
            let learned = auth_on(&auth_tables(me.0 as u8), me.0, &mut channel).expect("an honest run");
            assert_eq!(learned, 1);
            recorder.recording().sent
        })
    });
    &said[usize::from(party)]
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

/// Authenticated tables likewise, with a peer who says what an honest one would.
pub(crate) fn stored_auth_tables(data: &[u8]) {
    for party in 0..2 {
        if let Ok(outputs) = auth_on(data, party, &mut Script(honest(1 - party))) {
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

/// Party 0 of a run on authenticated tables, against a peer who says anything: what is not what an honest one
/// says gives no output.
pub(crate) fn auth_tables_peer(data: &[u8]) {
    if let Ok(outputs) = auth_on(&auth_tables(0), 0, &mut Script(data)) {
        assert_eq!(outputs, 1);
        assert!(data.starts_with(honest(1)), "another peer than the honest one was believed");
    }
}

/// Whole tables of either party, and what is wrong with others; what an honest peer says, and less.
pub(crate) fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let mut version = tables(0);
    version[7] = b'2';
    let mut program = tables(0);
    program[60] ^= 1;
    let mut key = auth_tables(0);
    key[TablesHead::BYTES as usize] ^= 1;
    let mut mac = auth_tables(1);
    mac[TablesHead::BYTES as usize + 40] ^= 2;
    let [mut input, mut bit, mut digest] = [(); 3].map(|()| honest(1).to_vec());
    input[0] ^= 1;
    bit[1] ^= 4;
    digest[9] ^= 1;
    vec![
        ("stored_tables", "party_0", tables(0)),
        ("stored_tables", "party_1", tables(1)),
        ("stored_tables", "another_version", version),
        ("stored_tables", "another_program", program),
        ("stored_tables", "too_long", [tables(0), vec![0]].concat()),
        ("stored_tables", "cut", tables(1)[..82].to_vec()),
        ("stored_auth_tables", "party_0", auth_tables(0)),
        ("stored_auth_tables", "party_1", auth_tables(1)),
        ("stored_auth_tables", "another_form", tables(0)),
        ("stored_auth_tables", "a_key_that_is_none", key),
        ("stored_auth_tables", "a_wrong_mac", mac),
        ("stored_auth_tables", "too_long", [auth_tables(0), vec![0]].concat()),
        ("stored_auth_tables", "cut", auth_tables(1)[..300].to_vec()),
        ("tables_peer", "valid", vec![0x3c, 0xa5]),
        ("tables_peer", "cut", vec![0x3c]),
        ("tables_peer", "zeros", vec![0; 2]),
        ("tables_peer", "too_long", vec![0x3c, 0xa5, 0x81]),
        ("auth_tables_peer", "valid", honest(1).to_vec()),
        ("auth_tables_peer", "another_input", input),
        ("auth_tables_peer", "another_bit", bit),
        ("auth_tables_peer", "another_digest", digest),
        ("auth_tables_peer", "cut", honest(1)[..40].to_vec()),
        ("auth_tables_peer", "too_long", [honest(1), &[0]].concat()),
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
    fn whole_authenticated_tables_are_read_and_others_are_not() {
        for (_, name, bytes) in seeds().into_iter().filter(|seed| seed.0 == "stored_auth_tables") {
            let read = [0, 1].map(|party| auth_on(&bytes, party, &mut Script(honest(1 - party))).is_ok());
            assert_eq!(read, [name == "party_0", name == "party_1"], "{name}");
        }
    }

    #[test]
    fn of_authenticated_tables_an_honest_peer_alone_is_believed() {
        for (_, name, said) in seeds().into_iter().filter(|seed| seed.0 == "auth_tables_peer") {
            let learned = auth_on(&auth_tables(0), 0, &mut Script(&said));
            assert_eq!(learned.is_ok(), ["valid", "too_long"].contains(&name), "{name}: {learned:?}");
        }
    }

    #[test]
    fn an_honest_peer_is_heard_to_its_last_byte() {
        let mut peer = Script(&[0x3c, 0xa5]);
        assert_eq!(on(&tables(0), 0, &mut peer).expect("an honest peer"), 1);
        assert!(peer.0.is_empty() && on(&tables(0), 0, &mut Script(&[0x3c])).is_err());
    }
}

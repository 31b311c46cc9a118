//! What arrives at a port, and the files of a key folder.

use std::path::Path;
use std::sync::LazyLock;

use comity_core::{Error, Kind};
use comity_net::{Fingerprint, Identity, KeyDir, PartyGroup, TlsEar, carried, opens, unframe};

use crate::mutate::rng;

/// What follows an opening is received in pieces of these lengths, in turn.
const PIECES: [usize; 4] = [1, 3, 16, 100];

/// A connection to a plain port, byte by byte.
pub(crate) fn raw_stream(data: &[u8]) {
    assert!(opened(data) <= data.len(), "more data than bytes that arrived");
}

/// Opens a connection by these bytes, and takes what follows for data. Returns the number of its bytes.
fn opened(stream: &[u8]) -> usize {
    let (got, _) = unframe(stream, std::iter::once(OPENING).chain(PIECES.into_iter().cycle()));
    if opens(&got).is_err() { 0 } else { got.len() - OPENING }
}

/// A connection to a TLS port, byte by byte.
pub(crate) fn tls_stream(data: &[u8]) {
    static EAR: LazyLock<TlsEar> = LazyLock::new(|| {
        let identity = Identity::generate(&mut rng());
        TlsEar::new(&identity, vec![identity.fingerprint()]).expect("a key that was just made")
    });
    if let Ok(taken) = EAR.hear(data) {
        assert!(taken <= data.len());
    }
}

/// The first bytes of an opening at a relay, but for the side and the room.
pub(crate) const KNOCKS: &[u8] = b"comity\0r";

/// The bytes of an opening at a relay.
const KNOCK: usize = KNOCKS.len() + 33;

/// A connection to a relay: an opening, and then what goes to the other side if it is TLS, in whatever pieces it comes.
pub(crate) fn relay_opening(data: &[u8]) {
    let is_knock = data.len() >= KNOCK && data.starts_with(KNOCKS) && data[8] <= 1;
    let [each, some, all] = [1, 7, data.len().max(1)].map(|together| carried(data, together));
    assert_eq!([each, some, all].map(|taken| taken.is_some()), [is_knock; 3]);
    if let (Some(each), Some(some), Some(all)) = (each, some, all) {
        let behind = &data[KNOCK..];
        let whole = each == behind.len();
        assert!(all == if whole { each } else { 0 } && each >= some && (whole || each - some < 7));
        assert!(each == 0 || [21, 22].contains(&behind[0]), "what is carried is TLS");
    }
}

/// Frames whose checksums are right, and little else. Each takes 4 bytes of `data`: how long its payload is
/// said to be (16 bits), how much of it follows (most have little), and how far its number is off. What
/// arrives is what the whole frames before the first bad one have.
pub(crate) fn frames(data: &[u8]) {
    let (mut stream, mut payloads, mut good) = (Vec::new(), Vec::new(), true);
    for (number, piece) in (0u32..).zip(data.chunks_exact(4)) {
        let said = u32::from(u16::from_le_bytes([piece[0], piece[1]])) * if piece[2] & 0x80 == 0 { 1 } else { 0x1001 };
        let there = usize::from(piece[2] & 0x3f) * if piece[2] & 0x40 == 0 { 16 } else { 1 << 10 };
        let there = vec![piece[2]; there.min(said as usize)];
        frame(&mut stream, said, number.wrapping_add(u32::from(piece[3])), &there);
        good &= piece[3] == 0 && there.len() == said as usize;
        if good {
            payloads.extend(there);
        }
    }
    let pieces = data.iter().map(|&b| usize::from(b) * if b < 0xf0 { 16 } else { 256 }).chain(std::iter::repeat(1000));
    let (got, why) = unframe(&stream, pieces);
    assert!(payloads.starts_with(&got), "data that nobody sent");
    let closed = matches!(why, Some(Error { kind: Kind::Closed, .. }));
    assert!(!good || closed && payloads.len() - got.len() < 255 * 256, "whole frames do not arrive: {why:?}");
}

/// The number of bytes that a connection begins with.
const OPENING: usize = 45;

/// The bytes that a connection begins with.
pub(crate) fn opening() -> Vec<u8> {
    [b"comity\0e".as_slice(), &[0], &[1, 0], &[0, 0], &[9; 32]].concat()
}

/// Appends a frame with right checksums.
pub(crate) fn frame(stream: &mut Vec<u8>, len: u32, number: u32, payload: &[u8]) {
    let start = stream.len();
    for field in [len, number, crc32fast::hash(payload)] {
        stream.extend(field.to_le_bytes());
    }
    let checksum = crc32fast::hash(&stream[start..]);
    stream.extend(checksum.to_le_bytes());
    stream.extend(payload);
}

/// A party's secret key, as it lies in a file.
pub(crate) fn key_file(data: &[u8]) {
    if let Ok(identity) = Identity::from_pkcs8(data) {
        assert_eq!(identity.to_pkcs8(), data);
    }
}

/// A fingerprint as somebody typed it.
pub(crate) fn fingerprint(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    if let Ok(fingerprint) = text.parse::<Fingerprint>() {
        assert_eq!(fingerprint.to_string().parse::<Fingerprint>().ok(), Some(fingerprint));
    }
}

/// A file that lists the parties of a group.
pub(crate) fn group_file(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    if let Ok(group) = PartyGroup::parse(text) {
        assert_eq!(PartyGroup::parse(&group.to_text()).as_ref().ok(), Some(&group));
        for (expected, member) in (0..).zip(group.members()) {
            assert!(member.id.0 == expected && group.find(&member.name) == Some(member.id));
            let _ = group.ways(member.id, None);
        }
    }
}

/// The file that says which keys are trusted.
pub(crate) fn trusted_file(data: &[u8]) {
    if let Ok(trusted) = KeyDir::read_trusted(Path::new("trusted"), data) {
        for (i, (party, key)) in trusted.iter().enumerate() {
            assert!(trusted[..i].iter().all(|(p, k)| p != party && k != key), "one party, one key");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpStream};
    use std::thread;

    use comity_channel::{Channel, PerPeer};
    use comity_core::PartyId;
    use comity_net::{Limits, Listener, PAIRS, Relay, Security, Settings};
    use comity_testing::PATIENCE;

    use super::*;

    /// Feeds these bytes to a port, and counts what is taken for data.
    fn fed(security: Security, stream: &[u8]) -> usize {
        let settings = Settings::of_two(PartyId(0), security, PATIENCE);
        let listener = Listener::bind("127.0.0.1:0", &settings).expect("a port of the loopback interface is free");
        let say = |says: &[u8]| {
            let mut stream = TcpStream::connect(listener.address()).expect("the listener is there");
            // The listening side may have closed already, having read enough.
            let _ = stream.write_all(says);
            let _ = stream.shutdown(Shutdown::Write);
            stream
        };
        // A caller that leaves without a word ends no wait for a connection: it goes on until somebody else
        // comes.
        let _both = [say(stream), say(b"nobody")];
        let Ok(mut connection) = listener.next() else { return 0 };
        let lengths = PIECES.into_iter().cycle();
        lengths.take_while(|&length| connection.recv(&mut vec![0; length]).is_ok()).sum()
    }

    /// The seed opens a connection: else all that is grown from it is refused at the first frame.
    #[test]
    fn a_port_takes_what_the_body_takes() {
        assert!(opened(include_bytes!("../corpus/raw_stream/valid")) > 200);
        for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/raw_stream")).unwrap() {
            let stream = std::fs::read(file.unwrap().path()).unwrap();
            assert_eq!(fed(Security::Plain { anywhere: false }, &stream), opened(&stream));
        }
    }

    #[test]
    fn a_tls_port_takes_no_seed_for_data() {
        let identity = Identity::generate(&mut rng());
        let peers = PerPeer::new(PartyId(0), 2, |_| identity.fingerprint());
        for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/tls_stream")).unwrap() {
            let stream = std::fs::read(file.unwrap().path()).unwrap();
            assert_eq!(fed(Security::Tls { identity: identity.clone(), peers: peers.clone() }, &stream), 0);
        }
    }

    #[test]
    fn a_relay_carries_what_the_body_does() {
        let relay = Relay::bind("127.0.0.1:0", PAIRS).expect("a port of the loopback interface is free");
        let address = relay.address();
        thread::spawn(move || relay.run(&Limits::default(), &mut |_| {}).expect("nobody who comes ends a relay"));
        let call = |says: &[u8]| {
            let mut stream = TcpStream::connect(address).expect("the relay is there");
            // It may have closed already, having read enough.
            let _ = stream.write_all(says);
            stream
        };
        let heard = |mut stream: &TcpStream| {
            let mut all = Vec::new();
            // A reset ends it as well.
            let _ = stream.read_to_end(&mut all);
            all
        };
        for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/relay_opening")).unwrap() {
            let said = std::fs::read(file.unwrap().path()).unwrap();
            let (first, behind) = said.split_at(said.len().min(KNOCK));
            let mut guest = call(first);
            let Some(carries) = carried(&said, said.len().max(1)) else {
                let _ = guest.shutdown(Shutdown::Write);
                let heard = heard(&guest);
                assert!(
                    [b"".as_slice(), b"comity: this is a relay\n", &[21, 3, 3, 0, 2, 2, 112]].contains(&&heard[..])
                );
                continue;
            };
            let mut side = first.to_vec();
            side[8] = 1 - side[8];
            let mut other = call(&side);
            for end in [&mut guest, &mut other] {
                let mut answer = [0; 9];
                end.read_exact(&mut answer).expect("both are there");
                assert_eq!(&answer, b"comity\0R\0");
            }
            let _ = guest.write_all(behind).and_then(|()| guest.shutdown(Shutdown::Write));
            assert_eq!(heard(&other), behind[..carries]);
        }
    }
}

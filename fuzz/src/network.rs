//! What arrives at a port, and the files of a key folder.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use comity_channel::{Channel, PerPeer};
use comity_core::{Error, Kind, PartyId};
use comity_net::{
    Fingerprint, Identity, KeyDir, Limits, Listener, PAIRS, PartyGroup, Relay, Security, Settings, unframe,
};
use comity_testing::PATIENCE;

use crate::mutate::rng;

const PLAIN: Security = Security::Plain { anywhere: false };

/// Feeds these bytes to a listening party, and reads what it takes for data, in pieces of several lengths. Returns the number of its bytes.
fn feed(security: Security, stream: &[u8]) -> usize {
    // Nothing here takes so long: each stream ends.
    let settings = Settings::of_two(PartyId(0), security, PATIENCE);
    let listener = Listener::bind("127.0.0.1:0", &settings).expect("a port of the loopback interface is free");
    let mut peer = TcpStream::connect(listener.address()).expect("the listener is there");
    // The listening side may have closed already, having read enough.
    let _ = peer.write_all(stream);
    let _ = peer.shutdown(Shutdown::Write);
    // Who leaves without a word ends no wait for a connection: it goes on until somebody else comes.
    let mut last = TcpStream::connect(listener.address()).expect("the listener is there");
    let _ = last.write_all(b"nobody").and_then(|()| last.shutdown(Shutdown::Write));
    let Ok(mut connection) = listener.next() else { return 0 };
    let mut taken = 0;
    let mut buffer = vec![0; stream.len() + 1];
    for piece in [1, 3, 16, 100].into_iter().cycle() {
        let piece = piece.min(buffer.len());
        if connection.recv(&mut buffer[..piece]).is_err() {
            break;
        }
        taken += piece;
        assert!(taken <= stream.len(), "more data than bytes that arrived");
    }
    taken
}

/// A connection to a plain port, byte by byte.
pub(crate) fn raw_stream(data: &[u8]) {
    feed(PLAIN, data);
}

/// A connection to a TLS port, byte by byte.
pub(crate) fn tls_stream(data: &[u8]) {
    static IDENTITY: LazyLock<Identity> = LazyLock::new(|| Identity::generate(&mut rng()));
    let peers = PerPeer::new(PartyId(0), 2, |_| IDENTITY.fingerprint());
    feed(Security::Tls { identity: IDENTITY.clone(), peers }, data);
}

/// The first bytes of an opening at a relay, but for the side and the room.
pub(crate) const KNOCKS: &[u8] = b"comity\0r";

/// The bytes of an opening at a relay.
const KNOCK: usize = KNOCKS.len() + 33;

/// A connection to a relay: an opening, and then what goes to the other side, which is here, too, if it is one.
pub(crate) fn relay_opening(data: &[u8]) {
    static RELAY: LazyLock<SocketAddr> = LazyLock::new(|| {
        let relay = Relay::bind("127.0.0.1:0", PAIRS).expect("a port of the loopback interface is free");
        let address = relay.address();
        thread::spawn(move || relay.run(&Limits::default(), &mut |_| {}).expect("nobody who comes ends a relay"));
        address
    });
    let call = |says: &[u8]| {
        let mut stream = TcpStream::connect(*RELAY).expect("the relay is there");
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
    let (first, rest) = data.split_at(data.len().min(KNOCK));
    let mut guest = call(first);
    if first.len() < KNOCK || !first.starts_with(KNOCKS) || first[8] > 1 {
        let _ = guest.shutdown(Shutdown::Write);
        let said = heard(&guest);
        assert!([b"".as_slice(), b"comity: this is a relay\n", &[21, 3, 3, 0, 2, 2, 112]].contains(&&said[..]));
        return;
    }
    let mut side = first.to_vec();
    side[8] = 1 - side[8];
    let mut other = call(&side);
    for end in [&mut guest, &mut other] {
        let mut answer = [0; 9];
        end.read_exact(&mut answer).expect("both are there");
        assert_eq!(&answer, b"comity\0R\0");
    }
    let _ = guest.write_all(rest).and_then(|()| guest.shutdown(Shutdown::Write));
    let carried = heard(&other);
    assert!(rest.starts_with(&carried), "what is carried is what was said");
    assert!(carried.first().is_none_or(|first| [21, 22].contains(first)), "and it is TLS");
}

/// Frames whose checksums are right, and little else. Each takes 4 bytes of `data`: how long its payload is said to be (16
/// bits), how much of it follows, and how far its number is off. What arrives is what the whole frames before the first bad one have.
pub(crate) fn frames(data: &[u8]) {
    let (mut stream, mut payloads, mut good) = (Vec::new(), Vec::new(), true);
    for (number, piece) in (0u32..).zip(data.chunks_exact(4)) {
        let said = u32::from(u16::from_le_bytes([piece[0], piece[1]])) * if piece[2] & 0x80 == 0 { 1 } else { 0x1001 };
        let there = vec![piece[2]; (said as usize).min(usize::from(piece[2]) * 64)];
        frame(&mut stream, said, number.wrapping_add(u32::from(piece[3])), &there);
        good &= piece[3] == 0 && there.len() == said as usize;
        if good {
            payloads.extend(there);
        }
    }
    let pieces = data.iter().map(|&b| usize::from(b) * 16).chain(std::iter::repeat(1000));
    let (got, why) = unframe(&stream, pieces);
    assert!(payloads.starts_with(&got), "data that nobody sent");
    let closed = matches!(why, Some(Error { kind: Kind::Closed, .. }));
    assert!(!good || closed && payloads.len() - got.len() < 255 * 16, "whole frames do not arrive: {why:?}");
}

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
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("comity-fuzz-{}-{number}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    fs::write(folder.join("trusted"), data).expect("a temporary file");
    let trusted = KeyDir::new(&folder).trusted();
    fs::remove_dir_all(&folder).expect("it was just made");
    if let Ok(trusted) = trusted {
        for (i, (party, key)) in trusted.iter().enumerate() {
            assert!(trusted[..i].iter().all(|(p, k)| p != party && k != key), "one party, one key");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seed opens a connection: else all that is grown from it is refused at the first frame.
    #[test]
    fn the_seed_of_a_plain_connection_is_taken_for_data() {
        assert!(feed(PLAIN, include_bytes!("../corpus/raw_stream/valid")) > 200);
        assert_eq!(feed(PLAIN, include_bytes!("../corpus/raw_stream/http")), 0);
    }
}

//! What arrives at a port, and the files of a key folder.

use std::fs;
use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use comity_channel::{Channel, PerPeer};
use comity_core::PartyId;
use comity_net::{Fingerprint, Identity, KeyDir, Listener, PartyGroup, Security, Settings};
use comity_testing::PATIENCE;

use crate::mutate::rng;

const PLAIN: Security = Security::Plain { anywhere: false };

/// Feeds these bytes to a listening party, and reads what it takes for data, in pieces of these lengths.
fn feed(security: Security, stream: &[u8], mut pieces: impl Iterator<Item = usize>) {
    // Nothing here takes so long: each stream ends.
    let settings = Settings::of_two(PartyId(0), security, PATIENCE);
    let listener = Listener::bind("127.0.0.1:0", &settings).expect("a port of the loopback interface is free");
    let mut peer = TcpStream::connect(listener.address()).expect("the listener is there");
    // The listening side may have closed already, having read enough.
    let _ = peer.write_all(stream);
    let _ = peer.shutdown(Shutdown::Write);
    let Ok(mut connection) = listener.next() else { return };
    let mut left = stream.len();
    let mut buffer = vec![0; stream.len() + 1];
    while let Some(piece) = pieces.next().filter(|piece| *piece > 0) {
        let piece = piece.min(buffer.len());
        if connection.recv(&mut buffer[..piece]).is_err() {
            return;
        }
        left = left.checked_sub(piece).expect("more data than bytes that arrived");
    }
}

/// A connection to a plain port, byte by byte.
pub(crate) fn raw_stream(data: &[u8]) {
    feed(PLAIN, data, [1, 3, 16, 100].into_iter().cycle());
}

/// A connection to a TLS port, byte by byte.
pub(crate) fn tls_stream(data: &[u8]) {
    static IDENTITY: LazyLock<Identity> = LazyLock::new(|| Identity::generate(&mut rng()));
    let peers = PerPeer::new(PartyId(0), 2, |_| IDENTITY.fingerprint());
    feed(Security::Tls { identity: IDENTITY.clone(), peers }, data, [1, 3, 16, 100].into_iter().cycle());
}

/// Frames on a plain connection whose checksums are right, and little else. Each takes 4 bytes of `data`: how long its
/// payload is said to be (16 bits), how much of it follows, and how far its number is off.
pub(crate) fn frames(data: &[u8]) {
    let mut stream = Vec::new();
    frame(&mut stream, opening().len() as u32, 0, &opening());
    let mut number = 1u32;
    for piece in data.chunks_exact(4) {
        let said = u32::from(u16::from_le_bytes([piece[0], piece[1]])) * if piece[2] & 0x80 == 0 { 1 } else { 0x1001 };
        let there = vec![piece[2]; (said as usize).min(usize::from(piece[2]) * 64)];
        frame(&mut stream, said, number.wrapping_add(u32::from(piece[3])), &there);
        number = number.wrapping_add(1);
    }
    feed(PLAIN, &stream, data.iter().map(|&b| usize::from(b) * 16).chain(std::iter::repeat(1000)));
}

/// The bytes that a connection begins with.
pub(crate) fn opening() -> Vec<u8> {
    [b"comity\0d".as_slice(), &[0], &[1, 0], &[0, 0], &[9; 32]].concat()
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
            let _ = group.calls(member.id);
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

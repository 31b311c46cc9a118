use comity_core::Kind;

use super::memory::Memory;
use super::*;

fn data(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 31 + i / 251) as u8).collect()
}

/// Frames in memory.
#[derive(Default)]
struct Wire {
    numbers: Numbers,
    bytes: Vec<u8>,
}

impl Sink for Wire {
    fn frame(&mut self, payload: [&[u8]; 2]) -> Result<()> {
        self.bytes.extend(self.numbers.header(payload));
        payload.iter().for_each(|part| self.bytes.extend(*part));
        Ok(())
    }
}

/// The frames of these sends, each flushed or not.
fn frames(sends: &[(usize, bool)]) -> (Vec<u8>, Vec<u8>) {
    let all = data(sends.iter().map(|send| send.0).sum());
    let (mut writer, mut wire, mut rest) = (FrameWriter::new(), Wire::default(), &all[..]);
    for &(len, flush) in sends {
        let (now, later) = rest.split_at(len);
        writer.send(&mut wire, now).unwrap();
        if flush {
            writer.flush(&mut wire).unwrap();
        }
        rest = later;
    }
    writer.flush(&mut wire).unwrap();
    (all, wire.bytes)
}

fn receive(wire: &[u8], len: usize, piece: usize, at_once: usize) -> Result<Vec<u8>> {
    let (mut reader, mut source) = (FrameReader::new(), Memory(wire, at_once));
    let mut got = vec![0; len];
    got.chunks_mut(piece).try_for_each(|piece| reader.recv(&mut source, piece))?;
    Ok(got)
}

#[test]
fn any_cut_arrives() {
    let sends = [
        vec![(0, true), (1, true), (15, false), (1, true), (40, false)],
        vec![(DIRECT - 1, false), (DIRECT, false), (5, true), (DIRECT + 1, true)],
        vec![(MAX_PAYLOAD - 1, false), (1, false), (1, false), (MAX_PAYLOAD, false), (3 * MAX_PAYLOAD + 7, true)],
        vec![(10, false), (MAX_PAYLOAD, false), (10, true)],
        (0..300).map(|i| (i * 7 % 501, i % 3 == 0)).collect(),
    ];
    for sends in sends {
        let (all, wire) = frames(&sends);
        for piece in [1, 16, 1000, DIRECT, 100_000, 1 << 20] {
            for at_once in [HEADER - 1, 1000, usize::MAX] {
                assert!(receive(&wire, all.len(), piece, at_once).unwrap() == all, "{piece} {at_once}");
            }
        }
        // The stream ends with the last frame; waiting for more says so.
        assert!(matches!(receive(&wire, all.len() + 1, 1000, usize::MAX), Err(Error { kind: Kind::Closed, .. })));
    }
}

#[test]
fn full_frames_cost_little() {
    let (all, wire) = frames(&[(100 * MAX_PAYLOAD, true)]);
    assert_eq!(wire.len(), all.len() + 100 * HEADER);
    let (all, wire) = frames(&[(16, false); 100_000]);
    assert_eq!(wire.len(), all.len() + all.len().div_ceil(MAX_PAYLOAD) * HEADER);
}

#[test]
fn every_damaged_byte_is_found() {
    let sends = [(20, true), (1, true), (50, true)];
    let (all, wire) = frames(&sends);
    let starts = [0, 36, 53];
    for at in 0..wire.len() {
        for bit in 0..8 {
            let mut damaged = wire.clone();
            damaged[at] ^= 1 << bit;
            // Small pieces, so that the payload goes through the buffer, and one large one, so that it does not.
            for piece in [3, 1000] {
                let result = receive(&damaged, all.len(), piece, usize::MAX);
                assert!(
                    matches!(result, Err(Error { kind: Kind::Malformed(_) | Kind::Stranger(_), .. })),
                    "bit {bit} of byte {at}: {result:?}"
                );
            }
        }
        let mut shorter = wire.clone();
        shorter.remove(at);
        assert!(receive(&shorter, all.len(), 3, usize::MAX).is_err(), "byte {at} lost");
        let mut longer = wire.clone();
        longer.insert(at, !wire[at]);
        assert!(receive(&longer, all.len(), 3, usize::MAX).is_err(), "a byte more at {at}");
        assert!(
            matches!(receive(&wire[..at], all.len(), 3, usize::MAX), Err(Error { kind: Kind::Closed, .. })),
            "cut at {at}"
        );
    }
    // Whole frames: the first one lost, repeated, and changed with the second.
    let [a, b, c] = [&wire[..starts[1]], &wire[starts[1]..starts[2]], &wire[starts[2]..]];
    for (what, frames) in [("lost", vec![b, c]), ("repeated", vec![a, a, b, c]), ("swapped", vec![b, a, c])] {
        let said = receive(&frames.concat(), 20, 3, usize::MAX).map(|_| ());
        let all = receive(&frames.concat(), 71, 1000, usize::MAX).map(|_| ());
        assert!(
            what == "repeated" && said.is_ok()
                || matches!(said, Err(Error { kind: Kind::Malformed(_) | Kind::Stranger(_), .. })),
            "{what}: {said:?}"
        );
        assert!(matches!(all, Err(Error { kind: Kind::Malformed(_) | Kind::Stranger(_), .. })), "{what}: {all:?}");
    }
}

#[test]
fn keep_alives_are_passed_over() {
    let (all, parts) = (data(MAX_PAYLOAD + 40), [0..10, 10..11, 11..MAX_PAYLOAD + 40]);
    let (mut writer, mut wire) = (FrameWriter::new(), Wire::default());
    for part in parts {
        wire.frame([&[], &[]]).unwrap();
        writer.send(&mut wire, &all[part]).and_then(|()| writer.flush(&mut wire)).unwrap();
        wire.frame([&[], &[]]).unwrap();
    }
    for piece in [1, 1000, 1 << 20] {
        for at_once in [HEADER - 1, 1000, usize::MAX] {
            assert!(receive(&wire.bytes, all.len(), piece, at_once).unwrap() == all, "{piece} {at_once}");
        }
    }
    // One that is lost or repeated is noticed.
    let repeated = [&wire.bytes[..HEADER], &wire.bytes].concat();
    for wire in [&wire.bytes[HEADER..], &repeated] {
        assert!(receive(wire, all.len(), 1000, usize::MAX).is_err());
    }
    // None of them is the message that has to come soon.
    let mut reader = FrameReader::new();
    reader.expect(1);
    reader.recv(&mut Memory(&wire.bytes, usize::MAX), &mut [0]).unwrap();
    assert_eq!(reader.prompt, 0);
    let mut reader = FrameReader::new();
    reader.expect(1);
    assert!(reader.recv(&mut Memory(&wire.bytes[..HEADER], usize::MAX), &mut [0]).is_err());
    assert_eq!(reader.prompt, 1);
}

#[test]
fn nothing_is_read_after_damage() {
    let (_, mut wire) = frames(&[(10, true), (10, true), (10, true)]);
    wire[HEADER + 5] ^= 1;
    let (mut reader, mut source) = (FrameReader::new(), Memory(&wire, usize::MAX));
    assert!(matches!(
        reader.recv(&mut source, &mut [0; 4]),
        Err(Error { kind: Kind::Malformed(_) | Kind::Stranger(_), .. })
    ));
    assert!(matches!(reader.recv(&mut source, &mut [0; 4]), Err(Error { kind: Kind::Closed, .. })));
}

#[test]
fn lengths_are_bounded_whoever_made_the_checksum() {
    for len in [MAX_PAYLOAD as u32 + 1, u32::MAX] {
        let header = Header { len, number: 0, checksum: 0 }.encode();
        let wire = [&header[..], &[0; 100]].concat();
        for piece in [1, 1 << 20] {
            let said = receive(&wire, 1 << 20, piece, usize::MAX);
            assert!(
                matches!(&said, Err(Error { kind: Kind::Malformed(text) | Kind::Stranger(text), .. }) if text.contains("claims")),
                "{said:?}"
            );
        }
    }
}

#[test]
fn other_languages_are_recognized() {
    for (wire, says) in [
        (&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x00\x00\x00\x00\x00"[..], "TLS"),
        (&[21, 3, 3, 0, 2, 2, 70], "TLS"),
        (b"HTTP/1.1 400 Bad Request\r\n", "HTTP"),
        (b"SSH-2.0-x", "SSH"),
        (&[0; 16], "not comity"),
    ] {
        let said = receive(wire, 1, 1, usize::MAX);
        assert!(
            matches!(&said, Err(Error { kind: Kind::Malformed(text) | Kind::Stranger(text), .. }) if text.contains(says)),
            "{said:?}"
        );
    }
}

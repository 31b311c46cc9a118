//! Coded rows: what is decoded is what was encoded, and digests tell whose copy is wrong.

use comity_core::{Backend, Bits, Block, Check, ErasureCode, Kind, Result};
use comity_garble::coded::{CopyDigests, DIGEST, RowDecoder, RowEncoder};
use comity_garble::lockstep::CopyChoice;
use comity_testing::laws::rng;

static CHECKED: Check = Check { system: "test", name: "Checked", says: "a checked copy is wrong" };
static EVALUATED: Check = Check { system: "test", name: "Evaluated", says: "an evaluated copy is wrong" };

const KEY: [u8; DIGEST] = [3; DIGEST];
const COPIES: usize = 5;

fn choice() -> CopyChoice {
    CopyChoice::new(&Bits::from_bytes(&[0b01010], COPIES))
}

fn code() -> ErasureCode {
    ErasureCode::new(Backend::detect(), COPIES, 2)
}

/// The columns of some copies, side by side.
fn columns(rows: &[Block], copies: &[usize]) -> Vec<Block> {
    rows.chunks_exact(COPIES).flat_map(|row| copies.iter().map(|&j| row[j])).collect()
}

/// Sends parts of `rows`; `spoil` may change what travels, then the digests. Returns the decoded rows, and the verdict.
fn transfer(
    parts: &[Vec<Block>],
    known: impl Fn(&mut Vec<Block>),
    mut coded: impl FnMut(&mut [Block]),
    digests: impl Fn(&mut Vec<[u8; DIGEST]>),
) -> (Vec<Vec<Block>>, Result<()>) {
    let (choice, mut encoder) = (choice(), RowEncoder::new(code(), &KEY));
    let mut decoder = RowDecoder::new(&code(), &choice, &KEY);
    let mut decoded = Vec::new();
    for rows in parts {
        let sent = encoder.encode(rows);
        assert_eq!(sent.len(), rows.len() / COPIES * 2);
        coded(sent);
        let mut own = columns(rows, &choice.checked);
        known(&mut own);
        let mut missing = vec![Block::ZERO; rows.len() / COPIES * 2];
        let recv = |bytes: &mut [u8]| {
            bytes.copy_from_slice(Block::bytes_of(sent));
            Ok(())
        };
        decoder.decode(&choice, &own, &mut missing, recv).expect("nothing fails");
        decoded.push(missing);
    }
    let mut all: Vec<_> = encoder.digests().collect();
    digests(&mut all);
    let mut arrived = all.into_iter();
    let verdict = decoder.check(&choice, || Ok(arrived.next().expect("a digest")), [&CHECKED, &EVALUATED]);
    (decoded, verdict)
}

/// The parts to send, of several sizes.
fn parts() -> Vec<Vec<Block>> {
    let mut rng = rng(90);
    [4, 256, 1, 0, 30].map(|rows| (0..rows * COPIES).map(|_| rng.block()).collect()).to_vec()
}

fn named(verdict: Result<()>) -> Option<&'static str> {
    match verdict {
        Ok(()) => None,
        Err(error) => match error.kind {
            Kind::Misbehaved(check) => Some(check.name),
            other => panic!("{other:?}"),
        },
    }
}

#[test]
fn what_is_decoded_is_what_was_encoded() {
    let parts = parts();
    let (decoded, verdict) = transfer(&parts, |_| {}, |_| {}, |_| {});
    assert_eq!(named(verdict), None);
    for (decoded, rows) in decoded.iter().zip(&parts) {
        assert!(*decoded == columns(rows, &choice().evaluated));
    }
}

#[test]
fn digests_tell_which_copies_are_wrong() {
    let one = Block::from_u128(1);
    // Other values of the code spoil all that is decoded of them.
    let (_, verdict) =
        transfer(&parts(), |_| {}, |coded| coded.iter_mut().take(1).for_each(|block| *block ^= one), |_| {});
    assert_eq!(named(verdict), Some("Evaluated"));
    let (_, verdict) =
        transfer(&parts(), |known| known.iter_mut().take(1).for_each(|block| *block ^= one), |_| {}, |_| {});
    assert_eq!(named(verdict), Some("Checked"));
    for j in 0..COPIES {
        let (_, verdict) = transfer(&parts(), |_| {}, |_| {}, |digests| digests[j][31] ^= 0x80);
        assert_eq!(named(verdict), Some(if choice().evaluated.contains(&j) { "Evaluated" } else { "Checked" }), "{j}");
    }
    // Of two that are wrong the checked one is named.
    let (_, verdict) =
        transfer(&parts(), |_| {}, |_| {}, |digests| digests.iter_mut().for_each(|digest| digest[0] ^= 1));
    assert_eq!(named(verdict), Some("Checked"));
}

/// A copy's digest is that of its column, however the rows come.
#[test]
fn digests_are_of_columns() {
    let parts = parts();
    let (mut whole, mut each) = (CopyDigests::new(&KEY, COPIES), CopyDigests::new(&KEY, COPIES));
    let mut seen = vec![Vec::new(); COPIES];
    for rows in &parts {
        let keep = |j: usize, column: &[Block]| {
            seen[j].extend_from_slice(column);
            Ok(())
        };
        whole.add_each(rows, 0..COPIES, keep).expect("nothing fails");
    }
    seen.iter().enumerate().for_each(|(j, column)| each.add_column(j, column));
    let wanted: Vec<[u8; DIGEST]> =
        seen.iter().map(|column| *blake3::keyed_hash(&KEY, Block::bytes_of(column)).as_bytes()).collect();
    assert!(whole.finish().eq(wanted.iter().copied()) && each.finish().eq(wanted));
}

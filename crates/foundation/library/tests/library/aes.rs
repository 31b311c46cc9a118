//! AES against FIPS 197 and against the standard's definition on random keys.

use comity_circuit::Builder;
use comity_library::aes::{self, KeySchedule};

use crate::{Random, circuit, run_hex};

const VECTORS: [(&str, &str, &str); 4] = [
    // Appendix B, then C.1 to C.3.
    ("2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32"),
    ("000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"),
    (
        "000102030405060708090a0b0c0d0e0f1011121314151617",
        "00112233445566778899aabbccddeeff",
        "dda97ca4864cdfe06eaf70a0ec0d7191",
    ),
    (
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "00112233445566778899aabbccddeeff",
        "8ea2b7ca516745bfeafc49904b496089",
    ),
];

#[test]
fn fips_197_reads_as_printed() {
    for (key, block, ciphertext) in VECTORS {
        let c = circuit([4 * key.len(), 128], |b, [key, block]| vec![aes::encrypt(b, key, block)]);
        assert_eq!(run_hex(&c, &[key, block]), [ciphertext]);
    }
}

#[test]
fn each_s_box_costs_32_ands() {
    for (bits, s_boxes, depth) in [(128, 200, 60), (192, 224, 72), (256, 276, 84)] {
        let counts = circuit([bits, 128], |b, [key, block]| vec![aes::encrypt(b, key, block)]).counts();
        assert_eq!((counts.and, counts.and_depth), (32 * s_boxes, depth), "AES-{bits}");
    }
}

#[test]
fn one_schedule_encrypts_many_blocks() {
    let c = circuit([128, 128, 128], |b, [key, one, other]| {
        let schedule = KeySchedule::expand(b, key);
        vec![schedule.encrypt(b, one), schedule.encrypt(b, other)]
    });
    assert_eq!(c.counts().and, 1280 + 2 * 5120);
    let (key, block, ciphertext) = VECTORS[0];
    assert_eq!(run_hex(&c, &[key, block, block]), [ciphertext, ciphertext]);
}

#[test]
fn random_keys_and_blocks_agree_with_the_definition() {
    let mut random = Random(197);
    let mut hex = |bytes: usize| (0..bytes).map(|_| format!("{:02x}", random.next() as u8)).collect::<String>();
    for bits in [128, 192, 256] {
        let c = circuit([bits, 128], |b, [key, block]| vec![aes::encrypt(b, key, block)]);
        for _ in 0..8 {
            let (key, block) = (hex(bits / 8), hex(16));
            assert_eq!(run_hex(&c, &[&key, &block]), [reference(&key, &block)], "AES-{bits}, {key}, {block}");
        }
    }
}

#[test]
#[should_panic(expected = "128, 192 or 256")]
fn other_key_lengths_are_refused() {
    let mut b = Builder::new();
    let key = b.input("key", 160);
    KeySchedule::expand(&mut b, &key);
}

/// The ciphertext by FIPS 197, sections 5.1 and 5.2, byte by byte.
fn reference(key: &str, block: &str) -> String {
    let bytes = |hex: &str| -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
    };
    let double = |x: u8| x << 1 ^ if x & 0x80 == 0 { 0 } else { 0x1b };
    let times = |x: u8, y: u8| (0..8).rev().fold(0, |sum, i| double(sum) ^ if y >> i & 1 == 1 { x } else { 0 });
    let s_box: Vec<u8> = (0..=255)
        .map(|x| (0..=255).find(|&y| times(x, y) == 1).unwrap_or(0))
        .map(|inverse| (0..5).fold(0x63, |sum, i| sum ^ inverse.rotate_left(i)))
        .collect();
    let mut schedule: Vec<[u8; 4]> = bytes(key).chunks(4).map(|word| word.try_into().unwrap()).collect();
    let nk = schedule.len();
    let mut constant = 1;
    for i in nk..4 * (nk + 7) {
        let mut word = schedule[i - 1];
        if i % nk == 0 {
            word.rotate_left(1);
            word = word.map(|x| s_box[usize::from(x)]);
            word[0] ^= constant;
            constant = double(constant);
        } else if nk > 6 && i % nk == 4 {
            word = word.map(|x| s_box[usize::from(x)]);
        }
        schedule.push(std::array::from_fn(|j| word[j] ^ schedule[i - nk][j]));
    }
    let mut state = bytes(block);
    for (round, key) in schedule.chunks(4).enumerate() {
        if round > 0 {
            state = (0..16).map(|i| s_box[usize::from(state[(i + 4 * (i % 4)) % 16])]).collect();
            if round < nk + 6 {
                let mixed = |i: usize| {
                    let at = |k: usize| state[i / 4 * 4 + (i + k) % 4];
                    double(at(0)) ^ double(at(1)) ^ at(1) ^ at(2) ^ at(3)
                };
                state = (0..16).map(mixed).collect();
            }
        }
        state.iter_mut().zip(key.as_flattened()).for_each(|(x, k)| *x ^= k);
    }
    state.iter().map(|x| format!("{x:02x}")).collect()
}

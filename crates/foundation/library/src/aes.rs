//! AES encryption (FIPS 197), with the key expansion in the circuit.
//!
//! A value is one number whose hex reads as the standard prints it: wire 0 is the least significant bit of the last
//! byte. Each S-box costs 32 ANDs, 6 deep, and for depth 34, 4 deep: AES-128 has 200 of them and 6,400 or 6,800 ANDs.

mod tables;

use comity_circuit::{Builder, Goal, Program, ProgramBuilder, Recipients, Register, Wire};

use crate::lookup::{Special, lookup, table_of};

/// A byte as wires, least significant bit first, and the mask of those to be complemented. Complements travel through
/// XORs for free and often cancel; only an S-box or an output needs them done.
#[derive(Clone, Copy)]
struct Byte {
    bits: [Wire; 8],
    complement: u8,
}

impl Byte {
    fn of(bits: &[Wire]) -> Byte {
        Byte { bits: std::array::from_fn(|i| bits[i]), complement: 0 }
    }

    fn xor(b: &mut Builder, x: Byte, y: Byte) -> Byte {
        let bits = std::array::from_fn(|i| b.xor(x.bits[i], y.bits[i]));
        Byte { bits, complement: x.complement ^ y.complement }
    }

    fn value(self, b: &mut Builder) -> [Wire; 8] {
        std::array::from_fn(|i| if self.complement >> i & 1 == 1 { b.not(self.bits[i]) } else { self.bits[i] })
    }

    fn substitute(self, b: &mut Builder) -> Byte {
        let bits = self.value(b);
        let s_box = match b.goal() {
            Goal::Size => &tables::SBOX,
            Goal::Depth => &tables::SBOX_SHALLOW,
        };
        Byte { complement: 0x63, ..Byte::of(&s_box.build(b, &bits)) }
    }
}

/// The bytes of a value in the order of the standard: the first one is the most significant.
fn bytes(value: &[Wire]) -> Vec<Byte> {
    value.rchunks(8).map(Byte::of).collect()
}

/// The round keys of an AES key: expanded once, they encrypt any number of blocks in a circuit.
pub struct KeySchedule {
    rounds: Vec<[Byte; 16]>,
}

impl KeySchedule {
    /// Expands a key of 128, 192 or 256 bits: 40, 32 or 52 S-boxes, so 1,280, 1,024 or 1,664 ANDs.
    ///
    /// # Panics
    /// If the key has another length.
    pub fn expand(b: &mut Builder, key: &[Wire]) -> KeySchedule {
        assert!(matches!(key.len(), 128 | 192 | 256), "an AES key has 128, 192 or 256 bits");
        let mut schedule = bytes(key);
        let period = schedule.len(); // the key's length in bytes
        let mut constant = 1u8;
        while schedule.len() < 16 * (period / 4 + 7) {
            let at = schedule.len();
            let mut word: [Byte; 4] = std::array::from_fn(|i| schedule[at - 4 + i]);
            if at.is_multiple_of(period) {
                word.rotate_left(1);
                word = word.map(|byte| byte.substitute(b));
                word[0].complement ^= constant;
                constant = constant << 1 ^ if constant & 0x80 == 0 { 0 } else { 0x1b };
            } else if period == 32 && at % 32 == 16 {
                word = word.map(|byte| byte.substitute(b));
            }
            for (i, byte) in word.into_iter().enumerate() {
                schedule.push(Byte::xor(b, schedule[at - period + i], byte));
            }
        }
        KeySchedule { rounds: schedule.as_chunks().0.to_vec() }
    }

    /// The round keys as they stand, to be kept between circuits: 128 bits for each round and 128 more. No ANDs.
    pub fn to_wires(&self, b: &mut Builder) -> Vec<Wire> {
        self.rounds.iter().flatten().flat_map(|byte| byte.value(b)).collect()
    }

    /// The round keys from the wires that [`KeySchedule::to_wires`] gave.
    ///
    /// # Panics
    /// If it is not a key for 10, 12 or 14 rounds.
    pub fn from_wires(rounds: &[Wire]) -> KeySchedule {
        assert!(matches!(rounds.len(), 1408 | 1664 | 1920), "an AES key is for 10, 12 or 14 rounds");
        let bytes: Vec<Byte> = rounds.chunks(8).map(Byte::of).collect();
        KeySchedule { rounds: bytes.as_chunks().0.to_vec() }
    }

    /// Encrypts a block of 128 bits: 160, 192 or 224 S-boxes, so 5,120, 6,144 or 7,168 ANDs.
    ///
    /// # Panics
    /// If the block has another length.
    pub fn encrypt(&self, b: &mut Builder, block: &[Wire]) -> Vec<Wire> {
        assert_eq!(block.len(), 128, "an AES block has 128 bits");
        let mut state = bytes(block);
        for (round, key) in self.rounds.iter().enumerate() {
            if round > 0 {
                // SubBytes and ShiftRows: row r of column c comes from column c + r. Byte r + 4c is in row r, column c.
                let shifted = |i: usize| state[(i + 4 * (i % 4)) % 16];
                state = (0..16).map(|i| shifted(i).substitute(b)).collect();
            }
            if round > 0 && round + 1 < self.rounds.len() {
                state = state.chunks(4).flat_map(|column| mix(b, column)).collect();
            }
            state = state.into_iter().zip(key).map(|(state, &key)| Byte::xor(b, state, key)).collect();
        }
        state.into_iter().rev().flat_map(|byte| byte.value(b)).collect()
    }
}

/// MixColumns of one column. Its four bytes have equal complements after SubBytes, and so have those of the result,
/// since 2 + 3 + 1 + 1 = 1 in GF(2^8).
fn mix(b: &mut Builder, column: &[Byte]) -> Vec<Byte> {
    let bits: Vec<Wire> = column.iter().flat_map(|byte| byte.bits).collect();
    let complement = column[0].complement;
    tables::MIX_COLUMN.build(b, &bits).chunks(8).map(|bits| Byte { complement, ..Byte::of(bits) }).collect()
}

/// AES of a block under a key of 128, 192 or 256 bits: 6,400, 7,168 or 8,832 ANDs.
///
/// # Panics
/// If the block or the key has another length.
pub fn encrypt(b: &mut Builder, key: &[Wire], block: &[Wire]) -> Vec<Wire> {
    KeySchedule::expand(b, key).encrypt(b, block)
}

/// The S-box of a byte.
fn substituted(b: &mut Builder, byte: &[Wire]) -> Vec<Wire> {
    Byte::of(byte).substitute(b).value(b).to_vec()
}

/// The S-box as a table, and its gates.
pub(crate) fn s_box() -> Special {
    (table_of(8, 8, substituted), substituted)
}

/// AES-128 of a block as a program whose S-boxes are calls that look up a
/// [`LookupTable`](comity_circuit::LookupTable): 10 rounds of 20, those of the state and of the key side by
/// side, and between them circuits without ANDs. An engine that runs gates alone runs those of the S-box.
/// All blocks are under one key, which is expanded once, and the S-boxes of one round are side by side in all
/// of them.
///
/// # Panics
/// If there are no blocks, or more than 2^40.
pub fn table_program(goal: Goal, blocks: u64) -> Program {
    assert!((1..=1 << 40).contains(&blocks), "a program of {blocks} blocks");
    let mut p = ProgramBuilder::for_goal("aes128table", goal);
    let (key, block) = (p.input("key", 0, 128), p.input("block", 1, 128 * blocks));
    let mut b = p.builder();
    let x = b.input("x", 8);
    let y = lookup(&mut b, &table_of(8, 8, substituted), &x);
    b.output("y", &y);
    let s_box = p.circuit(b.finish());
    // The bytes to be substituted: those of the states, then the last ones of the key, which the next round key wants.
    let (boxes, state) = (p.register(128 * blocks + 32), p.register(128 * blocks));
    let (states, word) = (boxes.slice(0, 128 * blocks), boxes.slice(128 * blocks, 32));
    let keys = p.register(128);
    let each = |register: Register, bits: u64| {
        (register.slice(0, bits).span(), if bits == register.bits() { 0 } else { bits as i64 })
    };
    let mut b = p.builder();
    let [key_wires, block_wires] = ["key", "block"].map(|name| b.input(name, 128));
    let first: Vec<Wire> = key_wires.iter().zip(&block_wires).map(|(&x, &y)| b.xor(x, y)).collect();
    b.output("state", &first);
    let begin = p.circuit(b.finish());
    p.map(begin, blocks, &[(key.span(), 0), each(block, 128)], &[each(states, 128)]);
    let mut b = p.builder();
    let key_wires = b.input("key", 128);
    b.output("word", &key_wires[..32]);
    let last = p.circuit(b.finish());
    p.call(last, &[key.span()], &[word.span()]);
    let [middle, end] = [true, false].map(|mixes| {
        let mut b = p.builder();
        let [key_wires, boxed] = ["key", "state"].map(|name| b.input(name, 128));
        let next = linear(&mut b, &key_wires, &boxed, mixes);
        b.output("state", &next);
        p.circuit(b.finish())
    });
    let mut constant = 1u8;
    for round in 1..=10 {
        p.map(s_box, 16 * blocks + 4, &[each(boxes, 8)], &[each(boxes, 8)]);
        let mut b = p.builder();
        let [key_wires, word_wires] = [("key", 128), ("word", 32)].map(|(name, bits)| b.input(name, bits));
        let next = next_key(&mut b, &key_wires, &word_wires, constant);
        b.output("key", &next);
        let (mut to, from) = (vec![keys.span()], if round == 1 { key } else { keys });
        if round < 10 {
            b.output("word", &next[..32]);
            to.push(word.span());
        }
        let expand = p.circuit(b.finish());
        p.call(expand, &[from.span(), word.span()], &to);
        let (linear, to) = if round < 10 { (middle, states) } else { (end, state) };
        p.map(linear, blocks, &[(keys.span(), 0), each(states, 128)], &[each(to, 128)]);
        constant = constant << 1 ^ if constant & 0x80 == 0 { 0 } else { 0x1b };
    }
    p.reveal("ciphertext", Recipients::All, state);
    p.finish().expect("a built-in program is in order")
}

/// The next round key, from the one before and its last word's substituted bytes.
fn next_key(b: &mut Builder, key: &[Wire], word: &[Wire], constant: u8) -> Vec<Wire> {
    let mut word = bytes(word);
    word.rotate_left(1);
    word[0].complement ^= constant;
    let mut next = bytes(key);
    for i in 0..16 {
        next[i] = Byte::xor(b, next[i], if i < 4 { word[i] } else { next[i - 4] });
    }
    wires(b, next)
}

/// The state after a round, from the substituted one and the round key.
fn linear(b: &mut Builder, key: &[Wire], substituted: &[Wire], mixes: bool) -> Vec<Wire> {
    let substituted = bytes(substituted);
    let mut state: Vec<Byte> = (0..16).map(|i| substituted[(i + 4 * (i % 4)) % 16]).collect();
    if mixes {
        state = state.chunks(4).flat_map(|column| mix(b, column)).collect();
    }
    let state = state.into_iter().zip(bytes(key)).map(|(state, key)| Byte::xor(b, state, key)).collect();
    wires(b, state)
}

/// The wires of bytes, as [`bytes`] takes them.
fn wires(b: &mut Builder, bytes: Vec<Byte>) -> Vec<Wire> {
    bytes.into_iter().rev().flat_map(|byte| byte.value(b)).collect()
}

#[cfg(test)]
mod tests {
    use comity_circuit::eval_circuit;
    use comity_core::Bits;

    use super::*;

    fn double(x: u8) -> u8 {
        x << 1 ^ if x & 0x80 == 0 { 0 } else { 0x1b }
    }

    /// The S-box by its definition: inversion in GF(2^8), then the affine map.
    fn s_box(x: u8) -> u8 {
        let times = |x: u8, y: u8| (0..8).rev().fold(0, |sum, i| double(sum) ^ if y >> i & 1 == 1 { x } else { 0 });
        let inverse = (0..=255).find(|&y| times(x, y) == 1).unwrap_or(0);
        (0..5).fold(0x63, |sum, i| sum ^ inverse.rotate_left(i))
    }

    #[test]
    fn the_s_boxes_have_few_gates_and_every_value() {
        for (goal, gates) in [(Goal::Size, (32, 78, 4, 6)), (Goal::Depth, (34, 78, 4, 4))] {
            let mut b = Builder::for_goal(goal);
            let x = b.input("x", 8);
            let y = Byte::of(&x).substitute(&mut b).value(&mut b);
            b.output("y", &y);
            let circuit = b.finish();
            let counts = circuit.counts();
            assert_eq!((counts.and, counts.xor, counts.not, counts.and_depth), gates);
            for x in 0..=255 {
                assert_eq!(eval_circuit(&circuit, &[Bits::from_bytes(&[x], 8)])[0].to_bytes(), [s_box(x)], "of {x}");
            }
        }
    }

    #[test]
    fn mix_columns_has_89_gates_and_is_the_matrix() {
        let mut b = Builder::new();
        let x = b.input("x", 32);
        let y = mix(&mut b, &x.chunks(8).map(Byte::of).collect::<Vec<_>>());
        b.output("y", &y.iter().flat_map(|byte| byte.bits).collect::<Vec<_>>());
        let circuit = b.finish();
        assert_eq!((circuit.counts().xor, circuit.gates().len()), (89, 89));
        // It is linear: the unit vectors say all.
        for i in 0..32 {
            let x = (1u32 << i).to_le_bytes();
            let expected: Vec<u8> = (0..4)
                .map(|r| double(x[r]) ^ double(x[(r + 1) % 4]) ^ x[(r + 1) % 4] ^ x[(r + 2) % 4] ^ x[(r + 3) % 4])
                .collect();
            assert_eq!(eval_circuit(&circuit, &[Bits::from_bytes(&x, 32)])[0].to_bytes(), expected);
        }
    }
}

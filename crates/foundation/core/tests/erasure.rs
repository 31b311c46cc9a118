//! The erasure code against polynomials evaluated one by one in a field made of logarithms.

use comity_core::{Backend, Block, ErasureCode, Prg};

/// GF(2^8) of AES by powers of x + 1, which generates it.
struct Field {
    log: [u8; 256],
    exp: [u8; 255],
}

impl Field {
    fn new() -> Field {
        let (mut log, mut exp, mut x) = ([0; 256], [0; 255], 1u8);
        for (i, power) in exp.iter_mut().enumerate() {
            (*power, log[x as usize]) = (x, i as u8);
            x ^= x << 1 ^ if x >> 7 == 1 { 0x1b } else { 0 };
        }
        assert_eq!(x, 1);
        Field { log, exp }
    }

    fn multiply(&self, a: u8, b: u8) -> u8 {
        let log = |x: u8| self.log[x as usize] as usize;
        if a == 0 || b == 0 { 0 } else { self.exp[(log(a) + log(b)) % 255] }
    }

    fn value(&self, polynomial: &[u8], at: u8) -> u8 {
        polynomial.iter().rev().fold(0, |value, &c| self.multiply(value, at) ^ c)
    }
}

/// Random messages of `len` bytes and their coded ones, from random polynomials of degree below `t`.
fn oracle(t: usize, e: usize, len: usize) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let (field, mut prg) = (Field::new(), Prg::new(Backend::detect(), Block::from_u128((t * 256 + e) as u128)));
    let mut all = vec![vec![0; len]; t + e];
    for byte in 0..len {
        let polynomial: Vec<u8> = (0..t).map(|_| prg.block().to_bytes()[0]).collect();
        for (place, message) in all.iter_mut().enumerate() {
            message[byte] = field.value(&polynomial, place as u8 + 1);
        }
    }
    let coded = all.split_off(t);
    (all, coded)
}

fn encode(code: &ErasureCode, messages: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut coded = vec![vec![0xaa; messages[0].len()]; code.coded()];
    let (from, mut to) = (slices(messages), coded.iter_mut().map(|c| &mut c[..]).collect::<Vec<_>>());
    code.encode(&from, &mut to);
    coded
}

fn slices(messages: &[Vec<u8>]) -> Vec<&[u8]> {
    messages.iter().map(|m| &m[..]).collect()
}

fn decode(code: &ErasureCode, missing: &[usize], messages: &[Vec<u8>], coded: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let known: Vec<&[u8]> = (0..messages.len()).filter(|i| !missing.contains(i)).map(|i| &messages[i][..]).collect();
    let mut found = vec![vec![0xaa; coded.first().map_or(0, Vec::len)]; missing.len()];
    let mut to: Vec<&mut [u8]> = found.iter_mut().map(|f| &mut f[..]).collect();
    code.decoder(missing).decode(&known, &slices(coded), &mut to);
    found
}

/// The rows of messages of whole blocks, side by side.
fn rows(messages: &[&[u8]]) -> Vec<Block> {
    let blocks = messages.first().map_or(0, |m| m.len() / 16);
    let block = |m: &[u8], i: usize| Block::new(m.as_chunks::<16>().0[i]);
    (0..blocks).flat_map(|i| messages.iter().map(move |m| block(m, i))).collect()
}

/// A choice of `e` numbers below `t` in ascending order, others for every seed.
fn choice(t: usize, e: usize, seed: u128) -> Vec<usize> {
    let mut prg = Prg::new(Backend::detect(), Block::from_u128(seed));
    let mut all: Vec<_> = (0..t).map(|i| (prg.block().to_u128(), i)).collect();
    all.sort_unstable();
    let mut chosen: Vec<usize> = all[..e].iter().map(|&(_, i)| i).collect();
    chosen.sort_unstable();
    chosen
}

/// The sizes to test: every number of outputs modulo the kernels' groups, and those of the protocols.
const SIZES: [(usize, usize); 14] = [
    (1, 0),
    (1, 1),
    (2, 1),
    (3, 3),
    (5, 2),
    (9, 4),
    (8, 5),
    (13, 6),
    (12, 7),
    (10, 9),
    (40, 20),
    (44, 19),
    (84, 39),
    (170, 85),
];

#[test]
fn every_backend_encodes_and_decodes_as_polynomials_say() {
    for &(t, e) in if cfg!(miri) { &SIZES[3..6] } else { &SIZES[..] } {
        let (messages, coded) = oracle(t, e, if cfg!(miri) { 70 } else { 131 });
        for backend in Backend::available() {
            let code = ErasureCode::new(backend, t, e);
            assert_eq!((code.messages(), code.coded()), (t, e));
            assert!(encode(&code, &messages) == coded, "{backend}, {t}, {e}");
            for seed in 0..3 {
                let missing = choice(t, e, seed);
                let found = decode(&code, &missing, &messages, &coded);
                assert!(missing.iter().zip(&found).all(|(&i, found)| messages[i] == *found), "{backend}, {missing:?}");
            }
        }
    }
}

#[test]
fn any_messages_may_be_missing() {
    for &(t, e) in if cfg!(miri) { &[(4, 2)][..] } else { &[(6, 3), (7, 1), (5, 5)] } {
        let (messages, coded) = oracle(t, e, 20);
        let code = ErasureCode::new(Backend::detect(), t, e);
        for set in (0..1u32 << t).filter(|set| set.count_ones() as usize == e) {
            let missing: Vec<usize> = (0..t).filter(|i| set >> i & 1 == 1).collect();
            let found = decode(&code, &missing, &messages, &coded);
            assert!(missing.iter().zip(&found).all(|(&i, found)| messages[i] == *found), "{missing:?} of {t}");
        }
    }
}

#[test]
fn any_length_and_alignment_is_coded() {
    let (t, e) = if cfg!(miri) { (3, 2) } else { (11, 5) };
    let (messages, coded) = oracle(t, e, 300);
    for backend in Backend::available() {
        let code = ErasureCode::new(backend, t, e);
        let lens = (0..140).filter(|len| !cfg!(miri) || matches!(len % 64, 0 | 1 | 63));
        for (from, to) in lens.map(|len| (len % 7, len % 7 + len)).chain([(0, 300), (1, 257)]) {
            let part = |all: &[Vec<u8>]| all.iter().map(|m| m[from..to].to_vec()).collect::<Vec<_>>();
            let inside: Vec<&[u8]> = messages.iter().map(|m| &m[from..to]).collect();
            let mut out = vec![vec![0; 300]; e];
            code.encode(&inside, &mut out.iter_mut().map(|o| &mut o[from..to]).collect::<Vec<_>>());
            assert!(part(&out) == part(&coded), "{backend}, {from}..{to}");
            assert!(out.iter().all(|o| o[..from].iter().chain(&o[to..]).all(|&b| b == 0)), "{backend}, {from}..{to}");
        }
    }
}

#[test]
fn rows_are_coded_as_slices_are() {
    let sizes = if cfg!(miri) { &[(1, 0), (4, 3)][..] } else { &[(1, 0), (4, 4), (11, 5), (44, 19)] };
    for &(t, e) in sizes {
        for &blocks in if cfg!(miri) { &[0, 3, 4, 9][..] } else { &[0, 1, 2, 3, 4, 5, 15, 16] } {
            let (messages, coded) = oracle(t, e, 16 * blocks);
            let missing = choice(t, e, blocks as u128);
            let of =
                |all: &[Vec<u8>], numbers: &[usize]| rows(&numbers.iter().map(|&i| &all[i][..]).collect::<Vec<_>>());
            let known: Vec<usize> = (0..t).filter(|i| !missing.contains(i)).collect();
            for backend in Backend::available() {
                let code = ErasureCode::new(backend, t, e);
                let mut sent = vec![Block::ZERO; blocks * e];
                code.encode_rows(&rows(&slices(&messages)), &mut sent);
                assert!(sent == rows(&slices(&coded)), "{backend}, {t}, {e}, {blocks} blocks");
                let mut found = vec![Block::ZERO; blocks * e];
                code.decoder(&missing).decode_rows(&of(&messages, &known), &sent, &mut found);
                assert!(found == of(&messages, &missing), "{backend}, {t}, {e}, {blocks} blocks");
            }
        }
    }
}

#[test]
fn every_missing_byte_depends_on_every_byte_at_its_place() {
    // A code of less distance would let a sender change a message unseen by the receiver's choice.
    let (t, e) = (9, 4);
    let (messages, coded) = oracle(t, e, 64);
    let missing = choice(t, e, 5);
    let code = ErasureCode::new(Backend::detect(), t, e);
    for wrong in 0..e {
        let mut coded = coded.clone();
        coded[wrong][17] ^= 1;
        for (&i, found) in missing.iter().zip(decode(&code, &missing, &messages, &coded)) {
            let differ: Vec<usize> = (0..64).filter(|&byte| found[byte] != messages[i][byte]).collect();
            assert_eq!(differ, [17]);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "safe code")]
fn what_does_not_fit_is_refused() {
    fn refused(what: impl FnOnce() + std::panic::UnwindSafe) -> bool {
        std::panic::catch_unwind(what).is_err()
    }
    let code = || ErasureCode::new(Backend::detect(), 4, 2);
    assert!(refused(|| drop(ErasureCode::new(Backend::detect(), 4, 5))));
    assert!(refused(|| drop(ErasureCode::new(Backend::detect(), 200, 56))));
    assert!(!refused(|| drop(ErasureCode::new(Backend::detect(), 200, 55))));
    for missing in [&[0][..], &[0, 4], &[1, 1], &[2, 1], &[0, 1, 2]] {
        assert!(refused(move || drop(code().decoder(missing))), "{missing:?}");
    }
    let zeros = [0u8; 8];
    let encode = |lens: [usize; 6]| {
        refused(move || {
            let [a, b] = lens[4..] else { unreachable!() };
            let messages: Vec<&[u8]> = lens[..4].iter().map(|&len| &zeros[..len]).collect();
            code().encode(&messages, &mut [&mut [0; 8][..a], &mut [0; 8][..b]]);
        })
    };
    assert!(!encode([8; 6]) && encode([8, 8, 8, 7, 8, 8]) && encode([8, 8, 8, 8, 8, 7]) && encode([7, 8, 8, 8, 8, 8]));
    assert!(refused(move || code().encode(&[&zeros[..]; 3], &mut [&mut [0; 8], &mut [0; 8]])));
    assert!(refused(move || code().encode(&[&zeros[..]; 4], &mut [&mut [0; 8]])));
    assert!(refused(move || code().encode_rows(&[Block::ZERO; 9], &mut [Block::ZERO; 4])));
    assert!(refused(move || code().encode_rows(&[Block::ZERO; 8], &mut [Block::ZERO; 5])));
    let decode = |known: usize, coded: usize, missing: usize| {
        let [known, coded, mut missing] = [known, coded, missing].map(|n| vec![Block::ZERO; n]);
        refused(move || code().decoder(&[1, 3]).decode_rows(&known, &coded, &mut missing))
    };
    assert!(!decode(6, 6, 6) && decode(6, 4, 6) && decode(4, 6, 6) && decode(6, 6, 4) && decode(5, 6, 6));
}

#[test]
#[cfg_attr(miri, ignore = "safe code")]
fn the_frontier_is_that_of_binomials() {
    assert_eq!(
        ErasureCode::pairs(40),
        [
            (44, 19),
            (45, 17),
            (47, 16),
            (49, 15),
            (51, 14),
            (54, 13),
            (59, 12),
            (67, 11),
            (78, 10),
            (95, 9),
            (124, 8),
            (181, 7)
        ]
    );
    let at_80 = ErasureCode::pairs(80);
    assert_eq!((at_80[0], at_80.contains(&(90, 31)), at_80.len()), ((84, 39), true, 22));
    // Among the smallest numbers, against products.
    let ways = |t: usize, e: usize| (0..e).fold(1u128, |ways, i| ways * (t - i) as u128 / (i + 1) as u128);
    for rho in [0, 1, 2, 8, 20, 40] {
        let pairs = ErasureCode::pairs(rho);
        assert!(pairs.is_sorted_by(|a, b| a.0 < b.0 && a.1 > b.1));
        for &(t, e) in &pairs {
            assert!(ways(t, e) >= 1 << rho && (e == 0 || ways(t, e - 1) < 1 << rho), "{rho}: {t}, {e}");
            // One circuit fewer does not do with so few evaluated.
            assert!(t == 1 || (0..=e.min(t - 1)).all(|e| ways(t - 1, e) < 1 << rho), "{rho}: {t}, {e}");
        }
    }
    assert!(ErasureCode::pairs(127).iter().all(|&(t, e)| t + e <= ErasureCode::MAX));
    assert!(!ErasureCode::pairs(127).is_empty());
}

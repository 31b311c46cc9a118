//! Every operation by hand, against Rust's integers: all operands of small words, extremes and others up to
//! 128 bits.

use comity_arith::{Party, Word};
use comity_circuit::Recipients;
use comity_core::{Kind, PartyId, Result, SessionId};
use comity_protocol::Here;
use comity_share::ring::{WordProduct, word_mask};
use comity_share::triples::OtKind;
use comity_testing::Net;
use comity_testing::laws::{Outputs, rng};
use comity_testing::ot::DealtBaseOts;

/// Runs both parties, and wants the same of each.
fn together<T: Send + PartialEq>(run: impl Fn(PartyId, &mut Party<'_, '_>) -> T + Sync) -> T {
    let [one, other] = Net::<2>::run(|net| {
        let id = net.me();
        let here = Here::new(id, 2, SessionId::new([3; 32]));
        let (mut draw, mut outputs) = (rng(u128::from(id.0) + 1), Outputs::default());
        let mut me = comity_protocol::Party { net, here, rng: &mut draw, observer: &mut outputs };
        let mut party = Party::setup_over::<DealtBaseOts>(&mut me, OtKind::SoftSpoken).unwrap();
        run(id, &mut party)
    });
    assert!(one == other, "the parties learn different words");
    one
}

/// Words of both parties, the first party's and the second one's.
fn put(id: PartyId, party: &mut Party<'_, '_>, bits: u32, values: &[[u128; 2]]) -> [Word; 2] {
    [0, 1].map(|owner| {
        let own: Vec<u128> = values.iter().map(|pair| pair[owner]).collect();
        let owner = PartyId(owner as u16);
        party.input(owner, bits, own.len(), (owner == id).then_some(&own)).unwrap()
    })
}

/// An operation of two words, and what Rust says of the same, of `k` bits.
type Operation = (&'static str, fn(&mut Party<'_, '_>, &Word, &Word) -> Result<Word>, fn(u32, u128, u128) -> u128);

fn shifted(k: u32, x: u128, by: u128) -> u128 {
    if by < u128::from(k) { x << by } else { 0 }
}

fn rotated(k: u32, x: u128, by: u128) -> u128 {
    let by = (by % u128::from(k)) as u32;
    (x << by | x.checked_shr(k - by).unwrap_or(0)) & word_mask(k)
}

fn power(mut x: u128, mut e: u128) -> u128 {
    let mut power = 1u128;
    while e > 0 {
        if e & 1 == 1 {
            power = power.wrapping_mul(x);
        }
        x = x.wrapping_mul(x);
        e >>= 1;
    }
    power
}

fn no_carry(k: u32, x: u128, y: u128) -> u128 {
    u128::from(x > word_mask(k) - y)
}

const OPERATIONS: &[Operation] = &[
    ("add", |p, x, y| p.add(x, y), |_, x, y| x.wrapping_add(y)),
    ("sub", |p, x, y| p.sub(x, y), |_, x, y| x.wrapping_sub(y)),
    ("neg", |p, x, _| Ok(p.neg(x)), |_, x, _| x.wrapping_neg()),
    ("scale", |p, x, _| Ok(p.scale(x, 13)), |_, x, _| x.wrapping_mul(13)),
    ("mul", |p, x, y| p.mul(x, y), |_, x, y| x.wrapping_mul(y)),
    ("square", |p, x, _| p.square(x), |_, x, _| x.wrapping_mul(x)),
    ("div_public", |p, x, _| p.div_public(x, 3), |_, x, _| x / 3),
    ("div_public by a wide number", |p, x, _| p.div_public(x, u128::MAX - 3), |_, x, _| x / (u128::MAX - 3)),
    ("rem_public", |p, x, _| p.rem_public(x, 5), |_, x, _| x % 5),
    ("div", |p, x, y| p.div(x, y), |_, x, y| x.checked_div(y).unwrap_or(u128::MAX)),
    ("rem", |p, x, y| p.rem(x, y), |_, x, y| x.checked_rem(y).unwrap_or(x)),
    (
        "both",
        |p, x, y| {
            let (q, r) = p.div_rem(x, y)?;
            p.add(&q, &r)
        },
        |_, x, y| x.checked_div(y).unwrap_or(u128::MAX).wrapping_add(x.checked_rem(y).unwrap_or(x)),
    ),
    ("checked_div", |p, x, y| Ok(p.checked_div(x, y)?.1), |_, _, y| u128::from(y != 0)),
    ("pow_public", |p, x, _| p.pow_public(x, 11), |_, x, _| power(x, 11)),
    ("pow_public by zero", |p, x, _| p.pow_public(x, 0), |_, _, _| 1),
    ("lt", |p, x, y| p.lt(x, y), |_, x, y| u128::from(x < y)),
    ("le", |p, x, y| p.le(x, y), |_, x, y| u128::from(x <= y)),
    ("gt", |p, x, y| p.gt(x, y), |_, x, y| u128::from(x > y)),
    ("ge", |p, x, y| p.ge(x, y), |_, x, y| u128::from(x >= y)),
    ("eq", |p, x, y| p.eq(x, y), |_, x, y| u128::from(x == y)),
    ("ne", |p, x, y| p.ne(x, y), |_, x, y| u128::from(x != y)),
    (
        "select",
        |p, x, y| {
            let less = p.lt(x, y)?;
            p.select(&less, x, y)
        },
        |_, x, y| x.min(y),
    ),
    ("shl", |p, x, _| Ok(p.shl(x, 2)), |k, x, _| shifted(k, x, 2)),
    ("shl by the width", |p, x, _| Ok(p.shl(x, x.bits())), |_, _, _| 0),
    ("shr", |p, x, _| p.shr(x, 2), |_, x, _| x >> 2),
    ("rotl", |p, x, _| p.rotl(x, 130), |k, x, _| rotated(k, x, 130)),
    ("rotr", |p, x, _| p.rotr(x, 1), |k, x, _| rotated(k, x, u128::from(k) - 1)),
    ("shl_by", |p, x, y| p.shl_by(x, y), shifted),
    ("shr_by", |p, x, y| p.shr_by(x, y), |k, x, y| if y < u128::from(k) { x >> y } else { 0 }),
    ("rotl_by", |p, x, y| p.rotl_by(x, y), rotated),
    ("rotr_by", |p, x, y| p.rotr_by(x, y), |k, x, y| rotated(k, x, u128::from(k) - y % u128::from(k))),
    ("bit", |p, x, _| p.bit(x, x.bits() / 2), |k, x, _| x >> (k / 2) & 1),
    ("msb", |p, x, _| p.msb(x), |k, x, _| x >> (k - 1)),
    (
        "decompose and compose",
        |p, x, _| {
            let mut bits = p.decompose(x)?;
            bits.reverse();
            p.compose(&bits)
        },
        |k, x, _| x.reverse_bits() >> (128 - k),
    ),
    ("prefix_or", |p, x, _| p.prefix_or(x), |_, x, _| u128::MAX.checked_shr(x.leading_zeros()).unwrap_or(0)),
    ("overflow", |p, x, y| p.overflow(x, y), no_carry),
    ("truncate", |p, x, _| p.truncate(x, x.bits().div_ceil(2)), |k, x, _| x & word_mask(k.div_ceil(2))),
    ("reshare", |p, x, _| p.reshare(x), |_, x, _| x),
];

/// Those that take long at large widths, or have other widths than 128 as a bound.
const SMALL: &[Operation] = &[
    ("pow", |p, x, y| p.pow(x, y), |_, x, y| power(x, y)),
    ("mul_full", |p, x, y| p.mul_full(x, y), |_, x, y| x * y),
    ("mul_overflow", |p, x, y| p.mul_overflow(x, y), |k, x, y| u128::from(x * y > word_mask(k))),
    ("widen", |p, x, _| p.widen(x, 2 * x.bits()), |_, x, _| x),
    (
        "widen_signed",
        |p, x, _| p.widen_signed(x, x.bits() + 3),
        |k, x, _| if x >> (k - 1) == 1 { x | 7 << k } else { x },
    ),
];

fn holds(operations: &[Operation], bits: u32, values: &[[u128; 2]]) {
    let found = together(|id, party| {
        let [x, y] = put(id, party, bits, values);
        let result = |(name, run, _): &Operation| {
            let result = run(party, &x, &y).unwrap_or_else(|error| panic!("{name} of {bits} bits: {error}"));
            (result.bits(), party.declassify(&result, Recipients::All).unwrap().expect("a recipient").to_vec())
        };
        operations.iter().map(result).collect::<Vec<_>>()
    });
    for ((name, _, expected), (width, found)) in operations.iter().zip(found) {
        for ([x, y], found) in values.iter().zip(found) {
            assert_eq!(found, expected(bits, *x, *y) & word_mask(width), "{name} of {x} and {y}, {bits} bits");
        }
    }
}

#[test]
fn all_operands_of_small_words() {
    for bits in 1..=5 {
        let n = 1u128 << bits;
        let values: Vec<[u128; 2]> = (0..n * n).map(|i| [i % n, i / n]).collect();
        holds(OPERATIONS, bits, &values);
        holds(SMALL, bits, &values);
    }
}

#[test]
fn extremes_and_others_of_large_words() {
    for bits in [8, 31, 33, 64, 65, 127, 128] {
        let (mask, top, mut draw) = (word_mask(bits), 1u128 << (bits - 1), rng(u128::from(bits)));
        let mut next = || draw.block().to_u128() & mask;
        let mut values = vec![[0, 0], [mask, mask], [top, mask], [mask, 1], [0, mask], [top, 3], [top - 1, top]];
        values.extend([[mask, 0], [5, u128::from(bits)], [mask, u128::from(bits) - 1], [next(), 7]]);
        values.extend((0..20).map(|i| [next(), next() >> (3 * i).min(bits - 1)]));
        holds(OPERATIONS, bits, &values);
        if bits <= 64 {
            holds(SMALL, bits, &values);
        }
    }
}

#[test]
fn a_circuit_of_ones_own_and_one_recipient() {
    use comity_library::arith;
    let learned = together(|id, party| {
        let [x, y] = put(id, party, 32, &[[7, 9], [100, 3], [5, 5]]);
        let both = party.compute(&[&x, &y], |b, words| {
            let least = arith::min(b, &words[0], &words[1]);
            let product = arith::mul(b, &least, &words[1]);
            vec![product, arith::shr(&least, 1)]
        });
        let both = both.unwrap();
        let told = party.declassify(&both[0], Recipients::only(1)).unwrap();
        assert_eq!(told.is_some(), id == PartyId(1));
        assert!(told.is_none_or(|told| *told == vec![63, 9, 25]));
        party.declassify(&both[1], Recipients::All).unwrap().unwrap().to_vec()
    });
    assert_eq!(learned, [3, 1, 2]);
}

#[test]
fn mistakes_are_errors_and_nothing_is_sent() {
    together(|id, party| {
        let [x, y] = put(id, party, 16, &[[7, 9], [100, 3]]);
        let narrow = party.truncate(&y, 8).unwrap();
        let short = party.constant(16, &[1]).unwrap();
        let refusals = [
            party.add(&x, &narrow).err(),
            party.mul(&x, &short).err(),
            party.shl_by(&x, &short).err(),
            party.div_public(&x, 0).err(),
            party.select(&narrow, &x, &y).err(),
            party.bit(&x, 16).err(),
            party.widen(&x, 129).err(),
            party.widen(&x, 8).err(),
            party.truncate(&x, 0).err(),
            party.compose(&[]).err(),
            party.constant(0, &[1]).err(),
            party.input(id, 4, 1, Some(&[16])).err(),
            party.input(id, 4, 2, Some(&[1])).err(),
            party.input(id, 4, 1, None).err(),
            party.declassify(&x, Recipients::only(2)).err(),
        ];
        for (i, refusal) in refusals.into_iter().enumerate() {
            let error = refusal.unwrap_or_else(|| panic!("mistake {i} is refused"));
            assert!(matches!(error.kind, Kind::InvalidInput(_)), "{error}");
        }
        let logic = party.compute(&[&x, &y], |b, words| vec![comity_library::arith::xor(b, &words[0], &words[1])]);
        assert!(logic.err().unwrap().to_string().contains("`xor`"));
        // And it goes on.
        let sum = party.mul(&x, &y).unwrap();
        assert_eq!(party.declassify(&sum, Recipients::All).unwrap().unwrap().to_vec(), [63, 300]);
    });
}

/// Products on triples that were made before, and more of them than there are.
#[test]
fn products_on_triples_made_ahead() {
    let values: Vec<[u128; 2]> = (1..=50).map(|i| [i * 0x9e37_79b9, u128::from(u64::MAX) - i]).collect();
    let found = together(|id, party| {
        party.prepare(WordProduct { bits: 64, square: false }, 30).unwrap();
        let [x, y] = put(id, party, 64, &values);
        let product = party.mul(&x, &y).unwrap();
        party.declassify(&product, Recipients::All).unwrap().expect("a recipient").to_vec()
    });
    let expected: Vec<u128> = values.iter().map(|[x, y]| x.wrapping_mul(*y) & word_mask(64)).collect();
    assert_eq!(found, expected);
}

//! Keys, sealed values, the state and the cache: what opens, and what does not.

use comity_core::{Backend, Block, Prg};
use comity_ope::*;
use proptest::prelude::*;

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn key() -> OpeKey {
    let mut key = OpeKey::new("postgres:///shop", [String::new(), "st\"aff".into()], &mut rng(1));
    for (name, ty, scheme) in [
        ("salary", ColumnType::BigInt, OpeScheme::Ideal),
        ("birthday", ColumnType::Date, OpeScheme::FrequencyHiding),
        ("name", ColumnType::Text(40), OpeScheme::LeftRight),
    ] {
        key.columns.push(Column { name: name.into(), ty, scheme, wide: name == "salary", adjustable: name == "name" });
    }
    key
}

#[test]
fn a_value_opens_in_its_place_only() {
    let mut key = key();
    let column = key.column_key(1, "salary").unwrap();
    let sealed = column.seal(7, [9; 16], b"12345678");
    assert_eq!(sealed.len(), 8 + OVERHEAD);
    let (plain, again) = column.open(7, &sealed).unwrap();
    assert!(plain[..] == *b"12345678" && again == column.coin([9; 16]));
    assert!(again != column.coin([8; 16]) && again != key.column_key(1, "birthday").unwrap().coin([9; 16]));
    assert_eq!(column.open(8, &sealed).map(|_| ()), Err(Error::Sealed), "another row");
    assert_eq!(
        key.column_key(1, "birthday").unwrap().open(7, &sealed).map(|_| ()),
        Err(Error::Sealed),
        "another column"
    );
    for at in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        assert_eq!(column.open(7, &changed).map(|_| ()), Err(Error::Sealed), "byte {at}");
        assert_eq!(column.open(7, &sealed[..at]).map(|_| ()), Err(Error::Sealed), "cut at {at}");
    }
    let other = OpeKey::new("", [String::new(), "staff".into()], &mut rng(2));
    assert_eq!(
        other.column_key(1, "salary").unwrap().open(7, &sealed).map(|_| ()),
        Err(Error::Sealed),
        "another table"
    );

    key.begin_rotation(&mut rng(3));
    assert_eq!((key.number(), sealed_under(&sealed)), (2, Ok(1)));
    assert_eq!(key.column_key(2, "salary").unwrap().open(7, &sealed).map(|_| ()), Err(Error::Sealed), "another secret");
    assert!(key.column_key(1, "salary").unwrap().open(7, &sealed).is_ok());
    key.end_rotation(2);
    assert!(key.column_key(1, "salary").is_none() && key.number() == 2);
}

#[test]
fn what_is_sealed_for_one_purpose_opens_for_no_other() {
    let key = key();
    let sealed = key.seal(1, Purpose::State, "", [4; 16], b"state").unwrap();
    assert_eq!(key.open(Purpose::State, "", &sealed).unwrap()[..], *b"state");
    assert_eq!(key.open(Purpose::Cache, "", &sealed).map(|_| ()), Err(Error::Sealed));
    assert_eq!(key.open(Purpose::State, "name", &sealed).map(|_| ()), Err(Error::Sealed));
    assert_eq!(key.open(Purpose::State, "", &sealed[..30]).map(|_| ()), Err(Error::Sealed));
    assert_eq!(key.open(Purpose::State, "", b"").map(|_| ()), Err(Error::Sealed));
    assert!(key.seal(2, Purpose::State, "", [4; 16], b"state").is_none());
}

#[test]
fn a_key_file_is_read_back_and_damage_is_seen() {
    let mut key = key();
    key.begin_rotation(&mut rng(4));
    let bytes = key.to_bytes();
    let again = OpeKey::from_bytes(&bytes).unwrap();
    assert!(again.to_bytes() == bytes && again.columns == key.columns && again.numbers().eq([1, 2]));
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        assert!(matches!(OpeKey::from_bytes(&changed), Err(Error::Malformed(_))), "byte {at}");
        assert!(matches!(OpeKey::from_bytes(&bytes[..at]), Err(Error::Malformed(_))), "cut at {at}");
    }
}

/// A value that is another one when it is read again is not sealed under the nonce of the first.
#[test]
fn a_nonce_is_one_values() {
    let nonces = Nonces::new(&mut rng(5));
    let all = [
        nonces.of(1, 0, b"a"),
        nonces.of(1, 0, b"b"),
        nonces.of(2, 0, b"a"),
        nonces.of(1, 1, b"a"),
        nonces.of(1, 0, b""),
    ];
    assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len());
    assert_eq!(nonces.of(1, 0, b"a"), all[0], "a try that failed keeps its coins");
    assert_ne!(Nonces::new(&mut rng(6)).of(1, 0, b"a"), all[0]);
}

#[test]
fn a_sum_tells_sets_of_rows_apart_and_not_their_order() {
    let column = key().column_key(1, "salary").unwrap();
    let total = |rows: &[(u64, &[u8])]| {
        let mut sum = Sum::default();
        rows.iter().for_each(|(row, plain)| sum.add(column.term(*row, plain)));
        sum
    };
    let all = total(&[(1, b"a"), (2, b"b"), (3, b"a")]);
    assert_eq!(all, total(&[(3, b"a"), (1, b"a"), (2, b"b")]));
    for other in [
        total(&[(1, b"b"), (2, b"a"), (3, b"a")]),
        total(&[(1, b"a"), (2, b"b")]),
        total(&[(1, b"a"), (2, b"b"), (3, b"a"), (3, b"a")]),
    ] {
        assert_ne!(all, other);
    }
    let mut less = all;
    less.subtract(column.term(3, b"a"));
    assert_eq!(less, total(&[(1, b"a"), (2, b"b")]));
}

#[test]
fn states_are_a_chain() {
    let mut one = State::new();
    let values = RowTotal { count: 3, sum: Sum::default() };
    one.columns.push(ColumnState { name: "salary".into(), ordered: true, values });
    let mut two = one.clone();
    two.columns[0].values.count = 4;
    one.advance(false);
    two.advance(false);
    assert_eq!((one.version(), one.rewritten), (1, 0));
    assert_ne!(one.history.chain(), two.history.chain(), "two histories differ at equal versions");
    two.columns[0].values.count = 3;
    let link = one.advance(true);
    assert_eq!((one.version(), one.rewritten), (2, 2));
    assert_ne!(link, two.advance(true));
    assert_ne!(one.history.chain(), two.history.chain(), "and go on to differ");
    one.rows.add(key().row_terms(1).unwrap().of(7));
    one.advance(false);
    assert_eq!(State::from_bytes(&one.to_bytes()).unwrap(), one);
    let bytes = one.to_bytes();
    assert!((0..bytes.len()).all(|at| State::from_bytes(&bytes[..at]).is_err()));
    let earlier = State::from_bytes(&[&[2, 0, 0, 0, 0, 0, 0, 0][..], &[0; 48]].concat()).unwrap_err().to_string();
    assert!(earlier.contains("written by an earlier version of comity"), "{earlier}");
    assert!(State::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
}

proptest! {
    #[test]
    fn a_cache_is_read_back(values in prop::collection::vec((0..60u128, any::<u64>(), 1..1u128 << 90), 0..80), coins in any::<bool>()) {
        let mut rows: Vec<(u128, Coin)> = values.iter().map(|row| (row.0 << 100 | row.0, Coin::new(if coins { row.1 } else { 0 }))).collect();
        rows.sort_unstable();
        rows.dedup();
        let mut code = 0;
        let pairs = rows.into_iter().zip(&values).map(|(row, value)| { code += value.2; (row, code) }).collect();
        let column = CachedColumn { name: "c".into(), pattern: Pattern { rising: 3, falling: 4 }, coins, pairs };
        let cache = Cache { version: 9, chain: [7; 32], next_row: 11, columns: vec![column] };
        let bytes = cache.to_bytes();
        prop_assert!(Cache::from_bytes(&bytes).is_ok_and(|read| read == cache));
        prop_assert!((0..bytes.len()).all(|at| Cache::from_bytes(&bytes[..at]).is_err()));
    }

    #[test]
    fn noise_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = (Cache::from_bytes(&bytes), State::from_bytes(&bytes), OpeKey::from_bytes(&bytes));
    }
}

#[test]
fn a_count_without_rows_allocates_nothing() {
    // 2^62 distinct values are announced.
    let mut bytes = vec![0; 48];
    bytes.extend([1, 0, 0]);
    bytes.extend([0; 9]);
    bytes.extend([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f]);
    assert!(matches!(Cache::from_bytes(&bytes), Err(Error::Malformed(_))));
}

/// A tag is of one value, NULL and nothing being two, in one row and column, under one secret.
#[test]
fn a_tag_vouches_for_one_value() {
    let mut key = OpeKey::new("", [String::new(), "t".into()], &mut rng(8));
    key.begin_rotation(&mut rng(9));
    let name = key.binding(2, "name").unwrap();
    for value in [None, Some(&b""[..]), Some(b"Ada"), Some(&[7; 100])] {
        let tag = name.tag(5, value);
        assert!(name.vouches(5, value, &tag));
        for other in [None, Some(&b""[..]), Some(b"Ada"), Some(b"Adb"), Some(&[7; 99])] {
            assert_eq!(name.vouches(5, other, &tag), other == value);
        }
        assert!(!name.vouches(6, value, &tag) && !name.vouches(5, value, &tag[..31]) && !name.vouches(5, value, b""));
        assert!(!key.binding(2, "town").unwrap().vouches(5, value, &tag));
        assert!(!key.binding(1, "name").unwrap().vouches(5, value, &tag));
        for at in 0..32 {
            let mut tag = tag;
            tag[at] ^= 1;
            assert!(!name.vouches(5, value, &tag));
        }
    }
    assert!(key.binding(3, "name").is_none());
}

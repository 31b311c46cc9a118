//! Order-preserving encryption: what lies in files and in a database, values, and queries as people type them.

use comity_ope::{Cache, Column, ColumnType, OpeKey, OpeScheme, Purpose, State};
use comity_postgres::{Condition, Query, table_name};

use crate::mutate::rng;

/// A key file.
pub(crate) fn ope_key(data: &[u8]) {
    if let Ok(key) = OpeKey::from_bytes(data) {
        assert_eq!(key.to_bytes()[..], *data, "one key, one form");
        assert!(key.numbers().any(|number| number == key.number()));
    }
}

/// The state of a table, as it is before it is sealed.
pub(crate) fn ope_state(data: &[u8]) {
    if let Ok(state) = State::from_bytes(data) {
        assert_eq!(state.to_bytes()[..], *data, "one state, one form");
    }
}

/// A cache, as it is before it is sealed. What it says of order is checked by what takes it over.
pub(crate) fn ope_cache(data: &[u8]) {
    if let Ok(cache) = Cache::from_bytes(data) {
        assert!(*cache.to_bytes() == *data, "one cache, one form");
    }
}

/// The sealed parts of a row, and what is sealed for the client itself.
pub(crate) fn ope_sealed(data: &[u8]) {
    let key = key();
    let column = key.column_key(1, "v").expect("a new key has a secret");
    for row in 1..4 {
        // Only what `seeds` has opens, and as one value.
        if let Ok((plain, _)) = column.open(row, data) {
            let value = ColumnType::BigInt.from_bytes(&plain).expect("nobody else can seal");
            assert!(ColumnType::BigInt.to_bytes(&value) == plain);
        }
    }
    assert!(key.open(Purpose::State, "", data).is_err() && key.open(Purpose::Cache, "", data).is_err());
}

/// The bytes of a value; the first byte chooses its type.
pub(crate) fn ope_plain(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    let types = ["smallint", "integer", "bigint", "numeric(9,2)", "numeric(35,35)", "date", "timestamp", "text(6)"];
    let ty: ColumnType = types[usize::from(*choice) % types.len()].parse().expect("these are types");
    if let Ok(value) = ty.from_bytes(bytes) {
        assert_eq!(ty.to_bytes(&value)[..], *bytes, "one value, one form");
        assert!(value.order() <= ty.ends().1);
        let written = ty.write(&value);
        assert!(ty.parse(&written).is_ok_and(|read| read == value));
    }
    if let Ok(text) = core::str::from_utf8(bytes) {
        if let Ok(value) = ty.parse(text) {
            assert!(ty.from_bytes(&ty.to_bytes(&value)).is_ok_and(|read| read == value));
        }
        let _ = (text.parse::<ColumnType>(), table_name(text));
    }
}

/// A query.
pub(crate) fn ope_query(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let Ok(query) = Query::parse(text) else { return };
    // Written out in full, with everything quoted, it is the same one.
    let name = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let value = |value: &str| format!("'{}'", value.replace('\'', "''"));
    let condition = |condition: &Condition| match condition {
        Condition::Between(column, low, high) => format!("{} between {} and {}", name(column), value(low), value(high)),
        Condition::Null(column, is) => format!("{} is {}null", name(column), if *is { "" } else { "not " }),
        Condition::Compare(column, operator, with) => format!("{}{}{}", name(column), operator.sql(), value(with)),
    };
    let conditions: Vec<String> = query.conditions.iter().map(condition).collect();
    let order = query.order.as_ref();
    let order = order.map_or(String::new(), |(column, falls)| {
        format!(" order by {}{}", name(column), if *falls { " desc" } else { "" })
    });
    let limit = query.limit.map_or(String::new(), |limit| format!(" limit {limit}"));
    let again = Query::parse(&format!("{}{order}{limit}", conditions.join(" and "))).expect("it is a query");
    assert_eq!(again, query);
}

/// A key, the same each time.
fn key() -> OpeKey {
    let mut key = OpeKey::new("postgres:///shop", ["public".into(), "staff".into()], &mut rng());
    let column = |name: &str, scheme| Column {
        name: name.into(),
        ty: ColumnType::BigInt,
        scheme,
        wide: false,
        adjustable: false,
    };
    key.columns.push(column("v", OpeScheme::Ideal));
    key.columns.push(column("w", OpeScheme::LeftRight));
    key
}

/// Seeds: the bytes that an honest client writes.
pub(crate) fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let key = key();
    let column = key.column_key(1, "v").expect("a new key has a secret");
    let value = ColumnType::BigInt.parse("40000").expect("it is a value");
    let sealed = column.seal(1, [7; 16], &ColumnType::BigInt.to_bytes(&value));
    let mut state = State::new();
    let values = comity_ope::RowTotal { count: 3, sum: Default::default() };
    let of = |name: &str| comity_ope::ColumnState { name: name.into(), ordered: true, values };
    state.columns = vec![of("v"), of("w")];
    state.advance(true);
    let pair = |value: u128, coin: u64, code: u128| ((value, comity_ope::Coin::new(coin)), code);
    let columns = [false, true].map(|coins| comity_ope::CachedColumn {
        name: if coins { "w" } else { "v" }.into(),
        pattern: Default::default(),
        coins,
        pairs: if coins {
            vec![pair(5, 1, 100), pair(5, 9, 200), pair(6, 3, 1 << 61)]
        } else {
            vec![pair(5, 0, 100), pair(6, 0, 300)]
        },
    });
    let cache = Cache { version: 1, chain: [1; 32], next_row: 4, columns: columns.into() };
    let cut = |bytes: &[u8]| bytes[..bytes.len() * 2 / 3].to_vec();
    let mut flipped = sealed.clone();
    flipped[25] ^= 1;
    vec![
        ("ope_key", "valid", key.to_bytes().to_vec()),
        ("ope_key", "cut", cut(&key.to_bytes())),
        ("ope_key", "empty", Vec::new()),
        ("ope_state", "valid", state.to_bytes().to_vec()),
        ("ope_state", "cut", cut(&state.to_bytes())),
        ("ope_state", "empty", Vec::new()),
        ("ope_state", "earlier", [&1u64.to_le_bytes()[..], &[0; 90]].concat()),
        ("ope_cache", "valid", cache.to_bytes().to_vec()),
        ("ope_cache", "cut", cut(&cache.to_bytes())),
        ("ope_cache", "many", [&[0; 48][..], &[1, 0, 0], &[0; 9], &[0xff; 9], &[0x3f]].concat()),
        ("ope_sealed", "valid", sealed.clone()),
        ("ope_sealed", "cut", cut(&sealed)),
        ("ope_sealed", "flipped", flipped),
        ("ope_plain", "bigint", [&[2][..], &ColumnType::BigInt.to_bytes(&value)[..]].concat()),
        ("ope_plain", "date", b"\x052024-02-29".to_vec()),
        ("ope_plain", "text", b"\x07\x00\x03abc\0\0\0".to_vec()),
        ("ope_query", "between", b"salary between 40000 and 60000 order by salary desc limit 20".to_vec()),
        ("ope_query", "quoted", b"\"sal\"\"ary\" = 'it''s' and day >= 2024-01-31 and x is not null".to_vec()),
        ("ope_query", "injection", b"salary = 1; drop table staff".to_vec()),
    ]
}

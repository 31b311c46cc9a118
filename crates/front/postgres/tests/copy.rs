//! Plain columns of a load: what is sent in binary form, or as text, is what the server reads from the same text.

use comity_ope::OpeScheme;
use comity_postgres::NewRow;
use rand_core::Rng;

use crate::common::{big, column, make, open, rng};

/// Types, and values of which all have a binary form.
const TYPES: [(&str, &[&str]); 19] = [
    ("smallint", &["0", "-32768", "32767", "+7", "007"]),
    ("integer", &["-2147483648", "2147483647", "-0"]),
    ("bigint", &["-9223372036854775808", "9223372036854775807"]),
    ("boolean", &["t", "false", "1", "0"]),
    ("real", &["1.5", "-3.4e38", "1.17549435e-38", "16777217"]),
    ("double precision", &["1e300", "-2.2250738585072014e-308", "0.1", "+12345678901234567890"]),
    ("numeric", &["0", "-0.0", "1", "10000", "9999.9999", "-0.00012345", "120000000000000000000.10", "00012", "+3.50"]),
    ("numeric(7,2)", &["12345.67", "0.005", "-99999.994"]),
    ("text", &["", "a\tb\\n\n\r", "\\N", "Grüße 🙂", "0"]),
    ("character varying(5)", &["", "abcde", "ab   "]),
    ("character(4)", &["ab", "abcd", "a   "]),
    ("json", &["{\"a\": [1, 2]}", "null"]),
    ("jsonb", &["{\"b\": 2, \"a\": 1.50}", "\"\\u00e9\""]),
    ("date", &["2000-01-01", "1999-12-31", "2024-02-29", "1900-02-28", "0001-01-01", "9999-12-31"]),
    ("timestamp", &["2000-01-01 00:00:00", "1969-12-31T23:59:59.999999", "2024-02-29", "0001-01-01 00:00:00.5"]),
    ("timestamp(1)", &["2010-05-05 05:05:05.55", "2010-05-05 05:05:59.99"]),
    ("timestamptz", &["2020-06-01 12:00:00+00", "2020-06-01 12:00:00.25-03:30", "2020-06-01 00:00:00+14"]),
    ("uuid", &["00112233-4455-6677-8899-aabbccddeeff", "FFFFFFFF-FFFF-4FFF-8FFF-FFFFFFFFFFFF"]),
    ("bytea", &["\\x", "\\x00ff10", "\\xDEADbeef"]),
];

/// Values that only the server can read.
const OTHERS: [(&str, &[&str]); 9] = [
    ("integer", &[" 5 ", "6"]),
    ("boolean", &["yes", "off", "TRUE"]),
    ("double precision", &["NaN", "-Infinity", "0", "4.9e-324"]),
    ("numeric", &["NaN", "1e5", ".5", "7."]),
    ("date", &["Jan 5 2020", "20200105", "infinity"]),
    ("timestamp", &["2020-01-05 10:11", "2020-01-05 24:00:00"]),
    ("timestamptz", &["2020-01-05 10:11:12", "2020-01-05 10:11:12 UTC"]),
    ("bytea", &["abc\\\\def\\001"]),
    ("integer[]", &["{1,2,NULL}", "{}"]),
];

#[test]
fn plain_values_are_what_the_server_reads() {
    database!(server, address, client);
    client.batch_execute("set timezone = 'Asia/Kolkata'").unwrap();
    let mut random = rng(5);
    for (i, (ty, values)) in TYPES.into_iter().chain(OTHERS).enumerate() {
        let mut values: Vec<Option<String>> = values.iter().map(|value| Some((*value).into())).chain([None]).collect();
        values.extend((0..200).filter_map(|_| made(ty, random.next_u64())).map(Some));
        client
            .batch_execute(&format!("create table t{i} (n bigint, c {ty}); create table p{i} (n bigint, c {ty})"))
            .unwrap();
        let key = make(&mut client, &format!("t{i}"), &[column("v", "bigint", OpeScheme::Ideal)]);
        let mut table = open(&mut client, &key, None, 3).unwrap();
        // A copy of the same rows, which the server reads from text.
        let rows: Vec<NewRow> = (0..)
            .zip(&values)
            .map(|(n, value)| NewRow { plain: vec![Some(n.to_string()), value.clone()], secret: vec![Some(big(n))] })
            .collect();
        table.transact(&mut client, |work| work.insert_many(&["n", "c"], &["v"], &rows)).unwrap();
        let mut copy = client.copy_in(&format!("copy p{i} from stdin (format csv)")).unwrap();
        for (n, value) in values.iter().enumerate() {
            let quoted = value.as_ref().map(|value| format!("\"{}\"", value.replace('"', "\"\"")));
            std::io::Write::write_all(&mut copy, format!("{n},{}\n", quoted.unwrap_or_default()).as_bytes()).unwrap();
        }
        copy.finish().unwrap();
        let differ = client
            .query(&format!("select n, t.c::text, p.c::text from t{i} t full join p{i} p using (n) where t.c::text is distinct from p.c::text"), &[])
            .unwrap();
        assert!(differ.is_empty(), "{ty}: {differ:?}");
        table.check(&mut client).unwrap();
    }
}

/// A value of a type with much to go wrong in it.
fn made(ty: &str, random: u64) -> Option<String> {
    let below = |shift: u32, count: u64| (random >> shift & 0xffff) % count;
    let day = format!("{:04}-{:02}-{:02}", 1 + below(0, 9999), 1 + below(16, 12), 1 + below(32, 28));
    let time = format!("{:02}:{:02}:{:02}.{}", below(5, 24), below(9, 60), below(13, 60), below(20, 65536));
    Some(match ty {
        "date" => day,
        "timestamp" => format!("{day} {time}"),
        "timestamptz" => format!("{day} {time}{}{:02}", if random & 1 == 0 { '+' } else { '-' }, below(40, 15)),
        "numeric" => {
            let digits = random.to_string();
            let zeros = "0".repeat(below(3, 9) as usize);
            format!("{}{zeros}.{}{zeros}", &digits[..1 + digits.len() / 3], &digits[digits.len() / 2..])
        }
        "real" => format!("{}e{}", random % 100_000 + 1, below(7, 60) as i64 - 35),
        "double precision" => format!("0.{}e{}", random.max(1), below(7, 500) as i64 - 250),
        _ => return None,
    })
}

/// A value that the server refuses is refused by the server, and nothing is stored.
#[test]
fn wrong_values_are_the_servers_to_refuse() {
    database!(server, address, client);
    client.batch_execute("create domain small as integer check (value < 10)").unwrap();
    for (i, (ty, good, bad)) in [
        ("integer", "1", "x"),
        ("smallint", "1", "40000"),
        ("date", "2023-02-28", "2023-02-29"),
        ("timestamptz", "2020-01-01 00:00:00+00", "2020-01-01 00:00:00+17"),
        ("character varying(2)", "ab", "abc"),
        ("numeric(3,1)", "99.9", "100"),
        ("json", "{}", "{"),
        ("small", "9", "10"),
        ("uuid", "00112233-4455-6677-8899-aabbccddeeff", "00112233-4455-6677-8899-aabbccddeefg"),
    ]
    .into_iter()
    .enumerate()
    {
        client.batch_execute(&format!("create table w{i} (c {ty})")).unwrap();
        let key = make(&mut client, &format!("w{i}"), &[column("v", "bigint", OpeScheme::FrequencyHiding)]);
        let mut table = open(&mut client, &key, None, 3).unwrap();
        let row = |value: &str| NewRow { plain: vec![Some(value.into())], secret: vec![Some(big(1))] };
        let rows = [row(good), row(bad)];
        let refused = table.transact(&mut client, |work| work.insert_many(&["c"], &["v"], &rows)).unwrap_err();
        assert!(matches!(refused, comity_postgres::Error::Database(_)), "{ty}: {refused}");
        table.transact(&mut client, |work| work.insert_many(&["c"], &["v"], &rows[..1])).unwrap();
        assert_eq!(table.check(&mut client).unwrap().rows, 1, "{ty}");
    }
}

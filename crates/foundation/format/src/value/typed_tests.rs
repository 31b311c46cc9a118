use super::*;

fn record() -> Type {
    let fields = vec![("price".to_owned(), Type::Uint(32)), ("item".to_owned(), Type::Int(8))];
    Type::Struct { name: "Bid".into(), fields }
}

fn array(element: Type, count: usize) -> Type {
    Type::Array(Box::new(element), count)
}

/// The value that is read, as it is shown.
fn shown(ty: &Type, text: &str) -> String {
    show(ty, &read("x", ty, text).unwrap_or_else(|e| panic!("{text}: {e}")))
}

fn error(ty: &Type, text: &str) -> String {
    let e = read("x", ty, text).expect_err(text);
    format!("{}:{}: {e}", e.line, e.column)
}

#[test]
fn numbers_and_flags() {
    for (ty, text, want) in [
        (Type::Uint(32), " 1_000 ", "1000"),
        (Type::Uint(32), "0xff", "255"),
        (Type::Uint(64), "\"18446744073709551615\"", "18446744073709551615"),
        (Type::Int(17), "-65536", "-65536"),
        (Type::Bool, "true", "true"),
        (Type::Bool, "0", "false"),
        (Type::Float(FloatWidth::F32), "1.5", "1.5"),
        (Type::Float(FloatWidth::F32), "0.1", "0.1"),
        (Type::Float(FloatWidth::F64), "-2e-300", "-2e-300"),
        (Type::Float(FloatWidth::F64), "1", "1.0"),
        (Type::Float(FloatWidth::F64), "NaN", "NaN"),
        (Type::Float(FloatWidth::F64), "-inf", "-inf"),
        (Type::Uint(4), "bits:0001", "8"),
        (Type::Uint(4), "u4:7", "7"),
        (Type::Int(4), "dec:-7\n", "-7"),
        (Type::Bits(12), "0x0ff", "0x0ff"),
        (Type::Bits(4), "bits:1000", "0x1"),
        (Type::Bits(0), "", "0x"),
    ] {
        assert_eq!(shown(&ty, text), want, "{text}");
    }
    assert_eq!(read("x", &Type::Uint(8), "6").unwrap(), parse("06", 8, BitOrder::Lsb).unwrap());
}

#[test]
fn arrays_tuples_and_structs() {
    let pair = Type::Tuple(vec![Type::Uint(8), Type::Bool]);
    for (ty, text, want) in [
        (array(Type::Uint(8), 3), "[1, 2,3]", "[1, 2, 3]"),
        (array(Type::Uint(8), 3), " [ 1\n2, 3 ]".replace("1\n", "1,\n").as_str(), "[1, 2, 3]"),
        (array(Type::Uint(8), 0), "[]", "[]"),
        (array(Type::Uint(8), 3), "\"abc\"", "[97, 98, 99]"),
        (array(Type::Uint(8), 3), "hex:00ff10", "[0, 255, 16]"),
        (array(array(Type::Uint(8), 2), 2), "[[1, 2], \"ab\",]", "[[1, 2], [97, 98]]"),
        (pair.clone(), "(1, true)", "(1, true)"),
        (pair.clone(), "[1, true]", "(1, true)"),
        (Type::Tuple(vec![]), "()", "()"),
        (record(), "{price: 3, item: -4}", "{price: 3, item: -4}"),
        (record(), "Bid { item: -4, price: 3, }", "{price: 3, item: -4}"),
        (record(), r#"{"item": -4, "price": "3"}"#, "{price: 3, item: -4}"),
        (record(), "(3, -4)", "{price: 3, item: -4}"),
        (array(record(), 2), "[{price: 1, item: 2}, (3, 4)]", "[{price: 1, item: 2}, {price: 3, item: 4}]"),
    ] {
        assert_eq!(shown(&ty, text), want, "{text}");
    }
    // The first element, and the first field, is on the first wires.
    assert_eq!(to_bits(&read("x", &array(Type::Uint(4), 2), "[1, 2]").unwrap()), "10000100");
    assert_eq!(to_bits(&read("x", &pair, "(1, true)").unwrap()), "100000001");
}

#[test]
fn lines_and_tables() {
    let numbers = array(Type::Uint(16), 3);
    for text in ["1\n2\n3\n", "1,2,3", "1 2 3", "1;2;3", "\r\n1\r\n2\r\n\r\n3", "1, 2\n3,\n", "\"1\",\"2\",\"3\""] {
        assert_eq!(shown(&numbers, text), "[1, 2, 3]", "{text:?}");
    }
    let bids = array(record(), 2);
    for text in ["1,2\n3,4\n", "1 2\n3 4", "price,item\n1,2\n3,4\n", "item;price\n2;1\n\n4;3\n", "1\t2\n3\t4"] {
        assert_eq!(shown(&bids, text), "[{price: 1, item: 2}, {price: 3, item: 4}]", "{text:?}");
    }
    assert_eq!(shown(&array(array(Type::Bool, 2), 2), "true,false\n0 1\n"), "[[true, false], [false, true]]");
    let nested =
        Type::Struct { name: "Trade".into(), fields: vec![("id".into(), Type::Uint(8)), ("bid".into(), record())] };
    let want = "[{id: 9, bid: {price: 1, item: 2}}]";
    assert_eq!(shown(&array(nested, 1), "bid.item,bid.price,id\n2,1,9"), want);
}

#[test]
fn what_is_wrong_is_named_with_its_place_and_path() {
    let bids = array(record(), 2);
    for (ty, text, want) in [
        (Type::Uint(32), "5000000000", "1:1: x: the number does not fit u32, 0 to 4294967295"),
        (Type::Int(8), "-129", "1:1: x: the number does not fit i8, -128 to 127"),
        (Type::Uint(8), "-1", "1:1: x: the number does not fit u8, 0 to 255"),
        (Type::Uint(8), "12x", "1:3: x: a number of the type u8 is wanted: decimal, or hex after 0x"),
        (
            Type::Uint(8),
            "u16:7",
            "1:1: x: a number of 16 bits is given; the value has 8 (`dec:` takes any number that fits)",
        ),
        (Type::Uint(8), "", "1:1: x: a value of the type u8 is wanted here"),
        (
            Type::Uint(8),
            "12.45",
            "1:1: x: a whole number of the type u8 is wanted, and this number has a fraction: give it in a smaller unit, such as cents, or make the type f64",
        ),
        (Type::Uint(8), "12.4.5", "1:3: x: a number of the type u8 is wanted: decimal, or hex after 0x"),
        (
            array(Type::Uint(8), 1),
            "[{\"a\": 1}]",
            "1:2: x[0]: a value of the type u8 is wanted here, and no object: the fields of one go into a struct",
        ),
        (
            array(record(), 2),
            "{\"price\": 1, \"item\": 2}\n{\"price\": 3, \"item\": 4}\n",
            "1:1: x: an object stands here: objects are in brackets, with commas between them (`jq -s .` makes that of an object a line)",
        ),
        (array(record(), 2), "price,item\n1,2\n3,\n", "3:3: x[1].item: a value of the type i8 is wanted here"),
        (array(record(), 2), "1,2\n,4\n", "2:1: x[1].price: a value of the type u32 is wanted here"),
        (Type::Uint(8), "1 2", "1:3: x: there is more after the value, which is a u8"),
        (Type::Uint(8), "true", "1:1: x: a number of the type u8 is wanted, not a bool"),
        (Type::Uint(8), "[1]", "1:1: x: a value of the type u8 is wanted here"),
        (Type::Bool, "yes", "1:1: x: `true` or `false` is wanted"),
        (Type::Bits(8), "12", "1:1: x: 8 bits are written as 0x and 2 hex digits, or bits: and the wires"),
        (Type::Bits(8), "0x123", "1:1: x: 3 hex digits are given; a value of 8 bits has 2"),
        (Type::Uint(3), "bits:01", "1:8: x: 2 bits are given; the value has 3"),
        (Type::Uint(3), "bits:012", "1:8: x: after `bits:` the wires stand in order, 0 or 1 each"),
        (array(Type::Uint(8), 3), "[1, 2]", "1:2: x: 2 elements are given where 3 are wanted"),
        (array(Type::Uint(8), 1), "[1, 2]", "1:5: x: more than the 1 elements that are wanted"),
        (array(Type::Uint(8), 2), "[1, 256]", "1:5: x[1]: the number does not fit u8, 0 to 255"),
        (array(Type::Uint(8), 2), "[1 2]", "1:4: x: `,` or `]` is wanted here"),
        (array(Type::Uint(8), 2), "[1, 2", "1:6: x: the text ends where `,` or `]` is wanted"),
        (array(Type::Uint(8), 2), "\"abc\"", "1:2: x: 3 bytes are given where 2 are wanted"),
        (array(Type::Uint(8), 2), "hex:abc", "1:8: x: hex has two digits for each byte, and here their number is odd"),
        (array(Type::Uint(8), 2), "\"a", "1:1: x: the text in quotes does not end"),
        (array(Type::Uint(8), 2), "1\n2\n3\n", "3:1: x: more than the 2 elements that are wanted"),
        (array(Type::Uint(8), 2), "1\n", "2:1: x: 1 elements are given where 2 are wanted"),
        (array(Type::Uint(8), 2), "1\n300", "2:1: x[1]: the number does not fit u8, 0 to 255"),
        (record(), "(3, 300)", "1:5: x.item: the number does not fit i8, -128 to 127"),
        (record(), "{price: 3}", "1:2: x: the field `item`, a i8, is missing"),
        (record(), "{price: 3, price: 4}", "1:12: x: the field `price` is given twice"),
        (
            record(),
            "{prize: 3}",
            "1:2: x: there is no field `prize`; did you mean `price`? (the fields are `price`, `item`)",
        ),
        (record(), "{\u{1b}: 3}", "1:2: x: there is no field `\\u{1b}` (the fields are `price`, `item`)"),
        (record(), "{price 3}", "1:8: x: `:` is wanted after the field's name `price`"),
        (record(), "7", "1:1: x: Bid {price: u32, item: i8} is wanted, which begins with `{` or `(` or `[`"),
        (
            bids.clone(),
            "[{price: 1, item: 2},\n {price: 4, item: 200}]",
            "2:19: x[1].item: the number does not fit i8, -128 to 127",
        ),
        (bids.clone(), "1,2\n3\n", "2:1: x[1]: 1 values in the line where 2 are wanted: price, item"),
        (
            bids.clone(),
            "price,itm\n1,2\n",
            "1:7: x: there is no field `itm`; did you mean `item`? (the fields are `price`, `item`)",
        ),
        (bids.clone(), "item,price,price\n1,2\n3,4\n", "1:6: x: the first line names `price` twice"),
        (bids.clone(), "id\0,id\0\n", "1:1: x: the first line names `id\\0` twice"),
        (bids.clone(), "price\n1\n", "1:1: x: the first line names the columns, and `item` is missing"),
        (bids, "1,2\n3,4000\n", "2:3: x[1].item: the number does not fit i8, -128 to 127"),
    ] {
        assert_eq!(error(&ty, text), want, "{text}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_value() {
    let numbers = array(Type::Uint(8), 3);
    let want = read("x", &numbers, "[1, 2, 3]").unwrap();
    for text in ["\u{feff}[1, 2, 3]", "\u{feff}1\r\n2\r\n3\r\n", "\u{feff} 1\n2\n3"] {
        assert_eq!(read("x", &numbers, text).unwrap(), want, "{text:?}");
    }
    assert_eq!(
        error(&Type::Uint(8), "\u{feff}x"),
        "1:1: x: a number of the type u8 is wanted: decimal, or hex after 0x"
    );
}

#[test]
fn one_column_may_have_a_name() {
    let numbers = array(Type::Uint(8), 3);
    let want = read("x", &numbers, "[1, 2, 3]").unwrap();
    for text in ["price\n1\n2\n3\n", "\u{feff}\"a price\"\r\n1\r\n2\r\n3", "\nprice\n\n1\n2\n3"] {
        assert_eq!(read("x", &numbers, text).unwrap(), want, "{text:?}");
    }
    assert_eq!(
        error(&numbers, "price\nprize\n1\n2\n3"),
        "2:1: x[0]: a number of the type u8 is wanted: decimal, or hex after 0x"
    );
    assert_eq!(error(&numbers, "price"), "1:1: x[0]: a number of the type u8 is wanted: decimal, or hex after 0x");
    let flags = array(Type::Bool, 2);
    assert_eq!(read("x", &flags, "true\nfalse").unwrap(), read("x", &flags, "[true, false]").unwrap());
    let floats = array(Type::Float(FloatWidth::F64), 2);
    assert_eq!(read("x", &floats, "inf\n1").unwrap(), read("x", &floats, "[inf, 1]").unwrap());
}

#[test]
fn a_text_is_bytes() {
    let bytes = array(Type::Uint(8), 3);
    for text in ["text:a b", "text:a b\n", "\"a b\"", "hex:612062"] {
        assert_eq!(read("x", &bytes, text).unwrap(), read("x", &bytes, "[97, 32, 98]").unwrap(), "{text:?}");
    }
    assert_eq!(error(&bytes, "text:ab"), "1:1: x: 2 bytes are given where 3 are wanted");
}

#[test]
fn json_is_json_and_is_read_back() {
    let fields = vec![
        ("small".to_owned(), Type::Uint(53)),
        ("large".to_owned(), Type::Int(64)),
        ("flag".to_owned(), Type::Bool),
        ("raw".to_owned(), Type::Bits(12)),
        ("float".to_owned(), Type::Float(FloatWidth::F64)),
        ("odd".to_owned(), Type::Float(FloatWidth::F32)),
        ("list".to_owned(), array(Type::Tuple(vec![Type::Int(3), Type::Bool]), 2)),
    ];
    let ty = Type::Struct { name: "All".into(), fields };
    let text = "{small: 7, large: -9223372036854775808, flag: true, raw: 0xabc, float: 1e300, odd: -inf, list: [(1, true), (-4, false)]}";
    let value = read("x", &ty, text).unwrap();
    assert_eq!(show(&ty, &value), text);
    let json = show_json(&ty, &value);
    assert_eq!(
        json,
        r#"{"small": 7, "large": "-9223372036854775808", "flag": true, "raw": "0xabc", "float": 1e300, "odd": "-inf", "list": [[1, true], [-4, false]]}"#
    );
    assert_eq!(read("x", &ty, &json).unwrap(), value);
}

mod random {
    use proptest::prelude::*;

    use super::*;

    fn types() -> impl Strategy<Value = Type> {
        let leaf = prop_oneof![
            (0usize..100).prop_map(Type::Uint),
            (0usize..100).prop_map(Type::Int),
            (1usize..40).prop_map(Type::Bits),
            Just(Type::Bool),
            Just(Type::Float(FloatWidth::F32)),
            Just(Type::Float(FloatWidth::F64)),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                (inner.clone(), 0usize..4).prop_map(|(ty, n)| array(ty, n)),
                prop::collection::vec(inner.clone(), 0..4).prop_map(Type::Tuple),
                prop::collection::vec(inner, 0..4).prop_map(|types| Type::Struct {
                    name: "S".into(),
                    fields: types.into_iter().enumerate().map(|(i, ty)| (format!("f{i}"), ty)).collect(),
                }),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_shown_is_read_back(ty in types(), seed in any::<u64>()) {
            let mut rng = comity_circuit::random::Rng(seed | 1);
            let value = rng.values(&[ty.bits()]).remove(0);
            for text in [show(&ty, &value), show_json(&ty, &value), format!("bits:{}", to_bits(&value))] {
                let again = read("x", &ty, &text);
                // A NaN has many patterns and one name.
                if text.contains("NaN") && !text.starts_with("bits") {
                    prop_assert_eq!(again.unwrap().len(), value.len());
                } else {
                    prop_assert_eq!(&again.unwrap(), &value, "{}", text);
                }
            }
        }

        #[test]
        fn no_text_panics(ty in types(), text in r#"[-0-9a-fx:é\n\[\](){}," true]{0,40}"#) {
            if let Ok(value) = read("x", &ty, &text) {
                prop_assert_eq!(value.len(), ty.bits());
            }
        }
    }
}

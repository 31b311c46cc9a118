//! Names, the table's promises, and errors.

use comity_library::{LibraryError, Size};

use crate::{Random, run, run_hex};

/// Names to try for an entry: the name itself, or a few widths.
fn examples(entry: &comity_library::Entry) -> Vec<(String, Size)> {
    let sizes: &[[usize; 3]] =
        if entry.limits.is_empty() { &[[0; 3]] } else { &[[1, 1, 1], [2, 3, 1], [3, 8, 2], [8, 5, 3], [64, 4, 7]] };
    let used = |capital, number| if entry.capitals().any(|(c, _)| c == capital) { number } else { 0 };
    let named = |&[n, w, k]: &[usize; 3]| {
        let mut name = entry.pattern.to_owned();
        for (capital, number) in [('N', n), ('W', w), ('K', k)] {
            name = name.replace(capital, &number.to_string());
        }
        (name, Size { n: used('N', n), w: used('W', w), k: used('K', k) })
    };
    sizes.iter().map(named).collect()
}

#[test]
fn circuits_take_and_return_what_the_table_says() {
    for entry in comity_library::names() {
        for (name, size) in examples(entry) {
            assert!(comity_library::contains(&name), "{name}");
            let program = comity_library::program(&name).expect(&name);
            let taken: Vec<_> = program.inputs().iter().map(|value| (&value.name[..], value.bits)).collect();
            let inputs: Vec<_> = entry.inputs.iter().map(|value| (value.name, value.width.bits(size))).collect();
            assert_eq!(taken, inputs, "{name}");
            let given: Vec<_> = program.outputs().iter().map(|value| (&value.name[..], value.bits)).collect();
            let outputs: Vec<_> = entry.outputs.iter().map(|value| (value.name, value.width.bits(size))).collect();
            assert_eq!(given, outputs, "{name}");
            assert_eq!(
                comity_library::program(&name).as_ref(),
                Ok(&program),
                "{name} is built in the same way each time"
            );
            assert_eq!(program.name(), name);
        }
    }
}

#[test]
fn patterns_are_unique() {
    let patterns: std::collections::BTreeSet<_> = comity_library::names().map(|entry| entry.pattern).collect();
    assert_eq!(patterns.len(), comity_library::names().count());
    for entry in comity_library::names() {
        assert_eq!(entry.capitals().count(), entry.limits.len(), "{}", entry.pattern);
    }
}

#[test]
fn two_operand_names_do_what_they_say() {
    let signed = |x: u128| x as u8 as i8;
    let flag = u128::from;
    type Expected<'a> = Box<dyn Fn(u128, u128) -> u128 + 'a>;
    let expected: [(&str, Expected); 24] = [
        ("add8", Box::new(|a, b| (a + b) & 255)),
        ("addfull8", Box::new(|a, b| a + b)),
        ("sub8", Box::new(|a, b| a.wrapping_sub(b) & 255)),
        ("mul8", Box::new(|a, b| (a * b) & 255)),
        ("mulfull8", Box::new(|a, b| a * b)),
        ("eq8", Box::new(|a, b| flag(a == b))),
        ("lt8", Box::new(|a, b| flag(a < b))),
        ("le8", Box::new(|a, b| flag(a <= b))),
        ("gt8", Box::new(|a, b| flag(a > b))),
        ("ge8", Box::new(|a, b| flag(a >= b))),
        ("slt8", Box::new(|a, b| flag(signed(a) < signed(b)))),
        ("sle8", Box::new(|a, b| flag(signed(a) <= signed(b)))),
        ("sgt8", Box::new(|a, b| flag(signed(a) > signed(b)))),
        ("sge8", Box::new(|a, b| flag(signed(a) >= signed(b)))),
        ("min8", Box::new(|a, b| a.min(b))),
        ("max8", Box::new(|a, b| a.max(b))),
        ("smin8", Box::new(|a, b| if signed(a) < signed(b) { a } else { b })),
        ("smax8", Box::new(|a, b| if signed(a) < signed(b) { b } else { a })),
        ("xor8", Box::new(|a, b| a ^ b)),
        ("and8", Box::new(|a, b| a & b)),
        ("or8", Box::new(|a, b| a | b)),
        ("hamming8", Box::new(|a, b| (a ^ b).count_ones().into())),
        ("add1", Box::new(|a, b| (a ^ b) & 1)),
        ("mulfull1", Box::new(|a, b| a & b & 1)),
    ];
    let mut random = Random(8);
    for (name, expected) in expected {
        let bits = if name.ends_with('1') { 1 } else { 8 };
        let (a, b) = (random.words(bits), random.words(bits));
        let out = run(&comity_library::find(name).expect(name), &[a, b]);
        for k in 0..64 {
            assert_eq!(out[0][k], expected(a[k], b[k]), "{name}({}, {})", a[k], b[k]);
        }
    }
}

#[test]
fn mux_takes_the_first_word_where_the_selector_is_one() {
    let mux = comity_library::find("mux12").unwrap();
    assert_eq!(run_hex(&mux, &["1", "abc", "123"]), ["0abc"]);
    assert_eq!(run_hex(&mux, &["0", "abc", "123"]), ["0123"]);
}

#[test]
fn values_read_as_the_standards_print_them() {
    let aes = comity_library::find("aes128").unwrap();
    assert_eq!(
        run_hex(&aes, &["000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff"]),
        ["69c4e0d86a7b0430d8cdb78070b4c55a"]
    );
    // One block: "abc", padded.
    let block = |bytes: usize, length: &str| format!("61626380{}{length}", "0".repeat(2 * bytes - 8 - length.len()));
    let abc = block(64, "18");
    assert_eq!(
        run_hex(&comity_library::find("sha1-iv").unwrap(), &[&abc]),
        ["a9993e364706816aba3e25717850c26c9cd0d89d"]
    );
    assert_eq!(
        run_hex(&comity_library::find("sha256-iv").unwrap(), &[&abc]),
        ["ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"]
    );
    assert_eq!(
        run_hex(&comity_library::find("sha512-iv").unwrap(), &[&block(128, "18")]),
        ["ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
          2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"]
    );
}

#[test]
fn a_chain_is_as_deep_as_it_is_long() {
    let mut random = Random(20);
    for n in [1, 2, 127, 128, 129, 5000] {
        let chain = comity_library::find(&format!("chain{n}")).unwrap();
        let counts = chain.counts();
        assert_eq!((counts.and, counts.and_depth), (n, n));
        let (a, b) = (random.words(128), random.words(128));
        let out = run(&chain, &[a, b]);
        for k in 0..64 {
            let step = |bit, i| bit & a[k] >> (i % 128) & 1 ^ b[k] >> (i % 128) & 1;
            assert_eq!(out[0][k], (0..n).fold(b[k] >> 127, step));
        }
    }
}

#[test]
fn the_widest_are_built() {
    for name in ["add65536", "lt65536", "eq65536", "hamming65536", "chain1048576"] {
        assert!(comity_library::find(name).is_some(), "{name}");
    }
}

#[test]
fn unknown_names_get_the_nearest_ones() {
    let nearest = |name: &str| match comity_library::circuit(name) {
        Err(LibraryError::Unknown { nearest, .. }) => nearest,
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(nearest("aes129"), ["aes128", "aes192", "abs129"]);
    assert_eq!(nearest("aes-128"), ["aes128"]);
    assert_eq!(nearest("ad64"), ["add64", "and64"]);
    assert_eq!(nearest("add"), ["add32"]);
    assert_eq!(nearest("addfull"), ["addfull32"]);
    assert_eq!(nearest("add08"), ["add8"], "a circuit has one name");
    assert_eq!(nearest("sha257"), ["sha256", "shl257", "shr257"]);
    assert_eq!(nearest("keccak"), ["keccak-f"]);
    assert!(nearest("").is_empty());
    assert!(nearest("frobnicate").is_empty());
    assert_eq!(
        comity_library::circuit("ad64").unwrap_err().to_string(),
        "there is no built-in circuit `ad64`; did you mean `add64` or `and64`?"
    );
    assert_eq!(comity_library::circuit("xyzzy").unwrap_err().to_string(), "there is no built-in circuit `xyzzy`");
}

#[test]
fn widths_have_bounds() {
    for (name, largest) in [
        ("add0", 65536),
        ("add65537", 65536),
        ("mul2049", 2048),
        ("add99999999999999999999", 65536),
        ("chain0", 1 << 20),
    ] {
        let Err(LibraryError::Width { limits, .. }) = comity_library::circuit(name) else { panic!("{name}") };
        assert_eq!(limits, [('N', 1..=largest)]);
    }
    assert_eq!(comity_library::circuit("mul0").unwrap_err().to_string(), "`mul0`: N in `mulN` is from 1 to 2048");
    assert_eq!(
        comity_library::program("shake128-1048577x0").unwrap_err().to_string(),
        "`shake128-1048577x0`: N in `shake128-NxK` is from 0 to 1048576, K in `shake128-NxK` is from 1 to 65536"
    );
    assert!(comity_library::find("add+8").is_none() && !comity_library::contains("add0"));
}

//! What users are told.

use comity_circuit::Recipients;

/// The message of each mistake, with its line and column.
fn errors(source: &str) -> Vec<String> {
    let error = crate::compile("t.cty", source).expect_err(source);
    error.all.iter().map(|one| format!("{}:{}: {}", one.line, one.column, one.message)).collect()
}

/// The first mistake, without its place.
fn mistake_in(source: &str) -> String {
    crate::compile("t.cty", source).expect_err(source).all[0].message.clone()
}

/// In the body of a `main` with `x: u32`, `b: bool` and `a: [u8; 4]`: the first mistake, without its place.
fn mistake(body: &str) -> String {
    let source = format!("fn main(x: u32 from 0, b: bool from 1, a: [u8; 4] from 0) -> u32 {{ {body} }}");
    let error = crate::compile("t.cty", &source).expect_err(body);
    error.all[0].message.clone()
}

#[test]
fn a_message_shows_the_line() {
    let error = crate::compile("t.cty", "fn main(x: u8 from 0) -> u8 {\n\tlet yyy = x;\n\tx + yyz\n}").unwrap_err();
    let want = "t.cty:3:6: there is no variable or constant `yyz`; did you mean `yyy`?\n   x + yyz\n       ^";
    assert_eq!(error.to_string(), want);
}

#[test]
fn several_mistakes_are_found_in_one_run() {
    let all = errors(
        "fn f(x: u8) -> u9 { x }\nfn main(x: u8 from 0) -> u8 {\n  let a = x + true;\n  let c: u8 = 300;\n  zz\n}",
    );
    assert_eq!(
        all,
        [
            "1:21: the function's value is u9 here, and this is u8; write `x as u9`",
            "3:11: `+` takes two values of one type; these are u8 and bool; write `true as u8`",
            "4:15: 300 does not fit u8, which goes from 0 to 255",
            "5:3: there is no variable or constant `zz`",
        ]
    );
    let all = errors("fn f( { }\nstruct S { a }\nfn main(x: u8 from 0) -> u8 { let = 3; x + ; x }");
    assert_eq!(all.len(), 4, "{all:?}");
}

#[test]
fn sums_of_products_say_what_they_take() {
    for (body, message) in [
        ("dot(a, [x]) as u32", "the second value is [u8; 4] here, and this is [u8; 1]"),
        ("dot(x, x)", "this is written `dot(a, b) of two arrays of whole numbers, equally long`, and the value is u32"),
        ("let s = dot([1.5, 2.5], [0.5, 0.5]); x", "`dot` takes whole numbers, and this is f64"),
        (
            "mat_mul([a], [a])[0][0] as u32",
            "this is written `mat_mul(a, b) of arrays of rows of whole numbers, as many rows in `b` as a row of `a` has \
             numbers`, and the value is [[u8; 4]; 1]",
        ),
        ("mul_shift(x, x)", "this is written `mul_shift(a, b, by)`; 2 values are given"),
        ("mul_shift(x, x, x)", "`mul_shift` of u32 shifts by a public number from 0 to 32"),
        ("mul_shift(x, x, 33)", "`mul_shift` of u32 shifts by a public number from 0 to 32"),
        ("mul_shift(x, a[0], 1)", "the second value is u32 here, and this is u8; write `a[0] as u32`"),
    ] {
        assert_eq!(mistake(body), message, "{body}");
    }
}

#[test]
fn mistakes_and_what_would_be_right() {
    for (body, message) in [
        ("x + 1u8", "`+` takes two values of one type; these are u32 and u8; write `1u8 as u32`"),
        ("let y: u8 = x; x", "the variable is u8 here, and this is u32; if it is from 0 to 255, write `x as u8`"),
        ("if x { 1 } else { 2 }", "a condition is bool here, and this is u32; write `x != 0`"),
        ("let y = 1; y = 2; x", "`y` does not change; declare it with `let mut y` (line 1)"),
        ("x = 2; x", "`x` does not change; make the parameter `mut x`"),
        (
            "for i in 0..x { } x",
            "the bounds of a loop are public, and this depends on private values; loop up to the largest possible number, with an `if` inside",
        ),
        ("a[4] as u32", "the index is 4, and the array has 4 elements, from 0 to 3"),
        ("for i in 0..5 { let y = a[i]; } x", "the index is 4, and the array has 4 elements, from 0 to 3"),
        (
            "while b { } x",
            "the number of turns must be known to all: write `for i in 0..100 { ... }`, with an `if` inside",
        ),
        ("return x;", "there is no `return`: the value of a function is the expression at its end"),
        ("x.min(3)", "functions are called as `min(x, ...)`; there are no methods"),
        ("a.len", "the length of an array is written `len(array)`"),
        ("mni(x, 3)", "there is no function `mni`; did you mean `min`?"),
        ("popcount(b)", "this is written `popcount(number)`, and the value is bool"),
        ("-x", "u32 has no negative numbers; make it `i32`, or write `0 - x` for the number modulo 2^32"),
        ("let y = x;", "the function's value is missing: end it with an expression of type u32, without `;`"),
        ("x == 1; x", "this value is not used; `=` assigns"),
        ("if x = 1 { 1 } else { 2 }", "`=` assigns; write `==` to compare"),
        ("1 < x < 3", "comparisons do not chain; write `a < b && b < c`"),
        ("let y: usize = 1; x", "there is no type `usize`; numbers say how wide they are: `u32`"),
        ("let y: u0 = 1; x", "`u0`: numbers have 1 to 65536 bits"),
        ("let y = 5; let z: bool = y; x", "the variable is bool here, and this is a number; write `y != 0`"),
        ("add32(x)", "`add32(a: u32, b: u32)` takes 2 values; 1 given"),
        ("add32(x, b)", "`b` of `add32(a: u32, b: u32)` has 32 bits, and this is bool; write `b as u32`"),
        ("main(x, b, a)", "`main` is where the program begins; it is not called"),
        ("x + 1.5", "`+` takes two values of one type; these are u32 and a number with a fraction"),
        ("let y = a[0..2]; x", crate::elsewhere::SLICE),
        ("let y = a[1:3]; x", crate::elsewhere::SLICE),
        ("let y = a[:3]; x", crate::elsewhere::SLICE),
        ("let y = a[..3]; x", crate::elsewhere::SLICE),
        ("for i in range(10) { } x", "there is no function `range`; a loop is written `for i in 0..10 { ... }`"),
        ("x > 1 ? x : 2", "there is no `a ? b : c`: it is written `if a { b } else { c }`"),
        ("if b and b { 1 } else { 2 }", "`and` is written `&&`"),
        ("if b or b { 1 } else { 2 }", "`or` is written `||`"),
        ("let y = b or b; x", "`or` is written `||`"),
        ("if not b { 1 } else { 2 }", "`not` is written `!`"),
        ("if not(b) { 1 } else { 2 }", "there is no function `not`; it is written `!`"),
        ("x ** 2", "there is no `**`: a square is written `x * x`, and a power of two `1 << n`"),
        ("let y: sint = 1; x", "there is no type `sint`; numbers say how wide they are: `i32`"),
        ("let y: sint<8> = 1; x", "numbers say how wide they are: `i32`"),
        ("sint(x)", "there is no function `sint`; numbers say how wide they are: `i32`"),
        (
            "let y: sfix = 1; x",
            "there is no type `sfix`; there are `f32` and `f64`; whole numbers of a small unit, such as cents in `i64`, cost less",
        ),
        ("b as u32 as bool as u32", "a number is made a bool by `!= 0`"),
        ("a[b as u1 + 1.0] as u32", "`+` takes two values of one type; these are u1 and a number with a fraction"),
        ("if b { 1 } else { b }", "both branches give one type; the first gives a number, and this bool"),
    ] {
        assert_eq!(mistake(body), message, "{body}");
    }
}

/// The program that follows a message's advice, and the advice: what is written behind the last `write`, for
/// what is between the brackets of the body.
#[test]
fn what_is_advised_gives_the_number_that_is_meant() {
    for (params, ty, text, advice, inputs, result) in [
        ("a: u8 from 0, b: u8 from 1", "u16", "a + b", "a as u16 + b as u16", &[200, 100][..], 300),
        ("a: u8 from 0, b: u8 from 1", "i16", "a - b", "a as i16 - b as i16", &[100, 200], -100),
        (
            "a: u8 from 0, b: u8 from 1",
            "u32",
            "a + b * (a + 1)",
            "a as u32 + (b as u32 * (a as u32 + 1))",
            &[200, 100],
            20_300,
        ),
        ("a: u8 from 0, b: u8 from 1", "u16", "(a + b) / 2", "(a as u16 + b as u16) / 2", &[200, 100], 150),
        ("a: u8 from 0, b: u8 from 1", "u16", "a << 4", "(a as u16) << 4", &[200, 0], 3200),
        ("a: i8 from 0, b: i8 from 1", "i16", "-a", "-(a as i16)", &[-128, 0], 128),
        ("a: i8 from 0, b: i8 from 1", "i16", "abs(a)", "abs(a as i16)", &[-128, 0], 128),
        ("a: i8 from 0, b: i8 from 1", "i16", "max(a - b, b)", "max(a as i16 - b as i16, b as i16)", &[100, -100], 200),
        ("a: u8 from 0, b: u8 from 1", "u16", "a & b", "(a & b) as u16", &[12, 10], 8),
        ("a: u32 from 0, b: i32 from 1", "bool", "a < b", "(a as i64) < (b as i64)", &[5, -1], 0),
        ("a: u32 from 0, b: i32 from 1", "bool", "b < a", "(b as i64) < (a as i64)", &[4_000_000_000, -1], 1),
        ("a: i8 from 0, b: u8 from 1", "bool", "a == b - 1", "(a as i16) == (b as i16 - 1)", &[-1, 0], 1),
        ("a: u8 from 0, b: i32 from 1", "bool", "a < b", "a as i32", &[5, -1], 0),
        ("a: u8 from 0, b: u32 from 1", "bool", "a + a < b", "a as u32 + a as u32", &[200, 300], 0),
    ] {
        let program = |text: &str| format!("fn main({params}) -> {ty} {{ {text} }}");
        let said = mistake_in(&program(text));
        let hint = said.split_once("write `").unwrap_or_else(|| panic!("{said}")).1.split('`').next().unwrap();
        assert_eq!(hint, advice, "{said}");
        // What is advised for one side is written there.
        let followed = if text.contains('<') && !advice.contains('<') {
            text.replacen(text.split(" <").next().unwrap(), &format!("({advice})"), 1)
        } else {
            advice.to_owned()
        };
        super::gives(&program(&followed), inputs, &[result]);
    }
}

#[test]
fn where_two_conversions_differ_both_are_shown() {
    for (params, ty, text, message) in [
        (
            "a: u8 from 0, b: u8 from 1",
            "u16",
            "a + b",
            "the function's value is u16 here, and this is u8; write `a as u16 + b as u16`; `(a + b) as u16` is modulo 2^8",
        ),
        (
            "a: u8 from 0, b: u8 from 1",
            "f32",
            "a / b",
            "the function's value is f32 here, and this is u8; write `(a / b) as f32` for the whole quotient, or `a as f32 / b as f32` \
             for its fraction, too",
        ),
        (
            "a: [u8; 9] from 0",
            "u32",
            "sum(a)",
            "the function's value is u32 here, and this is u8; `sum` is modulo 2^8: convert each element before, as in \
             `for x in a { s += x as u32; }`",
        ),
        (
            "a: u32 from 0, b: bool from 1",
            "u64",
            "if b { a + 1 } else { a }",
            "the function's value is u64 here, and this is u32; convert its operands, each with `as u64`: the operation itself is \
             modulo 2^32",
        ),
        (
            "a: u32 from 0",
            "i32",
            "a",
            "the function's value is i32 here, and this is u32; if it is from 0 to 2147483647, write `a as i32`",
        ),
        (
            "a: i64 from 0",
            "i32",
            "a",
            "the function's value is i32 here, and this is i64; if it is from -2147483648 to 2147483647, write `a as i32`",
        ),
        (
            "a: i8 from 0",
            "u64",
            "a",
            "the function's value is u64 here, and this is i8; if it is from 0 to 127, write `a as u64`",
        ),
        (
            "a: u32 from 0",
            "f32",
            "a",
            "the function's value is f32 here, and this is u32; write `a as f32`, which is rounded from 2^24 on",
        ),
        ("a: u16 from 0", "f32", "a", "the function's value is f32 here, and this is u16; write `a as f32`"),
        (
            "a: f64 from 0",
            "u8",
            "a",
            "the function's value is u8 here, and this is f64; write `a as u8`, which is rounded towards zero",
        ),
        (
            "a: u64 from 0, b: f32 from 1",
            "f32",
            "a + b",
            "`+` takes two values of one type; these are u64 and f32; write `a as f32`, which is rounded from 2^24 on",
        ),
        ("a: f32 from 0", "f32", "a + 1", "`+` takes two values of one type; these are f32 and a number; write `1.0`"),
    ] {
        assert_eq!(mistake_in(&format!("fn main({params}) -> {ty} {{ {text} }}")), message, "{text}");
    }
}

#[test]
fn what_is_quoted_does_nothing_to_a_terminal() {
    let said = mistake("add32(x, b\r== b)");
    assert!(said.contains("b == b") && !said.contains(char::is_control), "{said:?}");
}

#[test]
fn recursion_is_refused_by_name() {
    let all = errors("fn f(x: u8) -> u8 { g(x) }\nfn g(x: u8) -> u8 { f(x) }\nfn main(x: u8 from 0) -> u8 { f(x) }");
    assert_eq!(all[0], "1:21: `f` calls itself here; calls would have no end. Write a loop: `for i in 0..10`");
    assert_eq!(all.len(), 2);
}

#[test]
fn parties() {
    let of = |from: &str| errors(&format!("parties alice, bob;\nfn main(x: u8 {from}) -> u8 {{ x }}"));
    assert_eq!(of("from alise"), ["2:20: there is no party `alise`; did you mean `alice`?"]);
    assert_eq!(of(""), ["2:9: say which party gives `x`: `x: u8 from alice`"]);
    assert_eq!(of("from 2"), ["2:20: parties are numbered from 0 to 1"]);
    let unnamed = |from: &str| errors(&format!("fn main(x: u8 from {from}) -> u8 {{ x }}"));
    assert_eq!(unnamed("64"), ["1:20: parties are numbered from 0 to 63"]);
    let names: Vec<String> = (0..65).map(|i| format!("p{i}")).collect();
    let many = |count: usize| format!("parties {};\nfn main(x: u8 from p1) -> u8 {{ x }}", names[..count].join(", "));
    assert_eq!(errors(&many(65)), ["1:319: there are more than 64 parties"]);
    assert!(crate::compile("t.cty", &many(64)).is_ok());
}

#[test]
fn recipients() {
    let of = |to: &str| errors(&format!("parties ann, ben, cy;\nfn main(x: u8 from ann) -> u8 to {to} {{ x }}"));
    assert_eq!(of("(ann, bem)"), ["2:40: there is no party `bem`; did you mean `ben`?"]);
    assert_eq!(of("(ann, ben, ann)"), ["2:45: a party that is named twice"]);
    assert_eq!(of("()"), ["2:34: say who learns it: `to (0, 1)`, or leave `to` out for everybody"]);
    assert_eq!(of("(ann, 3)"), ["2:40: parties are numbered from 0 to 2"]);
    assert!(of("(ann, all)")[0].starts_with("2:40: there is no party `all`"));
    let given = |to: &str| {
        let source =
            format!("parties ann, ben, cy;\nfn main(x: u8 from ann) -> (a: u8 {to}, b: u8 to all) {{ (x, x) }}");
        crate::compile("t.cty", &source).unwrap().outputs()[0].to
    };
    let set = |parties: &[u16]| Recipients::Parties(parties.iter().copied().collect());
    assert_eq!((given("to (cy, ann)"), given("to (ben,)")), (set(&[0, 2]), Recipients::only(1)));
    assert_eq!((given("to (0, 1, 2)"), given("")), (set(&[0, 1, 2]), Recipients::All));
    assert_eq!(errors("fn f(x: u8) -> u8 to (0, 1) { x } fn main(x: u8 from 0) -> u8 { f(x) }").len(), 1);
}

#[test]
fn nothing_overflows() {
    let deep = |open: &str, close: &str, n: usize| {
        let source = format!("fn main(x: u8 from 0) -> u8 {{ {}x{} }}", open.repeat(n), close.repeat(n));
        let _ = crate::compile("t.cty", &source).map_err(|error| error.to_string());
    };
    for n in [10, 80, 90, 95, 100, 1000, 100_000] {
        deep("(", ")", n);
        deep("!", "", n);
        deep("-", "", n);
        deep("{", "}", n);
        deep("[", "][0]", n);
        deep("x+", "", n);
        deep("", "+x", n);
        deep("", " as u8", n);
        deep("", ".0", n);
        deep("", "[0]", n);
        deep("if x > 3 {", "} else { x }", n);
        deep("if x > 3 { x } else ", "", n);
        deep("min(x, ", ")", n);
        deep("/*", "*/", n);
    }
    let chain: String = (0..500).map(|i| format!("fn f{i}(x: u8) -> u8 {{ f{}(x) + 1 }}\n", i + 1)).collect();
    let source = format!("{chain}fn f500(x: u8) -> u8 {{ x }} fn main(x: u8 from 0) -> u8 {{ f0(x) }}");
    let _ = crate::compile("t.cty", &source);
}

/// Each is held against all names, so that without a bound a long text takes as many steps as it has letters squared.
#[test]
fn after_many_mistakes_no_more_are_looked_for() {
    let many = "zz; ".repeat(300);
    let source =
        format!("fn f(x: u8) -> u8 {{ yy }}\nfn main(x: u8 from 0) -> u8 {{ x }}\nfn g(x: u8) -> u8 {{ {many} x }}");
    let all = errors(&source);
    assert!(all.len() == 20 && all.iter().all(|one| one.starts_with("3:")), "{all:?}");
    let long = "z".repeat(400_000);
    assert!(mistake(&format!("let {long} = x; {long}z")).ends_with("z`"));
}

/// Each of these is of the one after it, or of two of the one before it.
#[test]
fn what_is_made_of_others_ends() {
    let of = |each: &dyn Fn(usize) -> String, n: usize| (1..n).map(each).collect::<String>();
    let main = "fn main(x: u8 from 0) -> u8 { x }";
    let down = |each: &dyn Fn(usize) -> String| (1..40_000).rev().map(each).collect::<String>();
    for (source, part) in [
        (format!("{}struct S0{{a:u8}} {main}", down(&|i| format!("struct S{i}{{a:S{}}}", i - 1))), "too deep"),
        (format!("{}const C0=1; {main}", down(&|i| format!("const C{i}=C{};", i - 1))), "too deep"),
        (format!("{}const C0=true; {main}", down(&|i| format!("const C{i}=C{};", i - 1))), "too deep"),
        (format!("struct S0{{a:u8}} {} {main}", of(&|i| format!("struct S{i}{{a:S{}}}", i - 1), 200)), "96 inside"),
        (
            format!("struct S0{{a:u8}} {} {main}", of(&|i| format!("struct S{i}{{a:S{0},b:S{0}}}", i - 1), 64)),
            "4096 parts",
        ),
        (
            format!("struct S0{{a:[u8;0]}} {} {main}", of(&|i| format!("struct S{i}{{a:S{0},b:S{0}}}", i - 1), 64)),
            "4096 parts",
        ),
    ] {
        let error = crate::compile("t.cty", &source).expect_err(part).to_string();
        assert!(error.contains(part), "{error}");
    }
    for (each, part) in [
        ("({0}, {0})", "4096 parts"),
        ("[{0}, {0}]", "2^32 bits"),
        ("[({0}, {0}); 1]", "4096 parts"),
        ("two({0})", "4096 parts"),
    ] {
        let lets = of(&|i| format!("let t{i} = {};", each.replace("{0}", &format!("t{}", i - 1))), 64);
        let two = "fn two<T>(x: T) -> (T, T) { (x, x) } ";
        let error = mistake_in(&format!("{two}fn main(x: u8 from 0) -> u8 {{ let t0 = x; {lets} x }}"));
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn what_is_too_large_is_refused_at_once() {
    for (source, part) in [
        ("fn main(x: [u8; 1000000000] from 0) -> u8 { x[0] }", "more than 2^32 bits"),
        ("fn main(x: u8 from 0) -> u8 { let a = [x; 4000000000]; a[0] }", "more than 2^32 bits"),
        ("fn main(x: u99999 from 0) -> u8 { 1 }", "numbers have 1 to 65536 bits"),
        ("const A = 1 << 200; fn main(x: u8 from 0) -> u8 { x }", "too large"),
        ("const A = B; const B = A; fn main(x: u8 from 0) -> u8 { x }", "made of itself"),
        ("struct S { s: S } fn main(x: u8 from 0) -> u8 { x }", "it would have no end"),
        ("fn main(x: u8 from 0) -> u8 { for i in 0..3000000 { for j in 0..i { } } x }", "too many steps"),
    ] {
        let error = crate::compile("t.cty", source).expect_err(source).to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn rows_are_sorted_as_numbers() {
    let said = mistake_in("struct R { key: u32 } fn main(a: [R; 2] from 0) -> u32 { let s = sort(a); s[0].key }");
    assert!(said.contains("`sort(array of numbers)`") && said.contains("(a[i].key as u64) << 32 | i as u64"), "{said}");
    // What is advised works.
    let source = "struct R { key: u32, of: u8 }
        fn main(a: [R; 3] from 0) -> u8 {
            let mut keys = [0u64; 3];
            for i in 0..3 { keys[i] = (a[i].key as u64) << 32 | i as u64; }
            a[sort(keys)[0] as u2].of
        }";
    assert!(crate::compile("t.cty", source).is_ok());
}

#[test]
fn brackets_are_quoted_whole() {
    for (text, quoted) in [("a - (a + b)", "(a - (a + b)) as u16"), ("(a + b) - a", "((a + b) - a) as u16")] {
        let said = mistake_in(&format!("fn main(a: u8 from 0, b: u8 from 1) -> u16 {{ {text} }}"));
        assert!(said.contains(&format!("`{quoted}` is modulo 2^8")), "{said}");
    }
}

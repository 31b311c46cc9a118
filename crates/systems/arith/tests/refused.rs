//! What is not on words is refused, with the line and what is there.

use comity_arith::Arith;
use comity_core::{Kind, Params};
use comity_protocol::{Options, Protocol};

fn refusal(body: &str) -> String {
    let text = format!("parties alice, bob;\nfn main(x: u32 from alice, y: u32 from bob) -> (r: u32)\n{{\n{body}\n}}");
    let program = comity_language::compile("test.cty", &text).unwrap_or_else(|e| panic!("{e}"));
    let error = Arith.fits(&program, &Options::new(Arith.card()), Params::default()).expect_err(body);
    assert!(matches!(error.kind, Kind::InvalidInput(_)), "{error}");
    error.to_string()
}

#[test]
fn what_is_not_a_sum_or_a_product_is_named_with_its_line() {
    for (body, line, what) in [
        ("let z = x * y;\n(z ^ x) + 1", 5, "`xor`"),
        ("let z = x * y;\nif z < 5 { z & x } else { y }", 5, "`and`"),
        ("let z = x | y;\nz * y", 4, "`or`"),
        ("let z = x * y;\nmul_shift(z as u100, x as u100, 29) as u32", 5, "a word of 129 bits"),
        ("let z = x * y;\npopcount(z) as u32 + 1", 5, "single bits"),
    ] {
        let error = refusal(body);
        assert!(error.contains(&format!("line {line} of")) && error.contains(what), "{body}: {error}");
        assert!(error.contains("Take `mixed`"), "{error}");
    }
}

#[test]
fn what_is_not_used_is_no_reason() {
    let text = "parties alice, bob;
        fn main(x: u32 from alice, y: u32 from bob) -> (r: u32) { let unused = x / y; x * y }";
    let program = comity_language::compile("test.cty", text).unwrap();
    Arith.fits(&program, &Options::new(Arith.card()), Params::default()).unwrap();
}

#[test]
fn a_program_that_goes_over_its_memory_too_often_is_refused_at_once() {
    let text = "parties alice, bob;
        fn main(x: [u8; 3000] from alice, y: u8 from bob) -> (r: u8) {
            let mut sum = 0u8;
            for i in 0..1000 { for j in 0..1000 { for k in 0..1000 { sum += x[i + j + k] * y; } } }
            sum
        }";
    let program = comity_language::compile("test.cty", text).unwrap();
    let error = Arith.fits(&program, &Options::new(Arith.card()), Params::default()).unwrap_err();
    assert!(error.to_string().contains("places in the turns of its loops"), "{error}");
}

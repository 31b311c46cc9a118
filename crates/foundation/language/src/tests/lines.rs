//! Single expressions and types, as an interactive session has them.

use comity_circuit::Type;

use super::run;
use crate::{compile_expression, parse_type};

fn values(types: &[(&'static str, &str)]) -> Vec<(&'static str, Type)> {
    types.iter().map(|&(name, ty)| (name, parse_type(ty).unwrap())).collect()
}

fn compile(types: &[(&'static str, &str)], text: &str) -> Result<comity_circuit::Program, String> {
    let values = values(types);
    let values: Vec<(&str, &Type)> = values.iter().map(|(name, ty)| (*name, ty)).collect();
    compile_expression("line 3", &values, text).map_err(|e| e.to_string())
}

#[test]
fn the_type_of_an_expression_is_found() {
    for (text, ty, inputs, output) in [
        ("a < b", "bool", vec![3, 4], vec![1]),
        ("a + b", "u8", vec![250, 7], vec![1]),
        ("a as u16 + b as u16", "u16", vec![250, 7], vec![257]),
        ("if a < b { a } else { b }", "u8", vec![9, 4], vec![4]),
        ("{ let x = a * b; x + 1 }", "u8", vec![9, 4], vec![37]),
        ("[a, b, 7]", "[u8; 3]", vec![9, 4], vec![9, 4, 7]),
        ("(a, b == 4)", "(u8, bool)", vec![9, 4], vec![9, 1]),
        ("5u32", "u32", vec![1, 2], vec![5]),
        ("a", "u8", vec![1, 2], vec![1]),
        ("let x = a; x + b", "u8", vec![1, 2], vec![3]),
    ] {
        let program = compile(&[("a", "u8"), ("b", "u8")], text).unwrap();
        assert_eq!(program.outputs()[0].ty.to_string(), ty, "{text}");
        assert_eq!((program.inputs().len(), program.outputs()[0].name.as_str()), (2, "result"));
        assert_eq!(run(&program, &inputs), output, "{text}");
    }
    let program = compile(&[("x", "i16"), ("ys", "[i16; 3]"), ("t", "(bool, u4)")], "if t.0 { ys[1] } else { x }");
    assert_eq!(run(&program.unwrap(), &[-5, 1, -2, 3, 1, 9]), [-2]);
}

#[test]
fn mistakes_are_shown_where_they_are() {
    for (text, wanted) in [
        ("a + c", "line 3:1:5: there is no variable or constant `c`"),
        ("a + true", "line 3:1:1: `+` takes two values of one type"),
        ("a <", "line 3:1:4: expected a value, found the end\n  a <\n     ^"),
        ("", "line 3:1:1: this has no value"),
        ("5", "how wide is this number"),
        ("[1, 2]", "how wide is this number"),
        ("a;", "line 3:1:1"),
        ("(a", "line 3:1:3: expected"),
        ("a } fn other() -> u32 { 1", "a bracket is too many"),
        ("a } struct S { x: u32 ", "a bracket is too many"),
        ("a)", "line 3:1:2"),
    ] {
        let error = compile(&[("a", "u8")], text).unwrap_err();
        assert!(error.contains(wanted), "`{text}`: {error}");
    }
}

#[test]
fn types_alone() {
    for text in ["bool", "u32", "i7", "f32", "[u8; 16]", "(u4, [bool; 2])", "u65536"] {
        assert_eq!(parse_type(text).unwrap().to_string(), text);
    }
    assert_eq!(parse_type("[u<8>; 2 * 3]").unwrap().to_string(), "[u8; 6]");
    for text in ["", "u0", "int", "u32 u32", "Bid", "u32 from 0, y: u32", "()", "u32 from 0) { x } fn f(y: u32"] {
        assert!(parse_type(text).is_err(), "{text}");
    }
    assert!(parse_type("int").unwrap_err().to_string().contains("`i32`"));
}

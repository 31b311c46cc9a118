//! Blocks that pin operations to a form: they show in the notes, and nowhere else.

use comity_circuit::random::Rng;
use comity_circuit::{Form, Note, Program, Step};

use super::{LIMITS, compile, gives, run};

/// Each operation of a program and what it is pinned to.
fn pins(source: &str) -> Vec<(&'static str, Option<Form>)> {
    let program = compile(source, LIMITS[0]);
    let notes = program.circuits().iter().flat_map(|circuit| circuit.notes());
    notes.map(|note| (note.op.name(), note.pin)).collect()
}

fn two(body: &str) -> String {
    format!("fn main(x: u16 from 0, y: u16 from 1) -> u16 {{ {body} }}")
}

const A: Option<Form> = Some(Form::Arithmetic);
const B: Option<Form> = Some(Form::Boolean);
const Y: Option<Form> = Some(Form::Yao);

#[test]
fn a_block_pins_what_is_in_it_and_the_innermost_wins() {
    assert_eq!(pins(&two("let d = arithmetic { x * y }; d + 1")), [("mul", A), ("add", None)]);
    let nested = "yao { let d = arithmetic { x * boolean { x ^ y } }; d - y } & x";
    assert_eq!(pins(&two(nested)), [("xor", B), ("mul", A), ("sub", Y), ("and", None)]);
    // As a statement, as an operand, and as a function's value.
    assert_eq!(pins(&two("let mut s = x; arithmetic { s += y; s *= x; } s")), [("add", A), ("mul", A)]);
    assert_eq!(pins(&two("1 + yao { x } * arithmetic { x - y }")), [("sub", A), ("mul", None), ("add", None)]);
    assert_eq!(pins(&two("boolean { if x < y { x } else { y } }")), [("less", B), ("select", B)]);
    // What is called there is pinned, too, unless it says otherwise.
    let called = "fn square(a: u16) -> u16 { a * a }
        fn both(a: u16, b: u16) -> u16 { square(a) + yao { a - b } }
        fn main(x: u16 from 0, y: u16 from 1) -> u16 { both(arithmetic { both(x, y) }, y) }";
    let expected = [("square", A), ("sub", Y), ("add", A), ("square", None), ("sub", Y), ("add", None)];
    assert_eq!(pins(called), expected);
}

#[test]
fn what_is_computed_twice_has_the_pin_that_was_given() {
    assert_eq!(pins(&two("(x * y) ^ arithmetic { x * y + y }")), [("mul", A), ("add", A), ("xor", None)]);
    assert_eq!(pins(&two("yao { x * y } ^ arithmetic { x * y + y }")), [("mul", Y), ("add", A), ("xor", None)]);
}

#[test]
fn loops_that_are_kept_and_tables_are_pinned() {
    let dot = "fn main(x: [u32; 50] from 0, y: [u32; 50] from 1) -> u32 {
        let mut s = 0;
        arithmetic { for i in 0..50 { s += x[i] * y[i]; } }
        s
    }";
    for limits in LIMITS {
        let program = compile(dot, limits);
        let notes: Vec<&Note> = program.circuits().iter().flat_map(|circuit| circuit.notes()).collect();
        assert!(!notes.is_empty() && notes.iter().all(|note| note.pin == A));
    }
    let table = "const T: [u8; 16] = [7, 1, 2, 9, 4, 5, 5, 3, 8, 1, 0, 2, 6, 4, 3, 1];
        fn main(x: u4 from 0, y: u4 from 1) -> u8 { boolean { T[x] } + T[y] }";
    let program = super::compile_for(table, comity_circuit::Goal::Depth, LIMITS[0]);
    let lookups = program.circuits().iter().flat_map(|circuit| circuit.notes());
    let lookups: Vec<_> = lookups.filter(|note| note.op.name() == "lookup").map(|note| note.pin).collect();
    assert_eq!(lookups, [B, None]);
    // A circuit that is called is pinned where it is called.
    let called = "fn main(x: u64 from 0, y: u64 from 1) -> (u64, u64) { (arithmetic { mul64(x, y) }, mul64(y, x)) }";
    let program = super::compile_for(called, comity_circuit::Goal::Depth, LIMITS[0]);
    let pins: Vec<_> = program.circuits().iter().flat_map(|circuit| circuit.notes()).map(|note| note.pin).collect();
    assert_eq!(pins, [A, None]);
}

#[test]
fn the_three_words_are_names_elsewhere() {
    let source = "struct yao { x: u8 }
        fn boolean(arithmetic: u8) -> u8 { arithmetic + 1 }
        fn main(x: u8 from 0, y: bool from 1) -> (u8, u8) {
            let arithmetic = y;
            let s = yao { x: x };
            let mut sum = if arithmetic { boolean(s.x) } else { 0 };
            let yao = [x, 3];
            for boolean in yao { sum += boolean; }
            (sum, arithmetic { sum * 2 })
        }";
    gives(source, &[20, 1], &[44, 88]);
    gives(source, &[20, 0], &[23, 46]);
}

#[test]
fn words_are_whole_numbers() {
    let float = "fn scaled(x: f32) -> f32 {\n    x * 2.0\n}\nfn main(x: f32 from 0) -> f32 {\n    let y = arithmetic { scaled(x) };\n    y\n}";
    let error = crate::compile("f.cty", float).unwrap_err().to_string();
    assert!(
        error.contains("f.cty:2:5") && error.contains("`arithmetic` takes whole numbers, and this is f32"),
        "{error}"
    );
    for inside in
        ["-x", "x + y", "if x == y { x } else { y }", "if x < y { x } else { y }", "max(x, y)", "sqrt(x)", "3u8 as f32"]
    {
        let source = format!("fn main(x: f32 from 0, y: f32 from 1) -> f32 {{ FORM {{ {inside} }} }}");
        let compiled = |form: &str| crate::compile("f.cty", &source.replace("FORM", form));
        assert!(compiled("yao").is_ok() && compiled("boolean").is_ok(), "{inside}");
        assert!(compiled("arithmetic").unwrap_err().to_string().contains("whole numbers"), "{inside}");
    }
    // What is only moved is no computation.
    assert!(crate::compile("f.cty", "fn main(x: f32 from 0) -> (f32, f32) { arithmetic { (x, x) } }").is_ok());
}

/// The calls of two programs, in order: circuits by number, and where values come from and go to.
fn calls<'p>(program: &'p Program, steps: &'p [Step], into: &mut Vec<(&'p comity_circuit::Circuit, String)>) {
    for step in steps {
        match step {
            Step::Call { circuit, times, args, outs } => {
                into.push((&program.circuits()[*circuit], format!("{times} {args:?} {outs:?}")));
            }
            Step::Repeat { times, body } => {
                let at = into.len();
                calls(program, body, into);
                into.iter_mut().skip(at).for_each(|(_, text)| *text += &format!(" {times} times"));
            }
            _ => {}
        }
    }
}

/// A random program in which some expressions are in blocks: `@` is the place of a form.
fn random_source(rng: &mut Rng) -> String {
    let mut text = "fn main(a: u8 from 0, b: u8 from 1, t: [u8; 9] from 0) -> (u8, u8) {\n".to_owned();
    text += "    let mut p = a; let mut q = b;\n";
    for _ in 0..2 + rng.below(6) {
        let mut atom = || ["p", "q", "a", "b", "t[2]", "(@ { p ^ q })", "(@ { t[1] + a })"][rng.below(7)];
        let (x, y) = (atom(), atom());
        let operation = ["+", "-", "*", "&", "|", "^"][rng.below(6)];
        let value = format!("{x} {operation} {y}");
        text += &match rng.below(5) {
            0 => format!("    for i in 0..9 {{ p += @ {{ t[i] * ({value}) }}; }}\n"),
            1 => format!("    @ {{ q = {value}; p -= 1; }}\n"),
            2 => format!("    p = if (@ {{ p < {y} }}) {{ {value} }} else {{ @ {{ q }} }};\n"),
            3 => format!("    if q == {x} {{ @ {{ p += {y}; }} }}\n"),
            _ => format!("    q = @ {{ {value} }};\n"),
        };
    }
    text + "    @ { (p, q) }\n}"
}

#[test]
fn pins_change_no_gate_and_no_step() {
    let mut rng = Rng(7);
    let mut pinned_notes = 0;
    for seed in 0..150 {
        let source = random_source(&mut rng);
        let limits = LIMITS[rng.below(3)];
        let plain = compile(&source.replace('@', ""), limits);
        let pinned = compile(
            &source.split('@').collect::<Vec<_>>().join(["arithmetic", "boolean", "yao"][rng.below(3)]),
            limits,
        );
        let (mut one, mut other) = (Vec::new(), Vec::new());
        calls(&plain, plain.steps(), &mut one);
        calls(&pinned, pinned.steps(), &mut other);
        assert_eq!(one.len(), other.len(), "{seed}: {source}");
        for ((plain, moves), (pinned, others)) in one.iter().zip(&other) {
            assert!(plain.same_gates(pinned) && moves == others, "{seed}: {source}");
            let free = |note: &Note| Note { pin: None, ..note.clone() };
            assert_eq!(plain.notes(), pinned.notes().iter().map(free).collect::<Vec<_>>(), "{seed}: {source}");
            pinned_notes += pinned.notes().iter().filter(|note| note.pin.is_some()).count();
        }
        let inputs: Vec<i128> = (0..11).map(|_| rng.below(256) as i128).collect();
        assert_eq!(run(&plain, &inputs), run(&pinned, &inputs));
        assert_eq!(Program::decode(&pinned.encode(), comity_library::gadget).as_ref(), Ok(&pinned));
    }
    assert!(pinned_notes > 300, "{pinned_notes}");
    let [free, words] =
        ["", "arithmetic"].map(|form| compile(&two(&format!("{form} {{ x * y }}")), LIMITS[0]).digest());
    assert_ne!(free, words);
}

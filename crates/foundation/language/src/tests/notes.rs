//! What a program's operations are noted as.

use std::fmt::Write;

use comity_circuit::random::Rng;
use comity_circuit::{Goal, Program};
use comity_library::gadget;

use super::{LIMITS, compile};

fn noted(source: &str) -> Vec<(&'static str, u64)> {
    compile(source, LIMITS[0]).noted().into_iter().collect()
}

#[test]
fn operators_are_noted_and_floats_are_not() {
    let two = |expression: &str| noted(&format!("fn main(x: u16 from 0, y: u16 from 1) -> u16 {{ {expression} }}"));
    assert_eq!(two("x + y * x - 1"), [("add", 1), ("mul", 1), ("sub", 1)]);
    assert_eq!(two("x * x"), [("square", 1)]);
    assert_eq!(
        two("if x < y { x / y } else { x >> (y % 8) }"),
        [("div_rem", 1), ("less", 1), ("select", 1), ("shr", 1)]
    );
    assert_eq!(two("(x & y) | !x ^ y"), [("and", 1), ("not", 1), ("or", 1), ("xor", 1)]);
    assert_eq!(two("x << 3"), []);
    assert_eq!(noted("fn main(x: f32 from 0, y: f32 from 1) -> f32 { x * y + x }"), []);
    let signed = "fn main(x: i9 from 0, y: i9 from 1) -> (i9, bool, bool) { (x / 3, x <= y, x == y) }";
    assert_eq!(noted(signed), [("div_rem_signed", 1), ("equal", 1), ("less_equal_signed", 1)]);
    let sums = "fn main(x: [[i8; 3]; 2] from 0, y: [[i8; 2]; 3] from 1) -> (i8, [[i8; 2]; 2], i8) {
        (dot(x[0], x[1]), mat_mul(x, y), mul_shift(x[0][0], y[0][0], 5))
    }";
    assert_eq!(noted(sums), [("dot", 1), ("mat_mul", 1), ("mul_shift", 1)]);
    // A loop that is kept is counted as often as it runs.
    let dot = "fn main(x: [u32; 50] from 0, y: [u32; 50] from 1) -> u32 {
        let mut s = 0;
        for i in 0..50 { s += x[i] * y[i]; }
        s
    }";
    let kept = compile(dot, LIMITS[2]).noted();
    assert_eq!(kept.into_iter().collect::<Vec<_>>(), [("add", 50), ("mul", 50)]);
}

#[test]
fn notes_know_their_lines_which_are_no_part_of_the_digest() {
    let source = "fn main(x: u8 from 0, y: u8 from 1) -> u8 {\n    let z = x * y;\n    z + x\n}";
    let program = compile(source, LIMITS[0]);
    let lines = |program: &Program| program.circuits()[0].notes().iter().map(|note| note.line).collect::<Vec<_>>();
    assert_eq!(lines(&program), [2, 3]);
    let moved = compile(&format!("\n\n{source}"), LIMITS[0]);
    assert_eq!((lines(&moved), moved.digest()), (vec![4, 5], program.digest()));
}

/// A random program over words of some widths, with expressions of these kinds, branches, loops, casts and parts of
/// values.
fn random_source(rng: &mut Rng, kinds: usize) -> String {
    let width = [2, 4, 7, 8, 16][rng.below(5)];
    let ty = format!("{}{width}", ["u", "i"][rng.below(2)]);
    let mut text = format!("fn main(a: {ty} from 0, b: {ty} from 1, t: [{ty}; 5] from 0) -> ({ty}, {ty}, u3) {{\n");
    text += "    let mut p = a; let mut q = b; let mut s = 0;\n";
    for step in 0..2 + rng.below(6) {
        let mut atom = || ["p", "q", "a", "b", "t[2]", "t[4]", "(p ^ q)", "1"][rng.below(8)];
        let (x, y) = (atom(), atom());
        let expression = match rng.below(kinds) {
            0 | 1 => format!("{x} + p"),
            2 | 3 => format!("q - {y}"),
            4 | 5 => format!("p * {y}"),
            6 => "p * p".to_owned(),
            7 => format!("p / {y}"),
            8 => format!("q % {x}"),
            9 => format!("if {x} < q {{ {y} }} else {{ p }}"),
            10 => format!("if p == {x} && q >= {y} {{ q }} else {{ {x} }}"),
            11 => format!("(p & q) | {x}"),
            12 => format!("p << {}", rng.below(width)),
            13 => format!("q >> {}", rng.below(width)),
            14 => format!("max(min(p, q), {y})"),
            15 => format!("(p as u20 * q as u20) as {ty}"),
            16 => format!("dot([p, {x}], [{y}, q])"),
            17 => format!("mat_mul([[p, {x}], [q, 1]], [[{y}], [q]])[{}][0]", rng.below(2)),
            _ => format!("mul_shift(p, {y}, {})", rng.below(width + 1)),
        };
        let to = ["p", "q"][rng.below(2)];
        match rng.below(4) {
            0 => writeln!(text, "    for i in 0..5 {{ s += {to}; {to} = t[i] + {expression}; }}"),
            1 => writeln!(text, "    let v{step} = {expression}; {to} = v{step};"),
            _ => writeln!(text, "    {to} = {expression};"),
        }
        .unwrap();
    }
    text + &format!("    (p, s, q as u{width} as u3)\n}}")
}

fn random_programs(count: u64) -> usize {
    let mut notes = 0;
    // In the last one gates that are gone, and that no note builds again, give a comparison other wires than
    // it has without.
    for (seed, kinds) in (0..count).map(|seed| (seed, 19)).chain([(2238, 16)]) {
        let mut rng = Rng(seed);
        let source = random_source(&mut rng, kinds);
        let goal = [Goal::Size, Goal::Depth][rng.below(2)];
        // A division by a zero that everybody knows is refused.
        let Ok(program) = crate::compile_with("random.cty", &source, goal, LIMITS[rng.below(3)]) else { continue };
        for circuit in program.circuits() {
            notes += circuit.notes().len();
            assert_eq!(circuit.false_note(&mut rng), None, "{seed}: {source}");
        }
        assert_eq!(Program::decode(&program.encode(), gadget).as_ref(), Ok(&program), "{seed}: {source}");
    }
    notes
}

#[test]
fn what_random_programs_note_is_true_and_every_program_decodes_to_itself() {
    let notes = random_programs(300);
    assert!(notes > 600, "{notes}");
}

#[test]
#[ignore = "minutes"]
fn what_very_many_random_programs_note_is_true() {
    let notes = random_programs(100_000);
    assert!(notes > 200_000, "{notes}");
}

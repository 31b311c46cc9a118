//! What is chosen for programs.

use comity_core::PartyId;
use comity_protocol::{Converted, Protocol};

use super::*;
use crate::protocol::Mixed;

/// Distances and the nearest, as one program has them both.
const MATCH: &str = "fn main(face: [u16; 8] from 0, known: [[u16; 8]; 4] from 1) -> (nearest: u32, found: bool) {
    let mut nearest = 0xffffffffu32;
    for i in 0..4 {
        let mut distance = 0u32;
        for j in 0..8 {
            let d = (face[j] as u32) - (known[i][j] as u32);
            distance += d * d;
        }
        nearest = min(nearest, distance);
    }
    (nearest, nearest < 1000)
}";

fn compiled(source: &str) -> Program {
    comity_language::compile("f.cty", source).unwrap_or_else(|error| panic!("{error}"))
}

fn options(said: &[(&str, &str)]) -> Options {
    let mut options = Options::new(Mixed.card());
    said.iter().for_each(|(name, value)| options.set(PartyId(0), name, value).unwrap());
    options
}

/// The seconds of a run with these options on this network, by its messages.
fn time(program: &Program, said: &[(&str, &str)], net: &str) -> f64 {
    let chosen = chosen(program, &options(said)).unwrap();
    let plans = Plans::new(program, &chosen.assignment);
    let mut talk = Talk::new(2);
    costs::run(program, &plans, extension(&options(said)).into(), &mut talk);
    seconds(&talk, &net.parse().unwrap())
}

/// The seconds of a run with the forms that are found where words become labels by garbled adders, and bits from there.
fn time_garbled(program: &Program, said: &[(&str, &str)], net: &str) -> f64 {
    let (kind, net) = (extension(&options(said)), net.parse().unwrap());
    let graph = planner::graph(program, kind);
    let conversions = Conversions::new(std::iter::empty(), kind);
    let mut run = |forms: &[Form]| {
        let assignment = planner::assignments(program, &graph, forms, &conversions, &net).remove(0);
        let mut talk = Talk::new(2);
        costs::run(program, &Plans::new(program, &assignment), kind.into(), &mut talk);
        seconds(&talk, &net)
    };
    let forms = planner::forms(program, &graph, Wanted::Auto, &conversions, &net, &mut run).unwrap();
    run(&forms)
}

/// The forms of the adders of a program's circuits.
fn adders(program: &Program, said: &[(&str, &str)]) -> Vec<Form> {
    chosen(program, &options(said)).unwrap().assignment.circuits.iter().map(|circuit| circuit.adders).collect()
}

/// The operations by line and name, with the forms that they have.
fn forms(program: &Program, said: &[(&str, &str)]) -> Vec<(u32, &'static str, Form)> {
    let outline = chosen(program, &options(said)).unwrap().outline(program);
    let operations = outline.lines.iter().filter(|of| of.operation != "gates");
    operations.map(|of| (of.line, of.operation, of.form)).collect()
}

#[test]
fn no_form_alone_is_sooner_and_some_programs_want_several() {
    let sources = [
        MATCH,
        "fn main(x: u64 from 0, y: u64 from 1) -> u64 { x * y * x + y }",
        "fn main(x: u64 from 0, y: u64 from 1) -> u64 { if x < y { x / (y | 1) } else { x & y } }",
        "fn main(x: [u32; 300] from 0, y: [u32; 300] from 1) -> (u32, u32) {
            let mut s = 0; let mut m = 0;
            for i in 0..300 { s += x[i] * y[i]; m = max(m, x[i]); }
            (s, m)
        }",
        "fn main(x: f32 from 0, y: f32 from 1) -> f32 { x * y + x }",
    ];
    for source in sources {
        let program = compiled(source);
        for net in ["lan", "wan", "100us,10gbit", "1ms,1mbit"] {
            let auto = time(&program, &[("net", net)], net);
            for form in Form::ALL {
                let pure = time(&program, &[("net", net), ("sharing", form.name())], net);
                assert!(auto <= pure, "{net}, {form}: {auto} and {pure}: {source}");
            }
        }
    }
    // The bytes of a line that is slow are those of words and labels.
    let program = compiled(MATCH);
    let slow = forms(&program, &[("net", "1ms,1mbit")]);
    let of = |line: u32, name: &str| slow.iter().find(|of| (of.0, of.1) == (line, name)).map(|of| of.2);
    assert_eq!(of(7, "square"), Some(Form::Arithmetic), "{slow:?}");
    assert_eq!(of(9, "less"), Some(Form::Yao), "{slow:?}");
}

/// Products, and what is pinned to be bits of them: many calls side by side.
fn bits_of_products(form: Form, bits: u32) -> Program {
    compiled(&format!(
        "fn main(x: [u{bits}; 300] from 0, y: [u{bits}; 300] from 1) -> [u{bits}; 300] {{
            let mut r = [0u{bits}; 300];
            for i in 0..300 {{ r[i] = {form} {{ arithmetic {{ x[i] * y[i] }} & y[i] }}; }}
            r
        }}"
    ))
}

/// The library's adders of little depth, with two OTs and four opened bits an AND.
#[test]
fn adders_on_shares_of_bits_cost_what_their_ands_do() {
    for (bits, ands, layers) in [(32, 159.0, 5.0), (64, 383.0, 6.0)] {
        let conversions = Conversions::new([bits].into_iter(), OtKind::SoftSpoken);
        let cost = |to: Form| conversions.cost(Form::Arithmetic, to, bits, Form::Boolean);
        assert_eq!((cost(Form::Boolean).bytes, cost(Form::Boolean).rounds), (ands * 8.5, layers / 2.0));
        let joined = 4.0 * f64::from(bits);
        assert_eq!((cost(Form::Yao).bytes, cost(Form::Yao).rounds), (ands * 8.5 + joined, layers / 2.0 + 0.5));
    }
}

/// Tables are 32 bytes a bit of a word, ANDs on silent OT less than one; but as many messages as an adder is deep.
#[test]
fn words_become_bits_by_the_adders_that_are_sooner() {
    let slow = [("dealer", "silent"), ("net", "5ms,1mbit")];
    let fast = [("dealer", "softspoken"), ("net", "100us,10gbit")];
    for form in [Form::Boolean, Form::Yao] {
        let program = bits_of_products(form, 32);
        for (said, expected) in [(slow, Form::Boolean), (fast, Form::Yao)] {
            assert_eq!(adders(&program, &said).contains(&Form::Boolean), expected == Form::Boolean, "{form}, {said:?}");
            let outline = chosen(&program, &options(&said)).unwrap().outline(&program);
            let of_words = |of: &&Converted| of.from == Form::Arithmetic && of.to == form;
            let added: Vec<&Converted> =
                outline.lines.iter().flat_map(|line| &line.conversions).filter(of_words).collect();
            assert!(!added.is_empty() && added.iter().all(|of| of.adder == Some(expected)), "{outline:?}");
        }
    }
    // Labels are there anyway, and triples of bits are not.
    assert!(!adders(&bits_of_products(Form::Yao, 32), &[]).contains(&Form::Boolean));
    // The other way round, it is one set-up less.
    assert!(adders(&bits_of_products(Form::Boolean, 32), &[]).contains(&Form::Boolean));
}

/// Products of words and adders on shares of bits are fewer bytes than products of bits; with tables they are more.
#[test]
fn cheap_adders_make_other_forms_the_soonest() {
    let program = compiled(
        "fn main(x: [u32; 3000] from 0, y: [u32; 3000] from 1) -> [u32; 3000] {
            let mut r = [0u32; 3000];
            for i in 0..3000 { r[i] = max(x[i] * y[i] * x[i], y[i]); }
            r
        }",
    );
    let said = [("dealer", "silent"), ("net", "5ms,1mbit")];
    let forms = forms(&program, &said);
    let is = |name: &str, form: Form| forms.iter().any(|of| (of.1, of.2) == (name, form));
    assert!(is("mul", Form::Arithmetic) && is("less", Form::Boolean), "{forms:?}");
    assert!(adders(&program, &said).contains(&Form::Boolean));
    let [chosen, garbled] = [time(&program, &said, "5ms,1mbit"), time_garbled(&program, &said, "5ms,1mbit")];
    assert!(chosen < garbled, "{chosen} and {garbled}");
}

#[test]
fn a_choice_of_adders_is_never_later_than_none() {
    let [products, narrow] = [bits_of_products(Form::Boolean, 32), bits_of_products(Form::Yao, 8)];
    let (mut sooner, mut same) = (0, 0);
    for program in [products, narrow, compiled(MATCH)] {
        for net in ["lan", "wan", "100us,10gbit", "1ms,1mbit"] {
            for dealer in ["softspoken", "silent", "iknp"] {
                let said = [("net", net), ("dealer", dealer)];
                let [chosen, garbled] = [time(&program, &said, net), time_garbled(&program, &said, net)];
                assert!(chosen <= garbled, "{net}, {dealer}: {chosen} and {garbled}");
                if chosen < garbled { sooner += 1 } else { same += 1 }
            }
        }
    }
    assert!(sooner > 3 && same > 3, "{sooner} are sooner, {same} the same");
}

/// The plan's digest tells adders apart, which both parties compare.
#[test]
fn adders_are_part_of_what_parties_agree_on() {
    let program = bits_of_products(Form::Boolean, 32);
    let assignment = &chosen(&program, &options(&[])).unwrap().assignment;
    for circuit in 0..assignment.circuits.len() {
        let mut other = assignment.clone();
        let adders = &mut other.circuits[circuit].adders;
        *adders = if *adders == Form::Yao { Form::Boolean } else { Form::Yao };
        assert_ne!(digest(assignment), digest(&other));
    }
}

#[test]
fn the_choice_follows_from_program_and_options_alone() {
    let program = compiled(MATCH);
    let digest = |said: &[(&str, &str)]| {
        // Another one in between, so that this one is made anew.
        chosen(&compiled("fn main(x: u8 from 0) -> u8 { x + 1 }"), &options(&[])).unwrap();
        Mixed.agrees_on(&program, &options(said)).unwrap()
    };
    assert_eq!(digest(&[]), digest(&[("sharing", "auto"), ("net", "1ms,2320mbit")]));
    let pure = ["yao", "boolean", "arithmetic"].map(|form| digest(&[("sharing", form)]));
    assert!(pure[0] != pure[1] && pure[1] != pure[2] && pure[0] != pure[2]);
    assert_eq!(digest(&[("sharing", "yao")])[0].0, "plan");
}

#[test]
fn pins_hold_and_what_cannot_be_is_said() {
    let source = "fn main(x: u32 from 0, y: u32 from 1) -> (bool, u32) {
    let c = arithmetic { x < y };
    let d = boolean { x * y };
    (c, yao { d - x })
}";
    let program = compiled(source);
    for said in [&[][..], &[("sharing", "arithmetic")], &[("sharing", "yao"), ("net", "wan")]] {
        let forms = forms(&program, said);
        assert_eq!(forms[1..], [(3, "mul", Form::Boolean), (4, "sub", Form::Yao)], "{said:?}");
        assert!(matches!(forms[0], (2, "less", Form::Boolean | Form::Yao)));
        let remarks = chosen(&program, &options(said)).unwrap().outline(&program).remarks;
        assert_eq!(remarks.len(), 1);
        assert!(remarks[0].starts_with("line 2: `less` is pinned to arithmetic"), "{remarks:?}");
    }
}

#[test]
fn a_file_says_what_it_says() {
    let program = compiled(MATCH);
    let said = [("sharing", "6 boolean\n7 square yao\n9 yao\n"), ("net", "wan")];
    let forms = forms(&program, &said);
    for (line, name, form) in &forms {
        match (line, *name) {
            (6, _) => assert_eq!(*form, Form::Boolean, "{forms:?}"),
            (7, "square") | (9, _) => assert_eq!(*form, Form::Yao, "{forms:?}"),
            _ => {}
        }
    }
    assert!(forms.iter().any(|of| (of.0, of.1) == (7, "square")));
    let refused = |text: &str| {
        let options = options(&[("sharing", text)]);
        Mixed.fits(&program, &options, comity_core::Params::default()).unwrap_err().to_string()
    };
    assert!(refused("5 mul yao\n").contains("line 1 of the plan: line 5 of `f.cty` has no operation"));
    assert!(
        refused("7 boolean\n9 less arithmetic").contains("line 2 of the plan: `less` of `f.cty` cannot be arithmetic")
    );
}

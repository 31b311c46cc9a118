//! SHDL, BLIF and yosys' JSON.

use comity_circuit::random::Rng;
use comity_circuit::{Observer, Plain, eval_circuit};
use comity_core::Bits;

use super::*;

fn blif(text: &str) -> Circuit {
    read_as(Format::Blif, text.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The outputs of a circuit of single bits, for each input.
fn table(circuit: &Circuit) -> Vec<u64> {
    let k = circuit.input_bits();
    (0..1usize << k)
        .map(|i| {
            let mut bits = (0..k).map(|j| i >> j & 1 == 1);
            let inputs: Vec<Bits> = circuit.inputs().iter().map(|g| bits.by_ref().take(g.bits).collect()).collect();
            let outputs = eval_circuit(circuit, &inputs);
            outputs.iter().flat_map(Bits::iter).enumerate().fold(0, |all, (j, bit)| all | u64::from(bit) << j)
        })
        .collect()
}

fn error(format: Format, text: &str) -> String {
    match read_sequential_as(format, text.as_bytes()) {
        Err(ReadError::Malformed { line, column, what }) => {
            format!("{line}:{}: {what}", column.map_or("-".to_owned(), |column| column.to_string()))
        }
        other => panic!("{other:?} of {text}"),
    }
}

/// The outputs after `cycles` clock cycles.
fn run(design: &SequentialCircuit, cycles: u64, inputs: &[u64]) -> Vec<u64> {
    struct Values(Vec<u64>);
    impl Observer for Values {
        fn output(&mut self, _: usize, value: Bits) {
            self.0.push(value.words().first().copied().unwrap_or(0));
        }
    }
    let program = design.cycles(cycles).unwrap();
    let value = |(i, input): (usize, &comity_circuit::Input)| Some(Bits::from_words(vec![inputs[i]], input.bits));
    let values: Vec<Option<Bits>> = program.inputs().iter().enumerate().map(value).collect();
    let mut outputs = Values(Vec::new());
    comity_circuit::run(&program, &mut Plain::new(), &values, &mut outputs).unwrap();
    outputs.0
}

#[test]
fn blif_covers() {
    let text = "# a comment\n.model top\n.inputs a b \\\n c\n.outputs y z one zero n\n\
        .names a b c y # the on-set\n1-1 1\n01- 1\n\
        .names a b c z\n11- 0\n--1 0\n\
        .names one\n1\n.names zero\n.names a n\n0 1\n.end\n";
    let circuit = blif(text);
    let names: Vec<&str> = circuit.inputs().iter().chain(circuit.outputs()).map(|g| g.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c", "y", "z", "one", "zero", "n"]);
    for (i, outputs) in table(&circuit).into_iter().enumerate() {
        let (a, b, c) = (i & 1 == 1, i >> 1 & 1 == 1, i >> 2 == 1);
        let want = [a && c || !a && b, !(a && b || c), true, false, !a];
        assert_eq!(outputs, want.iter().enumerate().fold(0, |all, (j, &bit)| all | u64::from(bit) << j), "{i}");
    }
    // A multiplexer, one AND; !(ab | c), two.
    assert_eq!(circuit.counts().and, 3);
    assert_eq!(read(text.as_bytes()).unwrap().1, Format::Blif);
}

#[test]
fn what_is_odd_is_warned_of() {
    let warnings = |text: &str| read_sequential(text.as_bytes()).unwrap().0.warnings().to_vec();
    let whole = ".model m\n.inputs a b\n.outputs y zero\n.names a b y\n11 1\n.names zero\n.end\n";
    assert_eq!(warnings(whole), [""; 0]);
    assert_eq!(warnings(&format!("\u{feff}{whole}")), [""; 0]);
    let cut = whole.replace(".end\n", "");
    assert_eq!(warnings(&cut), ["line 6: the file ends without `.end`: is all of it there?"]);
    let empty = whole.replace("11 1\n", "");
    assert_eq!(warnings(&empty), ["line 4: the truth table of `y` has no rows, so `y` is always 0"]);
    let many = format!(
        ".inputs a\n.outputs y\n{}.names a y\n1 1\n",
        (0..99).map(|i| format!(".names a n{i}\n")).collect::<String>()
    );
    assert_eq!(warnings(&many).len(), 8);
}

#[test]
fn wide_covers_of_either_set() {
    for on in [0, 1] {
        let text =
            format!(".inputs a b c d e f g h\n.outputs y\n.names a b c d e f g h y\n11------ {on}\n--0011-1 {on}\n");
        for (i, output) in table(&blif(&text)).into_iter().enumerate() {
            let covered = i & 3 == 3 || i & 0b1011_1100 == 0b1011_0000;
            assert_eq!(output == 1, covered == (on == 1), "{i:#b}");
        }
    }
}

#[test]
fn gates_in_any_order_and_models_in_models() {
    let text = ".model top\n.inputs a[1] a[0] b\n.outputs y [0]\n.subckt two x=n y=y\n.gate $_XOR_ A=a[0] B=m Y=n\n\
        .subckt two x=a[1] y=m\n.conn b [0]\n.end\n\
        .model two\n.inputs x\n.outputs y\n.subckt inverter x=x y=k\n.names k y\n0 1\n.end\n\
        .model inverter\n.inputs x\n.outputs y\n.names x y\n0 1\n.end\n";
    let circuit = blif(text);
    let widths: Vec<(&str, usize)> = circuit.inputs().iter().map(|g| (g.name.as_str(), g.bits)).collect();
    assert_eq!(widths, [("a", 2), ("b", 1)]);
    for (i, outputs) in table(&circuit).into_iter().enumerate() {
        let (a, b) = (i & 3, i >> 2);
        assert_eq!(outputs as usize, (a & 1 ^ a >> 1) | b << 1, "{i}");
    }
}

#[test]
fn every_cell_of_yosys_computes_what_it_says() {
    let mux = |s: usize, a: usize, b: usize| if s & 1 == 1 { b } else { a };
    type Cell<'a> = (&'a str, &'a str, &'a dyn Fn(&[usize]) -> usize, u64);
    let cells: [Cell; 17] = [
        ("BUF", "A", &|p| p[0], 0),
        ("NOT", "A", &|p| !p[0], 0),
        ("AND", "AB", &|p| p[0] & p[1], 1),
        ("NAND", "AB", &|p| !(p[0] & p[1]), 1),
        ("OR", "AB", &|p| p[0] | p[1], 1),
        ("NOR", "AB", &|p| !(p[0] | p[1]), 1),
        ("XOR", "AB", &|p| p[0] ^ p[1], 0),
        ("XNOR", "AB", &|p| !(p[0] ^ p[1]), 0),
        ("ANDNOT", "AB", &|p| p[0] & !p[1], 1),
        ("ORNOT", "AB", &|p| p[0] | !p[1], 1),
        ("MUX", "ABS", &|p| mux(p[2], p[0], p[1]), 1),
        ("NMUX", "ABS", &|p| !mux(p[2], p[0], p[1]), 1),
        ("AOI3", "ABC", &|p| !(p[0] & p[1] | p[2]), 2),
        ("OAI3", "ABC", &|p| !((p[0] | p[1]) & p[2]), 2),
        ("AOI4", "ABCD", &|p| !(p[0] & p[1] | p[2] & p[3]), 3),
        ("OAI4", "ABCD", &|p| !((p[0] | p[1]) & (p[2] | p[3])), 3),
        ("MUX4", "ABCDST", &|p| mux(p[5], mux(p[4], p[0], p[1]), mux(p[4], p[2], p[3])), 3),
    ];
    for (name, pins, value, ands) in cells {
        let list = |form: &str| pins.chars().map(|c| form.replace('?', &c.to_string())).collect::<Vec<_>>();
        let text =
            format!(".inputs {}\n.outputs Y\n.gate $_{name}_ {} Y=Y\n", list("?").join(" "), list("?=?").join(" "));
        let circuit = blif(&text);
        assert_eq!(circuit.counts().and, ands, "{name}");
        for (i, output) in table(&circuit).into_iter().enumerate() {
            let p: Vec<usize> = (0..pins.len()).map(|j| i >> j & 1).collect();
            assert_eq!(output as usize, value(&p) & 1, "{name} {i:#b}");
        }
    }
}

#[test]
fn flip_flops_run_for_clock_cycles() {
    // A counter of two bits that begins at 2, and a latch that holds `d` of one cycle ago.
    let text = ".model count\n.inputs clk d\n.outputs q[0] q[1] late\n\
        .latch n0 q[0] re clk 0\n.latch n1 q[1] re clk 1\n.latch d late re clk\n\
        .names q[0] n0\n0 1\n.names q[0] q[1] n1\n10 1\n01 1\n.end\n";
    let (design, format) = read_sequential(text.as_bytes()).unwrap();
    assert_eq!((design.flip_flops(), format), (3, Format::Blif));
    for (cycles, q, late) in [(1, 2, 0), (2, 3, 1), (3, 0, 1), (4, 1, 1), (1_000_001, 2, 1)] {
        assert_eq!(run(&design, cycles, &[1]), [q, late], "{cycles}");
    }
    assert_eq!(error_of_read(text), "1:-: 3 flip-flops: this is one clock cycle of a design, not a circuit by itself");
    assert!(design.cycles(0).is_err());
}

fn error_of_read(text: &str) -> String {
    match read(text.as_bytes()) {
        Err(ReadError::Malformed { line, what, .. }) => format!("{line}:-: {what}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_kind_of_flip_flop() {
    // Controls are inputs, the same in each cycle; what each kind shows after one, two and three cycles.
    for (kind, pins, inputs, want) in [
        ("$_FF_", "D=d Q=q", 1u64, [0, 1, 1]),
        ("$_DFF_P_", "C=clk D=d Q=q", 1, [0, 1, 1]),
        ("$_DFF_N_", "C=clk D=d Q=q", 1, [0, 1, 1]),
        ("$_DFFE_PP_", "C=clk D=d Q=q E=x", 0b11, [0, 1, 1]),
        ("$_DFFE_PP_", "C=clk D=d Q=q E=x", 0b01, [0, 0, 0]),
        ("$_DFFE_PN_", "C=clk D=d Q=q E=x", 0b01, [0, 1, 1]),
        ("$_DFF_PP0_", "C=clk D=d Q=q R=x", 0b11, [0, 0, 0]),
        ("$_DFF_PP1_", "C=clk D=d Q=q R=x", 0b10, [1, 1, 1]),
        ("$_DFF_PN1_", "C=clk D=d Q=q R=x", 0b10, [0, 0, 0]),
        ("$_SDFF_PP1_", "C=clk D=d Q=q R=x", 0b10, [0, 1, 1]),
        ("$_SDFFE_PP1P_", "C=clk D=d Q=q R=x E=y", 0b010, [0, 1, 1]),
        ("$_SDFFCE_PP1P_", "C=clk D=d Q=q R=x E=y", 0b010, [0, 0, 0]),
        ("$_SDFFCE_PP1P_", "C=clk D=d Q=q R=x E=y", 0b110, [0, 1, 1]),
        ("$_DFFE_PP0N_", "C=clk D=d Q=q R=x E=y", 0b001, [0, 1, 1]),
        ("$_DFFSR_PPP_", "C=clk D=d Q=q S=x R=y", 0b010, [1, 1, 1]),
        ("$_DFFSR_PPP_", "C=clk D=d Q=q S=x R=y", 0b111, [0, 0, 0]),
        ("$_DFFSRE_PPPP_", "C=clk D=d Q=q S=x R=y E=x", 0b001, [0, 0, 0]),
        ("$_ALDFF_PP_", "C=clk D=d Q=q L=x AD=y", 0b110, [1, 1, 1]),
        ("$_ALDFFE_PPP_", "C=clk D=d Q=q L=x AD=y E=d", 0b001, [0, 1, 1]),
    ] {
        let mut ports: Vec<&str> = vec!["d", "x", "y", "q", "clk"];
        if kind == "$_FF_" {
            ports.pop();
        }
        let number = |name: &str| ports.iter().position(|port| *port == name).unwrap() + 2;
        let port = |name: &&str| {
            let direction = if *name == "q" { "output" } else { "input" };
            format!("\"{name}\": {{\"direction\": \"{direction}\", \"bits\": [{}]}}", number(name))
        };
        let pin = |pin: &str| {
            let (pin, net) = pin.split_once('=').unwrap();
            format!("\"{pin}\": [{}]", number(net))
        };
        let text = format!(
            "{{\"modules\": {{\"m\": {{\"ports\": {{{}}}, \"cells\": {{\"c\": {{\"type\": \"{kind}\", \"connections\": {{{}}}}}}}}}}}}}",
            ports.iter().map(port).collect::<Vec<_>>().join(", "),
            pins.split(' ').map(pin).collect::<Vec<_>>().join(", "),
        );
        let design = read_sequential_as(Format::Yosys, text.as_bytes()).unwrap_or_else(|e| panic!("{e}: {text}"));
        let inputs: Vec<u64> = (0..3).map(|i| inputs >> i & 1).collect();
        let seen: Vec<u64> = (1..=3).map(|cycles| run(&design, cycles, &inputs)[0]).collect();
        assert_eq!(seen, want, "{kind} {inputs:?}");
    }
}

#[test]
fn what_is_wrong_in_blif_is_named_with_its_place() {
    let model = |body: &str| format!(".model m\n.inputs a b\n.outputs y\n{body}");
    for (body, want) in [
        (".names a b y\n1 1\n", "5:1: 1 values in the row, for 2 inputs"),
        (".names a b y\n12 1\n", "5:2: a value in a row is 0, 1 or -"),
        (".names a b y\n11 2\n", "5:4: the value of a row is 0 or 1"),
        (".names a b y\n11 1\n00 0\n", "6:4: rows for 0 and rows for 1 in one truth table"),
        (".names a b y\n11\n", "5:1: a row of a truth table is a value for each input, a blank and a value"),
        (".names\n", "4:1: `.names` without the net that it drives"),
        ("11 1\n", "4:1: `11` where a line begins with a keyword such as .model"),
        (".nmaes a y\n", "4:1: the BLIF that comity reads has no keyword `.nmaes`"),
        (".search x.blif\n", "4:1: `.search` names another file; put its models into this one"),
        (".names a y\n1 1\n.names b y\n1 1\n", "6:1: the net `y` is driven twice"),
        (".names b a\n1 1\n", "4:1: the net `a` is an input; nothing else may drive it"),
        (
            ".names a z y\n11 1\n",
            "4:1: the net `z` is read, and nothing drives it (yosys' `setundef -undriven -zero` makes such nets zero)",
        ),
        (
            "",
            "3:10: the net `y` is read, and nothing drives it (yosys' `setundef -undriven -zero` makes such nets zero)",
        ),
        (".names p q\n1 1\n.names a q p\n11 1\n.names p y\n1 1\n", "4:1: a combinational loop: `p` -> `q` -> `p`"),
        (".latch a\n", "4:1: `.latch` without its input and output"),
        (
            ".latch a y as b 0\n",
            "4:12: only latches of the kinds re and fe (rising and falling edge) are possible: describe the \
          register with a clock edge, as in Verilog's `always @(posedge clk)`",
        ),
        (".latch a y re b 7\n", "4:17: the initial value of a latch is 0, 1, 2 or 3"),
        (".latch a y re b 0 0\n", "4:19: more than a latch takes: input, output, kind, clock, initial value"),
        (".latch a y re a 0\n", "4:1: the clock `a` is read as data, too; a clock only says when flip-flops take over"),
        (
            ".latch a y re c 0\n.names b c\n1 1\n",
            "4:1: the clock `c` is not an input of one bit, and gated clocks are not supported: list it among the inputs, and give \
             the register an enable, which yosys' `dffunmap` turns into a choice between the new value and the old one",
        ),
        (".latch a y re b 0\n.latch a z re a 0\n", "5:1: the flip-flops have two clocks, `b` and `a`; one is possible"),
        (
            ".latch a y re b 0\n.latch a z fe b 0\n",
            "5:1: flip-flops for both edges of the clock `b`; one edge is possible",
        ),
        (".subckt\n", "4:1: a name is wanted after `.subckt` or `.gate`"),
        (".subckt n a\n", "4:11: a pin is written PIN=NET"),
        (".gate $_AND_ A=a Y=y\n", "4:1: the pin B of a cell `$_AND_` is not connected"),
        (".gate $_AND_ A=a B=b C=a Y=y\n", "4:1: a cell `$_AND_` has no pin `C`"),
        (
            ".gate $_DFFE_PP_ C=a D=b E=b Q=y\n",
            "4:1: the flip-flop `$_DFFE_PP_`: BLIF does not tell with which value it begins; run yosys' `dffunmap` before \
             `write_blif`, or read its `write_json`",
        ),
        (".subckt m a=a b=b y=y\n", "4:1: the module `m` contains itself"),
        (".names a y\n1 1\n.end\n.model m\n", "7:1: there are two models `m`"),
        (
            ".subckt n x=a z=b y=y\n.end\n.model n\n.inputs x\n.outputs y\n.names x y\n1 1\n",
            "4:1: the module `n` has no port `z`",
        ),
        (
            ".subckt n y=y\n.end\n.model n\n.inputs x\n.outputs y\n.names x y\n1 1\n",
            "4:1: the input `x` of `n` is not connected",
        ),
    ] {
        assert_eq!(error(Format::Blif, &model(body)), want, "{body}");
    }
    for (body, want) in [
        (".subckt $add A=a B=b Y=y\n", "`$add` works on whole words"),
        (".gate nand2 a=a b=b o=y\n", "`nand2` is neither a module of this file nor a gate"),
        (".gate $_DLATCH_P_ E=a D=b Q=y\n", "`$_DLATCH_P_` is a latch"),
        (".gate $_MUX16_ Y=y\n", "`$_MUX16_` is a cell that comity does not read"),
    ] {
        let found = error(Format::Blif, &model(body));
        assert!(found.starts_with("4:1: ") && found.contains(want) && found.contains("yosys -p"), "{found}");
    }
    assert_eq!(error(Format::Blif, ".inputs a[0] a[1] a\n"), "1:19: there are two ports `a`");
    assert_eq!(error(Format::Blif, ""), "1:1: the file holds no module");
    let long = format!(".inputs {}\n", "a".repeat(5000));
    assert_eq!(error(Format::Blif, &long), "1:9: a name of more than 4096 bytes");
    assert_eq!(error(Format::Blif, ".model m\n.blackbox\n"), "1:1: the file holds no module");
}

#[test]
fn a_few_lines_do_not_become_any_number_of_gates() {
    let mut text = ".model m0\n.inputs a\n.outputs y\n.subckt m1 a=a y=n\n.subckt m1 a=n y=y\n.end\n".to_owned();
    for i in 1..60 {
        let next = i + 1;
        text +=
            &format!(".model m{i}\n.inputs a\n.outputs y\n.subckt m{next} a=a y=n\n.subckt m{next} a=n y=y\n.end\n");
    }
    text += ".model m60\n.inputs a\n.outputs y\n.names a y\n0 1\n.end\n";
    let found = error(Format::Blif, &text);
    assert!(found.contains("modules inside modules with more than 4194304 pins in all"), "{found}");
    let chain: String =
        (0..100).map(|i| format!(".model m{i}\n.inputs a\n.outputs y\n.subckt m{} a=a y=y\n.end\n", i + 1)).collect();
    assert!(error(Format::Blif, &chain).contains("more than 64 modules inside each other"));
}

#[test]
fn shdl_is_read() {
    let text = "0 input //output$input.bob$0\n1 input\t\t//output$input.bob$1\n2 input //output$input.alice$0\n\
        3 gate arity 2 table [ 0 1 0 0 ] inputs [ 0 2 ]\n\
        5 output gate arity 3 table [0 0 0 1 0 1 1 1] inputs [0 1 2] //output$output.bob$1\n\
        4 output gate arity 1 table [ 1 0 ] inputs [ 3 ] //output$output.bob$0\n\
        6 output gate arity 0 table [1] inputs [] //output$output.alice$0\n";
    let (circuit, format) = read(text.as_bytes()).unwrap();
    assert_eq!(format, Format::Shdl);
    let widths = |groups: &[Group]| groups.iter().map(|g| (g.name.clone(), g.bits)).collect::<Vec<_>>();
    assert_eq!(widths(circuit.inputs()), [("input.bob".to_owned(), 2), ("input.alice".to_owned(), 1)]);
    assert_eq!(widths(circuit.outputs()), [("output.bob".to_owned(), 2), ("output.alice".to_owned(), 1)]);
    for (i, outputs) in table(&circuit).into_iter().enumerate() {
        let (a, b, c) = (i & 1, i >> 1 & 1, i >> 2);
        // Entry 1 is where the last input alone is one.
        let want = (1 ^ (1 ^ a) & c) | usize::from(a + b + c >= 2) << 1 | 4;
        assert_eq!(outputs as usize, want, "{i}");
    }
}

/// SHDL says which bit of a value a wire is by `$`: brackets are part of the name there.
#[test]
fn a_name_with_brackets_is_a_whole_name_in_shdl() {
    let circuit = read_as(Format::Blif, &b".inputs a[0][0] a[0]\n"[..]).unwrap();
    let mut text = Vec::new();
    write(&circuit, Format::Shdl, &mut text).unwrap();
    let again = read_as(Format::Shdl, &*text).unwrap();
    assert_eq!(again.inputs().iter().map(|group| &*group.name).collect::<Vec<_>>(), ["a[0]", "a"]);
}

#[test]
fn shdl_is_written_and_read_again() {
    let mut rng = Rng(3);
    let mut circuits: Vec<Circuit> =
        ["add8", "eq5", "mux3", "mul4"].iter().map(|name| comity_library::circuit(name).unwrap()).collect();
    circuits.extend((0..20).map(|_| rng.circuit(&[3, 5], 40, 10, &[4, 1])));
    for circuit in circuits {
        let mut text = Vec::new();
        write(&circuit, Format::Shdl, &mut text).unwrap();
        let again = read_as(Format::Shdl, &*text).unwrap_or_else(|e| panic!("{e}\n{}", String::from_utf8_lossy(&text)));
        assert_eq!((again.inputs(), again.outputs()), (circuit.inputs(), circuit.outputs()));
        assert!(again.counts().and <= circuit.counts().and);
        for _ in 0..20 {
            let widths: Vec<usize> = circuit.inputs().iter().map(|g| g.bits).collect();
            let inputs = rng.values(&widths);
            assert_eq!(eval_circuit(&again, &inputs), eval_circuit(&circuit, &inputs));
        }
    }
    let refused = write(&comity_library::circuit("add8").unwrap(), Format::Blif, Vec::new()).unwrap_err().to_string();
    assert_eq!(refused, "BLIF is read only; write Bristol Fashion, the older Bristol format or SHDL");
}

#[test]
fn what_is_wrong_in_shdl_is_named_with_its_place() {
    for (text, want) in [
        ("x input\n", "1:1: `x` where the wire's number is wanted"),
        ("0\n", "1:2: `` where `input`, `gate` or `output gate` is wanted"),
        ("0 wire\n", "1:3: `wire` where `input`, `gate` or `output gate` is wanted"),
        ("0 input 7\n", "1:9: `7` where the line should end"),
        ("0 gate table\n", "1:8: `table` where `arity` is wanted"),
        ("0 gate arity 17 table\n", "1:14: a gate of more than 16 inputs"),
        ("0 gate arity 1 table [ 0 ] inputs [ 0 ]\n", "1:26: `]` where 0 or 1 in the table is wanted"),
        ("0 gate arity 1 table [ 0 2 ] inputs [ 0 ]\n", "1:26: the entries of a table are 0 and 1"),
        ("0 gate arity 1 table [ 0 1 1 ] inputs [ 0 ]\n", "1:28: `1` where `]` is wanted"),
        ("0 gate arity 1 table [ 0 1 ] inputs [\n", "1:38: the line ends where an input's number is wanted"),
        ("0 input\n0 input\n", "1:1: the net `wire 0` is an input; nothing else may drive it"),
        (
            "0 gate arity 1 table [ 0 1 ] inputs [ 7 ]\n",
            "1:1: the net `wire 7` is read, and nothing drives it (yosys' `setundef -undriven -zero` makes such nets zero)",
        ),
        (
            "0 gate arity 1 table [ 0 1 ] inputs [ 1 ]\n1 gate arity 1 table [ 0 1 ] inputs [ 0 ]\n",
            "1:1: a combinational loop: `wire 1` -> `wire 0` -> `wire 1`",
        ),
    ] {
        assert_eq!(error(Format::Shdl, text), want, "{text}");
    }
}

#[test]
fn what_is_wrong_in_json_is_named_with_its_place() {
    let module = |body: &str| format!("{{\"modules\": {{\"m\": {{\n{body}\n}}}}}}");
    for (text, want) in [
        (String::new(), "1:1: the file ends where `{` is wanted"),
        ("{}".to_owned(), "1:1: JSON without `modules`: the file is not a netlist of yosys' `write_json`"),
        ("{\"modules\": {}} x".to_owned(), "1:17: there is more after the end"),
        ("{\"modules\": {}}".to_owned(), "1:1: the file holds no module"),
        (module("\"ports\": [1"), "2:10: something else stands where `{` is wanted"),
        (module("\"x\": {\"a\": [1, 2.5e3, null, true], \"b\": 1e}"), ""),
        (module("\"x\": \"\\q\""), "2:7: an escape that JSON does not have"),
        (module("\"x\": \"a\n"), "2:8: a control character in a string"),
        (module("\"x\": ,"), "2:6: a value is wanted"),
        (format!("{{\"x\": {}", "[".repeat(100_000)), "1:72: more than 64 lists inside each other"),
        (
            module("\"ports\": {\"a\": {\"direction\": \"inout\", \"bits\": [2]}}"),
            "2:11: the port `a` is neither input nor output",
        ),
        (module("\"ports\": {\"a\": {\"direction\": \"input\", \"bits\": [2.5]}}"), "2:48: a whole number is wanted"),
        (
            module("\"ports\": {\"a\": {\"direction\": \"input\", \"bits\": [\"q\"]}}"),
            "2:48: a bit is a number, or one of \"0\", \"1\", \"x\" and \"z\"",
        ),
        (
            module("\"ports\": {\"a\": {\"direction\": \"output\", \"bits\": [9]}}"),
            "2:11: the net `net 9` is read, and nothing drives it (yosys' `setundef -undriven -zero` makes such nets zero)",
        ),
        (
            module("\"cells\": {\"c\": {\"type\": \"$_AND_\", \"connections\": {\"A\": [1, 2]}}}"),
            "2:11: the pin `A` of a cell `$_AND_` has 2 bits, not one",
        ),
        (
            module("\"cells\": {\"c\": {\"type\": \"$lut\", \"connections\": {\"A\": [2]}}}"),
            "2:11: a `$lut` has the pins A and Y, and Y has one bit",
        ),
    ] {
        if want.is_empty() {
            assert!(read_as(Format::Yosys, text.as_bytes()).is_ok(), "{text}");
        } else {
            assert_eq!(error(Format::Yosys, &text), want, "{}", &text[..text.len().min(200)]);
        }
    }
    let word = module("\"cells\": {\"c\": {\"type\": \"$add\", \"connections\": {\"A\": [2, 3]}}}");
    let found = error(Format::Yosys, &word);
    assert!(found.starts_with("2:11: the cell `$add` works on whole words") && found.contains("yosys -p"), "{found}");
}

use comity_circuit::random::Rng;
use comity_circuit::{Builder, Gate, Op, Wire, eval_circuit};
use comity_core::Bits;
use proptest::prelude::*;

use super::*;

/// A half adder in both formats.
const FASHION: &str = "2 4\n2 1 1\n2 1 1\n\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n";
const OLDER: &str = "2 4\n1 1   2\n\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n\n";

fn parse(text: &str) -> Circuit {
    match read(text.as_bytes()) {
        Ok((circuit, _)) => circuit,
        Err(error) => panic!("{error}"),
    }
}

/// The fault of a text: line, column (0: none) and what is wrong.
fn wrong(text: impl AsRef<[u8]>) -> (u64, usize, Malformation) {
    match read(text.as_ref()) {
        Err(ReadError::Malformed { line, column, what }) => (line, column.unwrap_or(0), what),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("read without an error"),
    }
}

fn written(circuit: &Circuit, format: Format) -> String {
    let mut text = Vec::new();
    write(circuit, format, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn bits_of(values: &[Bits]) -> Vec<bool> {
    values.iter().flat_map(Bits::iter).collect()
}

#[test]
fn both_formats_are_told_apart_and_read() {
    let gates = [Gate { op: Op::Xor, a: 2, b: 3 }, Gate { op: Op::And, a: 2, b: 3 }];
    let (fashion, format) = read(FASHION.as_bytes()).unwrap();
    assert_eq!((format, fashion.gates(), fashion.output_wires()), (Format::BristolFashion, &gates[..], &[4, 5][..]));
    assert_eq!((fashion.inputs(), fashion.outputs()), (&named("in", [1, 1])[..], &named("out", [1, 1])[..]));
    let (older, format) = read(OLDER.as_bytes()).unwrap();
    assert_eq!((format, older.gates(), older.output_wires()), (Format::Bristol, &gates[..], &[4, 5][..]));
    assert_eq!((older.inputs(), older.outputs()), (&named("in", [1, 1])[..], &named("out", [2])[..]));
    assert_eq!(read_as(Format::BristolFashion, FASHION.as_bytes()).unwrap(), fashion);
    assert_eq!(read_as(Format::Bristol, OLDER.as_bytes()).unwrap(), older);
    assert!(read_as(Format::Bristol, FASHION.as_bytes()).is_err());
    assert!(read_as(Format::BristolFashion, OLDER.as_bytes()).is_err());
    // Without gates, three header lines are Bristol Fashion and two the older format.
    assert_eq!(read(&b"0 3\n1 3\n1 2\n"[..]).unwrap().1, Format::BristolFashion);
    assert_eq!(read(&b"0 3\n3 0 2\n"[..]).unwrap().1, Format::Bristol);
    assert_eq!(parse("0 3\n0 3 2").inputs(), named("in", [0, 3]));
}

#[test]
fn layout_is_free() {
    let messy = "# A half adder\r\n\r\n  2\t4 // gates, wires\r\n2 1 1#in\n//\n 2 1 1\n\n\n2 1 0 1 2 XOR\n2 1  0 1 3 AND // last";
    assert_eq!(parse(messy), parse(FASHION));
    assert_eq!(parse("2 4\n1 1 2\n# é\n2 1 0 1 2 XOR\n2 1 0 1 3 AND"), parse(OLDER));
}

#[test]
fn all_gates_are_read() {
    let text = "8 13\n1 4\n1 9\n\
        1 1 0 4 EQ\n1 1 1 5 EQ\n1 1 2 6 EQW\n1 1 6 7 INV\n1 1 6 8 NOT\n4 2 0 1 2 3 9 10 MAND\n2 1 0 5 11 XOR\n2 1 4 1 12 AND\n";
    let circuit = parse(text);
    let input: Bits = [true, true, true, false].into_iter().collect();
    // MAND pairs the first of each half: 0 & 2 and 1 & 3.
    let want = [false, true, true, false, false, true, false, false, false];
    assert_eq!(bits_of(&eval_circuit(&circuit, &[input])), want);
    assert_eq!(circuit.counts().and, 3);
    assert_eq!(circuit.gates().len(), 6, "constants and copies are no gates");
}

/// As compilers for ABY and MOTION write them, in the older format.
#[test]
fn or_and_multiplexers_are_read_as_gates() {
    let or = parse("1 3\n2 1 1\n1 1\n\n2 1 0 1 2 OR");
    let mux = parse("1 4\n3 1 1 1\n1 1\n\n3 1 0 1 2 3 MUX");
    assert_eq!((or.counts().and, mux.counts().and), (1, 1));
    let bit = |bit: bool| [bit].into_iter().collect::<Bits>();
    for (x, y, c) in (0..8).map(|bits| (bits & 1 == 1, bits & 2 == 2, bits & 4 == 4)) {
        assert_eq!(bits_of(&eval_circuit(&or, &[x, y].map(bit))), [x | y]);
        assert_eq!(bits_of(&eval_circuit(&mux, &[x, y, c].map(bit))), [if c { y } else { x }]);
    }
    // What they give is a wire like any other.
    let both = parse("3 6\n3 1 1 1\n1 1\n\n3 1 0 1 2 3 MUX\n2 1 3 0 4 OR\n2 1 4 3 5 AND");
    assert_eq!(bits_of(&eval_circuit(&both, &[false, true, true].map(bit))), [true]);
}

#[test]
fn a_bad_header_is_named() {
    use Malformation::*;
    assert_eq!(wrong(""), (1, 0, HeaderMissing { expected: COUNTS }));
    assert_eq!(wrong("# nothing\n\n"), (3, 0, HeaderMissing { expected: COUNTS }));
    assert_eq!(wrong("2 4\n"), (2, 0, HeaderMissing { expected: VALUES }));
    let outputs = "the number and the widths of the output values";
    assert_eq!(wrong("2 4\n1 2\n"), (3, 0, HeaderMissing { expected: outputs }));
    assert_eq!(wrong("2\n2 1 1\n2 1 1\n"), (1, 0, HeaderNumbers { expected: COUNTS, wanted: 2, found: 1 }));
    assert_eq!(wrong("2 4 6\n2 1 1\n2 1 1\n"), (1, 0, HeaderNumbers { expected: COUNTS, wanted: 2, found: 3 }));
    assert_eq!(wrong("2 4\n2 1\n2 1 1\n"), (2, 0, HeaderNumbers { expected: VALUES, wanted: 3, found: 2 }));
    assert_eq!(wrong("2 4\n2 1 1\n1 1 1\n"), (3, 0, HeaderNumbers { expected: outputs, wanted: 2, found: 3 }));
    let huge = format!("2 4\n{} 1\n2 1 1\n", u64::MAX);
    assert_eq!(wrong(huge), (2, 0, HeaderNumbers { expected: VALUES, wanted: u64::MAX, found: 2 }));
    let widths = "the widths of both input values and of the output value";
    assert_eq!(wrong("1 3\n1 1\n2 1 0 1 2 XOR"), (2, 0, HeaderNumbers { expected: widths, wanted: 3, found: 2 }));
    assert_eq!(wrong("2 x\n"), (1, 3, NotANumber { found: "x".into() }));
    assert_eq!(wrong("2 4\n2 1 1\n2 1 1x\n"), (3, 5, NotANumber { found: "1x".into() }));
    assert_eq!(wrong("-2 4\n"), (1, 1, NotANumber { found: "-2".into() }));
    assert_eq!(wrong("2 18446744073709551616\n"), (1, 3, NumberTooLarge));
    let limit = Circuit::MAX_WIRES as u64 - 2;
    let wide = "18446744073709551615";
    let too_large = |what, found, limit| TooLarge { what, found, limit };
    assert_eq!(wrong(format!("{wide} 4\n2 1 1\n2 1 1\n")), (1, 0, too_large("gates", u64::MAX, limit)));
    assert_eq!(wrong(format!("2 {}\n2 1 1\n2 1 1\n", limit + 1)), (1, 0, too_large("wires", limit + 1, limit)));
    let bits = 1 << 24;
    assert_eq!(wrong(format!("2 4\n2 {wide} {wide}\n2 1 1\n")), (2, 0, too_large("input bits", u64::MAX, bits)));
    assert_eq!(wrong("2 4\n2 1 1\n2 16777216 1\n"), (3, 0, too_large("output bits", bits + 1, bits)));
    assert_eq!(wrong("3 4\n2 1 1\n2 1 1\n"), (1, 0, TooFewWires { wires: 4, inputs: 2, gates: 3 }));
    assert_eq!(wrong("2 4\n2 1 1\n1 5\n"), (3, 0, TooManyOutputs { outputs: 5, wires: 4 }));
    // A claim of 2^28 wires costs nothing before they are there.
    let claim = format!("{} {limit}\n2 1 1\n2 1 1\n2 1 0 1 200000000 XOR\n", limit - 2);
    assert_eq!(wrong(claim), (5, 0, GatesMissing { announced: limit - 2, found: 1 }));
}

/// A file of three gates over two input bits, one output bit, with these gate lines.
fn three(gates: &str) -> String {
    format!("3 5\n2 1 1\n1 1\n{gates}")
}

#[test]
fn a_bad_gate_is_named_with_line_and_column() {
    use Malformation::*;
    let fine = "2 1 0 1 2 XOR\n2 1 0 1 3 AND\n2 1 2 3 4 AND\n";
    assert_eq!(parse(&three(fine)).gates().len(), 3);
    let at = |gates: &str| wrong(three(gates));
    assert_eq!(at("2 1 0 1 2 XOR\n2 1 0 1 3 AND\n"), (6, 0, GatesMissing { announced: 3, found: 2 }));
    assert_eq!(at(&format!("{fine}2 1 0 1 5 AND\n")), (7, 0, GatesExtra { announced: 3 }));
    assert_eq!(at("2 1 0 1 2 XOR\n2 1 0 1"), (5, 0, GateNameMissing));
    assert_eq!(at("2 1 0 1 2 XOR\n2 1 0 1 3 AN"), (5, 11, UnknownGate { name: "AN".into() }));
    assert_eq!(at("2 1 0 1 2 xor\n"), (4, 11, UnknownGate { name: "xor".into() }));
    assert_eq!(at("2 1 0 1 2 XOR 2 1\n"), (4, 15, AfterGate { found: "2".into() }));
    assert_eq!(at("2 1 0 1 2 XOR XOR\n"), (4, 15, AfterGate { found: "XOR".into() }));
    assert_eq!(at("XOR\n"), (4, 0, GateWires { announced: 0, found: 0 }));
    assert_eq!(at("2 1 0 1 XOR\n"), (4, 0, GateWires { announced: 3, found: 2 }));
    assert_eq!(at("2 1 0 1 2 3 XOR\n"), (4, 0, GateWires { announced: 3, found: 4 }));
    assert_eq!(at("2 1 0 1 2.5 XOR\n"), (4, 9, NotANumber { found: "2.5".into() }));
    assert_eq!(at("2 1 0 1 99999999999999999999 XOR\n"), (4, 9, NumberTooLarge));
    let arity = |gate, expected, inputs, outputs| (4, 0, Arity { gate, expected, inputs, outputs });
    assert_eq!(at("1 1 0 2 XOR\n"), arity("XOR", "2 and 1", 1, 1));
    assert_eq!(at("2 2 0 1 2 3 AND\n"), arity("AND", "2 and 1", 2, 2));
    assert_eq!(at("2 1 0 1 2 INV\n"), arity("INV", "1 and 1", 2, 1));
    assert_eq!(at("0 1 2 EQ\n"), arity("EQ", "1 and 1", 0, 1));
    assert_eq!(at("3 1 0 1 1 2 OR\n"), arity("OR", "2 and 1", 3, 1));
    assert_eq!(at("2 1 0 1 2 MUX\n"), arity("MUX", "3 and 1", 2, 1));
    assert_eq!(at("3 1 0 1 3 2 MUX\n"), (4, 9, ReadBeforeWritten { wire: 3 }));
    assert_eq!(at("2 1 0 1 1 OR\n"), (4, 9, InputOverwritten { wire: 1 }));
    let pairs = "two input wires for each output wire, and at least one of these";
    assert_eq!(at("3 1 0 1 1 2 MAND\n"), arity("MAND", pairs, 3, 1));
    assert_eq!(at("0 0 MAND\n"), arity("MAND", pairs, 0, 0));
    let half = 1 << 63;
    assert_eq!(at("0 9223372036854775808 MAND\n"), arity("MAND", pairs, 0, half));
    assert_eq!(at("12297829382473034410 6148914691236517205 MAND\n").2, GateWires { announced: u64::MAX, found: 0 });
    assert_eq!(at("2 1 0 5 2 XOR\n"), (4, 7, WireOutOfRange { wire: 5, wires: 5 }));
    assert_eq!(at("2 1 0 1 5 XOR\n"), (4, 9, WireOutOfRange { wire: 5, wires: 5 }));
    assert_eq!(at("1 1 18446744073709551615 2 INV\n"), (4, 5, WireOutOfRange { wire: u64::MAX, wires: 5 }));
    assert_eq!(at("2 1 0 3 2 XOR\n2 1 0 1 3 AND\n"), (4, 7, ReadBeforeWritten { wire: 3 }));
    assert_eq!(at("2 1 0 2 2 XOR\n"), (4, 7, ReadBeforeWritten { wire: 2 }));
    assert_eq!(at("2 1 0 1 2 XOR\n2 1 0 1 2 AND\n"), (5, 9, WrittenTwice { wire: 2 }));
    assert_eq!(at("2 1 0 1 1 XOR\n"), (4, 9, InputOverwritten { wire: 1 }));
    assert_eq!(at("1 1 2 3 EQ\n"), (4, 5, NotAConstant { found: 2 }));
    let mand = "4 2 0 1 1 0 2 2 MAND\n";
    assert_eq!(at(mand), (4, 15, WrittenTwice { wire: 2 }));
    assert_eq!(at("4 2 0 2 1 0 2 3 MAND\n"), (4, 7, ReadBeforeWritten { wire: 2 }));
}

#[test]
fn a_circuit_whose_wires_do_not_add_up_is_refused() {
    use Malformation::*;
    let gates = "2 1 0 1 2 XOR\n2 1 0 1 3 AND\n";
    let undriven = wrong(format!("2 6\n2 1 1\n1 3\n{gates}"));
    assert_eq!(undriven, (6, 0, OutputUndriven { output: 1, wire: 4 }));
    // Wire 4 is announced, is no output and nothing drives it.
    let gap = wrong("2 5\n2 1 1\n1 1\n2 1 0 1 2 XOR\n2 1 0 1 4 AND\n");
    assert_eq!(gap, (1, 0, WireCount { announced: 5, driven: 4 }));
    assert_eq!(parse("1 5\n1 2\n1 3\n6 3 0 0 1 1 0 1 2 3 4 MAND\n").gates().len(), 3);
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    use Malformation::*;
    assert_eq!(wrong(b"2 4\n2 \xff1 1\n"), (2, 3, NotUtf8));
    assert_eq!(wrong(b"2 4 # \xff\n"), (1, 7, NotUtf8));
    assert_eq!(wrong(b"\x7fELF\x02\x01\x01"), (1, 1, NotANumber { found: "\\u{7f}ELF\\u{2}\\u{1}\\u{1}".into() }));
    let limit = 1 << 20;
    let long = |len: usize| [b"2 4\n# ", &vec![b'x'; len][..], b"\n"].concat();
    assert_eq!(wrong(long(limit)), (2, 0, LineTooLong { limit }));
    assert_eq!(wrong(long(limit - 3)), (3, 0, HeaderMissing { expected: VALUES }));
    let word = "12345678901234567890123";
    assert_eq!(wrong(format!("x{word}")), (1, 1, NotANumber { found: "x1234567890123456789…".into() }));
    let message = read(&b"2 4\n1 x\n"[..]).unwrap_err().to_string();
    assert_eq!(message, "line 2, column 3: `x` where a number is expected");
    let message = read(&b"2 4\n"[..]).unwrap_err().to_string();
    assert_eq!(message, format!("line 2: the file ends where {VALUES} should stand"));
}

#[test]
fn a_file_that_cannot_be_read_says_so() {
    struct Broken;
    impl io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }
    let error = read(io::BufReader::new(Broken)).unwrap_err();
    assert!(matches!(error, ReadError::Io(why) if why.kind() == io::ErrorKind::PermissionDenied));
}

#[test]
fn outputs_and_constants_cost_what_is_stated() {
    let mut b = Builder::new();
    let x = b.input("x", 3);
    let y = b.and(x[0], x[1]);
    let z = b.xor(y, x[2]);
    b.output("plain", &[z, y]);
    let plain = b.finish();
    for format in [Format::BristolFashion, Format::Bristol] {
        assert!(written(&plain, format).starts_with("2 5\n"), "no output needs a copy");
    }
    let gates = vec![Gate { op: Op::And, a: 1, b: 2 }];
    let circuit = Circuit::new(named("x", [3]), named("y", [2, 5]), gates, vec![5, 5, 2, 0, 1, 1, 5]).unwrap();
    let fashion = "8 11\n1 3\n2 2 5\n\n1 1 1 3 EQ\n2 1 3 0 4 AND\n1 1 4 5 EQW\n1 1 0 6 EQW\n1 1 0 7 EQ\n1 1 1 8 EQ\n1 1 1 9 EQ\n1 1 4 10 EQW\n";
    assert_eq!(written(&circuit, Format::BristolFashion), fashion);
    let older = "9 12\n3 0 7\n\n2 1 0 0 3 XOR\n1 1 3 4 INV\n2 1 4 0 5 AND\n2 1 5 3 6 XOR\n2 1 0 3 7 XOR\n2 1 3 3 8 XOR\n2 1 4 3 9 XOR\n2 1 4 3 10 XOR\n2 1 5 3 11 XOR\n";
    assert_eq!(written(&circuit, Format::Bristol), older);
}

#[test]
fn what_the_older_format_cannot_hold_is_refused() {
    let mut sink = Vec::new();
    let mut b = Builder::new();
    let _ = [b.input("x", 1), b.input("y", 1), b.input("z", 1)];
    let error = write(&b.finish(), Format::Bristol, &mut sink).unwrap_err();
    assert!(matches!(error, WriteError::TooManyInputs(3)));
    let mut b = Builder::new();
    b.output("x", &[Wire::ONE]);
    let constant = b.finish();
    let error = write(&constant, Format::Bristol, &mut sink).unwrap_err();
    assert!(matches!(error, WriteError::NoInputBits));
    assert!(sink.is_empty());
    assert_eq!(written(&constant, Format::BristolFashion), "1 1\n0\n1 1\n\n1 1 1 0 EQ\n");
}

/// The fuzz body: what is read survives writing and reading in both formats.
fn survives(data: &[u8]) {
    let Ok((circuit, _)) = read(data) else { return };
    if circuit.first_gate_wire() + circuit.gates().len() + circuit.output_wires().len() > 1 << 16 {
        return;
    }
    let mut rng = Rng(data.len() as u64);
    let widths: Vec<usize> = circuit.inputs().iter().map(|group| group.bits).collect();
    let inputs = rng.values(&widths);
    let want = bits_of(&eval_circuit(&circuit, &inputs));
    for format in [Format::BristolFashion, Format::Bristol] {
        let mut text = Vec::new();
        match write(&circuit, format, &mut text) {
            Err(_) if format == Format::Bristol => continue,
            done => done.unwrap(),
        }
        let again = read_as(format, &text[..]).unwrap();
        let mut inputs = inputs.clone();
        inputs.resize_with(again.inputs().len(), Bits::default);
        assert_eq!(bits_of(&eval_circuit(&again, &inputs)), want);
        // Both are told apart, but for a circuit without gates or values.
        if !again.gates().is_empty() {
            assert_eq!(read(&text[..]).unwrap().1, format);
        }
        let mut twice = Vec::new();
        write(&again, format, &mut twice).unwrap();
        assert!(read_as(format, &twice[..]).unwrap() == again);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn circuits_survive_writing_and_reading(
        seed in any::<u64>(), inputs in prop::collection::vec(0usize..9, 0..4), gates in 0usize..80,
        reach in 1usize..40, outputs in prop::collection::vec(0usize..9, 0..4),
    ) {
        let circuit = Rng(seed).circuit(&inputs, gates, reach, &outputs);
        let text = written(&circuit, Format::BristolFashion);
        let read = parse(&text);
        let widths = |groups: &[Group]| groups.iter().map(|group| group.bits).collect::<Vec<_>>();
        prop_assert_eq!(widths(read.inputs()), inputs);
        prop_assert_eq!(widths(read.outputs()), outputs);
        prop_assert_eq!(read.counts().and, circuit.counts().and);
        survives(text.as_bytes());
        let values = Rng(seed).values(&widths(circuit.inputs()));
        prop_assert_eq!(eval_circuit(&read, &values), eval_circuit(&circuit, &values));
    }

    #[test]
    fn damaged_files_are_refused_or_survive(seed in any::<u64>(), older in any::<bool>(), damages in 1usize..6) {
        let mut rng = Rng(seed);
        let circuit = rng.circuit(&[3, 2], 12, 8, &[4]);
        let format = if older { Format::Bristol } else { Format::BristolFashion };
        let mut bytes = written(&circuit, format).into_bytes();
        let words: [&[u8]; 12] = [b"MAND", b"EQ", b"EQW", b"INV", b"2 1", b"4294967296", b"\n", b"0", b"#", b"1", b" ", b"AND"];
        for _ in 0..damages {
            let at = rng.below(bytes.len());
            match rng.below(4) {
                0 => bytes.truncate(at.max(1)),
                1 => bytes[at] = b"0123456789 \nX"[rng.below(13)],
                2 => drop(bytes.splice(at..at, words[rng.below(12)].iter().copied())),
                _ => drop(bytes.remove(at)),
            }
            if bytes.is_empty() {
                break;
            }
        }
        survives(&bytes);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        survives(&bytes);
    }
}

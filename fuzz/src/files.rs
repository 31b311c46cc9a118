//! Circuits and programs as they lie in files, and values as people type them.

use std::path::Path;

use comity_circuit::random::Rng;
use comity_circuit::{Circuit, FloatWidth, Observer, Plain, Program, Type};
use comity_core::{Bits, PartyId};
use comity_format::value::{self, BitOrder};
use comity_format::{Format, ReadError, ValueShare, WriteError};
use comity_language::expression;
use comity_library::gadget;

/// The largest work that a body runs.
const SMALL: u64 = 1 << 16;

/// An observer that forgets what it hears.
struct Deaf;

impl Observer for Deaf {
    fn output(&mut self, _: usize, _: Bits) {}
}

/// Evaluates a program in the clear on zeros, if that is little work: what was accepted can be run.
fn evaluate(program: &Program) {
    let totals = program.totals();
    let work = [program.wires(), totals.calls, totals.and, totals.xor, totals.not];
    // A circuit is lowered even if no step calls it, and each of its wires takes memory, which its inputs
    // have for no byte of the encoding.
    let wires =
        |circuit: &Circuit| circuit.inputs().iter().fold(0u64, |sum, group| sum.saturating_add(group.bits as u64));
    let large = program.circuits().iter().any(|circuit| wires(circuit) > SMALL);
    if large || work.iter().any(|&part| part > SMALL) {
        return;
    }
    let inputs: Vec<Option<Bits>> = program.inputs().iter().map(|input| Some(Bits::zeros(input.bits))).collect();
    let ran = comity_circuit::run(program, &mut Plain::new(), &inputs, &mut Deaf);
    assert!(ran.is_ok() == program.check_plain().is_ok(), "a valid program runs, unless a value of it is in shares");
}

/// A circuit file: whatever the reader accepts survives each format that can hold it.
fn circuit_file(data: &[u8], read: impl Fn(&[u8]) -> Result<Circuit, ReadError>) {
    let circuit = match read(data) {
        Ok(circuit) => circuit,
        Err(ReadError::Io(error)) => panic!("reading from memory failed: {error}"),
        Err(error) => return assert!(!error.to_string().contains(|c: char| c.is_control()), "{error:?}"),
    };
    for format in [Format::BristolFashion, Format::Bristol] {
        let mut text = Vec::new();
        match comity_format::write(&circuit, format, &mut text) {
            Ok(()) => {}
            Err(WriteError::Io(error)) => panic!("writing to memory failed: {error}"),
            Err(_) => continue,
        }
        let again = comity_format::read_as(format, &*text).expect("what was written is read");
        // The older format always has two input values; those without bits are left out here.
        let widths = |circuit: &Circuit| circuit.inputs().iter().map(|g| g.bits).filter(|&b| b > 0).collect::<Vec<_>>();
        assert_eq!(widths(&again), widths(&circuit));
        assert_eq!(again.counts().and, circuit.counts().and);
    }
    if let Ok(program) = Program::from_circuit(circuit) {
        evaluate(&program);
    }
}

/// A Bristol Fashion file.
pub(crate) fn bristol_fashion(data: &[u8]) {
    circuit_file(data, |data| comity_format::read_as(Format::BristolFashion, data));
}

/// A file in the older Bristol format.
pub(crate) fn bristol(data: &[u8]) {
    circuit_file(data, |data| comity_format::read_as(Format::Bristol, data));
}

/// A netlist: what the reader accepts can be run for some clock cycles, and without flip-flops be written.
fn netlist(format: Format, data: &[u8]) {
    let design = match comity_format::read_sequential_as(format, data) {
        Ok(design) => design,
        Err(ReadError::Io(error)) => panic!("reading from memory failed: {error}"),
        Err(error) => return assert!(!error.to_string().contains(|c: char| c.is_control()), "{error:?}"),
    };
    if let Ok(program) = design.cycles(3) {
        evaluate(&program);
    }
    let Some(circuit) = design.into_circuit() else { return };
    let mut text = Vec::new();
    comity_format::write(&circuit, Format::Shdl, &mut text).expect("SHDL holds every circuit");
    let again = comity_format::read_as(Format::Shdl, &*text).expect("what was written is read");
    assert!(again.counts().and <= circuit.counts().and);
    circuit_file(data, |data| comity_format::read_as(format, data));
}

/// A netlist in BLIF.
pub(crate) fn blif(data: &[u8]) {
    netlist(Format::Blif, data);
}

/// A netlist in yosys' JSON.
pub(crate) fn yosys(data: &[u8]) {
    netlist(Format::Yosys, data);
}

/// A circuit in SHDL.
pub(crate) fn shdl(data: &[u8]) {
    netlist(Format::Shdl, data);
}

/// A circuit file in whichever format it is.
pub(crate) fn circuit(data: &[u8]) {
    circuit_file(data, |data| comity_format::read(data).map(|(circuit, _)| circuit));
}

/// The encoding of a program.
pub(crate) fn program(data: &[u8]) {
    if let Ok(program) = Program::decode(data, gadget) {
        assert!(program.encode() == data, "what was decoded encodes otherwise");
        let small = |circuit: &&Circuit| circuit.input_bits() + circuit.gates().len() < 1 << 16;
        for circuit in program.circuits().iter().filter(small) {
            assert_eq!(circuit.false_note(&mut Rng(data.len() as u64)), None, "a note that is not true");
        }
        evaluate(&program);
    }
}

/// A party's share of a value: what is read is written as it was.
pub(crate) fn share_file(data: &[u8]) {
    match ValueShare::decode(data) {
        Ok(share) => {
            assert!(share.encode().as_bytes() == data, "what was read is written otherwise");
            assert!(data.len() as u64 <= ValueShare::longest(share.share.len()) && share.party.0 < share.parties);
        }
        Err(error) => assert!(!error.to_string().contains(|c: char| c.is_control()), "{error:?}"),
    }
}

/// Shares, and files that hold none.
pub(crate) fn seeds() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let share = |party, parties, ty: &str, bits| ValueShare {
        tag: [7; 32],
        party: PartyId(party),
        parties,
        ty: ty.into(),
        share: (0..bits).map(|i| i % 3 == 1).collect(),
    };
    let text = |share: ValueShare| share.encode().into_bytes();
    let valid = text(share(0, 2, "u32", 32));
    vec![
        ("share_file", "valid", valid.clone()),
        ("share_file", "of_five", text(share(4, 5, "[(u8, bool); 3]", 27))),
        ("share_file", "empty", text(share(1, 2, "[u8; 0]", 0))),
        ("share_file", "of_nobody", text(share(2, 2, "u8", 8))),
        ("share_file", "two_shares", [&valid[..], &valid].concat()),
        ("share_file", "cut", valid[..valid.len() * 2 / 3].to_vec()),
    ]
}

/// A value as text: the first byte is its width.
pub(crate) fn value(data: &[u8]) {
    let Some((&bits, text)) = data.split_first() else { return };
    let (Ok(text), bits) = (str::from_utf8(text), usize::from(bits)) else { return };
    for order in [BitOrder::Lsb, BitOrder::Msb] {
        match value::parse(text, bits, order) {
            Ok(read) => {
                assert_eq!(read.len(), bits);
                assert!(value::parse(&value::to_hex(&read, order), bits, order) == Ok(read.clone()));
                assert!(value::parse(&format!("bits:{}", value::to_bits(&read)), bits, order) == Ok(read));
            }
            Err(error) => assert!(!echoes(&error.to_string(), text), "{error}"),
        }
    }
}

/// Whether a message has the text of a value in it, which may be a secret, mistyped. A text can be a piece of
/// what every message says: what no message has of itself is five digits in a row, since its numbers are
/// widths and places.
fn echoes(message: &str, text: &str) -> bool {
    let digits = text.as_bytes().windows(5).any(|five| five.iter().all(u8::is_ascii_digit));
    digits && text.len() >= 8 && text.len() < 10_000 && message.contains(text)
}

/// A value of one of some types as text: the first byte says which.
pub(crate) fn typed_value(data: &[u8]) {
    let Some((&which, text)) = data.split_first() else { return };
    let Ok(text) = str::from_utf8(text) else { return };
    let array = |ty: Type, count| Type::Array(Box::new(ty), count);
    let fields = vec![("price".to_owned(), Type::Uint(32)), ("item".to_owned(), Type::Int(5))];
    let record = Type::Struct { name: "Bid".to_owned(), fields };
    let types = [
        Type::Uint(64),
        Type::Int(100),
        Type::Float(FloatWidth::F64),
        array(Type::Uint(8), 3),
        record.clone(),
        array(record, 2),
        Type::Tuple(vec![Type::Bool, Type::Bits(9), array(Type::Bool, 2)]),
    ];
    let ty = &types[usize::from(which) % types.len()];
    match value::read("x", ty, text) {
        Ok(read) => {
            assert_eq!(read.len(), ty.bits());
            for text in [value::show(ty, &read), value::show_json(ty, &read)] {
                let again = value::read("x", ty, &text).expect("what is shown is read");
                // A NaN has many patterns and one name.
                assert!(again == read || text.contains("NaN"));
            }
        }
        Err(error) => assert!(!error.to_string().contains(|c: char| c.is_control()), "{error:?}"),
    }
}

/// An expression that the command takes for PROGRAM. Before a line break stands the name of a file that exists.
pub(crate) fn program_expression(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let (file, text) = text.split_once('\n').unwrap_or(("", text));
    // As the command does.
    if let Ok(expression) = expression::parse(text, &comity_library::is_name, &|path| path == Path::new(file)) {
        let again = expression::parse(text, &comity_library::is_name, &|path| path == Path::new(file));
        assert_eq!(again, Ok(expression));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_of_a_message_is_no_echo_and_a_value_is() {
        let said = value::parse("0x12g4", 16, BitOrder::Lsb).expect_err("g is no digit").to_string();
        assert!(!echoes(&said, "is not a hex dig") && !echoes(&said, &said));
        assert!(echoes("`123456789` is too large", "123456789"));
    }

    #[test]
    fn a_circuit_that_is_large_by_its_inputs_is_not_lowered() {
        let group = |bits| vec![comity_circuit::Group { name: String::new(), bits }];
        let circuit = Circuit::new(group(1 << 27), group(1), Vec::new(), vec![0]).expect("a circuit");
        let encoded = Program::new("", 0, vec![circuit], Vec::new()).expect("a program").encode();
        assert!(encoded.len() < 200);
        program(&encoded);
    }
}

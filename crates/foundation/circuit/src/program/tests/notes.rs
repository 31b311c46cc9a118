//! Notes in the encoding of a program.

use super::*;
use crate::builder::Wire;
use crate::note::{ArgBit, NoteError, NoteFlaw, WordOp};
use crate::table::LookupTable;

/// The AND of two bits, as a word of one bit or as a table.
fn and(b: &mut Builder, op: WordOp, args: &[&[Wire]]) -> Vec<Wire> {
    b.noted(gadgets, op, args, |b| {
        let bits: Vec<Wire> = args.concat();
        vec![b.and(bits[0], bits[1])]
    })
}

fn gadgets(b: &mut Builder, op: &WordOp, args: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
    let args: Vec<&[Wire]> = args.iter().map(Vec::as_slice).collect();
    match op {
        WordOp::And | WordOp::Dot { n: 1 } if args[0].len() == 1 => vec![and(b, op.clone(), &args)],
        WordOp::Lookup(table) if *table == both() => vec![and(b, op.clone(), &args)],
        _ => vec![],
    }
}

/// The table of the AND of two bits.
fn both() -> LookupTable {
    LookupTable::new(2, 1, vec![0, 0, 0, 1]).unwrap()
}

/// A program that looks a table up three times in a loop, and another word operation once, whose argument is gone.
fn noted(line: u32) -> Program {
    let mut p = ProgramBuilder::new("noted");
    let x = p.input("x", 0, 2);
    let [y, z] = [p.register(1), p.register(1)];
    let mut b = p.builder();
    b.set_line(line);
    let wires = b.input("x", 2);
    let row = and(&mut b, WordOp::Lookup(both()), &[&wires]);
    b.output("y", &row);
    let table = p.circuit(b.finish());
    p.repeat(3, |p, _| p.call(table, &[x.span()], &[y.span()]));
    let mut b = p.builder();
    let wires = b.input("x", 2);
    let sum = b.noted(gadgets, WordOp::Xor, &[&wires[..1], &wires[1..]], |b| vec![b.xor(wires[0], wires[1])]);
    // This gate is there by itself only.
    let same = and(&mut b, WordOp::And, &[&sum, &wires[..1]]);
    b.output("z", &same);
    let circuit = p.circuit(b.finish());
    p.call(circuit, &[x.span()], &[z.span()]);
    p.reveal("y", Recipients::All, y);
    p.finish().unwrap()
}

#[test]
fn notes_are_kept_and_hashed_and_lines_are_kept_alone() {
    let program = noted(7);
    assert_eq!(program.noted().into_iter().collect::<Vec<_>>(), [("and", 1), ("lookup", 3), ("xor", 1)]);
    assert_eq!((program.circuits()[0].table(), program.circuits()[1].table()), (Some(&both()), None));
    // The XOR is nobody's to check here.
    let refused = NoteError { note: 0, op: "xor", flaw: NoteFlaw::Gates };
    assert_eq!(Program::decode(&program.encode(), gadgets), Err(DecodeError::Note(1, refused)));
    let alone = |program: &Program| {
        Program::new("noted", program.wires(), program.circuits()[..1].to_vec(), program.steps()[..2].to_vec()).unwrap()
    };
    let program = alone(&program);
    assert_eq!(Program::decode(&program.encode(), gadgets).as_ref(), Ok(&program));
    let plain = vec![program.circuits()[0].clone().without_notes()];
    let plain = Program::new("noted", program.wires(), plain, program.steps().to_vec()).unwrap();
    assert_ne!(plain.digest(), program.digest());
    let other = alone(&noted(8));
    assert_eq!((other.digest(), other == program), (program.digest(), false));
    // If circuits have the same gates the one with notes stays.
    let mut list = CircuitList::default();
    let [bare, full] = [&plain, &program].map(|program| program.circuits()[0].clone());
    assert_eq!([&bare, &full, &bare].map(|circuit| list.add(std::borrow::Cow::Borrowed(circuit))), [0, 0, 0]);
    assert_eq!(list.into_circuits(), [full]);
}

#[test]
fn notes_that_are_changed_are_refused_or_true() {
    let program = noted(7);
    let program =
        Program::new("noted", program.wires(), program.circuits()[..1].to_vec(), program.steps()[..2].to_vec())
            .unwrap();
    let bytes = program.encode();
    let decode = |bytes: &[u8]| Program::decode(bytes, gadgets);
    for cut in 0..bytes.len() {
        assert!(decode(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    for i in 0..bytes.len() {
        for flip in [1, 2, 0x40, 0x80, 0xff] {
            let mut other = bytes.clone();
            other[i] ^= flip;
            if let Ok(decoded) = decode(&other) {
                assert_eq!(decoded.encode(), other, "byte {i}");
                assert_ne!(decoded, program);
                assert!(decoded.circuits().iter().all(|circuit| circuit.false_note(&mut Rng(1)).is_none()), "byte {i}");
            }
        }
    }
    // The code of the operation, then delta, sigma and four rows.
    let code = bytes.windows(10).position(|bytes| bytes == [64, 2, 1, 0, 0, 0, 0, 0, 0, 1]).unwrap();
    let with = |at: usize, byte: u8| {
        let mut other = bytes.clone();
        other[code + at] = byte;
        decode(&other)
    };
    let flaw = |flaw| Err(DecodeError::Note(0, NoteError { note: 0, op: "lookup", flaw }));
    assert_eq!(with(7, 1), flaw(NoteFlaw::Gates));
    assert_eq!(with(7, 1).unwrap_err().to_string(), "circuit 0: note 0 (lookup) is not what the gates compute");
    assert_eq!(with(6, 2), Err(DecodeError::Table { circuit: 0, note: 0, delta: 2, sigma: 1 }));
    assert_eq!(with(1, 13), Err(DecodeError::Table { circuit: 0, note: 0, delta: 13, sigma: 1 }));
    let unknown = with(0, 99).unwrap_err();
    assert_eq!(unknown, DecodeError::Operation(0, 0, 99));
    assert_eq!(unknown.to_string(), "circuit 0, note 0 is of operation 99, which this version does not know");
    assert_eq!(with(10, 2), Err(DecodeError::Tag(code + 10)));
    assert_eq!(with(11, 4), Err(DecodeError::Tag(code + 11)));
    // Another pin is kept, and another program.
    let pinned = with(11, 2).unwrap();
    assert_eq!((pinned.circuits()[0].notes()[0].pin, pinned == program), (Some(crate::note::Form::Boolean), false));
    assert_ne!(pinned.digest(), program.digest());
    assert!(matches!(program.circuits()[0].notes()[0].args[0][0], ArgBit::Wire(2)));
}

/// What has numbers of its own is read as what it is: one product of bits is an AND, a matrix nobody builds here, and
/// a bit has none behind a point.
#[test]
fn sums_of_products_are_read_and_refused_by_name() {
    fn all(b: &mut Builder, op: &WordOp, args: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
        match op {
            WordOp::Xor => vec![vec![b.xor(args[0][0], args[1][0])]],
            _ => gadgets(b, op, args),
        }
    }
    let program = noted(0);
    let bytes = program.encode();
    let code = bytes.windows(10).position(|bytes| bytes == [64, 2, 1, 0, 0, 0, 0, 0, 0, 1]).unwrap();
    let with = |op: &[u8]| {
        let words = [[1, 0, 0, 0, 2, 0, 0, 0], [1, 0, 0, 0, 3, 0, 0, 0]].concat();
        // Behind the number of the gate before which it begins: a word of two bits, and the result.
        Program::decode(&[&bytes[..code], op, &[0; 10], &words, &bytes[code + 32..]].concat(), all)
    };
    let program = with(&[65, 1, 0, 0, 0]).unwrap();
    assert_eq!(program.circuits()[0].notes()[0].op, WordOp::Dot { n: 1 });
    assert_eq!(Program::decode(&program.encode(), all).as_ref(), Ok(&program));
    for (op, name, flaw) in [
        (&[66, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0][..], "mat_mul", NoteFlaw::Gates),
        (&[67, 1, 0, 0, 0], "mul_shift", NoteFlaw::Shape),
    ] {
        assert_eq!(with(op).unwrap_err(), DecodeError::Note(0, NoteError { note: 0, op: name, flaw }));
    }
}

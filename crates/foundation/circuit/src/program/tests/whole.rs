//! Programs as one circuit, and values that nothing reads.

use super::*;
use crate::Program;

#[test]
fn a_flattened_program_computes_the_same() {
    let mut rng = Rng(7);
    for case in 0..20 {
        let circuit = rng.circuit(&[5, 4], 40, 12, &[4]);
        let program = match case % 3 {
            0 => Program::map(circuit, 3, &[]),
            1 => Program::iterate(circuit, 4, &[(0, 1)]),
            _ => Program::from_circuit(circuit),
        }
        .unwrap();
        let flat = program.flatten().unwrap();
        let names = |program: &Program| program.inputs().iter().map(|input| input.name.clone()).collect::<Vec<_>>();
        assert_eq!(flat.inputs().iter().map(|group| group.name.clone()).collect::<Vec<_>>(), names(&program));
        let widths: Vec<usize> = program.inputs().iter().map(|input| input.bits).collect();
        let inputs = rng.values(&widths);
        assert_eq!(eval_circuit(&flat, &inputs), outputs(&program, &inputs), "case {case}");
        assert!(flat.counts().and <= program.and_gates());
    }
}

#[test]
fn what_is_too_large_for_a_circuit_is_refused() {
    let program = Program::iterate(Rng(1).circuit(&[64, 64], 5000, 12, &[64]), 1 << 30, &[(0, 1)]).unwrap();
    let error = program.flatten().unwrap_err();
    assert!(error.to_string().contains("gates in all its calls"), "{error}");
}

#[test]
fn an_input_that_nothing_reads_is_found() {
    let mut b = Builder::new();
    let (x, y, z) = (b.input("x", 4), b.input("y", 4), b.input("z", 4));
    let sum: Vec<_> = x.iter().zip(&z).map(|(&x, &z)| b.and(x, z)).collect();
    // What is read and does not matter counts as unread, too.
    let _ = b.and(y[0], y[1]);
    b.output("o", &sum);
    let circuit = b.finish();
    assert_eq!(Program::from_circuit(circuit.clone()).unwrap().unused_inputs(), [1]);
    assert_eq!(Program::map(circuit.clone(), 100, &[]).unwrap().unused_inputs(), [1]);
    assert_eq!(Program::iterate(circuit, 9, &[(0, 2)]).unwrap().unused_inputs(), [1]);
    let all = Rng(3).circuit(&[2, 2], 60, 4, &[8]);
    assert_eq!(Program::from_circuit(all).unwrap().unused_inputs(), [0usize; 0]);
    // Nothing is computed: the value goes out as it came in.
    let steps = vec![
        Step::Input { name: "in".into(), owner: Owner::of_value(0), to: span(0, 8) },
        Step::Reveal { name: "out".into(), to: Recipients::All, from: span(4, 2) },
    ];
    assert_eq!(Program::new("copy", 8, vec![], steps).unwrap().unused_inputs(), [0usize; 0]);
}

//! Material made ahead: what a run counts is what it uses up, at any width; each batch once; and bytes that
//! are no batch.

use comity_arith::Arith;
use comity_arith::dealers::{WORD_BATCH, WordMaterial};
use comity_circuit::{Builder, Program};
use comity_core::{Backend, Bits, Kind, PartyId, SessionId};
use comity_library::arith;
use comity_protocol::{Here, Job, Options, Party, Protocol};
use comity_share::ring::{RingTriples, word_mask};
use comity_testing::laws::{self, Laws, Outputs, bits, check, clear, rng};
use comity_testing::{Net, Stock, Stocked};

use super::setting;

/// Products and squares of words of `width` bits, and as many of words of twice that width.
fn program(width: usize, times: u64) -> Program {
    let mut b = Builder::new();
    let inputs =
        [width, 2 * width].map(|width| [b.input(&format!("x{width}"), width), b.input(&format!("y{width}"), width)]);
    for (i, [x, y]) in inputs.iter().enumerate() {
        let (product, square) = (arith::mul(&mut b, x, y), arith::square(&mut b, x));
        let sum = arith::add(&mut b, &product, &square);
        b.output(&format!("sum{i}"), &sum);
    }
    let program = Program::map(b.finish(), times, &[]).unwrap();
    program.with_owner(1, 1).unwrap().with_owner(2, 0).unwrap().with_owner(3, 1).unwrap()
}

/// Products of matrices, of twelve products of words each.
fn of_matrices(width: usize, times: u64) -> Program {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 6 * width), b.input("y", 6 * width));
    let [x, y] = [x, y].map(|words| words.chunks(width).map(<[_]>::to_vec).collect::<Vec<_>>());
    let product = arith::mat_mul(&mut b, [2, 3, 2], &x, &y).concat();
    b.output("product", &product);
    Program::map(b.finish(), times, &[]).unwrap().with_owner(1, 1).unwrap()
}

#[test]
fn a_run_uses_up_what_it_counts() {
    let options = Options::new(Arith.card());
    // Two squares and two products a call; more than a batch of each.
    let programs = [(20, [4, 0]), (64, [2, 2]), (50, [2, 2])];
    let programs = programs.map(|(width, batches)| (width, program(width, WORD_BATCH as u64 / 2 + 1), batches));
    let matrices = [(64, [2, 0]), (65, [0, 2])];
    let matrices = matrices.map(|(width, batches)| (width, of_matrices(width, WORD_BATCH as u64 / 12 + 1), batches));
    for (width, program, batches) in programs.into_iter().chain(matrices) {
        let values: Vec<Bits> = program.inputs().iter().map(|input| bits(input.bits, &mut rng(1))).collect();
        let needs = Arith.needs(&program, &options, setting(Backend::detect()).params).unwrap();
        let counted = WordMaterial::ALL.map(|material| {
            needs.iter().filter(|need| need.material == material.name()).map(|need| need.batches).sum::<u64>()
        });
        assert_eq!(counted, batches, "{width} bits");
        let outputs = Net::<2>::run(|net| {
            let me = net.me();
            let params = setting(Backend::detect()).params;
            let here = |label: &str| Here { params, ..Here::new(me, 2, SessionId::derive(label, &[])) };
            let (mut draw, mut outputs) = (rng(u128::from(me.0) + 1), Outputs::default());
            let mut party = Party { net: &mut *net, here: here("material"), rng: &mut draw, observer: &mut outputs };
            let mut shelves = Stock::of(&Arith, &mut party, &program, &options).unwrap();
            let own: Vec<Option<Bits>> = program
                .inputs()
                .iter()
                .zip(&values)
                .map(|(input, value)| (input.owner.party() == Some(me)).then(|| value.clone()))
                .collect();
            let mut party = Party { net, here: here("run"), rng: &mut draw, observer: &mut outputs };
            let job = Job { program: &program, inputs: &own, options: &options };
            Arith.run(&mut party, &job, &mut shelves).unwrap();
            assert!(shelves.is_used_up(), "{width} bits");
            // Nothing is left for another.
            let error = Arith.run(&mut party, &job, &mut shelves).unwrap_err();
            assert!(matches!(&error.kind, Kind::InvalidInput(why) if why.contains("word triples is left")), "{error}");
            outputs.0
        });
        let expected: Vec<(usize, Bits)> = clear(&program, &values).into_iter().enumerate().collect();
        assert!(outputs.iter().all(|learned| *learned == expected), "{width} bits");
    }
}

/// Comparisons, choices and quotients on OTs that were made ahead, more than a batch of them one way.
#[test]
fn conversions_run_on_stored_ots() {
    let options = Options::new(Arith.card());
    for (width, times, batches) in [(32, 100, [2, 1]), (64, 60, [2, 1]), (7, 1, [1, 1])] {
        let program = super::conversions::program(width, times);
        let needs = Arith.needs(&program, &options, setting(Backend::detect()).params).unwrap();
        let needed =
            |material: &str| needs.iter().find(|need| need.material == material).map_or(0, |need| need.batches);
        assert_eq!(["OTs from party 0", "OTs from party 1"].map(needed), batches, "{width} bits");
        let values: Vec<Bits> =
            program.inputs().iter().map(|input| bits(input.bits, &mut rng(width as u128))).collect();
        check(&Stocked(Arith), 2, &program, &values, setting(Backend::detect()));
    }
}

/// What is heard of runs on a store, and of making it; and such that are broken.
#[test]
fn laws_on_a_store() {
    laws::listener(&Stocked(Arith), &Laws { listened: 6, ..Laws::USUAL });
    laws::deviations(&Stocked(Arith), &Laws { felt: 40, deviations: 12, ..Laws::USUAL });
}

#[test]
fn a_batch_is_read_as_it_was_written_and_modulo_any_width() {
    let words = |salt: u128| -> Vec<u128> { (1..=5).map(|i| (i * salt).wrapping_mul(u128::MAX / 977)).collect() };
    for material in WordMaterial::ALL {
        let widest = material.product().bits;
        let shares =
            [3, 5, 7].map(|salt| words(salt).into_iter().map(|word| word & word_mask(widest)).collect::<Vec<_>>());
        let [a, b, c] = shares.clone();
        let mut bytes = Vec::new();
        material.write(&RingTriples::new(a, b, c), PartyId(1), &mut bytes).unwrap();
        assert_eq!(bytes.len() as u64, material.batch_bytes(5));
        for width in [1, 7, widest - 1, widest] {
            let read = material.read(&mut &bytes[..], PartyId(1), 5, width).unwrap();
            for (read, written) in read.shares().into_iter().zip(&shares) {
                assert!(read.iter().zip(written).all(|(read, written)| *read == written & word_mask(width)));
            }
        }
        let other = WordMaterial::ALL.into_iter().find(|other| *other != material).unwrap();
        let refusals = [
            material.read(&mut &bytes[..], PartyId(0), 5, widest),
            material.read(&mut &bytes[..], PartyId(1), 4, widest),
            material.read(&mut &bytes[..], PartyId(1), 6, widest),
            other.read(&mut &bytes[..], PartyId(1), 5, widest),
            material.read(&mut &bytes[..20], PartyId(1), 5, widest),
        ];
        for refused in refusals {
            assert!(matches!(refused.map(drop).unwrap_err().kind, Kind::Store(_)));
        }
    }
}

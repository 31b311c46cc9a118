//! What operations and conversions cost, in whatever form: one table, so that both parties make one plan of a
//! program. Nothing in it is measured where it runs.
//!
//! Bytes are those that the protocols say they send. Work is that of one core of a Zen 5 with AES
//! instructions, as `BENCHMARKS.md` has it. Rounds are round trips: what both send at once takes half of one.

use comity_circuit::{Builder, Goal, WordOp};
use comity_library::arith;
use comity_share::triples::OtKind;

use crate::form::Form;
use crate::graph::{FormCost, Passed};

/// Nanoseconds of an OT with what is made of it, of one by silent extension, of a product of words once it has
/// its triple, of an AND gate that is garbled and evaluated, and of one on shared bits with its triple.
const OT: f64 = 14.0;
const SILENT_OT: f64 = 30.0;
const PRODUCT: f64 = 30.0;
const GARBLED: f64 = 18.0;
const SHARED: f64 = 2.0;
/// Nanoseconds of a bit that is shared, opened or copied.
const BIT: f64 = 0.2;

/// The bytes of an AND gate's tables, and of an OT by each extension.
const TABLES: f64 = 32.0;

/// The time for half a round trip, in round trips.
const MESSAGE: f64 = 0.5;

fn ots(count: f64, kind: OtKind) -> FormCost {
    let (bytes, ns) = match kind {
        OtKind::SoftSpoken => (4.0, OT),
        OtKind::Iknp => (16.0, OT),
        OtKind::Silent => (0.15, SILENT_OT),
    };
    FormCost { bytes: count * bytes, rounds: 0.0, ns: count * ns }
}

impl FormCost {
    /// The cost of both, one after the other.
    pub(crate) fn and(self, other: FormCost) -> FormCost {
        FormCost { bytes: self.bytes + other.bytes, rounds: self.rounds + other.rounds, ns: self.ns + other.ns }
    }

    /// The cost of `times` of these, of which `turns` follow one another.
    pub(crate) fn over(self, times: f64, turns: f64) -> FormCost {
        FormCost { bytes: self.bytes * times, rounds: self.rounds * turns, ns: self.ns * times }
    }

    /// The cost of `count` of these, side by side.
    fn times(self, count: f64) -> FormCost {
        self.over(count, 1.0)
    }

    /// This cost, in `rounds` round trips.
    fn within(self, rounds: f64) -> FormCost {
        FormCost { rounds, ..self }
    }
}

/// What conversions cost.
pub(crate) struct Conversions {
    kind: OtKind,
    /// What adders on shares of bits cost, by the bits of words that are converted.
    adders: Vec<Option<FormCost>>,
}

impl Conversions {
    /// The costs of converting words of these widths, and all else that is converted.
    pub(crate) fn new(widths: impl Iterator<Item = u32>, kind: OtKind) -> Conversions {
        let mut adders = Vec::new();
        for bits in widths {
            let at = bits as usize;
            adders.resize(adders.len().max(at + 1), None);
            adders[at] = adders[at].or_else(|| {
                let (ands, depth) = sum(bits);
                gates(ands, depth, Form::Boolean, kind)
            });
        }
        Conversions { kind, adders }
    }

    /// What it costs to convert a value as often as a run computes it. Words become bits by adders in this form.
    pub(crate) fn of(&self, value: &Passed, from: Form, to: Form, adders: Form) -> FormCost {
        self.cost(from, to, value.bits, adders).over(value.times, value.turns)
    }

    /// Whether words of so many bits become bits by either form of adders for less of something.
    pub(crate) fn is_open(&self, bits: u32) -> bool {
        [Form::Boolean, Form::Yao].into_iter().any(|to| {
            let [garbled, shared] =
                [Form::Yao, Form::Boolean].map(|adders| self.cost(Form::Arithmetic, to, bits, adders));
            shared.bytes < garbled.bytes || shared.rounds < garbled.rounds || shared.ns < garbled.ns
        })
    }

    /// What it costs to convert a value of `bits` bits. Words become bits by adders in this form.
    pub(crate) fn cost(&self, from: Form, to: Form, bits: u32, adders: Form) -> FormCost {
        let (k, kind) = (f64::from(bits), self.kind);
        let read = FormCost { ns: k * BIT, ..FormCost::default() };
        let joined = || ots(k, kind).within(MESSAGE);
        // The labels of one share by OT, the other's are known; and an adder.
        let added = || ots(k, kind).and(garbled(k - 1.0));
        let shared = || self.adders.get(bits as usize).copied().flatten().filter(|_| adders == Form::Boolean);
        // Each bit but the top one brings a word that is as wide as what is above it.
        let lifted = || ots(k - 1.0, kind).and(FormCost { bytes: k * (k + 1.0) / 16.0, ..FormCost::default() });
        match (from, to) {
            // The lowest bit of a word is shared as it stands.
            (Form::Arithmetic, Form::Yao) if bits == 1 => joined(),
            (Form::Arithmetic, Form::Boolean) if bits == 1 => read,
            (Form::Arithmetic, Form::Yao) => match shared() {
                Some(shared) => shared.and(joined()),
                None => added().within(2.0 * MESSAGE),
            },
            (Form::Arithmetic, Form::Boolean) => shared().unwrap_or_else(|| added().within(3.0 * MESSAGE)),
            (Form::Boolean, Form::Arithmetic) => lifted().within(2.0 * MESSAGE),
            (Form::Yao, Form::Arithmetic) => lifted().within(3.0 * MESSAGE),
            (Form::Boolean, Form::Yao) => joined(),
            // What is garbled has to arrive.
            (Form::Yao, Form::Boolean) => read.within(MESSAGE),
            _ => FormCost::default(),
        }
    }
}

/// The AND gates of a sum on shares of bits, and their depth.
fn sum(bits: u32) -> (u64, u64) {
    let mut b = Builder::for_goal(Goal::Depth);
    let [x, y] = ["x", "y"].map(|name| b.input(name, bits as usize));
    let sum = b.quiet(|b| arith::add(b, &x, &y));
    b.output("sum", &sum);
    let counts = b.finish().counts();
    (counts.and, counts.and_depth)
}

fn garbled(ands: f64) -> FormCost {
    FormCost { bytes: TABLES * ands, rounds: 0.0, ns: GARBLED * ands }
}

/// The cost of comparing the shares of words of `bits` bits: an AND gate a bit, one of whose inputs comes by
/// OT.
fn compared(bits: f64, kind: OtKind) -> FormCost {
    ots(bits, kind).and(garbled(bits)).within(2.0 * MESSAGE)
}

/// What `ands` AND gates cost of which at most `depth` wait for each other. None of them are on words.
pub(crate) fn gates(ands: u64, depth: u64, form: Form, kind: OtKind) -> Option<FormCost> {
    let ands = ands as f64;
    match form {
        Form::Arithmetic => None,
        Form::Yao => Some(garbled(ands)),
        Form::Boolean => {
            let triples = ots(2.0 * ands, kind);
            let opened = FormCost { bytes: ands / 2.0, rounds: depth as f64 * MESSAGE, ns: ands * SHARED };
            Some(triples.and(opened))
        }
    }
}

/// What an operation on words of `bits` bits costs, whose gates are `ands` AND gates, `depth` deep. Of words that
/// is asked only for what words are added, multiplied or chosen by.
pub(crate) fn operation(
    op: &WordOp,
    bits: u32,
    (ands, depth): (u64, u64),
    form: Form,
    kind: OtKind,
) -> Option<FormCost> {
    if form != Form::Arithmetic {
        return gates(ands, depth, form, kind);
    }
    let k = f64::from(bits);
    // Gilboa's products: an OT for each bit, whose words are as wide as what is above it.
    let product = |ways: f64| {
        let told = FormCost { bytes: ways * k * (k + 1.0) / 16.0, ..FormCost::default() };
        let opened = FormCost { bytes: ways * k / 4.0, rounds: MESSAGE, ns: PRODUCT };
        ots(ways * k, kind).and(told).and(opened)
    };
    match op {
        WordOp::Mul => Some(product(2.0)),
        // Both words are widened first, each by the carry of its shares.
        WordOp::MulWide => {
            let wide = operation(&WordOp::Mul, 2 * bits, (ands, depth), form, kind)?;
            Some(wide.and(compared(2.0 * k, kind)).and(ots(2.0, kind).within(2.0 * MESSAGE)))
        }
        WordOp::Square => Some(product(1.0)),
        // All products wait together.
        WordOp::Dot { n } => Some(product(2.0).times(f64::from(*n))),
        // An OT serves a row, and each word of the factors is opened once.
        WordOp::MatMul { m, n, p } => {
            let [m, n, p] = [*m, *n, *p].map(f64::from);
            let told = FormCost { bytes: m * n * p * k * (k + 1.0) / 8.0, ..FormCost::default() };
            let opened = FormCost { bytes: n * (m + p) * k / 4.0, rounds: MESSAGE, ns: m * n * p * PRODUCT };
            Some(ots(2.0 * n * m.min(p) * k, kind).and(told).and(opened))
        }
        // The lower bits' carry, which becomes a word.
        WordOp::MulShift { fraction } => {
            let carried = compared(f64::from(*fraction), kind).and(ots(1.0, kind).within(2.0 * MESSAGE));
            Some(product(2.0).and(carried))
        }
        // Each party's share is chosen by an OT.
        WordOp::Select => {
            let words = FormCost { bytes: k / 2.0, rounds: 2.0 * MESSAGE, ns: 0.0 };
            Some(ots(2.0, kind).and(words))
        }
        WordOp::Equal => Some(compared(k, kind)),
        // A carry of the shares, and one of what is left of each, of which a public divisor has some bits.
        WordOp::Div { .. } | WordOp::Rem { .. } | WordOp::DivRem { .. } => {
            Some(compared(2.0 * k, kind).and(ots(3.0, kind).within(2.0 * MESSAGE)))
        }
        WordOp::Add | WordOp::Sub | WordOp::Neg | WordOp::Not => Some(FormCost { ns: k * BIT, ..FormCost::default() }),
        _ => None,
    }
}

/// What it costs to put in `bits` bits in a form; `garbler` is whether the party is the one that garbles.
pub(crate) fn input(bits: u64, garbler: bool, form: Form, kind: OtKind) -> FormCost {
    let bits = bits as f64;
    let shared = FormCost { ns: bits * BIT, ..FormCost::default() };
    match (form, garbler) {
        (Form::Yao, true) => FormCost { bytes: 16.0 * bits, rounds: 0.0, ns: bits },
        (Form::Yao, false) => ots(bits, kind).within(MESSAGE),
        _ => shared,
    }
}

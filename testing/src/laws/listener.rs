//! Law 6: a listener. What a coalition hears tells it nothing of the others' inputs but what its outputs do.
//!
//! The coalition is any set of parties that leaves somebody honest, and follows the rules; whoever reads the
//! network without being a party is not looked at, since links are private. Three looks at runs of small
//! programs whose outputs are XORs of inputs, XORs only together, products, and one bit each:
//!
//! 1. *Words*: inputs are 128 random bits. No honest input, nor an XOR of some, stands in what the coalition
//!    has as the XOR of up to three pieces, unless its outputs give it: a piece is a window of 16 bytes in a
//!    message or in what the coalition drew, an input of its own, or an output. A run shows it or does not.
//! 2. *Bits*: over many runs the bits of honest inputs that are XORs of bits that the coalition has are as
//!    many as its outputs allow ([`meter`](crate::meter)).
//! 3. *Distributions*: inputs of a bit whose outputs are equal cannot be told apart: each bit that the
//!    coalition has, and each XOR of two, is one as often for the ones as for the others.

use comity_circuit::{Builder, Circuit, Program, Recipients, Wire};
use comity_core::{Bits, PartyId};
use comity_protocol::Protocol;

use super::heard::Heard;
use super::{Gates, Laws, Setting, bits, clear, rng};
use crate::meter::{Span, learnt};

/// With this number of runs, or more, bits and distributions are tested, too.
const MANY: u64 = 400;

/// The parties of these runs at most.
const PARTIES: u16 = 4;

/// Bits of an input whose bits are counted.
const SMALL: usize = 3;

/// The most columns of heard bits that are looked at.
const COLUMNS: usize = 1500;

/// Bits of a table that shows at once that most sums were not heard.
const MARKS: usize = 1 << 21;

/// Runs more than columns: a column is in the span of others by chance with probability `2^-SPARE`.
const SPARE: usize = 40;

/// Columns whose XORs are looked at, two by two.
const PAIRED: usize = 200;

/// The most standard deviations that a frequency may be away: by chance among some 10^6 of them with
/// probability `10^-5`.
const AWAY: f64 = 6.7;

/// What protocols without ANDs cannot do of a product is a sum.
fn times(b: &mut Builder, gates: Gates, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    x.iter().zip(y).map(|(&x, &y)| gates.and(b, x, y)).collect()
}

/// A circuit of one input a party, of which `outputs` makes outputs.
fn circuit(parties: u16, width: usize, outputs: impl FnOnce(&mut Builder, &[Vec<Wire>]) -> Vec<Vec<Wire>>) -> Circuit {
    let mut b = Builder::new();
    let inputs: Vec<Vec<Wire>> = (0..parties).map(|party| b.input(&format!("in{party}"), width).to_vec()).collect();
    let outputs = outputs(&mut b, &inputs);
    for (i, output) in outputs.iter().enumerate() {
        b.output(&format!("out{i}"), output);
    }
    b.finish()
}

fn sum(b: &mut Builder, inputs: &[Vec<Wire>]) -> Vec<Wire> {
    let add = |sum: Vec<Wire>, input: &Vec<Wire>| sum.iter().zip(input).map(|(&x, &y)| b.xor(x, y)).collect();
    inputs[1..].iter().fold(inputs[0].clone(), add)
}

/// The programs that are listened to. Among two, an XOR of inputs gives both, and only products are of use.
fn programs(parties: u16, width: usize, gates: Gates) -> Vec<Program> {
    let last = usize::from(parties) - 1;
    let products = circuit(parties, width, |b, inputs| {
        (0..=last).map(|i| times(b, gates, &inputs[i], &inputs[(i + 1) % (last + 1)])).collect()
    });
    let sliced = circuit(parties, width, |b, inputs| {
        let product = times(b, gates, &inputs[0], &inputs[last]);
        let sum = if parties > 2 { sum(b, inputs) } else { product };
        sum.into_iter().map(|bit| vec![bit]).collect()
    });
    let program = |circuit: Circuit, to: Recipients| {
        let mut program = Program::from_circuit(circuit).expect("a program");
        for party in 0..parties {
            program = program.with_owner(party.into(), party).expect("an owner");
        }
        let outputs = program.outputs().len();
        (0..outputs).fold(program, |program, i| program.with_recipients(i, to).expect("recipients"))
    };
    let mut programs = vec![program(products, Recipients::All), program(sliced, Recipients::All)];
    if parties > 2 {
        let linear = || circuit(parties, width, |b, inputs| vec![sum(b, inputs)]);
        // Each output is masked by a product; their XOR is not.
        let mixed = circuit(parties, width, |b, inputs| {
            let (sum, product) = (sum(b, inputs), times(b, gates, &inputs[0], &inputs[1]));
            vec![sum.iter().zip(&product).map(|(&x, &y)| b.xor(x, y)).collect(), product]
        });
        let some = |parties: &[u16]| Recipients::Parties(parties.iter().map(|&party| PartyId(party)).collect());
        programs.extend([
            program(linear(), Recipients::All),
            program(mixed, Recipients::All),
            program(linear(), some(&[last as u16])),
            program(linear(), some(&[0, last as u16])),
        ]);
    }
    programs
}

/// All sets of parties that leave one honest, the small ones first.
fn coalitions(parties: u16) -> Vec<Vec<PartyId>> {
    let members = |set: u32| (0..parties).filter(|&party| set >> party & 1 == 1).map(PartyId).collect();
    let mut all: Vec<Vec<PartyId>> = (1..(1 << parties) - 1).map(members).collect();
    all.sort_by_key(Vec::len);
    all
}

/// One run.
struct Run {
    heard: Heard,
    inputs: Vec<Bits>,
    outputs: Vec<Bits>,
}

impl Run {
    fn of(protocol: &dyn Protocol, laws: &Laws, program: &Program, inputs: Vec<Bits>, number: u64) -> Run {
        let setting = Setting::of(laws, number);
        let heard = Heard::among(program.parties(), protocol, program, &inputs, setting, u128::from(number) << 8 | 1);
        Run { heard, outputs: clear(program, &inputs), inputs }
    }

    /// The inputs and outputs that a coalition knows.
    fn known<'r>(&'r self, program: &'r Program, coalition: &'r [PartyId]) -> impl Iterator<Item = &'r Bits> {
        let inputs = (0..).map(PartyId).zip(&self.inputs).filter(|(party, _)| coalition.contains(party));
        let outputs = program.outputs().iter().zip(&self.outputs);
        let outputs = outputs.filter(|(output, _)| coalition.iter().any(|&party| output.to.includes(party)));
        inputs.map(|(_, input)| input).chain(outputs.map(|(_, output)| output))
    }

    /// The inputs that it does not know.
    fn secret<'r>(&'r self, coalition: &'r [PartyId]) -> impl Iterator<Item = &'r Bits> {
        let inputs = (0..).map(PartyId).zip(&self.inputs);
        inputs.filter(|(party, _)| !coalition.contains(party)).map(|(_, input)| input)
    }
}

/// Law 6: a listener.
///
/// # Panics
/// If a coalition hears more about the others' inputs than its outputs show.
pub fn listener(protocol: &dyn Protocol, laws: &Laws) {
    listener_in(protocol, laws, laws.listened);
}

/// As [`listener`], in `runs` runs: for campaigns.
///
/// # Panics
/// As [`listener`].
pub fn listener_in(protocol: &dyn Protocol, laws: &Laws, runs: u64) {
    let card = protocol.card();
    let gates = Gates::of(card);
    let numbers: Vec<u16> = (2..=PARTIES)
        .filter(|parties| card.parties.contains(parties) && (gates != Gates::Xors || *parties > 2))
        .collect();
    for &parties in &numbers {
        // Outputs of a bit each are no words.
        let mut programs = programs(parties, 128, gates);
        programs.retain(|program| program.outputs().iter().all(|output| output.bits == 128));
        words(protocol, laws, runs.div_ceil(numbers.len() as u64), &programs);
    }
    if runs >= MANY {
        let parties = if card.parties.contains(&3) { 3 } else { 2 };
        for program in programs(parties, SMALL, gates) {
            listener_to(protocol, laws, runs / 2, &program);
        }
        for program in programs(parties, 1, gates) {
            distributions(protocol, laws, runs / 8, &program);
        }
    }
}

fn words(protocol: &dyn Protocol, laws: &Laws, runs: u64, programs: &[Program]) {
    for number in 0..runs {
        let parties = programs[0].parties();
        let program = &programs[number as usize % programs.len()];
        let mut rng = rng(u128::from(number) << 32 | u128::from(parties));
        let inputs = (0..parties).map(|_| bits(128, &mut rng)).collect();
        let run = Run::of(protocol, laws, program, inputs, number);
        // If there are few runs, all coalitions look at each.
        let all = coalitions(parties);
        let which = number as usize / programs.len() % all.len();
        let looking = if runs < MANY / PARTIES as u64 { 0..all.len() } else { which..which + 1 };
        for coalition in &all[looking] {
            if let Some((parties, pieces)) = told(&run, program, coalition) {
                panic!(
                    "the coalition {coalition:?} hears the inputs of {parties:?}, XORed, as the XOR of {pieces} pieces"
                );
            }
        }
    }
}

/// The parties of an XOR of honest inputs that the coalition's outputs do not give, if it is the XOR of some
/// pieces of what the coalition heard; and the number of these pieces.
fn told(run: &Run, program: &Program, coalition: &[PartyId]) -> Option<(Vec<PartyId>, usize)> {
    let word = |value: &Bits| value.to_u128().expect("128 bits");
    let known: Vec<u128> = run.known(program, coalition).map(word).collect();
    let messages = run.heard.by(coalition);
    let pieces = Pieces::of(messages.iter().flat_map(|message| windows(message)).chain(known.iter().copied()));
    let honest: Vec<PartyId> = (0..program.parties()).map(PartyId).filter(|party| !coalition.contains(party)).collect();
    (1..1_usize << honest.len()).find_map(|set| {
        let members: Vec<PartyId> =
            honest.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).map(|(_, &party)| party).collect();
        let target = members.iter().map(|party| word(&run.inputs[usize::from(party.0)])).fold(0, |x, y| x ^ y);
        let given = (0..1_usize << known.len()).any(|set| {
            known.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).fold(target, |sum, (_, word)| sum ^ word) == 0
        });
        let found = if given {
            None
        } else if pieces.have(target) {
            Some(1)
        } else if pieces.words.iter().any(|piece| pieces.have(piece ^ target)) {
            Some(2)
        } else {
            pieces.have_sum_of_two_and(target).then_some(3)
        };
        found.map(|pieces| (members, pieces))
    })
}

/// What a coalition has, each once.
struct Pieces {
    words: Vec<u128>,
    /// Their lower halves, which are what is marked.
    lows: Vec<u64>,
    /// A table of bits that next to nothing is in that is not there: hundreds of millions of sums are looked for.
    marks: Vec<u64>,
}

impl Pieces {
    fn of(pieces: impl Iterator<Item = u128>) -> Pieces {
        let mut words: Vec<u128> = pieces.collect();
        words.sort_unstable();
        words.dedup();
        let lows: Vec<u64> = words.iter().map(|word| *word as u64).collect();
        let mut marks = vec![0; MARKS / 64];
        for (at, bit) in lows.iter().map(|low| Pieces::mark(*low)) {
            marks[at] |= bit;
        }
        Pieces { words, lows, marks }
    }

    fn mark(low: u64) -> (usize, u64) {
        (low as usize % MARKS / 64, 1 << (low % 64))
    }

    fn may_have(&self, low: u64) -> bool {
        let (at, bit) = Pieces::mark(low);
        self.marks[at] & bit != 0
    }

    fn have(&self, word: u128) -> bool {
        self.may_have(word as u64) && self.words.binary_search(&word).is_ok()
    }

    /// Whether some two pieces and the target XOR to a piece. Plain loops: little of an iterator is inlined in a
    /// build for tests, and this is most of what listening takes.
    fn have_sum_of_two_and(&self, target: u128) -> bool {
        for (i, piece) in self.words.iter().enumerate() {
            let sum = piece ^ target;
            let low = sum as u64;
            for (j, other) in self.lows[..i].iter().enumerate() {
                if self.may_have(low ^ other) && self.have(sum ^ self.words[j]) {
                    return true;
                }
            }
        }
        false
    }
}

/// Windows of 16 bytes: everywhere in a short message, and at the ends of a long one.
fn windows(message: &[u8]) -> impl Iterator<Item = u128> + '_ {
    const SHORT: usize = 80;
    const ENDS: [usize; 2] = [0, 16];
    let places = (message.len() + 1).saturating_sub(16);
    let (all, ends) = if message.len() <= SHORT { (places, None) } else { (0, Some(places - 1)) };
    let ends = ends.into_iter().flat_map(|last| ENDS.into_iter().chain([last]));
    (0..all).chain(ends).map(|at| u128::from_le_bytes(message[at..at + 16].try_into().expect("16 bytes")))
}

/// The bits that a coalition has, each with its values in all runs: at most `most` that are not in the span,
/// which they are added to; the ends of messages come first.
fn columns(runs: &[&Run], coalition: &[PartyId], most: usize, span: &mut Span) -> Vec<Bits> {
    let views: Vec<Vec<&[u8]>> = runs.iter().map(|run| run.heard.by(coalition)).collect();
    let lengths: Vec<usize> = views[0].iter().map(|message| message.len()).collect();
    let depths = 0..lengths.iter().max().unwrap_or(&0).div_ceil(2);
    let places = depths.flat_map(|depth| {
        let deep = lengths.iter().enumerate().filter(move |(_, len)| depth < len.div_ceil(2));
        deep.flat_map(move |(message, len)| [(message, depth), (message, len - 1 - depth)])
    });
    let mut columns = Vec::new();
    for (message, at) in places {
        let byte = |view: &Vec<&[u8]>| view.get(message).and_then(|message| message.get(at)).copied().unwrap_or(0);
        let bytes: Vec<u8> = views.iter().map(byte).collect();
        for bit in 0..8 {
            if columns.len() == most {
                return columns;
            }
            let column: Bits = bytes.iter().map(|byte| byte >> bit & 1 == 1).collect();
            if span.insert(column.clone()) {
                columns.push(column);
            }
        }
    }
    columns
}

/// Bits of all runs, by their place.
fn by_place<'r>(values: impl Iterator<Item = Vec<&'r Bits>>) -> Vec<Bits> {
    let mut columns: Vec<Bits> = Vec::new();
    for run in values {
        for (i, bit) in run.into_iter().flat_map(Bits::iter).enumerate() {
            if i == columns.len() {
                columns.push(Bits::default());
            }
            columns[i].push(bit);
        }
    }
    columns
}

/// The second look alone, at a program that has one input of each party, in their order: over `runs` runs no
/// coalition has more bits of the others' inputs, as XORs of bits that it has, than its outputs give.
///
/// # Panics
/// As [`listener`].
pub fn listener_to(protocol: &dyn Protocol, laws: &Laws, runs: u64, program: &Program) {
    let parties = program.parties();
    let run = |number| {
        let mut rng = rng(u128::from(number) << 32 | 0x6d);
        let inputs = program.inputs().iter().map(|input| bits(input.bits, &mut rng)).collect();
        Run::of(protocol, laws, program, inputs, number)
    };
    let runs: Vec<Run> = (0..runs.min(COLUMNS as u64 * 2)).map(run).collect();
    for coalition in coalitions(parties) {
        let secret = by_place(runs.iter().map(|run| run.secret(&coalition).collect()));
        let allowed = || {
            let mut span = Span::default();
            span.insert((0..runs.len()).map(|_| true).collect());
            for column in by_place(runs.iter().map(|run| run.known(program, &coalition).collect())) {
                span.insert(column);
            }
            span
        };
        let mut heard = allowed();
        let most = (runs.len() - SPARE - secret.len() - heard.rank()).min(COLUMNS);
        columns(&runs.iter().collect::<Vec<_>>(), &coalition, most, &mut heard);
        let (learnt, allowed) = (learnt(heard, &secret), learnt(allowed(), &secret));
        assert_eq!(learnt, allowed, "bits that the coalition {coalition:?} learns, and those that its outputs tell");
    }
}

fn distributions(protocol: &dyn Protocol, laws: &Laws, each: u64, program: &Program) {
    let parties = program.parties();
    let of = |inputs: u64| -> Vec<Run> {
        let value = |party: u16| [inputs >> party & 1 == 1].into_iter().collect::<Bits>();
        let run = |number| Run::of(protocol, laws, program, (0..parties).map(value).collect(), inputs << 32 | number);
        (0..each).map(run).collect()
    };
    let all: Vec<Vec<Run>> = (0..1 << parties).map(of).collect();
    for coalition in coalitions(parties) {
        let known = |runs: &[Run]| runs[0].known(program, &coalition).cloned().collect::<Vec<Bits>>();
        let pairs = all.iter().enumerate().flat_map(|(i, one)| all[..i].iter().map(move |other| (one, other)));
        for (one, other) in pairs.filter(|(one, other)| known(one) == known(other)) {
            let runs: Vec<&Run> = one.iter().chain(other).collect();
            let columns = columns(&runs, &coalition, PAIRED, &mut Span::default());
            let none = Bits::zeros(runs.len());
            for (i, x) in columns.iter().enumerate() {
                for y in columns[..i].iter().chain([&none]) {
                    let [a, b] = ones(x, y, one.len());
                    assert!(
                        a.abs_diff(b) as f64 <= AWAY * (one.len() as f64 / 2.0).sqrt(),
                        "the coalition {coalition:?} can tell inputs of equal outputs apart: an XOR of its bits is one in {a} and \
                         in {b} of {} runs each",
                        one.len()
                    );
                }
            }
        }
    }
}

/// How often the XOR of two columns is one: before a place, and from it on.
fn ones(x: &Bits, y: &Bits, place: usize) -> [usize; 2] {
    let mut xor = x.clone();
    xor.xor_assign(y);
    let all: usize = xor.words().iter().map(|word| word.count_ones() as usize).sum();
    let (whole, rest) = (place / 64, place % 64);
    let before: usize = xor.words()[..whole].iter().map(|word| word.count_ones() as usize).sum();
    let before = before + (xor.words()[whole] & ((1 << rest) - 1)).count_ones() as usize;
    [before, all - before]
}

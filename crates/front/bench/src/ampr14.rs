//! Figure 5 of Afshar, Mohassel, Pinkas and Riva (Eurocrypt 2014): AES and SHA-256 of 128 bits of each party
//! by one message each way, and what group operations, bytes and files take of it.
//!
//! The answer is written to a file and read from it, as the paper does. Both sides run on as many cores as
//! the process may use: the paper had one (`taskset -c 0` makes it one here too).

use std::fs::{File, remove_file};
use std::hint::black_box;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::num::NonZero;
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use comity_circuit::{Builder, Program, Recipients, Wire, eval_many};
use comity_core::{Bits, Error};
use comity_net::SystemRng;
use comity_nisc::{Copies, Cost, Opened, Query, Secret, open, publish, respond};
use comity_terminal::console::note;
use comity_terminal::failure::{Failure, Outcome};
use curve25519_dalek::ristretto::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;

use crate::picture::Rows;
use crate::suite::{Bench, Suite, backend};
use crate::text::{Table, bytes, ratio, time};
use crate::two::inputs;

/// The group, whose name all its measurements' names begin with.
pub(super) const AMPR14: Bench = Bench {
    name: "ampr14",
    about: "AMPR14, figure 5: AES and SHA-256 by one message each way, t = 40 (80 and coded copies if named), and its bounds",
    ceiling: None,
    run,
};

/// A function of the figure, and the paper's seconds with 40 and with 80 copies: P1's message, P2's response,
/// P1's computation. Those for 80 are from cycles, at the rate that the others show.
struct Function {
    name: &'static str,
    outputs: u64,
    paper: [Option<[f64; 3]>; 2],
    /// The seconds of both together, and of reading and writing.
    total: [f64; 2],
    /// P1's group operations with 40 copies.
    receiver: Option<u64>,
}

const FUNCTIONS: [Function; 2] = [
    Function {
        name: "aes",
        outputs: 128,
        paper: [Some([0.03, 3.55, 2.79]), Some([0.034, 7.14, 5.56])],
        total: [6.39, 0.53],
        receiver: Some(50_000),
    },
    Function {
        name: "sha256",
        outputs: 256,
        paper: [Some([0.03, 7.59, 5.10]), None],
        total: [12.74, 4.89],
        receiver: None,
    },
];

/// The context of an answer: nothing is sealed here.
const CONTEXT: [u8; 32] = [0; 32];

/// Bits of each party's input.
const INPUT: u64 = 128;

impl Function {
    /// Party 0 learns the output.
    fn program(&self) -> Program {
        let mut b = Builder::new();
        let (x, y) = (b.input("x", INPUT as usize), b.input("y", INPUT as usize));
        let (circuit, args) = match self.name {
            "aes" => ("aes128", vec![x, y]),
            _ => {
                // The block of a message of 32 bytes, as a number: it, one bit, and at the end its length, 256 bits.
                let mut block = vec![Wire::ZERO; 256];
                (block[255], block[8]) = (Wire::ONE, Wire::ONE);
                block.extend([y, x].concat());
                ("sha256-iv", vec![block])
            }
        };
        let circuit = comity_library::find(circuit).expect("the library has the circuits of the figure");
        let out: Vec<Wire> = b.call(&circuit, &args).into_iter().flatten().collect();
        b.output("z", &out);
        let program = Program::from_circuit(b.finish()).expect("a valid program");
        program.with_recipients(0, Recipients::only(0)).expect("there is one output")
    }

    /// Group operations of the paper's sender, with two points in each answer to an input OT.
    fn sender(&self, t: u64) -> u64 {
        t * (8 * INPUT + 4 * INPUT + 2 * self.outputs + 8)
    }
}

/// A file for the answer, gone when this is dropped.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = remove_file(&self.0);
    }
}

/// A file that notes the time of its reads and writes.
struct Timed<T> {
    file: T,
    spent: Duration,
}

impl<T> Timed<T> {
    fn time<R>(&mut self, work: impl FnOnce(&mut T) -> R) -> R {
        let start = Instant::now();
        let result = work(&mut self.file);
        self.spent += start.elapsed();
        result
    }
}

impl<T: Write> Write for Timed<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.time(|file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.time(T::flush)
    }
}

impl<T: Read> Read for Timed<T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.time(|file| file.read(bytes))
    }
}

/// Seconds of one multiplication of the group: of its generator, by the table; of another point, without.
#[derive(Clone, Copy)]
struct Rates([f64; 2]);

impl Rates {
    fn measure() -> Rates {
        const TIMES: u32 = 200;
        let scalar = Scalar::from_bytes_mod_order([0x5a; 32]);
        let mut point = RistrettoPoint::mul_base(&scalar);
        let seconds = |work: &mut dyn FnMut()| {
            let start = Instant::now();
            (0..TIMES).for_each(|_| work());
            start.elapsed().as_secs_f64() / f64::from(TIMES)
        };
        let fixed = seconds(&mut || _ = black_box(RistrettoPoint::mul_base(black_box(&scalar))));
        let variable = seconds(&mut || point *= black_box(scalar));
        black_box(point);
        Rates([fixed, variable])
    }

    /// The bounds of products, some of points without a table: all at the rate of the generator, and each at its own.
    fn bounds(self, all: u64, variable: u64) -> [f64; 2] {
        let [fixed, other] = self.0;
        [all as f64 * fixed, (all - variable) as f64 * fixed + variable as f64 * other]
    }
}

/// The times of one query and its answer.
struct Run {
    publish: f64,
    respond: f64,
    open: f64,
    io: f64,
    recover: f64,
    answer: u64,
    /// The bounds of `respond` and `open`, at the rates around them.
    bounds: [[f64; 2]; 2],
}

impl Run {
    fn total(&self) -> f64 {
        self.publish + self.respond + self.open
    }
}

/// The number of copies that are evaluated: all but half of them are checked on average.
fn evaluated(copies: Copies) -> usize {
    copies.evaluated().unwrap_or(copies.total() / 2)
}

fn seconds<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64())
}

/// Runs one query, its answer, and what comes of it.
fn execute(program: &Program, copies: Copies) -> Outcome<Run> {
    let (backend, rng) = (backend(), &mut SystemRng);
    let [x, y] = [0, 1].map(|party| inputs(program, party));
    let cost = Cost::new(program, copies).map_err(Failure::from)?;
    let (made, publish) = seconds(|| publish(backend, program, &x, copies, rng));
    let (query, secret): (Query, Secret) = made.map_err(Failure::from)?;

    let scratch = Scratch(std::env::temp_dir().join(format!("comity-ampr14-{}.answer", std::process::id())));
    let failed = |error| Failure::from(Error::io("the file of the answer", error));
    let mut rates = vec![Rates::measure()];
    let mut out = BufWriter::with_capacity(
        1 << 20,
        Timed { file: File::create(&scratch.0).map_err(failed)?, spent: Duration::ZERO },
    );
    let (done, responded) = seconds(|| respond(backend, &query, &CONTEXT, program, &y, rng, &mut out));
    done.map_err(Failure::from)?;
    let written = out.get_ref().spent;
    rates.push(Rates::measure());
    let file = Timed { file: File::open(&scratch.0).map_err(failed)?, spent: Duration::ZERO };
    let answer = file.file.metadata().map_err(failed)?.len();
    let mut answering = BufReader::with_capacity(1 << 20, file);
    let (opened, took): (Result<Opened, Error>, f64) =
        seconds(|| open(backend, &secret, &CONTEXT, program, &mut answering));
    let opened = opened.map_err(Failure::from)?;
    rates.push(Rates::measure());

    let both = x.into_iter().zip(y).map(|(x, y)| x.or(y).expect("each value is one party's")).collect::<Vec<Bits>>();
    let (plain, clear) = seconds(|| eval_many(program, &[both]));
    if plain.expect("what was answered runs in the clear")[0] != opened.outputs || opened.recovered {
        return Err(Failure::input("the output is not that of the program in the clear"));
    }
    if answer != cost.answer_bytes {
        return Err(Failure::input(format!("the answer has {answer} bytes, and by the formula {}", cost.answer_bytes)));
    }
    let e = evaluated(copies);
    let of =
        |kind: fn(&Program, Copies, usize) -> comity_core::Result<u64>| kind(program, copies, e).map_err(Failure::from);
    let products = [[cost.respond, cost.respond_variable], [of(Cost::open)?, of(Cost::open_variable)?]];
    let bounds = [0, 1].map(|step| {
        let around = [0, 1].map(|i| rates[step + i].bounds(products[step][0], products[step][1]));
        [0, 1].map(|kind| (around[0][kind] + around[1][kind]) / 2.0)
    });
    Ok(Run {
        publish,
        respond: responded,
        open: took,
        io: (written + answering.get_ref().spent).as_secs_f64(),
        recover: decryption() + clear,
        answer,
        bounds,
    })
}

/// The work of recovery beyond opening, but for the computation in the clear: every input commitment is
/// decrypted with `w`, and held against both values. No cheat is needed to time that.
fn decryption() -> f64 {
    let w = Scalar::from_bytes_mod_order([0x3c; 32]);
    let pairs: Vec<[RistrettoPoint; 2]> = (0..INPUT)
        .map(|j| {
            let a = RistrettoPoint::mul_base(&Scalar::from(j + 2));
            [a, a * w]
        })
        .collect();
    let one = RistrettoPoint::mul_base(&Scalar::ONE);
    seconds(|| {
        black_box(RistrettoPoint::mul_base(&w));
        pairs.iter().for_each(|[a, b]| _ = black_box(b - a * w == one));
    })
    .1
}

/// Measures one row, if it is wanted: the run of the median response.
fn measure(suite: &mut Suite, name: &str, function: &Function, copies: Copies, runs: usize) -> Outcome<Option<Run>> {
    if !suite.wants(name) {
        return Ok(None);
    }
    let program = function.program();
    program.lowered();
    let mut all = Vec::with_capacity(runs);
    for run in 1..=runs {
        let done = execute(&program, copies)?;
        note(&format!(
            "{name}, run {run} of {runs}: respond {}, open {}, {}",
            time(Some(done.respond)),
            time(Some(done.open)),
            bytes(done.answer)
        ));
        all.push(done);
    }
    let mut take = |part: &str, unit: &str, of: &dyn Fn(&Run) -> f64| {
        suite.record(&format!("{name}.{part}"), unit, None, all.iter().map(of).collect());
    };
    take("publish", "s", &|run| run.publish);
    take("respond", "s", &|run| run.respond);
    take("open", "s", &|run| run.open);
    take("recover", "s", &|run| run.recover);
    take("total", "s", &Run::total);
    take("io", "s", &|run| run.io);
    for (step, of) in [("respond", (|run: &Run| run.respond) as fn(&Run) -> f64), ("open", |run: &Run| run.open)] {
        let at = usize::from(step == "open");
        take(&format!("{step}.fixed"), "x", &|run| of(run) / run.bounds[at][0]);
        take(&format!("{step}.bound"), "x", &|run| of(run) / run.bounds[at][1]);
    }
    let formula = Cost::new(&program, copies).map_err(Failure::from)?.answer_bytes;
    suite.record(&format!("{name}.answer"), "bytes", Some(formula as f64), vec![all[0].answer as f64]);
    all.sort_by(|a, b| a.respond.total_cmp(&b.respond));
    Ok(all.into_iter().nth(runs / 2))
}

fn run(suite: &mut Suite) -> Outcome {
    let named = suite.named(AMPR14.name);
    let mut figure = Table::new([
        "",
        "t",
        "P1's message",
        "paper",
        "P2's response",
        "paper",
        "ratio",
        "P1's computation",
        "paper",
        "ratio",
        "recovery",
        "total",
        "paper",
        "ratio",
        "I/O",
        "paper",
    ]);
    let mut drawn = Rows::of(["paper", "ours"]);
    let mut sizes = Table::new(["", "copies", "answer", "formula", "of plain"]);
    let mut products = Table::new([
        "",
        "copies",
        "P2 products",
        "paper's",
        "time / bound",
        "all fixed",
        "P1 products",
        "paper's",
        "time / bound",
        "all fixed",
    ]);
    for function in &FUNCTIONS {
        let program = function.program();
        let plain = Cost::new(&program, Copies::all(40).map_err(Failure::from)?).map_err(Failure::from)?.answer_bytes;
        let forms = [(Copies::all(40), false), (Copies::all(80), true), (Copies::coded(44, 19), true)];
        for (copies, long) in forms {
            let copies = copies.map_err(Failure::from)?;
            let (t, coded) = (copies.total(), copies.evaluated());
            let form = coded.map_or(t.to_string(), |e| format!("{t}-{e}"));
            let name = format!("{}.{}.{form}", AMPR14.name, function.name);
            if long && !named {
                continue;
            }
            let runs = if suite.named(&name) {
                5
            } else if long || !named {
                1
            } else {
                3
            };
            let Some(run) = measure(suite, &name, function, copies, runs)? else { continue };
            let of = |part: &str| suite.value(&format!("{name}.{part}"));
            let known = |seconds: Option<f64>| seconds.map_or("-".to_owned(), |seconds| format!("{seconds} s"));
            let share = |io: f64, total: f64| format!("{:.1} %", 100.0 * io / total);
            let paper = if coded.is_some() { None } else { function.paper[usize::from(t == 80)] };
            let step = |at: usize| paper.map(|paper| paper[at]);
            let forty = (coded.is_none() && t == 40).then_some(function.total);
            let total = forty.map(|total| total[0]).or(paper.map(|paper| paper.iter().sum()));
            for (part, paper) in [("publish", step(0)), ("respond", step(1)), ("open", step(2)), ("total", total)] {
                drawn.row(format!("{} {form}, {part}", function.name), [paper, of(part)]);
            }
            figure.row([
                function.name.to_owned(),
                form.clone(),
                time(of("publish")),
                known(step(0)),
                time(of("respond")),
                known(step(1)),
                ratio(step(1), of("respond")),
                time(of("open")),
                known(step(2)),
                ratio(step(2), of("open")),
                time(of("recover")),
                time(of("total")),
                total.map_or("-".to_owned(), |total| format!("{total:.2} s")),
                ratio(total, of("total")),
                share(run.io, run.total()),
                forty.map_or("-".to_owned(), |[total, io]| share(io, total)),
            ]);
            let cost = Cost::new(&program, copies).map_err(Failure::from)?;
            sizes.row([
                function.name.to_owned(),
                form.clone(),
                run.answer.to_string(),
                cost.answer_bytes.to_string(),
                format!("{:.3}", run.answer as f64 / plain as f64),
            ]);
            let times = |part: &str| of(part).map_or("-".to_owned(), |times| format!("{times:.2}x"));
            let opening = Cost::open(&program, copies, evaluated(copies)).map_err(Failure::from)?;
            let receiver = function.receiver.filter(|_| coded.is_none() && t == 40);
            products.row([
                function.name.to_owned(),
                form,
                cost.respond.to_string(),
                if coded.is_some() { "-".to_owned() } else { function.sender(t as u64).to_string() },
                times("respond.bound"),
                times("respond.fixed"),
                opening.to_string(),
                receiver.map_or("-".to_owned(), |count| format!("about {count}")),
                times("open.bound"),
                times("open.fixed"),
            ]);
        }
    }
    drawn.draw(suite, "AMPR14, Figure 5", "seconds");
    let cores = available_parallelism().map_or(1, NonZero::get);
    figure.print(
        suite,
        &format!(
            "AMPR14, Figure 5 (the paper on one core, here on {cores}; its seconds for t = 80 are from cycles). `recovery` is what it does \
             beyond opening: it decrypts the input commitments and computes in the clear"
        ),
    );
    sizes.print(suite, "AMPR14: bytes of an answer, counted and by the formula, and as a part of 40 plain copies");
    products.print(
        suite,
        "AMPR14: group operations, the receiver's for t/2 copies evaluated; time / bound: over these at the rate of one, measured around \
         each step, generator and other points each at its own rate; `all fixed`: all at the rate of the generator, the lowest",
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_are_the_papers() {
        // A value's first digit is its most significant.
        let hex = |digits: &str| -> Bits {
            let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
            let bytes: Vec<u8> = (0..digits.len()).step_by(2).rev().map(byte).collect();
            Bits::from_bytes(&bytes, 8 * bytes.len())
        };
        let [aes, sha] = FUNCTIONS.each_ref().map(Function::program);
        for program in [&aes, &sha] {
            assert!(program.inputs().iter().all(|input| input.bits as u64 == INPUT));
        }
        let zeros = || vec![Bits::zeros(128), Bits::zeros(128)];
        // SHA-256 of 32 zero bytes.
        let digest = hex("66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925");
        assert!(eval_many(&sha, &[zeros()]).unwrap()[0] == [digest]);
        // AES-128 of the zero block under the zero key.
        assert!(eval_many(&aes, &[zeros()]).unwrap()[0] == [hex("66e94bd4ef8a2c3b884cfa59ca342b2e")]);
        assert_eq!([FUNCTIONS[0].sender(40), FUNCTIONS[1].sender(40)], [72_000, 82_240]);
    }

    #[test]
    fn a_row_is_measured() {
        let program = FUNCTIONS[0].program();
        let run = execute(&program, Copies::coded(2, 1).unwrap()).unwrap();
        assert_eq!(run.answer, Cost::new(&program, Copies::coded(2, 1).unwrap()).unwrap().answer_bytes);
        assert!(run.io > 0.0 && run.io < run.total() && run.recover > 0.0);
    }
}

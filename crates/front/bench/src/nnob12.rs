//! Figure 17 of Nielsen, Nordholt, Orlandi and Burra (Crypto 2012), for both dealers: AES of many blocks
//! under a key that both parties share. And what their parts can do alone: triples a second, ANDs a second
//! online, the delay of one block.
//!
//! Two parties over TCP on this machine, one thread each. The paper had a machine of two cores for each party
//! and 120-bit keys, did not count its seed OTs, and wrote what was prepared to disk; here keys have 128
//! bits, base OTs are in the first column, and nothing is written.

use std::time::{Duration, Instant};

use comity_channel::{Channel, Mesh, Result};
use comity_circuit::{Builder, Observer, Program, ProgramBuilder, Recipients};
use comity_core::{Bits, PartyId};
use comity_net::SystemRng;
use comity_protocol::{Dealer, Here, Protocol};
use comity_share::{AuthBits, GlobalKey, Share};
use comity_terminal::chart::{Curves, Panel, Scale};
use comity_terminal::console::note;
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::numbers::scaled;
use comity_tinyot::{Machine, TinyOt, run_with};
use comity_triples::bucket::Budget;
use comity_triples::nnob::Plan;
use comity_triples::{Ands, Checked, DealerKind, TripleDealer, Triples, dealer};

use crate::suite::{Bench, Suite};
use crate::text::{Table, bytes, ratio, time};
use crate::two::{Run, Wire, Work, here, play, repeat, session};

/// The group, whose name all its measurements' names begin with.
pub(super) const NNOB12: Bench = Bench {
    name: "nnob12",
    about: "NNOB12, figure 17: AES of many blocks by tinyot, with both dealers (long rows only if named), and its parts",
    ceiling: Some("machine.loopback"),
    run,
};

/// The statistical security of everything here.
const RHO: u32 = 40;

/// The figure: blocks, gates, security in bits, seconds before and after the inputs are there, seconds a block, gates
/// a second. All as printed: of one block, 44 s are not 38 and 4; and 1.7 s of 256 blocks are not 422 s.
const PAPER: [(u64, u64, u32, u32, u32, f64, f64); 13] = [
    (1, 34_520, 55, 38, 4, 44.0, 822.0),
    (27, 922_056, 55, 38, 5, 1.6, 21_545.0),
    (54, 1_842_728, 58, 79, 6, 1.6, 21_623.0),
    (81, 2_765_400, 60, 126, 10, 1.7, 20_405.0),
    (108, 3_721_208, 61, 170, 12, 1.7, 20_541.0),
    (135, 4_642_880, 62, 210, 15, 1.7, 20_637.0),
    (256, 8_739_200, 65, 406, 16, 1.7, 20_709.0),
    (512, 17_478_016, 68, 907, 26, 1.8, 18_733.0),
    (1_024, 34_955_648, 71, 2_303, 52, 2.3, 14_843.0),
    (2_048, 69_910_912, 74, 5_324, 143, 2.7, 12_788.0),
    (4_096, 139_821_440, 77, 11_238, 194, 2.8, 12_231.0),
    (8_192, 279_642_496, 80, 22_720, 258, 2.8, 12_170.0),
    (16_384, 559_284_608, 83, 46_584, 517, 2.9, 11_874.0),
];

const DEALERS: [(&str, DealerKind); 2] = [("fast", DealerKind::Fast), ("nnob12", DealerKind::Nnob12)];

/// The time that the rows of one dealer may take: if the figure is named, and otherwise.
const LONG: Duration = Duration::from_secs(240);
const SHORT: Duration = Duration::from_secs(4);

fn run(suite: &mut Suite) -> Outcome {
    for (name, kind) in DEALERS {
        figure(suite, name, kind)?;
        triples(suite, name, kind)?;
    }
    online(suite)
}

/// AES of blocks of party 0 under the sum of both parties' keys, for party 1.
fn ecb(blocks: u64) -> Program {
    let mut b = Builder::new();
    let keys = [b.input("key0", 128), b.input("key1", 128)];
    let block = b.input("block", 128);
    let key: Vec<_> = keys[0].iter().zip(&keys[1]).map(|(&x, &y)| b.xor(x, y)).collect();
    let aes = comity_library::find("aes128").expect("the library has AES");
    let out: Vec<_> = b.call(&aes, &[key, block]).into_iter().flatten().collect();
    b.output("out", &out);
    let mut program = ProgramBuilder::new(format!("ecb of {blocks} blocks"));
    let aes = program.circuit(b.finish());
    let (one, two) = (program.input("key0", 0, 128), program.input("key1", 1, 128));
    let message = program.input("message", 0, 128 * blocks);
    let out = program.register(128 * blocks);
    let first = |register: comity_circuit::Register| register.slice(0, 128).span();
    let args = [(first(one), 0), (first(two), 0), (first(message), 128)];
    program.map(aes, blocks, &args, &[(first(out), 128)]);
    program.reveal("ciphertext", Recipients::only(1), out);
    program.finish().expect("a valid program")
}

/// A dealer that notes the time for which it deals.
struct Timed<'a> {
    inner: Box<dyn TripleDealer>,
    spent: &'a mut Duration,
}

impl Timed<'_> {
    fn time<T>(&mut self, work: impl FnOnce(&mut dyn TripleDealer) -> T) -> T {
        let start = Instant::now();
        let done = work(&mut *self.inner);
        *self.spent += start.elapsed();
        done
    }
}

impl AuthBits for Timed<'_> {
    fn party(&self) -> PartyId {
        self.inner.party()
    }

    fn key(&self) -> &GlobalKey {
        self.inner.key()
    }

    fn shares(&mut self, ch: &mut dyn Channel, out: &mut [Share]) -> Result<()> {
        self.time(|dealer| dealer.shares(ch, out))
    }

    fn bits(&mut self, ch: &mut dyn Channel, owner: PartyId, out: &mut [Share]) -> Result<()> {
        self.time(|dealer| dealer.bits(ch, owner, out))
    }
}

impl Dealer for Timed<'_> {
    type Batch = Triples<Checked>;

    fn deal(&mut self, net: &mut Mesh<'_>, n: usize) -> Result<Triples<Checked>> {
        self.time(|dealer| dealer.deal(net, n))
    }
}

/// An observer of nothing.
struct Nobody;

impl Observer for Nobody {
    fn output(&mut self, _: usize, _: Bits) {}
}

/// The times of one run: all of it, and how much of it was before the inputs matter.
fn execute(program: &Program, kind: DealerKind) -> Outcome<(Run, f64)> {
    program.lowered();
    let work = Work::new(program, TinyOt.card(), RHO)?;
    let party = |ch: &mut Wire, party: u16| {
        let (here, inputs) = (work.here(party), work.inputs(party));
        let mut spent = Duration::ZERO;
        let start = Instant::now();
        let ands = Ands::Exactly(program.and_gates());
        let inner = dealer(ch, here.child("dealer"), kind, ands, &mut SystemRng)?;
        let setup = start.elapsed();
        let timed = Box::new(Timed { inner, spent: &mut spent });
        run_with(ch, here, timed, &work.job(&inputs), &mut Nobody)?;
        Ok((setup + spent).as_secs_f64())
    };
    let (run, one, two) = play(None, |ch| party(ch, 0), |ch| party(ch, 1))?;
    Ok((run, one.max(two)))
}

/// The rows of one dealer, as many as there is time for; the rest by the slope of the last one.
fn figure(suite: &mut Suite, name: &str, kind: DealerKind) -> Outcome {
    let group = format!("nnob12.figure17.{name}");
    if !suite.wants(&group) && !suite.named(&group) {
        return Ok(());
    }
    let limit = if suite.named("nnob12") { LONG } else { SHORT };
    let start = Instant::now();
    let mut table = Table::new([
        "blocks", "ANDs", "gates", "B", "σ", "paper", "Tpre", "paper", "Tonl", "paper", "a block", "paper", "gates/s",
        "paper", "ANDs/s", "bytes",
    ]);
    let mut last: Option<(u64, f64, f64, u64)> = None;
    // Before and after the inputs are there: the paper's and ours.
    let mut curves = ["paper, Tpre", "paper, Tonl", "Tpre", "Tonl"].map(|name| (name.to_owned(), Vec::new()));
    for (blocks, gates, paper_bits, paper_before, paper_after, paper_block, paper_rate) in PAPER {
        let expected = last.map_or(0.0, |(n, before, after, _)| (before + after) / n as f64 * blocks as f64);
        let slope = start.elapsed().as_secs_f64() + expected > limit.as_secs_f64();
        let (before, after, sent) = match last {
            Some((n, before, after, sent)) if slope => {
                let more = blocks as f64 / n as f64;
                (before * more, after * more, (sent as f64 * more) as u64)
            }
            _ => {
                note(&match last {
                    Some(_) => format!("{group}: {blocks} blocks, about {}", time(Some(expected))),
                    None => format!("{group}: {blocks} blocks"),
                });
                let program = ecb(blocks);
                let runs =
                    if blocks == 1 { repeat(|| execute(&program, kind))? } else { vec![execute(&program, kind)?] };
                let parts = |part: &dyn Fn(&(Run, f64)) -> f64| runs.iter().map(part).collect::<Vec<_>>();
                let row = format!("{group}.{blocks}");
                suite.record(&format!("{row}.pre"), "s", None, parts(&|run| run.1));
                suite.record(&format!("{row}.online"), "s", None, parts(&|run| run.0.seconds - run.1));
                let of = |part: &str| suite.value(&format!("{row}.{part}")).unwrap_or_default();
                let row = (of("pre"), of("online"), runs[0].0.total());
                last = Some((blocks, row.0, row.1, row.2));
                row
            }
        };
        let ands = ecb(1).and_gates() * blocks;
        let total = before + after;
        let (size, bits) = security(kind, ands)?;
        let by_slope = last.is_some_and(|row| row.0 != blocks);
        let ours = [before, after].map(|seconds| (!by_slope).then_some(seconds));
        let papers = [paper_before, paper_after].map(|seconds| Some(f64::from(seconds)));
        for (curve, seconds) in curves.iter_mut().zip(papers.into_iter().chain(ours)) {
            curve.1.extend(seconds.map(|seconds| (blocks as f64, seconds)));
        }
        table.row([
            format!("{blocks}{}", if by_slope { " (by slope)" } else { "" }),
            ands.to_string(),
            gates.to_string(),
            size.to_string(),
            format!("{bits:.1}"),
            paper_bits.to_string(),
            time(Some(before)),
            format!("{paper_before} s"),
            time(Some(after)),
            format!("{paper_after} s"),
            time(Some(total / blocks as f64)),
            format!("{paper_block} s"),
            scaled(gates as f64 / total),
            scaled(paper_rate),
            scaled(ands as f64 / total),
            bytes(sent),
        ]);
        if !by_slope {
            let (before, after, rate) = (time(Some(before)), time(Some(after)), scaled(ands as f64 / total));
            note(&format!("{group}: {blocks} blocks took {before} and {after} online, {rate} ANDs/s"));
        }
    }
    suite.draw(Panel::Curves(Curves {
        title: format!("NNOB12, Figure 17, dealer {name}"),
        x: "blocks of AES".into(),
        y: "seconds".into(),
        scales: [Scale::Decades; 2],
        series: curves.into(),
    }));
    let heading = format!(
        "NNOB12, Figure 17, dealer {name}, rho = {RHO}. σ are the bits of security of all buckets of the session: ours by the bound for \
         buckets of B, the paper's (B = 4) as printed. `gates` are the paper's for so many blocks, XORs included; gates/s are \
         those by our time"
    );
    table.print(suite, &heading);
    Ok(())
}

/// The size of a bucket where `ands` ANDs are dealt, and the bits of security of all of them together.
fn security(kind: DealerKind, ands: u64) -> Outcome<(usize, f64)> {
    let budget = match kind {
        DealerKind::Fast => Budget::known(ands, RHO, 1, comity_triples::fast::OBJECTS),
        DealerKind::Nnob12 => Plan::known(ands, RHO).map(|plan| plan.budget().clone()),
    };
    let known = budget.map_err(Failure::from)?.known_batch();
    Ok(known.map_or((0, 0.0), |(batch, bits)| (batch.size, bits)))
}

/// Triples a second, and bytes for one. Their ceiling is what the authenticated bits in them would let through alone.
fn triples(suite: &mut Suite, name: &str, kind: DealerKind) -> Outcome {
    let (row, shares) = (format!("nnob12.triples.{name}"), format!("nnob12.shares.{name}"));
    if !suite.wants(&row) && !suite.wants(&shares) {
        return Ok(());
    }
    let count = match kind {
        DealerKind::Fast => 1 << 20,
        DealerKind::Nnob12 => 1 << 17,
    };
    note(&format!("{row}: {count} triples, three times"));
    let (mut rates, mut runs) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let session = session();
        let party = |ch: &mut Wire, party: u16| deal(ch, here(party, session, RHO), kind, count);
        let (_, one, two) = play(None, |ch| party(ch, 0), |ch| party(ch, 1))?;
        let bytes = one.bytes + two.bytes;
        rates.push(count as f64 / one.shares.max(two.shares));
        runs.push((count as f64 / one.triples.max(two.triples), bytes as f64 / count as f64));
    }
    suite.record(&shares, "shares/s", None, rates);
    let formula = match kind {
        DealerKind::Fast => {
            let size = Budget::known(count as u64, RHO, 1, comity_triples::fast::OBJECTS)
                .and_then(|mut b| b.next(1))
                .map_err(Failure::from)?
                .size;
            let bits = suite.value(&shares).map(|rate| rate / (3 * size) as f64);
            suite.record(&row, "and/s", bits, runs.iter().map(|run| run.0).collect());
            // Buckets of leaky ANDs: 31 bits for each of six OTs, G and a bit each way; a bit each way to combine two.
            Some(size as f64 * (6.0 * 31.0 / 8.0 + 32.25) + (size - 1) as f64 * 0.25)
        }
        DealerKind::Nnob12 => {
            suite.record(&row, "and/s", None, runs.iter().map(|run| run.0).collect());
            None
        }
    };
    // Here the ceiling is the formula.
    suite.record(&format!("{row}.bytes"), "bytes", formula, runs.iter().map(|run| run.1).collect());
    Ok(())
}

/// The cost of dealing to one party.
struct Dealt {
    /// Seconds for the shared bits.
    shares: f64,
    /// Seconds for the triples.
    triples: f64,
    /// Bytes that the party sent for the triples.
    bytes: u64,
}

/// Deals shared bits, and as many triples, which are dropped.
fn deal(ch: &mut Wire, here: Here, kind: DealerKind, count: usize) -> Result<Dealt> {
    let ands = Ands::Exactly(count as u64);
    let mut dealer = dealer(ch, here, kind, ands, &mut SystemRng)?;
    let mut out = vec![Share::default(); 1 << 16];
    let start = Instant::now();
    for _ in 0..count / out.len() {
        dealer.shares(ch, &mut out)?;
    }
    let shares = start.elapsed().as_secs_f64();
    let (start, before) = (Instant::now(), ch.counts().sent);
    let mut dealt = 0;
    while dealt < count {
        dealt += dealer.triples(ch, (count - dealt).min(1 << 16))?.len();
    }
    ch.flush()?;
    Ok(Dealt { shares, triples: start.elapsed().as_secs_f64(), bytes: ch.counts().sent - before })
}

/// A dealer whose triples are dealt before anybody looks at the clock.
pub(crate) struct Ahead {
    inner: Box<dyn TripleDealer>,
    ready: Vec<Triples<Checked>>,
}

impl AuthBits for Ahead {
    fn party(&self) -> PartyId {
        self.inner.party()
    }

    fn key(&self) -> &GlobalKey {
        self.inner.key()
    }

    fn shares(&mut self, ch: &mut dyn Channel, out: &mut [Share]) -> Result<()> {
        self.inner.shares(ch, out)
    }

    fn bits(&mut self, ch: &mut dyn Channel, owner: PartyId, out: &mut [Share]) -> Result<()> {
        self.inner.bits(ch, owner, out)
    }
}

impl Dealer for Ahead {
    type Batch = Triples<Checked>;

    fn deal(&mut self, net: &mut Mesh<'_>, n: usize) -> Result<Triples<Checked>> {
        self.ready.pop().map_or_else(|| self.inner.deal(net, n), Ok)
    }
}

impl Ahead {
    pub(crate) fn new(ch: &mut Wire, here: Here, count: usize) -> Result<Ahead> {
        let ands = Ands::Exactly(count as u64);
        let mut inner = dealer(ch, here, DealerKind::Fast, ands, &mut SystemRng)?;
        let (mut ready, mut dealt) = (Vec::new(), 0);
        while dealt < count {
            let more = inner.triples(ch, (count - dealt).min(1 << 16))?;
            dealt += more.len();
            ready.push(more);
        }
        Ok(Ahead { inner, ready })
    }
}

/// ANDs a second when triples are there: all independent, and in many blocks of AES; and the delay of one block.
fn online(suite: &mut Suite) -> Outcome {
    const WIDE: usize = 1 << 20;
    let wide = "nnob12.online.wide";
    if suite.wants(wide) {
        note(&format!("{wide}: {WIDE} ANDs, five times"));
        let mut rates = Vec::new();
        for _ in 0..5 {
            let session = session();
            let party = |ch: &mut Wire, party: u16| {
                let here = here(party, session, RHO);
                let ahead = Ahead::new(ch, here.child("dealer"), WIDE)?;
                let mut machine = Machine::new(here.child("machine"), Box::new(ahead));
                let mut x = vec![Share::default(); WIDE];
                machine.random(ch, &mut x)?;
                let y: Vec<Share> = x.iter().rev().copied().collect();
                let mut z = vec![Share::default(); WIDE];
                let start = Instant::now();
                machine.and(ch, &x, &y, &mut z)?;
                machine.check(ch)?;
                Ok(start.elapsed().as_secs_f64())
            };
            let (_, one, two) = play(None, |ch| party(ch, 0), |ch| party(ch, 1))?;
            rates.push(WIDE as f64 / one.max(two));
        }
        suite.record(wide, "and/s", None, rates);
    }
    let mut table = Table::new(["", "online", "ANDs/s", "of the paper's 1.08 M gates/s"]);
    for blocks in [1, 100] {
        let name = format!("nnob12.online.aes.{blocks}");
        if !suite.wants(&name) {
            continue;
        }
        note(&format!("{name}: {blocks} blocks"));
        let program = ecb(blocks);
        let gates = 34_520.0 * blocks as f64;
        let runs = repeat(|| {
            let work = Work::new(&program, TinyOt.card(), RHO)?;
            let party = |ch: &mut Wire, party: u16| {
                let (here, inputs) = (work.here(party), work.inputs(party));
                let ahead = Ahead::new(ch, here.child("dealer"), program.and_gates() as usize)?;
                let mut begun = Begun { at: None };
                run_with(ch, here, Box::new(ahead), &work.job(&inputs), &mut begun)?;
                Ok(begun.at.map_or(0.0, |start| start.elapsed().as_secs_f64()))
            };
            let (_, one, two) = play(None, |ch| party(ch, 0), |ch| party(ch, 1))?;
            Outcome::Ok(one.max(two))
        })?;
        suite.record(&name, "s", None, runs);
        let seconds = suite.value(&name);
        let rate = |count: f64| seconds.map_or("-".to_owned(), |seconds| scaled(count / seconds));
        let paper = ratio(Some(gates / 1_083_885.0), seconds);
        table.row([format!("AES, {blocks} blocks"), time(seconds), rate(program.and_gates() as f64), paper]);
    }
    table.print(suite, "tinyot online, from the inputs to the last output: masks and triples are there");
    Ok(())
}

/// An observer that notes when the inputs begin.
struct Begun {
    at: Option<Instant>,
}

impl Observer for Begun {
    fn output(&mut self, _: usize, _: Bits) {}

    fn phase(&mut self, name: &'static str) {
        if name == "inputs" {
            self.at.get_or_insert_with(Instant::now);
        }
    }
}

#[cfg(test)]
mod tests {
    use comity_circuit::eval_many;

    use super::*;

    #[test]
    fn the_program_is_aes_under_the_sum_of_both_keys() {
        let hex = |text: &str| Bits::from_bytes(&u128::from_str_radix(text, 16).unwrap().to_le_bytes(), 128);
        let key = hex("000102030405060708090a0b0c0d0e0f");
        let (block, ciphertext) = (hex("00112233445566778899aabbccddeeff"), hex("69c4e0d86a7b0430d8cdb78070b4c55a"));
        let mut two = block.clone();
        two.extend_from(&block);
        let zero = Bits::zeros(128);
        let out = eval_many(&ecb(2), &[vec![zero, key, two]]).unwrap().remove(0);
        assert_eq!([out[0].slice(0, 128), out[0].slice(128, 128)], [ciphertext.clone(), ciphertext]);
    }

    #[test]
    fn buckets_keep_within_rho() {
        for ((_, kind), (blocks, ..)) in DEALERS.into_iter().flat_map(|dealer| PAPER.map(|row| (dealer, row))) {
            let (size, bits) = security(kind, 6400 * blocks).unwrap();
            // What is for other things than buckets is no more than half.
            assert!((2..=6).contains(&size) && bits >= f64::from(RHO) && bits < 2.0 * f64::from(RHO), "{size}: {bits}");
        }
    }

    #[test]
    fn both_dealers_are_measured() {
        for (_, kind) in DEALERS {
            let (run, before) = execute(&ecb(1), kind).unwrap();
            assert!(before > 0.0 && before < run.seconds && run.total() > 100_000);
        }
    }
}

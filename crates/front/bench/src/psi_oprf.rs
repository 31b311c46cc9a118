//! D13.3's section 5.2.1 in numbers: a base that is published once, and a client with a thousand items.

use std::time::Instant;

use comity_channel::Mesh;
use comity_core::Block;
use comity_net::SystemRng;
use comity_protocol::Party;
use comity_psi::base::{BaseFile, BaseTerms, Published};
use comity_psi::oprf::{OPRF_ANDS, OPRF_ONLINE, OPRF_TABLES, OprfAnswers, OprfQuestions, answer, query};
use comity_psi::{Item, Set};
use comity_terminal::failure::Outcome;

use crate::count::Count;
use crate::suite::{Bench, Suite, backend};
use crate::text::{Table, bytes, time};
use crate::two::{Phases, Run, Wire, here, median, play, repeat, session};

/// The counts of the section and of runs.
pub(super) const OPRF: Bench = Bench {
    name: "d133.psi.oprf",
    about: "D13.3, section 5.2.1: queries to a published base by an oblivious AES, in phases, beside the section's formulas",
    ceiling: None,
    run: oprf,
};

/// The client's items.
const QUERIES: usize = 1000;

/// The server's items, as logarithms.
const BASES: [u32; 2] = [20, 24];

/// AND gates of an AES with S-boxes of 34, as the section counts; and the bytes that it sends for a query
/// when the input is known: two masked labels for each bit.
const SECTION_ANDS: usize = 5440;
const SECTION_ONLINE: usize = 2 * 128 * 16;

fn items(from: usize, n: usize) -> Vec<Item> {
    (from..from + n).map(|key| Item::of(&key.to_le_bytes())).collect()
}

/// A base of `2^log` items: what is kept, the file, and the seconds that it took.
fn publish(log: u32) -> Outcome<(Published, Vec<u8>, f64)> {
    let items = items(0, 1 << log);
    let terms = BaseTerms {
        id: [0; 32],
        most: 1 << log,
        queries: 1 << 14,
        rho: 40,
        payload: 0,
        header: Vec::new(),
        encoding: String::new(),
    };
    let mut file = Vec::new();
    let mut out = |bytes: &[u8]| {
        file.extend_from_slice(bytes);
        Ok(())
    };
    let start = Instant::now();
    let set = Set { items: &items, ..Set::default() };
    let kept = Published::new(terms, &set, (backend(), &mut SystemRng), &mut out)?;
    Ok((kept, file, start.elapsed().as_secs_f64()))
}

/// The offline phase, and both halves.
fn prepare(kept: &Published, suite: &Suite) -> Outcome<(Run, Vec<OprfAnswers>, Vec<OprfQuestions>)> {
    let session = session();
    let side = |party: u16, ch: &mut Wire| {
        let (mut net, mut phases) = (Mesh::of_two(here(party, session, 40).me, ch), Phases::new());
        let mut me =
            Party { net: &mut net, here: here(party, session, 40), rng: &mut SystemRng, observer: &mut phases };
        let (mut answers, mut questions) = (Vec::new(), Vec::new());
        match party {
            0 => kept.oprf.prepare(&mut me, QUERIES, |half| {
                answers.push(half);
                Ok(())
            })?,
            _ => OprfQuestions::prepare(&mut me, QUERIES, |half| {
                questions.push(half);
                Ok(())
            })?,
        }
        Ok((answers, questions))
    };
    let (run, (answers, _), (_, questions)) = play(suite.network(), |ch| side(0, ch), |ch| side(1, ch))?;
    Ok((run, answers, questions))
}

fn oprf(suite: &mut Suite) -> Outcome {
    let mut table = Table::new(["base", "phase", "time", "server sends", "client sends", "the section's"]);
    for log in BASES {
        let title = format!("d133.psi.oprf.2e{log}");
        if !suite.wants(&title) {
            continue;
        }
        let (kept, file, published) = publish(log)?;
        let base_bytes = file.len() as u64;
        let start = Instant::now();
        let base = BaseFile::read(file)?;
        let read = start.elapsed().as_secs_f64();
        // Half of them are in the base.
        let asked = items((1 << log) - QUERIES / 2, QUERIES);
        let inputs = base.terms.inputs(&mut SystemRng, &asked);
        let (mut offline, mut online, mut lookups) = (Vec::new(), Vec::new(), Vec::new());
        let runs = repeat(|| {
            let (made, answers, questions) = prepare(&kept, suite)?;
            offline.push(made);
            let ask = |ch: &mut Wire| {
                query(ch, backend(), questions.into_iter().map(Ok), &inputs).map(|values| values.to_vec())
            };
            let (run, (), values): (Run, (), Vec<Block>) =
                play(suite.network(), |ch| answer(ch, answers.into_iter().map(Ok), QUERIES), ask)?;
            let start = Instant::now();
            assert_eq!(base.find(backend(), &values).matched.len(), QUERIES / 2, "the intersection");
            lookups.push(start.elapsed().as_secs_f64());
            Ok(run)
        })?;
        online.extend(runs);
        suite.record(&format!("{title}.publish"), "s", None, vec![published]);
        suite.record(&format!("{title}.read"), "s", None, vec![read]);
        suite.record(&format!("{title}.offline"), "s", None, offline.iter().map(|run| run.seconds).collect());
        suite.record(&format!("{title}.online"), "s", None, online.iter().map(|run| run.seconds).collect());
        suite.record(&format!("{title}.lookup"), "s", None, lookups.clone());
        let row = |table: &mut Table, phase: &str, seconds: f64, [server, client]: [String; 2], section: String| {
            table.row([Count(1 << log).to_string(), phase.to_owned(), time(Some(seconds)), server, client, section]);
        };
        let none = || "-".to_owned();
        row(&mut table, "publish, once", published, [bytes(base_bytes), none()], none());
        row(&mut table, "read the base", read, [none(), none()], none());
        if let Some(run) = median(offline) {
            suite.record(&format!("{title}.offline.bytes"), "bytes", None, vec![run.total() as f64]);
            let section = format!("{} for {SECTION_ANDS} ANDs a query", bytes((QUERIES * SECTION_ANDS * 32) as u64));
            row(&mut table, "offline", run.seconds, run.bytes.map(bytes), section);
        }
        if let Some(run) = median(online) {
            suite.record(&format!("{title}.online.bytes"), "bytes", None, vec![run.total() as f64]);
            assert_eq!(run.bytes, [(QUERIES * OPRF_ONLINE[1]) as u64, (QUERIES * OPRF_ONLINE[0]) as u64]);
            row(&mut table, "online", run.seconds, run.bytes.map(bytes), bytes((QUERIES * SECTION_ONLINE) as u64));
        }
        lookups.sort_by(f64::total_cmp);
        row(&mut table, "look-up", lookups[lookups.len() / 2], [none(), none()], none());
    }
    table.print(
        suite,
        &format!(
            "D13.3, section 5.2.1: {QUERIES} queries; {OPRF_ANDS} ANDs and {} a query offline here",
            bytes(OPRF_TABLES as u64)
        ),
    );
    Ok(())
}

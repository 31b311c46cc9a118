//! Private set intersection: each method, and D13.3's section 5.2.2 in numbers.
//!
//! Two parties over TCP on this machine, one thread each, from the terms to the result; half of the smaller
//! set is common. As a yardstick, which chapter 5 of the deliverable takes, too: the exchange of hashes,
//! **which is no protocol** (whoever gets the hashes tries all keys).

use comity_channel::{Channel, Mesh, NetProfile, Result};
use comity_net::SystemRng;
use comity_protocol::{Adversary, Party};
use comity_psi::{Item, Method, Set, Terms, receive, send};
use comity_terminal::failure::Outcome;

use crate::count::Count;
use crate::picture::Rows;
use crate::suite::{Bench, Suite};
use crate::text::{Table, bytes, time};
use crate::two::{Phases, Run, Wire, here, median, play, repeat, session};

/// The methods.
pub(super) const METHODS: Bench = Bench {
    name: "psi",
    about: "private set intersection over TCP on this machine, one thread a party, beside the insecure exchange of hashes",
    ceiling: None,
    run: methods,
};

/// The section's counts.
pub(super) const SECTION: Bench = Bench {
    name: "d133.psi",
    about: "D13.3, section 5.2.2: what Protocol 6 sends and computes, beside the section's formulas",
    ceiling: None,
    run: section,
};

/// The statistical security of everything here.
const RHO: u32 = 40;

/// Sizes of the sender's and of the receiver's set, as logarithms.
const SIZES: [(u32, u32); 6] = [(8, 8), (12, 12), (16, 16), (20, 20), (20, 8), (20, 14)];

/// The largest sets of methods that only small ones suit.
fn largest(method: Method) -> u32 {
    match method {
        Method::Circuit => 12,
        // The receiver's items; 160 KiB each.
        Method::OprfAes => 10,
        Method::Phasing => 16,
        _ => 20,
    }
}

/// Whether a method is measured with sets of these sizes.
fn suits(method: Method, (sender, receiver): (u32, u32)) -> bool {
    receiver <= largest(method) && (method == Method::OprfAes || sender <= largest(method))
}

/// The number of functions of Protocol 6, and the size of its stash where placement is given up early (ePrint
/// 2016/930, for 3 functions and 1.2 n bins).
const FUNCTIONS: u64 = 3;
const STASHES: [(u32, u64); 5] = [(8, 12), (12, 6), (16, 4), (20, 3), (24, 2)];

/// Two sets of which the smaller one is half common.
fn sets(sender: usize, receiver: usize) -> [Vec<Item>; 2] {
    let items = |from: usize, n: usize| (from..from + n).map(|key| Item::of(&key.to_le_bytes())).collect();
    [items(0, sender), items(sender - sender.min(receiver) / 2, receiver)]
}

/// A run of a method.
fn run(terms: &Terms, [ours, theirs]: &[Vec<Item>; 2], net: Option<NetProfile>) -> Outcome<Run> {
    let session = session();
    let side = |party: u16, ch: &mut Wire| {
        let (mut net, mut phases) = (Mesh::of_two(here(party, session, RHO).me, ch), Phases::new());
        let here = here(party, session, RHO);
        let mut me = Party { net: &mut net, here, rng: &mut SystemRng, observer: &mut phases };
        let found = match party {
            0 => send(&mut me, terms, &Set { items: ours, ..Set::default() }).map(|_| 0)?,
            _ => receive(&mut me, terms, &Set { items: theirs, ..Set::default() })?.matched.len(),
        };
        Ok((found, phases.finish()))
    };
    let (mut run, (_, first), (found, second)) = play(net, |ch| side(0, ch), |ch| side(1, ch))?;
    assert_eq!(found, ours.len().min(theirs.len()) / 2, "the intersection");
    run.phases = [first, second];
    Ok(run)
}

/// The exchange of hashes: the sender's, cut to what tells all items apart, and the receiver looks its own up.
fn insecure([ours, theirs]: &[Vec<Item>; 2], net: Option<NetProfile>) -> Outcome<Run> {
    let bits = RHO + (ours.len() * theirs.len()).next_power_of_two().trailing_zeros();
    let width = bits.div_ceil(8) as usize;
    let sorted = |items: &[Item]| {
        let mut hashes: Vec<[u8; 32]> = items.iter().map(|item| blake3::hash(&item.0).into()).collect();
        hashes.sort_unstable();
        hashes
    };
    let first = |ch: &mut Wire| -> Result<()> {
        let hashes: Vec<u8> = sorted(ours).iter().flat_map(|hash| &hash[..width]).copied().collect();
        ch.send(&hashes)
    };
    let second = |ch: &mut Wire| -> Result<usize> {
        let own = sorted(theirs);
        let mut hashes = vec![0; ours.len() * width];
        ch.recv(&mut hashes)?;
        let mut others = hashes.chunks_exact(width).peekable();
        let found = own.iter().filter(|hash| {
            while others.next_if(|other| **other < hash[..width]).is_some() {}
            others.peek().is_some_and(|other| **other == hash[..width])
        });
        Ok(found.count())
    };
    let (run, (), found) = play(net, first, second)?;
    assert_eq!(found, ours.len().min(theirs.len()) / 2, "the intersection");
    Ok(run)
}

/// The terms under which each method is measured, with a name.
fn subjects() -> Outcome<Vec<(String, Terms)>> {
    let mut subjects = Vec::new();
    for method in Method::ALL {
        for &adversary in method.card().adversaries {
            let over = match (method.card().over, adversary) {
                (false, _) => None,
                (true, Adversary::SemiHonest) => Some(comity::named("yao")?),
                (true, Adversary::Malicious) => continue,
            };
            let name = match adversary {
                Adversary::SemiHonest => method.name().to_owned(),
                Adversary::Malicious => format!("{}.malicious", method.name()),
            };
            subjects.push((name, Terms { over, ..Terms::new(method, adversary) }));
        }
    }
    Ok(subjects)
}

fn methods(suite: &mut Suite) -> Outcome {
    let mut table = Table::new(["method", "sets", "time", "sender", "receiver", "rounds", "its phases"]);
    let mut take = |suite: &mut Suite, name: &str, sizes: (u32, u32), runs: Vec<Run>| {
        let (title, sets) = (title(name, sizes), format!("{} and {}", power(sizes.0), power(sizes.1)));
        suite.record(&title, "s", None, runs.iter().map(|run| run.seconds).collect());
        let Some(run) = median(runs) else { return };
        suite.record(&format!("{title}.bytes"), "bytes", None, vec![run.total() as f64]);
        suite.record(&format!("{title}.rounds"), "rounds", None, vec![run.rounds as f64]);
        let phases: Vec<_> = run.phases[1].iter().map(|(name, s)| format!("{name} {:.0} ms", 1e3 * s)).collect();
        let [sender, receiver] = run.bytes.map(bytes);
        let rounds = run.rounds.to_string();
        table.row([name.to_owned(), sets, time(Some(run.seconds)), sender, receiver, rounds, phases.join(", ")]);
    };
    let net = suite.network();
    for sizes in SIZES {
        let of = sets(1 << sizes.0, 1 << sizes.1);
        for (name, terms) in subjects()? {
            if suits(terms.method, sizes) && suite.wants(&title(&name, sizes)) {
                take(suite, &name, sizes, repeat(|| run(&terms, &of, net))?);
            }
        }
        if suite.wants(&title("insecure", sizes)) {
            take(suite, "insecure", sizes, repeat(|| insecure(&of, net))?);
        }
    }
    let heading = "private set intersection (`insecure` is the exchange of hashes, a yardstick and no protocol)";
    table.print(suite, heading);
    Ok(())
}

/// The name of a measurement.
fn title(name: &str, (sender, receiver): (u32, u32)) -> String {
    match sender == receiver {
        true => format!("psi.{name}.2e{sender}"),
        false => format!("psi.{name}.2e{sender}x2e{receiver}"),
    }
}

/// A power of two as it is read.
fn power(log: u32) -> String {
    Count(1 << log).to_string()
}

fn section(suite: &mut Suite) -> Outcome {
    let terms = Terms::new(Method::OtBch, Adversary::SemiHonest);
    let mut drawn = Rows::of(["512 (s + b)", "receiver", "k l n1", "sender"]);
    let mut table = Table::new([
        "n1 = n2",
        "OTs",
        "(s + b)",
        "with stash",
        "evaluations",
        "(k + s) n1",
        "mask bits",
        "receiver sends",
        "512 (s + b)",
        "sender sends",
        "k l n1",
    ]);
    for (log, stash) in STASHES {
        let n = 1u64 << log;
        let title = format!("d133.psi.2e{log}");
        let Some(cost) =
            terms.method.cost(terms.adversary, (n as usize, n as usize), 0, RHO).filter(|_| suite.wants(&title))
        else {
            continue;
        };
        // The section's formulas, with b = 1.2 n2; l = 40 + log2(k n1) + log2(n2).
        let (b, l) = (n * 6 / 5, f64::from(RHO) + ((FUNCTIONS * n) as f64).log2() + f64::from(log));
        let mut sent = ["-".to_owned(), "-".to_owned()];
        if log <= 20 {
            let run = run(&terms, &sets(n as usize, n as usize), suite.network())?;
            suite.record(&title, "s", None, vec![run.seconds]);
            for (party, bytes) in ["sender", "receiver"].into_iter().zip(run.bytes) {
                suite.record(&format!("{title}.{party}"), "bytes", None, vec![bytes as f64]);
            }
            let [ours, theirs] = run.bytes.map(|bytes| Some(bytes as f64));
            let formulas = [64.0 * b as f64, FUNCTIONS as f64 * l * n as f64 / 8.0].map(Some);
            drawn.row(power(log), [formulas[0], theirs, formulas[1], ours]);
            sent = run.bytes.map(bytes);
        }
        let [sender, receiver] = sent;
        table.row([
            power(log),
            cost.ots.to_string(),
            b.to_string(),
            (stash + b).to_string(),
            cost.evaluations.to_string(),
            (FUNCTIONS * n).to_string(),
            cost.mask_bits.to_string(),
            receiver,
            bytes(64 * b),
            sender,
            bytes((FUNCTIONS as f64 * l * n as f64 / 8.0) as u64),
        ]);
    }
    drawn.draw(suite, "D13.3, section 5.2.2: what is sent", "bytes");
    table.print(
        suite,
        "D13.3, section 5.2.2, Protocol 6: counts beside the formulas with s = 0; sets below 2^10 get the table of 2^10; what is sent \
         has terms, coin and base OTs in it, and masks without log2(n1) - 2 bits each that their order says",
    );
    Ok(())
}

//! Section 2.1 of PRACTICE deliverable D13.3 (2016): garbling under standard assumptions, its counts beside
//! ours, and what it claims of whole protocols.

use comity_circuit::{Lowered, Program};
use comity_garble::{HalfGates, Scheme, Standard, ThreeHalves, parts};
use comity_protocol::Protocol;
use comity_terminal::failure::Outcome;
use comity_terminal::numbers::scaled;

use crate::suite::{Bench, Suite};
use crate::text::{Table, bytes, time};
use crate::two::{NETWORKS, Phases, Run, Wire, Work, play, repeat};

/// The group, whose name all its measurements' names begin with.
pub(super) const D133_STANDARD: Bench = Bench {
    name: "d133.standard",
    about: "D13.3, section 2.1: garbling under standard assumptions beside half gates and three halves, alone and in Yao's protocol",
    ceiling: Some("machine.loopback"),
    run,
};

/// The statistical security of everything here, which none of it uses.
const RHO: u32 = 40;

/// Garblings, half gates first.
const GARBLINGS: [&str; 3] = ["half-gates", "three-halves", "standard"];

/// AES calls to garble and to evaluate an AND and an XOR gate; the bytes of each; and what AES has to be.
const COUNTS: [[&str; 8]; 4] = [
    ["D13.3, section 2.1", "8", "2", "2 rows", "3", "1 to 2", "1 row", "a pseudorandom function"],
    ["standard", "8", "2", "32 B, 1 bit", "4", "2", "16 B", "a pseudorandom function"],
    ["half-gates", "4", "2", "32 B", "0", "0", "0 B", "an ideal cipher"],
    ["three-halves", "6", "3", "24 B, 5 bits", "0", "0", "0 B", "an ideal cipher"],
];

fn run(suite: &mut Suite) -> Outcome {
    counts(suite);
    protocols(suite)
}

/// The numbers that the section counts.
fn counts(suite: &mut Suite) {
    if !suite.wants("d133.standard.counts") {
        return;
    }
    let mut table = Table::new(["", "AND: AES", "evaluated", "sent", "XOR: AES", "evaluated", "sent", "AES is"]);
    COUNTS.iter().for_each(|row| table.row(row.map(str::to_owned)));
    table.print(
        suite,
        "D13.3, section 2.1: AES calls and bytes of a gate. The section says two encryptions an entry of a table, two rows an AND gate, and three or one to two AES for \
         an XOR gate; ours takes four and two, so that no label of a wire with several readers becomes a related key. NOT gates cost nothing anywhere",
    );
    let aes = Lowered::new(&comity_library::find("aes128").expect("the library has AES"));
    let tape = aes.tape();
    let of = |bytes: usize| vec![bytes as f64];
    suite.record("d133.standard.counts.half-gates", "bytes", None, of(parts(tape).map(|p| HalfGates::bytes(&p)).sum()));
    let three_halves = parts(tape).map(|p| ThreeHalves::bytes(&p)).sum();
    suite.record("d133.standard.counts.three-halves", "bytes", None, of(three_halves));
    suite.record("d133.standard.counts.standard", "bytes", None, of(parts(tape).map(|p| Standard::bytes(&p)).sum()));
}

/// The claim that within a protocol the difference is insignificant: AES-128 over many blocks in Yao's
/// protocol, all garblings in turns.
fn protocols(suite: &mut Suite) -> Outcome {
    let mut table = Table::new(["", "network", "blocks", "time", "AND/s", "bytes", "time of half gates"]);
    let yao = comity::named("yao")?;
    for (network, net) in NETWORKS {
        let names = GARBLINGS.map(|garbling| format!("d133.standard.{garbling}.{network}"));
        if !names.iter().any(|name| suite.wants(name)) {
            continue;
        }
        let blocks = if network == "wan" { 100 } else { 1_000 };
        let aes = comity_library::find("aes128").expect("the library has AES");
        let program = Program::map(aes, blocks, &[0]).expect("a valid program");
        program.lowered();
        let ands = program.and_gates() as f64;
        let rounds = repeat(|| {
            let all = GARBLINGS.map(|garbling| execute(&program, yao, garbling, net));
            all.into_iter().collect::<Outcome<Vec<Run>>>()
        })?;
        let mut least = Vec::new();
        for (at, (garbling, name)) in GARBLINGS.iter().zip(&names).enumerate() {
            suite.record(name, "s", None, rounds.iter().map(|runs| runs[at].seconds).collect());
            let seconds = rounds.iter().map(|runs| runs[at].seconds).fold(f64::INFINITY, f64::min);
            least.push(seconds);
            table.row([
                (*garbling).to_owned(),
                network.to_owned(),
                blocks.to_string(),
                time(Some(seconds)),
                scaled(ands / seconds),
                bytes(rounds[0][at].total()),
                format!("{:.2}x", seconds / least[0]),
            ]);
        }
    }
    table.print(
        suite,
        "The section's claim: within a protocol, the difference to garbling under strong assumptions is insignificant. Yao's protocol on AES-128, the least time of some runs \
         in turns, both parties on this machine, the network simulated: the claim holds where the last column is near 1",
    );
    Ok(())
}

fn execute(
    program: &Program,
    yao: &dyn Protocol,
    garbling: &str,
    net: Option<comity_channel::NetProfile>,
) -> Outcome<Run> {
    let work = Work::new(program, yao.card(), RHO)?.with("garbling", garbling)?;
    let party = |ch: &mut Wire, party: u16| work.run(yao, ch, party, &mut Phases::new());
    Ok(play(net, |ch| party(ch, 0), |ch| party(ch, 1))?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the table says that a gate sends is what runs send.
    #[test]
    fn every_garbling_sends_what_the_table_says() {
        let aes = comity_library::find("aes128").unwrap();
        let (program, yao) = (Program::from_circuit(aes).unwrap(), comity::named("yao").unwrap());
        let sent = GARBLINGS.map(|garbling| execute(&program, yao, garbling, None).unwrap().total());
        // In two parts, whose bits are whole bytes each.
        assert_eq!(sent[0] - sent[1], 6_400 * 8 - (6_400 * 5 / 8 + 1));
        assert_eq!(sent[2] - sent[0], 6_400 / 8 + 1 + 16 * 21_492);
    }
}

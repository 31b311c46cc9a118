//! SPDZ-BMR (PRACTICE deliverable D13.3, section 2.2) in its three phases, and the rows of Hazay, Scholl,
//! Soria-Vazquez (Asiacrypt 2017), table 4, that quote it. Parties are threads of this process.

use comity_bmr::SpdzBmr;
use comity_circuit::Program;
use comity_core::{Params, PartyId};
use comity_net::SystemRng;
use comity_protocol::{Ahead, Costing, Empty, Job, Options, Party, Protocol, Talk};
use comity_terminal::failure::{Failure, Outcome};

use crate::hss17::{Cost, Meter, Nobody, aes, here, most_of};
use crate::kept::Kept;
use crate::mesh::among_counted;
use crate::suite::{Bench, Suite};
use crate::text::{Table, bytes, time};
use crate::two::{inputs, session};

/// The phases of AES, by either kind of XOR gates.
pub(crate) const D133_SPDZ_BMR: Bench = Bench {
    name: "d133.spdz-bmr",
    about: "D13.3, section 2.2, and Hazay, Scholl, Soria-Vazquez 2017, table 4: AES by spdz-bmr (only if named)",
    ceiling: Some("machine.loopback"),
    run: phases,
};

/// The phase that depends on no program, with the set-up; the one that depends on no input; and the rest.
const PHASES: [&str; 3] = ["independent", "dependent", "online"];

/// What the paper's table 4 quotes: the parties, how XOR gates are garbled, whose it is, and bytes of the
/// first two phases.
const QUOTED: [(u16, &str, &str, [&str; 2]); 6] = [
    (3, "garbled", "SPDZ-BMR, active", ["25.77 GB", "61.57 MB"]),
    (3, "garbled", "SPDZ-BMR, covert 1/5", ["7.91 GB", "61.57 MB"]),
    (3, "free", "MASCOT-BMR-FX", ["3.83 GB", "12.19 MB"]),
    (10, "garbled", "SPDZ-BMR, active", ["328.94 GB", "846.73 MB"]),
    (10, "garbled", "SPDZ-BMR, covert 1/5", ["100.98 GB", "846.73 MB"]),
    (10, "free", "MASCOT-BMR-FX", ["54.37 GB", "178.25 MB"]),
];

/// The most parties that are run; for more, the figures are those of a plan.
const RUN: u16 = 3;

fn options(xor: &str) -> Outcome<Options> {
    let mut options = Options::new(SpdzBmr.card());
    options.set(PartyId(0), "xor", xor).map_err(Failure::from)?;
    Ok(options)
}

/// The phases of a run, of the party that had most of each.
fn costs(parties: u16, program: &Program, options: &Options) -> Outcome<[Cost; 3]> {
    let session = session();
    program.lowered();
    let all = among_counted(parties, None, |net, traffic| {
        let (here, mut meter) = (here(net, session), Meter::new(traffic));
        let own = inputs(program, here.me.0);
        let make = SpdzBmr.source(program, options).expect("it is made of shares in a field");
        let ahead = Ahead { program: None, options, make: &make, together: make.batches };
        let mut field = Kept::of(make.material);
        meter.phase(net, |net| {
            let mut me = Party { net, here, rng: &mut SystemRng, observer: &mut Nobody };
            SpdzBmr.prepare(&mut me.sub("field"), &ahead, &mut Empty, &mut field)
        })?;
        let make = SpdzBmr.needs(program, options, here.params)?.remove(0);
        let (ahead, mut garbled) = (Ahead { program: Some(program), make: &make, ..ahead }, Kept::of(make.material));
        meter.phase(net, |net| {
            let mut me = Party { net, here, rng: &mut SystemRng, observer: &mut Nobody };
            SpdzBmr.prepare(&mut me.sub("garbled"), &ahead, &mut field, &mut garbled)
        })?;
        meter.phase(net, |net| {
            let mut me = Party { net, here, rng: &mut SystemRng, observer: &mut Nobody };
            SpdzBmr.run(&mut me, &Job { program, inputs: &own, options }, &mut garbled)
        })?;
        Ok(meter.costs)
    })?;
    Ok(most_of(&all))
}

/// The bytes that a party sends in all, by a plan.
fn planned(parties: u16, program: &Program, options: &Options) -> Outcome<u64> {
    let mut talk = Talk::new(parties);
    let of = Costing { program, options, params: Params::default(), parties };
    SpdzBmr.costs(&of, &mut talk).map_err(Failure::from)?;
    Ok((0..parties).map(|party| talk.sent(PartyId(party))).max().unwrap_or(0))
}

fn phases(suite: &mut Suite) -> Outcome {
    if !suite.named(D133_SPDZ_BMR.name) {
        return Ok(());
    }
    let mut times = Table::new(["AES", "independent", "dependent", "online", "rounds"]);
    let mut sent = Table::new(["AES, bytes that a party sends", "independent", "dependent", "online"]);
    for parties in [2, 3, 10] {
        let program = aes(parties);
        for xor in ["free", "garbled"] {
            let (name, options) = (format!("{}.n{parties}.{xor}", D133_SPDZ_BMR.name), options(xor)?);
            let row = format!("{parties}: spdz-bmr, xor={xor}");
            if parties > RUN {
                let all = bytes(planned(parties, &program, &options)?);
                sent.row([format!("{row} (by a plan, all phases)"), all, String::new(), String::new()]);
            } else if suite.wants(&name) {
                let found = costs(parties, &program, &options)?;
                for (phase, cost) in PHASES.into_iter().zip(&found) {
                    suite.record(&format!("{name}.{phase}"), "s", None, vec![cost.seconds]);
                    suite.record(&format!("{name}.{phase}.bytes"), "bytes", None, vec![cost.sent as f64]);
                }
                let [i, d, o] = found.map(|cost| time(Some(cost.seconds)));
                let rounds = found.map(|cost| cost.rounds.to_string()).join(" / ");
                times.row([row.clone(), i, d, o, rounds]);
                let [i, d, o] = found.map(|cost| bytes(cost.sent));
                sent.row([row, i, d, o]);
            }
            for (_, _, who, [i, d]) in QUOTED.iter().filter(|quoted| (quoted.0, quoted.1) == (parties, xor)) {
                sent.row([&format!("{parties}: {who} (the paper)"), *i, *d, ""].map(String::from));
            }
        }
    }
    sent.print(suite, "HSS17, table 4 (its AES has 6,800 ANDs and 25,124 XORs); base OTs are among ours");
    times.print(suite, "The three phases, each party a thread of this process");
    Ok(())
}

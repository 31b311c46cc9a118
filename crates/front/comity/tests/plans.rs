//! What a plan says, held to what runs send.

use comity::{Bits, PROTOCOLS, Params, PerPeer, Program, Protocol, Report, RunCost, Session, library, memory};
use comity_channel::MemoryChannel;
use comity_core::PartyId;
use comity_protocol::Takes;

/// The reports of all parties.
fn run(
    protocol: &'static dyn Protocol,
    program: &Program,
    parties: u16,
    params: Params,
    options: &[(String, String)],
) -> Vec<Report> {
    let mut links: Vec<Vec<Option<MemoryChannel>>> =
        (0..parties).map(|_| (0..parties).map(|_| None).collect()).collect();
    let pairs = (0..usize::from(parties)).flat_map(|high| (0..high).map(move |low| (low, high)));
    for (low, high) in pairs {
        let (a, b) = memory::pair();
        (links[low][high], links[high][low]) = (Some(a), Some(b));
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..)
            .zip(links)
            .map(|(me, mut links)| {
                scope.spawn(move || {
                    let links = PerPeer::new(PartyId(me), parties, |peer| links[usize::from(peer.0)].take().unwrap());
                    let inputs: Vec<(usize, Bits)> = (0..)
                        .zip(program.inputs())
                        .filter(|(_, input)| input.owner.includes(me))
                        .map(|(index, input)| (index, Bits::zeros(input.bits)))
                        .collect();
                    let mut session = Session::new(me).with(protocol).params(params);
                    for (name, value) in protocol.card().trial() {
                        session = session.option(name, value);
                    }
                    for (name, value) in options {
                        session = session.option(name, value);
                    }
                    session.among(links).run(program, inputs).unwrap()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn built_in(name: &str, protocol: &dyn Protocol) -> Program {
    library::program_for(name, protocol.card().goal).unwrap()
}

/// Programs for two parties and more: deep, flat, several calls, outputs to one.
fn programs(protocol: &dyn Protocol, parties: u16) -> Vec<Program> {
    let compile = |text: &str| comity::compile_for("p", text, protocol.card().goal).unwrap();
    let names = ["a", "b", "c", "d"];
    let of = |ty: &str| {
        names
            .iter()
            .take(parties.into())
            .enumerate()
            .map(|(i, name)| format!("{name}: {ty} from {i}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let words = protocol.card().takes == Takes::Words;
    let mut all = vec![
        compile(&format!("fn main({}) -> u64 {{ {} }}", of("u64"), if words { "a * a * b" } else { "a & b" })),
        compile(&format!("fn main({}) -> (p: u16 to 0, q: u8 to (0, 1)) {{ (a * b, (a + b) as u8) }}", of("u16"))),
    ];
    if words {
        // In turns, and a square.
        let turns = "let mut sum = 0u16; for i in 0..4000 { sum = sum * a[i] + b[i] * b[i]; } sum";
        all.push(compile(&format!("fn main({}) -> u16 {{ {turns} }}", of("[u16; 4000]"))));
        all.push(built_in("add64", protocol));
    } else if parties == 2 {
        let circuit = library::circuit_for("aes128", protocol.card().goal).unwrap();
        all.push(Program::map(circuit, 3, &[]).unwrap());
        all.push(built_in("add64", protocol));
    }
    all
}

fn near(planned: u64, sent: u64, within: f64, slack: u64) -> bool {
    (planned as f64 - sent as f64).abs() <= within * sent as f64 + slack as f64
}

#[test]
fn every_protocol_says_what_it_costs_and_is_right() {
    let mut wrong = String::new();
    for protocol in PROTOCOLS {
        let card = protocol.card();
        let most = (*card.parties.end()).min(3);
        for parties in 2..=most {
            for program in programs(*protocol, parties) {
                for rho in [40, 20] {
                    let params = Params::new(128, rho).unwrap();
                    let plan = match RunCost::new(PROTOCOLS, *protocol, &program, parties, params, &[]) {
                        Ok(plan) => plan,
                        Err(error) => {
                            wrong += &format!("{}: {error}: implement Protocol::costs\n", card.name);
                            continue;
                        }
                    };
                    // What sends more would take minutes here.
                    if plan.sent[0] > 1 << 29 {
                        continue;
                    }
                    let reports = run(*protocol, &program, parties, params, &[]);
                    for (party, report) in reports.iter().enumerate() {
                        let (sent, rounds) = (plan.sent[party], plan.rounds[party]);
                        let right = match plan.exact {
                            true => (sent, rounds) == (report.bytes_sent, report.rounds),
                            false => near(sent, report.bytes_sent, 0.1, 8_000) && near(rounds, report.rounds, 0.3, 10),
                        };
                        if !right {
                            wrong += &format!(
                                "{} n={parties} rho={rho} ands={} ins={:?} party {party}: planned {sent} bytes, {rounds} rounds; sent {}, {} rounds; diff {}\n",
                                card.name,
                                program.and_gates(),
                                program.inputs().iter().map(|i| i.bits).collect::<Vec<_>>(),
                                report.bytes_sent,
                                report.rounds,
                                report.bytes_sent as i64 - sent as i64
                            );
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn options_change_what_is_planned() {
    let gmw = comity::named("gmw").unwrap();
    let program = built_in("mul32", gmw);
    let iknp = [("dealer".to_owned(), "iknp".to_owned())];
    let plan =
        |options: &[(String, String)]| RunCost::new(PROTOCOLS, gmw, &program, 2, Params::default(), options).unwrap();
    let reports = run(gmw, &program, 2, Params::default(), &iknp);
    assert_eq!(plan(&iknp).sent[0], reports[0].bytes_sent);
    assert!(plan(&iknp).bytes() > plan(&[]).bytes());
}

#[test]
fn every_garbling_is_planned_to_the_byte() {
    let yao = comity::named("yao").unwrap();
    let mut bytes = Vec::new();
    for garbling in ["half-gates", "three-halves", "standard"] {
        let options = [("garbling".to_owned(), garbling.to_owned())];
        for program in programs(yao, 2) {
            let plan = RunCost::new(PROTOCOLS, yao, &program, 2, Params::default(), &options).unwrap();
            let reports = run(yao, &program, 2, Params::default(), &options);
            let measured = |at: usize| (reports[at].bytes_sent, reports[at].rounds);
            assert!(plan.exact);
            assert_eq!([0, 1].map(|at| (plan.sent[at], plan.rounds[at])), [0, 1].map(measured), "{garbling}");
        }
        let aes = Program::from_circuit(library::circuit_for("aes128", yao.card().goal).unwrap()).unwrap();
        bytes.push(RunCost::new(PROTOCOLS, yao, &aes, 2, Params::default(), &options).unwrap().bytes());
    }
    // 6,400 AND gates in two parts, whose bits are whole bytes each; the 21,492 XOR gates of the library's AES
    // take a row each under standard assumptions.
    assert_eq!(bytes[0] - bytes[1], 6400 * 8 - (6400 * 5 / 8 + 1));
    assert_eq!(bytes[2] - bytes[0], 6400 / 8 + 1 + 16 * 21_492);
}

/// The dealer of 2012 sends more than twenty times as much as the other one: no plan says that it costs the same.
#[test]
fn a_dealer_whose_messages_are_not_counted_has_no_plan() {
    let program = comity::compile("and.cty", "fn main(a: u8 from 0, b: u8 from 1) -> u8 { a & b }").unwrap();
    let options = [("dealer".to_owned(), "nnob12".to_owned())];
    for name in ["tinyot", "ag", "tinytable"] {
        let protocol = comity::named(name).unwrap();
        let plan = |options: &[(String, String)]| {
            RunCost::new(PROTOCOLS, protocol, &program, 2, Params::default(), options).map(|plan| plan.bytes())
        };
        assert!(plan(&[]).is_ok(), "{name}");
        let error = plan(&options).unwrap_err();
        assert!(error.to_string().contains("the dealer nnob12 sends is not counted"), "{name}: {error}");
    }
}

//! Sessions of two threads: agreement, disagreement, and everything that is refused before anybody is bothered.

use std::thread;
use std::time::Duration;

use comity::{
    Adversary, Bits, Builder, Card, Error, Params, Program, Recipients, Report, Result, Session, Watch, library,
    memory, named,
};
use comity_channel::{Change, Direction, Tamper, Tampering, memory_mesh};
use comity_core::{Kind, PartyId};
use comity_testing::PATIENCE;

/// A program of `a` of party 0 and `b` of party 1, eight bits each; the outputs are `a & b` and `a ^ b`.
fn program() -> Program {
    let mut b = Builder::new();
    let x = b.input("a", 8);
    let y = b.input("b", 8);
    let and: Vec<_> = x.iter().zip(&y).map(|(&x, &y)| b.and(x, y)).collect();
    let xor: Vec<_> = x.iter().zip(&y).map(|(&x, &y)| b.xor(x, y)).collect();
    b.output("and", &and);
    b.output("xor", &xor);
    Program::from_circuit(b.finish()).unwrap()
}

fn byte(value: u8) -> Bits {
    Bits::from_bytes(&[value], 8)
}

/// Runs both sides over memory: each says what session and program it wants.
fn both(
    zero: impl FnOnce(Session<'static>) -> Result<Report> + Send,
    one: impl FnOnce(Session<'static>) -> Result<Report> + Send,
) -> (Result<Report>, Result<Report>) {
    let (a, b) = memory::pair_with_timeout(PATIENCE);
    thread::scope(|scope| {
        let one = scope.spawn(|| one(Session::new(1).over(b)));
        (zero(Session::new(0).over(a)), one.join().unwrap())
    })
}

/// Two runs of one pair, at the same time and with the same terms: labels keep one's party from the other's,
/// whoever redirects connections.
#[test]
fn runs_with_labels_do_not_meet_crosswise() {
    let program = program();
    let run = |labels: [Option<&'static str>; 2]| {
        let labelled = |session: Session<'static>, at: usize| match labels[at] {
            Some(label) => session.label(label),
            None => session,
        };
        both(
            |s| labelled(s, 0).run(&program, [(0, byte(0b1100))]),
            |s| labelled(s, 1).run(&program, [(1, byte(0b1010))]),
        )
    };
    let (zero, one) = run([Some("monday-1"), Some("monday-1")]);
    assert!(zero.is_ok() && one.is_ok());
    for labels in [[Some("monday-1"), Some("monday-2")], [Some("monday-1"), None], [None, Some("monday-1")]] {
        let (zero, one) = run(labels);
        for error in [zero.unwrap_err(), one.unwrap_err()] {
            assert!(matches!(error.kind, Kind::Mismatch { field: "label", .. }), "{error}");
        }
    }
    let long = "x".repeat(33);
    for bad in ["", "two words", "a=b", "\u{e9}", long.as_str()] {
        let (a, _b) = memory::pair();
        let refused = Session::new(0).over(a).label(bad).run(&program, [(0, byte(1))]).unwrap_err();
        assert!(refused.to_string().contains("of the run is refused"), "{refused}");
    }
}

#[test]
fn both_learn_and_report() {
    let program = program();
    let (zero, one) = both(|s| s.run(&program, [(0, byte(0b1100))]), |s| s.run(&program, [(1, byte(0b1010))]));
    let (zero, one) = (zero.unwrap(), one.unwrap());
    assert_eq!(zero.outputs, [(0, byte(0b1000)), (1, byte(0b0110))]);
    assert_eq!(zero.outputs, one.outputs);
    assert_eq!((zero.protocol, zero.adversary, zero.party, one.party), ("cutchoose", Adversary::Malicious, 0, 1));
    assert_eq!((zero.and_gates, zero.params), (8, Params::default()));
    assert_eq!((zero.bytes_sent, zero.bytes_received), (one.bytes_received, one.bytes_sent));
    assert!(zero.bytes_sent > 40 * 8 * 32 && zero.rounds > 0 && one.rounds > 0);
    for report in [&zero, &one] {
        let names: Vec<&str> = report.phases.iter().map(|p| p.0).collect();
        assert_eq!(names, ["hello", "setup", "inputs", "gates", "outputs", "checks"]);
        let sum: f64 = report.phases.iter().map(|p| p.1).sum();
        assert!(sum > 0.0 && sum <= report.seconds + 1e-6, "{sum} of {}", report.seconds);
    }
}

#[test]
fn yao_runs_by_its_name() {
    let program = program();
    let (zero, one) = both(
        |s| s.protocol("yao").run(&program, [(0, byte(0b1100))]),
        |s| s.protocol("yao").run(&program, [(1, byte(0b1010))]),
    );
    let (zero, one) = (zero.unwrap(), one.unwrap());
    assert_eq!(zero.outputs, [(0, byte(0b1000)), (1, byte(0b0110))]);
    assert_eq!(zero.outputs, one.outputs);
    assert_eq!((zero.protocol, one.adversary), ("yao", Adversary::SemiHonest));
    refused(
        Session::new(0).over(memory::pair().0).protocol("gmw").option("role", "garbler").run(&program, [(0, byte(1))]),
        &["gmw", "no option", "role"],
    );
}

#[test]
fn either_party_garbles() {
    let program = program();
    let wish =
        |role: &'static str| move |s: Session<'static>| s.params(Params::new(128, 8).unwrap()).option("role", role);
    let run = |roles: [&'static str; 2]| {
        let program = &program;
        both(
            move |s| wish(roles[0])(s).run(program, [(0, byte(12))]),
            move |s| wish(roles[1])(s).run(program, [(1, byte(10))]),
        )
    };
    for (role, other) in [("garbler", "evaluator"), ("evaluator", "garbler")] {
        let (zero, one) = run([role, other]);
        let (zero, one) = (zero.unwrap(), one.unwrap());
        assert_eq!(zero.outputs, [(0, byte(8)), (1, byte(6))]);
        assert_eq!(zero.outputs, one.outputs);
        let garbler = if role == "garbler" { &zero } else { &one };
        assert!(garbler.bytes_sent > garbler.bytes_received, "the garbler sends the circuits");
        disagree(run([role, role]), "garbler");
    }
    // A party that does not set it takes the role that is left.
    let params = Params::new(128, 8).unwrap();
    for role in ["garbler", "evaluator"] {
        let (zero, one) = both(
            |s| s.params(params).option("role", role).run(&program, [(0, byte(12))]),
            |s| s.params(params).run(&program, [(1, byte(10))]),
        );
        let (zero, one) = (zero.unwrap(), one.unwrap());
        assert_eq!((&zero.outputs, zero.options), (&one.outputs, one.options));
        assert_eq!(zero.bytes_sent > zero.bytes_received, role == "garbler");
    }
}

#[test]
fn only_recipients_learn() {
    let program = program().with_recipients(0, Recipients::only(1)).unwrap();
    let (zero, one) = both(|s| s.run(&program, [(0, byte(3))]), |s| s.run(&program, [(1, byte(5))]));
    assert_eq!(zero.unwrap().outputs, [(1, byte(6))]);
    assert_eq!(one.unwrap().outputs, [(0, byte(1)), (1, byte(6))]);
}

/// Asserts that both sides fail over this field.
#[track_caller]
fn disagree(sides: (Result<Report>, Result<Report>), field: &str) {
    for side in [sides.0, sides.1] {
        match side {
            Err(Error { kind: Kind::Mismatch { field: named, .. }, .. }) => assert_eq!(named, field),
            other => panic!("{:?}", other.map(|_| ())),
        }
    }
}

#[test]
fn a_disagreement_is_called_by_its_name_on_both_sides() {
    let program = program();
    let run = |s: Session<'_>, p: &Program| s.run(p, [(0, byte(1))]);
    // Party 1 owns everything in its view, party 0 its own.
    let owned = program.clone().with_owner(0, 1).unwrap();
    disagree(both(|s| run(s, &program), |s| s.run(&owned, [(0, byte(1)), (1, byte(1))])), "owners of the inputs");
    let secret = program.clone().with_recipients(1, Recipients::only(0)).unwrap();
    disagree(both(|s| run(s, &program), |s| s.run(&secret, [(1, byte(1))])), "recipients of the outputs");
    let twice = Program::iterate(program.circuits()[0].clone(), 2, &[(0, 1)]).unwrap();
    disagree(both(|s| run(s, &program), |s| s.run(&twice, [(1, byte(1))])), "program");
    disagree(
        both(|s| s.protocol("yao").run(&program, [(0, byte(1))]), |s| s.run(&program, [(1, byte(1))])),
        "protocol",
    );
    let params = Params::new(128, 64).unwrap();
    disagree(
        both(|s| run(s, &program), |s| s.params(params).run(&program, [(1, byte(1))])),
        "statistical security rho",
    );
    // A name is for people: a file and a built-in may be the same program.
    let renamed = program.clone().with_name("another name");
    let (zero, one) = both(|s| run(s, &program), |s| s.run(&renamed, [(1, byte(1))]));
    assert!(zero.is_ok() && one.is_ok());
}

/// Asserts a refusal as [`InvalidInput`](comity_core::Kind), with these words.
#[track_caller]
fn refused(result: Result<Report>, words: &[&str]) {
    match result.map(|_| ()) {
        Err(Error { kind: Kind::InvalidInput(message), .. }) => {
            for word in words {
                assert!(message.contains(word), "`{word}` is not in: {message}");
            }
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_cannot_work_is_refused_before_the_peer_hears_of_it() {
    let program = program();
    let alone = || Session::new(0).over(memory::pair().0);
    refused(alone().run(&program, []), &["`a`", "8 bits", "party 0"]);
    refused(alone().run(&program, [(0, Bits::zeros(9))]), &["`a`", "8", "9"]);
    refused(alone().run(&program, [(0, byte(1)), (1, byte(1))]), &["`b`", "party 1"]);
    refused(alone().run(&program, [(0, byte(1)), (0, byte(1))]), &["twice"]);
    refused(alone().run(&program, [(0, byte(1)), (2, byte(1))]), &["no input 2"]);
    refused(alone().protocol("none").run(&program, [(0, byte(1))]), &["none", "yao"]);
    refused(Session::new(2).over(memory::pair().0).run(&program, []), &["no party 2"]);
    refused(alone().option("coded", "perhaps").run(&program, [(0, byte(1))]), &["coded", "perhaps", "yes, no"]);
    refused(alone().option("code", "yes").run(&program, [(0, byte(1))]), &["no option `code`", "role, coded"]);
    refused(Session::new(0).run(&program, [(0, byte(1))]), &["listen", "connect"]);
    let wide = program.clone().with_owner(1, 7).unwrap();
    refused(alone().run(&wide, [(0, byte(1))]), &["`b`", "party 7"]);
    let wide = program.clone().with_recipients(1, Recipients::only(2)).unwrap();
    refused(alone().run(&wide, [(0, byte(1))]), &["`xor`", "party 2"]);
    let wide = program.clone().with_recipients(1, Recipients::Parties([0, 5].into_iter().collect())).unwrap();
    refused(alone().run(&wide, [(0, byte(1))]), &["`xor`", "party 5"]);
}

#[test]
fn off_this_machine_more_must_be_asked_for() {
    let program = program();
    let listen = || Session::new(0).listen("0.0.0.0:0").timeout(Duration::from_millis(50));
    refused(listen().run(&program, [(0, byte(1))]), &["0.0.0.0:0", "--tls", "--plaintext"]);
    refused(listen().protocol("yao").run(&program, [(0, byte(1))]), &["--tls", "--plaintext"]);

    #[derive(Default)]
    struct Heard(Vec<String>);
    impl Watch for Heard {
        fn listening(&mut self, address: &str) {
            self.0.push(address.to_owned());
        }
        fn exposed(&mut self, card: &Card) {
            self.0.push(card.risk.to_owned());
        }
    }
    let hear = |session: Session<'_>| {
        let mut heard = Heard::default();
        let run = session.plaintext(true).run_watched(&program, [(0, byte(1))], &mut heard);
        assert!(matches!(run, Err(Error { kind: Kind::TimedOut(_), .. })));
        heard.0
    };
    let heard = hear(listen().protocol("yao"));
    assert_eq!(heard.len(), 2);
    assert_eq!(heard[0], named("yao").unwrap().card().risk);
    assert!(heard[1].starts_with("port ") && heard[1].contains("all IPv4 addresses of this machine"), "{}", heard[1]);
    assert_eq!(hear(listen()).len(), 1, "only a semi-honest protocol exposes anybody");
}

#[test]
fn wrong_circuits_are_caught_and_the_check_is_named() {
    let program = library::program("aes128").unwrap();
    let (key, block) = (Bits::zeros(128), Bits::zeros(128));
    let (a, b) = memory::pair_with_timeout(PATIENCE);
    // In the middle of the tables, and wide enough to reach every copy: all are wrong, and some are checked but for one
    // chance in 2^40 - 1.
    let tamper = Tamper {
        direction: Direction::Incoming,
        at: 6_000_000,
        change: Change::Replace { len: 4096, with: vec![0; 4096] },
    };
    let (zero, one) = thread::scope(|scope| {
        let program = &program;
        let one = scope.spawn(move || {
            let peer = Tampering::new(b, &tamper);
            Session::new(1).over(peer).option("role", "evaluator").run(program, [(1, block)])
        });
        let zero = Session::new(0).over(a).option("role", "garbler").run(program, [(0, key)]);
        (zero, one.join().unwrap())
    });
    assert!(
        matches!(
            one,
            Err(Error { kind: Kind::Misbehaved(comity_cutchoose::checks::GARBLED_CIRCUIT), party: Some(PartyId(0)) })
        ),
        "{:?}",
        one.map(|_| ())
    );
    assert!(matches!(zero, Err(Error { kind: Kind::Closed, .. })), "{:?}", zero.map(|_| ()));
}

#[test]
fn two_sockets() {
    struct Address(std::sync::mpsc::Sender<String>);
    impl Watch for Address {
        fn listening(&mut self, address: &str) {
            self.0.send(address.to_owned()).unwrap();
        }
    }
    let program = program();
    let (tell, address) = std::sync::mpsc::channel();
    let (zero, one) = thread::scope(|scope| {
        let zero = scope.spawn(|| {
            Session::new(0).timeout(PATIENCE).listen("127.0.0.1:0").run_watched(
                &program,
                [(0, byte(7))],
                &mut Address(tell),
            )
        });
        let one = Session::new(1).timeout(PATIENCE).connect(address.recv().unwrap()).run(&program, [(1, byte(12))]);
        (zero.join().unwrap(), one)
    });
    assert_eq!(zero.unwrap().outputs, [(0, byte(4)), (1, byte(11))]);
    assert_eq!(one.unwrap().outputs, [(0, byte(4)), (1, byte(11))]);
}

#[test]
fn three_parties_run_over_channels_of_their_own() {
    let mut b = Builder::new();
    let values: Vec<_> = ["a", "b", "c"].iter().map(|name| b.input(name, 8)).collect();
    let ab: Vec<_> = values[0].iter().zip(&values[1]).map(|(&x, &y)| b.xor(x, y)).collect();
    let all: Vec<_> = ab.iter().zip(&values[2]).map(|(&x, &y)| b.xor(x, y)).collect();
    b.output("ab", &ab);
    b.output("all", &all);
    let program = Program::from_circuit(b.finish()).unwrap().with_recipients(0, Recipients::only(2)).unwrap();
    let run = |rho: u32| {
        let links = memory_mesh(3, Some(PATIENCE)).into_iter().enumerate();
        thread::scope(|scope| {
            let parties: Vec<_> = links
                .map(|(me, links)| {
                    let (program, rho) = (&program, if me == 1 { rho } else { 40 });
                    let session = Session::new(me as u16).with(&comity_sum::Sum).among(links);
                    let session = session.params(Params::new(128, rho).unwrap());
                    scope.spawn(move || session.run(program, [(me, byte(1 << me))]))
                })
                .collect();
            parties.into_iter().map(|party| party.join().unwrap()).collect::<Vec<_>>()
        })
    };
    for (me, report) in run(40).into_iter().enumerate() {
        let report = report.unwrap();
        let learned: &[(usize, Bits)] = if me == 2 { &[(0, byte(3)), (1, byte(7))] } else { &[(1, byte(7))] };
        assert_eq!((&report.outputs[..], report.parties, report.peers.len()), (learned, 3, 2));
    }
    // Each says who wants something else; the one that does cannot know whose doing it is.
    for (me, error) in run(41).into_iter().map(Result::unwrap_err).enumerate() {
        let (text, one) = (error.to_string(), (me != 1).then_some(PartyId(1)));
        assert!(matches!(error.kind, Kind::Mismatch { .. }) && error.party == one, "{error:?}");
        assert!(text.contains("40 (parties 0 and 2)") && text.contains("41 (party 1)"), "{text}");
    }
    // A protocol for two says so, before anybody is bothered.
    let links = memory_mesh(3, None).remove(0);
    refused(
        Session::new(0).protocol("cutchoose").among(links).run(&program, [(0, byte(1))]),
        &["cutchoose is for two parties", "there are 3"],
    );
}

//! Parties of `mixed` that want other forms: told so, by what differs, before anything else.

use std::thread;

use comity::{Bits, Card, Error, Options, Program, Protocol, Report, Result, Session, memory, named};
use comity_core::Kind;
use comity_protocol::{Job, Party, Supplies};
use comity_testing::PATIENCE;

fn program() -> Program {
    comity::compile("f.cty", "fn main(x: u16 from 0, y: u16 from 1) -> bool {\n    x * x < y\n}").unwrap()
}

/// What a side wants: a protocol, and options by name.
type Wanted<'a> = (&'static dyn Protocol, &'a [(&'a str, &'a str)]);

/// Runs both sides.
fn both(sides: [Wanted<'_>; 2]) -> [Result<Report>; 2] {
    let program = &program();
    let run = |me: u16, link, (protocol, options): Wanted<'_>| {
        let session = Session::new(me).with(protocol).over(link);
        let session = options.iter().fold(session, |session, (name, value)| session.option(*name, *value));
        session.run(program, [(me.into(), Bits::from_u128([5, 26][usize::from(me)], 16).unwrap())])
    };
    let (a, b) = memory::pair_with_timeout(PATIENCE);
    let [zero, one] = sides;
    thread::scope(|scope| {
        let one = scope.spawn(move || run(1, b, one));
        [run(0, a, zero), one.join().unwrap()]
    })
}

/// Asserts that both sides fail over this field.
#[track_caller]
fn disagree(sides: [Result<Report>; 2], field: &str) {
    for side in sides {
        match side {
            Err(Error { kind: Kind::Mismatch { field: named, .. }, .. }) => assert_eq!(named, field),
            other => panic!("{:?}", other.map(|_| ())),
        }
    }
}

/// A version that makes another plan of the same program and options.
struct Otherwise;

impl Protocol for Otherwise {
    fn card(&self) -> &'static Card {
        named("mixed").unwrap().card()
    }

    fn agrees_on(&self, _: &Program, _: &Options) -> Result<Vec<(&'static str, String)>> {
        Ok(vec![("plan", "0123456789abcdef".to_owned())])
    }

    fn run(&self, _: &mut Party<'_, '_>, _: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        unreachable!("they do not get that far")
    }
}

#[test]
fn plans_are_compared_before_anything_else() {
    let mixed = named("mixed").unwrap();
    let same = both([(mixed, &[]), (mixed, &[("sharing", "auto"), ("net", "1ms,2.32gbit")])]);
    assert!(same.iter().all(|side| side.as_ref().unwrap().outputs == [(0, Bits::from_u128(1, 1).unwrap())]));
    let with = |zero: &[(&str, &str)], one: &[(&str, &str)]| both([(mixed, zero), (mixed, one)]);
    disagree(with(&[("sharing", "yao")], &[("sharing", "boolean")]), "sharing");
    disagree(with(&[("sharing", "2 yao\n")], &[("sharing", "2 square yao\n")]), "sharing");
    disagree(with(&[("sharing", "2 yao\n")], &[]), "sharing");
    disagree(with(&[], &[("net", "wan")]), "net");
    disagree(both([(mixed, &[]), (&Otherwise, &[])]), "plan");
    let same = with(&[("sharing", "2 square arithmetic\n")], &[("sharing", "2 square arithmetic\n")]);
    assert!(same.iter().all(Result::is_ok));
}

#[test]
fn a_plan_that_does_not_fit_is_refused_before_anybody_is_called() {
    let mixed = named("mixed").unwrap();
    let (link, _) = memory::pair_with_timeout(PATIENCE);
    let session = Session::new(0).with(mixed).option("sharing", "7 yao\n").over(link);
    let error = session.run(&program(), [(0, Bits::from_u128(5, 16).unwrap())]).unwrap_err();
    assert!(error.to_string().contains("line 1 of the plan: line 7 of `f.cty` has no operation"), "{error}");
}

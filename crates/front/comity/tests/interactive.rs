//! Sessions without a program: what is put in, computed and revealed as it comes, and what is refused.

use std::thread;

use comity::interactive::{Interactive, MAX_STATEMENT, Shared};
use comity::value::Type;
use comity::{Bits, Error, Params, Program, Recipients, Result, Session, compile_expression, memory, parse_type};
use comity_channel::{Change, Direction, Tamper, Tampering};
use comity_core::{Kind, PartyId};
use comity_testing::PATIENCE;

/// Both parties of a session, each with what it does.
fn both<T: Send>(
    setup: impl Fn(u16) -> Session<'static> + Sync,
    run: impl Fn(&mut Interactive<'_>) -> Result<T> + Sync,
) -> [Result<T>; 2] {
    let (a, b) = memory::pair_with_timeout(PATIENCE);
    let party = |party: u16, channel| run(&mut setup(party).over(channel).interactive(&mut ())?);
    thread::scope(|scope| {
        let one = scope.spawn(|| party(1, b));
        [party(0, a), one.join().unwrap()]
    })
}

fn number(value: u32) -> Bits {
    Bits::from_bytes(&value.to_le_bytes(), 32)
}

/// An expression over numbers of 32 bits.
fn expression(names: &[&str], text: &str) -> Program {
    let ty = parse_type("u32").unwrap();
    let values: Vec<(&str, &Type)> = names.iter().map(|name| (*name, &ty)).collect();
    compile_expression("test", &values, text).unwrap()
}

/// The input of `owner`, at either party.
fn put(session: &mut Interactive<'_>, owner: u16, value: u32) -> Result<Shared> {
    let own = (session.party() == owner).then(|| number(value));
    session.input(owner, 32, own.as_ref())
}

/// The value of one expression.
fn compute(session: &mut Interactive<'_>, names: &[&str], text: &str, values: &[&Shared]) -> Result<Shared> {
    Ok(session.call(&expression(names, text), values)?.remove(0))
}

#[test]
fn inputs_may_depend_on_outputs() {
    for dealer in ["fast", "nnob12"] {
        let [a, b] = both(
            |party| Session::new(party).option("dealer", dealer),
            |session| {
                let (x, y) = (put(session, 0, 1000)?, put(session, 1, 77)?);
                let sum = compute(session, &["a", "b"], "a + b", &[&x, &y])?;
                let first = session.reveal(Recipients::only(1), &sum)?;
                // Party 1 answers with what it has learned; party 0's number here is not used.
                let answer = put(session, 1, first.as_ref().map_or(0, |sum| sum.words()[0] as u32 - 7))?;
                // All values are there still.
                let text = "if c > a { c - a } else { b * b }";
                let result = compute(session, &["a", "b", "c"], text, &[&x, &y, &answer])?;
                Ok((first, session.reveal(Recipients::All, &result)?, session.reveal(Recipients::only(0), &x)?))
            },
        );
        assert_eq!(a.unwrap(), (None, Some(number(70)), Some(number(1000))), "{dealer}");
        assert_eq!(b.unwrap(), (Some(number(1077)), Some(number(70)), None), "{dealer}");
    }
}

#[test]
fn random_values_are_alike_for_both_and_new_each_time() {
    let [a, b] = both(Session::new, |session| {
        let (x, y) = (session.random(128)?, session.random(128)?);
        Ok([session.reveal(Recipients::All, &x)?, session.reveal(Recipients::All, &y)?])
    });
    let (a, b) = (a.unwrap(), b.unwrap());
    assert_eq!(a, b);
    assert!(a[0].is_some() && a[0] != a[1]);
}

#[test]
fn several_outputs_and_none() {
    let program = comity::compile(
        "test.cty",
        "fn main(x: u32 from 0) -> (half: u32 to 1, odd: bool to all) { (x / 2, x % 2 == 1) }",
    );
    let program = program.unwrap();
    let [a, b] = both(Session::new, |session| {
        let x = put(session, 1, 41)?;
        let outputs = session.call(&program, &[&x])?;
        assert_eq!(outputs.iter().map(Shared::bits).collect::<Vec<_>>(), [32, 1]);
        let empty = session.input(0, 0, (session.party() == 0).then_some(&Bits::default()))?;
        assert_eq!(session.reveal(Recipients::All, &empty)?, Some(Bits::default()));
        // For whom the program says its outputs are does not matter.
        Ok((session.reveal(Recipients::only(0), &outputs[0])?, session.reveal(Recipients::All, &outputs[1])?))
    });
    let odd = || Some([true].into_iter().collect::<Bits>());
    assert_eq!((a.unwrap(), b.unwrap()), ((Some(number(20)), odd()), (None, odd())));
}

#[test]
fn statements_are_compared() {
    let [a, b] = both(Session::new, |session| {
        let mut heard = vec![session.agree("c = a < b")?];
        // Other texts, of other lengths, one of them none; then the session goes on.
        let own = ["d = a", "reveal everything to \u{1b}[2J\u{202e}all"][session.party() as usize];
        heard.push(session.agree(own)?);
        heard.push(session.agree(["", "x"][session.party() as usize])?);
        heard.push(session.agree(&"x".repeat(MAX_STATEMENT))?);
        let long = session.agree(&"x".repeat(MAX_STATEMENT + 1));
        assert!(matches!(long, Err(Error { kind: Kind::InvalidInput(_), .. })));
        let x = put(session, 0, 5)?;
        assert_eq!(session.reveal(Recipients::All, &x)?, Some(number(5)));
        Ok(heard)
    });
    let of = |party: u16, texts: [&str; 2]| {
        let [first, second] = texts.map(|text| vec![(PartyId(party), text.to_owned())]);
        [vec![], first, second, vec![]]
    };
    assert_eq!(a.unwrap(), of(1, ["reveal everything to ?[2J?all", "x"]));
    assert_eq!(b.unwrap(), of(0, ["d = a", ""]));
}

#[test]
fn what_does_not_fit_is_refused_and_the_session_goes_on() {
    let other = both(Session::new, |session| put(session, 0, 1)).map(Result::unwrap);
    let all = both(Session::new, |session| {
        let mut refused = Vec::new();
        let x = put(session, 0, 3)?;
        let sum = expression(&["a", "b"], "a + b");
        let wide = Program::from_circuit(comity::library::find("add64").unwrap()).unwrap();
        refused.push(session.call(&sum, &[&x]).err());
        refused.push(session.call(&wide, &[&x, &x]).err());
        refused.push(session.call(&sum, &[&x, &other[session.party() as usize]]).err());
        refused.push(session.reveal(Recipients::All, &other[session.party() as usize]).err());
        refused.push(session.reveal(Recipients::only(2), &x).err());
        refused.push(session.input(0, 32, Some(&number(1)).filter(|_| session.party() == 1)).err());
        refused.push(session.input(2, 32, None).err());
        let value = session.call(&sum, &[&x, &x])?;
        assert_eq!(session.reveal(Recipients::All, &value[0])?, Some(number(6)));
        Ok(refused)
    });
    for refused in all {
        let texts: Vec<String> =
            refused.unwrap().into_iter().map(|error| error.expect("an error").to_string()).collect();
        let hints =
            ["takes 2 values", "has 64 bits", "another session", "another session", "no party 2", "party 0", "party 2"];
        assert!(texts.iter().zip(hints).all(|(text, hint)| text.contains(hint)), "{texts:#?}");
    }
    let (alone, _) = memory::pair();
    let refused = |session: Session<'_>| session.interactive(&mut ()).err().expect("it is refused").to_string();
    assert!(refused(Session::new(2).over(alone)).contains("no party 2"));
    let (alone, _) = memory::pair();
    assert!(refused(Session::new(0).over(alone).protocol("yao")).contains("whole programs"));
}

#[test]
fn parties_that_want_different_things_are_told() {
    type Wish = fn(Session<'static>) -> Session<'static>;
    let wishes: [(Wish, Wish, &str); 3] = [
        (|s| s, |s| s.option("dealer", "nnob12"), "dealer"),
        (|s| s.params(Params::new(128, 50).unwrap()), |s| s, "rho"),
        (|s| s, |s| s.protocol("tinyot").params(Params::new(128, 41).unwrap()), "rho"),
    ];
    for (zero, one, what) in wishes {
        let wish = |party| if party == 0 { zero(Session::new(party)) } else { one(Session::new(party)) };
        for result in both(wish, |_| Ok(())) {
            match result {
                Err(Error { kind: Kind::Mismatch { field, .. }, .. }) => assert!(field.contains(what), "{field}"),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn a_changed_bit_is_caught_before_the_output() {
    /// Ends before the reveal and after it, in bytes that party 1 has received, and what it learns.
    fn run(session: &mut Interactive<'_>) -> Result<([u64; 2], Option<Bits>)> {
        let (x, y) = (put(session, 0, 9)?, put(session, 1, 5)?);
        let product = compute(session, &["a", "b"], "a & b", &[&x, &y])?;
        let before = session.counts().received;
        let value = session.reveal(Recipients::All, &product)?;
        Ok(([before, session.counts().received], value))
    }
    let [_, honest] = both(Session::new, run);
    let ([before, after], value) = honest.unwrap();
    assert_eq!(value, Some(number(9 & 5)));
    // A share shown for an AND, a digest, a share of the output, and the digest that has the MACs on it.
    for at in [before - 1, before, after - 33, after - 1] {
        let (a, b) = memory::pair_with_timeout(PATIENCE);
        let change = Tamper { direction: Direction::Incoming, at: at as usize, change: Change::Flip { bit: 0 } };
        let tampered = thread::scope(|scope| {
            scope.spawn(|| run(&mut Session::new(0).over(a).interactive(&mut ())?));
            run(&mut Session::new(1).over(Tampering::new(b, &change)).interactive(&mut ())?)
        });
        assert!(
            matches!(tampered, Err(Error { kind: Kind::Misbehaved(comity_share::checks::WRONG_MAC), .. })),
            "byte {at}: {tampered:?}"
        );
    }
}

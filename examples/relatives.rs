//! One person looks for relatives: a query is published once, five people answer it by mail, and one of them cheats.
//!
//! The files here are vectors of bytes. `relatives/` has the program, the markers, and the same by the command.
//!
//! ```text
//! cargo run --release --example relatives
//! ```

#![allow(clippy::print_stdout, reason = "it is a program for people")]

use std::io::Write;

use comity::{Backend, Bits, Error, Program, compile, value};
use comity_mail::{Name, Query, QueryKey, Sealer, respond};
use comity_net::SystemRng;
use comity_nisc::Copies;
use rand_core::CryptoRng;

const SOURCE: &str = include_str!("relatives/relatives.cty");
const ANN: &str = include_str!("relatives/ann.txt");
const SENDERS: [(&str, &str); 4] = [
    ("ben", include_str!("relatives/ben.txt")),
    ("cleo", include_str!("relatives/cleo.txt")),
    ("dan", include_str!("relatives/dan.txt")),
    ("fay", include_str!("relatives/fay.txt")),
];

type Any = Box<dyn std::error::Error>;

/// What a party gives: its markers as its input value, and nothing for the other's.
fn inputs(program: &Program, party: usize, markers: &str) -> Result<Vec<Option<Bits>>, Any> {
    let input = &program.inputs()[party];
    let mut inputs = vec![None, None];
    inputs[party] = Some(value::read(&input.name, &input.ty, markers)?);
    Ok(inputs)
}

/// Eve's answer: she garbles something else, in all copies, so that Ann would learn what Eve likes.
/// Everything around the circuits is as it should be.
fn cheat(query: &Query, program: &Program) -> Result<Vec<u8>, Any> {
    let (backend, rng) = (Backend::detect(), &mut SystemRng);
    let (mut plain, mut answer) = (Vec::new(), Vec::new());
    let inputs = inputs(program, 1, include_str!("relatives/eve.txt"))?;
    let mut sealer = Sealer::new(query, &Name::new("eve")?, rng, &mut answer)?;
    let context = *sealer.context();
    comity_nisc::respond(backend, query.message(), &context, program, &inputs, rng, &mut plain)?;
    // The last tables, of the gates before the output: they end where its decoding bits and recovery openings begin.
    let (t, m) = (query.message().copies().total(), program.outputs()[0].bits);
    let after = 16 * t + 64 * t * m + 32 * t + 32;
    let end = plain.len() - after;
    plain[end - 32 * t..end].iter_mut().for_each(|byte| *byte ^= 1);
    let body = plain.len() - 32;
    let sum = blake3::derive_key("comity NISC: the checksum of a file", &plain[..body]);
    plain[body..].copy_from_slice(&sum);
    sealer.write_all(&plain)?;
    sealer.finish()?;
    Ok(answer)
}

/// Who is what to Ann: a line for each answer.
fn relatives(copies: Copies, rng: &mut dyn CryptoRng) -> Result<Vec<String>, Any> {
    let backend = Backend::detect();
    let program = &compile("relatives.cty", SOURCE)?;
    // Ann publishes the query, and keeps the key.
    let mut key = QueryKey::publish(backend, program, "relatives.cty", &inputs(program, 0, ANN)?, copies, 5, rng)?;
    let query = Query::from_bytes(key.query().to_bytes())?;
    // Days later, from all over the world.
    let mut mail = vec![cheat(&query, program)?];
    for (name, markers) in SENDERS {
        let mut answer = Vec::new();
        respond(backend, &query, program, &inputs(program, 1, markers)?, &Name::new(name)?, rng, &mut answer)?;
        mail.push(answer);
    }
    // Ann opens them together. Before she hears of anything, the key that cannot open later answers replaces
    // the old one.
    let mut batch = key.batch(backend, program)?;
    mail.iter().for_each(|answer| batch.add(&mut &answer[..]));
    let mut disk = Vec::new();
    let verdicts = batch.close(|key| {
        disk = key.to_bytes().to_vec();
        Ok::<(), Error>(())
    })?;
    let relation = &program.outputs()[0];
    let line = |verdict: comity_mail::Verdict| {
        let name = verdict.name.map_or("somebody".to_owned(), |name| name.to_string());
        match verdict.outcome {
            Ok(opened) => match value::show(&relation.ty, &opened.outputs[0]).as_str() {
                "3" => format!("{name} is Ann"),
                "2" => format!("{name} is a close relative"),
                "1" => format!("{name} is a distant relative"),
                _ => format!("{name} is not related"),
            },
            Err(error) => format!("{name}: {error}"),
        }
    };
    Ok(verdicts.into_iter().map(line).collect())
}

fn main() -> Result<(), Any> {
    // 40 bits for the batch: log2 of five answers more.
    relatives(Copies::all(43)?, &mut SystemRng)?.iter().for_each(|line| println!("{line}"));
    Ok(())
}

#[cfg(test)]
use comity_core::{Block, Prg};

#[test]
fn relatives_are_found_and_the_cheater_is_named() {
    // With six copies a cheat escapes one time in 63, and which time it is depends on what Ann draws: always
    // the same here.
    let rng = &mut Prg::new(Backend::detect(), Block::from_u128(1));
    let lines = relatives(Copies::all(6).unwrap(), rng).unwrap();
    assert!(lines[0].starts_with("eve: the peer misbehaved"), "{}", lines[0]);
    let rest = ["ben is a close relative", "cleo is a distant relative", "dan is not related", "fay is not related"];
    assert_eq!(lines[1..], rest);
}

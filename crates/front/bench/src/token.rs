//! GMW with a token (D13.3, section 3.4) beside GMW over oblivious transfer: what a token makes, the time
//! from the first byte to the result of one AES, and the bytes of both set-ups.
//!
//! Parties are threads of this process over TCP on this machine, and so is the token.

use std::sync::Mutex;
use std::thread;

use comity_circuit::{Goal, Program};
use comity_core::{Block, Error, Kind, PartyId, Result};
use comity_gmw::dealers::BitDealer;
use comity_gmw::run_with;
use comity_net::SystemRng;
use comity_protocol::{Job, Options, Party, Protocol};
use comity_terminal::failure::Outcome;
use comity_token::seeds::{ROW, product_share};
use comity_token::{
    GmwToken, HolderTriples, PartnerTriples, SeedCounter, SeedLetter, TokenKeys, TokenLine, serve_holder,
};

use crate::gmw::{Cost, Nobody, here, together, whole};
use crate::suite::{Bench, Suite, backend};
use crate::two::{connections, inputs, repeat, session};

/// The token's work, and whole runs with it and without.
pub(super) const TOKEN: Bench = Bench {
    name: "d133.token",
    about: "GMW with a token: what it makes, and one AES from the first byte to the result, beside gmw over OT in the same run",
    ceiling: Some("machine.aes"),
    run,
};

/// Rows that the token makes products for at a time: 2^20 triples.
const ROWS: usize = (1 << 20) / ROW;

fn run(suite: &mut Suite) -> Outcome {
    for parties in [2, 3] {
        let row =
            if parties == 2 { "d133.token.triples".into() } else { format!("d133.token.triples.parties{parties}") };
        // Two bits of each party and one more of all but party 0.
        let ceiling = suite.value("machine.aes").map(|blocks| blocks * ROW as f64 / (3 * parties - 1) as f64);
        let seeds: Vec<Block> = (1..=parties as u128).map(Block::from_u128).collect();
        suite.rate(&row, "triples/s", ceiling, 9, || {
            for _ in 0..16 {
                std::hint::black_box(product_share(backend(), std::hint::black_box(&seeds), ROWS));
            }
            Ok((16 * ROWS * ROW) as f64)
        })?;
    }
    if !suite.wants("d133.token.aes128") {
        return Ok(());
    }
    let aes = comity_library::program_for("aes128", Goal::Depth).expect("the library has what is measured");
    for circuit in aes.lowered() {
        circuit.layered();
    }
    // One beside the other, so that both meet the same machine.
    let (mut with, mut without, mut ratio, mut bytes) = (Vec::new(), Vec::new(), Vec::new(), [0, 0]);
    repeat(|| {
        let (token, ot) = (with_token(&aes)?, whole(&aes, 2)?);
        with.push(token.seconds);
        without.push(ot.seconds);
        ratio.push(ot.seconds / token.seconds);
        bytes = [token.bytes, ot.bytes];
        Ok(())
    })?;
    suite.record("d133.token.aes128.latency", "s", None, with);
    suite.record("d133.token.aes128.gmw.latency", "s", None, without);
    suite.record("d133.token.aes128.faster", "times", None, ratio);
    suite.record("d133.token.aes128.bytes", "bytes", None, vec![bytes[0] as f64]);
    suite.record("d133.token.aes128.gmw.bytes", "bytes", None, vec![bytes[1] as f64]);
    suite.record("d133.token.set_up.bytes", "bytes", None, vec![(32 + SeedLetter::BYTES) as f64]);
    Ok(())
}

/// Numbers that nobody keeps.
struct Numbers(u64);

impl SeedCounter for Numbers {
    fn next(&mut self) -> Result<u64> {
        self.0 += 1;
        Ok(self.0)
    }
}

/// A whole run of two with a token, init and set-up included.
fn with_token(program: &Program) -> Outcome<Cost<()>> {
    let session = session();
    let [holder, mut token] = connections(None)?;
    let (holder, keys) = (Mutex::new(Some(holder)), TokenKeys::new(&TokenKeys::draw(&mut SystemRng)));
    thread::scope(|scope| {
        let served = scope.spawn(move || serve_holder(&mut token, &keys, &mut Numbers(0), backend(), &mut SystemRng));
        let cost = together(2, None, |net, me| {
            let (inputs, options) = (inputs(program, me), Options::new(GmwToken.card()));
            let job = Job { program, inputs: &inputs, options: &options };
            let mut party = Party { net, here: here(me, 2, session), rng: &mut SystemRng, observer: &mut Nobody };
            let mut line = holder.lock().expect("nobody panics").take_if(|_| party.me() == PartyId(0));
            let dealer: Box<BitDealer<'_>> = match &mut line {
                Some(line) => Box::new(HolderTriples::new(&party, Box::new(TokenLine::new(line)))),
                None => Box::new(PartnerTriples::new(&mut party, None)),
            };
            run_with(&mut party, Some(dealer), &job)
        });
        // One that did not run lets the line go as well.
        drop(holder.lock().expect("nobody panics").take());
        match served.join().expect("a token does not panic") {
            Ok(_) | Err(Error { kind: Kind::Closed, .. }) => cost,
            Err(error) => Err(error.into()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_with_a_token_is_measured() {
        let program = Program::from_circuit(comity_library::find("add8").unwrap()).unwrap();
        let run = with_token(&program).unwrap();
        // Less than the set-up of the transfers alone.
        assert!(run.bytes > 296 && run.bytes < 1000, "{}", run.bytes);
    }
}

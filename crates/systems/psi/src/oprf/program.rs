//! The function under a general protocol: each query is a call of the circuit, and only the client learns its value.

use comity_circuit::{Goal, Program, ProgramBuilder, Recipients};
use comity_core::{Bits, Block, Error, PartyId, Result};
use comity_protocol::{Party, Protocol};
use zeroize::Zeroizing;

use super::{Oprf, ROUND_KEYS, WIDTH, circuit, value};
use crate::circuit::{Below, run_below};

/// A party's input to the function under a general protocol.
pub enum OprfInput<'a> {
    /// The key, and the number of queries.
    Server(&'a Oprf, usize),
    /// The inputs.
    Client(&'a [u128]),
}

/// The values at the client's inputs, by a program under a general protocol: 40 layers of ANDs where layers
/// count, 5,120 ANDs where their number does. The server gets no values.
///
/// **Adversary**: that of the protocol.
///
/// # Errors
/// Those of the protocol.
pub fn evaluate_over(
    me: &mut Party<'_, '_>,
    over: &'static dyn Protocol,
    input: OprfInput<'_>,
) -> Result<Zeroizing<Vec<Block>>> {
    let (inputs, server, count) = match input {
        OprfInput::Server(oprf, count) => ([Some(oprf.round_keys()), None], me.me(), count),
        OprfInput::Client(inputs) => {
            let bits = inputs.iter().flat_map(|input| (0..WIDTH).map(move |bit| input >> bit & 1 == 1));
            ([None, Some(bits.collect())], me.me().other(), inputs.len())
        }
    };
    if count == 0 {
        return Ok(Zeroizing::default());
    }
    let program = program(count, server, over.card().goal)?;
    // A party that garbles and cheats chooses what is computed, but the one that garbles is trusted already.
    let below = Below { over, garbler: Some(server) };
    let values = run_below(me, below, "circuit OPRF", &program, &inputs)?;
    let values: Vec<Block> = values.iter().flat_map(|bits| (0..count).map(|at| value(number(bits, at)))).collect();
    Ok(Zeroizing::new(values))
}

/// The value of a query among all.
fn number(bits: &Bits, at: usize) -> u128 {
    bits.slice(at * WIDTH, WIDTH).to_u128().expect("128 bits")
}

/// The program of `count` queries.
fn program(count: usize, server: PartyId, goal: Goal) -> Result<Program> {
    let (width, count) = (WIDTH as u64, count as u64);
    let mut program = ProgramBuilder::for_goal("an oblivious pseudo-random function, AES-128", goal);
    let aes = program.circuit(circuit(goal));
    let keys = program.input("round keys", server.0, ROUND_KEYS as u64);
    let inputs = program.input("inputs", server.other().0, count * width);
    let values = program.register(count * width);
    let args = [(keys.slice(0, ROUND_KEYS as u64).span(), 0), (inputs.slice(0, width).span(), width as i64)];
    program.map(aes, count, &args, &[(values.slice(0, width).span(), width as i64)]);
    program.reveal("values", Recipients::only(server.other().0), values);
    program.finish().map_err(|error| Error::invalid_input(format!("too many queries for a program: {error}")))
}

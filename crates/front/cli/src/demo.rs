//! `comity demo`: AES-128 of one party's block under the other's key.

use clap::{Args, Command, FromArgMatches};
use comity_circuit::Goal;
use comity_terminal::console::emit;
use comity_terminal::failure::{Ending, Failure, Outcome};
use comity_terminal::json::to_line;
use comity_terminal::numbers::{bytes, duration};

use crate::local::{LocalArgs, merged, together};
use crate::resolve::resolve;
use crate::shares::Files;
use crate::values::{self, Order};
use crate::{eval, json};

/// The key, the block and the ciphertext of FIPS 197, appendix C.1.
const KEY: &str = "000102030405060708090a0b0c0d0e0f";
const BLOCK: &str = "00112233445566778899aabbccddeeff";
const CIPHERTEXT: &str = "69c4e0d86a7b0430d8cdb78070b4c55a";

#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Print one JSON object, as `comity local` does
    #[arg(long)]
    pub(crate) json: bool,
}

/// The command.
pub(crate) fn run(args: &DemoArgs) -> Outcome {
    let line = ["local", "aes128", "--input", &format!("0={KEY}"), "--input", &format!("1={BLOCK}")];
    let parsed = LocalArgs::augment_args(Command::new("local")).try_get_matches_from(line);
    let local = parsed
        .and_then(|matches| LocalArgs::from_arg_matches(&matches))
        .map_err(|why| Failure::new(Ending::Bug, format!("the demo's command line does not parse: {why}")))?;
    let resolved = resolve(&local.program, Goal::Size)?;
    let order = Order::new(&resolved, &[])?;
    let inputs = values::read(&resolved, &order, &local.values.input, None)?;
    let none = Files::new();
    let finished = together(&resolved, &inputs, (&none, &none), &local)?;
    let outputs = merged(finished.runs.iter().map(|run| &run.outputs))?;
    let clear = eval::outputs(&resolved, &order, inputs, local.values.format)?.hex;
    if outputs != clear || outputs.get(&0).is_none_or(|c| c != CIPHERTEXT) {
        return Err(Failure::new(
            Ending::Bug,
            format!("the parties computed {outputs:?}, and in the clear it is {clear:?}"),
        ));
    }
    if args.json {
        return emit(&to_line(&json::Local { parties: finished.runs }));
    }
    let [garbled, evaluated] = &finished.runs[..] else {
        return Err(Failure::new(Ending::Bug, "the demo has two parties"));
    };
    let (pid0, pid1) = (finished.pids[0], finished.pids[1]);
    let gates = garbled.and_gates;
    let time = duration(garbled.seconds.total.max(evaluated.seconds.total));
    let (there, back) = (bytes(garbled.bytes.sent), bytes(evaluated.bytes.sent));
    let rounds = garbled.rounds.max(evaluated.rounds);
    let protocol = comity::named(&garbled.protocol)?.card();
    let pad = " ".repeat(pid0.to_string().len().max(pid1.to_string().len()));
    let width = pad.len();
    emit(&format!(
        "\
Two processes encrypt one's block under the other's key, and show each other neither.

  party 0 (process {pid0:width$}) puts in   key         {KEY}
  party 1 (process {pid1:width$}) puts in   block       {BLOCK}
  both learn       {pad}            ciphertext  {CIPHERTEXT}

This is what FIPS 197, appendix C.1, prints, and what `comity eval` finds in the clear.
Besides the ciphertext, each saw only what looks like random bits to it.

  {gates} AND gates in {time} over loopback TCP, in {rounds} rounds;
  {there} to party 1, {back} to party 0

The protocol, {name}, is secure against {adversary} parties:
  {protects};
  {risk}.

Do it yourself, in two terminals or on two machines:
  comity run aes128 --party 0 --listen 127.0.0.1:7000 --input {KEY}
  comity run aes128 --party 1 --connect 127.0.0.1:7000 --input {BLOCK}
",
        name = protocol.name,
        adversary = protocol.adversary,
        protects = protocol.protects,
        risk = protocol.risk,
    ))
}

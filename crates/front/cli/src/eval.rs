//! `comity eval`: a program in the clear.

use std::collections::BTreeMap;

use clap::Args;
use comity_circuit::{Goal, Observer};
use comity_core::Bits;
use comity_terminal::console::{check_writable, deliver};
use comity_terminal::failure::Outcome;
use comity_terminal::json::to_line;
use comity_terminal::progress::Progress;

use crate::args::{Format, ProgramArgs, ResultArgs, ValueArgs};
use crate::json;
use crate::resolve::{Resolved, resolve};
use crate::values::{self, Order, Outputs};

#[derive(Args, Debug)]
pub(crate) struct EvalArgs {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
    #[command(flatten)]
    pub(crate) result: ResultArgs,
}

/// The command.
pub(crate) fn run(args: &EvalArgs) -> Outcome {
    let resolved = resolve(&args.program, Goal::Size)?;
    let order = Order::new(&resolved, &args.values.bits)?;
    resolved.warn();
    let inputs = values::read(&resolved, &order, &args.values.input, None)?;
    if let Some(path) = &args.result.output {
        check_writable(path)?;
    }
    let outputs = outputs(&resolved, &order, inputs, args.values.format)?;
    let text = if args.result.json {
        to_line(&json::Eval { program: resolved.text, outputs: outputs.hex, values: outputs.values })
    } else {
        values::lines(&resolved, &outputs.texts)
    };
    deliver(&text, args.result.output.as_deref())
}

/// All outputs of a program on all its inputs, as they are written.
pub(crate) fn outputs(
    resolved: &Resolved,
    order: &Order,
    inputs: BTreeMap<usize, Bits>,
    format: Format,
) -> Outcome<Outputs> {
    let inputs: Vec<Option<Bits>> = inputs.into_values().map(Some).collect();
    let progress = Progress::new(resolved.program.and_gates());
    let mut sink = Sink { resolved, order, format, progress, outputs: Outputs::default() };
    comity::evaluate_watched(&resolved.program, &inputs, &mut sink)?;
    Ok(sink.outputs)
}

struct Sink<'a> {
    resolved: &'a Resolved,
    order: &'a Order,
    format: Format,
    progress: Progress,
    outputs: Outputs,
}

impl Observer for Sink<'_> {
    fn output(&mut self, index: usize, value: Bits) {
        self.outputs.add(self.resolved, self.order, index, &value, self.format);
    }

    fn and_gates(&mut self, done: u64) {
        self.progress.update(done);
    }
}

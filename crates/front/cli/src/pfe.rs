//! `comity pfe`: a function that only one party knows, of another one's input.

mod way;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use comity::pfe::{Arity, Function, PfePermuted};
use comity::{PRIVATE_FUNCTIONS, Protocol};
use comity_circuit::Goal;
use comity_core::{Bits, PartyId};
use comity_format::value::to_hex;
use comity_terminal::console::{check_writable, emit, note, warn, write_private};
use comity_terminal::failure::{Ending, Failure, Outcome};
use comity_terminal::json::to_line;
use serde::Serialize;
use zeroize::Zeroizing;

use crate::args::{NetworkArgs, Optimize, ProgramArgs, ResultArgs, RoleArgs, SessionArgs, ValueArgs};
use crate::flags::{Assigned, BitOrder, OutputTo, Who};
use crate::list::List;
use crate::resolve::{Resolved, resolve};
use crate::run::{self, RunArgs};
use crate::shares::ShareArgs;
use crate::storage::KeyArgs;
use crate::values::{self, Order};
use way::{Known, Method, SHOWN, ShapeArg, Way, WayArgs, written};

/// What the command is about.
pub(crate) const ABOUT: &str = "\
One party has a function, any program or circuit file; the other one has its
input. Both learn the result (or --output-to), and of the function the other learns
only the shape: the bits of its input and output, and the number of its gates.
  comity pfe shape credit.cty --round-up
  comity pfe --function credit.cty --shape u=96,v=1,gates=640 --listen 127.0.0.1:7000
  comity pfe --input @me.hex --shape u=96,v=1,gates=640 --connect 127.0.0.1:7000

The owner of the function is party 0 and gives with --input the values of it that are
its own: they become a part of the function. All others, one after another, are
the bits of the other side's input, `x`; the outputs are those of `y`.

The function is the input `function` of a built-in program, universalUxVxG, which
any protocol runs and every command takes: `comity plan universal96x1x640`. It
takes about 3 log2(n) AND gates for each of the n bits and gates of the shape.
With --protocol yao, which is secure against a semi-honest side only, the owner
garbles what it knows: half the bytes, and no other command speaks it. --method ot
and linear are other semi-honest ways, in which a gate needs no copies.

The owner of the function may choose any function of this shape, also one that
gives back the input. So whoever has the input decides on v, the number of bits
that come out, on who learns them, and on how many runs there are (--most-outputs
bounds the bits of all --runs).";

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct PfeArgs {
    #[command(subcommand)]
    command: Option<PfeCommand>,
    /// The function: a built-in name, a program or circuit file. Without it this side has the input
    #[arg(long, value_name = "PROGRAM")]
    function: Option<String>,
    /// The shape that both sides know, as in u=96,v=1,gates=640 (`comity pfe shape`), or @FILE with --arity public
    #[arg(long, value_name = "SHAPE")]
    shape: Option<ShapeArg>,
    #[command(flatten)]
    way: WayArgs,
    /// The number of runs, one after another, each of whatever function the other side has
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
    /// The most bits that all runs together may output: this side refuses runs that would output more of its
    /// input
    #[arg(long, value_name = "BITS", conflicts_with = "function")]
    most_outputs: Option<usize>,
    #[command(flatten)]
    values: ValueArgs,
    /// Who learns the output: a party, several (0,1) or `all`
    #[arg(long, value_name = "PARTY,..")]
    output_to: Vec<OutputTo>,
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    #[command(flatten)]
    result: ResultArgs,
    /// Use up material of `comity prepare universalUxVxG` in DIR
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    #[command(flatten)]
    key: KeyArgs,
}

#[derive(Subcommand, Debug)]
enum PfeCommand {
    /// Print the shape of a function, which is all that the other side sees of it
    Shape(ShapeArgs),
    /// Write a function as the input `function` of its universal program, for other commands
    Program(EmbedArgs),
}

/// A function of its owner.
#[derive(Args, Debug)]
struct FunctionArgs {
    /// The function: a built-in name, a program or circuit file
    #[arg(value_name = "PROGRAM")]
    function: String,
    /// A value of the function that its owner knows
    #[arg(long, short, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    input: Vec<Assigned>,
    /// Bit order of all values, or of one, as in `comity run`
    #[arg(long, value_name = "[VALUE=]lsb|msb")]
    bits: Vec<BitOrder>,
}

#[derive(Args, Debug)]
struct ShapeArgs {
    #[command(flatten)]
    function: FunctionArgs,
    #[command(flatten)]
    way: WayArgs,
    /// Round the number of gates up, by an eighth at most, so that it says less about the function
    #[arg(long)]
    round_up: bool,
    /// Print one JSON object (an error, too)
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct EmbedArgs {
    #[command(flatten)]
    function: FunctionArgs,
    #[command(flatten)]
    way: WayArgs,
    /// The shape, as in u=96,v=1,gates=640, or @FILE with --arity public
    #[arg(long, value_name = "SHAPE")]
    shape: ShapeArg,
    /// Write the value to FILE, which only its owner may read
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// The object that `shape --json` prints.
#[derive(Serialize)]
struct Shown {
    u: usize,
    v: usize,
    gates: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    readers: Option<Vec<u32>>,
}

/// The command.
pub(crate) fn run(args: PfeArgs) -> Outcome {
    match args.command {
        Some(PfeCommand::Shape(args)) => shape(&args),
        Some(PfeCommand::Program(args)) => write(&args),
        None => compute(args),
    }
}

/// A function, and the bits of the other side's input, value by value.
fn function(name: &str, given: &[Assigned], bits: &[BitOrder]) -> Outcome<(Function, String)> {
    let roles = RoleArgs { owner: Vec::new(), output_to: Vec::new() };
    let program = ProgramArgs { program: name.to_owned(), roles, optimize: Optimize::Size };
    let resolved = resolve(&program, Goal::Size)?;
    resolved.warn();
    let known = values::read_some(&resolved, &Order::new(&resolved, bits)?, given)?;
    let function = Function::new(&resolved.program, &known)?;
    Ok((function, layout(&resolved, &known)))
}

/// Which values are in the bits of `x`.
fn layout(resolved: &Resolved, known: &[Option<Bits>]) -> String {
    let unknown = resolved.inputs().iter().zip(known).filter(|(_, known)| known.is_none());
    let value = |(input, _): (&comity_circuit::Input, _)| format!("`{}` of {} bits", input.name, input.bits);
    unknown.map(value).collect::<Vec<_>>().join(", ")
}

fn shape(args: &ShapeArgs) -> Outcome {
    let (function, layout) = function(&args.function.function, &args.function.input, &args.function.bits)?;
    let way = args.way.way()?;
    let (own, arity) = match way {
        Way::Universal(_) => (function.shape(), None),
        Way::Direct(_) => (function.direct_shape(), None),
        Way::Arity => {
            warn(SHOWN);
            let own = function.arity()?;
            (own.shape(), Some(if args.round_up { own.rounded().map_err(Failure::input)? } else { own }))
        }
    };
    let shape = match &arity {
        Some(arity) => arity.shape(),
        None if args.round_up => own.rounded(),
        None => own,
    };
    if args.json {
        let readers = arity.map(|arity| arity.readers().to_vec());
        return emit(&to_line(&Shown { u: shape.inputs, v: shape.outputs, gates: shape.gates, readers }));
    }
    let text = arity.as_ref().map_or_else(|| written(shape), Arity::to_string);
    emit(&format!("{text}\n"))?;
    let copies = match way {
        Way::Universal(_) => format!(", of which {} are copies", function.added()),
        Way::Direct(_) | Way::Arity => String::new(),
    };
    note(&format!("the function has {} gates{copies}: that is for its owner alone", own.gates));
    note(&format!("x, the other side's input, is {layout}"));
    match way {
        Way::Arity => note("the program that all know is the file that this is written to, as in credit.shape"),
        _ => note(&format!("the program that all know is {}", way.known(&ShapeArg::Shape(shape))?.program)),
    }
    Ok(())
}

/// The text of the value that makes a universal program compute a function.
fn embedded(
    name: &str,
    given: &[Assigned],
    bits: &[BitOrder],
    (way, known): (Way, &Known),
) -> Outcome<Zeroizing<String>> {
    let (function, _) = function(name, given, bits)?;
    let bits = match (way, &known.arity) {
        (Way::Universal(construction), _) => function.program_of(known.shape, construction)?,
        (Way::Arity, Some(arity)) => {
            warn(SHOWN);
            function.arity_program(arity)?
        }
        (Way::Direct(_) | Way::Arity, _) => function.direct_program(known.shape)?,
    };
    Ok(Zeroizing::new(to_hex(&bits, comity_format::value::BitOrder::Lsb)))
}

fn write(args: &EmbedArgs) -> Outcome {
    check_writable(&args.out)?;
    let FunctionArgs { function, input, bits } = &args.function;
    let way = args.way.way()?;
    let known = way.known(&args.shape)?;
    let text = embedded(function, input, bits, (way, &known))?;
    write_private(&args.out, text.as_bytes())?;
    let name = known.program;
    note(&format!("its owner computes it as party 0: comity run {name} --input function=@{}", args.out.display()));
    Ok(())
}

/// `pfe-linear` for all runs of this process.
fn kept() -> &'static dyn Protocol {
    Box::leak(Box::new(PfePermuted::linear_again()))
}

/// A run of the universal program.
fn compute(args: PfeArgs) -> Outcome {
    let PfeArgs {
        function,
        shape,
        way,
        runs,
        most_outputs,
        values,
        output_to,
        mut network,
        mut session,
        result,
        store,
        key,
        ..
    } = args;
    let usage = |why: &str| Failure::new(Ending::Usage, why);
    let Some(shape) = shape else {
        return Err(usage(
            "which shape does the function have? Both sides say the same --shape u=..,v=..,gates=..; \
                          `comity pfe shape PROGRAM` says which one a function needs",
        ));
    };
    let way = way.way()?;
    let known = way.known(&shape)?;
    let told = known.shape.outputs.saturating_mul(usize::from(runs));
    if let Some(most) = most_outputs.filter(|most| told > *most) {
        let v = known.shape.outputs;
        return Err(Failure::input(format!(
            "each run can reveal v={v} bits of your input, since the function may return its input; this call has runs: {runs}, and \
             --most-outputs allows {most} bits in all"
        )));
    }
    if runs > 1 && result.output.is_some() {
        return Err(usage("--output holds the result of one run, and --runs says more: leave one of them out"));
    }
    let protocol = way.protocol(session.protocol.as_deref())?;
    let ValueArgs { input, bits, format } = values;
    let (party, values) = match &function {
        Some(name) => {
            let mut text = embedded(name, &input, &bits, (way, &known))?;
            let value = Assigned { name: Some("function".to_owned()), value: std::mem::take(&mut *text) };
            (0, ValueArgs { input: vec![value], bits: Vec::new(), format })
        }
        None => (1, ValueArgs { input, bits, format }),
    };
    if let Some(protocol) = protocol {
        // The first of several runs makes the points for all.
        session.list = match way {
            Way::Direct(Method::Linear) if runs > 1 => List(Box::leak(Box::new([kept()]))),
            _ => List(PRIVATE_FUNCTIONS),
        };
        session.protocol = Some(protocol.card().name.to_owned());
    }
    if network.party.is_none() && network.group.is_none() {
        network.party = Some(Who::Number(PartyId(party)));
    }
    let args = RunArgs {
        program: ProgramArgs {
            program: known.program,
            roles: RoleArgs { owner: Vec::new(), output_to },
            optimize: Optimize::Auto,
        },
        network,
        values,
        shares: ShareArgs { shares_out: Vec::new(), unauthenticated_shares: false },
        session,
        result,
        store,
        key,
        job: None,
        digest: None,
        runs,
        attached: false,
    };
    run::run(&args)
}

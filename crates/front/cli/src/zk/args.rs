//! The flags of `comity zk`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::{LinkArgs, duration};
use crate::flags::{Assigned, BitOrder, Owner};

/// What the command is about.
pub(crate) const ABOUT: &str = "\
Prove that you know inputs on which a program gives certain outputs. The proof is
a file; whoever checks it is convinced, and learns nothing on the inputs.
  comity zk prove sha256-iv --secret message=@m.hex --expect digest=$D --out p.zk
  comity zk verify sha256-iv --expect digest=$D p.zk
  comity zk inspect p.zk

Inputs of party 0, the prover, are secret; all others are public, and both sides
give their values. In comity's language:
  parties prover, public;
  fn main(message: [u8; 55] from prover, digest: u256 from public)
      -> (accept: bool) { ... }
--owner VALUE=0 makes an input of a circuit secret, VALUE=1 public.

An output `accept` of one bit must be 1; any other output must be what --expect
says. An output that no --expect names is not part of the statement: `prove` and
`verify` warn of it, and refuse if the statement has no output at all.

A proof holds for one program, public values, expected outputs and context
(--context TEXT, such as who asks for it, and for what day: else anybody can show
the proof again). The verifier gives all of these itself: it takes nothing from
the file but the system and a salt, and demands 126 bits of soundness, or 128 with
--soundness 128: q hashes forge a proof with probability about q/2^126
with voleith, the default, and about q/2^128 with the other systems.

With --interactive both sides are there, one with --listen ADDR and the other with
--connect ADDR. Only the verifier is convinced: one that follows the rules could
have made up all that it heard, and with zkboo, zkb++ and kkw so could any other.
MACs on wires (vole) and a garbled circuit (gc) stream statements of any size: at
a bit and its OT an AND gate, and at 16 bytes. With the other systems 40 and 80
bits are there, too, since a cheat has one try, and t tries lose log2(t) bits:
  comity zk prove  P --secret .. --public .. --interactive --listen 127.0.0.1:7000
  comity zk verify P --public .. --interactive --connect 127.0.0.1:7000

Exit codes of `verify`: 0 and `valid`, with the bits of soundness where they are
fewer than 128; 4 if the proof is not valid; 2 if what is
given does not fit the program.";

#[derive(Subcommand, Debug)]
pub(crate) enum ZkCommand {
    /// Make a proof
    Prove(ProveArgs),
    /// Check a proof
    Verify(VerifyArgs),
    /// Say what a proof says it is; whether it is valid, only `verify` says
    Inspect(InspectArgs),
}

/// What is proved, but for the secret.
#[derive(Args, Debug)]
pub(crate) struct StatementArgs {
    /// What is computed: a built-in name, a program or circuit file, or an expression over these, as in `comity run`
    pub(crate) program: String,
    /// A public input value, named or numbered; without a name the next one that is not given yet
    #[arg(long, value_name = "[NAME_OR_INDEX=]VALUE", allow_hyphen_values = true)]
    pub(crate) public: Vec<Assigned>,
    /// The expected value of an output; without a name, of the only one
    #[arg(long, value_name = "[NAME_OR_INDEX=]VALUE", allow_hyphen_values = true)]
    pub(crate) expect: Vec<Assigned>,
    /// The purpose of the proof: it is valid with the same text only
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) context: String,
    /// Input value VALUE (name or index) is secret, 0, or public, 1 [default: as the program says]
    #[arg(long, value_name = "VALUE=PARTY")]
    pub(crate) owner: Vec<Owner>,
    /// Bit order of all values, of one input (name or index), or of an output (`out:` before it) [default: lsb]
    #[arg(long, value_name = "[VALUE=]lsb|msb")]
    pub(crate) bits: Vec<BitOrder>,
}

#[derive(Args, Debug)]
pub(crate) struct ProveArgs {
    #[command(flatten)]
    pub(crate) statement: StatementArgs,
    /// A secret input value, named or numbered; without a name the next one that is not given yet
    #[arg(long, value_name = "[NAME_OR_INDEX=]VALUE", allow_hyphen_values = true)]
    pub(crate) secret: Vec<Assigned>,
    /// Where the proof goes
    #[arg(long, value_name = "FILE", required_unless_present = "interactive", conflicts_with = "interactive")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) how: HowArgs,
}

#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) statement: StatementArgs,
    /// The proof
    #[arg(required_unless_present = "interactive", conflicts_with = "interactive")]
    pub(crate) proof: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) how: HowArgs,
}

/// How a proof is made, or checked.
#[derive(Args, Debug)]
pub(crate) struct HowArgs {
    /// The proof system; to check a file it is not given, since the file says it
    #[arg(long, value_enum, default_value_t = SystemArg::Auto)]
    pub(crate) system: SystemArg,
    /// Soundness in bits, at least: of a file 126 or 128 [default: 126]; with --interactive 40 and 80 are there, too
    #[arg(long, value_name = "BITS")]
    pub(crate) soundness: Option<u32>,
    #[command(flatten)]
    pub(crate) meet: MeetArgs,
    /// Print one JSON object (an error, too)
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where the other side of a conversation is.
#[derive(Args, Debug)]
pub(crate) struct MeetArgs {
    /// Prove in conversation, and not in a file: only the verifier is convinced
    #[arg(long)]
    pub(crate) interactive: bool,
    /// Wait for the other side at this address
    #[arg(long, value_name = "ADDR", conflicts_with = "connect")]
    pub(crate) listen: Option<String>,
    /// Connect to the other side at this address
    #[arg(long, value_name = "ADDR")]
    pub(crate) connect: Option<String>,
    /// Meet the other side at this relay, with --tls: both call it (see `comity relay`)
    #[arg(long, value_name = "ADDR", conflicts_with_all = ["listen", "connect", "plaintext"])]
    pub(crate) relay: Option<String>,
    #[command(flatten)]
    pub(crate) link: LinkArgs,
    /// End the whole conversation after this time
    ///
    /// In seconds, or as in 90s, 5m, 2h.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) deadline: Option<Duration>,
}

#[derive(Args, Debug)]
pub(crate) struct InspectArgs {
    /// The proof
    pub(crate) proof: PathBuf,
    /// Print one JSON object (an error, too)
    #[arg(long)]
    pub(crate) json: bool,
}

/// A proof system.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SystemArg {
    /// In a file voleith, in conversation vole
    Auto,
    /// ZKBoo: two of three branches are shown
    Zkboo,
    /// ZKB++: the same in half the bytes
    #[value(name = "zkb++")]
    ZkbPlusPlus,
    /// KKW18: 64 parties of whom one stays hidden; a quarter of the bytes, more work
    Kkw,
    /// VOLE in the head, in a file: MACs on wires under a key that is a hash; the fewest bytes, the least work
    Voleith,
    /// MACs on wires (QuickSilver), with --interactive: statements of any size, a bit an AND gate
    Vole,
    /// A garbled circuit, with --interactive: statements of any size, 16 bytes an AND gate
    Gc,
    /// The same as first published, for comparison: 16 bytes a gate of any kind
    GcRows,
}

//! From what PROGRAM, `--owner` and `--output-to` say to a program.

use std::collections::BTreeSet;

use comity::PartyGroup;
use comity_circuit::{Circuit, Goal, Input, Output, Owner, PartySet, Program, ProgramError, Recipients, Span, Step};
use comity_format::SequentialCircuit;
use comity_language::expression::{self, Base};
use comity_library::LibraryError;
use comity_terminal::console::warn;
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::suggest::did_you_mean;

use crate::args::ProgramArgs;
use crate::flags::Learners;
use crate::parties::{Names, names};
use crate::source::{self, Source};

/// A program, and how the person who named it sees it.
pub(crate) struct Resolved {
    pub(crate) program: Program,
    /// The program as it was named.
    pub(crate) text: String,
    /// The number of calls that lie side by side, which is the number of pieces of each value.
    pub(crate) lanes: usize,
    /// The names of its parties.
    pub(crate) names: Names,
    /// The oddities of its file.
    pub(crate) oddities: Vec<String>,
}

/// Finds the program and says whose its values are. Its circuits are for the goal `auto` unless the arguments
/// say another.
pub(crate) fn resolve(args: &ProgramArgs, auto: Goal) -> Outcome<Resolved> {
    resolve_for(args, auto, None)
}

/// As [`resolve`], among the parties of a group, which have names there.
pub(crate) fn resolve_for(args: &ProgramArgs, auto: Goal, group: Option<&PartyGroup>) -> Outcome<Resolved> {
    let goal = args.optimize.goal(auto);
    let text = args.program.as_str();
    let refuse = |why: &dyn std::fmt::Display| Failure::input(format!("{text}: {why}"));
    let expression =
        expression::parse(text, &comity_library::is_name, &|path| path.is_file()).map_err(Failure::input)?;
    let mut oddities = Vec::new();
    let too_many = || refuse(&"that is more calls than any machine can do");
    let (lanes, turns) = expression.lanes_and_turns().ok_or_else(too_many)?;
    let program = match (&expression.base, expression.powers.is_empty()) {
        (Base::Name(name), true) => comity_library::program_for(name, goal).map_err(|e| unknown(&e))?,
        (Base::Name(name), false) => {
            let circuit = comity_library::circuit_for(name, goal).map_err(|e| match e {
                LibraryError::NoCircuit { .. } => refuse(&format!("{e}, and `*` and `^` call a circuit")),
                _ => unknown(&e),
            })?;
            calls(circuit, lanes, turns).map_err(|why| refuse(&why))?.with_goal(goal)
        }
        (Base::File(path), alone) => match source::open(path, goal)? {
            Source::Design(design, _) => {
                oddities = source::oddities(path, &design);
                match design.flip_flops() {
                    0 => calls(design.circuit().clone(), lanes, turns).map_err(|why| refuse(&why))?,
                    _ => cycles(&design, lanes, turns, alone).map_err(|why| refuse(&why))?,
                }
            }
            Source::Program(program) if alone => program,
            Source::Program(_) => {
                let name = path.display();
                return Err(refuse(&format!(
                    "{name} is a program, and `*` and `^` call a circuit; write a loop in it"
                )));
            }
        },
    };
    let lanes = usize::try_from(lanes).map_err(|_| too_many())?;
    // The peers are shown the name: where a file lies here is none of their business.
    let name = match &expression.base {
        Base::File(path) => match path.file_name() {
            Some(name) => text.replacen(&path.display().to_string(), &name.to_string_lossy(), 1),
            None => text.to_owned(),
        },
        Base::Name(_) => text.to_owned(),
    };
    let names = names(Some(&program), group)?;
    let mut resolved = Resolved { program: program.with_name(name), text: text.to_owned(), lanes, names, oddities };
    let mut given = BTreeSet::new();
    for owner in &args.roles.owner {
        let index = resolved.input(&owner.value)?;
        if !given.insert(index) {
            let title = resolved.title(index);
            return Err(refuse(&format!("two --owner flags for input {title}: name one owner")));
        }
        let owner = match &owner.party {
            Some(party) => Owner::Party(resolved.names.find(party)?),
            None => Owner::Shared,
        };
        resolved.program = resolved.program.with_owner(index, owner).map_err(|e| refuse(&e))?;
    }
    let mut given = BTreeSet::new();
    for to in &args.roles.output_to {
        let indices = match &to.output {
            Some(name) => vec![resolved.output(name)?],
            None => (0..resolved.outputs().len()).collect(),
        };
        let recipients = match &to.to {
            Learners::All => Recipients::All,
            Learners::Shared => Recipients::Shared,
            Learners::Parties(parties) => {
                let mut set = PartySet::default();
                for who in parties {
                    set.insert(resolved.names.find(who)?).map_err(|e| refuse(&e))?;
                }
                Recipients::Parties(set)
            }
        };
        // What is said of all outputs may be said otherwise of one.
        if !given.insert(to.output.as_ref().map(|_| indices[0])) {
            let of = to.output.as_ref().map_or("the outputs".to_owned(), |name| format!("output `{name}`"));
            return Err(refuse(&format!("two --output-to flags for {of}: name all recipients in one, as in 0,1")));
        }
        for index in indices {
            resolved.program = resolved.program.with_recipients(index, recipients).map_err(|e| refuse(&e))?;
        }
    }
    Ok(resolved)
}

/// Clock cycles of a design with flip-flops.
fn cycles(design: &SequentialCircuit, lanes: u64, turns: u64, alone: bool) -> Result<Program, String> {
    if alone {
        let count = design.flip_flops();
        return Err(format!(
            "the circuit has {count} flip-flops: write for how many clock cycles it runs, as in `FILE^100`; the \
                outputs are those of the last cycle"
        ));
    }
    if lanes > 1 {
        return Err("`*` is not possible for a design with flip-flops, whose clock cycles `^` counts".to_owned());
    }
    design.cycles(turns).map_err(|e| e.to_string())
}

/// `lanes` independent sequences of `turns` calls: in each turn the output replaces the last input of its width.
fn calls(circuit: Circuit, lanes: u64, turns: u64) -> Result<Program, String> {
    let told = |e: ProgramError| e.to_string();
    if turns == 1 {
        return Program::map(circuit, lanes, &[]).map_err(told);
    }
    let [output] = circuit.outputs() else {
        return Err(format!("`^` is for circuits with one output value, and this one has {}", circuit.outputs().len()));
    };
    let width = output.bits;
    let Some(fed) = circuit.inputs().iter().rposition(|input| input.bits == width) else {
        return Err(format!("`^` replaces an input by the output, and no input has its {width} bits"));
    };
    if lanes == 1 {
        return Program::iterate(circuit, turns, &[(0, fed)]).map_err(told);
    }
    let span = |start: u64, bits: u64| Span { start, bits, strides: Vec::new() };
    let name = output.name.clone();
    let (mut end, mut steps, mut args) = (0u64, Vec::new(), Vec::new());
    for (index, input) in circuit.inputs().iter().enumerate() {
        let bits = input.bits as u64;
        let total = bits.checked_mul(lanes).filter(|total| *total <= Program::MAX_WIRES);
        let total = total.ok_or_else(|| told(ProgramError::TooManyWires(bits.saturating_mul(lanes))))?;
        steps.push(Step::Input { name: input.name.clone(), owner: Owner::of_value(index), to: span(end, total) });
        args.push((span(end, bits), input.bits as i64));
        end += total;
    }
    let back = args[fed].clone();
    let from = span(back.0.start, back.0.bits * lanes);
    let call = Step::Call { circuit: 0, times: lanes, args, outs: vec![back] };
    steps.push(Step::Repeat { times: turns, body: vec![call] });
    steps.push(Step::Reveal { name, to: Recipients::All, from });
    Program::new("calls", end, vec![circuit], steps).map_err(told)
}

/// The circuit that is named, where only a single circuit makes sense.
pub(crate) fn circuit(text: &str, goal: Goal) -> Outcome<Circuit> {
    let expression =
        expression::parse(text, &comity_library::is_name, &|path| path.is_file()).map_err(Failure::input)?;
    if !expression.powers.is_empty() {
        return Err(Failure::input(format!(
            "{text}: a circuit file holds no calls: name the circuit without `*` and `^` (or make one circuit of all \
                calls with --flatten)"
        )));
    }
    let several = |calls: u64| {
        Failure::input(format!(
            "{text}: this program makes {calls} calls, and a circuit file holds one circuit, called once: make one \
                circuit of all calls with --flatten"
        ))
    };
    let single = |program: &Program| match (program.circuits(), program.totals().calls) {
        ([circuit], 1) => Ok(circuit.clone()),
        (_, calls) => Err(several(calls)),
    };
    match &expression.base {
        Base::Name(name) => comity_library::circuit_for(name, goal).or_else(|e| match e {
            LibraryError::NoCircuit { .. } => {
                comity_library::program_for(name, goal).map_err(|e| unknown(&e)).and_then(|p| single(&p))
            }
            _ => Err(unknown(&e)),
        }),
        Base::File(path) => match source::open(path, goal)? {
            Source::Design(design, _) => {
                let count = design.flip_flops();
                design.into_circuit().ok_or_else(|| {
                    Failure::input(format!(
                        "{text}: the circuit has {count} flip-flops, which a circuit file cannot hold"
                    ))
                })
            }
            Source::Program(program) => single(&program),
        },
    }
}

/// The failure for a built-in that there is not.
fn unknown(error: &LibraryError) -> Failure {
    let more = match error {
        LibraryError::Unknown { .. } => " (`comity circuit list` lists all; there is no file of that name either)",
        _ => "",
    };
    Failure::input(format!("{error}{more}"))
}

impl Resolved {
    /// A program as it stands in a file.
    pub(crate) fn whole(text: String, program: Program) -> Resolved {
        Resolved { names: Names::of(&program), program: program.with_name(&text), text, lanes: 1, oddities: Vec::new() }
    }

    pub(crate) fn inputs(&self) -> &[Input] {
        self.program.inputs()
    }

    pub(crate) fn outputs(&self) -> &[Output] {
        self.program.outputs()
    }

    /// The input of this index or name.
    pub(crate) fn input(&self, name: &str) -> Outcome<usize> {
        find(name, "input", &self.text, self.inputs().iter().map(|v| v.name.as_str()))
    }

    /// The output of this index or name.
    pub(crate) fn output(&self, name: &str) -> Outcome<usize> {
        find(name, "output", &self.text, self.outputs().iter().map(|v| v.name.as_str()))
    }

    /// The name that stands for an input alone; its index, if another one has the name, too, or it could not
    /// stand before `=`.
    pub(crate) fn input_key(&self, index: usize) -> String {
        let name = &self.inputs()[index].name;
        let plain = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && !name.contains(|c: char| c == '=' || c.is_whitespace());
        let alone = self.inputs().iter().filter(|input| input.name == *name).count() == 1;
        if plain && alone { name.clone() } else { index.to_string() }
    }

    /// The name that stands for an output alone; its index, if another one has the name, too.
    pub(crate) fn output_key(&self, index: usize) -> String {
        let name = &self.outputs()[index].name;
        let alone = self.outputs().iter().filter(|output| output.name == *name).count() == 1;
        if alone { name.clone() } else { index.to_string() }
    }

    /// Tells the person at the terminal the oddities of a program that can be run.
    pub(crate) fn warn(&self) {
        self.oddities.iter().for_each(|odd| warn(odd));
        for index in self.program.unused_inputs() {
            let title = self.title(index);
            warn(&format!("{}: input {title} is never used: it changes no output", self.text));
        }
    }

    /// The name that messages give an input.
    pub(crate) fn title(&self, index: usize) -> String {
        format!("{index} (`{}`)", self.inputs()[index].name)
    }
}

fn find<'a>(name: &str, what: &str, text: &str, names: impl Iterator<Item = &'a str> + Clone) -> Outcome<usize> {
    let count = names.clone().count();
    let found = match name.parse::<usize>() {
        Ok(index) => Some(index).filter(|&index| index < count),
        Err(_) => names.clone().position(|n| n == name),
    };
    found.ok_or_else(|| {
        let hint = Some(did_you_mean(name, names.clone())).filter(|h| !h.is_empty()).unwrap_or(".".to_owned());
        let all: Vec<String> = names.enumerate().map(|(index, name)| format!("{index} (`{name}`)")).collect();
        Failure::input(format!("{text} has no {what} `{name}`{hint} It has {}", all.join(", ")))
    })
}

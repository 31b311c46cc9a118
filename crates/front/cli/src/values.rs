//! Input and output values: from what stands on the command line to bits, and back.
//!
//! A program that calls a circuit `K` times side by side has values of `K` pieces (*lanes*), one after another on the
//! wires. Their hex is written piece after piece in the same order, each piece as the number that it is.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};

use comity_circuit::{Input, Output, Type};
use comity_core::Bits;
use comity_format::value;
use comity_terminal::failure::{Failure, Outcome};

use crate::args::Format;
use crate::flags::{Assigned, BitOrder};
use crate::resolve::Resolved;

/// The bit order of every value without a type.
pub(crate) struct Order {
    inputs: Vec<value::BitOrder>,
    outputs: Vec<value::BitOrder>,
}

impl Order {
    /// The orders that `--bits` says, the later flag over the earlier.
    pub(crate) fn new(resolved: &Resolved, flags: &[BitOrder]) -> Outcome<Order> {
        let mut inputs = vec![value::BitOrder::Lsb; resolved.inputs().len()];
        let mut outputs = vec![value::BitOrder::Lsb; resolved.outputs().len()];
        for flag in flags {
            let wanted = if flag.msb { value::BitOrder::Msb } else { value::BitOrder::Lsb };
            match flag.value.as_deref() {
                None => {
                    inputs.fill(wanted);
                    outputs.fill(wanted);
                }
                Some(name) => {
                    let (order, ty) = match name.strip_prefix("out:") {
                        Some(name) => {
                            let index = resolved.output(name)?;
                            (&mut outputs[index], &resolved.outputs()[index].ty)
                        }
                        None => match (resolved.input(name), resolved.output(name)) {
                            (Ok(index), _) => (&mut inputs[index], &resolved.inputs()[index].ty),
                            // A number is an input's; a name may be an output's.
                            (Err(_), Ok(index)) if name.parse::<usize>().is_err() => {
                                (&mut outputs[index], &resolved.outputs()[index].ty)
                            }
                            (Err(failure), _) => return Err(failure),
                        },
                    };
                    if !matches!(ty, Type::Bits(_)) {
                        return Err(Failure::input(format!(
                            "--bits {flag}: `{name}` has the type {ty}, which fixes the order of its bits"
                        )));
                    }
                    *order = wanted;
                }
            }
        }
        Ok(Order { inputs, outputs })
    }
}

/// Reads the values of one party, or of all of them: exactly those, each once.
pub(crate) fn read(
    resolved: &Resolved,
    order: &Order,
    given: &[Assigned],
    party: Option<u16>,
) -> Outcome<BTreeMap<usize, Bits>> {
    read_flags("--input", resolved, order, given, party)
}

/// As [`read`], for values that another flag gives.
pub(crate) fn read_flags(
    flag: &str,
    resolved: &Resolved,
    order: &Order,
    given: &[Assigned],
    party: Option<u16>,
) -> Outcome<BTreeMap<usize, Bits>> {
    let inputs = resolved.inputs();
    // What comes in as shares is no value.
    let ours =
        |index: usize| inputs[index].owner.party().is_some_and(|owner| party.is_none_or(|party| owner.0 == party));
    // Named values first, so that the others take the places that are left.
    let mut texts: BTreeMap<usize, &str> = BTreeMap::new();
    for assigned in given {
        let Some(name) = &assigned.name else { continue };
        let index = resolved.input(name)?;
        if !ours(index) {
            let (owner, party) = (inputs[index].owner, party.unwrap_or(0));
            return Err(Failure::input(format!(
                "input {} belongs to {owner}, and this is party {party}",
                resolved.title(index)
            )));
        }
        if texts.insert(index, &assigned.value).is_some() {
            return Err(Failure::input(format!("input {} is given twice", resolved.title(index))));
        }
    }
    for assigned in given.iter().filter(|a| a.name.is_none()) {
        let Some(index) = (0..inputs.len()).find(|i| ours(*i) && !texts.contains_key(i)) else {
            let whose = party.map_or("the program has".to_owned(), |p| format!("party {p} has"));
            let count = (0..inputs.len()).filter(|i| ours(*i)).count();
            return Err(Failure::input(format!("too many {flag}: {whose} {count} input values")));
        };
        texts.insert(index, &assigned.value);
    }
    let absent: Vec<usize> =
        (0..inputs.len()).filter(|i| ours(*i) && inputs[*i].bits > 0 && !texts.contains_key(i)).collect();
    if !absent.is_empty() {
        return Err(missing(flag, resolved, &absent));
    }
    if texts.values().filter(|text| **text == "-").count() > 1 {
        return Err(Failure::input("standard input can give one value only: give the others as @FILE"));
    }
    let parse = |index: usize| match texts.get(&index) {
        Some(text) => input(resolved, order, index, text).map(|bits| (index, bits)),
        None => Ok((index, Bits::default())),
    };
    (0..inputs.len()).filter(|i| ours(*i)).map(parse).collect()
}

/// Reads values of some inputs, by their names, each at most once.
pub(crate) fn read_some(resolved: &Resolved, order: &Order, given: &[Assigned]) -> Outcome<Vec<Option<Bits>>> {
    let mut values = vec![None; resolved.inputs().len()];
    for assigned in given {
        let unnamed = || Failure::input("which input is this? Write --input NAME=VALUE");
        let index = resolved.input(assigned.name.as_ref().ok_or_else(unnamed)?)?;
        if values[index].replace(input(resolved, order, index, &assigned.value)?).is_some() {
            return Err(Failure::input(format!("input {} is given twice", resolved.title(index))));
        }
    }
    Ok(values)
}

/// The failure of missing values: their owners, and what is wanted.
fn missing(flag: &str, resolved: &Resolved, absent: &[usize]) -> Failure {
    let line = |&index: &usize| {
        let input = &resolved.inputs()[index];
        let (title, ty, owner, name) =
            (resolved.title(index), input.ty.describe(), input.owner, resolved.input_key(index));
        format!("input {title} of {ty} is missing: {owner} gives it with {flag} {name}=VALUE")
    };
    Failure::input(absent.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// Reads values of outputs, each at most once.
pub(crate) fn read_outputs(resolved: &Resolved, order: &Order, given: &[Assigned]) -> Outcome<BTreeMap<usize, Bits>> {
    let outputs = resolved.outputs();
    let mut values = BTreeMap::new();
    for assigned in given {
        let index = match (&assigned.name, outputs) {
            (Some(name), _) => resolved.output(name)?,
            (None, [_]) => 0,
            (None, _) => {
                return Err(Failure::input("the program has several outputs: name the output, as in NAME=VALUE"));
            }
        };
        let Output { name, bits, ty, .. } = &outputs[index];
        let title = format!("output {index} (`{name}`)");
        let value = one(&title, (name, *bits, ty), resolved.lanes, order.outputs[index], &assigned.value)?;
        if values.insert(index, value).is_some() {
            return Err(Failure::input(format!("{title} is given twice")));
        }
    }
    Ok(values)
}

/// Reads the value of an input.
fn input(resolved: &Resolved, order: &Order, index: usize, text: &str) -> Outcome<Bits> {
    let Input { name, bits, ty, .. } = &resolved.inputs()[index];
    let title = format!("input {}", resolved.title(index));
    one(&title, (name, *bits, ty), resolved.lanes, order.inputs[index], text)
}

/// Reads one value, of `bits` bits and this type.
fn one(
    title: &str,
    (name, bits, ty): (&str, usize, &Type),
    lanes: usize,
    order: value::BitOrder,
    text: &str,
) -> Outcome<Bits> {
    let refuse = |why: &dyn std::fmt::Display| Failure::input(format!("{title}: {why}"));
    let loaded = load(text, bits).map_err(|why| refuse(&why))?;
    let (source, text) = match &loaded {
        Some((source, loaded)) => (Some(source), loaded.as_str()),
        None => (None, text),
    };
    if let Type::Bits(_) = ty {
        let spaced = text.starts_with("text:");
        let text: String = if spaced { text.to_owned() } else { text.split_whitespace().collect() };
        return parse(&text, bits, lanes, order).map_err(|why| refuse(&why));
    }
    value::read(name, ty, text).map_err(|e| {
        let (line, column) = (e.line, e.column);
        let place = match source {
            Some(source) => format!("{source}:{line}:{column}: "),
            None if text.contains('\n') => format!("line {line}, character {column}: "),
            None if column > 1 => format!("character {column}: "),
            None => String::new(),
        };
        // What is given in a file is no use in the shell, but there the type is.
        let wrong = Failure::input(format!("{title}: {place}{e} (the type is {})", ty.describe()));
        let file = source.is_none() && std::path::Path::new(text).is_file();
        if file { wrong.and("A file has this name: write @ before it to read the value from the file") } else { wrong }
    })
}

/// A value's text, if it is in a file or comes over standard input, and what to call that.
fn load(text: &str, bits: usize) -> Result<Option<(String, String)>, String> {
    let (source, loaded) = match (text, text.strip_prefix('@')) {
        ("-", _) => ("standard input", read_text(std::io::stdin().lock(), bits)),
        (_, Some(path)) => (path, std::fs::File::open(path).and_then(|file| read_text(file, bits))),
        _ => return Ok(None),
    };
    let loaded = loaded.map_err(|e| match e.kind() {
        // What is wrong with its bytes.
        ErrorKind::InvalidData => format!("{source}: {e}; a value is text: hex, or as its type says"),
        ErrorKind::FileTooLarge => format!("{source}: the text is far longer than any value of {bits} bits"),
        _ => format!("{source}: {e}"),
    })?;
    Ok(Some((source.to_owned(), loaded)))
}

/// Reads to the end, if that comes before what any value can be: a bool with its field's name takes some 64 characters
/// for a bit.
fn read_text(source: impl Read, bits: usize) -> std::io::Result<String> {
    let limit = 64 * bits as u64 + 65_536;
    let mut loaded = Vec::new();
    if source.take(limit + 1).read_to_end(&mut loaded)? as u64 > limit {
        return Err(ErrorKind::FileTooLarge.into());
    }
    let text = String::from_utf8(loaded).map_err(|e| {
        let what = comity_table::no_text(e.as_bytes()).unwrap_or(comity_table::NO_TEXT);
        std::io::Error::new(ErrorKind::InvalidData, what)
    })?;
    // The byte-order mark with which some editors begin a text is no part of it.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Reads a value of `bits` wires in `lanes` pieces.
fn parse(text: &str, bits: usize, lanes: usize, order: value::BitOrder) -> Result<Bits, String> {
    let told = |e: value::ValueError| e.to_string();
    if lanes == 1 || text.starts_with("bits:") {
        return value::parse(text, bits, order).map_err(told);
    }
    if let Some((form, _)) = text.split_once(':') {
        return Err(format!(
            "the {lanes} values of side-by-side calls must be written in hex or as bits:, not as {form}:"
        ));
    }
    let hex = text.strip_prefix("0x").unwrap_or(text);
    let (piece, digits) = (bits / lanes, (bits / lanes).div_ceil(4));
    if !hex.is_ascii() || hex.len() != digits * lanes {
        let (all, given) = (digits * lanes, hex.chars().count());
        return Err(format!("{lanes} values need {digits} hex digits each, {all} in all, and the text has {given}"));
    }
    let mut wires = Bits::default();
    for lane in 0..lanes {
        wires.extend_from(&value::parse(&hex[lane * digits..][..digits], piece, order).map_err(told)?);
    }
    Ok(wires)
}

/// Outputs, in all the ways in which they are written.
#[derive(Default)]
pub(crate) struct Outputs {
    /// The outputs for `outputs` in JSON: hex, or the wires.
    pub(crate) hex: BTreeMap<usize, String>,
    /// The outputs for `values` in JSON, by name: as their types say, and what has none as in `outputs`.
    pub(crate) values: BTreeMap<String, serde_json::Value>,
    /// The outputs for people.
    pub(crate) texts: BTreeMap<usize, String>,
}

impl Outputs {
    /// Adds output `index`.
    pub(crate) fn add(&mut self, resolved: &Resolved, order: &Order, index: usize, bits: &Bits, format: Format) {
        let ty = &resolved.outputs()[index].ty;
        let typed = !matches!(ty, Type::Bits(_));
        let raw = match format {
            Format::Bits => value::to_bits(bits),
            Format::Hex | Format::Value => {
                let piece = bits.len() / resolved.lanes;
                let hex = |lane: usize| value::to_hex(&bits.slice(lane * piece, piece), order.outputs[index]);
                (0..resolved.lanes).map(hex).collect()
            }
        };
        let value = typed.then(|| serde_json::from_str(&value::show_json(ty, bits)).ok()).flatten();
        self.values.insert(resolved.output_key(index), value.unwrap_or_else(|| raw.as_str().into()));
        let text = if typed && format == Format::Value { value::show(ty, bits) } else { raw.clone() };
        self.texts.insert(index, text);
        self.hex.insert(index, raw);
    }
}

/// The outputs as lines: the value alone if the program has one output, else each after its name.
pub(crate) fn lines(resolved: &Resolved, outputs: &BTreeMap<usize, String>) -> String {
    let all = resolved.outputs();
    let line = |(&index, value): (&usize, &String)| match all.len() {
        1 => format!("{value}\n"),
        _ => format!("{} {value}\n", all[index].name),
    };
    outputs.iter().map(line).collect()
}

/// A party's values for its child process: the hex of the packed wires.
pub(crate) fn to_orders(resolved: &Resolved, party: u16, inputs: &BTreeMap<usize, Bits>) -> BTreeMap<usize, String> {
    let hex = |bits: &Bits| bits.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let own = inputs.iter().filter(|(index, _)| resolved.inputs()[**index].owner.includes(party));
    own.map(|(&index, bits)| (index, hex(bits))).collect()
}

/// The values that [`to_orders`] wrote.
pub(crate) fn from_orders(resolved: &Resolved, orders: &BTreeMap<usize, String>) -> Outcome<BTreeMap<usize, Bits>> {
    let bytes = |hex: &str| -> Option<Vec<u8>> {
        hex.as_bytes().chunks(2).map(|two| u8::from_str_radix(str::from_utf8(two).ok()?, 16).ok()).collect()
    };
    let read = |(&index, hex): (&usize, &String)| {
        let bits = resolved.inputs().get(index)?.bits;
        let bytes = bytes(hex).filter(|b| b.len() == bits.div_ceil(8))?;
        Some((index, Bits::from_bytes(&bytes, bits)))
    };
    let all: Option<_> = orders.iter().map(read).collect();
    all.ok_or_else(|| Failure::input("the parent process sent values that do not fit the program"))
}

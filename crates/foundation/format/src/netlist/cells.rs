//! The cells that yosys ends with: gates of a few bits, and flip-flops.

use super::{Flop, Function, Model, Net, Result, named, wrong};

/// A yosys script that ends with these cells.
pub(crate) const SCRIPT: &str =
    "yosys -p 'read_verilog FILE.v; synth -flatten -auto-top; abc -g AND,XOR; write_json FILE.json'";

/// The message that there is no such cell.
pub(crate) fn unknown(kind: &str) -> String {
    let latch = ["$_DLATCH", "$_SR_", "$dlatch", "$sr", "$adlatch"].iter().any(|latch| kind.starts_with(latch));
    let what = match kind {
        _ if latch => "is a latch, and only flip-flops of one clock are possible",
        _ if kind.starts_with("$mem") => {
            "is a memory; yosys' `memory -nomap; memory_map` makes it of flip-flops, as `synth` does"
        }
        _ if kind.starts_with("$_") => {
            "is a cell that comity does not read; map it to others with `abc -g AND,XOR` in yosys"
        }
        _ if kind.starts_with('$') => "works on whole words; let yosys turn it into gates",
        _ => "is neither a module of this file nor a gate of yosys; flatten the design and map it to gates",
    };
    format!("the cell {} {what}: {SCRIPT}", named(kind))
}

/// A gate: its pins, and the function of them that drives `Y`.
type Gate = (&'static [&'static str], fn(&[bool]) -> bool);

fn gate(kind: &str) -> Option<Gate> {
    Some(match kind {
        "$_BUF_" => (&["A"], |p| p[0]),
        "$_NOT_" => (&["A"], |p| !p[0]),
        "$_AND_" => (&["A", "B"], |p| p[0] & p[1]),
        "$_NAND_" => (&["A", "B"], |p| !(p[0] & p[1])),
        "$_OR_" => (&["A", "B"], |p| p[0] | p[1]),
        "$_NOR_" => (&["A", "B"], |p| !(p[0] | p[1])),
        "$_XOR_" => (&["A", "B"], |p| p[0] ^ p[1]),
        "$_XNOR_" => (&["A", "B"], |p| p[0] == p[1]),
        "$_ANDNOT_" => (&["A", "B"], |p| p[0] & !p[1]),
        "$_ORNOT_" => (&["A", "B"], |p| p[0] | !p[1]),
        "$_MUX_" => (&["A", "B", "S"], |p| if p[2] { p[1] } else { p[0] }),
        "$_NMUX_" => (&["A", "B", "S"], |p| !if p[2] { p[1] } else { p[0] }),
        "$_AOI3_" => (&["A", "B", "C"], |p| !(p[0] & p[1] | p[2])),
        "$_OAI3_" => (&["A", "B", "C"], |p| !((p[0] | p[1]) & p[2])),
        "$_AOI4_" => (&["A", "B", "C", "D"], |p| !(p[0] & p[1] | p[2] & p[3])),
        "$_OAI4_" => (&["A", "B", "C", "D"], |p| !((p[0] | p[1]) & (p[2] | p[3]))),
        "$_MUX4_" => (&["A", "B", "C", "D", "S", "T"], |p| p[usize::from(p[4]) + 2 * usize::from(p[5])]),
        "$_MUX8_" => (&["A", "B", "C", "D", "E", "F", "G", "H", "S", "T", "U"], |p| {
            p[usize::from(p[8]) + 2 * usize::from(p[9]) + 4 * usize::from(p[10])]
        }),
        _ => return None,
    })
}

/// A truth table of `pins` pins.
pub(crate) fn tabulated(pins: usize, value: impl Fn(usize) -> bool) -> Function {
    match pins {
        0..=super::table::MOST => Function::Table((0..1usize << pins).fold(0, |t, i| t | u64::from(value(i)) << i)),
        _ => Function::Large((0..1usize << pins).map(value).collect()),
    }
}

/// A flip-flop's kind.
#[derive(Default)]
struct Kind {
    /// The edge of the clock.
    rising: bool,
    clocked: bool,
    /// The level that enables the flip-flop.
    enable: Option<bool>,
    /// The level that resets the flip-flop at once, and the value.
    reset: Option<(bool, bool)>,
    /// The level that resets the flip-flop at the clock's edge, the value, and whether only if it is enabled.
    synchronous: Option<(bool, bool, bool)>,
    /// The levels that set and reset the flip-flop at once.
    set_reset: Option<(bool, bool)>,
    /// The level that loads the flip-flop at once.
    load: Option<bool>,
}

fn flip_flop(kind: &str) -> Option<Kind> {
    let inner = kind.strip_prefix("$_")?.strip_suffix('_')?;
    let (name, letters) = inner.split_once('_').unwrap_or((inner, ""));
    if inner == "FF" {
        return Some(Kind::default());
    }
    let level = |c: u8| match c {
        b'P' | b'1' => Some(true),
        b'N' | b'0' => Some(false),
        _ => None,
    };
    let levels: Vec<bool> = letters.bytes().map(level).collect::<Option<_>>()?;
    let (&rising, rest) = levels.split_first()?;
    let kind = Kind { rising, clocked: true, ..Kind::default() };
    Some(match (name, rest) {
        ("DFF", []) => kind,
        ("DFF", [r, v]) => Kind { reset: Some((*r, *v)), ..kind },
        ("DFFE", [e]) => Kind { enable: Some(*e), ..kind },
        ("DFFE", [r, v, e]) => Kind { reset: Some((*r, *v)), enable: Some(*e), ..kind },
        ("SDFF", [r, v]) => Kind { synchronous: Some((*r, *v, false)), ..kind },
        ("SDFFE", [r, v, e]) => Kind { synchronous: Some((*r, *v, false)), enable: Some(*e), ..kind },
        ("SDFFCE", [r, v, e]) => Kind { synchronous: Some((*r, *v, true)), enable: Some(*e), ..kind },
        ("DFFSR", [s, r]) => Kind { set_reset: Some((*s, *r)), ..kind },
        ("DFFSRE", [s, r, e]) => Kind { set_reset: Some((*s, *r)), enable: Some(*e), ..kind },
        ("ALDFF", [l]) => Kind { load: Some(*l), ..kind },
        ("ALDFFE", [l, e]) => Kind { load: Some(*l), enable: Some(*e), ..kind },
        _ => return None,
    })
}

/// Whether there is a cell of this kind.
pub(crate) fn exists(kind: &str) -> bool {
    gate(kind).is_some() || is_flip_flop(kind)
}

/// Whether there is a cell of this kind, and it has a state.
pub(crate) fn is_flip_flop(kind: &str) -> bool {
    flip_flop(kind).is_some()
}

/// Adds a cell of yosys' to a model: its pins' names and nets. `init` is the value with which the output of a flip-flop
/// begins.
pub(crate) fn add(
    model: &mut Model,
    at: usize,
    kind: &str,
    pins: &[(String, Net)],
    init: impl Fn(Net) -> bool,
) -> Result<()> {
    let pin = |name: &str| match pins.iter().find(|(pin, _)| pin == name) {
        Some((_, net)) => Ok(*net),
        None => wrong(at, format!("the pin {name} of a cell {} is not connected", named(kind))),
    };
    let check = |all: &[&str]| match pins.iter().find(|(pin, _)| !all.contains(&pin.as_str())) {
        Some((strange, _)) => wrong(at, format!("a cell {} has no pin {}", named(kind), named(strange))),
        None => Ok(()),
    };
    if let Some((names, value)) = gate(kind) {
        check(&[names, &["Y"]].concat())?;
        let nets: Vec<Net> = names.iter().map(|name| pin(name)).collect::<Result<_>>()?;
        let bits = |i: usize| (0..names.len()).map(|j| i >> j & 1 == 1).collect::<Vec<_>>();
        let function = tabulated(names.len(), |i| value(&bits(i)));
        // A gate whose output nobody reads may leave it open.
        let out = pin("Y")?;
        model.cell(at, function, &nets, out);
        return Ok(());
    }
    let Some(kind) = flip_flop(kind) else { return wrong(at, unknown(kind)) };
    check(&["C", "D", "Q", "E", "R", "S", "L", "AD"])?;
    let (d, q) = (pin("D")?, pin("Q")?);
    let clock = if kind.clocked { Some(pin("C")?) } else { None };
    // if the last pin has this level the second, else the first
    let choose = |level: bool| if level { 0b1100_1010 } else { 0b1010_1100 };
    let constant = |value: bool| if value { super::ONE } else { super::ZERO };
    let at_once = kind.reset.is_some() || kind.set_reset.is_some() || kind.load.is_some();
    let state = if at_once { model.net(model.name(q).to_owned()) } else { q };
    let mut next = d;
    if let Some((level, value, true)) = kind.synchronous {
        next = model.derive(at, choose(level), &[next, constant(value), pin("R")?], q);
    }
    if let Some(level) = kind.enable {
        next = model.derive(at, choose(level), &[state, next, pin("E")?], q);
    }
    if let Some((level, value, false)) = kind.synchronous {
        next = model.derive(at, choose(level), &[next, constant(value), pin("R")?], q);
    }
    let mut overrides: Vec<(bool, Net, Net)> = Vec::new();
    if let Some((level, value)) = kind.reset {
        overrides.push((level, constant(value), pin("R")?));
    }
    if let Some((set, reset)) = kind.set_reset {
        overrides.extend([(set, super::ONE, pin("S")?), (reset, super::ZERO, pin("R")?)]);
    }
    if let Some(level) = kind.load {
        overrides.push((level, pin("AD")?, pin("L")?));
    }
    let mut seen = state;
    for (level, value, select) in overrides {
        next = model.derive(at, choose(level), &[next, value, select], q);
        seen = model.derive(at, choose(level), &[seen, value, select], q);
    }
    if at_once {
        model.cell(at, Function::Table(0b10), &[seen], q);
    }
    model.flops.push(Flop { d: next, q: state, clock, rising: kind.rising, init: init(q), at: at as u32 });
    Ok(())
}

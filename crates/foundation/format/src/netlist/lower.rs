//! From a flat netlist to gates.

use comity_circuit::{Builder, Circuit, Wire};

use super::table::{self, Tables};
use super::{Cell, Function, Model, Net, ONE, Port, Result, SequentialCircuit, ZERO, named, wrong};

/// The driver of a net.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Driver {
    None,
    Constant,
    Input,
    Flop,
    Cell(u32),
}

/// A value by its name: bits called `a[0]`, `a[1]`, … belong to one, the one with the smallest index first.
struct Group {
    name: String,
    /// The value's nets, each with its index, if it has one.
    nets: Vec<(Option<u64>, Net)>,
    at: usize,
}

/// Makes the circuit of a flat netlist.
pub(crate) fn lower(model: &Model) -> Result<SequentialCircuit> {
    let mut drivers = vec![Driver::None; model.nets()];
    (drivers[ZERO as usize], drivers[ONE as usize]) = (Driver::Constant, Driver::Constant);
    let mut drive = |net: Net, driver: Driver, at: usize| -> Result<()> {
        let what = match drivers[net as usize] {
            Driver::None => {
                drivers[net as usize] = driver;
                return Ok(());
            }
            Driver::Constant => "a constant cannot be driven".to_owned(),
            Driver::Input => format!("the net {} is an input; nothing else may drive it", named(model.name(net))),
            _ => format!("the net {} is driven twice", named(model.name(net))),
        };
        wrong(at, what)
    };
    for port in &model.inputs {
        port.nets.iter().try_for_each(|&net| drive(net, Driver::Input, port.at))?;
    }
    for flop in &model.flops {
        drive(flop.q, Driver::Flop, flop.at as usize)?;
    }
    for (i, cell) in model.cells.iter().enumerate() {
        drive(cell.out, Driver::Cell(i as u32), cell.at as usize)?;
    }
    let clock = clock(model, &drivers)?;
    let inputs = groups(model.inputs.iter().filter(|port| clock.is_none_or(|clock| port.nets != [clock])))?;
    let outputs = groups(&model.outputs)?;
    let order = order(model, &drivers)?;

    let state = model.flops.len();
    let bits: usize = inputs.iter().map(|group| group.nets.len()).sum();
    let too_large = |at| wrong(at, "more gates than a circuit can have (2^28 wires)");
    if bits + state + 2 >= Circuit::MAX_WIRES {
        return too_large(0);
    }
    let (mut b, mut tables) = (Builder::new(), Tables::default());
    let mut wires = vec![Wire::ZERO; model.nets()];
    wires[ONE as usize] = Wire::ONE;
    for group in &inputs {
        let value = b.input(&group.name, group.nets.len());
        group.nets.iter().zip(value).for_each(|((_, net), wire)| wires[*net as usize] = wire);
    }
    // What starts at one is kept negated, so that the initial state is all zeros.
    let before = if state > 0 { b.input("state", state) } else { Vec::new() };
    for (flop, wire) in model.flops.iter().zip(before) {
        wires[flop.q as usize] = if flop.init { b.not(wire) } else { wire };
    }
    for index in order {
        let cell = &model.cells[index as usize];
        if bits + state + 2 + b.gates() + most_gates(cell, model.pins(cell).len()) >= Circuit::MAX_WIRES {
            return too_large(cell.at as usize);
        }
        let pins: Vec<Wire> = model.pins(cell).iter().map(|&net| wires[net as usize]).collect();
        wires[cell.out as usize] = gates(&mut b, &mut tables, &cell.function, &pins);
    }
    let read = |net: Net, at: usize| match drivers[net as usize] {
        Driver::None => undriven(model, net, at),
        _ => Ok(wires[net as usize]),
    };
    for group in &outputs {
        let value: Vec<Wire> = group.nets.iter().map(|(_, net)| read(*net, group.at)).collect::<Result<_>>()?;
        b.output(&group.name, &value);
    }
    if state > 0 {
        let mut after = Vec::new();
        for flop in &model.flops {
            let next = read(flop.d, flop.at as usize)?;
            after.push(if flop.init { b.not(next) } else { next });
        }
        b.output("state", &after);
    }
    Ok(SequentialCircuit::new(b.finish(), state))
}

fn undriven<T>(model: &Model, net: Net, at: usize) -> Result<T> {
    wrong(
        at,
        format!(
            "the net {} is read, and nothing drives it (yosys' `setundef -undriven -zero` makes such nets zero)",
            named(model.name(net))
        ),
    )
}

/// The net of the clock, if there is one: an input of one bit that nothing but flip-flops reads, as their clock.
fn clock(model: &Model, drivers: &[Driver]) -> Result<Option<Net>> {
    let mut clocked = model.flops.iter().filter_map(|flop| Some((flop.clock?, flop)));
    let Some((clock, first)) = clocked.next() else { return Ok(None) };
    let name = named(model.name(clock));
    for (other, flop) in clocked {
        if other != clock {
            let other = named(model.name(other));
            return wrong(
                flop.at as usize,
                format!("the flip-flops have two clocks, {name} and {other}; one is possible"),
            );
        }
        if flop.rising != first.rising {
            return wrong(
                flop.at as usize,
                format!("flip-flops for both edges of the clock {name}; one edge is possible"),
            );
        }
    }
    if drivers[clock as usize] != Driver::Input || !model.inputs.iter().any(|port| port.nets == [clock]) {
        return wrong(
            first.at as usize,
            format!(
                "the clock {name} is not an input of one bit, and gated clocks are not supported: list it among the \
                    inputs, and give the register an enable, which yosys' `dffunmap` turns into a choice between the \
                    new value and the old one"
            ),
        );
    }
    let data = "is read as data, too; a clock only says when flip-flops take over";
    let reads = |cell: &&Cell| model.pins(cell).contains(&clock);
    if let Some(cell) = model.cells.iter().find(reads) {
        return wrong(cell.at as usize, format!("the clock {name} {data}"));
    }
    if let Some(flop) = model.flops.iter().find(|flop| flop.d == clock) {
        return wrong(flop.at as usize, format!("the clock {name} {data}"));
    }
    if let Some(port) = model.outputs.iter().find(|port| port.nets.contains(&clock)) {
        return wrong(port.at, format!("the clock {name} {data}"));
    }
    Ok(Some(clock))
}

/// The name and the index of `a[3]`, or `a [3]`.
fn indexed(name: &str) -> Option<(&str, u64)> {
    let (base, index) = name.strip_suffix(']')?.rsplit_once('[')?;
    let digits = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
    let base = base.trim_end();
    (digits && !base.is_empty()).then_some((base, index.parse().ok()?))
}

fn groups<'a>(ports: impl IntoIterator<Item = &'a Port>) -> Result<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut places = std::collections::BTreeMap::new();
    for port in ports {
        let single = if port.brackets && port.nets.len() == 1 { indexed(&port.name) } else { None };
        let (name, index) = single.map_or((port.name.as_str(), None), |(name, index)| (name, Some(index)));
        let place = *places.entry(name).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Group { name: name.to_owned(), nets: Vec::new(), at: port.at });
        }
        let group = &mut groups[place];
        if !group.nets.is_empty() && (index.is_none() || group.nets.iter().any(|(i, _)| i.is_none())) {
            return wrong(port.at, format!("there are two ports {}", named(name)));
        }
        group.nets.extend(port.nets.iter().map(|&net| (index, net)));
    }
    for group in &mut groups {
        if group.nets.iter().all(|(index, _)| index.is_some()) {
            group.nets.sort_by_key(|(index, _)| *index);
            if let Some(two) = group.nets.windows(2).find(|two| two[0].0 == two[1].0) {
                let index = two[0].0.unwrap_or(0);
                return wrong(
                    group.at,
                    format!("there are two ports `{}[{index}]`", super::shown(group.name.as_bytes())),
                );
            }
        }
    }
    Ok(groups)
}

/// The cells, each after those that drive its pins.
fn order(model: &Model, drivers: &[Driver]) -> Result<Vec<u32>> {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let mut marks = vec![NEW; model.cells.len()];
    let mut order = Vec::with_capacity(model.cells.len());
    // Cells whose pins are being followed, each with the next pin.
    let mut open: Vec<(u32, u32)> = Vec::new();
    for root in 0..model.cells.len() as u32 {
        if marks[root as usize] == NEW {
            marks[root as usize] = OPEN;
            open.push((root, 0));
        }
        while let Some((index, pin)) = open.last_mut() {
            let cell = &model.cells[*index as usize];
            let Some(&net) = model.pins(cell).get(*pin as usize) else {
                marks[*index as usize] = DONE;
                order.push(*index);
                open.pop();
                continue;
            };
            *pin += 1;
            match drivers[net as usize] {
                Driver::None => return undriven(model, net, cell.at as usize),
                Driver::Cell(next) if marks[next as usize] == NEW => {
                    marks[next as usize] = OPEN;
                    open.push((next, 0));
                }
                Driver::Cell(next) if marks[next as usize] == OPEN => {
                    let from = open.iter().position(|(index, _)| *index == next).unwrap_or(0);
                    return around(model, &open[from..]);
                }
                _ => {}
            }
        }
    }
    Ok(order)
}

/// The error that cells read each other in a circle.
fn around(model: &Model, circle: &[(u32, u32)]) -> Result<Vec<u32>> {
    let name = |(index, _): &(u32, u32)| named(model.name(model.cells[*index as usize].out));
    let mut names: Vec<String> = circle.iter().rev().take(8).map(name).collect();
    if circle.len() > 8 {
        names.push("…".to_owned());
    }
    names.extend(circle.last().map(name));
    let at = model.cells[circle[0].0 as usize].at as usize;
    wrong(at, format!("a combinational loop: {}", names.join(" -> ")))
}

/// A bound on the gates of a cell.
fn most_gates(cell: &Cell, pins: usize) -> usize {
    match &cell.function {
        Function::Table(_) => 512,
        Function::Large(bits) => 16 * bits.len() + pins,
        Function::Cover { cubes, .. } => cubes.iter().map(|cube| 2 * cube.len() + 4).sum::<usize>() + 4,
    }
}

fn gates(b: &mut Builder, tables: &mut Tables, function: &Function, pins: &[Wire]) -> Wire {
    match function {
        Function::Table(table) => tables.gates(b, *table, pins),
        Function::Large(bits) => table::large(tables, b, bits, pins),
        Function::Cover { cubes, on } => {
            let mut none = Wire::ONE;
            for cube in cubes.iter() {
                let mut covers = Wire::ONE;
                for literal in cube {
                    let pin = pins[literal.pin as usize];
                    let wanted = if literal.value { pin } else { b.not(pin) };
                    covers = b.and(covers, wanted);
                }
                let misses = b.not(covers);
                none = b.and(none, misses);
            }
            if *on { b.not(none) } else { none }
        }
    }
}

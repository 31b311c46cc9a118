//! The JSON that yosys' `write_json` writes: modules of ports, cells and names of nets.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::json::Json;
use super::netlist::{
    Instance, Model, Net, ONE, Port, Result, SequentialCircuit, ZERO, cells, flatten, lower, named, wrong,
};

/// The widest `$lut` that is read: its table has 2^16 bits.
const WIDEST_LUT: usize = 16;

pub(super) fn read(text: &str) -> Result<SequentialCircuit> {
    let mut json = Json::new(text);
    let mut modules: Vec<(String, Raw)> = Vec::new();
    let mut found = false;
    json.object(|json, _, key| match key.as_str() {
        "modules" => {
            found = true;
            json.object(|json, at, name| {
                if modules.iter().any(|(other, _)| *other == name) {
                    return wrong(at, format!("there are two modules {}", named(&name)));
                }
                modules.push((name, Raw::read(json)?));
                Ok(())
            })
        }
        _ => json.skip(),
    })?;
    json.end()?;
    if !found {
        return wrong(0, "JSON without `modules`: the file is not a netlist of yosys' `write_json`");
    }
    let top = modules.iter().find(|(_, module)| module.top).map(|(name, _)| name.clone());
    let order: Vec<String> = modules.iter().map(|(name, _)| name.clone()).collect();
    let names: HashSet<&String> = order.iter().collect();
    let models = modules.into_iter().map(|(name, module)| Ok((name, module.model(&names)?)));
    lower(&flatten(models.collect::<Result<BTreeMap<_, _>>>()?, &order, top)?)
}

/// A bit of a signal: a net by its number, or a constant.
#[derive(Clone, Copy)]
enum Bit {
    Net(u64),
    Constant(bool),
}

struct RawCell {
    at: usize,
    kind: String,
    lut: Option<String>,
    pins: Vec<(String, Vec<Bit>)>,
}

struct RawPort {
    at: usize,
    name: String,
    direction: String,
    bits: Vec<Bit>,
}

/// A module as it stands in the file.
#[derive(Default)]
struct Raw {
    top: bool,
    black_box: bool,
    ports: Vec<RawPort>,
    cells: Vec<RawCell>,
    /// The names of nets, those that yosys hides last, and what they are at first.
    names: Vec<(bool, String, Vec<Bit>, Option<String>)>,
}

fn bits(json: &mut Json) -> Result<Vec<Bit>> {
    let mut bits = Vec::new();
    json.array(|json| {
        let at = json.at();
        bits.push(match json.peek() {
            b'"' => match json.string()?.as_str() {
                // What does not matter is zero.
                "0" | "x" | "z" => Bit::Constant(false),
                "1" => Bit::Constant(true),
                _ => return wrong(at, "a bit is a number, or one of \"0\", \"1\", \"x\" and \"z\""),
            },
            _ => Bit::Net(json.number()?),
        });
        Ok(())
    })?;
    Ok(bits)
}

/// Reads a parameter or attribute: text, or a number in binary.
fn constant(json: &mut Json) -> Result<String> {
    if json.peek() == b'"' { json.string() } else { Ok(format!("{:b}", json.number()?)) }
}

fn is_true(text: &str) -> bool {
    text.contains('1')
}

impl Raw {
    fn read(json: &mut Json) -> Result<Raw> {
        let mut raw = Raw::default();
        json.object(|json, _, key| match key.as_str() {
            "attributes" => json.object(|json, _, key| {
                match key.as_str() {
                    "top" => raw.top = is_true(&constant(json)?),
                    "blackbox" | "whitebox" => raw.black_box = is_true(&constant(json)?),
                    _ => json.skip()?,
                }
                Ok(())
            }),
            "ports" => json.object(|json, at, name| {
                let mut port = RawPort { at, name, direction: String::new(), bits: Vec::new() };
                json.object(|json, _, key| {
                    match key.as_str() {
                        "direction" => port.direction = json.string()?,
                        "bits" => port.bits = bits(json)?,
                        _ => json.skip()?,
                    }
                    Ok(())
                })?;
                raw.ports.push(port);
                Ok(())
            }),
            "cells" => json.object(|json, at, _| {
                let mut cell = RawCell { at, kind: String::new(), lut: None, pins: Vec::new() };
                json.object(|json, _, key| match key.as_str() {
                    "type" => {
                        cell.kind = json.string()?;
                        Ok(())
                    }
                    "parameters" => json.object(|json, _, key| match key.as_str() {
                        "LUT" => {
                            cell.lut = Some(constant(json)?);
                            Ok(())
                        }
                        _ => json.skip(),
                    }),
                    "connections" => json.object(|json, _, pin| {
                        cell.pins.push((pin, bits(json)?));
                        Ok(())
                    }),
                    _ => json.skip(),
                })?;
                raw.cells.push(cell);
                Ok(())
            }),
            "netnames" => json.object(|json, _, name| {
                let (mut hidden, mut all, mut init) = (false, Vec::new(), None);
                json.object(|json, _, key| match key.as_str() {
                    "hide_name" => {
                        hidden = json.number()? != 0;
                        Ok(())
                    }
                    "bits" => {
                        all = bits(json)?;
                        Ok(())
                    }
                    "attributes" => json.object(|json, _, key| match key.as_str() {
                        "init" => {
                            init = Some(constant(json)?);
                            Ok(())
                        }
                        _ => json.skip(),
                    }),
                    _ => json.skip(),
                })?;
                raw.names.push((hidden, name, all, init));
                Ok(())
            }),
            _ => json.skip(),
        })?;
        Ok(raw)
    }

    fn model(mut self, modules: &HashSet<&String>) -> Result<Model> {
        let mut model = Model::new();
        model.black_box = self.black_box;
        let mut known: HashMap<u64, Net> = HashMap::new();
        let mut net = |model: &mut Model, bit: &Bit| match bit {
            Bit::Constant(value) => {
                if *value {
                    ONE
                } else {
                    ZERO
                }
            }
            Bit::Net(number) => *known.entry(*number).or_insert_with(|| model.net(format!("net {number}"))),
        };
        let mut ones: HashSet<Net> = HashSet::new();
        // The last name stays: hidden ones first.
        self.names.sort_by_key(|(hidden, ..)| !hidden);
        for (_, name, bits, init) in &self.names {
            for (i, bit) in bits.iter().enumerate() {
                let net = net(&mut model, bit);
                if net > ONE {
                    model.rename(net, &if bits.len() == 1 { name.clone() } else { format!("{name}[{i}]") });
                }
                // The most significant bit is written first.
                if init.as_ref().is_some_and(|init| init.bytes().nth_back(i) == Some(b'1')) {
                    ones.insert(net);
                }
            }
        }
        for RawPort { at, name, direction, bits } in &self.ports {
            let nets: Vec<Net> = bits.iter().map(|bit| net(&mut model, bit)).collect();
            let port = Port { name: name.clone(), brackets: true, nets, at: *at };
            match direction.as_str() {
                "input" => model.inputs.push(port),
                "output" => model.outputs.push(port),
                _ => return wrong(*at, format!("the port {} is neither input nor output", named(name))),
            }
        }
        for RawCell { at, kind, lut, pins } in &self.cells {
            let mut pins: Vec<(String, Vec<Net>)> = pins
                .iter()
                .map(|(pin, bits)| (pin.clone(), bits.iter().map(|bit| net(&mut model, bit)).collect()))
                .collect();
            // What only describes the design.
            if matches!(kind.as_str(), "$scopeinfo" | "$print" | "$check" | "$assert" | "$assume" | "$cover") {
                continue;
            }
            if modules.contains(kind) {
                model.instances.push(Instance { model: kind.clone(), ports: pins, at: *at });
            } else if kind == "$lut" {
                table(&mut model, *at, lut.as_deref().unwrap_or(""), &pins)?;
            } else if cells::exists(kind) {
                if let Some((pin, nets)) = pins.iter().find(|(_, nets)| nets.len() != 1) {
                    let (pin, bits) = (named(pin), nets.len());
                    return wrong(*at, format!("the pin {pin} of a cell {} has {bits} bits, not one", named(kind)));
                }
                let pins: Vec<(String, Net)> = pins.drain(..).map(|(pin, nets)| (pin, nets[0])).collect();
                cells::add(&mut model, *at, kind, &pins, |net| ones.contains(&net))?;
            } else {
                return wrong(*at, cells::unknown(kind));
            }
        }
        Ok(model)
    }
}

/// Adds a `$lut`, whose table is written with the last entry first.
fn table(model: &mut Model, at: usize, lut: &str, pins: &[(String, Vec<Net>)]) -> Result<()> {
    let pin = |name: &str| pins.iter().find(|(pin, _)| pin == name).map(|(_, nets)| nets);
    let (Some(ins), Some([out])) = (pin("A"), pin("Y").map(Vec::as_slice)) else {
        return wrong(at, "a `$lut` has the pins A and Y, and Y has one bit");
    };
    if ins.len() > WIDEST_LUT {
        return wrong(at, format!("a `$lut` of {} inputs; at most {WIDEST_LUT} are possible", ins.len()));
    }
    let lut = lut.as_bytes();
    let value = |i: usize| lut.len().checked_sub(i + 1).is_some_and(|i| lut[i] == b'1');
    let function = cells::tabulated(ins.len(), value);
    model.cell(at, function, ins, *out);
    Ok(())
}

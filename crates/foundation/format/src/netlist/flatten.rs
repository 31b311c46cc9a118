//! Modules inside modules, put into one.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Flop, Function, Instance, Model, Net, ONE, Result, ZERO, named, wrong};

/// The most pins of cells that modules inside modules have in all: a few lines of text can describe any number.
const MOST_PINS: usize = 1 << 22;
/// The most modules inside each other.
const DEEPEST: usize = 64;

/// The module that no other contains, the first of them, with all that it contains put into it.
pub(crate) fn flatten(mut models: BTreeMap<String, Model>, order: &[String], top: Option<String>) -> Result<Model> {
    let used = |name: &String| models.values().any(|m| m.instances.iter().any(|i| i.model == *name));
    let candidates = order.iter().filter(|name| models.get(*name).is_some_and(|model| !model.black_box));
    let Some(top) = top.or_else(|| candidates.clone().find(|name| !used(name)).or(candidates.clone().next()).cloned())
    else {
        return wrong(0, "the file holds no module");
    };
    let Some(mut flat) = models.remove(&top) else { return wrong(0, "the file holds no top module") };
    let mut into = Into { models: &models, path: vec![top], pins: 0 };
    for instance in std::mem::take(&mut flat.instances) {
        into.put(&mut flat, &instance, &|net| net)?;
    }
    Ok(flat)
}

struct Into<'a> {
    models: &'a BTreeMap<String, Model>,
    /// The names of the modules around, outermost first.
    path: Vec<String>,
    pins: usize,
}

impl Into<'_> {
    /// Puts a module into `flat`; `outer` gives the nets of the surrounding module in `flat`.
    fn put(&mut self, flat: &mut Model, instance: &Instance, outer: &dyn Fn(Net) -> Net) -> Result<()> {
        let Instance { model: name, ports, at } = instance;
        let at = *at;
        if self.path.contains(name) {
            return wrong(at, format!("the module {} contains itself", named(name)));
        }
        let Some(model) = self.models.get(name).filter(|model| !model.black_box) else {
            return wrong(at, super::cells::unknown(name));
        };
        if self.path.len() >= DEEPEST {
            return wrong(at, format!("more than {DEEPEST} modules inside each other"));
        }
        self.pins += model.nets() + model.pins.len() + model.flops.len() + ports.len();
        if self.pins > MOST_PINS {
            return wrong(at, format!("modules inside modules with more than {MOST_PINS} pins in all"));
        }
        let mut map: Vec<Option<Net>> = vec![None; model.nets()];
        (map[ZERO as usize], map[ONE as usize]) = (Some(ZERO), Some(ONE));
        let connected = |port: &super::Port| -> Result<Option<&Vec<Net>>> {
            let found = ports.iter().find(|(name, _)| *name == port.name).map(|(_, nets)| nets);
            match found {
                Some(nets) if nets.len() != port.nets.len() => {
                    let (given, wanted, port) = (nets.len(), port.nets.len(), named(&port.name));
                    wrong(at, format!("{given} nets for the port {port} of {}, which has {wanted}", named(name)))
                }
                found => Ok(found),
            }
        };
        for (port, _) in ports {
            if !model.inputs.iter().chain(&model.outputs).any(|p| p.name == *port) {
                return wrong(at, format!("the module {} has no port {}", named(name), named(port)));
            }
        }
        for port in &model.inputs {
            let Some(nets) = connected(port)? else {
                return wrong(at, format!("the input {} of {} is not connected", named(&port.name), named(name)));
            };
            port.nets.iter().zip(nets).for_each(|(inner, net)| map[*inner as usize] = Some(outer(*net)));
        }
        for (inner, place) in map.iter_mut().enumerate() {
            place.get_or_insert_with(|| flat.net(Rc::clone(&model.names[inner])));
        }
        let inside = |net: Net| map[net as usize].unwrap_or(ZERO);
        for cell in &model.cells {
            let pins: Vec<Net> = model.pins(cell).iter().map(|&net| inside(net)).collect();
            flat.cell(cell.at as usize, cell.function.clone(), &pins, inside(cell.out));
        }
        for flop in &model.flops {
            let (d, q, clock) = (inside(flop.d), inside(flop.q), flop.clock.map(inside));
            flat.flops.push(Flop { d, q, clock, ..flop.clone() });
        }
        // An output may be an input or another output, too: a copy makes it a net of its own.
        for port in &model.outputs {
            for (inner, net) in port.nets.iter().zip(connected(port)?.into_iter().flatten()) {
                flat.cell(at, Function::Table(0b10), &[inside(*inner)], outer(*net));
            }
        }
        self.path.push(name.clone());
        for instance in &model.instances {
            self.put(flat, instance, &inside)?;
        }
        self.path.pop();
        Ok(())
    }
}

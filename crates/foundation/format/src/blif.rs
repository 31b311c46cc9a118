//! BLIF, the Berkeley Logic Interchange Format, as yosys' `write_blif` and other tools write it.
//!
//! Read are `.model`, `.inputs`, `.outputs`, `.names` with covers of the on-set or the off-set, `.latch`,
//! `.subckt` and `.gate` (of models in the same file, and of yosys' gates; its other flip-flops have no
//! initial value in BLIF), `.conn`, `.blackbox`, `.end`, and comments and lines that go on after `\`. What
//! says how large or how fast something is gets no attention.

use std::collections::{BTreeMap, HashMap};

use super::netlist::{
    Flop, Function, Instance, Literal, Model, Net, Port, Result, SequentialCircuit, cells, check_name, flatten, lower,
    named, wrong,
};

pub(super) fn read(text: &str) -> Result<SequentialCircuit> {
    let mut lines = Lines { text, at: 0 };
    let mut file = File::default();
    let mut pending = lines.next();
    while let Some(line) = pending {
        pending = file.line(&line, &mut lines)?;
    }
    if file.open.is_some() {
        file.odd(text.trim_end().len(), "the file ends without `.end`: is all of it there?".to_owned());
    }
    file.close()?;
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    let warnings = file.odd.iter().map(|(at, what)| format!("line {}: {what}", line(*at))).collect();
    Ok(lower(&flatten(file.models, &file.order, None)?)?.with_warnings(warnings))
}

/// The most oddities of a file that are reported.
const MOST_WARNINGS: usize = 8;

/// A word, after the place where it stands.
type Word<'a> = (usize, &'a str);

/// The lines in words, without comments; a line that ends in `\` goes on in the next.
struct Lines<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<Vec<Word<'a>>> {
        let mut words: Vec<Word> = Vec::new();
        loop {
            if self.at >= self.text.len() {
                return if words.is_empty() { None } else { Some(words) };
            }
            let rest = &self.text[self.at..];
            let end = rest.find('\n').unwrap_or(rest.len());
            let line = &rest[..end];
            let content = line.split('#').next().unwrap_or(line).trim_end();
            let (content, goes_on) = match content.strip_suffix('\\') {
                Some(content) => (content, true),
                None => (content, false),
            };
            let mut from = 0;
            while let Some(start) = content[from..].find(|c: char| !c.is_ascii_whitespace()) {
                let start = from + start;
                let length = content[start..].find(|c: char| c.is_ascii_whitespace());
                from = length.map_or(content.len(), |length| start + length);
                words.push((self.at + start, &content[start..from]));
            }
            self.at += end + 1;
            if !goes_on && !words.is_empty() {
                return Some(words);
            }
        }
    }
}

#[derive(Default)]
struct File<'a> {
    models: BTreeMap<String, Model>,
    order: Vec<String>,
    open: Option<Open<'a>>,
    /// The oddities of the file: the line, and what is odd there.
    odd: Vec<(usize, String)>,
}

/// The model that is being read.
struct Open<'a> {
    at: usize,
    name: String,
    model: Model,
    nets: HashMap<&'a str, Net>,
    odd: Vec<(usize, String)>,
}

impl<'a> Open<'a> {
    fn net(&mut self, (at, name): Word<'a>) -> Result<Net> {
        check_name(at, name)?;
        let model = &mut self.model;
        Ok(*self.nets.entry(name).or_insert_with(|| model.net(name)))
    }

    fn ports(&mut self, words: &[Word<'a>]) -> Result<Vec<Port>> {
        let port = |&(at, name): &Word<'a>| {
            Ok(Port { name: name.to_owned(), brackets: true, nets: vec![self.net((at, name))?], at })
        };
        words.iter().map(port).collect()
    }

    /// Reads a truth table: the rows that follow.
    fn names(&mut self, at: usize, words: &[Word<'a>], lines: &mut Lines<'a>) -> Result<Option<Vec<Word<'a>>>> {
        let Some((out, pins)) = words.split_last() else {
            return wrong(at, "`.names` without the net that it drives");
        };
        let pins: Vec<Net> = pins.iter().map(|&word| self.net(word)).collect::<Result<_>>()?;
        let out = self.net(*out)?;
        let (mut cubes, mut value): (Vec<Vec<Literal>>, Option<bool>) = (Vec::new(), None);
        let next = loop {
            let Some(row) = lines.next() else { break None };
            if row[0].1.starts_with('.') {
                break Some(row);
            }
            let (cube, result) = match row[..] {
                [result] if pins.is_empty() => ((result.0, ""), result),
                [cube, result] if !pins.is_empty() => (cube, result),
                _ => return wrong(row[0].0, "a row of a truth table is a value for each input, a blank and a value"),
            };
            if cube.1.len() != pins.len() {
                let (given, wanted) = (cube.1.len(), pins.len());
                return wrong(cube.0, format!("{given} values in the row, for {wanted} inputs"));
            }
            let result_is = match result.1 {
                "1" => true,
                "0" => false,
                _ => return wrong(result.0, "the value of a row is 0 or 1"),
            };
            if value.is_some_and(|value| value != result_is) {
                return wrong(result.0, "rows for 0 and rows for 1 in one truth table");
            }
            value = Some(result_is);
            let mut literals = Vec::new();
            for (pin, c) in cube.1.bytes().enumerate() {
                match c {
                    b'0' | b'1' => literals.push(Literal { pin: pin as u32, value: c == b'1' }),
                    b'-' => {}
                    _ => return wrong(cube.0 + pin, "a value in a row is 0, 1 or -"),
                }
            }
            cubes.push(literals);
        };
        if value.is_none() && !pins.is_empty() {
            let name = named(self.model.name(out));
            self.odd.push((at, format!("the truth table of {name} has no rows, so {name} is always 0")));
        }
        // Without rows it is zero.
        let on = value.unwrap_or(true);
        let function = if pins.len() <= 6 {
            let covers = |i: usize| cubes.iter().any(|c| c.iter().all(|l| (i >> l.pin & 1 == 1) == l.value));
            cells::tabulated(pins.len(), |i| covers(i) == on)
        } else {
            Function::Cover { cubes: cubes.into(), on }
        };
        self.model.cell(at, function, &pins, out);
        Ok(next)
    }

    fn latch(&mut self, at: usize, words: &[Word<'a>]) -> Result<()> {
        let (&[d, q], rest) = words.split_first_chunk().map_or((&[(at, ""); 2], words), |(two, rest)| (two, rest));
        if d.1.is_empty() {
            return wrong(at, "`.latch` without its input and output");
        }
        let (control, init) = match rest {
            [] => (None, None),
            [init] => (None, Some(init)),
            [kind, clock] => (Some((kind, clock)), None),
            [kind, clock, init] => (Some((kind, clock)), Some(init)),
            [.., more] => return wrong(more.0, "more than a latch takes: input, output, kind, clock, initial value"),
        };
        let init = match init {
            None | Some((_, "0" | "2" | "3")) => false,
            Some((_, "1")) => true,
            Some((at, _)) => return wrong(*at, "the initial value of a latch is 0, 1, 2 or 3"),
        };
        let (clock, rising) = match control {
            None => (None, true),
            Some(((_, kind @ ("re" | "fe")), clock)) => {
                let clock = if clock.1 == "NIL" { None } else { Some(self.net(*clock)?) };
                (clock, *kind == "re")
            }
            Some((kind, _)) => {
                return wrong(
                    kind.0,
                    "only latches of the kinds re and fe (rising and falling edge) are possible: describe the register with a \
                     clock edge, as in Verilog's `always @(posedge clk)`",
                );
            }
        };
        let (d, q) = (self.net(d)?, self.net(q)?);
        self.model.flops.push(Flop { d, q, clock, rising, init, at: at as u32 });
        Ok(())
    }

    fn instance(&mut self, at: usize, words: &[Word<'a>]) -> Result<()> {
        let Some((&(_, model), pins)) = words.split_first() else {
            return wrong(at, "a name is wanted after `.subckt` or `.gate`");
        };
        let mut ports = Vec::new();
        for &(at, word) in pins {
            let Some((formal, actual)) = word.split_once('=').filter(|(_, actual)| !actual.is_empty()) else {
                return wrong(at, "a pin is written PIN=NET");
            };
            ports.push((formal.to_owned(), vec![self.net((at + formal.len() + 1, actual))?]));
        }
        self.model.instances.push(Instance { model: model.to_owned(), ports, at });
        Ok(())
    }
}

impl<'a> File<'a> {
    /// Reads a line and what belongs to it; returns the line after that.
    fn line(&mut self, line: &[Word<'a>], lines: &mut Lines<'a>) -> Result<Option<Vec<Word<'a>>>> {
        let (at, keyword) = line[0];
        let words = &line[1..];
        match keyword {
            ".model" => {
                self.close()?;
                let name = words.first().map_or("", |word| word.1).to_owned();
                check_name(at, &name)?;
                self.open = Some(Open { at, name, model: Model::new(), nets: HashMap::new(), odd: Vec::new() });
            }
            ".end" => self.close()?,
            // Another file, or what nobody needs for the function.
            ".search" => return wrong(at, "`.search` names another file; put its models into this one"),
            ".exdc" => return wrong(at, "`.exdc`: external don't-care networks are not read"),
            _ if !keyword.starts_with('.') => {
                return wrong(at, format!("{} where a line begins with a keyword such as .model", named(keyword)));
            }
            _ => {
                let open = self.open.get_or_insert_with(|| Open {
                    at,
                    name: String::new(),
                    model: Model::new(),
                    nets: HashMap::new(),
                    odd: Vec::new(),
                });
                match keyword {
                    ".inputs" | ".input" => {
                        let ports = open.ports(words)?;
                        open.model.inputs.extend(ports);
                    }
                    ".outputs" | ".output" => {
                        let ports = open.ports(words)?;
                        open.model.outputs.extend(ports);
                    }
                    ".names" => return open.names(at, words, lines),
                    ".latch" => open.latch(at, words)?,
                    ".subckt" | ".gate" => open.instance(at, words)?,
                    ".conn" => {
                        let &[from, to] = words else { return wrong(at, "`.conn` takes two nets") };
                        let (from, to) = (open.net(from)?, open.net(to)?);
                        open.model.cell(at, Function::Table(0b10), &[from], to);
                    }
                    ".blackbox" => open.model.black_box = true,
                    ".attr"
                    | ".param"
                    | ".cname"
                    | ".clock"
                    | ".area"
                    | ".delay"
                    | ".wire_load_slope"
                    | ".wire"
                    | ".input_arrival"
                    | ".default_input_arrival"
                    | ".output_required"
                    | ".default_output_required"
                    | ".input_drive"
                    | ".default_input_drive"
                    | ".output_load"
                    | ".default_output_load"
                    | ".max_input_load"
                    | ".default_max_input_load" => {}
                    _ => {
                        return wrong(at, format!("the BLIF that comity reads has no keyword {}", named(keyword)));
                    }
                }
            }
        }
        Ok(lines.next())
    }

    /// Notes an oddity. If a file is full of them, the first lines say enough.
    fn odd(&mut self, at: usize, what: String) {
        if self.odd.len() < MOST_WARNINGS {
            self.odd.push((at, what));
        }
    }

    /// Ends a model.
    fn close(&mut self) -> Result<()> {
        let Some(mut open) = self.open.take() else { return Ok(()) };
        open.odd.drain(..).for_each(|(at, what)| self.odd(at, what));
        let instances = std::mem::take(&mut open.model.instances);
        for Instance { model, ports, at } in instances {
            if cells::is_flip_flop(&model) {
                let what = "BLIF does not tell with which value it begins; run yosys' `dffunmap` before `write_blif`, \
                    or read its `write_json`";
                return wrong(at, format!("the flip-flop {}: {what}", named(&model)));
            }
            if cells::exists(&model) {
                let pins: Vec<(String, Net)> = ports.into_iter().map(|(pin, nets)| (pin, nets[0])).collect();
                cells::add(&mut open.model, at, &model, &pins, |_| false)?;
            } else {
                open.model.instances.push(Instance { model, ports, at });
            }
        }
        if self.models.contains_key(&open.name) {
            return wrong(open.at, format!("there are two models {}", named(&open.name)));
        }
        self.order.push(open.name.clone());
        self.models.insert(open.name, open.model);
        Ok(())
    }
}

//! Syntax tree to checked program: names, types, sizes.
//!
//! A function is checked once for each set of sizes that it is called with, so that all widths and lengths are known.
//! Inside a function the types of variables and numbers are found by unification.

mod call;
mod consts;
mod expr;
mod hint;
mod infer;
mod stmt;
mod types;

use std::collections::HashMap;
use std::rc::Rc;

use comity_circuit::{Circuit, Goal, PartySet, Program, Recipients};
use comity_core::PartyId;

use crate::ast::{self, Function, Outputs, To, Who, WhoKind};
use crate::diagnostic::{Errors, Lines, Span, did_you_mean};
use crate::ir::{Func, FuncId, Input, Module, Output};
use crate::types::{Struct, Ty};

pub(crate) use consts::arithmetic;

use consts::ConstState;
use infer::Body;

/// Functions for different sizes, at most.
const MAX_INSTANCES: usize = 4096;

/// The type or number that a generic parameter stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Generic {
    Number(i128),
    Type(Ty),
}

type Generics<'s> = HashMap<&'s str, Generic>;

struct Checker<'s, 'e> {
    source: &'s str,
    /// Whether `main` has no output written down, and gives what its body gives.
    inferred: bool,
    goal: Goal,
    file: &'e ast::File<'s>,
    errors: &'e mut Errors,
    structs: HashMap<&'s str, StructState>,
    consts: Vec<ConstState>,
    const_names: HashMap<&'s str, usize>,
    functions: HashMap<&'s str, usize>,
    /// Functions that call each other in a circle: calls among them were reported.
    recursive: Vec<bool>,
    funcs: Vec<Func>,
    instances: HashMap<(usize, Vec<Generic>), FuncId>,
    /// The library's circuits that are called.
    circuits: HashMap<String, Rc<Circuit>>,
    /// The depth of the expression or block that is being checked.
    nested: u32,
    /// Instances whose bodies are to be checked.
    queue: Vec<(FuncId, usize, Generics<'s>)>,
}

#[derive(Clone)]
enum StructState {
    Unseen(usize),
    Inside,
    Known(Rc<Struct>),
    /// A mistake in it was told.
    Wrong,
}

/// Checks a file. The module is there if there are no mistakes. If the output is `inferred`, none is written
/// behind `main`.
pub(crate) fn check<'s>(
    source: &'s str,
    file: &ast::File<'s>,
    inferred: bool,
    goal: Goal,
    errors: &mut Errors,
) -> Option<Module> {
    let mut checker = Checker {
        source,
        inferred,
        goal,
        file,
        errors,
        structs: HashMap::new(),
        consts: file.consts.iter().map(|_| ConstState::Unseen).collect(),
        const_names: HashMap::new(),
        functions: HashMap::new(),
        recursive: Vec::new(),
        funcs: Vec::new(),
        instances: HashMap::new(),
        circuits: HashMap::new(),
        nested: 0,
        queue: Vec::new(),
    };
    checker.names();
    checker.recursive = checker.find_recursion();
    for index in 0..file.consts.len() {
        checker.constant(index);
    }
    for item in &file.structs {
        checker.structure(item.name.text);
    }
    let main = checker.main();
    for (index, function) in file.functions.iter().enumerate() {
        // A function is checked even if nobody calls it; without its sizes that is not possible.
        if function.generics.is_empty() && function.name.text != "main" {
            checker.instance(index, Generics::new(), function.name.span);
        }
    }
    while let Some((id, function, generics)) = checker.queue.pop() {
        checker.body(id, function, generics);
    }
    let Checker { funcs, .. } = checker;
    let (main, inputs, mut outputs) = main?;
    if let (true, Some(body)) = (inferred, &funcs[main].body) {
        let ty = funcs[main].ty(body).clone();
        outputs.push(Output { name: "result".to_owned(), to: Recipients::All, ty });
    }
    errors.is_empty().then_some(Module { goal, funcs, main, inputs, outputs, lines: Lines::of(source) })
}

impl<'s> Checker<'s, '_> {
    /// Collects the names of all items.
    fn names(&mut self) {
        let file = self.file;
        let mut seen: HashMap<&str, &str> = HashMap::new();
        if let Some(name) = file.parties.get(usize::from(Program::MAX_PARTIES)) {
            self.errors.add(name.span, format!("there are more than {} parties", Program::MAX_PARTIES));
        }
        let parties = file.parties.iter().map(|name| (name, "party"));
        let consts = file.consts.iter().map(|item| (&item.name, "constant"));
        let structs = file.structs.iter().map(|item| (&item.name, "struct"));
        let functions = file.functions.iter().map(|item| (&item.name, "function"));
        for (name, what) in consts.chain(structs).chain(functions) {
            if seen.insert(name.text, what).is_some() {
                self.errors.add(name.span, format!("there is another `{}` already", name.text));
            }
            if what == "struct" && builtin_type(name.text).is_some() {
                self.errors.add(name.span, format!("`{}` is a type of the language", name.text));
            }
        }
        seen.clear();
        for (name, what) in parties {
            if seen.insert(name.text, what).is_some() {
                self.errors.add(name.span, format!("party `{}` is listed twice", name.text));
            }
            if name.text == "all" {
                self.errors.add(name.span, "`all` stands for all parties; choose another name");
            }
        }
        self.const_names = file.consts.iter().enumerate().map(|(i, item)| (item.name.text, i)).collect();
        let structs = file.structs.iter().enumerate();
        self.structs = structs.map(|(i, item)| (item.name.text, StructState::Unseen(i))).collect();
        self.functions = file.functions.iter().enumerate().map(|(i, item)| (item.name.text, i)).collect();
    }

    /// The number of a party, if there is one.
    fn party(&mut self, who: &Who<'s>) -> Option<PartyId> {
        let names = self.file.parties.iter().map(|party| party.text);
        let (party, why) = match &who.kind {
            WhoKind::Number(number) => {
                let most = usize::from(Program::MAX_PARTIES);
                let limit = if names.len() == 0 { most } else { names.len().min(most) };
                let party = number.small().and_then(|n| usize::try_from(n).ok()).filter(|&party| party < limit);
                (party, format!("parties are numbered from 0 to {}", limit - 1))
            }
            WhoKind::Name(name) => {
                let hint = if self.file.parties.is_empty() {
                    format!("; list the parties at the top: `parties {name}, ...;`")
                } else {
                    did_you_mean(name, names.clone())
                };
                (names.clone().position(|party| party == *name), format!("there is no party `{name}`{hint}"))
            }
        };
        if party.is_none() {
            self.errors.add(who.span, why);
        }
        party.and_then(|party| u16::try_from(party).ok()).map(PartyId)
    }

    fn recipients(&mut self, to: &To<'s>) -> Recipients {
        let these = match to {
            To::Unsaid | To::One(Who { kind: WhoKind::Name("all"), .. }) => return Recipients::All,
            To::One(who) => std::slice::from_ref(who),
            To::These(these, span) => {
                if these.is_empty() {
                    self.errors.add(*span, "say who learns it: `to (0, 1)`, or leave `to` out for everybody");
                }
                these
            }
        };
        let mut parties = PartySet::default();
        for who in these {
            let Some(party) = self.party(who) else { continue };
            if parties.contains(party) {
                self.errors.add(who.span, "a party that is named twice");
            } else if let Err(why) = parties.insert(party) {
                self.errors.add(who.span, why.to_string());
            }
        }
        Recipients::Parties(parties)
    }

    /// `main`, its inputs and outputs.
    fn main(&mut self) -> Option<(FuncId, Vec<Input>, Vec<Output>)> {
        let file = self.file;
        let Some(&index) = self.functions.get("main") else {
            let near = did_you_mean("main", self.functions.keys().copied());
            let at = file.functions.last().map_or(Span::default(), |function| function.name.span);
            self.errors.add(at, format!("there is no function `main`, where a program begins{near}"));
            return None;
        };
        let main: &Function = &file.functions[index];
        if let Some(name) = main.generics.first() {
            self.errors.add(name.span, "`main` has no parameters of this kind; its sizes are constants");
            return None;
        }
        let mut inputs = Vec::new();
        for param in &main.params {
            let ty = self.ty(&param.ty, &Generics::new());
            let owner = match &param.from {
                Some(who) => self.party(who).unwrap_or_default(),
                None => {
                    let party = file.parties.first().map_or("0", |party| party.text);
                    let name = param.name.text;
                    let message = format!("say which party gives `{name}`: `{name}: {ty} from {party}`");
                    self.errors.add(param.name.span, message);
                    PartyId::default()
                }
            };
            inputs.push(Input { name: param.name.text.to_owned(), owner: owner.into(), ty });
        }
        let mut outputs: Vec<Output> = Vec::new();
        match &main.outputs {
            Outputs::None if self.inferred => {}
            Outputs::None => {
                self.errors.add(main.name.span, "`main` has no output; write `-> u32`, or `-> (sum: u32 to all)`");
            }
            Outputs::One(ty, to) => {
                let (ty, to) = (self.ty(ty, &Generics::new()), self.recipients(to));
                outputs.push(Output { name: "result".to_owned(), to, ty });
            }
            Outputs::Named(all) => {
                for (name, ty, to) in all {
                    if outputs.iter().any(|output| output.name == name.text) {
                        self.errors.add(name.span, format!("there is another output `{}` already", name.text));
                    }
                    let (ty, to) = (self.ty(ty, &Generics::new()), self.recipients(to));
                    outputs.push(Output { name: name.text.to_owned(), to, ty });
                }
            }
        }
        let id = self.instance(index, Generics::new(), main.name.span)?;
        Some((id, inputs, outputs))
    }

    /// The function for these sizes; its body is checked later.
    fn instance(&mut self, function: usize, generics: Generics<'s>, at: Span) -> Option<FuncId> {
        let item = &self.file.functions[function];
        let key: Vec<Generic> = item.generics.iter().filter_map(|name| generics.get(name.text).cloned()).collect();
        if let Some(&id) = self.instances.get(&(function, key.clone())) {
            return Some(id);
        }
        if self.funcs.len() >= MAX_INSTANCES {
            self.errors.add(at, format!("functions are called with more than {MAX_INSTANCES} different sizes"));
            return None;
        }
        let id = self.funcs.len();
        self.funcs.push(Func::default());
        self.instances.insert((function, key), id);
        self.queue.push((id, function, generics));
        Some(id)
    }

    /// The type that a function gives: one for all its outputs.
    fn result(&mut self, function: &Function<'s>, generics: &Generics<'s>) -> Ty {
        match &function.outputs {
            Outputs::None => Ty::unit(),
            Outputs::One(ty, _) => self.ty(ty, generics),
            Outputs::Named(all) => {
                let mut types: Vec<Ty> = all.iter().map(|(_, ty, _)| self.ty(ty, generics)).collect();
                if types.len() == 1 { types.remove(0) } else { self.small(Ty::Tuple(types.into()), function.name.span) }
            }
        }
    }

    /// Checks the body of an instance.
    fn body(&mut self, id: FuncId, function: usize, generics: Generics<'s>) {
        let item = &self.file.functions[function];
        let result = self.result(item, &generics);
        let main = item.name.text == "main";
        let mut body = Body::new(self, generics);
        let mut params = Vec::new();
        for param in &item.params {
            let ty = body.checker.ty(&param.ty, &body.generics);
            if let (Some(who), false) = (&param.from, main) {
                body.checker.errors.add(who.span, "only `main` gets its values from parties");
            }
            if body.scope.iter().any(|(name, _)| *name == param.name.text) {
                let message = format!("there is another parameter `{}` already", param.name.text);
                body.checker.errors.add(param.name.span, message);
            }
            params.push(body.declare(param.name, ty, param.mutable, false));
        }
        let to = match &item.outputs {
            Outputs::One(_, to) => to.span(),
            Outputs::Named(all) => all.iter().find_map(|(_, _, to)| to.span()),
            Outputs::None => None,
        };
        if let (Some(span), false) = (to, main) {
            body.checker.errors.add(span, "only `main` gives its values to parties");
        }
        let inferred = main && body.checker.inferred;
        let value = body.block(&item.body, Some(&result).filter(|_| !inferred));
        let at = item.body.value.as_ref().map_or(Span { start: item.body.span.end - 1, ..item.body.span }, |v| v.span);
        let value = if inferred {
            value
        } else if item.body.value.is_none() && !result.is_unit() {
            let message =
                format!("the function's value is missing: end it with an expression of type {result}, without `;`");
            body.checker.errors.add(at, message);
            value
        } else {
            body.expect(value, &result, "the function's value")
        };
        let (vars, types) = body.finish();
        if let (true, Some(message)) = (inferred, unfit(&types[value.ty])) {
            self.errors.add(at, message);
        }
        let func = &mut self.funcs[id];
        (func.params, func.vars, func.types, func.body) = (params, vars, types, Some(value));
    }

    /// Reports functions that call themselves, directly or through others; true for each of them.
    fn find_recursion(&mut self) -> Vec<bool> {
        let file = self.file;
        let count = file.functions.len();
        let calls: Vec<Vec<(usize, Span)>> = file
            .functions
            .iter()
            .map(|function| {
                let mut names = Vec::new();
                call::calls_of_block(&function.body, &mut names);
                let known = |name: &ast::Name| Some((*self.functions.get(name.text)?, name.span));
                names.iter().filter_map(known).collect()
            })
            .collect();
        let mut recursive = vec![false; count];
        for start in (0..count).filter(|&start| file.functions[start].name.text != "main") {
            // Which functions are reached from here, and through which call of this one.
            let mut seen = vec![false; count];
            let mut open: Vec<(usize, Span)> = calls[start].clone();
            while let Some((next, first)) = open.pop() {
                if next == start {
                    let name = file.functions[start].name.text;
                    let message =
                        format!("`{name}` calls itself here; calls would have no end. Write a loop: `for i in 0..10`");
                    self.errors.add(first, message);
                    recursive[start] = true;
                    break;
                }
                if !std::mem::replace(&mut seen[next], true) {
                    open.extend(calls[next].iter().map(|&(function, _)| (function, first)));
                }
            }
        }
        recursive
    }
}

/// Why an expression of this type is no value that a program could give.
fn unfit(ty: &Ty) -> Option<&'static str> {
    match ty {
        Ty::Number => Some("how wide is this number? Write its type behind it, as in `5u32`, or `as u32`"),
        Ty::Array(element, _) => unfit(element),
        Ty::Tuple(parts) if parts.is_empty() => Some("this has no value"),
        Ty::Tuple(parts) => parts.iter().find_map(unfit),
        _ => None,
    }
}

/// `bool`, `u32` and the like; an error for `u0`.
fn builtin_type(name: &str) -> Option<Result<Ty, String>> {
    match name {
        "bool" => return Some(Ok(Ty::Bool)),
        "f32" => return Some(Ok(Ty::F32)),
        "f64" => return Some(Ok(Ty::F64)),
        _ => {}
    }
    let make: fn(u32) -> Ty = if name.starts_with('u') { Ty::Uint } else { Ty::Int };
    let digits = name.strip_prefix(['u', 'i']).filter(|digits| !digits.is_empty())?;
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let width = digits.parse().ok().filter(|width| (1..=crate::types::MAX_WIDTH).contains(width));
    let width = width.filter(|_| !digits.starts_with('0'));
    Some(width.map(make).ok_or_else(|| format!("`{name}`: numbers have 1 to {} bits", crate::types::MAX_WIDTH)))
}

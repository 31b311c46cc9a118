//! Statements on a session: what is checked here, what both agree on, and what is done then.

use std::collections::BTreeMap;

use comity::interactive::{Interactive, Shared};
use comity::{Diagnostics, compile_expression, parse_type};
use comity_circuit::{Program, Recipients, Type};
use comity_core::{Bits, Error};
use comity_format::value;
use comity_language::statement::{Statement, words};
use comity_terminal::failure::{Ending, Failure, Outcome};

/// A session, and the values that have names in it.
pub(super) struct Evaluator<'a> {
    session: Interactive<'a>,
    values: BTreeMap<String, (Shared, Type)>,
}

/// The outcome of a statement.
pub(super) enum Done {
    /// A value has this name now, and this type.
    Named(String, Type),
    /// A value that was revealed: the expression, for whom, its type, and its value if it is for this party.
    Revealed { expression: String, to: Recipients, ty: Type, value: Option<Bits> },
    /// Nothing was done, for this reason; the session goes on.
    Refused(String),
}

/// A statement that has passed every check that needs no peer.
pub(super) struct Ready(Prepared);

enum Prepared {
    Input { name: String, party: u16, ty: Type, value: Option<Bits> },
    Random { name: String, ty: Type },
    Let { name: String, computed: Computed },
    Reveal { expression: String, to: Recipients, computed: Computed },
}

/// An expression, compiled.
struct Computed {
    program: Program,
    /// The names of the expression's values, in order.
    names: Vec<String>,
}

impl Computed {
    fn ty(&self) -> &Type {
        &self.program.outputs()[0].ty
    }
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(session: Interactive<'a>) -> Evaluator<'a> {
        Evaluator { session, values: BTreeMap::new() }
    }

    pub(super) fn session(&self) -> &Interactive<'a> {
        &self.session
    }

    /// The values that have names, and their types.
    pub(super) fn vars(&self) -> impl Iterator<Item = (&str, &Type)> {
        self.values.iter().map(|(name, (_, ty))| (name.as_str(), ty))
    }

    /// Does what a line says, together with the peer: first both have to agree on its normal form. `ask` gets an input
    /// value from the person here.
    ///
    /// # Errors
    /// The failure that ends the session.
    pub(super) fn run(
        &mut self,
        ready: Ready,
        text: &str,
        ask: &mut dyn FnMut(&str, &Type) -> Outcome<Bits>,
    ) -> Outcome<Done> {
        let parties = self.session.parties();
        let others = self.session.agree(text).map_err(|error| match error {
            Error { kind: comity_core::Kind::Closed, .. } => {
                let who = if parties == 2 { "the other party" } else { "another party" };
                Failure::new(Ending::Closed, format!("{who} has left the session"))
            }
            error => error.into(),
        })?;
        match &others[..] {
            [] => {}
            [(_, theirs)] => {
                return Ok(Done::Refused(format!(
                    "the other party wants something else, and nothing was done\n  here   {text}\n  there  {theirs}\nType the \
                     same statement on both sides."
                )));
            }
            others => {
                let lines = others.iter().map(|(party, theirs)| format!("  party {party}  {theirs}\n"));
                return Ok(Done::Refused(format!(
                    "not all want the same, and nothing was done\n  here     {text}\n{}Type the same statement everywhere.",
                    lines.collect::<String>()
                )));
            }
        }
        match ready.0 {
            Prepared::Input { name, party, ty, value } => {
                let value = match value {
                    None if party == self.session.party() => Some(ask(&name, &ty)?),
                    value => value,
                };
                let shared = self.session.input(party, ty.bits(), value.as_ref())?;
                Ok(self.name(name, shared, ty))
            }
            Prepared::Random { name, ty } => {
                let shared = self.session.random(ty.bits())?;
                Ok(self.name(name, shared, ty))
            }
            Prepared::Let { name, computed } => {
                let shared = self.compute(&computed)?;
                Ok(self.name(name, shared, computed.ty().clone()))
            }
            Prepared::Reveal { expression, to, computed } => {
                let shared = self.compute(&computed)?;
                let value = self.session.reveal(to, &shared)?;
                Ok(Done::Revealed { expression, to, ty: computed.ty().clone(), value })
            }
        }
    }

    fn name(&mut self, name: String, shared: Shared, ty: Type) -> Done {
        self.values.insert(name.clone(), (shared, ty.clone()));
        Done::Named(name, ty)
    }

    /// Makes all checks that need no peer, to which nothing is said here. An error is for the person here alone.
    pub(super) fn check(&self, statement: Statement) -> Result<Ready, String> {
        Ok(Ready(match statement {
            Statement::Input { name, party, ty, value } => {
                let ty = parse_type(&ty).map_err(|e| explain(&e))?;
                let value = match value {
                    Some(_) if party != self.session.party() => {
                        return Err(format!(
                            "`{name}` is a value of party {party}, which alone writes it: leave out `= ...` here (nothing was \
                             sent)"
                        ));
                    }
                    Some(text) => Some(read(&name, &ty, &text)?),
                    None => None,
                };
                Prepared::Input { name, party, ty, value }
            }
            Statement::Random { name, ty } => Prepared::Random { name, ty: parse_type(&ty).map_err(|e| explain(&e))? },
            Statement::Let { name, expression } => Prepared::Let { name, computed: self.compile(&expression)? },
            Statement::Reveal { expression, to } => {
                let computed = self.compile(&expression)?;
                Prepared::Reveal { expression, to, computed }
            }
            Statement::Vars | Statement::Help | Statement::Quit => return Err("this is for one side alone".into()),
        }))
    }

    /// The expression over those values that it names.
    fn compile(&self, expression: &str) -> Result<Computed, String> {
        let mut named: Vec<(&str, &Type)> = Vec::new();
        for word in words(expression) {
            if let Some((name, (_, ty))) = self.values.get_key_value(word)
                && !named.iter().any(|(other, _)| other == name)
            {
                named.push((name, ty));
            }
        }
        let program = compile_expression(expression, &named, expression).map_err(|e| explain(&e))?;
        Ok(Computed { program, names: named.into_iter().map(|(name, _)| name.to_owned()).collect() })
    }

    fn compute(&mut self, computed: &Computed) -> Outcome<Shared> {
        let values: Vec<&Shared> =
            computed.names.iter().filter_map(|name| self.values.get(name)).map(|(shared, _)| shared).collect();
        let outputs = self.session.call(&computed.program, &values)?;
        outputs.into_iter().next().ok_or_else(|| Failure::new(Ending::Bug, "an expression gave no value"))
    }
}

/// Reads a value of this type. The message does not repeat it.
pub(super) fn read(name: &str, ty: &Type, text: &str) -> Result<Bits, String> {
    value::read(name, ty, text).map_err(|e| format!("the value of {e} (the type is {})", ty.describe()))
}

/// The message on what is wrong with an expression or a type, with the place under it.
fn explain(mistakes: &Diagnostics) -> String {
    let show = |m: &comity::Diagnostic| format!("{}\n  {}\n  {:>width$}", m.message, m.text, "^", width = m.caret + 1);
    mistakes.all.iter().map(show).collect::<Vec<_>>().join("\n")
}

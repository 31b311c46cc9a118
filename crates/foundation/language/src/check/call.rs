//! Calls: of the file's functions, of built-in ones, and of the library's circuits by name.

use std::rc::Rc;

use comity_circuit::Circuit;
use comity_library::LibraryError;

use super::infer::{Body, Later};
use super::{Checker, Generic, Generics};
use crate::ast::{self, ExprKind, Name, Over, Stmt, TypeKind};
use crate::builtins::{BUILTINS, Builtin};
use crate::diagnostic::{Span, did_you_mean};
use crate::elsewhere;
use crate::ir::{Expr, Kind};
use crate::types::Ty;

impl<'s> Body<'_, 's, '_> {
    pub(super) fn call(&mut self, name: Name<'s>, args: &[ast::Expr<'s>], want: Option<&Ty>, span: Span) -> Expr {
        if let Some(&index) = self.checker.functions.get(name.text) {
            return self.function(index, name, args, want, span);
        }
        if let Some(builtin) = Builtin::find(name.text) {
            return self.builtin(builtin, args, want, span);
        }
        if comity_library::is_name(name.text) {
            return self.library(name, args, span);
        }
        args.iter().for_each(|arg| drop(self.expr(arg, None)));
        let hint = if self.scope.iter().any(|(text, _)| *text == name.text) {
            "; it is a variable".to_owned()
        } else if self.checker.structs.contains_key(name.text) {
            format!("; a struct's value is written `{} {{ ... }}`", name.text)
        } else if let Some(hint) = elsewhere::function(name.text) {
            format!("; {hint}")
        } else {
            let own = self.checker.functions.keys().copied().filter(|name| *name != "main");
            let near = did_you_mean(name.text, own.chain(BUILTINS.iter().map(|(name, ..)| *name)));
            match comity_library::circuit(name.text) {
                Err(LibraryError::Unknown { nearest, .. }) if near.is_empty() => {
                    did_you_mean(name.text, nearest.iter().map(String::as_str))
                }
                _ => near,
            }
        };
        self.error(name.span, format!("there is no function `{}`{hint}", name.text));
        self.wrong(span)
    }

    pub(super) fn method(&mut self, value: &ast::Expr<'s>, name: Name<'s>, args: &[ast::Expr<'s>], span: Span) -> Expr {
        self.expr(value, None);
        args.iter().for_each(|arg| drop(self.expr(arg, None)));
        let text = &self.checker.source[value.span.start as usize..value.span.end as usize];
        let text = if text.len() > 30 || text.contains('\n') { "..." } else { text };
        let rest = if args.is_empty() { "" } else { ", ..." };
        self.error(name.span, format!("functions are called as `{}({text}{rest})`; there are no methods", name.text));
        self.wrong(span)
    }

    fn function(
        &mut self,
        index: usize,
        name: Name<'s>,
        args: &[ast::Expr<'s>],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let file = self.checker.file;
        let function = &file.functions[index];
        if name.text == "main" {
            self.error(name.span, "`main` is where the program begins; it is not called");
            return self.wrong(span);
        }
        if args.len() != function.params.len() {
            args.iter().for_each(|arg| drop(self.expr(arg, None)));
            let params: Vec<&str> = function.params.iter().map(|param| param.name.text).collect();
            let count = match params.len() {
                1 => "1 value".to_owned(),
                count => format!("{count} values"),
            };
            let message = format!("`{}({})` takes {count}; {} given", name.text, params.join(", "), args.len());
            self.error(span, message);
            return self.wrong(span);
        }
        let mut bound = Generics::new();
        let generic = !function.generics.is_empty();
        let mut checked = Vec::with_capacity(args.len());
        for (arg, param) in args.iter().zip(&function.params) {
            let hint = if generic { None } else { Some(self.checker.ty(&param.ty, &Generics::new())) };
            let arg = self.expr(arg, hint.as_ref());
            let is = self.of(&arg);
            self.bind(&param.ty, &is, &function.generics, &mut bound);
            checked.push(arg);
        }
        if let (ast::Outputs::One(ty, _), Some(want)) = (&function.outputs, want) {
            let want = self.shallow(want);
            self.bind(ty, &want, &function.generics, &mut bound);
        }
        if let Some(generic) = function.generics.iter().find(|generic| !bound.contains_key(generic.text)) {
            let message = format!(
                "`{}` of `{}` does not follow from these values; give them a type, such as `5u32` or `let x: u32`",
                generic.text, name.text
            );
            self.error(span, message);
            return self.wrong(span);
        }
        let mut values = Vec::with_capacity(args.len());
        for (arg, param) in checked.into_iter().zip(&function.params) {
            let ty = self.checker.ty(&param.ty, &bound);
            values.push(self.expect(arg, &ty, &format!("`{}` of `{}`", param.name.text, name.text)));
        }
        let result = self.checker.result(function, &bound);
        if self.checker.recursive[index] {
            return self.make(Kind::Error, result, span);
        }
        match self.checker.instance(index, bound, span) {
            Some(id) => self.make(Kind::Call(id, values), result, span),
            None => self.wrong(span),
        }
    }

    /// Notes what generic parameters stand for, if a value of this type is given where that one is written.
    fn bind(&mut self, written: &ast::Type<'s>, is: &Ty, generics: &[Name<'s>], bound: &mut Generics<'s>) {
        let is_generic = |name: &str| generics.iter().any(|generic| generic.text == name);
        let name_of = |expr: &ast::Expr<'s>| match expr.kind {
            ExprKind::Name(name) if is_generic(name) => Some(name),
            _ => None,
        };
        match (&written.kind, self.shallow(is)) {
            (TypeKind::Name(name), ty) if is_generic(name) && !matches!(ty, Ty::Error) => {
                let ty = match self.deep(&ty) {
                    // A number without a type.
                    Ty::Var(_) => return,
                    ty => ty,
                };
                bound.entry(name).or_insert(Generic::Type(ty));
            }
            (TypeKind::Uint(width), Ty::Uint(bits)) | (TypeKind::Int(width), Ty::Int(bits)) => {
                if let Some(name) = name_of(width) {
                    bound.entry(name).or_insert(Generic::Number(bits.into()));
                }
            }
            (TypeKind::Array(element, length), Ty::Array(is, count)) => {
                if let Some(name) = name_of(length) {
                    bound.entry(name).or_insert(Generic::Number(count.into()));
                }
                self.bind(element, &is, generics, bound);
            }
            (TypeKind::Tuple(parts), Ty::Tuple(types)) => {
                parts.iter().zip(types.iter()).for_each(|(part, ty)| self.bind(part, ty, generics, bound));
            }
            _ => {}
        }
    }

    fn builtin(&mut self, builtin: Builtin, args: &[ast::Expr<'s>], want: Option<&Ty>, span: Span) -> Expr {
        use Builtin::*;
        let usage = builtin.usage();
        let arity = match builtin {
            Min | Max => args.len().clamp(1, 2),
            AbsDiff | Hamming | WideMul | RotateLeft | RotateRight | Dot | MatMul => 2,
            MulShift => 3,
            _ => 1,
        };
        if args.len() != arity {
            args.iter().for_each(|arg| drop(self.expr(arg, None)));
            self.error(span, format!("this is written `{usage}`; {} values are given", args.len()));
            return self.wrong(span);
        }
        let same = matches!(builtin, Min | Max | Abs | Sqrt | MulShift | RotateLeft | RotateRight | Sort);
        let first = self.expr(&args[0], want.filter(|_| same && (arity > 1 || matches!(builtin, Abs | Sqrt | Sort))));
        let mut values = vec![first];
        if let Some(arg) = args.get(1) {
            let shift = matches!(builtin, RotateLeft | RotateRight);
            let is = self.of(&values[0]);
            let hint = Some(is.clone()).filter(|ty| !shift && builtin != MatMul && !matches!(ty, Ty::Var(_)));
            let value = self.expr(arg, hint.as_ref());
            if shift {
                let by = self.of(&value);
                self.later(Later::Whole("rotate"), &by, value.span);
                values.push(value);
            } else if builtin == MatMul {
                values.push(value);
            } else {
                values.push(self.expect(value, &is, "the second value"));
            }
        }
        if let Some(by) = args.get(2) {
            let by = self.expr(by, None);
            self.later(Later::Whole("mul_shift"), &self.of(&by), by.span);
            values.push(by);
        }
        let ty = self.of(&values[0]);
        let result = match (builtin, &ty) {
            (_, Ty::Error) => Some(Ty::Error),
            (Len, Ty::Array(_, count)) => {
                let ty = self.fresh(false);
                self.later(Later::Fits(i128::from(*count)), &ty, span);
                return self.make(Kind::Number(i128::from(*count)), ty, span);
            }
            (Min | Max, Ty::Array(element, count)) if arity == 1 && *count > 0 => Some(self.shallow(element)),
            (Sum | Dot, Ty::Array(element, _)) => Some(self.shallow(element)),
            (MatMul, _) => self.product(&ty, &values[1]),
            (MulShift, Ty::Uint(_) | Ty::Int(_)) => Some(ty.clone()),
            (Min | Max, _) if arity == 1 => None,
            (Sort, Ty::Array(..)) => Some(ty.clone()),
            (Any | All, Ty::Array(element, _)) => self.unify(element, &Ty::Bool).then_some(Ty::Bool),
            (FromBits, Ty::Array(element, count)) if (1..=u64::from(crate::types::MAX_WIDTH)).contains(count) => {
                self.unify(element, &Ty::Bool).then_some(Ty::Uint(*count as u32))
            }
            (Bits, Ty::Uint(width) | Ty::Int(width)) => Some(Ty::Array(Ty::Bool.into(), u64::from(*width))),
            (Bits, Ty::F32 | Ty::F64) => Some(Ty::Array(Ty::Bool.into(), ty.bits())),
            (WideMul, Ty::Uint(width)) if 2 * width <= crate::types::MAX_WIDTH => Some(Ty::Uint(2 * width)),
            (Popcount | LeadingZeros | TrailingZeros | Hamming, Ty::Uint(_) | Ty::Int(_)) => Some(Ty::Uint(32)),
            (Sqrt, Ty::Uint(_) | Ty::F32 | Ty::F64) => Some(ty.clone()),
            (Abs, Ty::Int(_) | Ty::F32 | Ty::F64) => Some(ty.clone()),
            (Min | Max, Ty::Uint(_) | Ty::Int(_) | Ty::Var(_) | Ty::F32 | Ty::F64) => Some(ty.clone()),
            (AbsDiff, Ty::Uint(width) | Ty::Int(width)) => Some(Ty::Uint(*width)),
            (RotateLeft | RotateRight, Ty::Uint(_) | Ty::Int(_)) => Some(ty.clone()),
            _ => None,
        };
        let numbers = values.len() == 2 && values.iter().all(|value| self.is_number(value));
        let result = if numbers && matches!(builtin, Min | Max) { Some(self.exact(ty.clone())) } else { result };
        let element = match (builtin, &ty, &result) {
            (Min | Max | Sum | Sort | Dot, Ty::Array(element, _), _) => Some(self.shallow(element)),
            (MatMul, Ty::Array(row, _), _) => Some(self.shallow(self.shallow(row).part(0).0)),
            _ => None,
        };
        let plain = |ty: &Ty| matches!(ty, Ty::Uint(_) | Ty::Int(_) | Ty::Var(_) | Ty::F32 | Ty::F64 | Ty::Error);
        match result {
            Some(result) if element.as_ref().is_none_or(plain) => {
                if let Some(element) = element {
                    let numbers = match builtin {
                        Dot | MatMul => Later::Whole(builtin.name()),
                        _ => Later::Numeric("a function of an array"),
                    };
                    self.later(numbers, &element, span);
                }
                self.make(Kind::Builtin(builtin, values), result, span)
            }
            _ => {
                let hint = match ty {
                    Ty::Array(..) if builtin == Sort => {
                        "; to sort rows, sort numbers with the key in the high bits and the row's index in the low ones, as in \
                         `(a[i].key as u64) << 32 | i as u64`"
                            .to_owned()
                    }
                    Ty::Var(_) => "; say how wide it is, as in `5u32`".to_owned(),
                    _ => String::new(),
                };
                self.error(span, format!("this is written `{usage}`, and the value is {}{hint}", self.deep(&ty)));
                self.wrong(span)
            }
        }
    }

    /// The type of the product of a matrix of this type and another one, if they have one.
    fn product(&mut self, ty: &Ty, other: &Expr) -> Option<Ty> {
        let (Ty::Array(row, m), Ty::Array(other, rows)) = (ty, self.of(other)) else { return None };
        let (Ty::Array(element, n), Ty::Array(entry, p)) = (self.shallow(row), self.shallow(&other)) else {
            return None;
        };
        let fits = rows == n && *m > 0 && n > 0 && p > 0 && self.unify(&element, &entry);
        fits.then(|| Ty::Array(Ty::Array(element, p).into(), *m))
    }

    fn library(&mut self, name: Name<'s>, args: &[ast::Expr<'s>], span: Span) -> Expr {
        let circuit = match self.checker.circuit(name.text) {
            Ok(circuit) => circuit,
            Err(message) => {
                args.iter().for_each(|arg| drop(self.expr(arg, None)));
                self.error(name.span, message);
                return self.wrong(span);
            }
        };
        let takes: Vec<String> =
            circuit.inputs().iter().map(|group| format!("{}: u{}", group.name, group.bits)).collect();
        let form = format!("{}({})", name.text, takes.join(", "));
        if args.len() != takes.len() {
            args.iter().for_each(|arg| drop(self.expr(arg, None)));
            self.error(span, format!("`{form}` takes {} values; {} given", takes.len(), args.len()));
            return self.wrong(span);
        }
        let uint = |bits: usize| if bits == 1 { Ty::Bool } else { Ty::Uint(bits as u32) };
        let mut values = Vec::with_capacity(args.len());
        for (arg, group) in args.iter().zip(circuit.inputs()) {
            let want = uint(group.bits);
            let value = self.expr(arg, Some(&want));
            let is = self.of(&value);
            if matches!(is, Ty::Var(_)) && want.is_int() {
                self.unify(&is, &want);
            }
            let is = self.deep(&is);
            let unknown = matches!(is, Ty::Var(_));
            if is != Ty::Error && (unknown || is.bits() != group.bits as u64) {
                let message = format!("`{}` of `{form}` has {} bits, and this is {is}", group.name, group.bits);
                self.error(value.span, format!("{message}{}", self.conversion(&value, &is, &want)));
            }
            values.push(value);
        }
        let outputs: Vec<Ty> = circuit.outputs().iter().map(|group| uint(group.bits)).collect();
        let ty = if let [one] = &outputs[..] { one.clone() } else { Ty::Tuple(outputs.into()) };
        self.make(Kind::Library(circuit, values), ty, span)
    }
}

/// Gates of all circuits of the library together, at most.
const MAX_LIBRARY: usize = 1 << 25;

impl Checker<'_, '_> {
    /// A circuit of the library; it is built once.
    fn circuit(&mut self, name: &str) -> Result<Rc<Circuit>, String> {
        if let Some(circuit) = self.circuits.get(name) {
            return Ok(circuit.clone());
        }
        if self.circuits.values().map(|circuit| circuit.gates().len()).sum::<usize>() > MAX_LIBRARY {
            return Err(format!("the library's circuits that are called have more than {MAX_LIBRARY} gates"));
        }
        let circuit = Rc::new(comity_library::circuit_for(name, self.goal).map_err(|error| match error {
            LibraryError::NoCircuit { .. } => {
                format!("{error}; `comity run {name}` runs it, and no program can call it")
            }
            error => error.to_string(),
        })?);
        self.circuits.insert(name.to_owned(), circuit.clone());
        Ok(circuit)
    }
}

/// The functions that are called in a block.
pub(super) fn calls_of_block<'s>(block: &ast::Block<'s>, calls: &mut Vec<Name<'s>>) {
    for stmt in &block.stmts {
        match stmt {
            Stmt::Let { value, .. } | Stmt::Expr { value } => calls_of(value, calls),
            Stmt::Assign { target, value, .. } => {
                calls_of(target, calls);
                calls_of(value, calls);
            }
            Stmt::For { over, body, .. } => {
                match over {
                    Over::Range { from, to, .. } => {
                        calls_of(from, calls);
                        calls_of(to, calls);
                    }
                    Over::Each(array) => calls_of(array, calls),
                }
                calls_of_block(body, calls);
            }
        }
    }
    block.value.iter().for_each(|value| calls_of(value, calls));
}

fn calls_of<'s>(expr: &ast::Expr<'s>, calls: &mut Vec<Name<'s>>) {
    let mut all = |exprs: &[ast::Expr<'s>]| exprs.iter().for_each(|expr| calls_of(expr, calls));
    match &expr.kind {
        ExprKind::Int(..) | ExprKind::Float(..) | ExprKind::Bool(_) | ExprKind::Name(_) => {}
        ExprKind::Unary(_, a) | ExprKind::Cast(a, _) | ExprKind::Field(a, _) => calls_of(a, calls),
        ExprKind::Repeat(a, _) => calls_of(a, calls),
        ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) => {
            calls_of(a, calls);
            calls_of(b, calls);
        }
        ExprKind::Call(name, args) => {
            all(args);
            calls.push(*name);
        }
        ExprKind::Method(value, _, args) => {
            all(args);
            calls_of(value, calls);
        }
        ExprKind::Array(parts) | ExprKind::Tuple(parts) => all(parts),
        ExprKind::Struct(_, fields) => fields.iter().for_each(|(_, value)| calls_of(value, calls)),
        ExprKind::If(condition, then, otherwise) => {
            calls_of(condition, calls);
            calls_of_block(then, calls);
            otherwise.iter().for_each(|other| calls_of(other, calls));
        }
        ExprKind::Block(block) | ExprKind::Pinned(_, block) => calls_of_block(block, calls),
    }
}

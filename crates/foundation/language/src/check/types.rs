//! Types as they are written, and how large they may be.

use std::rc::Rc;

use comity_circuit::Program;

use super::{Checker, Generic, Generics, StructState, builtin_type};
use crate::ast;
use crate::diagnostic::{Span, did_you_mean};
use crate::elsewhere;
use crate::types::{MAX_INSIDE, MAX_PARTS, Struct, Ty};

/// Types, constants and expressions that are checked inside each other, at most. Each may be of others,
/// wherever these stand.
const MAX_NESTED: u32 = 400;

impl<'s> Checker<'s, '_> {
    /// A struct's type; `None` if there is no such struct or it has a mistake.
    pub(super) fn structure(&mut self, name: &str) -> Option<Rc<Struct>> {
        let (&name, state) = self.structs.get_key_value(name)?;
        let index = match state {
            StructState::Known(known) => return Some(known.clone()),
            StructState::Inside => {
                let at = self.file.structs.iter().find(|item| item.name.text == name)?.name.span;
                self.errors.add(at, format!("a `{name}` holds a `{name}`: it would have no end"));
                return None;
            }
            StructState::Wrong => return None,
            StructState::Unseen(index) => *index,
        };
        self.structs.insert(name, StructState::Inside);
        let item = &self.file.structs[index];
        let mut fields: Vec<(String, Ty)> = Vec::new();
        for (field, ty) in &item.fields {
            if fields.iter().any(|(other, _)| other == field.text) {
                self.errors.add(field.span, format!("there is another field `{}` already", field.text));
            }
            let ty = self.ty(ty, &Generics::new());
            fields.push((field.text.to_owned(), ty));
        }
        let known = Rc::new(Struct { name: name.to_owned(), fields });
        match self.small(Ty::Struct(known.clone()), item.name.span) {
            Ty::Error => self.structs.insert(name, StructState::Wrong),
            _ => self.structs.insert(name, StructState::Known(known.clone())),
        };
        Some(known).filter(|_| !matches!(self.structs[name], StructState::Wrong))
    }

    /// Whether to check what stands here: it is not nested too deeply, and there are not too many mistakes
    /// already. A caller that gets `true` has to [leave](Checker::leave).
    pub(super) fn enter(&mut self, at: Span) -> bool {
        if self.errors.are_many() {
            return false;
        }
        if self.nested >= MAX_NESTED {
            self.errors.add(at, "types, constants and expressions are inside each other too deep; split them");
            return false;
        }
        self.nested += 1;
        true
    }

    pub(super) fn leave(&mut self) {
        self.nested -= 1;
    }

    /// This type, unless it is too large.
    pub(super) fn small(&mut self, ty: Ty, at: Span) -> Ty {
        if ty.is_small() {
            return ty;
        }
        self.errors
            .add(at, format!("a type of more than {MAX_PARTS} parts, or of more than {MAX_INSIDE} inside each other"));
        Ty::Error
    }

    /// The type that is written here.
    pub(super) fn ty(&mut self, ty: &ast::Type<'s>, generics: &Generics<'s>) -> Ty {
        if !self.enter(ty.span) {
            return Ty::Error;
        }
        let written = self.written(ty, generics);
        self.leave();
        self.small(written, ty.span)
    }

    fn written(&mut self, ty: &ast::Type<'s>, generics: &Generics<'s>) -> Ty {
        match &ty.kind {
            ast::TypeKind::Name(name) => self.named_type(name, ty.span, generics),
            ast::TypeKind::Uint(width) | ast::TypeKind::Int(width) => {
                let Some(width) = self.size(width, generics, 1, crate::types::MAX_WIDTH.into(), "a width") else {
                    return Ty::Error;
                };
                if matches!(ty.kind, ast::TypeKind::Uint(_)) { Ty::Uint(width as u32) } else { Ty::Int(width as u32) }
            }
            ast::TypeKind::Array(element, length) => {
                let element = self.ty(element, generics);
                let Some(length) = self.size(length, generics, 0, Program::MAX_WIRES, "an array's length") else {
                    return Ty::Error;
                };
                let array = self.small(Ty::Array(Rc::new(element), length), ty.span);
                if array.bits() > Program::MAX_WIRES {
                    let message = format!("{array} has more than 2^32 bits, which no program's memory holds");
                    self.errors.add(ty.span, message);
                    return Ty::Error;
                }
                array
            }
            ast::TypeKind::Tuple(types) => Ty::Tuple(types.iter().map(|ty| self.ty(ty, generics)).collect()),
        }
    }

    fn named_type(&mut self, name: &'s str, span: Span, generics: &Generics<'s>) -> Ty {
        match generics.get(name) {
            Some(Generic::Type(ty)) => return ty.clone(),
            Some(Generic::Number(_)) => {
                self.errors.add(span, format!("`{name}` is a number; a type is needed, such as `u<{name}>`"));
                return Ty::Error;
            }
            None => {}
        }
        match builtin_type(name) {
            Some(Ok(ty)) => return ty,
            Some(Err(message)) => {
                self.errors.add(span, message);
                return Ty::Error;
            }
            None => {}
        }
        if self.structs.contains_key(name) {
            return self.structure(name).map_or(Ty::Error, Ty::Struct);
        }
        let hint = elsewhere::ty(name).map_or_else(
            || {
                let own = self.structs.keys().copied().chain(generics.keys().copied());
                did_you_mean(name, own.chain(["bool", "u8", "u16", "u32", "u64", "i32", "i64", "f32", "f64"]))
            },
            |hint| format!("; {hint}"),
        );
        self.errors.add(span, format!("there is no type `{name}`{hint}"));
        Ty::Error
    }
}

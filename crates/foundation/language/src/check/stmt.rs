//! Statements and blocks.

use super::infer::Body;
use crate::ast::{self, Binary, ExprKind, Over as AstOver};
use crate::diagnostic::{Span, did_you_mean};
use crate::ir::{self, Expr, Kind, Step, Stmt, VarId};
use crate::types::Ty;

impl<'s> Body<'_, 's, '_> {
    pub(super) fn block(&mut self, block: &ast::Block<'s>, want: Option<&Ty>) -> Expr {
        let scope = self.scope.len();
        let mut stmts = Vec::with_capacity(block.stmts.len());
        for stmt in &block.stmts {
            if let Some(stmt) = self.stmt(stmt) {
                stmts.push(stmt);
            }
        }
        let value = block.value.as_ref().map(|value| Box::new(self.expr(value, want)));
        self.scope.truncate(scope);
        let ty = value.as_ref().map_or_else(Ty::unit, |value| self.of(value));
        self.make(Kind::Block(stmts, value), ty, block.span)
    }

    fn stmt(&mut self, stmt: &ast::Stmt<'s>) -> Option<Stmt> {
        match stmt {
            ast::Stmt::Let { pattern, ty, value } => {
                let generics = self.generics.clone();
                let ty = ty.as_ref().map(|ty| self.checker.ty(ty, &generics));
                let mut value = self.expr(value, ty.as_ref());
                if let Some(ty) = &ty {
                    value = self.expect(value, ty, "the variable");
                }
                // After a mistake the type that is written still holds.
                let is = ty.unwrap_or_else(|| self.of(&value));
                if is.is_unit() {
                    self.error(value.span, "this has no value that a variable could hold");
                }
                let pattern = self.pattern(pattern, &is, false);
                Some(Stmt::Let(pattern, value))
            }
            ast::Stmt::Assign { target, op, value, span } => self.assign(target, *op, value, *span),
            ast::Stmt::For { var, over, body } => self.for_loop(var, over, body),
            ast::Stmt::Expr { value } => {
                let at = value.span;
                let value = self.expr(value, None);
                let ty = self.of(&value);
                if !ty.is_unit() && ty != Ty::Error {
                    let hint = match value.kind {
                        Kind::Binary(Binary::Eq, ..) => "; `=` assigns",
                        _ => "; leave it out, or give it a name with `let`",
                    };
                    self.error(at, format!("this value is not used{hint}"));
                }
                Some(Stmt::Expr(value))
            }
        }
    }

    fn pattern(&mut self, pattern: &ast::Pattern<'s>, ty: &Ty, counter: bool) -> ir::Pattern {
        match pattern {
            ast::Pattern::Name { name, .. } if name.text == "_" => ir::Pattern::Ignore,
            ast::Pattern::Name { name, mutable } => {
                if counter && *mutable {
                    self.error(name.span, "a loop's variable does not change inside the loop; leave `mut` out");
                }
                ir::Pattern::Var(self.declare(*name, ty.clone(), *mutable && !counter, counter))
            }
            ast::Pattern::Tuple(parts, span) => {
                let types = match self.shallow(ty) {
                    Ty::Tuple(types) if types.len() == parts.len() => types.to_vec(),
                    Ty::Error => vec![Ty::Error; parts.len()],
                    other => {
                        let message = format!("{} names for {}, which has other parts", parts.len(), self.deep(&other));
                        self.error(*span, message);
                        vec![Ty::Error; parts.len()]
                    }
                };
                ir::Pattern::Parts(parts.iter().zip(&types).map(|(part, ty)| self.pattern(part, ty, counter)).collect())
            }
        }
    }

    fn for_loop(&mut self, var: &ast::Pattern<'s>, over: &AstOver<'s>, body: &ast::Block<'s>) -> Option<Stmt> {
        let scope = self.scope.len();
        let (over, pattern, span) = match over {
            AstOver::Range { from, to, inclusive } => {
                let span = from.span.to(to.span);
                let [from, to] = [from, to].map(|bound| {
                    let bound = self.expr(bound, None);
                    let is = self.of(&bound);
                    if !matches!(is, Ty::Uint(_) | Ty::Int(_) | Ty::Var(_) | Ty::Number | Ty::Error) {
                        let is = self.deep(&is);
                        self.error(
                            bound.span,
                            format!("a loop goes from one whole number to another, and this is {is}"),
                        );
                    }
                    bound
                });
                if let ast::Pattern::Tuple(_, span) = var {
                    self.error(*span, "a loop over numbers has one variable");
                }
                let pattern = self.pattern(var, &Ty::Number, true);
                (ir::Over::Range(from, to, *inclusive), pattern, span)
            }
            AstOver::Each(array) => {
                let span = array.span;
                let array = self.expr(array, None);
                let element = match self.of(&array) {
                    Ty::Array(element, _) => self.shallow(&element),
                    Ty::Error => Ty::Error,
                    Ty::Var(_) => {
                        self.error(span, "a loop goes over an array or a range, such as `0..10`");
                        Ty::Error
                    }
                    other => {
                        let message =
                            format!("a loop goes over an array or a range, and this is {}", self.deep(&other));
                        self.error(span, message);
                        Ty::Error
                    }
                };
                let pattern = self.pattern(var, &element, false);
                (ir::Over::Each(array), pattern, span)
            }
        };
        let at = body.value.as_ref().map_or(body.span, |value| value.span);
        let body = self.block(body, Some(&Ty::unit()));
        self.scope.truncate(scope);
        let is = self.of(&body);
        if !is.is_unit() && is != Ty::Error {
            self.error(at, "a loop's body has no value; end this with `;`, or assign it");
        }
        Some(Stmt::For { var: pattern, over, body, span })
    }

    /// The variable and the path of what is assigned to, and its type.
    fn target(&mut self, target: &ast::Expr<'s>) -> Option<(VarId, Vec<Step>, Ty)> {
        match &target.kind {
            ExprKind::Name(name) => {
                let Some(&(_, id)) = self.scope.iter().rev().find(|(text, _)| text == name) else {
                    let hint = if self.checker.const_names.contains_key(name) {
                        "; it is a constant".to_owned()
                    } else {
                        did_you_mean(name, self.scope.iter().rev().map(|(name, _)| *name))
                    };
                    self.error(target.span, format!("there is no variable `{name}` to assign to{hint}"));
                    return None;
                };
                let ty = self.vars[id].ty.clone();
                Some((id, Vec::new(), self.shallow(&ty)))
            }
            ExprKind::Field(value, field) => {
                let (var, mut path, ty) = self.target(value)?;
                let (index, ty) = self.field(&ty, *field)?;
                path.push(Step::Field(index));
                Some((var, path, ty))
            }
            ExprKind::Index(value, index) => {
                let (var, mut path, ty) = self.target(value)?;
                let (index, ty) = self.index(&ty, index, value.span);
                path.push(Step::Index(index));
                Some((var, path, ty))
            }
            _ => {
                self.error(target.span, "only a variable, or a part of one, can be assigned to");
                None
            }
        }
    }

    fn assign(&mut self, target: &ast::Expr<'s>, op: Option<Binary>, value: &ast::Expr<'s>, at: Span) -> Option<Stmt> {
        let Some((var, path, ty)) = self.target(target) else {
            // The right side may have mistakes of its own.
            self.expr(value, None);
            return None;
        };
        let local = &self.vars[var];
        if !local.mutable {
            let name = local.name.clone();
            let message = match (local.counter, local.param) {
                (true, _) => format!("`{name}` is a loop's variable, which does not change inside the loop"),
                (_, true) => format!("`{name}` does not change; make the parameter `mut {name}`"),
                _ => {
                    let line = self.line(local.span);
                    format!("`{name}` does not change; declare it with `let mut {name}` (line {line})")
                }
            };
            self.error(target.span, message);
        }
        let span = target.span.to(value.span);
        let value = match op {
            Some(Binary::Shl | Binary::Shr) | None => self.expr(value, Some(&ty)),
            Some(_) => self.expr(value, Some(&ty)),
        };
        let value = match op {
            None => self.expect(value, &ty, "the variable"),
            Some(op) => {
                // Checked like the operation that it stands for; only the right side is kept.
                let left = self.make(Kind::Error, ty.clone(), target.span);
                if matches!(op, Binary::Shl | Binary::Shr) {
                    let by = self.of(&value);
                    self.later(super::infer::Later::Whole(op.symbol()), &ty, target.span);
                    self.later(super::infer::Later::Whole(op.symbol()), &by, value.span);
                    value
                } else {
                    let right = self.of(&value);
                    let kept = self.operands(op, left, value, Span { start: at.start, end: span.end });
                    match kept.kind {
                        Kind::Binary(_, _, value) => *value,
                        _ => self.make(Kind::Error, right, span),
                    }
                }
            }
        };
        Some(Stmt::Assign { var, path, op, value, span })
    }

    fn line(&self, at: Span) -> usize {
        self.checker.source[..at.start as usize].matches('\n').count() + 1
    }
}

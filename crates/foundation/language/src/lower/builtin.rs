//! Built-in functions, and the library's circuits by name.

use std::rc::Rc;

use comity_circuit::{Builder, Circuit, Wire};
use comity_library::arith;
use comity_library::arrays::{self, Order};

use super::operate::{Word, format};
use super::segment::Bit;
use super::value::Value;
use super::{Failure, Lower};
use crate::builtins::Builtin;
use crate::diagnostic::Span;
use crate::types::Ty;

/// Arrays of more bits are not sorted or summed in one circuit.
const LARGE_ARRAY: u64 = 1 << 21;
/// Circuits of the library with more gates are called, not copied.
const CALLED: usize = 1 << 12;

impl Lower<'_> {
    pub(super) fn builtin(
        &mut self,
        builtin: Builtin,
        values: &[Value],
        types: &[&Ty],
        result: &Ty,
        at: Span,
    ) -> Result<Value, Failure> {
        match self.public_choice(builtin, values, types, at)? {
            Some(value) => Ok(value),
            None => self.gated_builtin(builtin, values, types, result, at),
        }
    }

    /// A built-in function by gates.
    pub(super) fn gated_builtin(
        &mut self,
        builtin: Builtin,
        values: &[Value],
        types: &[&Ty],
        result: &Ty,
        at: Span,
    ) -> Result<Value, Failure> {
        let ty = types[0];
        let element = match builtin {
            Builtin::MatMul => ty.part(0).0.part(0).0,
            _ => ty.part(0).0,
        };
        self.no_words(element, at)?;
        if ty.bits() > LARGE_ARRAY {
            let message = format!("{ty} is too large for this in one circuit; write a loop over it");
            return Err(Failure::new(at, message));
        }
        self.spend(ty.bits() / 8, at)?;
        if matches!(builtin, Builtin::WideMul | Builtin::Sqrt | Builtin::Dot | Builtin::MatMul) {
            self.factor(element, at)?;
        }
        let log = u64::from(u64::BITS - ty.parts().leading_zeros());
        self.room(
            match (builtin, element.is_float()) {
                (Builtin::Sort, _) => ty.bits().saturating_mul(2 * log * log),
                (_, true) => ty.parts() * 5000,
                (Builtin::Dot, _) => ty.bits().saturating_mul(2 * element.bits()),
                // Each word of the first matrix is in as many products as a row of the other one has words.
                (Builtin::MatMul, _) => {
                    ty.bits().saturating_mul(types[1].part(0).0.parts()).saturating_mul(2 * element.bits())
                }
                _ => ty.bits().saturating_mul(8),
            },
            at,
        )?;
        let rotate = match builtin {
            Builtin::RotateLeft | Builtin::RotateRight => self.known(&values[1], types[1]),
            _ => None,
        };
        let fraction = match builtin {
            Builtin::MulShift => self.fraction(&values[2], types[2], ty, at)?,
            _ => 0,
        };
        let mut words = Vec::with_capacity(values.len());
        // The third one is public.
        for (value, ty) in values.iter().zip(types).take(2) {
            words.push(self.flatten(value, ty, at)?);
        }
        let (signed, float) = (element.signed(), element.is_float().then(|| format(element)));
        let width = element.bits() as usize;
        let out = result.bits() as usize;
        let refs: Vec<&[Bit]> = words.iter().map(Vec::as_slice).collect();
        let array = matches!(ty, Ty::Array(..));
        if array && ty.parts() == 0 {
            let one = builtin == Builtin::All;
            return Ok(self.unflatten(result, &vec![Bit::Constant(one); out]));
        }
        let bits = self.gates(&refs, at, |b, words| {
            let x = &words[0][..];
            let two: Word = match (builtin, signed) {
                (Builtin::Min, false) => arith::min,
                (Builtin::Min, true) => arith::min_signed,
                (Builtin::Max, false) => arith::max,
                (Builtin::Max, true) => arith::max_signed,
                (Builtin::AbsDiff, false) => arith::abs_diff,
                (Builtin::AbsDiff, true) => arith::abs_diff_signed,
                _ => arith::mul_full,
            };
            let words_of = |x: &[Wire]| x.chunks(width.max(1)).map(<[_]>::to_vec).collect::<Vec<_>>();
            let rows = || words_of(x);
            match builtin {
                Builtin::Min | Builtin::Max => {
                    let mut pair = |x: &[Wire], y: &[Wire]| match (float, builtin) {
                        (Some(format), Builtin::Min) => format.min(b, x, y),
                        (Some(format), _) => format.max(b, x, y),
                        (None, _) => two(b, x, y),
                    };
                    match words.get(1) {
                        Some(y) => pair(x, y),
                        None => tree(rows(), &mut pair),
                    }
                }
                Builtin::AbsDiff | Builtin::WideMul => two(b, x, &words[1]),
                Builtin::Abs => float.map_or_else(|| arith::abs(b, x), |format| format.abs(x)),
                Builtin::Sqrt => match float {
                    Some(format) => format.sqrt(b, x),
                    None => arith::padded(&arith::sqrt(b, x), out),
                },
                Builtin::Popcount => arith::padded(&arith::popcount(b, x), out),
                Builtin::LeadingZeros => arith::padded(&arith::leading_zeros(b, x), out),
                Builtin::TrailingZeros => arith::padded(&arith::trailing_zeros(b, x), out),
                Builtin::Hamming => arith::padded(&arith::hamming(b, x, &words[1]), out),
                Builtin::RotateLeft | Builtin::RotateRight => match (rotate, builtin) {
                    (Some(by), Builtin::RotateLeft) => arith::rotl(x, by.rem_euclid(x.len() as i128) as usize),
                    (Some(by), _) => arith::rotr(x, by.rem_euclid(x.len() as i128) as usize),
                    (None, left) => {
                        let rotate: Word = match (left == Builtin::RotateLeft, types[1].signed()) {
                            (true, false) => arith::rotl_by,
                            (true, true) => arith::rotl_by_signed,
                            (false, false) => arith::rotr_by,
                            (false, true) => arith::rotr_by_signed,
                        };
                        rotate(b, x, &words[1])
                    }
                },
                Builtin::Bits | Builtin::FromBits | Builtin::Len => x.to_vec(),
                Builtin::Sum => match float {
                    Some(format) => rows().into_iter().reduce(|sum, x| format.add(b, &sum, &x)).unwrap_or_default(),
                    None => {
                        let rows = rows();
                        arith::sum(b, &rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
                    }
                },
                Builtin::Dot => arith::dot(b, &rows(), &words_of(&words[1])),
                Builtin::MatMul => {
                    let sizes = [ty.parts(), types[1].parts(), types[1].part(0).0.parts()].map(|size| size as usize);
                    arith::mat_mul(b, sizes, &rows(), &words_of(&words[1])).concat()
                }
                Builtin::MulShift if fraction == 0 => arith::mul(b, x, &words[1]),
                Builtin::MulShift => {
                    let wide = |x: &[Wire]| {
                        let fill = if signed { x[x.len() - 1] } else { Wire::ZERO };
                        [x, &vec![fill; fraction]].concat()
                    };
                    arith::mul_shift(b, &wide(x), &wide(&words[1]), fraction)
                }
                Builtin::Any => {
                    let none = arith::is_zero(b, x);
                    vec![b.not(none)]
                }
                Builtin::All => {
                    let zeros = arith::not(b, x);
                    vec![arith::is_zero(b, &zeros)]
                }
                Builtin::Sort => {
                    let order = Order::ascending(width);
                    let order = if signed { order.signed() } else { order };
                    match float {
                        None => arrays::sort(b, &rows(), order).concat(),
                        Some(_) => {
                            let keys: Vec<_> = rows().iter().map(|row| to_key(b, row)).collect();
                            let sorted = arrays::sort(b, &keys, order);
                            sorted.iter().flat_map(|key| from_key(b, key)).collect()
                        }
                    }
                }
            }
        })?;
        Ok(self.unflatten(result, &bits))
    }

    /// The bits behind the point of numbers of this type.
    fn fraction(&self, value: &Value, is: &Ty, ty: &Ty, at: Span) -> Result<usize, Failure> {
        let bits = ty.bits();
        let Some(fraction) = self.known(value, is).and_then(|value| u64::try_from(value).ok()).filter(|f| *f <= bits)
        else {
            let message = format!("`mul_shift` of {ty} shifts by a public number from 0 to {bits}");
            return Err(Failure::new(at, message));
        };
        self.factor(&Ty::Uint((bits + fraction) as u32), at)?;
        Ok(fraction as usize)
    }

    /// A circuit of the library: copied if it is small, called if it is large.
    pub(super) fn library(
        &mut self,
        circuit: &Rc<Circuit>,
        values: &[Value],
        types: &[&Ty],
        result: &Ty,
        at: Span,
    ) -> Result<Value, Failure> {
        if circuit.gates().len() <= CALLED {
            let mut words = Vec::with_capacity(values.len());
            for (value, ty) in values.iter().zip(types) {
                words.push(self.flatten(value, ty, at)?);
            }
            let refs: Vec<&[Bit]> = words.iter().map(Vec::as_slice).collect();
            let bits = self.gates(&refs, at, |b, words| b.call(circuit, &words).concat())?;
            return Ok(self.unflatten(result, &bits));
        }
        let mut args = Vec::with_capacity(values.len());
        for (value, ty) in values.iter().zip(types) {
            let cell = match value {
                Value::Stored(cell, None) => *cell,
                value => {
                    let value = self.snapshot(value, ty, at)?;
                    self.store(&value, ty, at)?
                }
            };
            args.push((cell, ty.bits()));
        }
        let mut outs = Vec::with_capacity(circuit.outputs().len());
        let whole = self.allocate(result.bits(), at)?;
        let mut start = 0;
        for group in circuit.outputs() {
            outs.push((whole.at(start), group.bits as u64));
            start += group.bits as u64;
        }
        let circuit = match self.pin {
            None => circuit.clone(),
            pin => Rc::new(Circuit::clone(circuit).pinned(pin)),
        };
        self.push_call(circuit, args, outs, 1, (0, 0));
        Ok(Value::Stored(whole, None))
    }
}

/// A float as an unsigned number in the same order: a negative one complemented, a positive one above those.
fn to_key(b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
    let (sign, rest) = (x[x.len() - 1], &x[..x.len() - 1]);
    let mut key: Vec<Wire> = rest.iter().map(|&bit| b.xor(bit, sign)).collect();
    key.push(b.not(sign));
    key
}

/// The float of such a number.
fn from_key(b: &mut Builder, key: &[Wire]) -> Vec<Wire> {
    let sign = b.not(key[key.len() - 1]);
    let mut x: Vec<Wire> = key[..key.len() - 1].iter().map(|&bit| b.xor(bit, sign)).collect();
    x.push(sign);
    x
}

/// One word of many, in pairs.
fn tree(mut rows: Vec<Vec<Wire>>, pair: &mut impl FnMut(&[Wire], &[Wire]) -> Vec<Wire>) -> Vec<Wire> {
    while rows.len() > 1 {
        let joined = |two: &[Vec<Wire>]| if let [x, y] = two { pair(x, y) } else { two[0].clone() };
        let mut joined = joined;
        rows = rows.chunks(2).map(&mut joined).collect();
    }
    rows.pop().unwrap_or_default()
}

//! What inputs are asked for, and what values are made of.

use comity_circuit::{Type, Wire};

use super::{Bool, Design, Int, Signed, Uint, Unsigned};

/// A type that an input can have, such as [`U`]`(32)` or [`Array`]`(U(32), 100)`.
pub trait Shape {
    /// The values of the type.
    type Value<'d>;

    /// The type as people see it.
    fn ty(&self) -> Type;

    /// The value on the next wires, as many as the type has bits.
    fn over<'d>(&self, design: &'d Design, wires: &mut dyn Iterator<Item = Wire>) -> Self::Value<'d>;
}

/// A value of a [`Design`]: numbers, bits, and what consists of them.
///
/// A struct of one's own becomes a value by passing each call on to its fields, in one order:
///
/// ```
/// use comity_circuit::{Type, Wire};
/// use comity_library::typed::{Design, Uint, Value};
///
/// #[derive(Clone)]
/// struct Bid<'d> {
///     price: Uint<'d>,
///     item: Uint<'d>,
/// }
///
/// impl<'d> Value<'d> for Bid<'d> {
///     fn ty(&self) -> Type {
///         let fields = vec![("price".into(), self.price.ty()), ("item".into(), self.item.ty())];
///         Type::Struct { name: "Bid".into(), fields }
///     }
///     fn design(&self) -> Option<&'d Design> {
///         self.price.design()
///     }
///     fn collect(&self, wires: &mut Vec<Wire>) {
///         self.price.collect(wires);
///         self.item.collect(wires);
///     }
///     fn over(&self, wires: &mut dyn Iterator<Item = Wire>) -> Self {
///         Bid { price: self.price.over(wires), item: self.item.over(wires) }
///     }
/// }
///
/// fn better<'d>(a: Bid<'d>, b: Bid<'d>) -> Bid<'d> {
///     a.price.gt(b.price).select(a, b)
/// }
/// ```
pub trait Value<'d> {
    /// The type as people see it.
    fn ty(&self) -> Type;

    /// The design that the value belongs to; `None` for an empty array.
    fn design(&self) -> Option<&'d Design>;

    /// Appends the value's wires, as many as its type has bits.
    fn collect(&self, wires: &mut Vec<Wire>);

    /// A value of the same type, on the next wires.
    fn over(&self, wires: &mut dyn Iterator<Item = Wire>) -> Self
    where
        Self: Sized;

    /// The value's wires.
    fn to_wires(&self) -> Vec<Wire> {
        let mut wires = Vec::new();
        self.collect(&mut wires);
        wires
    }
}

/// The type of a [`Uint`]: its width in bits.
#[derive(Clone, Copy, Debug)]
pub struct U(pub usize);

/// The type of an [`Int`]: its width in bits.
#[derive(Clone, Copy, Debug)]
pub struct I(pub usize);

/// The type of a [`Bool`].
#[derive(Clone, Copy, Debug)]
pub struct B;

/// The type of an array, as a [`Vec`]: the type of its values, and their number.
#[derive(Clone, Copy, Debug)]
pub struct Array<S>(pub S, pub usize);

impl Shape for U {
    type Value<'d> = Uint<'d>;

    fn ty(&self) -> Type {
        Type::Uint(self.0)
    }

    fn over<'d>(&self, design: &'d Design, wires: &mut dyn Iterator<Item = Wire>) -> Uint<'d> {
        design.number::<Unsigned>(&wires.take(self.0).collect::<Vec<_>>())
    }
}

impl Shape for I {
    type Value<'d> = Int<'d>;

    fn ty(&self) -> Type {
        Type::Int(self.0)
    }

    fn over<'d>(&self, design: &'d Design, wires: &mut dyn Iterator<Item = Wire>) -> Int<'d> {
        design.number::<Signed>(&wires.take(self.0).collect::<Vec<_>>())
    }
}

impl Shape for B {
    type Value<'d> = Bool<'d>;

    fn ty(&self) -> Type {
        Type::Bool
    }

    fn over<'d>(&self, design: &'d Design, wires: &mut dyn Iterator<Item = Wire>) -> Bool<'d> {
        Bool::new(design, wires.next().expect("a wire for each bit"))
    }
}

impl<S: Shape> Shape for Array<S> {
    type Value<'d> = Vec<S::Value<'d>>;

    fn ty(&self) -> Type {
        Type::Array(Box::new(self.0.ty()), self.1)
    }

    fn over<'d>(&self, design: &'d Design, wires: &mut dyn Iterator<Item = Wire>) -> Vec<S::Value<'d>> {
        (0..self.1).map(|_| self.0.over(design, wires)).collect()
    }
}

/// # Panics
/// `ty` of an empty array, since nothing says what would be in it.
impl<'d, V: Value<'d>> Value<'d> for Vec<V> {
    fn ty(&self) -> Type {
        elements(self)
    }

    fn design(&self) -> Option<&'d Design> {
        self.first().and_then(Value::design)
    }

    fn collect(&self, wires: &mut Vec<Wire>) {
        self.iter().for_each(|value| value.collect(wires));
    }

    fn over(&self, wires: &mut dyn Iterator<Item = Wire>) -> Self {
        self.iter().map(|value| value.over(wires)).collect()
    }
}

/// # Panics
/// `ty` of an empty array, since nothing says what would be in it.
impl<'d, V: Value<'d>, const N: usize> Value<'d> for [V; N] {
    fn ty(&self) -> Type {
        elements(self)
    }

    fn design(&self) -> Option<&'d Design> {
        self.first().and_then(Value::design)
    }

    fn collect(&self, wires: &mut Vec<Wire>) {
        self.iter().for_each(|value| value.collect(wires));
    }

    fn over(&self, wires: &mut dyn Iterator<Item = Wire>) -> Self {
        std::array::from_fn(|i| self[i].over(wires))
    }
}

fn elements<'d>(values: &[impl Value<'d>]) -> Type {
    let ty = values.first().map(Value::ty).unwrap_or(Type::Bits(0));
    let odd = values.iter().map(Value::ty).find(|other| *other != ty);
    assert!(odd.is_none(), "an array of {ty} has an element of another type, {}", odd.unwrap_or(Type::Bool));
    Type::Array(Box::new(ty), values.len())
}

macro_rules! tuples {
    ($($($T:ident $i:tt)*;)*) => {$(
        impl<$($T: Shape),*> Shape for ($($T,)*) {
            type Value<'d> = ($($T::Value<'d>,)*);

            fn ty(&self) -> Type {
                Type::Tuple(vec![$(self.$i.ty()),*])
            }

            fn over<'d>(&self, design: &'d Design, wires: &mut dyn Iterator<Item = Wire>) -> Self::Value<'d> {
                ($(self.$i.over(design, wires),)*)
            }
        }

        impl<'d, $($T: Value<'d>),*> Value<'d> for ($($T,)*) {
            fn ty(&self) -> Type {
                Type::Tuple(vec![$(self.$i.ty()),*])
            }

            fn design(&self) -> Option<&'d Design> {
                [$(self.$i.design()),*].into_iter().flatten().next()
            }

            fn collect(&self, wires: &mut Vec<Wire>) {
                $(self.$i.collect(wires);)*
            }

            fn over(&self, wires: &mut dyn Iterator<Item = Wire>) -> Self {
                ($(self.$i.over(wires),)*)
            }
        }
    )*};
}

tuples! {
    P 0;
    P 0 Q 1;
    P 0 Q 1 R 2;
    P 0 Q 1 R 2 S 3;
    P 0 Q 1 R 2 S 3 T 4;
    P 0 Q 1 R 2 S 3 T 4 V 5;
}

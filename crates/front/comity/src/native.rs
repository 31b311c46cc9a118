//! `Native`: Rust values that stand for the bits of a value, and back.

use comity_circuit::{FloatWidth, Type};
use comity_core::{Bits, Error, Result};

/// A Rust value that an input or output value can be: whole numbers, `bool`, floats, arrays and `Vec`s of these.
///
/// A whole number fits any untyped value that is wide enough, and any typed number of its sign; the others
/// fit their own types only.
pub trait Native: Sized {
    /// The bits, for a value of this type.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the value does not fit the type.
    fn to_value(&self, ty: &Type) -> Result<Bits>;

    /// The value that these bits encode.
    ///
    /// # Errors
    /// As [`Native::to_value`].
    fn from_value(ty: &Type, bits: &Bits) -> Result<Self>;
}

fn unfit<T>(ty: &Type) -> Error {
    Error::invalid_input(format!(
        "a value of the type {} cannot become a {}",
        ty.describe(),
        std::any::type_name::<T>()
    ))
}

macro_rules! integers {
    ($($ty:ty, $signed:literal);*) => {$(
        impl Native for $ty {
            fn to_value(&self, ty: &Type) -> Result<Bits> {
                let (bits, signed) = match *ty {
                    Type::Uint(bits) => (bits, false),
                    Type::Int(bits) => (bits, true),
                    Type::Bits(bits) => (bits, $signed),
                    _ => return Err(unfit::<$ty>(ty)),
                };
                // As many bits as the number has are its own; further ones repeat its sign.
                let own = Bits::from(*self);
                let sign = $signed && own.get(own.len() - 1);
                let fits = if signed && $signed {
                    (bits.max(1) - 1..own.len()).all(|i| own.get(i) == sign)
                } else {
                    !sign && (bits..own.len()).all(|i| !own.get(i)) && !(signed && (bits.max(1) - 1..own.len()).any(|i| own.get(i)))
                };
                if !fits {
                    return Err(Error::invalid_input(format!("{self} does not fit {}", ty.describe())));
                }
                Ok((0..bits).map(|i| if i < own.len() { own.get(i) } else { sign }).collect())
            }

            fn from_value(ty: &Type, bits: &Bits) -> Result<$ty> {
                let signed = match ty {
                    Type::Uint(_) => false,
                    Type::Int(_) => true,
                    Type::Bits(_) => $signed,
                    _ => return Err(unfit::<$ty>(ty)),
                };
                let wide = <$ty>::BITS as usize;
                let sign = signed && !bits.is_empty() && bits.get(bits.len() - 1);
                let bit = |i: usize| if i < bits.len() { bits.get(i) } else { sign };
                let own: Bits = (0..wide).map(bit).collect();
                let top = $signed && own.get(wide - 1);
                // What is beyond the number's own bits is its sign over again.
                if (wide..bits.len()).any(|i| bits.get(i) != top) || top != sign {
                    return Err(Error::invalid_input(format!("a value of the type {} does not fit {}", ty.describe(), stringify!($ty))));
                }
                let bytes = own.to_bytes().try_into().map_err(|_| unfit::<$ty>(ty))?;
                Ok(<$ty>::from_le_bytes(bytes))
            }
        }
    )*};
}

integers!(u8, false; u16, false; u32, false; u64, false; u128, false; i8, true; i16, true; i32, true; i64, true; i128, true);

impl Native for bool {
    fn to_value(&self, ty: &Type) -> Result<Bits> {
        match ty {
            Type::Bool | Type::Bits(1) | Type::Uint(1) => Ok([*self].into_iter().collect()),
            _ => Err(unfit::<bool>(ty)),
        }
    }

    fn from_value(ty: &Type, bits: &Bits) -> Result<bool> {
        match ty {
            Type::Bool | Type::Bits(1) | Type::Uint(1) => Ok(bits.get(0)),
            _ => Err(unfit::<bool>(ty)),
        }
    }
}

macro_rules! floats {
    ($($ty:ty, $word:ty, $width:path);*) => {$(
        impl Native for $ty {
            fn to_value(&self, ty: &Type) -> Result<Bits> {
                match ty {
                    Type::Float($width) => Ok(Bits::from(self.to_bits())),
                    _ => Err(unfit::<$ty>(ty)),
                }
            }

            fn from_value(ty: &Type, bits: &Bits) -> Result<$ty> {
                let word = bits.words().first().copied().unwrap_or(0) as $word;
                match ty {
                    Type::Float($width) => Ok(<$ty>::from_bits(word)),
                    _ => Err(unfit::<$ty>(ty)),
                }
            }
        }
    )*};
}

floats!(f32, u32, FloatWidth::F32; f64, u64, FloatWidth::F64);

impl<T: Native> Native for Vec<T> {
    fn to_value(&self, ty: &Type) -> Result<Bits> {
        match ty {
            Type::Array(element, count) if *count == self.len() => {
                let mut all = Bits::default();
                self.iter().try_for_each(|value| value.to_value(element).map(|bits| all.extend_from(&bits)))?;
                Ok(all)
            }
            _ => Err(unfit::<Vec<T>>(ty)),
        }
    }

    fn from_value(ty: &Type, bits: &Bits) -> Result<Vec<T>> {
        let Type::Array(element, count) = ty else { return Err(unfit::<Vec<T>>(ty)) };
        let each = element.bits();
        (0..*count).map(|i| T::from_value(element, &bits.slice(i * each, each))).collect()
    }
}

impl<T: Native + Clone, const N: usize> Native for [T; N] {
    fn to_value(&self, ty: &Type) -> Result<Bits> {
        self.to_vec().to_value(ty)
    }

    fn from_value(ty: &Type, bits: &Bits) -> Result<[T; N]> {
        Vec::from_value(ty, bits)?.try_into().map_err(|_| unfit::<[T; N]>(ty))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both<T: Native + PartialEq + std::fmt::Debug>(value: T, ty: Type) {
        let bits = value.to_value(&ty).unwrap();
        assert_eq!(bits.len(), ty.bits());
        assert_eq!(T::from_value(&ty, &bits).unwrap(), value, "{ty}");
    }

    #[test]
    fn what_goes_in_comes_out() {
        both(40u8, Type::Uint(8));
        both(40u64, Type::Uint(7));
        both(200u8, Type::Uint(100));
        both(-7i32, Type::Int(4));
        both(-7i8, Type::Int(64));
        both(7i8, Type::Uint(3));
        both(7u8, Type::Int(4));
        both(u128::MAX, Type::Uint(128));
        both(i128::MIN, Type::Int(128));
        both(5u16, Type::Bits(200));
        both(true, Type::Bool);
        both(-1.5f32, Type::Float(FloatWidth::F32));
        both(0.1f64, Type::Float(FloatWidth::F64));
        both(vec![1u8, 2, 3], Type::Array(Box::new(Type::Uint(8)), 3));
        both([[true, false], [false, true]], Type::Array(Box::new(Type::Array(Box::new(Type::Bool), 2)), 2));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(8u8.to_value(&Type::Uint(3)).is_err() && 8u8.to_value(&Type::Int(4)).is_err());
        assert!((-1i8).to_value(&Type::Uint(8)).is_err() && (-9i8).to_value(&Type::Int(4)).is_err());
        assert!(1u8.to_value(&Type::Bool).is_err() && 1.0f64.to_value(&Type::Float(FloatWidth::F32)).is_err());
        assert!(vec![1u8].to_value(&Type::Array(Box::new(Type::Uint(8)), 2)).is_err());
        let wide = 300u16.to_value(&Type::Uint(16)).unwrap();
        assert!(u8::from_value(&Type::Uint(16), &wide).is_err());
        let minus = (-1i8).to_value(&Type::Int(8)).unwrap();
        assert!(u8::from_value(&Type::Int(8), &minus).is_err());
        assert_eq!(i64::from_value(&Type::Int(8), &minus).unwrap(), -1);
        let high = 200u8.to_value(&Type::Uint(8)).unwrap();
        assert!(i8::from_value(&Type::Uint(8), &high).is_err());
    }
}

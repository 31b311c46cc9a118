//! How many copies there are, and what of a program counts here.

use comity_circuit::{Program, Recipients};
use comity_core::{Bits, ErasureCode, Error, Result};
use comity_garble::lockstep::CopyChoice;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

/// The copies of the garbled circuit: their number `t`, and how they travel.
///
/// *All*: every choice of evaluated copies but the empty one is possible, and a cheat escapes with
/// probability `1/(2^t - 1)`; a single copy is always evaluated and gives no protection. *Stored* (AMPR14,
/// section 5): the same, but the copies are kept elsewhere, and the receiver fetches those that are
/// evaluated. *Coded* (same section): exactly `e` are evaluated, an answer is about as large as `e` garbled
/// circuits, and a cheat escapes with probability `1/C(t, e)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copies {
    total: u8,
    form: Travel,
}

/// The way in which copies travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Travel {
    /// All copies in the answer.
    All,
    /// Coded copies in the answer, as many as are evaluated.
    Coded(u8),
    /// Each copy for itself, with only its hash in the answer.
    Stored,
}

impl Copies {
    /// The most copies.
    pub const MAX: usize = 254;

    /// `t` copies that all travel.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) unless `t` is 1 to [`MAX`](Copies::MAX).
    pub fn all(t: usize) -> Result<Copies> {
        Copies::new(t, Travel::All)
    }

    /// `t` copies, each of which is stored separately.
    ///
    /// # Errors
    /// As [`Copies::all`].
    pub fn stored(t: usize) -> Result<Copies> {
        Copies::new(t, Travel::Stored)
    }

    /// `t` copies of which `e` are evaluated, coded.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) unless `0 < e < t` and `t + e` is at most 255, the number of
    /// non-zero elements of the code's field.
    pub fn coded(t: usize, e: usize) -> Result<Copies> {
        match u8::try_from(e) {
            Ok(coded) if 0 < e && e < t && t + e <= ErasureCode::MAX => Copies::new(t, Travel::Coded(coded)),
            _ => Err(Error::invalid_input(format!(
                "{t} coded copies with {e} evaluated: choose 0 < e < t with t + e at most 255"
            ))),
        }
    }

    /// All choices of coded copies that give a statistical security of `rho` bits, from the fewest copies to
    /// the fewest bytes.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if `rho` is not 1 to 127.
    pub fn frontier(rho: u32) -> Result<Vec<Copies>> {
        if !(1..=127).contains(&rho) {
            return Err(Error::invalid_input(format!("rho is {rho}: coded copies are for 1 to 127")));
        }
        ErasureCode::pairs(rho).into_iter().filter(|&(t, e)| 0 < e && e < t).map(|(t, e)| Copies::coded(t, e)).collect()
    }

    fn new(t: usize, form: Travel) -> Result<Copies> {
        match u8::try_from(t) {
            Ok(total) if (1..=Copies::MAX).contains(&t) => Ok(Copies { total, form }),
            _ => Err(Error::invalid_input(format!(
                "{t} copies: choose 2 to {}, of which a cheat is unseen with probability 1/(2^t - 1); 1 is no protection",
                Copies::MAX
            ))),
        }
    }

    /// The number in the place of `e` in a file whose copies are stored. That many are never coded.
    const STORED: u8 = 255;

    /// The copies that a file names.
    pub(crate) fn from_bytes([t, e]: [u8; 2]) -> Result<Copies> {
        match e {
            0 => Copies::all(t.into()),
            Copies::STORED => Copies::stored(t.into()),
            _ => Copies::coded(t.into(), e.into()),
        }
        .map_err(|error| Error::malformed(error.to_string()))
    }

    pub(crate) fn to_bytes(self) -> [u8; 2] {
        let e = match self.form {
            Travel::All => 0,
            Travel::Coded(e) => e,
            Travel::Stored => Copies::STORED,
        };
        [self.total, e]
    }

    /// The number of copies, `t`.
    pub fn total(self) -> usize {
        self.total.into()
    }

    pub(crate) fn travel(self) -> Travel {
        self.form
    }

    /// The number of evaluated copies, `e`, if the copies are coded.
    pub fn evaluated(self) -> Option<usize> {
        match self.form {
            Travel::Coded(e) => Some(e.into()),
            Travel::All | Travel::Stored => None,
        }
    }

    /// Whether each copy is stored separately.
    pub fn is_stored(self) -> bool {
        self.form == Travel::Stored
    }

    /// The statistical security: minus log2 of the chance to guess which copies are evaluated.
    pub fn security(self) -> f64 {
        let t = f64::from(self.total);
        match self.form {
            Travel::All | Travel::Stored => t + (-(-t).exp2()).ln_1p() / std::f64::consts::LN_2,
            Travel::Coded(e) => (0..e).map(|k| ((t - f64::from(k)) / f64::from(e - k)).log2()).sum(),
        }
    }

    /// Copies that travel in the answer, in bytes of garbled circuits.
    pub(crate) fn travelling(self) -> usize {
        match self.form {
            Travel::All => self.total(),
            Travel::Coded(e) => e.into(),
            Travel::Stored => 0,
        }
    }

    /// Draws the copies that are checked and those that are evaluated.
    pub(crate) fn choose(self, rng: &mut dyn CryptoRng) -> CopyChoice {
        let t = self.total();
        match self.evaluated() {
            None => CopyChoice::nonempty(|| {
                let mut bytes = Zeroizing::new([0; Copies::MAX.div_ceil(8)]);
                rng.fill_bytes(&mut bytes[..]);
                Bits::from_bytes(&bytes[..], t)
            }),
            Some(e) => {
                let mut numbers = Zeroizing::new(vec![[0; 16]; t]);
                rng.fill_bytes(numbers.as_flattened_mut());
                CopyChoice::smallest(numbers.iter().map(|number| u128::from_le_bytes(*number)), e)
            }
        }
    }
}

/// The sizes of a program that count for an answer.
#[derive(Clone, Copy)]
pub(crate) struct AnswerPlan {
    pub(crate) copies: Copies,
    /// The input bits of receiver and sender, `n1` and `n2`.
    pub(crate) inputs: [usize; 2],
    /// The output bits, `m`.
    pub(crate) outputs: usize,
    pub(crate) ands: u64,
}

impl AnswerPlan {
    /// The plan of a program.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if it is not for two parties, or tells party 1 something.
    pub(crate) fn new(program: &Program, copies: Copies) -> Result<AnswerPlan> {
        if program.parties() > 2 {
            return Err(Error::invalid_input(format!(
                "non-interactive computation is for two parties, and the program is for {}",
                program.parties()
            )));
        }
        program.check_plain()?;
        if let Some(index) = program.outputs().iter().position(|output| output.to != Recipients::only(0)) {
            return Err(Error::invalid_input(format!(
                "output value {index} (`{}`) is for party 1, the sender, which learns nothing in non-interactive \
                    computation: reveal every output to party 0 only",
                program.outputs()[index].name
            )));
        }
        let sum = |mut values: &mut dyn Iterator<Item = usize>| {
            let sum = Iterator::try_fold(&mut values, 0, usize::checked_add);
            sum.ok_or_else(|| Error::invalid_input("the program's inputs or outputs do not fit this machine"))
        };
        let bits = |party: u16| sum(&mut program.inputs().iter().filter(|i| i.owner.includes(party)).map(|i| i.bits));
        let outputs = sum(&mut program.outputs().iter().map(|output| output.bits))?;
        Ok(AnswerPlan { copies, inputs: [bits(0)?, bits(1)?], outputs, ands: program.and_gates() })
    }

    /// The number of copies, `t`.
    pub(crate) fn t(&self) -> usize {
        self.copies.total()
    }
}

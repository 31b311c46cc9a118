//! How many columns a random matrix needs: the bound of section 4.1, exactly.
//!
//! *Cost.* Some 50 microseconds for rho = 40 and 2048 rows.

/// The fewest columns of M for which \[M | I\] of `rows` rows fails to be a rho-probe matrix with probability at most
/// 2^-rho over a random M: (c - 1)k in the paper, for k rows.
///
/// The sum of i rows has i ones in the identity, and is uniform in M. So it has too few ones with probability
/// cdf(rho - i - 1) for a binomial distribution over the columns, and the paper sums that over all sets of rows. Times
/// 2^columns the sum is a number of words: those with fewer than rho ones, but at least one of them in the identity.
/// This number is the difference of two balls of radius rho - 1, and is computed exactly.
///
/// # Panics
/// If there are 2^31 rows or more.
pub(crate) fn columns(rho: u32, rows: usize) -> usize {
    let rows = u32::try_from(rows).ok().filter(|&rows| rows < 1 << 31).expect("fewer than 2^31 rows");
    // One column more at most doubles the words, so that what is enough stays enough.
    let mut most = 1;
    while !suffices(rho, rows, most) {
        most *= 2;
    }
    let (mut few, mut enough) = (0, most);
    while few < enough {
        let middle = (few + enough) / 2;
        if suffices(rho, rows, middle) {
            enough = middle;
        } else {
            few = middle + 1;
        }
    }
    enough as usize
}

/// Whether `columns` columns are enough: whether the bad words are at most 2^(columns - rho).
pub(super) fn suffices(rho: u32, rows: u32, columns: u32) -> bool {
    let mut bad = ball(rows + columns, rho);
    bad.subtract(&ball(columns, rho));
    bad.is_zero() || columns >= rho && bad.is_at_most_power(columns - rho)
}

/// The number of words of `length` bits that have fewer than `ones` ones.
fn ball(length: u32, ones: u32) -> Natural {
    let mut sum = Natural(vec![]);
    let mut binomial = Natural(vec![1]);
    for j in 0..ones.min(length + 1) {
        sum.add(&binomial);
        binomial.scale(length - j, j + 1);
    }
    sum
}

/// A natural number: digits of 32 bits, the least significant first, without zeros at the end.
struct Natural(Vec<u32>);

impl Natural {
    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the number is at most 2^exponent.
    fn is_at_most_power(&self, exponent: u32) -> bool {
        let Some((top, lower)) = self.0.split_last() else { return true };
        let bits = 32 * lower.len() as u32 + top.ilog2();
        bits < exponent || bits == exponent && top.is_power_of_two() && lower.iter().all(|&digit| digit == 0)
    }

    fn add(&mut self, other: &Natural) {
        self.0.resize(self.0.len().max(other.0.len()) + 1, 0);
        let mut carry = 0;
        for (i, digit) in self.0.iter_mut().enumerate() {
            carry += u64::from(*digit) + u64::from(other.0.get(i).copied().unwrap_or(0));
            *digit = carry as u32;
            carry >>= 32;
        }
        self.trim();
    }

    /// Subtracts a number that is not larger.
    fn subtract(&mut self, other: &Natural) {
        let mut borrow = false;
        for (i, digit) in self.0.iter_mut().enumerate() {
            let (less, first) = digit.overflowing_sub(other.0.get(i).copied().unwrap_or(0));
            let (less, second) = less.overflowing_sub(u32::from(borrow));
            (*digit, borrow) = (less, first || second);
        }
        assert!(!borrow, "the smaller ball is in the larger one");
        self.trim();
    }

    /// Multiplies by `by` and divides by `over`, which divides the product.
    fn scale(&mut self, by: u32, over: u32) {
        self.0.push(0);
        let mut carry = 0;
        for digit in &mut self.0 {
            carry += u64::from(*digit) * u64::from(by);
            *digit = carry as u32;
            carry >>= 32;
        }
        let mut rest = 0;
        for digit in self.0.iter_mut().rev() {
            rest = rest << 32 | u64::from(*digit);
            *digit = (rest / u64::from(over)) as u32;
            rest %= u64::from(over);
        }
        self.trim();
    }

    fn trim(&mut self) {
        while self.0.pop_if(|top| *top == 0).is_some() {}
    }
}

//! An oblivious pseudo-random function for each bin: what [KKRT16](crate::kkrt), [Protocol 6](crate::bch) and
//! [OT-Phasing](crate::phasing) have in common. They differ in how items are [placed](Placed), in the OT, and
//! in the digits.
//!
//! The receiver has at most one item in a bin, and asks for the value of its input there: the item's rest,
//! and two bits that say by which function the item came there; in an empty bin a random rest, by a function
//! that does not exist. The sender evaluates each of its items in its three bins, and shows the
//! [masks](crate::masks) of the values, a group for each function. Without the function in it, an input would
//! be the same in two bins that are one.

use comity_core::{Aes128, Backend, Block, HugeTable, Prg, Result, TccrHash};
use comity_hashing::{Cuckoo, FUNCTIONS, Short, Simple};
use comity_ot::base::BaseOt;
use comity_ot::one_of_n::{self, OneOfN};
use comity_ot::{AtLeast, SemiHonest};
use comity_protocol::Party;
use zeroize::Zeroizing;

use crate::masks::{Found, Masks};
use crate::set::{Matches, Sent, Set};
use crate::sizes::Sizes;
use crate::terms::Terms;

/// The session of the OT extension, under that of the run.
const OT: &str = "private set intersection: an OPRF for each bin";

/// Items read together, before anything is done with them: the machine then waits for many at a time.
const TOGETHER: usize = 128;

/// The number of items that are evaluated together: their values stay in the second-level cache.
const EVALUATED: usize = 4096;

/// Bits of an input that say the function.
pub(crate) const FUNCTION_BITS: u32 = 2;

/// The number that stands for the function in an empty bin: no function has it.
const NO_FUNCTION: u128 = FUNCTIONS as u128;

/// The items of a party in their bins.
pub(crate) struct Placed {
    /// The items, and dummies after them: two blocks each, the rest and the bins. They are read at random
    /// places all the time.
    items: HugeTable,
    next: usize,
    /// The bits of a rest.
    pub(crate) rest_bits: u32,
    /// The number of bins.
    pub(crate) bins: u32,
}

/// The OTs of a bin: one for each digit of the input.
#[derive(Clone, Copy)]
pub(crate) struct Digits {
    /// The number of digits.
    pub(crate) count: usize,
    /// The bits of a digit.
    pub(crate) bits: u32,
}

impl Digits {
    /// The whole input in one OT.
    pub(crate) const WHOLE: Digits = Digits { count: 1, bits: 128 };

    /// The digits of an input.
    fn of(self, input: u128) -> impl Iterator<Item = u128> {
        let mask = u128::MAX >> (128 - self.bits);
        (0..self.count as u32).map(move |digit| (input >> (digit * self.bits)) & mask)
    }
}

impl Placed {
    /// Room for `items` items, and for one at least, with rests of `rest_bits` bits, in `bins` bins.
    pub(crate) fn room(items: usize, rest_bits: u32, bins: u32) -> Placed {
        Placed { items: HugeTable::zeroed(2 * items.max(1)), next: 0, rest_bits, bins }
    }

    /// Adds the next item.
    pub(crate) fn push(&mut self, Short { bins, rest }: Short) {
        self.items[self.next] = Block::from_u128(rest);
        let bins = bins.iter().rev().fold(0, |all, &bin| all << 32 | u128::from(bin));
        self.items[self.next + 1] = Block::from_u128(bins);
        self.next += 2;
    }

    /// The number of items, with dummies.
    pub(crate) fn len(&self) -> usize {
        self.next / 2
    }

    /// The bins of an item.
    pub(crate) fn places(&self, item: u32) -> [u32; FUNCTIONS] {
        unpacked(self.items[2 * item as usize + 1])
    }

    /// Hands on each of these items: its number, rest and bins.
    fn each(&self, items: impl Iterator<Item = u32>, mut each: impl FnMut(u32, Short)) {
        let (mut numbers, mut there) = ([0; TOGETHER], [[Block::ZERO; 2]; TOGETHER]);
        let (all, mut items) = (self.items.as_chunks::<2>().0, items.fuse());
        loop {
            let count = numbers.iter_mut().zip(&mut items).map(|(number, item)| *number = item).count();
            if count == 0 {
                return;
            }
            numbers[..count].iter().zip(&mut there).for_each(|(&item, there)| *there = all[item as usize]);
            for (&item, &[rest, bins]) in numbers.iter().zip(&there[..count]) {
                each(item, Short { bins: unpacked(bins), rest: rest.to_u128() });
            }
        }
    }

    /// The receiver's input in an empty bin.
    fn nothing(&self, empty: &mut Prg) -> u128 {
        (empty.block().to_u128() & u128::MAX >> (128 - self.rest_bits)) << FUNCTION_BITS | NO_FUNCTION
    }

    /// The OPRF's input of an item in the bin where it came by a function.
    pub(crate) fn input(&self, item: u32, function: usize) -> u128 {
        input(self.items[2 * item as usize].to_u128(), function)
    }
}

/// The bins in a block.
fn unpacked(bins: Block) -> [u32; FUNCTIONS] {
    let bins = bins.to_u128();
    [bins as u32, (bins >> 32) as u32, (bins >> 64) as u32]
}

/// The OPRF's input of an item with this rest in the bin where it came by a function.
fn input(rest: u128, function: usize) -> u128 {
    rest << FUNCTION_BITS | function as u128
}

/// The values of inputs out of the strings of their digits: the string itself, or if there are several, a
/// hash of bin, function and the sum. A sum alone would be linear: four items of a bin whose digits cancel
/// would have values that do.
struct Join {
    digits: Digits,
    permutation: Aes128,
}

impl Join {
    fn new(backend: Backend, digits: Digits) -> Join {
        Join { digits, permutation: Aes128::new(backend, TccrHash::KEY) }
    }

    /// The values, of inputs for which `tweak` tells bin and function. `pi(pi(x) ^ t) ^ pi(x)`.
    fn join(&self, strings: &[Block], tweak: impl Fn(usize) -> u128, values: &mut Vec<Block>) {
        values.clear();
        if self.digits.count == 1 {
            values.extend_from_slice(strings);
            return;
        }
        let sum = |strings: &[Block]| strings.iter().fold(Block::ZERO, |sum, &string| sum ^ string);
        values.extend(strings.chunks_exact(self.digits.count).map(sum));
        self.permutation.encrypt(values);
        let mut outer = Vec::with_capacity(values.len());
        outer.extend(values.iter().enumerate().map(|(i, value)| *value ^ Block::from_u128(tweak(i))));
        self.permutation.encrypt(&mut outer);
        values.iter_mut().zip(&*outer).for_each(|(value, outer)| *value ^= *outer);
    }
}

/// What bin and function make of a tweak.
fn tweak(bin: u32, function: usize) -> u128 {
    u128::from(bin) << FUNCTION_BITS | function as u128
}

/// The sender's side, after its items are placed.
pub(crate) fn send<S: OneOfN<Model = SemiHonest>, B: BaseOt<Model: AtLeast<SemiHonest>>>(
    me: &mut Party<'_, '_>,
    (terms, set): (&Terms, &Set<'_>),
    sizes: Sizes,
    (placed, digits): (&Placed, Digits),
) -> Result<Sent> {
    let masks = Masks::new(me.here, sizes.mask_bits(FUNCTIONS), terms.payload);
    let (ch, here, rng, observer) = me.pair()?;
    // Both sides cut the OTs into the same calls: whole chunks.
    let width = (S::CHUNK / digits.count) as u32;
    let simple = Simple::new(placed.len() as u32, placed.bins, width, |item| placed.places(item));
    observer.phase("oprf");
    let mut oprf = one_of_n::Sender::<S>::setup::<B>(ch, &here.session.child(OT), here.backend, rng)?;
    let mut groups = [(); FUNCTIONS].map(|()| masks.group(placed.len()));
    let join = Join::new(here.backend, digits);
    let mut queries = Vec::new();
    let (mut strings, mut values) = (Vec::new(), Vec::new());
    for (run, parts) in (0..).zip(simple.runs()) {
        let first = run * width;
        let keys = oprf.keys(ch, digits.count * width.min(placed.bins - first) as usize)?;
        for (function, (items, group)) in parts.into_iter().zip(&mut groups).enumerate() {
            // Where the receiver has few bins, all items are in one run.
            for items in items.chunks(EVALUATED) {
                queries.clear();
                placed.each(items.iter().copied(), |_, Short { bins, rest }| {
                    let ot = digits.count * (bins[function] - first) as usize;
                    queries.extend((ot..).zip(digits.of(input(rest, function))));
                });
                strings.resize(queries.len(), Block::ZERO);
                keys.evaluate(&queries, &mut strings)?;
                let bin = |i: usize| first + (queries[i * digits.count].0 / digits.count) as u32;
                join.join(&strings, |i| tweak(bin(i), function), &mut values);
                masks.add(group, &values, items.iter().copied());
            }
        }
    }
    observer.phase("masks");
    for group in groups {
        masks.send(ch, group, set)?;
    }
    ch.flush()?;
    Ok(Sent { theirs: sizes.receiver, left_out: 0 })
}

/// The receiver's side, after its items are placed.
pub(crate) fn receive<S: OneOfN<Model = SemiHonest>, B: BaseOt<Model: AtLeast<SemiHonest>>>(
    me: &mut Party<'_, '_>,
    (terms, set): (&Terms, &Set<'_>),
    sizes: Sizes,
    (placed, digits): (&Placed, Digits),
) -> Result<Matches> {
    let masks = Masks::new(me.here, sizes.mask_bits(FUNCTIONS), terms.payload);
    let (ch, here, rng, observer) = me.pair()?;
    let table = Cuckoo::place(placed.len() as u32, placed.bins, |item| placed.places(item));
    observer.phase("oprf");
    let mut oprf = one_of_n::Receiver::<S>::setup::<B>(ch, &here.session.child(OT), here.backend, rng)?;
    let (mut empty, join) = (Prg::new(here.backend, Block::random(rng)), Join::new(here.backend, digits));
    // What is looked for among the masks, as far as it can be made ready while the sender is busy with each call's OTs.
    let room = placed.len() / 2;
    let mut own = [(); FUNCTIONS].map(|()| (Zeroizing::new(Vec::with_capacity(room)), Vec::with_capacity(room)));
    let width = S::CHUNK / digits.count;
    let (mut choices, mut strings, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let entries = Vec::from_iter(table.bins());
    for (first, entries) in (0..).step_by(width).zip(entries.chunks(width)) {
        choices.clear();
        let items = entries.iter().map(|entry| entry.map_or(0, |entry| entry.item()));
        let mut here = entries.iter();
        placed.each(items, |_, Short { rest, .. }| {
            let entry = here.next().expect("an entry for each bin");
            let asked = match entry {
                Some(entry) => input(rest, entry.function()),
                None => placed.nothing(&mut empty),
            };
            choices.extend(digits.of(asked));
        });
        strings.resize(choices.len(), Block::ZERO);
        oprf.receive(ch, &choices, &mut strings)?;
        let function = |i: usize| entries[i].map_or(FUNCTIONS, |entry| entry.function());
        join.join(&strings, |i| tweak((first + i) as u32, function(i)), &mut values);
        for (entry, value) in entries.iter().zip(&values) {
            // Dummies are looked for by nobody.
            if let Some(entry) = entry.filter(|entry| (entry.item() as usize) < set.items.len()) {
                let (values, items) = &mut own[entry.function()];
                values.push(*value);
                items.push(entry.item());
            }
        }
    }
    observer.phase("masks");
    // All before the first mask comes: the sender sorts its own meanwhile.
    let mut found = Found::default();
    for (sought, (_, items)) in own.each_ref().map(|(values, _)| masks.seek(values)).iter().zip(&own) {
        let group = masks.receive(ch, sizes.sender, sought)?;
        found.places.extend(group.places.iter().map(|&place| items[place as usize]));
        found.payload.extend_from_slice(&group.payload);
    }
    Ok(Matches::new(sizes.sender, set.items.len(), &found, left_out(&table, set.items.len())))
}

/// How many of the first `own` items a table has left out; the others are dummies.
pub(crate) fn left_out(table: &Cuckoo, own: usize) -> usize {
    table.left_out().iter().filter(|&&item| (item as usize) < own).count()
}

#[cfg(test)]
mod tests {
    use comity_ot::base::Simplest;
    use comity_ot::one_of_n::Kkrt16;
    use comity_protocol::Adversary;
    use comity_testing::Pair;

    use super::*;
    use crate::method::Method;
    use crate::tests::{items, party};

    /// Items with these rests, all in bins 0, 1 and 2.
    fn placed(rests: &[u128]) -> Placed {
        let mut placed = Placed::room(rests.len(), 100, 10);
        rests.iter().for_each(|&rest| placed.push(Short { bins: [0, 1, 2], rest }));
        placed
    }

    /// The receiver's result, where the sender has all of these rests.
    fn found(rests: &[u128], own: usize) -> Matches {
        let (terms, items) = (Terms::new(Method::Kkrt, Adversary::SemiHonest), items(0..rests.len()));
        let sizes = Sizes { sender: rests.len(), receiver: rests.len(), rho: 40 };
        let (placed, digits) = (placed(rests), Digits::WHOLE);
        let set = |own: usize| Set { items: &items[..own], ..Set::default() };
        let (sent, got) = Pair::run(
            |ch| {
                party(0, 1, ch, |me| {
                    send::<Kkrt16, Simplest>(me, (&terms, &set(rests.len())), sizes, (&placed, digits))
                })
            },
            |ch| party(1, 1, ch, |me| receive::<Kkrt16, Simplest>(me, (&terms, &set(own)), sizes, (&placed, digits))),
        );
        sent.unwrap();
        got.unwrap()
    }

    #[test]
    fn dummies_are_not_looked_for() {
        for own in 0..3 {
            let got = found(&[5, 6, 7], own);
            assert!(got.matched.iter().copied().eq(0..own as u32) && got.left_out == 0);
        }
    }

    /// Five items for three bins: two have no place, and their owner is told which.
    #[test]
    fn who_has_no_place_is_counted_and_dummies_are_not() {
        let got = found(&[1, 2, 3, 4, 5], 5);
        assert_eq!((got.left_out, got.matched.len()), (2, 3));
        let got = found(&[1, 2, 3, 4, 5], 0);
        assert_eq!((got.left_out, got.matched.len()), (0, 0));
    }

    /// In an empty bin is asked for what no item is.
    #[test]
    fn empty_bins_ask_for_nothing_that_there_is() {
        let (placed, mut rng) = (placed(&[1]), Prg::new(Backend::detect(), Block::from_u128(1)));
        let mut asked: Vec<u128> = (0..100).map(|_| placed.nothing(&mut rng)).collect();
        assert!(asked.iter().all(|&input| input & 3 == NO_FUNCTION && input >> 102 == 0));
        asked.sort_unstable();
        asked.dedup();
        assert_eq!(asked.len(), 100);
    }

    #[test]
    fn digits_are_the_whole_input() {
        let input = 0x1234_5678_9abc_def0_1122_u128;
        let digits = Digits { count: 10, bits: 8 };
        let sum = (0..).zip(digits.of(input)).map(|(at, digit)| digit << (8 * at)).sum::<u128>();
        assert_eq!(sum, input);
        assert!(digits.of(input).all(|digit| digit < 256));
        assert_eq!(Vec::from_iter(Digits::WHOLE.of(input)), [input]);
    }

    /// Four items of a bin, two bytes each, which share bytes so that their strings cancel.
    #[test]
    fn values_of_items_whose_bytes_cancel_do_not() {
        let mut rng = Prg::new(Backend::detect(), Block::from_u128(1));
        let [a, b, c, d] = [(); 4].map(|()| rng.block());
        let strings = [a, c, a, d, b, c, b, d];
        let xor = |blocks: &[Block]| blocks.iter().fold(Block::ZERO, |sum, &block| sum ^ block);
        assert_eq!(xor(&strings), Block::ZERO);
        let values = |tweak: u128| {
            let mut values = Vec::new();
            Join::new(Backend::detect(), Digits { count: 2, bits: 8 }).join(&strings, |_| tweak, &mut values);
            values
        };
        assert_ne!(xor(&values(5)), Block::ZERO);
        assert!(values(5).iter().zip(values(6)).all(|(five, six)| *five != six), "another bin, other values");
        let mut tweaks: Vec<u128> = (0..20).flat_map(|bin| (0..4).map(move |function| tweak(bin, function))).collect();
        tweaks.sort_unstable();
        tweaks.dedup();
        assert_eq!(tweaks.len(), 80, "each bin and function has its own");
    }

    /// Two items that functions put into one bin with one rest are two inputs.
    #[test]
    fn the_function_is_a_part_of_the_input() {
        let mut placed = Placed::room(2, 100, 10);
        (0..2).for_each(|_| placed.push(Short { bins: [4, 5, 6], rest: (1 << 100) - 1 }));
        assert_eq!((placed.places(0), placed.len()), ([4, 5, 6], 2));
        let inputs = [0, 1, 2].map(|function| placed.input(1, function));
        assert!(inputs[0] != inputs[1] && inputs[1] != inputs[2] && inputs[0] != inputs[2]);
        assert!(inputs.iter().all(|input| input >> FUNCTION_BITS == (1 << 100) - 1 && input & 3 != NO_FUNCTION));
    }
}

//! Labels go through a network of switches over OT (Mohassel, Sadeghian 2013): two permutation networks, and
//! a row of copies between them.

use comity_channel::Channel;
use comity_core::{Bits, Block, Result};
use comity_library::arrays::{each_switch, switch_count, switches};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::bringing::{Ends, Giving, Taking};

/// A switch between two lines; or a copy, which has the second one take what the first one has.
#[derive(Clone, Copy)]
struct Switch {
    first: usize,
    second: usize,
    copy: bool,
}

/// The lines: sources begin on the first ones, and places are those of their numbers at the end.
fn lines(ends: Ends) -> usize {
    ends.sources.max(ends.places)
}

/// The number of switches and copies.
pub(super) fn count(ends: Ends) -> usize {
    switch_count(lines(ends)) + ends.places - 1 + switch_count(ends.places)
}

/// All of them in order.
fn order(ends: Ends) -> Vec<Switch> {
    let mut order = Vec::with_capacity(count(ends));
    each_switch(lines(ends), |first, second| order.push(Switch { first, second, copy: false }));
    order.extend((1..ends.places).map(|second| Switch { first: second - 1, second, copy: true }));
    each_switch(ends.places, |first, second| order.push(Switch { first, second, copy: false }));
    order
}

/// The ways of all switches by which each place gets the source that it reads.
fn ways(ends: Ends, reads: &[usize]) -> Bits {
    // Places by what they read: the first of each source gets it by the first network, the others copy.
    let mut sorted: Vec<usize> = (0..ends.places).collect();
    sorted.sort_by_key(|&place| reads[place]);
    let copies = |at: usize| at > 0 && reads[sorted[at]] == reads[sorted[at - 1]];
    let mut used = vec![false; lines(ends)];
    reads.iter().for_each(|&source| used[source] = true);
    let mut unused = (0..lines(ends)).filter(|&source| !used[source]);
    let mut next = || unused.next().expect("as many lines as there are");
    let from: Vec<usize> =
        (0..lines(ends)).map(|at| if at >= ends.places || copies(at) { next() } else { reads[sorted[at]] }).collect();
    let mut back = vec![0; ends.places];
    sorted.iter().enumerate().for_each(|(at, &place)| back[place] = at);
    switches(&from).into_iter().chain((1..ends.places).map(copies)).chain(switches(&back)).collect()
}

/// The lines on which these sources begin; those of nothing are zero.
fn begun(ends: Ends, sources: &[Block]) -> Vec<Block> {
    let mut begun = sources.to_vec();
    begun.resize(lines(ends), Block::ZERO);
    begun
}

/// The garbler's side.
pub(super) struct Giver {
    order: Vec<Switch>,
    /// The mask of each source.
    sources: Zeroizing<Vec<Block>>,
    /// What each line's label is masked by so far; at the end it is the label for zero of the place.
    masks: Zeroizing<Vec<Block>>,
}

impl Giver {
    pub(super) fn new(ends: Ends, rng: &mut dyn CryptoRng) -> Giver {
        let sources: Vec<Block> = (0..ends.sources).map(|_| Block::random(rng)).collect();
        let masks = Zeroizing::new(begun(ends, &sources));
        Giver { order: order(ends), sources: Zeroizing::new(sources), masks }
    }
}

impl Giving for Giver {
    fn switches(&self) -> usize {
        self.order.len()
    }

    fn switch(&mut self, at: usize, q: Block) -> Block {
        let (Switch { first, second, copy }, masks) = (self.order[at], &mut self.masks);
        let correlation = masks[first] ^ masks[second];
        masks[second] ^= q;
        if !copy {
            masks[first] ^= q;
        }
        correlation
    }

    fn label(&self, place: usize) -> Block {
        self.masks[place]
    }

    fn send(&self, ch: &mut dyn Channel, zeros: &[Block], delta: Block, x: &Bits) -> Result<()> {
        let masked: Vec<Block> = zeros.iter().zip(&*self.sources).map(|(zero, mask)| *zero ^ *mask).collect();
        let active: Vec<Block> = zeros.iter().zip(x.iter()).map(|(zero, bit)| *zero ^ delta.masked(bit)).collect();
        ch.send(Block::bytes_of(&masked))?;
        ch.send(Block::bytes_of(&active))
    }
}

/// The evaluator's side.
pub(super) struct Taker<'a> {
    ends: Ends,
    /// The source that each place reads.
    reads: &'a [usize],
    ways: Bits,
    /// What there is to add to the label of its source, once it has arrived.
    lines: Vec<Block>,
    /// The active labels of sources.
    active: Vec<Block>,
}

impl<'a> Taker<'a> {
    pub(super) fn new(ends: Ends, reads: &'a [usize]) -> Taker<'a> {
        Taker { ends, reads, ways: ways(ends, reads), lines: Vec::new(), active: Vec::new() }
    }
}

impl Taking for Taker<'_> {
    fn ways(&self) -> Bits {
        self.ways.clone()
    }

    fn receive(&mut self, ch: &mut dyn Channel, chosen: &[Block]) -> Result<()> {
        let mut masked = vec![Block::ZERO; self.ends.sources];
        ch.recv(Block::bytes_of_mut(&mut masked))?;
        self.active = vec![Block::ZERO; self.ends.inputs];
        ch.recv(Block::bytes_of_mut(&mut self.active))?;
        let mut lines = begun(self.ends, &masked);
        for ((Switch { first, second, copy }, chosen), way) in
            order(self.ends).into_iter().zip(chosen).zip(self.ways.iter())
        {
            let change = *chosen ^ (lines[first] ^ lines[second]).masked(way);
            lines[second] ^= change;
            if !copy {
                lines[first] ^= change;
            }
        }
        self.lines = lines;
        Ok(())
    }

    fn source(&mut self, label: Block) -> Result<()> {
        self.active.push(label);
        Ok(())
    }

    fn label(&self, place: usize) -> Block {
        self.active[self.reads[place]] ^ self.lines[place]
    }
}

#[cfg(test)]
mod tests {
    use comity_core::Prg;
    use comity_testing::laws::rng;

    use super::super::tests::{below, shape};
    use super::*;

    #[test]
    fn every_place_gets_what_it_reads() {
        let mut rng: Prg = rng(3);
        for round in 0..60 {
            let ends = Ends::new(shape(1 + below(40, &mut rng), 1 + below(9, &mut rng), 1 + below(40, &mut rng)));
            // All of one source, too.
            let sources = if round % 5 == 0 { 1 } else { ends.sources };
            let reads: Vec<usize> = (0..ends.places).map(|_| below(sources, &mut rng)).collect();
            let (ways, order) = (ways(ends, &reads), order(ends));
            assert!(ways.len() == order.len() && order.len() == count(ends));
            let named: Vec<Block> = (1..=ends.sources as u128).map(Block::from_u128).collect();
            let mut lines = begun(ends, &named);
            for (switch, _) in order.iter().zip(ways.iter()).filter(|(_, way)| *way) {
                match switch.copy {
                    true => lines[switch.second] = lines[switch.first],
                    false => lines.swap(switch.first, switch.second),
                }
            }
            assert!(reads.iter().zip(&lines).all(|(&read, line)| *line == named[read]));
        }
    }

    #[test]
    fn masks_are_drawn() {
        let ends = Ends::new(shape(5, 2, 9));
        let of = |seed| Giver::new(ends, &mut rng(seed)).sources;
        let all = [&of(1)[..], &of(2)].concat();
        assert!(all.iter().enumerate().all(|(at, mask)| !all[..at].contains(mask)));
    }

    /// The switches of D13.3: `4 k log2 (2 k) + 1` for `2 k` places and as many lines.
    #[test]
    fn switches_are_as_many_as_the_paper_has() {
        for log in 3..12 {
            let gates = 1usize << log;
            let (count, paper) = (count(Ends::new(shape(1, 1, gates))), 4 * gates * (log + 1) + 1);
            assert!(count <= paper + 4 * (log + 2), "{count} of {paper}");
            assert!(count + 2 * gates >= paper);
        }
    }
}

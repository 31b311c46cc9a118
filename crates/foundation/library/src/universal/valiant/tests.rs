use super::block::{Names, Source, middle, permutation, permute};
use super::graph::{Graph, Routes, Split};
use super::walking::{Nodes, Walking};
use super::{Shape, switches};

const SPLITS: [Split; 3] = [Split::Two, Split::Four, Split::Hybrid];

/// A small generator of numbers, for tests.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Wires that are called by the pole that they came from, through nodes of which one may be wrong.
struct Poles {
    nodes: usize,
    wrong: Option<usize>,
}

impl Nodes for Poles {
    type Wire = u32;

    fn node(&mut self, [first, second]: [u32; 2], crossed: bool) -> [u32; 2] {
        let wrong = self.wrong == Some(self.nodes);
        self.nodes += 1;
        if crossed != wrong { [second, first] } else { [first, second] }
    }
}

/// Whether each edge ends where it should, and the nodes on the way.
fn arrive(graph: &Graph, next: &[Option<u32>], wrong: Option<usize>) -> (bool, usize) {
    let mut nodes = Poles { nodes: 0, wrong };
    let mut walking = Walking::new(graph);
    let mut came = Vec::new();
    for pole in 0..next.len() {
        came.push(walking.enter(pole, &mut nodes));
        let gives = graph.gives(pole).then_some(pole as u32);
        walking.leave(pole, gives, &mut nodes);
    }
    let right = (0..).zip(next).all(|(from, to)| to.is_none_or(|to| came[to as usize] == Some(from)));
    (right, nodes.nodes)
}

/// All graphs on `poles` poles of which each takes one edge at most, and gives one.
fn all(poles: usize, each: &mut impl FnMut(&[Option<u32>])) {
    fn from(pole: usize, next: &mut Vec<Option<u32>>, each: &mut impl FnMut(&[Option<u32>])) {
        if pole == next.len() {
            return each(next);
        }
        from(pole + 1, next, each);
        for to in pole + 1..next.len() {
            if !next[..pole].contains(&Some(to as u32)) {
                next[pole] = Some(to as u32);
                from(pole + 1, next, each);
                next[pole] = None;
            }
        }
    }
    from(0, &mut vec![None; poles], each);
}

#[test]
fn every_small_graph_has_its_way() {
    for split in SPLITS {
        let mut routes = Routes::new(split);
        let mut counts = Vec::new();
        for poles in 1..=9 {
            let mut graphs = 0;
            all(poles, &mut |next| {
                let graph = Graph::new(poles, 0, poles, true, Some(next), &mut routes);
                assert!(arrive(&graph, next, None).0, "{split:?}: {next:?}");
                graphs += 1;
            });
            counts.push(graphs);
        }
        // Numbers of partitions of a set, each into paths.
        assert_eq!(counts, [1, 2, 5, 15, 52, 203, 877, 4140, 21147]);
    }
}

#[test]
fn graphs_have_room_for_all_edges_between_those_that_give_and_take() {
    let mut numbers = Numbers(1);
    for round in 0..240 {
        let poles = 2 + numbers.below(if round % 8 == 0 { 3000 } else { 90 });
        let (first, givers) = (numbers.below(poles), 1 + numbers.below(poles));
        let mut free: Vec<u32> = (first as u32..poles as u32).collect();
        let mut next = vec![None; poles];
        for (from, next) in next.iter_mut().enumerate().take(givers) {
            let later: Vec<usize> = (0..free.len()).filter(|&at| free[at] as usize > from).collect();
            if !later.is_empty() && numbers.below(8) > 0 {
                // Near ones, too: they are within blocks, or from one to the next.
                let choice = if numbers.below(2) == 0 { 0 } else { numbers.below(later.len()) };
                *next = Some(free.swap_remove(later[choice]));
            }
        }
        for split in SPLITS {
            let graph = Graph::new(poles, first, givers, true, Some(&next), &mut Routes::new(split));
            assert!(arrive(&graph, &next, None).0, "{split:?}, {poles} poles, {first}, {givers}");
        }
    }
}

#[test]
fn a_wrong_way_loses_an_edge() {
    // Each pole's edge goes three further: there are three edges past each place.
    let poles = 40;
    let next: Vec<Option<u32>> = (0..poles).map(|pole| (pole + 3 < poles).then_some(pole as u32 + 3)).collect();
    for split in SPLITS {
        let graph = Graph::new(poles, 0, poles, true, Some(&next), &mut Routes::new(split));
        let (right, nodes) = arrive(&graph, &next, None);
        assert!(right);
        let seen = (0..nodes).filter(|&wrong| !arrive(&graph, &next, Some(wrong)).0).count();
        assert!(seen > nodes / 4, "{split:?}: {seen} of {nodes}");
    }
}

#[test]
fn blocks_have_ways_for_all_that_they_are_asked_for() {
    for code in 0..256u32 {
        let order = [0, 2, 4, 6].map(|bit| (code >> bit & 3) as u8);
        let mut seen = [false; 4];
        order.iter().for_each(|&wire| seen[usize::from(wire)] = true);
        if seen == [true; 4] {
            let ways = permutation(4, order.map(Some));
            let wires = [0, 1, 2, 3].map(Some);
            assert_eq!(permute(&mut Names, 4, wires, [true; 4], ways), order.map(Some));
            for (place, wire) in order.into_iter().enumerate().take(2) {
                // The first places alone take fewer nodes, and the same ways lead to them.
                let mut wanted = [false; 4];
                wanted[place] = true;
                let mut wants = [None; 4];
                wants[place] = Some(wire);
                assert_eq!(permute(&mut Names, 4, wires, wanted, permutation(4, wants))[place], Some(wire));
            }
        }
    }
    let sources = [Source::Nothing, Source::Outside];
    for code in 0..4 * 5 * 6 * 6u32 {
        let mut code = code;
        let mut taken = [false; 4];
        let block = [2, 3, 4, 5].map(|choices| {
            let choice = (code % choices) as usize;
            code /= choices;
            sources.get(choice).copied().unwrap_or_else(|| Source::Pole(choice as u8 - 2))
        });
        let mut twice = false;
        for source in block {
            if let Source::Pole(pole) = source {
                twice |= std::mem::replace(&mut taken[usize::from(pole)], true);
            }
        }
        if !twice {
            let (_, exits) = middle(4, &block, taken.map(|taken| !taken));
            assert!((0..4).all(|pole| taken[pole] || exits[pole].is_some()));
        }
    }
}

/// `EXACT` as equations (2.5) and (2.6) have it.
fn exact(poles: usize, known: &mut Vec<usize>) -> usize {
    while known.len() <= poles {
        let n = known.len();
        known.push(match n {
            0..=6 => [0, 0, 0, 0, 3, 7, 9][n],
            _ if n.is_multiple_of(2) => 2 * known[(n - 2) / 2] + 5 * ((n - 2) / 2),
            _ => known[(n - 1) / 2] + known[(n - 3) / 2] + 5 * ((n - 3) / 2) + 3,
        });
    }
    known[poles]
}

#[test]
fn sizes_are_those_of_the_recurrences() {
    let mut known = Vec::new();
    let [mut two, mut four, mut hybrid] = SPLITS.map(Routes::new);
    for poles in 1..3000 {
        assert_eq!(two.nodes(poles), exact(poles, &mut known), "{poles} poles");
        assert!(hybrid.nodes(poles) <= two.nodes(poles).min(four.nodes(poles)));
        if poles > 6 && poles.is_multiple_of(4) {
            let quarter = poles / 4 - 1;
            assert_eq!(four.nodes(poles), 4 * four.nodes(quarter) + 19 * quarter, "{poles} poles");
        }
    }
}

/// The gates of D13.3's Table 2.1 and what it says of Valiant's circuit: four operations for each AND gate, a
/// universal gate being one.
///
/// The table is not (2.5) and (2.6) less `4 (u + v) + 2 k* - 9`, as the section has it of both optimizations:
/// with `v` of the other sign it is, but for two to four gates, which it says vary by the parity of numbers.
#[test]
fn table_2_1_counts_outputs_with_the_other_sign() {
    let rows: [(&str, [usize; 3], f64, f64); 10] = [
        ("AES-non-exp", [256, 46_463, 128], 1.150e7, 5e3),
        ("AES-expanded", [1536, 36_854, 128], 9.211e6, 500.0),
        ("DES-non-exp", [128, 31_754, 64], 7.502e6, 500.0),
        ("md5", [512, 65_857, 128], 1.700e7, 5e3),
        ("add_32", [64, 245, 33], 35_512.0, 0.0),
        ("comp_32", [64, 151, 1], 19_384.0, 0.0),
        ("mult_32x32", [64, 12_074, 64], 2.522e6, 500.0),
        ("Branching_18", [72, 124, 4], 17_312.0, 0.0),
        ("CreditCheck", [25, 56, 1], 5_056.0, 0.0),
        ("MobileCode", [80, 64, 16], 12_528.0, 0.0),
    ];
    let mut routes = Routes::new(Split::Two);
    for (name, [u, gates, v], table, rounded) in rows {
        let exact = 2 * routes.nodes(u + gates + v) + gates;
        let as_printed = exact - (4 * (u + v) + 2 * gates - 9);
        let turned = (exact + 4 * v - (4 * u + 2 * gates)) as f64;
        let misses = table / 4.0 - turned;
        let spare = rounded / 4.0;
        assert!((-4.0 - spare..=4.0 + spare).contains(&misses), "{name}: {misses}");
        assert!(as_printed < (table - rounded) as usize / 4, "{name}: {as_printed}");
    }
    // What is left here, where every node of one input and every one for nobody is gone: less than the
    // table's 1,264 gates, of which 56 are universal.
    let credit = Shape { inputs: 25, outputs: 1, gates: 56 };
    for split in [Split::Two, Split::Hybrid] {
        assert!((1000..1264 - 56).contains(&switches(credit, split)), "{split:?}: {}", switches(credit, split));
    }
}

//! Two colours for the edges of a graph of which no two of one colour leave a node, or enter one.

/// An edge, from a node to another.
pub type Edge = (u32, u32);

const NONE: u32 = u32::MAX;

/// The colours of edges between `nodes` nodes, of which at most two leave each and at most two enter it
/// (D13.3, section 2.4.2: a bipartite graph of degree two, coloured along its paths and circles).
pub fn colours(nodes: usize, edges: &[Edge]) -> Vec<bool> {
    let mut ends = [vec![[NONE; 2]; nodes], vec![[NONE; 2]; nodes]];
    for (number, &(from, to)) in (0..).zip(edges) {
        for (ends, at) in ends.iter_mut().zip([from, to]) {
            let ends = &mut ends[at as usize];
            let free = ends.iter_mut().find(|end| **end == NONE).expect("two edges at most on each side of a node");
            *free = number;
        }
    }
    let [leaving, entering] = ends;
    let (mut colours, mut known) = (vec![false; edges.len()], vec![false; edges.len()]);
    // The edge beside this one, of those that leave or enter the same node.
    let beside = |ends: &[[u32; 2]], at: u32, edge: u32| {
        let [one, other] = ends[at as usize];
        if one == edge { other } else { one }
    };
    for begin in 0..edges.len() as u32 {
        if known[begin as usize] {
            continue;
        }
        known[begin as usize] = true;
        // From either end along the path, or once around the circle.
        for entered in [true, false] {
            let (mut edge, mut entered) = (begin, entered);
            loop {
                let (from, to) = edges[edge as usize];
                let next = if entered { beside(&entering, to, edge) } else { beside(&leaving, from, edge) };
                if next == NONE || known[next as usize] {
                    break;
                }
                known[next as usize] = true;
                colours[next as usize] = !colours[edge as usize];
                (edge, entered) = (next, !entered);
            }
        }
    }
    colours
}

//! The least cut of a graph: the assignment of two values to variables that costs least, where each variable
//! has its own costs, and pairs of them cost something if the first is 0 and the second is 1.
//!
//! Maximum flow by blocking flows (Dinic, Soviet Math. Dokl. 11, 1970), in whole numbers, so that all machines
//! find the same cut.

/// A price that the least cut avoids where it can. A few of them, and all other prices, add up without
/// overflow.
pub(super) const NEVER: u64 = 1 << 58;

/// Costs of variables and pairs of them.
pub(super) struct Cut {
    /// The edges that leave each node, by their numbers; the source and the sink come first.
    leaving: Vec<Vec<u32>>,
    /// Where each edge goes to, and its room. Edge `i ^ 1` goes back.
    to: Vec<u32>,
    room: Vec<u64>,
}

const SOURCE: usize = 0;
const SINK: usize = 1;

impl Cut {
    pub(super) fn new(variables: usize) -> Cut {
        Cut { leaving: vec![Vec::new(); 2 + variables], to: Vec::new(), room: Vec::new() }
    }

    /// Another variable.
    pub(super) fn variable(&mut self) -> usize {
        self.leaving.push(Vec::new());
        self.leaving.len() - 3
    }

    fn edge(&mut self, from: usize, to: usize, room: u64) {
        if room == 0 {
            return;
        }
        for (from, to, room) in [(from, to, room), (to, from, 0)] {
            self.leaving[from].push(self.to.len() as u32);
            self.to.push(to as u32);
            self.room.push(room);
        }
    }

    /// What a variable costs if it is 0, and if it is 1.
    pub(super) fn costs(&mut self, variable: usize, zero: u64, one: u64) {
        let least = zero.min(one);
        self.edge(2 + variable, SINK, zero - least);
        self.edge(SOURCE, 2 + variable, one - least);
    }

    /// What it costs that the first variable is 0 and the second is 1.
    pub(super) fn apart(&mut self, zero: usize, one: usize, cost: u64) {
        self.edge(2 + zero, 2 + one, cost);
    }

    /// The values that cost least; of several that do, those with the fewest zeros.
    pub(super) fn least(mut self) -> Vec<bool> {
        loop {
            let levels = self.levels();
            if levels[SINK] == u32::MAX {
                return levels[2..].iter().map(|level| *level == u32::MAX).collect();
            }
            let mut next = vec![0; self.leaving.len()];
            while self.push(&levels, &mut next) {}
        }
    }

    /// How far each node is from the source by edges with room.
    fn levels(&self) -> Vec<u32> {
        let mut levels = vec![u32::MAX; self.leaving.len()];
        levels[SOURCE] = 0;
        let mut queue = vec![SOURCE];
        let mut at = 0;
        while let Some(&node) = queue.get(at) {
            at += 1;
            for &edge in &self.leaving[node] {
                let to = self.to[edge as usize] as usize;
                if self.room[edge as usize] > 0 && levels[to] == u32::MAX {
                    levels[to] = levels[node] + 1;
                    queue.push(to);
                }
            }
        }
        levels
    }

    /// Pushes along one path to the sink; whether there was one. `next` is the edge of each node before which
    /// all were tried.
    fn push(&mut self, levels: &[u32], next: &mut [usize]) -> bool {
        let mut path: Vec<u32> = Vec::new();
        let mut node = SOURCE;
        while node != SINK {
            let edge = self.leaving[node].get(next[node]).copied();
            match edge {
                Some(edge) => {
                    let to = self.to[edge as usize] as usize;
                    if self.room[edge as usize] > 0 && levels[to] == levels[node] + 1 {
                        path.push(edge);
                        node = to;
                    } else {
                        next[node] += 1;
                    }
                }
                None => {
                    let Some(edge) = path.pop() else { return false };
                    node = self.to[edge as usize ^ 1] as usize;
                    next[node] += 1;
                }
            }
        }
        let room = path.iter().map(|&edge| self.room[edge as usize]).min().unwrap_or(0);
        for edge in path {
            self.room[edge as usize] -= room;
            self.room[edge as usize ^ 1] += room;
        }
        true
    }
}

//! Permuting rows by secret switches.
//!
//! The network is Waksman's ("A permutation network", 1968), for any number of rows as Beauquier and Darrot gave it
//! ("On arbitrary size Waksman networks and their vulnerability", 2002): a layer of switches deals the rows out to two
//! smaller networks, another one collects them. The party that knows a permutation computes the switches in
//! the clear. To shuffle, each party permutes the rows by a random permutation of its own: the result is
//! random if one of them is honest.

use comity_circuit::{Builder, Wire};

use super::order::exchange;
use super::width;

/// The number of switches for n rows, the sum of ⌈log2 i⌉ for i from 1 to n: n log2 n - n + 1 for a power of two.
pub fn switch_count(rows: usize) -> usize {
    (1..=rows).map(|i| i.next_power_of_two().ilog2() as usize).sum()
}

/// The rows permuted by the switches that [`switches`] computes. w ANDs for each switch.
///
/// # Panics
/// If there are not [`switch_count`] switches.
pub fn permute(b: &mut Builder, rows: &[Vec<Wire>], switches: &[Wire]) -> Vec<Vec<Wire>> {
    width(rows);
    assert_eq!(switches.len(), switch_count(rows.len()), "the switches are those for the number of rows");
    network(b, rows.to_vec(), &mut switches.iter().copied())
}

fn network(b: &mut Builder, mut rows: Vec<Vec<Wire>>, switches: &mut impl Iterator<Item = Wire>) -> Vec<Vec<Wire>> {
    let half = rows.len() / 2;
    if half == 0 {
        return rows;
    }
    let layer = |b: &mut Builder, rows: &mut [Vec<Wire>], switches: &mut dyn Iterator<Item = Wire>| {
        for pair in rows.chunks_exact_mut(2) {
            let switch = switches.next().expect("as many switches as counted");
            (pair[0], pair[1]) = exchange(b, switch, &pair[0], &pair[1]);
        }
    };
    layer(b, &mut rows, switches);
    // An odd row out goes with the second ones.
    let first = rows.iter().step_by(2).take(half).cloned().collect();
    let second = rows.iter().skip(1).step_by(2).chain(rows.get(2 * half)).cloned().collect();
    let first = network(b, first, switches);
    let second = network(b, second, switches);
    for (i, row) in first.into_iter().enumerate() {
        rows[2 * i] = row;
    }
    for (i, row) in second.into_iter().enumerate() {
        let at = (2 * i + 1).min(rows.len() - 1);
        rows[at] = row;
    }
    // If the number of rows is even the last pair needs no switch.
    let switched = (rows.len() - 1) / 2 * 2;
    layer(b, &mut rows[..switched], switches);
    rows
}

/// The two places that each switch of the network joins, in the order of [`switches`]: where rows are
/// exchanged in place.
pub fn each_switch(rows: usize, mut each: impl FnMut(usize, usize)) {
    fn network(places: &[usize], each: &mut impl FnMut(usize, usize)) {
        let half = places.len() / 2;
        if half == 0 {
            return;
        }
        places.chunks_exact(2).for_each(|pair| each(pair[0], pair[1]));
        let first: Vec<usize> = places.iter().step_by(2).take(half).copied().collect();
        let second: Vec<usize> = places.iter().skip(1).step_by(2).chain(places.get(2 * half)).copied().collect();
        network(&first, each);
        network(&second, each);
        let switched = (places.len() - 1) / 2 * 2;
        places[..switched].chunks_exact(2).for_each(|pair| each(pair[0], pair[1]));
    }
    network(&(0..rows).collect::<Vec<_>>(), &mut each);
}

/// The switches that bring row `from[i]` to place i.
///
/// # Panics
/// If `from` is no permutation of 0 to n - 1.
pub fn switches(from: &[usize]) -> Vec<bool> {
    let mut to = vec![from.len(); from.len()];
    for (place, &row) in from.iter().enumerate() {
        assert!(to.get(row) == Some(&from.len()), "{row} at {place} is not one of a permutation");
        to[row] = place;
    }
    let mut switches = Vec::with_capacity(switch_count(from.len()));
    route(from, &to, &mut switches);
    switches
}

fn route(from: &[usize], to: &[usize], switches: &mut Vec<bool>) {
    let (len, half) = (from.len(), from.len() / 2);
    if half == 0 {
        return;
    }
    // Which rows and places belong to the second network: one of each pair, and the last place. Each row must go
    // through the network of its place.
    let (mut rows, mut places) = (vec![None; len], vec![None; len]);
    for start in (0..len).rev() {
        let mut place = start;
        while places[place].is_none() {
            places[place] = Some(true);
            let row = from[place];
            rows[row] = Some(true);
            if row == 2 * half {
                break;
            }
            rows[row ^ 1] = Some(false);
            places[to[row ^ 1]] = Some(false);
            place = to[row ^ 1] ^ 1;
        }
    }
    let is_second = |sides: &[Option<bool>], i: usize| sides[i] == Some(true);
    switches.extend((0..half).map(|i| is_second(&rows, 2 * i)));
    for second in [false, true] {
        let members: Vec<usize> = (0..len).filter(|&place| is_second(&places, place) == second).collect();
        let from: Vec<usize> = members.iter().map(|&place| from[place] / 2).collect();
        let mut to = vec![0; from.len()];
        from.iter().enumerate().for_each(|(place, &row)| to[row] = place);
        route(&from, &to, switches);
    }
    switches.extend((0..(len - 1) / 2).map(|i| is_second(&places, 2 * i)));
}

//! Assignments that are better than a given one: the best of all in which nodes of two forms change between
//! these, and a good one among those in which any nodes take one form.
//!
//! Both are least cuts (Boykov, Veksler, Zabih: Fast Approximate Energy Minimization via Graph Cuts, IEEE PAMI
//! 23 (11), 2001, sections 3 and 4). A value is converted once for all that read it in a form: a variable of
//! its own says whether anything does. Moves to one form overestimate a value whose new form is converted
//! for less than its old one, since no cut says that; what they find is taken only if it is better.

use super::min_cut::{Cut, NEVER};
use super::problem::{Problem, Value};
use crate::form::Form;

/// The same assignment with nodes of these two forms changed between them so that it costs least. Of two
/// forms alone that is the best assignment.
pub(super) fn swap(problem: &Problem, forms: &[Form], [zero, one]: [Form; 2]) -> Vec<Form> {
    let mut cut = Cut::new(forms.len());
    let moves = |node: usize| forms[node] == zero || forms[node] == one;
    for (node, costs) in problem.nodes.iter().enumerate().filter(|(node, _)| moves(*node)) {
        cut.costs(node, costs[zero as usize], costs[one as usize]);
    }
    for value in &problem.values {
        let from = value.from as usize;
        for to in Form::ALL {
            let price = |from: Form| value.costs[from as usize][to as usize];
            if to != zero && to != one {
                if moves(from) && value.to.iter().any(|&node| forms[node as usize] == to) {
                    cut.costs(from, price(zero), price(one));
                }
                continue;
            }
            let mut readers = value.to.iter().map(|&node| node as usize).filter(|&node| moves(node)).peekable();
            if readers.peek().is_none() {
                continue;
            }
            // One if nobody reads it as `zero`; zero if nobody reads it as `one`.
            let read = cut.variable();
            let (other, is_one) = if to == one { (zero, true) } else { (one, false) };
            for reader in readers {
                match is_one {
                    true => cut.apart(read, reader, NEVER),
                    false => cut.apart(reader, read, NEVER),
                }
            }
            match (moves(from), is_one) {
                (true, true) => cut.apart(from, read, price(other)),
                (true, false) => cut.apart(read, from, price(other)),
                (false, true) => cut.costs(read, 0, price(forms[from])),
                (false, false) => cut.costs(read, price(forms[from]), 0),
            }
        }
    }
    let ones = cut.least();
    let moved = |node: usize| if ones[node] { one } else { zero };
    (0..forms.len()).map(|node| if moves(node) { moved(node) } else { forms[node] }).collect()
}

/// The same assignment with some nodes in this form.
pub(super) fn expand(problem: &Problem, forms: &[Form], form: Form) -> Vec<Form> {
    let mut cut = Cut::new(forms.len());
    for (node, costs) in problem.nodes.iter().enumerate() {
        match forms[node] == form {
            true => cut.costs(node, NEVER, 0),
            false => cut.costs(node, costs[forms[node] as usize], costs[form as usize]),
        }
    }
    for value in &problem.values {
        for to in Form::ALL {
            readers(&mut cut, value, forms, [form, to]);
        }
    }
    let moved = cut.least();
    (0..forms.len()).map(|node| if moved[node] { form } else { forms[node] }).collect()
}

/// What it costs that nodes read a value as `to` when some nodes change to `form`.
fn readers(cut: &mut Cut, value: &Value, forms: &[Form], [form, to]: [Form; 2]) {
    let from = value.from as usize;
    let now = forms[from];
    let [kept, moved] = [now, form].map(|from| value.costs[from as usize][to as usize]);
    let reads = |node: &&u32| forms[**node as usize] == to;
    if to == form {
        // Somebody reads it so already, or somebody changes.
        if value.to.iter().any(|node| reads(&node)) {
            cut.costs(from, kept, moved);
            return;
        }
        let read = cut.variable();
        value.to.iter().for_each(|&node| cut.apart(read, node as usize, NEVER));
        cut.apart(from, read, kept);
        return;
    }
    let mut stay = value.to.iter().filter(reads).peekable();
    if stay.peek().is_none() {
        return;
    }
    // Zero if one of them stays.
    let read = cut.variable();
    stay.for_each(|&node| cut.apart(node as usize, read, NEVER));
    cut.costs(read, kept, 0);
    cut.apart(read, from, moved.saturating_sub(kept));
}

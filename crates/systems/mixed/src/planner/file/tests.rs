//! Plans in files: what they pin, and which are refused.

use super::*;
use crate::graph::{FormCost, Node};

const SOURCE: &str = "fn main(x: u32 from 0, y: u32 from 1) -> (u32, bool) {
    let d = x * y + 1;
    let e = x - y;
    (d, d * e < yao { e * e })
}";

/// The program, and a graph in which what is added or multiplied can be words.
fn program() -> (Program, FormGraph) {
    let program = comity_language::compile("f.cty", SOURCE).unwrap();
    let notes = program.circuits()[0].notes();
    let mut graph = FormGraph::default();
    for (number, note) in notes.iter().enumerate() {
        let words = note.op.name() != "less";
        let can = |form: Form| (words || form != Form::Arithmetic) && note.pin.is_none_or(|pin| pin == form);
        let costs = Form::ALL.map(|form| can(form).then(FormCost::default));
        graph.nodes.push(Node { of: NodeOf::Note(0, number), line: note.line, times: 1.0, costs });
    }
    let costs = [None, Some(FormCost::default()), Some(FormCost::default())];
    graph.nodes.push(Node { of: NodeOf::Gates(0), line: 0, times: 1.0, costs });
    (program, graph)
}

/// The forms that are left to each operation, by their first letters.
fn left(text: &str) -> Result<Vec<String>> {
    let (program, mut graph) = program();
    pin(text, &program, &mut graph)?;
    let letters = |node| graph.forms(node).map(|form| &form.name()[..1]).collect::<String>();
    Ok((0..graph.nodes.len()).map(letters).collect())
}

#[test]
fn lines_operations_and_gates_are_pinned() {
    // x * y, + 1, x - y, d * e, e * e, <, and the gates.
    assert_eq!(left("").unwrap(), ["aby", "aby", "aby", "aby", "y", "by", "by"]);
    assert_eq!(left("2 arithmetic # the product\n\n# more\n").unwrap(), ["a", "a", "aby", "aby", "y", "by", "by"]);
    assert_eq!(left("2 mul yao\n2 boolean").unwrap(), ["y", "b", "aby", "aby", "y", "by", "by"]);
    // What can be, where a line is named.
    assert_eq!(left("4 arithmetic\ngates boolean").unwrap(), ["aby", "aby", "aby", "a", "y", "by", "b"]);
}

#[test]
fn a_plan_that_does_not_fit_is_refused_by_its_line() {
    let refused = |text: &str| left(text).unwrap_err().to_string();
    for (text, why) in [
        ("2 mul\n3 words", "line 1 of the plan: `mul` is not a form: there are arithmetic, boolean, yao"),
        ("\n3 words", "line 2 of the plan: `words` is not a form"),
        ("two yao", "line 1 of the plan: `two` is not the number of a line, nor `gates`"),
        ("yao", "line 1 of the plan: `yao` is not LINE FORM"),
        ("2 mul in yao", "line 1 of the plan: `2 mul in yao` is not LINE FORM"),
        ("2 yao\n2 boolean", "line 2 of the plan: line 1 gives the form of these operations already"),
        ("1 yao", "line 1 of the plan: line 1 of `f.cty` has no operation on words"),
        ("4 div yao", "line 1 of the plan: line 4 of `f.cty` has no `div`; it has less, mul, square"),
        ("4 less arithmetic", "line 1 of the plan: `less` of `f.cty` cannot be arithmetic there"),
        ("gates arithmetic", "line 1 of the plan: `gates` of `f.cty` cannot be arithmetic there"),
        // The source pins it.
        ("4 square boolean", "line 1 of the plan: `square` of `f.cty` cannot be boolean there"),
    ] {
        assert!(refused(text).contains(why), "{text}: {}", refused(text));
    }
}

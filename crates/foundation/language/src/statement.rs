//! Statements of an interactive session: what people type, one a line.
//!
//! A statement has a normal form, in which spaces and comments make no difference, and in which no input
//! value is left. Both parties compare that, and what is compiled comes out of it, so that equal statements
//! mean the same.

use comity_circuit::{PartySet, Recipients};
use zeroize::Zeroizing;

/// A line, taken apart.
pub struct Line {
    /// The statement that the line makes.
    pub statement: Statement,
    /// The line's normal form.
    pub text: String,
}

/// A statement: what a line says. Types and expressions are texts in comity's language.
pub enum Statement {
    /// `NAME = input(PARTY, TYPE)`, and `= VALUE` behind it.
    Input {
        /// The value's name from now on.
        name: String,
        /// Whose value it is.
        party: u16,
        /// The value's type.
        ty: String,
        /// The value, at the party that gave it at once: a secret.
        value: Option<Zeroizing<String>>,
    },
    /// `NAME = random(TYPE)`
    Random {
        /// The value's name from now on.
        name: String,
        /// The value's type.
        ty: String,
    },
    /// `NAME = EXPRESSION`
    Let {
        /// The value's name from now on.
        name: String,
        /// The expression that gives it its value.
        expression: String,
    },
    /// `reveal EXPRESSION to all`
    Reveal {
        /// The expression that is revealed.
        expression: String,
        /// Who learns it.
        to: Recipients,
    },
    /// `vars`: which values there are.
    Vars,
    /// `help`: what can be said.
    Help,
    /// `quit`: the end.
    Quit,
}

/// Names that a value cannot have: words of the language, and of this one.
const RESERVED: [&str; 21] = [
    "const", "struct", "fn", "let", "mut", "if", "else", "for", "in", "as", "true", "false", "main", "input", "random",
    "reveal", "to", "vars", "help", "quit", "exit",
];

/// Symbols of more than one character, the longer ones first.
const SYMBOLS: [&str; 23] = [
    "<<=", ">>=", "..=", "->", "=>", "..", "::", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=",
];

/// A word, number or symbol, and where it ends in the line.
#[derive(Clone, Copy)]
struct Token<'s> {
    text: &'s str,
    end: usize,
}

/// Takes a line of two parties apart; `None` if there is nothing on it.
///
/// # Errors
/// As [`parse_among`].
pub fn parse(line: &str) -> Result<Option<Line>, String> {
    parse_among(line, &|who| who.parse().ok().filter(|&party| party < 2))
}

/// Takes a line apart among parties. `party` knows their numbers by the names that people write; `None` if
/// there is nothing on the line. The normal form has the numbers.
///
/// # Errors
/// A hint what to write instead, for the person who typed it; it contains no input value.
pub fn parse_among(line: &str, party: &dyn Fn(&str) -> Option<u16>) -> Result<Option<Line>, String> {
    let tokens = tokens(line);
    let texts: Vec<&str> = tokens.iter().map(|token| token.text).collect();
    let statement = match &texts[..] {
        [] => return Ok(None),
        ["vars"] => Statement::Vars,
        ["help" | "?"] => Statement::Help,
        ["quit" | "exit"] => Statement::Quit,
        ["reveal", rest @ ..] => return reveal(rest, party).map(Some),
        [name, "=", "input", "(", ..] => return input(line, name, &tokens, party).map(Some),
        [name, "=", "random", "(", ty @ .., ")"] if closing(&texts[3..]) == Some(ty.len() + 1) => {
            Statement::Random { name: fresh(name)?, ty: render(ty) }
        }
        [_, "="] => return Err("the value is missing: write an expression after `=`".into()),
        [name, "=", expression @ ..] => Statement::Let { name: fresh(name)?, expression: render(expression) },
        _ => {
            let text = render(&texts);
            return Err(format!(
                "`{text}` is not a statement: write `NAME = {text}` to keep its value, `reveal {text} to all` to see \
                    it, or `help`"
            ));
        }
    };
    Ok(Some(Line { statement, text: render(&texts) }))
}

fn reveal(tokens: &[&str], party: &dyn Fn(&str) -> Option<u16>) -> Result<Line, String> {
    let wrong = || {
        "write `reveal c to all`, or `to 0` for one party alone, or `to (0, 1)` for some of those there are".to_owned()
    };
    let (expression, who) =
        tokens.iter().rposition(|token| *token == "to").map(|at| tokens.split_at(at)).ok_or_else(wrong)?;
    let (to, words) = match who {
        [_, "all"] => (Recipients::All, "all".to_owned()),
        [_, "(", some @ .., ")"] => {
            let mut parties = PartySet::default();
            for (at, &token) in some.iter().enumerate() {
                match (at % 2, token) {
                    (1, ",") => {}
                    (0, who) => parties.insert(party(who).ok_or_else(wrong)?).map_err(|_| wrong())?,
                    _ => return Err(wrong()),
                }
            }
            if some.len() % 2 == 0 {
                return Err(wrong());
            }
            let words: Vec<String> = parties.iter().map(|party| party.to_string()).collect();
            (Recipients::Parties(parties), format!("({})", words.join(", ")))
        }
        [_, one] => {
            let party = party(one).ok_or_else(wrong)?;
            let mut parties = PartySet::default();
            parties.insert(party).map_err(|_| wrong())?;
            (Recipients::Parties(parties), party.to_string())
        }
        _ => return Err(wrong()),
    };
    if expression.is_empty() {
        return Err("reveal what? Write `reveal c to all`".into());
    }
    let expression = render(expression);
    let text = format!("{} to {words}", render(&["reveal", &expression]));
    Ok(Line { statement: Statement::Reveal { expression, to }, text })
}

/// `NAME = input(PARTY, TYPE)`, and perhaps `= VALUE`, which is a secret and kept out of everything else.
fn input(line: &str, name: &str, tokens: &[Token<'_>], party: &dyn Fn(&str) -> Option<u16>) -> Result<Line, String> {
    let wrong = || Err("write `a = input(0, u32)`: the party that gives it, and its type".to_owned());
    let mut texts: Vec<&str> = tokens.iter().map(|token| token.text).collect();
    let Some(close) = closing(&texts[3..]).map(|at| at + 3) else { return wrong() };
    let [who, ",", ty @ ..] = &texts[4..close] else { return wrong() };
    let Some(party) = party(who) else {
        return Err("an input is of a party that there is, such as party 0 or 1: write `a = input(0, u32)`".into());
    };
    let (ty, number) = (render(ty), party.to_string());
    if ty.is_empty() {
        return wrong();
    }
    let value = match tokens.get(close + 1) {
        None => None,
        Some(Token { text: "=", end }) => Some(Zeroizing::new(line[*end..].trim().to_owned())),
        Some(_) => return Err("behind an input comes nothing, or `= VALUE` at the party that gives it".into()),
    };
    let statement = Statement::Input { name: fresh(name)?, party, ty, value };
    texts[4] = &number;
    Ok(Line { statement, text: render(&texts[..=close]) })
}

/// The place where the bracket that the first token opens is closed.
fn closing(tokens: &[&str]) -> Option<usize> {
    let mut depth = 0usize;
    tokens.iter().position(|token| {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

/// A name for a value.
fn fresh(name: &str) -> Result<String, String> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    if !name.chars().all(word) || name.starts_with(|c: char| c.is_numeric()) || name == "_" {
        return Err(format!("`{name}` is not a name: names are letters, digits and `_`, and begin with a letter"));
    }
    if RESERVED.contains(&name) {
        return Err(format!("`{name}` is a word of the language; choose another name"));
    }
    Ok(name.to_owned())
}

/// The words of a text that may be names of values.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    tokens(text)
        .into_iter()
        .map(|token| token.text)
        .filter(|text| text.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

/// The tokens of a line, up to a comment.
fn tokens(line: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut at = 0;
    while let Some(first) = line[at..].chars().next() {
        let rest = &line[at..];
        if rest.starts_with("//") {
            break;
        }
        let len = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if first.is_ascii_digit() {
            number(rest, tokens.last().is_some_and(|token| token.text == "."))
        } else if first.is_alphanumeric() || first == '_' {
            word(rest)
        } else {
            SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)).map_or(first.len_utf8(), |symbol| symbol.len())
        };
        at += len;
        tokens.push(Token { text: &rest[..len], end: at });
    }
    tokens
}

/// How long the word is with which a text begins.
fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// How long the number is with which a text begins, its fraction and exponent included; a field has neither.
fn number(text: &str, field: bool) -> usize {
    let mut len = word(text);
    let decimal = !field && !text.starts_with("0x");
    let digit = |at: usize| text[at..].starts_with(|c: char| c.is_ascii_digit());
    if decimal && text[len..].starts_with('.') && digit(len + 1) {
        len += 1 + word(&text[len + 1..]);
    }
    if decimal && text[..len].ends_with(['e', 'E']) && text[len..].starts_with(['+', '-']) && digit(len + 1) {
        len += 1 + word(&text[len + 1..]);
    }
    len
}

/// Tokens as people would write them. Spaces are left out only where they cannot join two tokens.
fn render(tokens: &[&str]) -> String {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut text = String::new();
    let mut before = "";
    for &token in tokens {
        let name = before.ends_with(word) && !before.starts_with(|c: char| c.is_numeric());
        let tight = match token {
            ")" | "]" | "," | ";" => true,
            "(" | "[" if name => !RESERVED[..12].contains(&before),
            "." => name || matches!(before, ")" | "]"),
            _ => before == "." && token.starts_with(word),
        };
        if !(text.is_empty() || tight || matches!(before, "(" | "[")) {
            text.push(' ');
        }
        text += token;
        before = token;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(line: &str) -> String {
        parse(line).unwrap().unwrap().text
    }

    fn refused(line: &str) -> String {
        parse(line).err().unwrap_or_else(|| panic!("`{line}` is a statement"))
    }

    #[test]
    fn spaces_and_comments_make_no_difference() {
        for (line, text) in [
            ("  c=a<b  // the smaller", "c = a < b"),
            ("c = a<<b", "c = a << b"),
            ("d=if c{a}else{b}", "d = if c { a } else { b }"),
            ("x = ys [ 2 ].0 .1+f( a,b ) as u16", "x = ys[2].0 .1 + f(a, b) as u16"),
            ("x=1.5e-3*y", "x = 1.5e-3 * y"),
            ("x = 0x1e-3", "x = 0x1e - 3"),
            ("x = t.0.1", "x = t.0 .1"),
            ("for_ = [1u8,2 ; 3]", "for_ = [1u8, 2; 3]"),
            ("reveal  a+b  to  all", "reveal a + b to all"),
            ("a=input(0,[u8;4])", "a = input(0, [u8; 4])"),
            ("r = random( u8 )", "r = random(u8)"),
            ("x = a = b", "x = a = b"),
        ] {
            assert_eq!(normal(line), text);
            assert_eq!(normal(text), text, "the normal form is its own");
        }
        // What is apart stays apart.
        assert_ne!(normal("x = a < < b"), normal("x = a << b"));
        assert_ne!(normal("x = a & &b"), normal("x = a && b"));
        assert_ne!(normal("x = t . 0"), normal("x = t 0"));
        assert!(parse("   // nothing").unwrap().is_none() && parse("").unwrap().is_none());
    }

    #[test]
    fn the_value_of_an_input_is_no_part_of_the_statement() {
        let line = parse("a = input(1, (u8, bool)) = (17, true) // 17").unwrap().unwrap();
        assert_eq!(line.text, "a = input(1, (u8, bool))");
        let Statement::Input { name, party: 1, ty, value: Some(value) } = line.statement else { panic!() };
        assert_eq!((name.as_str(), ty.as_str(), value.as_str()), ("a", "(u8, bool)", "(17, true) // 17"));
        let without = parse("a = input(1, u8)").unwrap().unwrap();
        assert!(matches!(without.statement, Statement::Input { value: None, .. }));
        for line in ["a = input(1, u8) 17", "a = input(1, u8) = 17", "a = input(2, u8) = 17", "if = input(0, u8) = 17"]
        {
            if let Err(message) = parse(line) {
                assert!(!message.contains("17"), "{message}");
            }
        }
    }

    #[test]
    fn among_many_parties_names_become_numbers() {
        let among = |line: &str| {
            let party = |who: &str| ["ann", "ben", "cleo"].iter().position(|name| *name == who).map(|at| at as u16);
            parse_among(line, &|who| who.parse().ok().filter(|&n| n < 3).or_else(|| party(who)))
        };
        let is = |line: &str, text: &str| {
            let parsed = among(line).unwrap().unwrap();
            assert_eq!(parsed.text, text);
            assert_eq!(among(text).unwrap().unwrap().text, text, "the normal form is its own");
            parsed.statement
        };
        assert!(matches!(is("a = input(cleo, u8) = 7", "a = input(2, u8)"), Statement::Input { party: 2, .. }));
        let to = |line: &str, text: &str| match is(line, text) {
            Statement::Reveal { to, .. } => to,
            _ => panic!("{line}"),
        };
        assert_eq!(to("reveal a+b to ben", "reveal a + b to 1"), Recipients::only(1));
        let some = Recipients::Parties([0, 2].into_iter().collect());
        assert_eq!(to("reveal (a, b) to (cleo,0)", "reveal (a, b) to (0, 2)"), some);
        for line in
            ["reveal a to dan", "reveal a to ()", "reveal a to (ann,)", "reveal a to (ann ben)", "reveal a to 3"]
        {
            assert!(among(line).err().unwrap().contains("reveal c to all"), "{line}");
        }
        assert!(among("a = input(3, u8)").err().unwrap().contains("that there is"));
    }

    #[test]
    fn what_is_no_statement_is_refused_with_a_hint() {
        for (line, hint) in [
            ("a < b", "reveal a < b to all"),
            ("a", "reveal a to all"),
            ("a =", "after `=`"),
            ("if = a", "a word of the language"),
            ("to = a", "a word of the language"),
            ("2a = b", "is not a name"),
            ("_ = b", "is not a name"),
            ("reveal a", "reveal c to all"),
            ("reveal to all", "reveal what"),
            ("reveal a to bob", "reveal c to all"),
            ("reveal a to 2", "reveal c to all"),
            ("a = input(0)", "input(0, u32)"),
            ("a = input(0, u32", "input(0, u32)"),
            ("a = input(alice, u32)", "party 0 or 1"),
            ("a = input(0, u32) 5", "`= VALUE`"),
            ("π + ☃", "is not a statement"),
        ] {
            assert!(refused(line).contains(hint), "{line}: {}", refused(line));
        }
    }

    #[test]
    fn any_text_has_one_normal_form_or_none() {
        let pieces = [
            "a", "b1", "=", "==", "input", "random", "reveal", "to", "all", "0", "1.5", "2e", "-", "<", "<<", ".",
            "..", "/", "é", "☃", "(", ")", "[", "]", "{", "}", ",", ";", "u32", "if", " ", " ", " ", "\t",
        ];
        let (mut state, mut statements) = (1u64, 0);
        for round in 0..20_000 {
            let start = ["", "x = ", "a = input(0, u8)", "reveal a"][round % 4].to_owned();
            let line = (0..round % 13).fold(start, |line, _| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                line + pieces[(state >> 33) as usize % pieces.len()]
            });
            if let Ok(Some(parsed)) = parse(&line) {
                assert_eq!(normal(&parsed.text), parsed.text, "{line}");
                statements += 1;
            }
        }
        assert!(statements > 5_000, "{statements}");
    }

    #[test]
    fn kinds() {
        let kind = |line: &str| parse(line).unwrap().unwrap().statement;
        assert!(matches!(kind("quit"), Statement::Quit) && matches!(kind(" exit "), Statement::Quit));
        assert!(matches!(kind("vars"), Statement::Vars) && matches!(kind("?"), Statement::Help));
        assert!(matches!(kind("r = random((u8, u8))"), Statement::Random { ty, .. } if ty == "(u8, u8)"));
        assert!(matches!(kind("r = random(u8) + 1"), Statement::Let { .. }));
        assert!(matches!(kind("reveal to_x to 1"), Statement::Reveal { to, .. } if to == Recipients::only(1)));
        assert_eq!(words("if c.x { a1 } else { 3u8 + _b }").collect::<Vec<_>>(), ["if", "c", "x", "a1", "else", "_b"]);
    }
}

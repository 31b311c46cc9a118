//! What a user asks for, in a small part of SQL's words:
//! `salary between 40000 and 60000 and dept = 'sales' order by salary desc limit 20`.
//!
//! The text is parsed, and values become bound parameters or codes: none of it becomes part of a statement.

use crate::error::{Error, Result};

/// A query on one table: it asks for the rows for which all conditions hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The conditions, all of which hold.
    pub conditions: Vec<Condition>,
    /// The column to order by, and whether the order is descending.
    pub order: Option<(String, bool)>,
    /// The most rows that the answer has.
    pub limit: Option<u64>,
}

/// A condition on a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The column compares like this to a value.
    Compare(String, Operator, String),
    /// The column is between two values, both included.
    Between(String, String, String),
    /// The column is NULL, or is not.
    Null(String, bool),
}

/// A comparison of a column to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `=`
    Equal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Operator {
    const ALL: [(&'static str, Operator); 5] = [
        ("<=", Operator::AtMost),
        (">=", Operator::AtLeast),
        ("=", Operator::Equal),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ];

    /// The comparison as SQL writes it.
    pub fn sql(self) -> &'static str {
        Operator::ALL.iter().find(|known| known.1 == self).expect("it is one of all").0
    }
}

impl Condition {
    /// The column.
    pub fn column(&self) -> &str {
        match self {
            Condition::Compare(column, ..) | Condition::Between(column, ..) | Condition::Null(column, _) => column,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A name or a keyword, as written.
    Word(String),
    /// A name in double quotes: never a keyword.
    Name(String),
    /// A value.
    Value(String),
    Operator(Operator),
}

struct Parser {
    tokens: std::iter::Peekable<std::vec::IntoIter<Token>>,
}

impl Query {
    /// The query in this text; an empty text asks for all rows.
    ///
    /// # Errors
    /// [`Error::Invalid`] says what was expected.
    pub fn parse(text: &str) -> Result<Query> {
        let mut parser = Parser { tokens: tokens(text)?.into_iter().peekable() };
        let mut query = Query::default();
        if !parser.at_end() && !parser.peeks("order") && !parser.peeks("limit") {
            query.conditions.push(parser.condition()?);
            while parser.skip("and") {
                query.conditions.push(parser.condition()?);
            }
        }
        if parser.skip("order") {
            parser.expect("by")?;
            let column = parser.name()?;
            let falls = parser.skip("desc");
            if !falls {
                parser.skip("asc");
            }
            query.order = Some((column, falls));
        }
        if parser.skip("limit") {
            let limit = parser.value()?;
            query.limit = Some(limit.parse().map_err(|_| Error::invalid("after `limit` write a number of rows"))?);
        }
        if parser.at_end() {
            return Ok(query);
        }
        Err(Error::invalid(
            "the query has more text after its end: write `COLUMN between A and B and … order by COLUMN [desc] limit \
                N`",
        ))
    }
}

impl Parser {
    fn at_end(&mut self) -> bool {
        self.tokens.peek().is_none()
    }

    fn peeks(&mut self, keyword: &str) -> bool {
        matches!(self.tokens.peek(), Some(Token::Word(word)) if word.eq_ignore_ascii_case(keyword))
    }

    fn skip(&mut self, keyword: &str) -> bool {
        let there = self.peeks(keyword);
        if there {
            self.tokens.next();
        }
        there
    }

    fn expect(&mut self, keyword: &str) -> Result<()> {
        if self.skip(keyword) { Ok(()) } else { Err(Error::invalid(format!("in the query, `{keyword}` is missing"))) }
    }

    fn name(&mut self) -> Result<String> {
        match self.tokens.next() {
            Some(Token::Word(name) | Token::Name(name)) => Ok(name),
            _ => Err(Error::invalid("in the query, the name of a column is missing")),
        }
    }

    fn value(&mut self) -> Result<String> {
        match self.tokens.next() {
            Some(Token::Value(value)) => Ok(value),
            _ => Err(Error::invalid("in the query, a value is missing: a number, or a text in single quotes")),
        }
    }

    fn condition(&mut self) -> Result<Condition> {
        let column = self.name()?;
        if self.skip("between") {
            let low = self.value()?;
            self.expect("and")?;
            return Ok(Condition::Between(column, low, self.value()?));
        }
        if self.skip("is") {
            let not = self.skip("not");
            self.expect("null")?;
            return Ok(Condition::Null(column, !not));
        }
        match self.tokens.next() {
            Some(Token::Operator(operator)) => Ok(Condition::Compare(column, operator, self.value()?)),
            _ => Err(Error::invalid("after a column write `between`, `is`, or one of = < <= > >=")),
        }
    }
}

/// Text up to a quote that is not doubled.
fn quoted(rest: &str, quote: char) -> Result<(String, &str)> {
    let mut text = String::new();
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        if c != quote {
            text.push(c);
        } else if rest[at + 1..].starts_with(quote) {
            text.push(c);
            chars.next();
        } else {
            return Ok((text, &rest[at + 1..]));
        }
    }
    Err(Error::invalid(format!("in the query, a {quote} is not closed")))
}

fn tokens(text: &str) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let span = |fits: fn(char) -> bool| rest.find(|c| !fits(c)).unwrap_or(rest.len());
        if let Some(sign) = ["<>", "!="].into_iter().find(|sign| rest.starts_with(sign)) {
            return Err(Error::invalid(format!(
                "{sign} is not supported, since an index finds ranges: ask twice, for `COLUMN < A` and for `COLUMN > A`"
            )));
        }
        let number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | ':');
        let (token, behind) =
            if let Some((sign, operator)) = Operator::ALL.iter().find(|known| rest.starts_with(known.0)) {
                (Token::Operator(*operator), &rest[sign.len()..])
            } else if first == '\'' {
                let (value, behind) = quoted(&rest[1..], '\'')?;
                (Token::Value(value), behind)
            } else if first == '"' {
                let (name, behind) = quoted(&rest[1..], '"')?;
                (Token::Name(name), behind)
            } else if number(first) {
                // Dates need no quotes here.
                let end = span(|c| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | ':'));
                (Token::Value(rest[..end].to_owned()), &rest[end..])
            } else if first.is_alphabetic() || first == '_' {
                let end = span(|c| c.is_alphanumeric() || c == '_');
                (Token::Word(rest[..end].to_owned()), &rest[end..])
            } else {
                return Err(Error::invalid(format!("in the query, {first:?} has no meaning")));
            };
        tokens.push(token);
        rest = behind.trim_start();
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read() {
        let query = Query::parse(
            "salary between 40000 and 60000 AND \"or\"\"der\" = 'it''s' and x is not null order by salary desc limit 20",
        );
        let expected = Query {
            conditions: vec![
                Condition::Between("salary".into(), "40000".into(), "60000".into()),
                Condition::Compare("or\"der".into(), Operator::Equal, "it's".into()),
                Condition::Null("x".into(), false),
            ],
            order: Some(("salary".into(), true)),
            limit: Some(20),
        };
        assert_eq!(query.unwrap(), expected);
        assert_eq!(Query::parse("").unwrap(), Query::default());
        assert_eq!(Query::parse("order by day").unwrap().order, Some(("day".into(), false)));
        let dates = Query::parse("day>=2024-01-31 and day < 2024-02-01").unwrap();
        assert_eq!(dates.conditions[0], Condition::Compare("day".into(), Operator::AtLeast, "2024-01-31".into()));
        assert_eq!(dates.conditions[1].column(), "day");
    }

    #[test]
    fn unequal_is_two_queries() {
        for sign in ["<>", "!="] {
            let why = Query::parse(&format!("salary {sign} 5")).unwrap_err().to_string();
            assert!(why.contains(sign) && why.contains("`COLUMN < A`"), "{why}");
        }
    }

    #[test]
    fn what_is_no_query_is_refused() {
        for bad in [
            "salary",
            "salary between 1",
            "salary between 1 and",
            "salary = 1 or 1 = 1",
            "salary = 1; drop table staff",
            "salary = 'open",
            "salary = 1 limit",
            "limit x",
            "limit -1",
            "order salary",
            "1 = 1",
            "salary = (select 1)",
            "salary is null null",
        ] {
            assert!(matches!(Query::parse(bad), Err(Error::Invalid(_))), "{bad}");
        }
    }
}

//! The parties of a run, as people name them: by a number, or by a name that the program or the group gives.

use std::path::Path;

use comity::{PartyGroup, Program};
use comity_core::PartyId;
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::suggest::did_you_mean;

use crate::flags::Who;

/// The names of the parties, from party 0 on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    of_program: Vec<String>,
    of_group: Vec<String>,
}

impl Names {
    /// The names that a program gives.
    pub(crate) fn of(program: &Program) -> Names {
        Names { of_program: program.party_names().to_vec(), of_group: Vec::new() }
    }

    /// These names and those that the group gives. One that both give is the same party's in both: else
    /// somebody would put in another's values.
    pub(crate) fn among(self, group: &PartyGroup) -> Outcome<Names> {
        let of_group: Vec<String> = group.members().iter().map(|member| member.name.clone()).collect();
        for (at, name) in self.of_program.iter().enumerate() {
            if let Some(there) = of_group.iter().position(|other| other.eq_ignore_ascii_case(name))
                && there != at
            {
                return Err(Failure::input(format!(
                    "{name} is party {at} in the program, and party {there} in the group: list them in the same order"
                )));
            }
        }
        Ok(Names { of_group, ..self })
    }

    /// The name of a party, if it has one.
    fn name(&self, party: usize) -> Option<&str> {
        self.of_group.get(party).or_else(|| self.of_program.get(party)).map(String::as_str)
    }

    /// The names that the program gives.
    pub(crate) fn of_program(&self) -> &[String] {
        &self.of_program
    }

    /// The party that is meant.
    pub(crate) fn find(&self, who: &Who) -> Outcome<PartyId> {
        let name = match who {
            Who::Number(party) => return Ok(*party),
            Who::Name(name) => name,
        };
        let all = [&self.of_program, &self.of_group];
        let found = all.iter().find_map(|names| names.iter().position(|other| other.eq_ignore_ascii_case(name)));
        found.map(|party| PartyId(party as u16)).ok_or_else(|| {
            let known: Vec<&str> = all.into_iter().flatten().map(String::as_str).collect();
            Failure::input(match &known[..] {
                [] => {
                    format!(
                        "there is no party `{name}`: neither the program nor a group names parties, so write a number, \
                            0, 1 and so on"
                    )
                }
                names => {
                    let hint = did_you_mean(name, names.iter().copied());
                    let hint = if hint.is_empty() { "." } else { &hint };
                    let all: Vec<String> = (0..self.of_program.len().max(self.of_group.len()))
                        .map(|party| self.title(party as u16))
                        .collect();
                    format!("there is no party `{name}`{hint} There are {}", all.join(", "))
                }
            })
        })
    }

    /// The party as messages name it: `1 (bob)`, or `1`.
    pub(crate) fn title(&self, party: u16) -> String {
        match self.name(usize::from(party)) {
            Some(name) => format!("{party} ({name})"),
            None => party.to_string(),
        }
    }

    /// The same failure, with their names behind the parties' numbers.
    pub(crate) fn explain(&self, failure: Failure) -> Failure {
        Failure { message: self.named(&failure.message), ..failure }
    }

    /// The text with names behind the numbers in `party 1` and `parties 1, 2 and 4`.
    pub(crate) fn named(&self, text: &str) -> String {
        let (mut out, mut rest) = (String::new(), text);
        while let Some((at, several)) = next_word(rest) {
            let (before, after) = rest.split_at(at);
            out.push_str(before);
            rest = after;
            loop {
                let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                let (number, after) = rest.split_at(digits);
                out.push_str(number);
                rest = after;
                let title = number.parse().ok().and_then(|party: usize| self.name(party));
                if let Some(name) = title.filter(|_| ![" (", " to "].iter().any(|next| rest.starts_with(next))) {
                    out.push_str(&format!(" ({name})"));
                }
                let digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
                let Some(more) =
                    [", ", " and "].into_iter().find(|sep| several && rest.strip_prefix(sep).is_some_and(digit))
                else {
                    break;
                };
                out.push_str(more);
                rest = &rest[more.len()..];
            }
        }
        out + rest
    }
}

/// Where the number behind the next `party ` or `parties ` begins, and whether the word is `parties `.
/// `--party 1` is a flag.
fn next_word(text: &str) -> Option<(usize, bool)> {
    let find = |word: &str, several: bool| {
        let mut found = text.match_indices(word).map(|(at, _)| (at, at + word.len(), several));
        found.find(|&(at, end, _)| {
            let own = !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
            own && text[end..].starts_with(|c: char| c.is_ascii_digit())
        })
    };
    let first = [find("party ", false), find("parties ", true)].into_iter().flatten().min()?;
    Some((first.1, first.2))
}

/// The names that a program and a group give, where there are any.
pub(crate) fn names(program: Option<&Program>, group: Option<&PartyGroup>) -> Outcome<Names> {
    let names = program.map(Names::of).unwrap_or_default();
    match group {
        Some(group) => names.among(group),
        None => Ok(names),
    }
}

/// The group in this file.
pub(crate) fn group(path: &Path) -> Outcome<PartyGroup> {
    PartyGroup::read(path)?.ok_or_else(|| {
        let path = path.display();
        Failure::input(format!(
            "there is no file {path}: `comity group add {path} --name NAME --address HOST:PORT` begins one, with party 0"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of_program: &[&str], of_group: &[&str]) -> Names {
        let own = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Names { of_program: own(of_program), of_group: own(of_group) }
    }

    #[test]
    fn parties_are_found_by_number_and_name() {
        let names = names(&["seller", "buyer"], &["ann", "ben", "cleo"]);
        let find = |text: &str| names.find(&text.parse().unwrap()).map_err(|failure| failure.message);
        assert_eq!((find("1"), find("buyer"), find("Cleo")), (Ok(PartyId(1)), Ok(PartyId(1)), Ok(PartyId(2))));
        // Whether there is such a party is seen where the number of parties is known.
        assert_eq!(find("7"), Ok(PartyId(7)));
        let why = find("bem").unwrap_err();
        assert!(why.contains("did you mean `ben`") && why.contains("0 (ann), 1 (ben), 2 (cleo)"), "{why}");
        let why = Names::default().find(&"ben".parse().unwrap()).unwrap_err().message;
        assert!(why.contains("0, 1 and so on"), "{why}");
    }

    #[test]
    fn a_name_is_the_same_party_in_the_program_and_in_the_group() {
        let program = |text: &str| {
            comity::compile("p", &format!("parties {text};\nfn main(x: u8 from 0) -> u8 {{ x }}")).unwrap()
        };
        let group = |names: &[&str]| {
            let lines = names.iter().enumerate().map(|(id, name)| {
                format!("[[party]]\nid = {id}\nname = \"{name}\"\naddress = \"127.0.0.1:{}\"\n", 7000 + id)
            });
            PartyGroup::parse(&lines.collect::<String>()).unwrap()
        };
        assert!(Names::of(&program("ann, ben")).among(&group(&["ann", "ben", "cy"])).is_ok());
        assert!(Names::of(&program("seller, ben")).among(&group(&["ann", "ben"])).is_ok());
        let why = Names::of(&program("ben, ann")).among(&group(&["ann", "Ben"])).unwrap_err().message;
        assert!(why.contains("ben is party 0 in the program, and party 1 in the group"), "{why}");
    }

    #[test]
    fn numbers_in_messages_get_names() {
        let names = names(&[], &["ann", "ben", "cleo"]);
        let is = |text: &str, named: &str| {
            assert_eq!(names.named(text), named);
            assert_eq!(names.named(named), named, "once is enough");
        };
        is("party 1: gone", "party 1 (ben): gone");
        is(
            "parties 0, 1 and 2 did not come, party 3 did",
            "parties 0 (ann), 1 (ben) and 2 (cleo) did not come, party 3 did",
        );
        is("add64 (parties 0 and 2), sub64 (party 1)", "add64 (parties 0 (ann) and 2 (cleo)), sub64 (party 1 (ben))");
        is(
            "run `comity key trust k --party 1 X`; the parties 0 to 2",
            "run `comity key trust k --party 1 X`; the parties 0 to 2",
        );
        is("here 2 parties, and 10 more", "here 2 parties, and 10 more");
        is("party 2", "party 2 (cleo)");
    }
}

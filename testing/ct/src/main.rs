//! Runs every protocol with its secrets marked, under Valgrind's memcheck, and says in which one a branch or
//! an index depends on a secret.
//!
//! Secret are all that a party draws and its inputs; public is what it sends. Everything else that is public,
//! say that a check passed, is declared so where it is published (`comity_core::declassify`). Memcheck writes
//! each finding with its stack; this program counts them by case, and fails if there is one. It fails also if
//! Valgrind is not there, or if it overlooks what is planted: then the check would prove nothing. Arguments
//! are beginnings of the names of the cases to run; none are all.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a command, and what it prints is all that it does"
)]

mod files;
mod functions;
mod ot;
mod planted;
mod protocols;
mod secret;
mod services;

use std::process::ExitCode;

use comity_core::ct;

/// Something to look at, by its name.
struct Case {
    name: String,
    run: Box<dyn FnOnce()>,
}

impl Case {
    fn new(name: impl Into<String>, run: impl FnOnce() + 'static) -> Case {
        Case { name: name.into(), run: Box::new(run) }
    }
}

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if !ct::watched() {
        eprintln!("Valgrind does not run this: nothing would be seen. `make ct` starts it.");
        return ExitCode::from(2);
    }
    for (name, plant) in planted::PLANTED {
        let before = ct::reports();
        plant();
        if ct::reports() == before {
            eprintln!("planted {name}: not seen, so that nothing else would be");
            return ExitCode::from(2);
        }
        println!("planted {name}: seen");
    }
    let cases =
        [ot::cases(), protocols::cases(), services::cases(), functions::cases(), files::cases()].into_iter().flatten();
    let (mut looked, mut found) = (0, 0);
    for case in cases.filter(|case| wanted.is_empty() || wanted.iter().any(|name| case.name.starts_with(name))) {
        let before = ct::reports();
        (case.run)();
        let reports = ct::reports() - before;
        println!("{}: {reports} reports", case.name);
        looked += 1;
        found += reports;
    }
    println!("{looked} cases, {found} reports");
    ExitCode::from(u8::from(found > 0 || looked == 0))
}

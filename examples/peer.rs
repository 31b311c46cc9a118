//! One party of a sum, over TCP: run it twice, in two terminals.
//!
//! ```text
//! cargo run --release --example peer -- 0 127.0.0.1:7000 40
//! cargo run --release --example peer -- 1 127.0.0.1:7000 2
//! ```
//!
//! Between two machines, add `.tls(folder)` with a folder that `comity key new` made.

#![allow(clippy::print_stdout, reason = "it is a program for people")]

use std::time::Duration;

use comity::{Bits, Error, Program, Report, Session, library};

/// Party 0 listens at the address, party 1 connects to it. Who is first waits ten minutes for the other.
fn sum(party: u16, address: &str, number: u64) -> Result<Report, Error> {
    let program = Program::from_circuit(library::find("add64").expect("a built-in")).expect("two parties");
    let session = Session::new(party).timeout(Duration::from_secs(600));
    let session = if party == 0 { session.listen(address) } else { session.connect(address) };
    session.run(&program, [(usize::from(party), Bits::from_bytes(&number.to_le_bytes(), 64))])
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [party, address, number] = &args[..] else {
        return Err("three arguments are wanted: PARTY ADDRESS NUMBER".into());
    };
    let report = sum(party.parse()?, address, number.parse()?)?;
    println!("the sum is {}", report.outputs[0].1.words()[0]);
    println!("{} bytes sent, {} received, {} rounds", report.bytes_sent, report.bytes_received, report.rounds);
    // With the process goes what the other one has not taken yet.
    comity::settle();
    Ok(())
}

#[test]
fn two_processes_would_meet() {
    // A port that is free now; the connecting side waits until the other one listens.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = &format!("127.0.0.1:{port}");
    let reports = std::thread::scope(|scope| {
        let other = scope.spawn(move || sum(1, address, 2));
        [sum(0, address, 40).unwrap(), other.join().unwrap().unwrap()]
    });
    for report in reports {
        assert_eq!(report.outputs[0].1, Bits::from_bytes(&42u64.to_le_bytes(), 64));
    }
}

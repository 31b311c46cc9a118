//! Sessions in a program that is asynchronous: each on a thread where it may block, and awaited like anything else.
//!
//! ```text
//! cargo run --example beside_tokio
//! ```
//!
//! A session computes and waits; it is no future. `spawn_blocking` gives it a thread of its own, and its
//! report comes back as a value.

#![allow(clippy::print_stdout, reason = "it is a program for people")]

use std::net::TcpListener;

use comity::{Error, Program, Session, compile, input};
use tokio::runtime::Builder;
use tokio::task::{JoinHandle, spawn_blocking};

const TEXT: &str = "fn main(a: u32 from 0, b: u32 from 1) -> (higher: u32) { max(a, b) }";

/// One party of the session, on a thread of its own.
fn party(program: Program, me: u16, address: String, value: u32) -> JoinHandle<Result<u32, Error>> {
    spawn_blocking(move || {
        let session = Session::new(me);
        let session = if me == 0 { session.listen(address) } else { session.connect(address) };
        let own = input(&program, if me == 0 { "a" } else { "b" }, value)?;
        session.run(&program, [own])?.output(&program, "higher")
    })
}

/// Both parties at the same time, among whatever else the runtime does.
async fn both(a: u32, b: u32) -> Result<(u32, u32), Box<dyn std::error::Error + Send + Sync>> {
    let program = compile("higher", TEXT)?;
    // A port that is free now; who connects tries until the other one listens.
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let (ann, bob) = (party(program.clone(), 0, address.clone(), a), party(program, 1, address, b));
    Ok((ann.await??, bob.await??))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = Builder::new_multi_thread().worker_threads(1).build()?;
    let (ann, bob) = runtime.block_on(both(40, 2)).map_err(|error| error.to_string())?;
    println!("the higher one is {ann}, and both know it: {bob}");
    Ok(())
}

#[test]
fn sessions_run_beside_a_runtime() {
    let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    assert_eq!(runtime.block_on(both(7, 11)).unwrap(), (11, 11));
}

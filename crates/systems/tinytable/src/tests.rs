//! Both forms: their laws, the figures, bytes, cheats, and what is kept.

mod boxes;
mod cheats;
mod dealer;
mod drawn;
mod figures;
mod laws;
mod malicious;
mod stored;

use comity_channel::{Channel, Counted, Mesh};
use comity_circuit::Program;
use comity_core::{Bits, PartyId, Result, SessionId};
use comity_protocol::{Here, Job, Options, Party, Protocol};
use comity_testing::Net;
use comity_testing::laws::{Outputs, rng};

use crate::TinyTableSemiHonest;
use crate::boxes::{Boxed, Boxing};
use crate::kept::Kept;
use crate::semi_honest::{prepare_with, run_on};
use dealer::Trusted;

/// Runs two parties as the protocol sees them; `seed` is where their randomness begins.
fn both<T: Send>(seed: u128, run: impl Fn(&mut Party<'_, '_>) -> T + Sync) -> [T; 2] {
    Net::<2>::run(|net| {
        let session = SessionId::derive("test of tinytable", &[]);
        let me = net.me();
        let here = Here::new(me, 2, session);
        run(&mut Party { net, here, rng: &mut rng(2 * seed + u128::from(me.0)), observer: &mut () })
    })
}

/// This party's inputs among all of them.
fn own(me: PartyId, program: &Program, values: &[Bits]) -> Vec<Option<Bits>> {
    let owners = program.inputs().iter().zip(values);
    owners.map(|(input, value)| input.owner.includes(me).then(|| value.clone())).collect()
}

/// What a party keeps for a run of a program, on triples of a trusted dealer.
fn prepared(me: &mut Party<'_, '_>, program: &Program) -> Vec<u8> {
    prepared_as(me, program, Boxing::Auto)
}

fn prepared_as(me: &mut Party<'_, '_>, program: &Program, boxing: Boxing) -> Vec<u8> {
    let (mut kept, mut bytes) = (Kept::default(), Vec::new());
    let dealer = Trusted::new(me.here.backend, 7);
    prepare_with(me, &Boxed::new(program, boxing), Some(Box::new(dealer)), &mut kept).unwrap();
    std::io::Read::read_to_end(&mut kept, &mut bytes).unwrap();
    bytes
}

/// Runs a program on tables, and gives what this party learns, and the bytes that it sent.
fn online(me: &mut Party<'_, '_>, program: &Program, values: &[Bits], tables: &[u8]) -> Result<(Vec<Bits>, u64)> {
    online_as(me, program, values, tables, "auto")
}

fn online_as(
    me: &mut Party<'_, '_>,
    program: &Program,
    values: &[Bits],
    tables: &[u8],
    boxing: &str,
) -> Result<(Vec<Bits>, u64)> {
    let (here, mut options) = (me.here, Options::new(TinyTableSemiHonest.card()));
    options.set(PartyId(0), "tables", boxing).unwrap();
    let (_, ch) = me.net.pair()?;
    let mut ch = Counted::new(ch);
    let (mut outputs, inputs) = (Outputs::default(), own(here.me, program, values));
    let job = Job { program, inputs: &inputs, options: &options };
    let mut net = Mesh::of_two(here.me, &mut ch as &mut dyn Channel);
    run_on(&mut Party { net: &mut net, here, rng: me.rng, observer: &mut outputs }, &job, Box::new(tables))?;
    drop(net);
    Ok((outputs.0.into_iter().map(|(_, value)| value).collect(), ch.counts().sent))
}

//! Bytes and rounds, exactly as the docs say; and the bytes themselves.

use comity_channel::{Change, Counted, Direction, Mesh, Recorded, Tamper, Tampering, Traffic};
use comity_circuit::{Program, Recipients};
use comity_core::{Backend, Bits, Kind};
use comity_gmw::Gmw;
use comity_testing::laws::{bits, chain_and_layer, rng, run};

use super::{over_links, setting};

/// Two outputs: one for all, one for party 1.
fn program(width: usize) -> Program {
    let mut b = comity_circuit::Builder::new();
    let (x, y) = (b.input("x", width), b.input("y", width));
    let out = b.call(&chain_and_layer(width), &[x, y]);
    b.output("all", &out[0][..width]);
    b.output("one", &out[0][width..]);
    Program::from_circuit(b.finish()).unwrap().with_recipients(1, Recipients::only(1)).unwrap()
}

fn inputs(width: usize) -> [Bits; 2] {
    [bits(width, &mut rng(4)), bits(width, &mut rng(5))]
}

/// What each party sends to each other one, and its rounds, on each link.
fn traffic(parties: u16, program: &Program, inputs: &[Bits]) -> Vec<Vec<Traffic>> {
    over_links(parties, |links| {
        let mut counters = Vec::new();
        let counted = links.map(|_, link| {
            let link = Counted::new(link);
            counters.push(link.counter());
            link
        });
        run(&Gmw, &mut Mesh::new(counted), program, inputs, setting(Backend::detect())).unwrap();
        counters.iter().map(|counter| counter.counts()).collect()
    })
}

/// Bytes of the base OTs of both ways, from each of two parties: points, a first point, trees.
const SETUP: u64 = 128 * 32 + 32 + 32 * 3 * 32;

#[test]
fn bytes_and_rounds_are_what_the_docs_say() {
    let width = 4000;
    let program = program(width);
    let ands = program.and_gates();
    let layers = program.lowered()[0].layered().layers();
    for parties in [2, 3, 5] {
        let counts = traffic(parties, &program, &inputs(width));
        // What is in all: the base OTs, a seed, 31 rows of bits, and two bits an AND, of each layer in whole bytes.
        let online: u64 = layers.iter().map(|layer| 2 * layer.ands.div_ceil(8) as u64).sum();
        let all = SETUP + 16 + 31 * 16 * ands.div_ceil(128) + online;
        for (me, links) in (0u16..).zip(&counts) {
            let peers = (0..parties).filter(|&peer| peer != me);
            for (i, (peer, link)) in peers.zip(links).enumerate() {
                let corrections = if i == 0 { 0 } else { 16 * ands.div_ceil(64) };
                let outputs = width as u64 / 8 + u64::from(peer == 1);
                assert_eq!(link.sent, all + corrections + outputs, "party {me} of {parties} to {peer}");
            }
            // A round for each layer that has ANDs, and for each output of this party's; besides, the set-up and the triples.
            let rounds = layers.iter().filter(|layer| layer.ands > 0).count() as u64 + 1 + u64::from(me == 1);
            let more = links.iter().map(|link| link.rounds).max().unwrap() - rounds;
            let triples = 1 + u64::from(parties > 2);
            assert!((2..=6).contains(&(more - triples)), "party {me} of {parties}: {more} rounds beside {rounds}");
        }
    }
}

#[test]
fn every_backend_sends_the_same_bytes() {
    let mut first = None;
    for backend in Backend::available() {
        let sent = over_links(3, |links| {
            let mut recorders = Vec::new();
            let links = links.map(|_, link| {
                let link = Recorded::new(link, 1 << 24);
                recorders.push(link.recorder());
                link
            });
            run(&Gmw, &mut Mesh::new(links), &program(300), &inputs(300), setting(backend)).unwrap();
            let sent: Vec<u8> = recorders.iter().flat_map(|recorder| recorder.recording().sent).collect();
            blake3::hash(&sent).to_hex().to_string()
        });
        assert_eq!(&sent, first.get_or_insert(sent.clone()), "{backend}");
    }
}

/// Party 2 of three is lost after each part of its bytes to party 0: nobody hangs, and nobody takes what is not there.
#[test]
fn a_party_lost_at_any_time_is_an_error() {
    let (program, inputs) = (program(60), inputs(60));
    let all = traffic(3, &program, &inputs)[2][0].sent;
    let places = (0..40).map(|i| i * all / 40).chain(all - 60..all);
    for at in places {
        let ends = over_links(3, |links| {
            let (me, lost) =
                (links.me(), Tamper { direction: Direction::Outgoing, at: at as usize, change: Change::Close });
            let links = links.map(|peer, link| -> Box<dyn comity_channel::Channel> {
                if (me.0, peer.0) == (2, 0) { Box::new(Tampering::new(link, &lost)) } else { Box::new(link) }
            });
            run(&Gmw, &mut Mesh::new(links), &program, &inputs, setting(Backend::detect())).map(drop)
        });
        let error = ends[0].as_ref().expect_err("party 0 lacks what was lost");
        assert!(matches!(error.kind, Kind::Closed | Kind::TimedOut(_)), "at byte {at}: {error}");
    }
}

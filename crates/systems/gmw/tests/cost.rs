//! Bytes and rounds, exactly as the docs say; and the bytes themselves.

use comity_channel::{Change, Direction, Mesh, Recorded, Tamper, Tampering};
use comity_circuit::{Builder, Program, Recipients, Wire};
use comity_core::{Backend, Bits, Kind};
use comity_gmw::Gmw;
use comity_protocol::Protocol;
use comity_testing::laws::{bits, chain_and_layer, check, rng, run, traffic};
use comity_testing::peak_memory;

use super::{dealt, over_links, setting};

/// Two outputs: one for all, one for party 1.
fn program(width: usize) -> Program {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", width), b.input("y", width));
    let out = b.call(&chain_and_layer(width), &[x, y]);
    b.output("all", &out[0][..width]);
    b.output("one", &out[0][width..]);
    Program::from_circuit(b.finish()).unwrap().with_recipients(1, Recipients::only(1)).unwrap()
}

fn inputs(width: usize) -> [Bits; 2] {
    [bits(width, &mut rng(4)), bits(width, &mut rng(5))]
}

/// Bytes of the base OTs of both ways, from each of two parties: points, a first point, trees.
pub(crate) const SETUP: u64 = 128 * 32 + 32 + 32 * 3 * 32;

#[test]
fn bytes_and_rounds_are_what_the_docs_say() {
    let width = 4000;
    let program = program(width);
    let ands = program.and_gates();
    let layers = program.lowered()[0].layered().layers();
    for parties in [2, 3, 5] {
        let counts = traffic(&Gmw, parties, &program, &inputs(width), setting(Backend::detect()));
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
            // A round for each layer that has ANDs, and for each output of this party's; besides, the set-up
            // and the triples, and of a link of several what was sent on it before others were heard.
            let rounds = layers.iter().filter(|layer| layer.ands > 0).count() as u64 + 1 + u64::from(me == 1);
            let more: Vec<u64> = links.iter().map(|link| link.rounds - rounds).collect();
            let expected = if parties == 2 { 4..=4 } else { 4..=6 };
            assert!(more.iter().all(|more| expected.contains(more)), "party {me} of {parties}: {more:?}");
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
/// Its last bytes, the openings, it says over dealt base OTs, which are quick.
#[test]
fn a_party_lost_at_any_time_is_an_error() {
    let (program, inputs, dealt) = (program(60), inputs(60), dealt());
    let all = |protocol: &dyn Protocol| traffic(protocol, 3, &program, &inputs, setting(Backend::detect()))[2][0].sent;
    let (real, short) = (all(&Gmw), all(&dealt));
    let places = (0..40).map(|i| (&Gmw as &dyn Protocol, i * real / 40));
    for (protocol, at) in places.chain((short - 60..short).map(|at| (&dealt as &dyn Protocol, at))) {
        let ends = over_links(3, |links| {
            let (me, lost) =
                (links.me(), Tamper { direction: Direction::Outgoing, at: at as usize, change: Change::Close });
            let links = links.map(|peer, link| -> Box<dyn comity_channel::Channel> {
                if (me.0, peer.0) == (2, 0) { Box::new(Tampering::new(link, &lost)) } else { Box::new(link) }
            });
            run(protocol, &mut Mesh::new(links), &program, &inputs, setting(Backend::detect())).map(drop)
        });
        let error = ends[0].as_ref().expect_err("party 0 lacks what was lost");
        assert!(matches!(error.kind, Kind::Closed | Kind::TimedOut(_)), "at byte {at}: {error}");
    }
}

/// 10^9 ANDs: their triples would be 375 MB.
#[test]
#[ignore = "minutes; part of make test-long"]
fn a_program_far_larger_than_memory_runs_in_little() {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 10_000), b.input("y", 10_000));
    let next: Vec<Wire> = (0..10_000)
        .map(|i| {
            let and = b.and(x[i], y[(i + 1) % 10_000]);
            b.xor(and, y[(i + 3) % 10_000])
        })
        .collect();
    b.output("next", &next);
    let program = Program::iterate(b.finish(), 100_000, &[(0, 1)]).unwrap();
    assert_eq!(program.and_gates(), 1_000_000_000);
    let inputs: Vec<Bits> = program.inputs().iter().map(|i| bits(i.bits, &mut rng(9))).collect();
    check(&Gmw, 2, &program, &inputs, setting(Backend::detect()));
    if let Some(peak) = peak_memory() {
        assert!(peak < 128 << 10, "{peak} KiB for both parties");
    }
}

//! Bytes by phase, of party 0, of each other party and of the token, exactly.

use std::sync::Mutex;

use comity_channel::{Counted, Counter, MemoryChannel, Mesh, PerPeer, memory, memory_mesh};
use comity_circuit::Program;
use comity_core::{Bits, PartyId, Result};
use comity_gmw::run_with;
use comity_protocol::{Here, Job, Options, Party, Protocol};
use comity_testing::PATIENCE;
use comity_testing::laws::{Outputs, bits, chain_and_layer, clear, rng};

use super::{backend, keys, session};
use crate::messages::{SeedAnswer, SeedInit, SeedOrder, SeedRequest};
use crate::token::TokenAccess;
use crate::{GmwToken, HOLDER, HolderTriples, PartnerTriples, SeedLetter, TokenLine, serve_holder};

/// Looks at the counter of the line to the token when a phase ends.
struct Looking<'c> {
    line: TokenLine<'c>,
    counter: Counter,
    /// Sent and received at the end of init, and of set-up.
    seen: &'c mut Vec<[u64; 2]>,
}

impl Looking<'_> {
    fn look(&mut self) {
        let counts = self.counter.counts();
        self.seen.push([counts.sent, counts.received]);
    }
}

impl TokenAccess for Looking<'_> {
    fn init(&mut self, order: SeedOrder) -> Result<SeedInit> {
        let init = self.line.init(order);
        self.look();
        init
    }

    fn set_up(&mut self, request: &SeedRequest) -> Result<SeedAnswer> {
        let answer = self.line.set_up(request);
        self.look();
        answer
    }
}

/// Runs a program; returns what party 0 and its token told each other by phase, and what each party sent to
/// each other one.
fn run(parties: u16, program: &Program, inputs: &[Bits; 2]) -> (Vec<[u64; 2]>, Vec<PerPeer<u64>>) {
    let (at_holder, mut at_token) = memory::pair();
    // Party 0 takes it, and the token ends when it lets it go.
    let at_holder = Mutex::new(Some(at_holder));
    let party = |links: PerPeer<MemoryChannel>| {
        let links = links.map(|_, link| Counted::new(link));
        let counters = PerPeer::new(links.me(), parties, |peer| links[peer].counter());
        let (mut net, options, mut seen) = (Mesh::new(links), Options::new(GmwToken.card()), Vec::new());
        let me = net.me();
        let here = Here::new(me, parties, session(2));
        let (mut rng, mut outputs) = (rng(u128::from(me.0) + 5), Outputs::default());
        let mut party = Party { net: &mut net, here, rng: &mut rng, observer: &mut outputs };
        let own = program.inputs().iter().zip(inputs);
        let own: Vec<Option<Bits>> =
            own.map(|(input, value)| (input.owner.party() == Some(me)).then(|| value.clone())).collect();
        let job = Job { program, inputs: &own, options: &options };
        if me == HOLDER {
            let mut line = Counted::new(at_holder.lock().unwrap().take().unwrap());
            let counter = line.counter();
            let token = Looking { line: TokenLine::new(&mut line), counter, seen: &mut seen };
            let dealer = HolderTriples::new(&party, Box::new(token));
            run_with(&mut party, Some(Box::new(dealer)), &job).unwrap();
        } else {
            let dealer = PartnerTriples::new(&mut party, None);
            run_with(&mut party, Some(Box::new(dealer)), &job).unwrap();
        }
        let learned: Vec<Bits> = outputs.0.into_iter().map(|(_, value)| value).collect();
        assert!(learned == clear(program, inputs), "party {me} of {parties}");
        (seen, counters.map(|_, counter| counter.counts().sent))
    };
    std::thread::scope(|scope| {
        let party = &party;
        let served = scope.spawn(move || {
            let (keys, mut next) = (keys(1), 0);
            let counter = &mut super::seeds::Counted(&mut next);
            serve_holder(&mut at_token, &keys, counter, backend(), &mut rng(9)).unwrap()
        });
        let links = memory_mesh(parties, Some(PATIENCE)).into_iter();
        let threads: Vec<_> = links.map(|links| scope.spawn(move || party(links))).collect();
        let mut all = threads.into_iter().map(|thread| thread.join().expect("a party does not panic"));
        let (seen, first) = all.next().expect("there is a party 0");
        assert_eq!(served.join().unwrap(), 1);
        (seen, [first].into_iter().chain(all.map(|(_, sent)| sent)).collect())
    })
}

#[test]
fn bytes_by_phase_are_what_the_docs_say() {
    let width = 800;
    for parties in [2u16, 3, 5] {
        let program = Program::from_circuit(chain_and_layer(width)).unwrap().with_owner(1, parties - 1).unwrap();
        let inputs = [bits(width, &mut rng(6)), bits(width, &mut rng(7))];
        let (at_token, sent) = run(parties, &program, &inputs);
        let others = u64::from(parties) - 1;
        let rows = program.and_gates().div_ceil(128);
        // Init: an order; a counter, an introduction and a bit a triple.
        let init = [14, 136 + 16 * rows];
        // Set-up: a session and a key for each other party; a seed and a sealed one for each other party.
        let set_up = [32 + 32 * others, 16 + 128 * others];
        assert_eq!(at_token, [init, [init[0] + set_up[0], init[1] + set_up[1]]], "{parties} parties");
        // Online: a seed of the streams each way, two bits an AND in whole bytes a layer, and a bit an output.
        let layers = program.lowered()[0].layered().layers();
        let online: u64 = 16 + layers.iter().map(|layer| 2 * layer.ands.div_ceil(8) as u64).sum::<u64>();
        let output = (program.outputs()[0].bits as u64).div_ceil(8);
        for (me, sent) in (0..parties).map(PartyId).zip(&sent) {
            for (peer, sent) in sent.iter() {
                let seeds = match (me, peer) {
                    (PartyId(0), _) => 264,
                    (_, PartyId(0)) => 32,
                    _ => 0,
                };
                assert_eq!(*sent, seeds + online + output, "party {me} to {peer} of {parties}");
            }
        }
    }
    assert_eq!([SeedLetter::BYTES, SeedInit::HEAD, SeedOrder::BYTES], [264, 136, 14]);
}

#[test]
fn a_seed_has_the_same_length_whatever_the_number_of_triples() {
    let sent = |times| {
        let program = Program::map(chain_and_layer(40), times, &[]).unwrap();
        let bits = |seed| bits(40 * times as usize, &mut rng(seed));
        let (_, sent) = run(2, &program, &[bits(1), bits(2)]);
        let layers = program.lowered()[0].layered().layers();
        let online: u64 = layers.iter().map(|layer| 2 * (layer.ands as u64 * times).div_ceil(8)).sum();
        sent[0][PartyId(1)] - online - (program.outputs()[0].bits as u64).div_ceil(8)
    };
    assert_eq!([sent(1), sent(64)], [16 + 264; 2]);
}

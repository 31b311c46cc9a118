//! Who speaks last chooses its inputs without a word about those of the others: what it has heard by then
//! tells no output.

use comity_channel::{Recorded, Recorder};
use comity_circuit::Builder;
use comity_core::{Bits, PartyId};
use comity_protocol::Options;
use comity_testing::laws::Outputs;

use super::*;
use crate::act::GarblingAct;
use crate::run_as;

/// Bits of an input, and of the output: an element each.
const BITS: usize = 128;

/// The sum of a value of each of `parties` parties, for all.
fn sum(parties: u16) -> Program {
    let mut b = Builder::new();
    let values: Vec<Vec<_>> = (0..parties).map(|i| b.input(&format!("x{i}"), BITS)).collect();
    let sum: Vec<_> =
        (0..BITS).map(|k| values[1..].iter().fold(values[0][k], |sum, value| b.xor(sum, value[k]))).collect();
    b.output("sum", &sum);
    (0..parties)
        .fold(Program::from_circuit(b.finish()).unwrap(), |program, i| program.with_owner(usize::from(i), i).unwrap())
}

/// What a party says in the messages about which this is: from the last new key of a wire, or its public
/// values, until it makes shares of rows or says keys.
#[derive(Default)]
struct Part {
    from: Vec<usize>,
    said: Vec<u8>,
    ended: bool,
}

impl Part {
    fn watch(&mut self, act: &GarblingAct<'_>, recorders: &[Recorder]) {
        let sent = || recorders.iter().map(|recorder| recorder.recording().sent);
        match act {
            GarblingAct::NewKey(_) => (self.from, self.ended) = (sent().map(|sent| sent.len()).collect(), false),
            GarblingAct::Public(PartyId(to), _) if self.ended && *to < 2 => {
                (self.from, self.ended) = (sent().map(|sent| sent.len()).collect(), false);
            }
            GarblingAct::Garbled(_) | GarblingAct::Keys(..) if !self.ended => {
                self.ended = true;
                for (sent, &from) in sent().zip(&self.from) {
                    self.said.extend_from_slice(&sent[from..]);
                }
            }
            _ => {}
        }
    }
}

/// All that parties said in these messages, by party and in any order, and what they put in.
fn said<const N: usize>(ahead: bool) -> Vec<(Vec<u8>, Bits)> {
    let program = &sum(N as u16);
    let links = memory_mesh(N as u16, Some(comity_testing::PATIENCE));
    std::thread::scope(|scope| {
        let party = move |links: PerPeer<_>| {
            let links = links.map(|_, link| Recorded::new(link, 1 << 24));
            let recorders: Vec<Recorder> = links.iter().map(|(_, link)| link.recorder()).collect();
            let mut net = Mesh::new(links);
            let me = net.me();
            let here = Here::new(me, N as u16, SessionId::derive("test", &[b"last"]));
            let value = laws::bits(BITS, &mut laws::rng(u128::from(me.0) + 70));
            let own: Vec<_> = (0..N as u16).map(|owner| (owner == me.0).then(|| value.clone())).collect();
            let (mut outputs, mut rng, options) =
                (Outputs::default(), laws::rng(u128::from(me.0) + 3), Options::new(&CARD));
            let budget = Budget::known(1, 40, 1, objects(N as u16)).unwrap();
            let dealer = Many::new(&mut net, here.child("dealer"), budget, &mut rng).unwrap();
            let mut masks = TripleMasks::new(here, Box::new(dealer), Planned::of(program), &mut rng);
            let job = Job { program, inputs: &own, options: &options };
            let mut part = Part::default();
            let mut party = Party { net: &mut net, here, rng: &mut rng, observer: &mut outputs };
            let mut watch = |act: GarblingAct<'_>| part.watch(&act, &recorders);
            let ground = Ground { masks: &mut masks, opener: Opener::Balanced };
            if ahead {
                let mut kept = Vec::new();
                prepare_with(&mut party.sub("ahead"), ground, program, &mut kept, &mut watch).unwrap();
                use_up(&mut party, &mut &kept[..], &job, &mut watch).unwrap();
            } else {
                run_as(&mut party, ground, &job, &mut watch).unwrap();
            }
            assert_eq!(outputs.0.len(), 1);
            (part.said, value)
        };
        let threads: Vec<_> = links.into_iter().map(|links| scope.spawn(move || party(links))).collect();
        threads.into_iter().map(|party| party.join().unwrap()).collect()
    })
}

/// The sum of the others' inputs is no sum of elements that were said when only the last party's public
/// values are missing, and of its own.
fn the_others_sum_is_not_heard<const N: usize>(ahead: bool) {
    let parties = said::<N>(ahead);
    let mut target = 0u128;
    parties[..N - 1].iter().for_each(|(_, value)| target ^= value.to_u128().unwrap());
    let mut basis: Vec<u128> = Vec::new();
    let own = parties[N - 1].1.to_u128().unwrap().to_le_bytes();
    let all = parties.iter().flat_map(|(said, _)| {
        assert!(!said.is_empty() && said.len() % 16 == 0, "{} bytes", said.len());
        said.as_chunks::<16>().0
    });
    let reduced = |basis: &[u128], x: u128| basis.iter().fold(x, |x, &b| x.min(x ^ b));
    for block in all.chain([&own]) {
        let rest = reduced(&basis, u128::from_le_bytes(*block));
        if rest != 0 {
            basis.push(rest);
            basis.sort_unstable_by(|a, b| b.cmp(a));
        }
    }
    assert!(basis.len() < 64, "{} elements", basis.len());
    assert_ne!(reduced(&basis, target), 0, "{N} parties, ahead: {ahead}");
}

#[test]
fn who_speaks_last_has_not_heard_the_sum_of_the_others() {
    for ahead in [false, true] {
        the_others_sum_is_not_heard::<2>(ahead);
        the_others_sum_is_not_heard::<3>(ahead);
    }
}

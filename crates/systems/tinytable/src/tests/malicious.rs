//! The malicious form: its laws, its tables, and where they come from.

use comity_circuit::{Builder, Program, Recipients};
use comity_core::{Bits, Error, Kind, Params};
use comity_ot::Malicious;
use comity_ot::base::{BaseOt, Csw};
use comity_protocol::{Party, Protocol};
use comity_share::{GlobalKey, Share};
use comity_testing::laws;
use comity_testing::laws::{Laws, RunBy, bits, chain_and_layer, clear, rng};
use comity_testing::ot::DealtBaseOts;
use comity_triples::{Ands, DealerKind, dealer_over};

use super::{both, own};
use crate::authenticated::{FORM, prepare_with, run_on};
use crate::kept::{Kept, Tables, TablesHead};
use crate::{TinyTable, run_malicious_over};

laws!(TinyTable, Laws { rho: 8, deviations: 12, constants: Some(1), ..Laws::USUAL });

/// Law 3 in more runs, over dealt base OTs.
#[test]
fn deviations_over_dealt_base_ots() {
    let dealt = RunBy { protocol: TinyTable, run: run_malicious_over::<DealtBaseOts> };
    laws::deviations(&dealt, &Laws { rho: 8, ..Laws::USUAL });
}

/// What is heard of many runs, over dealt base OTs.
#[test]
fn law_listener_of_many() {
    let dealt = RunBy { protocol: TinyTable, run: run_malicious_over::<DealtBaseOts> };
    laws::listener(&dealt, &Laws { rho: 8, listened: 400, ..Laws::USUAL });
}

mod nnob12 {
    use super::*;

    laws!(TinyTable, Laws { rho: 8, programs: 1, deviations: 12, options: &[("dealer", "nnob12")], ..Laws::USUAL });
}

/// What a party keeps for a run of a program, by a dealer over dealt base OTs.
pub(super) fn auth_prepared(me: &mut Party<'_, '_>, program: &Program) -> Vec<u8> {
    auth_prepared_over::<DealtBaseOts>(me, program)
}

fn auth_prepared_over<B: BaseOt<Model = Malicious>>(me: &mut Party<'_, '_>, program: &Program) -> Vec<u8> {
    let (mut kept, mut bytes) = (Kept::default(), Vec::new());
    let (ch, mut here, rng, _) = me.pair().unwrap();
    here.params = Params::new(128, 8).unwrap();
    let ands = Ands::Exactly(program.and_gates());
    let dealer = dealer_over::<B>(ch, here.child("dealer"), DealerKind::Fast, ands, rng).unwrap();
    prepare_with(me, program, dealer, &mut kept).unwrap();
    std::io::Read::read_to_end(&mut kept, &mut bytes).unwrap();
    bytes
}

const WIDTH: usize = 1000;

/// A product, bit by bit, for both.
fn product() -> Program {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", WIDTH), b.input("y", WIDTH));
    let out: Vec<_> = x.into_iter().zip(y).map(|(x, y)| b.and(x, y)).collect();
    b.output("out", &out);
    Program::from_circuit(b.finish()).unwrap().with_recipients(0, Recipients::All).unwrap()
}

/// What is in a party's tables of that program.
struct Parts {
    delta: GlobalKey,
    masks: Bits,
    entries: Vec<[Share; 3]>,
    outputs: Vec<Share>,
}

fn parts(kept: &[u8]) -> Parts {
    let mut from = Tables::new(&FORM, Box::new(&kept[TablesHead::BYTES as usize..]));
    let mut delta = [0; 16];
    from.take(&mut delta).unwrap();
    let masks = from.bits(WIDTH).unwrap();
    let mut entries = vec![[Share::default(); 3]; WIDTH];
    from.take(Share::bytes_of_mut(entries.as_flattened_mut())).unwrap();
    let mut outputs = vec![Share::default(); WIDTH];
    from.take(Share::bytes_of_mut(&mut outputs)).unwrap();
    from.ended().unwrap();
    Parts { delta: GlobalKey::new(comity_core::Block::new(delta)).unwrap(), masks, entries, outputs }
}

/// Step 2: a table has the product of the masks of its inputs, plus the mask of the output; all shares have
/// their MACs; and whatever should be drawn is, in each run.
#[test]
fn tables_are_those_of_the_masks_and_each_secret_is_drawn() {
    let runs = [1, 2].map(|seed| both(seed, |me| parts(&auth_prepared_over::<Csw>(me, &product()))));
    for [a, b] in &runs {
        for i in 0..WIDTH {
            let [t, u, v] = [0, 1, 2].map(|part| a.entries[i][part].bit() ^ b.entries[i][part].bit());
            let o = a.outputs[i].bit() ^ b.outputs[i].bit();
            assert_eq!((u, v), (a.masks.get(i), b.masks.get(i)), "the masks are the inputs'");
            assert_eq!(t, o ^ u & v, "gate {i}");
            // An input's mask is its owner's alone.
            assert!(!b.entries[i][1].bit() && !a.entries[i][2].bit());
            for (one, other) in [(a, b), (b, a)] {
                let all = one.entries[i].iter().zip(&other.entries[i]).chain([(&one.outputs[i], &other.outputs[i])]);
                for (own, theirs) in all {
                    assert!(own.mac() == theirs.expected(own.bit(), &other.delta), "a MAC of gate {i}");
                }
            }
        }
    }
    let balanced = |bits: &mut dyn Iterator<Item = bool>, what: &str| {
        let ones = bits.filter(|bit| *bit).count();
        assert!(ones.abs_diff(WIDTH / 2) < 6 * 16, "{what}: {ones} ones of {WIDTH}");
    };
    for (one, other) in runs[0].iter().zip(&runs[1]) {
        assert!(one.delta.block() != other.delta.block(), "the global key is drawn");
        balanced(&mut one.masks.iter(), "masks of inputs");
        balanced(&mut one.masks.iter().zip(other.masks.iter()).map(|(x, y)| x ^ y), "masks of two runs");
        balanced(&mut one.outputs.iter().map(|share| share.bit()), "shares of masks of outputs");
        let two = one.outputs.iter().zip(&other.outputs);
        balanced(&mut two.map(|(x, y)| x.bit() ^ y.bit()), "shares of masks of outputs of two runs");
    }
    let [a, b] = &runs[0];
    let both_shares = a.outputs.iter().zip(&b.outputs);
    balanced(&mut both_shares.map(|(x, y)| x.bit() ^ y.bit()), "masks of outputs");
}

/// A wrong opening while tables are made is found before they are kept: the peer's `d` and `e` are changed on
/// their way.
#[test]
fn a_wrong_opening_ahead_is_caught_before_tables_are_kept() {
    use comity_channel::{Change, Channel, Counted, Direction, Mesh, Tamper, Tampering};
    let program = product();
    let sent = both(1, |me| {
        let here = me.here;
        let mut ch = Counted::new(me.net.pair().unwrap().1);
        let mut net = Mesh::of_two(here.me, &mut ch as &mut dyn Channel);
        auth_prepared(&mut Party { net: &mut net, here, rng: me.rng, observer: &mut () }, &program);
        drop(net);
        ch.counts().sent
    })[1];
    // The openings of all gates, in groups of 64, and a digest, are what comes last.
    let opened = (2 * WIDTH.div_ceil(8)) as u64;
    for at in [0, 3, opened / 2, opened - 1] {
        let ends = both(1, |me| {
            let here = me.here;
            let ch = me.net.pair().unwrap().1;
            let tamper = Tamper {
                direction: Direction::Outgoing,
                at: (sent - 32 - opened + at) as usize,
                change: Change::Flip { bit: 1 },
            };
            let link: Box<dyn Channel> =
                if here.me.0 == 1 { Box::new(Tampering::new(ch, &tamper)) } else { Box::new(ch) };
            let mut net = Mesh::of_two(here.me, link);
            let mut me = Party { net: &mut net, here, rng: me.rng, observer: &mut () };
            let (ch, mut at, rng, _) = me.pair().unwrap();
            at.params = Params::new(128, 8).unwrap();
            let ands = Ands::Exactly(program.and_gates());
            let dealer = dealer_over::<DealtBaseOts>(ch, at.child("dealer"), DealerKind::Fast, ands, rng).unwrap();
            prepare_with(&mut me, &program, dealer, &mut Kept::default())
        });
        assert!(
            matches!(&ends[0], Err(Error { kind: Kind::Misbehaved(check), .. }) if *check == comity_share::checks::WRONG_MAC),
            "byte {at} of {opened}: {:?}",
            ends[0]
        );
    }
}

/// The bits of AND layers are half of TinyOT's, exactly: it opens two bits a gate where a table is looked up for one.
#[test]
fn a_layer_of_ands_sends_half_of_what_tinyot_sends() {
    use comity_channel::{Channel, Counted, Mesh};
    use comity_protocol::{Job, Options};
    for program in [Program::from_circuit(chain_and_layer(64)).unwrap(), product()] {
        let values: Vec<Bits> = program.inputs().iter().map(|input| bits(input.bits, &mut rng(3))).collect();
        let options = Options::new(TinyTable.card());
        let sent = |tables: bool| {
            both(1, |me| {
                let here = me.here;
                let kept = tables.then(|| auth_prepared(me, &program));
                let inputs = own(here.me, &program, &values);
                let job = Job { program: &program, inputs: &inputs, options: &options };
                let mut outputs = comity_testing::laws::Outputs::default();
                let layers = |counts: comity_channel::Traffic| counts.sent;
                let mut sent = 0;
                match kept {
                    Some(kept) => {
                        let mut ch = Counted::new(me.net.pair().unwrap().1);
                        let mut net = Mesh::of_two(here.me, &mut ch as &mut dyn Channel);
                        let mut party = Party { net: &mut net, here, rng: me.rng, observer: &mut outputs };
                        run_on(&mut party, &job, Box::new(&kept[..])).unwrap();
                        drop(net);
                        sent += layers(ch.counts());
                    }
                    None => {
                        let (ch, mut at, rng, _) = me.pair().unwrap();
                        at.params = Params::new(128, 8).unwrap();
                        let ands = Ands::Exactly(program.and_gates());
                        let mut dealer =
                            dealer_over::<DealtBaseOts>(ch, at.child("dealer"), DealerKind::Fast, ands, rng).unwrap();
                        // All material is there before anybody counts.
                        let kept = Ready::of(&mut *dealer, ch, &program);
                        let mut ch = Counted::new(ch);
                        comity_tinyot::run_with(&mut ch, here, Box::new(kept), &job, &mut outputs).unwrap();
                        sent += layers(ch.counts());
                    }
                }
                assert!(outputs.0.iter().all(|(i, value)| *value == clear(&program, &values)[*i]));
                sent
            })
        };
        // Beside the layers both send masked inputs, and settle, and open outputs.
        let beside = |party: u16| -> u64 {
            let inputs = program.inputs().iter().filter(|input| input.owner.includes(party));
            let inputs: u64 = inputs.map(|input| input.bits.div_ceil(8) as u64).sum();
            let outputs = program.outputs().iter().filter(|output| output.to.includes(1 - party));
            inputs + 32 + outputs.map(|output| output.bits.div_ceil(8) as u64 + 32).sum::<u64>()
        };
        let [tables, tinyot] = [sent(true), sent(false)];
        for party in 0..2 {
            let of = |sent: [u64; 2]| sent[usize::from(party)] - beside(party);
            assert_eq!(2 * of(tables), of(tinyot), "party {party}");
            assert!(of(tables) >= program.and_gates() / 8);
        }
    }
}

/// A dealer's material, taken ahead.
struct Ready {
    party: comity_core::PartyId,
    key: GlobalKey,
    triples: Option<comity_triples::Triples<comity_triples::Checked>>,
    masks: [Vec<Share>; 2],
}

impl Ready {
    fn of(
        dealer: &mut dyn comity_triples::TripleDealer,
        ch: &mut dyn comity_channel::Channel,
        program: &Program,
    ) -> Ready {
        let triples = dealer.triples(ch, program.and_gates() as usize).unwrap();
        assert!(triples.len() as u64 >= program.and_gates());
        let masks = [0, 1].map(|party: u16| {
            let own = program.inputs().iter().filter(|input| input.owner.includes(party));
            let mut masks = vec![Share::default(); own.map(|input| input.bits).sum()];
            dealer.bits(ch, comity_core::PartyId(party), &mut masks).unwrap();
            masks
        });
        Ready { party: dealer.party(), key: dealer.key().clone(), triples: Some(triples), masks }
    }
}

impl comity_share::AuthBits for Ready {
    fn party(&self) -> comity_core::PartyId {
        self.party
    }

    fn key(&self) -> &GlobalKey {
        &self.key
    }

    fn shares(&mut self, _: &mut dyn comity_channel::Channel, _: &mut [Share]) -> comity_core::Result<()> {
        unreachable!("a program takes none")
    }

    fn bits(
        &mut self,
        _: &mut dyn comity_channel::Channel,
        owner: comity_core::PartyId,
        out: &mut [Share],
    ) -> comity_core::Result<()> {
        out.copy_from_slice(&std::mem::take(&mut self.masks[usize::from(owner.0)]));
        Ok(())
    }
}

impl comity_protocol::Dealer for Ready {
    type Batch = comity_triples::Triples<comity_triples::Checked>;

    fn deal(&mut self, _: &mut comity_channel::Mesh<'_>, _: usize) -> comity_core::Result<Self::Batch> {
        Ok(self.triples.take().expect("all triples are there"))
    }
}

/// Tables of another program, party or version, and bytes that are cut, are refused; and so are those of the
/// other form.
#[test]
fn what_are_no_authenticated_tables_is_refused() {
    let (program, other) = (product(), Program::from_circuit(chain_and_layer(9)).unwrap());
    let kept = both(1, |me| auth_prepared(me, &program));
    let refused = |program: &Program, tables: [&[u8]; 2], words: &str| {
        let ends = both(1, |me| {
            let values: Vec<Bits> = program.inputs().iter().map(|input| bits(input.bits, &mut rng(1))).collect();
            let inputs = own(me.me(), program, &values);
            let options = comity_protocol::Options::new(TinyTable.card());
            let job = comity_protocol::Job { program, inputs: &inputs, options: &options };
            run_on(me, &job, Box::new(tables[usize::from(me.me().0)]))
        });
        let why = ends[0].as_ref().unwrap_err();
        assert!(matches!(&why.kind, Kind::Store(why) if why.contains(words)), "{words}: {why}");
    };
    refused(&other, [&kept[0], &kept[1]], "for another program");
    refused(&program, [&kept[1], &kept[0]], "the tables are party 1's, and this is party 0");
    let form = [&crate::semi_honest::FORM.magic[..], &kept[0][16..]].concat();
    assert!(FORM.magic != &form[..16]);
    refused(&program, [&form, &kept[1]], "does not begin as one of this version");
    let mut key = kept[0].clone();
    key[TablesHead::BYTES as usize] &= !1;
    refused(&program, [&key, &kept[1]], "global key");
    for len in [0, 16, 81, 90, 3000, kept[0].len() - 1] {
        refused(&program, [&kept[0][..len], &kept[1]], "cannot be read");
    }
    refused(&program, [&[&kept[0][..], &[0]].concat(), &kept[1]], "more bytes");
}

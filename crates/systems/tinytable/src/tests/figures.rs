//! The figures: what stands in the tables of all gates, and what goes over the wire.

use comity_channel::{Channel, Counted};
use comity_circuit::{Builder, Program, Recipients, Wire};
use comity_core::{Bits, PartyId, Result};
use comity_gmw::Gmw;
use comity_protocol::{Costing, Job, Options, Party, Protocol, Talk};
use comity_share::bits::BitShares;
use comity_sharing::{BitRows, SharedEngine};
use comity_testing::laws::{Outputs, bits, chain_and_layer, clear, rng};

use super::dealer::Trusted;
use super::{both, online, own, prepared};
use crate::TinyTableSemiHonest;
use crate::boxes::{Boxed, Boxing};
use crate::kept::{Tables, TablesHead};
use crate::masked::{LookUps, MaskedSharing};
use crate::semi_honest::FORM;

/// One gate of this truth table, `G(x, y)` in bit `2x + y`: by its algebraic normal form `k0 + k1 x + k2 y + k3 xy`.
fn normal_form(gate: u32) -> [bool; 4] {
    let at = |x: u32, y: u32| gate >> (2 * x + y) & 1 == 1;
    [at(0, 0), at(0, 0) ^ at(1, 0), at(0, 0) ^ at(0, 1), at(0, 0) ^ at(0, 1) ^ at(1, 0) ^ at(1, 1)]
}

/// A program of one gate with an input of each party, whose output both learn: with a product it is `(x +
/// k2)(y + k1) + k0 + k1 k2`.
fn one_gate(gate: u32) -> Program {
    let [k0, k1, k2, k3] = normal_form(gate);
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 1)[0], b.input("y", 1)[0]);
    let constant = |one: bool| if one { Wire::ONE } else { Wire::ZERO };
    let out = match k3 {
        true => {
            let (x, y) = (b.xor(x, constant(k2)), b.xor(y, constant(k1)));
            let and = b.and(x, y);
            b.xor(and, constant(k0 ^ k1 & k2))
        }
        false => {
            let (x, y) = (if k1 { x } else { Wire::ZERO }, if k2 { y } else { Wire::ZERO });
            let sum = b.xor(x, y);
            b.xor(sum, constant(k0))
        }
    };
    b.output("out", &[out]);
    Program::from_circuit(b.finish()).unwrap().with_recipients(0, Recipients::All).unwrap()
}

/// Figure 2.5: `A[c, d] + B[c, d] = r_o + G(c + r_u, d + r_v)`, for all 16 gates, all masks, and all `c` and `d`.
#[test]
fn the_tables_of_all_gates_are_those_of_the_figure() {
    for gate in 0..16 {
        let program = one_gate(gate);
        let [k0, k1, k2, k3] = normal_form(gate);
        let mut seen = [false; 8];
        for seed in 0.. {
            if !seen.contains(&false) || (seed > 8 && !k3 && seen.iter().filter(|seen| **seen).count() == 4) {
                break;
            }
            assert!(seed < 400, "gate {gate}: {seen:?}");
            let kept = both(seed, |me| prepared(me, &program));
            let (mut masks, mut tables, mut out) = ([false; 2], [[false; 2]; 2], [false; 2]);
            for party in 0..2 {
                let mut from = Tables::new(&FORM, Box::new(&kept[party][TablesHead::BYTES as usize..]));
                masks[party] = from.bits(1).unwrap().get(0);
                if k3 {
                    tables[party] = [(); 2].map(|()| from.bits(1).unwrap().get(0));
                }
                out[party] = from.bits(1).unwrap().get(0);
                from.ended().unwrap();
            }
            let ([r_u, r_v], r_o) = (masks, out[0]);
            assert_eq!(out[1], r_o, "both learn the output, and so its mask");
            assert!(!k3 || tables[0][1] ^ tables[1][1] == r_o, "shares of the output's mask");
            seen[4 * usize::from(r_u) + 2 * usize::from(r_v) + usize::from(r_o)] = true;
            for (c, d) in [(false, false), (false, true), (true, false), (true, true)] {
                let (x, y) = (c ^ k2, d ^ k1);
                // An input's mask is its owner's alone.
                let (u, v) = ([r_u, false], [false, r_v]);
                let entry = |party: usize| tables[party][0] ^ x & v[party] ^ y & u[party] ^ x & y & (party == 0);
                let masked = match k3 {
                    true => entry(0) ^ entry(1) ^ k0 ^ k1 & k2,
                    false => k0 ^ k1 & c ^ k2 & d,
                };
                let (b_u, b_v) = (c ^ r_u, d ^ r_v);
                let value = gate >> (2 * u32::from(b_u) + u32::from(b_v)) & 1 == 1;
                assert_eq!(masked ^ r_o, value, "gate {gate:04b} at ({c}, {d}) under ({r_u}, {r_v}, {r_o})");
            }
        }
        // And so it runs.
        for (x, y) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let values = [x, y].map(|bit| Bits::from_bytes(&[bit], 1));
            let ends = both(x as u128 * 2 + y as u128, |me| {
                let tables = prepared(me, &program);
                online(me, &program, &values, &tables).unwrap().0
            });
            assert!(ends.iter().all(|end| *end == clear(&program, &values)), "gate {gate:04b}({x}, {y})");
        }
    }
}

/// Calls alone and side by side, layers of one gate and of many, an output for one.
fn programs() -> Vec<Program> {
    let one = Program::from_circuit(chain_and_layer(77)).unwrap().with_recipients(0, Recipients::only(1)).unwrap();
    let many = Program::map(chain_and_layer(9), 150, &[]).unwrap();
    vec![one, many]
}

fn values(program: &Program) -> Vec<Bits> {
    program.inputs().iter().map(|input| bits(input.bits, &mut rng(3))).collect()
}

/// Tables of four entries a gate, as in the figures, for a look-up each.
struct Literal<'r> {
    from: Tables<'r>,
    me: PartyId,
    out: BitShares,
    masks: BitShares,
}

impl LookUps for Literal<'_> {
    fn together(slots: usize, times: u64) -> u64 {
        BitRows::together(slots, times)
    }

    fn input(&mut self, value: &Bits) -> Result<Bits> {
        let mut masked = self.from.bits(value.len())?;
        masked.xor_assign(value);
        Ok(masked)
    }

    fn masks(&self) -> &BitShares {
        &self.masks
    }

    fn look_up(
        &mut self,
        ch: &mut dyn Channel,
        [c, d]: [&BitShares; 2],
        [u, v]: [&BitShares; 2],
    ) -> Result<&BitShares> {
        let n = c.len();
        let [t, o] = [(); 2].map(|()| self.from.bits(n).unwrap());
        self.masks = BitShares::from_bytes(&o.to_bytes(), n);
        let first = self.me == PartyId(0);
        let table = |i: usize| {
            [(false, false), (false, true), (true, false), (true, true)]
                .map(|(c, d)| t.get(i) ^ c & v.get(i) ^ d & u.get(i) ^ c & d & first)
        };
        let found: Bits = (0..n).map(|i| table(i)[2 * usize::from(c.get(i)) + usize::from(d.get(i))]).collect();
        let mut theirs = vec![0; n.div_ceil(8)];
        ch.exchange(&found.to_bytes(), &mut theirs)?;
        let mut sum = Bits::from_bytes(&theirs, n);
        sum.xor_assign(&found);
        self.out = BitShares::from_bytes(&sum.to_bytes(), n);
        Ok(&self.out)
    }

    fn unmask(&mut self, _: &mut dyn Channel, to: Recipients, masked: Bits) -> Result<Option<Bits>> {
        Ok(to.includes(self.me).then(|| {
            let mut value = self.from.bits(masked.len()).unwrap();
            value.xor_assign(&masked);
            value
        }))
    }
}

/// What is looked up in tables of four entries is, byte by byte, what is computed of their coefficients.
#[test]
fn literal_tables_send_the_same_bytes() {
    for program in programs() {
        let values = values(&program);
        let kept = both(1, |me| prepared(me, &program));
        let sent = |literal: bool| {
            both(1, |me| {
                let (here, tables) = (me.here, &kept[usize::from(me.me().0)]);
                let ch = comity_channel::Recorded::new(me.net.pair().unwrap().1, 1 << 24);
                let recorder = ch.recorder();
                let mut ch = ch;
                let inputs = own(here.me, &program, &values);
                let mut outputs = Outputs::default();
                if literal {
                    let mut from = Tables::new(&FORM, Box::new(&tables[..]));
                    TablesHead::read(&mut from, program.digest(), here.me).unwrap();
                    let [out, masks] = [(); 2].map(|()| BitShares::default());
                    let look_ups = Literal { from, me: here.me, out, masks };
                    let boxed = Boxed::new(&program, Boxing::Gates);
                    let mut engine = SharedEngine::new(MaskedSharing::new(&mut ch, here, Some(&boxed), look_ups));
                    comity_circuit::run(&program, &mut engine, &inputs, &mut outputs).unwrap();
                } else {
                    let options = Options::new(TinyTableSemiHonest.card());
                    let mut net = comity_channel::Mesh::of_two(here.me, &mut ch as &mut dyn Channel);
                    let job = Job { program: &program, inputs: &inputs, options: &options };
                    let mut party = Party { net: &mut net, here, rng: me.rng, observer: &mut outputs };
                    crate::semi_honest::run_on(&mut party, &job, Box::new(&tables[..])).unwrap();
                }
                ch.flush().unwrap();
                (recorder.recording().sent, outputs.0)
            })
        };
        assert!(sent(true) == sent(false), "{}", program.name());
    }
}

/// The bits of AND layers are half of GMW's, exactly.
#[test]
fn a_layer_of_ands_sends_half_of_what_gmw_sends() {
    for program in programs() {
        let values = values(&program);
        let inputs = |party: u16| -> u64 {
            let own = program.inputs().iter().filter(|input| input.owner.includes(party));
            own.map(|input| input.bits.div_ceil(8) as u64).sum()
        };
        let of_tables = both(1, |me| {
            let party = me.me().0;
            let tables = prepared(me, &program);
            let (learned, sent) = online(me, &program, &values, &tables).unwrap();
            assert_eq!(learned.len(), program.outputs().iter().filter(|output| output.to.includes(party)).count());
            assert!(learned.iter().all(|value| clear(&program, &values).contains(value)));
            sent - inputs(party)
        });
        let of_gmw = both(1, |me| {
            let (here, options) = (me.here, Options::new(Gmw.card()));
            let mut ch = Counted::new(me.net.pair().unwrap().1);
            let own = own(here.me, &program, &values);
            let mut net = comity_channel::Mesh::of_two(here.me, &mut ch as &mut dyn Channel);
            let job = Job { program: &program, inputs: &own, options: &options };
            let dealer = Box::new(Trusted::new(here.backend, 7));
            let mut party = Party { net: &mut net, here, rng: me.rng, observer: &mut () };
            comity_gmw::run_with(&mut party, Some(dealer), &job).unwrap();
            drop(net);
            let to_peer = program.outputs().iter().filter(|output| output.to.includes(here.me.other()));
            // The seed of a stream, and the outputs.
            ch.counts().sent - 16 - to_peer.map(|output| output.bits.div_ceil(8) as u64).sum::<u64>()
        });
        assert_eq!(of_tables.map(|bytes| 2 * bytes), of_gmw, "{}", program.name());
        assert!(of_tables[0] >= program.and_gates() / 8);
    }
}

/// What a plan says is what a run sends, and what a need says is what is kept.
#[test]
fn costs_and_needs_are_exact() {
    let options = Options::new(TinyTableSemiHonest.card());
    for program in programs().into_iter().chain(super::boxes::programs()) {
        let mut talk = Talk::new(2);
        let params = comity_core::Params::default();
        let of = Costing { program: &program, options: &options, params, parties: 2 };
        TinyTableSemiHonest.costs(&of, &mut talk).unwrap();
        let counts = both(1, |me| {
            let (here, values) = (me.here, values(&program));
            let mut ch = Counted::new(me.net.pair().unwrap().1);
            let own = own(here.me, &program, &values);
            let mut net = comity_channel::Mesh::of_two(here.me, &mut ch as &mut dyn Channel);
            let job = Job { program: &program, inputs: &own, options: &options };
            let mut party = Party { net: &mut net, here, rng: me.rng, observer: &mut () };
            TinyTableSemiHonest.run(&mut party, &job, &mut comity_protocol::Empty).unwrap();
            drop(net);
            ch.counts()
        });
        assert!(talk.is_exact());
        for (party, counts) in (0..).map(PartyId).zip(counts) {
            assert_eq!((talk.sent(party), talk.rounds(party)), (counts.sent, counts.rounds), "{}", program.name());
        }
        let need = TinyTableSemiHonest.needs(&program, &options, params).unwrap().remove(0);
        for kept in both(1, |me| prepared(me, &program)) {
            let values = 8 * (program.inputs().len() + program.outputs().len()) as u64 * 300;
            assert!(kept.len() as u64 <= need.bytes && need.bytes <= kept.len() as u64 + values);
        }
    }
}

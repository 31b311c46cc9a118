//! Sums (XOR) of shares among any number of parties: the smallest protocol there is, as an example of one.
//!
//! **Functionality**: secure evaluation of a program without AND gates; each output goes to its recipients.
//!
//! **Adversary**: semi-honest, all parties but one.
//!
//! **Protocol**. A program without ANDs is affine: `f(x) = L x + c`.
//! 1. *Share*: each party splits its inputs into one random share for each party, whose sum they are, and
//!    sends each its own.
//! 2. *Compute*: party 0 computes `f(s_0)` of the shares that it holds, party `i` only `L s_i = f(s_i) + f(0)`.
//! 3. *Open*: each party sends its share of each output to the output's recipients, who add them up.
//!
//! **Cost**: a bit for each input bit and other party, a bit for each output bit and recipient; two flights.

use comity_channel::PerPeer;
use comity_circuit::{Goal, Observer, Plain, Program};
use comity_core::{Bits, PartyId, Prg, Result};
use comity_protocol::{Adversary, Card, CardKind, Corrupt, Costing, Job, Party, Protocol, Supplies, Takes, Talk};

/// The protocol.
pub struct Sum;

static CARD: Card = Card {
    name: "sum",
    kind: CardKind::Protocol,
    paper: "folklore",
    parties: 2..=64,
    adversary: Adversary::SemiHonest,
    corrupt: Corrupt::AllButOne,
    takes: Takes::NoAnds,
    reactive: false,
    goal: Goal::Size,
    offline: &[],
    options: &[],
    phases: &["inputs", "outputs"],
    summary: "sums of shares, for programs without AND gates",
    protects: "a party that follows the protocol learns nothing but its outputs, whatever it computes afterwards",
    risk: "a peer that breaks the rules could make outputs wrong, unnoticed",
    about: "Two flights, a bit a bit. Only XOR, NOT and copies.",
};

impl Protocol for Sum {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        let (inputs, outputs) = (of.program.inputs(), of.program.outputs());
        let bytes = |bits: usize| bits.div_ceil(8) as u64;
        talk.exchange_each(|from, _| {
            inputs.iter().filter(|input| input.owner.party() == Some(from)).map(|input| bytes(input.bits)).sum()
        });
        talk.exchange_each(|_, to| {
            outputs.iter().filter(|output| output.to.includes(to)).map(|output| bytes(output.bits)).sum()
        });
        Ok(())
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        let (here, program) = (me.here, job.program);
        program.check_inputs(Some(here.me), job.inputs)?;
        let (inputs, outputs) = (program.inputs(), program.outputs());
        let of =
            |party: PartyId| inputs.iter().enumerate().filter(move |(_, input)| input.owner.party() == Some(party));

        // Step 1.
        me.observer.phase("inputs");
        let mut shares: Vec<Bits> = inputs.iter().map(|input| Bits::zeros(input.bits)).collect();
        of(here.me).for_each(|(i, _)| shares[i].clone_from(job.inputs[i].as_ref().expect("it was checked")));
        let mut rngs = me.rngs();
        let dealt = PerPeer::new(here.me, here.parties, |peer| {
            let random = of(here.me).flat_map(|(i, input)| {
                let share = random(input.bits, &mut rngs[peer]);
                shares[i].xor_assign(&share);
                share.to_bytes()
            });
            random.collect::<Vec<u8>>()
        });
        let bytes = |bits: usize| bits.div_ceil(8);
        let sizes = |peer| of(peer).map(|(_, input)| bytes(input.bits)).sum();
        let mut got = PerPeer::new(here.me, here.parties, |peer| vec![0; sizes(peer)]);
        me.net.exchange(&dealt, &mut got)?;
        for (peer, got) in got.iter() {
            let mut rest = &got[..];
            for (i, input) in of(peer) {
                let (share, more) = rest.split_at(bytes(input.bits));
                (shares[i], rest) = (Bits::from_bytes(share, input.bits), more);
            }
        }

        // Step 2.
        let mut values = compute(program, shares)?;
        if here.me != PartyId(0) {
            let constants = compute(program, inputs.iter().map(|input| Bits::zeros(input.bits)).collect())?;
            values.iter_mut().zip(&constants).for_each(|(value, constant)| value.xor_assign(constant));
        }

        // Step 3.
        me.observer.phase("outputs");
        let to = |party: PartyId| outputs.iter().enumerate().filter(move |(_, output)| output.to.includes(party));
        let shown = PerPeer::new(here.me, here.parties, |peer| {
            to(peer).flat_map(|(i, _)| values[i].to_bytes()).collect::<Vec<u8>>()
        });
        let size = to(here.me).map(|(_, output)| bytes(output.bits)).sum();
        let mut seen = PerPeer::new(here.me, here.parties, |_| vec![0; size]);
        me.net.exchange(&shown, &mut seen)?;
        let mut at = 0;
        for (i, output) in to(here.me) {
            let end = at + bytes(output.bits);
            for (_, seen) in seen.iter() {
                values[i].xor_assign(&Bits::from_bytes(&seen[at..end], output.bits));
            }
            me.observer.output(i, values[i].clone());
            at = end;
        }
        Ok(())
    }
}

fn random(bits: usize, rng: &mut Prg) -> Bits {
    let mut bytes = vec![0; bits.div_ceil(8)];
    rand_core::Rng::fill_bytes(rng, &mut bytes);
    Bits::from_bytes(&bytes, bits)
}

/// The program on these values, in the clear.
fn compute(program: &Program, values: Vec<Bits>) -> Result<Vec<Bits>> {
    struct Outputs(Vec<Bits>);
    impl Observer for Outputs {
        fn output(&mut self, _: usize, value: Bits) {
            self.0.push(value);
        }
    }
    let (mut outputs, values) = (Outputs(Vec::new()), values.into_iter().map(Some).collect::<Vec<_>>());
    comity_circuit::run(program, &mut Plain::new(), &values, &mut outputs)
        .map_err(|e| comity_core::Error::invalid_input(e.to_string()))?;
    Ok(outputs.0)
}

//! What a run would cost, before it: bytes, rounds and time by protocol.

use comity_channel::NetProfile;
use comity_channel::hello::WIRE_BYTES;
use comity_circuit::Program;
use comity_core::{Error, Params, PartyId, Result};
use comity_protocol::{Card, Costing, Need, Options, Outline, Protocol, Talk};

use crate::protocol::{fits, set};
use crate::shares::Form;

/// The cost of a run among a number of parties.
#[derive(Clone, Debug)]
pub struct RunCost {
    /// The protocol's card.
    pub card: &'static Card,
    /// The bytes that each party sends to all others.
    pub sent: Vec<u64>,
    /// The rounds of each party, as its report has them.
    pub rounds: Vec<u64>,
    /// Whether bytes and rounds are exactly those of a run; else they are within ten per cent.
    pub exact: bool,
    /// The materials that a run from a store uses up; empty if the protocol makes nothing ahead.
    pub materials: Vec<Need>,
    /// The longest chain of messages that wait for each other.
    pub delays: u64,
    /// Seconds of work, on one core of a machine with AES instructions.
    pub work: f64,
}

impl RunCost {
    /// The plan of a run of this program by the protocol, with these options by name; options that are left
    /// out follow from the program. Advice in errors names protocols of the list `protocols`, usually
    /// [`PROTOCOLS`](crate::PROTOCOLS).
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the protocol cannot run the program among `parties` parties, or
    /// an option belongs to another protocol.
    pub fn new(
        protocols: &'static [&'static dyn Protocol],
        protocol: &dyn Protocol,
        program: &Program,
        parties: u16,
        params: Params,
        options: &[(String, String)],
    ) -> Result<RunCost> {
        let card = protocol.card();
        let (form, settled) = settled(protocols, protocol, program, parties, params, options)?;
        let program = form.program();
        let mut talk = Talk::new(parties);
        talk.exchange(WIRE_BYTES as u64);
        if parties > 2 {
            // The echo of all hellos.
            talk.exchange(32);
        }
        protocol.costs(&Costing { program, options: &settled, params, parties }, &mut talk)?;
        let each = || (0..parties).map(PartyId);
        Ok(RunCost {
            card,
            sent: each().map(|party| talk.sent(party)).collect(),
            rounds: each().map(|party| talk.rounds(party)).collect(),
            exact: talk.is_exact(),
            materials: match card.offline {
                [] => Vec::new(),
                _ => protocol.needs(program, &settled, params).unwrap_or_default(),
            }
            .into_iter()
            .map(|need| Need { bytes: protocol.stored_bytes(&need, parties), ..need })
            .collect(),
            delays: talk.delays(),
            work: talk.seconds(),
        })
    }

    /// What a run of this program makes of its operations, for a protocol that computes in several forms; `None` for
    /// others.
    ///
    /// # Errors
    /// As [`RunCost::new`].
    pub fn outline(
        protocols: &'static [&'static dyn Protocol],
        protocol: &dyn Protocol,
        program: &Program,
        parties: u16,
        params: Params,
        options: &[(String, String)],
    ) -> Result<Option<Outline>> {
        let (form, settled) = settled(protocols, protocol, program, parties, params, options)?;
        protocol.outline(&Costing { program: form.program(), options: &settled, params, parties })
    }

    /// The plans of all protocols of a list that can run the program among `parties` parties, in its order.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if no protocol can.
    pub fn all(
        protocols: &'static [&'static dyn Protocol],
        program: &Program,
        parties: u16,
        params: Params,
    ) -> Result<Vec<RunCost>> {
        let plan = |protocol: &&dyn Protocol| RunCost::new(protocols, *protocol, program, parties, params, &[]).ok();
        let plans: Vec<RunCost> = protocols.iter().filter_map(plan).collect();
        match plans.is_empty() {
            true => Err(Error::invalid_input(format!(
                "no protocol here can run `{}` among {parties} parties",
                program.name()
            ))),
            false => Ok(plans),
        }
    }

    /// The bytes that all parties send.
    pub fn bytes(&self) -> u64 {
        self.sent.iter().sum()
    }

    /// The seconds that a run takes on such a network: its delays, and the longer of the times for its work
    /// and for its bytes, which overlap.
    pub fn seconds(&self, network: &NetProfile) -> f64 {
        let busiest = self.sent.iter().copied().max().unwrap_or(0);
        let transfer = busiest as f64 * 8.0 / network.bits_per_second as f64;
        self.delays as f64 * network.round_trip.as_secs_f64() / 2.0 + transfer.max(self.work)
    }
}

/// The form of the program that the protocol runs, and its options.
fn settled<'p>(
    protocols: &'static [&'static dyn Protocol],
    protocol: &dyn Protocol,
    program: &'p Program,
    parties: u16,
    params: Params,
    options: &[(String, String)],
) -> Result<(Form<'p>, Options)> {
    let card = protocol.card();
    fits(protocols, card, parties, Some(program))?;
    let form = Form::of(program, card, parties)?;
    let mut settled = set(protocols, card, PartyId(0), options)?;
    protocol.fits_parties(parties, &settled)?;
    protocol.settle(&mut settled, form.program());
    protocol.fits(form.program(), &settled, params)?;
    Ok((form, settled))
}

//! The protocol as comity's front knows it.

use comity_circuit::Goal;
use comity_core::{Error, PartyId, Result};
use comity_gmw::dealers::BitDealer;
use comity_gmw::{costs_on, run_with};
use comity_protocol::{
    Adversary, Card, CardKind, Corrupt, Costing, Default, Job, Opt, Options, Party, Protocol, Supplies, Takes, Talk,
    Values,
};

use crate::dealers::{HOLDER, HolderTriples, PartnerTriples};
use crate::line::TokenLine;
use crate::messages::SeedLetter;
use crate::token::{MemoryToken, TokenAccess};

/// GMW on triples from a token, whole: see the [crate](crate).
pub struct GmwToken;

/// The option that says where the token is.
const TOKEN: &str = "token";

/// The option that says which token, or whose.
const TOKEN_KEY: &str = "token-key";

static CARD: Card = Card {
    name: "gmw-token",
    kind: CardKind::Protocol,
    paper: "PRACTICE deliverable D13.3 (2016), section 3.4, after Demmler, Schneider, Zohner: Ad-Hoc Secure Two-Party Computation on Mobile \
            Devices using Hardware Tokens (USENIX Security 2014)",
    parties: 2..=16,
    adversary: Adversary::SemiHonest,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Shares,
    reactive: false,
    goal: Goal::Depth,
    offline: &[],
    options: &[
        Opt {
            name: TOKEN,
            values: Values::Place("memory"),
            default: Default::Wanted("memory"),
            agreed: false,
            about: "Party 0: its token (`comity token serve`): the path of its socket, with a slash, or its address, which is called \
                    by TLS; or `memory` for one in its own process, which protects nobody from party 0",
        },
        Opt {
            name: TOKEN_KEY,
            values: Values::Key("any"),
            default: Default::Wanted("any"),
            agreed: false,
            about: "Every other party: the fingerprint of party 0's token, or of the issuer that certified it, or `any`, which trusts \
                    party 0. Party 0: that of its own token, which it then checks (and has to say if it calls it by TLS)",
        },
    ],
    phases: &["setup", "offline", "inputs", "gates", "outputs"],
    summary: "GMW on triples from a token of party 0 that all trust, for two to sixteen parties",
    protects: "parties that follow the protocol learn nothing but their outputs, also together, as long as the token is what it should be",
    risk: "all parties trust the token: whoever controls it learns all inputs; and a peer that breaks the rules \
           could learn inputs, or make outputs wrong, unnoticed",
    about: "No oblivious transfer: a token at party 0 makes the triples, and each other party gets a sealed seed of 16 bytes for a million of \
            them, as AND gates need them; then half a byte an AND, and a round for each layer, as in gmw. For whom the time from the first word \
            to the result counts, and who trusts one maker of tokens.",
};

impl Protocol for GmwToken {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn fits_party(&self, me: PartyId, options: &Options) -> Result<()> {
        match me == HOLDER {
            true if !options.is_set(TOKEN) => Err(Error::invalid_input(
                "party 0 of gmw-token has the token: say where it is (--token PATH, the socket of `comity token serve`)",
            )),
            false if !options.is_set(TOKEN_KEY) => Err(Error::invalid_input(format!(
                "party {me} of gmw-token has to know the token of party 0: say its fingerprint, or its issuer's (--token-key FINGERPRINT)"
            ))),
            _ => Ok(()),
        }
    }

    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        let dealer = |talk: &mut Talk, triples: u64| {
            let others = || (1..of.parties).map(PartyId);
            others().for_each(|party| talk.say(party, HOLDER, 32));
            others().for_each(|party| talk.say(HOLDER, party, SeedLetter::BYTES as u64));
            talk.work(SEAL * f64::from(of.parties) + TRIPLE * triples as f64);
        };
        costs_on(of, &dealer, talk);
        Ok(())
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        self.fits_party(me.me(), job.options)?;
        let mut me = me.sub("gmw-token");
        me.observer.phase("setup");
        let known = from.helper_key();
        let dealer: Box<BitDealer<'_>> = if me.me() == HOLDER {
            let token: Box<dyn TokenAccess + '_> = match (job.options.text(TOKEN), from.helper()) {
                (None, _) => Box::new(MemoryToken::new(me.here.backend, me.rng)),
                (Some(_), Some(line)) => Box::new(TokenLine::new(line)),
                (Some(place), None) => {
                    return Err(Error::invalid_input(format!(
                        "the token at {place} is not connected: this run was given no line to it"
                    )));
                }
            };
            Box::new(HolderTriples::new(&me.sub("dealer"), token).knowing(known))
        } else {
            let known = match (job.options.text(TOKEN_KEY), known) {
                (None, _) => None,
                (Some(_), Some(known)) => Some(known),
                (Some(text), None) => {
                    return Err(Error::invalid_input(format!("`{text}` is not the fingerprint of a key")));
                }
            };
            Box::new(PartnerTriples::new(&mut me.sub("dealer"), known))
        };
        run_with(&mut me, Some(dealer), job)
    }
}

/// Seconds of work for a sealed seed, and for a triple at the party that has most.
const SEAL: f64 = 2e-4;
const TRIPLE: f64 = 1e-9;

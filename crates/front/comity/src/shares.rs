//! Values in shares: what comes in from other runs, and what goes out to them.
//!
//! Every share has a [tag](ValueShare::tag), which follows from the session that gave it: all who agreed on
//! it have the same. The tags of what comes in are a field of the hello, so that shares that do not belong
//! together are found out before anything is computed on them.
//!
//! A protocol whose engine has no shares runs the program [without them](comity_circuit::Unshared).

use comity_circuit::{Owner, Program, Recipients, Type, Unshared};
use comity_core::{Bits, Error, PartyId, Result, SessionId};
use comity_format::ValueShare;
use comity_protocol::{Adversary, Card, Takes};

use crate::session::Session;

/// Tags that a hello shows; the digest is of all.
const SHOWN: usize = 3;

/// A program as a protocol runs it.
pub(crate) enum Form<'p> {
    /// As it is.
    Same(&'p Program),
    /// The program has shared values, and the protocol's engine has no shares.
    Without(Box<Unshared>),
}

impl<'p> Form<'p> {
    /// The form of a program that the protocol of this card runs among `parties` parties.
    pub(crate) fn of(program: &'p Program, card: &Card, parties: u16) -> Result<Form<'p>> {
        match card.takes {
            Takes::Any | Takes::NoAnds if program.check_plain().is_err() => {
                let unshared = program.unshared(parties).map_err(|e| Error::invalid_input(e.to_string()))?;
                Ok(Form::Without(Box::new(unshared)))
            }
            _ => Ok(Form::Same(program)),
        }
    }

    /// The program that runs.
    pub(crate) fn program(&self) -> &Program {
        match self {
            Form::Same(program) => program,
            Form::Without(unshared) => unshared.program(),
        }
    }
}

impl Session<'_> {
    /// This party's shares of the values that come in so, with which the inputs are complete.
    pub(crate) fn put_in(&self, program: &Program, given: &mut [Option<Bits>]) -> Result<()> {
        for (index, (input, value)) in program.inputs().iter().zip(given.iter()).enumerate() {
            let (name, here) = (&input.name, self.shares.iter().any(|(of, _)| *of == index));
            let wrong = match (input.owner == Owner::Shared, value.is_some(), here) {
                (true, true, _) => "comes in as shares, and a plain value is given",
                (false, _, true) => "belongs to one party, and a share is given",
                (true, false, false) if input.bits > 0 => "comes in as shares, and this party's is missing",
                _ => continue,
            };
            return Err(Error::invalid_input(format!("input {index} (`{name}`) {wrong}")));
        }
        for (index, share) in &self.shares {
            let there = program.inputs().len();
            let Some(input) = program.inputs().get(*index) else {
                return Err(Error::invalid_input(format!("there is no input {index}: the program has {there}")));
            };
            let title = format!("input {index} (`{}`)", input.name);
            if (share.party, share.parties) != (self.me, self.parties()) {
                return Err(Error::invalid_input(format!(
                    "{title}: the share belongs to party {} of {}, and this side is party {} of {}",
                    share.party,
                    share.parties,
                    self.me,
                    self.parties()
                )));
            }
            let (bits, untyped) = (share.share.len(), Type::Bits(share.share.len()).to_string());
            let named = |ty: &str| ty != untyped;
            let ty = input.ty.to_string();
            if bits != input.bits || (named(&ty) && named(&share.ty) && ty != share.ty) {
                return Err(Error::invalid_input(format!(
                    "{title} has the type {ty} ({} bits), and the share is of {} ({bits} bits)",
                    input.bits, share.ty
                )));
            }
            if given[*index].replace(share.share.clone()).is_some() {
                return Err(Error::invalid_input(format!("{title} is given twice")));
            }
        }
        Ok(())
    }

    /// The values whose shares a party that cheats could have changed unseen; refused unless they were asked for.
    pub(crate) fn unauthenticated(&self, card: &Card, program: &Program) -> Result<Vec<usize>> {
        let inputs = program.inputs().iter().enumerate();
        let shared: Vec<_> = inputs.filter(|(_, input)| input.owner == Owner::Shared).collect();
        match shared.first() {
            Some((index, input)) if card.adversary == Adversary::Malicious && !self.unauthenticated_shares => {
                Err(Error::invalid_input(format!(
                    "input {index} (`{}`) comes in as shares, which have no MACs: even under {} a party could flip \
                        bits of the value unseen. Add --unauthenticated-shares to take them all the same",
                    input.name, card.name
                )))
            }
            _ if card.adversary == Adversary::Malicious => Ok(shared.iter().map(|(index, _)| *index).collect()),
            _ => Ok(Vec::new()),
        }
    }

    /// The tags of the shared inputs, as the hello has them; `None` if there are no such inputs.
    pub(crate) fn tags(&self) -> Option<String> {
        let mut shares: Vec<&(usize, ValueShare)> = self.shares.iter().collect();
        shares.sort_by_key(|(index, _)| *index);
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let shown = shares.iter().take(SHOWN).map(|(index, share)| format!("{index}:{}..", hex(&share.tag[..4])));
        let all: Vec<u8> =
            shares.iter().flat_map(|(index, share)| [&index.to_le_bytes()[..], &share.tag].concat()).collect();
        let digest = SessionId::derive("tags of shares", &[&all]).to_bytes();
        (!shares.is_empty()).then(|| format!("{} (digest {})", shown.collect::<Vec<_>>().join(" "), hex(&digest[..16])))
    }
}

/// This party's shares of the values that go out so, taken out of the outputs.
pub(crate) fn go_out(
    program: &Program,
    session: &SessionId,
    (party, parties): (PartyId, u16),
    outputs: &mut Vec<(usize, Bits)>,
) -> Vec<(usize, ValueShare)> {
    let shared = |index: usize| program.outputs()[index].to == Recipients::Shared;
    let out = outputs.extract_if(.., |(index, _)| shared(*index)).map(|(index, share)| {
        let ty = program.outputs()[index].ty.to_string();
        let place = [parties.to_le_bytes().to_vec(), index.to_le_bytes().to_vec()].concat();
        let tag = SessionId::derive("shared value", &[&session.to_bytes(), &place, ty.as_bytes()]).to_bytes();
        (index, ValueShare { tag, party, parties, ty, share })
    });
    let mut out: Vec<_> = out.collect();
    out.sort_by_key(|(index, _)| *index);
    out
}

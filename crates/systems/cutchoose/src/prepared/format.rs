//! The bytes that open a batch, and those of secrets: what both sides write and read alike.

use std::io::{Read, Write};

use comity_core::{Block, Params, PartyId, Result, SessionId};
use zeroize::Zeroizing;

use super::FORM;
use crate::copies::CopySecret;

/// The head of a batch, at either side.
pub(super) struct Head {
    /// The session of the offline phase.
    pub(super) session: SessionId,
    /// The digest of the program.
    pub(super) program: [u8; 32],
    /// The party whose batch it is.
    pub(super) party: PartyId,
    pub(super) garbler: PartyId,
    pub(super) params: Params,
}

impl Head {
    pub(super) fn write(&self, to: &mut dyn Write) -> Result<()> {
        FORM.begin(to)?;
        FORM.put(to, &self.session.to_bytes())?;
        FORM.put(to, &self.program)?;
        FORM.put(to, &[self.party.0 as u8, self.garbler.0 as u8, self.params.rho as u8])
    }

    pub(super) fn read(from: &mut dyn Read) -> Result<Head> {
        let (mut session, mut program, mut rest) = ([0; 32], [0; 32], [0; 3]);
        FORM.begins(from)?;
        FORM.take(from, &mut session)?;
        FORM.take(from, &mut program)?;
        FORM.take(from, &mut rest)?;
        let [party, garbler, rho] = rest;
        let [party, garbler] = [party, garbler].map(|party| PartyId(party.into()));
        Ok(Head { session: SessionId::new(session), program, party, garbler, params: Params::new(128, rho.into())? })
    }
}

/// Writes secrets of copies.
pub(super) fn put_secrets(to: &mut dyn Write, secrets: &[CopySecret]) -> Result<()> {
    FORM.put_blocks(to, &Zeroizing::new(secrets.iter().map(|secret| secret.0).collect::<Vec<_>>()))
}

/// Reads secrets of copies.
pub(super) fn take_secrets(from: &mut dyn Read, n: usize) -> Result<Vec<CopySecret>> {
    let mut blocks = Zeroizing::new(vec![Block::ZERO; n]);
    FORM.take_blocks(from, &mut blocks)?;
    Ok(blocks.iter().map(|&block| CopySecret(block)).collect())
}

//! Both parties of the conversation. Numbers are the steps in the [module](super).

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Commitment, Opening, Result, SessionId, commit, declassify, verdict};
use comity_garble::Readable;
use comity_ot::base::csw::Csw;
use comity_ot::committing;
use comity_protocol::Conduct;
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::gates::{Garbling, evaluate};
use super::hash::HashKey;
use crate::checks;
use crate::statement::Statement;

/// The label of the prover's commitment.
const OUTPUTS: &str = "prover: labels of the outputs";

/// An act of the verifier: something that is about to be used or sent.
#[cfg_attr(not(test), allow(dead_code, reason = "read by the liars of the tests"))]
pub(crate) enum VerifierAct<'a> {
    /// The labels of the secret bits, as they go into the OTs.
    Labels(&'a mut [[Block; 2]]),
    /// Tables.
    Tables(&'a mut [u8]),
    /// The seed, as it is opened.
    Seed(&'a mut Block),
}

/// An act of the prover: something that is about to be used or sent.
#[cfg_attr(not(test), allow(dead_code, reason = "read by the liars of the tests"))]
pub(crate) enum ProverAct<'a> {
    /// The hash of the outputs' labels, which is committed to.
    Outputs(&'a mut [u8; 32]),
    /// The opening of the commitment: the hash and the salt.
    Opening(&'a mut [u8; 64]),
}

/// The session of a proof: of this statement, in this session.
pub(super) fn session_of(session: &SessionId, statement: &Statement) -> SessionId {
    SessionId::derive("comity zk garbled v1", &[&session.to_bytes(), statement.digest()])
}

/// The prover. `secret` are all secret bits; they must make the statement true.
pub(crate) fn prove<S: Readable>(
    (ch, session): (&mut dyn Channel, &SessionId),
    backend: Backend,
    statement: &Statement,
    secret: &Bits,
    rng: &mut dyn CryptoRng,
    conduct: &mut dyn for<'a> Conduct<ProverAct<'a>>,
) -> Result<()> {
    let session = session_of(session, statement);
    // Step 2: the labels of this party's bits, then the tables, which are hashed on their way.
    let mut ot = committing::Receiver::setup::<Csw>(ch, &session.child("OT"), backend, rng)?;
    let labels = Zeroizing::new(ot.receive(ch, Block::BYTES, secret)?);
    let labels: Zeroizing<Vec<Block>> =
        Zeroizing::new(labels.iter().map(|label| Block::new(core::array::from_fn(|i| label[i]))).collect());
    let key = HashKey::random(backend, rng);
    let mut received = key.begin();
    let mut outputs = evaluate::<S>(backend, &session, statement, &labels, &mut |tables| {
        ch.recv(tables)?;
        received.add_bytes(tables)
    })?;
    // Step 3: whatever it is.
    conduct.before(ProverAct::Outputs(&mut outputs));
    let (commitment, salt) = commit(session, OUTPUTS, &outputs, rng);
    ch.send(&commitment.to_bytes())?;
    // Step 4.
    let mut seed = [0; Block::BYTES];
    ch.recv(&mut seed)?;
    let pairs = Zeroizing::new(ot.open(ch)?);
    // Step 5. Both labels of each bit, and all tables: nothing here depends on the witness.
    let mut garbling = Garbling::<S>::new(backend, &session, statement, Block::new(seed));
    let same =
        garbling.pairs().iter().zip(&*pairs).all(|(ours, theirs)| {
            ours.iter().zip(theirs).all(|(ours, theirs)| verdict(ours.to_bytes()[..].ct_eq(theirs)))
        });
    if !same {
        return Err(checks::WRONG_LABELS.into());
    }
    let mut made = key.begin();
    garbling.run(&session, statement, &mut |tables| made.add_bytes(tables))?;
    if declassify(made.finish() != received.finish(), "the verifier sees whether its tables are right") {
        return Err(checks::WRONG_TABLES.into());
    }
    let mut opening = [0; 64];
    opening[..32].copy_from_slice(&outputs);
    opening[32..].copy_from_slice(&salt.to_bytes());
    conduct.before(ProverAct::Opening(&mut opening));
    ch.send(&opening)?;
    ch.flush()
}

/// The verifier.
///
/// # Errors
/// [`OTHER_OUTPUTS`](checks::OTHER_OUTPUTS), [`WRONG_COMMITMENT`](checks::WRONG_COMMITMENT); those of the OT
/// and of the channel.
pub(crate) fn verify<S: Readable>(
    (ch, session): (&mut dyn Channel, &SessionId),
    backend: Backend,
    statement: &Statement,
    rng: &mut dyn CryptoRng,
    conduct: &mut dyn for<'a> Conduct<VerifierAct<'a>>,
) -> Result<()> {
    let session = session_of(session, statement);
    // Step 1.
    let mut seed = Block::random(rng);
    let mut garbling = Garbling::<S>::new(backend, &session, statement, seed);
    // Step 2: all OTs before the first table.
    let mut ot = committing::Sender::setup::<Csw>(ch, &session.child("OT"), backend, rng)?;
    let mut pairs = garbling.pairs();
    conduct.before(VerifierAct::Labels(&mut pairs));
    let messages: Zeroizing<Vec<[[u8; 16]; 2]>> =
        Zeroizing::new(pairs.iter().map(|pair| pair.map(Block::to_bytes)).collect());
    ot.send(ch, Block::BYTES, &messages)?;
    let mut sent = Vec::new();
    let expected = garbling.run(&session, statement, &mut |tables| {
        sent.clear();
        sent.extend_from_slice(tables);
        conduct.before(VerifierAct::Tables(&mut sent));
        ch.send(&sent)
    })?;
    // Step 3.
    let mut commitment = [0; Commitment::BYTES];
    ch.recv(&mut commitment)?;
    // Step 4.
    conduct.before(VerifierAct::Seed(&mut seed));
    ch.send(&seed.to_bytes())?;
    ot.open(ch)?;
    // Step 6.
    let mut opening = [0; 64];
    ch.recv(&mut opening)?;
    let [outputs, salt] = [0, 32].map(|at| core::array::from_fn(|i| opening[at + i]));
    if !Commitment::new(commitment).verify(session, OUTPUTS, &outputs, &Opening::new(salt)) {
        return Err(checks::WRONG_COMMITMENT.into());
    }
    if verdict(outputs.ct_eq(&expected)) { Ok(()) } else { Err(checks::OTHER_OUTPUTS.into()) }
}

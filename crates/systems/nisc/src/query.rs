//! `Query`, the receiver's message, and `Secret`, what the receiver keeps to open the answers (Figure 2).
//!
//! The secret is a seed for either kind of OT and the input; it makes the query again. A refreshed secret has
//! another seed for the circuit OTs, and so another set of checked copies; the input OTs and the CRS stay.

use std::sync::{Arc, OnceLock};

use comity_circuit::Program;
use comity_core::{Backend, Bits, Block, Error, PartyId, Prg, Result, declassify};
use comity_garble::lockstep::{CopyChoice, joined};
use comity_ot::base::pvw::{self, Crs, products};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::files::{FileKind, Header, VERSION, seal, unseal};
use crate::group::note;
use crate::plan::{AnswerPlan, Copies};

/// Bytes of an OT in a query.
pub(crate) const QUERY_BYTES: usize = 64;

/// The receiver's message: public, for any number of senders.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Query {
    id: [u8; 32],
    epoch: u32,
    copies: Copies,
    program: [u8; 32],
    pub(crate) inputs: pvw::Query,
    pub(crate) circuits: pvw::Query,
    bits: usize,
}

impl Query {
    /// Bytes besides the OTs.
    pub(crate) const FIXED: usize = Header::BYTES + 32 + 4 + crate::files::CHECKSUM;

    /// The query with these bytes. [`respond`](crate::respond()) checks its points before it writes anything.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if the bytes are not a query, or are damaged, or have another
    /// version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Query> {
        let (Header { copies, program }, body) = unseal(FileKind::Query, bytes)?;
        let wrong = || Error::malformed(format!("a query of {} bytes ends inside an OT", bytes.len()));
        let (id, rest) = body.split_first_chunk().ok_or_else(wrong)?;
        let (epoch, ots) = rest.split_first_chunk().ok_or_else(wrong)?;
        let circuits = copies.total() * QUERY_BYTES;
        let inputs = ots.len().checked_sub(circuits).filter(|rest| rest % QUERY_BYTES == 0).ok_or_else(wrong)?;
        let (inputs, circuits) = ots.split_at(inputs);
        let bits = inputs.len() / QUERY_BYTES;
        Ok(Query {
            id: *id,
            epoch: u32::from_le_bytes(*epoch),
            copies,
            program,
            inputs: pvw::Query::from_bytes(inputs, bits)?,
            circuits: pvw::Query::from_bytes(circuits, copies.total())?,
            bits,
        })
    }

    /// The bytes of the message.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Header { copies: self.copies, program: self.program }.to_bytes(FileKind::Query);
        bytes.extend_from_slice(&self.id);
        bytes.extend_from_slice(&self.epoch.to_le_bytes());
        bytes.extend(self.inputs.to_bytes());
        bytes.extend(self.circuits.to_bytes());
        seal(bytes)
    }

    /// The hash of the message: answers are bound to it, and people can compare it.
    pub fn fingerprint(&self) -> [u8; 32] {
        blake3::derive_key("comity NISC: the fingerprint of a query", &self.to_bytes())
    }

    /// The digest of the program.
    pub fn program(&self) -> &[u8; 32] {
        &self.program
    }

    /// The copies of the garbled circuit.
    pub fn copies(&self) -> Copies {
        self.copies
    }

    /// The id that all refreshed forms of the query have in common.
    pub fn id(&self) -> &[u8; 32] {
        &self.id
    }

    /// The number of times that the query was refreshed.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The bits of the receiver's input.
    pub fn input_bits(&self) -> usize {
        self.bits
    }

    /// The CRS of the query's OTs.
    pub(crate) fn crs(&self) -> Crs {
        crs(&self.id)
    }
}

/// The CRS of a query: it belongs to its id alone.
fn crs(id: &[u8; 32]) -> Crs {
    Crs::new(&[&b"comity NISC"[..], &VERSION.to_le_bytes(), id].concat())
}

/// The secret that opens the answers to a query. Whoever has it knows the receiver's input.
#[derive(ZeroizeOnDrop)]
pub struct Secret {
    #[zeroize(skip)]
    id: [u8; 32],
    #[zeroize(skip)]
    epoch: u32,
    #[zeroize(skip)]
    copies: Copies,
    #[zeroize(skip)]
    program: [u8; 32],
    x: Bits,
    /// The seed of the input OTs.
    inputs: Block,
    /// The seed of the choice of checked copies and of the circuit OTs.
    circuits: Block,
    /// The CRS, once it was wanted: its tables take longer than much of what an answer takes.
    #[zeroize(skip)]
    crs: OnceLock<Crs>,
    /// The receivers, once they were wanted: the same for every answer, and four multiplications an OT. They
    /// wipe themselves.
    #[zeroize(skip)]
    receivers: OnceLock<Arc<Receivers>>,
}

/// The receiver of the OTs of a query.
pub(crate) struct Receivers {
    pub(crate) crs: Crs,
    pub(crate) choice: CopyChoice,
    pub(crate) inputs: pvw::Receiver,
    pub(crate) circuits: pvw::Receiver,
    pub(crate) query: Query,
}

impl Secret {
    /// The secret in these bytes.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if the bytes are not such a secret, or are damaged, or have another
    /// version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Secret> {
        let (Header { copies, program }, body) = unseal(FileKind::Key, bytes)?;
        let wrong = || Error::malformed("the key of a query does not have the length that it says");
        let (id, rest) = body.split_first_chunk().ok_or_else(wrong)?;
        let (epoch, rest) = rest.split_first_chunk().ok_or_else(wrong)?;
        let (inputs, rest) = rest.split_first_chunk().ok_or_else(wrong)?;
        let (circuits, rest) = rest.split_first_chunk().ok_or_else(wrong)?;
        let (bits, x) = rest.split_first_chunk().ok_or_else(wrong)?;
        let bits = usize::try_from(u64::from_le_bytes(*bits)).map_err(|_| wrong())?;
        if x.len() != bits.div_ceil(8) {
            return Err(wrong());
        }
        Ok(Secret {
            id: *id,
            epoch: u32::from_le_bytes(*epoch),
            copies,
            program,
            x: Bits::from_bytes(x, bits),
            inputs: Block::new(*inputs),
            circuits: Block::new(*circuits),
            crs: OnceLock::new(),
            receivers: OnceLock::new(),
        })
    }

    /// The bytes to keep.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Header { copies: self.copies, program: self.program }.to_bytes(FileKind::Key);
        let x = Zeroizing::new(self.x.to_bytes());
        // Room for all, so that no outgrown copy is left behind.
        bytes.reserve_exact(32 + 4 + 16 + 16 + 8 + x.len() + crate::files::CHECKSUM);
        bytes.extend_from_slice(&self.id);
        bytes.extend_from_slice(&self.epoch.to_le_bytes());
        bytes.extend_from_slice(&self.inputs.to_bytes());
        bytes.extend_from_slice(&self.circuits.to_bytes());
        bytes.extend_from_slice(&(self.x.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&x);
        Zeroizing::new(seal(bytes))
    }

    /// This secret with the tables that `other` has computed, where they are of use to this one.
    #[doc(hidden)]
    pub fn with_tables_of(mut self, other: &Secret) -> Secret {
        if self.id == other.id {
            self.crs = other.crs.clone();
        }
        if bool::from(self.to_bytes().ct_eq(&other.to_bytes())) {
            self.receivers = other.receivers.clone();
        }
        self
    }

    /// The query whose answers this secret opens.
    pub fn query(&self) -> Query {
        self.receivers(Backend::detect()).query.clone()
    }

    /// The secret of a new first message for the same input: `t` fresh circuit OTs and a new choice of
    /// checked copies. It must be made as soon as anybody may have learned a result, or that an answer was
    /// refused (AMPR14, section 1.2: a refused cheat in one copy tells its sender whether that copy is
    /// checked, and many cheats tell the whole choice). Answers to the earlier query do not open with it.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) after 2^32 refreshes.
    pub fn refresh(&self, rng: &mut dyn CryptoRng) -> Result<Secret> {
        let spent = || Error::invalid_input("this key was refreshed 2^32 times: publish a new query");
        let epoch = self.epoch.checked_add(1).ok_or_else(spent)?;
        let Secret { id, copies, program, inputs, .. } = *self;
        let (x, crs) = (self.x.clone(), self.crs.clone());
        let (circuits, receivers) = (Block::random(rng), OnceLock::new());
        Ok(Secret { id, epoch, copies, program, x, inputs, circuits, crs, receivers })
    }

    /// The digest of the program.
    pub fn program(&self) -> &[u8; 32] {
        &self.program
    }

    /// The copies of the garbled circuit.
    pub fn copies(&self) -> Copies {
        self.copies
    }

    /// The number of times that the query was refreshed.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The copies that are evaluated, in order. The receiver needs them if the copies are stored. Nobody who
    /// could send an answer may learn them.
    pub fn evaluated(&self) -> Zeroizing<Vec<usize>> {
        Zeroizing::new(std::mem::take(&mut self.choose(Backend::detect()).0.evaluated))
    }

    /// The choice of copies, and the randomness after it.
    fn choose(&self, backend: Backend) -> (CopyChoice, Prg) {
        let mut rng = Prg::new(backend, self.circuits);
        (self.copies.choose(&mut rng), rng)
    }

    /// The receiver's input, one value after another.
    pub(crate) fn input(&self) -> &Bits {
        &self.x
    }

    /// The receivers of both kinds of OT, as they were when the query was made.
    pub(crate) fn receivers(&self, backend: Backend) -> &Receivers {
        self.receivers.get_or_init(|| Arc::new(self.make_receivers(backend)))
    }

    fn make_receivers(&self, backend: Backend) -> Receivers {
        let crs = self.crs.get_or_init(|| crs(&self.id)).clone();
        let (choice, mut rng) = self.choose(backend);
        // P1's message, the second and the third item of Figure 2.
        let (circuits, circuit_query) = pvw::Receiver::new(&crs, &choice.checked_bits(), &mut rng);
        let (inputs, input_query) = pvw::Receiver::new(&crs, &self.x, &mut Prg::new(backend, self.inputs));
        note((self.copies.total() + self.x.len()) * products::QUERY, 0);
        let query = Query {
            id: self.id,
            epoch: self.epoch,
            copies: self.copies,
            program: self.program,
            inputs: input_query,
            circuits: circuit_query,
            bits: self.x.len(),
        };
        Receivers { crs, choice, inputs, circuits, query }
    }
}

/// Makes the receiver's message for a program and its input (Figure 2). `inputs[i]` is `Some` exactly for the
/// values of party 0. The query is public; the secret opens the answers, and is as secret as the input.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) if the inputs do not fit the program, or if the program is not for two
/// parties of which only party 0 learns outputs.
pub fn publish(
    backend: Backend,
    program: &Program,
    inputs: &[Option<Bits>],
    copies: Copies,
    rng: &mut dyn CryptoRng,
) -> Result<(Query, Secret)> {
    AnswerPlan::new(program, copies)?;
    let x = joined(program, PartyId(0), inputs)?;
    let mut id = [0; 32];
    rng.fill_bytes(&mut id);
    let id = declassify(id, "the query says it");
    let [inputs, circuits] = [(); 2].map(|()| Block::random(rng));
    let (crs, receivers) = (OnceLock::new(), OnceLock::new());
    let secret = Secret { id, epoch: 0, copies, program: program.digest(), x, inputs, circuits, crs, receivers };
    Ok((secret.receivers(backend).query.clone(), secret))
}

//! The side that gets a random vector and its part of the product.

use comity_channel::Channel;
use comity_core::{Backend, Block, HugeTable, Result};
use comity_ot::AtLeast;
use comity_ot::base::BaseOt;
use comity_ot::silent::tell_nonce;
use comity_ot::softspoken::{self, Checking};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::parameters::LpnSizes;
use crate::sender::{keep, table};
use crate::{Setting, dual, noise, primal, products};

/// The receiver's output: `c = a delta + b` in each place.
pub struct Received {
    /// The vector.
    pub a: Zeroizing<Vec<Block>>,
    /// The receiver's part of its product with delta.
    pub c: Product,
}

/// The receiver's part of the product, whose last step is still to do: it is local, takes a third of the
/// receiver's time, and can wait until the peer is busy with the next use of the vector.
pub struct Product {
    made: Zeroizing<Vec<Block>>,
    rest: Option<Rest>,
}

/// The step that is left to do.
struct Rest {
    backend: Backend,
    /// The code, and the secret that it encodes.
    seed: Block,
    secret: HugeTable,
    /// Correlations that it is added to.
    sparse: Zeroizing<Vec<Block>>,
    n: usize,
}

impl Product {
    /// A product that is already computed.
    pub fn new(c: Zeroizing<Vec<Block>>) -> Product {
        Product { made: c, rest: None }
    }

    /// The product, computed.
    pub fn compute(self) -> Zeroizing<Vec<Block>> {
        let Product { mut made, rest } = self;
        if let Some(Rest { backend, seed, secret, mut sparse, n }) = rest {
            primal::encode(backend, seed, &secret, &mut sparse);
            keep(&mut sparse, 0, &mut made, n);
        }
        made
    }
}

/// `n` random elements, and the receiver's part of their product with the sender's delta.
///
/// # Errors
/// Those of OTs and the channel, and in the malicious model [`INCONSISTENT_NOISE`](crate::checks::INCONSISTENT_NOISE).
pub fn receive<M: Checking, B: BaseOt<Model: AtLeast<M>>>(
    ch: &mut dyn Channel,
    setting: &Setting,
    n: usize,
    rng: &mut dyn CryptoRng,
) -> Result<Received> {
    receive_with::<M, B>(&LpnSizes::STANDARD, ch, setting, n, rng)
}

/// As [`receive`], of any size.
pub(crate) fn receive_with<M: Checking, B: BaseOt<Model: AtLeast<M>>>(
    parameters: &LpnSizes,
    ch: &mut dyn Channel,
    setting: &Setting,
    n: usize,
    rng: &mut dyn CryptoRng,
) -> Result<Received> {
    let backend = setting.backend;
    let plan = parameters.plan(n);
    let (blocks, depth) = plan.dual;
    let a: Zeroizing<Vec<Block>> = Zeroizing::new((0..=blocks).map(|_| Block::random(rng)).collect());
    let c = products::receive::<M, B>(ch, &setting.child("products"), &a, rng)?;
    // What follows, codes and checks, is of a session that the sender has not all in its hands.
    let setting = &Setting { session: tell_nonce(ch, &setting.session, rng)?, backend };
    let session = setting.session.child("trees");
    let mut cots = softspoken::Receiver::<M>::setup::<B>(ch, &session, backend, crate::COT_K, rng)?;
    let sparse = noise::receive(ch, &setting.child("noise"), &mut cots, [&a, &c], depth, rng)?;
    let mut both = HugeTable::zeroed(2 * sparse.a.len());
    let columns = sparse.a.iter().zip(sparse.c.iter());
    both.as_chunks_mut().0.iter_mut().zip(columns).for_each(|(both, (&a, &c))| *both = [a, c]);
    let seed = setting.session.block("dual code");
    let base = Zeroizing::new(dual::compress::<2>(backend, seed, &mut both, plan.first));
    let [mut a, mut c] = [0, 1].map(|i| Zeroizing::new(base.iter().map(|both| both[i]).collect::<Vec<_>>()));
    let mut out = Received { a: Zeroizing::default(), c: Product::new(Zeroizing::default()) };
    if plan.iterations.is_empty() {
        a.truncate(n);
        c.truncate(n);
        return Ok(Received { a, c: Product::new(c) });
    }
    for (i, &blocks) in plan.iterations.iter().enumerate() {
        let label = format!("iteration {i}");
        let part = setting.child(&label);
        let products = [&a, &c].map(|column| &column[parameters.dimension..][..=blocks]);
        let mut made = noise::receive(ch, &part, &mut cots, products, parameters.depth, rng)?;
        let last = i + 1 == plan.iterations.len();
        let next = if last { 0 } else { parameters.reserved(parameters.blocks) };
        let seed = part.session.block("primal code");
        let secrets = [&a, &c].map(|column| table(&column[..parameters.dimension]));
        primal::encode(backend, seed, &secrets[0], &mut made.a);
        a = Zeroizing::new(made.a[..next].to_vec());
        keep(&mut made.a, next, &mut out.a, n);
        let [_, secret] = secrets;
        if last {
            out.c.rest = Some(Rest { backend, seed, secret, sparse: made.c, n });
        } else {
            primal::encode(backend, seed, &secret, &mut made.c);
            c = Zeroizing::new(made.c[..next].to_vec());
            keep(&mut made.c, next, &mut out.c.made, n);
        }
    }
    Ok(out)
}

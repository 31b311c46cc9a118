//! Opening the garbled circuit: figure 7.
//!
//! *Corrected.* In the figure each party masks its share by the generator's output on the seeds that it sent, and these masks do not
//! cancel. Here, as the text describes, each adds a share of zero: for each peer the output on the seed that it sent added to
//! that on the seed that it received, so that both of a pair add the same. One generator a pair does for two: its seed is the
//! hash of both, secret and uniform wherever both parties are honest, and nothing is hidden from a pair with a cheat in it.
//!
//! *Balanced.* In the figure party 0 collects all shares and sends the sums to all, `64 n (n - 1)` bytes a gate. Here each
//! party does so for one `n`-th of the gates: `128 (n - 1)` bytes a gate leave each party.
//!
//! Whoever collects may send what it likes, to all the same: what all heard is compared before it is used. That is the error
//! which figure 5 lets the adversary add after it has seen the circuit.

use core::ops::Range;

use comity_channel::{Mesh, PerPeer};
use comity_core::{Backend, Block, Prg, Result, SessionId};
use comity_protocol::Conduct;
use rand_core::CryptoRng;

use crate::act::GarblingAct;
use crate::hash::{ROWS, add};

/// Shares of zero, of one pair of parties each: both have the same.
pub(crate) struct Zeros(PerPeer<Prg>);

impl Zeros {
    /// Step 1: says a seed to each peer, and hears one.
    ///
    /// # Errors
    /// Errors of the channels.
    pub(crate) fn setup(
        net: &mut Mesh<'_>,
        backend: Backend,
        session: &SessionId,
        rng: &mut (impl CryptoRng + ?Sized),
    ) -> Result<Zeros> {
        let (me, parties) = (net.me(), net.parties());
        let seeds = PerPeer::new(me, parties, |_| Block::random(rng).to_bytes().to_vec());
        let mut heard = PerPeer::new(me, parties, |_| vec![0; Block::BYTES]);
        net.exchange(&seeds, &mut heard)?;
        Ok(Zeros(heard.map(|peer, heard| {
            let (lower, higher) = if me < peer { (&seeds[peer], &heard) } else { (&heard, &seeds[peer]) };
            let pair = SessionId::derive("seed of a pair's shares of zero", &[&session.to_bytes(), lower, higher]);
            Prg::new(backend, pair.block("shares of zero"))
        })))
    }

    /// Step 2: adds the next share of zero.
    fn add_to(&mut self, shares: &mut [Block]) {
        let mut room = vec![Block::ZERO; shares.len().min(1 << 10)];
        for shares in shares.chunks_mut(1 << 10) {
            for (_, pair) in self.0.iter_mut() {
                let room = &mut room[..shares.len()];
                pair.fill_blocks(room);
                add(shares, room);
            }
        }
    }
}

/// The gates that a party collects, of so many: the blocks of their rows.
fn part(party: usize, parties: usize, gates: usize) -> Range<usize> {
    let at = |party| gates * party / parties * parties * ROWS;
    at(party)..at(party + 1)
}

/// Steps 2 to 4: the rows of so many gates, of which these are this party's shares. That all heard the same is for the caller to
/// make sure of, before it uses them.
///
/// # Errors
/// Errors of the channels.
pub(crate) fn open(
    net: &mut Mesh<'_>,
    zeros: &mut Zeros,
    mut shares: Vec<Block>,
    conduct: &mut impl for<'a> Conduct<GarblingAct<'a>>,
) -> Result<Vec<Block>> {
    let (me, parties) = (net.me(), net.parties());
    let n = usize::from(parties);
    let gates = shares.len() / (n * ROWS);
    let part = |party: u16| part(party.into(), n, gates);
    zeros.add_to(&mut shares);
    // Step 3.
    let own = part(me.0);
    let out = PerPeer::new(me, parties, |peer| {
        let mut said = Block::bytes_of(&shares[part(peer.0)]).to_vec();
        conduct.before(GarblingAct::Shares(peer, &mut said));
        said
    });
    let mut heard = PerPeer::new(me, parties, |_| vec![0; own.len() * Block::BYTES]);
    net.exchange(&out, &mut heard)?;
    let sums = Block::bytes_of_mut(&mut shares[own.clone()]);
    for (_, heard) in heard.iter() {
        sums.iter_mut().zip(heard).for_each(|(sum, byte)| *sum ^= byte);
    }
    // Step 4.
    let sums = Block::bytes_of(&shares[own]).to_vec();
    let out = PerPeer::new(me, parties, |peer| {
        let mut said = sums.clone();
        conduct.before(GarblingAct::Rows(peer, &mut said));
        said
    });
    let mut heard = PerPeer::new(me, parties, |peer| vec![0; part(peer.0).len() * Block::BYTES]);
    net.exchange(&out, &mut heard)?;
    for (peer, heard) in heard.iter() {
        Block::bytes_of_mut(&mut shares[part(peer.0)]).copy_from_slice(heard);
    }
    Ok(shares)
}

#[cfg(test)]
mod tests {
    use comity_protocol::Honest;
    use comity_testing::{Net, laws};

    use super::*;

    /// Gates of a test: of three parties one collects two of them.
    const GATES: usize = 4;

    fn zeros(net: &mut Mesh<'_>) -> Zeros {
        let mut rng = laws::rng(net.me().0.into());
        Zeros::setup(net, Backend::detect(), &SessionId::derive("test", &[b"zeros"]), &mut rng).expect("a setup")
    }

    /// Shares of zero are none by themselves, never come again, and add up to zero.
    #[test]
    fn shares_of_zero_add_up() {
        let parties = Net::<3>::run(|net| {
            let mut zeros = zeros(net);
            let mut shares = vec![Block::ZERO; 2500];
            zeros.add_to(&mut shares);
            shares
        });
        let mut seen: Vec<Block> = parties.concat();
        seen.sort_by_key(|block| block.to_u128());
        seen.dedup();
        assert!(seen.len() == 7500 && seen[0] != Block::ZERO);
        assert!((0..2500).all(|i| parties[0][i] ^ parties[1][i] ^ parties[2][i] == Block::ZERO));
    }

    /// All hear the sums, and what leaves a party is not its share.
    #[test]
    fn rows_are_summed_and_shares_hidden() {
        let share = |party: u16| -> Vec<Block> {
            (0..GATES * 3 * ROWS).map(|i| Block::from_u128((i as u128) << 8 | 1 << party)).collect()
        };
        let sums: Vec<Block> = (0..GATES * 3 * ROWS).map(|i| Block::from_u128((i as u128) << 8 | 7)).collect();
        let opened = Net::<3>::run(|net| {
            let (mut zeros, own) = (zeros(net), share(net.me().0));
            let bytes = Block::bytes_of(&own);
            let mut hidden = |act: GarblingAct<'_>| {
                if let GarblingAct::Shares(peer, said) = act {
                    let range = part(peer.0.into(), 3, GATES);
                    let bare = &bytes[range.start * Block::BYTES..range.end * Block::BYTES];
                    assert!(
                        said.len() == bare.len()
                            && said.iter().zip(bare).filter(|(a, b)| a == b).count() * 8 < said.len()
                    );
                }
            };
            let opened = open(net, &mut zeros, own.clone(), &mut hidden).expect("opened");
            let again = open(net, &mut zeros, own.clone(), &mut Honest).expect("opened");
            assert!(opened == again);
            opened
        });
        assert!(opened.iter().all(|rows| *rows == sums));
    }
}

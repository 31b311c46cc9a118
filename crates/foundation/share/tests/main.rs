//! The checks of authenticated shares among two, three and five parties, each against the parties that break it.

mod coin;
mod drawn;
mod equality;
mod extension;
mod forms;
mod joint;
mod ledger;
mod matrix;
mod opening;
mod ring;
mod simultaneous;
mod triples;
mod zero_shares;

use comity_channel::Mesh;
use comity_core::{Backend, Bits, Block, Check, PartyId, Prg, Result, SessionId};
use comity_share::RowShares;
use comity_testing::Net;

const SESSION: SessionId = SessionId::new([0x5e; 32]);

fn rng(seed: u16) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed.into()))
}

/// A party's shares of bits, as rows have them.
fn shares(rows: &RowShares) -> Bits {
    rows.column(PartyId(0)).iter().map(|block| block.lsb()).collect()
}

/// A run of `N` parties of which one cheats: what became of the honest ones. The cheat stays until they are gone.
fn against<const N: usize, T: Send>(
    cheat: PartyId,
    lie: impl Fn(&mut Mesh<'_>) + Sync,
    honest: impl Fn(&mut Mesh<'_>) -> Result<T> + Sync,
) -> Vec<(PartyId, Result<T>)> {
    let ends = Net::<N>::run(|mesh| {
        let me = mesh.me();
        if me != cheat {
            return Some((me, honest(mesh)));
        }
        lie(mesh);
        for peer in mesh.peers() {
            while mesh.link(peer).recv(&mut [0]).is_ok() {}
        }
        None
    });
    ends.into_iter().flatten().collect()
}

/// Which check a party ended with, and whose doing it was.
fn named<T>(ended: &Result<T>) -> Option<(&'static Check, Option<PartyId>)> {
    ended.as_ref().err().and_then(|error| Some((error.check()?, error.party)))
}

/// The first, the middle and the last of `parties` parties.
fn some_of(parties: usize) -> impl Iterator<Item = PartyId> {
    let mut ids = vec![0, parties / 2, parties - 1];
    ids.dedup();
    ids.into_iter().map(|id| PartyId(id as u16))
}

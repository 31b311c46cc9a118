//! What private set intersection by vector OLE is made of: the key-value store and the vector OLE.

use comity_core::{Block, Prg};
use comity_net::SystemRng;
use comity_okvs::{Okvs, Sparse};
use comity_ot::Malicious;
use comity_ot::base::Csw;
use comity_terminal::failure::Outcome;
use comity_vole::Setting;

use crate::suite::{Bench, Suite, backend};
use crate::two::{Wire, play, repeat, session};

/// The key-value store.
pub(super) const OKVS: Bench = Bench {
    name: "psi.okvs",
    about: "an oblivious key-value store of 2^20 keys: their rows, a vector, and what all keys read from it",
    ceiling: None,
    run: okvs,
};

/// The vector OLE.
pub(super) const VOLE: Bench = Bench {
    name: "psi.vole.generate",
    about: "vector OLE for the columns of 2^20 keys over TCP on this machine, base OTs included, against parties that cheat",
    ceiling: None,
    run: vole,
};

const KEYS: usize = 1 << 20;

fn blocks(seed: u128) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; KEYS];
    Prg::new(backend(), Block::from_u128(seed)).fill_blocks(&mut blocks);
    blocks
}

fn okvs(suite: &mut Suite) -> Outcome {
    let (keys, values) = (blocks(1), blocks(2));
    let rows = || Sparse::place(backend(), Block::from_u128(3), KEYS, &keys);
    suite.rate("psi.okvs.rows", "keys/s", None, 5, || {
        drop(rows());
        Ok(KEYS as f64)
    })?;
    let (placed, mut free) = (rows(), Prg::new(backend(), Block::from_u128(4)));
    let mut vector = vec![Block::ZERO; Sparse::columns(KEYS)];
    suite.rate("psi.okvs.encode", "keys/s", None, 5, || {
        placed.encode(&values, &mut free, &mut vector);
        Ok(KEYS as f64)
    })?;
    let mut read = vec![Block::ZERO; KEYS];
    suite.rate("psi.okvs.decode", "keys/s", None, 5, || {
        placed.decode(&vector, &mut read);
        Ok(KEYS as f64)
    })
}

fn vole(suite: &mut Suite) -> Outcome {
    let (name, n) = ("psi.vole.generate", Sparse::columns(KEYS));
    if !suite.wants(name) {
        return Ok(());
    }
    let net = suite.network();
    let runs = repeat(|| {
        let setting = Setting { session: session(), backend: backend() };
        let delta = Block::random(&mut SystemRng);
        let sender = |ch: &mut Wire| comity_vole::send::<Malicious, Csw>(ch, &setting, delta, n, &mut SystemRng);
        let receiver = |ch: &mut Wire| {
            let received = comity_vole::receive::<Malicious, Csw>(ch, &setting, n, &mut SystemRng)?;
            Ok((received.a, received.c.compute()))
        };
        play(net, sender, receiver).map(|(run, ..)| run)
    })?;
    suite.record(name, "s", None, runs.iter().map(|run| run.seconds).collect());
    suite.record(&format!("{name}.bytes"), "bytes", None, runs.iter().map(|run| run.total() as f64).collect());
    Ok(())
}

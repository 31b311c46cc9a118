//! What is on the wire: the same bytes on every backend.

use std::sync::{Arc, Mutex};

use super::*;

/// Whoever changes the bytes on purpose, here, in comity-share or in comity-ot, changes this digest.
const GOLDEN: &str = "bdecf22b8b16ab29cbd48935e8f28658046f9aa3dac2c307d80ef9e3ff1cd7c4";

#[test]
fn the_wire_is_pinned_on_every_backend() {
    let budget = Budget::known(4400, 12, 1, 1 << 16).unwrap();
    let digest = |backend| {
        let all = Net::<3>::run(|net| {
            let here = Here { backend, ..here(net.me(), 3, SESSION) };
            let said = Arc::new(Mutex::new(blake3::Hasher::new()));
            let conduct = {
                let said = said.clone();
                lie(move |act| {
                    if let JointAct::Says { what, peer, bytes } = act {
                        said.lock().unwrap().update(what.as_bytes()).update(&peer.0.to_le_bytes()).update(bytes);
                    }
                })
            };
            let mut dealer = dealer(net, here, 7, &budget, conduct).unwrap();
            deal(net, &mut dealer, 4400).unwrap();
            *said.lock().unwrap().finalize().as_bytes()
        });
        blake3::hash(all.as_flattened()).to_hex()
    };
    let digests: Vec<_> = Backend::available().into_iter().map(|backend| (backend, digest(backend))).collect();
    for (backend, digest) in &digests {
        assert_eq!(*digest, digests[0].1, "{backend}");
    }
    assert_eq!(digests[0].1.as_str(), GOLDEN);
}

//! Broadcasts: the same at all, or the run ends at every honest party.

use comity_channel::{Echo, Error, Hello, Mesh, PerPeer, Result, Settled, checks, hello};
use comity_core::{Backend, Block, Params, PartyId, Prg, SessionId};
use comity_testing::Net;

const SESSION: SessionId = SessionId::new([7; 32]);

/// Two broadcasts, and what follows from them.
fn honest(mesh: &mut Mesh<'_>) -> Result<(Vec<u8>, Settled)> {
    let me = mesh.me().0 as u8;
    let mut echo = Echo::new(SESSION);
    let first = mesh.broadcast(&mut echo, "first", &[me, 1])?;
    let second =
        mesh.broadcast(&mut echo, "second", &[me + first.unsettled().iter().map(|(_, x)| x[0]).sum::<u8>()])?;
    let settled = mesh.settle(echo)?;
    let said = [first.settled(&settled), second.settled(&settled)];
    Ok((said.iter().flat_map(|said| said.iter()).flat_map(|(_, bytes)| bytes.clone()).collect(), settled))
}

/// Says something to each, and hears as much.
fn say(mesh: &mut Mesh<'_>, len: usize, what: impl Fn(PartyId) -> Vec<u8>) -> Result<PerPeer<Vec<u8>>> {
    let (me, parties) = (mesh.me(), mesh.parties());
    let mut into = PerPeer::new(me, parties, |_| vec![0; len]);
    mesh.exchange(&PerPeer::new(me, parties, what), &mut into)?;
    Ok(into)
}

#[test]
fn what_is_settled_is_alike() {
    fn all<const N: usize>() {
        let heard = Net::<N>::run(|mesh| honest(mesh).unwrap());
        let sum = (0..N as u8).sum::<u8>();
        for (me, (said, settled)) in heard.iter().enumerate() {
            let others = (0..N as u8).filter(|&party| usize::from(party) != me);
            let expected: Vec<u8> = others.flat_map(|party| [party, 1]).chain(vec![sum; N - 1]).collect();
            assert_eq!(*said, expected);
            assert_eq!(settled.digest(), heard[0].1.digest());
            assert_ne!(settled.digest(), SESSION);
        }
    }
    all::<2>();
    all::<3>();
    all::<5>();
}

/// Between two parties nobody could be told another thing than the only peer.
#[test]
fn two_parties_settle_without_a_word() {
    let settled: [bool; 2] = Net::run(|mesh| {
        // The other one has gone: a party that waits for its word is told.
        mesh.me() == PartyId(1) || mesh.settle(Echo::new(SESSION)).is_ok()
    });
    assert_eq!(settled, [true; 2]);
}

#[test]
fn what_is_said_and_how_it_is_called_is_in_the_digest() {
    let digest = |label: &'static str, said: [&'static [u8]; 2]| {
        let digests: [SessionId; 2] = Net::run(|mesh| {
            let mut echo = Echo::new(SESSION);
            for said in said {
                let _ = mesh.broadcast(&mut echo, label, said).unwrap();
            }
            mesh.settle(echo).unwrap().digest()
        });
        assert_eq!(digests[0], digests[1]);
        digests[0]
    };
    let base = digest("a", [b"xy", b"z"]);
    for other in [digest("b", [b"xy", b"z"]), digest("a", [b"xz", b"z"]), digest("a", [b"x", b"yz"])] {
        assert_ne!(base, other);
    }
}

/// The way in which the last party lies.
#[derive(Clone, Copy)]
enum Lie {
    /// It says something else to those with an id below the bound, and the truth in the echo as far as it has one.
    First,
    /// The same in the second broadcast, on which nothing hangs any more.
    Second,
    /// It says the same to all, and that it heard something else.
    Echo,
}

/// The last party tells `lied` of the others one thing and the rest another one, and echoes to each what that
/// one wants to hear.
fn lies(mesh: &mut Mesh<'_>, lied: u16, lie: Lie) -> Result<()> {
    let (me, parties) = (mesh.me(), mesh.parties());
    let says = |to: PartyId, lies: bool, honest: &[u8]| {
        let mut said = honest.to_vec();
        said[0] ^= u8::from(lies && to.0 < lied);
        said
    };
    let first = say(mesh, 2, |to| says(to, matches!(lie, Lie::First), &[me.0 as u8, 1]))?;
    let sum = me.0 as u8 + first.iter().map(|(_, x)| x[0]).sum::<u8>();
    let second = say(mesh, 1, |to| says(to, matches!(lie, Lie::Second), &[sum]))?;
    // The hash of whoever hears it: its own view of all that was said.
    let hash = |to: PartyId| {
        let mut state = SESSION;
        let views = [("first", &first, vec![me.0 as u8, 1]), ("second", &second, vec![sum])];
        for (at, (label, heard, own)) in views.into_iter().enumerate() {
            let lies = matches!((lie, at), (Lie::First, 0) | (Lie::Second, 1));
            let mut all: Vec<Vec<u8>> = heard.iter().map(|(_, bytes)| bytes.clone()).collect();
            all.push(says(to, lies, &own));
            let before = state.to_bytes();
            let parts: Vec<&[u8]> =
                [&before[..], label.as_bytes()].into_iter().chain(all.iter().map(|bytes| &bytes[..])).collect();
            state = SessionId::derive("echo", &parts);
        }
        let mut hash = state.child("echo").to_bytes().to_vec();
        hash[31] ^= u8::from(matches!(lie, Lie::Echo) && to.0 < lied);
        hash
    };
    assert_eq!(parties, me.0 + 1);
    say(mesh, 32, hash).map(drop)
}

#[test]
fn who_says_different_things_is_noticed_by_every_honest_party() {
    fn all<const N: usize>() {
        for lied in 0..N as u16 {
            for lie in [Lie::First, Lie::Second, Lie::Echo] {
                let ends: [Result<()>; N] = Net::run(|mesh| match usize::from(mesh.me().0) == N - 1 {
                    true => lies(mesh, lied, lie),
                    false => honest(mesh).map(drop),
                });
                for (me, end) in ends.iter().enumerate().take(N - 1) {
                    // To say the same thing to all is no lie, even if it is another one than it says of
                    // itself; and a party that alone hears a false echo is alone in ending.
                    let honest = match lie {
                        Lie::Echo => me >= usize::from(lied),
                        Lie::First | Lie::Second => lied == 0 || usize::from(lied) == N - 1,
                    };
                    match end {
                        Ok(()) => assert!(honest, "party {me} of {N} was lied to ({lied}) and did not notice"),
                        Err(error) => {
                            assert!(!honest, "party {me} of {N}: {error}");
                            assert_eq!((error.check(), error.party), (Some(checks::EQUIVOCATION), None));
                        }
                    }
                }
            }
        }
    }
    all::<3>();
    all::<4>();
    all::<5>();
}

#[test]
#[should_panic(expected = "another one was settled")]
fn another_echo_settles_nothing() {
    let [heard, settled] = [1, 2].map(|id| {
        let mut both = Net::<2>::run(|mesh| {
            let mut echo = Echo::new(SessionId::new([id; 32]));
            let heard = mesh.broadcast(&mut echo, "x", &[1]).unwrap();
            (heard, mesh.settle(echo).unwrap())
        })
        .into_iter();
        both.next().unwrap()
    });
    let _ = heard.0.settled(&settled.1);
}

/// A hello says its nonce to all: a party that says two nonces would have two sessions of one run.
#[test]
fn a_hello_is_alike_at_all() {
    let ends: [Result<(), Error>; 3] = Net::run(|mesh| {
        let me = mesh.me();
        let ours = Hello {
            protocol: "sum".into(),
            options: Vec::new(),
            params: Params::default(),
            parties: 3,
            me,
            program: "add8".into(),
            program_digest: [7; 32],
            owners: String::new(),
            recipients: String::new(),
            key: None,
            peer_keys: PerPeer::new(me, 3, |_| None),
            group: None,
        };
        let mut rng = Prg::new(Backend::detect(), Block::from_u128(me.0.into()));
        if me != PartyId(2) {
            return hello(mesh, &ours, &mut rng).map(drop);
        }
        // Honest to each, with a nonce for each.
        let mut links = [PartyId(0), PartyId(1)].map(|peer| {
            let mut bytes = [0; comity_channel::hello::WIRE_BYTES];
            mesh.link(peer).recv(&mut bytes).unwrap();
            (peer, bytes)
        });
        for (peer, bytes) in &mut links {
            // What it says of itself is what the peer says, but for who is who, and the nonce.
            bytes[12..44].fill(peer.0 as u8);
            bytes[44..48].copy_from_slice(&2u32.to_le_bytes());
            bytes[48..52].copy_from_slice(&u32::from(peer.0).to_le_bytes());
            mesh.link(*peer).send(&bytes[..]).and_then(|()| mesh.link(*peer).flush())?;
        }
        say(mesh, 32, |_| vec![0; 32]).map(drop)
    });
    for end in &ends[..2] {
        assert_eq!(end.as_ref().unwrap_err().check(), Some(checks::EQUIVOCATION));
    }
}

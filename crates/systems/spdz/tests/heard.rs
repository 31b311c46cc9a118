//! What is heard of the parties' inputs when outputs open that are sums of them: by a listener, and by every
//! coalition.

use std::sync::Mutex;

use comity_circuit::Recipients;

use super::*;

/// What a party said: the bits of its input under their mask, and the lowest bits of its shares of outputs.
#[derive(Clone, Default)]
struct Said {
    announced: Vec<u8>,
    outputs: Vec<Vec<Block>>,
}

/// Inputs of 64 bits of each party, what each said, and the streams of zero-shares that a pair has, as the
/// bits of an element's share that only they know.
struct Heard {
    inputs: Vec<u64>,
    said: Vec<Said>,
}

const BITS: usize = 64;

/// Opens the sum of all inputs, to all or to party 0.
fn opened<const N: usize>(to: Recipients) -> Heard {
    let said: Vec<Mutex<Said>> = (0..N).map(|_| Mutex::default()).collect();
    let inputs: Vec<u64> = (0..N as u128).map(|i| rng(70 + i).block().to_u128() as u64).collect();
    let ends = Net::<N>::run(|mesh| {
        let (me, here) = (mesh.me(), here(mesh));
        let mut rng = rng(u128::from(me.0) + 1);
        let dealer = FieldDealer::<Block>::setup(mesh, here.child("dealer"), &mut rng).unwrap();
        let said = &said[usize::from(me.0)];
        let log = Arc::new(Mutex::new(Said::default()));
        let (into, first) = (log.clone(), PartyId(u16::from(me.0 == 0)));
        let conduct = Liar {
            talks: Box::new(move |act| {
                let JointAct::Says { what, peer, bytes } = act else { return };
                let mut into = into.lock().unwrap();
                match what {
                    "announced bits" if peer == first && !bytes.is_empty() => into.announced.clone_from(bytes),
                    "outputs" if peer == first => {
                        into.outputs.push(bytes.chunks(16).map(|b| Block::new(b.try_into().unwrap())).collect());
                    }
                    _ => {}
                }
            }),
            ..Liar::honest()
        };
        let mut machine = FieldMachine::with(here.child("machine"), Box::new(Fresh(dealer)), &mut rng, conduct);
        let mut sum: Vec<SumShare<Block>> = vec![SumShare::ZERO; BITS];
        for owner in 0..N as u16 {
            let own = (me.0 == owner).then(|| bits(inputs[usize::from(owner)].into(), BITS));
            let shares = machine.input(mesh, PartyId(owner), own.as_ref(), BITS).unwrap();
            sum.iter_mut().zip(&*shares).for_each(|(sum, share)| *sum = sum.plus(*share));
        }
        let value = machine.reveal(mesh, to, &sum).unwrap();
        drop(machine);
        said.lock().unwrap().clone_from(&log.lock().unwrap());
        value
    });
    let total = inputs.iter().fold(0, |sum, input| sum ^ input);
    assert!(ends.iter().flatten().all(|value| *value == bits(total.into(), BITS)));
    Heard { inputs, said: said.into_iter().map(|said| said.into_inner().unwrap()).collect() }
}

/// The lowest bits of the sum of what these parties showed.
fn lowest(said: &[Said], subset: u32) -> u64 {
    let shown = said.iter().enumerate().filter(|(i, _)| subset >> i & 1 == 1).map(|(_, said)| &said.outputs[0]);
    shown.fold(0, |sum, shares| {
        sum ^ shares.iter().enumerate().fold(0, |bits, (i, share)| bits | u64::from(share.lsb()) << i)
    })
}

fn sum_of(values: impl Iterator<Item = u64>, subset: u32) -> u64 {
    values.enumerate().filter(|(i, _)| subset >> i & 1 == 1).fold(0, |sum, (_, value)| sum ^ value)
}

/// What fewer than all show is no sum of some parties' inputs, nor of their masks, nor of both, with the
/// announced bits of party 0's share or without; and all blocks are random, not bits.
fn shares_tell_nothing<const N: usize>(to: Recipients) {
    let Heard { inputs, said } = opened::<N>(to);
    let announced: Vec<u64> =
        said.iter().map(|said| u64::from_le_bytes(said.announced[..].try_into().unwrap())).collect();
    let (all, every) = ((1 << N) - 1, announced.iter().fold(0, |sum, value| sum ^ value));
    let masks = |subset| sum_of(inputs.iter().zip(&announced).map(|(x, m)| x ^ m), subset);
    if to == Recipients::All {
        assert_eq!(lowest(&said, all), sum_of(inputs.iter().copied(), all));
    }
    for said in &said {
        assert!(said.outputs[0].iter().all(|share| share.to_u128() >> 64 != 0), "a share is small");
    }
    for subset in 1..all {
        let shown = lowest(&said, subset);
        for of in 1..=all {
            for known in [0, every] {
                for value in [masks(of), sum_of(inputs.iter().copied(), of)] {
                    assert!(shown ^ known != value, "{subset:b} show {of:b}");
                }
            }
        }
    }
}

#[test]
fn a_sum_of_inputs_tells_the_sum_alone() {
    for to in [Recipients::All, Recipients::only(0)] {
        shares_tell_nothing::<3>(to);
        shares_tell_nothing::<4>(to);
    }
}

/// A coalition of all but two knows its terms of zero-shares with everybody, and whatever it shows: the share
/// of either of the two is hidden by what these two alone have. With the same inputs and other generators at
/// the two honest parties what they show is other, and its sum is not.
#[test]
fn what_a_coalition_hears_follows_from_the_output() {
    let one = opened::<4>(Recipients::All);
    let other = opened::<4>(Recipients::All);
    // The runs are the seeds'.
    assert!(one.said.iter().zip(&other.said).all(|(a, b)| a.outputs == b.outputs && a.announced == b.announced));
    for honest in 0..4 {
        for with in (0..4).filter(|with| *with != honest) {
            let pair = 1 << honest | 1 << with;
            // Both together show what follows from the output and the coalition's shares; either alone does
            // not follow from its own mask.
            let rest = 0b1111 ^ pair;
            let output = sum_of(one.inputs.iter().copied(), 0b1111);
            assert_eq!(lowest(&one.said, pair), output ^ lowest(&one.said, rest));
            let own = one.inputs[honest] ^ u64::from_le_bytes(one.said[honest].announced[..].try_into().unwrap());
            assert!(lowest(&one.said, 1 << honest) != own);
        }
    }
}

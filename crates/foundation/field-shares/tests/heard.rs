//! What is heard when a sum of several owners' elements opens: to a listener, and to every coalition.

use std::collections::HashSet;
use std::sync::Mutex;

use comity_field_shares::FieldOpenings;

use super::*;

/// Opens the sum of one element of each party: what each says as its share, and the elements.
fn opened<const N: usize>(seed: u128) -> (Vec<Block>, Vec<Block>) {
    let ends = honest::<N, _>(|dealer, mesh| {
        let mut own = [Block::ZERO];
        rng(seed + u128::from(mesh.me().0)).fill_blocks(&mut own);
        let shares = dealer.authenticated(mesh, &own)?;
        let sum = shares.iter().fold(SumShare::ZERO, |sum, shares| sum.plus(shares[0]));
        let said = Arc::new(Mutex::new(Block::ZERO));
        let log = said.clone();
        let mut conduct = Liar::talks(move |act| {
            if let JointAct::Says { what: "a sum", bytes, .. } = act {
                *log.lock().unwrap() = Block::new(bytes[..].try_into().unwrap());
            }
        });
        let mut openings = FieldOpenings::new(here(mesh), dealer.key().clone(), &mut rng(3));
        let value = openings.open(mesh, "a sum", &[sum], &mut conduct)?[0];
        openings.check(mesh, &mut conduct)?;
        let said = *said.lock().unwrap();
        Ok((own[0], said, value))
    });
    let total = ends.iter().fold(Block::ZERO, |sum, end| sum ^ end.0);
    assert!(ends.iter().all(|end| end.2 == total));
    ends.into_iter().map(|(own, said, _)| (own, said)).unzip()
}

fn sum(of: &[Block], subset: u32) -> Block {
    of.iter().enumerate().filter(|(i, _)| subset >> i & 1 == 1).fold(Block::ZERO, |sum, (_, x)| sum ^ *x)
}

/// Without zero-shares each share would be the party's own element, and that of any party's would be heard.
fn shares_tell_nothing<const N: usize>() {
    let ((own, said), (others, said_then)) = (opened::<N>(10), opened::<N>(10));
    assert!(own == others && said == said_then, "the run is the seed's");
    // A listener hears all shares: the sum of all is the value, and of no fewer one of the elements of as many.
    let all = (1 << N) - 1;
    assert!(sum(&said, all) == sum(&own, all));
    for subset in 1..all {
        for elements in 1..all {
            assert!(sum(&said, subset) != sum(&own, elements), "{subset:b} tell {elements:b}");
        }
    }
}

#[test]
fn shares_of_a_sum_tell_the_sum_alone() {
    shares_tell_nothing::<2>();
    shares_tell_nothing::<3>();
    shares_tell_nothing::<4>();
}

/// A coalition of all but two knows the terms of zero-shares that it has a part in: with these taken off, the
/// share of either of the two is still not what it put in.
#[test]
fn a_coalition_hears_no_more() {
    let ends = honest::<4, _>(|dealer, mesh| {
        let own = [Block::from_u128(1000 + u128::from(mesh.me().0))];
        let shares = dealer.authenticated(mesh, &own)?;
        Ok(shares.iter().map(|shares| shares[0].value).collect::<Vec<_>>())
    });
    // By owner: the shares of all.
    for (owner, own) in ends.iter().enumerate() {
        for honest in (0..4).filter(|party| *party != owner) {
            // All but the owner and one more are the coalition: it has all other shares of the owner's element.
            let coalition = (0..4).filter(|party| *party != owner && *party != honest);
            let known = coalition.fold(Block::ZERO, |sum, party| sum ^ ends[party][owner]);
            let rest = known ^ own[owner];
            assert!(rest != Block::from_u128(1000 + owner as u128), "party {honest} has a share of zero");
            assert!(ends[honest][owner] != Block::ZERO);
        }
    }
}

/// The same words, said again, have another digest: each echo has a session of its own, also where no value was opened.
#[test]
fn no_two_echoes_are_alike() {
    let echoes = honest::<3, _>(|dealer, mesh| {
        let echoes = Arc::new(Mutex::new(HashSet::new()));
        let log = echoes.clone();
        let mut conduct = Liar::talks(move |act| {
            if let JointAct::Says { what: "echo", bytes, .. } = act {
                log.lock().unwrap().insert(bytes.to_vec());
            }
        });
        let mut openings = FieldOpenings::new(here(mesh), dealer.key().clone(), &mut rng(3));
        for _ in 0..3 {
            openings.tell(mesh, "words", b"the same", &mut conduct)?;
            openings.check(mesh, &mut conduct)?;
        }
        let echoes = echoes.lock().unwrap().len();
        Ok(echoes)
    });
    assert_eq!(echoes, [3; 3]);
}

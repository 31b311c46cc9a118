//! Honest parties: what they share is what was put in, products are products, and bits are bits.

use comity_field_shares::{FieldOpenings, SumShare};

use super::*;

fn elements(seed: u128, n: usize) -> Vec<Block> {
    let mut elements = vec![Block::ZERO; n];
    rng(seed).fill_blocks(&mut elements);
    elements
}

fn inputs_are_shared<const N: usize>(n: usize) {
    let ends = honest::<N, _>(|dealer, mesh| {
        let own = elements(100 + u128::from(mesh.me().0), n);
        let shares = dealer.authenticated(mesh, &own)?;
        let (masks, known) = dealer.masks(mesh, 2)?;
        Ok((dealer.key().clone(), own, shares, masks, known))
    });
    let keys: Vec<_> = ends.iter().map(|end| end.0.clone()).collect();
    for (owner, (_, own, _, _, known)) in ends.iter().enumerate() {
        for (i, &x) in own.iter().enumerate() {
            assert!(value(&keys, ends.iter().map(|end| end.2[owner][i])) == x);
        }
        for (i, &x) in known.iter().enumerate() {
            assert!(value(&keys, ends.iter().map(|end| end.3[owner][i])) == x);
        }
    }
}

#[test]
fn what_parties_put_in_is_shared() {
    inputs_are_shared::<2>(1);
    inputs_are_shared::<3>(600);
    inputs_are_shared::<5>(3);
}

fn triples_are_products<const N: usize>(n: usize) {
    let ends = honest::<N, _>(|dealer, mesh| {
        let triples = dealer.triples(mesh, n)?;
        Ok((dealer.key().clone(), triples))
    });
    let keys: Vec<_> = ends.iter().map(|end| end.0.clone()).collect();
    let mut seen = std::collections::HashSet::new();
    for i in 0..n {
        let a = value(&keys, ends.iter().map(|end| end.1[i].a));
        let b = value(&keys, ends.iter().map(|end| end.1[i].b));
        let c = value(&keys, ends.iter().map(|end| end.1[i].c));
        assert!(c == mul(a, b), "triple {i}");
        assert!(seen.insert(a.to_u128()) && seen.insert(b.to_u128()), "an element came twice");
    }
}

#[test]
fn triples_are_products_of_random_elements() {
    // More than a batch.
    triples_are_products::<2>(515);
    triples_are_products::<3>(3);
    triples_are_products::<5>(1);
}

fn bits_are_bits<const N: usize>() {
    let ends = honest::<N, _>(|dealer, mesh| {
        let bits = dealer.bits(mesh, 90, 70)?;
        Ok((dealer.key().clone(), bits))
    });
    let keys: Vec<_> = ends.iter().map(|end| end.0.clone()).collect();
    let shared: Vec<Block> = (0..90).map(|i| value(&keys, ends.iter().map(|end| end.1.shared[i]))).collect();
    assert!(shared.iter().all(|bit| bit.to_u128() < 2));
    let ones = shared.iter().filter(|bit| bit.lsb()).count();
    assert!((20..70).contains(&ones), "{ones} ones of 90");
    for (owner, (_, bits)) in ends.iter().enumerate() {
        assert_eq!(bits.own.len(), 70);
        for (i, bit) in bits.own.iter().enumerate() {
            assert!(value(&keys, ends.iter().map(|end| end.1.masks[owner][i])).to_u128() == u128::from(bit));
        }
    }
}

#[test]
fn bits_are_zero_or_one() {
    bits_are_bits::<2>();
    bits_are_bits::<3>();
}

/// Sums, products with public elements and constants keep their MACs, and what opens is checked.
#[test]
fn linear_values_open() {
    let ends = honest::<3, _>(|dealer, mesh| {
        let own = elements(u128::from(mesh.me().0), 2);
        let shares = dealer.authenticated(mesh, &own)?;
        let (key, me, backend) = (dealer.key().clone(), mesh.me(), Backend::detect());
        let mut openings = FieldOpenings::new(here(mesh), key.clone(), &mut rng(7));
        let factor = Block::from_u128(0x1234_5678 << 90);
        let linear = shares[0][0].times(backend, factor).minus(shares[1][1]).plus(SumShare::constant(
            backend,
            me,
            &key,
            Block::from_u128(77),
        ));
        let opened = openings.open(mesh, "a value", &[linear, shares[2][0]], &mut Liar::honest())?;
        assert_eq!(openings.unchecked(), 2);
        openings.check(mesh, &mut Liar::honest())?;
        assert_eq!(openings.unchecked(), 0);
        openings.check(mesh, &mut Liar::honest())?;
        Ok((own, opened))
    });
    let factor = Block::from_u128(0x1234_5678 << 90);
    let expected = [mul(ends[0].0[0], factor) ^ ends[1].0[1] ^ Block::from_u128(77), ends[2].0[0]];
    assert!(ends.iter().all(|(_, opened)| *opened == expected));
}

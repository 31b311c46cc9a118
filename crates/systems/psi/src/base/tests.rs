use std::collections::BTreeMap;

use comity_core::Block;
use comity_core::{Backend, Prg};

use super::*;
use crate::tests::items;
use crate::{Item, MaskList, Matches, Set};

fn rng() -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(77))
}

fn terms(payload: usize) -> BaseTerms {
    let (header, encoding) = (b"name".to_vec(), "lower".to_owned());
    BaseTerms { id: [0; 32], most: 5000, queries: 1000, rho: 40, payload, header, encoding }
}

/// The payload of items.
fn payload(items: &[Item], width: usize) -> Vec<u8> {
    items.iter().flat_map(|item| item.0.into_iter().cycle().skip(5).take(width)).collect()
}

fn publish(items: &[Item], width: usize, pad_to: usize) -> (Published, Vec<u8>) {
    let mut file = Vec::new();
    let set = Set { items, payload: &payload(items, width), pad_to };
    let mut out = |bytes: &[u8]| {
        file.extend_from_slice(bytes);
        Ok(())
    };
    let kept = Published::new(terms(width), &set, (Backend::detect(), &mut rng()), &mut out).unwrap();
    (kept, file)
}

/// What a client finds that has the server's answers.
fn ask(published: &Published, base: &BaseFile, items: &[Item]) -> Matches {
    let inputs = base.terms.inputs(&mut rng(), items);
    let values = published.oprf.evaluate(Backend::detect(), inputs.into_iter());
    base.find(Backend::detect(), &values)
}

#[test]
fn a_base_and_its_updates_are_the_set() {
    for (width, pad_to) in [(0, 0), (0, 900), (3, 0), (20, 900)] {
        let mut set: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
        let of = |numbers: &mut dyn Iterator<Item = usize>| items(numbers);
        let first = of(&mut (0..500));
        (0..500).for_each(|n| _ = set.insert(n, payload(&first[n..=n], width)));
        let (mut kept, file) = publish(&first, width, pad_to);
        let mut base = BaseFile::read(file).unwrap();
        assert_eq!((base.masks(), kept.items()), (500.max(pad_to), 500));
        let check = |kept: &Published, base: &BaseFile, set: &BTreeMap<usize, Vec<u8>>| {
            let got = ask(kept, base, &items(0..800));
            let expected: Vec<u32> = set.keys().map(|&n| n as u32).collect();
            assert_eq!(got.matched, expected, "{width} bytes, padded to {pad_to}");
            assert_eq!(got.payload, set.values().flatten().copied().collect::<Vec<_>>());
        };
        check(&kept, &base, &set);
        // Some go, some come, some are replaced, some are not there or there already, and some go and come again.
        for (gone, came) in [(0..20, 600..650), (10..40, 645..660), (100..101, 100..102), (0..0, 0..0), (0..800, 7..9)]
        {
            let was = set.clone();
            let (remove, add) = (items(gone.clone()), items(came.clone()));
            let payload: Vec<u8> = payload(&add, width).iter().map(|byte| byte ^ 1).collect();
            let sent = Set { items: &add, payload: &payload, pad_to: 0 };
            // What is padded is padded throughout, but where all go: dummies go that came before.
            let pad_to = if pad_to > 0 && gone.len() < 64 { 64 } else { 0 };
            let (file, changed) = kept.change(&remove, &sent, pad_to, (Backend::detect(), &mut rng())).unwrap();
            let removed = gone.clone().filter(|n| set.remove(n).is_some()).count();
            let (mut added, mut stayed) = (0, 0);
            for (at, n) in came.clone().enumerate() {
                if width > 0 || !set.contains_key(&n) {
                    let before = set.insert(n, payload[at * width..(at + 1) * width].to_vec());
                    (added, stayed) = (added + usize::from(before.is_none()), stayed + usize::from(before.is_some()));
                } else {
                    stayed += 1;
                }
            }
            assert_eq!((changed.removed, changed.unknown), (removed, gone.len() - removed));
            assert_eq!((changed.added, changed.replaced + changed.known), (added, stayed));
            assert_eq!(changed.replaced > 0, width > 0 && stayed > 0);
            assert_eq!(kept.items(), set.len());
            // An older base is still what it was.
            check(&kept, &base, &was);
            base.apply(BaseUpdate::read(&base.terms, file).unwrap()).unwrap();
            check(&kept, &base, &set);
            kept = Published::read(&kept.to_bytes()).unwrap();
            assert_eq!((kept.head(), kept.update()), (base.head(), base.update()));
        }
    }
}

#[test]
fn updates_are_taken_in_order_and_once() {
    let update = |kept: &mut Published, n: usize| {
        let set = Set { items: &items(n..n + 1), ..Set::default() };
        kept.change(&[], &set, 0, (Backend::detect(), &mut rng())).unwrap().0
    };
    let (mut kept, file) = publish(&items(0..10), 0, 0);
    let same = kept.to_bytes();
    let [one, two] = [20, 21].map(|n| update(&mut kept, n));
    // Another future of the same base: its update follows the same, and the next one does not.
    let mut fork = Published::read(&same).unwrap();
    let _ = update(&mut fork, 30);
    let other_two = update(&mut fork, 31);
    let base = || BaseFile::read(file.clone()).unwrap();
    let apply = |base: &mut BaseFile, file: &[u8]| base.apply(BaseUpdate::read(&base.terms, file.to_vec())?);
    let why = |base: &mut BaseFile, file: &[u8]| apply(base, file).unwrap_err().to_string();
    assert!(why(&mut base(), &two).contains("lacks those between"));
    let mut at_one = base();
    apply(&mut at_one, &one).unwrap();
    assert!(why(&mut at_one, &one).contains("has it already"));
    assert!(why(&mut at_one, &other_two).contains("published apart"));
    apply(&mut at_one, &two).unwrap();
    assert_eq!(at_one.head(), kept.head());
    // An update of another base: keys differ, and so do ids.
    let mut rng = rng();
    let mut other = Vec::new();
    rng.block();
    let mut out = |bytes: &[u8]| {
        other.extend_from_slice(bytes);
        Ok(())
    };
    Published::new(terms(0), &Set::default(), (Backend::detect(), &mut rng), &mut out).unwrap();
    assert!(why(&mut BaseFile::read(other).unwrap(), &one).contains("another base"));
}

/// An item whose payload changes is in two files. Under one key both together would be the sum of the two
/// payloads, for everybody to see.
#[test]
fn no_two_payloads_are_sealed_under_one_key() {
    let (item, width) = (items(0..1), 20);
    // A file ends with the only payload that it has, its tag, and the digest.
    let sealed = |file: &[u8]| file[file.len() - 32 - 16 - width..][..width].to_vec();
    let (mut kept, base) = publish(&item, width, 0);
    let mut all = vec![sealed(&base)];
    // Other names than the base's.
    let [mut rng, mut other] = [78, 79].map(|seed| Prg::new(Backend::detect(), Block::from_u128(seed)));
    for payload in [[0; 20], payload(&item, width).try_into().unwrap(), [0; 20]] {
        let set = Set { items: &item, payload: &payload, pad_to: 0 };
        // Two futures of one state, such as after a crash, are two files.
        let mut fork = Published::read(&kept.to_bytes()).unwrap();
        all.push(sealed(&fork.change(&[], &set, 0, (Backend::detect(), &mut other)).unwrap().0));
        all.push(sealed(&kept.change(&[], &set, 0, (Backend::detect(), &mut rng)).unwrap().0));
    }
    let sum = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| a ^ b).collect::<Vec<u8>>();
    let payloads = [vec![0; width], payload(&item, width)];
    for (at, one) in all.iter().enumerate() {
        for other in &all[..at] {
            assert!(!payloads.contains(&sum(one, other)), "files {all:?}");
        }
    }
}

/// Whatever goes has come before, also what only fills the list: everybody has the files, and would see what
/// is made up.
#[test]
fn dummies_go_that_have_come() {
    let ((mut kept, base), mut rng) = (publish(&items(0..20), 0, 50), rng());
    // Other dummies than the base's.
    rng.block();
    let bits = kept.terms.mask_bits();
    let list = |file: &[u8], from: usize, count: usize| {
        let list = MaskList::new(count, bits);
        let mut bytes = &file[from..from + list.len()];
        let mut masks = Vec::new();
        let mut fill = |buffer: &mut [u8]| {
            buffer.copy_from_slice(bytes.split_off(..buffer.len()).unwrap());
            Ok(())
        };
        list.read(&mut fill, |some| masks.extend_from_slice(some)).unwrap();
        (masks, from + list.len())
    };
    let (mut there, _) = list(&base, kept.terms.to_bytes().len() + 8, 50);
    for (from, gone) in [(0, 3), (3, 0), (3, 10), (13, 7)] {
        let update = kept.change(&items(from..from + gone), &Set::default(), 10, (Backend::detect(), &mut rng));
        let (file, changed) = update.unwrap();
        assert_eq!(changed.removed, gone);
        kept = Published::read(&kept.to_bytes()).unwrap();
        // Magic, version, id, name, number, what it follows, and the lengths of both lists.
        let (go, at) = list(&file, 16 + 4 + 32 + 32 + 8 + 32 + 16, 10);
        let (come, _) = list(&file, at, 10);
        assert!(go.iter().all(|mask| there.contains(mask)), "{gone} items go");
        there.retain(|mask| !go.contains(mask));
        there.extend(come);
        assert_eq!(there.len(), 50);
    }
    // More than are left cannot go, nor do few hide many; and nothing has changed then.
    let before = kept.to_bytes();
    let refused = kept.change(&[], &Set::default(), 60, (Backend::detect(), &mut rng));
    assert!(refused.unwrap_err().to_string().contains("only 50 dummies are left"));
    for (come, pad_to) in [(3, 2), (2, 1), (51, 50)] {
        let set = Set { items: &items(300..300 + come), ..Set::default() };
        let refused = kept.change(&[], &set, pad_to, (Backend::detect(), &mut rng)).unwrap_err().to_string();
        assert!(refused.contains(&format!("{come} masks come and 0 go, which {pad_to} cannot hide")), "{refused}");
    }
    let (mut few, _) = publish(&items(0..5), 0, 9);
    let refused = few.change(&items(0..4), &Set::default(), 3, (Backend::detect(), &mut rng)).unwrap_err();
    assert!(refused.to_string().contains("0 masks come and 4 go, which 3 cannot hide"), "{refused}");
    assert!(*kept.to_bytes() == *before);
}

#[test]
fn what_is_no_file_is_refused_in_words() {
    let (mut kept, file) = publish(&items(0..30), 4, 0);
    let set = Set { items: &items(40..43), payload: &[1; 12], pad_to: 0 };
    let (update, _) = kept.change(&items(0..2), &set, 0, (Backend::detect(), &mut rng())).unwrap();
    let state = kept.to_bytes().to_vec();
    let terms = BaseFile::read(file.clone()).unwrap().terms;
    let read = |kind: usize, bytes: &[u8]| match kind {
        0 => BaseFile::read(bytes.to_vec()).map(drop),
        1 => BaseUpdate::read(&terms, bytes.to_vec()).map(drop),
        _ => Published::read(bytes).map(drop),
    };
    // Whatever is changed in a file, its digest says so; with the digest made right, the words are about what is wrong.
    let sealed = |mut bytes: Vec<u8>| {
        let content = bytes.len() - 32;
        let digest = blake3::hash(&bytes[..content]);
        bytes[content..].copy_from_slice(digest.as_bytes());
        bytes
    };
    for (kind, good) in [file, update, state].iter().enumerate() {
        read(kind, good).unwrap();
        for at in (0..good.len()).step_by(11) {
            let mut bad = good.clone();
            bad[at] ^= 4;
            assert!(read(kind, &bad).is_err(), "byte {at}");
            // No panic, and no memory for what is only said.
            let _ = read(kind, &sealed(bad));
            let cut = read(kind, &good[..at]).unwrap_err().to_string();
            assert!(cut.contains("the file was not made by"), "{cut}");
        }
        let why = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bad = good.clone();
            change(&mut bad);
            read(kind, &sealed(bad)).unwrap_err().to_string()
        };
        assert!(why(&|bytes| bytes[16] = 9).contains("version 9"));
        assert!(why(&|bytes| bytes.push(0)).contains("something follows its end"));
        assert!(why(&|bytes| bytes.truncate(bytes.len() - 40)).contains("too early"));
        let other = read((kind + 1) % 3, good).unwrap_err().to_string();
        assert!(other.contains("another file of"), "{other}");
        assert!(
            read(kind, b"name,age\n1,2\nand so on, for more than a digest")
                .unwrap_err()
                .to_string()
                .contains("begin like")
        );
    }
}

#[test]
fn what_a_base_cannot_have_is_refused() {
    let why = |terms: BaseTerms, count: usize| {
        let set = items(0..count);
        let payload = payload(&set, terms.payload);
        let set = Set { items: &set, payload: &payload, pad_to: 0 };
        let made = Published::new(terms, &set, (Backend::detect(), &mut rng()), &mut |_| Ok(()));
        made.map(drop).unwrap_err().to_string()
    };
    assert!(why(BaseTerms { most: 4, ..terms(0) }, 5).contains("allow for more"));
    assert!(why(BaseTerms { most: 0, ..terms(0) }, 0).contains("at least 1"));
    assert!(why(BaseTerms { queries: 1 << 41, ..terms(0) }, 0).contains("at least 1"));
    assert!(why(BaseTerms { rho: 0, ..terms(0) }, 0).contains("rho = 0"));
    assert!(why(BaseTerms { payload: 1 << 17, ..terms(0) }, 0).contains("at most"));
    let long = "x".repeat((1 << 16) + 1);
    assert!(why(BaseTerms { header: long.clone().into(), ..terms(0) }, 0).contains("65536 bytes at most"));
    assert!(why(BaseTerms { encoding: long, ..terms(0) }, 0).contains("65536 bytes at most"));
    let twice = [items(0..1), items(0..1)].concat();
    let set = Set { items: &twice, ..Set::default() };
    let made = Published::new(terms(0), &set, (Backend::detect(), &mut rng()), &mut |_| Ok(()));
    assert!(made.err().unwrap().to_string().contains("item 1 is item 0 again"));
    let (mut kept, _) = publish(&items(0..4990), 0, 0);
    let (before, eleven) = (*kept.head(), items(6000..6011));
    let mut add = |items: &[Item]| {
        kept.change(&[], &Set { items, ..Set::default() }, 0, (Backend::detect(), &mut rng())).map(drop)
    };
    assert!(add(&eleven).unwrap_err().to_string().contains("publish a new one"));
    add(&eleven[1..]).unwrap();
    assert_ne!(*kept.head(), before);
    // What goes counts as what comes does, and neither has an item twice.
    let (mut kept, _) = publish(&items(0..4999), 0, 0);
    let mut change = |remove: &[Item], items: &[Item]| {
        let set = Set { items, ..Set::default() };
        kept.change(remove, &set, 0, (Backend::detect(), &mut rng())).map(drop).map_err(|error| error.to_string())
    };
    assert!(change(&twice, &[]).unwrap_err().contains("item 1 is item 0 again"));
    assert!(change(&[], &twice).unwrap_err().contains("item 1 is item 0 again"));
    assert!(change(&items(0..2), &[]).unwrap_err().contains("publish a new one"));
    change(&items(0..1), &[]).unwrap();
    assert!(change(&items(1..2), &[]).unwrap_err().contains("publish a new one"));
}

/// A list of these parts, with its digest.
fn sealed(parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    [&content[..], blake3::hash(&content).as_bytes()].concat()
}

/// Files whose digest is right and whose content cannot be.
#[test]
fn files_that_nobody_publishes_are_refused() {
    let why = |file: Vec<u8>| BaseFile::read(file).err().unwrap().to_string();
    let base = |terms: BaseTerms, count: u64, rest: &[u8]| sealed(&[&terms.to_bytes(), &count.to_le_bytes(), rest]);
    BaseFile::read(base(terms(0), 0, &[])).unwrap();
    let long = "x".repeat((1 << 16) + 1);
    assert!(why(base(BaseTerms { header: long.clone().into(), ..terms(0) }, 0, &[])).contains("too long"));
    assert!(why(base(BaseTerms { encoding: long, ..terms(0) }, 0, &[])).contains("too long"));
    assert!(why(base(BaseTerms { rho: 0, ..terms(0) }, 0, &[])).contains("rho = 0"));
    assert!(why(base(terms(0), 5001, &[])).contains("more masks than its terms allow"));
    let most = BaseTerms { most: 1 << 30, ..terms(0) };
    assert!(why(base(most.clone(), (1 << 28) + 1, &[])).contains("more masks than 268435456"));
    let mut latin = terms(0).to_bytes();
    *latin.last_mut().unwrap() = 0xe9;
    assert!(why(sealed(&[&latin, &[0; 8]])).contains("not UTF-8"));
    // A mask in the second of two upper parts where none is; a mask, and no payload behind it.
    let list = MaskList::new(1, terms(4).mask_bits());
    let mut masks = Vec::new();
    let mut append = |bytes: &[u8]| {
        masks.extend_from_slice(bytes);
        Ok(())
    };
    list.write(&[5], &mut append).unwrap();
    assert!(why(base(terms(4), 1, &masks)).contains("too early"));
    assert_eq!(BaseFile::read(base(terms(0), 1, &masks)).unwrap().masks(), 1);
    masks[0] ^= 3;
    assert!(why(base(terms(0), 1, &masks)).contains("not a sorted list"));
    // The same in an update, and in what the server keeps.
    let update = |counts: [u64; 2], rest: &[u8]| {
        let counts = counts.map(u64::to_le_bytes).concat();
        let head = [&[0; 32][..], &[0; 32], &1u64.to_le_bytes(), &[0; 32], &counts].concat();
        let file = sealed(&[file::UPDATE, &file::VERSION.to_le_bytes(), &head, rest]);
        BaseUpdate::read(&terms(0), file).map(drop).map_err(|error| error.to_string())
    };
    update([0, 0], &[]).unwrap();
    for counts in [[1, 0], [0, 1]] {
        assert!(update(counts, &masks).unwrap_err().contains("not a sorted list"));
        let more = counts.map(|count| count * ((1 << 28) + 1));
        assert!(update(more, &[]).unwrap_err().contains("more masks than 268435456"));
    }
    let state = |counts: [u64; 2], rest: &[u8]| {
        let (one, other) = rest.split_at(if counts[0] == 1 { rest.len() } else { 0 });
        let [first, second] = counts.map(u64::to_le_bytes);
        let before = [&file::VERSION.to_le_bytes()[..], &[7; 16], &most.to_bytes(), &[0; 8 + 32 + 8]].concat();
        let file = sealed(&[published::STATE, &before, &first, one, &second, other]);
        Published::read(&file).map(drop).map_err(|error| error.to_string())
    };
    state([0, 0], &[]).unwrap();
    let list = MaskList::new(1, most.mask_bits());
    for counts in [[1, 0], [0, 1]] {
        assert!(state(counts, &vec![0; list.len()]).unwrap_err().contains("not a sorted list"));
        assert!(state(counts.map(|count| count * ((1 << 28) + 1)), &[]).unwrap_err().contains("its set is too large"));
    }
}

/// Which dummies go is drawn: the first ones or the last would be known for dummies.
#[test]
fn any_dummies_go() {
    let gone = |seed: u128| {
        let (mut kept, _) = publish(&items(0..5), 0, 60);
        let mut rng = Prg::new(Backend::detect(), Block::from_u128(seed));
        // The name is drawn first: the update differs in that alone, if the same dummies go.
        let (file, _) = kept.change(&[], &Set::default(), 10, (Backend::detect(), &mut rng)).unwrap();
        let list = MaskList::new(10, kept.terms.mask_bits());
        file[16 + 4 + 32 + 32 + 8 + 32 + 16..][..list.len()].to_vec()
    };
    assert!(gone(1) != gone(2) && gone(2) != gone(3));
}

/// Each base has a key and a name of its own, and its updates are for it alone, also when they were read for it.
#[test]
fn an_update_is_for_its_base() {
    let publish = |seed: u128| {
        let (mut file, mut rng) = (Vec::new(), Prg::new(Backend::detect(), Block::from_u128(seed)));
        let mut out = |bytes: &[u8]| {
            file.extend_from_slice(bytes);
            Ok(())
        };
        let kept = Published::new(terms(0), &Set::default(), (Backend::detect(), &mut rng), &mut out).unwrap();
        (kept, BaseFile::read(file).unwrap())
    };
    let ((mut one, base), (other, mut others)) = (publish(1), publish(2));
    assert!(one.oprf.key() != other.oprf.key() && one.terms.id != other.terms.id);
    let (update, _) = one.change(&[], &Set::default(), 0, (Backend::detect(), &mut rng())).unwrap();
    let why = BaseUpdate::read(&others.terms, update.clone()).err().unwrap().to_string();
    assert!(why.contains("another base"), "{why}");
    let why = others.apply(BaseUpdate::read(&base.terms, update).unwrap()).unwrap_err().to_string();
    assert!(why.contains("another base"), "{why}");
}

/// A payload that was not sealed for its item is no match; masks are counted without those that went.
#[test]
fn what_was_not_sealed_for_an_item_is_not_found() {
    let (mut kept, file) = publish(&items(0..3), 4, 0);
    let end = file.len() - 32;
    let mut bad = file[..end].to_vec();
    bad[end - 1] ^= 1;
    let base = BaseFile::read(sealed(&[&bad])).unwrap();
    assert_eq!(ask(&kept, &base, &items(0..3)).matched.len(), 2);
    let mut base = BaseFile::read(file).unwrap();
    let (update, _) = kept.change(&items(0..2), &Set::default(), 0, (Backend::detect(), &mut rng())).unwrap();
    base.apply(BaseUpdate::read(&base.terms, update).unwrap()).unwrap();
    assert_eq!((base.masks(), base.update()), (1, 1));
}

/// Masks that are too short find items that are not there as often as they must; those of the terms none.
#[test]
fn items_are_found_by_chance_as_often_as_computed() {
    let (rho, most, queries) = (1, 1 << 12, 1);
    let short = BaseTerms { rho, most, queries, ..terms(0) };
    assert_eq!((short.mask_bits(), terms(0).mask_bits()), (13, 40 + 13 + 10));
    let mut file = Vec::new();
    let mut out = |bytes: &[u8]| {
        file.extend_from_slice(bytes);
        Ok(())
    };
    let set = items(0..1 << 12);
    let set = Set { items: &set, ..Set::default() };
    let kept = Published::new(short, &set, (Backend::detect(), &mut rng()), &mut out).unwrap();
    // 2^12 masks of 13 bits: about 1 - e^-0.5 = 39 of 100 items are found that are not there.
    let found = ask(&kept, &BaseFile::read(file).unwrap(), &items(10_000..11_000)).matched.len();
    assert!((300..500).contains(&found), "{found}");
    let (kept, file) = publish(&items(0..4096), 0, 0);
    assert!(ask(&kept, &BaseFile::read(file).unwrap(), &items(10_000..14_000)).matched.is_empty());
}

/// The file is the same for the same set in another order, and as long with another set.
#[test]
fn a_base_shows_a_size_and_nothing_of_the_order() {
    let (_, one) = publish(&items(0..300), 0, 0);
    let (_, other) = publish(&items((0..300).rev()), 0, 0);
    assert!(one == other);
    assert_eq!(publish(&items(500..700), 0, 300).1.len(), one.len());
}

//! A protocol of two materials: each is made, chosen and used up on its own, and nothing of one is lost where
//! the other is lacking.

use comity::{Adversary, Card, Error, Options, Params, Program, Protocol, Result, library};
use comity_core::PartyId;
use comity_protocol::{Ahead, CardKind, Corrupt, Goal, Job, Lot, Material, Need, Party, Press, Supplies, Takes};

use crate::stores::Stores;

/// A protocol that does nothing but use up a batch of ink and two of paper.
struct Pen;

const fn material(name: &'static str, units: &'static [&'static str]) -> Material {
    Material { name, program: false, from: None, options: &[], units }
}

static CARD: Card = Card {
    name: "pen",
    kind: CardKind::Protocol,
    paper: "none",
    parties: 2..=3,
    adversary: Adversary::Malicious,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: false,
    goal: Goal::Size,
    offline: &[material("ink", &["drops"]), material("paper", &["sheets"])],
    options: &[],
    phases: &[],
    summary: "",
    protects: "",
    risk: "",
    about: "",
};

fn need(material: &'static str, batches: u64) -> Need {
    Need { material, units: vec![batches], batches, bytes: 256 * batches }
}

impl Protocol for Pen {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn needs(&self, _: &Program, _: &Options, _: Params) -> Result<Vec<Need>> {
        Ok(vec![need("ink", 1), need("paper", 2)])
    }

    fn amount(&self, units: u64, _: &Options, _: Params) -> Result<Need> {
        Ok(need("ink", units))
    }

    fn run(&self, me: &mut Party<'_, '_>, _: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        let mut read = Vec::new();
        for (material, batches) in [("ink", 1), ("paper", 2)] {
            let shelf = from.shelf(material).expect("there is a store");
            for _ in 0..batches {
                shelf.take()?.expect("there are enough").read_to_end(&mut read).map_err(|e| Error::io("a test", e))?;
            }
        }
        assert_eq!(read, b"ink 0 paper 0 paper 1 ", "a batch of another material");
        // All are in the same session, which follows from both lots.
        for (peer, theirs) in me.net.tell(&me.here.session.to_bytes())?.iter() {
            assert_eq!(theirs[..], me.here.session.to_bytes(), "party {peer} is in another session");
        }
        Ok(())
    }

    fn prepare(&self, me: &mut Party<'_, '_>, of: &Ahead<'_>, _: &mut dyn Supplies, to: &mut dyn Press) -> Result<()> {
        let Need { material, batches, ref units, .. } = *of.make;
        to.put(me, &Lot { units: units.clone(), batches }, &mut |_, batch, out| {
            write!(out, "{material} {batch} ").map_err(|e| Error::io("a test", e))
        })
    }
}

/// What all parties come to in a run of a program whose inputs are theirs.
fn run(stores: &Stores, program: &Program) -> Vec<Result<()>> {
    let input = |me: u16| (me < 2).then(|| (usize::from(me), comity::Bits::from_bytes(&[me as u8], 8)));
    let ends = stores.all(|session, me, told| session.run_watched(program, input(me), told).map(drop));
    ends.into_iter().map(|(end, _)| end).collect()
}

#[test]
fn each_material_is_made_and_used_up_on_its_own() {
    for parties in [2, 3] {
        let stores = Stores::new("several", parties, &Pen);
        let program = library::program("add8").unwrap();
        let all = |left: u32| vec![left; usize::from(parties)];
        for (made, _) in stores.all(|session, _, told| session.prepare(&program, 1, 1 << 30, told)) {
            let made = made.unwrap();
            assert_eq!((made.count, made.unit), (1, "runs"));
        }
        assert_eq!((stores.left("ink"), stores.left("paper")), (all(1), all(2)));
        run(&stores, &program).into_iter().for_each(|end| end.unwrap());
        assert_eq!((stores.left("ink"), stores.left("paper")), (all(0), all(0)));
    }
}

#[test]
fn where_one_material_is_lacking_nothing_of_the_other_is_used_up() {
    let stores = Stores::new("lacking", 2, &Pen);
    let program = library::program("add8").unwrap();
    stores.all(|session, _, told| session.prepare_any(3, 1 << 30, told)).into_iter().for_each(|made| {
        assert_eq!(made.0.unwrap().unit, "drops");
    });
    for end in run(&stores, &program) {
        let error = end.unwrap_err();
        assert!(error.to_string().contains("no party has a lot of paper"), "{error}");
        assert!(error.party.is_none_or(|party| party < PartyId(2)));
    }
    assert_eq!((stores.left("ink"), stores.left("paper")), (vec![3, 3], vec![0, 0]));
}

#[test]
fn what_all_materials_take_together_is_held_to_the_limit() {
    let stores = Stores::new("limit", 2, &Pen);
    let program = library::program("add8").unwrap();
    // 256 bytes of ink and 512 of paper.
    for (limit, fits) in [(767, false), (4096, true)] {
        for (made, _) in stores.all(|session, _, told| session.prepare(&program, 1, limit, told)) {
            assert_eq!(made.is_ok(), fits);
        }
    }
}

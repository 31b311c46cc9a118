//! Where the triples and the OTs of a run come from: from OT, in the run, or from a store.
//!
//! All stored material is for any program, and but for adders the same as that of the protocols of single forms: triples
//! of bits are those of `gmw`, triples of words and OTs those of `arith`.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use comity_arith::Conversions;
use comity_arith::dealers::{
    ADDER_TABLES, MATERIALS, StoredWords, WordDealer, from_ot_over, need_of_adders, needs as needs_of_words,
};
use comity_circuit::Program;
use comity_core::{Error, Params, Result};
use comity_gmw::Gmw;
use comity_gmw::dealers::{BATCH, BitDealer, OtTriples, StoredTriples, TRIPLES};
use comity_ot::base::BaseOt;
use comity_ot::{AtLeast, SemiHonest};
use comity_protocol::{Default, Material, Need, Opt, Options, Party, Protocol, Shelf, Values};
use comity_share::triples::OtKind;

use crate::plans::{Plans, Taken};

/// All that a run can use up.
pub(crate) const STORED: [Material; 6] = {
    let [narrow, wide, first, second] = MATERIALS;
    [TRIPLES, narrow, wide, first, second, ADDER_TABLES]
};

/// The option that says when the adders are garbled by which words become labels.
pub(crate) const TABLES: Opt = Opt {
    name: "tables",
    values: Values::OneOf(&["online", "prepared"]),
    default: Default::Given("online"),
    agreed: true,
    about: "When the adders are garbled that make labels of words: online (996 bytes for 32 bits on a store), or prepared \
            (a store keeps their tables: 520 bytes, in a message more)",
};

/// Whether words become labels by adders of a store.
pub(crate) fn garbled_ahead(options: &Options) -> bool {
    options.word(TABLES.name) == "prepared"
}

/// What makes the material of a run. Each is asked for at most once, in a session of its own.
pub(crate) trait Source<'d> {
    /// Triples of words.
    fn words(&mut self, me: &mut Party<'_, '_>) -> Result<Box<dyn WordDealer + 'd>>;

    /// OTs for conversions, of party 1 as well if there are to be `both`.
    fn conversions(&mut self, me: &mut Party<'_, '_>, both: bool) -> Result<Conversions<'d>>;

    /// Whether the conversions have adders that were garbled ahead.
    fn has_adders(&self) -> bool;

    /// Triples of bits.
    fn bits(&mut self, me: &mut Party<'_, '_>) -> Result<Box<BitDealer<'d>>>;
}

/// Makes all by OT.
pub(crate) struct FromOt<B> {
    extension: OtKind,
    base: PhantomData<B>,
}

impl<B> FromOt<B> {
    pub(crate) fn new(extension: OtKind) -> FromOt<B> {
        FromOt { extension, base: PhantomData }
    }
}

impl<B: BaseOt<Model: AtLeast<SemiHonest>>> Source<'static> for FromOt<B> {
    fn words(&mut self, me: &mut Party<'_, '_>) -> Result<Box<dyn WordDealer>> {
        Ok(from_ot_over::<B>(me, self.extension)?)
    }

    fn conversions(&mut self, me: &mut Party<'_, '_>, both: bool) -> Result<Conversions<'static>> {
        Conversions::setup_over::<B>(me, self.extension, both)
    }

    fn has_adders(&self) -> bool {
        false
    }

    fn bits(&mut self, me: &mut Party<'_, '_>) -> Result<Box<BitDealer<'static>>> {
        Ok(Box::new(OtTriples::setup_over::<B>(me, self.extension)?))
    }
}

/// Takes all from shelves. Nothing is sent.
pub(crate) struct OnStore<'s>(pub(crate) BTreeMap<&'static str, &'s mut dyn Shelf>);

impl<'s> OnStore<'s> {
    fn two(&mut self, of: [Material; 2]) -> [Option<&'s mut dyn Shelf>; 2] {
        of.map(|material| self.0.remove(material.name))
    }
}

impl<'s> Source<'s> for OnStore<'s> {
    fn words(&mut self, _: &mut Party<'_, '_>) -> Result<Box<dyn WordDealer + 's>> {
        let [narrow, wide, ..] = MATERIALS;
        Ok(Box::new(StoredWords::new(self.two([narrow, wide]))))
    }

    fn conversions(&mut self, me: &mut Party<'_, '_>, _: bool) -> Result<Conversions<'s>> {
        let [.., first, second] = MATERIALS;
        Conversions::stored(me, self.two([first, second]), self.0.remove(ADDER_TABLES.name))
    }

    fn has_adders(&self) -> bool {
        self.0.contains_key(ADDER_TABLES.name)
    }

    fn bits(&mut self, _: &mut Party<'_, '_>) -> Result<Box<BitDealer<'s>>> {
        let lacking = || Error::invalid_input("the store has no triples for AND gates: prepare this program");
        let shelf = self.0.remove(TRIPLES.name).ok_or_else(lacking)?;
        Ok(Box::new(StoredTriples::new(shelf, BATCH)))
    }
}

/// What a run of these plans needs of a store.
pub(crate) fn needs(program: &Program, plans: &Plans, options: &Options, params: Params) -> Result<Vec<Need>> {
    let taken = plans.taken(program);
    // A run on a store uses something of it up.
    let nothing = !taken.multiplies() && taken.ands == 0 && taken.ots == [0; 2];
    let adders = garbled_ahead(options) && taken.opened > 0;
    let forth = if adders { taken.hashed() } else { taken.ots[0] };
    let Taken { products, matrices, ands, ots, .. } = taken;
    let mut needs = needs_of_words(&products, &matrices, if nothing { [1, 0] } else { [forth, ots[1]] });
    if adders {
        needs.push(need_of_adders(taken.adders, taken.labels));
    }
    if ands > 0 {
        needs.insert(0, Gmw.amount(ands, options, params)?);
    }
    Ok(needs)
}

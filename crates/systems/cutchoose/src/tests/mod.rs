//! Tests of whole runs, with parties that are honest but for one lie.

mod dealer;

pub(crate) use dealer::Dealer;

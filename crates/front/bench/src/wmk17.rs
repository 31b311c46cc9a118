//! The tables of Wang, Malozemoff and Katz (Eurocrypt 2017), each figure beside the paper's: two parties over
//! TCP on this machine, one thread each, on the paper's networks, two of them simulated.
//!
//! The paper measured on `c4.2xlarge` machines of Amazon's, one for each party but on localhost. What is slow
//! (the wide-area network, the largest programs) is measured only if its table is named.

mod parties;
mod single;
mod subjects;
mod table4;
mod table5;
mod table7;
mod table8;
mod text;

pub(crate) use table4::{RHO64, RHO80, TABLE4};
pub(crate) use table5::TABLE5;
pub(crate) use table7::TABLE7;
pub(crate) use table8::TABLE8;

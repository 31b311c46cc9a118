//! What the book says, held against what there is.

mod adding;
mod claims;
mod pages;
mod parties;
mod tables;
mod words;

//! The least AND depths that we know in print, and whose they are. The depth of some constructions is not in
//! print: what is counted is the construction as it was published, over adders of ⌈log2 n⌉ + 1 layers.

const SKLANSKY: &str = "Sklansky 1960";
const DADDA: &str = "Dadda 1965 over Sklansky 1960, counted";
const RESTORING: &str = "restoring over Sklansky 1960, counted";
const BP12: &str = "Boyar, Peralta 2012";
const CSA: &str = "carry-save over Sklansky 1960, counted";
const BATCHER: &str = "Batcher 1968 over Sklansky 1960, counted";
const TREE: &str = "a tree; optimal";

pub(super) const DEPTHS: &[(&str, u64, &str)] = &[
    ("aes128", 40, BP12),
    ("aes128table", 40, BP12),
    ("aes192", 48, BP12),
    ("aes256", 56, BP12),
    ("sha256", 518, CSA),
    ("keccak-f", 24, "Bristol Fashion files"),
    ("add32", 6, SKLANSKY),
    ("add64", 7, SKLANSKY),
    ("sub64", 7, SKLANSKY),
    ("addprefix64", 7, SKLANSKY),
    ("subprefix64", 7, SKLANSKY),
    ("mul32", 12, DADDA),
    ("mul64", 14, DADDA),
    ("mulfull64", 15, DADDA),
    ("div32", 193, RESTORING),
    ("div64", 449, RESTORING),
    ("eq64", 6, TREE),
    ("lt64", 7, SKLANSKY),
    ("le64", 7, SKLANSKY),
    ("gt64", 7, SKLANSKY),
    ("ge64", 7, SKLANSKY),
    ("slt64", 7, SKLANSKY),
    ("sle64", 7, SKLANSKY),
    ("sgt64", 7, SKLANSKY),
    ("sge64", 7, SKLANSKY),
    ("ltprefix64", 7, SKLANSKY),
    ("min64", 8, SKLANSKY),
    ("max64", 8, SKLANSKY),
    ("smin64", 8, SKLANSKY),
    ("smax64", 8, SKLANSKY),
    ("popcount64", 6, TREE),
    ("sort1024x32", 455, BATCHER),
    ("read1024x32", 10, TREE),
];

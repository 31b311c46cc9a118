//! AES's S-box and MixColumns as straight-line programs.
//!
//! The S-box is that of Boyar and Peralta ("A new combinational logic minimization technique with applications to
//! cryptology", SEA 2010), in the version with 32 ANDs and 81 XORs that the NIST circuit complexity project lists. The
//! ANDs are kept; the XORs were shortened to 78 by a random walk over equivalent programs: a gate is computed from other
//! wires, or (c ^ d) ^ e is turned into c ^ (d ^ e), and what nothing needs any more is dropped. MixColumns was found in
//! the same way, starting from its definition: 89 XORs, where that of Maximov (ePrint 2019/833) has 92. Both are held
//! against FIPS 197 by tests.

use crate::straight::{A, Straight, X};

/// The S-box without its final constant 0x63: 8 bits to 8, least significant first. 32 ANDs, 6 deep, and 78 XORs.
#[rustfmt::skip]
pub(super) const SBOX: Straight = Straight {
    gates: &[
        (X, 2, 4), (X, 1, 7), (X, 4, 7), (X, 2, 7), (X, 8, 9), (X, 1, 3), (X, 2, 13), (X, 10, 13), (X, 0, 15), (X, 6, 14),
        (X, 0, 17), (X, 5, 14), (X, 18, 19), (X, 4, 20), (X, 7, 20), (X, 9, 22), (X, 12, 21), (X, 16, 20), (X, 17, 25),
        (A, 12, 15), (A, 16, 24), (A, 0, 21), (A, 9, 19), (A, 20, 23), (A, 18, 22), (A, 10, 17), (X, 30, 33), (X, 27, 33),
        (A, 8, 26), (X, 31, 36), (X, 28, 36), (X, 35, 38), (X, 9, 37), (X, 10, 39), (X, 34, 40), (X, 17, 41), (X, 19, 42),
        (A, 11, 25), (X, 7, 45), (X, 29, 46), (X, 32, 46), (X, 38, 47), (X, 5, 49), (X, 40, 48), (X, 43, 50), (X, 44, 51),
        (A, 43, 44), (X, 52, 54), (X, 53, 54), (A, 50, 56), (X, 52, 57), (A, 51, 55), (X, 53, 59), (X, 56, 60),
        (X, 58, 60), (A, 53, 61), (X, 56, 63), (X, 44, 63), (X, 60, 65), (A, 58, 64), (X, 50, 67), (X, 66, 68),
        (X, 58, 68), (X, 65, 70), (A, 15, 65), (A, 16, 66), (A, 0, 60), (A, 19, 70), (X, 72, 75), (X, 74, 76),
        (X, 73, 76), (A, 20, 68), (A, 18, 58), (X, 77, 80), (A, 17, 62), (X, 75, 82), (A, 26, 71), (X, 79, 84),
        (X, 83, 85), (X, 77, 85), (A, 25, 69), (X, 87, 88), (A, 12, 65), (A, 24, 66), (A, 21, 60), (A, 9, 70),
        (A, 23, 68), (A, 22, 58), (A, 10, 62), (X, 93, 96), (X, 81, 97), (X, 89, 97), (X, 94, 98), (X, 95, 99),
        (A, 8, 71), (X, 91, 102), (X, 90, 103), (X, 92, 103), (X, 86, 104), (X, 96, 106), (X, 100, 102), (X, 89, 108),
        (X, 101, 105), (X, 78, 107), (X, 79, 111), (X, 86, 112), (X, 81, 113), (A, 11, 69), (X, 101, 115), (X, 86, 116),
    ],
    outputs: &[108, 109, 110, 114, 113, 117, 112, 107],
};

/// MixColumns of one column: bit i of the byte in row r is wire 8r + i. 89 XORs.
#[rustfmt::skip]
pub(super) const MIX_COLUMN: Straight = Straight {
    gates: &[
        (X, 15, 31), (X, 13, 29), (X, 14, 22), (X, 2, 26), (X, 7, 34), (X, 4, 28), (X, 20, 28), (X, 11, 32), (X, 23, 31),
        (X, 6, 22), (X, 19, 40), (X, 3, 11), (X, 1, 9), (X, 39, 42), (X, 12, 38), (X, 5, 13), (X, 33, 34), (X, 7, 15),
        (X, 6, 47), (X, 21, 38), (X, 18, 26), (X, 14, 30), (X, 36, 40), (X, 12, 45), (X, 27, 43), (X, 50, 53),
        (X, 21, 47), (X, 37, 58), (X, 48, 50), (X, 41, 54), (X, 9, 52), (X, 4, 46), (X, 43, 49), (X, 32, 53), (X, 18, 45),
        (X, 27, 37), (X, 40, 52), (X, 17, 62), (X, 16, 24), (X, 39, 67), (X, 29, 58), (X, 33, 63), (X, 24, 49),
        (X, 46, 64), (X, 51, 73), (X, 41, 57), (X, 49, 61), (X, 2, 69), (X, 55, 63), (X, 59, 73), (X, 10, 62),
        (X, 56, 68), (X, 55, 71), (X, 51, 72), (X, 57, 72), (X, 36, 65), (X, 71, 75), (X, 61, 65), (X, 35, 82),
        (X, 40, 70), (X, 1, 82), (X, 25, 69), (X, 48, 86), (X, 25, 44), (X, 0, 32), (X, 90, 93), (X, 90, 95), (X, 32, 64),
        (X, 8, 70), (X, 74, 96), (X, 10, 56), (X, 68, 93), (X, 49, 100), (X, 66, 102), (X, 35, 99), (X, 19, 106),
        (X, 0, 104), (X, 44, 101), (X, 91, 96), (X, 68, 106), (X, 91, 95), (X, 91, 108), (X, 105, 111), (X, 100, 101),
        (X, 17, 109), (X, 103, 113), (X, 74, 113), (X, 108, 109), (X, 103, 119),
    ],
    outputs: &[
        104, 117, 92, 114, 75, 76, 77, 78, 110, 120, 79, 105, 80, 81, 94, 54,
        118, 112, 97, 83, 84, 85, 86, 87, 115, 116, 98, 107, 88, 59, 60, 89,
    ],
};

//! `Act`: what a party is about to do with what it made. An honest party does it; the tests have parties that
//! are honest but for one lie, and a lie is another [`Conduct`](comity_protocol::Conduct).

use comity_core::Block;
use comity_garble::lockstep::CopyChoice;

use crate::copies::{CopySecret, Replica};
use crate::messages::{Answer, Decoded};

/// An act: something that is about to be used or sent. An honest party does not look at it.
#[cfg_attr(not(test), allow(dead_code, reason = "read by the liars of the tests"))]
pub(crate) enum Act<'a> {
    /// Online: the difference of the input from the random choices, bits as bytes.
    Difference(&'a mut [u8]),
    /// Before step 1: the copies that the evaluator chose.
    Choice(&'a mut CopyChoice),
    /// Step 1: the copies, from which all that follows is made.
    Copies(&'a mut [Replica]),
    /// Step 2: the two messages of OT `i`, a label of each copy in either, the first half for zero.
    Labels { i: usize, messages: &'a mut [Block] },
    /// Step 3: `R_{j,i,x[i]}` from bit `start` on.
    R { j: usize, start: usize, column: &'a mut [Block] },
    /// Step 3: the opening of the committing OT.
    Opening(&'a mut [u8; 48]),
    /// Step 4: the labels for zero of the bits from `start` on, as the garbler sends them and answers for them.
    Committed { j: usize, start: usize, zeros: &'a mut [Block] },
    /// Step 4: the labels of `x`, of the bits from `start` on.
    Opened { j: usize, start: usize, labels: &'a mut [Block] },
    /// Step 4: `N_j`.
    Masking { j: usize, label: &'a mut Block },
    /// Online, after step 4: the key of a copy's output tables.
    TableKey { j: usize, key: &'a mut [u8; 16] },
    /// Step 4: the challenge, as the evaluator tells it.
    Challenge(&'a mut Block),
    /// Step 4: the answer to the challenge.
    InputAnswer { j: usize, answer: &'a mut Answer },
    /// Step 5: tables, for each AND gate a row of all copies and another.
    Tables(&'a mut [Block]),
    /// Step 5, coded: the values of the code that are sent for some tables.
    Coded(&'a mut [Block]),
    /// Step 5, coded: the hash of the tables of a copy.
    TablesHash { j: usize, digest: &'a mut [u8; 32] },
    /// Step 5: the labels for zero of the next output bits, a row of all copies for each, with every copy.
    Outputs { rows: &'a mut [Block], copies: &'a [Replica] },
    /// Step 5: `H(Delta_{i,b})` of the next bits.
    Hashes(&'a mut [[u8; 32]]),
    /// Step 5: the rows `T_{j,i,0}`, `T_{j,i,1}` of the next bits.
    Rows { j: usize, table: &'a mut [Block] },
    /// Step 5: the commitment `c_j^T`, and the salt that opens it.
    OutputCommitment { j: usize, digest: &'a mut [u8; 32], salt: &'a mut [u8; 32] },
    /// Step 6: the outputs that the evaluator found, and `Omega`.
    Decoded(&'a mut Decoded),
    /// Step 7: `h` and `g1`.
    First(&'a mut [u8; 64]),
    /// Step 7: `h1`.
    Second(&'a mut [u8; 32]),
    /// Step 7: `Delta`, and every `Delta_{i,0}`.
    Delta(&'a mut [Block]),
    /// Step 7: `C_j`, and the seed that is encrypted.
    Answer { j: usize, point: &'a mut [u8; 32], seed: &'a mut Block },
    /// Step 8: the secret that the evaluator takes for `seed_j`.
    Recovered { j: usize, seed: &'a CopySecret },
    /// After step 9: the output bits that the evaluator passes on.
    Passed(&'a mut [u8]),
}

//! What every protocol must do, and the count of bytes.

use comity_testing::laws;

// A party that is lost after its last message, or that repeats it, is felt by nobody, and of its few messages
// many are last ones.
laws!(comity_sum::Sum, laws::Laws { felt: 70, ..laws::Laws::USUAL });

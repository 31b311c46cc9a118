//! What every protocol must do, and the count of bytes.

use comity_testing::laws;

laws!(comity_sum::Sum);

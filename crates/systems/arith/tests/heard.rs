//! What is heard of runs over dealt base OTs.

use comity_testing::laws::{Laws, listener};

use super::DEALT;

#[test]
fn law_listener_of_many() {
    listener(&DEALT, &Laws { listened: 400, ..Laws::USUAL });
}

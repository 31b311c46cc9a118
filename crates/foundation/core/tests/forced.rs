//! A process that is forced to a backend, which no other test may share.

use comity_core::Backend;

#[test]
fn a_forced_backend_is_the_only_one() {
    let [fastest, .., portable] = Backend::available()[..] else { return };
    assert_eq!(Backend::detect(), fastest);
    assert!(portable.force());
    assert_eq!((Backend::detect(), Backend::fastest()), (portable, fastest));
    assert!(!fastest.force() && portable.force());
    assert_eq!(Backend::detect(), portable);
}

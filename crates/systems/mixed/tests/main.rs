//! Mixed protocols.

use comity_mixed::Form;

#[test]
fn forms_are_found_by_their_names() {
    for form in Form::ALL {
        assert_eq!(Form::named(form.name()), Some(form));
        assert_eq!(form.to_string(), form.name());
    }
    assert_eq!(Form::named("words"), None);
}

//! Checks the message of one mistake at a time. Only errors that Kiln itself raises are covered, because the compiler's
//! own wording changes.

#[test]
fn every_mistake_is_an_error_at_its_place() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

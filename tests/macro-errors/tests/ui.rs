//! The messages of one mistake each. Only errors that Kiln raises, since the compiler's own wording changes.

#[test]
fn every_mistake_is_an_error_at_its_place() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

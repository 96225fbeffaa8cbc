//! The messages of one mistake each. Only errors that Kiln raises: the compiler's own wording moves.

#[test]
fn every_mistake_is_an_error_at_its_place() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

//! The properties of every importer for any text: no panic, an error with its place, and a text that was read once is
//! read the same after writing it. Fuzz targets (`fuzz/`) and the test of their kept inputs run the same functions.

mod definition;
mod oracle;
mod recording;
mod table;

/// An importer: its name, which is also that of its fuzz target and folder of kept inputs, and its check, which
/// panics if a property is violated.
pub type Importer = (&'static str, fn(&[u8]));

/// Every importer of foreign text.
pub const IMPORTERS: [Importer; 6] = [
    ("cache_file", recording::check),
    ("results_file", recording::check),
    ("definition", definition::check),
    ("t1", definition::check),
    ("expression", definition::check_expression),
    ("table", table::check),
];

/// Runs the check of the importer with this name.
///
/// # Panics
/// If a property is violated, or the importer does not exist.
pub fn check(name: &str, bytes: &[u8]) {
    let importer = IMPORTERS.iter().find(|importer| importer.0 == name);
    let (_, check) = importer.unwrap_or_else(|| panic!("there should be an importer `{name}`"));
    check(bytes);
}

/// Asserts that a text has this line; the end of a text counts as a line.
fn assert_line(text: &str, line: usize, message: &str) {
    let lines = text.matches('\n').count() + 1;
    assert!(
        (1..=lines).contains(&line),
        "line {line} of a text of {lines}: {message}"
    );
}

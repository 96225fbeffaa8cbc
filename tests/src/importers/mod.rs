//! Properties that every importer has for any text:
//!
//! - It does not panic.
//! - Its errors report the line.
//! - If it accepts a text, writing the data and reading the result gives the same data.
//!
//! The fuzz targets (`fuzz/`) and the test of their saved inputs run the same functions.

mod definition;
mod oracle;
mod recording;
mod table;

/// An importer: its name and its check. The fuzz target and the folder of saved inputs have the same name. The check
/// panics if a property is violated.
pub type Importer = (&'static str, fn(&[u8]));

/// All importers of foreign text.
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
/// If a property is violated, or if there is no importer of this name.
pub fn check(name: &str, bytes: &[u8]) {
    let importer = IMPORTERS.iter().find(|importer| importer.0 == name);
    let (_, check) = importer.unwrap_or_else(|| panic!("there should be an importer `{name}`"));
    check(bytes);
}

/// Asserts that a text has this line. The end of the text counts as a line.
fn assert_line(text: &str, line: usize, message: &str) {
    let lines = text.matches('\n').count() + 1;
    assert!(
        (1..=lines).contains(&line),
        "line {line} of a text of {lines}: {message}"
    );
}

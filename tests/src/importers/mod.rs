//! What must hold of every importer whatever text it is given: no panic, an error that says where, and what was read
//! once reads the same when it is written and read again. Fuzz targets (`fuzz/`) and the test of their kept inputs run
//! the same functions.

mod definition;
mod oracle;
mod recording;
mod table;

/// An importer: its name, which is that of its fuzz target and of its folder of kept inputs, and its check, which panics
/// where something does not hold.
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

/// Runs the check of the importer of that name.
///
/// # Panics
/// Where something does not hold, or there is no importer of that name.
pub fn check(name: &str, bytes: &[u8]) {
    let importer = IMPORTERS.iter().find(|importer| importer.0 == name);
    let (_, check) = importer.unwrap_or_else(|| panic!("there should be an importer `{name}`"));
    check(bytes);
}

/// A line that the text has; the end of a text counts as a line.
fn assert_line(text: &str, line: usize, message: &str) {
    let lines = text.matches('\n').count() + 1;
    assert!(
        (1..=lines).contains(&line),
        "line {line} of a text of {lines}: {message}"
    );
}

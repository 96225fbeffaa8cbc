//! Formats tables as aligned text.

use std::fmt::Write as _;

/// Aligns the cells of lines in columns. Each column is as wide as its widest cell, columns are two spaces apart, and
/// trailing spaces are removed.
pub(crate) fn columns(lines: &[Vec<String>]) -> String {
    // Names and messages come from files and other programs. Their control characters are replaced, because they could
    // move the cursor or forge a line.
    let plain = |cell: &String| cell.replace(|c: char| c.is_control(), " ");
    let lines: Vec<Vec<String>> = lines
        .iter()
        .map(|line| line.iter().map(plain).collect())
        .collect();
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..lines.iter().map(Vec::len).max().unwrap_or(0))
        .map(width)
        .collect();
    let mut text = String::new();
    for line in &lines {
        let mut out = String::new();
        for (cell, width) in line.iter().zip(&widths) {
            let pad = width - cell.chars().count();
            // Writing to a string does not fail.
            let _ = write!(out, "{cell}{}  ", " ".repeat(pad));
        }
        text += out.trim_end();
        text.push('\n');
    }
    text
}

//! Maps bytes of an expanded source to the files and lines that the author wrote.

use super::error::Location;
use super::lexer::{Token, TokenKind, lex_directive};

/// The `#line` markers and the line starts of one expanded text.
#[derive(Clone, Debug)]
pub struct LineMap {
    /// The first byte of each physical line.
    starts: Vec<usize>,
    /// For each marker: the byte after it, its physical line, and the file and line that it declares for the line after
    /// it.
    markers: Vec<(usize, usize, Location)>,
    /// The name of the file that contains the text before the first marker.
    root: String,
}

impl LineMap {
    /// Creates the map of `text`, whose tokens are `tokens`.
    pub fn new(text: &str, tokens: &[Token], root: &str) -> LineMap {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let mut map = LineMap {
            starts: [0]
                .into_iter()
                .chain(newlines.map(|(i, _)| i + 1))
                .collect(),
            markers: Vec::new(),
            root: root.to_owned(),
        };
        for directive in tokens.iter().filter(|token| token.is_directive()) {
            if let Some(location) = marker(text, directive) {
                let line = map.physical(directive.end);
                map.markers.push((directive.end, line, location));
            }
        }
        map
    }

    /// The number of physical lines that begin at or before a byte.
    fn physical(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset)
    }

    /// The author's file and line for a byte of the text.
    pub fn locate(&self, offset: usize) -> Location {
        let line = self.physical(offset);
        let marker = self.markers.partition_point(|(end, ..)| *end <= offset);
        let distance = |from: usize| u32::try_from(line.saturating_sub(from)).unwrap_or(u32::MAX);
        match marker.checked_sub(1).map(|i| &self.markers[i]) {
            // The location that the marker declares is that of the line after the marker.
            Some((_, at, named)) => Location {
                file: named.file.clone(),
                line: named.line.saturating_add(distance(at + 1)),
            },
            None => Location {
                file: self.root.clone(),
                line: distance(0),
            },
        }
    }
}

/// The location that a `#line` directive declares; `None` for other directives.
fn marker(text: &str, directive: &Token) -> Option<Location> {
    let inner = lex_directive(text, directive);
    let [name, line, file] = inner.as_slice() else {
        return None;
    };
    if !name.is_name(text, "line") || file.kind != TokenKind::Str {
        return None;
    }
    let file = file.text(text);
    let unquoted = file.trim_matches('"').replace("\\\"", "\"");
    Some(Location {
        file: unquoted.replace("\\\\", "\\"),
        line: line.text(text).parse().ok()?,
    })
}

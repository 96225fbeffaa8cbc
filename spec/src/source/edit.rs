//! Edits a text by replacing byte ranges.

use std::ops::Range;

use super::lexer::{Token, TokenKind, lex_directive};

/// Replacements of byte ranges of one text. They may be added in any order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    /// Replaces a range. If the new text has fewer line breaks than the range, the missing line breaks are added after
    /// it, so that line numbers do not change.
    pub fn replace(&mut self, text: &str, range: Range<usize>, with: &str) {
        let had = text[range.clone()].matches('\n').count();
        let has = with.matches('\n').count();
        let with = format!("{with}{}", "\n".repeat(had.saturating_sub(has)));
        self.0.push((range, with));
    }

    /// Inserts a text before the byte at `at`.
    pub fn insert(&mut self, at: usize, with: &str) {
        self.0.push((at..at, with.to_owned()));
    }

    /// Removes a range, but keeps its line breaks.
    pub fn blank(&mut self, text: &str, range: Range<usize>) {
        self.replace(text, range, "");
    }

    /// Removes the code in a range and the edits of it. Directives stay, because they may affect what follows.
    /// `directives` are the ranges of all directives of the text, in order.
    pub fn leave_out(&mut self, text: &str, range: &Range<usize>, directives: &[Range<usize>]) {
        self.forget(range);
        self.blank_code(text, range, directives);
    }

    /// Like [`Self::leave_out`], for a range that no other edit overlaps.
    pub fn blank_code(&mut self, text: &str, range: &Range<usize>, directives: &[Range<usize>]) {
        let first = directives.partition_point(|directive| directive.start < range.start);
        let inside = directives[first..].iter();
        let inside = inside.take_while(|directive| directive.end <= range.end);
        let mut start = range.start;
        for directive in inside.filter(|directive| shapes_lines(text, directive)) {
            self.blank(text, start..directive.start);
            start = directive.end;
        }
        self.blank(text, start..range.end);
    }

    /// Removes every edit that overlaps a range.
    fn forget(&mut self, range: &Range<usize>) {
        self.0
            .retain(|(edit, _)| edit.end <= range.start || edit.start >= range.end);
    }

    /// The text with all edits applied. Edits at the same position are applied in the order in which they were added.
    pub fn apply(self, text: &str) -> String {
        self.apply_within(text, 0..text.len())
    }

    /// The part of the text in `part`, with all edits applied. No edit may be outside this part.
    pub fn apply_within(mut self, text: &str, part: Range<usize>) -> String {
        self.0.sort_by_key(|(range, _)| range.start);
        let mut out = String::with_capacity(part.len() + 1024);
        let mut copied = part.start;
        for (range, with) in self.0 {
            // Edits should not overlap, because their ranges belong to different tokens or declarations. If two overlap
            // nevertheless, skip the second.
            if range.start < copied {
                continue;
            }
            out.push_str(&text[copied..range.start]);
            out.push_str(&with);
            copied = range.end;
        }
        out.push_str(&text[copied..part.end]);
        out
    }
}

/// Whether a directive in a function can affect lines after the function.
fn shapes_lines(text: &str, directive: &Range<usize>) -> bool {
    let token = Token {
        kind: TokenKind::Directive,
        start: directive.start,
        end: directive.end,
        line: 1,
    };
    let inner = lex_directive(text, &token);
    let word = |i: usize| inner.get(i).map(|token| token.text(text));
    match word(0).as_deref() {
        Some("pragma") => {
            let kept = ["pack", "pop_macro", "push_macro"];
            word(1).is_some_and(|word| kept.contains(&&*word))
        }
        Some("error" | "warning") | None => false,
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_keep_the_lines_of_what_they_replace() {
        let text = "one\ntwo three\nfour\nfive";
        let mut edits = Edits::default();
        edits.replace(text, 4..18, "2");
        edits.insert(0, "zero ");
        edits.blank(text, 19..23);
        assert_eq!(edits.apply(text), "zero one\n2\n\n");
    }
}

//! Finds the specifiers of a kernel: its first token and its launch bounds, with the directives among them.

use std::ops::Range;

use super::Walker;
use crate::source::kernel_function::matching;
use crate::source::lexer::TokenKind;

/// Specifiers that are followed by parentheses.
pub(super) const CALLS: [&str; 8] = [
    "__align__",
    "__attribute__",
    "__builtin_align__",
    "__declspec",
    "__launch_bounds__",
    "alignas",
    "decltype",
    "noexcept",
];

/// Words that can only be specifiers of the declaration that follows.
const WORDS: [&str; 6] = [
    "template",
    "extern",
    "static",
    "inline",
    "__forceinline__",
    "__launch_bounds__",
];

/// How a directive changes the nesting of `#if` groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nesting {
    /// `#if`, `#ifdef` or `#ifndef`.
    Opens,
    /// `#else` and its like.
    Divides,
    /// `#endif`.
    Closes,
}

impl Walker<'_> {
    /// The index of the first token of the declaration whose `__global__` is at `global`, and whether an `#if` group is
    /// only partly in its signature, which ends before `end`.
    ///
    /// The declaration begins at the start of the current statement, or after a directive or a macro call on an earlier
    /// line, but not after one of [`WORDS`].
    pub(super) fn declaration_start(&self, global: usize, end: usize) -> (usize, bool) {
        let first = self.first_specifier(global);
        let start = self.after_calls(first.unwrap_or(global));
        let Some(unmatched) = self.unmatched(start..end) else {
            return (start, false);
        };
        // `#if` may come before the first token, for example if `__global__` or launch bounds are conditional.
        let directives = (0..start)
            .rev()
            .take_while(|&i| self.tokens[i].is_directive());
        if let Some(whole) = { directives }.find(|&i| self.unmatched(i..end).is_none()) {
            return (whole, false);
        }
        let after = (unmatched..global).find(|&i| !self.tokens[i].is_directive());
        (after.unwrap_or(start), true)
    }

    /// The index of the first of [`WORDS`] in the current statement that is not in parentheses.
    fn first_specifier(&self, global: usize) -> Option<usize> {
        let mut i = self.run;
        while i < global {
            if WORDS.iter().any(|word| self.is_name(i, word)) {
                return Some(i);
            }
            if self.tokens[i].is_punct(b'(') {
                i = matching(&self.tokens, i).unwrap_or(i);
            }
            i += 1;
        }
        None
    }

    /// The index after the last directive and the last macro call on an earlier line, in the current statement before
    /// `end`. Such a call needs no semicolon.
    fn after_calls(&self, end: usize) -> usize {
        let mut start = self.run;
        let mut i = self.run;
        while i < end {
            let known = CALLS.iter().any(|call| self.is_name(i, call));
            if self.tokens[i].is_directive() {
                start = i + 1;
            } else if self.tokens[i].kind == TokenKind::Identifier
                && self.tokens[i + 1].is_punct(b'(')
                && let Some(close) = matching(&self.tokens, i + 1)
            {
                let next = self.tokens.get(close + 1);
                let next_line = next.is_some_and(|t| t.line > self.tokens[close].line);
                if !known && next_line && close < end {
                    start = close + 1;
                }
                i = close;
            }
            i += 1;
        }
        start
    }

    /// The index of the last directive in a range of tokens whose `#if` group is not completely in the range.
    fn unmatched(&self, range: Range<usize>) -> Option<usize> {
        let mut open = Vec::new();
        let mut unmatched = None;
        for i in range {
            match self.nesting(i) {
                Some(Nesting::Opens) => open.push(i),
                Some(Nesting::Divides) if open.is_empty() => unmatched = Some(i),
                Some(Nesting::Closes) if open.pop().is_none() => unmatched = Some(i),
                _ => {}
            }
        }
        open.last().copied().or(unmatched)
    }

    /// How the token at `i` changes the nesting; `None` if it does not.
    pub(super) fn nesting(&self, i: usize) -> Option<Nesting> {
        match self.directive_name(i)?.as_str() {
            "if" | "ifdef" | "ifndef" => Some(Nesting::Opens),
            "else" | "elif" | "elifdef" | "elifndef" => Some(Nesting::Divides),
            "endif" => Some(Nesting::Closes),
            _ => None,
        }
    }

    /// The launch bounds in the signature, as they are written in front of another function: `__launch_bounds__(..)` or,
    /// if they are conditional, several lines with their directives.
    pub(super) fn launch_bounds(
        &self,
        bounds: &[Range<usize>],
        signature: Range<usize>,
    ) -> Option<String> {
        let first = bounds.first()?;
        let text = |range: &Range<usize>| {
            let bytes = self.tokens[range.start].start..self.tokens[range.end].end;
            self.text[bytes]
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        };
        let mut directives = signature.clone().filter(|&i| self.nesting(i).is_some());
        if directives.next().is_none() {
            return Some(text(first));
        }
        let mut lines = String::new();
        for i in signature {
            if let Some(range) = bounds.iter().find(|range| range.start == i) {
                lines += &format!("\n{}", text(range));
            } else if self.nesting(i).is_some() {
                let token = self.tokens[i];
                lines += &format!("\n{}", &self.text[token.start..token.end]);
            }
        }
        Some(lines)
    }
}

//! Diagnostics: the mistakes in a spec, each with its position in the source and a help text.
//!
//! The macro converts [`Diagnostics`] to one `syn::Error`, so that rustc underlines every mistake. The command line
//! prints the same mistakes with file name, line and carets.

use std::fmt::Write as _;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};

/// The range from the first to the last token of a piece of source.
///
/// The range has two spans, because a procedural macro cannot join spans on stable Rust.
#[derive(Clone, Copy, Debug)]
pub struct SpanRange {
    /// Span of the first token.
    pub start: Span,
    /// Span of the last token.
    pub end: Span,
}

impl SpanRange {
    /// The range from the first to the last of these tokens. If there are none, it is the call site of the macro.
    pub fn of(tokens: &impl ToTokens) -> SpanRange {
        let mut spans = tokens.to_token_stream().into_iter().map(|t| t.span());
        let start = spans.next().unwrap_or_else(Span::call_site);
        SpanRange {
            start,
            end: spans.last().unwrap_or(start),
        }
    }

    /// The range from the start of this range to the end of another one.
    pub fn to(self, end: SpanRange) -> SpanRange {
        SpanRange {
            start: self.start,
            end: end.end,
        }
    }
}

impl From<Span> for SpanRange {
    fn from(span: Span) -> SpanRange {
        SpanRange {
            start: span,
            end: span,
        }
    }
}

/// One mistake in a spec.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The marked piece of the source.
    pub span: SpanRange,
    /// What is wrong. The text starts with a lower-case letter.
    pub message: String,
    /// A description of the marked piece, if the message does not describe it.
    pub label: Option<String>,
    /// How to correct the mistake, printed after `help:`.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A mistake at a position, without a label and without a help text.
    pub fn new(span: impl Into<SpanRange>, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            span: span.into(),
            message: message.into(),
            label: None,
            help: None,
        }
    }

    /// Adds a description of the marked piece of source.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = Some(label.into());
        self
    }

    /// Adds a help text.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Line (from 1) and column (from 1, in characters) of the marked piece's start in the parsed text.
    pub fn position(&self) -> (usize, usize) {
        let start = self.span.start.start();
        (start.line, start.column + 1)
    }

    /// Converts the mistake to an error that rustc shows at the marked piece of source.
    pub fn to_syn_error(&self) -> syn::Error {
        let mut text = self.message.clone();
        if let Some(label) = &self.label {
            let _ = write!(text, " ({label})");
        }
        if let Some(help) = &self.help {
            let _ = write!(text, "\nhelp: {help}");
        }
        let (start, end) = (
            Ident::new("start", self.span.start),
            Ident::new("end", self.span.end),
        );
        let tokens: TokenStream = quote!(#start #end);
        syn::Error::new_spanned(tokens, text)
    }

    /// Formats the mistake with the marked source line and carets under it. `text` is the content of the whole file.
    pub fn render(&self, file: &str, text: &str) -> String {
        let (line, column) = self.position();
        let mut out = format!("error: {}\n", self.message);
        let gutter = line.to_string().len();
        let _ = writeln!(out, "{:gutter$}--> {file}:{line}:{column}", "");
        if let Some(source) = text.lines().nth(line.saturating_sub(1)) {
            let shown: String = source.chars().map(printable).collect();
            let (indent, carets) = self.carets(source, line, column - 1);
            let label = self.label.as_deref().unwrap_or_default();
            let _ = writeln!(out, "{:gutter$} |", "");
            let _ = writeln!(out, "{line} | {}", shown.trim_end());
            let marked = format!("{indent}{carets} {label}");
            let _ = writeln!(out, "{:gutter$} | {}", "", marked.trim_end());
        }
        if let Some(help) = &self.help {
            let _ = writeln!(out, "{:gutter$} = help: {help}", "");
        }
        out
    }

    /// The indentation up to the column, and the carets. The indentation contains the line's tabs, so that the carets
    /// align. The carets end where the span ends, but at the latest at the end of its first line.
    fn carets(&self, source: &str, line: usize, column: usize) -> (String, String) {
        let indent = source
            .chars()
            .take(column)
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        let length = source.trim_end().chars().count();
        let end = self.span.end.end();
        let end = if end.line == line { end.column } else { length };
        (
            indent,
            "^".repeat(end.min(length).saturating_sub(column).max(1)),
        )
    }
}

fn printable(c: char) -> char {
    if c.is_control() && c != '\t' {
        '\u{fffd}'
    } else {
        c
    }
}

impl From<syn::Error> for Diagnostic {
    fn from(error: syn::Error) -> Diagnostic {
        let mut lines = error.to_string();
        let help = lines.find("\nhelp: ").map(|at| {
            let help = lines[at + "\nhelp: ".len()..].to_string();
            lines.truncate(at);
            help
        });
        // If spans cannot be joined, `error.span()` is the span of a single token. Take the span from the tokens of the
        // error, which cover both ends of the range.
        Diagnostic {
            span: SpanRange::of(&error.to_compile_error()),
            message: lines,
            label: None,
            help,
        }
    }
}

/// All mistakes that were found in one spec.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// An empty collection.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Appends a mistake.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Appends every error that a parser returned.
    pub fn push_syn(&mut self, error: syn::Error) {
        self.0.extend(error.into_iter().map(Diagnostic::from));
    }

    /// Appends all mistakes of another collection.
    pub fn append(&mut self, other: Diagnostics) {
        self.0.extend(other.0);
    }

    /// The number of mistakes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no mistakes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The mistakes, in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }

    /// Returns `value` if there are no mistakes.
    ///
    /// # Errors
    /// All mistakes, if there are any.
    pub fn into_result<T>(self, value: T) -> Result<T, Diagnostics> {
        if self.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }

    /// All mistakes as one error, for the macro. `None` if there are no mistakes.
    pub fn to_syn_error(&self) -> Option<syn::Error> {
        self.0
            .iter()
            .map(Diagnostic::to_syn_error)
            .reduce(|mut all, next| {
                all.combine(next);
                all
            })
    }

    /// All mistakes with their source lines, sorted by position, for the command line.
    pub fn render(&self, file: &str, text: &str) -> String {
        let mut sorted: Vec<_> = self.0.iter().collect();
        sorted.sort_by_key(|diagnostic| diagnostic.position());
        let rendered: Vec<_> = sorted.iter().map(|d| d.render(file, text)).collect();
        rendered.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(text: &str, from: usize, to: usize) -> Diagnostic {
        let tokens: TokenStream = text.parse().expect("the text should be Rust tokens");
        let spans: Vec<_> = tokens.into_iter().map(|token| token.span()).collect();
        let range = SpanRange {
            start: spans[from],
            end: spans[to],
        };
        Diagnostic::new(range, "wrong")
    }

    #[test]
    fn carets_stand_under_the_marked_tokens_and_tabs_line_up() {
        let text = "a b\n\tx + yy ;";
        let shown = mistake(text, 2, 4)
            .label("here")
            .help("mend it")
            .render("f.rs", text);
        assert_eq!(
            shown,
            " --> f.rs:2:2\n  |\n2 | \tx + yy ;\n  | \t^^^^^^ here\n  = help: mend it\n".replacen(
                " -->",
                "error: wrong\n -->",
                1
            )
        );
    }

    #[test]
    fn a_span_over_several_lines_is_marked_to_the_end_of_its_first() {
        let text = "alpha beta\ngamma";
        let shown = mistake(text, 1, 2).render("f.rs", text);
        assert!(
            shown.contains("1 | alpha beta\n  |       ^^^^\n"),
            "{shown}"
        );
    }

    #[test]
    fn columns_count_characters_and_control_characters_are_not_printed() {
        let text = "\"é\u{7}\" x";
        let shown = mistake(text, 1, 1).render("f.rs", text);
        assert!(shown.contains("f.rs:1:6"), "{shown}");
        assert!(shown.contains("\"é\u{fffd}\" x\n  |      ^\n"), "{shown}");
    }

    #[test]
    fn one_error_for_rustc_carries_every_mistake_and_its_help() {
        let mut all = Diagnostics::new();
        assert!(all.to_syn_error().is_none());
        all.push(mistake("a b", 0, 0).help("first"));
        all.push(mistake("a b", 1, 1).help("second"));
        let error = all.to_syn_error().expect("there should be an error");
        let messages: Vec<_> = error.into_iter().map(|e| e.to_string()).collect();
        assert_eq!(messages, ["wrong\nhelp: first", "wrong\nhelp: second"]);
    }

    #[test]
    fn mistakes_are_printed_in_the_order_of_the_file() {
        let text = "a b\nc d";
        let mut all = Diagnostics::new();
        all.push(mistake(text, 3, 3));
        all.push(mistake(text, 0, 0));
        let shown = all.render("f.rs", text);
        let first = shown.find("f.rs:1:1").expect("the first should be shown");
        assert!(first < shown.find("f.rs:2:3").expect("the second should be shown"));
    }
}

//! What is wrong with a spec, where, and what to do about it.
//!
//! The macro turns [`Diagnostics`] into one `syn::Error`, so that rustc underlines every mistake; the
//! command line prints the same values with file, line and carets.

use std::fmt::Write as _;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};

/// First to last token of a piece of source.
///
/// Two spans rather than one, because stable proc-macros cannot join spans.
#[derive(Clone, Copy, Debug)]
pub struct SpanRange {
    /// Span of the first token.
    pub start: Span,
    /// Span of the last token.
    pub end: Span,
}

impl SpanRange {
    /// The range of some tokens; the macro's call site where there are none.
    pub fn of(tokens: &impl ToTokens) -> SpanRange {
        let mut spans = tokens.to_token_stream().into_iter().map(|t| t.span());
        let start = spans.next().unwrap_or_else(Span::call_site);
        SpanRange {
            start,
            end: spans.last().unwrap_or(start),
        }
    }

    /// From the start of this range to the end of another.
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

/// One mistake.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Where it is.
    pub span: SpanRange,
    /// What is wrong, in lower case.
    pub message: String,
    /// What the marked piece is, where the message does not say it.
    pub label: Option<String>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A mistake at a place.
    pub fn new(span: impl Into<SpanRange>, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            span: span.into(),
            message: message.into(),
            label: None,
            help: None,
        }
    }

    /// Says what the marked piece is.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = Some(label.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Line (from 1) and column (from 1, in characters) where it starts, in the text that was parsed.
    pub fn position(&self) -> (usize, usize) {
        let start = self.span.start.start();
        (start.line, start.column + 1)
    }

    /// As an error that rustc shows at the span.
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

    /// With the marked line and carets under it; `text` is the whole file.
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

    /// Blanks up to the column (tabs kept, so that they line up) and carets to the end of the span or
    /// of its first line.
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
        // The error's own span is one token where spans cannot be joined; its tokens carry both ends.
        Diagnostic {
            span: SpanRange::of(&error.to_compile_error()),
            message: lines,
            label: None,
            help,
        }
    }
}

/// All mistakes of one spec.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// None yet.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds every error a parser returned.
    pub fn push_syn(&mut self, error: syn::Error) {
        self.0.extend(error.into_iter().map(Diagnostic::from));
    }

    /// Adds all of another collection.
    pub fn append(&mut self, other: Diagnostics) {
        self.0.extend(other.0);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In the order they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }

    /// The value, if nothing is wrong.
    ///
    /// # Errors
    /// The mistakes, if there are any.
    pub fn into_result<T>(self, value: T) -> Result<T, Diagnostics> {
        if self.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }

    /// All of them as one error, for the macro; `None` when nothing is wrong.
    pub fn to_syn_error(&self) -> Option<syn::Error> {
        self.0
            .iter()
            .map(Diagnostic::to_syn_error)
            .reduce(|mut all, next| {
                all.combine(next);
                all
            })
    }

    /// All of them with source lines, sorted by position, for the command line.
    pub fn render(&self, file: &str, text: &str) -> String {
        let mut sorted: Vec<_> = self.0.iter().collect();
        sorted.sort_by_key(|diagnostic| diagnostic.position());
        let rendered: Vec<_> = sorted.iter().map(|d| d.render(file, text)).collect();
        rendered.join("\n")
    }
}

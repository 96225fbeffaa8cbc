//! Finds the names in preprocessor directives.

use crate::source::lexer::{Token, TokenKind, lex_directive};

/// The identifiers among these tokens.
pub(super) fn names<'t>(text: &'t str, tokens: &'t [Token]) -> impl Iterator<Item = String> + 't {
    let names = tokens.iter().filter(|t| t.kind == TokenKind::Identifier);
    names.map(|t| t.text(text).into_owned())
}

/// The names that a directive uses, except those that it defines or tests.
pub(super) fn directive_names(text: &str, directive: &Token) -> Vec<String> {
    let inner = lex_directive(text, directive);
    let Some(name) = inner.first().map(|t| t.text(text)) else {
        return Vec::new();
    };
    match &*name {
        "define" => names(text, inner.get(2..).unwrap_or_default()).collect(),
        "if" | "elif" => {
            let mut used = Vec::new();
            let mut i = 1;
            while i < inner.len() {
                if inner[i].is_name(text, "defined") {
                    i += 1 + usize::from(inner.get(i + 1).is_some_and(|t| t.is_punct(b'(')));
                } else {
                    used.extend(names(text, &inner[i..=i]));
                }
                i += 1;
            }
            used
        }
        "pragma" => names(text, &inner[1..]).collect(),
        _ => Vec::new(),
    }
}

/// The name `X` in `#ifndef X`, `#if !defined(X)` or `#if !defined X`.
pub(super) fn guard_name(text: &str, inner: &[Token]) -> Option<String> {
    let name = match inner {
        [ifndef, name] if ifndef.is_name(text, "ifndef") => name,
        [_, not, defined, name] if not.is_punct(b'!') && defined.is_name(text, "defined") => name,
        [_, not, defined, open, name, close]
            if not.is_punct(b'!')
                && defined.is_name(text, "defined")
                && open.is_punct(b'(')
                && close.is_punct(b')') =>
        {
            name
        }
        _ => return None,
    };
    (name.kind == TokenKind::Identifier).then(|| name.text(text).into_owned())
}

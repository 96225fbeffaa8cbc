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

/// The names for which a directive tests whether they are defined.
pub(super) fn tested_names(text: &str, inner: &[Token]) -> Vec<String> {
    let Some(name) = inner.first().map(|t| t.text(text)) else {
        return Vec::new();
    };
    match &*name {
        "ifdef" | "ifndef" | "elifdef" | "elifndef" => {
            names(text, inner.get(1..2).unwrap_or_default()).collect()
        }
        "if" | "elif" => {
            let defined = (0..inner.len()).filter(|&i| inner[i].is_name(text, "defined"));
            let operand = |i: usize| {
                let is_open = inner.get(i + 1).is_some_and(|t| t.is_punct(b'('));
                names(text, inner.get(i + 1 + usize::from(is_open)..)?).next()
            };
            defined.filter_map(operand).collect()
        }
        _ => Vec::new(),
    }
}

/// The names in `#ifndef X` or `#if !defined(X) && !defined Y`; empty if the directive has another form.
pub(super) fn guard_names(text: &str, inner: &[Token]) -> Vec<String> {
    let named = |token: &Token| {
        (token.kind == TokenKind::Identifier).then(|| token.text(text).into_owned())
    };
    match inner {
        [ifndef, name] if ifndef.is_name(text, "ifndef") => named(name).into_iter().collect(),
        [first, condition @ ..] if first.is_name(text, "if") => {
            let terms = condition.split(|token| token.is_punct(b'&'));
            // `&&` is two tokens with nothing between them, which leaves an empty term.
            let terms = terms.filter(|term| !term.is_empty());
            let names: Option<Vec<String>> = terms
                .map(|term| match term {
                    [not, defined, rest @ ..]
                        if not.is_punct(b'!') && defined.is_name(text, "defined") =>
                    {
                        match rest {
                            [name] => named(name),
                            [open, name, close] if open.is_punct(b'(') && close.is_punct(b')') => {
                                named(name)
                            }
                            _ => None,
                        }
                    }
                    _ => None,
                })
                .collect();
            names.unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

//! Decides what the flattener does with a directive.

use std::ops::Range;

use super::lexer::{Token, TokenKind, lex_directive};

/// Headers that Kiln itself provides. An `#include` of such a header is left unchanged, because the hash of the
/// prelude covers the header.
pub const PRELUDE_HEADERS: &[&str] = &["kiln.cuh"];

/// Names by which a source asks whether the compiler sees every access, as it does in check builds.
const SANITIZER: [&str; 2] = ["__SANITIZE_THREAD__", "thread_sanitizer"];

/// What the flattener does with a directive.
#[derive(PartialEq)]
pub(super) enum Action {
    /// `#include ".."`
    Include(String),
    /// `#include <..>`
    Angled(String),
    Once,
    /// `#embed`
    Embed,
    Open,
    /// `#else` and its like.
    Divide,
    Close,
    Keep,
}

/// Decides what the flattener does with a directive. `None` for an `#include` of a macro.
pub(super) fn action(text: &str, directive: &Token) -> Option<Action> {
    let inner = lex_directive(text, directive);
    let Some(name) = inner.first() else {
        return Some(Action::Keep);
    };
    match &*name.text(text) {
        "include" | "include_next" | "import" => match inner.get(1) {
            Some(path) if path.kind == TokenKind::Str => {
                let path = path.text(text);
                let path = path.strip_prefix('"')?.strip_suffix('"')?;
                Some(if PRELUDE_HEADERS.contains(&path) {
                    Action::Keep
                } else {
                    Action::Include(path.to_owned())
                })
            }
            Some(open) if open.is_punct(b'<') => {
                let end = inner.iter().find(|token| token.is_punct(b'>'))?;
                let path = text.get(open.end..end.start);
                Some(Action::Angled(path.unwrap_or_default().to_owned()))
            }
            _ => None,
        },
        "pragma" if is_pragma_once(text, directive) => Some(Action::Once),
        "embed" => Some(Action::Embed),
        "if" | "ifdef" | "ifndef" => Some(Action::Open),
        "else" | "elif" | "elifdef" | "elifndef" => Some(Action::Divide),
        "endif" => Some(Action::Close),
        _ => Some(Action::Keep),
    }
}

/// Whether a directive asks for the thread sanitizer.
pub(super) fn asks_for_sanitizer(text: &str, directive: &Token) -> bool {
    let inner = lex_directive(text, directive);
    inner
        .iter()
        .any(|token| SANITIZER.contains(&&*token.text(text)))
}

/// A question of a directive whether a file exists, as in `__has_include("part.cuh")`.
pub(super) struct Question {
    /// The bytes of the question in the text.
    pub range: Range<usize>,
    /// The path.
    pub path: String,
    /// Whether the path is in angle brackets.
    pub is_angled: bool,
}

/// The questions of a directive, in order.
pub(super) fn questions(text: &str, directive: &Token) -> Vec<Question> {
    let inner = lex_directive(text, directive);
    let question = |place: usize| {
        let [name, open, path, ..] = inner.get(place..)? else {
            return None;
        };
        if !name.is_name(text, "__has_include") || !open.is_punct(b'(') {
            return None;
        }
        let is_angled = path.is_punct(b'<');
        let last = match is_angled {
            true => place + 2 + inner[place + 2..].iter().position(|t| t.is_punct(b'>'))?,
            false => place + 2,
        };
        let close = inner.get(last + 1).filter(|token| token.is_punct(b')'))?;
        let written = text.get(path.start..inner[last].end)?;
        let path = match is_angled {
            true => written.strip_prefix('<')?.strip_suffix('>')?,
            false => written.strip_prefix('"')?.strip_suffix('"')?,
        };
        Some(Question {
            range: name.start..close.end,
            path: path.trim().to_owned(),
            is_angled,
        })
    };
    (0..inner.len()).filter_map(question).collect()
}

pub(super) fn is_pragma_once(text: &str, token: &Token) -> bool {
    token.is_directive()
        && matches!(lex_directive(text, token).as_slice(),
            [pragma, once, ..] if pragma.is_name(text, "pragma") && once.is_name(text, "once"))
}

/// Whether the whole file is between `#ifndef X`, `#define X` and the matching `#endif`.
pub(super) fn has_guard(text: &str, tokens: &[Token]) -> bool {
    let [first, second, .., last] = tokens else {
        return false;
    };
    let operand = |token: &Token, directive: &str| -> Option<String> {
        let inner = lex_directive(text, token);
        let named = token.is_directive() && inner.first()?.is_name(text, directive);
        named.then(|| inner.get(1).map(|t| t.text(text).into_owned()))?
    };
    let closes = last.is_directive()
        && lex_directive(text, last)
            .first()
            .is_some_and(|t| t.is_name(text, "endif"));
    closes
        && operand(first, "ifndef").is_some()
        && operand(first, "ifndef") == operand(second, "define")
}

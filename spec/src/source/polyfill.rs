//! Finds a source's own versions of CUDA's functions, for GPUs that lack these functions.

use super::flatten::SourceText;
use super::lexer::{Token, TokenKind, lex, lex_directive};
use super::reach::Unit;
use super::scan::SourceScan;

/// Words in front of functions that cannot become templates, or are templates.
const UNSUITABLE: [&str; 4] = ["extern", "friend", "operator", "template"];

/// The offsets of the functions that may be versions of CUDA's functions for old GPUs, as in `#if __CUDA_ARCH__ < 530`.
/// As templates, they give way to functions of the same name and parameters that are not templates.
///
/// These are the functions at file scope under a condition with `__CUDA_ARCH__`, except those that are named elsewhere
/// than in calls and those that are declared before their definitions. There, a template would not do.
pub(crate) fn polyfills(source: &SourceText, scan: &SourceScan) -> Vec<usize> {
    let named: Vec<(&str, usize)> = { scan.units.iter() }
        .filter(|unit| is_suitable(scan, unit))
        .filter_map(|unit| Some((only(unit)?, unit.range.start)))
        .collect();
    if named.is_empty() {
        return Vec::new();
    }
    let text = source.text();
    let tokens = lex(text).unwrap_or_default();
    let found = named.into_iter().filter(|(name, _)| {
        let is_declared = |unit: &Unit| !unit.defines_function && unit.declares.contains(*name);
        is_only_called(text, &tokens, name) && !scan.units.iter().any(is_declared)
    });
    found.map(|(_, start)| start).collect()
}

/// Whether a declaration is a function that may become a template.
fn is_suitable(scan: &SourceScan, unit: &Unit) -> bool {
    let is_unsuitable = |word: &str| UNSUITABLE.contains(&word);
    let mut macros = { scan.macros.iter() }.filter(|found| unit.head.contains(&found.name));
    unit.depends_on_architecture
        && unit.defines_function
        && unit.kernel.is_none()
        && !unit.head.iter().any(|word| is_unsuitable(word))
        && !macros.any(|found| found.mentions.iter().any(|word| is_unsuitable(word)))
}

/// The only name that a declaration declares.
fn only(unit: &Unit) -> Option<&str> {
    let mut names = unit.declares.iter();
    names
        .next()
        .filter(|_| names.next().is_none())
        .map(|name| name.as_str())
}

/// Whether `(` follows each use of a name.
fn is_only_called(text: &str, tokens: &[Token], name: &str) -> bool {
    tokens
        .iter()
        .enumerate()
        .all(|(i, token)| match token.kind {
            TokenKind::Directive => {
                let inner = lex_directive(text, token);
                // `#define NAME` replaces the calls.
                let is_defined = inner
                    .get(1)
                    .is_some_and(|second| second.is_name(text, name));
                !is_defined && is_only_called(text, &inner, name)
            }
            _ => {
                !token.is_name(text, name)
                    || tokens.get(i + 1).is_some_and(|next| next.is_punct(b'('))
            }
        })
}

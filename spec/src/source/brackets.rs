//! Follows brackets in C++, where `<` and `>` are brackets of templates or operators.

use super::lexer::{Token, TokenKind};

/// The brackets that are open at a token.
#[derive(Clone, Debug, Default)]
pub(super) struct Brackets(Vec<u8>);

impl Brackets {
    /// Follows the token at an index. Outside parentheses, `<` and `>` are taken for brackets of a template. In
    /// parentheses they are operators, unless a template was opened there, as in `(pair<int, int>())`. `<<` is always an
    /// operator.
    pub fn step(&mut self, tokens: &[Token], i: usize) {
        let TokenKind::Punct(byte) = tokens[i].kind else {
            return;
        };
        let touches = |other: Option<&Token>| {
            other.is_some_and(|other| {
                other.is_punct(b'<')
                    && (other.start == tokens[i].end || other.end == tokens[i].start)
            })
        };
        let is_shift = || touches(tokens.get(i + 1)) || i > 0 && touches(tokens.get(i - 1));
        // `(x) < y`, `4 < N`, `x <= y` and `N < 4` compare numbers.
        let before = i.checked_sub(1).map(|before| tokens[before]);
        let next = tokens.get(i + 1);
        let compares = || {
            let has_space = before.is_some_and(|before| before.end < tokens[i].start);
            before.is_some_and(|t| t.is_punct(b')') || t.kind == TokenKind::Number)
                || next.is_some_and(|t| t.is_punct(b'=') && t.start == tokens[i].end)
                || next.is_some_and(|t| t.kind == TokenKind::Number && has_space)
        };
        let in_template = matches!(self.0.last(), None | Some(b'<' | b'{'));
        match byte {
            b'(' | b'[' | b'{' => self.0.push(byte),
            b'<' if in_template && !is_shift() && !compares() => self.0.push(byte),
            b'>' if self.0.last() == Some(&b'<') => {
                self.0.pop();
            }
            b')' | b']' | b'}' => {
                while let Some(open) = self.0.pop() {
                    if open != b'<' {
                        break;
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether no bracket is open.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The index of the `>` that closes the template arguments or parameters whose `<` is at `open`. `None` if another token
/// is there, or if nothing closes them before the end of the statement.
pub(super) fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    if !tokens.get(open)?.is_punct(b'<') {
        return None;
    }
    let mut brackets = Brackets::default();
    for (i, token) in tokens.iter().enumerate().skip(open) {
        brackets.step(tokens, i);
        if token.is_punct(b';') {
            return None;
        }
        if brackets.is_empty() {
            return token.is_punct(b'>').then_some(i);
        }
    }
    None
}

/// Splits tokens at the commas outside all brackets.
pub(super) fn split_commas(tokens: &[Token]) -> Vec<&[Token]> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut brackets = Brackets::default();
    for (i, token) in tokens.iter().enumerate() {
        brackets.step(tokens, i);
        if token.is_punct(b',') && brackets.is_empty() {
            parts.push(&tokens[start..i]);
            start = i + 1;
        }
    }
    parts.push(&tokens[start..]);
    parts
}

//! Evaluates the conditions of `#if` as far as the values of their macros are known.

use super::Truth;
use super::complete::complete;
use super::integer::{Integer, Value, combine};
use super::macros::{Macros, Word, words};
use crate::source::lexer::{Token, TokenKind};

/// Maximum nesting depth of operators.
const MAX_DEPTH: usize = 64;

/// The truth of a condition with these tokens. It is unknown if compilers would report an error.
pub(super) fn evaluate(text: &str, tokens: &[Token], macros: &Macros) -> Truth {
    let value = || {
        let words = complete(words(text, tokens), macros)?;
        let mut evaluation = Evaluation {
            words: &words,
            at: 0,
            depth: 0,
        };
        let value = evaluation.conditional()?;
        value.filter(|_| evaluation.at == words.len())
    };
    value().map_or(Truth::Unknown, |value| Truth::of(value.is_true()))
}

/// Parses and evaluates an expression without macros. Its functions return `None` if the words are not an expression,
/// and a [`Value`] otherwise.
struct Evaluation<'w> {
    words: &'w [Word],
    at: usize,
    depth: usize,
}

/// The binary operators, from the weakest to the strongest. All of them are left-associative.
const OPERATORS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Evaluation<'_> {
    /// Takes an operator, whose bytes are separate words.
    fn take(&mut self, operator: &str) -> bool {
        let found = |(i, byte): (usize, u8)| {
            let word = self.words.get(self.at + i);
            word.is_some_and(|word| word.is_punct(byte) && (i == 0 || !word.spaced))
        };
        let is_here = operator.bytes().enumerate().all(found);
        if is_here {
            self.at += operator.len();
        }
        is_here
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn conditional(&mut self) -> Option<Value> {
        let condition = self.binary(0)?;
        if !self.take("?") {
            return Some(condition);
        }
        let yes = self.deeper(Self::conditional)?;
        let no = self.take(":").then(|| self.deeper(Self::conditional))??;
        let (chosen, other) = match condition {
            Some(condition) if condition.is_true() => (yes, no),
            Some(_) => (no, yes),
            None if yes == no => (yes, no),
            None => (None, None),
        };
        Some(chosen.map(|chosen| other.map_or(chosen, |other| chosen.with(other))))
    }

    fn binary(&mut self, level: usize) -> Option<Value> {
        let Some(operators) = OPERATORS.get(level) else {
            return self.unary();
        };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.is_next(operator)) {
            self.take(operator);
            let right = self.binary(level + 1)?;
            left = combine(operator, left, right);
        }
        Some(left)
    }

    /// Whether exactly this operator is next: `<` is not next if `<<` or `<=` is.
    fn is_next(&mut self, operator: &str) -> bool {
        let longer = OPERATORS.iter().flat_map(|level| level.iter());
        let mut longer = longer.filter(|other| other.len() > 1 && operator.len() == 1);
        let at = self.at;
        let mut is_here = |operator: &str| {
            let found = self.take(operator);
            self.at = at;
            found
        };
        !longer.any(|other| other.starts_with(operator) && is_here(other)) && is_here(operator)
    }

    fn unary(&mut self) -> Option<Value> {
        for operator in ["!", "-", "+", "~"] {
            if self.take(operator) {
                let value = self.deeper(Self::unary)?;
                return Some(value.and_then(|value| value.unary(operator)));
            }
        }
        self.primary()
    }

    fn primary(&mut self) -> Option<Value> {
        if self.take("(") {
            let value = self.deeper(Self::conditional)?;
            return self.take(")").then_some(value);
        }
        let word = self.words.get(self.at)?;
        self.at += 1;
        match word.kind {
            TokenKind::Number => Some(Integer::of_literal(&word.text)),
            TokenKind::Char => Some(Integer::of_character(&word.text)),
            TokenKind::Identifier if word.is_unknown() => Some(None),
            // A name that is not a macro is 0.
            TokenKind::Identifier => Some(Some(Integer::from(word.text == "true"))),
            _ => None,
        }
    }
}

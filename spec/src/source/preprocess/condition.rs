//! Evaluates the conditions of `#if` as far as the values of their macros are known.

use std::cell::Cell;

use super::Truth;
use super::macros::{Macros, Word, words};
use crate::source::lexer::{Token, TokenKind};

/// Maximum nesting depth of macro expansions and of operators.
const MAX_DEPTH: usize = 32;

/// Maximum number of macros that are expanded for one condition.
const MAX_STEPS: usize = 10_000;

/// The truth of a condition with these tokens.
pub(super) fn evaluate(text: &str, tokens: &[Token], macros: &Macros) -> Truth {
    let words = words(text, tokens);
    let budget = Cell::new(MAX_STEPS);
    match Evaluation::of(&words, macros, 0, &budget) {
        Some(value) => value.map_or(Truth::Unknown, |value| Truth::of(value != 0)),
        None => Truth::Unknown,
    }
}

/// A number; `None` if it is not known.
type Value = Option<i64>;

/// Parses and evaluates an expression. Its functions return `None` if the words are not an expression, and a [`Value`]
/// otherwise.
struct Evaluation<'m> {
    words: &'m [Word],
    at: usize,
    macros: &'m Macros,
    depth: usize,
    /// Number of macros that may still be expanded.
    budget: &'m Cell<usize>,
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

impl<'m> Evaluation<'m> {
    fn of(
        words: &'m [Word],
        macros: &'m Macros,
        depth: usize,
        budget: &'m Cell<usize>,
    ) -> Option<Value> {
        let mut evaluation = Evaluation {
            words,
            at: 0,
            macros,
            depth,
            budget,
        };
        let value = evaluation.conditional()?;
        (evaluation.at == words.len()).then_some(value)
    }

    /// Takes an operator, whose bytes are separate tokens.
    fn take(&mut self, operator: &str) -> bool {
        let found = |(i, byte): (usize, u8)| {
            self.words
                .get(self.at + i)
                .is_some_and(|word| word.kind == TokenKind::Punct(byte) && (i == 0 || !word.spaced))
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
        Some(match condition {
            Some(0) => no,
            Some(_) => yes,
            None if yes == no => yes,
            None => None,
        })
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
                return Some(value.and_then(|value| match operator {
                    "!" => Some(i64::from(value == 0)),
                    "-" => value.checked_neg(),
                    "~" => Some(!value),
                    _ => Some(value),
                }));
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
            TokenKind::Number => Some(number(&word.text)),
            TokenKind::Char => Some(None),
            TokenKind::Identifier if word.text == "defined" => self.defined(),
            TokenKind::Identifier => self.name(&word.text),
            _ => None,
        }
    }

    fn defined(&mut self) -> Option<Value> {
        let parenthesised = self.take("(");
        let name = self.words.get(self.at).filter(|word| word.is_name())?;
        self.at += 1;
        if parenthesised && !self.take(")") {
            return None;
        }
        Some(match self.macros.is_defined(&name.text) {
            Truth::Unknown => None,
            truth => Some(i64::from(truth == Truth::True)),
        })
    }

    fn name(&mut self, name: &str) -> Option<Value> {
        // The value of a call, such as `__has_include(..)`, is not known.
        if self.take("(") {
            let mut open = 1;
            while open > 0 {
                match self.words.get(self.at)?.kind {
                    TokenKind::Punct(b'(') => open += 1,
                    TokenKind::Punct(b')') => open -= 1,
                    _ => {}
                }
                self.at += 1;
            }
            return Some(None);
        }
        match (name, self.macros.is_defined(name)) {
            ("true", _) => return Some(Some(1)),
            ("false", _) | (_, Truth::False) => return Some(Some(0)),
            _ => {}
        }
        let definition = self.macros.certain(name);
        // Operators next to the name may bind tighter than those of an expansion without parentheses.
        let is_alone = self.words.len() == 1;
        let body = definition.filter(|found| {
            found.params.is_none()
                && self.depth < MAX_DEPTH
                && (is_alone || is_primary(&found.body))
                && self.budget.get() > 0
        });
        let Some(found) = body else {
            return Some(None);
        };
        self.budget.set(self.budget.get() - 1);
        let value = Evaluation::of(&found.body, self.macros, self.depth + 1, self.budget);
        Some(value.flatten())
    }
}

/// Whether words are one operand: a single word, a negated one, or words in parentheses.
fn is_primary(words: &[Word]) -> bool {
    let mut depth = 0_usize;
    match words {
        [_] => true,
        [sign, _] => matches!(sign.kind, TokenKind::Punct(b'-' | b'+')),
        [first, .., last] => {
            let is = |word: &Word, byte| word.kind == TokenKind::Punct(byte);
            let closes_early = words[..words.len() - 1].iter().any(|word| {
                depth += usize::from(is(word, b'('));
                depth -= usize::from(is(word, b')') && depth > 0);
                depth == 0
            });
            is(first, b'(') && is(last, b')') && !closes_early
        }
        [] => false,
    }
}

fn combine(operator: &str, left: Value, right: Value) -> Value {
    match (operator, left, right) {
        ("&&", Some(0), _) | ("&&", _, Some(0)) => return Some(0),
        ("||", Some(x), _) | ("||", _, Some(x)) if x != 0 => return Some(1),
        _ => {}
    }
    let (x, y) = (left?, right?);
    let shift = u32::try_from(y).ok();
    match operator {
        "||" => Some(i64::from(x != 0 || y != 0)),
        "&&" => Some(i64::from(x != 0 && y != 0)),
        "|" => Some(x | y),
        "^" => Some(x ^ y),
        "&" => Some(x & y),
        "==" => Some(i64::from(x == y)),
        "!=" => Some(i64::from(x != y)),
        "<=" => Some(i64::from(x <= y)),
        ">=" => Some(i64::from(x >= y)),
        "<" => Some(i64::from(x < y)),
        ">" => Some(i64::from(x > y)),
        "<<" => x.checked_shl(shift?).filter(|_| x >= 0),
        ">>" => x.checked_shr(shift?),
        "+" => x.checked_add(y),
        "-" => x.checked_sub(y),
        "*" => x.checked_mul(y),
        "/" => x.checked_div(y),
        "%" => x.checked_rem(y),
        _ => None,
    }
}

/// The value of an integer literal; `None` if it does not fit, or if it is not an integer.
pub(in crate::source) fn number(text: &str) -> Value {
    let digits = text.replace('\'', "").to_ascii_lowercase();
    let digits = digits.trim_end_matches(['u', 'l']);
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x', ..] => (&digits[2..], 16),
        [b'0', b'b', ..] => (&digits[2..], 2),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    i64::from_str_radix(digits, radix).ok()
}

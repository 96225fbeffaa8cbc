//! What a condition of `#if` says about macros, so that two conditions that exclude each other are recognised.

use super::lexer::{Token, TokenKind};
use super::preprocess::number;

/// A statement that is true wherever a branch is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fact {
    /// The name of a macro, or the text of a condition.
    subject: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    /// Whether the macro is defined.
    Defined(bool),
    /// How the macro's value compares with a number or a name.
    Compared(Comparison, Operand),
    /// Whether the condition with this text holds.
    Holds(bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operand {
    Number(i64),
    Name(String),
}

impl Comparison {
    const ALL: [(&str, Comparison); 6] = [
        ("==", Comparison::Equal),
        ("!=", Comparison::Unequal),
        ("<=", Comparison::AtMost),
        (">=", Comparison::AtLeast),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
    ];

    fn holds(self, x: i64, y: i64) -> bool {
        match self {
            Comparison::Equal => x == y,
            Comparison::Unequal => x != y,
            Comparison::Less => x < y,
            Comparison::AtMost => x <= y,
            Comparison::Greater => x > y,
            Comparison::AtLeast => x >= y,
        }
    }

    /// The comparison that holds if and only if this one does not.
    fn negated(self) -> Comparison {
        match self {
            Comparison::Equal => Comparison::Unequal,
            Comparison::Unequal => Comparison::Equal,
            Comparison::Less => Comparison::AtLeast,
            Comparison::AtMost => Comparison::Greater,
            Comparison::Greater => Comparison::AtMost,
            Comparison::AtLeast => Comparison::Less,
        }
    }

    /// The comparison with its sides exchanged.
    fn mirrored(self) -> Comparison {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::AtMost => Comparison::AtLeast,
            Comparison::Greater => Comparison::Less,
            Comparison::AtLeast => Comparison::AtMost,
            same => same,
        }
    }
}

impl Fact {
    fn new(subject: impl Into<String>, test: Test) -> Fact {
        Fact {
            subject: subject.into(),
            test,
        }
    }

    /// What `#if`, `#ifdef`, `#ifndef` or the matching kind of `#elif` says. `tokens` are the tokens of the directive,
    /// from its name on.
    pub fn of_directive(text: &str, tokens: &[Token]) -> Vec<Fact> {
        let Some((name, operands)) = tokens.split_first() else {
            return Vec::new();
        };
        let name = name.text(text);
        match (&*name, operands) {
            ("ifdef" | "elifdef", [macro_name]) => {
                vec![Fact::new(macro_name.text(text), Test::Defined(true))]
            }
            ("ifndef" | "elifndef", [macro_name]) => {
                vec![Fact::new(macro_name.text(text), Test::Defined(false))]
            }
            ("if" | "elif", operands) if !operands.is_empty() => Fact::of_condition(text, operands),
            _ => Vec::new(),
        }
    }

    fn of_condition(text: &str, tokens: &[Token]) -> Vec<Fact> {
        let tokens = without_parentheses(tokens);
        let terms = split_and(tokens);
        if terms.len() == 1 {
            return vec![Fact::of_term(text, tokens, true)];
        }
        let whole = Fact::new(spelling(text, tokens), Test::Holds(true));
        let terms = terms
            .into_iter()
            .flat_map(|term| Fact::of_condition(text, term));
        std::iter::once(whole).chain(terms).collect()
    }

    /// What a condition without `&&` says. `holds` is whether the condition holds.
    fn of_term(text: &str, tokens: &[Token], holds: bool) -> Fact {
        let tokens = without_parentheses(tokens);
        let is_name = |token: &Token| token.kind == TokenKind::Identifier;
        match tokens {
            [not, rest @ ..] if not.is_punct(b'!') && is_operand(rest) => {
                return Fact::of_term(text, rest, !holds);
            }
            [defined, name] if defined.is_name(text, "defined") => {
                return Fact::new(name.text(text), Test::Defined(holds));
            }
            [defined, open, name, close]
                if defined.is_name(text, "defined")
                    && open.is_punct(b'(')
                    && close.is_punct(b')') =>
            {
                return Fact::new(name.text(text), Test::Defined(holds));
            }
            [name] if is_name(name) => {
                let comparison = if holds {
                    Comparison::Unequal
                } else {
                    Comparison::Equal
                };
                let test = Test::Compared(comparison, Operand::Number(0));
                return Fact::new(name.text(text), test);
            }
            _ => {}
        }
        Fact::of_comparison(text, tokens, holds)
            .unwrap_or_else(|| Fact::new(spelling(text, tokens), Test::Holds(holds)))
    }

    /// What `NAME == operand` or `operand < NAME` says.
    fn of_comparison(text: &str, tokens: &[Token], holds: bool) -> Option<Fact> {
        let is_operator =
            |token: &Token| matches!(token.kind, TokenKind::Punct(b'=' | b'!' | b'<' | b'>'));
        let at = tokens.iter().position(is_operator)?;
        let width = tokens[at..].iter().take_while(|t| is_operator(t)).count();
        let operator = spelling(text, &tokens[at..at + width]).replace(' ', "");
        let (_, comparison) = Comparison::ALL.iter().find(|(name, _)| *name == operator)?;
        let (left, right) = (&tokens[..at], &tokens[at + width..]);
        let name = |side: &[Token]| match without_parentheses(side) {
            [name] if name.kind == TokenKind::Identifier => Some(name.text(text).into_owned()),
            _ => None,
        };
        let operand = |side: &[Token]| match without_parentheses(side) {
            [one] if one.kind == TokenKind::Number => number(&one.text(text)).map(Operand::Number),
            [minus, one] if minus.is_punct(b'-') && one.kind == TokenKind::Number => {
                number(&one.text(text)).map(|x| Operand::Number(-x))
            }
            _ => name(side).map(Operand::Name),
        };
        let straight = || Some((name(left)?, *comparison, operand(right)?));
        let mirrored = || Some((name(right)?, comparison.mirrored(), operand(left)?));
        let (subject, comparison, operand) = straight().or_else(mirrored)?;
        let comparison = if holds {
            comparison
        } else {
            comparison.negated()
        };
        Some(Fact::new(subject, Test::Compared(comparison, operand)))
    }

    /// Returns the fact that the condition from which `facts` follow does not hold. `None` if there are no facts.
    pub fn negation(facts: &[Fact]) -> Option<Fact> {
        // If there are several facts, the first one states that the whole condition holds.
        let fact = facts.first()?;
        let test = match &fact.test {
            Test::Defined(is_defined) => Test::Defined(!is_defined),
            Test::Holds(holds) => Test::Holds(!holds),
            Test::Compared(comparison, operand) => {
                Test::Compared(comparison.negated(), operand.clone())
            }
        };
        Some(Fact::new(fact.subject.clone(), test))
    }

    /// The name that is not defined, if the fact says so of a name.
    pub fn undefined(&self) -> Option<&str> {
        (self.test == Test::Defined(false)).then_some(&self.subject)
    }

    /// Whether the two facts cannot both be true.
    pub fn excludes(&self, other: &Fact) -> bool {
        if self.subject != other.subject {
            return false;
        }
        match (&self.test, &other.test) {
            (Test::Defined(one), Test::Defined(two)) | (Test::Holds(one), Test::Holds(two)) => {
                one != two
            }
            // A name that is not defined is 0 in a condition.
            (Test::Defined(false), Test::Compared(comparison, Operand::Number(y)))
            | (Test::Compared(comparison, Operand::Number(y)), Test::Defined(false)) => {
                !comparison.holds(0, *y)
            }
            (Test::Compared(one, x), Test::Compared(two, y)) => match (x, y) {
                (Operand::Number(x), Operand::Number(y)) => no_number(*one, *x, *two, *y),
                (Operand::Name(x), Operand::Name(y)) if x == y => no_number(*one, 0, *two, 0),
                // Two choices of one parameter, such as `LAYOUT_row` and `LAYOUT_column`, are different numbers.
                (Operand::Name(x), Operand::Name(y)) => {
                    let is_choice = |name: &str| {
                        let rest = name.strip_prefix(&self.subject);
                        rest.is_some_and(|rest| rest.starts_with('_'))
                    };
                    let both_equal = *one == Comparison::Equal && *two == Comparison::Equal;
                    both_equal && is_choice(x) && is_choice(y)
                }
                _ => false,
            },
            _ => false,
        }
    }
}

/// Whether no number satisfies both comparisons, `one` with `x` and `two` with `y`. If any number does, then so does
/// `x`, `y`, or a number next to `x` or `y`.
fn no_number(one: Comparison, x: i64, two: Comparison, y: i64) -> bool {
    let near = |z: i64| [z.saturating_sub(1), z, z.saturating_add(1)];
    let mut candidates = near(x).into_iter().chain(near(y));
    !candidates.any(|z| one.holds(z, x) && two.holds(z, y))
}

/// Whether `!` before these tokens negates all of them.
fn is_operand(tokens: &[Token]) -> bool {
    let is_call = |rest: &[Token]| without_parentheses(rest).len() != rest.len();
    match tokens {
        [_] => true,
        [not, rest @ ..] if not.is_punct(b'!') => is_operand(rest),
        [first, rest @ ..] if first.kind == TokenKind::Identifier => {
            rest.len() == 1 && rest[0].kind == TokenKind::Identifier || is_call(rest)
        }
        _ => is_call(tokens),
    }
}

/// The tokens without parentheses around all of them.
fn without_parentheses(tokens: &[Token]) -> &[Token] {
    let [open, inner @ .., close] = tokens else {
        return tokens;
    };
    if !open.is_punct(b'(') || !close.is_punct(b')') {
        return tokens;
    }
    let mut depth = 0_i32;
    for token in inner {
        match token.kind {
            TokenKind::Punct(b'(') => depth += 1,
            TokenKind::Punct(b')') => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return tokens;
        }
    }
    without_parentheses(inner)
}

/// The terms of a condition that are joined by `&&` outside all parentheses. Returns one term if the condition also has
/// an operator that binds less tightly than `&&`.
fn split_and(tokens: &[Token]) -> Vec<&[Token]> {
    let mut terms = Vec::new();
    let (mut start, mut depth, mut i) = (0, 0_i32, 0);
    while i < tokens.len() {
        let is_twice = |byte: u8| {
            tokens[i].is_punct(byte) && tokens.get(i + 1).is_some_and(|next| next.is_punct(byte))
        };
        match tokens[i].kind {
            TokenKind::Punct(b'(') => depth += 1,
            TokenKind::Punct(b')') => depth -= 1,
            TokenKind::Punct(b'?') if depth == 0 => return vec![tokens],
            TokenKind::Punct(b'|') if depth == 0 && is_twice(b'|') => return vec![tokens],
            TokenKind::Punct(b'&') if depth == 0 && is_twice(b'&') => {
                terms.push(&tokens[start..i]);
                start = i + 2;
                i += 1;
            }
            _ => {}
        }
        i += 1;
    }
    terms.push(&tokens[start..]);
    terms
}

/// The tokens with single spaces between them.
fn spelling(text: &str, tokens: &[Token]) -> String {
    let words: Vec<_> = tokens.iter().map(|token| token.text(text)).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::lexer::{lex, lex_directive};

    fn facts(directive: &str) -> Vec<Fact> {
        let tokens = lex(directive).unwrap();
        Fact::of_directive(directive, &lex_directive(directive, &tokens[0]))
    }

    fn exclude(one: &[Fact], other: &[Fact]) -> bool {
        one.iter().any(|x| other.iter().any(|y| x.excludes(y)))
    }

    #[test]
    fn conditions_that_cannot_both_hold_exclude_each_other() {
        for (one, other) in [
            ("#ifdef A", "#ifndef A"),
            ("#ifdef A", "#if !defined(A)"),
            ("#if A", "#if !A"),
            ("#if A", "#if !(A)"),
            ("#ifndef A", "#if A"),
            ("#ifndef A", "#if A > 3"),
            ("#if A == 1", "#if A == 2"),
            ("#if A == 1", "#if (2 == (A))"),
            ("#if A < 3", "#if A >= 3"),
            ("#if 3 > A", "#if A > 0x10u"),
            ("#if A > 3", "#if A < 4"),
            ("#if A == -1", "#if A == 1"),
            ("#if A == 2 && B", "#if A == 3"),
            ("#if A && B == 1", "#if (B == 2) && !defined D"),
            ("#if A == A_row", "#if A == A_column"),
            ("#if A == A_row", "#if A != A_row"),
            ("#if A || B", "#if !(A || B)"),
        ] {
            assert!(exclude(&facts(one), &facts(other)), "{one}, {other}");
            assert!(exclude(&facts(other), &facts(one)), "{other}, {one}");
        }
    }

    #[test]
    fn conditions_that_may_both_hold_do_not() {
        for (one, other) in [
            ("#ifdef A", "#ifndef B"),
            ("#ifdef A", "#if !A"),
            ("#ifndef A", "#if A < 3"),
            ("#if A == 1", "#if B == 2"),
            ("#if A < 3", "#if A > 1"),
            ("#if A != 1", "#if A != 2"),
            ("#if A == ONE", "#if A == TWO"),
            ("#if A == 1 || B", "#if A == 2"),
            ("#if !A == 1", "#if A == 1 && C"),
            ("#if A + 1 == 1", "#if A == 1"),
            ("#if A ? 0 : B == 1", "#if B == 2"),
        ] {
            assert!(!exclude(&facts(one), &facts(other)), "{one}, {other}");
        }
    }

    #[test]
    fn the_negation_of_a_condition_excludes_it() {
        for condition in [
            "#ifdef A",
            "#if A",
            "#if A == 3",
            "#if A && B",
            "#if A || B",
        ] {
            let facts = facts(condition);
            let negation = Fact::negation(&facts).unwrap();
            assert!(exclude(&facts, &[negation]), "{condition}");
        }
    }
}

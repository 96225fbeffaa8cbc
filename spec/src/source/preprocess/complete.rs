//! Expands all macros of a condition, as compilers do (C++17, 19.3).

use super::Truth;
use super::macros::{Macros, Word};
use super::substitute::{arguments, substitute};
use crate::source::lexer::TokenKind;

/// Maximum number of words that the expansion of one condition reads.
const MAX_STEPS: usize = 10_000;

/// Maximum nesting depth of arguments, and of macros whose replacements are single names.
const MAX_DEPTH: usize = 32;

/// The operators that are names.
const OPERATORS: [(&str, &str); 7] = [
    ("and", "&&"),
    ("bitand", "&"),
    ("bitor", "|"),
    ("compl", "~"),
    ("not", "!"),
    ("or", "||"),
    ("xor", "^"),
];

/// The words of a condition after the expansion of all macros. `defined X` becomes a number. A macro whose definition is
/// not known becomes an operand whose value is not known ([`Word::unknown`]); the definitions of the targets, of headers
/// and of the config are taken to be operands, such as numbers. `None` if the expansion is not known, or if compilers
/// would report an error.
pub(super) fn complete(words: Vec<Word>, macros: &Macros) -> Option<Vec<Word>> {
    let mut completion = Completion {
        macros,
        steps: MAX_STEPS,
        depth: 0,
    };
    completion.expand(words, Vec::new())
}

enum Item {
    Word(Word),
    /// The end of the replacement of the macro that was opened last.
    End,
}

/// The words that are still to be read, the last one first, and the macros in whose replacements they are.
struct Input {
    items: Vec<Item>,
    open: Vec<String>,
    /// Whether the word before the next one has another origin, so that they are not one operator.
    is_apart: bool,
}

impl Input {
    fn new(words: Vec<Word>, open: Vec<String>) -> Input {
        let items = words.into_iter().rev().map(Item::Word).collect();
        Input {
            items,
            open,
            is_apart: false,
        }
    }

    fn next(&mut self) -> Option<Word> {
        loop {
            match self.items.pop()? {
                Item::End => {
                    self.open.pop();
                    self.is_apart = true;
                }
                Item::Word(mut word) => {
                    word.spaced |= std::mem::take(&mut self.is_apart);
                    return Some(word);
                }
            }
        }
    }

    /// Whether the next word is an opening parenthesis.
    fn is_call(&self) -> bool {
        let mut words = self.items.iter().rev().filter_map(|item| match item {
            Item::Word(word) => Some(word),
            Item::End => None,
        });
        words.next().is_some_and(|word| word.is_punct(b'('))
    }

    /// Takes the words of a call, from the opening to the closing parenthesis.
    fn call(&mut self) -> Option<Vec<Word>> {
        let mut words = Vec::new();
        let mut depth = 0_usize;
        loop {
            let word = self.next()?;
            depth += usize::from(word.is_punct(b'('));
            depth -= usize::from(word.is_punct(b')'));
            words.push(word);
            if depth == 0 {
                return Some(words);
            }
        }
    }

    /// Puts the replacement of a macro before the other words.
    fn push(&mut self, name: String, replacement: Vec<Word>) {
        self.is_apart = true;
        self.open.push(name);
        self.items.push(Item::End);
        let words = replacement.into_iter().rev().map(Item::Word);
        self.items.extend(words);
    }
}

struct Completion<'m> {
    macros: &'m Macros,
    /// Number of words that may still be read.
    steps: usize,
    /// Nesting depth of arguments.
    depth: usize,
}

impl Completion<'_> {
    /// Expands all macros in words that are in the replacements of the macros `open`.
    fn expand(&mut self, words: Vec<Word>, open: Vec<String>) -> Option<Vec<Word>> {
        let mut input = Input::new(words, open);
        let mut out = Vec::new();
        while let Some(mut word) = input.next() {
            self.steps = self.steps.checked_sub(1)?;
            if !word.is_name() || word.is_unknown() || word.is_painted {
                out.push(word);
            } else if word.text == "defined" {
                out.push(self.defined(&mut input)?);
            } else if input.open.contains(&word.text) {
                word.is_painted = true;
                out.push(word);
            } else if let Some((_, operator)) =
                OPERATORS.iter().find(|(name, _)| *name == word.text)
            {
                let bytes = operator.bytes().enumerate();
                out.extend(
                    bytes.map(|(i, byte)| {
                        Word::new(char::from(byte), TokenKind::Punct(byte), i == 0)
                    }),
                );
                input.is_apart = true;
            } else {
                self.name(word, &mut input, &mut out)?;
            }
        }
        Some(out)
    }

    /// Follows a name that may be a macro.
    fn name(&mut self, word: Word, input: &mut Input, out: &mut Vec<Word>) -> Option<()> {
        let is_literal = ["true", "false"].contains(&&*word.text);
        if is_literal || self.macros.is_defined(&word.text) == Truth::False {
            out.push(word);
            return Some(());
        }
        let Some(definition) = self.macros.certain(&word.text) else {
            if !self.is_operand(&word, 0) {
                return None;
            }
            // The value of a call, such as `__has_include(..)`, is not known.
            if input.is_call() {
                input.call()?;
            }
            out.push(Word::unknown());
            return Some(());
        };
        if definition.params.is_some() && !input.is_call() {
            out.push(word);
            return Some(());
        }
        let mut given = Vec::new();
        let mut expanded = Vec::new();
        if definition.params.is_some() {
            given = arguments(definition, &input.call()?)?.0;
            self.depth += 1;
            for argument in &given {
                // Whether compilers expand the name after `defined` in an argument is not specified.
                let asks = argument.iter().any(|word| word.text == "defined");
                if asks || self.depth > MAX_DEPTH {
                    return None;
                }
                expanded.push(self.expand(argument.clone(), input.open.clone())?);
            }
            self.depth -= 1;
        }
        let replacement = substitute(definition, &given, &expanded)?;
        input.push(word.text, replacement);
        Some(())
    }

    /// The value of `defined X` or `defined(X)`, after the word `defined`.
    fn defined(&self, input: &mut Input) -> Option<Word> {
        let mut name = input.next()?;
        let is_parenthesised = name.is_punct(b'(');
        if is_parenthesised {
            name = input.next()?;
        }
        let is_closed = !is_parenthesised || input.next()?.is_punct(b')');
        if !name.is_name() || !is_closed {
            return None;
        }
        let number = |text: &str| Word::new(text, TokenKind::Number, true);
        Some(match self.macros.is_defined(&name.text) {
            Truth::True => number("1"),
            Truth::False => number("0"),
            Truth::Unknown => Word::unknown(),
        })
    }

    /// Whether every definition that a name may have is one operand: operators next to the name do not bind to a part
    /// of it.
    fn is_operand(&self, name: &Word, depth: usize) -> bool {
        let mut definitions = self.macros.possible(&name.text).iter();
        let is = |word: &Word, byte| word.is_punct(byte);
        depth < MAX_DEPTH
            && definitions.all(|definition| match definition.body.as_slice() {
                [only] if only.is_name() => {
                    definition.params.is_none() && self.is_operand(only, depth + 1)
                }
                [_] => true,
                [sign, only] if is(sign, b'-') || is(sign, b'+') => only.kind == TokenKind::Number,
                [defined, _] => defined.text == "defined",
                [defined, open, _, close] if defined.text == "defined" => {
                    is(open, b'(') && is(close, b')')
                }
                body => is_parenthesised(body),
            })
    }
}

/// Whether words are in parentheses, of which the first one closes at the end.
fn is_parenthesised(words: &[Word]) -> bool {
    let mut depth = 0_usize;
    let Some((last, before)) = words.split_last() else {
        return false;
    };
    let closes_early = before.iter().any(|word| {
        depth += usize::from(word.is_punct(b'('));
        depth -= usize::from(word.is_punct(b')') && depth > 0);
        depth == 0
    });
    last.is_punct(b')') && !closes_early
}

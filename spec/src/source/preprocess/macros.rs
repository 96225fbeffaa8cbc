//! The macros that are defined at a position of a source, as far as they are known.

use std::collections::BTreeMap;

use super::Truth;
use crate::source::lexer::{Token, TokenKind};

/// Macros of operating systems and compilers that no target of Kiln has.
const NOT_DEFINED: [&str; 6] = [
    "WIN32",
    "_WIN32",
    "_WIN64",
    "_MSC_VER",
    "__APPLE__",
    "__MINGW32__",
];

/// The name of the last parameter of a macro that takes any number of arguments.
const VARIADIC: &str = "__VA_ARGS__";

/// A definition of a macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Definition {
    /// The names of the parameters; `None` for a macro without a parameter list.
    pub params: Option<Vec<String>>,
    /// Whether the last parameter takes any number of arguments.
    pub is_variadic: bool,
    /// The replacement. Each word has the white space that separates it from the word before it, which is empty or one
    /// space.
    pub body: Vec<Word>,
}

/// A token of a replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub text: String,
    pub kind: TokenKind,
    /// Whether white space precedes the token.
    pub spaced: bool,
    /// Whether the token is the last one of an argument.
    pub ends_argument: bool,
    /// Whether the token is the name of a macro in its own expansion, which is not expanded again.
    pub is_painted: bool,
}

impl Word {
    pub fn new(text: impl Into<String>, kind: TokenKind, spaced: bool) -> Word {
        Word {
            text: text.into(),
            kind,
            spaced,
            ends_argument: false,
            is_painted: false,
        }
    }

    /// An operand whose value is not known: a name without a text.
    pub fn unknown() -> Word {
        Word::new("", TokenKind::Identifier, true)
    }

    pub fn is_unknown(&self) -> bool {
        self.text.is_empty()
    }

    pub fn is_punct(&self, byte: u8) -> bool {
        self.kind == TokenKind::Punct(byte)
    }

    pub fn is_name(&self) -> bool {
        self.kind == TokenKind::Identifier
    }
}

/// Converts tokens to words.
pub(super) fn words(text: &str, tokens: &[Token]) -> Vec<Word> {
    let mut end = None;
    let word = |token: &Token| {
        let spaced = end.is_some_and(|end| end != token.start);
        end = Some(token.end);
        Word::new(token.text(text), token.kind, spaced)
    };
    tokens.iter().map(word).collect()
}

/// What is known about a name.
#[derive(Clone, Debug, Default)]
struct Known {
    /// Whether a macro of this name is defined; `None` if that is not known.
    defined: Option<bool>,
    /// The definitions that may be in force. There are several if their conditions are not known.
    definitions: Vec<Definition>,
    /// Whether a definition from elsewhere, such as the config, may be in force instead.
    may_be_given: bool,
}

impl Known {
    fn certain(definition: Definition) -> Known {
        Known {
            defined: Some(true),
            definitions: vec![definition],
            may_be_given: false,
        }
    }
}

/// What is known about macros. A name that is not in the map may be a parameter of the config, a macro of a compiler or
/// a macro of a header.
#[derive(Debug)]
pub(super) struct Macros(BTreeMap<String, Known>);

impl Macros {
    /// Returns what is known before the first line of a source.
    pub fn new() -> Macros {
        let name = |text: &str| Word::new(text, TokenKind::Identifier, true);
        let one = Definition {
            params: None,
            is_variadic: false,
            body: vec![Word::new("1", TokenKind::Number, false)],
        };
        // HIP's headers define this macro. It is known here because the scan must see the words that it hides.
        let mut body: Vec<Word> = ["extern", "__shared__", "type", "var"].map(name).into();
        body[0].spaced = false;
        body.push(Word::new("[", TokenKind::Punct(b'['), false));
        body.push(Word::new("]", TokenKind::Punct(b']'), false));
        body.push(Word::new(";", TokenKind::Punct(b';'), false));
        let dynamic = Definition {
            params: Some(vec!["type".into(), "var".into()]),
            is_variadic: false,
            body,
        };
        let absent = NOT_DEFINED.map(|name| {
            let defined = Some(false);
            let known = Known {
                defined,
                ..Known::default()
            };
            (name.to_owned(), known)
        });
        let mut macros = BTreeMap::from(absent);
        macros.extend([
            ("KILN".to_owned(), Known::certain(one)),
            (
                "__cplusplus".to_owned(),
                Known {
                    defined: Some(true),
                    ..Known::default()
                },
            ),
            (
                "HIP_DYNAMIC_SHARED".to_owned(),
                Known {
                    definitions: vec![dynamic],
                    ..Known::default()
                },
            ),
        ]);
        Macros(macros)
    }

    /// Whether a macro of this name is defined.
    pub fn is_defined(&self, name: &str) -> Truth {
        match self.0.get(name).and_then(|known| known.defined) {
            Some(defined) => Truth::of(defined),
            None => Truth::Unknown,
        }
    }

    /// The definition that is in force, if that is certain.
    pub fn certain(&self, name: &str) -> Option<&Definition> {
        let known = self.0.get(name)?;
        match known.definitions.as_slice() {
            [only] if known.defined == Some(true) && !known.may_be_given => Some(only),
            _ => None,
        }
    }

    /// Every definition of a name that may be in force.
    pub fn possible(&self, name: &str) -> &[Definition] {
        self.0.get(name).map_or(&[], |known| &known.definitions)
    }

    /// Applies a `#define` with these operands. If the definition is only the default of a name, the name is defined
    /// afterwards, but its value is not known.
    pub fn define(&mut self, text: &str, operands: &[Token], is_certain: bool, is_default: bool) {
        let Some((name, rest)) = operands.split_first() else {
            return;
        };
        let takes_arguments = rest
            .first()
            .is_some_and(|open| open.is_punct(b'(') && open.start == name.end);
        let mut is_variadic = false;
        let (params, body) = if takes_arguments {
            let close = rest.iter().position(|token| token.is_punct(b')'));
            let close = close.unwrap_or(rest.len() - 1);
            let list = &rest[1..close.max(1)];
            let names = list.iter().filter(|t| t.kind == TokenKind::Identifier);
            let mut names: Vec<String> = names.map(|t| t.text(text).into_owned()).collect();
            if let Some(dots) = list.iter().position(|token| token.is_punct(b'.')) {
                is_variadic = true;
                // In `args...`, an extension of GNU, `args` takes the arguments.
                if dots == 0 || list[dots - 1].is_punct(b',') {
                    names.push(VARIADIC.into());
                }
            }
            (Some(names), &rest[close + 1..])
        } else {
            (None, rest)
        };
        let definition = Definition {
            params,
            is_variadic,
            body: words(text, body),
        };
        let known = self.0.entry(name.text(text).into_owned()).or_default();
        if is_default {
            known.defined = Some(true);
            known.may_be_given = true;
        } else if is_certain {
            *known = Known::certain(definition);
            return;
        } else {
            known.may_be_given |= known.defined.is_none();
            known.defined = known.defined.filter(|defined| *defined);
        }
        known.definitions.push(definition);
    }

    /// Follows `#pragma push_macro` or `pop_macro`, after which nothing is known about the name.
    pub fn forget(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Follows `#undef`.
    pub fn undefine(&mut self, name: &str, is_certain: bool) {
        let known = self.0.entry(name.to_owned()).or_default();
        if is_certain {
            *known = Known {
                defined: Some(false),
                ..Known::default()
            };
        } else {
            known.defined = known.defined.filter(|defined| !defined);
        }
    }
}

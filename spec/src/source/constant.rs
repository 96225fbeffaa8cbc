//! Finds `__constant__` variables in a source.

use std::ops::Range;

use super::brackets;
use super::error::Location;
use super::lexer::{Token, TokenKind};

/// A `__constant__` variable at file or namespace scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstantVariable {
    /// The variable's name, without namespaces.
    pub name: String,
    /// The type of the variable's elements, with single spaces between tokens.
    pub ty: String,
    /// The array dimensions as written: the text in each pair of brackets.
    pub dimensions: Vec<String>,
    /// Whether the source initialises the variable.
    pub initialised: bool,
    /// Whether the variable is a template: one variable for each list of template arguments.
    pub is_template: bool,
    /// The enclosing namespaces, outermost first. An anonymous namespace has an empty name.
    pub namespaces: Vec<String>,
    /// The byte range of the word `static` in the declaration, if it has one.
    pub static_word: Option<Range<usize>>,
    /// The file and line of the variable's name.
    pub at: Location,
}

impl ConstantVariable {
    /// The variable's name with its namespaces, as in `tables::taps`.
    pub fn path(&self) -> String {
        let names = self.namespaces.iter().chain([&self.name]);
        names.map(String::as_str).collect::<Vec<_>>().join("::")
    }
}

/// Words of a declaration that do not belong to the type of the variable.
const SPECIFIERS: [&str; 7] = [
    "__constant__",
    "static",
    "const",
    "constexpr",
    "volatile",
    "inline",
    "__device__",
];

/// The `__constant__` variables that a declaration declares. There are none if it declares something else.
pub(super) fn variables(
    text: &str,
    tokens: &[Token],
    namespaces: &[String],
    locate: impl Fn(usize) -> Location,
) -> Vec<ConstantVariable> {
    let tokens: Vec<Token> = tokens
        .iter()
        .filter(|t| !t.is_directive())
        .copied()
        .collect();
    let names = |name: &str| tokens.iter().find(|t| t.is_name(text, name));
    let brace = tokens.iter().position(|t| t.is_punct(b'{'));
    let head = &tokens[..brace.unwrap_or(tokens.len())];
    if !head.iter().any(|t| t.is_name(text, "__constant__")) || names("extern").is_some() {
        return Vec::new();
    }
    let mut words: Vec<Token> = Vec::new();
    let mut found: Vec<ConstantVariable> = Vec::new();
    let is_template = tokens[0].is_name(text, "template");
    let list = brackets::closing(&tokens, 1).filter(|_| is_template);
    let mut i = list.map_or(0, |close| close + 1);
    while let Some(token) = tokens.get(i) {
        if let Some(close) = brackets::closing(&tokens, i).filter(|_| !words.is_empty()) {
            words.extend(&tokens[i..=close]);
            i = close + 1;
            continue;
        }
        let is_specifier = SPECIFIERS.iter().any(|word| token.is_name(text, word));
        let is_alignment = ["alignas", "__align__", "__attribute__"]
            .iter()
            .any(|word| token.is_name(text, word));
        if is_alignment {
            i = closing(&tokens, i + 1);
        } else if token.kind == TokenKind::Identifier && !is_specifier {
            words.push(*token);
        } else if ends_declarator(token) && words.len() > 1 {
            // Remove only the name. In `float a, b`, the second declarator has no type words of its own, so the type
            // must stay in `words`.
            let Some(name) = words.pop() else { break };
            let (dimensions, next) = dimensions(text, &tokens, i);
            let follows = tokens.get(next);
            found.push(ConstantVariable {
                name: name.text(text).into_owned(),
                ty: join(text, &words),
                dimensions,
                initialised: follows.is_some_and(|t| t.is_punct(b'=') || t.is_punct(b'{')),
                is_template,
                namespaces: namespaces.to_vec(),
                static_word: names("static").map(|word| word.start..word.end),
                at: locate(name.start),
            });
            i = next;
            // Skip the initialiser and continue at the next declarator.
            while tokens
                .get(i)
                .is_some_and(|t| !t.is_punct(b',') && !t.is_punct(b';'))
            {
                i = closing(&tokens, i) + 1;
            }
        }
        i += 1;
    }
    found
}

fn ends_declarator(token: &Token) -> bool {
    [b'[', b'=', b'{', b';', b',']
        .iter()
        .any(|&end| token.is_punct(end))
}

fn join(text: &str, words: &[Token]) -> String {
    let words: Vec<_> = words.iter().map(|word| word.text(text)).collect();
    words.join(" ")
}

/// The index of the bracket that closes the bracket at `open`, or `open` itself if there is none.
fn closing(tokens: &[Token], open: usize) -> usize {
    super::kernel_function::matching(tokens, open).unwrap_or(open)
}

/// The texts in the pairs of brackets that begin at `i`, and the index of the token after them.
fn dimensions(text: &str, tokens: &[Token], mut i: usize) -> (Vec<String>, usize) {
    let mut dimensions = Vec::new();
    while tokens.get(i).is_some_and(|token| token.is_punct(b'[')) {
        let close = closing(tokens, i);
        if close == i {
            break;
        }
        dimensions.push(text[tokens[i].end..tokens[close].start].trim().to_owned());
        i = close + 1;
    }
    (dimensions, i)
}

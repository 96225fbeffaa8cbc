//! Parses `__global__` functions.

use std::ops::Range;

use super::brackets;
use super::conditional::OpenConditionals;
use super::error::Location;
use super::lexer::{Token, TokenKind};
use super::template::Template;

/// A parameter of a `__global__` function, as written in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The parameter's type with single spaces between tokens, as in `const float * __restrict__`.
    pub ty: String,
    /// The parameter's name. Empty if the source does not name the parameter.
    pub name: String,
    /// The range of the default value with its `=`; `None` if the parameter has no default.
    pub default: Option<Range<usize>>,
}

/// The reason why a `__global__` function cannot be an entry (a kernel that can be tuned).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The function is a specialisation of a template.
    Template,
    /// The function is declared inside an anonymous namespace.
    Namespace,
    /// The function is declared inside a class or a function.
    Nested,
    /// The function does not return `void`.
    NotVoid,
    /// The parameter list ends in `...`.
    Variadic,
    /// A preprocessor directive is in the middle of the signature.
    Directive,
    /// The body of the function begins in one branch of an `#if` group and does not end there.
    SharedBody,
}

impl Obstacle {
    /// What is wrong, and the help text.
    pub fn describe(self) -> (&'static str, &'static str) {
        match self {
            Obstacle::Template => (
                "is specialised",
                "write a plain `__global__` function that calls a `__device__` template",
            ),
            Obstacle::Namespace => (
                "is declared in a namespace without a name",
                "give the namespace a name, or declare the kernel outside of it",
            ),
            Obstacle::Nested => (
                "is declared inside a class or function",
                "declare the kernel at file scope",
            ),
            Obstacle::NotVoid => ("does not return `void`", "declare it `__global__ void`"),
            Obstacle::Variadic => ("takes `...`", "declare every parameter"),
            Obstacle::Directive => (
                "has a preprocessor directive in its signature",
                "write the whole function once in each branch",
            ),
            Obstacle::SharedBody => (
                "has a body that begins in a branch of an `#if` and ends after it",
                "write the whole function once in each branch",
            ),
        }
    }
}

/// One declaration or definition of a `__global__` function. Ranges are byte ranges of the expanded source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelFunction {
    /// The function's name, without namespaces.
    pub name: String,
    /// The range from the first token of the declaration to the closing brace or semicolon.
    pub range: Range<usize>,
    /// The enclosing namespaces, outermost first.
    pub namespaces: Vec<String>,
    /// The template parameters; `None` if the function is not a template.
    pub template: Option<Template>,
    /// The range of the word `__global__`.
    pub global_range: Range<usize>,
    /// The range of every `__launch_bounds__(..)`. There are several if they are conditional.
    pub bounds_ranges: Vec<Range<usize>>,
    /// The range of the name.
    pub name_range: Range<usize>,
    /// The range between the parentheses of the parameter list.
    pub params_range: Range<usize>,
    /// The byte after the body's opening brace; `None` for a declaration without a body.
    pub body_open: Option<usize>,
    /// The byte before the first specifier, where `extern "C"` can be inserted.
    pub specifiers_start: usize,
    /// The ranges of storage-class specifiers that cannot be combined with `extern "C"`.
    pub static_words: Vec<Range<usize>>,
    /// Whether `extern "C"` is directly before the declaration.
    pub extern_c: bool,
    /// Whether the declaration is inside an `extern "C" { … }` block.
    pub in_extern_c_block: bool,
    /// The launch bounds as they can be written in front of another function: `__launch_bounds__(..)` or, if they are
    /// conditional, several lines with their directives.
    pub launch_bounds: Option<String>,
    /// The function's parameters, in order.
    pub params: Vec<Parameter>,
    /// Whether this is an explicit instantiation of a template, such as `template __global__ void k<float>(float*);`.
    pub is_instantiation: bool,
    /// The reason why the function cannot be an entry; `None` if it can.
    pub obstacle: Option<Obstacle>,
    /// The `#if` groups around the declaration.
    pub conditions: OpenConditionals,
    /// The file and line of the name.
    pub at: Location,
}

/// The parsed tokens after `__global__`, up to the body or semicolon. Indices are indices of tokens.
pub(super) struct Signature {
    pub name: Token,
    /// Indices of the parentheses around the parameter list.
    pub parens: (usize, usize),
    /// Index of the `{` or `;` that ends the signature.
    pub end: usize,
    pub obstacle: Option<Obstacle>,
}

/// The index of the bracket that closes the one at `open`, if there is one.
pub(super) fn matching(tokens: &[Token], open: usize) -> Option<usize> {
    let TokenKind::Punct(opening) = tokens.get(open)?.kind else {
        return None;
    };
    let closing = match opening {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        _ => return None,
    };
    let mut depth = 0usize;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        if token.is_punct(opening) {
            depth += 1;
        } else if token.is_punct(closing) {
            depth -= 1;
            if depth == 0 {
                return Some(i);
            }
        }
    }
    None
}

/// Parses the signature of the kernel whose `__global__` is at `global`. `None` if the tokens are not a function, for
/// example because a macro produces the name.
pub(super) fn signature(text: &str, tokens: &[Token], global: usize) -> Option<Signature> {
    let mut i = global + 1;
    let mut saw_void = returns_void(text, &tokens[..global]);
    loop {
        let token = tokens.get(i)?;
        match token.kind {
            TokenKind::Identifier if is_call(tokens, i) => {
                let close = matching(tokens, argument_list(tokens, i + 1))?;
                if let Some(end) = function_end(text, tokens, close + 1) {
                    let mut found = function(tokens, i, close, end);
                    saw_void |= tokens[close..end].iter().any(|t| t.is_name(text, "void"));
                    found.obstacle = found.obstacle.or((!saw_void).then_some(Obstacle::NotVoid));
                    return Some(found);
                }
                i = close;
            }
            TokenKind::Identifier => saw_void |= token.is_name(text, "void"),
            TokenKind::Punct(b'(' | b'[') => i = matching(tokens, i)?,
            TokenKind::Punct(b';' | b'{' | b'}') => return None,
            _ => {}
        }
        i += 1;
    }
}

/// Whether the word `void` is among the specifiers at the end of these tokens, outside parentheses, as in `void
/// __global__ k()`.
fn returns_void(text: &str, tokens: &[Token]) -> bool {
    let mut depth = 0_usize;
    for token in tokens.iter().rev() {
        match token.kind {
            TokenKind::Punct(b')') => depth += 1,
            TokenKind::Punct(b'(') if depth > 0 => depth -= 1,
            TokenKind::Punct(b'(' | b';' | b'{' | b'}') => return false,
            _ if depth == 0 && token.is_name(text, "void") => return true,
            _ => {}
        }
    }
    false
}

/// Whether the name at `i` is followed by parentheses, or by template arguments and parentheses.
fn is_call(tokens: &[Token], i: usize) -> bool {
    let open = tokens.get(argument_list(tokens, i + 1));
    open.is_some_and(|token| token.is_punct(b'('))
}

/// The signature of the function whose name is at `name`. The parentheses of its parameter list close at `close`, and
/// its declaration ends at `end`.
fn function(tokens: &[Token], name: usize, close: usize, end: usize) -> Signature {
    let open = argument_list(tokens, name + 1);
    let directive = tokens[name..end].iter().any(Token::is_directive);
    let template = (open > name + 1).then_some(Obstacle::Template);
    Signature {
        name: tokens[name],
        parens: (open, close),
        end,
        obstacle: template.or(directive.then_some(Obstacle::Directive)),
    }
}

/// The index of the token after the template arguments that begin at `i`, or `i` itself if there are none.
fn argument_list(tokens: &[Token], i: usize) -> usize {
    brackets::closing(tokens, i).map_or(i, |close| close + 1)
}

/// The index of the `{` or `;` that ends a declaration whose parameter list closed before `i`. `None` if another name
/// follows, because then the parentheses belong to a macro call before the function's name.
fn function_end(text: &str, tokens: &[Token], mut i: usize) -> Option<usize> {
    const TRAILING: [&str; 5] = [
        "__attribute__",
        "__launch_bounds__",
        "noexcept",
        "requires",
        "__maxnreg__",
    ];
    loop {
        let token = tokens.get(i)?;
        match token.kind {
            TokenKind::Punct(b'{' | b';') => return Some(i),
            TokenKind::Punct(b'[' | b'(') => i = matching(tokens, i)?,
            TokenKind::Directive => {}
            // `auto k() -> void`
            TokenKind::Punct(b'-') => {
                let ends = |token: &Token| token.is_punct(b'{') || token.is_punct(b';');
                return Some(i + tokens[i..].iter().position(ends)?);
            }
            TokenKind::Identifier if TRAILING.contains(&&*token.text(text)) => {}
            _ => return None,
        }
        i += 1;
    }
}

/// Every `__launch_bounds__(..)` in a range of tokens, from the index of the name to that of the closing parenthesis.
pub(super) fn bounds(text: &str, tokens: &[Token], range: Range<usize>) -> Vec<Range<usize>> {
    let named = range.filter(|&i| tokens[i].is_name(text, "__launch_bounds__"));
    named
        .filter_map(|i| Some(i..matching(tokens, i + 1)?))
        .collect()
}

/// The parameters in a parameter list, and the first reason why the list keeps the kernel from being an entry, if any.
pub(super) fn parameters(text: &str, tokens: &[Token]) -> (Vec<Parameter>, Option<Obstacle>) {
    let mut params = Vec::new();
    let mut obstacle = None;
    for part in brackets::split_commas(tokens) {
        let words: Vec<_> = part.iter().filter(|t| !t.is_directive()).copied().collect();
        let words = without_attributes(text, &words);
        if let [only] = words.as_slice()
            && only.is_name(text, "void")
        {
            continue;
        }
        if words.iter().filter(|t| t.is_punct(b'.')).count() == 3 {
            obstacle = Some(Obstacle::Variadic);
        }
        if !words.is_empty() {
            params.push(parameter(text, &words));
        }
    }
    (params, obstacle)
}

/// The words of a parameter without `[[..]]` and `__attribute__((..))`.
fn without_attributes(text: &str, words: &[Token]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut i = 0;
    while let Some(word) = words.get(i) {
        let opens = |j: usize, byte| words.get(j).is_some_and(|word: &Token| word.is_punct(byte));
        let bracket = if word.is_name(text, "__attribute__") && opens(i + 1, b'(') {
            Some(i + 1)
        } else {
            (opens(i, b'[') && opens(i + 1, b'[')).then_some(i)
        };
        match bracket.and_then(|open| matching(words, open)) {
            Some(close) => i = close,
            None => kept.push(*word),
        }
        i += 1;
    }
    kept
}

/// Words that can be the last word of a type. If a parameter ends with such a word, it has no name.
const TYPE_WORDS: [&str; 17] = [
    "const",
    "volatile",
    "unsigned",
    "signed",
    "int",
    "long",
    "short",
    "char",
    "float",
    "double",
    "bool",
    "void",
    "__restrict__",
    "__restrict",
    "restrict",
    "__half",
    "half",
];

/// Splits a parameter such as `const float* __restrict__ a` into its type and its name. The type of `a[]` is a pointer.
fn parameter(text: &str, words: &[Token]) -> Parameter {
    let array = words.iter().position(|t| t.is_punct(b'['));
    let end = array.unwrap_or(words.len());
    let equals = words.iter().position(|t| t.is_punct(b'='));
    let declarator = &words[..equals.unwrap_or(end).min(end)];
    let default = equals.zip(words.last());
    let named = declarator.len() > 1
        && !declarator[declarator.len() - 2].is_punct(b':')
        && declarator.last().is_some_and(|last| {
            last.kind == TokenKind::Identifier && !TYPE_WORDS.contains(&&*last.text(text))
        });
    let (ty, name) = declarator.split_at(declarator.len() - usize::from(named));
    let mut ty: Vec<_> = ty.iter().map(|t| t.text(text)).collect();
    if array.is_some() {
        ty.push("*".into());
    }
    Parameter {
        ty: ty.join(" "),
        name: name
            .first()
            .map(|t| t.text(text).into_owned())
            .unwrap_or_default(),
        default: default.map(|(equals, last)| words[equals].start..last.end),
    }
}

//! `__global__` functions, as written.

use std::ops::Range;

use super::conditional::OpenConditionals;
use super::error::Location;
use super::lexer::{Token, TokenKind};
use super::template::Template;

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its type with single spaces between tokens, as in `const float * __restrict__`.
    pub ty: String,
    /// Its name; empty if it has none.
    pub name: String,
}

/// Why a `__global__` function cannot be an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A specialisation or an explicit instantiation of a template.
    Template,
    /// Declared inside an anonymous namespace.
    Namespace,
    /// Declared inside a class or a function.
    Nested,
    /// Does not return `void`.
    NotVoid,
    /// A parameter with a default value.
    DefaultArgument,
    /// Ends in `...`.
    Variadic,
    /// A preprocessor directive in the middle of the signature.
    Directive,
}

impl Obstacle {
    /// A description, and the help.
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
            Obstacle::DefaultArgument => (
                "has a default argument",
                "remove the default: every argument is passed",
            ),
            Obstacle::Variadic => ("takes `...`", "declare every parameter"),
            Obstacle::Directive => (
                "has a preprocessor directive in its signature",
                "write the whole signature once in each branch",
            ),
        }
    }
}

/// One declaration or definition of a `__global__` function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelFunction {
    /// Its name.
    pub name: String,
    /// From the first token of the declaration to the closing brace or semicolon.
    pub range: Range<usize>,
    /// The enclosing namespaces, outermost first.
    pub namespaces: Vec<String>,
    /// Its template parameters, if it is a template.
    pub template: Option<Template>,
    /// The word `__global__`.
    pub global_range: Range<usize>,
    /// `__launch_bounds__(..)`, if it has one.
    pub bounds_range: Option<Range<usize>>,
    /// The name.
    pub name_range: Range<usize>,
    /// The text between the parentheses of the parameter list.
    pub params_range: Range<usize>,
    /// The opening brace of the body; `None` for a declaration.
    pub body_open: Option<usize>,
    /// The place for `extern "C"`: before the first specifier.
    pub specifiers_start: usize,
    /// Storage-class specifiers that cannot be combined with `extern "C"`.
    pub static_words: Vec<Range<usize>>,
    /// Whether `extern "C"` is directly before it.
    pub extern_c: bool,
    /// Whether it is inside an `extern "C" { … }` block.
    pub in_extern_c_block: bool,
    /// The text inside `__launch_bounds__(..)`.
    pub launch_bounds: Option<String>,
    /// Its parameters.
    pub params: Vec<Parameter>,
    /// Why it cannot be an entry.
    pub obstacle: Option<Obstacle>,
    /// The `#if` groups around it.
    pub conditions: OpenConditionals,
    /// The place of its name.
    pub at: Location,
}

/// The tokens after `__global__`, up to the body or semicolon.
pub(super) struct Signature {
    pub name: Token,
    /// Indices of the parentheses of the parameter list.
    pub parens: (usize, usize),
    /// Index of `{` or `;`.
    pub end: usize,
    pub obstacle: Option<Obstacle>,
    /// Index of `__launch_bounds__`.
    pub launch_bounds: Option<usize>,
}

/// The index of the bracket that closes the one at `open`.
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

/// Parses the signature of the kernel whose `__global__` is at `global`; `None` if this is not a function (the name
/// is hidden in a macro, say).
pub(super) fn signature(text: &str, tokens: &[Token], global: usize) -> Option<Signature> {
    let mut i = global + 1;
    let mut saw_void = false;
    let mut launch_bounds = None;
    loop {
        let token = tokens.get(i)?;
        match token.kind {
            TokenKind::Identifier if is_call(tokens, i) => {
                let close = matching(tokens, argument_list(tokens, i + 1))?;
                if let Some(end) = function_end(text, tokens, close + 1) {
                    let mut found = function(text, tokens, i, close, end);
                    found.obstacle = found.obstacle.or((!saw_void).then_some(Obstacle::NotVoid));
                    found.launch_bounds = launch_bounds.or(found.launch_bounds);
                    return Some(found);
                }
                launch_bounds = launch_bounds.or_else(|| bounds(text, tokens, i..close));
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

/// Whether the name at `i` is followed by parentheses, or by template arguments and parentheses.
fn is_call(tokens: &[Token], i: usize) -> bool {
    let open = tokens.get(argument_list(tokens, i + 1));
    open.is_some_and(|token| token.is_punct(b'('))
}

/// The function with its name at `name`, the end of its parameter list at `close` and the end of its declaration at
/// `end`.
fn function(text: &str, tokens: &[Token], name: usize, close: usize, end: usize) -> Signature {
    let open = argument_list(tokens, name + 1);
    let directive = tokens[name..end].iter().any(Token::is_directive);
    let template = (open > name + 1).then_some(Obstacle::Template);
    Signature {
        name: tokens[name],
        parens: (open, close),
        end,
        obstacle: template.or(directive.then_some(Obstacle::Directive)),
        launch_bounds: bounds(text, tokens, close + 1..end),
    }
}

/// The index after the template arguments at `i`, or `i` if there are none.
fn argument_list(tokens: &[Token], i: usize) -> usize {
    if !tokens.get(i).is_some_and(|t| t.is_punct(b'<')) {
        return i;
    }
    let mut depth = 0usize;
    for (j, token) in tokens.iter().enumerate().skip(i) {
        match token.kind {
            TokenKind::Punct(b'<') => depth += 1,
            TokenKind::Punct(b'>') => depth -= 1,
            TokenKind::Punct(b';' | b'{' | b'}') => return i,
            _ => {}
        }
        if depth == 0 {
            return j + 1;
        }
    }
    i
}

/// The index of the `{` or `;` that ends a declaration whose parameter list closed before `i`. `None` if another name
/// follows, which means that the closed parentheses were those of a macro before the name.
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
            TokenKind::Identifier if TRAILING.contains(&&*token.text(text)) => {}
            _ => return None,
        }
        i += 1;
    }
}

/// The index of `__launch_bounds__` in a range of tokens.
pub(super) fn bounds(text: &str, tokens: &[Token], mut range: Range<usize>) -> Option<usize> {
    range.find(|&i| tokens[i].is_name(text, "__launch_bounds__"))
}

/// The parameters between two parentheses, and the obstacle that prevents the kernel from being an entry, if any.
pub(super) fn parameters(text: &str, tokens: &[Token]) -> (Vec<Parameter>, Option<Obstacle>) {
    let mut params = Vec::new();
    let mut obstacle = None;
    for part in split_commas(tokens) {
        let words: Vec<_> = part.iter().filter(|t| !t.is_directive()).copied().collect();
        if let [only] = words.as_slice()
            && only.is_name(text, "void")
        {
            continue;
        }
        if words.iter().any(|t| t.is_punct(b'=')) {
            obstacle = Some(Obstacle::DefaultArgument);
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

/// The tokens between commas outside all brackets (`<` counts as one: `pair<int, int> p`).
fn split_commas(tokens: &[Token]) -> Vec<&[Token]> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0i32);
    for (i, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Punct(b'(' | b'[' | b'{' | b'<') => depth += 1,
            TokenKind::Punct(b')' | b']' | b'}' | b'>') => depth -= 1,
            TokenKind::Punct(b',') if depth == 0 => {
                parts.push(&tokens[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&tokens[start..]);
    parts
}

/// Words that end a type, and so are not a parameter name.
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

/// Splits `const float* __restrict__ a` into type and name. `a[]` is a pointer.
fn parameter(text: &str, words: &[Token]) -> Parameter {
    let array = words.iter().position(|t| t.is_punct(b'['));
    let end = array.unwrap_or(words.len());
    let before_default = words
        .iter()
        .position(|t| t.is_punct(b'='))
        .unwrap_or(end)
        .min(end);
    let declarator = &words[..before_default];
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
    }
}

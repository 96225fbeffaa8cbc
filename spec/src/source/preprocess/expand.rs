//! Expands macros that hide the words by which a scan finds kernels and variables, such as `#define KERNEL extern "C"
//! __global__`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use super::Preprocessor;
use super::macros::{Definition, Macros, Word, words};
use super::substitute::{arguments, substitute};
use crate::source::flatten::MAX_SOURCE_BYTES;
use crate::source::kernel_function::matching;
use crate::source::lexer::{Token, TokenKind, lex};

/// The words for which a scan looks.
const WORDS: [&str; 5] = [
    "__global__",
    "__launch_bounds__",
    "__constant__",
    "__shared__",
    "namespace",
];

/// Maximum nesting depth of macro expansions.
const MAX_DEPTH: usize = 16;

/// Maximum number of words of an expansion.
const MAX_WORDS: usize = 1 << 16;

/// Maximum number of times that a source is expanded.
const MAX_PASSES: usize = 8;

/// Expands every use of a macro that hides one of the words, names a kernel, or stands for several parameters or a part
/// of a name in the parameter list of a kernel. Lines keep their numbers. A use stays as it is if it is not known which
/// of several different definitions it has, or if the macro has a form that is not supported: a string of an argument
/// (`#x`), or a use of itself.
pub fn expand(text: String) -> String {
    let mut text = text;
    // An expansion may contain a call that names a kernel.
    for _ in 0..MAX_PASSES {
        match expand_once(&text) {
            Some(expanded) => text = expanded,
            None => break,
        }
    }
    text
}

/// The text with every use expanded; `None` if there are none.
fn expand_once(text: &str) -> Option<String> {
    if !text.contains("HIP_DYNAMIC_SHARED") && !text.contains("define") {
        return None;
    }
    let tokens = lex(text).ok()?;
    let edits = edits(text, &tokens);
    if edits.is_empty() {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for (range, with) in edits {
        out.push_str(&text[copied..range.start]);
        out.push_str(&with);
        let lines = text[range.clone()].matches('\n').count();
        out.push_str(&"\n".repeat(lines));
        copied = range.end;
        if out.len() > MAX_SOURCE_BYTES {
            return None;
        }
    }
    out.push_str(&text[copied..]);
    Some(out)
}

/// The byte ranges of the uses, with their expansions.
fn edits(text: &str, tokens: &[Token]) -> Vec<(Range<usize>, String)> {
    let mut walk = Preprocessor::new(text, tokens);
    let mut found = Vec::new();
    let mut next = 0;
    for i in 0..tokens.len() {
        let is_live = walk.step(i);
        if i < next || !is_live || tokens[i].kind != TokenKind::Identifier {
            continue;
        }
        let name = tokens[i].text(text);
        let is_in_signature = !walk.macros.possible(&name).is_empty()
            && (is_kernel_name(text, tokens, i)
                || (walk.macros.certain(&name))
                    .is_some_and(|found| is_in_signature(text, tokens, i, found)));
        if !hides(&walk.macros, &name) && !is_in_signature {
            continue;
        }
        // A directive among the arguments ends the call.
        let here = tokens[i..].split(Token::is_directive).next();
        let uses = words(text, here.unwrap_or_default());
        let expansion = Expansion {
            macros: &walk.macros,
            open: Vec::new(),
            every: is_in_signature,
        };
        if let Some((words, used)) = expansion.of_use(&uses) {
            let range = tokens[i].start..tokens[i + used - 1].end;
            found.push((range, join(&words)));
            next = i + used;
        }
    }
    found
}

/// Whether a call of a macro is the name of a kernel, as in `__global__ void NAME(add)(float* x)`: the call is followed
/// by another pair of parentheses.
fn is_kernel_name(text: &str, tokens: &[Token], i: usize) -> bool {
    let is_open = |i: usize| tokens.get(i).is_some_and(|token| token.is_punct(b'('));
    if !is_open(i + 1) {
        return false;
    }
    let close = matching(tokens, i + 1);
    close.is_some_and(|close| is_open(close + 1)) && follows_global(text, &tokens[..i])
}

/// Whether the last declaration of these tokens, which has not ended, contains `__global__`.
fn follows_global(text: &str, tokens: &[Token]) -> bool {
    (tokens.iter().rev())
        .take_while(|token| !ends_declaration(token))
        .any(|token| token.is_name(text, "__global__"))
}

fn ends_declaration(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Punct(b';' | b'{' | b'}'))
}

/// Whether a macro without parameters is the name of a kernel, or whether a macro in the parameter list of a kernel
/// stands for more than a type: it takes parameters, or its replacement has commas or joins words.
fn is_in_signature(text: &str, tokens: &[Token], i: usize, definition: &Definition) -> bool {
    let is_list = |open: usize| {
        let end = matching(tokens, open).and_then(|close| tokens.get(close + 1));
        end.is_some_and(|end| end.is_punct(b'{') || end.is_punct(b';'))
    };
    let is_open = |i: usize| tokens[i].is_punct(b'(');
    if definition.params.is_none() && i + 1 < tokens.len() && is_open(i + 1) {
        return is_list(i + 1) && follows_global(text, &tokens[..i]);
    }
    let has = |byte| definition.body.iter().any(|word| word.is_punct(byte));
    if definition.params.is_none() && !has(b',') && !has(b'#') {
        return false;
    }
    let mut depth = 0_usize;
    let mut before = (0..i).rev().take_while(|j| !ends_declaration(&tokens[*j]));
    let open = before.find(|&j| {
        depth += usize::from(tokens[j].is_punct(b')'));
        let is_outer = is_open(j) && depth == 0;
        depth -= usize::from(is_open(j) && depth > 0);
        is_outer
    });
    open.is_some_and(|open| is_list(open) && follows_global(text, &tokens[..open]))
}

/// Whether an expansion of the name may contain one of the words.
fn hides(macros: &Macros, name: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut names = vec![name];
    while let Some(name) = names.pop() {
        if !seen.insert(name) {
            continue;
        }
        for definition in macros.possible(name) {
            if is_hiding(definition) {
                return true;
            }
            let inner = definition.body.iter().filter(|word| word.is_name());
            names.extend(inner.map(|word| word.text.as_str()));
        }
    }
    false
}

/// Whether a replacement contains one of the words itself, or a brace without its partner, such as the end of a
/// namespace.
fn is_hiding(definition: &Definition) -> bool {
    let has = |wanted: &str| definition.body.iter().any(|word| word.text == wanted);
    let count = |byte| {
        let words = definition.body.iter();
        words
            .filter(|word| word.kind == TokenKind::Punct(byte))
            .count()
    };
    count(b'{') != count(b'}') || WORDS.iter().any(|word| has(word))
}

/// Words with single spaces where the author wrote white space.
fn join(words: &[Word]) -> String {
    let mut text = String::new();
    for (i, word) in words.iter().enumerate() {
        let space = if i > 0 && word.spaced { " " } else { "" };
        let _ = write!(text, "{space}{}", word.text);
    }
    text
}

struct Expansion<'m> {
    macros: &'m Macros,
    /// The macros that are being expanded.
    open: Vec<String>,
    /// Whether to expand every macro, not only those that hide a word.
    every: bool,
}

impl Expansion<'_> {
    /// Expands the use of a macro at the start of these words. Returns the expansion and the number of words in the
    /// use. `None` if the use must stay as it is.
    fn of_use(&self, uses: &[Word]) -> Option<(Vec<Word>, usize)> {
        let name = uses.first()?;
        if self.open.contains(&name.text) || self.open.len() >= MAX_DEPTH {
            return None;
        }
        // Ignore definitions that hide nothing, such as an empty definition for the host: no kernel is declared with
        // them.
        let mut candidates = self.macros.possible(&name.text).iter().filter(|found| {
            let mut names = found.body.iter().filter(|word| word.is_name());
            self.every || is_hiding(found) || names.any(|word| hides(self.macros, &word.text))
        });
        let definition = candidates.next()?;
        if candidates.any(|other| other != definition) {
            return None;
        }
        let (arguments, used) = match &definition.params {
            None => (Vec::new(), 1),
            Some(_) => {
                let (arguments, used) = arguments(definition, &uses[1..])?;
                (arguments, used + 1)
            }
        };
        let body = substitute(definition, &arguments, &arguments)?;
        let mut open = self.open.clone();
        open.push(name.text.clone());
        let inner = Expansion {
            macros: self.macros,
            open,
            every: self.every,
        };
        let mut expanded = inner.of_words(&body)?;
        if let Some(first) = expanded.first_mut() {
            first.spaced = name.spaced;
        }
        Some((expanded, used))
    }

    /// Whether a word may be the name of a macro.
    fn is_known(&self, word: &Word) -> bool {
        word.is_name() && !self.macros.possible(&word.text).is_empty()
    }

    /// Expands the uses of macros that hide words among these words. `None` if one of the uses must stay as it is.
    fn of_words(&self, words: &[Word]) -> Option<Vec<Word>> {
        let mut out = Vec::new();
        let mut i = 0;
        while let Some(word) = words.get(i) {
            if out.len() > MAX_WORDS {
                return None;
            }
            let is_hiding = word.is_name() && hides(self.macros, &word.text);
            let is_used = is_hiding || self.every && self.is_known(word);
            if let Some((expanded, used)) = is_used.then(|| self.of_use(&words[i..])).flatten() {
                out.extend(expanded);
                i += used;
            } else {
                if is_hiding || word.is_name() && self.open.contains(&word.text) {
                    return None;
                }
                out.push(word.clone());
                i += 1;
            }
        }
        Some(out)
    }
}

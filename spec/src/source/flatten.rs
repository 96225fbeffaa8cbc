//! Expands a kernel's source: inlines every local include, so that the whole source is one text that can be hashed and
//! compiled.

use std::collections::BTreeSet;

use super::error::{Location, ReadError, SourceError};
use super::fingerprint;
use super::lexer::{Token, TokenKind, lex, lex_directive};
use super::lines::LineMap;
use super::path;
use crate::hash::{Hash, SourceHash};

/// Headers that Kiln itself provides. An `#include` of such a header is left unchanged, because the hash of the
/// prelude covers the header.
pub const PRELUDE_HEADERS: &[&str] = &["kiln.cuh"];

/// Prefix of the include guards that replace `#pragma once`.
const ONCE_GUARD: &str = "KILN_ONCE_";

/// Maximum size of an expanded source, in bytes.
pub const MAX_SOURCE_BYTES: usize = 1 << 20;

/// Maximum nesting depth of includes.
pub const MAX_INCLUDE_DEPTH: usize = 64;

/// Reads a file of the package by its normalised name.
pub type Reader<'r> = dyn FnMut(&str) -> Result<String, ReadError> + 'r;

/// One file that an expanded source contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The name of the file, as the reader receives it.
    pub name: String,
    /// Hash of the file's text.
    pub hash: Hash,
}

/// A kernel's source with its local includes inlined.
///
/// A local include is relative to the folder of the file that contains it. If the included file does not exist there,
/// the include is relative to the nearest folder above in which it exists.
///
/// `#include "local.cuh"` is replaced by the text of the file between `#line` markers. `#pragma once` is replaced by an
/// include guard, which works even if the first inclusion is under an `#if`. `#include <..>` and the headers of Kiln
/// ([`PRELUDE_HEADERS`]) are left unchanged. Line endings become `\n`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    text: String,
    hash: SourceHash,
    files: Vec<SourceFile>,
}

impl SourceText {
    /// Reads the file `root_name` and inlines its local includes. Calls `reader` for each file. The names that `reader`
    /// receives are relative to the same root as `root_name`, with `/` between components and without `.` or `..`.
    ///
    /// # Errors
    /// If a file cannot be read, if the text is too large or cannot be split into tokens, or if the name of an included
    /// file is a macro. Also if an include is circular, is nested too deeply or leaves the root.
    pub fn load(root_name: &str, reader: &mut Reader<'_>) -> Result<SourceText, SourceError> {
        let unread = |error| SourceError::Root {
            name: root_name.into(),
            error,
        };
        let name = path::normalise(root_name).ok_or_else(|| unread(ReadError::PathOutside))?;
        let text = reader(&name).map_err(unread)?;
        let mut flattener = Flattener {
            reader,
            root: name.clone(),
            files: Vec::new(),
            seen_unconditionally: BTreeSet::new(),
            open: Vec::new(),
            conditionals: 0,
            out: String::new(),
        };
        flattener.file(&name, &text)?;
        Ok(SourceText {
            hash: fingerprint::of(&flattener.out),
            text: flattener.out,
            files: flattener.files,
        })
    }

    /// Wraps a source that is already expanded, such as the one that the macro embeds.
    pub fn from_expanded(text: impl Into<String>) -> SourceText {
        let text = text.into();
        SourceText {
            hash: fingerprint::of(&text),
            text,
            files: Vec::new(),
        }
    }

    /// The expanded text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Every file of the source, the `.cu` file first. Empty for a source from [`Self::from_expanded`].
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// Hash of the tokens of the expanded source. Comments, blank lines and indentation do not change it, unless the
    /// source can observe its own location, for example with `__LINE__`.
    pub fn hash(&self) -> SourceHash {
        self.hash
    }

    /// The file and line of a byte of the expanded text, computed from the `#line` markers.
    pub fn locate(&self, offset: usize) -> Location {
        self.lines(&lex(&self.text).unwrap_or_default())
            .locate(offset)
    }

    /// The map from bytes of the text to files and lines. `tokens` are the tokens of the text.
    pub(super) fn lines(&self, tokens: &[Token]) -> LineMap {
        let root = self.files.first().map_or("source", |file| &file.name);
        LineMap::new(&self.text, tokens, root)
    }
}

struct Flattener<'a, 'r> {
    reader: &'a mut Reader<'r>,
    root: String,
    files: Vec<SourceFile>,
    /// Files with `#pragma once` that were inlined outside every `#if`. A later include of such a file adds nothing.
    seen_unconditionally: BTreeSet<String>,
    /// The files that are being inlined, outermost first.
    open: Vec<OpenFile>,
    /// Number of `#if` groups that are open at this position, in all open files together.
    conditionals: usize,
    out: String,
}

/// A file that is being inlined.
struct OpenFile {
    name: String,
    /// Whether a second inclusion of the file adds nothing.
    guarded: bool,
    /// Whether the whole file is in the `#ifndef` of an include guard.
    in_guard: bool,
}

/// What the flattener does with a directive.
enum Action {
    Include(String),
    Once,
    Open,
    Close,
    Keep,
}

impl Flattener<'_, '_> {
    fn file(&mut self, name: &str, text: &str) -> Result<(), SourceError> {
        let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        let location = |line| Location {
            file: name.to_owned(),
            line,
        };
        if let Some(nul) = text.find('\0') {
            let at = location(line_of(&text, nul));
            return Err(SourceError::Nul { at });
        }
        let tokens = lex(&text).map_err(|error| SourceError::Unterminated {
            what: error.what,
            at: location(error.line),
        })?;
        self.record(name, &text);
        let once = tokens.iter().any(|token| is_pragma_once(&text, token));
        let in_guard = has_guard(&text, &tokens);
        self.open.push(OpenFile {
            name: name.to_owned(),
            guarded: once || in_guard,
            in_guard,
        });
        let guard = format!(
            "{ONCE_GUARD}{:016x}",
            Hash::of("kiln once", name.as_bytes()).short()
        );
        if once {
            self.push(&format!("#ifndef {guard}\n#define {guard}\n"))?;
        }
        self.push(&line_marker(1, name))?;
        self.body(name, &text, &tokens)?;
        if once {
            self.push("\n#endif\n")?;
        }
        self.open.pop();
        Ok(())
    }

    fn record(&mut self, name: &str, text: &str) {
        if !self.files.iter().any(|file| file.name == name) {
            self.files.push(SourceFile {
                name: name.to_owned(),
                hash: Hash::of("kiln source file", text.as_bytes()),
            });
        }
    }

    fn body(&mut self, name: &str, text: &str, tokens: &[Token]) -> Result<(), SourceError> {
        let outer = self.conditionals;
        let mut copied = 0;
        for directive in tokens.iter().filter(|token| token.is_directive()) {
            let at = || Location {
                file: name.to_owned(),
                line: directive.line,
            };
            match action(text, directive).ok_or_else(|| SourceError::Computed { at: at() })? {
                Action::Keep => {}
                Action::Open => self.conditionals += 1,
                Action::Close => self.conditionals = self.conditionals.saturating_sub(1).max(outer),
                Action::Once => {
                    self.push(&text[copied..directive.start])?;
                    copied = directive.end;
                }
                Action::Include(path) => {
                    self.push(&text[copied..directive.start])?;
                    self.push("\n")?;
                    self.include(name, &path, at())?;
                    self.push(&line_marker(line_of(text, directive.end), name))?;
                    copied = directive.end;
                }
            }
        }
        self.conditionals = outer;
        self.push(&text[copied..])?;
        self.push(if self.out.ends_with('\n') { "" } else { "\n" })
    }

    fn include(&mut self, from: &str, path: &str, at: Location) -> Result<(), SourceError> {
        if path::resolve(from, path).is_none() {
            if self.is_conditional() {
                return self.push(&format!("#include \"{path}\"\n"));
            }
            let path = path.to_owned();
            return Err(SourceError::Outside { path, at });
        }
        let found = match self.find(from, path) {
            Ok(found) => found,
            // The condition may exclude the include from the build, like `#ifndef KILN`. Otherwise the compiler reports
            // the missing file.
            Err((_, ReadError::Unresolved { .. })) if self.is_conditional() => {
                return self.push(&format!("#include \"{path}\"\n"));
            }
            Err(_) if is_device_header(path) => {
                return self.push(&format!("#include \"{path}\"\n"));
            }
            Err((name, error)) => return Err(SourceError::Include { name, at, error }),
        };
        let (name, text) = found;
        if self.seen_unconditionally.contains(&name) {
            return Ok(());
        }
        if let Some(open) = self.open.iter().find(|open| open.name == name) {
            if open.guarded {
                return Ok(());
            }
            let chain = self.open.iter().map(|open| open.name.as_str());
            let chain = chain
                .chain([name.as_str()])
                .collect::<Vec<_>>()
                .join(" -> ");
            return Err(SourceError::Cycle { name, chain, at });
        }
        if self.open.len() >= MAX_INCLUDE_DEPTH {
            let limit = MAX_INCLUDE_DEPTH;
            return Err(SourceError::TooDeep { at, limit });
        }
        self.file(&name, &text)?;
        let guarded = lex(&text).is_ok_and(|t| t.iter().any(|t| is_pragma_once(&text, t)));
        if guarded && self.conditionals == 0 {
            self.seen_unconditionally.insert(name);
        }
        Ok(())
    }

    /// Whether this position is in an `#if` group that is not an include guard.
    fn is_conditional(&self) -> bool {
        self.conditionals > self.open.iter().filter(|open| open.in_guard).count()
    }

    /// Finds an included file. Returns its name and text. A path is relative to the folder of the file that includes
    /// it. If no file exists there, it is relative to the nearest folder above in which the file exists, because
    /// headers of a library include each other as `"library/part.cuh"` from any folder. If there is no such folder, the
    /// error is that of the first folder.
    fn find(&mut self, from: &str, path: &str) -> Result<(String, String), (String, ReadError)> {
        let mut first = None;
        for name in path::candidates(from, path) {
            match (self.reader)(&name) {
                Ok(text) => return Ok((name, text)),
                Err(error @ ReadError::Unresolved { .. }) => {
                    first = first.or(Some((name, error)));
                }
                Err(error) => return Err(first.unwrap_or((name, error))),
            }
        }
        Err(first.unwrap_or((path.to_owned(), ReadError::PathOutside)))
    }

    fn push(&mut self, text: &str) -> Result<(), SourceError> {
        if self.out.len() + text.len() > MAX_SOURCE_BYTES {
            return Err(SourceError::TooLarge {
                name: self.root.clone(),
                limit: MAX_SOURCE_BYTES,
            });
        }
        self.out.push_str(text);
        Ok(())
    }
}

/// Whether the device prelude has a header with this name. If so, the package need not have the header.
fn is_device_header(path: &str) -> bool {
    crate::codegen::prelude::CPU_PRELUDE
        .iter()
        .any(|(name, _)| *name == path)
}

/// The line number of a byte, from 1.
fn line_of(text: &str, offset: usize) -> u32 {
    let newlines = text.as_bytes()[..offset].iter().filter(|&&b| b == b'\n');
    1 + u32::try_from(newlines.count()).unwrap_or(u32::MAX - 1)
}

/// A `#line` marker, which declares that the next line is line `line` of the file `name`.
pub(crate) fn line_marker(line: u32, name: &str) -> String {
    let name = name.replace('\\', "\\\\").replace('"', "\\\"");
    format!("#line {line} \"{name}\"\n")
}

/// Decides what the flattener does with a directive. `None` for an `#include` of a macro.
fn action(text: &str, directive: &Token) -> Option<Action> {
    let inner = lex_directive(text, directive);
    let Some(name) = inner.first() else {
        return Some(Action::Keep);
    };
    match &*name.text(text) {
        "include" | "include_next" | "import" => match inner.get(1) {
            Some(path) if path.kind == TokenKind::Str => {
                let path = path.text(text);
                let path = path.strip_prefix('"')?.strip_suffix('"')?;
                Some(if PRELUDE_HEADERS.contains(&path) {
                    Action::Keep
                } else {
                    Action::Include(path.to_owned())
                })
            }
            Some(open) if open.is_punct(b'<') => Some(Action::Keep),
            _ => None,
        },
        "pragma" if is_pragma_once(text, directive) => Some(Action::Once),
        "if" | "ifdef" | "ifndef" => Some(Action::Open),
        "endif" => Some(Action::Close),
        _ => Some(Action::Keep),
    }
}

fn is_pragma_once(text: &str, token: &Token) -> bool {
    token.is_directive()
        && matches!(lex_directive(text, token).as_slice(),
            [pragma, once, ..] if pragma.is_name(text, "pragma") && once.is_name(text, "once"))
}

/// Whether the whole file is between `#ifndef X`, `#define X` and the matching `#endif`.
fn has_guard(text: &str, tokens: &[Token]) -> bool {
    let [first, second, .., last] = tokens else {
        return false;
    };
    let operand = |token: &Token, directive: &str| -> Option<String> {
        let inner = lex_directive(text, token);
        let named = token.is_directive() && inner.first()?.is_name(text, directive);
        named.then(|| inner.get(1).map(|t| t.text(text).into_owned()))?
    };
    let closes = last.is_directive()
        && lex_directive(text, last)
            .first()
            .is_some_and(|t| t.is_name(text, "endif"));
    closes
        && operand(first, "ifndef").is_some()
        && operand(first, "ifndef") == operand(second, "define")
}

#[cfg(test)]
#[path = "flatten_tests.rs"]
mod tests;

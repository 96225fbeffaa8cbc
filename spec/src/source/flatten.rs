//! Expands a kernel's source: inlines every local include, so that the whole source is one text that can be hashed and
//! compiled.

use std::collections::BTreeMap;

use super::error::{Location, ReadError, SourceError};
use super::fingerprint;
use super::flatten_action::{
    Action, action, asks_for_sanitizer, has_guard, is_pragma_once, questions,
};
use super::host_headers::is_for_hosts;
use super::lexer::{Token, lex};
use super::lines::LineMap;
use super::path;
use super::preprocess;
use crate::hash::{Hash, SourceHash};

/// Prefix of the include guards that replace `#pragma once`.
pub(super) const ONCE_GUARD: &str = "KILN_ONCE_";

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
/// the include is relative to the nearest folder above in which it exists, or else to a folder `include` in one of these
/// folders.
///
/// `#include "local.cuh"` is replaced by the text of the file between `#line` markers, and so is `#include
/// <library/part.cuh>` if the package has such a file. `#pragma once` is replaced by an
/// include guard, which works even if the first inclusion is under an `#if`. Any other `#include <..>` and the headers of Kiln
/// ([`PRELUDE_HEADERS`](super::PRELUDE_HEADERS)) are left unchanged. Line endings become `\n`.
///
/// Macros that hide `__global__`, `__launch_bounds__`, `__constant__`, `extern __shared__` or `namespace` are replaced by
/// their expansion, such as `KERNEL` after `#define KERNEL extern "C" __global__`.
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
            seen: BTreeMap::new(),
            open: Vec::new(),
            branches: Vec::new(),
            next_branch: 0,
            out: String::new(),
        };
        flattener.file(&name, &text)?;
        let text = preprocess::expand(flattener.out);
        Ok(SourceText {
            hash: fingerprint::of(&text),
            text,
            files: flattener.files,
        })
    }

    /// Wraps a source that is already expanded, such as the one that the macro embeds.
    pub fn from_expanded(text: impl Into<String>) -> SourceText {
        let text = preprocess::expand(text.into());
        SourceText {
            hash: fingerprint::of(&text),
            text,
            files: Vec::new(),
        }
    }

    /// This source with another text, in which parts of the text are blank.
    pub(super) fn with_text(&self, text: String) -> SourceText {
        SourceText {
            hash: fingerprint::of(&text),
            text,
            files: self.files.clone(),
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
    /// The files with `#pragma once` or an include guard that were inlined, each with the branches in which that was. A
    /// later include of the file in these branches adds nothing.
    seen: BTreeMap<String, Vec<Vec<usize>>>,
    /// The files that are being inlined, outermost first.
    open: Vec<OpenFile>,
    /// The branches of `#if` groups that are open at this position, in all open files together, except those of include
    /// guards.
    branches: Vec<usize>,
    /// Number of branches so far. It names the next branch.
    next_branch: usize,
    out: String,
}

/// A file that is being inlined.
struct OpenFile {
    name: String,
    /// Whether a second inclusion of the file adds nothing.
    guarded: bool,
    /// Number of branches that were open when the file was included.
    branches: usize,
}

/// An `#if` group that is open in a file.
#[derive(Clone, Copy)]
struct Group {
    /// Whether the group is the include guard of the file.
    is_guard: bool,
    /// Whether a file was inlined in the group.
    has_include: bool,
}

impl Flattener<'_, '_> {
    fn file(&mut self, name: &str, text: &str) -> Result<(), SourceError> {
        let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        let text = with_continued_lines(&text);
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
            branches: self.branches.len(),
        });
        let guard = format!(
            "{ONCE_GUARD}{:016x}",
            Hash::of("kiln once", name.as_bytes()).short()
        );
        if once {
            self.push(&format!("#ifndef {guard}\n#define {guard}\n"))?;
        }
        self.push(&line_marker(1, name))?;
        self.body(name, &text, &tokens, in_guard)?;
        if once {
            self.push("\n#endif\n")?;
        }
        self.open.pop();
        if once || in_guard {
            let seen = self.seen.entry(name.to_owned()).or_default();
            seen.push(self.branches.clone());
        }
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

    fn body(
        &mut self,
        name: &str,
        text: &str,
        tokens: &[Token],
        in_guard: bool,
    ) -> Result<(), SourceError> {
        let outer = self.branches.len();
        let mut groups: Vec<Group> = Vec::new();
        let mut copied = 0;
        // Only the macros of this file and of the targets are known here. If an included file changes a macro of this
        // file, a branch can be taken for dead by mistake; the compiler then reports that it cannot open its includes.
        let excluded = preprocess::Excluded::of(text, tokens);
        for (i, directive) in tokens.iter().enumerate() {
            if !directive.is_directive() {
                continue;
            }
            let at = || Location {
                file: name.to_owned(),
                line: directive.line,
            };
            copied = self.answer(name, text, directive, copied)?;
            let action = match action(text, directive) {
                Some(Action::Include(_) | Action::Angled(_) | Action::Embed) | None
                    if excluded.dead[i] =>
                {
                    Action::Keep
                }
                None if self.is_conditional() => Action::Keep,
                action => action.ok_or_else(|| SourceError::Computed { at: at() })?,
            };
            if !excluded.dead[i] && asks_for_sanitizer(text, directive) {
                return Err(SourceError::Sanitizer { at: at() });
            }
            match action {
                Action::Keep => {}
                Action::Open => {
                    let is_guard = in_guard && i == 0;
                    groups.push(Group {
                        is_guard,
                        has_include: false,
                    });
                    if !is_guard {
                        self.open_branch();
                    }
                }
                Action::Divide | Action::Close => {
                    // A compiler that skips a group also skips the line marker behind an include in it.
                    if self.leave_branch(&mut groups, action == Action::Divide) {
                        self.push(&text[copied..directive.end])?;
                        self.push("\n")?;
                        self.push(&line_marker(line_of(text, directive.end), name))?;
                        copied = directive.end;
                    }
                }
                Action::Embed => return Err(SourceError::Embed { at: at() }),
                Action::Once => {
                    self.push(&text[copied..directive.start])?;
                    copied = directive.end;
                }
                Action::Angled(path)
                    if !path.starts_with('/') && !self.is_of_package(name, &path) => {}
                Action::Include(path) | Action::Angled(path) => {
                    groups.iter_mut().for_each(|group| group.has_include = true);
                    self.push(&text[copied..directive.start])?;
                    self.push("\n")?;
                    self.include(name, &path, at())?;
                    self.push(&line_marker(line_of(text, directive.end), name))?;
                    copied = directive.end;
                }
            }
        }
        self.branches.truncate(outer);
        self.push(&text[copied..])?;
        self.push(if self.out.ends_with('\n') { "" } else { "\n" })
    }

    fn include(&mut self, from: &str, path: &str, at: Location) -> Result<(), SourceError> {
        if path::resolve(from, path).is_none() {
            if self.is_conditional() {
                return self.refuse(path);
            }
            let path = path.to_owned();
            return Err(SourceError::Outside { path, at });
        }
        let found = match self.find(from, path) {
            Ok(found) => found,
            // The condition may exclude the include from the build, like `#ifndef KILN`. Otherwise the compiler reports
            // the missing file.
            Err((_, ReadError::Unresolved { .. } | ReadError::NotText))
                if self.is_conditional() =>
            {
                return self.push(&format!("#include \"{path}\"\n"));
            }
            Err((_, ReadError::LinkOutside)) if self.is_conditional() => return self.refuse(path),
            Err(_) if is_device_header(path) || is_for_hosts(path) => {
                return self.push(&format!("#include \"{path}\"\n"));
            }
            Err((name, error)) => return Err(SourceError::Include { name, at, error }),
        };
        let (name, text) = found;
        let seen = self.seen.get(&name).into_iter().flatten();
        if { seen }.any(|branches| self.branches.starts_with(branches)) {
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
            // The condition may be false, or false the second time.
            if self.branches.len() > open.branches {
                return self.push(&format!(
                    "#error `{name}` includes itself ({chain}): add `#pragma once` to it\n"
                ));
            }
            return Err(SourceError::Cycle { name, chain, at });
        }
        if self.open.len() >= MAX_INCLUDE_DEPTH {
            let limit = MAX_INCLUDE_DEPTH;
            return Err(SourceError::TooDeep { at, limit });
        }
        self.file(&name, &text)
    }

    /// Adds an error in place of a conditional include of a file outside the package. No hash would cover the file, so
    /// its changes would make no row stale.
    fn refuse(&mut self, path: &str) -> Result<(), SourceError> {
        self.push(&format!(
            "#error `{path}` is outside the package, so Kiln would miss its changes; help: copy it into the package\n"
        ))
    }

    /// Replaces questions such as `__has_include("part.cuh")` by 1 if the package has the file, because the compilers do
    /// not see the package's folders. The text is copied up to `copied`; returns up to where it is copied then.
    fn answer(
        &mut self,
        name: &str,
        text: &str,
        directive: &Token,
        mut copied: usize,
    ) -> Result<usize, SourceError> {
        for question in questions(text, directive) {
            let path = &question.path;
            let is_there = match question.is_angled {
                true => self.is_of_package(name, path),
                false => self.find(name, path).is_ok(),
            };
            if is_there {
                self.push(&text[copied..question.range.start])?;
                self.push("1")?;
                copied = question.range.end;
            }
        }
        Ok(copied)
    }

    /// Leaves a branch of the innermost group, for the next branch or for the end of the group. Returns whether a file
    /// was inlined in the group.
    fn leave_branch(&mut self, groups: &mut Vec<Group>, divides: bool) -> bool {
        let Some(group) = groups.pop() else {
            return false;
        };
        if !group.is_guard {
            self.branches.pop();
        }
        if divides {
            if !group.is_guard {
                self.open_branch();
            }
            groups.push(group);
        }
        group.has_include
    }

    fn open_branch(&mut self) {
        self.branches.push(self.next_branch);
        self.next_branch += 1;
    }

    /// Whether `#include <..>` includes a file of the package, as in `#include <library/part.cuh>`. The names of standard
    /// headers have no folder and another ending.
    fn is_of_package(&mut self, from: &str, path: &str) -> bool {
        let may_be = path.contains('/') || path.ends_with(".cuh");
        may_be && !is_device_header(path) && self.find(from, path).is_ok()
    }

    /// Whether this position is in an `#if` group that is not an include guard.
    fn is_conditional(&self) -> bool {
        !self.branches.is_empty()
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

/// The text without white space between a backslash and the end of its line, where g++ and clang continue the line, but
/// other compilers need not.
fn with_continued_lines(text: &str) -> String {
    let mut lines = text.split('\n');
    let mut out = String::with_capacity(text.len());
    out.push_str(lines.next().unwrap_or_default());
    for line in lines {
        let trimmed = out.trim_end_matches([' ', '\t']);
        if trimmed.ends_with('\\') {
            out.truncate(trimmed.len());
        }
        out.push('\n');
        out.push_str(line);
    }
    out
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

#[cfg(test)]
#[path = "flatten_tests.rs"]
mod tests;

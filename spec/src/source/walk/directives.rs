//! Handles the preprocessor directives of the walk.

use super::Walker;
use super::names::{directive_names, guard_names, names, tested_names};
use crate::source::error::SourceError;
use crate::source::lexer::{Token, TokenKind, lex_directive};
use crate::source::parts::{Include, MacroDefinition, Unroll};

impl Walker<'_> {
    /// Records the directive at `i` in the scan.
    pub(super) fn directive(&mut self, i: usize) -> Result<(), SourceError> {
        let directive = self.tokens[i];
        let range = directive.start..directive.end;
        self.scan.directives.push(range.clone());
        let inner = lex_directive(self.text, &directive);
        let Some(name) = inner.first().map(|t| t.text(self.text)) else {
            return Ok(());
        };
        match &*name {
            "if" | "ifdef" | "ifndef" | "elif" | "else" | "elifdef" | "elifndef" | "endif" => {
                self.conditional_directive(i, &name, &inner)?;
            }
            "include" | "include_next" | "import" => {
                let operand = inner.get(1).map_or(range.end, |first| first.start);
                let operand = self.text[operand..range.end].trim();
                let header = operand.trim_matches(['<', '>', '"']).to_owned();
                self.scan.includes.push(Include {
                    header,
                    at: self.lines.locate(range.start),
                    conditional: !self.conditions.hold_at_first(),
                    range,
                });
            }
            "define" | "undef" => self.definition(i, &inner, &name == "undef"),
            "pragma" if inner.get(1).is_some_and(|t| t.is_name(self.text, "unroll")) => {
                let operand = inner.get(2).zip(inner.last());
                let count = operand
                    .map(|(first, last)| self.text[first.start..last.end].replace("\\\n", " "));
                self.scan.unrolls.push(Unroll { range, count });
            }
            _ => {}
        }
        self.scan
            .identifiers
            .extend(directive_names(self.text, &directive));
        self.scan.tested.extend(tested_names(self.text, &inner));
        Ok(())
    }

    /// Whether the token at `i` is `#if`, `#ifdef` or `#ifndef`.
    fn opens_a_group(&self, i: usize) -> bool {
        let token = &self.tokens[i];
        let inner = lex_directive(self.text, token);
        token.is_directive()
            && inner.first().is_some_and(|first| {
                ["if", "ifdef", "ifndef"]
                    .iter()
                    .any(|name| first.is_name(self.text, name))
            })
    }

    /// Opens a group, continues with its next branch or closes it. Every branch begins in the scopes that were open at
    /// the `#if`, because only one of the branches is compiled.
    fn conditional_directive(
        &mut self,
        i: usize,
        name: &str,
        inner: &[Token],
    ) -> Result<(), SourceError> {
        let start = self.tokens[i].start;
        match name {
            "if" | "ifdef" | "ifndef" => {
                self.groups += 1;
                self.conditions
                    .open(self.groups, guard_names(self.text, inner));
                self.saved.push(self.scopes.clone());
            }
            "endif" => {
                if !self.conditions.close() {
                    return Err(self.conditional("`#endif` without `#if`", start));
                }
                self.saved.pop();
            }
            _ => {
                if !self.conditions.next_branch() {
                    return Err(self.conditional("`#else` or `#elif` without `#if`", start));
                }
                self.scopes = self.saved.last().cloned().unwrap_or_default();
                self.run = i + 1;
            }
        }
        Ok(())
    }

    /// Records the `#define` or `#undef` at `i`.
    fn definition(&mut self, i: usize, inner: &[Token], undef: bool) {
        let Some(name) = inner.get(1).filter(|t| t.kind == TokenKind::Identifier) else {
            return;
        };
        let range = self.tokens[i].start..self.tokens[i].end;
        if !undef
            && i.checked_sub(1)
                .is_some_and(|before| self.opens_a_group(before))
        {
            self.conditions.define_at_start(&name.text(self.text));
        }
        let replacement = inner.get(2..).unwrap_or_default();
        let takes_arguments = replacement
            .first()
            .is_some_and(|first| first.is_punct(b'(') && first.start == name.end);
        let is_type =
            |t: &Token| t.kind == TokenKind::Identifier || t.is_punct(b'*') || t.is_punct(b':');
        if !undef && !takes_arguments && !replacement.is_empty() && replacement.iter().all(is_type)
        {
            let ty: Vec<_> = replacement.iter().map(|t| t.text(self.text)).collect();
            self.also_means(name.text(self.text).into_owned(), ty.join(" "));
        }
        self.scan.macros.push(MacroDefinition {
            name: name.text(self.text).into_owned(),
            at: self.lines.locate(range.start),
            range,
            conditions: self.conditions.clone(),
            mentions: names(self.text, &inner[2..]).collect(),
            undef,
        });
    }
}

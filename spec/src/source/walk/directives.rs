//! Directives, as the walk meets them.

use std::ops::Range;

use super::Walker;
use super::names::{directive_names, guard_name, names};
use crate::source::error::SourceError;
use crate::source::lexer::{Token, TokenKind, lex_directive};
use crate::source::parts::{Include, MacroDefinition, Unroll};

impl Walker<'_> {
    /// Takes note of a directive.
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
            "include" | "include_next" | "import" => self.scan.includes.push(Include {
                range,
                conditional: !self.conditions.hold_at_first(),
            }),
            "define" | "undef" => self.definition(range, &inner, &name == "undef"),
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
        Ok(())
    }

    /// Opens a group, moves to its next branch or closes it. Every branch begins in the scopes that the
    /// group was opened in.
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
                    .open(self.groups, guard_name(self.text, inner));
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

    fn definition(&mut self, range: Range<usize>, inner: &[Token], undef: bool) {
        let Some(name) = inner.get(1).filter(|t| t.kind == TokenKind::Identifier) else {
            return;
        };
        self.scan.macros.push(MacroDefinition {
            name: name.text(self.text).into_owned(),
            range,
            conditions: self.conditions.clone(),
            mentions: names(self.text, &inner[2..]).collect(),
            undef,
        });
    }
}

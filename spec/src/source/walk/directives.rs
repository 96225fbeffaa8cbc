//! Handles the preprocessor directives of the walk.

use super::declaration::Nesting;
use super::names::{directive_names, guard_names, names, tested_names};
use super::{SavedState, WalkScope, Walker};
use crate::source::conditional::Branch;
use crate::source::error::SourceError;
use crate::source::facts::Fact;
use crate::source::kernel_function::Obstacle;
use crate::source::lexer::{Token, TokenKind, lex_directive};
use crate::source::parts::{Include, MacroDefinition, Unroll};

impl Walker<'_> {
    /// Records the directive at `i` in the scan.
    pub(super) fn directive(&mut self, i: usize) -> Result<(), SourceError> {
        let directive = self.tokens[i];
        let range = directive.start..directive.end;
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
                let operand = &self.text[operand..range.end];
                // A comment may follow the name.
                let name = operand.trim_start_matches(['<', '"']);
                let name = name.split(['>', '"', '\n']).next().unwrap_or_default();
                let header = name.trim().to_owned();
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

    /// The name of the directive at `i`; `None` if another token is there.
    pub(super) fn directive_name(&self, i: usize) -> Option<String> {
        let token = self.tokens.get(i).filter(|token| token.is_directive())?;
        let inner = lex_directive(self.text, token);
        Some(inner.first()?.text(self.text).into_owned())
    }

    /// Opens a group, continues with its next branch or closes it. Every branch begins in the scopes and in the
    /// declaration that were open at the `#if`, because only one of the branches is compiled.
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
                let branch = self.branch(i, inner);
                self.conditions
                    .open(self.groups, guard_names(self.text, inner), branch);
                self.saved.push(SavedState {
                    scopes: self.scopes.clone(),
                    first_end: None,
                    parens: self.parens,
                    run: Some(self.run).filter(|run| *run < i),
                });
            }
            "endif" => {
                if !self.conditions.close() {
                    return Err(self.conditional("`#endif` without `#if`", start));
                }
                self.end_branch();
                // If the branches end in different scopes, a later group with the same condition usually closes what
                // this group opened. Such groups are consistent if the first branch of each is followed.
                if let Some(first_end) = self.saved.pop().and_then(|saved| saved.first_end) {
                    (self.scopes, self.parens) = first_end;
                }
            }
            _ => {
                let branch = self.branch(i, inner);
                if !self.conditions.next_branch(branch) {
                    return Err(self.conditional("`#else` or `#elif` without `#if`", start));
                }
                self.end_branch();
                if let Some(saved) = self.saved.last_mut() {
                    let ended = std::mem::replace(&mut self.scopes, saved.scopes.clone());
                    let parens = std::mem::replace(&mut self.parens, saved.parens);
                    saved.first_end.get_or_insert((ended, parens));
                    self.run = saved.run.unwrap_or(i + 1);
                }
            }
        }
        Ok(())
    }

    /// Marks the kernels whose bodies began in the current branch and are still open at its end.
    fn end_branch(&mut self) {
        let outer = self.saved.last().map_or(0, |saved| saved.scopes.len());
        for scope in self.scopes.iter().skip(outer) {
            if let WalkScope::Body(Some(kernel)) = *scope {
                let kernel = &mut self.scan.kernels[kernel];
                kernel.obstacle.get_or_insert(Obstacle::SharedBody);
            }
        }
    }

    /// The branch that the directive at `i` begins.
    fn branch(&self, i: usize, inner: &[Token]) -> Branch {
        let start = self.tokens[i].start;
        let written = match inner.last() {
            Some(last) => self.text[start..last.end].replace("\\\n", " "),
            None => String::new(),
        };
        Branch {
            directive: (written, self.lines.locate(start)),
            facts: Fact::of_directive(self.text, inner),
        }
    }

    /// Records the names in a directive that the walk does not follow, because its conditions are known.
    pub(super) fn decided_directive(&mut self, directive: &Token) {
        let inner = lex_directive(self.text, directive);
        self.scan
            .identifiers
            .extend(directive_names(self.text, directive));
        self.scan.tested.extend(tested_names(self.text, &inner));
    }

    /// Records the `#define` or `#undef` at `i`.
    fn definition(&mut self, i: usize, inner: &[Token], undef: bool) {
        let Some(name) = inner.get(1).filter(|t| t.kind == TokenKind::Identifier) else {
            return;
        };
        let range = self.tokens[i].start..self.tokens[i].end;
        if !undef
            && i.checked_sub(1)
                .is_some_and(|before| self.nesting(before) == Some(Nesting::Opens))
        {
            self.conditions.define_at_start(&name.text(self.text));
        }
        let replacement = inner.get(2..).unwrap_or_default();
        let takes_arguments = replacement
            .first()
            .is_some_and(|first| first.is_punct(b'(') && first.start == name.end);
        let is_type =
            |t: &Token| t.kind == TokenKind::Identifier || t.is_punct(b'*') || t.is_punct(b':');
        if !undef && !takes_arguments && replacement.iter().all(is_type) {
            let ty: Vec<_> = replacement.iter().map(|t| t.text(self.text)).collect();
            self.also_means(name.text(self.text).into_owned(), ty.join(" "));
        }
        self.scan.macros.push(MacroDefinition {
            name: name.text(self.text).into_owned(),
            at: self.lines.locate(range.start),
            range,
            conditions: self.conditions.clone(),
            mentions: names(self.text, &inner[2..]).collect(),
            takes_arguments,
            is_code: (replacement.iter()).any(|t| t.is_punct(b'{') || t.is_punct(b';')),
            launches: repeats(replacement, b'<', 3),
            joins_tokens: repeats(replacement, b'#', 2),
            undef,
        });
    }
}

/// Whether a punctuation byte occurs several times in a row.
fn repeats(tokens: &[Token], byte: u8, times: usize) -> bool {
    let mut windows = tokens.windows(times);
    windows.any(|window| window.iter().all(|token| token.is_punct(byte)))
}

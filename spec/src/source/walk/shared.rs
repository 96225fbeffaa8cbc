//! Finds shared variables.

use std::ops::Range;

use super::Walker;
use crate::source::kernel_function::matching;
use crate::source::lexer::{Token, TokenKind};
use crate::source::parts::DynamicShared;

impl Walker<'_> {
    pub(super) fn file_shared(&mut self, i: usize) {
        let is_extern = (self.run..i).any(|j| self.is_name(j, "extern"));
        if self.at_declarations() && !is_extern {
            let word = self.tokens[i];
            self.scan.file_shared.push(word.start..word.end);
        }
    }

    pub(super) fn dynamic_shared(&mut self, i: usize) {
        let end = (i..self.tokens.len())
            .find(|&j| matches!(self.tokens[j].kind, TokenKind::Punct(b';' | b'{' | b'}')));
        let Some(end) = end.filter(|&end| self.tokens[end].is_punct(b';')) else {
            return;
        };
        if !(i..end).any(|j| self.is_name(j, "__shared__")) {
            return;
        }
        self.scan.dynamic_shared.push(DynamicShared {
            range: self.tokens[self.run.min(i)].start..self.tokens[end].end,
            declares: self.shared_declarator(self.run.min(i)..end),
            file_scope: self.at_declarations(),
        });
    }

    /// The element type and the name in a declaration such as `extern __shared__ alignas(16) T name[]`.
    fn shared_declarator(&self, range: Range<usize>) -> Option<(String, String)> {
        let mut words = Vec::new();
        let mut i = range.start;
        while i < range.end {
            let token = self.tokens[i];
            let text = token.text(self.text);
            match &*text {
                "extern" | "__shared__" => {}
                "alignas" | "__align__" | "__attribute__" => i = matching(&self.tokens, i + 1)?,
                _ if token.is_directive() => return None,
                _ => words.push(token),
            }
            i += 1;
        }
        let [ty @ .., name, open, close] = words.as_slice() else {
            return None;
        };
        let plain =
            |t: &Token| !matches!(t.kind, TokenKind::Punct(b',' | b'(' | b'[' | b'=' | b'"'));
        let named =
            name.kind == TokenKind::Identifier && open.is_punct(b'[') && close.is_punct(b']');
        if !named || ty.is_empty() || !ty.iter().all(plain) {
            return None;
        }
        let ty: Vec<_> = ty.iter().map(|t| t.text(self.text)).collect();
        Some((
            ty.join(" ").replace(": :", "::"),
            name.text(self.text).into_owned(),
        ))
    }
}

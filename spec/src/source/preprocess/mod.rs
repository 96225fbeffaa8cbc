//! The parts of the preprocessor that a scan needs: conditions whose value is known whatever the target and the config,
//! and macros that hide the words by which a scan finds kernels.

mod complete;
mod condition;
mod expand;
mod groups;
mod integer;
mod macros;
mod substitute;

use super::lexer::{Token, TokenKind, lex_directive};
use groups::Groups;
use macros::Macros;

pub(super) use expand::expand;
pub(super) use integer::number;

/// What is known about a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Truth {
    False,
    True,
    /// The condition may depend on the target, the config or a header.
    Unknown,
}

impl Truth {
    fn of(value: bool) -> Truth {
        if value { Truth::True } else { Truth::False }
    }

    fn not(self) -> Truth {
        match self {
            Truth::False => Truth::True,
            Truth::True => Truth::False,
            Truth::Unknown => Truth::Unknown,
        }
    }

    fn or(self, other: Truth) -> Truth {
        match (self, other) {
            (Truth::True, _) | (_, Truth::True) => Truth::True,
            (Truth::False, Truth::False) => Truth::False,
            _ => Truth::Unknown,
        }
    }
}

/// The tokens of a source that the scan must not see.
#[derive(Debug)]
pub(super) struct Excluded {
    /// For each token, whether it is in a branch that is never compiled.
    pub dead: Vec<bool>,
    /// For each token, whether it is a conditional directive that decides nothing: either all conditions of its group
    /// are known, or it begins a branch that is never compiled.
    pub decided: Vec<bool>,
}

impl Excluded {
    /// The excluded tokens of a source.
    pub fn of(text: &str, tokens: &[Token]) -> Excluded {
        let mut walk = Preprocessor::new(text, tokens);
        let dead = (0..tokens.len()).map(|i| !walk.step(i)).collect();
        Excluded {
            dead,
            decided: walk.groups.decided,
        }
    }

    /// The tokens that are not excluded.
    pub fn rest(&self, tokens: &[Token]) -> Vec<Token> {
        let included = (0..tokens.len()).filter(|&i| !self.contains(i));
        included.map(|i| tokens[i]).collect()
    }

    /// The directives in [`Self::decided`], except those in branches that are never compiled.
    pub fn decided_directives<'t>(&self, tokens: &'t [Token]) -> impl Iterator<Item = &'t Token> {
        let decided = (0..tokens.len()).filter(|&i| self.decided[i] && !self.dead[i]);
        decided.map(|i| &tokens[i])
    }

    /// Whether the scan must skip the token at this index.
    pub fn contains(&self, index: usize) -> bool {
        self.dead[index] || self.decided[index]
    }
}

/// Follows the directives of a source.
struct Preprocessor<'s> {
    text: &'s str,
    tokens: &'s [Token],
    macros: Macros,
    groups: Groups,
}

impl<'s> Preprocessor<'s> {
    fn new(text: &'s str, tokens: &'s [Token]) -> Preprocessor<'s> {
        Preprocessor {
            text,
            tokens,
            macros: Macros::new(),
            groups: Groups::new(tokens.len()),
        }
    }

    /// Follows the next token. Returns whether it may be compiled.
    fn step(&mut self, i: usize) -> bool {
        let token = &self.tokens[i];
        if !token.is_directive() {
            return self.groups.is_live();
        }
        let inner = lex_directive(self.text, token);
        let Some(name) = inner.first().map(|t| t.text(self.text)) else {
            return self.groups.is_live();
        };
        let operands = &inner[1..];
        match &*name {
            "if" | "ifdef" | "ifndef" => {
                let live = self.groups.is_live();
                let truth = self.truth(&name, operands);
                let guard = self.guard(i, &name, operands);
                self.groups.open(i, truth, guard);
                live
            }
            "elif" | "elifdef" | "elifndef" => {
                let truth = self.truth(&name[2..], operands);
                self.groups.next(i, truth)
            }
            "else" => self.groups.next(i, Truth::True),
            "endif" => self.groups.close(i),
            "define" | "undef" => {
                let live = self.groups.is_live();
                if live {
                    self.definition(&name, operands);
                }
                live
            }
            "pragma" => {
                if let [word, _, name, ..] = operands
                    && ["push_macro", "pop_macro"].contains(&&*word.text(self.text))
                {
                    let name = name.text(self.text);
                    self.macros.forget(name.trim_matches('"'));
                }
                self.groups.is_live()
            }
            _ => self.groups.is_live(),
        }
    }

    fn truth(&self, directive: &str, operands: &[Token]) -> Truth {
        let defined = || match operands.first() {
            Some(name) if name.kind == TokenKind::Identifier => {
                self.macros.is_defined(&name.text(self.text))
            }
            _ => Truth::Unknown,
        };
        match directive {
            "ifdef" => defined(),
            "ifndef" => defined().not(),
            _ => condition::evaluate(self.text, operands, &self.macros),
        }
    }

    /// The name in `#ifndef NAME`, and whether the group is an include guard: `#define NAME`, without a value, directly
    /// follows.
    fn guard(&self, i: usize, directive: &str, operands: &[Token]) -> Option<(String, bool)> {
        let [name] = operands else { return None };
        if directive != "ifndef" || name.kind != TokenKind::Identifier {
            return None;
        }
        let name = name.text(self.text).into_owned();
        let next = self.tokens.get(i + 1).filter(|next| next.is_directive());
        let next = next.map_or(Vec::new(), |next| lex_directive(self.text, next));
        let is_guard = matches!(next.as_slice(), [define, defined]
            if define.is_name(self.text, "define") && defined.is_name(self.text, &name));
        Some((name, is_guard))
    }

    fn definition(&mut self, directive: &str, operands: &[Token]) {
        let Some(name) = operands.first() else { return };
        if name.kind != TokenKind::Identifier {
            return;
        }
        let is_certain = self.groups.is_certain();
        let is_default = self.groups.is_default(&name.text(self.text));
        if directive == "undef" {
            let name = name.text(self.text);
            self.macros.undefine(&name, is_certain);
        } else {
            (self.macros).define(self.text, operands, is_certain, is_default);
        }
    }
}

#[cfg(test)]
mod tests;

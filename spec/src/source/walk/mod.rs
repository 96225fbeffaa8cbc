//! Walks over the tokens of a source and fills a [`SourceScan`].

mod directives;
mod names;

use std::collections::BTreeSet;
use std::ops::Range;

use super::conditional::OpenConditionals;
use super::constant;
use super::error::SourceError;
use super::flatten::SourceText;
use super::kernel_function::{KernelFunction, Obstacle, bounds, matching, parameters, signature};
use super::lexer::{Token, TokenKind, lex};
use super::lines::LineMap;
use super::parts::DynamicShared;
use super::reach::Unit;
use super::scan::SourceScan;
use super::template::Template;
use names::directive_names;

/// The kind of construct that a pair of braces encloses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WalkScope {
    ExternC,
    /// A namespace, with its index in [`Walker::namespaces`].
    Namespace(usize),
    /// A function, class or initialiser. If it is the body of a kernel, the index is that of the kernel; otherwise
    /// `None`.
    Body(Option<usize>),
}

struct Walker<'s> {
    lines: LineMap,
    text: &'s str,
    tokens: Vec<Token>,
    scan: SourceScan,
    scopes: Vec<WalkScope>,
    /// For each namespace that was opened, its names: none for an anonymous namespace, two for `namespace a::b`.
    namespaces: Vec<Vec<String>>,
    /// For each open `#if`, the scopes at its start. Every branch of the group begins with these scopes.
    saved: Vec<Vec<WalkScope>>,
    conditions: OpenConditionals,
    groups: usize,
    /// Index of the first token of the current declaration or statement.
    run: usize,
    /// Index of the first token of the current declaration at file or namespace scope.
    unit: usize,
    /// The kernel that was just found: the index of the token that opens its body, and the index of the kernel.
    pending: Option<(usize, usize)>,
}

impl SourceScan {
    /// Scans an expanded source.
    ///
    /// # Errors
    /// If the text cannot be split into tokens, or if its conditional directives do not match.
    pub fn new(source: &SourceText) -> Result<SourceScan, SourceError> {
        let text = source.text();
        let tokens = lex(text).map_err(|error| SourceError::Unterminated {
            what: error.what,
            at: source.locate(line_start(text, error.line)),
        })?;
        let mut walker = Walker {
            lines: source.lines(&tokens),
            text,
            tokens,
            scan: SourceScan {
                kernels: Vec::new(),
                identifiers: BTreeSet::new(),
                tested: BTreeSet::new(),
                macros: Vec::new(),
                includes: Vec::new(),
                directives: Vec::new(),
                unrolls: Vec::new(),
                dynamic_shared: Vec::new(),
                file_shared: Vec::new(),
                aliases: Default::default(),
                constants: Vec::new(),
                units: Vec::new(),
            },
            scopes: Vec::new(),
            namespaces: Vec::new(),
            saved: Vec::new(),
            conditions: OpenConditionals::default(),
            groups: 0,
            run: 0,
            unit: 0,
            pending: None,
        };
        for i in 0..walker.tokens.len() {
            walker.step(i)?;
        }
        if !walker.conditions.is_empty() {
            return Err(walker.conditional("`#if` without `#endif`", text.len()));
        }
        Ok(walker.scan)
    }
}

/// The offset of the first byte of a physical line.
fn line_start(text: &str, line: u32) -> usize {
    let lines = text.split_inclusive('\n').map(str::len);
    lines.take(line.saturating_sub(1) as usize).sum()
}

impl Walker<'_> {
    fn conditional(&self, what: &'static str, offset: usize) -> SourceError {
        let at = self.lines.locate(offset);
        SourceError::Conditional { what, at }
    }

    fn name(&self, i: usize) -> std::borrow::Cow<'_, str> {
        self.tokens[i].text(self.text)
    }

    fn is_name(&self, i: usize, name: &str) -> bool {
        self.tokens
            .get(i)
            .is_some_and(|t| t.is_name(self.text, name))
    }

    /// Whether the current scope is the file, a namespace or an `extern "C"` block.
    fn at_declarations(&self) -> bool {
        !self
            .scopes
            .iter()
            .any(|scope| matches!(scope, WalkScope::Body(_)))
    }

    fn step(&mut self, i: usize) -> Result<(), SourceError> {
        match self.tokens[i].kind {
            TokenKind::Directive => {
                self.directive(i)?;
                if self.run == i {
                    self.run = i + 1;
                }
                if self.unit == i {
                    self.unit = i + 1;
                }
            }
            TokenKind::Identifier => self.identifier(i),
            TokenKind::Punct(b'{') => self.open(i),
            TokenKind::Punct(b'}') => self.close(i),
            TokenKind::Punct(b';') => {
                if self.at_declarations() {
                    self.end_unit(i);
                }
                self.run = i + 1;
            }
            _ => {}
        }
        Ok(())
    }

    fn identifier(&mut self, i: usize) {
        let name = self.name(i).into_owned();
        match name.as_str() {
            "__global__" => self.kernel(i),
            "extern" => self.dynamic_shared(i),
            "__shared__" => self.file_shared(i),
            _ => {}
        }
        self.scan.identifiers.insert(name);
    }

    fn open(&mut self, i: usize) {
        let scope = match self.pending {
            Some((brace, kernel)) if brace == i => WalkScope::Body(Some(kernel)),
            _ if !self.at_declarations() => WalkScope::Body(None),
            _ if i > 0 && self.tokens[i - 1].kind == TokenKind::Str => WalkScope::ExternC,
            _ => match (self.run..i).find(|&j| self.is_name(j, "namespace")) {
                Some(word) => self.namespace(word + 1..i),
                None => WalkScope::Body(None),
            },
        };
        self.scopes.push(scope);
        self.run = i + 1;
        if !matches!(scope, WalkScope::Body(_)) {
            self.unit = i + 1;
        }
    }

    /// Adds a namespace whose name is in these tokens. Returns its scope.
    fn namespace(&mut self, names: Range<usize>) -> WalkScope {
        let names = names.filter(|&j| self.tokens[j].kind == TokenKind::Identifier);
        let names = names.map(|j| self.name(j).into_owned()).collect();
        self.namespaces.push(names);
        WalkScope::Namespace(self.namespaces.len() - 1)
    }

    fn close(&mut self, i: usize) {
        let closed = self.scopes.pop();
        if let Some(WalkScope::Body(Some(kernel))) = closed {
            self.scan.kernels[kernel].range.end = self.tokens[i].end;
        }
        self.run = i + 1;
        if matches!(closed, Some(WalkScope::Body(_))) && self.at_declarations() {
            self.end_unit(i);
        } else if self.at_declarations() {
            self.unit = i + 1;
        }
    }

    /// Records the declaration at file or namespace scope that ends with the token `last`.
    fn end_unit(&mut self, last: usize) {
        let range = self.unit..last + 1;
        self.unit = last + 1;
        let mut unit = Unit::default();
        let mut depth = 0usize;
        for token in &self.tokens[range.clone()] {
            match token.kind {
                TokenKind::Punct(b'{') => depth += 1,
                TokenKind::Punct(b'}') => depth = depth.saturating_sub(1),
                TokenKind::Identifier => {
                    let name = token.text(self.text).into_owned();
                    if depth == 0 {
                        unit.head.insert(name.clone());
                    }
                    unit.all.insert(name);
                }
                TokenKind::Directive => unit.all.extend(directive_names(self.text, token)),
                _ => {}
            }
        }
        if unit.head.is_empty() {
            return;
        }
        self.alias(range.clone());
        self.constants(range.clone());
        let bytes = self.tokens[range.start].start..self.tokens[last].end;
        let kernel = self
            .scan
            .kernels
            .iter()
            .rev()
            .find(|k| bytes.contains(&k.name_range.start));
        unit.kernel = kernel.map(|kernel| kernel.name.clone());
        self.scan.units.push(unit);
    }

    /// Records the `__constant__` variables of a declaration.
    fn constants(&mut self, range: Range<usize>) {
        let mut namespaces: Vec<String> = Vec::new();
        for names in self.open_namespaces() {
            if names.is_empty() {
                namespaces.push(String::new());
            }
            namespaces.extend_from_slice(names);
        }
        let found = constant::variables(self.text, &self.tokens[range], &namespaces, |offset| {
            self.lines.locate(offset)
        });
        self.scan.constants.extend(found);
    }

    /// Records the alias that `typedef A B;` or `using B = A;` declares.
    fn alias(&mut self, range: Range<usize>) {
        let words: Vec<_> = self.tokens[range]
            .iter()
            .filter(|t| !t.is_directive())
            .copied()
            .collect();
        let (name, ty) = match words.as_slice() {
            [typedef, ty @ .., name, end]
                if typedef.is_name(self.text, "typedef")
                    && end.is_punct(b';')
                    && name.kind == TokenKind::Identifier =>
            {
                (name, ty)
            }
            [using, name, equals, ty @ .., end]
                if using.is_name(self.text, "using")
                    && equals.is_punct(b'=')
                    && end.is_punct(b';') =>
            {
                (name, ty)
            }
            _ => return,
        };
        let ty: Vec<_> = ty.iter().map(|t| t.text(self.text)).collect();
        let ty = ty.join(" ");
        let name = name.text(self.text).into_owned();
        self.also_means(name, ty);
    }

    /// Adds a type to the types that an alias may mean.
    fn also_means(&mut self, name: String, ty: String) {
        let known = self.scan.aliases.entry(name).or_default();
        if !known.contains(&ty) {
            known.push(ty);
        }
    }

    fn file_shared(&mut self, i: usize) {
        let is_extern = (self.run..i).any(|j| self.is_name(j, "extern"));
        if self.at_declarations() && !is_extern {
            let word = self.tokens[i];
            self.scan.file_shared.push(word.start..word.end);
        }
    }

    fn dynamic_shared(&mut self, i: usize) {
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

    fn kernel(&mut self, global: usize) {
        let Some(signature) = signature(self.text, &self.tokens, global) else {
            return;
        };
        let (open, close) = signature.parens;
        let (params, obstacle) = parameters(self.text, &self.tokens[open + 1..close]);
        let start = self.declaration_start(global);
        let specifiers = || start..global;
        let is_definition = self.tokens[signature.end].is_punct(b'{');
        let template = Template::of(self.text, &self.tokens, specifiers());
        let bounds_at = signature
            .launch_bounds
            .or_else(|| bounds(self.text, &self.tokens, specifiers()));
        let bounds_close = bounds_at.and_then(|at| matching(&self.tokens, at + 1));
        let bounds = bounds_at.zip(bounds_close);
        let name = signature.name;
        self.scan.kernels.push(KernelFunction {
            name: name.text(self.text).into_owned(),
            range: self.tokens[start].start..self.tokens[signature.end].end,
            namespaces: self.open_namespaces().flatten().cloned().collect(),
            global_range: self.tokens[global].start..self.tokens[global].end,
            bounds_range: bounds.map(|(at, end)| self.tokens[at].start..self.tokens[end].end),
            name_range: name.start..name.end,
            params_range: self.tokens[open].end..self.tokens[close].start,
            body_open: is_definition.then(|| self.tokens[signature.end].end),
            specifiers_start: self.tokens[start].start,
            static_words: (start..open)
                .filter(|&j| self.is_name(j, "static"))
                .map(|j| self.tokens[j].start..self.tokens[j].end)
                .collect(),
            extern_c: specifiers()
                .any(|j| self.is_name(j, "extern") && self.tokens[j + 1].kind == TokenKind::Str),
            in_extern_c_block: self.scopes.contains(&WalkScope::ExternC),
            launch_bounds: bounds.map(|(at, end)| {
                let inside = self.tokens[at + 1].end..self.tokens[end].start;
                self.text[inside].trim().to_owned()
            }),
            params,
            obstacle: (self.obstacle_of_place(specifiers(), template.is_some()))
                .or(signature.obstacle)
                .or(obstacle),
            template,
            conditions: self.conditions.clone(),
            at: self.lines.locate(name.start),
        });
        if is_definition {
            self.pending = Some((signature.end, self.scan.kernels.len() - 1));
        }
    }

    /// The names of each open namespace, outermost first.
    fn open_namespaces(&self) -> impl Iterator<Item = &Vec<String>> {
        self.scopes.iter().filter_map(|scope| match scope {
            WalkScope::Namespace(number) => self.namespaces.get(*number),
            _ => None,
        })
    }

    /// The reason why a kernel at the current position, with these specifiers, cannot be an entry; `None` if it can.
    fn obstacle_of_place(
        &self,
        mut specifiers: Range<usize>,
        is_template: bool,
    ) -> Option<Obstacle> {
        if !self.at_declarations() {
            Some(Obstacle::Nested)
        } else if self.open_namespaces().any(Vec::is_empty) {
            Some(Obstacle::Namespace)
        } else {
            let template = specifiers.any(|j| self.is_name(j, "template"));
            (template && !is_template).then_some(Obstacle::Template)
        }
    }

    /// The index of the first token of the declaration whose `__global__` is at `global`. It is the start of the
    /// current declaration, unless a macro call that needs no semicolon comes first on an earlier line. Then it is the
    /// token after that call.
    fn declaration_start(&self, global: usize) -> usize {
        const CALLS: [&str; 5] = [
            "__launch_bounds__",
            "__attribute__",
            "alignas",
            "__align__",
            "__declspec",
        ];
        let mut start = self.run;
        let mut i = self.run;
        while i < global {
            let known = CALLS.iter().any(|call| self.is_name(i, call));
            if self.tokens[i].is_directive() {
                start = i + 1;
            } else if self.tokens[i].kind == TokenKind::Identifier
                && self.tokens[i + 1].is_punct(b'(')
                && let Some(close) = matching(&self.tokens, i + 1)
            {
                let next_line = self
                    .tokens
                    .get(close + 1)
                    .is_some_and(|t| t.line > self.tokens[close].line);
                if !known && next_line && close < global {
                    start = close + 1;
                }
                i = close;
            }
            i += 1;
        }
        start
    }
}

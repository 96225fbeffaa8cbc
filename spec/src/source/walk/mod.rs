//! Walks over the tokens of a source and fills a [`SourceScan`].

mod declaration;
mod declared;
mod directives;
mod excluded;
mod names;
mod shared;

use std::collections::BTreeSet;
use std::ops::Range;

use super::conditional::OpenConditionals;
use super::constant;
use super::error::{Location, SourceError};
use super::flatten::SourceText;
use super::kernel_function::{KernelFunction, Obstacle, bounds, parameters, signature};
use super::lexer::{Token, TokenKind, lex};
use super::lines::LineMap;
use super::preprocess::Excluded;
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

/// The state of the walk at an `#if`.
#[derive(Clone, Debug)]
struct SavedState {
    scopes: Vec<WalkScope>,
    /// Number of open parentheses.
    parens: usize,
    /// The scopes and the number of open parentheses at the end of the first branch; `None` in the first branch.
    first_end: Option<(Vec<WalkScope>, usize)>,
    /// The first token of the declaration or statement in which the `#if` is; `None` if it is between declarations.
    run: Option<usize>,
}

struct Walker<'s> {
    lines: LineMap,
    text: &'s str,
    tokens: Vec<Token>,
    scan: SourceScan,
    scopes: Vec<WalkScope>,
    /// For each namespace that was opened, its names: none for an anonymous namespace, two for `namespace a::b`.
    namespaces: Vec<Vec<String>>,
    /// For each open `#if`, the state at its start. Every branch of the group begins with this state.
    saved: Vec<SavedState>,
    conditions: OpenConditionals,
    groups: usize,
    /// Index of the first token of the current declaration or statement.
    run: usize,
    /// Index of the first token of the current declaration at file or namespace scope.
    unit: usize,
    /// Number of open parentheses in the current declaration at file or namespace scope.
    parens: usize,
    /// The file and line of the first `kernel<<<..>>>(..)` in the current declaration at file or namespace scope.
    launch: Option<Location>,
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
        let excluded = Excluded::of(text, &tokens);
        let lines = source.lines(&tokens);
        let dead = excluded::kernels(text, &tokens, &excluded);
        let dead = dead.map(|name| (name.text(text).into_owned(), lines.locate(name.start)));
        let dead = dead.collect();
        let mut walker = Walker {
            lines,
            text,
            tokens: excluded.rest(&tokens),
            scan: SourceScan {
                kernels: Vec::new(),
                identifiers: BTreeSet::new(),
                tested: BTreeSet::new(),
                macros: Vec::new(),
                includes: Vec::new(),
                directives: excluded::directives(&tokens),
                excluded: excluded::ranges(&tokens, &excluded),
                dead,
                unrolls: Vec::new(),
                dynamic_shared: Vec::new(),
                file_shared: Vec::new(),
                aliases: Default::default(),
                constants: Vec::new(),
                units: Vec::new(),
                namespaces: BTreeSet::new(),
            },
            scopes: Vec::new(),
            namespaces: Vec::new(),
            saved: Vec::new(),
            conditions: OpenConditionals::default(),
            groups: 0,
            run: 0,
            unit: 0,
            parens: 0,
            launch: None,
            pending: None,
        };
        for directive in excluded.decided_directives(&tokens) {
            walker.decided_directive(directive);
        }
        for i in 0..walker.tokens.len() {
            walker.step(i)?;
        }
        if walker.at_declarations() && walker.unit < walker.tokens.len() {
            walker.end_unit(walker.tokens.len() - 1);
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
            TokenKind::Punct(b'<') => self.host_launch(i),
            TokenKind::Punct(b'{') => self.open(i),
            TokenKind::Punct(b'}') => self.close(i),
            TokenKind::Punct(b'(') => self.parens += 1,
            TokenKind::Punct(b')') => self.parens = self.parens.saturating_sub(1),
            TokenKind::Punct(b';') => {
                if self.at_declarations() && self.parens == 0 {
                    self.end_unit(i);
                }
                self.run = i + 1;
            }
            _ => {}
        }
        Ok(())
    }

    /// Finds `kernel<<<..>>>(..)`, which is host code. The template arguments of `operator<<<T>` look similar.
    fn host_launch(&mut self, i: usize) {
        let [Some(before), Some(second), Some(third)] =
            [i.wrapping_sub(1), i + 1, i + 2].map(|j| self.tokens.get(j))
        else {
            return;
        };
        let follows = |token: &Token, last: &Token| token.is_punct(b'<') && token.start == last.end;
        let is_launch = follows(second, &self.tokens[i])
            && follows(third, second)
            && !before.is_punct(b'<')
            && !before.is_name(self.text, "operator");
        if is_launch && self.launch.is_none() && self.conditions.hold_at_first() {
            self.launch = Some(self.lines.locate(self.tokens[i].start));
        }
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
            self.parens = 0;
        }
    }

    /// Adds a namespace whose name is in these tokens. Returns its scope.
    fn namespace(&mut self, names: Range<usize>) -> WalkScope {
        let names = names.filter(|&j| self.tokens[j].kind == TokenKind::Identifier);
        let names = names.flat_map(|j| self.namespace_names(&self.name(j)));
        let names: Vec<String> = names.collect();
        self.scan.namespaces.extend(names.iter().cloned());
        self.namespaces.push(names);
        WalkScope::Namespace(self.namespaces.len() - 1)
    }

    /// The namespaces that a name in a namespace definition stands for. The name may be a macro.
    fn namespace_names(&self, name: &str) -> Vec<String> {
        match self.scan.aliases.get(name).map(Vec::as_slice) {
            Some([only]) if !only.is_empty() => {
                let names = only.split([' ', ':']).filter(|name| !name.is_empty());
                names.map(str::to_owned).collect()
            }
            _ => vec![name.to_owned()],
        }
    }

    fn close(&mut self, i: usize) {
        let closed = self.scopes.pop();
        if let Some(WalkScope::Body(Some(kernel))) = closed {
            self.scan.kernels[kernel].range.end = self.tokens[i].end;
        }
        self.run = i + 1;
        if !self.at_declarations() {
            return;
        }
        match closed {
            Some(WalkScope::Body(Some(_))) => self.end_unit(i),
            Some(WalkScope::Body(None)) if self.parens == 0 && self.ends_function(i) => {
                self.end_unit(i);
            }
            Some(WalkScope::Body(None)) => {}
            _ => self.unit = i + 1,
        }
    }

    /// Whether the `}` at `i` ends a function at file or namespace scope. A class or a variable ends with a semicolon.
    fn ends_function(&self, i: usize) -> bool {
        let is_function = declared::is_function(self.text, &self.tokens[self.unit..=i]);
        let next = { self.tokens[i + 1..].iter() }.find(|token| !token.is_directive());
        // Another initialiser or the body follows in `Foo::Foo() : x{1}, y{2} {}`, and the function in
        // `enable_if_t<is_x<T>{}> f() {}`.
        let goes_on = |next: &Token| b",{>.)".iter().any(|&byte| next.is_punct(byte));
        is_function && !next.is_some_and(goes_on)
    }

    /// Records the declaration at file or namespace scope that ends with the token `last`.
    fn end_unit(&mut self, last: usize) {
        let range = self.unit..last + 1;
        self.unit = last + 1;
        self.parens = 0;
        let mut unit = Unit {
            launch: self.launch.take(),
            depends_on_architecture: self.scopes.is_empty() && self.conditions.ask_architecture(),
            ..Unit::default()
        };
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
        unit.declares = declared::names(self.text, &self.tokens[range.clone()]);
        unit.defines_function = self.tokens[last].is_punct(b'}');
        let bytes = self.tokens[range.start].start..self.tokens[last].end;
        unit.range = bytes.clone();
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
        if words.iter().any(|word| word.is_punct(b'{')) {
            return;
        }
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

    fn kernel(&mut self, global: usize) {
        let Some(signature) = signature(self.text, &self.tokens, global) else {
            return;
        };
        let (open, close) = signature.parens;
        let (params, obstacle) = parameters(self.text, &self.tokens[open + 1..close]);
        let (start, is_cut) = self.declaration_start(global, signature.end);
        let specifiers = || start..global;
        let is_definition = self.tokens[signature.end].is_punct(b'{');
        let template = Template::of(self.text, &self.tokens, specifiers());
        let bounds_at = bounds(self.text, &self.tokens, start..signature.end);
        let name = signature.name;
        self.scan.kernels.push(KernelFunction {
            name: name.text(self.text).into_owned(),
            range: self.tokens[start].start..self.tokens[signature.end].end,
            namespaces: self.open_namespaces().flatten().cloned().collect(),
            global_range: self.tokens[global].start..self.tokens[global].end,
            launch_bounds: self.launch_bounds(&bounds_at, start..signature.end),
            bounds_ranges: (bounds_at.iter())
                .map(|bounds| self.tokens[bounds.start].start..self.tokens[bounds.end].end)
                .collect(),
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
            params,
            obstacle: (self.obstacle_of_place(specifiers(), template.is_some()))
                .or(is_cut.then_some(Obstacle::Directive))
                .or(signature.obstacle)
                .or(obstacle),
            template,
            is_instantiation: specifiers()
                .any(|j| self.is_name(j, "template") && !self.tokens[j + 1].is_punct(b'<')),
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
}

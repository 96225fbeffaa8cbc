//! Finds tuned kernels in a source file without compiling the file.
//!
//! It finds the attribute `tuned_kernel`, under any path (such as `#[kiln::tuned_kernel(..)]`) and also inside
//! `cfg_attr`, on items of the file and of its inline modules. It does not find kernels in function bodies, nor kernels
//! that other macros or `include!` produce.
//!
//! In a `cfg`, `test` is off, and `feature = ".."` is on for the features that the caller supplies. If the result
//! depends on any other predicate, the `cfg` is treated as on.
//!
//! This module reads no files. It returns modules in separate files with the paths that rustc would try.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Attribute, Item, Meta, Token};

use super::{ParsedKernel, kernel};
use crate::text::diagnostic::{Diagnostic, Diagnostics};

/// The folder in which rustc looks for the modules that a file declares, relative to the folder of that file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleLayout {
    /// The same folder. This applies to `lib.rs`, `main.rs`, `mod.rs` and files that `#[path]` names.
    Root,
    /// The folder that has the name of the file without `.rs`, which the variant contains. All other files have this
    /// layout.
    Named(String),
}

/// The kernels and modules that a file declares.
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    /// The kernels that the file declares, in order.
    pub kernels: Vec<FoundKernel>,
    /// The modules in separate files that the file declares, in order.
    pub modules: Vec<ModuleFile>,
}

/// A kernel that a file declares.
#[derive(Clone, Debug)]
pub struct FoundKernel {
    /// The path of the inline modules that contain the kernel, relative to the file's own module.
    pub module: Vec<String>,
    /// Line of the kernel's attribute, from 1.
    pub line: usize,
    /// The kernel, or the mistakes in its declaration.
    pub kernel: Result<ParsedKernel, Diagnostics>,
}

/// A module that a file declares and that is in a separate file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleFile {
    /// The path of the module, relative to the file's own module.
    pub module: Vec<String>,
    /// Line of the module's declaration, from 1.
    pub line: usize,
    /// The paths at which the file may be, with the layout that each path implies. Paths are relative to the folder
    /// of the declaring file and use `/`. The first path that exists is the module.
    pub candidates: Vec<(String, ModuleLayout)>,
}

/// Whether a source file may declare a kernel or a module in a separate file. Most files do neither, and need not be
/// parsed.
///
/// The function only searches for the words, so it also returns `true` for some files that declare neither.
pub fn may_declare(text: &str) -> bool {
    text.contains("tuned_kernel")
        || text.match_indices("mod").any(|(at, word)| {
            let before = text[..at].chars().next_back();
            let after = &text[at + word.len()..];
            let alone = !before.is_some_and(is_of_a_word) && !after.starts_with(is_of_a_word);
            // `mod name {` is an inline module. Everything else is left to the parser, for example a comment between
            // the words.
            let rest = after.trim_start().trim_start_matches("r#");
            let rest = rest.trim_start_matches(is_of_a_word).trim_start();
            alone && !rest.starts_with('{')
        })
}

fn is_of_a_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Finds the kernels and the module files that a source file declares.
///
/// # Errors
/// If the text is not valid Rust.
pub fn discover(
    text: &str,
    layout: &ModuleLayout,
    features: &BTreeSet<String>,
) -> Result<Discovery, Diagnostic> {
    let file = syn::parse_file(text).map_err(Diagnostic::from)?;
    let folder = match layout {
        ModuleLayout::Root => Vec::new(),
        ModuleLayout::Named(name) => vec![name.clone()],
    };
    let mut walk = SourceWalk {
        features,
        found: Discovery::default(),
        module: Vec::new(),
        folder,
    };
    if walk.is_on(&walk.attributes(&file.attrs)) {
        walk.items(&file.items);
    }
    Ok(walk.found)
}

struct SourceWalk<'a> {
    features: &'a BTreeSet<String>,
    found: Discovery,
    /// The inline modules that enclose the current position.
    module: Vec<String>,
    /// The folder that contains the files of the innermost module's submodules.
    folder: Vec<String>,
}

/// An attribute of an item, possibly from a `cfg_attr`. A `cfg_attr` that is known to be off adds no attributes.
struct Applied {
    meta: Meta,
    line: usize,
}

impl SourceWalk<'_> {
    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Mod(module) => self.module(module),
                Item::ForeignMod(block) => self.item(&block.attrs, item),
                // `tuned_kernel` on any other item is a mistake, which the grammar reports.
                Item::Fn(function) => self.item(&function.attrs, item),
                Item::Static(item_static) => self.item(&item_static.attrs, item),
                _ => {}
            }
        }
    }

    fn item(&mut self, attrs: &[Attribute], item: &Item) {
        let applied = self.attributes(attrs);
        if !self.is_on(&applied) {
            return;
        }
        for attribute in applied.iter().filter(|a| is_tuned_kernel(&a.meta)) {
            let tokens = match &attribute.meta {
                Meta::List(list) => list.tokens.clone(),
                _ => TokenStream::new(),
            };
            self.found.kernels.push(FoundKernel {
                module: self.module.clone(),
                line: attribute.line,
                kernel: kernel(tokens, without_attribute(item)),
            });
        }
    }

    fn module(&mut self, module: &syn::ItemMod) {
        let applied = self.attributes(&module.attrs);
        if !self.is_on(&applied) {
            return;
        }
        let name = module.ident.to_string();
        let name = name.strip_prefix("r#").unwrap_or(&name).to_string();
        let path = applied.iter().find_map(|a| path_value(&a.meta));
        self.module.push(name.clone());
        match &module.content {
            Some((_, items)) => {
                let outer = self.folder.clone();
                // `#[path]` replaces the folder. At the top level of a file, it is relative to the file's own folder.
                if path.is_some() && self.module.len() == 1 {
                    self.folder.clear();
                }
                self.folder.push(path.unwrap_or(name));
                self.items(items);
                self.folder = outer;
            }
            None => {
                let file = ModuleFile {
                    module: self.module.clone(),
                    line: module.ident.span().start().line,
                    candidates: self.candidates(&name, path),
                };
                self.found.modules.push(file);
            }
        }
        self.module.pop();
    }

    fn candidates(&self, name: &str, path: Option<String>) -> Vec<(String, ModuleLayout)> {
        let below = |parts: &[&str]| {
            let folder = self.folder.iter().map(String::as_str);
            folder
                .chain(parts.iter().copied())
                .collect::<Vec<_>>()
                .join("/")
        };
        match path {
            // At the top level of a file, `#[path]` is relative to the file's own folder, whatever the layout of the
            // file is.
            Some(path) if self.module.len() == 1 => vec![(path, ModuleLayout::Root)],
            Some(path) => vec![(below(&[&path]), ModuleLayout::Root)],
            None => vec![
                (
                    below(&[&format!("{name}.rs")]),
                    ModuleLayout::Named(name.into()),
                ),
                (below(&[name, "mod.rs"]), ModuleLayout::Root),
            ],
        }
    }

    /// The attributes of an item, including those in a `cfg_attr` that is not known to be off.
    fn attributes(&self, attrs: &[Attribute]) -> Vec<Applied> {
        let mut applied = Vec::new();
        for attribute in attrs {
            let line = attribute.pound_token.span.start().line;
            self.apply(attribute.meta.clone(), line, 0, &mut applied);
        }
        applied
    }

    fn apply(&self, meta: Meta, line: usize, depth: usize, applied: &mut Vec<Applied>) {
        let parts = match &meta {
            Meta::List(list) if meta.path().is_ident("cfg_attr") && depth < 8 => {
                let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
                parser.parse2(list.tokens.clone()).ok()
            }
            _ => None,
        };
        match parts {
            None => applied.push(Applied { meta, line }),
            Some(parts) => {
                let mut parts = parts.into_iter();
                let on = parts
                    .next()
                    .and_then(|predicate| self.predicate(&predicate));
                if on != Some(false) {
                    parts.for_each(|part| self.apply(part, line, depth + 1, applied));
                }
            }
        }
    }

    /// Whether none of the `cfg` attributes is known to be off.
    fn is_on(&self, attributes: &[Applied]) -> bool {
        attributes.iter().all(|attribute| match &attribute.meta {
            Meta::List(list) if list.path.is_ident("cfg") => {
                let predicate = syn::parse2::<Meta>(list.tokens.clone());
                predicate.ok().and_then(|p| self.predicate(&p)) != Some(false)
            }
            _ => true,
        })
    }

    /// The value of a `cfg` predicate. `None` if it depends on anything other than `test` and features.
    fn predicate(&self, predicate: &Meta) -> Option<bool> {
        match predicate {
            Meta::Path(path) if path.is_ident("test") => Some(false),
            Meta::Path(path) if path.is_ident("true") => Some(true),
            Meta::Path(path) if path.is_ident("false") => Some(false),
            Meta::NameValue(pair) if pair.path.is_ident("feature") => {
                string(&pair.value).map(|feature| self.features.contains(&feature))
            }
            Meta::List(list) => {
                let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
                let parts = parser.parse2(list.tokens.clone()).ok()?;
                let mut values = parts.iter().map(|part| self.predicate(part));
                let name = list.path.get_ident()?.to_string();
                match name.as_str() {
                    "not" => values.next()?.map(|value| !value),
                    "all" => decided(values, false),
                    "any" => decided(values, true),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// The value of `any` (if `deciding` is `true`) or `all` (if `deciding` is `false`). It is `deciding` if one operand
/// has this value, and the opposite if all operands have the opposite value. Otherwise it is `None`.
fn decided(values: impl Iterator<Item = Option<bool>>, deciding: bool) -> Option<bool> {
    let mut all_known = true;
    for value in values {
        if value == Some(deciding) {
            return Some(deciding);
        }
        all_known &= value.is_some();
    }
    all_known.then_some(!deciding)
}

/// Whether an attribute is `tuned_kernel`, under any path.
fn is_tuned_kernel(meta: &Meta) -> bool {
    let last = meta.path().segments.last();
    last.is_some_and(|segment| segment.ident == "tuned_kernel")
}

/// The item as the macro receives it: without the attribute `tuned_kernel`.
fn without_attribute(item: &Item) -> TokenStream {
    match item {
        Item::ForeignMod(block) => {
            let mut block = block.clone();
            block.attrs.retain(|attribute| {
                let declares = attribute.path().is_ident("cfg_attr")
                    && attribute
                        .to_token_stream()
                        .to_string()
                        .contains("tuned_kernel");
                !declares && !is_tuned_kernel(&attribute.meta)
            });
            block.into_token_stream()
        }
        other => other.to_token_stream(),
    }
}

fn path_value(meta: &Meta) -> Option<String> {
    match meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => string(&pair.value),
        _ => None,
    }
}

fn string(value: &syn::Expr) -> Option<String> {
    match value {
        syn::Expr::Lit(literal) => match &literal.lit {
            syn::Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

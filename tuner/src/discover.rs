//! Finding `#[tuned_kernel]` in a package's sources, by reading them as the compiler would: from the root file
//! of each target along its modules.
//!
//! What other macros or `include!` make is not seen. `#[cfg(test)]` is left out; `#[cfg(feature = "..")]` follows
//! `--features`; every other condition counts as true.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::Package;
use kiln_spec::check::check_source;
use kiln_spec::parse::{self, ParsedKernel};
use kiln_spec::source::{SourceScan, SourceText};
use proc_macro2::{LineColumn, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;

use crate::project::{TunedKernel, root_of};

/// What was found in a package.
#[derive(Debug, Default)]
pub struct Found {
    /// Kernels, in the order of their files.
    pub kernels: Vec<TunedKernel>,
    /// Wrong declarations and unreadable files, each as the text to show.
    pub errors: Vec<String>,
}

/// The kernels of a package.
pub fn kernels(package: &Package, features: &BTreeSet<String>) -> Found {
    let features = enabled(package, features);
    let mut walk = Walk {
        root: root_of(package),
        package: package.name.to_string(),
        features: &features,
        seen: BTreeSet::new(),
        found: Found::default(),
    };
    // Kernels of tests and examples are not what a package ships.
    let shipped = package
        .targets
        .iter()
        .filter(|target| target.is_bin() || target.is_lib() || target.is_rlib());
    let mut roots: Vec<PathBuf> = shipped
        .map(|target| target.src_path.clone().into())
        .collect();
    roots.sort();
    for root in roots {
        // A root file's modules lie beside it.
        let folder = root.parent().map(Path::to_path_buf).unwrap_or_default();
        walk.file(&root, &folder);
    }
    walk.found
}

/// The given features and the default ones, with all that they enable in turn.
fn enabled(package: &Package, given: &BTreeSet<String>) -> BTreeSet<String> {
    let mut enabled = given.clone();
    let mut open: Vec<String> = given
        .iter()
        .cloned()
        .chain(["default".to_owned()])
        .collect();
    while let Some(feature) = open.pop() {
        for implied in package.features.get(&feature).into_iter().flatten() {
            if enabled.insert(implied.clone()) {
                open.push(implied.clone());
            }
        }
    }
    enabled
}

struct Walk<'a> {
    root: PathBuf,
    package: String,
    features: &'a BTreeSet<String>,
    seen: BTreeSet<PathBuf>,
    found: Found,
}

impl Walk<'_> {
    /// Reads a file whose modules are in `folder`.
    fn file(&mut self, path: &Path, folder: &Path) {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if !self.seen.insert(real) {
            return;
        }
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => {
                let message = format!(
                    "cannot read {}: {error}\nhelp: a source file is UTF-8 text",
                    path.display()
                );
                return self.found.errors.push(message);
            }
        };
        if let Err(at) = shallow(&text) {
            let message = "brackets or operators nest deeper than any that are read";
            let place = format!("{}:{}:{}", path.display(), at.line, at.column + 1);
            return self.found.errors.push(format!(
                "{place}: {message}\nhelp: at most {MOST_NESTED} levels"
            ));
        }
        match syn::parse_file(&text) {
            Ok(file) => self.items(&file.items, path, &text, folder),
            Err(error) => {
                let at = error.span().start();
                let place = format!("{}:{}:{}", path.display(), at.line, at.column + 1);
                self.found.errors.push(format!(
                    "{place}: {error}\nhelp: `cargo check` shows more of it"
                ));
            }
        }
    }

    fn items(&mut self, items: &[syn::Item], path: &Path, text: &str, folder: &Path) {
        for item in items {
            match item {
                syn::Item::ForeignMod(block) if self.enabled(&block.attrs) => {
                    self.block(block, path, text)
                }
                syn::Item::Mod(module) if self.enabled(&module.attrs) => {
                    self.module(module, path, text, folder)
                }
                _ => {}
            }
        }
    }

    fn module(&mut self, module: &syn::ItemMod, path: &Path, text: &str, folder: &Path) {
        let name = module.ident.to_string();
        let name = name.strip_prefix("r#").unwrap_or(&name);
        if let Some((_, items)) = &module.content {
            return self.items(items, path, text, &folder.join(name));
        }
        if let Some(given) = path_attribute(&module.attrs) {
            let file = path.parent().unwrap_or(Path::new("")).join(given);
            let inner = file.parent().map(Path::to_path_buf).unwrap_or_default();
            return self.file(&file, &inner);
        }
        let candidates = [
            folder.join(format!("{name}.rs")),
            folder.join(name).join("mod.rs"),
        ];
        match candidates.iter().find(|file| file.is_file()) {
            Some(file) => self.file(&file.clone(), &folder.join(name)),
            None => {
                let at = module.span().start();
                let (here, line) = (path.display(), at.line);
                let help = format!(
                    "write {} or {}",
                    candidates[0].display(),
                    candidates[1].display()
                );
                self.found.errors.push(format!(
                    "{here}:{line}: module `{name}` has no file\nhelp: {help}"
                ));
            }
        }
    }

    /// A foreign block with the attribute.
    fn block(&mut self, block: &syn::ItemForeignMod, path: &Path, text: &str) {
        let Some(place) = block.attrs.iter().position(|attr| is_ours(attr.path())) else {
            return;
        };
        let mut rest = block.clone();
        let attribute = rest.attrs.remove(place);
        let tokens = match &attribute.meta {
            syn::Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        };
        let file = path.display().to_string();
        match parse::kernel(tokens, rest.to_token_stream()) {
            Err(diagnostics) => self.found.errors.push(diagnostics.render(&file, text)),
            Ok(parsed) => self.parsed(parsed, path, &file, text),
        }
    }

    /// A declaration of the right form, to be compared with its source.
    fn parsed(&mut self, parsed: ParsedKernel, path: &Path, file: &str, text: &str) {
        let (source, scan) = match self.source(path, &parsed.spec.source) {
            Ok(read) => read,
            Err(error) => {
                let help = if error.contains("\nhelp: ") {
                    ""
                } else {
                    "\nhelp: the source must be whole as it is"
                };
                return self.found.errors.push(format!(
                    "{file}: kernel `{}`: {error}{help}",
                    parsed.spec.name
                ));
            }
        };
        if let Err(diagnostics) = check_source(&parsed, &scan).into_result(()) {
            return self.found.errors.push(diagnostics.render(file, text));
        }
        self.found.kernels.push(TunedKernel {
            spec: parsed.spec,
            source,
            scan,
            file: path.to_owned(),
            package: self.package.clone(),
            tuned: self.root.join("tuned"),
        });
    }

    /// The expanded source, its files named as the macro names them: relative to the package.
    fn source(&self, declared_in: &Path, source: &str) -> Result<(SourceText, SourceScan), String> {
        let root = fs::canonicalize(&self.root).map_err(|error| error.to_string())?;
        let file = fs::canonicalize(declared_in).map_err(|error| error.to_string())?;
        let folder = file.parent().unwrap_or(&root);
        let below = folder.strip_prefix(&root).unwrap_or(folder);
        let mut parts: Vec<_> = below
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect();
        parts.push(source.to_owned());
        let mut read = |name: &str| {
            let path = root.join(name);
            let real =
                fs::canonicalize(&path).map_err(|error| format!("{error} ({})", path.display()))?;
            if !real.starts_with(&root) {
                return Err("it is a link to a file outside the package".to_owned());
            }
            fs::read_to_string(&real).map_err(|error| error.to_string())
        };
        let text =
            SourceText::load(&parts.join("/"), &mut read).map_err(|error| error.to_string())?;
        let scan = SourceScan::new(&text).map_err(|error| error.to_string())?;
        Ok((text, scan))
    }

    fn enabled(&self, attributes: &[syn::Attribute]) -> bool {
        let conditions = attributes
            .iter()
            .filter(|attribute| attribute.path().is_ident("cfg"));
        conditions
            .filter_map(|attribute| attribute.parse_args::<syn::Meta>().ok())
            .all(|meta| self.holds(&meta))
    }

    /// Whether a `cfg` condition holds; unknown conditions do.
    fn holds(&self, meta: &syn::Meta) -> bool {
        let inner = |list: &syn::MetaList| {
            let parser = syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated;
            list.parse_args_with(parser)
                .map(|all| all.into_iter().collect::<Vec<_>>())
                .unwrap_or_default()
        };
        match meta {
            syn::Meta::Path(path) => !path.is_ident("test"),
            syn::Meta::List(list) if list.path.is_ident("all") => {
                inner(list).iter().all(|meta| self.holds(meta))
            }
            syn::Meta::List(list) if list.path.is_ident("any") => {
                inner(list).iter().any(|meta| self.holds(meta))
            }
            syn::Meta::List(list) if list.path.is_ident("not") => {
                !inner(list).iter().all(|meta| self.holds(meta))
            }
            syn::Meta::NameValue(pair) if pair.path.is_ident("feature") => match &pair.value {
                syn::Expr::Lit(syn::ExprLit {
                    lit: syn::Lit::Str(name),
                    ..
                }) => self.features.contains(&name.value()),
                _ => true,
            },
            _ => true,
        }
    }
}

/// The deepest nesting that is read: the parser calls itself for each level, and its stack is finite.
const MOST_NESTED: usize = 128;

/// Whether brackets, and operators in a row, nest no deeper than [`MOST_NESTED`]; else where they do.
///
/// What cannot be split into tokens passes: the parser says what is wrong with it.
fn shallow(text: &str) -> Result<(), LineColumn> {
    let Ok(tokens) = text.parse::<TokenStream>() else {
        return Ok(());
    };
    let mut open = vec![tokens.into_iter()];
    let mut in_a_row = 0;
    while let Some(innermost) = open.last_mut() {
        let Some(token) = innermost.next() else {
            open.pop();
            continue;
        };
        in_a_row = if matches!(token, TokenTree::Punct(_)) {
            in_a_row + 1
        } else {
            0
        };
        if open.len() > MOST_NESTED || in_a_row > MOST_NESTED {
            return Err(token.span().start());
        }
        if let TokenTree::Group(group) = token {
            open.push(group.stream().into_iter());
        }
    }
    Ok(())
}

/// `tuned_kernel`, `kiln::tuned_kernel`.
fn is_ours(path: &syn::Path) -> bool {
    path.segments
        .last()
        .is_some_and(|segment| segment.ident == "tuned_kernel")
}

fn path_attribute(attributes: &[syn::Attribute]) -> Option<String> {
    attributes
        .iter()
        .find_map(|attribute| match &attribute.meta {
            syn::Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
                syn::Expr::Lit(syn::ExprLit {
                    lit: syn::Lit::Str(path),
                    ..
                }) => Some(path.value()),
                _ => None,
            },
            _ => None,
        })
}

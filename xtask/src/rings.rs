//! Finds files that import each other in a ring.
//!
//! A file imports another file if its code names an item of that other file through `crate::`, `super::`, `self::` or
//! the name of a child module. A path is followed through `pub use` to the file that declares the item. Therefore,
//! files that use the children of a module through its re-exports do not import the module itself.
//!
//! These imports are ignored:
//!
//! - Imports between a file and the modules below it, in both directions, because a `mod.rs` uses its children and
//!   children extend the types of their parent.
//! - Imports in tests (`#[cfg(test)]`, files named `tests.rs` or `*_tests.rs`) and imports for doc links
//!   (`#[cfg(doc)]`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The module path of a file below `src`, without `crate`: `["image", "elf"]`.
type Module = Vec<String>;

/// The files of one crate, each with the names that its code uses.
#[derive(Default)]
struct Crate {
    files: BTreeMap<Module, Names>,
}

/// The names that the code of one file uses.
#[derive(Default)]
struct Names {
    /// The paths in the code, as absolute paths of the crate.
    paths: BTreeSet<Vec<String>>,
    /// The re-exports: the public name (`*` for all names), and the path of the target.
    exports: Vec<(String, Vec<String>)>,
}

/// One line per ring among the files of a crate. Each file in the line imports the next one, and the last imports the
/// first.
///
/// # Errors
/// If a file cannot be read, or is not valid Rust.
pub fn of_crate(root: &Path, source: &str, tracked: &[String]) -> Result<Vec<String>, String> {
    let mut files = Vec::new();
    for file in tracked {
        let below = file.strip_prefix(source).and_then(|f| f.strip_prefix('/'));
        if let Some(below) = below.filter(|below| below.ends_with(".rs") && !is_test(below)) {
            let text = fs::read_to_string(root.join(file));
            let text = text.map_err(|error| format!("layout: cannot read {file}: {error}"))?;
            files.push((below.to_owned(), text));
        }
    }
    let rings = rings(&files)?;
    Ok(rings.iter().map(|ring| ring.join(" → ")).collect())
}

fn is_test(file: &str) -> bool {
    file.ends_with("tests.rs") || file.split('/').any(|part| part == "tests")
}

/// The rings among these files. Each file is a pair of its path below `src` and its text.
fn rings(files: &[(String, String)]) -> Result<Vec<Vec<String>>, String> {
    let renamed: Vec<(String, String)> = files.iter().flat_map(|(_, text)| renamed(text)).collect();
    let modules: Vec<Module> = files
        .iter()
        .map(|(file, _)| module_of(file, &renamed))
        .collect();
    let known: BTreeSet<Module> = modules.iter().cloned().collect();
    let mut this = Crate::default();
    for ((file, text), module) in files.iter().zip(&modules) {
        let tokens: TokenStream = text
            .parse()
            .map_err(|error| format!("layout: {file}: {error}"))?;
        let mut names = Names::default();
        names.read(tokens, module, &known);
        this.files.insert(module.clone(), names);
    }
    let file_of: BTreeMap<&Module, &String> =
        modules.iter().zip(files.iter().map(|(f, _)| f)).collect();
    let named = |ring: Vec<Module>| ring.iter().map(|m| file_of[m].clone()).collect();
    Ok(this.rings().into_iter().map(named).collect())
}

/// The modules in a file that have a `#[path]` attribute. Each is a pair of the name of the module's file, without
/// `.rs`, and the name of the module.
fn renamed(text: &str) -> impl Iterator<Item = (String, String)> {
    let paths = text.split("#[path = \"").skip(1);
    paths.filter_map(|after| {
        let (file, after) = after.split_once(".rs\"]")?;
        let module = after.split_once("mod ")?.1.split_once(';')?.0;
        Some((file.to_owned(), module.to_owned()))
    })
}

/// The module path of a file. `renamed` lists the modules whose file has another name.
fn module_of(file: &str, renamed: &[(String, String)]) -> Module {
    let mut parts: Module = file
        .trim_end_matches(".rs")
        .split('/')
        .map(str::to_owned)
        .collect();
    let last = parts.last().map(String::as_str);
    if matches!(last, Some("mod"))
        || matches!(parts.as_slice(), [only] if only == "lib" || only == "main")
    {
        parts.pop();
    }
    if let Some(part) = parts.last_mut()
        && let Some((_, module)) = renamed.iter().find(|(file, _)| file == part)
    {
        part.clone_from(module);
    }
    parts
}

impl Names {
    /// Collects the names in the code of a file's module, or of an inline module.
    fn read(&mut self, tokens: TokenStream, module: &Module, known: &BTreeSet<Module>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            if let Some(length) = left_out(&tokens[at..]) {
                at += length;
                continue;
            }
            match &tokens[at] {
                TokenTree::Group(group) => self.read(group.stream(), module, known),
                TokenTree::Ident(ident) if ident == "use" => {
                    let public =
                        at > 0 && !is_punct(tokens.get(at - 1), ';') && is_public(&tokens[..at]);
                    let end = end_of(&tokens, at);
                    let mut leaves = Vec::new();
                    use_tree(&tokens[at + 1..end], Vec::new(), &mut leaves);
                    for (path, name) in leaves {
                        if let Some(path) = absolute(&path, module, known) {
                            if public {
                                self.exports.push((name, path));
                            } else {
                                self.paths.insert(path);
                            }
                        }
                    }
                    at = end;
                }
                TokenTree::Ident(_)
                    if !is_path_separator(&tokens, at)
                        && !is_punct(at.checked_sub(1).and_then(|b| tokens.get(b)), '.') =>
                {
                    let (path, length) = plain_path(&tokens[at..]);
                    if path.len() > 1 {
                        self.paths.extend(absolute(&path, module, known));
                    }
                    at += length.saturating_sub(1);
                }
                _ => {}
            }
            at += 1;
        }
    }
}

/// The number of tokens of the item that starts here, if the item is skipped because it is `#[cfg(test)]` or
/// `#[cfg(doc)]`. Otherwise `None`.
fn left_out(tokens: &[TokenTree]) -> Option<usize> {
    let [TokenTree::Punct(hash), TokenTree::Group(attribute), ..] = tokens else {
        return None;
    };
    let text = attribute.to_string().replace(' ', "");
    let tests = ["[cfg(test)]", "[cfg(doc)]"].contains(&text.as_str());
    if hash.as_char() != '#' || !tests {
        return None;
    }
    // Skip to the end of the item: to its body or its semicolon.
    let end = tokens.iter().skip(2).position(|token| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        _ => false,
    });
    let end = end.map_or(tokens.len(), |end| end + 3);
    // In an item such as `use a::{b};`, a semicolon follows the braces.
    Some(end + usize::from(is_punct(tokens.get(end), ';')))
}

fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

/// Whether the tokens before this position end with `::`.
fn is_path_separator(tokens: &[TokenTree], at: usize) -> bool {
    at >= 2 && is_punct(tokens.get(at - 1), ':') && is_punct(tokens.get(at - 2), ':')
}

/// Whether the tokens before a `use` end with `pub` or `pub(..)`.
fn is_public(before: &[TokenTree]) -> bool {
    match before {
        [.., TokenTree::Ident(word)] => word == "pub",
        [.., TokenTree::Ident(word), TokenTree::Group(group)] => {
            word == "pub" && group.delimiter() == Delimiter::Parenthesis
        }
        _ => false,
    }
}

/// The index of the semicolon that ends the item at `start`.
fn end_of(tokens: &[TokenTree], start: usize) -> usize {
    let length = tokens[start..].iter().position(|t| is_punct(Some(t), ';'));
    length.map_or(tokens.len(), |length| start + length)
}

/// The path `a::b::c` at the start of the tokens, and the number of tokens that it consists of.
fn plain_path(tokens: &[TokenTree]) -> (Vec<String>, usize) {
    let mut path = Vec::new();
    let mut at = 0;
    while let Some(TokenTree::Ident(ident)) = tokens.get(at) {
        path.push(ident.to_string());
        at += 1;
        let more = is_punct(tokens.get(at), ':') && is_punct(tokens.get(at + 1), ':');
        if !more || !matches!(tokens.get(at + 2), Some(TokenTree::Ident(_))) {
            break;
        }
        at += 2;
    }
    (path, at)
}

/// Collects the paths of a use tree, each with the name that it has in the file.
fn use_tree(tokens: &[TokenTree], prefix: Vec<String>, leaves: &mut Vec<(Vec<String>, String)>) {
    let mut path = prefix;
    let mut name = None;
    let mut tokens = tokens.iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(ident) if ident == "as" => {
                name = tokens.next().map(ToString::to_string);
            }
            TokenTree::Ident(ident) => path.push(ident.to_string()),
            TokenTree::Punct(punct) if punct.as_char() == '*' => path.push("*".into()),
            TokenTree::Group(group) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                for tree in inner.split(|token| is_punct(Some(token), ',')) {
                    if !tree.is_empty() {
                        use_tree(tree, path.clone(), leaves);
                    }
                }
                return;
            }
            _ => {}
        }
    }
    if path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
    leaves.push((path, name));
}

/// The path from the root of the crate; `None` if the path does not lead into the crate.
fn absolute(path: &[String], module: &Module, known: &BTreeSet<Module>) -> Option<Vec<String>> {
    let mut from = module.clone();
    let mut rest = path;
    match path.first()?.as_str() {
        "crate" => {
            from.clear();
            rest = &path[1..];
        }
        "self" => rest = &path[1..],
        "super" => {
            while rest.first().is_some_and(|first| first == "super") {
                from.pop();
                rest = &rest[1..];
            }
        }
        child => {
            from.push(child.to_owned());
            if !known.contains(&from) {
                return None;
            }
            from.pop();
        }
    }
    from.extend(rest.iter().cloned());
    Some(from)
}

impl Crate {
    /// The module whose file declares the item with this path. `depth` is the number of re-exports followed so far.
    fn home(&self, path: &[String], depth: usize) -> Option<Module> {
        let longest = (0..=path.len()).rev().map(|n| &path[..n]);
        let module = longest
            .map(<[String]>::to_vec)
            .find(|module| self.files.contains_key(module))?;
        let rest = &path[module.len()..];
        // Chains of re-exports are short. The limit only guards against a ring of re-exports, which would not compile.
        let Some(name) = rest.first().filter(|_| depth < 8) else {
            return Some(module);
        };
        let exports = &self.files[&module].exports;
        let renamed = exports.iter().find(|(export, _)| export == name);
        if let Some((_, target)) = renamed {
            return self.home(target, depth + 1);
        }
        Some(module)
    }

    /// The files that a file imports, except those of modules above and below it.
    fn imports(&self, module: &Module) -> BTreeSet<Module> {
        let names = &self.files[module];
        let exported = names.exports.iter().map(|(_, path)| path);
        let homes = names
            .paths
            .iter()
            .chain(exported)
            .filter_map(|path| self.home(path, 0));
        homes
            .filter(|home| !home.starts_with(module) && !module.starts_with(home))
            .collect()
    }

    /// Finds the sets of files that all reach each other through imports. Returns the shortest ring in each set, in the
    /// order of its imports.
    fn rings(&self) -> Vec<Vec<Module>> {
        let modules = self.files.keys();
        let imports: Imports<'_> = modules.map(|m| (m, self.imports(m))).collect();
        let mut rings = Vec::new();
        let mut seen = BTreeSet::new();
        for module in self.files.keys() {
            let reached = reached(module, &imports);
            if seen.contains(module) || !reached.contains(module) {
                continue;
            }
            let back = |other: &&Module| self::reached(other, &imports).contains(module);
            let set: BTreeSet<Module> = reached.iter().filter(back).cloned().collect();
            let shortest = set.iter().filter_map(|m| shortest_ring(m, &imports));
            rings.extend(shortest.min_by_key(Vec::len));
            seen.extend(set);
        }
        rings
    }
}

/// For each file, the files that it imports.
type Imports<'a> = BTreeMap<&'a Module, BTreeSet<Module>>;

/// All files that a file imports, directly or indirectly.
fn reached(start: &Module, imports: &Imports<'_>) -> BTreeSet<Module> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(module) = open.pop() {
        for next in &imports[module] {
            if reached.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    reached
}

/// The shortest chain of imports from a file back to itself; `None` if there is none.
fn shortest_ring(start: &Module, imports: &Imports<'_>) -> Option<Vec<Module>> {
    let mut ways = VecDeque::from([vec![start.clone()]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for next in &imports[&way[way.len() - 1]] {
            if next == start {
                return Some(way);
            }
            if seen.insert(next.clone()) {
                ways.push_back(way.iter().chain([next]).cloned().collect());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rings_of(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<_> = files
            .iter()
            .map(|(file, text)| ((*file).to_owned(), (*text).to_owned()))
            .collect();
        let found = rings(&files).expect("the files should be Rust");
        found.into_iter().map(|ring| ring.join(" ")).collect()
    }

    #[test]
    fn files_that_import_each_other_are_found_however_they_name_each_other() {
        let three = [
            ("lib.rs", "mod a; mod b; mod c; mod d;"),
            ("a.rs", "use crate::{d::D, b::{self, B}}; struct A;"),
            ("b/mod.rs", "fn f() { super::c::g() } struct B;"),
            ("c.rs", "fn g(a: crate::a::A) {}"),
            ("d.rs", "struct D;"),
        ];
        assert_eq!(rings_of(&three), ["a.rs b/mod.rs c.rs"]);
    }

    #[test]
    fn a_reexport_counts_as_its_own_file_and_as_an_import_of_who_declares_the_item() {
        let courtesy = [
            (
                "device.rs",
                "pub use crate::error::Error; pub struct Device;",
            ),
            ("error.rs", "pub struct Error;"),
            (
                "image.rs",
                "use crate::device::Error; fn f(d: crate::device::Device) {}",
            ),
        ];
        assert!(rings_of(&courtesy).is_empty());
        let ring = [
            (
                "device.rs",
                "pub use crate::stream::Stream; pub struct Device;",
            ),
            ("stream.rs", "use crate::device::Device; pub struct Stream;"),
        ];
        assert_eq!(rings_of(&ring), ["device.rs stream.rs"]);
    }

    #[test]
    fn parents_tests_and_doc_links_make_no_ring() {
        let files = [
            ("rig/mod.rs", "mod orders; use orders::run; struct Rig;"),
            (
                "rig/orders.rs",
                "use super::Rig; #[cfg(doc)] use crate::{a::A}; fn run() {}",
            ),
            (
                "a.rs",
                "use crate::rig::orders::run; struct A; #[cfg(test)] mod tests { use crate::b::B; }",
            ),
            ("b.rs", "use crate::a::A;"),
        ];
        assert!(rings_of(&files).is_empty());
    }
}

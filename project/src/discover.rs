//! Finds the kernels of a package. This module reads files in the same way as the compiler: it starts at the root file
//! of each target and follows the `mod` declarations. [`kiln_spec::parse::discover`] finds the declarations in each
//! file.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{Package, Target};
use kiln_spec::KernelSpec;
use kiln_spec::check::check_source;
use kiln_spec::diagnostic::Diagnostics;
use kiln_spec::parse::ParsedKernel;
use kiln_spec::parse::discover::{Discovery, ModuleFile, ModuleLayout, discover, may_declare};
use kiln_spec::source::{ReadError, SourceScan, SourceText, reduce};
use proc_macro2::{LineColumn, TokenStream, TokenTree};

use super::declaration_error::{DeclarationError, SourceFault};
use super::kernel::{HiddenKernel, TunedKernel};
use super::tables::TableFolder;
use super::workspace::root_of;

/// The kernels and errors that were found in a package.
#[derive(Debug, Default)]
pub struct DiscoveredKernels {
    /// The kernels, in the order in which files are read.
    pub kernels: Vec<TunedKernel>,
    /// Invalid declarations, and files that cannot be read.
    pub errors: Vec<DeclarationError>,
    /// Kernels that are compiled only with features that are not enabled.
    pub hidden: Vec<HiddenKernel>,
}

/// Returns the kernels of a package that are compiled if `features` are enabled in addition to the default features.
pub fn kernels(package: &Package, features: &BTreeSet<String>) -> DiscoveredKernels {
    let mut found = with_features(package, &enabled(package, features));
    let files = found.kernels.iter().map(|kernel| kernel.file.clone());
    let files: BTreeSet<PathBuf> = files.collect();
    for kernel in &mut found.kernels {
        let folder = kernel.tuned.clone();
        kernel.tuned = folder.with_readers(files.iter().cloned().collect());
    }
    found.hidden = hidden(package, features, &found);
    found
}

/// The kernels of a package with exactly these features.
fn with_features(package: &Package, features: &BTreeSet<String>) -> DiscoveredKernels {
    let mut walk = Walk::new(root_of(package), &package.name, features);
    // Kernels of tests and examples are ignored, because users of the package do not run them.
    let shipped = package
        .targets
        .iter()
        .filter(|target| target.is_bin() || is_library(target));
    let mut roots: Vec<&Target> = shipped.collect();
    roots.sort_by(|one, other| one.src_path.cmp(&other.src_path));
    for root in roots {
        walk.in_library = is_rust_library(root);
        walk.module = vec![root.name.replace('-', "_")];
        walk.file(root.src_path.as_std_path(), &ModuleLayout::Root);
    }
    walk.found
}

/// Whether a target is a library, for Rust programs or for others (for example a Python module).
fn is_library(target: &Target) -> bool {
    is_rust_library(target) || target.is_cdylib() || target.is_staticlib()
}

/// Whether Rust programs can link a target.
fn is_rust_library(target: &Target) -> bool {
    target.is_lib() || target.is_rlib() || target.is_dylib()
}

/// The kernels that would be compiled with more features.
fn hidden(
    package: &Package,
    given: &BTreeSet<String>,
    found: &DiscoveredKernels,
) -> Vec<HiddenKernel> {
    let all: BTreeSet<String> = package.features.keys().cloned().collect();
    if all.is_subset(&enabled(package, given)) {
        return Vec::new();
    }
    let same = |one: &TunedKernel, other: &TunedKernel| {
        one.file == other.file && one.spec.name == other.spec.name
    };
    let missing = |with: &BTreeSet<String>| -> Vec<TunedKernel> {
        let mut more = with_features(package, &enabled(package, with)).kernels;
        more.retain(|kernel| !found.kernels.iter().any(|known| same(known, kernel)));
        more
    };
    let more = missing(&all);
    if more.is_empty() {
        return Vec::new();
    }
    let alone: Vec<(&String, Vec<TunedKernel>)> = all
        .iter()
        .map(|feature| {
            let with = given.iter().chain([feature]).cloned().collect();
            (feature, missing(&with))
        })
        .collect();
    let more = more.into_iter().map(|kernel| {
        let mut bringing = alone
            .iter()
            .filter(|(_, brought)| brought.iter().any(|other| same(other, &kernel)));
        HiddenKernel {
            feature: bringing.next().map(|(feature, _)| (*feature).clone()),
            name: kernel.spec.name,
            package: kernel.package,
            file: kernel.file,
        }
    });
    more.collect()
}

/// The requested features and the default features, with all features that they enable directly or indirectly.
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
    /// Whether the current target is the library of the package.
    in_library: bool,
    /// The module path of the current file, starting with the target.
    module: Vec<String>,
    package: String,
    features: &'a BTreeSet<String>,
    seen: BTreeSet<PathBuf>,
    found: DiscoveredKernels,
}

impl<'a> Walk<'a> {
    fn new(root: PathBuf, package: &str, features: &'a BTreeSet<String>) -> Walk<'a> {
        Walk {
            root,
            in_library: false,
            module: Vec::new(),
            package: package.to_owned(),
            features,
            seen: BTreeSet::new(),
            found: DiscoveredKernels::default(),
        }
    }

    /// Reads a file, and then the files of the modules that it declares.
    fn file(&mut self, path: &Path, layout: &ModuleLayout) {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if !self.seen.insert(real) {
            return;
        }
        match self.read(path, layout) {
            Ok((text, Discovery { kernels, modules })) => {
                let mut modules = modules.into_iter().peekable();
                for kernel in kernels {
                    // Visit modules and kernels in the order in which the file declares them.
                    while let Some(module) = modules.next_if(|module| module.line < kernel.line) {
                        self.module(&module, path);
                    }
                    let outer = self.module.len();
                    self.module.extend(kernel.module);
                    self.kernel(kernel.kernel, path, &text);
                    self.module.truncate(outer);
                }
                modules.for_each(|module| self.module(&module, path));
            }
            Err(error) => self.found.errors.push(error),
        }
    }

    /// The text of a file, and the declarations in it.
    fn read(
        &self,
        path: &Path,
        layout: &ModuleLayout,
    ) -> Result<(String, Discovery), DeclarationError> {
        let file = || path.to_owned();
        let text = fs::read_to_string(path).map_err(|error| DeclarationError::Unreadable {
            file: file(),
            error,
        })?;
        if !may_declare(&text) {
            return Ok((text, Discovery::default()));
        }
        shallow(&text).map_err(|at| DeclarationError::TooDeep {
            file: file(),
            line: at.line,
            column: at.column + 1,
            most: MAX_NESTED,
        })?;
        let declared = discover(&text, layout, self.features).map_err(|error| {
            let (line, column) = error.position();
            DeclarationError::Syntax {
                file: file(),
                line,
                column,
                message: error.message,
            }
        })?;
        Ok((text, declared))
    }

    /// Reads a module that is in a separate file.
    fn module(&mut self, module: &ModuleFile, declared_in: &Path) {
        let folder = declared_in.parent().unwrap_or(Path::new(""));
        let candidates = module
            .candidates
            .iter()
            .map(|(path, layout)| (folder.join(path), layout));
        let candidates: Vec<_> = candidates.collect();
        if let Some((file, layout)) = candidates.iter().find(|(file, _)| file.is_file()) {
            let outer = self.module.len();
            self.module.extend(module.module.iter().cloned());
            self.file(file, layout);
            self.module.truncate(outer);
            return;
        }
        self.found.errors.push(DeclarationError::NoModuleFile {
            declared_in: declared_in.to_owned(),
            line: module.line,
            module: module.module.join("::"),
            looked_for: candidates.into_iter().map(|(file, _)| file).collect(),
        });
    }

    /// Records a declaration. A valid declaration is first compared with its source.
    fn kernel(&mut self, kernel: Result<ParsedKernel, Diagnostics>, path: &Path, text: &str) {
        let found = kernel
            .map_err(|wrong| rendered(&wrong, &path.display().to_string(), text))
            .and_then(|parsed| self.checked(parsed, path, text));
        match found {
            Ok(kernel) => self.found.kernels.push(kernel),
            Err(error) => self.found.errors.push(error),
        }
    }

    fn checked(
        &self,
        parsed: ParsedKernel,
        path: &Path,
        text: &str,
    ) -> Result<TunedKernel, DeclarationError> {
        let file = path.display().to_string();
        let (source, scan) =
            self.source(path, &parsed.spec)
                .map_err(|error| DeclarationError::Source {
                    file: file.clone(),
                    kernel: parsed.spec.name.clone(),
                    error: Box::new(error),
                })?;
        let accepts = parsed.attr.evidence.iter().map(|given| given.value);
        let accepts = accepts.collect();
        let may_be_untuned = parsed.attr.untuned.is_some();
        check_source(&parsed, &scan)
            .into_result(())
            .map_err(|wrong| rendered(&wrong, &file, text))?;
        Ok(TunedKernel {
            label: parsed.spec.name.clone(),
            spec: parsed.spec,
            source,
            scan,
            file: path.to_owned(),
            module: self.module.join("::"),
            in_library: self.in_library,
            package: self.package.clone(),
            tuned: TableFolder::new(self.root.join("tuned")),
            accepts,
            may_be_untuned,
        })
    }

    /// Reads a kernel's source, and reduces it to what the kernel needs. Names of files are relative to the package, as in the macro.
    fn source(
        &self,
        declared_in: &Path,
        spec: &KernelSpec,
    ) -> Result<(SourceText, SourceScan), SourceFault> {
        let root = fs::canonicalize(&self.root)?;
        let file = fs::canonicalize(declared_in)?;
        let folder = file.parent().unwrap_or(&root);
        let below = folder.strip_prefix(&root).unwrap_or(folder);
        let mut parts: Vec<_> = below
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect();
        parts.push(spec.source.clone());
        let mut read = |name: &str| {
            let path = root.join(name);
            let real =
                fs::canonicalize(&path).map_err(|error| ReadError::unresolved(&path, &error))?;
            if !real.starts_with(&root) {
                return Err(ReadError::LinkOutside);
            }
            let bytes = fs::read(&real)?;
            String::from_utf8(bytes).map_err(|_| ReadError::NotText)
        };
        let text = SourceText::load(&parts.join("/"), &mut read)?;
        Ok(reduce(text, &spec.entries())?)
    }
}

fn rendered(wrong: &Diagnostics, file: &str, text: &str) -> DeclarationError {
    let rendered = wrong.render(file, text);
    DeclarationError::Wrong { rendered }
}

/// Maximum nesting depth of a file. The limit exists because the parser recurses once per level and its stack is
/// limited.
const MAX_NESTED: usize = 128;

/// Checks that brackets and consecutive operators are nested at most [`MAX_NESTED`] levels. Otherwise returns the
/// position at which they exceed this depth.
///
/// Text that cannot be split into tokens passes the check, because the parser reports the error later.
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
        if open.len() > MAX_NESTED || in_a_row > MAX_NESTED {
            return Err(token.span().start());
        }
        if let TokenTree::Group(group) = token {
            open.push(group.stream().into_iter());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The declaration of a kernel whose source is in the same folder.
    fn kernel(name: &str) -> String {
        format!(
            "#[tuned_kernel(source = \"{name}.cu\", params(THREADS in [32, 64]), baseline(THREADS = 32), \
             grid(n.div_ceil(THREADS)), block(THREADS), problems((n = 64)), tolerance(relative = 1e-6))] \
             unsafe extern \"C\" {{ fn {name}(n: u32, #[len(n)] y: &mut [f32]); }}\n"
        )
    }

    fn source(name: &str) -> String {
        format!(
            "extern \"C\" __global__ void {name}(unsigned n, float* y) {{ y[blockIdx.x * THREADS] = n; }}\n"
        )
    }

    fn found(files: &[(&str, &str)], kernels: &[(&str, &str)]) -> DiscoveredKernels {
        let folder = tempfile::tempdir().unwrap();
        let texts = files
            .iter()
            .map(|(path, text)| (PathBuf::from(path), (*text).to_owned()));
        let declared = kernels
            .iter()
            .map(|(path, name)| (PathBuf::from(path), kernel(name)));
        let sources = kernels.iter().map(|(path, name)| {
            (
                Path::new(path).with_file_name(format!("{name}.cu")),
                source(name),
            )
        });
        for (path, text) in texts.chain(declared).chain(sources) {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let old = fs::read_to_string(&path).unwrap_or_default();
            fs::write(path, old + &text).unwrap();
        }
        let features = BTreeSet::new();
        let mut walk = Walk::new(folder.path().to_owned(), "tiny", &features);
        walk.file(&folder.path().join("src/lib.rs"), &ModuleLayout::Root);
        walk.found
    }

    #[test]
    fn kernels_are_found_along_modules_and_in_the_order_of_the_files() {
        let found = found(
            &[
                (
                    "src/lib.rs",
                    "mod plain;\nmod written { #[path = \"far/away.rs\"] mod there; }\n\
                     #[cfg_attr(unix, path = \"system/unix.rs\")]\nmod system;\n#[cfg(test)] mod unseen;\n",
                ),
                ("src/plain/mod.rs", "mod below;\n"),
                ("src/written/far/away.rs", "mod beside;\n"),
            ],
            &[
                ("src/lib.rs", "last"),
                ("src/plain/below.rs", "first"),
                ("src/plain/mod.rs", "second"),
                ("src/written/far/beside.rs", "third"),
                ("src/system/unix.rs", "fourth"),
            ],
        );
        assert!(found.errors.is_empty(), "{:#?}", found.errors);
        let names: Vec<_> = found.kernels.iter().map(|k| k.spec.name.as_str()).collect();
        assert_eq!(names, ["first", "second", "third", "fourth", "last"]);
    }

    #[test]
    fn a_file_that_is_its_own_module_is_read_once() {
        let itself = "#[path = \"lib.rs\"] mod itself;\n";
        let found = found(&[("src/lib.rs", itself)], &[("src/lib.rs", "only")]);
        assert!(found.errors.is_empty(), "{:#?}", found.errors);
        assert_eq!(found.kernels.len(), 1);
    }

    #[test]
    fn a_module_without_a_file_says_where_one_is_looked_for() {
        let found = found(&[("src/lib.rs", "\nmod outer { mod gone; }\n")], &[]);
        let [error] = &found.errors[..] else {
            panic!("{:#?}", found.errors);
        };
        let error = error.to_string();
        assert!(
            error.contains("src/lib.rs:2: module `outer::gone` has no file"),
            "{error}"
        );
        assert!(
            error.contains("src/outer/gone.rs or ") && error.ends_with("src/outer/gone/mod.rs"),
            "{error}"
        );
    }
}

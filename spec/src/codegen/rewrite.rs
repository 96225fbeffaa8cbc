//! Edits the text of a source so that it contains the release entry and the receipt entry.

use std::ops::Range;

use super::constants::Constant;
use super::target::TargetRow;
use super::{CodegenError, Symbol};
use crate::model::{Plain, PlainArg, ScalarArg};
use crate::source::edit::Edits;
use crate::source::lexer::{TokenKind, lex};
use crate::source::{
    Entry, KernelFunction, Parameter, SourceScan, SourceText, line_marker, polyfills,
};

/// The inputs from which both entries are created.
pub(super) struct Rewriter<'a> {
    pub source: &'a SourceText,
    pub scan: &'a SourceScan,
    pub entry: &'a Entry<'a>,
    pub row: &'a TargetRow,
    /// The names of the config's macros, which expand to numbers.
    pub params: Vec<&'a str>,
    /// The structs and arrays that are passed by value, each with the index of its parameter.
    pub plain: Vec<(usize, &'a PlainArg)>,
    /// The numbers that are passed by value, each with the index of its parameter.
    pub scalars: Vec<(usize, &'a ScalarArg)>,
    /// The arguments that fill `__constant__` variables.
    pub constants: &'a [Constant],
    /// The arguments of the entry's template, with the values of the config. `None` if the entry is not a template.
    pub instance: Option<&'a [String]>,
}

/// The namespace of the `__global__` function that is generated for a template.
const INSTANCE: &str = "kiln_instance";
/// The additional parameter of a receipt entry.
const RECEIPT_PARAMETER: &str = "::kiln_receipt* kiln_r";

/// The hashes that the signing statement writes to a receipt.
pub(super) struct Signing<'a> {
    pub symbol: &'a Symbol,
    pub symbol_hash: u64,
    pub config_hash: u64,
}

impl Signing<'_> {
    fn statement(&self) -> String {
        let (symbol, config) = (self.symbol_hash, self.config_hash);
        format!(" KILN_SIGN_RECEIPT(kiln_r, 0x{symbol:016x}ull, 0x{config:016x}ull);")
    }
}

impl Rewriter<'_> {
    fn text(&self) -> &str {
        self.source.text()
    }

    /// The source with both entries. The kernel gets the symbol of the release entry, and the receipt entry follows it.
    /// The other kernels are left out.
    pub fn with_entries(
        &self,
        release: &Symbol,
        signing: &Signing<'_>,
    ) -> Result<String, CodegenError> {
        let mut edits = Edits::default();
        for site in &self.entry.sites {
            if site.body_open.is_none() && self.instance.is_none() {
                // clang for AMD GPUs rejects a kernel whose declaration is repeated. Nothing in the source calls it.
                edits.blank(self.text(), site.range.clone());
                continue;
            }
            if let Some(arguments) = self.instance {
                self.instantiate(&mut edits, site, arguments, release, signing);
            } else {
                edits.insert(site.range.end, &self.receipt_entry(site, signing)?);
                self.rename(&mut edits, site, release.as_str());
                self.append_parameters(&mut edits, site, None);
            }
            self.check_layouts(&mut edits, site);
        }
        self.name_constants(&mut edits);
        self.complete_cub(&mut edits);
        if self.row.refuses_ptx {
            // The prelude has the functions of new GPUs, but `__CUDA_ARCH__` counts as 0 in conditions.
            for start in polyfills(self.source, self.scan) {
                edits.insert(start, "template <class = void> ");
            }
        }
        if self.row.host {
            let everything = 0..self.text().len();
            self.dynamic_shared(&mut edits, &everything)?;
            for word in self.scan.file_shared() {
                edits.insert(word.end, " KILN_CPU_AT_FILE_SCOPE");
            }
            self.unroll_on_host(&mut edits);
        }
        self.drop_other_kernels(&mut edits);
        Ok(edits.apply(self.text()))
    }

    /// Returns the receipt entry, which is an edited copy of the kernel `site`. The receipt is its last parameter, and
    /// its first statement signs the receipt. `#pragma unroll` is removed, because this entry is compiled for small
    /// code. The copy calls the same functions as the release entry.
    fn receipt_entry(
        &self,
        site: &KernelFunction,
        signing: &Signing<'_>,
    ) -> Result<String, CodegenError> {
        let mut edits = Edits::default();
        self.rename(&mut edits, site, signing.symbol.as_str());
        self.append_parameters(&mut edits, site, Some(RECEIPT_PARAMETER));
        if let Some(body) = site.body_open {
            edits.insert(body, &signing.statement());
        }
        self.check_layouts(&mut edits, site);
        for unroll in self.scan.unrolls() {
            if site.range.contains(&unroll.range.start) {
                edits.blank(self.text(), unroll.range.clone());
            }
        }
        // Remove the excluded directives and code. An `#if` group whose conditions are known may begin before the
        // kernel, and the copy must not contain only a part of its directives.
        for range in self.scan.excluded() {
            let (start, end) = (
                range.start.max(site.range.start),
                range.end.min(site.range.end),
            );
            if start < end {
                edits.blank(self.text(), start..end);
            }
        }
        if self.row.host {
            self.dynamic_shared(&mut edits, &site.range)?;
        }
        let line_of = |offset| {
            let at = self.source.locate(offset);
            line_marker(at.line, &at.file)
        };
        let entry = edits.apply_within(self.text(), site.range.clone());
        let (from, to) = (line_of(site.range.start), line_of(site.range.end));
        Ok(format!("\n{from}{entry}\n{to}"))
    }

    /// The namespaces that enclose the entry, each followed by `::`.
    pub fn inside(&self) -> String {
        let namespaces = self.entry.sites.iter().flat_map(|site| &site.namespaces);
        let depth = self.entry.sites.first().map_or(0, |s| s.namespaces.len());
        let namespaces = namespaces.take(depth).map(String::as_str);
        let instance = self.instance.map(|_| INSTANCE);
        namespaces
            .chain(instance)
            .map(|name| format!("{name}::"))
            .collect()
    }

    /// Turns a template into a device function, and adds both entries after it, which call one instance. The text of the
    /// template is kept, so `if constexpr` and type-dependent names keep their meaning.
    fn instantiate(
        &self,
        edits: &mut Edits,
        site: &KernelFunction,
        arguments: &[String],
        release: &Symbol,
        signing: &Signing<'_>,
    ) {
        let text = self.text();
        edits.replace(
            text,
            site.global_range.clone(),
            "__device__ __forceinline__",
        );
        for bounds in &site.bounds_ranges {
            edits.blank(text, bounds.clone());
        }
        if site.body_open.is_none() {
            return;
        }
        let named = site
            .template
            .iter()
            .filter_map(|t| t.with(arguments))
            .flatten();
        let aliases: String = named
            .map(|(param, value)| match &param.declaration {
                None => format!("using {} = {value}; ", param.name),
                Some(declaration) => {
                    format!("[[maybe_unused]] constexpr {declaration} = {value}; ")
                }
            })
            .collect();
        let bounds = site.launch_bounds.as_deref().unwrap_or_default();
        // Conditional bounds have several lines.
        let is_conditional = bounds.contains('\n');
        let bounds = match is_conditional {
            true => format!("{bounds}\n"),
            false if bounds.is_empty() => String::new(),
            false => format!("{bounds} "),
        };
        let names = (0..site.params.len()).map(|place| format!("kiln_{place}"));
        let mut params: Vec<String> = (site.params.iter().zip(names.clone()))
            .map(|(param, name)| format!("{} {name}", param.ty.replace(": :", "::")))
            .collect();
        params.extend(self.constants.iter().map(Constant::parameter));
        let names = names.collect::<Vec<_>>().join(", ");
        let call = format!("{}<{}>({names});", site.name, arguments.join(", "));
        let entry = |symbol: &Symbol, params: &[String], body: &str| {
            let params = params.join(", ");
            format!("extern \"C\" __global__ void {bounds}{symbol}({params}) {{{body} {call} }}")
        };
        let release = entry(release, &params, "");
        params.push(RECEIPT_PARAMETER.into());
        let receipt = entry(signing.symbol, &params, &signing.statement());
        let mut instance = format!(" namespace {INSTANCE} {{ {aliases}{release} {receipt} }}");
        if is_conditional {
            let at = self.source.locate(site.range.end);
            instance += &format!("\n{}", line_marker(at.line, &at.file));
        }
        edits.insert(site.range.end, &instance);
    }

    fn rename(&self, edits: &mut Edits, site: &KernelFunction, name: &str) {
        let start = site.specifiers_start;
        if !site.extern_c && !site.in_extern_c_block {
            // A directive must begin its line.
            let at = self.source.locate(start);
            let end = match self.text()[start..].starts_with('#') {
                true => format!("\n{}", line_marker(at.line, &at.file)),
                false => " ".into(),
            };
            edits.insert(start, &format!("extern \"C\"{end}"));
        }
        for word in &site.static_words {
            edits.blank(self.text(), word.clone());
        }
        edits.replace(self.text(), site.name_range.clone(), name);
    }

    /// Appends the parameters for `__constant__` variables, and then the parameter `last`.
    fn append_parameters(&self, edits: &mut Edits, site: &KernelFunction, last: Option<&str>) {
        let constants = self.constants.iter().map(Constant::parameter);
        let added: Vec<String> = constants.chain(last.map(str::to_owned)).collect();
        let added = added.join(", ");
        if added.is_empty() {
            return;
        }
        // The generated code passes every argument, so defaults are not needed. They must be removed, because after a
        // parameter with a default, C++ requires defaults for all further parameters.
        for default in site.params.iter().filter_map(|param| param.default.clone()) {
            edits.blank(self.text(), default);
        }
        if site.params.is_empty() {
            edits.replace(self.text(), site.params_range.clone(), &added);
        } else {
            edits.insert(site.params_range.end, &format!(", {added}"));
        }
    }

    /// Includes the function objects that new versions of NVIDIA's CUB lack, after its headers. Kiln's own CUB has them.
    fn complete_cub(&self, edits: &mut Edits) {
        if self.row.refuses_ptx || self.scan.opens_namespace("cub") {
            return;
        }
        let includes = self.scan.includes().iter();
        for include in includes.filter(|include| include.header.starts_with("cub/")) {
            let marker = line_marker(include.at.line, &include.at.file);
            let header = format!("\n#include \"cuda/cub_operators.h\"\n{marker}");
            edits.insert(include.range.end, &header);
        }
    }

    /// Makes the symbols of the filled `__constant__` variables visible to the host, by removing `static`.
    fn name_constants(&self, edits: &mut Edits) {
        let mut blanked: Vec<Range<usize>> = Vec::new();
        for variable in self.scan.constants() {
            let path = variable.path();
            let is_filled = self.constants.iter().any(|constant| constant.path == path);
            // Several variables that one declaration declares share the word `static`, so remove it only once.
            if let (true, Some(word)) = (is_filled, &variable.static_word)
                && !blanked.contains(word)
            {
                edits.blank(self.text(), word.clone());
                blanked.push(word.clone());
            }
        }
    }

    /// Adds assertions that structs, arrays and enums have the layout that the spec declares: their size, and for structs
    /// the alignment, the number of fields and the sizes of the fields. If the source has classes with access specifiers, the fields are not checked,
    /// because they may be private.
    fn check_layouts(&self, edits: &mut Edits, site: &KernelFunction) {
        let Some(body) = site.body_open else { return };
        let mut specifiers = ["private", "protected", "public"].into_iter();
        let has_fields = !specifiers.any(|word| self.scan.mentions(word));
        for (place, plain) in &self.plain {
            let Some(param) = site
                .params
                .get(*place)
                .filter(|param| !param.name.is_empty())
            else {
                continue;
            };
            edits.insert(body, &layout_checks(&param.name, &plain.value, has_fields));
        }
        for (place, scalar) in &self.scalars {
            let param = site.params.get(*place);
            let is_enum = |param: &&Parameter| self.scan.is_enum(&param.ty);
            if let Some(param) = param.filter(|param| !param.name.is_empty()).filter(is_enum) {
                edits.insert(body, &size_check(&param.name, scalar.ty.bytes()));
            }
        }
    }

    fn is_dropped(&self, offset: usize) -> bool {
        self.dropped().any(|kernel| kernel.range.contains(&offset))
    }

    fn dropped(&self) -> impl Iterator<Item = &KernelFunction> {
        self.scan.kernels().iter().filter(|kernel| {
            let mut sites = self.entry.sites.iter();
            !sites.any(|site| site.range == kernel.range)
        })
    }

    fn drop_other_kernels(&self, edits: &mut Edits) {
        for kernel in self.dropped() {
            edits.leave_out(self.text(), &kernel.range, self.scan.directives());
        }
    }

    /// Replaces `extern __shared__` arrays in a part of the source by pointers to the block's shared memory, because on
    /// the host nothing allocates memory for such arrays. Outside functions, an array may be declared more than once.
    fn dynamic_shared(&self, edits: &mut Edits, part: &Range<usize>) -> Result<(), CodegenError> {
        let mut at_file_scope = Vec::new();
        for array in self.scan.dynamic_shared() {
            if !part.contains(&array.range.start) || self.is_dropped(array.range.start) {
                continue;
            }
            let Some((ty, name)) = &array.declares else {
                let at = self.source.locate(array.range.start);
                return Err(CodegenError::DynamicShared { at });
            };
            if !array.file_scope {
                let pointer = format!("{ty}* {name} = ({ty}*)kiln_cpu_dynamic_shared();");
                edits.replace(self.text(), array.range.clone(), &pointer);
            } else if at_file_scope.contains(&(ty, name)) {
                edits.blank(self.text(), array.range.clone());
            } else {
                at_file_scope.push((ty, name));
                let pointer = format!("static {ty}* const {name} = ({ty}*)::kiln_cpu_dynamic;");
                edits.replace(self.text(), array.range.clone(), &pointer);
            }
        }
        Ok(())
    }

    /// Replaces `#pragma unroll`, which g++ spells differently, by a macro that selects the compiler's spelling.
    fn unroll_on_host(&self, edits: &mut Edits) {
        for unroll in self.scan.unrolls() {
            let call = match &unroll.count {
                Some(count) if self.is_number(count) => format!("KILN_UNROLL({count})"),
                Some(count) => format!("KILN_UNROLL_CONSTANT({count})"),
                None => "KILN_UNROLL_ALL".to_owned(),
            };
            edits.replace(self.text(), unroll.range.clone(), &call);
        }
    }

    /// Whether the preprocessor turns this text into a number. g++ accepts neither a template parameter nor a
    /// `constexpr` variable as an unroll count.
    fn is_number(&self, count: &str) -> bool {
        let tokens = lex(count).unwrap_or_default();
        !tokens.is_empty()
            && tokens
                .iter()
                .filter(|t| t.kind == TokenKind::Identifier)
                .all(|t| {
                    let name = t.text(count);
                    let defined = self
                        .scan
                        .macros()
                        .iter()
                        .any(|m| !m.undef && m.name == name);
                    self.params.contains(&&*name) || defined
                })
    }
}

/// A statement that does not compile if the size of a parameter differs from the spec. NVRTC's log shows a backtick in the
/// message as a question mark.
fn size_check(name: &str, bytes: usize) -> String {
    format!(
        " static_assert(sizeof({name}) == {bytes}, \"the spec says that '{name}' has {bytes} bytes\");"
    )
}

/// Statements that do not compile if the layout of a parameter differs from the spec. With `has_fields`, they also check
/// the fields of a struct.
fn layout_checks(name: &str, value: &Plain, has_fields: bool) -> String {
    let layout = value.layout();
    let mut text = size_check(name, layout.bytes);
    let Plain::Struct { fields, .. } = value else {
        return text;
    };
    text += &format!(
        " static_assert(alignof(decltype({name})) == {}, \"the spec says that '{name}' is aligned to {} bytes\");",
        layout.align, layout.align
    );
    if !has_fields {
        return text;
    }
    let bound: Vec<String> = (0..fields.len())
        .map(|i| format!("kiln_field_{i}"))
        .collect();
    text += &format!(" {{ auto& [{}] = {name};", bound.join(", "));
    for (bound, field) in bound.iter().zip(fields) {
        let (field, bytes) = (&field.name, field.value.layout().bytes);
        text += &format!(
            " static_assert(sizeof({bound}) == {bytes}, \"the spec says that '{field}' has {bytes} bytes\"); (void){bound};"
        );
    }
    text + " }"
}

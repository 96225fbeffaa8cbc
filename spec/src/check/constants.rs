//! Checks the `__constant__` variables of a source against the spec.

use crate::model::SliceArg;
use crate::parse::ParsedKernel;
use crate::source::{ConstantVariable, SourceScan};
use crate::text::diagnostic::{Diagnostic, Diagnostics, SpanRange};
use crate::text::spelling::nearest;

/// Reports `__constant__` variables that no argument fills, because a kernel would read zeros from them and compute
/// wrong results. Also reports arguments that cannot fill their variable.
pub(super) fn check(kernel: &ParsedKernel, scan: &SourceScan, diagnostics: &mut Diagnostics) {
    unfilled(kernel, scan, diagnostics);
    for (place, arg) in kernel.function.args.iter().enumerate() {
        let slices = kernel.spec.slices();
        let mut slices = slices.filter(|slice| arg.name() == slice.name);
        if let (Some(constant), Some(slice)) = (&arg.constant, slices.next())
            && let Some((message, help)) = mistake(kernel, scan, slice, &constant.value, place)
        {
            diagnostics.push(Diagnostic::new(constant.span, message).help(help));
        }
    }
}

fn unfilled(kernel: &ParsedKernel, scan: &SourceScan, diagnostics: &mut Diagnostics) {
    let span = match &kernel.attr.source {
        Some(source) => source.span,
        None => SpanRange::from(kernel.function.ident.span()),
    };
    let spec = &kernel.spec;
    let filled: Vec<&str> = spec
        .slices()
        .filter_map(|s| s.constant.as_deref())
        .collect();
    let mut reported: Vec<&str> = Vec::new();
    for constant in reached(kernel, scan) {
        let known = reported.contains(&constant.name.as_str());
        if constant.initialised || known || filled.contains(&constant.path().as_str()) {
            continue;
        }
        reported.push(&constant.name);
        if constant.is_template {
            let (message, help) = template(constant);
            diagnostics.push(Diagnostic::new(span, message).help(help));
            continue;
        }
        let name = &constant.name;
        let message = format!(
            "nothing gives the `__constant__` variable `{name}` a value ({})",
            constant.at
        );
        let path = constant.path();
        let attribute = if path == *name {
            "#[constant]".to_owned()
        } else {
            format!("#[constant({path})]")
        };
        let ty = &constant.ty;
        let help = format!(
            "pass its value in an argument after the kernel's own: `{attribute} #[len(..)] {name}: &[..]` ({ty}); if \
             its value never changes, initialise it in the source"
        );
        diagnostics.push(Diagnostic::new(span, message).help(help));
    }
}

/// The error for a `__constant__` variable that is a template, of which no argument can fill the instances.
fn template(constant: &ConstantVariable) -> (String, String) {
    let ConstantVariable { name, ty, at, .. } = constant;
    let dimensions: String = { constant.dimensions.iter() }
        .map(|dimension| format!("[{dimension}]"))
        .collect();
    let message = format!(
        "the `__constant__` variable `{name}` is a template ({at}), and an argument can fill only a plain variable"
    );
    let help = format!(
        "declare it without `template <..>`, as in `__constant__ {ty} {name}{dimensions};`, where `{ty}` is a type \
         parameter of the spec (`types({ty} in [f32, f64])`) or an element type"
    );
    (message, help)
}

/// The `__constant__` variables that the kernel or its baseline reads.
fn reached<'a>(
    kernel: &ParsedKernel,
    scan: &'a SourceScan,
) -> impl Iterator<Item = &'a ConstantVariable> {
    let spec = &kernel.spec;
    let entries = [&spec.entry, &spec.baseline.entry];
    entries
        .into_iter()
        .flat_map(|entry| scan.constants_of(entry))
}

/// What is wrong with an argument that fills the variable `path`, and how to correct it. `None` if nothing is wrong.
fn mistake(
    kernel: &ParsedKernel,
    scan: &SourceScan,
    slice: &SliceArg,
    path: &str,
    place: usize,
) -> Option<(String, String)> {
    let argument = &slice.name;
    let all = scan.constants();
    let Some(constant) = all.iter().find(|constant| constant.path() == path) else {
        let message = format!("the source has no `__constant__` variable `{path}`");
        let paths: Vec<String> = all.iter().map(ConstantVariable::path).collect();
        let help = match nearest(path, paths.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `#[constant({near})]`?"),
            None if paths.is_empty() => {
                "declare it at file or namespace scope, as in `__constant__ float taps[9];`".into()
            }
            None => format!("it has {}", paths.join(", ")),
        };
        return Some((message, help));
    };
    let at = &constant.at;
    if constant.is_template {
        return Some(template(constant));
    }
    if constant.namespaces.iter().any(String::is_empty) {
        let message =
            format!("the `__constant__` variable `{path}` is in a namespace without a name ({at})");
        return Some((message, "give the namespace a name".into()));
    }
    let earlier = &kernel.function.args[..place];
    let twice = earlier.iter().find(|arg| {
        let constant = arg.constant.as_ref();
        constant.is_some_and(|constant| constant.value == path)
    });
    if let Some(first) = twice {
        let message = format!("`{}` and `{argument}` both fill `{path}`", first.ident);
        return Some((message, "remove one of the two".into()));
    }
    if let Some(help) = scan.compare_constant(slice, constant) {
        let ty = &constant.ty;
        let message = format!(
            "`{argument}` cannot fill the `__constant__` variable `{path}` of type `{ty}` ({at})"
        );
        return Some((message, help));
    }
    let is_read = reached(kernel, scan).any(|found| found.path() == path);
    (!is_read).then(|| {
        let message = format!("neither the kernel nor its baseline reads `{path}`");
        (message, format!("remove the argument `{argument}`"))
    })
}

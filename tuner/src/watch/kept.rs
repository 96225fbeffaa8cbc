//! Converts between the current form of a kernel (a draft) and its form in a file of saved kernels.

use std::sync::Arc;

use kiln::compiler::{BuildKind, Compiler};
use kiln::recipe::Recipe;
use kiln_spec::codegen::{Symbol, Target, TranslationUnit};
use kiln_spec::source::Mode;
use kiln_spec::{ArgSpec, Backend, KernelSpec};

use super::saved::{Recorded, Saved, SavedKernel, Section};
use super::saved_error::ReviveError;
use kiln_lab::candidate::Draft;
use kiln_lab::regime::Regime;
use kiln_project::TunedKernel;

/// Creates an empty section for a device, and stores the current prelude in `saved`.
pub fn section(
    saved: &mut Saved,
    device: &kiln::device::DeviceInfo,
    compiler: &dyn Compiler,
    regime: Regime,
) -> Section {
    let identity = compiler.identity();
    Section {
        device: device.key.clone(),
        compiler: identity.name.clone(),
        compiler_version: format!("{} {}", identity.version, identity.build),
        flags: compiler.flags(BuildKind::Release),
        prelude: saved.keep_prelude(Target::from(device.key.backend).prelude()),
        regime: regime.name().into(),
        kernels: Vec::new(),
    }
}

/// Converts a current kernel to its saved form, and stores its text in `saved`.
pub fn keep(
    saved: &mut Saved,
    kernel: &TunedKernel,
    problem: &str,
    draft: &Draft,
    recorded: Option<Recorded>,
) -> SavedKernel {
    let spec = &kernel.spec;
    let entry = if draft.baseline {
        &spec.baseline.entry
    } else {
        &spec.entry
    };
    SavedKernel {
        package: kernel.package.clone(),
        kernel: spec.name.clone(),
        problem: problem.to_owned(),
        spec: serde_json::to_value(spec).unwrap_or_default(),
        source: kernel.source.hash().to_string(),
        entry: entry.clone(),
        config: draft.config.to_string(),
        baseline: draft.baseline,
        plan: draft.plan,
        unit: saved.keep_text(&draft.unit.text),
        symbol_hash: format!("{:016x}", draft.unit.symbol_hash),
        config_hash: format!("{:016x}", draft.unit.config_hash),
        fibers: draft.unit.mode == Mode::Fiber,
        recorded,
    }
}

/// A saved kernel that is ready to be compiled as it was when it was saved.
#[derive(Clone, Debug)]
pub struct Revived {
    /// The saved declaration.
    pub spec: KernelSpec,
    /// The input for the compiler.
    pub draft: Draft,
}

/// Converts a saved kernel to a form that a current compiler can compile.
///
/// # Errors
/// If a part of the saved kernel is missing, was changed, or cannot be parsed.
pub fn revive(
    saved: &Saved,
    section: &Section,
    kernel: &SavedKernel,
    compiler: &dyn Compiler,
) -> Result<Revived, ReviveError> {
    let spec: KernelSpec =
        serde_json::from_value(kernel.spec.clone()).map_err(ReviveError::Declaration)?;
    let config = spec.parse_config(&kernel.config)?;
    let symbol_hash = number(&kernel.symbol_hash)?;
    let config_hash = number(&kernel.config_hash)?;
    if config.hash().0.short() != config_hash {
        return Err(ReviveError::ConfigHash {
            config: kernel.config.clone(),
        });
    }
    let release = Symbol::release(&kernel.entry, symbol_hash);
    let unit = TranslationUnit {
        text: saved.text(&kernel.unit)?.to_owned(),
        receipt: release.receipt(),
        release,
        symbol_hash,
        config_hash,
        mode: if kernel.fibers {
            Mode::Fiber
        } else {
            Mode::Loop
        },
    };
    let draft = Draft {
        unit,
        plan: kernel.plan,
        config,
        baseline: kernel.baseline,
        recipe: Some(Arc::new(recipe_of(saved, section, compiler)?)),
    };
    Ok(Revived { spec, draft })
}

/// The saved prelude of a section and, for a compiler with the same name, its saved flags.
fn recipe_of(
    saved: &Saved,
    section: &Section,
    compiler: &dyn Compiler,
) -> Result<Recipe, ReviveError> {
    // Another compiler does not understand the saved flags.
    let same_compiler = compiler.identity().name == section.compiler;
    let flags = same_compiler.then(|| section.flags.clone());
    let recipe = Recipe::new(saved.headers(&section.prelude)?, flags);
    let recipe = recipe.map_err(|outside| ReviveError::HeaderName { name: outside.name })?;
    if recipe.prelude_hash().to_string() != section.prelude {
        return Err(ReviveError::PreludeHash);
    }
    Ok(recipe)
}

fn number(text: &str) -> Result<u64, ReviveError> {
    u64::from_str_radix(text, 16).map_err(|_| ReviveError::NotAHash {
        text: text.to_owned(),
    })
}

/// Whether two drafts produce the same code and are launched in the same way. If so, nothing needs to be measured.
pub fn is_identical(then: &Draft, now: &Draft, backend: Backend, compiler: &dyn Compiler) -> bool {
    let own = || compiler.flags(BuildKind::Release);
    let of = |draft: &Draft| {
        let recipe = draft.recipe.as_deref();
        let prelude = recipe.map_or_else(
            || Target::from(backend).prelude_hash(),
            Recipe::prelude_hash,
        );
        let flags = recipe.and_then(|recipe| recipe.flags.clone());
        (prelude, flags.unwrap_or_else(own))
    };
    then.unit.text == now.unit.text && then.plan == now.plan && of(then) == of(now)
}

/// Why the arguments of two declarations cannot have the same data; `None` if they can.
pub fn other_arguments(then: &KernelSpec, now: &KernelSpec) -> Option<String> {
    let plain = |spec: &KernelSpec| -> Vec<ArgSpec> {
        let args = spec.args.iter().cloned();
        args.map(|mut arg| {
            // Alignment and tolerance do not affect the data of an argument.
            if let ArgSpec::Slice(slice) = &mut arg {
                slice.align = None;
                slice.tolerance = None;
            }
            arg
        })
        .collect()
    };
    let (then, now) = (plain(then), plain(now));
    if then == now {
        return None;
    }
    let differs = then.iter().zip(&now).find(|(then, now)| then != now);
    Some(match differs {
        Some((then, now)) if then.name() != now.name() => {
            format!("argument `{}` is now `{}`", then.name(), now.name())
        }
        Some((then, _)) => format!(
            "argument `{}` has another type, length or filling",
            then.name()
        ),
        None => format!(
            "it has {} arguments, but the saved kernel has {}",
            now.len(),
            then.len()
        ),
    })
}

/// The parts that differ between a saved kernel and the current kernel.
pub fn changes(
    kernel: &SavedKernel,
    then: &Revived,
    now: (&TunedKernel, &Draft),
    backend: Backend,
) -> Vec<&'static str> {
    let (present, draft) = now;
    let recipe = then.draft.recipe.as_deref();
    let prelude = Target::from(backend).prelude_hash();
    let changed = [
        ("source", kernel.source != present.source.hash().to_string()),
        ("parameters", then.spec.params != present.spec.params),
        (
            "config",
            then.draft.config != draft.config || then.draft.baseline != draft.baseline,
        ),
        ("launch", then.draft.plan != draft.plan),
        (
            "prelude",
            recipe.is_some_and(|recipe| recipe.prelude_hash() != prelude),
        ),
    ];
    let named: Vec<_> = changed
        .into_iter()
        .filter_map(|(name, is)| is.then_some(name))
        .collect();
    if named.is_empty() {
        vec!["code generator or flags"]
    } else {
        named
    }
}

#[cfg(test)]
#[path = "kept_tests.rs"]
mod tests;

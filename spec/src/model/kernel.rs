//! The kernel spec: everything the author declared, as plain data.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{ArgSpec, ElemRef, ElemType, SliceArg, Tolerance};
use crate::config::{Config, ParamValue};
use crate::device::Backend;
use crate::expr::Expr;
use crate::hash::{Hash, SpecHash};
use crate::problem::Problem;

/// A kernel, as its author declared it.
///
/// The macro builds this value from tokens, the command line from source files; both build the same value. The macro
/// embeds the value's canonical JSON ([`Self::to_json`]). [`Self::hash`] hashes that JSON without the tuned problems and
/// the configs to try first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelSpec {
    /// The name of the launch function, of the baked table and of every record.
    pub name: String,
    /// Path of the `.cu` as written, relative to the file that declares the kernel.
    pub source: String,
    /// The tuned `__global__` function.
    pub entry: String,
    /// Type parameters: element types over which the launch function is generic.
    pub types: Vec<TypeParam>,
    /// Tunable parameters, in declared order.
    pub params: Vec<TunableParam>,
    /// Conditions that a config must satisfy.
    pub constraints: Vec<Constraint>,
    /// Grid, block and dynamic shared memory of [`Self::entry`].
    pub geometry: Geometry,
    /// The simplest correct version.
    pub baseline: Baseline,
    /// Configs that a search tries before all others, in this order, if the space of the problem and device contains
    /// them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub try_first: Vec<Config>,
    /// The backends that the kernel supports; all of them if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<Backend>,
    /// The sizes to tune for; at least one.
    pub problems: Vec<Problem>,
    /// Sizes that are tuned only on GPUs: too much work for a host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpu_problems: Vec<Problem>,
    /// Small sizes for verification, in addition to the tuned ones (derived if none are declared).
    pub verify: Vec<Problem>,
    /// Work of one launch, for the roofline check.
    pub work: Work,
    /// Tolerance of outputs that do not declare their own.
    pub tolerance: Tolerance,
    /// The reference with which the outputs are compared.
    pub reference: Option<Reference>,
    /// The path of the Rust function that generates the inputs, if `#[fill(..)]` alone does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<String>,
    /// Arguments in the order of the kernel's signature.
    pub args: Vec<ArgSpec>,
}

/// A name that stands for one of several element types.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeParam {
    /// Its name, as in `types(T in [f32, f16])`.
    pub name: Arc<str>,
    /// The types it may be.
    pub choices: Vec<ElemType>,
}

/// A number, switch or choice that the tuner sets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TunableParam {
    /// Its name, which the source reads as a macro.
    pub name: Arc<str>,
    /// Its values, all of one kind, in declared order (the order of its axis in the search).
    pub values: Vec<ParamValue>,
}

/// A condition on configs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constraint {
    /// Over tunable parameters, problem sizes and device limits.
    pub expr: Expr,
}

/// Launch geometry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Geometry {
    /// Blocks per axis: one to three expressions; missing axes are 1.
    pub grid: Vec<Expr>,
    /// Threads per axis: one to three expressions; missing axes are 1.
    pub block: Vec<Expr>,
    /// Dynamic shared memory in bytes.
    pub shared_bytes: Option<Expr>,
}

impl Geometry {
    /// Every expression.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let axes = self.grid.iter().chain(&self.block);
        axes.chain(&self.shared_bytes)
    }
}

/// The simplest correct version: always a candidate, and the winner of every tie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// Its `__global__` function: the tuned entry, or another one of the same source.
    pub entry: String,
    /// The config it is compiled with.
    pub config: Config,
    /// Its geometry, if it has its own entry.
    pub geometry: Option<Geometry>,
}

/// Work of one launch, over problem sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Floating-point operations.
    pub flops: Option<Expr>,
    /// Bytes that must move between memory and the device at least once.
    pub bytes: Option<Expr>,
}

/// The reference with which the outputs are compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reference {
    /// A Rust function, by path: same arguments, outputs in higher precision.
    Rust(String),
    /// A `__global__` function of the same source, launched on the cpu device with the baseline's geometry.
    Entry(String),
}

impl KernelSpec {
    /// Canonical JSON: fields in declared order, no white space.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self)
            .expect("a kernel spec should always serialise: it holds no maps or foreign types")
    }

    /// Parses the output of [`Self::to_json`].
    ///
    /// # Errors
    /// If the text is not a spec of this version.
    pub fn from_json(json: &str) -> Result<KernelSpec, serde_json::Error> {
        serde_json::from_str(json)
    }

    /// Hash of everything declared except the tuned problems and the configs to try first. Adding a problem leaves
    /// the results and rows of the others unchanged, because each key contains its own problem. Trying a config
    /// earlier does not change it.
    pub fn hash(&self) -> SpecHash {
        let rest = KernelSpec {
            problems: Vec::new(),
            gpu_problems: Vec::new(),
            try_first: Vec::new(),
            ..self.clone()
        };
        SpecHash(Hash::of("kiln spec 2", rest.to_json().as_bytes()))
    }

    /// Whether the kernel supports a backend's devices. The scripted device runs every kernel.
    pub fn runs_on(&self, backend: Backend) -> bool {
        self.only.is_empty() || backend == Backend::Fake || self.only.contains(&backend)
    }

    /// Why the kernel is excluded on a backend's devices, if it is.
    pub fn left_out_on(&self, backend: Backend) -> Option<String> {
        let names: Vec<_> = self.only.iter().map(|backend| backend.name()).collect();
        let only = names.join(", ");
        (!self.runs_on(backend))
            .then(|| format!("its spec says `only({only})`, and this device is of {backend}"))
    }

    /// The problems that are tuned on a backend's devices; none if the kernel does not support them.
    pub fn problems_on(&self, backend: Backend) -> impl Iterator<Item = &Problem> {
        let on_gpu = matches!(backend, Backend::Cuda | Backend::Hip);
        let more: &[Problem] = if on_gpu { &self.gpu_problems } else { &[] };
        let runs = self.runs_on(backend);
        self.problems.iter().chain(more).filter(move |_| runs)
    }

    /// All declared problems.
    pub fn all_problems(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().chain(&self.gpu_problems)
    }

    /// The baseline's geometry.
    pub fn baseline_geometry(&self) -> &Geometry {
        self.baseline.geometry.as_ref().unwrap_or(&self.geometry)
    }

    /// Whether the baseline has its own entry, rather than being a config of the tuned entry.
    pub fn baseline_is_another_entry(&self) -> bool {
        self.baseline.entry != self.entry
    }

    /// The slice arguments, in order.
    pub fn slices(&self) -> impl Iterator<Item = &SliceArg> {
        self.args.iter().filter_map(|arg| match arg {
            ArgSpec::Slice(slice) => Some(slice),
            ArgSpec::Scalar(_) | ArgSpec::Plain(_) => None,
        })
    }

    /// The arguments that the kernel receives, with their indices among all arguments.
    pub fn passed(&self) -> impl Iterator<Item = (usize, &ArgSpec)> {
        self.args
            .iter()
            .enumerate()
            .filter(|(_, arg)| arg.is_passed())
    }

    /// The parameters of the `__global__` function, with their indices among all arguments. They come before the
    /// arguments that fill `__constant__` variables.
    pub fn parameters(&self) -> impl Iterator<Item = (usize, &ArgSpec)> {
        self.passed().filter(|(_, arg)| arg.is_parameter())
    }

    /// Whether the data of a launch differs between configs for one problem: a length or a computed argument depends
    /// on a tunable parameter.
    pub fn data_depends_on_the_config(&self) -> bool {
        let lens = self.slices().map(|slice| &slice.len);
        let computed = self.args.iter().filter_map(ArgSpec::computed);
        lens.chain(computed).any(|expr| self.mentions_a_param(expr))
    }

    /// Whether an expression uses a tunable parameter.
    pub fn mentions_a_param(&self, expr: &Expr) -> bool {
        let names = expr.names();
        self.params.iter().any(|param| names.contains(&*param.name))
    }

    /// The element type of a slice for a problem; `None` if the problem lacks the type parameter.
    pub fn elem_type(&self, slice: &SliceArg, problem: &Problem) -> Option<ElemType> {
        match &slice.elem {
            ElemRef::Fixed(ty) => Some(*ty),
            ElemRef::Param(name) => match problem.get(name)? {
                crate::problem::ProblemValue::Type(ty) => Some(ty),
                crate::problem::ProblemValue::Size(_) => None,
            },
        }
    }

    /// The tolerance of an output.
    pub fn tolerance_of(&self, slice: &SliceArg) -> Tolerance {
        slice.tolerance.unwrap_or(self.tolerance)
    }

    /// Names of the problem dimensions in declared order: type parameters, then integer scalars to which the problems
    /// give a value.
    pub fn dimensions(&self) -> Vec<&str> {
        self.problems
            .first()
            .map(|p| p.iter().map(|(name, _)| &**name).collect())
            .unwrap_or_default()
    }
}

//! The kernel spec: everything that the author of a kernel declares, as plain data.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{ArgSpec, ElemRef, ElemType, SliceArg, Tolerance};
use crate::config::{Config, ParamValue};
use crate::device::Backend;
use crate::expr::Expr;
use crate::hash::{Hash, SpecHash};
use crate::problem::Problem;

/// The spec of a kernel, as its author declares it.
///
/// The macro builds this value from tokens, and the command line builds the same value from source files. The macro
/// embeds its canonical JSON ([`Self::to_json`]). [`Self::hash`] hashes that JSON without the tuned problems and
/// without the configs to try first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelSpec {
    /// The kernel's name. Its launch function, its baked table and all its records have the same name.
    pub name: String,
    /// Path of the `.cu` file as written in the spec, relative to the file that declares the kernel.
    pub source: String,
    /// The tuned `__global__` function: `kernel`, `space::kernel` or `kernel<float, 256>`.
    pub entry: String,
    /// Type parameters: element types over which the launch function is generic.
    pub types: Vec<TypeParam>,
    /// Tunable parameters, in declared order.
    pub params: Vec<TunableParam>,
    /// Conditions that a config must satisfy.
    pub constraints: Vec<Constraint>,
    /// Grid, block and dynamic shared memory of the tuned `__global__` function, [`Self::entry`].
    pub geometry: Geometry,
    /// The simplest correct version of the kernel.
    pub baseline: Baseline,
    /// Configs that a search tries first, in this order. A search ignores a config that is not in the search space for
    /// its problem and device.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub try_first: Vec<Config>,
    /// The backends that the kernel supports. An empty list means all backends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<Backend>,
    /// Whether several threads may store the same value in one place without an order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub equal_stores: bool,
    /// Whether threads may read shared memory that no thread of their block has written, because they drop the value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unwritten_reads: bool,
    /// The problems (sets of sizes) that are tuned on every device. There is at least one.
    pub problems: Vec<Problem>,
    /// Problems that are tuned only on GPUs, because they are too much work for a CPU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpu_problems: Vec<Problem>,
    /// Small problems for verification, in addition to the tuned problems. If the list is empty, small problems are
    /// derived from the spec.
    pub verify: Vec<Problem>,
    /// Floating-point operations and bytes of one launch, for the roofline check.
    pub work: Work,
    /// Tolerance of the outputs that do not declare their own.
    pub tolerance: Tolerance,
    /// The reference with which the outputs are compared. `None` if the author declares none.
    pub reference: Option<Reference>,
    /// The path of the Rust function that generates the inputs; `None` if `#[fill(..)]` alone generates them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<String>,
    /// Arguments in the order of the kernel's signature.
    pub args: Vec<ArgSpec>,
}

/// A type parameter: a name that stands for one of several element types.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeParam {
    /// The type parameter's name: `T` in `types(T in [f32, f16])`.
    pub name: Arc<str>,
    /// The element types that the parameter may stand for.
    pub choices: Vec<ElemType>,
}

/// A tunable parameter: an integer, a switch or a named choice whose value the tuner selects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TunableParam {
    /// The parameter's name. The kernel's source reads the value as a macro of this name.
    pub name: Arc<str>,
    /// The allowed values, all of one kind, in declared order. The search uses this order too.
    pub values: Vec<ParamValue>,
}

/// A condition that every config must satisfy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constraint {
    /// A boolean expression over tunable parameters, problem sizes and device limits.
    pub expr: Expr,
}

/// Launch geometry: grid, block and dynamic shared memory, as expressions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Geometry {
    /// Blocks in the grid, for each axis: one to three expressions. A missing axis has extent 1.
    pub grid: Vec<Expr>,
    /// Threads per block, for each axis: one to three expressions. A missing axis has extent 1.
    pub block: Vec<Expr>,
    /// Dynamic shared memory per block in bytes; `None` for 0 bytes.
    pub shared_bytes: Option<Expr>,
}

impl Geometry {
    /// Every expression of the geometry.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let axes = self.grid.iter().chain(&self.block);
        axes.chain(&self.shared_bytes)
    }
}

/// The simplest correct version of a kernel. It is always a candidate, and it wins every tie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// The baseline's `__global__` function: the tuned entry, or another function of the same source.
    pub entry: String,
    /// The config with which the baseline is compiled.
    pub config: Config,
    /// The baseline's launch geometry; `None` if the kernel's geometry applies.
    pub geometry: Option<Geometry>,
    /// The conditions under which the baseline may be launched, if it is another function. Otherwise the kernel's
    /// constraints apply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<Constraint>,
}

/// Work of one launch, as expressions over problem sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Number of floating-point operations.
    pub flops: Option<Expr>,
    /// Bytes that a launch must move between device memory and the processors at least once.
    pub bytes: Option<Expr>,
}

/// The reference with which the outputs are compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reference {
    /// The path of a Rust function with the kernel's arguments. It computes the outputs in higher precision.
    Rust(String),
    /// A `__global__` function of the same source. It is launched on the device under test, with the geometry of the
    /// baseline.
    Entry(String),
}

impl KernelSpec {
    /// The spec as canonical JSON: fields in declared order, without white space.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self)
            .expect("a kernel spec should always serialise: it holds no maps or foreign types")
    }

    /// Parses the output of [`Self::to_json`].
    ///
    /// # Errors
    /// If the text is not the JSON of a spec in this version's form.
    pub fn from_json(json: &str) -> Result<KernelSpec, serde_json::Error> {
        serde_json::from_str(json)
    }

    /// Hash of everything that the author declares except the tuned problems and the configs to try first. If the
    /// author adds a problem, the results and rows of the other problems stay valid, because the key of each result
    /// contains its problem. The order in which configs are tried does not change a result either.
    pub fn hash(&self) -> SpecHash {
        let rest = KernelSpec {
            problems: Vec::new(),
            gpu_problems: Vec::new(),
            try_first: Vec::new(),
            ..self.clone()
        };
        SpecHash(Hash::of("kiln spec 2", rest.to_json().as_bytes()))
    }

    /// The `__global__` functions of the source that are launched: the tuned kernel, the baseline and the reference.
    pub fn entries(&self) -> BTreeSet<&str> {
        let reference = match &self.reference {
            Some(Reference::Entry(entry)) => Some(entry.as_str()),
            _ => None,
        };
        let always = [self.entry.as_str(), self.baseline.entry.as_str()];
        always.into_iter().chain(reference).collect()
    }

    /// Whether the kernel supports the devices of a backend. The scripted test device (`fake`) runs every kernel.
    pub fn runs_on(&self, backend: Backend) -> bool {
        self.only.is_empty() || backend == Backend::Fake || self.only.contains(&backend)
    }

    /// The text of a `help:` line that says how to bake the kernel's first row. It mentions the cpu only if the kernel
    /// supports it.
    pub fn how_to_tune(&self) -> String {
        let name = &self.name;
        let on_gpu = format!("run `tune run -k {name}` on the GPU it is for");
        let on_cpu = format!("`tune run -k {name} --device cpu --write`");
        match (self.runs_on(Backend::Cpu), self.only == [Backend::Cpu]) {
            (_, true) => format!("run {on_cpu}"),
            (true, false) => format!("{on_gpu}; for this machine's cpu, {on_cpu}"),
            (false, _) => on_gpu,
        }
    }

    /// The reason why the kernel is not tuned on the devices of a backend; `None` if the kernel supports them.
    pub fn left_out_on(&self, backend: Backend) -> Option<String> {
        let names: Vec<_> = self.only.iter().map(|backend| backend.name()).collect();
        let only = names.join(", ");
        (!self.runs_on(backend))
            .then(|| format!("its spec says `only({only})`, but this is a {backend} device"))
    }

    /// The problems that are tuned on the devices of a backend. There are none if the kernel does not support the
    /// backend.
    pub fn problems_on(&self, backend: Backend) -> impl Iterator<Item = &Problem> {
        let on_gpu = matches!(backend, Backend::Cuda | Backend::Hip);
        let more: &[Problem] = if on_gpu { &self.gpu_problems } else { &[] };
        let runs = self.runs_on(backend);
        self.problems.iter().chain(more).filter(move |_| runs)
    }

    /// All declared problems, including the problems only for GPUs.
    pub fn all_problems(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().chain(&self.gpu_problems)
    }

    /// The baseline's launch geometry.
    pub fn baseline_geometry(&self) -> &Geometry {
        self.baseline.geometry.as_ref().unwrap_or(&self.geometry)
    }

    /// Whether the baseline has a separate `__global__` function, rather than being a config of the tuned one.
    pub fn baseline_is_another_entry(&self) -> bool {
        self.baseline.entry != self.entry
    }

    /// The slice arguments, in declared order.
    pub fn slices(&self) -> impl Iterator<Item = &SliceArg> {
        self.args.iter().filter_map(|arg| match arg {
            ArgSpec::Slice(slice) => Some(slice),
            ArgSpec::Scalar(_) | ArgSpec::Plain(_) | ArgSpec::Typed(_) => None,
        })
    }

    /// The arguments that the kernel receives, each with its index among all arguments.
    pub fn passed(&self) -> impl Iterator<Item = (usize, &ArgSpec)> {
        self.args
            .iter()
            .enumerate()
            .filter(|(_, arg)| arg.is_passed())
    }

    /// The parameters of the `__global__` function, each with its index among all arguments. They do not include the
    /// arguments that fill `__constant__` variables, which come last.
    pub fn parameters(&self) -> impl Iterator<Item = (usize, &ArgSpec)> {
        self.passed().filter(|(_, arg)| arg.is_parameter())
    }

    /// Whether a slice length or a computed argument depends on a tunable parameter. If so, two configs may launch with
    /// different data for the same problem.
    pub fn data_depends_on_the_config(&self) -> bool {
        let lens = self.slices().map(|slice| &slice.len);
        let computed = self.args.iter().filter_map(ArgSpec::computed);
        lens.chain(computed).any(|expr| self.mentions_a_param(expr))
    }

    /// Like [`Self::data_depends_on_the_config`], but also for the alignments of slices.
    pub fn buffers_depend_on_the_config(&self) -> bool {
        let mut aligns = self.slices().filter_map(|slice| slice.align.as_ref());
        self.data_depends_on_the_config() || aligns.any(|expr| self.mentions_a_param(expr))
    }

    /// Whether an expression uses a tunable parameter.
    pub fn mentions_a_param(&self, expr: &Expr) -> bool {
        let names = expr.names();
        self.params.iter().any(|param| names.contains(&*param.name))
    }

    /// The element type of a slice for a problem; `None` if the problem lacks the type parameter.
    pub fn elem_type(&self, slice: &SliceArg, problem: &Problem) -> Option<ElemType> {
        self.type_of(&slice.elem, problem)
    }

    /// Resolves a type for a problem: the fixed type itself, or the type that the problem sets for the type parameter.
    /// `None` if the problem lacks the type parameter.
    pub fn type_of(&self, ty: &ElemRef, problem: &Problem) -> Option<ElemType> {
        match ty {
            ElemRef::Fixed(ty) => Some(*ty),
            ElemRef::Param(name) => match problem.get(name)? {
                crate::problem::ProblemValue::Type(ty) => Some(ty),
                crate::problem::ProblemValue::Size(_) => None,
            },
        }
    }

    /// The tolerance that an output declares, or else the kernel's.
    pub fn tolerance_of(&self, slice: &SliceArg) -> Tolerance {
        slice.tolerance.unwrap_or(self.tolerance)
    }

    /// Names of the dimensions of the kernel's problems in declared order: first the type parameters, then the integer
    /// scalars to which problems give a value.
    pub fn dimensions(&self) -> Vec<&str> {
        self.problems
            .first()
            .map(|p| p.iter().map(|(name, _)| &**name).collect())
            .unwrap_or_default()
    }
}

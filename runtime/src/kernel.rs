//! The [`Kernel`] static that `#[tuned_kernel]` generates: everything that a program contains of one kernel.

use std::fmt;
use std::sync::OnceLock;

pub use kiln_spec::Evidence;

use kiln_spec::plan::LaunchScope;
use kiln_spec::{
    Backend, Config, ConfigHash, DeviceKey, DeviceLimits, ElemType, KernelSpec, LaunchPlan,
    ParamValue, Problem, ProblemValue,
};

use crate::data::inputs_call::InputsFn;
use crate::data::reference::ReferenceCall;
use crate::launch::call::LaunchCall;
use crate::launch::error::LaunchError;
use crate::prepare::prepared::PreparedTable;
use crate::selection::Choice;

/// The device a baked row was tuned on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowDevice {
    /// Its backend.
    pub backend: Backend,
    /// Its architecture.
    pub arch: &'static str,
    /// Its product name.
    pub name: &'static str,
}

impl fmt::Display for RowDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.backend, self.arch, self.name)
    }
}

impl From<RowDevice> for DeviceKey {
    fn from(device: RowDevice) -> DeviceKey {
        DeviceKey {
            backend: device.backend,
            arch: device.arch.into(),
            name: device.name.into(),
        }
    }
}

/// The value of a tunable parameter in generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstValue {
    /// An integer.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// A named choice.
    Choice(&'static str),
}

/// The value of a problem dimension in generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstDimension {
    /// A size.
    Size(i64),
    /// An element type.
    Type(ElemType),
}

/// One baked config in the generated const table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BakedRow {
    /// The device on which it was tuned.
    pub device: RowDevice,
    /// The problem for which it was tuned: a value for each dimension, in declared order.
    pub problem: &'static [ConstDimension],
    /// A value for each tunable parameter, in declared order; those of the baseline if it won.
    pub config: &'static [ConstValue],
    /// Whether the row says that the baseline stays.
    pub is_baseline: bool,
    /// The symbols of its release entry.
    pub symbols: ConstSymbols,
    /// Its launch plan for its own problem.
    pub plan: LaunchPlan,
    /// The strength of its evidence.
    pub evidence: Evidence,
    /// A precompiled image, so that its own device needs no compiler.
    pub image: Option<ConstImage>,
}

/// An embedded image.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ConstImage {
    /// The target for which it was compiled.
    pub target: &'static str,
    /// The baked hash, as 32 hexadecimal digits.
    pub hash: &'static str,
    /// The bytes.
    pub bytes: &'static [u8],
}

impl fmt::Debug for ConstImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes for {}", self.bytes.len(), self.target)
    }
}

/// The symbol of one release entry in each dialect in which it can be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstSymbols {
    /// For the cpu device (and the fake one).
    pub cpu: &'static str,
    /// For CUDA.
    pub cuda: &'static str,
    /// For HIP.
    pub hip: &'static str,
}

impl ConstSymbols {
    /// The symbol for a backend.
    pub fn of(&self, backend: Backend) -> &'static str {
        match backend {
            Backend::Cpu | Backend::Fake => self.cpu,
            Backend::Cuda => self.cuda,
            Backend::Hip => self.hip,
        }
    }
}

/// A plain-Rust reference, behind one signature for all kernels.
pub type ReferenceFn = fn(&mut ReferenceCall);

/// The generated launch function, behind one signature for all kernels.
pub type LaunchFn = fn(&mut LaunchCall<'_>) -> Result<(), LaunchError>;

/// The parts of a [`Kernel`], from generated code.
#[derive(Clone, Copy, Debug)]
pub struct KernelParts {
    /// The kernel's name.
    pub name: &'static str,
    /// The package that declares it.
    pub package: &'static str,
    /// Canonical JSON of its spec.
    pub spec_json: &'static str,
    /// The expanded source: the `.cu` and everything it includes.
    pub source: &'static str,
    /// The baked rows, in the order of the table.
    pub rows: &'static [BakedRow],
    /// The symbols of the baseline's release entry, for each combination of element types, in declared order; the
    /// last type parameter varies fastest.
    pub baseline_symbols: &'static [ConstSymbols],
    /// Evidence other than `proven` that the author accepts.
    pub accepted: &'static [Evidence],
    /// The plain-Rust reference, if there is one.
    pub reference: Option<ReferenceFn>,
    /// The function that generates the inputs, if there is one.
    pub inputs: Option<InputsFn>,
    /// The launch function.
    pub launch: LaunchFn,
}

/// One tuned kernel of this program: spec, source, baked rows and reference.
///
/// Generated as `<name>::KERNEL`. Entries that it has loaded stay loaded for the rest of the process.
pub struct Kernel {
    parts: KernelParts,
    spec: OnceLock<KernelSpec>,
    prepared: PreparedTable,
}

impl Kernel {
    /// A kernel from its generated parts.
    #[doc(hidden)]
    pub const fn new(parts: KernelParts) -> Kernel {
        Kernel {
            parts,
            spec: OnceLock::new(),
            prepared: PreparedTable::new(),
        }
    }

    /// Its generated parts.
    #[doc(hidden)]
    pub const fn parts(&self) -> &KernelParts {
        &self.parts
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.parts.name
    }

    /// The package that declares it.
    pub fn package(&self) -> &'static str {
        self.parts.package
    }

    /// The spec that its author declared.
    pub fn spec(&self) -> &KernelSpec {
        self.spec.get_or_init(|| {
            KernelSpec::from_json(self.parts.spec_json)
                .expect("the spec that the macro embedded should decode")
        })
    }

    /// The canonical JSON of [`Self::spec`].
    pub fn spec_json(&self) -> &'static str {
        self.parts.spec_json
    }

    /// The expanded source: the `.cu` and everything it includes.
    pub fn source(&self) -> &'static str {
        self.parts.source
    }

    /// The baked rows.
    pub fn rows(&self) -> &'static [BakedRow] {
        self.parts.rows
    }

    /// The plain-Rust reference, if the spec names one.
    pub fn reference(&self) -> Option<ReferenceFn> {
        self.parts.reference
    }

    /// The function that generates the inputs, if the spec names one.
    pub fn inputs(&self) -> Option<InputsFn> {
        self.parts.inputs
    }

    /// Whether rows with this evidence may be selected.
    pub fn accepts(&self, evidence: Evidence) -> bool {
        evidence == Evidence::Proven || self.parts.accepted.contains(&evidence)
    }

    /// The generated launch function.
    pub(crate) fn launch_fn(&self) -> LaunchFn {
        self.parts.launch
    }

    pub(crate) fn prepared(&self) -> &PreparedTable {
        &self.prepared
    }

    /// The `__global__` function of a choice.
    pub fn entry(&self, choice: Choice) -> &str {
        match choice {
            Choice::Row(row) if !self.rows()[row].is_baseline => &self.spec().entry,
            Choice::Row(_) | Choice::Baseline => &self.spec().baseline.entry,
        }
    }

    /// The symbol of a choice's release entry on a backend, as in generated code; `problem` determines the types of
    /// type parameters.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn symbol(&self, choice: Choice, backend: Backend, problem: &Problem) -> &'static str {
        let symbols = match choice {
            Choice::Baseline => &self.parts.baseline_symbols[self.type_combination(problem)],
            Choice::Row(row) => &self.rows()[row].symbols,
        };
        symbols.of(backend)
    }

    /// The number of combinations of element types: 1 without type parameters.
    pub(crate) fn type_combinations(&self) -> usize {
        self.spec()
            .types
            .iter()
            .map(|ty| ty.choices.len())
            .product()
    }

    /// The index of a problem's combination of element types; the last type parameter varies fastest.
    pub(crate) fn type_combination(&self, problem: &Problem) -> usize {
        self.spec().types.iter().fold(0, |number, param| {
            let place = param
                .choices
                .iter()
                .position(|choice| problem.get(&param.name) == Some(ProblemValue::Type(*choice)));
            number * param.choices.len() + place.unwrap_or(0)
        })
    }

    /// The config of a choice.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn config(&self, choice: Choice) -> Config {
        let row = match choice {
            Choice::Row(row) if !self.rows()[row].is_baseline => &self.rows()[row],
            Choice::Row(_) | Choice::Baseline => return self.spec().baseline.config.clone(),
        };
        let params = self.spec().params.iter();
        Config::new(params.zip(row.config).map(|(param, value)| {
            let value = match *value {
                ConstValue::Int(x) => ParamValue::Int(x),
                ConstValue::Bool(x) => ParamValue::Bool(x),
                ConstValue::Choice(x) => ParamValue::Choice(x.into()),
            };
            (param.name.clone(), value)
        }))
    }

    /// The hash of a choice's config, which its receipts report.
    pub fn config_hash(&self, choice: Choice) -> ConfigHash {
        self.config(choice).hash()
    }

    /// The problem for which a row was tuned.
    pub fn row_problem(&self, row: &BakedRow) -> Problem {
        let values = row.problem.iter().map(|value| match *value {
            ConstDimension::Size(x) => ProblemValue::Size(x),
            ConstDimension::Type(ty) => ProblemValue::Type(ty),
        });
        self.problem_of(values)
    }

    /// The problem with these values, one for each dimension in declared order.
    pub fn problem_of(&self, values: impl IntoIterator<Item = ProblemValue>) -> Problem {
        let first = self.spec().problems.first();
        let names = first.into_iter().flat_map(Problem::iter);
        Problem::new(
            names
                .zip(values)
                .map(|((name, _), value)| (name.clone(), value)),
        )
    }

    /// Whether a choice has nothing to do for a problem: one extent of its grid is zero, and all have a value.
    pub(crate) fn launches_nothing(
        &self,
        choice: Choice,
        problem: &Problem,
        limits: &DeviceLimits,
    ) -> bool {
        let spec = self.spec();
        let geometry = match choice {
            Choice::Row(row) if !self.rows()[row].is_baseline => &spec.geometry,
            Choice::Row(_) | Choice::Baseline => spec.baseline_geometry(),
        };
        geometry.is_empty(&LaunchScope {
            config: &self.config(choice),
            problem,
            limits: Some(limits),
            spec,
        })
    }

    /// The plan of a choice for a problem. Without limits, geometry that depends on the device has no value.
    ///
    /// # Errors
    /// If the problem has no plan: an extent is zero or exceeds 32 bits.
    pub fn plan(
        &self,
        choice: Choice,
        problem: &Problem,
        limits: Option<&DeviceLimits>,
    ) -> Result<LaunchPlan, kiln_spec::PlanError> {
        match choice {
            Choice::Row(row) if !self.rows()[row].is_baseline => {
                self.spec().plan(&self.config(choice), problem, limits)
            }
            Choice::Row(_) | Choice::Baseline => self.spec().baseline_plan(problem, limits),
        }
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("name", &self.parts.name)
            .field("package", &self.parts.package)
            .field("rows", &self.parts.rows.len())
            .finish_non_exhaustive()
    }
}

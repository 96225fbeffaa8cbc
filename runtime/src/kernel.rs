//! [`Kernel`], the type of the static that `#[tuned_kernel]` generates. It holds everything that a program contains
//! for one kernel.

use std::fmt;
use std::sync::OnceLock;

pub use kiln_spec::Evidence;

use kiln_spec::plan::LaunchScope;
use kiln_spec::{
    Access, Backend, Config, ConfigHash, DeviceKey, DeviceLimits, ElemType, Invalid, KernelSpec,
    LaunchPlan, ParamValue, Problem, ProblemValue,
};

use crate::data::inputs_call::InputsFn;
use crate::data::reference::ReferenceCall;
use crate::launch::call::LaunchCall;
use crate::launch::error::LaunchError;
use crate::prepare::prepared::PreparedTable;
use crate::selection::Choice;

/// The device on which a baked row (one tuned config for one problem on one device) was tuned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowDevice {
    /// The backend of the device.
    pub backend: Backend,
    /// The architecture of the device, for example `sm_90`.
    pub arch: &'static str,
    /// The product name of the device.
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

/// The value of a tunable parameter, in a form that generated constants can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstValue {
    /// An integer.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// The name of one of the parameter's choices.
    Choice(&'static str),
}

/// The value of a problem dimension, in a form that generated constants can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstDimension {
    /// The value of a size.
    Size(i64),
    /// The element type that a type parameter stands for.
    Type(ElemType),
}

/// One row of the baked table: the config that was tuned for one problem on one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BakedRow {
    /// The device on which the row was tuned.
    pub device: RowDevice,
    /// The problem for which the row was tuned: a value for each dimension, in declared order.
    pub problem: &'static [ConstDimension],
    /// The value of each tunable parameter, in declared order. If the baseline won, these are the baseline's values.
    pub config: &'static [ConstValue],
    /// Whether the baseline won for this problem. If it did, launches use the baseline.
    pub is_baseline: bool,
    /// The symbols of the row's release entry (the kernel without a receipt).
    pub symbols: ConstSymbols,
    /// The launch plan for the row's own problem.
    pub plan: LaunchPlan,
    /// The kind of evidence that supports the config.
    pub evidence: Evidence,
    /// The precompiled image, which makes a compiler unnecessary on the row's device. `None` if the table has no image
    /// for the row.
    pub image: Option<ConstImage>,
}

/// A precompiled device image that the build embedded in the program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ConstImage {
    /// The target for which the image was compiled.
    pub target: &'static str,
    /// The image's hash in the baked table, as 32 hexadecimal digits.
    pub hash: &'static str,
    /// The image itself.
    pub bytes: &'static [u8],
}

impl fmt::Debug for ConstImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes for {}", self.bytes.len(), self.target)
    }
}

/// The symbol of one release entry for each backend. The symbols differ because each backend has its own generated
/// code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstSymbols {
    /// The symbol for the cpu device and for the fake device.
    pub cpu: &'static str,
    /// The symbol for CUDA devices.
    pub cuda: &'static str,
    /// The symbol for HIP devices.
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

/// A kernel's plain-Rust reference function. All kernels use this one signature.
pub type ReferenceFn = fn(&mut ReferenceCall);

/// A kernel's generated launch function. All kernels use this one signature.
pub type LaunchFn = fn(&mut LaunchCall<'_>) -> Result<(), LaunchError>;

/// The parts of a [`Kernel`], as generated code supplies them.
#[derive(Clone, Copy, Debug)]
pub struct KernelParts {
    /// The kernel's name.
    pub name: &'static str,
    /// The cargo package that declares the kernel.
    pub package: &'static str,
    /// The kernel's spec as canonical JSON.
    pub spec_json: &'static str,
    /// The expanded source: the `.cu` file and everything that it includes.
    pub source: &'static str,
    /// The baked rows, in the order of the table.
    pub rows: &'static [BakedRow],
    /// The symbols of the baseline's release entry, for each combination of element types, in declared order; the
    /// last type parameter varies fastest.
    pub baseline_symbols: &'static [ConstSymbols],
    /// The kinds of evidence, in addition to `proven`, that the author accepts in rows that launches select.
    pub accepted: &'static [Evidence],
    /// The plain-Rust reference, if there is one.
    pub reference: Option<ReferenceFn>,
    /// The function that generates the inputs, if there is one.
    pub inputs: Option<InputsFn>,
    /// The generated launch function.
    pub launch: LaunchFn,
}

/// One tuned kernel of this program: its spec, its source, its baked rows and its reference.
///
/// The macro generates it as `<name>::KERNEL`. Entries that a kernel has loaded stay loaded for the rest of the
/// process.
pub struct Kernel {
    parts: KernelParts,
    spec: OnceLock<KernelSpec>,
    prepared: PreparedTable,
}

impl Kernel {
    /// Creates a kernel from its generated parts.
    #[doc(hidden)]
    pub const fn new(parts: KernelParts) -> Kernel {
        Kernel {
            parts,
            spec: OnceLock::new(),
            prepared: PreparedTable::new(),
        }
    }

    /// The kernel's generated parts.
    #[doc(hidden)]
    pub const fn parts(&self) -> &KernelParts {
        &self.parts
    }

    /// The kernel's name.
    pub fn name(&self) -> &'static str {
        self.parts.name
    }

    /// The cargo package that declares the kernel.
    pub fn package(&self) -> &'static str {
        self.parts.package
    }

    /// The spec that the kernel's author declared.
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

    /// The expanded source: the `.cu` file and everything that it includes.
    pub fn source(&self) -> &'static str {
        self.parts.source
    }

    /// The baked rows, in the order of the table.
    pub fn rows(&self) -> &'static [BakedRow] {
        self.parts.rows
    }

    /// The plain-Rust reference, or `None` if the spec specifies none.
    pub fn reference(&self) -> Option<ReferenceFn> {
        self.parts.reference
    }

    /// The function that generates the inputs, or `None` if the spec specifies none.
    pub fn inputs(&self) -> Option<InputsFn> {
        self.parts.inputs
    }

    /// Whether a launch may select rows with this evidence.
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

    /// The name of the `__global__` function that a choice (the baseline or a baked row) launches.
    pub fn entry(&self, choice: Choice) -> &str {
        match choice {
            Choice::Row(row) if !self.rows()[row].is_baseline => &self.spec().entry,
            Choice::Row(_) | Choice::Baseline => &self.spec().baseline.entry,
        }
    }

    /// The symbol of a choice's release entry (the kernel without a receipt) on a backend, as baked into the program.
    /// `problem` supplies the element types of the type parameters; its sizes do not matter.
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

    /// The number of combinations of element types; 1 if the kernel has no type parameters.
    pub(crate) fn type_combinations(&self) -> usize {
        self.spec()
            .types
            .iter()
            .map(|ty| ty.choices.len())
            .product()
    }

    /// The index of a problem's combination of element types. The last type parameter varies fastest.
    pub(crate) fn type_combination(&self, problem: &Problem) -> usize {
        self.spec().types.iter().fold(0, |number, param| {
            let place = param
                .choices
                .iter()
                .position(|choice| problem.get(&param.name) == Some(ProblemValue::Type(*choice)));
            number * param.choices.len() + place.unwrap_or(0)
        })
    }

    /// The config of a choice: a value for each tunable parameter.
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

    /// The hash of a choice's config. The receipt of a launch of this choice contains the same hash.
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

    /// The problem with the supplied values, one for each dimension in declared order.
    pub fn problem_of(&self, values: impl IntoIterator<Item = ProblemValue>) -> Problem {
        let first = self.spec().problems.first();
        let names = first.into_iter().flat_map(Problem::iter);
        Problem::new(
            names
                .zip(values)
                .map(|((name, _), value)| (name.clone(), value)),
        )
    }

    /// Checks that a choice may be launched for a problem on a device with these limits.
    pub(crate) fn check_choice(
        &self,
        choice: Choice,
        problem: &Problem,
        limits: &DeviceLimits,
    ) -> Result<(), Invalid> {
        match choice {
            Choice::Row(row) if !self.rows()[row].is_baseline => {
                let config = self.config(choice);
                self.spec().check_config(&config, problem, Some(limits))
            }
            Choice::Row(_) | Choice::Baseline => self.spec().check_baseline(problem, Some(limits)),
        }
    }

    /// Whether an extent of a choice's grid is zero for a problem, which means that there is nothing to launch. Returns
    /// false if an extent cannot be evaluated.
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

    /// Whether no output has an element for a problem. If a grid is empty although an output has elements, as that of
    /// `grid(n / TILE)` for a small `n`, a constraint may exclude the problem.
    pub(crate) fn writes_nothing(&self, choice: Choice, problem: &Problem) -> bool {
        let (spec, config) = (self.spec(), self.config(choice));
        let mut outputs = spec.slices().filter(|slice| slice.access == Access::Out);
        outputs.all(|slice| spec.slice_len(&slice.len, &config, problem) == Ok(0))
    }

    /// The launch plan (grid, block and shared memory) of a choice for a problem. `limits` are the device's limits. If
    /// `limits` is `None`, a spec whose geometry depends on the device has no plan.
    ///
    /// # Errors
    /// If the problem has no plan, for example because an extent is zero or exceeds 32 bits.
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

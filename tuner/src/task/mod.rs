//! Tasks. A task is a kernel and a problem, with the key under which its results are stored.

mod error;
pub mod stored;

use kiln::compiler::{BuildKind, Compiler, headers};
use kiln::device::DeviceInfo;
use kiln_cache::{KeyParts, TuningKey};
use kiln_spec::codegen::{Target, TranslationUnit};
use kiln_spec::{Backend, Hash, Problem};

pub use error::TaskError;

use kiln_lab::peaks;
use kiln_lab::regime::Regime;
use kiln_project::TunedKernel;

/// The version of the measuring protocol. Results of different versions are never compared.
pub const MEASURING_PROTOCOL: u32 = 1;

/// A kernel and a problem.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// The kernel.
    pub kernel: &'a TunedKernel,
    /// The problem.
    pub problem: &'a Problem,
    /// The key under which the results are stored.
    pub key: TuningKey,
}

/// A task of an element of a fleet's plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementTask {
    /// The name of the kernel.
    pub kernel: String,
    /// The canonical text of the problem.
    pub problem: String,
    /// The configs to try, as text; if empty, the whole space is searched.
    pub configs: Vec<String>,
}

impl Task<'_> {
    /// The name of the task in listings.
    pub fn name(&self) -> String {
        format!("{} ({})", self.kernel.label, self.problem)
    }
}

/// The conditions of a measurement: the device, the compiler and the regime. Results depend on them, and on the kernel
/// and the problem.
#[derive(Clone, Copy, Debug)]
pub struct Conditions<'a> {
    /// The device.
    pub info: &'a DeviceInfo,
    /// The compiler for the device.
    pub compiler: &'a dyn Compiler,
    /// Whether timed launches begin with cold or hot caches.
    pub regime: Regime,
}

impl<'a> Conditions<'a> {
    /// Creates the conditions of a device. Without a requested regime, the default regime of the backend is used.
    pub fn new(
        info: &'a DeviceInfo,
        compiler: &'a dyn Compiler,
        regime: Option<Regime>,
    ) -> Conditions<'a> {
        Conditions {
            info,
            compiler,
            regime: regime.unwrap_or_else(|| Regime::of_backend(info.key.backend)),
        }
    }
}

/// The tasks of a run, in order. A short budget should reach every kernel, so the first problem of each kernel comes
/// first. The other problems follow in order of increasing work, because problems with little work are decided fastest.
pub fn plan<'a>(kernels: &'a [TunedKernel], conditions: &Conditions<'_>) -> Vec<Task<'a>> {
    let backend = conditions.info.key.backend;
    let of = |kernel: &'a TunedKernel| kernel.spec.problems_on(backend);
    let most = kernels.iter().map(|kernel| of(kernel).count()).max();
    let nth = |n: usize| {
        kernels
            .iter()
            .filter_map(move |kernel| Some((kernel, of(kernel).nth(n)?)))
    };
    let work = |(kernel, problem): &(&TunedKernel, &Problem)| {
        let work = peaks::work(&kernel.spec, problem);
        work.flops.max(work.bytes)
    };
    let mut others: Vec<_> = (1..most.unwrap_or(0)).flat_map(nth).collect();
    others.sort_by_key(work);
    nth(0)
        .chain(others)
        .map(|(kernel, problem)| Task {
            kernel,
            problem,
            key: key(kernel, problem, conditions),
        })
        .collect()
}

/// The tasks whose problem is in `problems`, or all tasks if `problems` is empty.
///
/// # Errors
/// If a text in `problems` is not the problem of any task.
pub fn only<'a>(tasks: Vec<Task<'a>>, problems: &[String]) -> Result<Vec<Task<'a>>, TaskError> {
    let texts: Vec<String> = tasks.iter().map(|task| task.problem.to_string()).collect();
    check_declared(&texts, problems)?;
    let chosen = tasks
        .into_iter()
        .filter(|task| problems.is_empty() || problems.contains(&task.problem.to_string()));
    Ok(chosen.collect())
}

/// The tasks of an element of a fleet's plan, or all tasks if `element` is empty.
///
/// # Errors
/// If a task of the element is not in `tasks`.
pub fn of_element<'a>(
    mut tasks: Vec<Task<'a>>,
    element: &[ElementTask],
) -> Result<Vec<Task<'a>>, TaskError> {
    if element.is_empty() {
        return Ok(tasks);
    }
    let is = |task: &Task<'_>, wanted: &ElementTask| {
        task.kernel.spec.name == wanted.kernel && task.problem.to_string() == wanted.problem
    };
    if let Some(missing) = element
        .iter()
        .find(|wanted| !tasks.iter().any(|task| is(task, wanted)))
    {
        return Err(TaskError::NotDeclared {
            wanted: missing.problem.clone(),
            declared: tasks
                .iter()
                .filter(|task| task.kernel.spec.name == missing.kernel)
                .map(|task| task.problem.to_string())
                .collect(),
        });
    }
    tasks.retain(|task| element.iter().any(|wanted| is(task, wanted)));
    Ok(tasks)
}

/// Checks that all wanted problems are declared.
///
/// # Errors
/// If a problem is not declared. The error names the first such problem.
pub fn check_declared(declared: &[String], wanted: &[String]) -> Result<(), TaskError> {
    let Some(missing) = wanted.iter().find(|wanted| !declared.contains(wanted)) else {
        return Ok(());
    };
    Err(TaskError::NotDeclared {
        wanted: missing.clone(),
        declared: declared.to_vec(),
    })
}

/// The tuning key of a kernel and a problem under some conditions.
pub fn key(kernel: &TunedKernel, problem: &Problem, conditions: &Conditions<'_>) -> TuningKey {
    let Conditions {
        info,
        compiler,
        regime,
    } = *conditions;
    let spec = &kernel.spec;
    let identity = compiler.identity();
    let tolerance = spec.slices().map(|slice| {
        let bound = spec.tolerance_of(slice);
        format!("{}:{:e}/{:e}", slice.name, bound.relative, bound.absolute)
    });
    let field = |name: &str| info.fingerprint.get(name).map_or("", String::as_str);
    let driver = info
        .fingerprint
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect::<Vec<_>>()
        .join("; ");
    TuningKey::build(&KeyParts {
        kernel: &spec.name,
        source: kernel.source.hash(),
        prelude: Target::from(info.key.backend).prelude_hash(),
        spec: spec.hash(),
        generator: env!("CARGO_PKG_VERSION"),
        headers: headers(kernel, problem, conditions),
        flags: &compiler.flags(BuildKind::Release),
        compiler: &identity.name,
        compiler_version: &format!("{} {}", identity.version, identity.build),
        device: &info.key,
        limits: &info.limits,
        driver: &driver,
        runtime: field("runtime"),
        problem: &problem.to_string(),
        protocol: MEASURING_PROTOCOL,
        regime: regime.name(),
        tolerance: &tolerance.collect::<Vec<_>>().join(","),
        threads: threads(info),
    })
}

/// The hash of the headers that a kernel includes from folders outside Kiln. The text that is compiled includes more of
/// them than the author's, such as the header of half-precision numbers.
fn headers(kernel: &TunedKernel, problem: &Problem, conditions: &Conditions<'_>) -> Option<Hash> {
    let folders = conditions.compiler.header_folders();
    if folders.is_empty() {
        return None;
    }
    let spec = &kernel.spec;
    let target = Target::from(conditions.info.key.backend);
    let (entry, config) = (&spec.entry, &spec.baseline.config);
    let unit = TranslationUnit::new(
        &kernel.source,
        &kernel.scan,
        spec,
        entry,
        config,
        problem,
        target,
    );
    headers::hash(&unit.ok()?.text, target.prelude(), &folders)
}

/// Number of host threads that run a kernel: the number of cores for the cpu device, otherwise 1.
fn threads(info: &DeviceInfo) -> u32 {
    if info.key.backend == Backend::Cpu {
        info.limits.multiprocessors
    } else {
        1
    }
}

//! The inputs of the analytic model. None of them depends on the kernel's name or requires a device.

use kiln_spec::plan::LaunchScope;
use kiln_spec::{Config, KernelSpec, LaunchPlan, Problem, expr};

use kiln_lab::candidate::inspect::Resources;
use kiln_lab::peaks;

/// Maximum number of bytes that a thread can load or store with one instruction.
const WIDEST_ACCESS: u32 = 16;

/// The facts about a config and a problem that are known before the config runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// The launch plan for the problem.
    pub plan: LaunchPlan,
    /// Number of elements that a launch writes.
    pub outputs: u64,
    /// Floating-point operations per launch that the spec declares; 0 if it declares none.
    pub flops: u64,
    /// Minimum number of bytes that a launch must move: the number that the spec declares, or else the size of the
    /// data.
    pub bytes: u64,
    /// Number of bytes that a thread moves per access, derived from the alignment that the spec declares.
    pub access_bytes: u32,
    /// The resources that the compiler reported; `None` if the config was not compiled.
    pub resources: Option<Resources>,
}

impl Facts {
    /// The facts about a config before it is compiled; `None` if it has no launch plan or writes no elements.
    pub fn of(spec: &KernelSpec, config: &Config, problem: &Problem) -> Option<Facts> {
        let plan = spec.plan(config, problem, None).ok()?;
        let outputs = spec
            .slices()
            .filter(|slice| slice.access.is_output())
            .try_fold(0_u64, |sum, slice| {
                Some(sum.saturating_add(spec.slice_len(&slice.len, config, problem).ok()?))
            })?;
        let work = peaks::work(spec, problem);
        let bytes = match work.bytes {
            0 => spec.footprint_bytes(problem).ok()?,
            bytes => bytes,
        };
        (outputs > 0).then(|| Facts {
            plan,
            outputs,
            flops: work.flops,
            bytes,
            access_bytes: access_bytes(spec, config, problem),
            resources: None,
        })
    }

    /// Adds the compiled resources to the facts.
    pub fn compiled(mut self, resources: Resources) -> Facts {
        self.resources = Some(resources);
        self
    }
}

/// The widest access, in bytes, that the declared alignment of any slice permits. A slice without a declared alignment
/// permits one element per access.
fn access_bytes(spec: &KernelSpec, config: &Config, problem: &Problem) -> u32 {
    let scope = LaunchScope {
        config,
        problem,
        limits: None,
        spec,
    };
    let widths = spec.slices().map(|slice| {
        let element = spec.elem_type(slice, problem).map_or(4, |ty| ty.bytes());
        let elements = slice
            .align
            .as_ref()
            .and_then(|align| expr::evaluate_int(align, &scope).ok());
        let elements = elements.and_then(|n| u32::try_from(n).ok()).unwrap_or(1);
        u32::try_from(element)
            .unwrap_or(4)
            .saturating_mul(elements.max(1))
    });
    widths.max().unwrap_or(4).clamp(1, WIDEST_ACCESS)
}

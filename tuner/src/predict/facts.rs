//! What the model is told of a config: nothing that needs the kernel's name or a device.

use kiln_spec::plan::LaunchScope;
use kiln_spec::{Config, KernelSpec, LaunchPlan, Problem, expr};

use crate::candidate::inspect::Resources;
use crate::lab::peaks;

/// Bytes that one thread can move at once, at most.
const WIDEST_ACCESS: u32 = 16;

/// What is known of one config on one problem before it ever ran.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// How it is launched.
    pub plan: LaunchPlan,
    /// Elements that a launch writes.
    pub outputs: u64,
    /// Floating-point operations of a launch, as declared; 0 where nothing is declared.
    pub flops: u64,
    /// Bytes that a launch must move at least.
    pub bytes: u64,
    /// Bytes that a thread moves at once, by the alignment that the spec asks for.
    pub access_bytes: u32,
    /// What the compiler made of it, where it was compiled.
    pub resources: Option<Resources>,
}

impl Facts {
    /// The facts of a config before it is compiled; `None` where it has no plan or writes nothing.
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

    /// The same with what the compiler made of it.
    pub fn compiled(mut self, resources: Resources) -> Facts {
        self.resources = Some(resources);
        self
    }
}

/// The widest access that a slice's declared alignment is for; one element where none declares any.
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

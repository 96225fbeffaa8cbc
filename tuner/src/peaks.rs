//! What a device can do at most: times beyond it are errors of measurement, not records.

use kiln::device::DeviceInfo;
use kiln_spec::{Backend, KernelSpec, Problem, expr};

use crate::measure::roofline::{Roofline, Work};

/// A clock that no processor sold today reaches, in Hz: the bound must hold whatever the boost.
const MOST_HZ: u64 = 7_000_000_000;

/// Single-precision operations of one core in one cycle at most: two fused multiply-adds of 16 lanes
/// (AVX-512 with two units).
const FLOPS_PER_CYCLE: u64 = 2 * 2 * 16;

/// Bytes between one core and its first-level cache in one cycle at most: two loads and one store of 64
/// bytes.
const BYTES_PER_CYCLE: u64 = 3 * 64;

/// The roofline of a device. For GPUs the drivers' figures; nothing is bound where they say nothing.
pub fn roofline(info: &DeviceInfo) -> Roofline {
    let field = |name: &str| {
        info.fingerprint
            .get(name)
            .and_then(|text| text.parse().ok())
    };
    if info.key.backend != Backend::Cpu {
        return Roofline {
            flops_per_s: field("peak_flops_per_s"),
            bytes_per_s: field("peak_bytes_per_s"),
        };
    }
    let cores = u64::from(info.limits.multiprocessors.max(1));
    Roofline {
        flops_per_s: Some(cores * MOST_HZ * FLOPS_PER_CYCLE),
        bytes_per_s: Some(cores * MOST_HZ * BYTES_PER_CYCLE),
    }
}

/// The work of one launch, as declared; 0 where nothing is declared or it has no value.
pub fn work(spec: &KernelSpec, problem: &Problem) -> Work {
    let amount = |declared: &Option<expr::Expr>| {
        let value = declared
            .as_ref()
            .and_then(|expr| expr::evaluate_int(expr, problem).ok());
        value
            .and_then(|value| u64::try_from(value).ok())
            .unwrap_or(0)
    };
    Work {
        flops: amount(&spec.work.flops),
        bytes: amount(&spec.work.bytes),
    }
}

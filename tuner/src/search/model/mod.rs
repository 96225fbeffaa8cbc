//! A statistical model of what untried configs cost.

pub(super) mod correlation;
pub(super) mod fit;
pub(super) mod linear;
pub(super) mod process;

pub(super) fn knob(name: &str, default: f64) -> f64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

//! `tune inspect` and `tune run --compile-only` through the real command, and what they read: images and logs of real
//! compilers, whole and damaged.

mod commands;
mod damage;
mod sources;

use kiln_spec::Backend;
use kiln_spec::targets::{KnownTarget, Multiprocessor, TARGETS};
use kiln_tests::capability::{Need, have};

/// The GPU targets whose compiler is here; each that is missing is told as a skip.
fn targets(test: &str) -> Vec<&'static KnownTarget> {
    let gpus = TARGETS
        .iter()
        .filter(|known| known.multiprocessor != Multiprocessor::Host);
    let need = |known: &KnownTarget| match known.backend {
        Backend::Cuda => Need::Nvrtc,
        _ => Need::AmdClang,
    };
    gpus.filter(|known| have(&format!("{test} ({})", known.arch), &[need(known)]))
        .collect()
}

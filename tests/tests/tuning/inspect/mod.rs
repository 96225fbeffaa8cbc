//! `tune inspect` and `tune run --compile-only` with the real program, on complete and damaged images and logs of real
//! compilers.

mod commands;
mod damage;
mod designs;
mod machine_code;
mod micro;
mod profile;
mod sources;

use kiln_spec::Backend;
use kiln_spec::targets::{KnownTarget, Multiprocessor, TARGETS};
use kiln_tests::capability::{Need, have};

/// The GPU targets whose compilers are installed. Missing compilers are printed as skips.
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

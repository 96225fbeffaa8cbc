//! Phase-amplitude coupling: compares the example `pac` with TensorPAC, and checks its memory.

mod budget;
mod npy;
mod tensorpac;

use kiln::Stream;
use kiln_tests::capability::{Need, have};

/// A stream of the cpu device, if it has a compiler.
fn stream(test: &str) -> Option<Stream> {
    have(test, &[Need::HostCompiler])
        .then(|| Stream::default_of(kiln::open("cpu").expect("the cpu device is always there")))
}

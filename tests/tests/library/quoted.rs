//! Verifies a kernel of the library at its quoted sizes, on the test device. For each size, the outputs of the baseline
//! and of the config that a build launches are compared with those of the plain-Rust reference, element by element.
//!
//! As long as no tables are baked, a build launches the baseline. To verify the rows of this machine, build with
//! `KILN_TUNED` set to the folder that `tune` prints at the end of its run.

use std::sync::Arc;
use std::time::Instant;

use kiln::receipt::ExpectedReceipt;
use kiln::rig::{Expected, Layout, Rig};
use kiln::spec::{Problem, ProblemValue};
use kiln::{Choice, Kernel, Stream, prepare};
use kiln_lab::peaks;
use kiln_tests::capability::in_full;
use kiln_tests::test_device;

/// Maximum work of a problem in operations or bytes, except in full measurements. The smallest problem is always
/// verified.
const LITTLE: u64 = 30_000_000;

/// Minimum work, in operations or bytes, of launches that take minutes. For such problems, only the receipt entry is
/// launched, which has the same body as the release entry.
const MUCH: u64 = 20_000_000_000;

/// Extents whose elements are all computed in the same way, so two elements are enough.
const ALIKE: [&str; 2] = ["heads", "images"];

/// Verifies the baseline and the selected config for every declared problem.
pub fn verify(test: &str, kernel: &'static Kernel) {
    let Some(stream) = test_device::stream(test) else {
        return;
    };
    let start = Instant::now();
    let (mut problems, mut rows) = (0, 0);
    let work = |problem: &Problem| {
        let work = peaks::work(kernel.spec(), problem);
        work.flops.max(work.bytes)
    };
    let declared: Vec<Problem> = kernel.spec().all_problems().map(of_two).collect();
    let least = declared.iter().map(work).min().unwrap_or(0);
    let most = if in_full() {
        u64::MAX
    } else {
        LITTLE.max(least)
    };
    for problem in declared.into_iter().filter(|problem| work(problem) <= most) {
        let selected = kernel.selection(stream.device(), &problem).choice();
        let mut choices = vec![Choice::Baseline, selected];
        choices.dedup();
        let place = Place::new(kernel, &stream, &problem);
        for &choice in &choices {
            place.verify(choice, work(&problem) <= MUCH);
        }
        problems += 1;
        rows += choices.len() - 1;
    }
    println!(
        "{}: {problems} problems right, {rows} of them with a baked row too, {:.1?}",
        kernel.name(),
        start.elapsed()
    );
}

/// The same problem, with the extents in [`ALIKE`] reduced to two.
fn of_two(problem: &Problem) -> Problem {
    let few = |(name, value): (&Arc<str>, ProblemValue)| {
        let value = match value {
            ProblemValue::Size(size) if ALIKE.contains(&&**name) => ProblemValue::Size(size.min(2)),
            value => value,
        };
        (name.clone(), value)
    };
    Problem::new(problem.iter().map(few))
}

/// The data of a problem on the device, and the expected outputs.
struct Place<'a> {
    kernel: &'static Kernel,
    problem: &'a Problem,
    stream: &'a Stream,
    rig: Rig,
    expected: Expected,
}

impl Place<'_> {
    fn new<'a>(kernel: &'static Kernel, stream: &'a Stream, problem: &'a Problem) -> Place<'a> {
        let spec = Arc::new(kernel.spec().clone());
        let reference = kernel.reference();
        let reference = reference.expect("every kernel of the library has a reference");
        let expected = Expected::by_reference(reference, &spec, problem, 7);
        let rig = Rig::new(stream, &spec, problem, 7, Layout::Fences);
        Place {
            kernel,
            problem,
            stream,
            rig: rig.unwrap_or_else(|error| panic!("{problem}: {error}")),
            expected: expected.unwrap_or_else(|error| panic!("{problem}: {error}")),
        }
    }

    /// Launches the receipt entry, and also the release entry if `release` is true.
    fn verify(&self, choice: Choice, release: bool) {
        let name = format!("{}, {choice} {}", self.problem, self.kernel.config(choice));
        let wrong = |error: &dyn std::fmt::Display| -> ! { panic!("{name}: {error}") };
        let device = self.stream.device();
        let prepared = prepare::get(self.kernel, device, choice, self.problem)
            .unwrap_or_else(|error| wrong(&error));
        let limits = Some(&device.info().limits);
        let plan = self.kernel.plan(choice, self.problem, limits);
        let plan = plan.unwrap_or_else(|error| wrong(&error));
        let right = || self.rig.check(&self.expected);
        let reset = || self.rig.reset();
        if release {
            let launched = reset().and_then(|()| self.rig.launch(&prepared.release, &plan));
            launched
                .and_then(|()| right())
                .unwrap_or_else(|error| wrong(&error));
        }
        let start = Instant::now();
        let receipt =
            reset().and_then(|()| self.rig.launch_for_receipt(&prepared.receipt, &plan, 99));
        let receipt = receipt.unwrap_or_else(|error| wrong(&error));
        let elapsed = start.elapsed();
        let intended = ExpectedReceipt {
            nonce: 99,
            symbol_hash: prepared.symbol_hash,
            config_hash: prepared.config_hash,
            plan,
        };
        receipt
            .check(&intended)
            .unwrap_or_else(|error| wrong(&error));
        let worst = right().unwrap_or_else(|error| wrong(&error));
        println!("{name}: {elapsed:.1?}, {worst:.2e} of what is allowed");
    }
}

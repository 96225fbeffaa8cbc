//! A kernel of the library at the sizes that are quoted of it, on the cpu device: its baseline, and what a build launches
//! there, against the plain-Rust reference, every element of it.
//!
//! What a build launches is its baseline until tables are baked. Build with `KILN_TUNED` set to the folder that `tune`
//! names at its end to verify the rows of this machine.

use std::sync::Arc;
use std::time::Instant;

use kiln::receipt::ExpectedReceipt;
use kiln::rig::{Expected, Layout, Rig};
use kiln::spec::{Problem, ProblemValue};
use kiln::{Choice, Kernel, Stream, prepare};
use kiln_tests::capability::{Need, have, in_full};
use kiln_tuner::peaks;

/// Operations or bytes of a launch, up to which a problem is verified where bars are not measured in full; the least
/// problem is in any case.
const LITTLE: u64 = 30_000_000;

/// Of these there are as many as a program likes, each computed alike: two are enough.
const ALIKE: [&str; 2] = ["heads", "images"];

/// Verifies the baseline, and what is selected, on every problem that the kernel declares.
pub fn verify(test: &str, kernel: &'static Kernel) {
    if !have(test, &[Need::HostCompiler]) {
        return;
    }
    let start = Instant::now();
    let stream = Stream::default_of(kiln::open("cpu").expect("the cpu device is always there"));
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
        let selected = kernel.selection(&**stream.device(), &problem).choice();
        let mut choices = vec![Choice::Baseline, selected];
        choices.dedup();
        verify_problem(kernel, &stream, &problem, &choices);
        problems += 1;
        rows += choices.len() - 1;
    }
    println!(
        "{}: {problems} problems right, {rows} of them with a baked row too, {:.1?}",
        kernel.name(),
        start.elapsed()
    );
}

/// The same problem with two of what there are many alike.
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

fn verify_problem(kernel: &'static Kernel, stream: &Stream, problem: &Problem, choices: &[Choice]) {
    let device = &**stream.device();
    let spec = Arc::new(kernel.spec().clone());
    let reference = kernel.reference();
    let reference = reference.expect("every kernel of the library has a reference");
    let expected = Expected::by_reference(reference, &spec, problem, 7)
        .unwrap_or_else(|error| panic!("{problem}: {error}"));
    let rig = Rig::new(stream, &spec, problem, 7, Layout::Fences)
        .unwrap_or_else(|error| panic!("{problem}: {error}"));
    for &choice in choices {
        let name = format!("{problem}, {choice} {}", kernel.config(choice));
        let right = |how: &str| {
            rig.check(&expected)
                .unwrap_or_else(|error| panic!("{name}, {how}: {error}"))
        };
        let prepared = prepare::get(kernel, device, choice, problem)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let plan = kernel
            .plan(choice, problem, Some(&device.info().limits))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let launch = Instant::now();
        rig.reset()
            .and_then(|()| rig.launch(&prepared.release, &plan))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let launch = launch.elapsed();
        let worst = right("its release entry");
        let receipt = rig
            .reset()
            .and_then(|()| rig.launch_for_receipt(&prepared.receipt, &plan, 99))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let intended = ExpectedReceipt {
            nonce: 99,
            symbol_hash: prepared.symbol_hash,
            config_hash: prepared.config_hash,
            plan,
        };
        receipt
            .check(&intended)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        right("its receipt entry");
        println!("{name}: {launch:.1?}, {worst:.2e} of what is allowed");
    }
}

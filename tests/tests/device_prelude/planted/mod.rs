//! Planted faults: one-line edits of the prelude, of kernels of the library and of a small kernel, and wrong
//! geometries. For each fault, at least one of a few launches on simulated GPUs must fail. The same launches without
//! the fault must pass. If an edit does not apply in exactly one place any more, the test fails.

mod geometries;
mod of_cuda;
mod of_device;
mod of_hip;
mod of_sources;
mod of_warpgroups;
mod small;
mod trial;

use std::collections::BTreeSet;

use kiln_tests::capability::{Need, have, in_full};
use rayon::prelude::*;

use trial::{Plant, Subject, Target};

/// A planted fault.
struct Fault {
    what: &'static str,
    /// The targets for which the fault is planted, and on which it must be detected.
    on: &'static [Target],
    plant: Plant,
    subject: Subject,
}

const GFX11: &[Target] = &[Target::Gfx1151];
const PTX: &[Target] = &[Target::Sm86];
const HOPPER: &[Target] = &[Target::Sm90];
const BOTH: &[Target] = &[Target::Gfx1151, Target::Sm86];

/// A fault that edits a header of the prelude.
const fn edit(
    on: &'static [Target],
    what: &'static str,
    file: &'static str,
    (from, to): (&'static str, &'static str),
    subject: Subject,
) -> Fault {
    Fault {
        what,
        on,
        plant: Plant::Header { file, from, to },
        subject,
    }
}

/// A fault that edits the kernel's own source.
const fn source(
    on: &'static [Target],
    what: &'static str,
    (from, to): (&'static str, &'static str),
    subject: Subject,
) -> Fault {
    Fault {
        what,
        on,
        plant: Plant::Source { from, to },
        subject,
    }
}

fn all() -> Vec<Fault> {
    let tables = [
        of_hip::faults(),
        of_cuda::faults(),
        of_device::faults(),
        of_sources::faults(),
        geometries::faults(),
        of_warpgroups::faults(),
    ];
    tables.into_iter().flatten().collect()
}

/// The targets whose compilers are installed.
fn targets(test: &str) -> Vec<Target> {
    let needs = [
        (Target::Gfx1151, Need::AmdClang),
        (Target::Sm86, Need::Nvrtc),
        (Target::Sm90, Need::Nvrtc),
    ];
    let there = needs
        .into_iter()
        .filter(|(target, need)| have(&format!("{test} ({target:?})"), &[*need]));
    there.map(|(target, _)| target).collect()
}

#[test]
fn faults_are_counted_once() {
    let all = all();
    let names: BTreeSet<_> = all.iter().map(|fault| fault.what).collect();
    assert_eq!(names.len(), all.len(), "each has a name of its own");
    assert!(all.len() >= 40, "{}", all.len());
}

#[test]
fn every_fault_still_applies_in_exactly_one_place() {
    for fault in all() {
        for target in fault.on {
            fault.subject.planted(*target, &fault.plant);
        }
    }
}

#[test]
fn every_planted_fault_is_caught_on_simulated_gpus_and_nothing_else_is() {
    let test = "every_planted_fault_is_caught_on_simulated_gpus_and_nothing_else_is";
    let targets = targets(test);
    // Each fault needs a separate compile, so the ordinary suite tests one in six.
    let step = if in_full() { 1 } else { 6 };
    let all = all();
    let planted: Vec<(&Fault, Target)> = all
        .iter()
        .step_by(step)
        .flat_map(|fault| fault.on.iter().map(move |&target| (fault, target)))
        .filter(|(_, target)| targets.contains(target))
        .collect();
    let outcomes: Vec<_> = planted
        .par_iter()
        .map(|(fault, target)| {
            (
                fault.what,
                *target,
                fault.subject.run(*target, &fault.plant),
            )
        })
        .collect();
    let mut missed = Vec::new();
    for (what, target, outcome) in &outcomes {
        match outcome {
            Err(alarm) => {
                let line = alarm.lines().next().unwrap_or_default();
                println!("{target:?}: {what}: {line}");
            }
            Ok(launches) => {
                missed.push(format!("{target:?}: {what}: {launches} launches are right"))
            }
        }
    }
    let subjects: BTreeSet<_> = planted
        .iter()
        .map(|(fault, target)| (*target, fault.subject.text()))
        .collect();
    let first = |target: Target, text: &str| {
        let of = |(fault, its): &&(&Fault, Target)| *its == target && fault.subject.text() == text;
        planted.iter().find(of).map(|(fault, _)| &fault.subject)
    };
    let alarms: Vec<_> = subjects
        .par_iter()
        .filter_map(|(target, text)| {
            let outcome = first(*target, text)?.run(*target, &Plant::Nothing);
            outcome
                .err()
                .map(|alarm| format!("{target:?}: {text}: {alarm}"))
        })
        .collect();
    let faults: BTreeSet<_> = outcomes.iter().map(|(what, ..)| what).collect();
    println!(
        "{} faults on {} simulated GPUs: {} planted, {} caught; {} false alarms from {} configs without a fault",
        faults.len(),
        targets.len(),
        outcomes.len(),
        outcomes.len() - missed.len(),
        alarms.len(),
        subjects.len()
    );
    assert!(missed.is_empty(), "not caught:\n{}", missed.join("\n"));
    assert!(alarms.is_empty(), "false alarms:\n{}", alarms.join("\n"));
}

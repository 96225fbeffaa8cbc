//! Tests that smoke tests detect every launch that differs from the intended one, and report no other launch.
#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod kernels;
mod misdispatching;
mod rows;

use kiln::backend::cpu::{CpuDevice, CpuOptions};
use kiln::backend::fake::{FakeDevice, Script};
use kiln::smoke::{CheckOutcome, SmokeOptions, SmokeReport};
use kiln::{Choice, Device};
use misdispatching::{Fault, Misdispatching};

fn fake() -> Device {
    FakeDevice::new(Script::default()).into()
}

fn cpu() -> Device {
    let options = CpuOptions {
        threads: 1,
        ..CpuOptions::default()
    };
    CpuDevice::with_options(options.with_raised_limits())
        .unwrap()
        .into()
}

fn smoke(device: Device, fault: Fault, seed: u64) -> SmokeReport {
    let options = SmokeOptions {
        seed,
        ..SmokeOptions::default()
    };
    let device = Misdispatching::around(device, fault);
    kiln::smoke::run(rows::kernel(), &device, &options, |_, _| {})
}

/// The faults that any device can have.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn faults() -> Vec<(&'static str, Fault)> {
    vec![
        ("an old symbol is launched", Fault::OldEntry),
        ("an old symbol with its old plan", Fault::OldEntryAndPlan),
        (
            "block 128 for 384",
            Fault::Plan(|plan| plan.block = [128, 1, 1]),
        ),
        ("half a block", Fault::Plan(|plan| plan.block[0] /= 2)),
        (
            "a block of another shape",
            Fault::Plan(|plan| plan.block.swap(0, 1)),
        ),
        (
            "a block of one thread",
            Fault::Plan(|plan| plan.block = [1; 3]),
        ),
        (
            "grid x and y swapped",
            Fault::Plan(|plan| plan.grid.swap(0, 1)),
        ),
        (
            "a column of blocks missing",
            Fault::Plan(|plan| plan.grid[0] -= 1),
        ),
        (
            "a row of blocks missing",
            Fault::Plan(|plan| plan.grid[1] -= 1),
        ),
        (
            "a row of blocks too many",
            Fault::Plan(|plan| plan.grid[1] += 1),
        ),
        (
            "a grid of one block",
            Fault::Plan(|plan| plan.grid = [1; 3]),
        ),
        (
            "a flattened grid",
            Fault::Plan(|plan| {
                plan.grid = [plan.grid[0] * plan.grid[1], 1, 1];
            }),
        ),
        (
            "too much shared memory",
            Fault::Plan(|plan| plan.shared_bytes *= 2),
        ),
        (
            "receipts launched with another plan",
            Fault::ReceiptPlan(|plan| plan.grid[1] += 1),
        ),
        ("nothing is launched", Fault::NoOp),
        ("only the receipt entry is launched", Fault::ReleaseNoOp),
        ("everything is launched twice", Fault::Twice),
        ("the grid is launched in halves", Fault::TwoHalves),
        ("a launch comes late", Fault::Late),
        ("a receipt is replayed", Fault::OldReceipt),
        ("a receipt is empty", Fault::ClearedReceipt),
        ("one row fewer than asked for", Fault::OneLess(0)),
        ("one column fewer than asked for", Fault::OneLess(1)),
        (
            "the image of another config under a new name",
            Fault::OldArtifact,
        ),
        ("functions of the wrong module", Fault::WrongModule),
        (
            "release and receipt of different modules",
            Fault::MixedModules,
        ),
        (
            "another config's hash in the unit",
            Fault::Source(|text| {
                let (before, hash) = text.split_once("ull, 0x").unwrap();
                let other = if hash.starts_with('1') { '2' } else { '1' };
                format!("{before}ull, 0x{other}{}", &hash[1..])
            }),
        ),
    ]
}

/// Faults that may crash the process if the code really runs.
fn faults_of_memory() -> Vec<(&'static str, Fault)> {
    vec![
        ("an output of the launch before", Fault::OldPointer(4)),
        ("sizes in another order", Fault::SwappedArgs(0, 1)),
        ("an input in an output's place", Fault::SwappedArgs(3, 4)),
    ]
}

/// Faults that can be detected only if the code is really compiled and run.
fn faults_of_real_code() -> Vec<(&'static str, Fault)> {
    vec![
        ("an old release entry, right receipts", Fault::OldRelease),
        (
            "a silent fallback of the release path",
            Fault::SilentFallback,
        ),
        (
            "no shared memory",
            Fault::Plan(|plan| plan.shared_bytes = 0),
        ),
        (
            "a release entry with half its grid",
            Fault::ReleasePlan(|plan| {
                plan.grid[0] = plan.grid[0].div_ceil(2);
            }),
        ),
        (
            "config defines that are not applied",
            Fault::Source(|text| {
                let tile = |from: &str, to: &str, text: &str| text.replace(from, to);
                let text = tile("#define TILE_R 16", "#define TILE_R 4", text);
                tile("#define TILE_R 8", "#define TILE_R 4", &text)
            }),
        ),
        (
            "an older source",
            Fault::Source(|text| text.replace("* w + (float)r", "* w")),
        ),
        (
            "arguments of the older source's order",
            Fault::SwappedArgs(2, 4),
        ),
    ]
}

fn assert_caught(device: fn() -> Device, faults: Vec<(&'static str, Fault)>) {
    let mut missed = Vec::new();
    for (number, (name, fault)) in faults.iter().enumerate() {
        let report = smoke(device(), fault.clone(), number as u64);
        let first = report.failures().next();
        match first {
            Some(check) => println!("{name}: {}", check.failure().unwrap()),
            None => missed.push(*name),
        }
    }
    println!("{} mis-dispatches, {} missed", faults.len(), missed.len());
    assert_eq!(missed, [""; 0]);
}

#[test]
fn every_misdispatch_is_caught_on_the_fake_device() {
    assert_caught(
        fake,
        faults().into_iter().chain(faults_of_memory()).collect(),
    );
}

#[test]
fn every_misdispatch_is_caught_on_the_cpu_device() {
    assert_caught(
        cpu,
        faults().into_iter().chain(faults_of_real_code()).collect(),
    );
}

#[test]
fn clean_runs_raise_no_alarm() {
    let runs = if std::env::var("KILN_BARS").is_ok_and(|bars| bars == "1") {
        1000
    } else {
        50
    };
    for seed in 0..runs {
        let report = smoke(fake(), Fault::None, seed);
        assert!(report.passed(), "run {seed}:\n{report}");
        assert_eq!(report.counts(), (8, 0, 0), "{report}");
    }
    println!("{runs} clean runs, 0 false alarms");
}

#[test]
fn clean_runs_on_the_cpu_device_raise_no_alarm() {
    let device = cpu();
    for seed in 0..10 {
        let options = SmokeOptions {
            seed,
            ..SmokeOptions::default()
        };
        let report = kiln::smoke::run(rows::kernel(), &device, &options, |_, _| {});
        assert_eq!(report.counts(), (8, 0, 0), "{report}");
    }
}

#[test]
fn rows_of_every_device_run_on_the_cpu_with_their_own_blocks() {
    let report = kiln::smoke::run(rows::kernel(), &cpu(), &SmokeOptions::default(), |_, _| {});
    let blocks = report.checks.iter().map(|check| match check.outcome {
        CheckOutcome::Passed { plan, .. } => plan.block[0],
        _ => 0,
    });
    assert_eq!(
        blocks.collect::<Vec<_>>(),
        [128, 384, 384, 64, 128, 64, 384, 384]
    );
    assert!(report.checks[1].to_string().contains("NVIDIA L4"));
}

#[test]
fn rows_of_absent_gpus_are_launched_from_their_own_code_on_simulations() {
    let options = SmokeOptions {
        simulate_absent: true,
        ..SmokeOptions::default()
    };
    let report = kiln::smoke::run(rows::kernel(), &cpu(), &options, |_, _| {});
    assert_eq!(report.counts(), (8, 0, 0), "{report}");
    let blocks = report.checks.iter().map(|check| match check.outcome {
        CheckOutcome::Passed { plan, .. } => plan.block[0],
        _ => 0,
    });
    let blocks: Vec<_> = blocks.collect();
    assert_eq!(blocks, [128, 384, 384, 64, 128, 64, 384, 384]);
    // If the compiler for a GPU is missing, the rows of that GPU are launched on the cpu device.
    let simulated = |arch: &str| {
        let name = format!("sim:{arch}");
        let device = kiln::open(&name).unwrap();
        device.compiler().is_ok().then_some(name)
    };
    let (l4, strix_halo) = (simulated("sm_89"), simulated("gfx1151"));
    let wanted = [
        None,
        l4.clone(),
        l4.clone(),
        l4.clone(),
        l4,
        strix_halo,
        None,
        None,
    ];
    for (check, wanted) in report.checks.iter().zip(wanted) {
        assert_eq!(check.simulated_on, wanted, "{check}");
        if let Some(name) = wanted {
            let said = check.to_string();
            assert!(
                said.contains(&format!(" on {name}: launched as intended")),
                "{said}"
            );
        }
    }
}

#[test]
fn a_row_beyond_the_devices_limits_is_counted_as_not_run() {
    let mut script = Script::default();
    script.limits.max_threads_per_block = 128;
    let device = Device::from(FakeDevice::new(script));
    let report = kiln::smoke::run(rows::kernel(), &device, &SmokeOptions::default(), |_, _| {});
    assert_eq!(report.counts(), (4, 0, 4), "{report}");
    assert!(
        report
            .to_string()
            .contains("not run: threads per block is 384"),
        "{report}"
    );
}

#[test]
fn the_launches_are_announced_before_they_are_made() {
    let mut announced = Vec::new();
    kiln::smoke::run(
        rows::kernel(),
        &fake(),
        &SmokeOptions::default(),
        |choice, _| {
            announced.push(choice);
        },
    );
    assert_eq!(announced.len(), 8);
    assert_eq!(announced[0], Choice::Baseline);
    assert_eq!(announced[7], Choice::Row(6));
}

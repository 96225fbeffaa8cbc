//! Checks of launches: what runs, which launches are rejected, and the receipts.

use std::sync::Arc;

use kiln::device::DeviceError;
use kiln::receipt::ExpectedReceipt;
use kiln::rig::{Expected, Layout, Rig, RigError};
use kiln::spec::{LaunchPlan, Problem, ProblemValue};
use kiln::{Buffer, Choice, Kernel};

use super::kernels::{add_one, mirror, number_threads, scalars};
use super::{Outcome, Subject, checks, first_problem};

checks! {
    every_thread_of_grids_and_blocks_of_any_shape_runs_once,
    static_and_dynamic_shared_memory_belong_to_a_block,
    scalars_of_every_type_arrive,
    a_plan_beyond_a_limit_is_refused_and_the_next_launch_runs,
    static_and_dynamic_shared_memory_together_are_limited,
    a_wrong_number_of_arguments_is_refused,
    a_receipt_tells_every_field_of_its_launch,
    a_receipt_counts_every_launch_that_signs_it,
    occupancy_falls_with_shared_memory,
}

fn every_thread_of_grids_and_blocks_of_any_shape_runs_once(subject: &Subject) -> Outcome {
    let stream = &subject.stream;
    let shapes: [([u32; 3], [u32; 3]); 9] = [
        ([1, 1, 1], [1, 1, 1]),
        ([1, 1, 1], [1024, 1, 1]),
        ([7, 1, 1], [33, 1, 1]),
        ([3, 5, 1], [8, 8, 1]),
        ([2, 3, 4], [5, 3, 2]),
        ([1, 1, 9], [1, 1, 64]),
        ([1, 300, 1], [1, 7, 1]),
        ([1000, 1, 1], [32, 2, 1]),
        ([1, 2, 3], [31, 4, 8]),
    ];
    for (grid, block) in shapes {
        let threads = grid.iter().chain(&block).product::<u32>() as usize;
        let mut ids = Buffer::<u32>::zeros(stream, threads)?;
        let mut visits = Buffer::<i32>::zeros(stream, threads)?;
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        number_threads(stream, gx, gy, gz, bx, by, bz, &mut ids, &mut visits)?;
        let expected: Vec<u32> = (0..threads as u32).collect();
        assert_eq!(ids.to_vec(stream)?, expected, "{grid:?} {block:?}");
        assert_eq!(
            visits.to_vec(stream)?,
            vec![1; threads],
            "{grid:?} {block:?}"
        );
    }
    Ok(())
}

fn static_and_dynamic_shared_memory_belong_to_a_block(subject: &Subject) -> Outcome {
    let stream = &subject.stream;
    for n in [1_u32, 64, 65, 10_000] {
        let x: Vec<i32> = (0..n as i32).map(|i| i * 3 - 5).collect();
        let input = Buffer::from_slice(stream, &x)?;
        let mut output = Buffer::<i32>::zeros(stream, n as usize)?;
        mirror(stream, n, &input, &mut output)?;
        let mut expected = vec![0; n as usize];
        super::kernels::mirrored(n, &x, &mut expected);
        assert_eq!(output.to_vec(stream)?, expected, "{n}");
    }
    Ok(())
}

fn scalars_of_every_type_arrive(subject: &Subject) -> Outcome {
    let stream = &subject.stream;
    let values = [
        (
            -7,
            4_000_000_000,
            -5_000_000_000,
            9_000_000_000_000_000_000,
            0.75,
        ),
        (i32::MIN, u32::MAX, i64::MIN, u64::MAX, 3.5),
        (0, 1, -1, 1 << 32, 0.0),
    ];
    for (a, b, c, d, e) in values {
        let mut words = Buffer::<u8>::zeros(stream, 28)?;
        scalars(stream, a, b, c, d, e, &mut words)?;
        let mut expected = vec![0; 28];
        super::kernels::spelled(a, b, c, d, e, &mut expected);
        assert_eq!(words.to_vec(stream)?, expected, "{a} {b} {c} {d} {e}");
    }
    Ok(())
}

/// The rig and the launch plan for a kernel's baseline and first problem.
fn rig_of(
    subject: &Subject,
    kernel: &'static Kernel,
) -> Result<(Rig, LaunchPlan), Box<dyn std::error::Error>> {
    let problem = first_problem(kernel);
    let spec = Arc::new(kernel.spec().clone());
    let rig = Rig::new(&subject.stream, &spec, &problem, 7, Layout::Zones)?;
    let plan = kernel.plan(
        Choice::Baseline,
        &problem,
        Some(&subject.device.info().limits),
    )?;
    Ok((rig, plan))
}

/// Launches a kernel's baseline, and compares the outputs with the reference.
fn launch_and_check(
    rig: &Rig,
    plan: &LaunchPlan,
    subject: &Subject,
    kernel: &'static Kernel,
) -> Outcome {
    let reference = kernel
        .reference()
        .ok_or("a kernel of the suite has a reference")?;
    let problem = first_problem(kernel);
    let expected = Expected::by_reference(reference, kernel.spec(), &problem, 7)?;
    rig.reset()?;
    rig.launch(&subject.prepared(kernel)?.release, plan)?;
    rig.check(&expected)?;
    Ok(())
}

fn a_plan_beyond_a_limit_is_refused_and_the_next_launch_runs(subject: &Subject) -> Outcome {
    let limits = subject.device.info().limits;
    let kernel = &mirror::KERNEL;
    let (rig, good) = rig_of(subject, kernel)?;
    let release = &subject.prepared(kernel)?.release;
    let changed = |change: &dyn Fn(&mut LaunchPlan)| {
        let mut plan = good;
        change(&mut plan);
        plan
    };
    let plans = [
        (
            "threads",
            changed(&|plan| plan.block = [limits.max_threads_per_block, 2, 1]),
        ),
        (
            "block z",
            changed(&|plan| plan.block = [1, 1, limits.max_block[2] + 1]),
        ),
        (
            "block x",
            changed(&|plan| plan.block[0] = limits.max_block[0] + 1),
        ),
        (
            "grid x",
            changed(&|plan| plan.grid[0] = limits.max_grid[0].saturating_add(1)),
        ),
        (
            "grid y",
            changed(&|plan| plan.grid[1] = limits.max_grid[1].saturating_add(1)),
        ),
        (
            "shared",
            changed(&|plan| plan.shared_bytes = limits.shared_bytes_per_block + 1),
        ),
        ("no block", changed(&|plan| plan.grid = [0, 1, 1])),
        ("no thread", changed(&|plan| plan.block = [64, 0, 1])),
    ];
    for (what, plan) in plans {
        let launched = rig.launch(release, &plan);
        let refused = matches!(
            launched,
            Err(RigError::Device(
                DeviceError::Plan { .. } | DeviceError::LaunchRefused { .. }
            ))
        );
        assert!(refused, "{what}: {launched:?}");
        assert!(rig.time(release, &plan, 1).is_err(), "{what}");
        launch_and_check(&rig, &good, subject, kernel)?;
    }
    Ok(())
}

fn static_and_dynamic_shared_memory_together_are_limited(subject: &Subject) -> Outcome {
    let kernel = &mirror::KERNEL;
    let (rig, good) = rig_of(subject, kernel)?;
    let release = &subject.prepared(kernel)?.release;
    assert!(release.static_shared_bytes() >= 64 * 4, "its array counts");
    let limit = subject.device.info().limits.shared_bytes_per_block;
    let most = LaunchPlan {
        shared_bytes: limit - release.static_shared_bytes(),
        ..good
    };
    launch_and_check(&rig, &most, subject, kernel)?;
    let more = LaunchPlan {
        shared_bytes: most.shared_bytes + 1,
        ..good
    };
    let launched = rig.launch(release, &more);
    assert!(
        matches!(launched, Err(RigError::Device(DeviceError::Plan { .. }))),
        "{launched:?}"
    );
    launch_and_check(&rig, &good, subject, kernel)
}

fn a_wrong_number_of_arguments_is_refused(subject: &Subject) -> Outcome {
    let (three, good) = rig_of(subject, &mirror::KERNEL)?;
    let (two, _) = rig_of(subject, &add_one::KERNEL)?;
    let prepared = subject.prepared(&mirror::KERNEL)?;
    let attempts = [
        ("one fewer", two.launch(&prepared.release, &good)),
        (
            "one fewer than a receipt needs",
            three.launch(&prepared.receipt, &good),
        ),
        (
            "one more",
            three
                .launch_for_receipt(&prepared.release, &good, 1)
                .map(drop),
        ),
    ];
    for (what, launched) in attempts {
        let refused = matches!(
            launched,
            Err(RigError::Device(DeviceError::LaunchRefused { .. }))
        );
        assert!(refused, "{what}: {launched:?}");
    }
    launch_and_check(&three, &good, subject, &mirror::KERNEL)
}

fn a_receipt_tells_every_field_of_its_launch(subject: &Subject) -> Outcome {
    let kernel = &number_threads::KERNEL;
    let prepared = subject.prepared(kernel)?;
    let spec = Arc::new(kernel.spec().clone());
    let shapes: [([u32; 3], [u32; 3], u32); 5] = [
        ([1, 1, 1], [1, 1, 1], 0),
        ([7, 1, 1], [384, 1, 1], 4096),
        ([2, 3, 4], [5, 3, 2], 1024),
        ([1, 9, 1], [32, 4, 1], 4),
        ([3, 1, 2], [1, 2, 64], 40_000),
    ];
    for (nonce, (grid, block, shared_bytes)) in (0xfeed_0000_0000_0001..).zip(shapes) {
        let sizes = grid
            .iter()
            .chain(&block)
            .map(|&n| ProblemValue::Size(n.into()));
        let problem: Problem = kernel.problem_of(sizes);
        let rig = Rig::new(&subject.stream, &spec, &problem, 1, Layout::Zones)?;
        let plan = LaunchPlan {
            grid,
            block,
            shared_bytes,
        };
        let receipt = rig.launch_for_receipt(&prepared.receipt, &plan, nonce)?;
        receipt.check(&ExpectedReceipt {
            nonce,
            symbol_hash: prepared.symbol_hash,
            config_hash: prepared.config_hash,
            plan,
        })?;
        assert_eq!(receipt.warp_size, subject.device.info().limits.warp_size);
    }
    Ok(())
}

fn a_receipt_counts_every_launch_that_signs_it(subject: &Subject) -> Outcome {
    let (rig, plan) = rig_of(subject, &mirror::KERNEL)?;
    let prepared = subject.prepared(&mirror::KERNEL)?;
    let once = rig.launch_for_receipt(&prepared.receipt, &plan, 5)?;
    assert_eq!(once.threads, plan.blocks() * plan.threads_per_block());
    // A release entry writes no receipt, so the next receipt differs only in its nonce.
    rig.launch(&prepared.release, &plan)?;
    let again = rig.launch_for_receipt(&prepared.receipt, &plan, 6)?;
    assert_eq!((again.nonce, again.threads), (6, once.threads));
    Ok(())
}

fn occupancy_falls_with_shared_memory(subject: &Subject) -> Outcome {
    let release = &subject.prepared(&mirror::KERNEL)?.release;
    let limit = subject.device.info().limits.shared_bytes_per_block;
    let little = subject.device.occupancy(release, 64, 0)?;
    let much = subject
        .device
        .occupancy(release, 64, limit - release.static_shared_bytes())?;
    assert!(
        much >= 1 && little > much,
        "{little} blocks, {much} with all shared memory"
    );
    let wide = subject.device.occupancy(release, 1024, 0)?;
    assert!(
        wide >= 1 && wide < little,
        "{little} blocks of 64 threads, {wide} of 1024"
    );
    Ok(())
}

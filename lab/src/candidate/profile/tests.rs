use kiln::backend::sim::{Class, Counters, InstructionInfo, LaunchProfile, SourceLine, Traffic};

use kiln_exchange::profiles::{CLASSES, WorstKind};

use super::*;

/// A program, as the class, the branch target and the number of executions of each instruction.
fn launch(program: &[(Class, Option<usize>, u64)]) -> LaunchProfile {
    let instruction =
        |(i, (class, target, _)): (usize, &(Class, Option<usize>, u64))| InstructionInfo {
            class: *class,
            text: format!("i{i}"),
            target: *target,
            line: Some(SourceLine {
                file: "kernels/k.cu".into(),
                number: i as u32 + 1,
                called_at: None,
            }),
        };
    let executed: Vec<u64> = program.iter().map(|one| one.2).collect();
    LaunchProfile {
        symbol: "k".into(),
        instructions: program.iter().enumerate().map(instruction).collect(),
        counters: Counters {
            instructions: executed.iter().sum(),
            barriers: 0,
            lanes: executed.iter().map(|count| 32 * count).collect(),
            traffic: vec![Traffic::default(); program.len()],
            executed,
        },
        executed_blocks: 2,
        blocks: 10,
    }
}

#[test]
fn the_main_loop_is_the_innermost_one_that_holds_most_of_the_work() {
    let nested = launch(&[
        (Class::Vector, None, 1),
        (Class::Shared, None, 10),
        (Class::Matrix, None, 80),
        (Class::Flow, Some(2), 80),
        (Class::Flow, Some(1), 10),
    ]);
    let hot = hot_loop::find(&nested).unwrap();
    assert_eq!((hot.first, hot.last, hot.inner_loops), (2, 3, 0));
    assert!((hot.executed.matrix_per_100 - 50.0).abs() < 1e-9);

    // An inner loop of little weight is a part of the main loop.
    let light = launch(&[
        (Class::Shared, None, 20),
        (Class::Flow, Some(0), 20),
        (Class::Matrix, None, 80),
        (Class::Flow, Some(0), 10),
    ]);
    let hot = hot_loop::find(&light).unwrap();
    assert_eq!(
        (hot.first, hot.last, hot.inner_loops),
        (0, 3, 0),
        "one target is one loop"
    );
    let straight = launch(&[
        (Class::Vector, None, 5),
        (Class::Flow, Some(3), 5),
        (Class::Vector, None, 0),
        (Class::Flow, None, 5),
    ]);
    assert!(hot_loop::find(&straight).is_none());
}

#[test]
fn the_worst_line_of_each_cost_is_named_with_its_share() {
    let mut one = launch(&[
        (Class::Global, None, 4),
        (Class::Global, None, 2),
        (Class::Shared, None, 4),
        (Class::Flow, None, 4),
    ]);
    one.counters.traffic[0] = Traffic {
        global_requests: 4,
        global_sectors: 20,
        global_ideal_sectors: 16,
        ..Traffic::default()
    };
    one.counters.traffic[1] = Traffic {
        global_requests: 2,
        global_sectors: 64,
        global_ideal_sectors: 8,
        ..Traffic::default()
    };
    one.counters.traffic[2] = Traffic {
        shared_requests: 4,
        shared_conflicts: 4,
        ..Traffic::default()
    };
    one.counters.lanes[2] = 64;
    // A branch that no lane takes is not divergent.
    one.instructions[3].target = None;
    one.counters.lanes[3] = 0;
    let profile = of_launch(&one, 336);
    let named: Vec<_> = profile
        .worst
        .iter()
        .map(|worst| {
            (
                worst.kind,
                worst.instruction.as_str(),
                worst.detail.as_str(),
            )
        })
        .collect();
    assert_eq!(
        named,
        [
            (
                WorstKind::Global,
                "i1",
                "32.0 sectors per request, 4.0 would hold the bytes"
            ),
            (WorstKind::Shared, "i2", "1.00 bank conflicts per request"),
            (WorstKind::Divergence, "i2", "16.0 of 32 lanes"),
        ]
    );
    assert!((profile.worst[0].share_percent - 100.0 * 56.0 / 60.0).abs() < 1e-9);
    // 84 sectors in 2 of 10 blocks.
    assert!((profile.moved_bytes - 84.0 * 32.0 * 5.0).abs() < 1e-9);
    assert!((profile.moved_over_least.unwrap() - 40.0).abs() < 1e-9);
    assert_eq!(
        profile.executed.sector_use_percent.map(f64::round),
        Some(29.0)
    );
}

#[test]
fn every_class_is_one_that_readers_of_profiles_know() {
    let named = [
        Class::Scalar,
        Class::Flow,
        Class::Barrier,
        Class::ScalarMemory,
        Class::Vector,
        Class::MultiplyAdd,
        Class::Exchange,
        Class::Matrix,
        Class::Shared,
        Class::Global,
        Class::Copy,
        Class::Private,
    ]
    .map(executed::class_name);
    let sorted = |mut names: [&'static str; 12]| {
        names.sort_unstable();
        names
    };
    assert_eq!(sorted(named), sorted(CLASSES));
}

//! Checks of times on the device's own clock: they cover exactly the requested launches, and grow with the work.

use std::sync::Arc;

use kiln::rig::{Layout, Rig};
use kiln::spec::ProblemValue;
use kiln::{Choice, Kernel};

use super::kernels::{add_one, churn};
use super::{Outcome, Subject, checks, first_problem};

checks! {
    timing_launches_exactly_as_often_as_it_says,
    timed_launches_take_the_sets_of_data_in_turn,
    time_grows_with_the_number_of_launches,
    time_grows_with_the_work_of_a_launch,
    the_timer_says_what_it_can_tell,
}

fn timing_launches_exactly_as_often_as_it_says(subject: &Subject) -> Outcome {
    let kernel = &add_one::KERNEL;
    let spec = Arc::new(kernel.spec().clone());
    let problem = first_problem(kernel);
    let rig = Rig::new(&subject.stream, &spec, &problem, 1, Layout::Zones)?;
    let plan = kernel.plan(Choice::Baseline, &problem, None)?;
    let release = &subject.prepared(kernel)?.release;
    let before = rig.outputs()?;
    let mut launches = 0.0;
    for count in [1, 7, 30] {
        rig.time(release, &plan, count)?;
        launches += f64::from(count);
        subject.stream.synchronize()?;
        let (now, was) = (
            rig.outputs()?,
            before.output(1).ok_or("an output")?.to_f64s(),
        );
        let now = now.output(1).ok_or("an output")?.to_f64s();
        let expected: Vec<f64> = was.iter().map(|x| x + launches).collect();
        assert_eq!(now, expected, "after {launches} launches");
    }
    Ok(())
}

fn timed_launches_take_the_sets_of_data_in_turn(subject: &Subject) -> Outcome {
    let kernel = &add_one::KERNEL;
    let spec = Arc::new(kernel.spec().clone());
    let problem = first_problem(kernel);
    let rig = Rig::rotating(
        &subject.stream,
        &spec,
        &spec.baseline.config,
        &problem,
        1,
        3,
    )?;
    let plan = kernel.plan(Choice::Baseline, &problem, None)?;
    let release = &subject.prepared(kernel)?.release;
    let first_set = || -> Result<f64, Box<dyn std::error::Error>> {
        subject.stream.synchronize()?;
        let outputs = rig.outputs()?;
        Ok(outputs.output(1).ok_or("an output")?.to_f64s()[0])
    };
    let before = first_set()?;
    // The launches use three sets of buffers in turn. `first_set` counts the launches that used the first set: of the
    // first seven launches, the first, the fourth and the seventh.
    for (launches, in_all) in [(7, 3.0), (2, 3.0), (1, 4.0), (2, 4.0), (4, 6.0)] {
        rig.time(release, &plan, launches)?;
        assert_eq!(first_set()? - before, in_all, "after {launches} more");
    }
    // Sixteen launches were timed, so the next launches use the second and the third set.
    rig.restore(2)?;
    assert_eq!(first_set()? - before, 6.0);
    rig.restore(3)?;
    assert_eq!(first_set()?, before);
    // Each launch begins with restored values, so no set is used twice without one.
    rig.time_restored(release, &plan, 9)?;
    assert_eq!(first_set()? - before, 1.0);
    Ok(())
}

/// Nanoseconds of `launches` launches of [`churn`]: the minimum of five measurements, because disturbances only add
/// time.
fn churn_ns(
    subject: &Subject,
    n: u32,
    rounds: u32,
    launches: u32,
) -> Result<u64, Box<dyn std::error::Error>> {
    let kernel: &'static Kernel = &churn::KERNEL;
    let problem = kernel.problem_of([n, rounds].map(|size| ProblemValue::Size(size.into())));
    let spec = Arc::new(kernel.spec().clone());
    let rig = Rig::new(&subject.stream, &spec, &problem, 1, Layout::Plain)?;
    let plan = kernel.plan(Choice::Baseline, &problem, None)?;
    let release = &subject.prepared(kernel)?.release;
    rig.launch(release, &plan)?;
    let mut least = u64::MAX;
    for _ in 0..5 {
        least = least.min(rig.time(release, &plan, launches)?);
    }
    Ok(least)
}

fn time_grows_with_the_number_of_launches(subject: &Subject) -> Outcome {
    let few = churn_ns(subject, 256, 20_000, 2)?;
    let many = churn_ns(subject, 256, 20_000, 40)?;
    assert!(few > 0, "2 launches take no time");
    assert!(
        many > 4 * few,
        "2 launches take {few} ns, 40 take {many} ns"
    );
    Ok(())
}

fn time_grows_with_the_work_of_a_launch(subject: &Subject) -> Outcome {
    let little = churn_ns(subject, 64, 1000, 3)?;
    let much = churn_ns(subject, 64 * 64, 50_000, 3)?;
    assert!(
        much > 4 * little,
        "little work takes {little} ns, much takes {much} ns"
    );
    Ok(())
}

fn the_timer_says_what_it_can_tell(subject: &Subject) -> Outcome {
    let info = subject.device.info();
    assert!(info.timer_tick_ns > 0);
    assert!(info.limits.warp_size > 0 && info.limits.multiprocessors > 0);
    assert!(info.limits.max_threads_per_block >= 1024 && info.limits.memory_bytes > 0);
    assert!(!info.key.arch.is_empty() && !info.key.name.is_empty());
    assert!(!info.fingerprint.is_empty());
    assert_eq!(info.key.to_string().parse(), Ok(info.key.clone()));
    Ok(())
}

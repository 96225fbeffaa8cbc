use super::*;
use crate::damage;
use crate::samples::{
    Memory, NOW, Random, cases, collected, element, key, place, plan, problem, publish, session,
    winner,
};
use crate::sign::PrivateKey;
use crate::store::Folder;
use crate::{Observations, Stage, fold};

struct World {
    store: Memory,
    plan: Plan,
    worker: PrivateKey,
}

/// A store with the searches of six devices.
fn world() -> World {
    let worker = PrivateKey::generate().unwrap();
    let world = World {
        store: Memory::default(),
        plan: plan(1, 6, &[&worker]),
        worker,
    };
    for n in 0..6 {
        let records = session(&key(0, &problem(n)), "A=1", Ok(1_100_000));
        publish(
            &world.store,
            &world.worker,
            &world.plan,
            (n as u32, n),
            &records,
        );
    }
    world
}

fn observed(store: &Memory, plan: &Plan) -> Observations {
    fold(&collected(store, plan).segments)
}

#[test]
fn damage_of_any_object_is_named_and_costs_that_segment_alone() {
    damage::flipped_bits_are_named(&Memory::default(), cases(120, 1000));
    damage::truncated_objects_are_named(&Memory::default(), cases(40, 300));
}

#[test]
fn swapped_names_and_wrong_signers_are_named() {
    damage::swapped_segments_are_named(&Memory::default(), cases(20, 100));
    damage::foreign_signatures_are_named(&Memory::default(), cases(20, 100));
}

#[test]
fn expired_plans_have_every_object_named() {
    damage::objects_of_expired_plans_are_named(&Memory::default(), 100);
}

#[test]
fn objects_that_are_too_large_are_named_and_not_read() {
    damage::objects_that_are_too_large_are_named(&Memory::default(), cases(6, 50));
}

#[test]
fn forks_and_gaps_are_reported_and_both_histories_kept() {
    damage::leaves_both_histories(&Memory::default(), cases(10, 50) as u64);
}

#[test]
fn the_order_of_delivery_does_not_matter() {
    let world = world();
    let expected = observed(&world.store, &world.plan).root_hash();
    let objects: Vec<(String, Vec<u8>)> =
        world.store.0.lock().unwrap().clone().into_iter().collect();
    let mut random = Random(4);
    for _ in 0..cases(30, 1000) {
        let folder = tempfile::tempdir().unwrap();
        let store = Folder::open(folder.path()).unwrap();
        let mut order: Vec<_> = objects.iter().chain(&objects).collect();
        random.shuffle(&mut order);
        for (name, bytes) in &order {
            store.put(name, bytes).unwrap();
        }
        let collected = collected(&store, &world.plan);
        assert_eq!(collected.rejected.len(), 0);
        assert_eq!(fold(&collected.segments).root_hash(), expected);
    }
}

#[test]
fn statements_are_verified_as_segments_are() {
    let world = world();
    let proven = winner(&key(0, &problem(0)), "A=1", Ok(1_100_000));
    let state = |element, worker: &PrivateKey, change: fn(&mut Statement)| {
        let mut statement = Statement::of(&proven, &place(&world.plan, element, 1)).unwrap();
        change(&mut statement);
        statement.publish(&world.store, worker).unwrap()
    };
    let stranger = PrivateKey::generate().unwrap();
    state(0, &world.worker, |_| {});
    let wrong = [
        state(1, &world.worker, |_| {}),
        state(99, &world.worker, |_| {}),
        state(0, &stranger, |s| s.series = 1),
        state(0, &world.worker, |s| s.device = "fake/fake/Other".into()),
        state(0, &world.worker, |s| s.problem = "n=77".into()),
        state(0, &world.worker, |s| s.kernel = "other".into()),
    ];
    let all = collected(&world.store, &world.plan);
    assert_eq!((all.statements.len(), all.segments.len()), (1, 6));
    let mut rejected: Vec<&String> = all.rejected.iter().map(|r| &r.name).collect();
    rejected.sort();
    let mut wrong: Vec<&String> = wrong.iter().collect();
    wrong.sort();
    assert_eq!(rejected, wrong);
    // A winner that is not proven has no statement.
    let kept = Err(kiln_cache::record::KeptReason::NotProven);
    let kept = winner(&key(0, &problem(0)), "A=1", kept);
    Statement::of(&kept, &place(&world.plan, 0, 1)).unwrap_err();
}

#[test]
fn the_memory_of_merges_reads_back_and_damage_of_it_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen");
    let world = world();
    let mut seen = Seen::load(&path).unwrap();
    collect(&world.store, &world.plan, NOW, &mut seen).unwrap();
    seen.save(&path).unwrap();
    assert_eq!(Seen::load(&path).unwrap(), seen);
    std::fs::write(&path, "{").unwrap();
    let error = Seen::load(&path).unwrap_err().to_string();
    assert!(error.contains("help: "), "{error}");
}

#[test]
fn a_segment_that_was_collected_can_be_copied_until_it_changes() {
    let world = world();
    let collected = collected(&world.store, &world.plan);
    let segment = &collected.segments[0];
    let bytes = bytes_of(&world.store, segment).unwrap();
    assert_eq!(object::name_of(&bytes), segment.name);
    world.store.put(&segment.object(), b"other").unwrap();
    bytes_of(&world.store, segment).unwrap_err();
}

#[test]
fn an_element_of_no_task_is_nobodys() {
    // The two plans have the same worker, but different elements, and so different identities.
    let world = world();
    let other = Plan {
        elements: vec![element(Stage::Search, 0, &[])],
        ..world.plan.clone()
    };
    assert_ne!(other.id(), world.plan.id());
    assert_eq!(collected(&world.store, &other).segments.len(), 0);
}

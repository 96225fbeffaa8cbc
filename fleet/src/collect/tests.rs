use super::*;
use crate::damage;
use crate::samples::{
    Memory, NOW, Random, cases, collected, element, key, place, plan, problem, publish, session,
    winner,
};
use crate::segment::MAX_SEGMENT_BYTES;
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

fn names(store: &Memory, ending: &str) -> Vec<String> {
    let objects = store.0.lock().unwrap();
    objects
        .keys()
        .filter(|name| name.ends_with(ending))
        .cloned()
        .collect()
}

fn observed(store: &Memory, plan: &Plan) -> Observations {
    fold(&collected(store, plan).segments)
}

#[test]
fn damage_of_any_object_is_named_and_costs_that_segment_alone() {
    damage::is_named_and_costs_that_segment_alone(&Memory::default(), cases(120, 1000));
}

#[test]
fn swapped_names_and_wrong_signers_are_named() {
    let mut random = Random(2);
    for case in 0..cases(20, 100) {
        let world = world();
        let segments = names(&world.store, ".seg");
        let [one, two] = [0, 1].map(|n| &segments[(case + n) % segments.len()]);
        let get = |name: &String| world.store.0.lock().unwrap()[name].clone();
        if case % 2 == 0 {
            let (first, second) = (get(one), get(two));
            world.store.put(one, &second).unwrap();
            world.store.put(two, &first).unwrap();
            let rejected = collected(&world.store, &world.plan).rejected;
            let rejected: Vec<&String> = rejected.iter().map(|r| &r.name).collect();
            assert!(rejected.contains(&one) && rejected.contains(&two) && rejected.len() == 2);
        } else {
            let stranger = PrivateKey::generate().unwrap();
            let name = &segments[random.below(6) as usize];
            let signature = stranger.sign(&get(name)).unwrap();
            world
                .store
                .put(&object::signature(name), signature.as_bytes())
                .unwrap();
            let rejected = collected(&world.store, &world.plan).rejected;
            assert_eq!((rejected.len(), &rejected[0].name), (1, name));
            let why = rejected[0].why.to_string();
            assert!(why.contains(&stranger.public().fingerprint()), "{why}");
        }
    }
}

#[test]
fn expired_plans_have_every_object_named() {
    let world = world();
    for late in [0, 1, 1 << 40].map(|n| world.plan.expires_unix_s + n) {
        let collected = collect(&world.store, &world.plan, late, &mut Seen::default()).unwrap();
        assert_eq!((collected.segments.len(), collected.rejected.len()), (0, 6));
    }
}

#[test]
fn objects_that_are_too_large_are_named_and_not_read() {
    let world = world();
    for n in 0..cases(5, 50) {
        let folder = object::segments(&world.plan.id());
        let name = format!("{folder}0000000000000000/{n}-1-{}.seg", "0".repeat(64));
        world
            .store
            .put(&name, &vec![0; MAX_SEGMENT_BYTES + 1 + n])
            .unwrap();
        let signature = object::signature(&names(&world.store, ".seg")[1]);
        let signature = world
            .store
            .get(&signature, 1 << 20)
            .unwrap()
            .unwrap_or_default();
        world
            .store
            .put(&object::signature(&name), &signature)
            .unwrap();
    }
    let collected = collected(&world.store, &world.plan);
    assert_eq!(collected.segments.len(), 6);
    assert_eq!(collected.rejected.len(), cases(5, 50));
    let why = collected.rejected[0].why.to_string();
    assert!(why.contains(&MAX_SEGMENT_BYTES.to_string()), "{why}");
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

//! Tests with undamaged objects that a merge must reject.

use kiln_fleet::collect::{Collected, Seen, collect};
use kiln_fleet::segment::MAX_SEGMENT_BYTES;
use kiln_fleet::sign::MAX_SIGNATURE_BYTES;
use kiln_fleet::statement::MAX_STATEMENT_BYTES;
use kiln_fleet::{PrivateKey, RejectReason, object};

use super::{SEARCHES, Spoiled, read, segments_of, six_searches};
use crate::samples::{Random, collected};

/// The names of the objects that were rejected.
fn rejected(collected: &Collected) -> Vec<&str> {
    let rejected = collected.rejected.iter();
    rejected.map(|rejected| rejected.name.as_str()).collect()
}

/// Exchanges the bytes of two segments, and in every second case also their signatures. A merge must reject both
/// segments.
pub fn swapped_segments_are_named(spoiled: &dyn Spoiled, cases: usize) {
    let store = spoiled.store();
    let plan = six_searches(store);
    let segments = segments_of(store, &plan);
    let mut random = Random(2);
    for case in 0..cases {
        let one = random.below(SEARCHES as u64) as usize;
        let two = (one + 1 + random.below(SEARCHES as u64 - 1) as usize) % SEARCHES;
        let (one, two) = (&segments[one], &segments[two]);
        let mut names = vec![(one.clone(), two.clone())];
        if case % 2 == 1 {
            names.push((object::signature(one), object::signature(two)));
        }
        let exchange = || {
            for (one, two) in &names {
                let (first, second) = (read(store, one), read(store, two));
                spoiled.overwrite(one, &second);
                spoiled.overwrite(two, &first);
            }
        };
        exchange();
        let collected = collected(store, &plan);
        exchange();
        let mut expected = [one.as_str(), two.as_str()];
        expected.sort_unstable();
        assert_eq!(rejected(&collected), expected, "case {case}");
        assert_eq!(collected.segments.len(), SEARCHES - 2);
    }
    assert_eq!(collected(store, &plan).segments.len(), SEARCHES);
}

/// Signs a segment with a key that the plan does not have. A merge must reject the segment and report the fingerprint
/// of that key.
pub fn foreign_signatures_are_named(spoiled: &dyn Spoiled, cases: usize) {
    let store = spoiled.store();
    let plan = six_searches(store);
    let segments = segments_of(store, &plan);
    let mut random = Random(3);
    for case in 0..cases {
        let stranger = PrivateKey::generate().unwrap();
        let name = &segments[random.below(SEARCHES as u64) as usize];
        let signature = object::signature(name);
        let right = read(store, &signature);
        let foreign = stranger.sign(&read(store, name)).unwrap();
        spoiled.overwrite(&signature, foreign.as_bytes());
        let collected = collected(store, &plan);
        spoiled.overwrite(&signature, &right);
        assert_eq!(rejected(&collected), [name.as_str()], "case {case}");
        let why = collected.rejected[0].why.to_string();
        assert!(why.contains(&stranger.public().fingerprint()), "{why}");
        assert_eq!(collected.segments.len(), SEARCHES - 1);
    }
}

/// Collects after the expiry of a plan. Every object must be rejected, and the reason must contain both times. One
/// second before the expiry, all objects are accepted.
pub fn objects_of_expired_plans_are_named(spoiled: &dyn Spoiled, cases: usize) {
    let store = spoiled.store();
    let plan = six_searches(store);
    let expiry = plan.expires_unix_s;
    let at = |now| collect(store, &plan, now, &mut Seen::default()).unwrap();
    assert_eq!(at(expiry - 1).segments.len(), SEARCHES);
    let mut random = Random(4);
    let late = (0..cases).map(|case| match case {
        0 => expiry,
        1 => u64::MAX,
        _ => expiry + random.below(1 << (case % 40)),
    });
    for now in late {
        let collected = at(now);
        assert_eq!(collected.segments.len(), 0, "{now}");
        assert_eq!(rejected(&collected), segments_of(store, &plan), "{now}");
        for rejected in collected.rejected {
            let is_of_both_times = matches!(
                rejected.why,
                RejectReason::Expired { expired_unix_s, now_unix_s }
                    if (expired_unix_s, now_unix_s) == (expiry, now)
            );
            assert!(is_of_both_times, "{:?}", rejected.why);
        }
    }
}

/// Adds segments, signatures and statements that are larger than the limit. Each must be rejected, and the reason must
/// contain the limit.
pub fn objects_that_are_too_large_are_named(spoiled: &dyn Spoiled, cases: usize) {
    let store = spoiled.store();
    let plan = six_searches(store);
    let segments = segments_of(store, &plan);
    let mut random = Random(5);
    for case in 0..cases {
        let hash = format!("{:064x}", case + 1);
        let excess = 1 + random.below(1000) as usize;
        let good = &segments[case % SEARCHES];
        let (object, large, limit) = match case % 3 {
            0 => {
                let name = format!("{}{case:016x}/1-2-{hash}.seg", object::segments(&plan.id()));
                (name.clone(), name, MAX_SEGMENT_BYTES)
            }
            1 => (good.clone(), object::signature(good), MAX_SIGNATURE_BYTES),
            _ => {
                let name = object::statement(&plan.id(), &hash);
                (name.clone(), name, MAX_STATEMENT_BYTES)
            }
        };
        let right = (large != object).then(|| read(store, &large));
        spoiled.overwrite(&large, &vec![b' '; limit + excess]);
        if right.is_none() {
            let signature = read(store, &object::signature(good));
            spoiled.overwrite(&object::signature(&object), &signature);
        }
        let collected = collected(store, &plan);
        assert_eq!(rejected(&collected), [object.as_str()], "case {case}");
        let why = collected.rejected[0].why.to_string();
        assert!(why.contains(&limit.to_string()), "{why}");
        if let Some(right) = right {
            spoiled.overwrite(&large, &right);
        } else {
            spoiled.remove(&large);
            spoiled.remove(&object::signature(&object));
        }
    }
    assert_eq!(collected(store, &plan).rejected.len(), 0);
}

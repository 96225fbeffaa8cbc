//! Properties that every store has.

use std::time::Instant;

use kiln_tests::capability::in_full;

use crate::places::{self, Place};
use crate::samples::cases;
use crate::{contract, damage};

/// Runs a check on every store, and prints how long it took.
fn on_every_store(test: &str, check: impl Fn(&Place)) {
    for place in places::all(test) {
        let start = Instant::now();
        check(&place);
        let seconds = start.elapsed().as_secs_f64();
        println!("{}: {test} in {seconds:.1} s", place.name());
    }
}

#[test]
fn every_store_keeps_the_same_contract() {
    on_every_store("every_store_keeps_the_same_contract", |place| {
        for (n, (sentence, check)) in contract::CHECKS.iter().enumerate() {
            println!("{}: {sentence}", place.name());
            check(&*place.open(&format!("check{n}")));
        }
    });
}

#[test]
fn every_store_lists_more_objects_than_one_page_has() {
    // A page of an S3 listing has 1,000 keys.
    let objects = if in_full() { 2_100 } else { 30 };
    let test = "every_store_lists_more_objects_than_one_page_has";
    on_every_store(test, |place| {
        let store = place.open("pages");
        let name = |n| format!("p/{:02}/{n:05}", n % 7);
        for n in 0..objects {
            store.put(&name(n), b"1").unwrap();
        }
        let mut expected: Vec<String> = (0..objects).map(name).collect();
        expected.sort();
        assert!(store.list("p/").unwrap().names == expected);
    });
}

#[test]
fn damage_in_any_store_is_named_and_costs_that_segment_alone() {
    let test = "damage_in_any_store_is_named_and_costs_that_segment_alone";
    on_every_store(test, |place| {
        damage::flipped_bits_are_named(&place.spoiled("flipped"), cases(15, 1000));
        damage::truncated_objects_are_named(&place.spoiled("truncated"), cases(5, 300));
    });
}

#[test]
fn objects_that_do_not_belong_to_a_plan_are_named_in_any_store() {
    let test = "objects_that_do_not_belong_to_a_plan_are_named_in_any_store";
    on_every_store(test, |place| {
        damage::swapped_segments_are_named(&place.spoiled("swapped"), cases(4, 100));
        damage::foreign_signatures_are_named(&place.spoiled("foreign"), cases(4, 100));
        damage::objects_of_expired_plans_are_named(&place.spoiled("expired"), cases(4, 100));
        damage::objects_that_are_too_large_are_named(&place.spoiled("large"), cases(3, 50));
    });
}

#[test]
fn forks_and_gaps_in_any_store_are_reported_and_both_histories_kept() {
    let test = "forks_and_gaps_in_any_store_are_reported_and_both_histories_kept";
    on_every_store(test, |place| {
        damage::leaves_both_histories(&place.spoiled("forks"), cases(3, 50) as u64);
    });
}

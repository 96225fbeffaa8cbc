use kiln_cache::Record;
use kiln_cache::journal::encode_after;
use kiln_cache::store::Position;
use proptest::prelude::*;

use super::*;
use crate::object;
use crate::samples::{Random, cases, frames, header, key, observer, problem, session, trial};

/// The segments of a journal of `count` records, cut after the sequence numbers `cuts`.
fn cut(journal: u64, count: u64, cuts: &[u64]) -> Vec<Segment> {
    let key = key(0, &problem(0));
    let record = |n| Record::End(trial(&key, journal * 1000 + n));
    let records: Vec<Record> = (1..=count).map(record).collect();
    let header = header(&"a".repeat(64), 0, observer(journal as usize), journal);
    let mut at = Position::start(journal);
    let mut segments = Vec::new();
    let mut ends: Vec<u64> = cuts.iter().map(|cut| cut % count).chain([count]).collect();
    ends.sort_unstable();
    for end in ends {
        let piece = &records[at.sequence as usize..end as usize];
        if piece.is_empty() {
            continue;
        }
        let (frames, after) = encode_after(piece, at).unwrap();
        at = after;
        let (_, bytes) = Segment::build(&header, &frames).unwrap();
        segments.push(Segment::parse(&bytes, &object::name_of(&bytes)).unwrap());
    }
    segments
}

#[test]
fn any_order_repetition_and_cut_of_segments_is_the_same_set() {
    let whole: Vec<Segment> = (1..=4).flat_map(|journal| cut(journal, 30, &[])).collect();
    let expected = fold(&whole);
    assert_eq!(expected.len(), 120);
    let cases = cases(100, 10_000) as u32;
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    };
    let cuts = proptest::collection::vec(0u64..30, 0..6);
    proptest!(config, |(
        cuts in proptest::collection::vec(cuts, 8),
        seed: u64,
        repeats in 0usize..20,
    )| {
        let journals = cuts.iter().enumerate();
        let mut segments: Vec<Segment> =
            journals.flat_map(|(n, cuts)| cut(n as u64 % 4 + 1, 30, cuts)).collect();
        let mut random = Random(seed);
        for _ in 0..repeats {
            let again = segments[random.below(segments.len() as u64) as usize].clone();
            segments.push(again);
        }
        random.shuffle(&mut segments);
        prop_assert_eq!(fold(&segments).root_hash(), expected.root_hash());
        // Two halves are merged in both orders, and a union is merged with a part of itself.
        let (left, right) = segments.split_at(random.below(segments.len() as u64) as usize);
        let mut one = fold(left);
        one.merge(fold(right));
        let mut other = fold(right);
        other.merge(fold(left));
        other.merge(fold(left));
        prop_assert_eq!(one.root_hash(), expected.root_hash());
        prop_assert_eq!(other.root_hash(), expected.root_hash());
    });
}

#[test]
fn sets_that_differ_in_anything_have_different_hashes() {
    let base = cut(1, 10, &[]).remove(0);
    let mut hashes = vec![
        fold(&[]).root_hash(),
        fold(std::slice::from_ref(&base)).root_hash(),
    ];
    let changes: [fn(&mut Segment); 7] = [
        |s| s.header.plan = "b".repeat(64),
        |s| s.header.element = 1,
        |s| s.header.attempt = "1".repeat(32),
        |s| s.journal = 2,
        |s| s.author = "SHA256:x".into(),
        |s| drop(s.header.observer.remove("uuid")),
        |s| drop(s.records.pop()),
    ];
    for change in changes {
        let mut changed = base.clone();
        change(&mut changed);
        hashes.push(fold(&[changed]).root_hash());
    }
    hashes.push(fold(&[base, cut(2, 10, &[]).remove(0)]).root_hash());
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), 10);
}

#[test]
fn both_histories_of_a_fork_are_kept() {
    let key = key(0, &problem(0));
    let mut one = session(&key, "A=1", Ok(1_100_000));
    let mut two = one.clone();
    one.push(Record::End(trial(&key, 1)));
    two.push(Record::End(trial(&key, 2)));
    two.push(Record::End(trial(&key, 3)));
    let segments = [one, two].map(|records| {
        let header = header(&"a".repeat(64), 0, observer(1), 1);
        let (_, bytes) = Segment::build(&header, &frames(1, &records)).unwrap();
        Segment::parse(&bytes, &object::name_of(&bytes)).unwrap()
    });
    let observations = fold(&segments);
    let observers: Vec<Observer<'_>> = observations.sources().collect();
    assert_eq!((observers.len(), observers[0].branches()), (1, 2));
    assert_eq!(observers[0].trials().count(), 3);
    assert_eq!(observers[0].winners().count(), 1);
    let reversed = [segments[1].clone(), segments[0].clone()];
    assert_eq!(fold(&reversed).root_hash(), observations.root_hash());
}

#[test]
fn an_observer_has_its_records_by_kind() {
    let key = key(0, &problem(0));
    let mut records = session(&key, "A=1", Ok(1_100_000));
    records.push(Record::End(trial(&key, 1)));
    let header = header(&"a".repeat(64), 0, observer(1), 1);
    let (_, bytes) = Segment::build(&header, &frames(1, &records)).unwrap();
    let segment = Segment::parse(&bytes, &object::name_of(&bytes)).unwrap();
    let observations = fold(&[segment]);
    let observer = observations.sources().next().unwrap();
    assert_eq!(
        observer.keys().into_keys().collect::<Vec<_>>(),
        [key.hash()]
    );
    let counts = [
        observer.trials().count(),
        observer.confirmations().count(),
        observer.winners().count(),
        observer.done().count(),
        observer.branches(),
    ];
    assert_eq!(counts, [1, 2, 1, 1, 1]);
}

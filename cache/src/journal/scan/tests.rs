use proptest::prelude::*;

use super::*;

/// A journal of `count` small records, and the byte range of each.
fn journal(count: u64) -> (Vec<u8>, Vec<std::ops::Range<usize>>) {
    let (mut bytes, mut places) = (Vec::new(), Vec::new());
    let mut chain = frame::first_chain();
    for sequence in 1..=count {
        let payload = payload(sequence);
        let frame = Frame {
            version: RECORD_SCHEMA,
            journal: 7,
            sequence,
            chain,
            payload: &payload,
        };
        let from = bytes.len();
        bytes.extend(frame.encode());
        places.push(from..bytes.len());
        chain = frame.next_chain();
    }
    (bytes, places)
}

fn payload(sequence: u64) -> String {
    format!("{{\"n\":{sequence}}}")
}

/// The survey, and the sequence numbers of the records that were passed on. Each record must have its own payload.
fn read(bytes: &[u8]) -> (JournalScan, Vec<u64>) {
    let mut seen = Vec::new();
    let mut input = io::BufReader::with_capacity(64, bytes);
    let survey = scan::<io::Error>(&mut input, &mut |position, json| {
        let sequence = position.sequence;
        assert_eq!(json, payload(sequence), "a wrong value was handed on");
        seen.push(sequence);
        Ok(())
    })
    .unwrap();
    (survey, seen)
}

#[test]
fn a_sound_journal_is_read_in_full() {
    let (bytes, _) = journal(50);
    let (survey, seen) = read(&bytes);
    assert_eq!(seen, (1..=50).collect::<Vec<_>>());
    assert_eq!((survey.sound, survey.damaged, survey.last), (50, 0, 50));
    assert_eq!(survey.sound_end, bytes.len() as u64);
    assert_eq!(survey.lost_after(0), 0);
    assert_eq!(survey.journal, Some(7));
}

#[test]
fn every_flipped_bit_costs_the_record_it_hit_and_no_other() {
    let (bytes, places) = journal(4);
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let hit = places.iter().position(|p| p.contains(&(bit / 8))).unwrap() as u64 + 1;
        let (survey, seen) = read(&damaged);
        let others: Vec<_> = (1..=4).filter(|n| *n != hit).collect();
        assert_eq!(seen, others, "bit {bit}");
        let noticed = survey.damaged + u64::from(survey.torn_bytes > 0);
        assert_eq!(noticed, 1, "bit {bit}: {survey:?}");
        // A last record without its end looks like a record that was written only in part.
        let torn = u64::from(survey.torn_bytes > 0);
        assert_eq!(survey.lost_after(0), 1 - torn, "bit {bit}: {survey:?}");
    }
}

#[test]
fn every_truncation_keeps_what_is_whole() {
    let (bytes, places) = journal(4);
    for length in 0..bytes.len() {
        let whole = places.iter().filter(|p| p.end <= length).count() as u64;
        let (survey, seen) = read(&bytes[..length]);
        assert_eq!(seen, (1..=whole).collect::<Vec<_>>());
        let rest = length as u64 - survey.sound_end;
        assert_eq!(survey.torn_bytes, rest, "length {length}");
        // A store that has applied four records knows how many are missing.
        assert!(survey.last < 4);
    }
}

#[test]
fn a_record_cut_out_of_the_middle_is_missed() {
    let (bytes, places) = journal(5);
    let cut = [&bytes[..places[1].start], &bytes[places[2].end..]].concat();
    let (survey, seen) = read(&cut);
    assert_eq!(seen, [1, 4, 5]);
    assert_eq!(survey.missing, [2..=3]);
    assert_eq!((survey.damaged, survey.lost_after(0)), (0, 2));
    assert_eq!((survey.lost_after(2), survey.lost_after(3)), (1, 0));
}

#[test]
fn a_second_copy_and_a_record_of_another_journal_are_damage() {
    let (bytes, places) = journal(3);
    for copied in [0, 2] {
        let copy = [&bytes[..], &bytes[places[copied].clone()]].concat();
        let (survey, seen) = read(&copy);
        assert_eq!((seen, survey.damaged), (vec![1, 2, 3], 1));
        assert!(survey.missing.is_empty(), "{survey:?}");
    }

    let foreign = Frame {
        version: RECORD_SCHEMA,
        journal: 8,
        sequence: 4,
        chain: frame::first_chain(),
        payload: "{\"n\":4}",
    };
    let (survey, seen) = read(&[&bytes[..], &foreign.encode()].concat());
    assert_eq!((seen, survey.damaged), (vec![1, 2, 3], 1));
}

#[test]
fn a_record_replaced_by_another_sound_one_is_refused() {
    let (bytes, places) = journal(3);
    let replacement = Frame {
        version: RECORD_SCHEMA,
        journal: 7,
        sequence: 2,
        chain: frame::first_chain(),
        payload: "{\"n\":2000}",
    };
    let forged = [
        &bytes[places[0].clone()],
        &replacement.encode(),
        &bytes[places[2].clone()],
    ]
    .concat();
    // The replacement has a wrong chain, so the record before it is dropped too. The two records that remain have the
    // right values.
    let (survey, seen) = read(&forged);
    assert_eq!(seen, [3]);
    assert_eq!(survey.lost_after(0), 2);
}

#[test]
fn garbage_before_between_and_after_is_counted_and_skipped() {
    let (bytes, places) = journal(2);
    let garbage = [0_u8; 5000];
    let mixed = [
        &garbage[..],
        &bytes[places[0].clone()],
        b"half a record\n",
        &bytes[places[1].clone()],
        &garbage,
    ]
    .concat();
    let (survey, seen) = read(&mixed);
    assert_eq!(seen, [1, 2]);
    assert_eq!((survey.damaged, survey.damaged_tail), (3, 1));
}

#[test]
fn a_record_longer_than_any_is_skipped_and_the_next_is_read() {
    let (bytes, _) = journal(1);
    let mut hostile = vec![START];
    hostile.resize(3 * MAX_FRAME, b'x');
    hostile.extend(&bytes);
    let (survey, seen) = read(&hostile);
    assert_eq!(seen, [1]);
    assert_eq!(survey.damaged, 1);
}

#[test]
fn a_newer_record_is_told() {
    let frame = Frame {
        version: RECORD_SCHEMA + 1,
        journal: 7,
        sequence: 1,
        chain: frame::first_chain(),
        payload: "{\"something\":\"new\"}",
    };
    let (survey, seen) = read(&frame.encode());
    assert_eq!(survey.newer, Some(RECORD_SCHEMA + 1));
    assert!(seen.is_empty());
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_read_without_panic(bytes: Vec<u8>) {
        let (survey, seen) = read(&bytes);
        prop_assert!(seen.is_empty());
        prop_assert_eq!(survey.sound, 0);
    }

    #[test]
    fn arbitrary_marks_are_read_without_panic(bytes in prop::collection::vec(
        prop_oneof![Just(START), Just(END), Just(b' '), Just(b'1'), any::<u8>()], 0..300)) {
        prop_assert!(read(&bytes).1.is_empty());
    }

    #[test]
    fn several_damages_cost_only_what_they_hit(
        count in 1_u64..40,
        damages in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let (bytes, places) = journal(count);
        let mut damaged = bytes.clone();
        for (at, value) in &damages {
            damaged[at.index(bytes.len())] = *value;
        }
        let hit = |n: &u64| {
            let place = places[*n as usize - 1].clone();
            bytes[place.clone()] != damaged[place]
        };
        let (survey, seen) = read(&damaged);
        let expected: Vec<_> = (1..=count).filter(|n| !hit(n)).collect();
        prop_assert_eq!(&seen, &expected);
        prop_assert_eq!(survey.sound, seen.len() as u64);
        let inner_losses = (1..=survey.last).filter(hit).count() as u64;
        let inner = survey.missing.iter().map(|gap| gap.end() - gap.start() + 1).sum::<u64>();
        prop_assert_eq!(inner, inner_losses);
    }
}

use kiln_cache::Record;
use kiln_cache::journal::{RawFrame, encode_after};
use kiln_cache::store::Position;

use super::*;
use crate::samples::{
    Random, cases, crc32c, frames, header, key, observer, problem, session, trial,
};

fn records() -> Vec<Record> {
    let key = key(0, &problem(0));
    let mut records = session(&key, "A=1", Ok(1_100_000));
    records.extend((0..5).map(|n| Record::End(trial(&key, n))));
    records
}

fn build(frames: &[u8]) -> Result<(Header, Vec<u8>), SegmentError> {
    Segment::build(&header(&"a".repeat(64), 3, observer(1), 5), frames)
}

fn parse(bytes: &[u8]) -> Result<Segment, SegmentError> {
    Segment::parse(bytes, &object::name_of(bytes))
}

#[test]
fn a_segment_reads_back_record_by_record() {
    let (header, bytes) = build(&frames(7, &records())).unwrap();
    let segment = parse(&bytes).unwrap();
    assert_eq!(segment.header, header);
    assert_eq!((segment.journal, header.first, header.last), (7, 1, 10));
    let read: Vec<Record> = segment
        .records
        .iter()
        .map(|p| (*p.record).clone())
        .collect();
    assert_eq!(read, records());
    let expected = format!("{:016}-{:016}-{}.seg", 1, 10, segment.name);
    assert!(
        segment.object().ends_with(&expected),
        "{}",
        segment.object()
    );
}

#[test]
fn a_part_of_a_journal_is_a_segment_with_its_place() {
    let all = frames(7, &records());
    let first = RawFrame::first_of(&all).unwrap();
    let (rest, _) = build(&all[first.bytes.len()..]).unwrap();
    assert_eq!(
        (rest.first, rest.last, rest.chain_before),
        (2, 10, first.after)
    );
}

#[test]
fn every_flipped_bit_and_every_cut_is_noticed() {
    let (_, bytes) = build(&frames(7, &records())).unwrap();
    let name = object::name_of(&bytes);
    let mut random = Random(1);
    for _ in 0..cases(200, 1000) {
        let bit = random.below(bytes.len() as u64 * 8) as usize;
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(matches!(
            Segment::parse(&damaged, &name),
            Err(SegmentError::Name { .. })
        ));
        // A segment with the name of its changed bytes can be read only if the change is in the header and the header
        // remains valid.
        if let Ok(segment) = parse(&damaged) {
            assert!(bit / 8 < bytes.iter().position(|b| *b == b'\n').unwrap());
            assert_eq!(segment.records.len(), 10);
        }
    }
    for _ in 0..cases(100, 300) {
        let cut = random.below(bytes.len() as u64) as usize;
        parse(&bytes[..cut]).unwrap_err();
    }
}

#[test]
fn frames_in_another_order_are_refused() {
    let all = frames(7, &records());
    let first = RawFrame::first_of(&all).unwrap().bytes.len();
    let second = RawFrame::first_of(&all[first..]).unwrap().bytes.len();
    let swapped = [
        &all[first..first + second],
        &all[..first],
        &all[first + second..],
    ]
    .concat();
    let skipped = [&all[..first], &all[first + second..]].concat();
    let twice = [&all[..first], &all[..]].concat();
    let mixed = [&all[..first], &frames(8, &records())[first..]].concat();
    for frames in [swapped, skipped, twice, mixed] {
        assert!(matches!(build(&frames), Err(SegmentError::Order { .. })));
        // The same frames are also rejected if the header matches their first frame.
        let (header, bytes) = build(&all).unwrap();
        let line = bytes.iter().position(|b| *b == b'\n').unwrap() + 1;
        assert!(header.last > 0);
        parse(&[&bytes[..line], &frames].concat()).unwrap_err();
    }
    assert!(matches!(build(b""), Err(SegmentError::Frame { offset: 0 })));
}

#[test]
fn a_header_that_says_something_else_is_refused() {
    let (header, bytes) = build(&frames(7, &records())).unwrap();
    let line = bytes.iter().position(|b| *b == b'\n').unwrap() + 1;
    let changes: [fn(&mut Header); 12] = [
        |h| h.schema = 2,
        |h| h.plan = "b".into(),
        |h| h.attempt = "x".repeat(32),
        |h| h.journal = format!("{:016x}", 8),
        |h| h.journal = "7".into(),
        |h| h.first = 2,
        |h| h.first = 0,
        |h| (h.first, h.last) = (u64::MAX, u64::MAX),
        |h| h.last = 11,
        |h| h.chain_before = h.chain_after,
        |h| h.chain_after = h.chain_before,
        |h| drop(h.observer.insert("host".into(), "a\u{1b}[2J".into())),
    ];
    for change in changes {
        let mut changed = header.clone();
        change(&mut changed);
        let text = canonical::to_text(&changed).unwrap();
        parse(&[text.as_bytes(), &bytes[line..]].concat()).unwrap_err();
    }
    let spaced = String::from_utf8(bytes[..line].to_vec())
        .unwrap()
        .replace(",\"first", ", \"first");
    parse(&[spaced.as_bytes(), &bytes[line..]].concat()).unwrap_err();
}

#[test]
fn a_record_of_another_version_is_refused_by_its_version() {
    let (header, _) = build(&frames(7, &records())).unwrap();
    assert_eq!(header.first, 1);
    for (version, payload) in [(1, "{\"future\":{}}"), (9, "{\"future\":{}}")] {
        let start = Position::start(7);
        let body = format!("{version} {:016x} 1 {} {payload}", 7, start.chain);
        let mut frame = format!("\u{1e}{:08x} {body}", crc32c(body.as_bytes())).into_bytes();
        frame.push(b'\n');
        let after = RawFrame::first_of(&frame).unwrap().after;
        let header = Header {
            last: 1,
            chain_after: after,
            ..header.clone()
        };
        let text = canonical::to_text(&header).unwrap();
        let error = parse(&[text.as_bytes(), &frame].concat())
            .unwrap_err()
            .to_string();
        let expected = format!("has schema {version}, but this version reads schemas up to 1");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn a_segment_that_is_too_large_is_refused_before_it_is_read() {
    let huge = vec![b'x'; MAX_SEGMENT_BYTES + 1];
    assert!(matches!(parse(&huge), Err(SegmentError::TooLarge { .. })));
    let key = key(0, &problem(0));
    let many: Vec<Record> = (0..14_000).map(|n| Record::End(trial(&key, n))).collect();
    let (frames, _) = encode_after(&many, Position::start(1)).unwrap();
    assert!(frames.len() > MAX_SEGMENT_BYTES);
    assert!(matches!(build(&frames), Err(SegmentError::TooLarge { .. })));
    // A header without an end that is longer than the largest valid header.
    let endless = vec![b'{'; MAX_HEADER_BYTES * 2];
    assert!(matches!(parse(&endless), Err(SegmentError::Header { .. })));
}

#[test]
fn no_bytes_make_the_reader_panic() {
    let (_, bytes) = build(&frames(7, &records())).unwrap();
    let mut random = Random(2);
    for _ in 0..cases(300, 5000) {
        let mut bytes = bytes.clone();
        for _ in 0..=random.below(8) {
            let at = random.below(bytes.len() as u64) as usize;
            match random.below(3) {
                0 => bytes[at] = random.next() as u8,
                1 => drop(bytes.drain(at..(at + random.below(40) as usize).min(bytes.len()))),
                _ => bytes.insert(at, b'\n'),
            }
            if bytes.is_empty() {
                break;
            }
        }
        drop(parse(&bytes));
    }
}

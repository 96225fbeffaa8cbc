//! Tests of [`super::Lds`].

use proptest::prelude::*;

use super::*;

fn memory() -> Lds {
    Lds::new(64, || 0xdead_beef)
}

fn who(wave: u8) -> Who {
    Who { wave, at: 7 }
}

fn is_race(result: Result<impl Sized, ShareFault>) -> bool {
    matches!(result, Err(ShareFault::Race { .. }))
}

#[test]
fn a_byte_that_was_not_written_is_undefined() {
    let mut lds = memory();
    lds.store(2, 2, &[0x1234, 0, 0, 0], who(0)).unwrap();
    assert_eq!(lds.load(2, 2, who(0)).unwrap().words[0], 0x1234);
    let loaded = lds.load(0, 4, who(0)).unwrap();
    assert_eq!(loaded.undefined, [0x0000_ffff, 0, 0, 0]);
    assert_eq!(loaded.from.unwrap().offset, 0);
    let fault = lds.load(62, 4, who(0));
    assert!(matches!(
        fault,
        Err(ShareFault::Plain(FaultKind::SharedOutOfBounds {
            offset: 62,
            ..
        }))
    ));
}

#[test]
fn waves_between_two_barriers_race_and_behind_a_barrier_do_not() {
    let mut lds = memory();
    lds.store(0, 4, &[1, 0, 0, 0], who(0)).unwrap();
    assert!(is_race(lds.load(0, 4, who(1))));
    lds.next_interval();
    lds.load(0, 4, who(1)).unwrap();
    lds.load(0, 4, who(2)).unwrap();
    assert!(is_race(lds.store(0, 4, &[2, 0, 0, 0], who(0))));
    lds.next_interval();
    lds.store(0, 4, &[3, 0, 0, 0], who(0)).unwrap();
    lds.store(0, 4, &[4, 0, 0, 0], who(0)).unwrap();
    assert_eq!(lds.load(0, 4, who(0)).unwrap().words[0], 4);
}

#[test]
fn a_wave_may_change_a_value_after_it_wrote_the_same_value() {
    let mut lds = memory();
    lds.store(0, 4, &[0; 4], who(0)).unwrap();
    lds.next_interval();
    lds.store(0, 4, &[0; 4], who(0)).unwrap();
    lds.store(0, 4, &[1, 0, 0, 0], who(0)).unwrap();
    // It is now a write that changed the value.
    assert!(is_race(lds.load(0, 4, who(1))));
    lds.next_interval();
    lds.store(0, 4, &[1, 0, 0, 0], who(0)).unwrap();
    lds.load(0, 4, who(1)).unwrap();
    assert!(is_race(lds.store(0, 4, &[2, 0, 0, 0], who(0))));
    lds.next_interval();
    lds.store(0, 4, &[2, 0, 0, 0], who(0)).unwrap();
    assert!(is_race(lds.store(0, 4, &[3, 0, 0, 0], who(1))));
    lds.next_interval();
    lds.store(0, 4, &[3, 0, 0, 0], who(0)).unwrap();
    lds.store(0, 4, &[3, 0, 0, 0], who(1)).unwrap();
    assert!(is_race(lds.store(0, 4, &[4, 0, 0, 0], who(0))));
}

#[test]
fn waves_may_write_different_bytes_of_a_word_or_the_same_value() {
    let mut lds = memory();
    for wave in 0..4u8 {
        lds.store(u64::from(wave), 1, &[u32::from(wave), 0, 0, 0], who(wave))
            .unwrap();
    }
    assert!(is_race(lds.store(1, 1, &[9, 0, 0, 0], who(0))));
    lds.next_interval();
    lds.store(8, 4, &[5, 0, 0, 0], who(0)).unwrap();
    lds.store(8, 4, &[5, 0, 0, 0], who(1)).unwrap();
    assert!(is_race(lds.store(8, 4, &[6, 0, 0, 0], who(1))));
}

#[test]
fn atomic_operations_do_not_race() {
    let mut lds = memory();
    lds.store(0, 4, &[0, 0, 0, 0], who(0)).unwrap();
    lds.next_interval();
    for wave in 0..3 {
        assert_eq!(
            lds.update(0, 4, who(wave), |old| old + 1).unwrap(),
            u64::from(wave)
        );
    }
    assert!(matches!(
        lds.update(2, 4, who(0), |old| old),
        Err(ShareFault::Plain(FaultKind::Misaligned { .. }))
    ));
}

/// A random action of a wave: the first offset, the stride and the size in words, the lanes, and the written value.
#[derive(Clone, Debug)]
enum Action {
    Load(u8, [u32; 3], u32),
    Store(u8, [u32; 3], u32, u32),
    Byte(u8, u32),
    Add(u8, u32),
    /// An undefined value is stored to a byte, after another store.
    Undefined(u32),
    Barrier,
}

fn action() -> impl Strategy<Value = Action> {
    let place =
        || (0u32..12, 0u32..3, 1u32..=4).prop_map(|(first, stride, words)| [first, stride, words]);
    let lanes = || prop_oneof![Just(!0u32), Just(0xffu32), Just(1u32), any::<u32>()];
    let wave = 0u8..3;
    prop_oneof![
        4 => (wave.clone(), place(), lanes()).prop_map(|(w, p, m)| Action::Load(w, p, m)),
        4 => (wave.clone(), place(), lanes(), 0u32..2)
            .prop_map(|(w, p, m, value)| Action::Store(w, p, m, value)),
        1 => (wave.clone(), 0u32..64).prop_map(|(w, at)| Action::Byte(w, at)),
        1 => (wave, 0u32..64).prop_map(|(w, at)| Action::Add(w, 4 * at)),
        1 => (0u32..256).prop_map(Action::Undefined),
        3 => Just(Action::Barrier),
    ]
}

fn first_request(at: &[u32; 32], bytes: u32, mask: u32, who: Who) -> Request<'_> {
    Request {
        at,
        bytes,
        mask,
        who,
        is_second: false,
    }
}

/// Executes an action. Returns the undefined bits that it loads.
fn apply(lds: &mut Lds, notes: bool, at: u32, action: &Action) -> Result<u32, ShareFault> {
    let mut undefined = 0;
    let place = |[first, stride, words]: [u32; 3]| {
        crate::lanes::each(|lane| 4 * (first + stride * words * lane as u32))
    };
    match *action {
        Action::Load(wave, p, mask) => {
            let (at, bytes, who) = (&place(p), 4 * p[2], Who { wave, at });
            let request = first_request(at, bytes, mask, who);
            if !(notes && lds.note_load(&request).is_done) {
                for lane in of_mask(mask) {
                    let loaded = lds.load(at[lane].into(), bytes, who)?;
                    undefined |= loaded.undefined.iter().fold(0, |all, bits| all | bits);
                }
            }
        }
        Action::Store(wave, p, mask, value) => {
            let (at, bytes, who) = (&place(p), 4 * p[2], Who { wave, at });
            let request = first_request(at, bytes, mask, who);
            if !(notes && lds.note_store(&request, |_, _| value).is_done) {
                for lane in of_mask(mask) {
                    lds.store(at[lane].into(), bytes, &[value; 4], who)?;
                }
            }
        }
        Action::Byte(wave, address) => {
            lds.store(address.into(), 1, &[1, 0, 0, 0], Who { wave, at })?;
        }
        Action::Add(wave, address) => {
            lds.update(address.into(), 4, Who { wave, at }, |old| old + 1)?;
        }
        Action::Undefined(address) => {
            let from = Origin {
                at,
                warp: 0,
                lane: 0,
                offset: 0,
                cause: Cause::Unwritten,
            };
            lds.store_undefined([(address.into(), from)]);
        }
        Action::Barrier => lds.next_interval(),
    }
    Ok(undefined)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn accesses_that_are_noted_are_judged_as_those_that_are_checked(actions in prop::collection::vec(action(), 1..40)) {
        let [mut quick, mut full] = [(); 2].map(|()| Lds::new(1022, || 0xdead_beef));
        // There are only three instructions, so some of them repeat their earlier accesses.
        for (at, action) in (0..3).cycle().zip(&actions) {
            let results = (apply(&mut quick, true, at, action), apply(&mut full, false, at, action));
            prop_assert_eq!(format!("{:?}", results.0), format!("{:?}", results.1));
            if results.0.is_err() {
                break;
            }
            prop_assert_eq!(&quick.words, &full.words);
        }
    }
}

//! Tests with real images of several compilers (complete, truncated, with flipped bits, and swapped) and with bytes
//! that are not an image at all.

use proptest::prelude::*;

use super::*;
use crate::compiler::BuildKind;

struct Sample {
    backend: Backend,
    arch: &'static str,
    says: &'static str,
    bytes: &'static [u8],
}

macro_rules! samples {
    ($($backend:ident $arch:literal $says:literal $file:literal;)*) => {
        [$(Sample {
            backend: Backend::$backend,
            arch: $arch,
            says: $says,
            bytes: include_bytes!(concat!("../../tests/images/", $file)),
        }),*]
    };
}

/// Images that NVRTC 12.9, NVRTC 13.5 and clang 19 compiled.
const SAMPLES: [Sample; 9] = samples! {
    Cuda "sm_86" "sm_86 (CUDA 13)" "sm_86.cuda13.cubin";
    Cuda "sm_89" "sm_89 (CUDA 12)" "sm_89.cuda12.cubin";
    Cuda "sm_89" "sm_89 (CUDA 13)" "sm_89.cuda13.cubin";
    Cuda "sm_90" "sm_90 (CUDA 12)" "sm_90a.cuda12.cubin";
    Cuda "sm_100" "sm_100 (CUDA 12)" "sm_100.cuda12.cubin";
    Hip "gfx906" "gfx906 (code object version 5)" "gfx906.v5.hsaco";
    Hip "gfx1100" "gfx1100 (code object version 4)" "gfx1100.v4.hsaco";
    Hip "gfx1151" "gfx1151 (code object version 5)" "gfx1151.v5.hsaco";
    Hip "gfx1151" "gfx1151 (code object version 6)" "gfx1151.v6.hsaco";
};

impl Sample {
    fn wanted(&self) -> Wanted {
        Wanted::of_target(self.backend, self.arch)
    }
}

fn cuda(sample: usize, driver: u32) -> Result<(), ImageError> {
    let wanted = Wanted {
        driver: Some(driver),
        ..SAMPLES[sample].wanted()
    };
    check_bytes(SAMPLES[sample].bytes, &wanted)
}

#[test]
fn every_image_says_what_it_was_compiled_for() {
    for sample in &SAMPLES {
        assert_eq!(describe(sample.bytes).as_deref(), Ok(sample.says));
        assert_eq!(has_kernel(sample.bytes, sample.backend, "k"), Ok(true));
        assert_eq!(has_kernel(sample.bytes, sample.backend, "kk"), Ok(false));
        assert_eq!(has_kernel(sample.bytes, sample.backend, ""), Ok(false));
    }
}

#[test]
fn an_image_fits_its_own_architecture_and_no_other() {
    for image in &SAMPLES {
        for device in &SAMPLES {
            let fits = image.backend == device.backend && image.arch == device.arch;
            let checked = check_bytes(image.bytes, &device.wanted());
            assert_eq!(checked.is_ok(), fits, "{} on {}", image.says, device.arch);
            let Err(error) = checked else { continue };
            let text = error.to_string();
            assert!(text.contains("\nhelp: "), "{text}");
            if image.backend == device.backend {
                assert!(
                    text.contains(image.arch) && text.contains(device.arch),
                    "{text}"
                );
            } else {
                assert!(matches!(error, ImageError::Machine { .. }), "{text}");
            }
        }
    }
}

#[test]
fn a_suffix_of_the_architecture_or_features_behind_it_do_not_matter() {
    let arch = |sample: usize, arch| {
        let wanted = Wanted::of_target(SAMPLES[sample].backend, arch);
        check_bytes(SAMPLES[sample].bytes, &wanted)
    };
    assert_eq!(arch(3, "sm_90a"), Ok(()));
    assert_eq!(arch(5, "gfx906:sramecc+:xnack-"), Ok(()));
    for nonsense in ["", "sm_", "sm_x", "89", "gfx", "sm_89b"] {
        assert!(arch(1, nonsense).is_err(), "{nonsense}");
        assert!(arch(7, nonsense).is_err(), "{nonsense}");
    }
}

#[test]
fn a_cubin_of_a_newer_toolkit_than_the_driver_is_refused() {
    assert_eq!(cuda(1, 12), Ok(()));
    assert_eq!(cuda(1, 13), Ok(()));
    assert_eq!(cuda(2, 13), Ok(()));
    assert_eq!(cuda(2, 14), Ok(()));
    let refused = ImageError::Driver {
        toolkit: 13,
        driver: 12,
    };
    assert_eq!(cuda(2, 12), Err(refused.clone()));
    assert!(
        refused
            .to_string()
            .contains("made by CUDA 13, but the driver here supports only CUDA 12")
    );
    // CUDA 12 already used the second layout for Blackwell.
    assert_eq!(cuda(4, 12), Ok(()));
}

#[test]
fn what_the_driver_takes_is_read_from_the_fingerprint() {
    let info = |backend, arch: &str, field: &str, value: &str| DeviceInfo {
        key: kiln_spec::DeviceKey {
            backend,
            arch: arch.into(),
            name: "device".into(),
        },
        limits: kiln_spec::targets::CPU_LIMITS,
        fingerprint: [(field.to_owned(), value.to_owned())].into(),
        instance: std::collections::BTreeMap::new(),
        ordinal: 0,
        timer_tick_ns: 1,
        is_simulated: false,
    };
    let wanted = |value| Wanted::of_device(&info(Backend::Cuda, "sm_89", CUDA_DRIVER, value));
    assert_eq!(wanted("12080").driver, Some(12));
    assert_eq!(wanted("13050").driver, Some(13));
    assert_eq!(wanted("unknown").driver, None);
    assert!(check_bytes(SAMPLES[2].bytes, &wanted("12080")).is_err());
    assert_eq!(check_bytes(SAMPLES[2].bytes, &wanted("13000")), Ok(()));
    let wanted = |value| Wanted::of_device(&info(Backend::Hip, "gfx1151", HIP_RUNTIME, value));
    assert_eq!(wanted("60342134").runtime, Some((6, 3)));
    assert_eq!(wanted("50221153").runtime, Some((5, 2)));
    assert_eq!(check_bytes(SAMPLES[8].bytes, &wanted("60342134")), Ok(()));
    let error = check_bytes(SAMPLES[8].bytes, &wanted("60241133")).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("has code object version 6, but version 4 to 5 is needed"),
        "{text}"
    );
    assert_eq!(check_bytes(SAMPLES[7].bytes, &wanted("60241133")), Ok(()));
}

#[test]
fn every_truncation_is_refused_with_what_is_missing() {
    for sample in &SAMPLES {
        for len in 0..sample.bytes.len() {
            let error = check_bytes(&sample.bytes[..len], &sample.wanted()).unwrap_err();
            match &error {
                ImageError::NotElf { .. } => assert_eq!(len, 0),
                ImageError::Truncated { needs, has, .. } => {
                    assert!(*has == len as u64 && needs > has, "{error}");
                }
                other => panic!("{} cut at {len}: {other}", sample.says),
            }
        }
    }
}

#[test]
fn every_flipped_bit_is_refused_by_the_hash_and_none_does_harm() {
    for sample in &SAMPLES {
        let artifact = |image: &[u8]| {
            Artifact::new(
                sample.backend,
                sample.arch,
                BuildKind::Release,
                image,
                String::new(),
            )
        };
        let baked = artifact(sample.bytes).hash;
        assert_eq!(check_hash(&artifact(sample.bytes), baked), Ok(()));
        let mut image = sample.bytes.to_vec();
        for place in 0..image.len() * 8 {
            let bit = 1 << (place % 8);
            image[place / 8] ^= bit;
            let error = check_hash(&artifact(&image), baked).unwrap_err();
            assert!(matches!(error, ImageError::Hash { .. }));
            let _ = check_bytes(&image, &sample.wanted());
            let _ = describe(&image);
            let _ = has_kernel(&image, sample.backend, "k");
            image[place / 8] ^= bit;
        }
    }
}

#[test]
fn a_flip_in_the_header_is_refused_without_the_hash() {
    // These bytes are the magic number, the class, the byte order, the OSABI and the machine.
    let places = (0..6).chain([7]).chain(18..20);
    for (sample, place) in SAMPLES
        .iter()
        .flat_map(|sample| places.clone().map(move |at| (sample, at)))
    {
        for bit in 0..8 {
            let mut image = sample.bytes.to_vec();
            image[place] ^= 1 << bit;
            let refused = check_bytes(&image, &sample.wanted()).is_err();
            assert!(refused, "{}: byte {place}, bit {bit}", sample.says);
        }
    }
    // The architecture is in the lowest byte of the flags, or in the second byte in the second layout of cubins.
    for sample in &SAMPLES {
        let second = sample.bytes[7] == 0x41;
        for bit in 0..8 {
            let mut image = sample.bytes.to_vec();
            image[48 + usize::from(second)] ^= 1 << bit;
            let error = check_bytes(&image, &sample.wanted()).unwrap_err();
            assert!(matches!(error, ImageError::Architecture { .. }), "{error}");
        }
    }
}

#[test]
fn an_architecture_that_this_version_does_not_know_is_left_to_the_driver() {
    let mut image = SAMPLES[7].bytes.to_vec();
    image[48] = 0xfe;
    let on = |arch| check_bytes(&image, &Wanted::of_target(Backend::Hip, arch));
    assert_eq!(on("gfx4711"), Ok(()));
    let error = on("gfx1151").unwrap_err().to_string();
    assert!(
        error.contains("unknown to this version (number 0xfe), but the device is gfx1151"),
        "{error}"
    );
    assert!(
        check_bytes(
            SAMPLES[7].bytes,
            &Wanted::of_target(Backend::Hip, "gfx4711")
        )
        .is_err()
    );
}

#[test]
fn what_is_no_image_is_refused_with_its_first_bytes() {
    let cases: [(&[u8], &str); 5] = [
        (b"", "it begins with nothing"),
        (b"\x89PNG\r\n\x1a\n", "it begins with 89 50 4e 47 0d 0a"),
        (b"// Generated by NVIDIA NVVM Compiler", "2f 2f 20 47 65 6e"),
        (b"\x7fELF\x01\x01\x01", "7f 45 4c 46 01 01"),
        (b"\x7fELF\x02\x02\x01", "7f 45 4c 46 02 02"),
    ];
    for (bytes, says) in cases {
        let error = check_bytes(bytes, &SAMPLES[0].wanted()).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    }
    let here = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let error = check_bytes(&here, &SAMPLES[0].wanted()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("processors, not for NVIDIA GPUs"), "{text}");
    assert_eq!(
        check_bytes(&here, &Wanted::of_target(Backend::Cpu, "cpu")),
        Ok(())
    );
    let error = check_bytes(SAMPLES[0].bytes, &Wanted::of_target(Backend::Cpu, "cpu")).unwrap_err();
    assert!(matches!(error, ImageError::Machine { .. }), "{error}");
}

#[test]
fn an_artifact_of_another_backend_is_refused() {
    let artifact = Artifact::new(
        Backend::Hip,
        "sm_89",
        BuildKind::Release,
        SAMPLES[1].bytes,
        String::new(),
    );
    let error = check(&artifact, &SAMPLES[1].wanted()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the image is for hip, but the device belongs to cuda")
    );
}

#[test]
fn tables_that_point_anywhere_are_refused() {
    // These fields are the positions of the segment table and the section table, the sizes and numbers of their
    // entries, and the index of the section with the names.
    let places = [
        (32, 8),
        (40, 8),
        (54, 2),
        (56, 2),
        (58, 2),
        (60, 2),
        (62, 2),
    ];
    for (sample, (at, bytes)) in SAMPLES
        .iter()
        .flat_map(|sample| places.map(move |place| (sample, place)))
    {
        let mut image = sample.bytes.to_vec();
        image[at..at + bytes].fill(0xff);
        let error = check_bytes(&image, &sample.wanted()).unwrap_err();
        assert!(
            matches!(
                error,
                ImageError::Truncated { .. } | ImageError::Damaged { .. }
            ),
            "{} at {at}: {error}",
            sample.says
        );
    }
}

#[test]
fn a_segment_or_section_without_bytes_in_the_file_may_have_any_offset() {
    // GNU ld 2.47 places `.bss` in a segment of its own, whose offset is behind the end of the file.
    const BEHIND_THE_END: [u8; 8] = (1u64 << 40).to_le_bytes();
    let number = |image: &[u8], at: usize, bytes: usize| {
        let digits = image[at..at + bytes].iter().rev();
        digits.fold(0, |number, &byte| number << 8 | usize::from(byte))
    };
    let mut empty = 0;
    for sample in &SAMPLES {
        let mut image = sample.bytes.to_vec();
        // For each table, the places of its offset, entry size and count in the header, and of the offset and the size
        // in an entry.
        for (table, size, count, offset, length) in [(32, 54, 56, 8, 32), (40, 58, 60, 24, 32)] {
            let (table, size) = (number(&image, table, 8), number(&image, size, 2));
            for entry in (0..number(&image, count, 2)).map(|entry| table + entry * size) {
                if number(&image, entry + length, 8) == 0 {
                    image[entry + offset..entry + offset + 8].copy_from_slice(&BEHIND_THE_END);
                    empty += 1;
                }
            }
        }
        assert_eq!(
            check_bytes(&image, &sample.wanted()),
            Ok(()),
            "{}",
            sample.says
        );
    }
    assert!(empty > SAMPLES.len(), "each image has an empty section");
}

proptest! {
    #[test]
    fn any_bytes_behind_a_right_beginning_are_read_without_harm(
        tail in prop::collection::vec(any::<u8>(), 0..300),
        sample in 0..SAMPLES.len(),
        kept in 6..64_usize,
    ) {
        let sample = &SAMPLES[sample];
        let image = [&sample.bytes[..kept], &tail].concat();
        let _ = check_bytes(&image, &sample.wanted());
        let _ = describe(&image);
        let _ = has_kernel(&image, sample.backend, "k");
    }

    #[test]
    fn any_bytes_in_the_place_of_others_are_read_without_harm(
        patch in prop::collection::vec(any::<u8>(), 1..80),
        at in 0..4000_usize,
        sample in 0..SAMPLES.len(),
    ) {
        let sample = &SAMPLES[sample];
        let mut image = sample.bytes.to_vec();
        let at = at % image.len();
        let end = image.len().min(at + patch.len());
        image[at..end].copy_from_slice(&patch[..end - at]);
        let _ = check_bytes(&image, &sample.wanted());
        let _ = has_kernel(&image, sample.backend, "k");
    }
}

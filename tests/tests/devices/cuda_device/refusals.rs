//! Requests that are rejected before the driver is called, functions that a driver may lack, and NVML's reports.

use super::*;

#[test]
fn what_the_driver_would_call_invalid_is_told_apart_before_it_is_asked() {
    in_child("refusals::child_asks_for_what_there_is_not");
}

#[test]
#[ignore = "the child of another test"]
fn child_asks_for_what_there_is_not() {
    let device = device();
    let compiled = |target: &str| {
        let backend = Backend::Cuda;
        let config = kernel().config(Choice::Baseline);
        let entry = kernel().entry(Choice::Baseline);
        let unit = prepare::generate(kernel(), entry, &config, &problem(3), backend)
            .expect("the unit should be generated");
        let artifact =
            prepare::compile(&*device, &unit, BuildKind::Release).expect("the unit should compile");
        Artifact {
            target: target.into(),
            ..artifact
        }
    };
    for target in ["sm_1", "sm_86", "toaster"] {
        let error = device.load(&compiled(target)).map(drop).unwrap_err();
        let said = error.to_string();
        let names = format!("it was compiled for {target}, not for sm_89");
        assert!(said.contains(&names), "{said}");
    }
    let module = device.load(&compiled("sm_89")).unwrap();
    let error = module.function("").unwrap_err();
    assert!(matches!(error, DeviceError::NotFound { .. }), "{error:?}");
    let error = device.alloc(usize::MAX, 256).map(drop).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Oom, "{error}");
}

#[test]
fn a_driver_that_maps_no_memory_leaves_kernels_guarded_by_zones() {
    // Errors of sandboxes and virtual GPUs: not permitted, not initialized, and unknown to the layer in between.
    for code in ["800", "3", "304"] {
        let given = [("KILN_STAND_IN_CREATE", code)];
        in_child_with("refusals::child_has_no_fences", &given);
    }
}

#[test]
#[ignore = "the child of another test"]
fn child_has_no_fences() {
    let device = device();
    let error = device.alloc_guarded(100, 16).map(drop).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Unsupported, "{error}");
    let stream = Stream::default_of(device);
    let spec = Arc::new(kernel().spec().clone());
    Rig::new(&stream, &spec, &problem(100), 1, Layout::Fences)
        .expect("zones should take the place of fences");
}

#[test]
fn a_device_tells_its_clock_and_what_holds_it_down() {
    for told in ["1980 0x4", "1200 0x48", "unknown"] {
        in_child_with(
            "refusals::child_reads_its_clock",
            &[("KILN_STAND_IN_CLOCK", told)],
        );
    }
}

#[test]
#[ignore = "the child of another test"]
fn child_reads_its_clock() {
    let told = std::env::var("KILN_STAND_IN_CLOCK").expect("the parent should say it");
    let reading = device().clock().expect("NVML should be there");
    let expected = match &*told {
        // A power limit is not reported as throttling.
        "1980 0x4" => (Some(1_980_000), false),
        "1200 0x48" => (Some(1_200_000), true),
        _ => (None, false),
    };
    assert_eq!((reading.khz, reading.is_braked), expected, "{told}");
}

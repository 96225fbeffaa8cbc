//! Tests with sample logs of compilers and with damaged images. Real images are read in the crate `kiln-tests`, where
//! compilers are available.

use kiln_spec::{Backend, KernelLimits, LaunchPlan, targets};
use proptest::prelude::*;

use super::*;

const PTXAS: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'both' for 'sm_86'
ptxas info    : Function properties for both
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 1 barriers, 400 bytes smem, 360 bytes cmem[0]
ptxas info    : Compile time = 2.432 ms
ptxas info    : Compiling entry function 'both_b' for 'sm_86'
ptxas info    : Function properties for _Z4deepfi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for both_b
    344 bytes stack frame, 352 bytes spill stores, 348 bytes spill loads
ptxas info    : Used 64 registers, 372 bytes cmem[0]
";

const REMARKS: &str = "\
k.cu:1:1: remark: Function Name: first [-Rpass-analysis=kernel-resource-usage]
    1 | __global__ void first() { }
      | ^
k.cu:1:1: remark:     SGPRs: 2 [-Rpass-analysis=kernel-resource-usage]
k.cu:1:1: remark:     VGPRs: 96 [-Rpass-analysis=kernel-resource-usage]
k.cu:1:1: remark:     ScratchSize [bytes/lane]: 16 [-Rpass-analysis=kernel-resource-usage]
k.cu:1:1: remark:     Dynamic Stack: False [-Rpass-analysis=kernel-resource-usage]
k.cu:1:1: remark:     Occupancy [waves/SIMD]: 11 [-Rpass-analysis=kernel-resource-usage]
k.cu:1:1: remark:     SGPRs Spill: 1 [-Rpass-analysis=kernel-resource-usage]
k.cu:1:1: remark:     VGPRs Spill: 4 [-Rpass-analysis=kernel-resource-usage]
k.cu:1:1: remark:     LDS Size [bytes/block]: 4096 [-Rpass-analysis=kernel-resource-usage]
k.cu:9:1: remark: Function Name: second [-Rpass-analysis=kernel-resource-usage]
k.cu:9:1: remark:     TotalSGPRs: 3 [-Rpass-analysis=kernel-resource-usage]
k.cu:9:1: remark:     VGPRs: 1 [-Rpass-analysis=kernel-resource-usage]
k.cu:9:1: remark:     ScratchSize [bytes/lane]: 0 [-Rpass-analysis=kernel-resource-usage]
k.cu:9:1: remark:     LDS Size [bytes/block]: 0 [-Rpass-analysis=kernel-resource-usage]
";

#[test]
fn the_lines_of_ptxas_are_read_for_the_entry_asked_for() {
    let both = from_log(Backend::Cuda, PTXAS, "both").unwrap();
    assert_eq!(
        (
            both.registers,
            both.limits.static_shared_bytes,
            both.stack_bytes
        ),
        (12, 400, 0)
    );
    assert_eq!(both.barriers, Some(1));
    let spilling = from_log(Backend::Cuda, PTXAS, "both_b").unwrap();
    assert_eq!(
        (
            spilling.registers,
            spilling.limits.static_shared_bytes,
            spilling.stack_bytes
        ),
        (64, 0, 344)
    );
    assert_eq!(
        spilling.spills,
        Some(Spills::Bytes {
            stores: 352,
            loads: 348
        })
    );
    assert_eq!(spilling.barriers, Some(0));
    let missing = from_log(Backend::Cuda, PTXAS, "bot");
    assert!(
        matches!(missing, Err(InspectError::NotInLog { .. })),
        "{missing:?}"
    );
}

#[test]
fn remarks_are_read_for_the_entry_asked_for() {
    let first = from_log(Backend::Hip, REMARKS, "first").unwrap();
    assert_eq!(
        (
            first.registers,
            first.limits.static_shared_bytes,
            first.stack_bytes
        ),
        (96, 4096, 16)
    );
    assert_eq!(first.scalar_registers, Some(2));
    assert_eq!(
        first.spills,
        Some(Spills::Registers {
            vector: 4,
            scalar: 1
        })
    );
    assert_eq!(waves_per_simd(REMARKS, "first"), Some(11));
    let second = from_log(Backend::Hip, REMARKS, "second").unwrap();
    assert_eq!(
        (second.registers, second.scalar_registers, second.spills),
        (1, Some(3), None)
    );
    assert!(matches!(
        from_log(Backend::Hip, REMARKS, "third"),
        Err(InspectError::NotInLog { .. })
    ));
    let cut = &REMARKS[..REMARKS.find("    ScratchSize").unwrap()];
    assert!(matches!(
        from_log(Backend::Hip, cut, "first"),
        Err(InspectError::Log { .. })
    ));
}

#[test]
fn sources_that_disagree_are_an_error_that_names_both() {
    let image = Resources {
        registers: 40,
        ..Resources::default()
    };
    let log = Resources {
        registers: 41,
        ..Resources::default()
    };
    let error = image.joined_with(&log, "gemm").unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("`gemm`: the image says 40 registers, but the compiler's log says 41"),
        "{text}"
    );
}

#[test]
fn formulas_of_clang_22_leave_the_figures_to_the_image() {
    let formula = REMARKS.replace("VGPRs: 96", "VGPRs: first.num_vgpr");
    let error = from_log(Backend::Hip, &formula, "first").unwrap_err();
    assert!(matches!(error, InspectError::NotInLog { .. }), "{error}");
    let absent = REMARKS.replace("VGPRs: 96", "Registers: 96");
    let error = from_log(Backend::Hip, &absent, "first").unwrap_err();
    assert!(matches!(error, InspectError::Log { .. }), "{error}");
}

#[test]
fn programs_of_the_host_have_nothing_to_tell() {
    let error = from_image(Backend::Cpu, b"\x7fELF", "k").unwrap_err();
    assert!(error.to_string().contains("--target sm_89"), "{error}");
}

fn plan(threads: u32, shared_bytes: u32) -> LaunchPlan {
    LaunchPlan {
        grid: [1, 1, 1],
        block: [threads, 1, 1],
        shared_bytes,
    }
}

fn check(arch: &str, resources: &Resources, plan: &LaunchPlan) -> Result<(), CannotLaunch> {
    let limits = &targets::target("sm_89").unwrap().limits;
    let backend = Backend::Cuda;
    let rules = LaunchRules {
        arch,
        backend,
        limits,
    };
    rules.check(resources, plan)
}

#[test]
fn what_cannot_launch_is_told_with_its_reason() {
    let fits = Resources {
        registers: 64,
        limits: KernelLimits {
            static_shared_bytes: 1024,
            ..KernelLimits::default()
        },
        ..Resources::default()
    };
    assert_eq!(check("sm_89", &fits, &plan(1024, 100_352)), Ok(()));
    let shared = check("sm_89", &fits, &plan(32, 100_353)).unwrap_err();
    assert_eq!(
        shared.to_string(),
        "shared memory over a block's: 1024 static and 100353 dynamic bytes, but a block has 101376"
    );
    let many = Resources {
        registers: 65,
        ..Resources::default()
    };
    let registers = check("sm_89", &many, &plan(1024, 0)).unwrap_err();
    assert_eq!(registers.name(), "registers over a block's");
    // The target table has no row for this architecture, so the driver decides.
    assert_eq!(check("sm_80", &many, &plan(1024, 0)), Ok(()));
    let bounded = Resources {
        limits: KernelLimits {
            max_threads: Some(128),
            ..fits.limits
        },
        ..fits
    };
    let threads = check("sm_89", &bounded, &plan(256, 0)).unwrap_err();
    assert_eq!(
        threads.to_string(),
        "threads over launch bounds: 256 threads per block, but the bounds allow 128"
    );
}

#[test]
fn spills_are_no_reason_not_to_launch() {
    let spills = Some(Spills::Bytes {
        stores: 4096,
        loads: 4096,
    });
    let spilling = Resources {
        registers: 64,
        spills,
        ..Resources::default()
    };
    assert_eq!(check("sm_89", &spilling, &plan(1024, 0)), Ok(()));
}

proptest! {
    #[test]
    fn no_bytes_make_reading_an_image_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        for backend in [Backend::Cuda, Backend::Hip] {
            prop_assert!(from_image(backend, &bytes, "k").is_err());
        }
    }

    #[test]
    fn no_text_makes_reading_a_log_panic(text in "(ptxas info    : |Compiling entry function 'k'|Used |[0-9]{1,12} registers|\
        [0-9]{0,12} bytes smem|remark: |Function Name: k|VGPRs: [0-9]{0,12}| \\[-Rpass-analysis=kernel-resource-usage\\]|\n|.){0,60}") {
        for backend in [Backend::Cuda, Backend::Hip] {
            let _ = from_log(backend, &text, "k");
        }
    }
}

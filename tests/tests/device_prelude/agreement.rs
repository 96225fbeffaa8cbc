//! Checks that functions in Kiln's headers give the same bits as the functions of the same names in NVIDIA's headers.
//! The tables of functions are in `fixtures/prelude/agree_*.cu`. The simulated `sm_86` executes NVIDIA's own
//! definitions, as NVRTC compiles them. All NaNs count as equal.
#![allow(deprecated, reason = "none of them is baked: that is the warning")]

use kiln::prepare::{compile, generate, load};
use kiln::reference::Wide;
use kiln::rig::{Layout, Rig};
use kiln::{Kernel, Stream, tuned_kernel};
use kiln_tests::capability::{Need, have};
use kiln_tests::test_device;

const ELEMENTS: usize = 2048;

/// Declares a kernel and a test for each table of functions. An entry has the name of the kernel, the file of the
/// table, its number of lines, and the name of the test.
macro_rules! tables {
    ($($name:ident, $source:tt, $cases:tt, $test:ident;)*) => {$(
        #[tuned_kernel(
            source = $source,
            params(THREADS in [64]),
            baseline(THREADS = 64),
            grid(n.div_ceil(THREADS)),
            block(THREADS),
            problems((n = 2048)),
            tolerance(relative = 0),
        )]
        unsafe extern "C" {
            pub fn $name(n: u32, #[len(n * $cases)] out: &mut [u32]);
        }

        #[test]
        fn $test() {
            let cases: Vec<&str> = include_str!($source).lines()
                .filter_map(|line| line.trim().strip_prefix("CASE(")?.strip_suffix(')'))
                .collect();
            assert_eq!(cases.len(), $cases);
            assert_agrees(stringify!($test), &$name::KERNEL, &cases);
        }
    )*};
}

tables! {
    agree_integers, "../../fixtures/prelude/agree_integers.cu", 33, integer_intrinsics_are_nvidias;
    agree_simd, "../../fixtures/prelude/agree_simd.cu", 110, simd_intrinsics_are_nvidias;
    agree_rounding, "../../fixtures/prelude/agree_rounding.cu", 126, rounding_intrinsics_are_nvidias;
    agree_fp8, "../../fixtures/prelude/agree_fp8.cu", 84, functions_of_8_bit_floats_are_nvidias;
    agree_halves, "../../fixtures/prelude/agree_halves.cu", 187, functions_of_halves_are_nvidias;
    agree_bfloat16s, "../../fixtures/prelude/agree_bfloat16s.cu", 190, functions_of_bfloat16s_are_nvidias;
}

/// The results of a table's kernel on a device: `ELEMENTS` for each line of the table.
fn results(device: &str, kernel: &'static Kernel) -> Vec<u32> {
    let stream = Stream::default_of(kiln::open(device).unwrap());
    let device = stream.device();
    let (spec, problem) = (kernel.spec(), &kernel.spec().problems[0]);
    let config = &spec.baseline.config;
    let dialect = test_device::dialect(&**device);
    let unit = generate(kernel, &spec.entry, config, problem, dialect).unwrap();
    let artifact = compile(&**device, &unit, kiln::compiler::BuildKind::Release)
        .unwrap_or_else(|error| panic!("{}: {error}", kernel.name()));
    let prepared = load(&**device, &unit, &artifact).unwrap();
    let spec = std::sync::Arc::new(spec.clone());
    let rig = Rig::new(&stream, &spec, problem, 0, Layout::Fences).unwrap();
    let plan = spec
        .plan(config, problem, Some(&device.info().limits))
        .unwrap();
    rig.launch(&prepared.release, &plan).unwrap();
    match rig.outputs().unwrap().output(1) {
        Some(Wide::U32(results)) => results.clone(),
        other => panic!("{other:?}"),
    }
}

fn assert_agrees(test: &str, kernel: &'static Kernel, cases: &[&str]) {
    if !have(test, &[Need::Nvrtc]) {
        return;
    }
    let nvidias = results("sim:sm_86", kernel);
    for (device, need) in [("cpu", Need::HostCompiler), ("sim:gfx1151", Need::AmdClang)] {
        if !have(&format!("{test} ({device})"), &[need]) {
            continue;
        }
        let own = results(device, kernel);
        let differing = cases.iter().enumerate().filter_map(|(case, expression)| {
            let of_case = case * ELEMENTS..(case + 1) * ELEMENTS;
            let mut pairs = own[of_case.clone()].iter().zip(&nvidias[of_case]);
            let element = pairs.clone().position(|(own, nvidias)| own != nvidias)?;
            let count = pairs.clone().filter(|(own, nvidias)| own != nvidias).count();
            let (own, nvidias) = pairs.nth(element)?;
            Some(format!(
                "{expression}: {count} differ, first element {element}: {own:#010x}, on sm_86 {nvidias:#010x}\n"
            ))
        });
        let differing: String = differing.collect();
        assert!(differing.is_empty(), "on {device}:\n{differing}");
    }
}

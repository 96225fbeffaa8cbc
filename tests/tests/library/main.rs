//! Tests every kernel of the library, on the cpu or on the device that `KILN_TEST_DEVICE` selects.

mod configs;
mod edges;
mod elsewhere;
mod micro_tile;
mod quoted;
mod seeds;
mod tiles;
mod vectors;
mod verify;

use std::collections::BTreeSet;

/// Generates one test per kernel, named after the kernel. It executes the kernel's image for a GPU on a simulation of
/// this GPU.
macro_rules! simulated {
    ($module:ident, $arch:literal, $compiler:ident, $($kernel:ident)*) => {
        mod $module {
            use kiln_tests::capability::Need;

            $(
                #[test]
                fn $kernel() {
                    let kernel = &kiln_kernels::$kernel::$kernel::KERNEL;
                    let test = concat!("library ", stringify!($module), "::", stringify!($kernel));
                    crate::verify::verify_simulated(test, kernel, $arch, Need::$compiler);
                }
            )*
        }
    };
}

macro_rules! kernels {
    ($($kernel:ident)*) => {
        /// One test per kernel, named after the kernel.
        mod is_right {
            $(
                #[test]
                fn $kernel() {
                    let kernel = &kiln_kernels::$kernel::$kernel::KERNEL;
                    crate::verify::verify(concat!("library is_right::", stringify!($kernel)), kernel);
                }
            )*
        }

        simulated!(is_right_on_simulated_gfx1151, "gfx1151", AmdClang, $($kernel)*);
        simulated!(is_right_on_simulated_sm_86, "sm_86", Nvrtc, $($kernel)*);

        /// One test per kernel, named after the kernel.
        mod is_right_at_quoted_sizes {
            $(
                #[test]
                fn $kernel() {
                    let kernel = &kiln_kernels::$kernel::$kernel::KERNEL;
                    let test = concat!("library is_right_at_quoted_sizes::", stringify!($kernel));
                    crate::quoted::verify(test, kernel);
                }
            )*
        }

        /// One test per kernel, named after the kernel.
        mod no_seed_is_refused {
            $(
                #[test]
                fn $kernel() {
                    let kernel = &kiln_kernels::$kernel::$kernel::KERNEL;
                    let test = concat!("library no_seed_is_refused::", stringify!($kernel));
                    crate::seeds::sweep(test, kernel);
                }
            )*
        }

        const TESTED: &[&str] = &[$(stringify!($kernel)),*];
    };
}

kernels! {
    analytic_signal
    bias_gelu
    broadcast_add
    conv2d
    conv3x3
    fir_bandpass
    flash_attention
    gelu
    gemm
    gemm_f16
    layer_norm
    modulation_index
    reduce
    rms_norm
    softmax
    tensor_add
    tensor_mul
    tile_blend
    tile_extract
    transpose
}

/// The kernels with copies in flight or matrix instructions. The PTX of a config is the same for `sm_86`, `sm_89` and
/// `sm_90`, but the limits differ: with more shared memory, a block has more stages and larger tiles.
macro_rules! kernels_with_stages {
    ($($kernel:ident)*) => {
        simulated!(is_right_on_simulated_sm_89, "sm_89", Nvrtc, $($kernel)*);
        simulated!(is_right_on_simulated_sm_90, "sm_90", Nvrtc, $($kernel)*);
    };
}

kernels_with_stages! {
    conv3x3
    flash_attention
    gemm
    gemm_f16
}

#[test]
fn random_configs_of_warpgroups_are_right_on_a_simulated_h100() {
    let test = "library random_configs_of_warpgroups_are_right_on_a_simulated_h100";
    verify::verify_warpgroups(test, &kiln_kernels::gemm_f16::KERNEL);
}

#[test]
fn every_kernel_of_the_catalogue_is_tested_here() {
    let catalogue: BTreeSet<_> = kiln_kernels::catalogue()
        .iter()
        .map(|kernel| kernel.name())
        .collect();
    assert_eq!(TESTED.iter().copied().collect::<BTreeSet<_>>(), catalogue);
}

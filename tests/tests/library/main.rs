//! Every kernel of the library, on the cpu or the device that `KILN_TEST_DEVICE` names.

mod configs;
mod edges;
mod elsewhere;
mod micro_tile;
mod quoted;
mod seeds;
mod tiles;
mod verify;

use std::collections::BTreeSet;

macro_rules! kernels {
    ($($kernel:ident)*) => {
        /// A test for each kernel, with its name.
        mod is_right {
            $(
                #[test]
                fn $kernel() {
                    let kernel = &kiln_kernels::$kernel::$kernel::KERNEL;
                    crate::verify::verify(concat!("library is_right::", stringify!($kernel)), kernel);
                }
            )*
        }

        /// A test for each kernel, with its name: the machine code of a GPU, executed without one.
        mod is_right_on_simulated_gfx1151 {
            use kiln_tests::capability::Need;

            $(
                #[test]
                fn $kernel() {
                    let kernel = &kiln_kernels::$kernel::$kernel::KERNEL;
                    let test = concat!("library is_right_on_simulated_gfx1151::", stringify!($kernel));
                    crate::verify::verify_simulated(test, kernel, "gfx1151", Need::AmdClang);
                }
            )*
        }

        /// A test for each kernel, with its name: the PTX of a GPU, executed without one.
        mod is_right_on_simulated_sm_86 {
            use kiln_tests::capability::Need;

            $(
                #[test]
                fn $kernel() {
                    let kernel = &kiln_kernels::$kernel::$kernel::KERNEL;
                    let test = concat!("library is_right_on_simulated_sm_86::", stringify!($kernel));
                    crate::verify::verify_simulated(test, kernel, "sm_86", Need::Nvrtc);
                }
            )*
        }

        /// A test for each kernel, with its name.
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

        /// A test for each kernel, with its name.
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

/// Kernels with copies in flight or matrix instructions. For `sm_89` and `sm_90` the PTX of a config is that for
/// `sm_86`, but the limits are others: with more shared memory a block has more stages and larger tiles.
macro_rules! kernels_with_stages {
    ($($kernel:ident)*) => {
        /// A test for each, with its name.
        mod is_right_on_simulated_sm_89 {
            $(
                #[test]
                fn $kernel() {
                    let kernel = &kiln_kernels::$kernel::$kernel::KERNEL;
                    let test = concat!("library is_right_on_simulated_sm_89::", stringify!($kernel));
                    crate::verify::verify_simulated(test, kernel, "sm_89", kiln_tests::capability::Need::Nvrtc);
                }
            )*
        }

        /// A test for each, with its name.
        mod is_right_on_simulated_sm_90 {
            $(
                #[test]
                fn $kernel() {
                    let kernel = &kiln_kernels::$kernel::$kernel::KERNEL;
                    let test = concat!("library is_right_on_simulated_sm_90::", stringify!($kernel));
                    crate::verify::verify_simulated(test, kernel, "sm_90", kiln_tests::capability::Need::Nvrtc);
                }
            )*
        }
    };
}

kernels_with_stages! {
    conv3x3
    flash_attention
    gemm
    gemm_f16
}

#[test]
fn every_kernel_of_the_catalogue_is_tested_here() {
    let catalogue: BTreeSet<_> = kiln_kernels::catalogue()
        .iter()
        .map(|kernel| kernel.name())
        .collect();
    assert_eq!(TESTED.iter().copied().collect::<BTreeSet<_>>(), catalogue);
}

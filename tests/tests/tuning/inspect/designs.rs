//! The properties that the designs of the library's matrix kernels promise, measured with the counters of simulated
//! GPUs.

use kiln::backend::hip::HipCompiler;
use kiln::compiler::Compiler as _;
use kiln_tests::command::{expect_code, stdout, tune, workspace};
use serde_json::Value;

/// A config, and the properties that its profile must have.
struct Design {
    kernel: &'static str,
    problem: &'static str,
    config: &'static str,
    targets: &'static [&'static str],
    /// The counter of the main loop (`matrix_per_100` or `multiply_adds_per_100`), and its minimum per 100
    /// instructions.
    share: (&'static str, f64),
    /// The minimum share of the moved sectors' bytes that must be used, in percent.
    sector_use: f64,
}

const DESIGNS: [Design; 5] = [
    Design {
        kernel: "gemm_f16",
        problem: "T=f16,m=512,n=512,k=512",
        config: "BLOCK_M=128,BLOCK_N=128,BLOCK_K=32,WARPS_M=2,WARPS_N=2,STAGES=3,TILES=1,LANES_M=4,GROUP_M=8",
        targets: &["sm_86", "sm_90"],
        share: ("matrix_per_100", 24.0),
        sector_use: 89.0,
    },
    Design {
        kernel: "gemm_f16",
        problem: "T=f16,m=512,n=512,k=512",
        config: "BLOCK_M=128,BLOCK_N=128,BLOCK_K=32,WARPS_M=2,WARPS_N=2,STAGES=2,TILES=1,LANES_M=4,GROUP_M=8",
        targets: &["gfx1151"],
        share: ("matrix_per_100", 9.0),
        sector_use: 99.0,
    },
    Design {
        kernel: "gemm_f16",
        problem: "T=f16,m=512,n=512,k=512",
        config: "BLOCK_M=128,BLOCK_N=256,BLOCK_K=64,WARPS_M=8,WARPS_N=1,STAGES=4,TILES=2,LANES_M=4,GROUP_M=8",
        targets: &["sm_90"],
        share: ("matrix_per_100", 30.0),
        sector_use: 85.0,
    },
    Design {
        kernel: "flash_attention",
        problem: "heads=1,seq=512,dim=64,causal=1",
        config: "WARPS=4,LANES=32,QUERIES=32,BLOCK_K=64,STAGES=2,VECTOR_WIDTH=8,TILES=1,HEAD_DIM=64",
        targets: &["sm_86", "sm_90"],
        share: ("matrix_per_100", 10.0),
        sector_use: 70.0,
    },
    Design {
        kernel: "gemm",
        problem: "m=512,n=512,k=512",
        config: "BLOCK_M=128,BLOCK_N=128,BLOCK_K=16,THREAD_M=8,THREAD_N=8,VECTOR_WIDTH=4,UNROLL=4,WALK=0",
        targets: &["sm_86", "gfx1151"],
        share: ("multiply_adds_per_100", 75.0),
        sector_use: 99.0,
    },
];

fn profile(design: &Design, target: &str) -> Value {
    let cache = tempfile::tempdir().expect("a temporary directory should be had");
    let mut command = tune(&workspace(), cache.path());
    command.args(["inspect", "--profile", "--json", "--blocks", "1"]);
    command.args(["-p", "kiln-kernels", "-k", design.kernel]);
    command.args(["--target", target, "--problem", design.problem]);
    let output = expect_code(command.args(["--config", design.config]), 0);
    let rows: Value = serde_json::from_str(&stdout(&output)).expect("rows should be printed");
    rows[0]["profile"].clone()
}

/// What the profile of a design must show on a target.
struct Bounds {
    /// The minimum of [`Design::share`].
    share: f64,
    /// The maximum number of requests to private memory, which are spills, in the main loop.
    private_requests: u64,
    /// The maximum number of cycles of a request to shared memory, beyond the first.
    conflicts: f64,
}

/// The bounds of a design. On AMD GPUs, `gemm` needs more cycles where it transposes its left tile. The kernels were
/// written with clang 19. Newer versions compile the same source to more instructions, and spill in the f16 product.
fn bounds(design: &Design, arch: &str) -> Bounds {
    let share = design.share.1;
    let of = |share, private_requests, conflicts| Bounds {
        share,
        private_requests,
        conflicts,
    };
    if arch != "gfx1151" {
        return of(share, 0, 0.05);
    }
    let clang = HipCompiler::new(arch).expect("clang should be found");
    let version = &clang.identity().version;
    match (version.split('.').next(), design.kernel) {
        (Some("22"), "gemm_f16") => of(5.7, 3984, 0.0),
        (Some("23"), "gemm_f16") => of(8.3, 60, 0.0),
        (Some("22" | "23"), _) => of(share, 0, 0.115),
        _ => of(share, 0, 0.11),
    }
}

#[test]
fn matrix_kernels_spend_their_instructions_on_products_and_wait_for_no_bank() {
    let known = super::targets("matrix_kernels_spend_their_instructions_on_products");
    for design in DESIGNS {
        let here = known
            .iter()
            .filter(|known| design.targets.contains(&known.arch));
        for target in here {
            let profile = profile(&design, target.arch);
            let what = format!("{} on {}: {profile:#}", design.kernel, target.arch);
            let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{what}"));
            let (bounds, hot) = (bounds(&design, target.arch), &profile["hot_loop"]);
            assert!(number(&hot[design.share.0]) >= bounds.share, "{what}");
            let spills = hot["private_requests"].as_u64();
            assert!(
                spills.is_some_and(|spills| spills <= bounds.private_requests),
                "{what}"
            );
            // On AMD GPUs, the main loop contains a loop over single elements, for incomplete rows.
            let inner_loops = u64::from(target.arch == "gfx1151");
            assert!(hot["inner_loops"].as_u64() <= Some(inner_loops), "{what}");
            assert_eq!(number(&hot["conflicts_per_request"]), 0.0, "{what}");
            let conflicts = number(&profile["conflicts_per_request"]);
            assert!(conflicts <= bounds.conflicts, "{what}");
            assert!(
                number(&profile["sector_use_percent"]) >= design.sector_use,
                "{what}"
            );
        }
    }
}

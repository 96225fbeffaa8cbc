//! Tests the sizes that are derived for verification.

use proptest::prelude::*;

use super::*;
use crate::space::SearchSpace;
use crate::targets::CPU_LIMITS;
use crate::testing::random_spec;

proptest! {
    #[test]
    fn verification_problems_are_few_small_valid_and_always_the_same(spec in random_spec()) {
        let problem = &spec.problems[0];
        let limits = Some(&CPU_LIMITS);
        let Ok(space) = SearchSpace::build(&spec, problem, &CPU_LIMITS) else { return Ok(()) };
        let configs: Vec<_> = (0..space.len().min(5)).map(|i| space.config(i)).collect();
        let sizes = Sizes::new(&spec, &configs, problem, limits);
        let shared = sizes.shared();
        prop_assert_eq!(&shared, &verification_problems(&spec, &configs, problem, limits));
        prop_assert!(shared.len() <= MAX_PROBLEMS);
        for p in &shared {
            prop_assert!(spec.footprint_bytes(p).unwrap() <= 4 << 20);
            prop_assert!(spec.check_baseline(p, limits).is_ok());
        }
        for config in &configs {
            let own = sizes.derived_for(config);
            prop_assert!(own.len() <= MAX_PROBLEMS);
            prop_assert_eq!(&own, &sizes.derived_for(config));
            for p in own.iter().chain(&sizes.neighbours(config)).chain(&sizes.reshaped(config)) {
                prop_assert!(spec.check_baseline(p, limits).is_ok());
                prop_assert!(spec.check_config(config, p, limits).is_ok());
            }
        }
    }
}

#[cfg(feature = "parse")]
mod derived {
    use super::*;

    fn spec_of(attribute: &str) -> KernelSpec {
        let item =
            r#"unsafe extern "C" { fn k(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]); }"#;
        crate::parse::tests::read(attribute, item).unwrap().spec
    }

    #[test]
    fn each_combination_of_types_that_no_problem_has_gets_one() {
        let item =
            r#"unsafe extern "C" { fn k(n: u32, #[len(n)] x: &[T], #[len(n)] y: &mut [U]); }"#;
        let attribute = r#"source = "x.cu", params(THREADS in [64]), types(T in [f32, f16], U in [f32, bf16]),
            baseline(THREADS = 64), grid(n), block(THREADS), tolerance(relative = 1e-3),
            problems((T = f32, U = f32, n = 7), (T = f32, U = f32, n = 8), (T = f16, U = bf16, n = 9))"#;
        let spec = crate::parse::tests::read(attribute, item).unwrap().spec;
        let others = problems_of_other_types(&spec);
        let texts: Vec<String> = others.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["T=f32,U=bf16,n=7", "T=f16,U=f32,n=7"]);
        assert_eq!(problems_of_other_types(&spec_of(VECTORS)), []);
    }

    fn sizes_of(problems: &[Problem]) -> Vec<i64> {
        problems
            .iter()
            .filter_map(|problem| problem.size("n"))
            .collect()
    }

    /// A kernel whose vector loads need a multiple of four.
    const VECTORS: &str = r#"source = "x.cu", params(THREADS in [64, 256], VEC in [1, 4]), where(VEC == 1 || n % 4 == 0),
        baseline(THREADS = 64, VEC = 1), grid(n.div_ceil(THREADS * VEC)), block(THREADS), problems((n = 100000))"#;

    fn configs(spec: &KernelSpec, texts: &[&str]) -> Vec<Config> {
        texts
            .iter()
            .map(|text| spec.parse_config(text).unwrap())
            .collect()
    }

    #[test]
    fn the_constraint_of_one_config_removes_no_ragged_size_of_the_others() {
        let spec = spec_of(VECTORS);
        let configs = configs(&spec, &["THREADS=256,VEC=1", "THREADS=256,VEC=4"]);
        let shared = sizes_of(&verification_problems(
            &spec,
            &configs,
            &spec.problems[0],
            None,
        ));
        assert!(shared.contains(&1), "{shared:?}");
        assert!(shared.iter().any(|n| *n > 1024 && n % 4 != 0), "{shared:?}");
        let declared = spec_of(&format!(
            "{VECTORS}, verify((n = 7), (n = 1001), (n = 4096))"
        ));
        let shared = verification_problems(&declared, &configs, &declared.problems[0], None);
        assert_eq!(sizes_of(&shared), [7, 1001, 4096]);
        let own = problems_of_config(&declared, &configs[1], &declared.problems[0], None);
        assert_eq!(sizes_of(&own), [4096]);
    }

    #[test]
    fn a_config_that_cannot_launch_the_shared_sizes_has_ragged_sizes_of_its_own() {
        let spec = spec_of(VECTORS);
        let configs = configs(&spec, &["THREADS=256,VEC=1", "THREADS=256,VEC=4"]);
        let sizes = Sizes::new(&spec, &configs, &spec.problems[0], None);
        let own = sizes_of(&sizes.derived_for(&configs[1]));
        assert!(own.iter().all(|n| n % 4 == 0), "{own:?}");
        assert!(own.iter().any(|n| *n > 1024 && n % 1024 != 0), "{own:?}");
        assert!(own.iter().any(|n| *n < 64), "{own:?}");
    }

    #[test]
    fn a_config_for_large_sizes_alone_has_a_small_problem_that_is_large_enough() {
        let spec = spec_of(
            r#"source = "x.cu", params(B in [64, 256], SPLIT in [false, true]), where(!SPLIT || n >= 65536),
               baseline(B = 64, SPLIT = false), grid(n.div_ceil(B)), block(B), problems((n = 200000))"#,
        );
        let configs = configs(&spec, &["B=64,SPLIT=false", "B=256,SPLIT=true"]);
        let sizes = Sizes::new(&spec, &configs, &spec.problems[0], None);
        let own = sizes_of(&sizes.derived_for(&configs[1]));
        let smaller: Vec<i64> = own.into_iter().filter(|n| *n < 200_000).collect();
        assert!(smaller.iter().any(|n| n % 256 != 0), "{smaller:?}");
        assert!(smaller.iter().all(|n| *n >= 65536), "{smaller:?}");
    }

    #[test]
    fn a_grid_that_does_not_grow_is_verified_beyond_one_sweep_of_its_vectors() {
        let fixed = spec_of(
            r#"source = "x.cu", params(BLOCKS in [8, 32], VEC in [1, 4]), baseline(BLOCKS = 8, VEC = 1), grid(BLOCKS),
               block(128), problems((n = 1000000))"#,
        );
        let capped = spec_of(
            r#"source = "x.cu", params(BLOCKS in [8, 32], VEC in [1, 4]), baseline(BLOCKS = 8, VEC = 1),
               grid(min(n.div_ceil(128), BLOCKS)), block(128), problems((n = 1000000))"#,
        );
        for spec in [fixed, capped] {
            let configs = configs(&spec, &["BLOCKS=8,VEC=1", "BLOCKS=32,VEC=4"]);
            let shared = verification_problems(&spec, &configs, &spec.problems[0], None);
            let shared = sizes_of(&shared);
            let sweep = 32 * 128 * 4;
            assert!(
                shared.iter().any(|n| *n > sweep && n % 4 != 0),
                "{shared:?}"
            );
            assert!(shared.iter().all(|n| *n < 2 * sweep), "{shared:?}");
        }
    }

    #[test]
    fn a_launch_that_grows_with_its_size_needs_no_sweep() {
        let spec = spec_of(VECTORS);
        let sizes = Sizes::new(&spec, &[], &spec.problems[0], None);
        assert!(sizes.derive(None).sweeps("n").is_empty());
    }

    #[test]
    fn a_matrix_product_is_not_verified_on_long_sums_for_the_sake_of_a_sweep() {
        let spec = crate::parse::tests::gemm();
        let sizes = Sizes::new(&spec, &[], &spec.problems[0], None);
        assert!(sizes.derive(None).sweeps("k").is_empty());
    }

    #[test]
    fn the_neighbours_of_a_problem_differ_by_as_little_as_the_config_permits() {
        let spec = spec_of(VECTORS);
        let sizes = Sizes::new(&spec, &[], &spec.problems[0], None);
        let near = |text: &str| sizes_of(&sizes.neighbours(&spec.parse_config(text).unwrap()));
        assert_eq!(near("THREADS=256,VEC=1"), [99_999, 100_001, 100_002]);
        assert_eq!(near("THREADS=256,VEC=4"), [99_996, 100_004]);
    }

    #[test]
    fn gemm_is_verified_below_at_and_beside_its_tiles() {
        let spec = crate::parse::tests::gemm();
        let like = &spec.problems[0];
        let config = spec
            .parse_config("BLOCK_M=64,BLOCK_N=32,BLOCK_K=8,VECTOR_WIDTH=1,THREADS=64")
            .unwrap();
        let problems = problems_of_config(&spec, &config, like, Some(&CPU_LIMITS));
        assert_eq!(problems.len(), 6);
        let sizes = |dim| -> Vec<i64> { problems.iter().filter_map(|p| p.size(dim)).collect() };
        for (dim, tile) in [("m", 64), ("n", 32)] {
            let sizes = sizes(dim);
            assert!(sizes.contains(&1), "{dim} {sizes:?}");
            assert!(sizes.iter().any(|s| *s > 1 && *s < 16), "{dim} {sizes:?}");
            assert!(sizes.iter().any(|s| s % tile == 0), "{dim} {sizes:?}");
            assert!(
                sizes.iter().any(|s| *s > tile && s % tile != 0),
                "{dim} {sizes:?}"
            );
        }
    }

    #[test]
    fn sizes_that_must_be_multiples_are_derived_as_multiples() {
        let parsed = crate::parse::tests::read(
            r#"source = "x.cu", params(B in [32, 64]), where(n % 8 == 0), baseline(B = 32),
               grid(n.div_ceil(B)), block(B), problems((n = 4096, causal = 1), (n = 8192, causal = 0))"#,
            r#"unsafe extern "C" { fn k(n: u32, causal: u32, #[len(n)] y: &mut [f32]); }"#,
        );
        let spec = parsed.unwrap().spec;
        let configs = [spec.parse_config("B=64").unwrap()];
        let problems = verification_problems(&spec, &configs, &spec.problems[0], None);
        assert!(problems.len() >= 4, "{problems:?}");
        for problem in &problems {
            assert_eq!(problem.size("n").unwrap() % 8, 0, "{problem}");
            assert!(problem.size("causal").unwrap() < 2, "{problem}");
        }
        let ragged = problems.iter().any(|p| p.size("n").unwrap() % 64 != 0);
        assert!(ragged, "{problems:?}");
    }

    #[test]
    fn derived_sizes_together_give_few_threads_and_few_operations() {
        let item = r#"unsafe extern "C" { fn k(a: u32, b: u32, c: u32, #[len(c)] x: &[f32], #[len(a * b)] y: &mut [f32]); }"#;
        let shared = |grid: &str, problem: &str| {
            let attribute = format!(
                r#"source = "x.cu", params(THREADS in [64]), baseline(THREADS = 64), grid({grid}), block(512),
                where(c % THREADS == 1 || a % THREADS == 1 || b % THREADS == 1 || a > 0), problems({problem})"#
            );
            let spec = crate::parse::tests::read(&attribute, item).unwrap().spec;
            verification_problems(&spec, &[], &spec.problems[0], None)
        };
        let size = |problem: &Problem, name| problem.size(name).unwrap_or(0);
        let threads = |problem: &Problem| size(problem, "a") * size(problem, "b") * 512;
        let small = shared("a * b", "(a = 2, b = 9, c = 100)");
        assert!(small.len() >= 4, "{small:?}");
        assert!(
            small.iter().all(|problem| threads(problem) <= 1 << 20),
            "{small:?}"
        );
        // A tuned problem with more threads allows more.
        let large = shared("a * b", "(a = 200, b = 900, c = 100)");
        assert!(large.iter().map(threads).max() > Some(1 << 20), "{large:?}");
        let operations = |problem: &Problem| threads(problem) / 512 * size(problem, "c");
        let small = shared("1", "(a = 2, b = 9, c = 100)");
        assert!(small.len() >= 4, "{small:?}");
        assert!(
            small.iter().all(|problem| operations(problem) <= 1 << 21),
            "{small:?}"
        );
    }
}

//! Compares search spaces with brute force.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::config::ParamValue;
use crate::csp::{LayerBudget, SampleSize};
use crate::expr::{BinaryOp, Expr, evaluate_bool, evaluate_int};
use crate::model::Constraint;
use crate::plan::LaunchScope;
use crate::targets::CPU_LIMITS;
use crate::testing::{plain_spec, random_spec};

/// Every combination of parameter values, in declared order.
fn product(spec: &KernelSpec) -> Vec<Config> {
    let mut configs = vec![Vec::new()];
    for param in &spec.params {
        configs = configs
            .iter()
            .flat_map(|head| {
                param.values.iter().map(|value| {
                    let mut head = head.clone();
                    head.push((param.name.clone(), value.clone()));
                    head
                })
            })
            .collect();
    }
    configs.into_iter().map(Config::new).collect()
}

fn ints(name: &str, values: impl IntoIterator<Item = i64>) -> TunableParam {
    TunableParam {
        name: name.into(),
        values: values.into_iter().map(ParamValue::Int).collect(),
    }
}

fn differing(a: &Config, b: &Config) -> usize {
    a.iter().zip(b.iter()).filter(|(x, y)| x != y).count()
}

/// Whether a config satisfies one rule.
fn meets(spec: &KernelSpec, problem: &Problem, config: &Config, rule: &Rule) -> bool {
    let scope = LaunchScope {
        config,
        problem,
        limits: Some(&CPU_LIMITS),
        spec,
    };
    let extents = |axes: &[Expr], most: [u32; 3]| {
        let values = axes.iter().map(|axis| evaluate_int(axis, &scope).ok());
        let values: Option<Vec<i128>> = values.collect();
        values.filter(|values| {
            let mut ends = values.iter().zip(most);
            ends.all(|(value, most)| (1..=i128::from(most)).contains(value))
        })
    };
    match rule {
        Rule::Constraint(i) => evaluate_bool(&spec.constraints[*i].expr, &scope) == Ok(true),
        Rule::Grid => extents(&spec.geometry.grid, CPU_LIMITS.max_grid).is_some(),
        Rule::Block => extents(&spec.geometry.block, CPU_LIMITS.max_block).is_some_and(|extents| {
            extents.iter().product::<i128>() <= CPU_LIMITS.max_threads_per_block.into()
        }),
        Rule::SharedMemory => spec.geometry.shared_bytes.as_ref().is_some_and(|bytes| {
            let most = i128::from(CPU_LIMITS.shared_bytes_per_block);
            evaluate_int(bytes, &scope).is_ok_and(|bytes| (0..=most).contains(&bytes))
        }),
        Rule::Arguments => spec.check_data(config, problem).is_ok(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_space_is_what_brute_force_finds(spec in random_spec()) {
        let problem = spec.problems[0].clone();
        let all = product(&spec);
        let valid: Vec<_> = all
            .iter()
            .filter(|config| spec.check_config(config, &problem, Some(&CPU_LIMITS)).is_ok())
            .cloned()
            .collect();
        let space = match SearchSpace::build(&spec, &problem, &CPU_LIMITS) {
            Ok(space) => space,
            Err(SpaceError::Empty { .. }) => {
                prop_assert!(valid.is_empty());
                return Ok(());
            }
            Err(other) => panic!("{other}"),
        };
        let found: Vec<_> = (0..space.len()).map(|i| space.config(i)).collect();
        let as_set = |configs: &[Config]| configs.iter().cloned().collect::<BTreeSet<_>>();
        prop_assert_eq!(as_set(&found), as_set(&valid));
        prop_assert_eq!(found.len(), valid.len());
        prop_assert_eq!(space.product_len(), all.len() as u128);
        for config in &all {
            let index = found.iter().position(|v| v == config);
            prop_assert_eq!(space.index_of(config), index);
            prop_assert_eq!(space.why_invalid(config).is_none(), index.is_some());
        }
        for (i, config) in found.iter().enumerate() {
            let neighbours = space.neighbours(i);
            let expected: BTreeSet<_> = (0..found.len())
                .filter(|j| differing(config, &found[*j]) == 1)
                .collect();
            prop_assert_eq!(neighbours.len(), expected.len());
            prop_assert_eq!(neighbours.into_iter().collect::<BTreeSet<_>>(), expected);
        }
    }

    #[test]
    fn rejections_and_dead_values_are_what_brute_force_counts(spec in random_spec()) {
        let problem = &spec.problems[0];
        let Ok(space) = SearchSpace::build(&spec, problem, &CPU_LIMITS) else { return Ok(()) };
        let all = product(&spec);
        let met: Vec<Vec<bool>> = all
            .iter()
            .map(|config| space.rejections().iter().map(|r| meets(&spec, problem, config, &r.rule)).collect())
            .collect();
        for (i, rejection) in space.rejections().iter().enumerate() {
            let rejected = met.iter().filter(|met| !met[i]).count() as u128;
            prop_assert_eq!(rejection.configs, Some(rejected), "{}", &rejection.text);
            let others = |met: &Vec<bool>| met.iter().enumerate().all(|(j, met)| j == i || *met);
            let only = met.iter().filter(|met| !met[i] && others(met)).count() as u128;
            prop_assert_eq!(rejection.only, Some(only), "{}", &rejection.text);
        }
        let mut dead = Vec::new();
        for param in &spec.params {
            let is_used = |value: &&ParamValue| {
                (0..space.len()).any(|i| space.config(i).get(&param.name) == Some(*value))
            };
            let unused: Vec<_> = param.values.iter().filter(|value| !is_used(value)).collect();
            if !unused.is_empty() {
                dead.push((&*param.name, unused));
            }
        }
        prop_assert_eq!(space.dead_values(), dead);
        let product: u128 = space.components().iter().map(|part| part.1).product();
        prop_assert_eq!(product, space.len() as u128);
    }

    #[test]
    fn a_sample_is_of_what_brute_force_finds(spec in random_spec(), fits in any::<bool>(), tries in 0u64..400) {
        let problem = &spec.problems[0];
        let budget = if fits { LayerBudget::default() } else { LayerBudget { kept: 8, looked_at: 8 } };
        let size = SampleSize { configs: 20, tries };
        let exact = SearchSpace::build_within(&spec, problem, &CPU_LIMITS, 1000, budget);
        let built = SearchSpace::build_or_sample(&spec, problem, &CPU_LIMITS, 1000, budget, size);
        let too_long = matches!(&exact, Err(SpaceError::Csp { error: CspError::TooLong, .. }));
        prop_assert!(!(fits && too_long));
        let space = match (built, exact) {
            (Ok(space), _) => space,
            (Err(error), Err(expected)) if !too_long => {
                prop_assert_eq!(error, expected);
                return Ok(());
            }
            (Err(SpaceError::Csp { error, .. }), _) => {
                prop_assert!(matches!(error, crate::csp::CspError::Hopeless { .. }), "{}", error);
                return Ok(());
            }
            (Err(error), _) => {
                prop_assert!(matches!(error, SpaceError::Empty { .. }), "{}", error);
                let all = product(&spec);
                let valid = all.iter().filter(|c| spec.check_config(c, problem, Some(&CPU_LIMITS)).is_ok());
                prop_assert_eq!(valid.count(), 0);
                return Ok(());
            }
        };
        prop_assert!(too_long || space.sampled().is_none());
        let all = product(&spec);
        let valid = all.iter().filter(|config| spec.check_config(config, problem, Some(&CPU_LIMITS)).is_ok());
        let valid: BTreeSet<Config> = valid.cloned().collect();
        let listed: Vec<Config> = (0..space.len()).map(|i| space.config(i)).collect();
        let distinct: BTreeSet<Config> = listed.iter().cloned().collect();
        prop_assert_eq!(distinct.len(), listed.len());
        prop_assert!(distinct.is_subset(&valid));
        for config in &all {
            let index = listed.iter().position(|other| other == config);
            prop_assert_eq!(space.index_of(config), index);
        }
        for (i, config) in listed.iter().enumerate() {
            let neighbours: BTreeSet<usize> = space.neighbours(i).into_iter().collect();
            let expected = (0..listed.len()).filter(|j| differing(config, &listed[*j]) == 1);
            prop_assert_eq!(neighbours, expected.collect::<BTreeSet<_>>());
        }
        if let Some(sampled) = space.sampled() {
            prop_assert_eq!(sampled.listed, listed.len());
            prop_assert_eq!(sampled.is_complete, sampled.valid.exact().is_some() && listed.len() == valid.len());
            if let Some(exact) = sampled.valid.exact() {
                prop_assert_eq!(exact, valid.len() as u128);
            }
        } else {
            prop_assert_eq!(listed.len(), valid.len());
        }
        if space.sampled().is_some() {
            for (param, dead) in space.dead_values() {
                let lives = |value| valid.iter().any(|config| config.get(param) == Some(value));
                prop_assert!(!dead.into_iter().any(lives));
            }
        }
    }
}

#[test]
fn neighbours_start_with_the_adjacent_values() {
    let spec = plain_spec(vec![ints("A", [1, 2, 4, 8]), ints("B", [1, 2, 3])]);
    let space = SearchSpace::build(&spec, &spec.problems[0], &CPU_LIMITS).unwrap();
    let neighbours = |text: &str| -> Vec<String> {
        let index = space.index_of(&spec.parse_config(text).unwrap()).unwrap();
        let found = space.neighbours(index).into_iter();
        found.map(|i| space.config(i).to_string()).collect()
    };
    assert_eq!(
        neighbours("A=2,B=1"),
        ["A=1,B=1", "A=4,B=1", "A=2,B=2", "A=8,B=1", "A=2,B=3"]
    );
}

#[test]
fn a_space_larger_than_its_limit_is_refused() {
    let spec = plain_spec(vec![ints("A", 0..100), ints("B", 0..100)]);
    let built = SearchSpace::build_at_most(&spec, &spec.problems[0], &CPU_LIMITS, 9_999);
    assert_eq!(
        built.unwrap_err().to_string(),
        "more than 9999 valid configs for n=1000\n\
         help: add constraints, or give parameters fewer values"
    );
    let all = SearchSpace::build_at_most(&spec, &spec.problems[0], &CPU_LIMITS, 10_000);
    assert_eq!(all.unwrap().len(), 10_000);
}

#[test]
fn a_product_beyond_64_bits_is_searched() {
    let mut spec = plain_spec((0..24).map(|i| ints(&format!("P{i}"), 0..10)).collect());
    spec.constraints = (0..24)
        .map(|i| Constraint {
            expr: Expr::parse_test(&format!("P{i}"), BinaryOp::Lt, if i < 10 { 2 } else { 1 }),
        })
        .collect();
    let space = SearchSpace::build(&spec, &spec.problems[0], &CPU_LIMITS).unwrap();
    assert_eq!(space.len(), 1024);
    assert_eq!(space.product_len(), 10u128.pow(24));
    for index in [0, 511, 1023] {
        assert_eq!(space.index_of(&space.config(index)), Some(index));
    }
    let spec = plain_spec((0..40).map(|i| ints(&format!("P{i}"), 0..10)).collect());
    let error = SearchSpace::build(&spec, &spec.problems[0], &CPU_LIMITS).unwrap_err();
    assert!(matches!(error, SpaceError::Product { axes: 40 }), "{error}");
}

impl Expr {
    fn parse_test(name: &str, op: BinaryOp, value: i64) -> Expr {
        Expr::Binary(
            op,
            Box::new(Expr::Name(name.into())),
            Box::new(Expr::Int(value)),
        )
    }
}

/// A spec with twelve parameters of 64 values each, and a constraint on the remainder of their weighted sum. The
/// baseline is a config of the space.
fn tied(remainder: i64) -> KernelSpec {
    let names: Vec<String> = (0..12).map(|i| format!("P{i}")).collect();
    let mut spec = plain_spec(names.iter().map(|name| ints(name, 0..64)).collect());
    spec.baseline.entry = spec.entry.clone();
    spec.baseline.geometry = None;
    let pair = |op, x, y| Expr::Binary(op, Box::new(x), Box::new(y));
    let sum = names.iter().enumerate().map(|(i, name)| {
        let factor = Expr::Int(7_919 * (i as i64 + 3) * (i as i64 + 3) % 1_009);
        pair(BinaryOp::Mul, factor, Expr::Name(name.as_str().into()))
    });
    let sum = sum.reduce(|sum, part| pair(BinaryOp::Add, sum, part));
    let rest = pair(BinaryOp::Rem, sum.unwrap(), Expr::Int(1_009));
    spec.constraints = vec![Constraint {
        expr: pair(BinaryOp::Le, rest, Expr::Int(remainder)),
    }];
    spec
}

#[test]
fn a_space_that_is_too_long_is_sampled_with_its_baseline() {
    let spec = tied(100);
    let problem = &spec.problems[0];
    let budget = LayerBudget {
        kept: 1 << 16,
        looked_at: 1 << 16,
    };
    let size = SampleSize {
        configs: 1000,
        tries: 1 << 20,
    };
    let build = || {
        SearchSpace::build_or_sample(
            &spec,
            problem,
            &CPU_LIMITS,
            SearchSpace::MAX_CONFIGS,
            budget,
            size,
        )
    };
    let (space, again) = (build().unwrap(), build().unwrap());
    assert_eq!(space.len(), 1000);
    assert!(space.baseline().is_some());
    let limits = Some(&CPU_LIMITS);
    for index in 0..space.len() {
        let config = space.config(index);
        assert!(spec.check_config(&config, problem, limits).is_ok());
        assert_eq!(again.config(index), config);
        assert_eq!(space.index_of(&config), Some(index));
    }
    let sampled = space.sampled().unwrap();
    assert!(!sampled.is_complete);
    let truth = 64f64.powi(12) * 101.0 / 1009.0;
    assert!(sampled.valid.least < truth && truth < sampled.valid.most);
    let text = sampled.to_string();
    assert!(
        text.starts_with("sampled: 1000 of about 4."),
        "the space is a sample: {text}"
    );
    assert!(
        text.contains("; constraints left out while building: "),
        "{text}"
    );
    assert!(space.rejections().iter().all(|cut| cut.only.is_none()));
    let at_most =
        |most| SearchSpace::build_or_sample(&spec, problem, &CPU_LIMITS, most, budget, size);
    assert!(matches!(at_most(999), Err(SpaceError::TooMany { .. })));
}

#[test]
fn an_invalid_baseline_is_an_error_that_names_the_reason() {
    let mut spec = plain_spec(vec![ints("A", [1, 2])]);
    spec.baseline.entry = spec.entry.clone();
    spec.baseline.geometry = None;
    spec.constraints.push(Constraint {
        expr: Expr::parse_test("A", BinaryOp::Eq, 2),
    });
    let error = SearchSpace::build(&spec, &spec.problems[0], &CPU_LIMITS).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the baseline A=1 is not valid for n=1000: constraint `A == 2` is false with A=1\n\
         help: the baseline must run on every device and problem"
    );
}

#[test]
fn an_empty_space_says_what_rejected_how_many() {
    let mut spec = plain_spec(vec![ints("A", [1, 2, 3])]);
    spec.constraints.push(Constraint {
        expr: Expr::parse_test("A", BinaryOp::Gt, 2),
    });
    spec.constraints.push(Constraint {
        expr: Expr::parse_test("A", BinaryOp::Lt, 3),
    });
    let error = SearchSpace::build(&spec, &spec.problems[0], &CPU_LIMITS).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no config is valid for n=1000 on this device: `A > 2` rejects 2; `A < 3` rejects 1\n\
         help: `tune space` lists what each constraint rejects"
    );
}

#[test]
fn a_name_without_a_value_is_an_error_and_no_panic() {
    let mut spec = plain_spec(vec![ints("A", [1])]);
    spec.constraints.push(Constraint {
        expr: Expr::parse_test("missing", BinaryOp::Eq, 1),
    });
    let error = SearchSpace::build(&spec, &spec.problems[0], &CPU_LIMITS).unwrap_err();
    assert!(matches!(error, SpaceError::Unknown(_)), "{error}");
}

#[cfg(feature = "parse")]
mod derived {
    use super::*;

    #[test]
    fn the_gemm_example_has_its_known_space() {
        let spec = crate::parse::tests::gemm();
        let space = SearchSpace::build(&spec, &spec.problems[0], &CPU_LIMITS).unwrap();
        assert_eq!(space.product_len(), 432);
        assert_eq!(
            space.baseline(),
            Some(space.index_of(&spec.baseline.config).unwrap())
        );
        assert!(space.len() > 100 && space.len() < 432, "{}", space.len());
    }

    #[test]
    fn the_largest_block_and_all_shared_memory_are_in_the_space_and_one_more_of_either_is_not() {
        let parsed = crate::parse::tests::read(
            r#"source = "x.cu", params(B in [512, 513], S in [1023, 1024]), baseline(B = 512, S = 1023), grid(n),
               block(B, 2), shared(1 + S), problems((n = 64))"#,
            r#"unsafe extern "C" { fn k(n: u32, #[len(n)] y: &mut [f32]); }"#,
        );
        let spec = parsed.unwrap().spec;
        let limits = DeviceLimits {
            max_threads_per_block: 1024,
            shared_bytes_per_block: 1024,
            ..CPU_LIMITS
        };
        let space = SearchSpace::build(&spec, &spec.problems[0], &limits).unwrap();
        assert_eq!(space.len(), 1);
        assert_eq!(space.config(0), spec.baseline.config);
    }
}

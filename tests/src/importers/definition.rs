//! Checks of files that define search spaces: definitions and T1 files, and the Python expressions in them.

use kiln_exchange::definition::{Definition, DefinitionError, Literal, Param};
use kiln_exchange::python;
use kiln_spec::csp::{ConfigSet, LayerBudget};

use super::{assert_line, oracle};

/// The budget for constructing a space. It is smaller than the default, so a fuzzer makes progress.
const BUDGET: LayerBudget = LayerBudget {
    kept: 1 << 18,
    looked_at: 1 << 20,
};

/// If the product of the numbers of values is at most this large, the configs are also counted one by one.
const MAX_PRODUCT: u128 = 4096;

pub(super) fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match Definition::read(text) {
        Ok(definition) => {
            reads_back(&definition);
            counts(&definition);
        }
        Err(error) => says_where(text, &error),
    }
}

/// Uses an expression as a constraint on four parameters, whose values have different types.
pub(super) fn check_expression(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(expr) = python::parse(text) else {
        return;
    };
    let params = [
        (
            "A",
            vec![
                Literal::Int(0),
                Literal::Int(1),
                Literal::Int(-7),
                Literal::Int(64),
            ],
        ),
        (
            "B",
            vec![
                Literal::Int(3),
                Literal::Float(0.5),
                Literal::Float(-2.0),
                Literal::Int(i128::MAX),
            ],
        ),
        (
            "C",
            vec![Literal::Bool(false), Literal::Bool(true), Literal::Int(2)],
        ),
        (
            "D",
            vec![Literal::Text("a".into()), Literal::Text("b".into())],
        ),
    ];
    let params = params.map(|(name, values)| Param {
        name: name.into(),
        values,
    });
    let known = |name: &str| params.iter().any(|param| param.name == name);
    if expr.unknown_name(&known).is_some() {
        return;
    }
    let definition = Definition {
        name: "expression".into(),
        params: params.into(),
        constraints: vec![kiln_exchange::definition::DefinedConstraint {
            text: text.into(),
            expr,
        }],
    };
    counts(&definition);
}

fn says_where(text: &str, error: &DefinitionError) {
    let message = error.to_string();
    assert!(message.contains("\nhelp: "), "{message}");
    if let DefinitionError::Field { line, field, .. } = error {
        assert_line(text, *line, &message);
        assert!(!field.is_empty(), "{message}");
    }
}

/// Writes the definition as T1, reads the result, and compares. If T1 cannot express the definition, writing fails.
fn reads_back(definition: &Definition) {
    let Ok(written) = definition.to_t1() else {
        return;
    };
    let again = Definition::read(&written);
    let again = again.unwrap_or_else(|error| panic!("{error}\n{written}"));
    assert_eq!(definition.name, again.name);
    assert_eq!(definition.params, again.params, "{written}");
    assert_eq!(definition.constraints, again.constraints, "{written}");
    assert_eq!(again.to_t1().as_deref(), Ok(written.as_str()));
}

/// Checks that a small space has as many configs as are found by testing every config, and that the configs of every
/// space are numbered consistently.
fn counts(definition: &Definition) {
    let Some(set) = solved(definition) else {
        return;
    };
    let product = definition.params.iter().try_fold(1u128, |product, param| {
        product.checked_mul(param.values.len() as u128)
    });
    if product.is_some_and(|product| product <= MAX_PRODUCT) {
        assert_eq!(set.len(), oracle::count(definition), "{definition:?}");
    }
    let step = (set.len() / 64).max(1);
    let mut index = 0;
    while index < set.len() {
        assert_eq!(set.index_of(&set.places(index)), Some(index));
        let Some(next) = index.checked_add(step) else {
            break;
        };
        index = next;
    }
}

fn solved(definition: &Definition) -> Option<ConfigSet> {
    match definition.model() {
        Ok(model) => model.solve(BUDGET).ok(),
        Err(error) => {
            assert!(error.to_string().contains("help: "), "{error}");
            None
        }
    }
}

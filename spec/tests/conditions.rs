//! Compares the values that Kiln computes for conditions of `#if` with those of real compilers, on random macros and
//! expressions.

#[allow(dead_code, reason = "only the list of compilers is used here")]
mod units;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;

use kiln_spec::source::{SourceScan, SourceText};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use units::compilers;

/// Number of random conditions.
const CASES: usize = 3000;

/// The macros of a case. Those that a case does not define are undefined.
const NAMES: [&str; 8] = ["A", "B", "C", "OP", "F", "G", "V", "W"];

/// An expression. Operators have no parentheses around them, so an expansion binds as its tokens do.
fn expression() -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        4 => select(vec!["0", "1", "2", "7", "0x10", "010", "0b11", "3u", "1'000", "'a'", "'\\n'", "true", "18446744073709551615u",
            "9223372036854775807"]).prop_map(str::to_owned),
        4 => select(vec!["A", "B", "C", "-1"]).prop_map(str::to_owned),
        1 => select(vec!["defined(A)", "defined B", "!defined(C)", "defined(F)", "F", "CAT", "not_a_macro"])
            .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let operator = select(vec![
            "+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "&", "|", "^", "<<", ">>", " and ",
            " or ", " bitand ", " OP ",
        ]);
        let space = || select(vec!["", " "]);
        prop_oneof![
            6 => (inner.clone(), space(), operator, space(), inner.clone())
                .prop_map(|(x, a, op, b, y)| format!("{x}{a}{op}{b}{y}")),
            2 => (select(vec!["!", "-", "~", "+", "not "]), inner.clone()).prop_map(|(op, x)| op.to_owned() + &x),
            2 => inner.clone().prop_map(|x| format!("({x})")),
            1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(x, y, z)| format!("{x} ? {y} : {z}")),
            1 => inner.clone().prop_map(|x| format!("F({x})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(x, y)| format!("G({x}, {y})")),
            1 => inner.clone().prop_map(|x| format!("V({x})")),
            1 => (inner.clone(), inner).prop_map(|(x, y)| format!("W ({x},{y})")),
            1 => select(vec!["V()", "W(1)", "W(A,)", "G(,1)", "G(1,)", "F()", "G(A,B)", "W(F,1)(2)", "V(F)(1)"])
                .prop_map(str::to_owned),
        ]
    })
    .boxed()
}

/// Macros with their possible replacements.
const DEFINITIONS: &[(&str, &[&str])] = &[
    (
        "A",
        &[
            "-1", "1 + 1", "B", "A + 1", "F", "0", "(2)", "G(1, 2)", "- 3", "", "0 || 1", "#",
        ],
    ),
    (
        "B",
        &["1 == 2", "C", "F(1)", "A", "-2", "1##2", "x##y", "F", "<"],
    ),
    (
        "OP",
        &[
            "+", "-", "<", "&&", "==", "|| 1 &&", "< <", "<##<", "* 2 +", "+ -",
        ],
    ),
    (
        "F(x)",
        &[
            "x", "-x", "x + 1", "x##1", "1##x", "(x)", "F(x) + 1", "B - x", "!x", "x##x", "#x",
            "x F",
        ],
    ),
    (
        "G(x, y)",
        &[
            "x##y",
            "x == y",
            "x -y",
            "F(x)y",
            "x y",
            "G(y, x)",
            "y##x##1",
            "x OP y",
            "(x) < y",
            "x##_##y + 1",
        ],
    ),
    (
        "V(...)",
        &[
            "__VA_ARGS__",
            "__VA_ARGS__ + 1",
            "F(__VA_ARGS__)",
            "0 __VA_OPT__(+ 1)",
            "0##__VA_ARGS__",
            "G(__VA_ARGS__)",
            "__VA_OPT__(__VA_ARGS__ ||) 0",
        ],
    ),
    (
        "W(x, ...)",
        &[
            "x",
            "V(x, ##__VA_ARGS__)",
            "V(x, __VA_ARGS__)",
            "x __VA_OPT__(OP __VA_ARGS__)",
            "G(x, ##__VA_ARGS__)",
            "x##__VA_ARGS__",
        ],
    ),
];

/// Some definitions of macros, in any order.
fn definitions() -> impl Strategy<Value = Vec<String>> {
    let of_expression = prop_oneof![
        (select(vec!["A", "B", "C"]), expression())
            .prop_map(|(name, x)| format!("#define {name} {x}")),
        (select(vec!["F(x)", "G(x, y)"]), expression(), expression())
            .prop_map(|(name, x, y)| format!("#define {name} {x} OP x - {y}")),
    ];
    let lines = DEFINITIONS.iter().flat_map(|(name, bodies)| {
        let line = move |body: &&str| format!("#define {name} {body}");
        bodies.iter().map(line)
    });
    let fixed = select(lines.collect::<Vec<_>>());
    prop::collection::vec(prop_oneof![1 => of_expression, 3 => fixed], 0..7)
}

/// A condition with its macros, and the text between them and the branches.
struct Case {
    macros: String,
    condition: String,
}

impl Case {
    fn text(&self, yes: &str, no: &str) -> String {
        let condition = &self.condition;
        format!(
            "{}#if {condition}\n{yes}\n#else\n{no}\n#endif\n",
            self.macros
        )
    }

    /// What Kiln knows of the condition.
    fn known(&self) -> Option<bool> {
        let text = self.text("__global__ void yes() {}", "__global__ void no() {}");
        let scan =
            SourceScan::new(&SourceText::from_expanded(text)).expect("the text should be scanned");
        let kernels = scan.kernels().iter().map(|kernel| kernel.name.as_str());
        match kernels.collect::<Vec<_>>()[..] {
            ["yes"] => Some(true),
            ["no"] => Some(false),
            _ => None,
        }
    }
}

fn cases() -> Vec<Case> {
    let strategy = (definitions(), expression());
    let mut runner = TestRunner::deterministic();
    let mut case = || {
        let tree = strategy
            .new_tree(&mut runner)
            .expect("a case should be generated");
        let (definitions, condition) = tree.current();
        let mut macros: String = NAMES
            .iter()
            .map(|name| format!("#undef {name}\n"))
            .collect();
        macros += "#undef CAT\n#undef not_a_macro\n";
        for definition in definitions {
            let name: String = definition
                .chars()
                .skip(8)
                .take_while(char::is_ascii_uppercase)
                .collect();
            let _ = write!(macros, "#undef {name}\n{definition}\n");
        }
        Case { macros, condition }
    };
    (0..CASES).map(|_| case()).collect()
}

/// The value of each condition in a compiler; `None` if it reports an error.
fn values(cxx: &str, cases: &[Case]) -> Vec<Option<bool>> {
    let mut text = String::new();
    let mut of_line = vec![0];
    for (i, case) in cases.iter().enumerate() {
        let case = case.text(&format!("yes_{i}"), &format!("no_{i}"));
        of_line.extend(case.lines().map(|_| i));
        text += &case;
    }
    let folder = tempfile::tempdir().expect("a folder should be made");
    let file = folder.path().join("cases.cpp");
    std::fs::write(&file, text).expect("the file should be written");
    let unlimited = if cxx.starts_with("clang") {
        "-ferror-limit=0"
    } else {
        "-fmax-errors=0"
    };
    let output = Command::new(cxx)
        .args(["-E", "-P", "-w", "-std=gnu++20", unlimited])
        .arg(&file)
        .output()
        .expect("the compiler should start");
    let log = String::from_utf8_lossy(&output.stderr);
    let said = String::from_utf8_lossy(&output.stdout);
    let failed: BTreeSet<usize> = (log.lines())
        .filter(|line| line.contains("error:"))
        .filter_map(|line| {
            line.split("cases.cpp:")
                .nth(1)?
                .split(':')
                .next()?
                .parse()
                .ok()
        })
        .map(|line: usize| of_line[line])
        .collect();
    let taken: BTreeSet<&str> = said.split_whitespace().collect();
    let value = |i| {
        let yes = taken.contains(&*format!("yes_{i}"));
        assert!(
            yes != taken.contains(&*format!("no_{i}")),
            "{cxx} should take a branch of {i}: {log}"
        );
        (!failed.contains(&i)).then_some(yes)
    };
    (0..cases.len()).map(value).collect()
}

#[test]
fn conditions_have_the_values_that_compilers_give_them() {
    let cases = cases();
    let all: Vec<_> = compilers().iter().map(|cxx| values(cxx, &cases)).collect();
    if all.is_empty() {
        return;
    }
    let (mut valid, mut unknown) = (0, 0);
    for (i, case) in cases.iter().enumerate() {
        // Compilers differ in what they take for an error.
        let Some(values) = all
            .iter()
            .map(|values| values[i])
            .collect::<Option<BTreeSet<bool>>>()
        else {
            continue;
        };
        let [value] = values.into_iter().collect::<Vec<_>>()[..] else {
            continue;
        };
        valid += 1;
        match case.known() {
            Some(known) => assert_eq!(known, value, "{}", case.text("yes", "no")),
            None => unknown += 1,
        }
    }
    assert!(valid > CASES / 3, "only {valid} conditions are valid");
    assert!(unknown * 15 < valid, "{unknown} of {valid} are not known");
}

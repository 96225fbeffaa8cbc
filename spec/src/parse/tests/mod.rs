//! Tests that parse whole kernels. The submodules test mistakes in declarations.

mod discover;
mod function_mistakes;
mod mistakes;

use super::{ParsedKernel, kernel};
use crate::Backend;
use crate::model::{
    Access, ArgSpec, ElemRef, ElemType, Fill, KernelSpec, Reference, ScalarValue, TypedArg,
};
use crate::text::diagnostic::{Diagnostic, Diagnostics};

pub(crate) const GEMM_ATTRIBUTE: &str = r#"
    source = "gemm.cu",
    params(
        BLOCK_M in [16, 32, 64, 128],
        BLOCK_N in [16, 32, 64, 128],
        BLOCK_K in [8, 16, 32],
        VECTOR_WIDTH in [1, 2, 4],
        THREADS in [64, 128, 256],
    ),
    where(
        BLOCK_M * BLOCK_N % (THREADS * VECTOR_WIDTH) == 0,
        (BLOCK_M + BLOCK_N) * BLOCK_K * 4 <= device.shared_bytes_per_block,
    ),
    baseline(BLOCK_M = 16, BLOCK_N = 16, BLOCK_K = 16, VECTOR_WIDTH = 1, THREADS = 256),
    grid(n.div_ceil(BLOCK_N), m.div_ceil(BLOCK_M)),
    block(THREADS),
    problems((m = 512, n = 512, k = 512), (m = 4096, n = 4096, k = 4096)),
    work(flops = 2 * m * n * k, bytes = 4 * (m * k + k * n + m * n)),
    tolerance(relative = 1e-5),
"#;

pub(crate) const GEMM_ITEM: &str = r#"
    unsafe extern "C" {
        fn gemm(m: u32, n: u32, k: u32,
                #[len(m * k)] a: &[f32], #[len(k * n)] b: &[f32], #[len(m * n)] c: &mut [f32]);
    }
"#;

/// Parses and checks a kernel. The tokens come from a text, so their spans have line numbers.
pub(crate) fn read(attribute: &str, item: &str) -> Result<ParsedKernel, Diagnostics> {
    let tokens = |text: &str| text.parse().expect("the text should be Rust tokens");
    kernel(tokens(attribute), tokens(item))
}

pub(crate) fn gemm() -> KernelSpec {
    read(GEMM_ATTRIBUTE, GEMM_ITEM)
        .expect("the example of the documentation should parse")
        .spec
}

/// The piece of text that a diagnostic marks. `texts` are the attribute and the item, one of which contains it.
pub(crate) fn marked(diagnostic: &Diagnostic, texts: [&str; 2]) -> String {
    let start = diagnostic.span.start;
    let cut = |text: &str| -> Option<String> {
        let at = |p: proc_macro2::LineColumn| {
            let line = text.split_inclusive('\n').take(p.line - 1).map(str::len);
            Some(line.sum::<usize>() + p.column)
        };
        let (from, to) = (at(start.start())?, at(diagnostic.span.end.end())?);
        text.get(from..to).map(str::to_string)
    };
    // The span is in the text that has the span's first token at this position.
    let first = start.source_text().unwrap_or_default();
    let found = texts.into_iter().filter_map(cut);
    let mut found: Vec<_> = found.filter(|piece| piece.starts_with(&first)).collect();
    found.sort_by_key(String::len);
    found.into_iter().next().unwrap_or_default()
}

/// Every mistake, formatted as `marked piece: message; help`.
pub(crate) fn mistakes(attribute: &str, item: &str) -> Vec<String> {
    match read(attribute, item) {
        Ok(_) => Vec::new(),
        Err(diagnostics) => lines(&diagnostics, [attribute, item]),
    }
}

pub(crate) fn lines(diagnostics: &Diagnostics, texts: [&str; 2]) -> Vec<String> {
    let line = |d: &Diagnostic| {
        let help = d.help.as_deref().unwrap_or_default();
        format!("{}: {}; {help}", marked(d, texts), d.message)
    };
    diagnostics.iter().map(line).collect()
}

/// The example with one piece replaced. The piece is in the attribute or, if it does not occur there, in the block.
pub(crate) fn edited(from: &str, to: &str) -> (String, String) {
    if GEMM_ATTRIBUTE.contains(from) {
        (GEMM_ATTRIBUTE.replacen(from, to, 1), GEMM_ITEM.into())
    } else {
        assert!(GEMM_ITEM.contains(from), "{from} is not in the example");
        (GEMM_ATTRIBUTE.into(), GEMM_ITEM.replacen(from, to, 1))
    }
}

/// An edit of the example, and every mistake that it causes, formatted as `marked piece: message; help`. A text that
/// ends with `…` is compared only up to `…`.
pub(crate) type Case = (&'static str, &'static str, &'static [&'static str]);

/// Checks that each edit causes exactly its mistakes.
pub(crate) fn compare(cases: &[Case]) {
    for (from, to, expected) in cases {
        let (attribute, item) = edited(from, to);
        let found = mistakes(&attribute, &item);
        assert_eq!(found.len(), expected.len(), "{from} -> {to}: {found:#?}");
        for (found, expected) in found.iter().zip(*expected) {
            match expected.strip_suffix('…') {
                Some(start) => assert!(found.starts_with(start), "{found}"),
                None => assert_eq!(found, expected, "{from} -> {to}"),
            }
        }
    }
}

#[test]
fn the_documented_gemm_parses_to_its_spec() {
    let spec = gemm();
    assert_eq!(spec.name, "gemm");
    assert_eq!(spec.entry, "gemm");
    assert_eq!(spec.params.len(), 5);
    assert_eq!(spec.problems[1].to_string(), "m=4096,n=4096,k=4096");
    assert_eq!(
        spec.constraints[0].expr.to_string(),
        "BLOCK_M * BLOCK_N % (THREADS * VECTOR_WIDTH) == 0"
    );
    assert_eq!(
        spec.baseline.config.to_string(),
        "BLOCK_M=16,BLOCK_N=16,BLOCK_K=16,VECTOR_WIDTH=1,THREADS=256"
    );
    assert_eq!(spec.geometry.grid[0].to_string(), "div_ceil(n, BLOCK_N)");
    let ArgSpec::Slice(c) = &spec.args[5] else {
        panic!("c should be a slice")
    };
    assert_eq!(c.access, Access::Out);
    assert_eq!(KernelSpec::from_json(&spec.to_json()).unwrap(), spec);
}

const NORM_ATTRIBUTE: &str = r#"
    source = "../norm.cu",
    entry = "norm_kernel",
    types(T in [f32, f16]),
    params(
        BLOCK in pow2(16..=100), STEPS in 1..=3, TAIL in -1..1,
        UNROLL in [false, true], LAYOUT in [row, column],
    ),
    where(LAYOUT == row || UNROLL, BLOCK <= device.max_threads_per_block),
    baseline(entry = "norm_simple", grid(n), block(1), UNROLL = true),
    grid(div_ceil(n, BLOCK), 1, 1),
    block(BLOCK),
    shared(size_of(T) * BLOCK),
    problems((n = 1_024), (n = 2048, T = f16)),
    verify((n = 7, T = f16)),
    work(bytes = 2 * n * size_of(T)),
    tolerance(absolute = 1e-3, relative = 0.5),
    reference = crate::reference::norm,
"#;

const NORM_ITEM: &str = r#"
    /// Normalises.
    unsafe extern "C" {
        #[must_use]
        pub(crate) fn norm(
            #[value(0.5)] scale: f32, #[value(-3)] bias: i32, n: u64,
            #[len(n)] #[fill(uniform(-2, 2.5))] #[align(STEPS)] x: &[T],
            #[len(n)] #[fill(below(n))] index: &[u32],
            #[len(1)] labels: &[u8],
            #[len(n)] #[inout] #[fill(iota)] #[tolerance(relative = 0.1)] y: &mut [half::f16],
        );
    }
"#;

#[test]
fn types_multiply_problems_that_do_not_name_one() {
    let spec = read(NORM_ATTRIBUTE, NORM_ITEM).unwrap().spec;
    let problems: Vec<_> = spec.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, ["T=f32,n=1024", "T=f16,n=1024", "T=f16,n=2048"]);
    assert_eq!(spec.verify[0].to_string(), "T=f16,n=7");
    assert_eq!(spec.dimensions(), ["T", "n"]);
}

#[test]
fn what_the_author_allows_is_a_part_of_the_spec_and_of_its_hash() {
    let plain = read(NORM_ATTRIBUTE, NORM_ITEM).unwrap().spec;
    let with = |item: &str| {
        let item = format!("{item},\n    verify(");
        read(&NORM_ATTRIBUTE.replace("verify(", &item), NORM_ITEM)
    };
    let allows = |spec: &crate::KernelSpec| (spec.equal_stores, spec.unwritten_reads);
    assert_eq!(allows(&plain), (false, false));
    for (item, expected) in [
        ("equal_stores", (true, false)),
        ("unwritten_reads", (false, true)),
    ] {
        let allowing = with(&format!("{item} = allow")).unwrap().spec;
        assert_eq!(allows(&allowing), expected);
        assert_ne!(plain.hash(), allowing.hash());
        let json = allowing.to_json();
        assert_eq!(crate::KernelSpec::from_json(&json).unwrap(), allowing);
        assert!(with(&format!("{item} = deny")).is_err());
    }
}

#[test]
fn a_kernel_for_some_backends_has_no_problems_on_the_others() {
    let attribute = NORM_ATTRIBUTE.replace("verify(", "only(cuda),\n    verify(");
    let spec = read(&attribute, NORM_ITEM).unwrap().spec;
    assert_eq!(spec.problems_on(Backend::Cpu).count(), 0);
    assert_eq!(spec.problems_on(Backend::Hip).count(), 0);
    assert_eq!(spec.problems_on(Backend::Cuda).count(), 3);
    let why = spec.left_out_on(Backend::Cpu);
    let words = "its spec says `only(cuda)`, but this is a cpu device";
    assert_eq!(why.as_deref(), Some(words));
    assert_eq!(spec.left_out_on(Backend::Cuda), None);
    assert_eq!(spec.left_out_on(Backend::Fake), None);
    let how = spec.how_to_tune();
    assert_eq!(
        how,
        format!("run `tune run -k {}` on the GPU it is for", spec.name)
    );
    assert_eq!(crate::KernelSpec::from_json(&spec.to_json()).unwrap(), spec);
}

#[test]
fn problems_of_gpus_alone_are_tuned_on_gpus_alone() {
    let more = "gpu_problems((n = 9_000_000, T = f16)),\n    verify(";
    let attribute = NORM_ATTRIBUTE.replace("verify(", more);
    let spec = read(&attribute, NORM_ITEM).unwrap().spec;
    let on = |backend| spec.problems_on(backend).map(ToString::to_string).collect();
    let (cpu, cuda, hip): (Vec<_>, Vec<_>, Vec<_>) =
        (on(Backend::Cpu), on(Backend::Cuda), on(Backend::Hip));
    assert_eq!(cpu, ["T=f32,n=1024", "T=f16,n=1024", "T=f16,n=2048"]);
    assert_eq!((&cuda[..3], &*cuda[3]), (&cpu[..], "T=f16,n=9000000"));
    assert_eq!(cuda, hip);
    assert_eq!(crate::KernelSpec::from_json(&spec.to_json()).unwrap(), spec);
}

#[test]
fn configs_to_try_first_are_read_in_order_and_belong_to_no_hash() {
    let configs = "try_first((BLOCK_M = 64, BLOCK_N = 64, BLOCK_K = 16, VECTOR_WIDTH = 4, THREADS = 256), \
                   (THREADS = 128, BLOCK_M = 16, BLOCK_N = 16, BLOCK_K = 16, VECTOR_WIDTH = 1)),\n    block(";
    let spec = read(&GEMM_ATTRIBUTE.replace("block(", configs), GEMM_ITEM);
    let spec = spec.map_err(|e| e.render("x", configs)).unwrap().spec;
    let texts: Vec<_> = spec.try_first.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "BLOCK_M=64,BLOCK_N=64,BLOCK_K=16,VECTOR_WIDTH=4,THREADS=256",
            "BLOCK_M=16,BLOCK_N=16,BLOCK_K=16,VECTOR_WIDTH=1,THREADS=128"
        ]
    );
    assert_eq!(spec.hash(), gemm().hash());
    assert_eq!(crate::KernelSpec::from_json(&spec.to_json()).unwrap(), spec);
}

#[test]
fn ranges_choices_and_entries_become_plain_values() {
    let parsed = read(NORM_ATTRIBUTE, NORM_ITEM).unwrap();
    let spec = &parsed.spec;
    let values = |i: usize| {
        spec.params[i]
            .values
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(values(0), ["16", "32", "64"]);
    assert_eq!(values(1), ["1", "2", "3"]);
    assert_eq!(values(2), ["-1", "0"]);
    assert_eq!(values(4), ["row", "column"]);
    assert_eq!((&*spec.name, &*spec.entry), ("norm", "norm_kernel"));
    assert!(spec.baseline_is_another_entry());
    assert_eq!(
        spec.baseline.config.to_string(),
        "BLOCK=16,STEPS=1,TAIL=-1,UNROLL=true,LAYOUT=row"
    );
    assert_eq!(
        spec.reference,
        Some(Reference::Rust("crate::reference::norm".into()))
    );
    assert_eq!(parsed.function.attrs.len(), 2);
    assert_eq!(
        KernelSpec::from_json(&spec.to_json()).unwrap().hash(),
        spec.hash()
    );
}

#[test]
fn arguments_carry_what_their_attributes_say() {
    let spec = read(NORM_ATTRIBUTE, NORM_ITEM).unwrap().spec;
    let ArgSpec::Scalar(scale) = &spec.args[0] else {
        panic!("a scalar")
    };
    assert_eq!(scale.value, Some(ScalarValue::Float(0.5)));
    let ArgSpec::Scalar(bias) = &spec.args[1] else {
        panic!("a scalar")
    };
    assert_eq!(bias.value, Some(ScalarValue::Int(-3)));
    let slices: Vec<_> = spec.slices().collect();
    assert_eq!(
        slices[0].fill,
        Fill::Uniform {
            low: -2.0,
            high: 2.5
        }
    );
    assert_eq!(slices[0].align.as_ref().unwrap().to_string(), "STEPS");
    assert_eq!(slices[1].fill, Fill::Below(crate::Expr::Name("n".into())));
    assert_eq!(slices[2].fill, Fill::ByType);
    assert_eq!(
        (slices[3].access, &slices[3].fill),
        (Access::InOut, &Fill::Iota)
    );
    assert_eq!(spec.tolerance_of(slices[3]).relative, 0.1);
    assert_eq!(spec.tolerance.absolute, 1e-3);
}

#[test]
fn an_f16_output_needs_a_tolerance_of_its_own() {
    let attribute = NORM_ATTRIBUTE.replace("tolerance(absolute = 1e-3, relative = 0.5),", "");
    assert!(mistakes(&attribute, NORM_ITEM).is_empty());
    let item = NORM_ITEM.replace("#[tolerance(relative = 0.1)] ", "");
    assert_eq!(
        mistakes(&attribute, &item),
        [
            "y: no tolerance for the f16 output `y`; add `tolerance(relative = ..)`: the default of 1e-5 is finer than the type"
        ]
    );
}

#[test]
fn an_expression_nested_too_deep_is_refused() {
    let deep = format!("{}1{}", "-(1 + ".repeat(60), ")".repeat(60));
    let (attribute, item) = edited("block(THREADS)", &format!("block({deep})"));
    let found = mistakes(&attribute, &item);
    assert!(
        found[0].contains("nests deeper than 40 levels"),
        "{found:?}"
    );
}

#[test]
fn tokens_in_any_order_parse_to_the_same_spec() {
    let mut items: Vec<_> = GEMM_ATTRIBUTE.split_inclusive("),\n    ").collect();
    items.reverse();
    let reversed: String = items.concat();
    assert_ne!(reversed, GEMM_ATTRIBUTE);
    let spec = read(&reversed, GEMM_ITEM).map_err(|e| e.render("x", &reversed));
    assert_eq!(spec.unwrap().spec.hash(), gemm().hash());
}

#[test]
fn the_hash_is_of_all_that_is_declared_but_the_problems_to_tune_for() {
    let changed = |change: fn(&mut KernelSpec)| {
        let mut spec = gemm();
        change(&mut spec);
        spec.hash() != gemm().hash()
    };
    assert!(!gemm().problems.is_empty());
    assert!(!changed(|spec| spec.problems.clear()));
    assert!(!changed(|spec| spec.gpu_problems = spec.problems.clone()));
    assert!(changed(|spec| spec.verify.extend(spec.problems.clone())));
    assert!(changed(|spec| spec.tolerance.relative *= 2.0));
    assert!(changed(|spec| drop(spec.params.pop())));
}

#[test]
fn a_number_by_value_may_have_the_type_of_a_type_parameter() {
    let attribute = GEMM_ATTRIBUTE.replace(
        "tolerance(relative = 1e-5)",
        "tolerance(relative = 1e-2), types(T in [f32, bf16, i8])",
    );
    let item = |value: &str| {
        let argument = format!("fn gemm(#[value({value})] alpha: T, #[value(0.5)] beta: f16, ");
        GEMM_ITEM.replace("fn gemm(", &argument)
    };
    let spec = read(&attribute, &item("-3")).unwrap().spec;
    let typed = |name: &str, ty, value| {
        let name = name.to_owned();
        ArgSpec::Typed(TypedArg { name, ty, value })
    };
    let param = ElemRef::Param("T".into());
    assert_eq!(spec.args[0], typed("alpha", param, ScalarValue::Int(-3)));
    let half = ElemRef::Fixed(ElemType::F16);
    assert_eq!(spec.args[1], typed("beta", half, ScalarValue::Float(0.5)));
    assert_eq!(spec.dimensions(), ["T", "m", "n", "k"]);
    assert_eq!(KernelSpec::from_json(&spec.to_json()).unwrap(), spec);
    for (value, ty) in [("0.5", "i8"), ("200", "i8"), ("1e39", "f32")] {
        let found = mistakes(&attribute, &item(value));
        assert_eq!(found.len(), 1, "{found:?}");
        let says = format!("{value} does not fit `alpha`, which may be {ty}");
        assert!(found[0].contains(&says), "{found:?}");
    }
}

//! Tests of the comparison of specs with kernel signatures.

use super::*;
use crate::expr::Expr;
use crate::model::{Fill, Passing, ScalarType, ScalarValue};
use crate::source::SourceText;
use crate::testing::bare_spec;

fn scalar(name: &str, ty: ScalarType) -> ArgSpec {
    ArgSpec::Scalar(ScalarArg {
        name: name.into(),
        ty,
        value: None,
        passing: Passing::Given,
    })
}

fn slice(name: &str, elem: ElemRef, access: Access, align: Option<i64>) -> ArgSpec {
    ArgSpec::Slice(SliceArg {
        name: name.into(),
        elem,
        access,
        len: Expr::Int(1),
        fill: Fill::Iota,
        align: align.map(Expr::Int),
        tolerance: None,
        compare: None,
        constant: None,
    })
}

fn f32s(access: Access) -> ArgSpec {
    slice("a", ElemRef::Fixed(ElemType::F32), access, None)
}

fn spec(args: Vec<ArgSpec>) -> KernelSpec {
    KernelSpec {
        args,
        ..bare_spec()
    }
}

fn compare(params: &str, args: Vec<ArgSpec>) -> Vec<SignatureError> {
    let text = format!("typedef float real;\n__global__ void k({params}) {{}}");
    let scan = SourceScan::new(&SourceText::from_expanded(text)).unwrap();
    scan.compare_signature(&spec(args), &scan.entry("k").unwrap())
}

fn matches(param: &str, arg: ArgSpec) {
    assert_eq!(compare(param, vec![arg]), [], "{param}");
}

fn differs(param: &str, arg: ArgSpec, help: &str) {
    let errors = compare(param, vec![arg]);
    assert_eq!(errors.len(), 1, "{param}");
    assert_eq!(errors[0].argument(), Some(0));
    assert!(
        errors[0].to_string().contains(&format!("help: {help}")),
        "{}",
        errors[0]
    );
}

#[test]
fn arguments_of_the_same_types_match() {
    for n in [
        "unsigned n",
        "unsigned int n",
        "uint32_t n",
        "const uint32_t n",
        "std::uint32_t",
    ] {
        matches(n, scalar("n", ScalarType::U32));
    }
    matches("size_t n", scalar("n", ScalarType::U64));
    matches("const real x", scalar("x", ScalarType::F32));
    for a in [
        "const float* __restrict__ a",
        "float const * a",
        "const float a[]",
        "const real* a",
        "const void* a",
        "float* a",
    ] {
        matches(a, f32s(Access::In));
    }
    matches("float* __restrict__ a", f32s(Access::Out));
    matches("unknown_t* a", f32s(Access::InOut));
    matches(
        "const T* a",
        slice("a", ElemRef::Param("T".into()), Access::In, None),
    );
    matches(
        "const float4* a",
        slice("a", ElemRef::Fixed(ElemType::F32), Access::In, Some(4)),
    );
    // A `float3` needs only the alignment of a `float`.
    matches("float3* a", f32s(Access::Out));
}

#[test]
fn numbers_of_a_type_parameter_and_halves_match_by_value() {
    let typed = |ty: ElemRef| {
        ArgSpec::Typed(TypedArg {
            name: "a".into(),
            ty,
            value: ScalarValue::Int(1),
        })
    };
    let param = || typed(ElemRef::Param("T".into()));
    let half = || typed(ElemRef::Fixed(ElemType::F16));
    matches("const T a", param());
    matches("__half a", half());
    matches("half a", half());
    differs("U a", param(), "name the type parameter `U`, or take `T`");
    differs("float a", param(), "declare it `a: f32`, or take `T`");
    differs("const T* a", param(), "declare it `&[..]` or `&mut [..]`");
    differs("T& a", param(), "a kernel takes numbers by value");
    differs("float4 a", param(), "take `T` in the source");
    differs("__nv_bfloat16 a", half(), "declare it `a: bf16`, or take");
    differs("Params a", half(), "take `__half` in the source");
    let help = "declare it `#[value(0.5)] a: f16`";
    differs("__half a", scalar("a", ScalarType::F32), help);
}

#[test]
fn a_pointer_that_is_always_null_is_a_computed_zero() {
    let computed = |ty, value| {
        ArgSpec::Scalar(ScalarArg {
            name: "bias".into(),
            ty,
            value: None,
            passing: Passing::Computed(Expr::Int(value)),
        })
    };
    matches("const float* bias", computed(ScalarType::U64, 0));
    matches("unknown_t** bias", computed(ScalarType::U64, 0));
    let help = "declare it `&[..]` or `&mut [..]`, or take";
    differs("const float* bias", computed(ScalarType::U64, 1), help);
    differs("const float* bias", computed(ScalarType::U32, 0), help);
    let size = scalar("bias", ScalarType::U64);
    differs("const float* bias", size, help);
}

#[test]
fn other_types_are_errors_that_say_what_to_change() {
    differs("int n", scalar("n", ScalarType::U32), "declare it `n: i32`");
    differs(
        "size_t n",
        scalar("n", ScalarType::U32),
        "declare it `n: u64`",
    );
    differs(
        "double x",
        scalar("x", ScalarType::F32),
        "declare it `x: f64`",
    );
    differs(
        "Params p",
        scalar("p", ScalarType::F32),
        "take `float` in the source",
    );
    differs(
        "const float* a",
        scalar("a", ScalarType::F32),
        "declare it `&[..]`",
    );
    differs(
        "float a",
        f32s(Access::In),
        "a slice is one pointer: take `const float*`",
    );
    differs(
        "float** a",
        f32s(Access::Out),
        "a slice is one pointer: take `float*`",
    );
    differs(
        "const float* a",
        f32s(Access::Out),
        "declare it `&[..]` if it is only read, or take `float*`",
    );
    differs(
        "const int* a",
        f32s(Access::In),
        "make it a slice of `i32`, or take `const float*`",
    );
    differs(
        "const double* a",
        f32s(Access::In),
        "make it a slice of `f64`, or take `const float*`",
    );
    differs("const bool* a", f32s(Access::In), "make it a slice of `u8`");
    differs(
        "const float4* a",
        f32s(Access::In),
        "add `#[align(4)]` to `a`",
    );
    let halves = |align| slice("a", ElemRef::Fixed(ElemType::F16), Access::In, align);
    differs("const int4* a", halves(None), "add `#[align(8)]` to `a`");
    differs("const int* a", halves(Some(8)), "make it a slice of `i32`");
    differs("const double2* a", f32s(Access::In), "take `const float*`");
    let typed = |align| slice("a", ElemRef::Param("T".into()), Access::In, align);
    differs("const int4* a", typed(None), "take `const T*`");
    differs(
        "const U* a",
        slice("a", ElemRef::Param("T".into()), Access::In, None),
        "name the type parameter `U`",
    );
}

#[test]
fn another_number_of_arguments_is_one_error() {
    let errors = compare("const float* a, int n", vec![f32s(Access::In)]);
    assert_eq!(
        errors[0].to_string(),
        "kernel `k` takes 2 arguments in the source (source:2) but 1 in its spec\n\
         help: the source declares (const float * a, int n)"
    );
}

#[test]
fn every_definition_of_a_kernel_is_compared() {
    let text = "#if X\n__global__ void k(int n) {}\n#else\n__global__ void k(float n) {}\n#endif";
    let scan = SourceScan::new(&SourceText::from_expanded(text)).unwrap();
    let spec = spec(vec![scalar("n", ScalarType::I32)]);
    let errors = scan.compare_signature(&spec, &scan.entry("k").unwrap());
    assert_eq!(errors.len(), 1, "{errors:?}");
}

#[test]
fn a_32_bit_integer_matches_an_enum_of_the_source_by_value() {
    let errors = |param: &str, ty: ScalarType| {
        let text = format!(
            "enum Pool {{ MAX, AVERAGE }};\ntypedef enum {{ A, B }} Kind;\nnamespace net {{ enum class Act : int {{ Relu }}; }}\n\
             struct Point {{ int x; }};\n__global__ void k({param}) {{}}"
        );
        let scan = SourceScan::new(&SourceText::from_expanded(text)).unwrap();
        scan.compare_signature(&spec(vec![scalar("a", ty)]), &scan.entry("k").unwrap())
    };
    for param in [
        "const enum Pool a",
        "Pool a",
        "Kind a",
        "net::Act a",
        "const net::Act",
    ] {
        for ty in [ScalarType::I32, ScalarType::U32] {
            assert_eq!(errors(param, ty), [], "{param}");
        }
        let error = errors(param, ScalarType::I64)[0].to_string();
        assert!(error.contains("help: declare it `a: i32`"), "{error}");
    }
    for param in ["Kind* a", "Kind& a", "Point a", "Unknown a"] {
        assert_eq!(errors(param, ScalarType::I32).len(), 1, "{param}");
    }
}

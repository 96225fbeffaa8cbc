//! Compares the functions of the prelude with those of Rust, value by value.

use crate::on_cpu::{Arg, Loaded, buffer, contents, devices, plan, unit};
use half::{bf16, f16};
use kiln::compiler::BuildKind;

/// Evaluates `out[i] = expression`, where `expression` contains `x`, for every input and with every compiler.
pub fn map<In, Out>(
    declaration: &str,
    expression: &str,
    input: &[In],
    mut check: impl FnMut(In, Out),
) where
    In: bytemuck::Pod,
    Out: bytemuck::Pod,
{
    let (from, to) = declaration.split_once(" -> ").unwrap();
    let source = format!(
        "__global__ void map({to}* out, const {from}* in, int n) {{
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) {{ {from} x = in[i]; out[i] = {expression}; }}
        }}"
    );
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(false, &source, "map"), BuildKind::Release);
        let (out, from) = (
            buffer(&device, &vec![Out::zeroed(); input.len()]),
            buffer(&device, input),
        );
        let args = [
            Arg::Buffer(&*out),
            Arg::Buffer(&*from),
            Arg::Int(input.len() as i32),
        ];
        kernel
            .launch(
                &plan([input.len().div_ceil(256) as u32, 1, 1], [256, 1, 1]),
                &args,
            )
            .unwrap();
        for (&x, y) in input.iter().zip(contents::<Out>(&*out)) {
            check(x, y);
        }
    }
}

/// Floats of every magnitude with both signs, zeroes, infinities and NaN.
fn floats() -> Vec<f32> {
    let bits = (0..100_000_u32).map(|i| i.wrapping_mul(2_654_435_761));
    let special = [
        0.0,
        -0.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::MAX,
        f32::MIN_POSITIVE,
    ];
    bits.map(f32::from_bits).chain(special).collect()
}

#[test]
fn halves_and_bfloat16s_round_to_nearest_even_like_the_half_crate() {
    let same = |expected: u16, got: u16, nan: bool, x: f32| {
        assert!(got == expected || nan, "{x}: {got:x} {expected:x}")
    };
    map(
        "float -> unsigned short",
        "__half_as_ushort(__float2half(x))",
        &floats(),
        |x: f32, y: u16| {
            same(
                f16::from_f32(x).to_bits(),
                y,
                x.is_nan() && f16::from_bits(y).is_nan(),
                x,
            );
        },
    );
    map(
        "float -> unsigned short",
        "__bfloat16_as_ushort(__float2bfloat16(x))",
        &floats(),
        |x: f32, y: u16| {
            same(
                bf16::from_f32(x).to_bits(),
                y,
                x.is_nan() && bf16::from_bits(y).is_nan(),
                x,
            );
        },
    );
    let all: Vec<u16> = (0..=u16::MAX).collect();
    map(
        "unsigned short -> float",
        "__half2float(__ushort_as_half(x))",
        &all,
        |x: u16, y: f32| {
            let expected = f16::from_bits(x).to_f32();
            assert!(
                y == expected || y.is_nan() && expected.is_nan(),
                "{x:x}: {y} {expected}"
            );
        },
    );
    map(
        "unsigned short -> float",
        "__bfloat162float(__ushort_as_bfloat16(x))",
        &all,
        |x: u16, y: f32| {
            let expected = bf16::from_bits(x).to_f32();
            assert!(
                y == expected || y.is_nan() && expected.is_nan(),
                "{x:x}: {y} {expected}"
            );
        },
    );
}

/// The half that is nearest to an exact value, with ties to even. A conversion through f32 would round twice.
fn nearest_half(x: f64) -> f16 {
    let near = f16::from_f64(x).to_bits();
    let candidates = [near.wrapping_sub(1), near, near.wrapping_add(1)].map(f16::from_bits);
    let distance = |half: &f16| (half.to_f64() - x).abs();
    let even_first = |half: &f16| half.to_bits() & 1;
    let finite = candidates.into_iter().filter(|half| half.is_finite());
    let nearest = finite.min_by(|a, b| {
        distance(a)
            .total_cmp(&distance(b))
            .then(even_first(a).cmp(&even_first(b)))
    });
    if f16::from_f64(x).is_finite() {
        nearest.unwrap_or(f16::NAN)
    } else {
        f16::from_f64(x)
    }
}

#[test]
fn arithmetic_of_halves_rounds_once() {
    let pairs: Vec<u32> = (0..60_000_u32)
        .map(|i| i.wrapping_mul(2_654_435_761))
        .collect();
    let operands = |x: u32| {
        (
            f16::from_bits(x as u16).to_f64(),
            f16::from_bits((x >> 16) as u16).to_f64(),
        )
    };
    let halves = "half a = __ushort_as_half(x & 0xffff), b = __ushort_as_half(x >> 16);";
    for (name, expected) in [
        ("__hadd(a, b)", (|a, b| a + b) as fn(f64, f64) -> f64),
        ("__hmul(a, b)", |a, b| a * b),
        ("__hfma(a, b, a)", |a, b| a * b + a),
        ("__hmax(a, b)", f64::max),
    ] {
        let expression = format!("({{ {halves} __half_as_ushort({name}); }})");
        map(
            "unsigned -> unsigned short",
            &expression,
            &pairs,
            |x: u32, y: u16| {
                let (a, b) = operands(x);
                let (got, expected) = (f16::from_bits(y), nearest_half(expected(a, b)));
                assert!(
                    got == expected || got.is_nan() && expected.is_nan(),
                    "{name} {a} {b}: {got} {expected}"
                );
            },
        );
    }
}

#[test]
fn the_fast_exponential_is_within_two_units_in_the_last_place() {
    let input: Vec<f32> = (-110_000..=95_000)
        .map(|i| i as f32 / 1000.0)
        .chain(floats())
        .collect();
    map("float -> float", "__expf(x)", &input, |x: f32, y: f32| {
        let expected = f64::from(x).exp();
        let as_float = expected as f32;
        if x.is_nan() {
            assert!(y.is_nan());
        } else if as_float.is_infinite() || as_float == 0.0 {
            assert_eq!(y, as_float, "{x}");
        } else {
            let unit = f64::from(as_float.next_up() - as_float);
            assert!(
                (f64::from(y) - expected).abs() <= 2.0 * unit,
                "{x}: {y} {expected}"
            );
        }
    });
}

#[test]
fn conversions_to_integers_saturate_like_rusts() {
    map(
        "float -> int",
        "__float2int_rz(x)",
        &floats(),
        |x: f32, y: i32| assert_eq!(y, x as i32, "{x}"),
    );
    map(
        "float -> unsigned",
        "__float2uint_rd(x)",
        &floats(),
        |x: f32, y: u32| assert_eq!(y, x.floor() as u32, "{x}"),
    );
    map(
        "float -> int",
        "__float2int_rn(x)",
        &floats(),
        |x: f32, y: i32| {
            assert_eq!(y, x.round_ties_even() as i32, "{x}");
        },
    );
    map(
        "float -> long long",
        "__float2ll_rz(x)",
        &floats(),
        |x: f32, y: i64| {
            // PTX ISA 9.7.9.21: a NaN becomes the lowest number of 64 bits.
            let expected = if x.is_nan() { i64::MIN } else { x as i64 };
            assert_eq!(y, expected, "{x}");
        },
    );
}

#[test]
fn maximum_and_minimum_ignore_nan() {
    map(
        "float -> float",
        "fmaxf(x, 1.0f) + 0 * fminf(1.0f, x)",
        &[f32::NAN, 0.5, 2.0],
        |x: f32, y: f32| {
            assert_eq!(y, x.max(1.0));
        },
    );
}

#[test]
fn integer_intrinsics_agree_with_rusts() {
    let words: Vec<u32> = (0..50_000_u32)
        .map(|i| i.wrapping_mul(2_654_435_761))
        .chain([u32::MAX, 1])
        .collect();
    type Case = (&'static str, fn(u32) -> u32);
    let cases: [Case; 10] = [
        ("__popc(x)", u32::count_ones),
        ("__clz(x)", u32::leading_zeros),
        (
            "__ffs(x)",
            |x| if x == 0 { 0 } else { x.trailing_zeros() + 1 },
        ),
        ("__brev(x)", u32::reverse_bits),
        ("__umulhi(x, 0x9e3779b9u)", |x| {
            ((u64::from(x) * 0x9e37_79b9) >> 32) as u32
        }),
        ("(unsigned)__mulhi((int)x, 12345)", |x| {
            ((i64::from(x.cast_signed()) * 12345) >> 32) as u32
        }),
        ("__funnelshift_l(x, ~x, 37)", |x| !x << 5 | x >> 27),
        ("__byte_perm(x, 0x11223344u, 0x0615u)", |x| {
            let bytes = [x.to_le_bytes(), 0x1122_3344_u32.to_le_bytes()].concat();
            u32::from_le_bytes([bytes[5], bytes[1], bytes[6], bytes[0]])
        }),
        // Bit 3 of a selector has no meaning, unlike in PTX's `prmt`.
        ("__byte_perm(x, 0x11223344u, 0x8e9du)", |x| {
            let bytes = [x.to_le_bytes(), 0x1122_3344_u32.to_le_bytes()].concat();
            u32::from_le_bytes([bytes[5], bytes[1], bytes[6], bytes[0]])
        }),
        ("(unsigned)__dp4a((int)x, 0x01ff0203, 7)", |x| {
            let other = [3_i32, 2, -1, 1];
            let products = x
                .to_le_bytes()
                .into_iter()
                .zip(other)
                .map(|(a, b)| i32::from(a.cast_signed()) * b);
            (products.sum::<i32>() + 7).cast_unsigned()
        }),
    ];
    for (expression, expected) in cases {
        map(
            "unsigned -> unsigned",
            expression,
            &words,
            |x: u32, y: u32| {
                assert_eq!(y, expected(x), "{expression} of {x:#x}");
            },
        );
    }
}

#[test]
fn atomics_of_every_kind_lose_nothing() {
    let source = "
        __global__ void atomics(unsigned* u, float* f, int* i, unsigned long long* l) {
            unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
            atomicAdd(&u[0], 2u); atomicSub(&u[1], 1u); atomicMin(&u[2], t); atomicMax(&u[3], t);
            atomicOr(&u[4], 1u << (t % 32)); atomicAnd(&u[5], ~(1u << (t % 31))); atomicXor(&u[6], t);
            atomicInc(&u[7], 9u); atomicExch(&u[8], 5u);
            for (unsigned seen = u[9], next; (next = atomicCAS(&u[9], seen, seen + 3)) != seen; seen = next) {}
            atomicAdd(&f[0], 0.5f); atomicMax(&i[0], (int)t - 100000); atomicAdd(&l[0], 1ull << 33);
        }";
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(false, source, "atomics"), BuildKind::Release);
        let u = buffer(
            &device,
            &[0_u32, 100_000, u32::MAX, 0, 0, u32::MAX, 0, 0, 0, 0],
        );
        let (f, i, l) = (
            buffer(&device, &[0_f32]),
            buffer(&device, &[i32::MIN]),
            buffer(&device, &[0_u64]),
        );
        let args = [
            Arg::Buffer(&*u),
            Arg::Buffer(&*f),
            Arg::Buffer(&*i),
            Arg::Buffer(&*l),
        ];
        let n = 50_000;
        kernel
            .launch(&plan([500, 1, 1], [100, 1, 1]), &args)
            .unwrap();
        let xor = (0..n).fold(0, |x, t| x ^ t);
        assert_eq!(
            contents::<u32>(&*u),
            [
                2 * n,
                100_000 - n,
                0,
                n - 1,
                u32::MAX,
                1 << 31,
                xor,
                0,
                5,
                3 * n
            ]
        );
        assert_eq!(contents::<f32>(&*f), [25_000.0]);
        assert_eq!(contents::<i32>(&*i), [n as i32 - 1 - 100_000]);
        assert_eq!(contents::<u64>(&*l), [u64::from(n) << 33]);
    }
}

#[test]
fn the_headers_that_cuda_sources_include_can_be_included() {
    let headers = [
        "algorithm",
        "cstdlib",
        "cuda_runtime.h",
        "cuda_fp16.h",
        "cuda_bf16.h",
        "math.h",
        "math_constants.h",
        "assert.h",
        "stdint.h",
        "float.h",
        "limits.h",
        "stddef.h",
        "string.h",
        "stdio.h",
        "cmath",
        "cstdint",
        "cfloat",
        "type_traits",
    ];
    let includes: String = headers
        .iter()
        .map(|name| format!("#include <{name}>\n"))
        .collect();
    let source = format!(
        "{includes}
        __global__ void k(float* x, int n) {{
            static_assert(sizeof(uint64_t) == 8 && INT_MAX > 0 && FLT_MAX > 1e38f);
            assert(n > 0);
            float v = x[threadIdx.x], s, c;
            sincosf(v, &s, &c);
            bool odd = isnan(v) || isinf(v) || !isfinite(v);
            x[threadIdx.x] = odd ? -INFINITY : max(expf(v), exp(v)) + min(fabs(v), powf(v, 2.0f)) + s * c + tanhf(v) + erff(v);
        }}"
    );
    for device in devices() {
        for fibers in [false, true] {
            let kernel = Loaded::new(&device, &unit(fibers, &source, "k"), BuildKind::Release);
            let x = buffer(&device, &[0_f32; 3]);
            kernel
                .launch(&plan([1; 3], [3, 1, 1]), &[Arg::Buffer(&*x), Arg::Int(1)])
                .unwrap();
            assert_eq!(contents::<f32>(&*x), [1.0; 3]);
        }
    }
}

#[test]
fn cuda_spellings_of_kernels_and_variables_compile() {
    let source = "
        template <typename T, int N> struct Tile { T data[N]; __device__ T& operator[](int i) { return data[i]; } };
        static __constant__ float table[3] = {1, 2, 3};
        __device__ __forceinline__ float look(int i) { return table[i % 3]; }
        __host__ __device__ constexpr int twice(int x) { return 2 * x; }
        static __device__ __noinline__ float other(float x) { return x * twice(2); }
        extern \"C\" __global__ void __launch_bounds__(64, 2) k(const float* __restrict__ in, float* __restrict__ out) {
            __shared__ __align__(16) float held[64];
            __shared__ Tile<float, 64> tile;
            const dim3 block = blockDim;
            const uint3 index = threadIdx;
            held[index.x] = __ldg(in + index.x);
            tile[index.x] = other(look(index.x));
            __syncthreads();
            #pragma unroll 4
            for (int i = 0; i < 1; i++) out[index.x] = held[block.x - 1 - index.x] + tile[index.x];
        }";
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(true, source, "k"), BuildKind::Release);
        let (from, to) = (buffer(&device, &[1_f32; 64]), buffer(&device, &[0_f32; 64]));
        kernel
            .launch(
                &plan([1; 3], [64, 1, 1]),
                &[Arg::Buffer(&*from), Arg::Buffer(&*to)],
            )
            .unwrap();
        let expected: Vec<f32> = (0..64)
            .map(|i| 1.0 + 4.0 * [1.0, 2.0, 3.0][i % 3])
            .collect();
        assert_eq!(contents::<f32>(&*to), expected);
    }
}

//! Runs kernels that clang compiled, and checks results, faults and counters.
#![allow(clippy::unwrap_used)] // a failed call fails the test

use kiln_sim::gfx11::{CodeObject, Kernel, Loaded};
use kiln_sim::{Class, Counters, Fault, FaultKind, Launch, Memory, Order, run};

const BASICS: &[u8] = include_bytes!("gfx11/basics.co");
const ORDERS: [Order; 4] = [
    Order::Forward,
    Order::Reversed,
    Order::Random { seed: 1 },
    Order::Random { seed: 2 },
];

/// A device into which the kernels of `basics.hip` are loaded.
struct Device {
    memory: Memory,
    loaded: Loaded,
}

fn device() -> Device {
    let memory = Memory::default();
    let loaded = CodeObject::parse(BASICS).unwrap().load(&memory).unwrap();
    Device { memory, loaded }
}

impl Device {
    fn upload<T: Copy, const N: usize>(&self, values: &[T], bytes: impl Fn(T) -> [u8; N]) -> u64 {
        let data: Vec<u8> = values.iter().flat_map(|&value| bytes(value)).collect();
        let address = self.memory.alloc(data.len());
        self.memory.write(address, &data).unwrap();
        address
    }

    fn floats(&self, values: &[f32]) -> u64 {
        self.upload(values, f32::to_le_bytes)
    }

    fn words(&self, values: &[u32]) -> u64 {
        self.upload(values, u32::to_le_bytes)
    }

    fn read_words(&self, address: u64, count: usize) -> Vec<u32> {
        let mut data = vec![0; 4 * count];
        self.memory.read(address, &mut data).unwrap();
        data.chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect()
    }

    fn read_floats(&self, address: u64, count: usize) -> Vec<f32> {
        self.read_words(address, count)
            .into_iter()
            .map(f32::from_bits)
            .collect()
    }

    fn kernel(&self, name: &str) -> Kernel {
        self.loaded.kernel(name).unwrap()
    }

    fn launch(
        &self,
        name: &str,
        blocks: u32,
        threads: u32,
        arguments: &[Argument],
        order: Order,
    ) -> Result<Counters, Fault> {
        let launch = Launch {
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            shared_bytes: 0,
            arguments: pack(arguments),
            order,
        };
        run(&self.kernel(name), &launch, &self.memory)
    }
}

#[derive(Clone, Copy)]
enum Argument {
    P(u64),
    W(u32),
}
use Argument::{P, W};

fn pack(arguments: &[Argument]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for argument in arguments {
        match argument {
            P(address) => {
                bytes.resize(bytes.len().next_multiple_of(8), 0);
                bytes.extend(address.to_le_bytes());
            }
            W(word) => bytes.extend(word.to_le_bytes()),
        }
    }
    bytes
}

fn fault(result: Result<Counters, Fault>) -> Fault {
    result.expect_err("the launch should fail")
}

#[test]
fn vectors_are_added_in_every_order() {
    for order in ORDERS {
        let device = device();
        let a: Vec<f32> = (0..300).map(|i| i as f32).collect();
        let b: Vec<f32> = (0..300).map(|i| 0.5 * i as f32).collect();
        let (pa, pb, pc) = (
            device.floats(&a),
            device.floats(&b),
            device.memory.alloc(1200),
        );
        device
            .launch("add", 3, 128, &[P(pa), P(pb), P(pc), W(300)], order)
            .unwrap();
        let expected: Vec<f32> = (0..300).map(|i| 1.5 * i as f32).collect();
        assert_eq!(device.read_floats(pc, 300), expected);
    }
}

#[test]
fn a_block_sums_through_shared_memory_and_a_missing_barrier_is_a_race() {
    for order in ORDERS {
        let device = device();
        let a = device.floats(&(0..256).map(|i| i as f32).collect::<Vec<_>>());
        let out = device.memory.alloc(8);
        let counters = device
            .launch("sum", 2, 128, &[P(a), P(out), W(0)], order)
            .unwrap();
        assert_eq!(device.read_floats(out, 2), [8128.0, 24512.0]);
        // Two blocks of four warps. Each warp arrives at one barrier and then at seven more.
        assert_eq!(counters.barriers, 2 * 4 * 8);
        let fault = fault(device.launch("sum", 2, 128, &[P(a), P(out), W(2)], order));
        assert!(
            matches!(
                fault.kind,
                FaultKind::Race { .. } | FaultKind::Unwritten { .. }
            ),
            "{fault}"
        );
        let line = fault.place.line.clone().unwrap();
        assert!(
            line.file.ends_with("basics.hip") && (20..30).contains(&line.number),
            "{fault}"
        );
    }
}

#[test]
fn quotients_and_roots_are_those_of_ieee_754() {
    let cases: Vec<(f32, f32)> = vec![
        (1.0, 3.0),
        (-1.0, 3.0),
        (1e38, 1e-3),
        (1e-38, 1e3),
        (1e-45, 1.0),
        (3e38, 3e38),
        (1e-45, 1e-45),
        (1.0, 0.0),
        (0.0, 0.0),
        (f32::INFINITY, 2.0),
        (2.0, f32::INFINITY),
        (f32::NAN, 1.0),
        (1e-38, 1e38),
        (1e38, 1e-38),
        (5.0, 7.0),
        (16_777_215.0, 3.0),
        (1.0, 1e38),
        (1.0, 2e38),
        (0.0, -5.0),
        (1e-40, 3.0),
        (3.0, 1e-40),
        (7.0, 7.0),
        (1e30, 1e-8),
        (2e-38, 3.0),
        (1.175_494_4e-38, 1.5),
        (8.5e37, 0.3),
        (-1e-20, 1e20),
        (6.0, 1e-39),
        (1.5, 1.1e38),
        (3.4e38, 1.000_000_1),
        (1e-30, 1e10),
        (123_456.7, 0.001_234),
    ];
    let device = device();
    let a = device.floats(&cases.iter().map(|case| case.0).collect::<Vec<_>>());
    let b = device.floats(&cases.iter().map(|case| case.1).collect::<Vec<_>>());
    let out = device.memory.alloc(128);
    device
        .launch("divide", 1, 32, &[P(a), P(b), P(out)], Order::Forward)
        .unwrap();
    for ((a, b), got) in cases.iter().zip(device.read_floats(out, 32)) {
        let expected = a / b;
        assert!(
            got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan(),
            "{a} / {b}: {got} {expected}"
        );
    }
    device
        .launch("root", 1, 32, &[P(a), P(out)], Order::Forward)
        .unwrap();
    for ((a, _), got) in cases.iter().zip(device.read_floats(out, 32)) {
        let expected = a.sqrt();
        assert!(
            got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan(),
            "sqrt {a}: {got} {expected}"
        );
    }
}

#[test]
fn doubles_are_divided_and_fused_as_ieee_754_says() {
    let values = [
        1.0,
        -3.0,
        1e300,
        1e-300,
        5e-324,
        7.0,
        0.1,
        1e308,
        f64::INFINITY,
        0.0,
        2.5e-308,
        1.7e-10,
    ];
    let a: Vec<f64> = (0..32).map(|i| values[i % 12]).collect();
    let b: Vec<f64> = (0..32).map(|i| values[(i * 5 + 1) % 12]).collect();
    let device = device();
    let bytes = |values: &[f64]| device.upload(values, f64::to_le_bytes);
    let (pa, pb, pc) = (bytes(&a), bytes(&b), bytes(&b));
    let read = |address| -> Vec<f64> {
        let words = device.read_words(address, 64);
        words
            .chunks_exact(2)
            .map(|pair| f64::from_bits(u64::from(pair[0]) | u64::from(pair[1]) << 32))
            .collect()
    };
    device
        .launch("fused", 1, 32, &[P(pa), P(pb), P(pc)], Order::Forward)
        .unwrap();
    for (i, got) in read(pc).into_iter().enumerate() {
        let expected = a[i].mul_add(b[i], b[i]);
        assert!(got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan());
    }
    device
        .launch(
            "divide_double",
            1,
            32,
            &[P(pa), P(pb), P(pc)],
            Order::Forward,
        )
        .unwrap();
    for (i, got) in read(pc).into_iter().enumerate() {
        let expected = a[i] / b[i];
        let same = got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan();
        assert!(same, "{:e} / {:e}: {got:e} {expected:e}", a[i], b[i]);
    }
}

#[test]
fn integers_of_64_bits_are_multiplied_divided_and_shifted() {
    let device = device();
    let a: Vec<u64> = (0..32u64)
        .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .collect();
    let b: Vec<u64> = (0..32u64).map(|i| (i << (2 * i)) ^ 0x1234_5678).collect();
    let (pa, pb) = (
        device.upload(&a, u64::to_le_bytes),
        device.upload(&b, u64::to_le_bytes),
    );
    let out = device.memory.alloc(1024);
    device
        .launch("integers", 1, 32, &[P(pa), P(pb), P(out)], Order::Forward)
        .unwrap();
    let words = device.read_words(out, 256);
    let got: Vec<u64> = words
        .chunks_exact(2)
        .map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32)
        .collect();
    for i in 0..32 {
        let (x, y) = (a[i], b[i]);
        let counts = u64::from(x.count_ones()) + (u64::from((x | 1).leading_zeros()) << 32);
        let shifts = (x as i64 >> (y & 63)) as u64 ^ x << (y & 63);
        assert_eq!(
            got[4 * i..4 * i + 4],
            [x.wrapping_mul(y), x / (y | 1), shifts, counts],
            "{x:#x} {y:#x}"
        );
    }
}

#[test]
fn halves_are_rounded_once_and_mixed_products_are_fused() {
    let device = device();
    let half = |x: f32| half::f16::from_f32(x);
    let a: Vec<half::f16> = (0..32).map(|i| half(0.37 * i as f32 - 3.0)).collect();
    let b: Vec<half::f16> = (0..32).map(|i| half(1.9 - 0.11 * i as f32)).collect();
    let d: Vec<f32> = (0..32).map(|i| i as f32 * 0.01).collect();
    let (pa, pb) = (
        device.upload(&a, half::f16::to_le_bytes),
        device.upload(&b, half::f16::to_le_bytes),
    );
    let (pc, pd) = (device.memory.alloc(64), device.floats(&d));
    device
        .launch(
            "halves",
            1,
            32,
            &[P(pa), P(pb), P(pc), P(pd)],
            Order::Forward,
        )
        .unwrap();
    let mixed = device.read_floats(pd, 32);
    for i in 0..32 {
        let expected = a[i].to_f32().mul_add(b[i].to_f32(), d[i]);
        assert_eq!(mixed[i].to_bits(), expected.to_bits());
    }
    let words = device.read_words(pc, 16);
    for i in 0..32 {
        let got = half::f16::from_bits((words[i / 2] >> (i % 2 * 16)) as u16);
        let expected = half::f16::from_f64(a[i].to_f64() * b[i].to_f64() + 1.0);
        assert_eq!(got, expected);
    }
}

#[test]
fn private_memory_belongs_to_each_lane() {
    let device = device();
    let index: Vec<u32> = (0..32).map(|i| i * 7 % 40).collect();
    let (pi, out) = (device.words(&index), device.memory.alloc(128));
    let counters = device
        .launch("local", 1, 32, &[P(pi), P(out)], Order::Forward)
        .unwrap();
    assert!(counters.total().private_requests > 0);
    let expected: Vec<u32> = (0..32u32)
        .map(|lane| {
            let at = index[lane as usize];
            let added = (0..8u32).find(|&i| index[i as usize] == at).unwrap_or(0);
            at * at + lane + added
        })
        .collect();
    assert_eq!(device.read_words(out, 32), expected);
}

#[test]
fn atomic_operations_count_in_every_order() {
    for order in ORDERS {
        let device = device();
        let values: Vec<u32> = (0..256u32).map(|i| i * i % 37).collect();
        let (bins, value) = (device.words(&[0; 32]), device.words(&values));
        let wide = device.words(&[0xffff_fff0, 0]);
        device
            .launch("count", 4, 64, &[P(bins), P(value), P(wide)], order)
            .unwrap();
        let mut expected = [0; 32];
        values
            .iter()
            .for_each(|value| expected[*value as usize % 32] += 1);
        assert_eq!(device.read_words(bins, 32), expected);
        let sum = 0xffff_fff0 + values.iter().map(|&value| u64::from(value)).sum::<u64>();
        assert_eq!(device.read_words(wide, 2), [sum as u32, (sum >> 32) as u32]);
    }
}

#[test]
fn an_access_past_an_allocation_names_the_lane_and_the_line() {
    let device = device();
    let a = device.memory.alloc(64 * 4);
    device
        .launch("touch", 1, 32, &[P(a), W(32)], Order::Forward)
        .unwrap();
    let fault = fault(device.launch("touch", 1, 32, &[P(a), W(44)], Order::Forward));
    assert_eq!(
        fault.kind,
        FaultKind::OutOfBounds {
            address: a + 256,
            bytes: 4,
            nearest: Some((a, 256))
        }
    );
    assert_eq!((fault.place.lane, fault.place.warp), (Some(20), 0));
    assert!(
        fault.place.instruction.starts_with("global_store_b32"),
        "{fault}"
    );
    assert!(fault.place.line.is_some(), "{fault}");
}

#[test]
fn shared_memory_is_checked_for_bounds_and_for_what_was_written() {
    let device = device();
    let out = device.memory.alloc(64 * 4);
    let unwritten = fault(device.launch("unwritten", 1, 64, &[P(out), W(0)], Order::Forward));
    assert_eq!(unwritten.kind, FaultKind::Unwritten { offset: 128 });
    assert_eq!((unwritten.place.warp, unwritten.place.lane), (1, Some(0)));
    let launch = |bytes, last| {
        let arguments = pack(&[P(out), W(last)]);
        let launch = Launch {
            grid: [1; 3],
            block: [32, 1, 1],
            shared_bytes: bytes,
            arguments,
            order: Order::Forward,
        };
        run(&device.kernel("dynamic"), &launch, &device.memory)
    };
    launch(256, 63).unwrap();
    let past = fault(launch(256, 64));
    assert_eq!(
        past.kind,
        FaultKind::SharedOutOfBounds {
            offset: 256,
            bytes: 4,
            size: 256
        }
    );
}

#[test]
fn a_block_that_runs_too_long_ends_at_the_limit() {
    let device = device();
    let a = device.memory.alloc(64 * 4);
    let launch = Launch {
        grid: [1, 1, 1],
        block: [32, 1, 1],
        shared_bytes: 0,
        arguments: pack(&[P(a), W(32)]),
        order: Order::Forward,
    };
    let mut kernel = device.kernel("touch");
    let instructions = run(&kernel, &launch, &device.memory).unwrap().instructions;
    kernel.max_instructions = instructions;
    run(&kernel, &launch, &device.memory).unwrap();
    kernel.max_instructions = instructions - 1;
    let fault = fault(run(&kernel, &launch, &device.memory));
    assert!(matches!(fault.kind, FaultKind::TooLong { .. }), "{fault}");
}

#[test]
fn traps_deadlocks_and_stores_to_constants_are_faults() {
    let device = device();
    let out = device.memory.alloc(1024);
    device
        .launch("trap", 1, 32, &[P(out), W(2)], Order::Forward)
        .unwrap();
    assert_eq!(
        fault(device.launch("trap", 1, 32, &[P(out), W(3)], Order::Forward)).kind,
        FaultKind::Trap
    );
    let stored = fault(device.launch("constant_write", 1, 32, &[W(1)], Order::Forward));
    assert!(
        matches!(stored.kind, FaultKind::ReadOnly { .. }),
        "{stored}"
    );
}

#[test]
fn sectors_and_bank_conflicts_equal_those_counted_by_hand() {
    let device = device();
    let (a, out) = (device.memory.alloc(32 * 33 * 4), device.memory.alloc(128));
    // The kernel makes one load and one store. The store always touches four sectors.
    for (stride, sectors) in [(0, 1), (1, 4), (2, 8), (8, 32), (33, 32)] {
        let counters = device
            .launch("strided", 1, 32, &[P(a), P(out), W(stride)], Order::Forward)
            .unwrap();
        assert_eq!(
            (
                counters.total().global_requests,
                counters.total().global_sectors
            ),
            (2, sectors + 4),
            "{stride}"
        );
    }
    let conflicts = |stride| {
        device
            .launch("banks", 1, 32, &[P(out), W(stride)], Order::Forward)
            .unwrap()
            .total()
            .shared_conflicts
    };
    let base = conflicts(1);
    for (stride, more) in [(0, 0), (2, 1), (4, 3), (16, 15), (32, 31), (31, 0)] {
        assert_eq!(conflicts(stride) - base, more, "{stride}");
    }
}

#[test]
fn executed_instructions_are_counted_by_class() {
    let device = device();
    let (a, out) = (device.memory.alloc(128), device.memory.alloc(128));
    let counters = device
        .launch("strided", 2, 32, &[P(a), P(out), W(1)], Order::Forward)
        .unwrap();
    let kernel = device.kernel("strided");
    let mut global = 0;
    for (one, executed) in kernel.instructions().zip(&counters.executed) {
        global += if one.class == Class::Global {
            *executed
        } else {
            0
        };
    }
    assert_eq!(
        (global, counters.executed.iter().sum::<u64>()),
        (4, counters.instructions)
    );
}

#[test]
fn a_matrix_product_needs_its_lines_in_both_halves_of_the_wave() {
    let device = device();
    let value = |i: usize, scale: f32| half::f16::from_f32(((i * 7 + 3) % 11) as f32 * scale - 1.0);
    let a: Vec<half::f16> = (0..256).map(|i| value(i, 0.25)).collect();
    let b: Vec<half::f16> = (0..256).map(|i| value(i * 3, 0.5)).collect();
    let (pa, pb) = (
        device.upload(&a, half::f16::to_le_bytes),
        device.upload(&b, half::f16::to_le_bytes),
    );
    let out = device.memory.alloc(1024);
    device
        .launch(
            "product",
            1,
            32,
            &[P(pa), P(pb), P(out), W(0)],
            Order::Forward,
        )
        .unwrap();
    let got = device.read_floats(out, 256);
    for row in 0..16 {
        for column in 0..16 {
            // The values are multiples of 1/8 below 2^10, so their sums are exact in any order.
            let expected: f32 = (0..16)
                .map(|k| a[row * 16 + k].to_f32() * b[column * 16 + k].to_f32())
                .sum();
            assert_eq!(got[row * 16 + column], expected, "{row} {column}");
        }
    }
    let broken = fault(device.launch(
        "product",
        1,
        32,
        &[P(pa), P(pb), P(out), W(1)],
        Order::Forward,
    ));
    assert!(
        broken.to_string().contains("both halves of the wave"),
        "{broken}"
    );
    let masked = fault(device.launch(
        "product",
        1,
        16,
        &[P(pa), P(pb), P(out), W(0)],
        Order::Forward,
    ));
    assert!(masked.to_string().contains("needs all lanes"), "{masked}");
}

#[test]
fn lanes_exchange_values() {
    let device = device();
    let a: Vec<u32> = (0..32).map(|i| i * i + 1).collect();
    let from: Vec<u32> = (0..32).map(|i| (i * 5 + 3) % 40).collect();
    let (pa, pf, out) = (
        device.words(&a),
        device.words(&from),
        device.memory.alloc(32 * 7 * 4),
    );
    device
        .launch("shuffle", 1, 32, &[P(pa), P(pf), P(out)], Order::Forward)
        .unwrap();
    let got = device.read_words(out, 224);
    for lane in 0..32usize {
        assert_eq!(got[lane], a[from[lane] as usize % 32]);
        assert_eq!(got[32 + lane], if lane % 16 == 0 { 7 } else { a[lane - 1] });
        assert_eq!(got[64 + lane], a[lane / 16 * 16 + 15 - lane % 16]);
        assert_eq!(
            got[96 + lane],
            (0..lane).filter(|&below| a[below] & 1 == 1).count() as u32
        );
        assert_eq!(got[128 + lane], a[lane ^ 16]);
        assert_eq!(got[160 + lane], a[5]);
        assert_eq!(got[192 + lane], a[lane ^ 1]);
    }
}

#[test]
fn generic_addresses_name_shared_and_global_memory() {
    let device = device();
    for which in [0, 1] {
        let out = device.floats(&[9.0; 64]);
        let counters = device.launch("generic", 1, 32, &[P(out), W(which)], Order::Forward);
        let expected = if which == 1 { 6.0 } else { 10.0 };
        assert_eq!(device.read_floats(out, 32), [expected; 32]);
        // One load and one store with the generic address, and one store to each of the two memories.
        let moved = counters.unwrap().total();
        let expected = if which == 1 { (3, 1) } else { (1, 3) };
        assert_eq!((moved.shared_requests, moved.global_requests), expected);
    }
}

#[test]
fn global_variables_lie_in_the_image() {
    let device = device();
    let (index, out) = (
        device.words(&(0..32).collect::<Vec<_>>()),
        device.memory.alloc(128),
    );
    device
        .launch("globals", 1, 32, &[P(index), P(out)], Order::Forward)
        .unwrap();
    assert_eq!(device.read_words(out, 9), [2, 3, 5, 7, 11, 13, 17, 19, 2]);
    let (address, bytes) = device.loaded.variable("written").unwrap();
    assert_eq!(bytes, 128);
    assert_eq!(device.read_words(address, 32), (0..32).collect::<Vec<_>>());
}

#[test]
fn blocks_and_threads_have_their_indices_and_hidden_arguments() {
    let device = device();
    let out = device.memory.alloc(2 * 3 * 32 * 4);
    let launch = Launch {
        grid: [2, 3, 1],
        block: [8, 4, 1],
        shared_bytes: 0,
        arguments: pack(&[P(out), W(32)]),
        order: Order::Random { seed: 5 },
    };
    run(&device.kernel("grid"), &launch, &device.memory).unwrap();
    assert_eq!(device.read_words(out, 192), vec![230; 192]);
}

#[test]
fn launches_that_do_not_fit_the_kernel_are_refused() {
    let device = device();
    assert!(device.loaded.kernel("nothing").is_err());
    let out = device.memory.alloc(128);
    let many = fault(device.launch("root", 1, 2048, &[P(out), P(out)], Order::Forward));
    assert!(many.to_string().contains("2048 threads"), "{many}");
    let long = fault(device.launch("root", 1, 32, &[P(out), P(out), P(out)], Order::Forward));
    assert!(long.to_string().contains("24 bytes of arguments"), "{long}");
}

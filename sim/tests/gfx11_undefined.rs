//! Loads of shared memory that holds no value, in kernels that clang compiled. They are faults only if the value is
//! used.
#![allow(clippy::unwrap_used)] // a failed call fails the test

use kiln_sim::gfx11::CodeObject;
use kiln_sim::{Fault, FaultKind, Launch, Memory, Order, run};

const OBJECT: &[u8] = include_bytes!("gfx11/undefined.co");

/// The words that 32 threads of a kernel of `undefined.hip` store.
fn launch(kernel: &str, how: u32, words: usize, order: Order) -> Result<Vec<u32>, Fault> {
    let memory = Memory::default();
    let loaded = CodeObject::parse(OBJECT).unwrap().load(&memory).unwrap();
    let out = memory.alloc(4 * words);
    let mut arguments = out.to_le_bytes().to_vec();
    arguments.extend(how.to_le_bytes());
    let launch = Launch {
        grid: [1; 3],
        block: [32, 1, 1],
        shared_bytes: 0,
        arguments,
        order,
    };
    run(&loaded.kernel(kernel).unwrap(), &launch, &memory)?;
    let mut data = vec![0; 4 * words];
    memory.read(out, &mut data).unwrap();
    let words = data.chunks_exact(4);
    Ok(words
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect())
}

#[track_caller]
fn fine(kernel: &str, how: u32) -> Vec<u32> {
    let forward = launch(kernel, how, 32, Order::Forward).unwrap();
    let random = launch(kernel, how, 32, Order::Random { seed: 5 }).unwrap();
    assert_eq!(forward, random);
    forward
}

/// Checks that the load is reported, and that the instruction called `name` is reported as the use of its value.
#[track_caller]
fn is_used_at(kernel: &str, how: u32, name: &str) {
    let fault = launch(kernel, how, 32, Order::Forward).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unwritten { offset: 64 }, "{fault}");
    assert!(
        fault.place.instruction.starts_with("ds_load_b32"),
        "{fault}"
    );
    assert_eq!(fault.place.lane, Some(16), "{fault}");
    let used = fault.used_at.as_ref().unwrap();
    assert!(used.instruction.starts_with(name), "{fault}");
    assert!(fault.place.line.is_some() && used.line.is_some(), "{fault}");
}

fn own_or(other: u32) -> Vec<u32> {
    (0..32).map(|i| if i < 16 { i } else { other }).collect()
}

#[test]
fn a_load_of_unwritten_shared_memory_is_fine_if_its_value_is_dropped() {
    assert_eq!(fine("use", 0), [7; 32]);
}

#[test]
fn an_undefined_value_must_not_reach_global_memory_an_address_or_a_branch() {
    is_used_at("use", 1, "global_store_b32");
    is_used_at("use", 2, "global_store_b32");
    is_used_at("use", 5, "s_cbranch_vccz");
    is_used_at("use", 6, "v_cmpx_gt_u32");
    is_used_at("use", 7, "ds_load_b32");
    is_used_at("use", 16, "global_atomic_add_u32");
}

#[test]
fn a_value_that_an_instruction_does_not_depend_on_may_be_undefined() {
    assert_eq!(fine("use", 3), own_or(99));
    // The lanes with an undefined value are inactive.
    assert_eq!(fine("use", 4), own_or(7));
    assert_eq!(fine("use", 19), [1; 32]);
    // A scalar register has undefined bits, and the other bits are used.
    assert_eq!(fine("use", 15), [5; 32]);
}

#[test]
fn each_half_of_a_register_has_its_own_marks() {
    assert_eq!(fine("use", 10), (0..32).map(|i| i % 16).collect::<Vec<_>>());
    is_used_at("use", 11, "global_store_b32");
}

#[test]
fn lanes_exchange_marks_with_values() {
    assert_eq!(fine("use", 8), [3; 32]);
    is_used_at("use", 9, "global_store_b32");
    assert_eq!(fine("use", 12), (0..32).map(|i| i % 16).collect::<Vec<_>>());
    is_used_at("use", 13, "global_store_b32");
    is_used_at("use", 14, "global_store_b32");
    assert_eq!(fine("use", 17), [0; 32]);
}

#[test]
fn an_atomic_operation_on_unwritten_shared_memory_is_a_fault_at_once() {
    let fault = launch("use", 18, 32, Order::Forward).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unwritten { offset: 256 }, "{fault}");
    assert_eq!(fault.used_at, None);
}

#[test]
fn shared_and_private_memory_keep_the_marks() {
    let own: Vec<u32> = (0..32).collect();
    assert_eq!(fine("keep", 0), [7; 32]);
    assert_eq!(fine("keep", 1), own);
    assert_eq!(fine("keep", 2), own);
    is_used_at("keep", 3, "global_store_b32");
    // Element 4 of the private array has no value, and element 5 has one.
    assert_eq!(fine("keep", 0x54), own);
    is_used_at("keep", 0x44, "global_store_b32");
}

#[test]
fn only_rows_with_undefined_factors_of_a_product_are_undefined() {
    let sums = launch("product", 0, 256, Order::Forward).unwrap();
    for lane in sums.chunks_exact(8) {
        assert_eq!(lane[..4], [16.0_f32.to_bits(); 4]);
        assert_eq!(lane[4..], [0; 4]);
    }
    let fault = launch("product", 1, 256, Order::Forward).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unwritten { offset: 256 }, "{fault}");
    assert!(
        fault.place.instruction.starts_with("ds_load_b128"),
        "{fault}"
    );
}

//! Kernels with planted faults. Each has a correct counterpart that must not be reported.

use crate::run::{Case, STORE, kernel};
use kiln_sim::FaultKind;

/// `%r7` is the address of the thread's own word in `tile`, and `%r9` the address of a word of the next warp.
const TILE: &str = ".shared .align 16 .b8 tile[1024];\nmov.u32 %r5, tile;\nshl.b32 %r6, %r1, 2;\nadd.u32 %r7, %r5, %r6;\n\
                    xor.b32 %r8, %r6, 128;\nadd.u32 %r9, %r5, %r8;\nshl.b64 %rd9, %rd1, 0;\nmul.wide.u32 %rd8, %r1, 4;\n\
                    add.s64 %rd9, %rd2, %rd8;\n";

fn fault(body: &str) -> FaultKind {
    let text = kernel("", &format!("{TILE}{body}\n{STORE}"));
    let fault = Case::of(64)
        .launch(&text, &mut [&mut vec![0; 64], &mut vec![1; 64]])
        .unwrap_err();
    assert!(!fault.place.instruction.is_empty());
    fault.kind
}

fn fine(body: &str) -> Vec<u32> {
    let text = kernel("", &format!("{TILE}{body}\n{STORE}"));
    Case::of(64)
        .in_every_order(&text, &[vec![0; 64], (0..64).collect()])
        .remove(0)
}

fn swapped() -> Vec<u32> {
    (0..64).map(|i| i ^ 32).collect()
}

#[test]
fn a_missing_barrier_is_a_race_or_a_read_of_what_nothing_wrote() {
    let kind = fault("st.shared.u32 [%r7], %r1;\nld.shared.u32 %r2, [%r9];");
    assert!(
        matches!(kind, FaultKind::Unwritten { offset: 128 }),
        "{kind}"
    );
    let initial = "st.shared.u32 [%r7], %r1;\nbar.sync 0;\n";
    let kind = fault(&format!(
        "{initial}st.shared.u32 [%r7], %r1;\nld.shared.u32 %r2, [%r9];\nbar.sync 0;"
    ));
    assert!(matches!(kind, FaultKind::Race { .. }), "{kind}");
    assert_eq!(
        fine("st.shared.u32 [%r7], %r1;\nbar.sync 0;\nld.shared.u32 %r2, [%r9];"),
        swapped()
    );
}

#[test]
fn a_write_after_a_read_without_a_barrier_is_a_race() {
    let body = "st.shared.u32 [%r7], %r1;\nbar.sync 0;\nld.shared.u32 %r2, [%r9];\n";
    let kind = fault(&format!("{body}st.shared.u32 [%r7], %r2;"));
    assert!(matches!(kind, FaultKind::Race { .. }), "{kind}");
    assert_eq!(
        fine(&format!("{body}bar.sync 0;\nst.shared.u32 [%r7], %r2;")),
        swapped()
    );
}

#[test]
fn a_barrier_of_one_warp_does_not_order_another() {
    let body = "bar.warp.sync 0xffffffff;\n";
    let kind = fault(&format!(
        "st.shared.u32 [%r7], %r1;\nbar.sync 0;\nst.shared.u32 [%r7], %r1;\n{body}ld.shared.u32 %r2, [%r9];"
    ));
    assert!(matches!(kind, FaultKind::Race { .. }), "{kind}");
}

#[test]
fn divergent_lanes_need_a_barrier_of_the_warp() {
    let write = "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra $skip;\nst.shared.u32 [%r5], 7;\n$skip:\n";
    let guard = "setp.gt.u32 %p2, %r1, 31;\n@%p2 bra $e;\n";
    let read = "ld.shared.u32 %r2, [%r5];\n";
    let text = |sync: &str| format!("mov.u32 %r2, 7;\n{guard}{write}{sync}{read}$e:");
    let kind = fault(&text(""));
    assert!(matches!(kind, FaultKind::Race { .. }), "{kind}");
    assert_eq!(fine(&text("bar.warp.sync 0xffffffff;\n")), [7; 64]);
}

#[test]
fn an_asynchronous_copy_is_read_only_after_its_wait() {
    let copy = "cp.async.ca.shared.global [%r7], [%rd9], 4;\ncp.async.commit_group;\n";
    let kind = fault(&format!("{copy}ld.shared.u32 %r2, [%r7];"));
    assert!(matches!(kind, FaultKind::BeforeWait { .. }), "{kind}");
    let kind = fault(&format!(
        "{copy}cp.async.wait_group 1;\nld.shared.u32 %r2, [%r7];"
    ));
    assert!(matches!(kind, FaultKind::BeforeWait { .. }), "{kind}");
    let kind = fault(
        "cp.async.ca.shared.global [%r7], [%rd9], 4;\ncp.async.wait_group 0;\nld.shared.u32 %r2, [%r7];",
    );
    assert!(matches!(kind, FaultKind::BeforeWait { .. }), "{kind}");
    let own: Vec<u32> = (0..64).collect();
    assert_eq!(
        fine(&format!(
            "{copy}cp.async.wait_group 0;\nld.shared.u32 %r2, [%r7];"
        )),
        own
    );
    assert_eq!(
        fine(
            "cp.async.ca.shared.global [%r7], [%rd9], 4;\ncp.async.wait_all;\nld.shared.u32 %r2, [%r7];"
        ),
        own
    );
}

#[test]
fn a_copy_of_another_warp_needs_the_wait_and_a_barrier() {
    let copy = "cp.async.ca.shared.global [%r7], [%rd9], 4;\ncp.async.commit_group;\n";
    let kind = fault(&format!(
        "{copy}bar.sync 0;\ncp.async.wait_group 0;\nld.shared.u32 %r2, [%r9];"
    ));
    assert!(
        matches!(kind, FaultKind::BeforeWait { .. } | FaultKind::Race { .. }),
        "{kind}"
    );
    assert_eq!(
        fine(&format!(
            "{copy}cp.async.wait_group 0;\nbar.sync 0;\nld.shared.u32 %r2, [%r9];"
        )),
        swapped()
    );
}

#[test]
fn a_copy_over_what_another_warp_still_reads_is_a_race() {
    let first = "st.shared.u32 [%r7], %r1;\nbar.sync 0;\nld.shared.u32 %r2, [%r9];\n";
    let kind = fault(&format!(
        "{first}cp.async.ca.shared.global [%r7], [%rd9], 4;"
    ));
    // Depending on the order of the warps, the read comes before or after the copy.
    assert!(
        matches!(kind, FaultKind::Race { .. } | FaultKind::BeforeWait { .. }),
        "{kind}"
    );
}

#[test]
fn a_copy_of_fewer_bytes_fills_with_zeros_and_reads_nothing_beyond() {
    let body = "setp.lt.u32 %p1, %r1, 32;\nselp.u32 %r20, 4, 0, %p1;\nselp.b64 %rd10, %rd9, 0, %p1;\n\
                cp.async.ca.shared.global [%r7], [%rd10], 4, %r20;\ncp.async.wait_all;\nld.shared.u32 %r2, [%r7];";
    let expected: Vec<u32> = (0..64).map(|i| if i < 32 { i } else { 0 }).collect();
    assert_eq!(fine(body), expected);
}

#[test]
fn atomic_operations_do_not_race_with_each_other_but_with_a_plain_write() {
    let zero = "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [%r5], 0;\nbar.sync 0;\n";
    let add = "atom.shared.add.u32 %r3, [%r5], 1;\n";
    assert_eq!(
        fine(&format!(
            "{zero}{add}bar.sync 0;\nld.shared.u32 %r2, [%r5];"
        )),
        [64; 64]
    );
    let kind = fault(&format!("{zero}{add}st.shared.u32 [%r5], %r1;"));
    assert!(matches!(kind, FaultKind::Race { .. }), "{kind}");
}

#[test]
fn a_flag_orders_what_was_written_before_it() {
    let zero = "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [%r5+512], 0;\nbar.sync 0;\nsetp.lt.u32 %p2, %r1, 32;\n@!%p2 bra $wait;\n";
    let give = "st.shared.u32 [%r5+516], 9;\nmembar.cta;\nst.volatile.shared.u32 [%r5+512], 1;\nmov.u32 %r2, 9;\nbra $e;\n";
    let take = "$wait:\nld.volatile.shared.u32 %r3, [%r5+512];\nsetp.eq.u32 %p3, %r3, 0;\n@%p3 bra $wait;\nmembar.cta;\n\
                ld.shared.u32 %r2, [%r5+516];\n$e:";
    // Warp 0 executes `give` and warp 1 executes `take`.
    let text = kernel("", &format!("{TILE}{zero}{give}{take}\n{STORE}"));
    let mut out = vec![0; 64];
    let order = kiln_sim::Order::Random { seed: 3 };
    let case = Case {
        order,
        ..Case::of(64)
    };
    case.launch(&text, &mut [&mut out, &mut vec![0; 64]])
        .unwrap();
    assert_eq!(out, [9; 64]);
}

#[test]
fn accesses_outside_are_named_with_their_lane() {
    let kind = fault(
        "mul.wide.u32 %rd20, %r1, 8;\nadd.s64 %rd21, %rd2, %rd20;\nld.global.u32 %r2, [%rd21];",
    );
    assert!(
        matches!(kind, FaultKind::OutOfBounds { bytes: 4, .. }),
        "{kind}"
    );
    let kind = fault("ld.shared.u32 %r2, [%r7+1024];");
    assert!(
        matches!(kind, FaultKind::SharedOutOfBounds { size: 1024, .. }),
        "{kind}"
    );
    let kind = fault("ld.global.u32 %r2, [%rd2+2];");
    assert!(matches!(kind, FaultKind::Misaligned { .. }), "{kind}");
    let text = kernel(
        "",
        "mul.wide.u32 %rd20, %r1, 8;\nadd.s64 %rd21, %rd1, %rd20;\nst.global.u32 [%rd21], %r1;",
    );
    let fault = Case::of(32)
        .launch(&text, &mut [&mut vec![0; 32]])
        .unwrap_err();
    assert_eq!(fault.place.lane, Some(16));
}

#[test]
fn a_fault_names_the_source_line() {
    let text = kernel(
        ".file 1 \"unit.cu\"",
        ".loc 1 42 7\nld.global.u32 %r2, [%rd3];",
    );
    let fault = Case::of(32).launch(&text, &mut []).unwrap_err();
    assert_eq!(fault.place.line.unwrap().to_string(), "unit.cu:42");
    assert_eq!(fault.place.instruction, "ld.global.u32 %r2, [%rd3];");
}

#[test]
fn an_instruction_of_no_source_line_has_the_line_of_the_instructions_before_it() {
    let text = kernel(
        ".file 1 \"unit.cu\"",
        ".loc 1 42 7\nmov.u32 %r5, 1;\n.loc 1 0 0\nld.global.u32 %r2, [%rd3];",
    );
    let fault = Case::of(32).launch(&text, &mut []).unwrap_err();
    assert_eq!(fault.place.line.unwrap().to_string(), "unit.cu:42");
}

#[test]
fn a_line_of_an_inlined_function_comes_with_its_call_in_the_kernel() {
    let text = kernel(
        ".file 1 \"unit.cu\"\n.file 2 \"block.h\"\n.file 3 \"warp.h\"",
        ".loc 1 42 7\nmov.u32 %r5, 1;\n\
         .loc 2 10 3, function_name $L__info_string0, inlined_at 1 42 7\nmov.u32 %r5, 2;\n\
         .loc 3 5 1, function_name $L__info_string1, inlined_at 2 10 3\nld.global.u32 %r2, [%rd3];",
    );
    let fault = Case::of(32).launch(&text, &mut []).unwrap_err();
    let line = fault.place.line.unwrap();
    assert_eq!(line.to_string(), "warp.h:5, called at unit.cu:42");
}

#[test]
fn dynamic_shared_memory_is_as_long_as_the_launch_says() {
    let text = kernel(
        ".extern .shared .align 16 .b8 room[];",
        &format!(
            "mov.u32 %r5, room;\nmad.lo.u32 %r6, %r1, 4, %r5;\nst.shared.u32 [%r6], %r1;\nld.shared.u32 %r2, [%r6];\n{STORE}"
        ),
    );
    let case = Case {
        shared_bytes: 128,
        ..Case::of(32)
    };
    assert_eq!(
        case.in_every_order(&text, &[vec![9; 32]])[0],
        (0..32).collect::<Vec<u32>>()
    );
    let case = Case {
        shared_bytes: 124,
        ..Case::of(32)
    };
    let fault = case.launch(&text, &mut [&mut vec![0; 32]]).unwrap_err();
    assert!(
        matches!(fault.kind, FaultKind::SharedOutOfBounds { offset: 124, .. }),
        "{fault}"
    );
}

#[test]
fn an_access_past_the_end_of_a_shared_variable_is_not_one_to_the_next() {
    let variables = ".shared .align 4 .b8 first[256];\n.shared .align 4 .b8 second[256];";
    let text = |behind: u32| {
        let body = "mov.u32 %r5, first;\nmad.lo.u32 %r6, %r1, 4, %r5;\n";
        let store = format!(
            "st.shared.u32 [%r6+{behind}], %r1;\nmov.u32 %r7, second;\nst.shared.u32 [%r7], 1;\n"
        );
        kernel(variables, &format!("{body}{store}"))
    };
    let launch = |behind| Case::of(32).launch(&text(behind), &mut []);
    launch(128).unwrap();
    let fault = launch(132).unwrap_err();
    assert!(
        matches!(fault.kind, FaultKind::BetweenVariables { offset: 256 }),
        "{fault}"
    );
    assert_eq!(fault.place.lane, Some(31));
}

#[test]
fn a_generic_address_without_its_high_half_names_no_shared_memory() {
    let body = "mov.u64 %rd21, tile;\ncvta.shared.u64 %rd20, %rd21;\ncvt.u32.u64 %r20, %rd20;\n\
                st.shared.u32 [%r20], %r1;";
    let kind = fault(body);
    assert!(
        matches!(kind, FaultKind::SharedOutOfBounds { .. }),
        "{kind}"
    );
}

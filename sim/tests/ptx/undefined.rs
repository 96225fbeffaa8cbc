//! Loads of shared memory that holds no value. They are faults only if the value is used.

use crate::run::{Case, STORE, kernel};
use kiln_sim::{Fault, FaultKind, Order};

/// `%r7` is the address of the thread's own word in `tile`. The first half of a warp writes its words, and each thread
/// then loads its word into `%r10`, and the word of thread 0 into `%r11`.
const LOADS: &str = ".shared .align 16 .b8 tile[1024];\nmov.u32 %r5, tile;\nshl.b32 %r6, %r1, 2;\nadd.u32 %r7, %r5, %r6;\n\
                     setp.lt.u32 %p1, %r1, 16;\n@%p1 st.shared.u32 [%r7], %r1;\nbar.sync 0;\nld.shared.u32 %r10, [%r7];\n\
                     ld.shared.u32 %r11, [%r5];\n";
const LOAD: &str = "ld.shared.u32 %r10, [%r7];";

fn text(body: &str) -> String {
    kernel("", &format!("{LOADS}{body}\n{STORE}"))
}

fn fault(body: &str) -> Fault {
    let result = Case::of(32).launch(&text(body), &mut [&mut vec![0; 32]]);
    result.expect_err(body)
}

/// Checks that the load of word 16 is reported, and that `instruction` is reported as the use of its value.
#[track_caller]
fn is_used_at(body: &str, instruction: &str) {
    let fault = fault(body);
    assert_eq!(fault.kind, FaultKind::Unwritten { offset: 64 }, "{fault}");
    assert_eq!(
        (fault.place.instruction.as_str(), fault.place.lane),
        (LOAD, Some(16)),
        "{fault}"
    );
    let used = fault.used_at.as_ref().unwrap();
    assert_eq!(used.instruction, instruction, "{fault}");
    let message = fault.to_string();
    assert!(
        message.contains(LOAD) && message.contains(instruction),
        "{message}"
    );
}

#[track_caller]
fn fine(body: &str) -> Vec<u32> {
    let case = Case::of(32);
    case.in_every_order(&text(body), &[vec![0; 32]]).remove(0)
}

#[test]
fn a_load_of_unwritten_shared_memory_is_fine_if_its_value_is_dropped() {
    assert_eq!(fine("mov.u32 %r2, 7;"), [7; 32]);
    // The value is computed with, and then overwritten.
    assert_eq!(
        fine("add.u32 %r2, %r10, 1;\nmul.lo.u32 %r3, %r2, %r2;\nmov.u32 %r2, %r1;"),
        (0..32).collect::<Vec<u32>>()
    );
}

#[test]
fn an_undefined_value_must_not_reach_global_memory_an_address_or_a_branch() {
    let store = "st.global.u32 [%rd31], %r2;";
    is_used_at("mov.u32 %r2, %r10;", store);
    is_used_at("mad.lo.u32 %r2, %r1, 3, %r10;", store);
    // Infinity times zero is not zero.
    is_used_at(
        "mov.b32 %f1, %r10;\nmul.f32 %f1, %f1, 0f00000000;\nmov.b32 %r2, %f1;",
        store,
    );
    let branch = "@%p2 bra $skip;";
    is_used_at(
        &format!("setp.lt.u32 %p2, %r10, 5;\n{branch}\nmov.u32 %r2, 1;\n$skip:"),
        branch,
    );
    let load = "ld.shared.u32 %r2, [%r12];";
    is_used_at(
        &format!("and.b32 %r12, %r10, 60;\nadd.u32 %r12, %r12, %r5;\n{load}"),
        load,
    );
    let atomic = "red.global.add.u32 [%rd1], %r10;";
    is_used_at(&format!("{atomic}\nmov.u32 %r2, 0;"), atomic);
    let barrier = "bar.red.popc.u32 %r2, 0, %p2;";
    is_used_at(&format!("setp.lt.u32 %p2, %r10, 5;\n{barrier}"), barrier);
}

#[test]
fn a_value_that_an_instruction_does_not_depend_on_may_be_undefined() {
    let own: Vec<u32> = (0..32).map(|i| if i < 16 { i } else { 99 }).collect();
    assert_eq!(fine("selp.u32 %r2, %r10, 99, %p1;"), own);
    assert_eq!(fine("mov.u32 %r2, 99;\n@%p1 mov.u32 %r2, %r10;"), own);
    assert_eq!(fine("and.b32 %r2, %r10, 0;"), [0; 32]);
    assert_eq!(fine("mul.lo.u32 %r2, %r10, 0;"), [0; 32]);
    assert_eq!(fine("xor.b32 %r2, %r10, %r10;"), [0; 32]);
    // The low half is undefined, and only the high half is stored.
    let half = "shl.b32 %r3, %r1, 16;\nand.b32 %r4, %r10, 0xffff;\nor.b32 %r3, %r3, %r4;\nshr.u32 %r2, %r3, 16;";
    assert_eq!(fine(half), (0..32).collect::<Vec<u32>>());
    // Each predicate has its own mark.
    let predicates = "setp.lt.u32 %p2, %r10, 5;\nand.pred %p3, %p1, %p2;\nselp.u32 %r2, 1, 0, %p3;";
    assert_eq!(
        fine(predicates),
        (0..32).map(|i| u32::from(i < 5)).collect::<Vec<_>>()
    );
    is_used_at(
        "setp.lt.u32 %p2, %r10, 5;\nor.pred %p3, %p1, %p2;\nselp.u32 %r2, 1, 0, %p3;",
        "st.global.u32 [%rd31], %r2;",
    );
    // The carry is a register, too.
    is_used_at(
        "add.cc.u32 %r2, %r10, 0xffffffff;\naddc.u32 %r2, 0, 0;",
        "st.global.u32 [%rd31], %r2;",
    );
}

#[test]
fn lanes_exchange_marks_with_values() {
    let store = "st.global.u32 [%rd31], %r2;";
    let from = |lane: u32| format!("shfl.sync.idx.b32 %r2, %r10, {lane}, 31, 0xffffffff;");
    assert_eq!(fine(&from(3)), [3; 32]);
    is_used_at(&from(16), store);
    let vote = |test: &str| {
        format!(
            "setp.lt.u32 %p2, %r10, 5;\nvote.sync.{test}.pred %p3, %p2, 0xffffffff;\nselp.u32 %r2, 1, 0, %p3;"
        )
    };
    // Lane 0 is below 5, so `any` is true. Lane 5 is not below 5, so `all` is false. The undefined values of other
    // lanes change neither result.
    assert_eq!(fine(&vote("any")), [1; 32]);
    assert_eq!(fine(&vote("all")), [0; 32]);
    is_used_at(
        "setp.lt.u32 %p2, %r10, 5;\nvote.sync.ballot.b32 %r2, %p2, 0xffffffff;",
        store,
    );
    is_used_at("redux.sync.add.u32 %r2, %r10, 0xffffffff;", store);
    let members = "bar.warp.sync %r12;";
    is_used_at(
        &format!("or.b32 %r12, %r10, 0xffff0000;\n{members}"),
        members,
    );
}

#[test]
fn shared_and_private_memory_keep_the_marks() {
    let store = "st.global.u32 [%rd31], %r2;";
    let copy = "st.shared.u32 [%r7+512], %r10;\nbar.sync 0;\n";
    assert_eq!(
        fine(&format!(
            "{copy}ld.shared.u32 %r3, [%r7+512];\nmov.u32 %r2, 1;"
        )),
        [1; 32]
    );
    is_used_at(&format!("{copy}ld.shared.u32 %r2, [%r7+512];"), store);
    let again = "st.shared.u32 [%r7+512], %r1;\nbar.sync 0;\nld.shared.u32 %r2, [%r7+512];";
    assert_eq!(
        fine(&format!("{copy}{again}")),
        (0..32).collect::<Vec<u32>>()
    );
    let vector = "st.shared.v2.u32 [%r8], {%r10, %r1};\nbar.sync 0;\n";
    let vector =
        format!("shl.b32 %r8, %r1, 3;\nadd.u32 %r8, %r8, %r5;\nadd.u32 %r8, %r8, 512;\n{vector}");
    assert_eq!(
        fine(&format!("{vector}ld.shared.u32 %r2, [%r8+4];")),
        (0..32).collect::<Vec<u32>>()
    );
    is_used_at(&format!("{vector}ld.shared.u32 %r2, [%r8];"), store);
    let spill = ".local .align 8 .b8 depot[16];\nmov.u64 %rd3, depot;\nst.local.u32 [%rd3+4], %r10;\n\
                 st.local.u16 [%rd3+4], %r1;\n";
    assert_eq!(
        fine(&format!(
            "{spill}ld.local.u16 %h1, [%rd3+4];\ncvt.u32.u16 %r2, %h1;"
        )),
        (0..32).collect::<Vec<u32>>()
    );
    is_used_at(&format!("{spill}ld.local.u32 %r2, [%rd3+4];"), store);
    let generic = "cvta.local.u64 %rd4, %rd3;\nld.u32 %r2, [%rd4+4];";
    is_used_at(&format!("{spill}{generic}"), store);
    let atomic = "atom.shared.add.u32 %r2, [%r7+512], 1;";
    is_used_at(&format!("{copy}{atomic}"), atomic);
}

#[test]
fn an_atomic_operation_on_unwritten_shared_memory_is_a_fault_at_once() {
    let fault = fault("red.shared.add.u32 [%r7+512], 1;\nmov.u32 %r2, 0;");
    assert_eq!(fault.kind, FaultKind::Unwritten { offset: 512 }, "{fault}");
    assert_eq!(fault.used_at, None);
}

#[test]
fn an_exchange_with_unwritten_shared_memory_returns_an_undefined_value() {
    let exchange = "atom.shared.exch.b32 %r12, [%r7+512], %r1;";
    assert_eq!(
        fine(&format!("{exchange}\nld.shared.u32 %r2, [%r7+512];")),
        (0..32).collect::<Vec<u32>>()
    );
    let fault = fault(&format!("{exchange}\nmov.u32 %r2, %r12;"));
    assert_eq!(fault.kind, FaultKind::Unwritten { offset: 512 }, "{fault}");
    assert_eq!(fault.place.instruction, exchange);
}

#[test]
fn the_target_of_a_copy_may_be_read_before_the_wait_if_the_value_is_dropped() {
    let copy = "cp.async.ca.shared.global [%r7+512], [%rd1], 4;\ncp.async.commit_group;\n";
    let load = "ld.shared.u32 %r12, [%r7+512];";
    let wait = "cp.async.wait_group 0;";
    assert_eq!(
        fine(&format!("{copy}{load}\n{wait}\nmov.u32 %r2, 3;")),
        [3; 32]
    );
    // After the wait, the register still contains the value from before it.
    let fault = fault(&format!("{copy}{load}\n{wait}\nmov.u32 %r2, %r12;"));
    assert_eq!(fault.kind, FaultKind::BeforeWait { offset: 512 }, "{fault}");
    assert_eq!(fault.place.instruction, load);
    assert!(fault.used_at.is_some());
}

/// Loads two matrices: one that the warp has written with the indices of its words, and one that nothing has written.
const MATRICES: &str = "st.shared.u32 [%r7+512], %r1;\nbar.sync 0;\nand.b32 %r12, %r1, 7;\nshl.b32 %r12, %r12, 4;\n\
                        and.b32 %r13, %r1, 8;\nshl.b32 %r13, %r13, 4;\nadd.u32 %r12, %r12, %r13;\nadd.u32 %r12, %r12, %r5;\n";

#[test]
fn matrices_and_their_products_have_marks() {
    let store = "st.global.u32 [%rd31], %r2;";
    for transposed in ["", ".trans"] {
        let load = format!(
            "ldmatrix.sync.aligned.m8n8.x2{transposed}.shared.b16 {{%r14, %r15}}, [%r12+512];"
        );
        let loads = format!("{MATRICES}{load}\n");
        if transposed.is_empty() {
            assert_eq!(
                fine(&format!("{loads}mov.u32 %r2, %r14;")),
                (0..32).collect::<Vec<u32>>()
            );
        } else {
            fine(&format!("{loads}mov.u32 %r2, %r14;"));
        }
        let used = |rest: &str| {
            let fault = fault(&format!("{loads}{rest}"));
            assert_eq!(fault.kind, FaultKind::Unwritten { offset: 640 }, "{fault}");
            assert_eq!(fault.place.instruction, load);
            assert_eq!(fault.used_at.unwrap().instruction, store);
        };
        used("mov.u32 %r2, %r15;");
        let product = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r14,";
        let zeros = "{%f5,%f5,%f5,%f5};\nmov.b32 %r2, %f1;";
        fine(&format!(
            "{loads}mov.f32 %f5, 0f00000000;\n{product}%r14}}, {{%r14}}, {zeros}"
        ));
        used(&format!(
            "mov.f32 %f5, 0f00000000;\n{product}%r14}}, {{%r15}}, {zeros}"
        ));
        let back = format!(
            "stmatrix.sync.aligned.m8n8.x2{transposed}.shared.b16 [%r12+768], {{%r14, %r15}};\nbar.sync 0;\n"
        );
        fine(&format!("{loads}{back}ld.shared.u32 %r2, [%r7+768];"));
        used(&format!("{loads}{back}ld.shared.u32 %r2, [%r7+896];").replace(&loads, ""));
    }
}

/// Each thread of two warps writes its word of `tile`, and after a barrier loads the word of a thread of the other warp
/// into `%r10`. Without another barrier, it then writes its own word again.
const RACE: &str = ".shared .align 16 .b8 tile[1024];\nmov.u32 %r5, tile;\nshl.b32 %r6, %r1, 2;\nadd.u32 %r7, %r5, %r6;\n\
                    xor.b32 %r8, %r6, 128;\nadd.u32 %r9, %r5, %r8;\nst.shared.u32 [%r7], %r1;\nbar.sync 0;\n";
const RACING_LOAD: &str = "ld.shared.u32 %r10, [%r9];";
const RACING_STORE: &str = "st.shared.u32 [%r7], 5;";

/// The faults of the kernel in the forward and in the reversed order of the warps.
fn races(body: &str) -> [Fault; 2] {
    let text = kernel("", &format!("{RACE}{body}\n{STORE}"));
    [Order::Forward, Order::Reversed].map(|order| {
        let case = Case {
            order,
            ..Case::of(64)
        };
        let fault = case.launch(&text, &mut [&mut vec![0; 64]]).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::Race { .. }), "{fault}");
        fault
    })
}

#[test]
fn a_load_may_race_with_a_store_if_its_value_is_dropped() {
    for rest in [
        "",
        "bar.sync 0;\n",
        "bar.sync 0;\nld.shared.u32 %r10, [%r9];\nadd.u32 %r3, %r10, 1;\n",
    ] {
        let body = format!("{RACING_LOAD}\n{RACING_STORE}\n{rest}mov.u32 %r2, %r1;");
        let text = kernel("", &format!("{RACE}{body}\n{STORE}"));
        let out = Case::of(64).in_every_order(&text, &[vec![0; 64]]).remove(0);
        assert_eq!(out, (0..64).collect::<Vec<u32>>());
    }
}

#[test]
fn a_race_of_a_load_is_reported_at_the_load_and_at_the_use_of_its_value() {
    let after = format!("{RACING_LOAD}\n{RACING_STORE}\nbar.sync 0;\nmov.u32 %r2, %r10;");
    for fault in races(&after) {
        assert_eq!(fault.place.instruction, RACING_LOAD, "{fault}");
        let FaultKind::Race { instruction, .. } = &fault.kind else {
            panic!("{fault}");
        };
        assert_eq!(instruction, RACING_STORE, "{fault}");
        let used_at = fault.used_at.as_ref().unwrap();
        assert_eq!(used_at.instruction, "st.global.u32 [%rd31], %r2;");
    }
}

#[test]
fn a_race_with_a_load_whose_value_may_have_been_used_is_reported_at_once() {
    let before = format!("{RACING_LOAD}\nmov.u32 %r2, %r10;\n{RACING_STORE}\nbar.sync 0;");
    // In a loop, the value of an earlier load is used, and that of the last one is dropped.
    let in_loop = format!(
        "mov.u32 %r2, 0;\nmov.u32 %r3, 0;\nmov.u32 %r10, 0;\n$again:\nadd.u32 %r2, %r2, %r10;\n{RACING_LOAD}\n\
         add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 3;\n@%p1 bra $again;\n{RACING_STORE}\nbar.sync 0;"
    );
    // A barrier of one warp does not order the use before the store of the other warp.
    let named = format!(
        "{RACING_LOAD}\nmov.u32 %r11, %warpid;\nadd.u32 %r11, %r11, 1;\nbar.sync %r11, 32;\nmov.u32 %r2, %r10;\n\
         {RACING_STORE}\nbar.sync 0;"
    );
    for body in [before, in_loop, named] {
        for fault in races(&body) {
            assert_eq!(fault.place.instruction, RACING_STORE, "{fault}");
            assert_eq!(fault.used_at, None);
        }
    }
}

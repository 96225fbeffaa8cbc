//! Divergence and reconvergence, locks, and barriers.

use crate::run::{Case, STORE, kernel, warp_result};
use kiln_sim::FaultKind;

#[test]
fn lanes_leave_a_loop_at_different_times_and_join_behind_it() {
    let body = "mov.u32 %r2, 0;\nmov.u32 %r3, 0;\n$loop:\nsetp.ge.u32 %p1, %r3, %r1;\n@%p1 bra $out;\nadd.u32 %r2, %r2, %r3;\n\
                add.u32 %r3, %r3, 1;\nbra $loop;\n$out:\nactivemask.b32 %r4;\nsetp.ne.u32 %p2, %r4, 0xffffffff;\n@%p2 mov.u32 %r2, 7777;\n";
    let expected: Vec<u32> = (0..32u32).map(|i| i * i.saturating_sub(1) / 2).collect();
    assert_eq!(warp_result(body), expected);
}

#[test]
fn a_switch_sends_each_lane_to_its_target() {
    let body = "and.b32 %r3, %r1, 3;\n$list: .branchtargets $a, $b, $c, $d;\nbrx.idx %r3, $list;\n$a: mov.u32 %r2, 10; bra $e;\n\
                $b: mov.u32 %r2, 20; bra $e;\n$c: mov.u32 %r2, 30; bra $e;\n$d: mov.u32 %r2, 40;\n$e:";
    let expected: Vec<u32> = (0..32).map(|i| (i % 4 + 1) * 10).collect();
    assert_eq!(warp_result(body), expected);
}

#[test]
fn a_lock_among_the_lanes_of_a_warp_makes_progress() {
    // The lane that holds the lock is past the loop while the other lanes spin.
    let body = "$spin:\natom.global.cas.b32 %r3, [%rd2], 0, 1;\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra $spin;\n\
                ld.volatile.global.u32 %r4, [%rd1];\nadd.u32 %r4, %r4, 1;\nst.volatile.global.u32 [%rd1], %r4;\nmembar.gl;\n\
                atom.global.exch.b32 %r5, [%rd2], 0;\n";
    let out = Case::of(32).in_every_order(&kernel("", body), &[vec![0], vec![0]]);
    assert_eq!(out[0], [32]);
}

#[test]
fn lanes_on_two_sides_meet_at_a_shuffle() {
    // Both sides reach the same `shfl.sync`. Lanes that return early never reach the join.
    let body = "setp.eq.u32 %p3, %r1, 31;\n@%p3 ret;\nsetp.lt.u32 %p1, %r1, 16;\n@%p1 bra $low;\nadd.u32 %r3, %r1, 100;\nbra $meet;\n\
                $low:\nmov.u32 %r3, %r1;\n$meet:\nshfl.sync.bfly.b32 %r2, %r3, 16, 31, 0x7fff7fff;\nsetp.eq.u32 %p2, %r1, 15;\n\
                @%p2 mov.u32 %r2, 5;\n";
    let text = kernel(
        "",
        &format!("setp.eq.u32 %p4, %r1, 15;\n@%p4 bra $skip;\n{body}{STORE}\n$skip:"),
    );
    let out = Case::of(32).in_every_order(&text, &[vec![0; 32]]).remove(0);
    assert_eq!(out[0], 116);
    assert_eq!(out[16], 0);
    assert_eq!(out[30], 14);
}

#[test]
fn a_barrier_that_a_warp_does_not_reach_is_a_deadlock() {
    let body = "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra $skip;\nbar.sync 1, 64;\n$skip:\nbar.sync 0;";
    let fault = Case::of(64).launch(&kernel("", body), &mut []).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Deadlock { .. }), "{fault}");
}

#[test]
fn lanes_of_a_warp_at_different_barriers_are_an_error() {
    let body =
        "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra $low;\nbar.sync 0;\nbra $e;\n$low:\nbar.sync 0;\n$e:";
    let fault = Case::of(32).launch(&kernel("", body), &mut []).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Invalid { .. }), "{fault}");
}

#[test]
fn an_endless_loop_ends_at_the_limit() {
    let fault = Case::of(32)
        .launch(&kernel("", "$l: bra $l;"), &mut [])
        .unwrap_err();
    assert!(matches!(fault.kind, FaultKind::TooLong { .. }), "{fault}");
}

#[test]
fn an_instruction_that_is_not_implemented_is_named() {
    let fault = Case::of(32)
        .launch(&kernel("", "barrier.cluster.arrive;"), &mut [])
        .unwrap_err();
    assert_eq!(
        fault.kind,
        FaultKind::NotImplemented {
            what: "barrier.cluster.arrive".to_owned()
        }
    );
    assert_eq!(fault.place.instruction, "barrier.cluster.arrive;");
}

#[test]
fn bar_red_counts_over_the_block() {
    let body = "setp.lt.u32 %p1, %r1, 40;\nbar.red.popc.u32 %r2, 0, %p1;\nsetp.ne.u32 %p2, %r1, 99;\nbar.red.and.pred %p3, 0, %p2;\n\
                @!%p3 mov.u32 %r2, 0;\n";
    let text = kernel("", &format!("{body}{STORE}"));
    assert_eq!(
        Case::of(64).in_every_order(&text, &[vec![0; 64]])[0],
        [40; 64]
    );
}

#[test]
fn a_block_may_wait_for_a_block_that_begins_later() {
    // Each block waits until the next one has set its flag, and the last block waits for none.
    let body = "mov.u32 %r3, %ctaid.x;\nmul.wide.u32 %rd3, %r3, 4;\nadd.s64 %rd4, %rd1, %rd3;\nmov.u32 %r4, 1;\n\
                setp.eq.u32 %p1, %r3, 2;\n@%p1 bra $set;\n$again:\nld.volatile.global.u32 %r4, [%rd4+4];\n\
                setp.eq.u32 %p2, %r4, 0;\n@%p2 bra $again;\nadd.u32 %r4, %r4, 1;\n$set:\n\
                st.volatile.global.u32 [%rd4], %r4;";
    let case = Case {
        blocks: 3,
        ..Case::of(32)
    };
    let mut out = vec![0; 3];
    // One core runs all blocks, in ascending order.
    let core = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    core.unwrap()
        .install(|| case.launch(&kernel("", body), &mut [&mut out]))
        .unwrap();
    assert_eq!(out, [3, 2, 1]);
}

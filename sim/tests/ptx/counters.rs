//! Compares counters with values that were computed by hand.

use crate::run::{Case, kernel};
use kiln_sim::Counters;

fn count(body: &str) -> Counters {
    let text = kernel(".shared .align 16 .b8 tile[8192];", body);
    Case::of(32)
        .launch(&text, &mut [&mut vec![0; 4096]])
        .unwrap()
}

fn load(stride: u32, offset: u32) -> u64 {
    let body = format!(
        "mul.wide.u32 %rd3, %r1, {stride};\nadd.s64 %rd4, %rd1, %rd3;\nld.global.u32 %r2, [%rd4+{offset}];"
    );
    let counters = count(&body);
    assert_eq!(counters.total().global_requests, 1);
    counters.total().global_sectors
}

#[test]
fn sectors_of_global_loads() {
    assert_eq!(load(4, 0), 4);
    assert_eq!(load(4, 4), 5);
    assert_eq!(load(8, 0), 8);
    assert_eq!(load(32, 0), 32);
    assert_eq!(load(0, 12), 1);
}

#[test]
fn a_generic_store_to_two_memories_is_one_request_for_each() {
    // Lanes 0 to 15 write 64 bytes of global memory, the others write shared memory.
    let body = "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd1, %rd3;\n\
        mov.u64 %rd21, tile;\ncvta.shared.u64 %rd20, %rd21;\nadd.s64 %rd22, %rd20, %rd3;\n\
        setp.lt.u32 %p1, %r1, 16;\nselp.b64 %rd5, %rd4, %rd22, %p1;\nst.u32 [%rd5], %r1;";
    let counters = count(body);
    let total = counters.total();
    assert_eq!((total.global_requests, total.global_sectors), (1, 2));
    assert_eq!((total.shared_requests, total.private_requests), (1, 0));
}

fn conflicts(shift: &str, width: &str, regs: &str) -> u64 {
    let body = format!(
        "mov.u32 %r5, tile;\n{shift}\nadd.u32 %r7, %r5, %r6;\nst.shared{width} [%r7], {regs};"
    );
    let counters = count(&body);
    assert_eq!(counters.total().shared_requests, 1);
    counters.total().shared_conflicts
}

#[test]
fn conflicts_of_shared_stores() {
    assert_eq!(conflicts("mul.lo.u32 %r6, %r1, 4;", ".u32", "%r1"), 0);
    assert_eq!(conflicts("mul.lo.u32 %r6, %r1, 8;", ".u32", "%r1"), 1);
    assert_eq!(conflicts("mul.lo.u32 %r6, %r1, 128;", ".u32", "%r1"), 31);
    assert_eq!(conflicts("mul.lo.u32 %r6, %r1, 132;", ".u32", "%r1"), 0);
    assert_eq!(
        conflicts(
            "mul.lo.u32 %r6, %r1, 16;",
            ".v4.u32",
            "{%r1, %r1, %r1, %r1}"
        ),
        0
    );
    // Four quarters of eight lanes each. All lanes of a quarter access the same four banks.
    assert_eq!(
        conflicts(
            "mul.lo.u32 %r6, %r1, 128;",
            ".v4.u32",
            "{%r1, %r1, %r1, %r1}"
        ),
        28
    );
}

#[test]
fn instructions_are_counted_once_per_group_of_lanes() {
    let counters =
        count("setp.lt.u32 %p1, %r1, 4;\n@%p1 bra $l;\nmov.u32 %r2, 1;\n$l:\nbar.sync 0;\n");
    // The three instructions with which every test kernel begins, then setp, bra, mov, bar and ret.
    assert_eq!(counters.instructions, 8);
    assert_eq!(counters.executed.iter().sum::<u64>(), 8);
    assert_eq!(counters.barriers, 1);
}

#[test]
fn a_warp_whose_lanes_arrive_at_a_barrier_separately_has_reached_it_once() {
    // Some lanes might leave the kernel, so the lanes do not join before the barrier.
    let body = "setp.lt.u32 %p1, %r1, 9;\n@%p1 bra $wait;\nsetp.gt.u32 %p2, %r1, 99;\n@%p2 bra $end;\n\
                $wait:\nbar.sync 0;\n$end:";
    let text = kernel("", body);
    let counters = Case::of(96).launch(&text, &mut []).unwrap();
    assert_eq!(counters.barriers, 3);
    let arrive = "setp.gt.u32 %p1, %r1, 31;\n@%p1 bra $sync;\nbar.arrive 1, 64;\nbra $end;\n$sync:\nbar.sync 1, 64;\n$end:";
    let text = kernel("", arrive);
    let counters = Case::of(64).launch(&text, &mut []).unwrap();
    assert_eq!(counters.barriers, 2);
}

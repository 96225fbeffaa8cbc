//! Instructions that involve several lanes of a warp: shuffles, votes, matrix products.

use crate::run::{Case, STORE, kernel, warp_result};

const ALL: &str = "0xffffffff";

#[test]
fn shuffles_go_up_down_across_and_to_an_index() {
    let shuffle = |what: &str| warp_result(&format!("shfl.sync.{what}, {ALL};"));
    let up: Vec<u32> = (0..32).map(|i| if i < 3 { i } else { i - 3 }).collect();
    assert_eq!(shuffle("up.b32 %r2, %r1, 3, 0"), up);
    let down: Vec<u32> = (0..32).map(|i| if i > 27 { i } else { i + 4 }).collect();
    assert_eq!(shuffle("down.b32 %r2, %r1, 4, 31"), down);
    let across: Vec<u32> = (0..32).map(|i| i ^ 5).collect();
    assert_eq!(shuffle("bfly.b32 %r2, %r1, 5, 31"), across);
    // Segments of 8 lanes, so the segment mask is 24.
    let index: Vec<u32> = (0..32).map(|i| i / 8 * 8 + 3).collect();
    assert_eq!(shuffle("idx.b32 %r2, %r1, 3, 6175"), index);
}

#[test]
fn votes_and_matches_see_every_lane() {
    let p = "setp.lt.u32 %p1, %r1, 7;\n";
    assert_eq!(
        warp_result(&format!("{p}vote.sync.ballot.b32 %r2, %p1, {ALL};")),
        [0x7f; 32]
    );
    assert_eq!(
        warp_result(&format!(
            "{p}vote.sync.any.pred %p2, %p1, {ALL};\nselp.u32 %r2, 1, 0, %p2;"
        )),
        [1; 32]
    );
    assert_eq!(
        warp_result(&format!(
            "{p}vote.sync.all.pred %p2, %p1, {ALL};\nselp.u32 %r2, 1, 0, %p2;"
        )),
        [0; 32]
    );
    let any = warp_result(&format!(
        "and.b32 %r3, %r1, 1;\nmatch.any.sync.b32 %r2, %r3, {ALL};"
    ));
    assert_eq!(any[..2], [0x5555_5555, 0xaaaa_aaaa]);
    let all = warp_result(&format!(
        "mov.u32 %r3, 4;\nmatch.all.sync.b32 %r2|%p1, %r3, {ALL};"
    ));
    assert_eq!(all, [u32::MAX; 32]);
}

#[test]
fn reductions_of_a_warp() {
    assert_eq!(
        warp_result(&format!("redux.sync.add.u32 %r2, %r1, {ALL};")),
        [496; 32]
    );
    assert_eq!(
        warp_result(&format!(
            "sub.s32 %r3, %r1, 9;\nredux.sync.min.s32 %r2, %r3, {ALL};"
        )),
        [-9i32 as u32; 32]
    );
    assert_eq!(
        warp_result(&format!("redux.sync.xor.b32 %r2, %r1, {ALL};")),
        [0; 32]
    );
}

#[test]
fn a_product_of_matrices_has_the_fragments_of_the_isa() {
    // a is 16x16: a[i][i] = i + 1, other elements are 0. b is 16x8: b[k][j] = k + j. So d[i][j] = (i + 1)(i + j).
    let half = |x: f32| u32::from(half::f16::from_f32(x).to_bits());
    let mut fragments = Vec::new();
    for lane in 0..32usize {
        let (g, t) = (lane / 4, lane % 4);
        let a = |i: usize, k: usize| half(if i == k { i as f32 + 1.0 } else { 0.0 });
        let b = |k: usize, j: usize| half((k + j) as f32);
        for (row, k) in [
            (g, 2 * t),
            (g + 8, 2 * t),
            (g, 2 * t + 8),
            (g + 8, 2 * t + 8),
        ] {
            fragments.push(a(row, k) | a(row, k + 1) << 16);
        }
        for k in [2 * t, 2 * t + 8] {
            fragments.push(b(k, g) | b(k + 1, g) << 16);
        }
    }
    let body = "mul.wide.u32 %rd3, %r1, 24;\nadd.s64 %rd4, %rd2, %rd3;\nld.global.u32 %r10, [%rd4];\nld.global.u32 %r11, [%rd4+4];\n\
                ld.global.u32 %r12, [%rd4+8];\nld.global.u32 %r13, [%rd4+12];\nld.global.u32 %r14, [%rd4+16];\n\
                ld.global.u32 %r15, [%rd4+20];\nmov.f32 %f1, 0f3F800000;\n\
                mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, \
                {%f1, %f1, %f1, %f1};\nmul.wide.u32 %rd5, %r1, 16;\nadd.s64 %rd6, %rd1, %rd5;\nst.global.v4.f32 [%rd6], {%f2, %f3, %f4, %f5};";
    let out = Case::of(32)
        .in_every_order(&kernel("", body), &[vec![0; 128], fragments])
        .remove(0);
    for lane in 0..32 {
        for i in 0..4 {
            let (row, column) = (lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2);
            let expected = 1.0 + ((row + 1) * (row + column)) as f32;
            assert_eq!(
                f32::from_bits(out[4 * lane + i]),
                expected,
                "lane {lane}, accumulator {i}"
            );
        }
    }
}

#[test]
fn ldmatrix_distributes_rows_and_columns() {
    let tile = ".shared .align 16 .b8 tile[128];\nmov.u32 %r5, tile;\nshl.b32 %r6, %r1, 2;\nadd.u32 %r7, %r5, %r6;\nshl.b32 %r8, %r1, 1;\n\
                add.u32 %r9, %r8, 1;\nshl.b32 %r10, %r9, 16;\nor.b32 %r11, %r8, %r10;\nst.shared.u32 [%r7], %r11;\nbar.sync 0;\n\
                and.b32 %r12, %r1, 7;\nshl.b32 %r13, %r12, 4;\nadd.u32 %r14, %r5, %r13;\n";
    // Element (row, column) has the value 8 row + column.
    let rows = warp_result(&format!(
        "{tile}ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r2}}, [%r14];"
    ));
    let pair = |low: u32, high: u32| low | high << 16;
    assert_eq!(
        rows,
        (0..32)
            .map(|i| pair(2 * i, 2 * i + 1))
            .collect::<Vec<u32>>()
    );
    let columns = warp_result(&format!(
        "{tile}ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {{%r2}}, [%r14];"
    ));
    let expected: Vec<u32> = (0..32)
        .map(|i| pair(16 * (i % 4) + i / 4, 16 * (i % 4) + 8 + i / 4))
        .collect();
    assert_eq!(columns, expected);
    let moved = warp_result(&format!(
        "{tile}ld.shared.u32 %r20, [%r7];\nmovmatrix.sync.aligned.m8n8.trans.b16 %r2, %r20;"
    ));
    assert_eq!(moved, expected);
}

#[test]
fn atomic_operations_of_all_threads_add_up() {
    let body = "atom.global.add.u32 %r2, [%rd1], 3;\nred.global.max.u32 [%rd1+4], %r1;\nred.global.add.f32 [%rd1+8], 0f3F800000;\n\
                mov.u64 %rd3, 5;\nred.global.add.u64 [%rd1+16], %rd3;\n";
    let case = Case {
        blocks: 4,
        ..Case::of(96)
    };
    let out = case
        .in_every_order(&kernel("", body), &[vec![0; 6]])
        .remove(0);
    assert_eq!(out, [3 * 384, 95, 384f32.to_bits(), 0, 5 * 384, 0]);
}

#[test]
fn a_store_of_part_of_a_warp_leaves_the_rest() {
    let text = kernel(
        "",
        &format!("mov.u32 %r2, 1;\nsetp.lt.u32 %p1, %r1, 5;\n@!%p1 bra $e;\n{STORE}\n$e:"),
    );
    let out = Case::of(20).in_every_order(&text, &[vec![0; 32]]).remove(0);
    let expected: Vec<u32> = (0..32).map(|i| u32::from((5..20).contains(&i))).collect();
    assert_eq!(out.iter().sum::<u32>(), 5);
    assert_eq!(out[..5], [1; 5]);
    assert_eq!(expected.iter().sum::<u32>(), 15);
}

//! Cache policies and hints, which do not change what an instruction does.

use crate::run::{Case, kernel};

/// Executes the body with policies in `%rd10` to `%rd12`. It moves the 128 words of the second buffer to the first one.
/// `%rd4` and `%rd5` are the addresses of the thread's four words in the first and in the second buffer, and `%r6` is
/// the address of its 16 bytes of shared memory.
fn moves_words(body: &str) {
    let policies = "createpolicy.fractional.L2::evict_first.b64 %rd10, 1.0;\n\
                    createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %rd11, 0.5;\n\
                    createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %rd12, [%rd2], 256, 512;\n";
    let addresses = ".shared .align 16 .b8 tile[512];\nmul.wide.u32 %rd3, %r1, 16;\nadd.s64 %rd4, %rd1, %rd3;\n\
                     add.s64 %rd5, %rd2, %rd3;\nmov.u32 %r5, tile;\nmad.lo.u32 %r6, %r1, 16, %r5;\n";
    let text = kernel("", &format!("{policies}{addresses}{body}"));
    let words: Vec<u32> = (100..228).collect();
    let out = Case::of(32).in_every_order(&text, &[vec![0; 128], words.clone()]);
    assert_eq!(out[0], words, "{body}");
}

#[test]
fn loads_and_stores_take_a_cache_policy_as_their_last_operand() {
    for (load, policy) in [
        ("ld.global.L2::cache_hint", ", %rd10"),
        (
            "ld.global.nc.L1::no_allocate.L2::cache_hint.L2::256B",
            ", %rd11",
        ),
        ("ld.global.L1::evict_last.L2::128B", ""),
        ("ld.global.nc.L1::no_allocate.L2::64B", ""),
        ("ld.global.cg", ""),
        ("ld.weak.global.L2::cache_hint", ", %rd12"),
    ] {
        for (store, store_policy) in [
            ("st.global.L2::cache_hint", ", %rd11"),
            ("st.global.L1::no_allocate.L2::cache_hint", ", %rd10"),
            ("st.global.cs", ""),
        ] {
            moves_words(&format!(
                "{load}.v4.f32 {{%f1, %f2, %f3, %f4}}, [%rd5]{policy};\n\
                 {store}.v4.f32 [%rd4], {{%f1, %f2, %f3, %f4}}{store_policy};"
            ));
            moves_words(&format!(
                "{load}.v2.b64 {{%rd20, %rd21}}, [%rd5]{policy};\n\
                 {store}.b64 [%rd4], %rd20{store_policy};\n{store}.b64 [%rd4+8], %rd21{store_policy};"
            ));
        }
    }
}

#[test]
fn asynchronous_copies_take_a_cache_policy_as_their_last_operand() {
    let rest = "cp.async.commit_group;\ncp.async.wait_group 0;\nld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r6];\n\
                st.global.v4.u32 [%rd4], {%r10, %r11, %r12, %r13};";
    for copy in [
        "cp.async.cg.shared.global.L2::cache_hint [%r6], [%rd5], 16, %rd10;",
        "cp.async.cg.shared.global.L2::cache_hint.L2::128B [%r6], [%rd5], 16, 16, %rd10;",
        "cp.async.ca.shared.global.L2::cache_hint [%r6], [%rd5], 16, %rd12;",
        "cp.async.cg.shared::cta.global.L2::256B [%r6], [%rd5], 16;",
    ] {
        moves_words(&format!("{copy}\n{rest}"));
    }
}

#[test]
fn atomic_operations_take_a_cache_policy_as_their_last_operand() {
    let words = "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd5];\n";
    for reduce in [
        "red.global.add.L2::cache_hint.u32",
        "red.relaxed.gpu.global.add.L2::cache_hint.u32",
    ] {
        let all = (0..4).map(|i| format!("{reduce} [%rd4+{}], %r{}, %rd10;\n", 4 * i, 10 + i));
        moves_words(&format!("{words}{}", all.collect::<String>()));
    }
    let all = (0..4).map(|i| {
        format!(
            "atom.global.cas.L2::cache_hint.b32 %r20, [%rd4+{}], 0, %r{}, %rd11;\n",
            4 * i,
            10 + i
        )
    });
    moves_words(&format!("{words}{}", all.collect::<String>()));
}

#[test]
fn prefetches_and_discards_do_nothing() {
    moves_words(
        "prefetch.global.L2 [%rd5];\nprefetch.global.L2::evict_last [%rd5];\nprefetchu.L1 [%rd5];\n\
         applypriority.global.L2::evict_normal [%rd5], 128;\nld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd5];\n\
         st.global.v4.u32 [%rd4], {%r10, %r11, %r12, %r13};",
    );
}

//! No text makes the parser or a launch panic. Invalid texts give errors or faults.
#![allow(clippy::unwrap_used)]

use kiln_sim::ptx::Module;
use kiln_sim::{Launch, Memory, Order, run};
use proptest::prelude::*;

const GOOD: &str = "\
.version 8.0\n.target sm_80\n.address_size 64\n.global .align 4 .u32 table[4] = {1, 2, 3, 4};\n\
.visible .entry k(.param .u64 p, .param .u32 n)\n.maxntid 64, 1, 1\n{\n.reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .f32 %f<4>;\n\
.reg .b64 %rd<9>;\n.shared .align 4 .b8 tile[256];\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 7;\n\
@%p1 bra $a;\nmov.b64 %rd2, {%r1, %r2};\nshfl.sync.bfly.b32 %r3|%p2, %r1, 1, 31, -1;\n$a:\nst.shared.u32 [tile+4], %r1;\nbar.sync 0;\n\
cp.async.ca.shared.global [%r5], [%rd1], 4;\nfma.rn.f32 %f1, %f1, 0f3F800000, %f1;\natom.global.add.u32 %r4, [%rd1], 1;\n\
mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f1, %f1, %f1}, {%r1, %r1}, {%r1}, {%f1, %f1, %f1, %f1};\nret;\n}\n";

/// Parses a text, and launches the kernels that it defines.
fn feed(text: &str) {
    let memory = Memory::default();
    let Ok(module) = Module::parse(text) else {
        return;
    };
    let Ok(loaded) = module.load(&memory) else {
        return;
    };
    for name in module.entries() {
        let mut kernel = loaded.kernel(name).unwrap();
        kernel.max_instructions = 10_000;
        let mut arguments = memory.alloc(64).to_le_bytes().to_vec();
        arguments.resize(kernel.entry().parameter_bytes() as usize, 0);
        let launch = Launch {
            grid: [1, 1, 1],
            block: [48, 1, 1],
            shared_bytes: 16,
            arguments,
            order: Order::Random { seed: 1 },
        };
        let _ = run(&kernel, &launch, &memory);
    }
}

#[test]
fn the_text_that_is_damaged_is_right() {
    assert!(
        Module::parse(GOOD)
            .unwrap()
            .entry("k")
            .unwrap()
            .not_implemented()
            .is_empty()
    );
    feed(GOOD);
}

#[test]
fn an_error_has_its_line() {
    let error = Module::parse(&GOOD.replace("%r1, %tid.x", "%r1, %tidy")).unwrap_err();
    assert_eq!(error.line, 14);
    assert_eq!(
        error.to_string(),
        "line 14 of the PTX: `%tidy` is not a register"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        feed(&text);
    }

    #[test]
    fn words_of_the_language(words in prop::collection::vec(0usize..80, 0..60)) {
        let known: Vec<&str> = GOOD.split_inclusive([' ', '\n', ',', ';']).collect();
        let text: String = words.iter().map(|&i| known[i % known.len()]).collect();
        feed(&text);
    }

    #[test]
    fn lines_that_are_swapped_or_cut(a in 0usize..40, b in 0usize..40, cut in 0usize..1200) {
        let mut lines: Vec<&str> = GOOD.lines().collect();
        let count = lines.len();
        lines.swap(a % count, b % count);
        let mut text = lines.join("\n");
        feed(&text);
        text.truncate(cut);
        feed(&text);
    }

    #[test]
    fn a_word_replaced_by_another(at in 0usize..200, with in 0usize..200) {
        let mut words: Vec<&str> = GOOD.split_inclusive([' ', '\n', ',', ';']).collect();
        let count = words.len();
        words[at % count] = words[with % count];
        feed(&words.concat());
    }
}

#[test]
fn a_text_without_a_version_or_a_target_is_not_a_module() {
    for header in [".version 8.0\n", ".target sm_80\n"] {
        let text = GOOD.replacen(header, "", 1);
        assert!(Module::parse(&text).is_err(), "without {header:?}");
    }
    assert!(Module::parse("").is_err());
}

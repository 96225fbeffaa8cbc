//! Products of warpgroups.

use std::fmt::Write;

use half::{bf16, f16};
use kiln_sim::{Fault, FaultKind};

use crate::run::{Case, kernel};

/// Number of bytes of shared memory. Matrix A begins at 0, and matrix B at `B`.
const BYTES: usize = 49152;
const B: usize = 16384;

/// How a matrix of `lines` (M or N) x 16 (K) elements lies in shared memory.
#[derive(Clone, Copy, Debug)]
enum Layout {
    /// A line has its elements of dimension K next to each other. The number is the width of the swizzle pattern in
    /// bytes; 16 means no swizzle.
    Lines(usize),
    /// A row of dimension K has the elements of neighbouring lines next to each other. The number is the same width.
    Turned(usize),
}

impl Layout {
    fn all() -> impl Iterator<Item = Layout> {
        [16, 32, 64, 128]
            .into_iter()
            .flat_map(|width| [Layout::Lines(width), Layout::Turned(width)])
    }

    /// The leading and the stride dimension byte offset, and the bits of the swizzle mode.
    fn fields(self, lines: usize) -> (usize, usize, u64) {
        match self {
            Layout::Lines(16) => (lines * 16, 128, 0),
            Layout::Turned(16) => (lines * 16, 128, 0),
            Layout::Lines(width) => (0, 8 * width, mode(width)),
            // Patterns of all rows of dimension K follow each other, then those of the next lines.
            Layout::Turned(width) => (16 * width, 8 * width, mode(width)),
        }
    }

    fn descriptor(self, start: usize, lines: usize) -> u64 {
        let (leading, stride, mode) = self.fields(lines);
        (start >> 4) as u64 | (leading as u64 >> 4) << 16 | (stride as u64 >> 4) << 32 | mode << 62
    }

    /// The byte offset of an element.
    fn place(self, lines: usize, line: usize, k: usize) -> usize {
        match self {
            Layout::Lines(16) => k / 8 * lines * 16 + line * 16 + k % 8 * 2,
            Layout::Turned(16) => k / 8 * lines * 16 + line / 8 * 128 + k % 8 * 16 + line % 8 * 2,
            Layout::Lines(width) => {
                let row = line * width;
                row + ((k / 8) ^ turn(row, width)) * 16 + k % 8 * 2
            }
            Layout::Turned(width) => {
                let across = width / 2;
                let row = line / across * 16 * width + k * width;
                row + ((line % across / 8) ^ turn(row, width)) * 16 + line % 8 * 2
            }
        }
    }
}

fn mode(width: usize) -> u64 {
    match width {
        128 => 1,
        64 => 2,
        _ => 3,
    }
}

/// The number that is XORed into the indices of the pieces of the row at this offset.
fn turn(row: usize, width: usize) -> usize {
    row / 128 % (width / 16)
}

/// A product and its operands. Element `(i, k)` of A and `(k, j)` of B are given by functions.
struct Product {
    n: usize,
    a: Layout,
    b: Layout,
    threads: u32,
}

fn element_a(i: usize, k: usize) -> f32 {
    ((i * 7 + k * 3) % 11) as f32 - 5.0
}

fn element_b(k: usize, j: usize) -> f32 {
    ((k * 5 + j * 2) % 13) as f32 - 6.0
}

impl Product {
    fn of(n: usize, a: Layout, b: Layout) -> Product {
        Product {
            n,
            a,
            b,
            threads: 128,
        }
    }

    fn image(&self, bits: impl Fn(f32) -> u16) -> Vec<u32> {
        let mut bytes = vec![0u8; BYTES];
        let mut put = |at: usize, value: f32| {
            bytes[at..at + 2].copy_from_slice(&bits(value).to_le_bytes());
        };
        for k in 0..16 {
            for i in 0..64 {
                put(self.a.place(64, i, k), element_a(i, k));
            }
            for j in 0..self.n {
                put(B + self.b.place(self.n, j, k), element_b(k, j));
            }
        }
        let words = bytes.as_chunks().0.iter();
        words.map(|word| u32::from_le_bytes(*word)).collect()
    }

    fn operands(&self) -> String {
        let turned = |layout| u32::from(matches!(layout, Layout::Turned(_)));
        format!(
            "%rd11, %rd12, %p1, 1, 1, {}, {}",
            turned(self.a),
            turned(self.b)
        )
    }

    fn sums(&self) -> String {
        let names: Vec<String> = (0..self.n / 2).map(|i| format!("%d{i}")).collect();
        names.join(", ")
    }

    fn multiply(&self, ty: &str) -> String {
        format!(
            "wgmma.mma_async.sync.aligned.m64n{}k16.f32.{ty}.{ty} {{{}}}, {};\n",
            self.n,
            self.sums(),
            self.operands()
        )
    }

    /// A kernel that copies the matrices to shared memory, executes `publish`, the product, and stores the sums.
    fn text(&self, publish: &str, product: &str) -> String {
        let mut body = format!(
            ".reg .f32 %d<130>;\n.shared .align 1024 .b8 tile[{BYTES}];\nmov.u32 %r5, tile;\nmul.wide.u32 %rd3, %r1, 16;\n\
             add.s64 %rd4, %rd2, %rd3;\nshl.b32 %r6, %r1, 4;\nadd.u32 %r6, %r5, %r6;\nmov.u64 %rd11, {};\nmov.u64 %rd12, {};\n\
             setp.eq.u32 %p1, %r1, %r1;\n",
            self.a.descriptor(0, 64),
            self.b.descriptor(B, self.n)
        );
        let step = 16 * self.threads as usize;
        for at in (0..BYTES).step_by(step) {
            let _ = write!(
                body,
                "ld.global.v4.u32 {{%r10, %r11, %r12, %r13}}, [%rd4+{at}];\nst.shared.v4.u32 [%r6+{at}], {{%r10, %r11, %r12, %r13}};\n"
            );
        }
        for i in 0..self.n / 2 {
            let _ = writeln!(body, "mov.f32 %d{i}, 0f3F800000;");
        }
        let _ = writeln!(
            body,
            "{publish}{product}mul.wide.u32 %rd5, %r1, {};\nadd.s64 %rd6, %rd1, %rd5;",
            2 * self.n
        );
        for i in 0..self.n / 2 {
            let _ = writeln!(body, "st.global.f32 [%rd6+{}], %d{i};", 4 * i);
        }
        kernel("", &body)
    }

    fn launch(&self, publish: &str, product: &str) -> Result<Vec<u32>, Fault> {
        let text = self.text(publish, product);
        let bits = |x| f16::from_f32(x).to_bits();
        let mut out = vec![0; self.threads as usize * self.n / 2];
        Case::of(self.threads).launch(&text, &mut [&mut out, &mut self.image(bits)])?;
        Ok(out)
    }

    fn fault(&self, publish: &str, product: &str) -> FaultKind {
        let fault = self.launch(publish, product).unwrap_err();
        assert!(!fault.place.instruction.is_empty());
        fault.kind
    }

    fn check(&self, out: &[u32], c: f32, times: f32) {
        for thread in 0..128 {
            for i in 0..self.n / 2 {
                let (warp, lane) = (thread / 32, thread % 32);
                let row = 16 * warp + lane / 4 + i / 2 % 2 * 8;
                let column = i / 4 * 8 + lane % 4 * 2 + i % 2;
                let products = (0..16).map(|k| element_a(row, k) * element_b(k, column));
                let expected = c + times * products.sum::<f32>();
                let found = f32::from_bits(out[thread * self.n / 2 + i]);
                assert_eq!(
                    found, expected,
                    "{:?} {:?} ({row}, {column})",
                    self.a, self.b
                );
            }
        }
    }
}

const PUBLISH: &str = "fence.proxy.async.shared::cta;\nbar.sync 0;\n";
const FENCE: &str = "wgmma.fence.sync.aligned;\n";
const COMMIT: &str = "wgmma.commit_group.sync.aligned;\n";
const WAIT: &str = "wgmma.wait_group.sync.aligned 0;\n";

fn simple() -> Product {
    Product::of(16, Layout::Lines(128), Layout::Turned(32))
}

fn complete(product: &Product) -> String {
    format!("{FENCE}{}{COMMIT}{WAIT}", product.multiply("f16"))
}

#[test]
fn a_product_reads_both_matrices_in_every_layout() {
    for (a, b) in Layout::all().flat_map(|a| Layout::all().map(move |b| (a, b))) {
        let product = Product::of(64, a, b);
        let out = product.launch(PUBLISH, &complete(&product)).unwrap();
        product.check(&out, 1.0, 1.0);
    }
}

#[test]
fn a_product_has_eight_to_256_columns_of_both_types() {
    for n in [8, 24, 128, 256] {
        let width = if n == 24 || n == 8 { 16 } else { 128 };
        let product = Product::of(n, Layout::Lines(64), Layout::Turned(width));
        let text = product.text(
            PUBLISH,
            &format!("{FENCE}{}{COMMIT}{WAIT}", product.multiply("bf16")),
        );
        let image = product.image(|x| bf16::from_f32(x).to_bits());
        let out = vec![0; 64 * n];
        let out = Case::of(128).in_every_order(&text, &[out, image]).remove(0);
        product.check(&out, 1.0, 1.0);
    }
}

#[test]
fn products_of_one_group_add_up_and_signs_and_scale_d_are_respected() {
    let product = simple();
    let twice = product.multiply("f16").repeat(2);
    let out = product.launch(PUBLISH, &format!("{FENCE}{twice}{COMMIT}{WAIT}"));
    product.check(&out.unwrap(), 1.0, 2.0);
    let replaces = product.multiply("f16").replace("%p1, 1, 1", "%p2, -1, 1");
    let none = "setp.ne.u32 %p2, %r1, %r1;\n";
    let out = product.launch(PUBLISH, &format!("{none}{FENCE}{replaces}{COMMIT}{WAIT}"));
    product.check(&out.unwrap(), 0.0, -1.0);
    let both = product.multiply("f16").replace("%p1, 1, 1", "%p1, -1, -1");
    let out = product.launch(PUBLISH, &format!("{FENCE}{both}{COMMIT}{WAIT}"));
    product.check(&out.unwrap(), 1.0, 1.0);
}

#[test]
fn matrix_a_may_be_in_registers() {
    let product = simple();
    let mut load = String::new();
    // The address of the first of the lane's words: row lane / 4 of the warp's rows, element 2 (lane % 4).
    load.push_str("shr.u32 %r20, %r1, 5;\nand.b32 %r21, %r1, 31;\nshr.u32 %r22, %r21, 2;\nand.b32 %r23, %r21, 3;\nshl.b32 %r24, %r20, 4;\n");
    load.push_str("add.u32 %r24, %r24, %r22;\nshl.b32 %r24, %r24, 7;\nshl.b32 %r25, %r22, 4;\n");
    for (i, (down, half)) in [(0, 0), (1, 0), (0, 1), (1, 1)].into_iter().enumerate() {
        let _ = writeln!(
            load,
            "xor.b32 %r26, %r25, {};\nadd.u32 %r27, %r24, %r26;\nshl.b32 %r28, %r23, 2;\nadd.u32 %r27, %r27, %r28;\n\
             add.u32 %r27, %r27, %r5;\nld.shared.u32 %r{}, [%r27+{}];",
            16 * half,
            30 + i,
            1024 * down
        );
    }
    let multiply = product
        .multiply("f16")
        .replace("%rd11, %rd12", "{%r30, %r31, %r32, %r33}, %rd12")
        .replace("1, 1, 0, 1;", "1, 1, 1;");
    let out = product.launch(PUBLISH, &format!("{load}{FENCE}{multiply}{COMMIT}{WAIT}"));
    product.check(&out.unwrap(), 1.0, 1.0);
    let early = format!("{load}{FENCE}{multiply}{COMMIT}mov.u32 %r30, 0;\n{WAIT}");
    assert_used(&product.fault(PUBLISH, &early), "matrix A");
    let unfenced = format!("{FENCE}{load}{multiply}{COMMIT}{WAIT}");
    assert_used(&product.fault(PUBLISH, &unfenced), "no `wgmma.fence`");
}

#[track_caller]
fn assert_used(kind: &FaultKind, part: &str) {
    match kind {
        FaultKind::Invalid { what } => assert!(what.contains(part), "{what}"),
        _ => panic!("{kind}"),
    }
}

#[test]
fn accumulators_belong_to_the_product_until_its_wait() {
    let product = simple();
    let multiply = product.multiply("f16");
    let publish = PUBLISH;
    for touch in [
        "mov.f32 %f1, 0f00000000;\nadd.f32 %f2, %d3, %f1;\n",
        "mov.f32 %d3, 0f00000000;\n",
    ] {
        let text = format!("{FENCE}{multiply}{COMMIT}{touch}{WAIT}");
        assert_used(&product.fault(publish, &text), "is used before");
    }
    // Neither a wait for earlier groups nor a wait without a commit completes the product.
    let one = WAIT.replace('0', "1");
    assert_used(
        &product.fault(publish, &format!("{FENCE}{multiply}{COMMIT}{one}")),
        "is used before",
    );
    assert_used(
        &product.fault(publish, &format!("{FENCE}{multiply}{WAIT}")),
        "is used before",
    );
    assert_used(
        &product.fault(publish, &format!("{multiply}{COMMIT}{WAIT}")),
        "no `wgmma.fence`",
    );
    let changed = format!("{FENCE}mul.f32 %d5, %d5, %d5;\n{multiply}{COMMIT}{WAIT}");
    assert_used(&product.fault(publish, &changed), "no `wgmma.fence`");
    // A group may stay in flight while another one is issued.
    let piped = format!("{FENCE}{multiply}{COMMIT}{FENCE}{multiply}{COMMIT}{one}{WAIT}");
    product.check(&product.launch(publish, &piped).unwrap(), 1.0, 2.0);
}

#[test]
fn a_copy_of_an_accumulator_in_flight_is_another_name_for_it() {
    let product = simple();
    let multiply = product.multiply("f16");
    let names = "mov.f32 %d100, %d3;\nmov.f32 %d3, %d100;\n";
    let text =
        format!("{FENCE}{multiply}{COMMIT}{names}{multiply}{COMMIT}{WAIT}mov.f32 %d3, %d3;\n");
    product.check(&product.launch(PUBLISH, &text).unwrap(), 1.0, 2.0);
    let stale = format!("{text}mov.f32 %d3, %d100;\n");
    assert_used(&product.fault(PUBLISH, &stale), "copy of an accumulator");
}

#[test]
fn written_bytes_need_a_proxy_fence_of_their_writer_and_a_barrier() {
    let product = simple();
    let all = complete(&product);
    let barrier = "bar.sync 0;\n";
    let kind = product.fault(barrier, &all);
    assert!(matches!(kind, FaultKind::BeforeFence { .. }), "{kind}");
    // The fence comes before the write that it should publish.
    let again = "ld.shared.u32 %r30, [%r6];\nst.shared.u32 [%r6], %r30;\n";
    let late = format!("fence.proxy.async;\n{again}{barrier}");
    let kind = product.fault(&late, &all);
    assert!(matches!(kind, FaultKind::BeforeFence { .. }), "{kind}");
    // The fence comes after the barrier.
    let kind = product.fault("bar.sync 0;\nfence.proxy.async;\n", &all);
    assert!(matches!(kind, FaultKind::BeforeFence { .. }), "{kind}");
    let kind = product.fault("fence.proxy.async;\n", &all);
    let is_found = matches!(
        kind,
        FaultKind::Race { .. } | FaultKind::Unwritten { .. } | FaultKind::BeforeFence { .. }
    );
    assert!(is_found, "{kind}");
    let kind = product.fault("fence.proxy.async.global;\nbar.sync 0;\n", &all);
    assert!(matches!(kind, FaultKind::BeforeFence { .. }), "{kind}");
}

#[test]
fn asynchronous_copies_need_their_wait_before_the_proxy_fence() {
    let product = simple();
    let all = complete(&product);
    let copy = "cp.async.cg.shared.global [%r6], [%rd4], 16;\ncp.async.commit_group;\n";
    let wait = "cp.async.wait_group 0;\n";
    let kind = product.fault(&format!("{copy}{PUBLISH}"), &all);
    assert!(matches!(kind, FaultKind::BeforeWait { .. }), "{kind}");
    let kind = product.fault(
        &format!("{copy}fence.proxy.async;\n{wait}bar.sync 0;\n"),
        &all,
    );
    assert!(matches!(kind, FaultKind::BeforeFence { .. }), "{kind}");
    let out = product.launch(&format!("{copy}{wait}{PUBLISH}"), &all);
    product.check(&out.unwrap(), 1.0, 1.0);
}

#[test]
fn bytes_that_a_product_reads_stay_until_its_wait_and_a_barrier() {
    let product = simple();
    let multiply = product.multiply("f16");
    let write = "st.shared.u32 [%r6], %r10;\n";
    for text in [
        format!("{FENCE}{multiply}{COMMIT}{write}{WAIT}"),
        format!("{FENCE}{multiply}{COMMIT}bar.sync 0;\n{write}{WAIT}"),
        format!("{FENCE}{multiply}{COMMIT}{WAIT}{write}"),
    ] {
        let kind = product.fault(PUBLISH, &text);
        assert!(matches!(kind, FaultKind::Race { .. }), "{kind}");
    }
    let text = format!("{FENCE}{multiply}{COMMIT}{WAIT}bar.sync 0;\n{write}");
    product.check(&product.launch(PUBLISH, &text).unwrap(), 1.0, 1.0);
}

#[test]
fn a_warpgroup_is_whole_and_its_warps_agree() {
    let product = Product {
        threads: 192,
        ..simple()
    };
    assert_used(
        &product.fault(PUBLISH, &complete(&product)),
        "not a multiple",
    );
    let product = simple();
    let other = "shr.u32 %r20, %r1, 5;\ncvt.u64.u32 %rd20, %r20;\nadd.u64 %rd12, %rd12, %rd20;\n";
    let text = format!("{other}{}", complete(&product));
    assert_used(&product.fault(PUBLISH, &text), "different descriptors");
    let other = "cvt.u64.u32 %rd20, %r1;\nadd.u64 %rd12, %rd12, %rd20;\n";
    let text = format!("{other}{}", complete(&product));
    assert_used(
        &product.fault(PUBLISH, &text),
        "different matrix descriptors",
    );
    let text = format!(
        "setp.lt.u32 %p3, %r1, 16;\n@%p3 bra $end;\n{}$end:\n",
        complete(&product)
    );
    assert!(product.launch(PUBLISH, &text).is_err());
}

#[test]
fn wrong_offsets_and_swizzles_give_other_results_or_faults() {
    let product = simple();
    let right = product.launch(PUBLISH, &complete(&product)).unwrap();
    let change = |from: &str, bits: u64| format!("xor.b64 {from}, {from}, {bits};\n");
    for wrong in [
        change("%rd11", 1 << 62),
        change("%rd11", 3 << 62),
        change("%rd11", 1 << 35),
        change("%rd12", 1 << 63),
        change("%rd12", 1 << 35),
        change("%rd11", 1 << 3),
    ] {
        match product.launch(PUBLISH, &format!("{wrong}{}", complete(&product))) {
            Ok(out) => assert_ne!(out, right, "{wrong}"),
            Err(fault) => assert!(!fault.kind.to_string().is_empty()),
        }
    }
}

#[test]
fn dynamic_shared_memory_has_no_larger_alignment_than_the_kernel_declares() {
    let product = simple();
    let launch = |align: u32| {
        let text = product.text(PUBLISH, &complete(&product));
        let fixed = format!(".shared .align 1024 .b8 tile[{BYTES}];");
        let dynamic = format!(".extern .shared .align {align} .b8 tile[];");
        // The descriptors contain the address of the tile.
        let base = "cvt.u64.u32 %rd13, %r5;\nshr.u64 %rd13, %rd13, 4;\nadd.u64 %rd11, %rd11, %rd13;\nadd.u64 %rd12, %rd12, %rd13;\n";
        let text = text
            .replace(&fixed, "")
            .replace(".visible", &format!("{dynamic}\n.visible"));
        let text = text.replace("setp.eq.u32 %p1", &format!("{base}setp.eq.u32 %p1"));
        let case = Case {
            shared_bytes: BYTES as u32,
            ..Case::of(128)
        };
        let mut out = vec![0; 64 * product.n];
        let bits = |x| f16::from_f32(x).to_bits();
        let launched = case.launch(&text, &mut [&mut out, &mut product.image(bits)]);
        launched.map(|_| out).unwrap()
    };
    let right = launch(1024);
    product.check(&right, 1.0, 1.0);
    assert_ne!(launch(16), right);
}

#[test]
fn a_product_counts_as_many_instructions_as_the_products_of_one_warp_that_replace_it() {
    let product = Product::of(64, Layout::Lines(128), Layout::Turned(128));
    let text = product.text(PUBLISH, &complete(&product));
    let bits = |x| f16::from_f32(x).to_bits();
    let buffers: &mut [&mut Vec<u32>] = &mut [&mut vec![0; 4096], &mut product.image(bits)];
    let counters = Case::of(128).launch(&text, buffers).unwrap();
    let products = counters.executed.iter().filter(|count| **count == 4 * 8);
    assert_eq!(products.count(), 1);
}

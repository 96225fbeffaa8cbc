//! Compares Kiln's occupancy calculators with those of the vendors: with NVIDIA's `cuda_occupancy.h`, and with LLVM's
//! AMDGPU backend on kernels that use specified numbers of registers and amounts of local data share.

mod amd;
mod nvidia;

use kiln_spec::targets::{KnownTarget, Multiprocessor, TARGETS};

/// The expected rows of the table in `docs/targets.md`.
fn documented(gpus: &[KnownTarget]) -> Vec<String> {
    let row = |title: &str, cell: &dyn Fn(&KnownTarget) -> String| {
        let cells: Vec<String> = gpus.iter().map(cell).collect();
        format!("| {title} | {} |", cells.join(" | "))
    };
    let number = |title: &str, figure: fn(&KnownTarget) -> u64| {
        row(title, &|known| figure(known).to_string())
    };
    let tera = |title: &str, figure: fn(&KnownTarget) -> u64| {
        row(title, &|known| {
            format!("{:.2}", figure(known) as f64 / 1e12)
        })
    };
    vec![
        row("", &|known| known.arch.to_owned()).replace("|  |", "| |"),
        row("product that sizes and peaks are of", &|known| {
            known.product.to_owned()
        }),
        number("multiprocessors", |known| {
            known.limits.multiprocessors.into()
        }),
        number("threads a block", |known| {
            known.limits.max_threads_per_block.into()
        }),
        number("threads a multiprocessor", |known| held(known).threads),
        number("blocks a multiprocessor", |known| held(known).blocks),
        number("registers a multiprocessor", |known| held(known).registers),
        number("registers a thread", |known| {
            held(known).registers_per_thread
        }),
        row("registers are handed out in", &|known| {
            held(known).register_steps
        }),
        number("shared memory a multiprocessor, KiB", |known| {
            held(known).shared / 1024
        }),
        number("shared memory a block, KiB", |known| {
            u64::from(known.limits.shared_bytes_per_block) / 1024
        }),
        number("shared memory is handed out in, bytes", |known| {
            held(known).shared_steps
        }),
        number("shared memory kept by the driver, bytes a block", |known| {
            held(known).reserved
        }),
        number("L2, MiB", |known| known.limits.l2_bytes >> 20),
        number("memory, GB/s", |known| {
            known
                .peaks
                .map_or(0, |peaks| peaks.memory_bytes_per_s / 1_000_000_000)
        }),
        tera("f32 peak, TFLOP/s", |known| {
            known.peaks.map_or(0, |peaks| peaks.f32_flops_per_s)
        }),
        tera("f16 matrix peak (f32 sums, dense), TFLOP/s", |known| {
            known.peaks.map_or(0, |peaks| peaks.f16_matrix_flops_per_s)
        }),
    ]
}

/// The resources of a multiprocessor, as the table lists them.
struct Held {
    threads: u64,
    blocks: u64,
    registers: u64,
    registers_per_thread: u64,
    register_steps: String,
    shared: u64,
    shared_steps: u64,
    reserved: u64,
}

fn held(known: &KnownTarget) -> Held {
    match known.multiprocessor {
        Multiprocessor::Nvidia(sm) => Held {
            threads: sm.max_threads.into(),
            blocks: sm.max_blocks.into(),
            registers: sm.registers.into(),
            registers_per_thread: sm.registers_per_thread.into(),
            register_steps: format!("{} a warp", sm.register_granularity),
            shared: sm.shared_bytes.into(),
            shared_steps: sm.shared_granularity.into(),
            reserved: sm.reserved_shared_bytes.into(),
        },
        Multiprocessor::Amd(wgp) => Held {
            threads: (wgp.simds * wgp.waves_per_simd * wgp.wave_size).into(),
            blocks: wgp.max_barriers.into(),
            registers: (wgp.simds * wgp.vector_registers * wgp.wave_size).into(),
            registers_per_thread: wgp.registers_per_thread.into(),
            register_steps: format!("{} a thread", wgp.register_granularity),
            shared: wgp.shared_bytes.into(),
            shared_steps: wgp.shared_granularity.into(),
            reserved: 0,
        },
        Multiprocessor::Host => panic!("the table is of GPUs"),
    }
}

#[test]
fn the_documentation_has_the_table_as_it_is() {
    let path = kiln_tests::command::workspace().join("docs/targets.md");
    let text = std::fs::read_to_string(&path).expect("docs/targets.md should be read");
    let gpus: Vec<_> = TARGETS
        .iter()
        .filter(|known| known.multiprocessor != Multiprocessor::Host)
        .copied()
        .collect();
    for row in documented(&gpus) {
        assert!(text.contains(&row), "docs/targets.md lacks this row: {row}");
    }
}

//! Warp instructions per second of the gfx11 interpreter, on one core and on all.

use std::time::Instant;

use kiln_sim::gfx11::CodeObject;
use kiln_sim::{Class, Launch, Memory, Order, run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let object = CodeObject::parse(include_bytes!("../tests/gfx11/speed.co"))?;
    for (name, threads, blocks, depth) in [("gemm", 256, 8u32, 256u32), ("spin", 64, 64, 5000)] {
        for cores in [1, std::thread::available_parallelism()?.get()] {
            let memory = Memory::default();
            let loaded = object.load(&memory)?;
            let kernel = loaded.kernel(name)?;
            let (a, b, c) = (
                memory.alloc(64 * 4 * 4096),
                memory.alloc(64 * 4 * 4096),
                memory.alloc(4 * 4096 * 64),
            );
            let mut arguments: Vec<u8> = match name {
                "gemm" => [a, b, c]
                    .iter()
                    .flat_map(|address| address.to_le_bytes())
                    .collect(),
                _ => c.to_le_bytes().to_vec(),
            };
            arguments.extend(depth.to_le_bytes());
            let launch = Launch {
                grid: [blocks, 1, 1],
                block: [threads, 1, 1],
                shared_bytes: 0,
                arguments,
                order: Order::Forward,
            };
            let start = Instant::now();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(cores).build()?;
            let counters = pool.install(|| run(&kernel, &launch, &memory))?;
            let seconds = start.elapsed().as_secs_f64();
            let rate = counters.instructions as f64 / seconds / 1e6;
            let mut classes = std::collections::BTreeMap::<Class, u64>::new();
            for (one, executed) in kernel.instructions().zip(&counters.executed) {
                *classes.entry(one.class).or_default() += executed;
            }
            println!(
                "{name}, {cores} cores: {} instructions, {rate:.1} million per second; {classes:?}",
                counters.instructions
            );
        }
    }
    Ok(())
}

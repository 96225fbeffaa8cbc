//! Times launches of the kernels in `tests/gfx11/speed.hip` and `tests/ptx/speed/speed.cu`.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Instant;

use kiln_sim::{Class, Counters, InstructionInfo, Launch, Memory, Order, Program, run};

/// A launch to time.
pub struct Case {
    pub name: &'static str,
    /// Whether the elements of `a` and `b` are 16-bit floats.
    pub half: bool,
    threads: u32,
    blocks: u32,
    /// The last argument of the kernel: the depth of a product, the columns of a row, or the iterations of a loop.
    count: u32,
}

/// The launches, which are the same for both GPU families. `matrix` is the name of the kernel that uses matrix units.
pub fn cases(matrix: &'static str) -> [Case; 4] {
    let case = |name, half, threads, blocks, count| Case {
        name,
        half,
        threads,
        blocks,
        count,
    };
    [
        case("gemm", false, 256, 16, 1024),
        case(matrix, true, 128, 64, 1024),
        case("softmax", false, 256, 32, 4096),
        case("spin", false, 64, 64, 2000),
    ]
}

/// The CPU time of this thread, if the system reports it. Other programs distort it less than they distort wall time.
fn own_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

/// Whether the command line names this case, or names no case at all.
pub fn is_wanted(case: &Case) -> bool {
    let mut names = std::env::args().skip(1).peekable();
    names.peek().is_none() || names.any(|name| name == case.name)
}

const ELEMENTS: usize = 1 << 20;
/// The fastest of this number of launches is reported, because other programs use the machine too.
const LAUNCHES: usize = 5;

impl Case {
    /// Allocates the arrays `a`, `b` and `c`, and returns the arguments: these arrays and the count.
    fn arguments(&self, memory: &Memory) -> Result<Vec<u8>, Box<dyn Error>> {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        let mut arguments = Vec::new();
        for _ in 0..2 {
            let values: Vec<u8> = match self.half {
                true => (0..ELEMENTS)
                    .flat_map(|_| half::f16::from_f32(next()).to_le_bytes())
                    .collect(),
                false => (0..ELEMENTS).flat_map(|_| next().to_le_bytes()).collect(),
            };
            let address = memory.alloc(values.len());
            memory.write(address, &values)?;
            arguments.extend(address.to_le_bytes());
        }
        arguments.extend(memory.alloc(4 * ELEMENTS).to_le_bytes());
        arguments.extend(self.count.to_le_bytes());
        Ok(arguments)
    }

    /// Launches the kernel on one core and on all cores, and prints the warp instructions per second.
    pub fn time<P: Program>(
        &self,
        kernel: &P,
        memory: &Memory,
        instructions: impl Iterator<Item = InstructionInfo>,
    ) -> Result<(), Box<dyn Error>> {
        let launch = Launch {
            grid: [self.blocks, 1, 1],
            block: [self.threads, 1, 1],
            shared_bytes: 0,
            arguments: self.arguments(memory)?,
            order: Order::Forward,
        };
        let mut counters = Counters::default();
        let mut rates = Vec::new();
        for cores in [1, std::thread::available_parallelism()?.get()] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(cores).build()?;
            let mut best = f64::INFINITY;
            for _ in 0..LAUNCHES {
                let (spent, result) = pool.install(|| {
                    let start = Instant::now();
                    let own = own_seconds();
                    let result = run(kernel, &launch, memory);
                    let own = own_seconds().zip(own).map(|(end, start)| end - start);
                    let spent = start.elapsed().as_secs_f64();
                    (own.filter(|_| cores == 1).unwrap_or(spent), result)
                });
                counters = result?;
                best = best.min(spent);
            }
            rates.push(format!(
                "{:.1} million per second on {cores}",
                counters.instructions as f64 / best / 1e6
            ));
        }
        let mut classes = BTreeMap::<Class, u64>::new();
        for (one, executed) in instructions.zip(&counters.executed) {
            *classes.entry(one.class).or_default() += executed;
        }
        classes.retain(|_, executed| *executed > 0);
        println!(
            "{}: {} instructions, {}; {classes:?}",
            self.name,
            counters.instructions,
            rates.join(", ")
        );
        Ok(())
    }
}

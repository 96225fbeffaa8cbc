//! Compile servers, which are processes that compile in parallel. Each compile has a limit of time and of memory.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

use kiln::compile_only;
use kiln::compiler::{CompileError, CompileRequest, Compiler};
use kiln_lab::worker::{ProcessCompiler, WorkerLimits};
use kiln_tests::capability::{Need, have, in_full};
use kiln_tests::command::tune_program;

/// NVRTC for one architecture, in server processes with a mark in their environment.
fn servers(mark: &str) -> ProcessCompiler {
    let worker = WorkerLimits {
        command: vec![
            "env".into(),
            format!("KILN_TEST_MARK={mark}").into(),
            tune_program().into(),
            "worker".into(),
        ],
        reap: Duration::from_secs(5),
        until: None,
    };
    let compiler = compile_only::compiler("sm_89").expect("NVRTC should be there");
    ProcessCompiler::around(&*compiler, &worker).expect("NVRTC is a library")
}

/// The number of processes that have the mark in their environment.
fn running(mark: &str) -> usize {
    let mark = format!("KILN_TEST_MARK={mark}\0");
    let processes = std::fs::read_dir("/proc").expect("there should be processes");
    let environments = processes
        .flatten()
        .filter_map(|process| std::fs::read(process.path().join("environ")).ok());
    environments
        .filter(|environment| {
            let mut parts = environment.windows(mark.len());
            parts.any(|part| part == mark.as_bytes())
        })
        .count()
}

/// A request for a kernel with a fully unrolled register tile of `side` x `side`. `number` makes the request unique.
fn tile(side: u32, number: u32) -> CompileRequest {
    let source = format!(
        "\
extern \"C\" __global__ void tile(const float* a, const float* b, float* c, int k) {{
    float sum[{side}][{side}] = {{}};
    for (int i = 0; i < k; ++i) {{
        float x[{side}], y[{side}];
#pragma unroll
        for (int j = 0; j < {side}; ++j) {{ x[j] = a[i * {side} + j + {number}]; y[j] = b[i * {side} + j]; }}
#pragma unroll
        for (int m = 0; m < {side}; ++m)
#pragma unroll
            for (int n = 0; n < {side}; ++n) sum[m][n] += x[m] * y[n];
    }}
#pragma unroll
    for (int m = 0; m < {side}; ++m)
#pragma unroll
        for (int n = 0; n < {side}; ++n) c[(m * {side} + n) * blockDim.x + threadIdx.x] = sum[m][n];
}}
"
    );
    CompileRequest::new("tile", source)
}

/// Threads that compile requests, and report each finished compile. A server ends when the thread that started it ends,
/// so the threads live as long as the servers are needed.
struct Threads {
    work: Vec<Sender<u32>>,
    done: Receiver<()>,
}

impl Threads {
    fn new<'scope>(
        scope: &'scope Scope<'scope, '_>,
        compiler: &'scope ProcessCompiler,
        count: usize,
    ) -> Threads {
        let (finished, done) = channel();
        let work = (0..count).map(|_| {
            let (sender, numbers) = channel();
            let finished = finished.clone();
            scope.spawn(move || {
                for number in numbers {
                    let compiled = compiler.compile(&tile(8, number));
                    compiled.expect("the tile should compile");
                    finished.send(()).expect("the test should wait");
                }
            });
            sender
        });
        Threads {
            work: work.collect(),
            done,
        }
    }

    /// The duration of `compiles` compiles on the first `threads` threads.
    fn time(&self, threads: usize, compiles: u32) -> Duration {
        let start = Instant::now();
        for number in 0..compiles {
            let thread = &self.work[number as usize % threads];
            thread.send(number).expect("the thread should live");
        }
        for _ in 0..compiles {
            self.done.recv().expect("every compile should end");
        }
        start.elapsed()
    }
}

#[test]
fn two_threads_compile_nearly_twice_as_much_as_one() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if cores < 2 {
        eprintln!("not run: two threads compile at once: this machine has one core");
        return;
    }
    if !have("two threads compile at once", &[Need::Nvrtc]) {
        return;
    }
    let (compiles, rounds) = if in_full() { (64, 5) } else { (4, 1) };
    let compiler = servers("speed");
    let mut ratios = std::thread::scope(|scope| {
        let threads = Threads::new(scope, &compiler, 2);
        // Both servers start here and keep running. Each thread has its own server.
        threads.time(2, 4);
        assert_eq!(running("speed"), 2);
        let measure = |round| {
            let (one, two) = (threads.time(1, compiles), threads.time(2, compiles));
            let ratio = one.as_secs_f64() / two.as_secs_f64();
            println!(
                "round {round}: {compiles} compiles: {one:?} on one thread, {two:?} on two: {ratio:.2}x"
            );
            ratio
        };
        (0..rounds).map(measure).collect::<Vec<f64>>()
    });
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    println!("two threads compile {median:.2} times as much as one");
    // On a busy machine, the ratio depends on the load, so it is checked only in full measurements.
    assert!(
        !in_full() || median >= 1.8,
        "{median:.2}x, 1.8x is the least"
    );
}

#[test]
fn a_compile_that_exceeds_its_time_is_cut_and_the_next_one_works() {
    if !have("a compile over its time", &[Need::Nvrtc]) {
        return;
    }
    let compiler = servers("time");
    compiler.compile(&tile(4, 0)).unwrap();
    assert_eq!(running("time"), 1);
    let mut long = tile(48, 0);
    long.limits.deadline = Duration::from_secs(1);
    let start = Instant::now();
    let error = compiler.compile(&long).unwrap_err();
    let took = start.elapsed();
    assert!(
        matches!(&error, CompileError::TimedOut { deadline, .. } if *deadline == long.limits.deadline),
        "{error:?}"
    );
    println!("cut after {took:?}");
    assert!(!in_full() || took < Duration::from_secs(8), "{took:?}");
    assert_eq!(
        (compiler.idle_servers(), running("time")),
        (0, 0),
        "its server is gone"
    );
    compiler.compile(&tile(4, 1)).unwrap();
    drop(compiler);
    assert_eq!(running("time"), 0, "servers end with their compiler");
}

#[test]
fn a_compile_that_exceeds_its_memory_is_cut_and_the_next_one_works() {
    if !have("a compile over its memory", &[Need::Nvrtc]) {
        return;
    }
    let compiler = servers("memory");
    let mut large = CompileRequest::new(
        "large",
        "extern \"C\" { __device__ char blob[1 << 30] = {1}; __global__ void large(char* x) { *x = blob[*x]; } }\n",
    );
    large.limits.memory_bytes = 1 << 30;
    let error = compiler.compile(&large).unwrap_err();
    assert!(
        matches!(error, CompileError::OutOfMemory { memory_bytes, .. } if memory_bytes == 1 << 30),
        "{error:?}"
    );
    let mut small = tile(4, 0);
    small.limits.memory_bytes = 1 << 30;
    compiler.compile(&small).unwrap();
}

#[test]
fn a_server_that_ended_while_it_waited_is_replaced() {
    if !have("a compile server that ended", &[Need::Nvrtc]) {
        return;
    }
    let compiler = servers("ended");
    // This server ends when the thread that started it ends.
    std::thread::scope(|scope| {
        scope.spawn(|| compiler.compile(&tile(4, 0)).unwrap());
    });
    assert_eq!(compiler.idle_servers(), 1);
    compiler.compile(&tile(4, 1)).unwrap();
    assert_eq!((compiler.idle_servers(), running("ended")), (1, 1));
}

#[test]
fn errors_and_images_are_those_of_the_library_itself() {
    if !have("compile servers", &[Need::Nvrtc]) {
        return;
    }
    let compiler = servers("same");
    let library = compile_only::compiler("sm_89").unwrap();
    assert_eq!(compiler.identity(), library.identity());
    let (here, there) = (library.compile(&tile(4, 0)), compiler.compile(&tile(4, 0)));
    let (here, there) = (here.unwrap(), there.unwrap());
    assert_eq!((there.hash, &there.target), (here.hash, &here.target));
    // The logs differ only in the compile time.
    let said = |log: &str| {
        log.lines()
            .filter(|line| !line.contains("Compile time"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(said(&there.log), said(&here.log));
    let wrong = CompileRequest::new(
        "wrong",
        "#line 3 \"gemm.cu\"\n__global__ void k() { x = 1; }\n",
    );
    let (here, there) = (library.compile(&wrong), compiler.compile(&wrong));
    let CompileError::Failed { log, .. } = there.unwrap_err() else {
        panic!("{here:?}");
    };
    assert!(log.contains("gemm.cu(3): error"), "{log}");
}

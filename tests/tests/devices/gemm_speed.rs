//! Gemm 512³ on the cpu: compares the winner with the naive entry, the plain tiled config and a blocked C loop, and two
//! complete runs with each other. It is measured only with `KILN_BARS=1`, because on a busy machine the load would
//! determine the results.

use std::sync::Arc;

use kiln::Stream;
use kiln::backend::cpu::{CpuDevice, CpuOptions};
use kiln::compiler::CompileRequest;
use kiln::device::Function;
use kiln::rig::{Layout, Rig};
use kiln_spec::codegen::{Target, TranslationUnit};
use kiln_spec::source::{SourceScan, SourceText};
use kiln_spec::{Config, KernelSpec, LaunchPlan, Problem};
use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stdout, tune, workspace};
use serde_json::Value;

const PROBLEM: &str = "m=512,n=512,k=512";
const PLAIN_TILES: &str =
    "BLOCK_M=16,BLOCK_N=16,BLOCK_K=16,THREAD_M=1,THREAD_N=1,VECTOR_WIDTH=1,UNROLL=1,WALK=0";

/// A typical blocked loop in C. It runs as a launch of one thread, so the same clock times it.
const BLOCKED_LOOP: &str = r#"
extern "C" __global__ void blocked(unsigned m, unsigned n, unsigned k, const float* __restrict__ a,
                                   const float* __restrict__ b, float* __restrict__ c) {
  for (unsigned i = 0; i < m * n; ++i) c[i] = 0.0f;
  for (unsigned kk = 0; kk < k; kk += 64)
    for (unsigned ii = 0; ii < m; ii += 64)
      for (unsigned i = ii; i < ii + 64 && i < m; ++i)
        for (unsigned p = kk; p < kk + 64 && p < k; ++p) {
          const float x = a[i * k + p];
          for (unsigned j = 0; j < n; ++j) c[i * n + j] += x * b[p * n + j];
        }
}
"#;

#[test]
fn the_winner_is_four_times_as_fast_as_the_simple_versions_and_two_runs_agree() {
    if !have(
        "the_winner_is_four_times_as_fast_as_the_simple_versions_and_two_runs_agree",
        &[Need::Bars, Need::HostCompiler],
    ) {
        return;
    }
    let winners = [tuned(1), tuned(2)];
    println!("winners: {} and {}", winners[0], winners[1]);
    let bench = Bench::open();
    let spec = &bench.spec;
    let parse = |text: &str| spec.parse_config(text).expect("a config of the space");
    let configs = [&*winners[0], &*winners[1], PLAIN_TILES].map(parse);
    let mut arms: Vec<(Function, LaunchPlan)> =
        configs.iter().map(|config| bench.tuned(config)).collect();
    arms.push(bench.naive());
    arms.push(bench.blocked_loop());
    let times = bench.times(&arms, 15);
    let ratio = |arm: usize| {
        let mut ratios: Vec<f64> = times
            .iter()
            .map(|round| round[arm] as f64 / round[0] as f64)
            .collect();
        ratios.sort_by(f64::total_cmp);
        ratios[ratios.len() / 2]
    };
    let (second, tiles, naive, blocked) = (ratio(1), ratio(2), ratio(3), ratio(4));
    println!(
        "gemm 512x512x512 on one thread, time over the winner's: naive {naive:.1}, tiles 16x16x16 {tiles:.1},"
    );
    println!("blocked C loop {blocked:.2}, winner of the second run {second:.3}");
    assert!(naive >= 4.0, "naive entry: {naive}");
    assert!(
        tiles >= 4.0,
        "tiled 16x16x16 with one output a thread: {tiles}"
    );
    assert!(
        second <= 1.05 && 1.0 / second <= 1.05,
        "second run: {second}"
    );
}

/// Runs one complete search with its own cache, and returns the winner.
fn tuned(seed: u32) -> String {
    let cache = tempfile::tempdir().expect("a temporary directory should be had");
    let mut run = tune(&workspace(), cache.path());
    run.args([
        "run",
        "-k",
        "gemm",
        "--problem",
        PROBLEM,
        "--json",
        "--device",
        "cpu",
    ]);
    run.args(["--budget", "240s", "--trials", "200"])
        .args(["--seed", &seed.to_string()])
        .env("KILN_CPU_THREADS", "1");
    let output = expect_code(&mut run, 0);
    let report: Value = serde_json::from_str(&stdout(&output)).expect("the report should be JSON");
    let winner = &report["tasks"][0]["winner"];
    println!(
        "run {seed}: {} trials, {}",
        report["tasks"][0]["trials"], winner["verdict"]
    );
    winner["config"]
        .as_str()
        .expect("a winner has a config")
        .to_owned()
}

struct Bench {
    stream: Stream,
    spec: Arc<KernelSpec>,
    source: SourceText,
    problem: Problem,
    rig: Rig,
}

impl Bench {
    fn open() -> Bench {
        let kernel = kiln_kernels::catalogue()
            .iter()
            .find(|kernel| kernel.name() == "gemm")
            .expect("gemm is there");
        let spec = Arc::new(kernel.spec().clone());
        let problem = spec.parse_problem(PROBLEM).expect("a declared problem");
        // All arms use one thread, for a fair comparison with the loop, which has no blocks to distribute.
        let options = CpuOptions {
            threads: 1,
            ..CpuOptions::default()
        };
        let device = CpuDevice::with_options(options).expect("the cpu device is always there");
        let stream = Stream::default_of(device);
        let rig =
            Rig::new(&stream, &spec, &problem, 1, Layout::Plain).expect("the data should fit");
        Bench {
            source: SourceText::from_expanded(kernel.source()),
            stream,
            spec,
            problem,
            rig,
        }
    }

    fn tuned(&self, config: &Config) -> (Function, LaunchPlan) {
        let plan = self.spec.plan(config, &self.problem, None).expect("a plan");
        (
            self.function(&self.source, &self.spec, &self.spec.entry, config),
            plan,
        )
    }

    fn naive(&self) -> (Function, LaunchPlan) {
        let plan = self
            .spec
            .baseline_plan(&self.problem, None)
            .expect("a plan");
        let baseline = &self.spec.baseline;
        (
            self.function(&self.source, &self.spec, &baseline.entry, &baseline.config),
            plan,
        )
    }

    fn blocked_loop(&self) -> (Function, LaunchPlan) {
        let mut spec = (*self.spec).clone();
        spec.entry = "blocked".into();
        spec.params.clear();
        let source = SourceText::from_expanded(BLOCKED_LOOP);
        let function = self.function(&source, &spec, "blocked", &Config::default());
        (
            function,
            LaunchPlan {
                grid: [1; 3],
                block: [1; 3],
                shared_bytes: 0,
            },
        )
    }

    fn function(
        &self,
        source: &SourceText,
        spec: &KernelSpec,
        entry: &str,
        config: &Config,
    ) -> Function {
        let scan = SourceScan::new(source).expect("the source should scan");
        let unit = TranslationUnit::new(
            source,
            &scan,
            spec,
            entry,
            config,
            &self.problem,
            Target::Cpu,
        );
        let unit = unit.expect("a unit should be generated");
        let device = self.stream.device();
        let compiler = device.compiler().expect("a compiler is there");
        let artifact = compiler
            .compile(&CompileRequest::new(unit.release.as_str(), unit.text))
            .expect("it should compile");
        let module = device.load(&artifact).expect("it should load");
        module
            .function(unit.release.as_str())
            .expect("the entry should be there")
    }

    /// Times `rounds` rounds of one launch of every arm, in nanoseconds.
    fn times(&self, arms: &[(Function, LaunchPlan)], rounds: usize) -> Vec<Vec<u64>> {
        let time = |(function, plan): &(Function, LaunchPlan)| {
            self.rig.time(function, plan, 1).expect("it should launch")
        };
        arms.iter().for_each(|arm| {
            time(arm);
        });
        (0..rounds)
            .map(|_| arms.iter().map(time).collect())
            .collect()
    }
}

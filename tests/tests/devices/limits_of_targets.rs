//! Kernels at a limit of a target and over it. `tune inspect`, `tune run --compile-only` and the simulated GPUs agree
//! whether each of them can be launched, and with docs/targets.md. Launches on a device apply the same rules
//! (`spec/src/kernel_limits.rs`).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{stdout, tune_alone};
use kiln_tests::plain_package::write_package;
use serde_json::Value;
use tempfile::TempDir;

/// The targets, and the compilers that they need.
const TARGETS: [(&str, Need); 3] = [
    ("sm_86", Need::Nvrtc),
    ("sm_90", Need::Nvrtc),
    ("gfx1151", Need::AmdClang),
];

/// On which of the targets a kernel can be launched.
#[derive(Clone, Copy, Debug)]
struct Launchable {
    sm_86: bool,
    sm_90: bool,
    gfx1151: bool,
}

const EVERYWHERE: Launchable = Launchable {
    sm_86: true,
    sm_90: true,
    gfx1151: true,
};
const NOWHERE: Launchable = Launchable {
    sm_86: false,
    sm_90: false,
    gfx1151: false,
};
const ON_AMD: Launchable = Launchable {
    gfx1151: true,
    ..NOWHERE
};
const ON_NVIDIA: Launchable = Launchable {
    gfx1151: false,
    ..EVERYWHERE
};
const ON_HOPPER: Launchable = Launchable {
    sm_90: true,
    ..NOWHERE
};

impl Launchable {
    fn on(self, target: &str) -> bool {
        match target {
            "sm_86" => self.sm_86,
            "sm_90" => self.sm_90,
            _ => self.gfx1151,
        }
    }
}

/// One kernel: its attributes, its launch, and where it can be launched.
#[derive(Clone, Debug)]
struct Case {
    name: &'static str,
    attributes: &'static str,
    static_bytes: u32,
    dynamic_bytes: u32,
    grid: [u32; 3],
    block: [u32; 3],
    /// Number of scalar parameters of 8 bytes, besides the size and the two buffers (24 bytes).
    scalars: usize,
    launchable: Launchable,
    /// Whether the attributes are of Hopper, so that the kernel is compiled for sm_90 only.
    hopper: bool,
}

impl Case {
    fn new(name: &'static str, launchable: Launchable) -> Case {
        Case {
            name,
            attributes: "",
            static_bytes: 0,
            dynamic_bytes: 0,
            grid: [6, 1, 1],
            block: [128, 1, 1],
            scalars: 0,
            launchable,
            hopper: false,
        }
    }

    fn shared(name: &'static str, bytes: [u32; 2], launchable: Launchable) -> Case {
        let [static_bytes, dynamic_bytes] = bytes;
        Case {
            static_bytes,
            dynamic_bytes,
            ..Case::new(name, launchable)
        }
    }

    fn block(
        name: &'static str,
        attributes: &'static str,
        block: [u32; 3],
        launchable: Launchable,
    ) -> Case {
        Case {
            attributes,
            block,
            ..Case::new(name, launchable)
        }
    }

    /// A kernel with an attribute of Hopper.
    fn hopper(
        name: &'static str,
        attributes: &'static str,
        grid: [u32; 3],
        block: [u32; 3],
        can: bool,
    ) -> Case {
        Case {
            attributes,
            grid,
            block,
            hopper: true,
            ..Case::new(name, if can { ON_HOPPER } else { NOWHERE })
        }
    }

    fn parameters(name: &'static str, bytes: usize, launchable: Launchable) -> Case {
        Case {
            scalars: bytes / 8 - 3,
            ..Case::new(name, launchable)
        }
    }

    /// The scalars, each in the form that `write` gives it.
    fn scalars(&self, write: impl Fn(usize) -> String) -> String {
        (0..self.scalars).map(write).collect()
    }

    fn source(&self) -> String {
        let mut body = String::new();
        if self.static_bytes > 0 {
            let words = self.static_bytes / 4;
            let _ = write!(
                body,
                "    __shared__ float tile[{words}];\n    tile[threadIdx.x] = x[0];\n    \
                 tile[{words} - 1 - threadIdx.x] = x[0];\n    __syncthreads();\n    \
                 if (i < n) y[i] = x[i] + 0.0f * tile[{words} - 1 - (threadIdx.x ^ 32)];\n"
            );
        } else {
            body += "    if (i < n) y[i] = x[i];\n";
        }
        let Case {
            name, attributes, ..
        } = self;
        let scalars = self.scalars(|at| format!("unsigned long long s{at}, "));
        format!(
            "extern \"C\" __global__ void {attributes}\n{name}(unsigned int n, {scalars}const float* __restrict__ x, \
             float* __restrict__ y)\n{{\n    const unsigned int block = blockIdx.x + gridDim.x * blockIdx.y;\n    \
             const unsigned int threads = blockDim.x * blockDim.y * blockDim.z;\n    const unsigned int i = T * block * \
             threads\n        + threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n{body}}}\n"
        )
    }

    fn declaration(&self) -> String {
        let list = |extents: [u32; 3]| extents.map(|extent| extent.to_string()).join(", ");
        let (name, grid, block) = (self.name, list(self.grid), list(self.block));
        let only = if self.hopper { "only(cuda)," } else { "" };
        let scalars = self.scalars(|at| format!("#[value(1)] s{at}: u64, "));
        let elements = self.grid.iter().chain(&self.block).product::<u32>();
        format!(
            "#[kiln::tuned_kernel(\n    source = \"{name}.cu\",\n    params(T in [1]),\n    baseline(T = 1),\n    \
             grid({grid}),\n    block({block}),\n    shared({}),\n    problems((n = {elements})),\n    {only}\n    \
             untuned = allow,\n)]\nunsafe extern \"C\" {{\n    /// y = x\n    pub fn {name}(n: u32, {scalars}#[len(n)] \
             x: &[f32], #[len(n)] y: &mut [f32]);\n}}\n",
            self.dynamic_bytes
        )
    }
}

/// Kernels with static and dynamic shared memory, in bytes.
fn with_shared_memory() -> Vec<Case> {
    const KIB: u32 = 1024;
    [
        ("plain", [0, 0], EVERYWHERE),
        ("static_48k", [48 * KIB, 0], EVERYWHERE),
        ("static_48k_and_4", [48 * KIB + 4, 0], ON_AMD),
        ("static_64k", [64 * KIB, 0], ON_AMD),
        ("static_64k_and_4", [64 * KIB + 4, 0], NOWHERE),
        ("static_99k", [99 * KIB, 0], NOWHERE),
        ("static_99k_and_4", [99 * KIB + 4, 0], NOWHERE),
        ("dynamic_48k", [0, 48 * KIB], EVERYWHERE),
        ("dynamic_48k_and_4", [0, 48 * KIB + 4], EVERYWHERE),
        ("dynamic_64k", [0, 64 * KIB], EVERYWHERE),
        ("dynamic_64k_and_4", [0, 64 * KIB + 4], ON_NVIDIA),
        ("dynamic_99k", [0, 99 * KIB], ON_NVIDIA),
        ("dynamic_99k_and_4", [0, 99 * KIB + 4], ON_HOPPER),
        ("dynamic_227k", [0, 227 * KIB], ON_HOPPER),
        ("both_64k", [32 * KIB, 32 * KIB], EVERYWHERE),
        ("both_64k_and_4", [32 * KIB, 32 * KIB + 4], ON_NVIDIA),
        ("both_99k", [48 * KIB, 51 * KIB], ON_NVIDIA),
        ("both_99k_and_4", [48 * KIB, 51 * KIB + 4], ON_HOPPER),
        ("both_227k", [16 * KIB, 211 * KIB], ON_HOPPER),
        ("both_227k_and_4", [16 * KIB, 211 * KIB + 4], NOWHERE),
    ]
    .map(|(name, bytes, launchable)| Case::shared(name, bytes, launchable))
    .to_vec()
}

/// Kernels with launch bounds and blocks, on all targets.
fn with_bounds() -> Vec<Case> {
    const BOUNDS: [&str; 6] = [
        "",
        "__launch_bounds__(127)",
        "__launch_bounds__(128)",
        "__launch_bounds__(128, 64)",
        "__launch_bounds__(1024)",
        "__launch_bounds__(2048)",
    ];
    [
        ("bounds_127", BOUNDS[1], [128, 1, 1], NOWHERE),
        ("bounds_128", BOUNDS[2], [128, 1, 1], EVERYWHERE),
        ("bounds_of_many_blocks", BOUNDS[3], [128, 1, 1], EVERYWHERE),
        ("bounds_1024", BOUNDS[4], [1024, 1, 1], EVERYWHERE),
        ("bounds_2048", BOUNDS[5], [1024, 1, 1], EVERYWHERE),
        ("threads_32_by_32", BOUNDS[4], [32, 32, 1], EVERYWHERE),
        ("depth_64", BOUNDS[0], [1, 1, 64], EVERYWHERE),
        ("depth_65", BOUNDS[0], [1, 1, 65], ON_AMD),
    ]
    .map(|(name, bounds, block, launchable)| Case::block(name, bounds, block, launchable))
    .to_vec()
}

/// Kernels with required blocks and clusters.
fn of_hopper() -> Vec<Case> {
    const BLOCK: &str = "__block_size__((64, 1, 1))";
    const BLOCK_BY_2: &str = "__block_size__((64, 2, 1))";
    const BLOCK_OF_CLUSTERS: &str = "__block_size__((128, 1, 1), (2, 1, 1))";
    const CLUSTER: &str = "__cluster_dims__(2, 1, 1)";
    const CLUSTER_BY_2: &str = "__cluster_dims__(2, 2, 1)";
    let row = |blocks| [blocks, 1, 1];
    [
        ("block_64", BLOCK, row(6), [64, 1, 1], true),
        ("block_64_of_128", BLOCK, row(6), [128, 1, 1], false),
        ("block_64_by_2", BLOCK_BY_2, row(6), [64, 2, 1], true),
        (
            "block_64_by_2_of_128",
            BLOCK_BY_2,
            row(6),
            [128, 1, 1],
            false,
        ),
        (
            "grid_of_clusters",
            BLOCK_OF_CLUSTERS,
            row(6),
            [128, 1, 1],
            false,
        ),
        ("cluster_2_of_6", CLUSTER, row(6), [128, 1, 1], true),
        ("cluster_2_of_5", CLUSTER, row(5), [128, 1, 1], false),
        ("cluster_2_by_2", CLUSTER_BY_2, [6, 2, 1], [128, 1, 1], true),
        (
            "cluster_2_by_2_of_row",
            CLUSTER_BY_2,
            row(6),
            [128, 1, 1],
            false,
        ),
        (
            "cluster_8",
            "__cluster_dims__(8, 1, 1)",
            row(8),
            [128, 1, 1],
            true,
        ),
        (
            "cluster_16",
            "__cluster_dims__(16, 1, 1)",
            row(16),
            [128, 1, 1],
            false,
        ),
        (
            "cluster_rank",
            "__launch_bounds__(128, 1, 4)",
            row(6),
            [128, 1, 1],
            true,
        ),
    ]
    .map(|(name, attributes, grid, block, can)| Case::hopper(name, attributes, grid, block, can))
    .to_vec()
}

/// Kernels whose parameters have this size in all, in bytes.
fn with_parameters() -> Vec<Case> {
    [
        ("parameters_4096", 4096, EVERYWHERE),
        ("parameters_4104", 4104, EVERYWHERE),
        ("parameters_32768", 32_768, ON_AMD),
    ]
    .map(|(name, bytes, launchable)| Case::parameters(name, bytes, launchable))
    .to_vec()
}

fn cases() -> Vec<Case> {
    [
        with_shared_memory(),
        with_bounds(),
        of_hopper(),
        with_parameters(),
    ]
    .concat()
}

fn package(cases: &[Case]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder should be made");
    let mut library = String::from("//! Kernels at limits of targets.\n");
    let mut files = Vec::new();
    for case in cases {
        library += &case.declaration();
        files.push((format!("src/{}.cu", case.name), case.source()));
    }
    files.push(("src/lib.rs".into(), library));
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (&**path, &**text))
        .collect();
    write_package(folder.path(), "kernels-at-limits", &files);
    folder
}

/// The verdicts of one command: for each kernel, why it cannot be launched, or `None` if it can.
type Verdicts = BTreeMap<String, Option<String>>;

/// Runs a command of `tune` for a target, and returns its JSON.
fn tune(package: &Path, words: &[&str], target: &str) -> Value {
    let mut command = tune_alone(package, &package.join("cache"));
    command.args(words).args(["--target", target, "--json"]);
    let output = command.output().expect("tune should run");
    let text = stdout(&output);
    serde_json::from_str(&text).unwrap_or_else(|error| {
        let errors = String::from_utf8_lossy(&output.stderr);
        panic!("{words:?}: {error}: {text}{errors}")
    })
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// The verdicts of `tune inspect`, with or without `--profile`.
fn inspected(package: &Path, target: &str, more: &[&str]) -> Verdicts {
    let words = [&["inspect", "--baseline"], more].concat();
    let rows = tune(package, &words, target);
    let rows = rows.as_array().expect("it should be a list");
    let verdict = |row: &Value| Some((text(&row["kernel"])?, text(&row["error"])));
    rows.iter().filter_map(verdict).collect()
}

/// The verdicts of `tune run --compile-only`.
fn compiled_only(package: &Path, target: &str) -> Verdicts {
    let report = tune(package, &["run", "--compile-only"], target);
    let tasks = report[0]["tasks"].as_array().expect("it should be a list");
    let verdict = |task: &Value| {
        let example = task["examples"]
            .as_object()
            .and_then(|all| all.values().next());
        let why = [
            &task["error"],
            &task["baseline"],
            example.unwrap_or(&Value::Null),
        ];
        let why = why.into_iter().find_map(text);
        Some((text(&task["kernel"])?, why))
    };
    tasks.iter().filter_map(verdict).collect()
}

#[test]
fn inspect_compile_only_and_simulated_gpus_agree_about_kernels_at_limits_and_over_them() {
    let cases = cases();
    let package = package(&cases);
    for (target, need) in TARGETS {
        if !have(&format!("limits_of_targets ({target})"), &[need]) {
            continue;
        }
        let judges = [
            ("inspect", inspected(package.path(), target, &[])),
            ("compile-only", compiled_only(package.path(), target)),
            ("profile", inspected(package.path(), target, &["--profile"])),
        ];
        let mut wrong = String::new();
        for case in cases
            .iter()
            .filter(|case| !case.hopper || target == "sm_90")
        {
            let can = case.launchable.on(target);
            for (judge, verdicts) in &judges {
                match verdicts.get(case.name) {
                    Some(why) if why.is_none() == can => {}
                    said => {
                        let _ = writeln!(wrong, "{target}, {}, {judge}: {said:?}", case.name);
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    }
}

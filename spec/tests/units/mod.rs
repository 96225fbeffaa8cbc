//! Generates units, and compiles and disassembles them with the compilers of this machine.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use kiln_spec::codegen::{Target, TranslationUnit};
use kiln_spec::expr::Expr;
use kiln_spec::source::{SourceScan, SourceText};
use kiln_spec::{
    Baseline, Config, ElemType, Geometry, KernelSpec, ParamValue, Problem, ProblemValue, Tolerance,
    TunableParam, TypeParam, Work,
};

/// The compilers that are installed on this machine. Prints the missing ones once.
pub fn compilers() -> &'static [&'static str] {
    static FOUND: OnceLock<Vec<&'static str>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let mut found = Vec::new();
        for cxx in ["g++", "clang++-19"] {
            match Command::new(cxx).arg("--version").output() {
                Ok(output) if output.status.success() => found.push(cxx),
                _ => eprintln!("not run with {cxx}: it is not installed"),
            }
        }
        found
    })
}

/// A kernel with one value for each parameter.
pub struct Case {
    /// The name of the entry.
    pub entry: &'static str,
    /// The parameters, each with its name, its value and, for a choice parameter, its choices.
    pub params: Vec<(&'static str, ParamValue, Vec<ParamValue>)>,
    /// The element type that replaces `T`, if the source uses it.
    pub elem: Option<ElemType>,
}

impl Case {
    /// A kernel that has only integer parameters.
    pub fn new(entry: &'static str, params: &[(&'static str, i64)]) -> Case {
        let params = params
            .iter()
            .map(|(name, x)| (*name, ParamValue::Int(*x), vec![ParamValue::Int(*x)]));
        Case {
            entry,
            params: params.collect(),
            elem: None,
        }
    }

    /// The unit of a source that consists of these files. The first file is the `.cu` file.
    pub fn unit(&self, files: &[(&str, &str)]) -> TranslationUnit {
        let mut reader = |name: &str| {
            let file = files.iter().find(|(file, _)| *file == name);
            file.map(|(_, text)| (*text).to_owned())
                .ok_or_else(|| std::io::Error::other("no such file").into())
        };
        let source = SourceText::load(files[0].0, &mut reader).expect("the source should load");
        let scan = SourceScan::new(&source).expect("the source should scan");
        let config = Config::new(
            self.params
                .iter()
                .map(|(name, value, _)| ((*name).into(), value.clone())),
        );
        let problem = Problem::new(self.elem.map(|elem| ("T".into(), ProblemValue::Type(elem))));
        TranslationUnit::new(
            &source,
            &scan,
            &self.spec(),
            self.entry,
            &config,
            &problem,
            Target::Cpu,
        )
        .expect("the unit should generate")
    }

    fn spec(&self) -> KernelSpec {
        let one = || vec![Expr::Int(1)];
        let params = self.params.iter().map(|(name, _, values)| TunableParam {
            name: (*name).into(),
            values: values.clone(),
        });
        KernelSpec {
            name: self.entry.into(),
            source: "kernel.cu".into(),
            entry: self.entry.into(),
            types: self
                .elem
                .iter()
                .map(|elem| TypeParam {
                    name: "T".into(),
                    choices: vec![*elem],
                })
                .collect(),
            params: params.collect(),
            constraints: Vec::new(),
            geometry: Geometry {
                grid: one(),
                block: one(),
                shared_bytes: None,
            },
            baseline: Baseline {
                entry: self.entry.into(),
                config: Config::default(),
                geometry: None,
                constraints: Vec::new(),
            },
            problems: Vec::new(),
            gpu_problems: Vec::new(),
            try_first: Vec::new(),
            only: Vec::new(),
            equal_stores: false,
            unwritten_reads: false,
            verify: Vec::new(),
            work: Work::default(),
            tolerance: Tolerance {
                relative: 0.0,
                absolute: 0.0,
            },
            reference: None,
            inputs: None,
            args: Vec::new(),
        }
    }
}

/// Compiles the text of a unit to a shared object. The processor for which it is compiled is the same on all
/// machines.
pub fn compile(cxx: &str, text: &str) -> Result<PathBuf, String> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("unit-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let (source, object) = (folder.join("unit.cpp"), folder.join("unit.so"));
    std::fs::write(&source, text).map_err(|error| error.to_string())?;
    for (name, text) in Target::Cpu.prelude() {
        let header = folder.join(name);
        std::fs::create_dir_all(header.parent().unwrap_or(&folder))
            .map_err(|error| error.to_string())?;
        std::fs::write(header, text).map_err(|error| error.to_string())?;
    }
    let output = Command::new(cxx)
        .args([
            "-std=c++20",
            "-O3",
            "-march=x86-64-v3",
            "-fPIC",
            "-shared",
            "-fvisibility=hidden",
            "-Wl,-Bsymbolic",
        ])
        .args([
            "-fno-exceptions",
            "-fno-rtti",
            "-fno-math-errno",
            "-fno-trapping-math",
            "-fno-strict-aliasing",
        ])
        .args([
            "-ffp-contract=fast",
            "-Wall",
            "-Wno-sign-compare",
            "-Wno-unknown-pragmas",
            "-Wno-unused",
            "-Wno-pass-failed",
            "-I",
        ])
        .arg(&folder)
        .arg("-o")
        .args([&object, &source])
        .output()
        .map_err(|error| error.to_string())?;
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() && messages.is_empty() {
        Ok(object)
    } else {
        Err(format!("{cxx}: {messages}\n{text}"))
    }
}

/// The standard output of a command that must succeed.
fn output(program: &str, arguments: &[&str], file: &Path) -> String {
    let output = Command::new(program).args(arguments).arg(file).output();
    let output = output.expect("binutils should be installed beside a compiler");
    assert!(
        output.status.success(),
        "{program}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The dynamic symbols that a shared object exports.
pub fn exports(object: &Path) -> Vec<String> {
    let listing = output("nm", &["-D", "--defined-only"], object);
    listing
        .lines()
        .filter_map(|line| line.split_whitespace().last().map(str::to_owned))
        .collect()
}

/// The instructions of each function whose name `wanted` accepts, without addresses. The functions are sorted.
pub fn instructions(object: &Path, wanted: impl Fn(&str) -> bool) -> Vec<Vec<String>> {
    let listing = output(
        "objdump",
        &["-d", "-C", "--no-show-raw-insn", "--no-addresses"],
        object,
    );
    let mut functions: Vec<Vec<String>> = Vec::new();
    let mut inside = false;
    for line in listing.lines() {
        if let Some(name) = line
            .strip_prefix('<')
            .and_then(|line| line.strip_suffix(">:"))
        {
            inside = wanted(name);
            if inside {
                functions.push(Vec::new());
            }
        } else if inside && !line.trim().is_empty() && !is_padding(line) {
            let function = functions.last_mut().expect("a function should be open");
            function.push(without_addresses(line));
        }
    }
    functions.sort();
    functions
}

/// Whether a line is only padding for alignment, or not an instruction.
fn is_padding(line: &str) -> bool {
    let heading = line.starts_with("Disassembly");
    heading || line.contains("nop") || line.split_whitespace().eq(["xchg", "%ax,%ax"])
}

/// The instruction without comments, jump targets, and offsets from the instruction pointer.
fn without_addresses(line: &str) -> String {
    let code = line.split('#').next().unwrap_or_default().trim();
    let words = code
        .split_whitespace()
        .take_while(|word| !word.starts_with('<'));
    let words = words.map(|word| match word.find("(%rip)") {
        Some(at) => {
            let start = word[..at].rfind(|c: char| !c.is_ascii_hexdigit() && c != 'x' && c != '-');
            format!("{}{}", &word[..start.map_or(0, |i| i + 1)], &word[at..])
        }
        None => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

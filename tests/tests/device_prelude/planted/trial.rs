//! Plants a fault, and launches the kernel that shows it.

use std::sync::Arc;

use kiln::artifacts::ArtifactCache;
use kiln::compiler::CompileRequest;
use kiln::device::Schedule;
use kiln::prepare::{self, Prepared};
use kiln::receipt::ExpectedReceipt;
use kiln::recipe::Recipe;
use kiln::rig::{Expected, Layout, Rig, RigError};
use kiln::spec::codegen::{self, TranslationUnit};
use kiln::spec::{Backend, Config, LaunchPlan, Problem, ProblemValue};
use kiln::{Kernel, Stream};

use crate::problems_by_type;

/// A simulated GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    Gfx1151,
    Sm86,
    Sm90,
}

impl Target {
    fn stream(self) -> Stream {
        let name = match self {
            Target::Gfx1151 => "sim:gfx1151",
            Target::Sm86 => "sim:sm_86",
            Target::Sm90 => "sim:sm_90",
        };
        Stream::default_of(kiln::open(name).unwrap())
    }

    fn dialect(self) -> Backend {
        match self {
            Target::Gfx1151 => Backend::Hip,
            Target::Sm86 | Target::Sm90 => Backend::Cuda,
        }
    }

    fn prelude(self) -> &'static [(&'static str, &'static str)] {
        codegen::Target::from(self.dialect()).prelude()
    }
}

/// What a fault changes.
pub(super) enum Plant {
    /// Nothing: there is no fault.
    Nothing,
    /// One place in a header of the prelude.
    Header {
        file: &'static str,
        from: &'static str,
        to: &'static str,
    },
    /// One place in the kernel's source.
    Source {
        from: &'static str,
        to: &'static str,
    },
    /// The geometry of the launch.
    Geometry(fn(&mut LaunchPlan)),
}

/// The headers of a prelude, as pairs of name and text.
pub(super) type Headers = Vec<(String, String)>;

/// The kernel, config and element type that show a fault.
#[derive(Clone, Copy)]
pub(super) struct Subject {
    pub kernel: &'static Kernel,
    /// The config, or the empty text for the baseline.
    pub config: &'static str,
    /// A part of the problem's text, which selects the element type.
    pub types: &'static str,
}

const SEED: u64 = 3;

/// Maximum product of the sizes of a problem for warpgroups.
const MAX_OPERATIONS: i64 = 1 << 23;

/// The orders of threads. There is one launch per order, and every output must be right.
const ORDERS: [Schedule; 4] = [
    Schedule::Forward,
    Schedule::Reversed,
    Schedule::Seeded(1),
    Schedule::Seeded(2),
];

impl Subject {
    /// A text that identifies the subject.
    pub fn text(&self) -> String {
        format!("{} {} {}", self.kernel.name(), self.config, self.types)
    }

    /// The problems with the subject's element type.
    fn problems(&self, target: Target) -> Vec<Problem> {
        let mut groups = problems_by_type(self.kernel).into_iter();
        let group = groups.find(|group| group[0].to_string().contains(self.types));
        let mut group = group.expect("a problem of the type");
        if target == Target::Sm90 {
            // Warpgroups multiply large tiles. One of several blocks is enough to show a fault.
            group.retain(|problem| operations(problem) <= MAX_OPERATIONS);
        }
        group
    }

    fn config(&self) -> Config {
        let spec = self.kernel.spec();
        match self.config {
            "" => spec.baseline.config.clone(),
            text => spec.parse_config(text).unwrap(),
        }
    }

    /// The unit and its headers, with the fault planted.
    ///
    /// # Panics
    /// If an edit does not apply in exactly one place.
    pub fn planted(&self, target: Target, plant: &Plant) -> (TranslationUnit, Headers) {
        let problem = &self.problems(target)[0];
        let (entry, config) = (&self.kernel.spec().entry, self.config());
        let unit = prepare::generate(self.kernel, entry, &config, problem, target.dialect());
        let mut unit = unit.unwrap();
        let headers = planted(self.kernel, &mut unit, target, plant);
        (unit, headers)
    }

    /// Launches the subject on every problem of its type. If all launches pass, returns their number.
    ///
    /// # Errors
    /// The first failure: a fault of a launch, a wrong output or a wrong receipt.
    pub fn run(&self, target: Target, plant: &Plant) -> Result<usize, String> {
        let stream = target.stream();
        let (problems, config) = (self.problems(target), self.config());
        let (unit, headers) = self.planted(target, plant);
        let prepared = compiled(&stream, &unit, headers);
        let mut launches = 0;
        for problem in problems {
            launches += self.launch(&stream, &prepared, &config, &problem, plant)?;
        }
        Ok(launches)
    }

    fn launch(
        &self,
        stream: &Stream,
        prepared: &Prepared,
        config: &Config,
        problem: &Problem,
        plant: &Plant,
    ) -> Result<usize, String> {
        let spec = Arc::new(self.kernel.spec().clone());
        let limits = stream.device().info().limits;
        let intended = spec.plan(config, problem, Some(&limits)).unwrap();
        let mut plan = intended;
        if let Plant::Geometry(change) = plant {
            change(&mut plan);
        }
        let reference = self.kernel.reference().expect("a reference");
        let expected = Expected::by_reference(reference, &spec, problem, SEED).unwrap();
        let rig = Rig::new(stream, &spec, problem, SEED, Layout::Fences).unwrap();
        let wrong = |how: String, error: RigError| format!("{how}, {problem}: {error}");
        for schedule in ORDERS {
            rig.reset()
                .and_then(|()| rig.launch_scheduled(&prepared.release, &plan, schedule))
                .and_then(|()| rig.check(&expected).map(drop))
                .map_err(|error| wrong(schedule.to_string(), error))?;
        }
        let receipt = rig
            .reset()
            .and_then(|()| rig.launch_for_receipt(&prepared.receipt, &plan, SEED))
            .map_err(|error| wrong("receipt entry".into(), error))?;
        rig.check(&expected)
            .map_err(|error| wrong("receipt entry".into(), error))?;
        let expected = ExpectedReceipt {
            nonce: SEED,
            symbol_hash: prepared.symbol_hash,
            config_hash: prepared.config_hash,
            plan: intended,
        };
        receipt
            .check(&expected)
            .map_err(|error| format!("receipt, {problem}: {error}"))?;
        Ok(ORDERS.len() + 1)
    }
}

/// The product of a problem's sizes.
fn operations(problem: &Problem) -> i64 {
    let sizes = problem.iter().filter_map(|(_, value)| match value {
        ProblemValue::Size(size) => Some(size),
        _ => None,
    });
    sizes.product()
}

/// Applies a fault to the unit. Returns the headers with which the unit must be compiled.
fn planted(kernel: &Kernel, unit: &mut TranslationUnit, target: Target, plant: &Plant) -> Headers {
    let own = target.prelude().iter();
    let mut headers: Headers = own
        .map(|(name, text)| ((*name).into(), (*text).into()))
        .collect();
    match *plant {
        Plant::Nothing | Plant::Geometry(_) => {}
        Plant::Header { file, from, to } => {
            let header = headers.iter_mut().find(|(name, _)| name == file);
            let (_, text) = header.unwrap_or_else(|| panic!("{file} should be a header"));
            assert_eq!(text.matches(from).count(), 1, "{file}: {from}");
            *text = text.replace(from, to);
        }
        Plant::Source { from, to } => {
            assert_eq!(
                kernel.source().matches(from).count(),
                1,
                "{}: {from}",
                kernel.name()
            );
            // The release entry and the receipt entry each have the body of the kernel, and share its functions.
            let found = unit.text.matches(from).count();
            assert!(matches!(found, 1 | 2), "{}: {from}: {found}", kernel.name());
            unit.text = unit.text.replace(from, to);
        }
    }
    headers
}

fn compiled(stream: &Stream, unit: &TranslationUnit, headers: Headers) -> Prepared {
    let device = &**stream.device();
    let mut request = CompileRequest::new(unit.release.as_str(), unit.text.as_str());
    request.recipe = Some(Arc::new(Recipe::new(headers, None).unwrap()));
    let compiler = device.compiler().unwrap();
    let artifact = match ArtifactCache::of_user() {
        Some(cache) => cache.compile(compiler, device.info().key.backend, &request),
        None => compiler.compile(&request),
    };
    let artifact = artifact.unwrap_or_else(|error| panic!("{}: {error}", unit.release));
    prepare::load(device, unit, &artifact).unwrap()
}

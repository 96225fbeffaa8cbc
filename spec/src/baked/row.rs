//! A row of a baked table: the config for one problem on one device, with its evidence.

use super::{BakedError, Image};
use crate::config::Config;
use crate::device::{Backend, DeviceKey};
use crate::expr::EvalError;
use crate::hash::{Hash, SourceHash, SpecHash};
use crate::model::{Evidence, KernelSpec};
use crate::plan::{LaunchPlan, LaunchScope, PlanError};
use crate::problem::Problem;
use crate::source::EntryPath;
use crate::text::shorten;

/// How much faster a config is than the baseline: the baseline's time divided by the config's time, in millionths,
/// with a 95 % interval. 1 100 000 is 10 % faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Speedup {
    /// Lower end of the interval.
    pub low_ppm: u64,
    /// The estimated speed-up.
    pub speedup_ppm: u64,
    /// Upper end of the interval.
    pub high_ppm: u64,
}

/// The hashes of the inputs from which a row was made. A row is stale if one of them differs from the current hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hashes {
    /// Hash of the kernel spec.
    pub spec: SpecHash,
    /// Hash of the source with its includes.
    pub source: SourceHash,
    /// Hash of the device prelude.
    pub prelude: Hash,
    /// Hash of the compiler flags that the kernel requests.
    pub flags: Hash,
}

/// Whether a row is fresh (its inputs are unchanged) or stale. A build uses only fresh rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// All inputs are unchanged.
    Fresh,
    /// An input has changed since the row was baked.
    Stale {
        /// Which input changed: `spec`, `source`, `prelude` or `flags`.
        which: &'static str,
        /// The input's hash when the row was baked.
        baked: Hash,
        /// The input's current hash.
        now: Hash,
    },
}

/// A row of a baked table. Problem and config are stored as text, because they may belong to an older spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The device on which the config was tuned.
    pub device: DeviceKey,
    /// The canonical text of the problem.
    pub problem: String,
    /// The `__global__` function to launch: the tuned entry or, if the baseline won, the baseline's entry.
    pub entry: String,
    /// The canonical text of the config.
    pub config: String,
    /// The kind of evidence that supports the config.
    pub evidence: Evidence,
    /// The speed-up over the baseline, for a proven row whose config is not the baseline. Otherwise `None`.
    pub speedup: Option<Speedup>,
    /// The baseline with which the config was compared; see [`KernelSpec::baseline_text`].
    pub baseline: String,
    /// The symbol of the release entry, as compiled for the row's device.
    pub symbol: String,
    /// The launch plan of the config.
    pub plan: LaunchPlan,
    /// The hashes of the row's inputs.
    pub hashes: Hashes,
    /// The precompiled image of the config, if there is one.
    pub image: Option<Image>,
}

/// A row whose texts were parsed with the current spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedRow {
    /// The problem of the row.
    pub problem: Problem,
    /// The config of the row.
    pub config: Config,
    /// Whether the config is the baseline.
    pub is_baseline: bool,
}

impl KernelSpec {
    /// The text `entry:config`, by which rows identify the baseline.
    pub fn baseline_text(&self) -> String {
        format!("{}:{}", self.baseline.entry, self.baseline.config)
    }
}

impl Row {
    /// Whether the row's config is the baseline.
    pub fn is_baseline(&self) -> bool {
        self.baseline
            // Split at the last colon, because an entry in a namespace contains colons and a config does not.
            .rsplit_once(':')
            .is_some_and(|(entry, config)| entry == self.entry && config == self.config)
    }

    /// The command that renews the row, as text for the end of a `help:` line.
    pub fn renewal(&self, kernel: &str) -> String {
        let backend = self.device.backend;
        match self.evidence {
            Evidence::Proven => match backend {
                Backend::Cpu | Backend::Fake => {
                    format!("run `tune run -k {kernel} --device {backend} --write` on that machine")
                }
                Backend::Cuda | Backend::Hip => {
                    format!("run `tune run -k {kernel}` on a machine that has this GPU")
                }
            },
            Evidence::Predicted => format!(
                "run `tune bake -k {kernel} --untuned predicted --target {}`",
                self.device.arch
            ),
            Evidence::Replayed => format!(
                "run `tune replay --space FILE --bake -k {kernel} --target {}` with the recording it came from",
                self.device.arch
            ),
        }
    }

    /// Whether the row's inputs are unchanged.
    pub fn freshness(&self, now: &Hashes) -> Freshness {
        let then = &self.hashes;
        let pairs = [
            ("spec", then.spec.0, now.spec.0),
            ("source", then.source.0, now.source.0),
            ("prelude", then.prelude, now.prelude),
            ("flags", then.flags, now.flags),
        ];
        let changed = pairs.into_iter().find(|(_, baked, now)| baked != now);
        changed.map_or(Freshness::Fresh, |(which, baked, now)| Freshness::Stale {
            which,
            baked,
            now,
        })
    }

    /// Parses the problem and the config of a fresh row, and checks the row against the spec:
    ///
    /// - Both texts must be canonical.
    /// - The baseline and the entry must be those of the spec.
    /// - The config must be in the search space or be the baseline.
    /// - The launch plan must be the one that the spec computes.
    ///
    /// Constraints over `device.*` and launch plans that depend on the device are not checked.
    ///
    /// # Errors
    /// The first difference. Call this only for fresh rows, because a stale row may belong to another spec.
    pub fn resolve(&self, spec: &KernelSpec) -> Result<ResolvedRow, BakedError> {
        let text = |error| BakedError::Text {
            device: self.device.to_string(),
            problem: self.problem.clone(),
            error: Box::new(error),
        };
        let problem = spec.parse_problem(&self.problem).map_err(text)?;
        let config = spec.parse_config(&self.config).map_err(text)?;
        self.same("problem", &self.problem, &problem.to_string())?;
        self.same("config", &self.config, &config.to_string())?;
        self.same("baseline", &self.baseline, &spec.baseline_text())?;
        let is_baseline = self.is_baseline();
        if !is_baseline {
            self.same("entry", &self.entry, &spec.entry)?;
        }
        let valid = if is_baseline {
            spec.check_baseline(&problem, None)
        } else {
            spec.check_config(&config, &problem, None)
        };
        valid.map_err(|why| BakedError::Outside {
            device: self.device.to_string(),
            problem: self.problem.clone(),
            why: Box::new(why),
        })?;
        self.check_plan(spec, &config, &problem, is_baseline)?;
        Ok(ResolvedRow {
            problem,
            config,
            is_baseline,
        })
    }

    /// Checks the launch plan. A plan that depends on the device cannot be computed here and is accepted.
    fn check_plan(
        &self,
        spec: &KernelSpec,
        config: &Config,
        problem: &Problem,
        is_baseline: bool,
    ) -> Result<(), BakedError> {
        let scope = LaunchScope {
            config,
            problem,
            limits: None,
            spec,
        };
        let geometry = if is_baseline {
            spec.baseline_geometry()
        } else {
            &spec.geometry
        };
        match geometry.plan(&scope) {
            Ok(plan) => self.same("plan", &self.plan.to_string(), &plan.to_string()),
            Err(PlanError::Eval {
                error: EvalError::UnknownDevice(_),
                ..
            }) => Ok(()),
            Err(why) => Err(BakedError::Outside {
                device: self.device.to_string(),
                problem: self.problem.clone(),
                why: Box::new(why.into()),
            }),
        }
    }

    fn same(&self, key: &'static str, found: &str, expected: &str) -> Result<(), BakedError> {
        if found == expected {
            return Ok(());
        }
        Err(BakedError::Differs {
            device: self.device.to_string(),
            problem: self.problem.clone(),
            key,
            found: shorten(found),
            expected: expected.into(),
        })
    }

    /// Checks that every field can be written to a table and read back unchanged.
    ///
    /// # Errors
    /// The first field that cannot be written and read back. The message contains `line`.
    pub(super) fn check(&self, line: usize) -> Result<(), BakedError> {
        match self.wrong_text() {
            Some((key, token, expected)) => Err(BakedError::Value {
                line,
                key,
                token: shorten(&token),
                expected,
            }),
            None => self
                .check_speedup()
                .map_err(|message| BakedError::Speedup { line, message }),
        }
    }

    /// The first field whose text a table cannot contain: its key, its text, and a description of the texts that are
    /// allowed.
    fn wrong_text(&self) -> Option<(&'static str, String, &'static str)> {
        let device = self.device.to_string();
        let is_device = is_plain(&device) && device.parse().ok().as_ref() == Some(&self.device);
        let image = self.image.as_ref();
        let extents = || self.plan.grid.iter().chain(&self.plan.block);
        let canonical = "canonical text";
        let identifier = "a C identifier";
        [
            (
                is_device,
                "device",
                &device,
                "a printable `backend/arch/name`",
            ),
            (
                is_canonical(&self.problem),
                "problem",
                &self.problem,
                canonical,
            ),
            (
                is_canonical(&self.config),
                "config",
                &self.config,
                canonical,
            ),
            (
                is_baseline(&self.baseline),
                "baseline",
                &self.baseline,
                "`entry:config`",
            ),
            (
                EntryPath::parse(&self.entry).is_some(),
                "entry",
                &self.entry,
                "the name of a kernel",
            ),
            (is_symbol(&self.symbol), "symbol", &self.symbol, identifier),
            (
                extents().all(|n| *n > 0),
                "grid",
                &self.plan.to_string(),
                "a plan without zeros",
            ),
        ]
        .into_iter()
        .chain(image.map(|i| (is_file_name(&i.file), "image", &i.file, "a plain file name")))
        .chain(image.map(|i| {
            (
                is_canonical(&i.target),
                "image",
                &i.target,
                "the name of a target",
            )
        }))
        .find(|(right, ..)| !right)
        .map(|(_, key, text, expected)| (key, text.clone(), expected))
    }

    fn check_speedup(&self) -> Result<(), &'static str> {
        match (self.evidence, self.is_baseline(), &self.speedup) {
            (Evidence::Proven, false, None) => Err("a proven row without `speedup_ppm`"),
            (Evidence::Proven, true, Some(_)) => Err("`speedup_ppm` of the baseline over itself"),
            (Evidence::Replayed | Evidence::Predicted, _, Some(_)) => {
                Err("`speedup_ppm` in a row that is not proven")
            }
            (_, _, Some(speedup)) => {
                let Speedup {
                    low_ppm,
                    speedup_ppm,
                    high_ppm,
                } = *speedup;
                if low_ppm > speedup_ppm || speedup_ppm > high_ppm {
                    Err("`speedup_ppm` is not [low, estimate, high]")
                } else if low_ppm <= 1_000_000 {
                    Err("a proven row whose interval reaches 1: nothing is proven")
                } else if high_ppm > 1_000_000_000_000 {
                    Err("a speed-up beyond a million")
                } else {
                    Ok(())
                }
            }
            (_, _, None) => Ok(()),
        }
    }
}

/// Whether a text is printable, has no characters that change how text is displayed, and has at most 256 bytes.
pub(super) fn is_plain(text: &str) -> bool {
    let odd = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    text.len() <= 256 && !text.chars().any(odd)
}

/// Whether a text has only characters that a config, a problem or a target may have.
fn is_canonical(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"_=,:.-".contains(&b);
    text.len() <= 4096 && text.bytes().all(allowed)
}

/// Whether a text is `entry:config`. The entry may be an instance of a template in a namespace, for example
/// `rows::normalise<T, WARPS>`. The canonical text of a config has no colon.
fn is_baseline(text: &str) -> bool {
    let parts = text.rsplit_once(':');
    parts.is_some_and(|(entry, config)| EntryPath::parse(entry).is_some() && is_canonical(config))
}

/// Whether a text is a C identifier (`[A-Za-z_][A-Za-z0-9_]*`) with at most 255 bytes.
pub(super) fn is_symbol(text: &str) -> bool {
    let first = text.bytes().next();
    first.is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && text.len() <= 255
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Whether a text is a file name without folders: letters, digits, `_`, `-` and dots, and no dot at the start.
pub(super) fn is_file_name(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"_-.".contains(&b);
    !text.is_empty() && text.len() <= 255 && !text.starts_with('.') && text.bytes().all(allowed)
}

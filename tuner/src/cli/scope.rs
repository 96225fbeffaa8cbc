//! Arguments that several commands share: package, device, regime and output format.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use kiln_lab::regime::Regime;
use kiln_project::PackageSelection;

/// The package and its kernels.
#[derive(Clone, Debug, Default, Args)]
pub struct PackageArgs {
    /// Cargo.toml of the package or workspace with the kernels
    #[arg(long, value_name = "PATH", global = true)]
    pub manifest_path: Option<PathBuf>,
    /// Output of `cargo metadata --no-deps --format-version 1`, for machines without cargo; the file must be in the
    /// workspace's root
    #[arg(long, value_name = "FILE", conflicts_with = "manifest_path")]
    pub cargo_metadata: Option<PathBuf>,
    /// Only this package of the workspace
    #[arg(long, short, value_name = "NAME")]
    pub package: Option<String>,
    /// Only these kernels: names separated by commas, or the option repeated
    #[arg(
        long = "kernel",
        short = 'k',
        value_name = "NAMES",
        value_delimiter = ','
    )]
    pub kernels: Vec<String>,
    /// Cargo features to treat as enabled when reading sources
    #[arg(long, value_name = "FEATURES", value_delimiter = ',')]
    pub features: Vec<String>,
}

impl PackageArgs {
    /// The kernels that these arguments select.
    pub fn selection(&self) -> PackageSelection {
        PackageSelection {
            manifest_path: self.manifest_path.clone(),
            cargo_metadata: self.cargo_metadata.clone(),
            package: self.package.clone(),
            kernels: self.kernels.clone(),
            features: self.features.clone(),
        }
    }
}

/// The output format.
#[derive(Clone, Debug, Default, Args)]
pub struct OutputArgs {
    /// Print one JSON object on standard output instead of tables
    #[arg(long)]
    pub json: bool,
}

/// The output format of long-running commands, which can print results one by one.
#[derive(Clone, Debug, Default, Args)]
pub struct LinesArgs {
    /// Print one JSON object per line on standard output, as soon as each result is known
    #[arg(long, conflicts_with = "json")]
    pub json_lines: bool,
}

/// The device.
#[derive(Clone, Debug, Default, Args)]
pub struct DeviceArgs {
    /// The device: `cpu`, `cuda:0`, `hip:0`, … (default: the first GPU, else cpu)
    #[arg(long, short, value_name = "DEVICE")]
    pub device: Option<String>,
}

/// What the caches contain when a timed launch begins.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct RegimeArgs {
    /// Time with a cold or a hot last-level cache; results are stored separately
    /// [default: cold on a GPU, hot on the cpu]
    #[arg(long, value_parser = regimes())]
    pub regime: Option<Regime>,
}

/// The default strategy of a search.
pub const DEFAULT_STRATEGY: &str = "auto";
/// The default seed of a search.
pub const DEFAULT_SEED: u64 = 1;

/// The problems and the settings of a search.
#[derive(Clone, Debug, Default, Args)]
pub struct SearchArgs {
    /// Only these problems, as `tune list` prints them: `n=100`, several as `n=100,n=200`, or the option repeated
    #[arg(long = "problem", value_name = "SIZES")]
    pub problems: Vec<String>,
    /// Maximum number of configs to try per kernel and problem [default: 200]
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true)]
    pub trials: Option<String>,
    /// Search strategy: auto, differential-evolution, exhaustive, genetic, latin-hypercube, particle-swarm, random
    #[arg(long, value_name = "NAME", default_value = DEFAULT_STRATEGY)]
    pub strategy: String,
    /// Seed of all random choices
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = DEFAULT_SEED,
        allow_negative_numbers = true
    )]
    pub seed: u64,
}

/// Parses `--regime`.
fn regimes() -> impl TypedValueParser<Value = Regime> {
    let known = Regime::ALL.map(|regime| PossibleValue::new(regime.name()).help(regime.meaning()));
    PossibleValuesParser::new(known).try_map(|name| Regime::named(&name).ok_or("no such regime"))
}

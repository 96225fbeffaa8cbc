//! The compiler of the fake device. The image of a translation unit is the unit's own text, unless the script
//! specifies another outcome.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kiln_spec::{Backend, ElemType};

use super::script::{CompileOutcome, Script};
use crate::compiler::{
    Artifact, BuildKind, CompileError, CompileRequest, Compiler, CompilerIdentity,
};
use crate::device::DeviceError;

const IMAGE_MAGIC: &str = "kiln fake image 1\n";

/// The compiler of one fake device.
#[derive(Debug)]
pub(super) struct FakeCompiler {
    script: Arc<Script>,
    identity: CompilerIdentity,
}

impl FakeCompiler {
    pub(super) fn new(script: Arc<Script>) -> FakeCompiler {
        FakeCompiler {
            script,
            identity: CompilerIdentity {
                name: "fake".into(),
                version: env!("CARGO_PKG_VERSION").into(),
                build: "fake".into(),
            },
        }
    }
}

impl Compiler for FakeCompiler {
    fn identity(&self) -> &CompilerIdentity {
        &self.identity
    }

    fn flags(&self, build: BuildKind) -> Vec<String> {
        match build {
            BuildKind::Release => Vec::new(),
            BuildKind::Check => vec!["--check".into()],
            BuildKind::Sanitize => vec!["--sanitize".into()],
        }
    }

    fn target_arch(&self) -> &str {
        &self.script.arch
    }

    fn artifacts_are_kept(&self) -> bool {
        false
    }

    fn compile(&self, request: &CompileRequest) -> Result<Artifact, CompileError> {
        let failed = |log: String| CompileError::Failed {
            name: request.name.clone(),
            options: self.flags(request.build),
            log,
        };
        let unit = FakeUnit::parse(&request.source)
            .ok_or_else(|| failed("error: this is not a unit that Kiln generated".into()))?;
        match self.script.compile_outcome(&unit) {
            CompileOutcome::Works => {}
            CompileOutcome::Fails(log) => return Err(failed(log)),
            CompileOutcome::SlowMs(ms) => std::thread::sleep(Duration::from_millis(ms)),
            CompileOutcome::Endless => {
                std::thread::sleep(request.limits.deadline);
                return Err(CompileError::TimedOut {
                    name: request.name.clone(),
                    options: self.flags(request.build),
                    deadline: request.limits.deadline,
                    log: String::new(),
                });
            }
            CompileOutcome::MemoryBomb => {
                return Err(CompileError::OutOfMemory {
                    name: request.name.clone(),
                    options: self.flags(request.build),
                    memory_bytes: request.limits.memory_bytes,
                    log: String::new(),
                });
            }
        }
        let image = format!("{IMAGE_MAGIC}{}", request.source);
        Ok(Artifact::new(
            Backend::Fake,
            &self.script.arch,
            request.build,
            image.into_bytes(),
            String::new(),
        ))
    }
}

/// What the text of a generated translation unit states about its entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FakeUnit {
    pub(super) entry: String,
    pub(super) config: BTreeMap<String, String>,
    pub(super) release: String,
    pub(super) symbol_hash: u64,
    pub(super) config_hash: u64,
    defines: BTreeMap<String, String>,
    /// The C type of each typedef.
    types: BTreeMap<String, String>,
}

impl FakeUnit {
    /// Parses the title line, the defines and the statement that signs the receipt. `None` if one of them is missing.
    pub(super) fn parse(source: &str) -> Option<FakeUnit> {
        let title = source.lines().next()?.strip_prefix("// entry ")?;
        let (entry, rest) = title.split_once(", config ")?;
        let (config, release) = rest.rsplit_once(", ")?;
        let (_, signing) = source.split_once("KILN_SIGN_RECEIPT(kiln_r, 0x")?;
        let (symbol_hash, rest) = signing.split_once("ull, 0x")?;
        let (config_hash, _) = rest.split_once("ull)")?;
        Some(FakeUnit {
            entry: entry.into(),
            config: pairs(config.split(','), '='),
            release: release.into(),
            symbol_hash: u64::from_str_radix(symbol_hash, 16).ok()?,
            config_hash: u64::from_str_radix(config_hash, 16).ok()?,
            defines: pairs(
                source
                    .lines()
                    .filter_map(|line| line.strip_prefix("#define ")),
                ' ',
            ),
            types: source
                .lines()
                .filter_map(|line| line.strip_prefix("typedef ")?.strip_suffix(';'))
                .filter_map(|line| line.rsplit_once(' '))
                .map(|(ty, name)| (name.to_owned(), ty.to_owned()))
                .collect(),
        })
    }

    /// Parses the translation unit in an artifact.
    pub(super) fn of_artifact(artifact: &Artifact) -> Result<FakeUnit, DeviceError> {
        let text = std::str::from_utf8(&artifact.image).ok();
        text.and_then(|text| text.strip_prefix(IMAGE_MAGIC))
            .and_then(FakeUnit::parse)
            .ok_or_else(|| DeviceError::Load {
                text: "the image was not made by the fake compiler".into(),
            })
    }

    /// The element type that the unit's defines assign to a type parameter; `None` if they do not.
    pub(super) fn elem_type(&self, name: &str) -> Option<ElemType> {
        let typedef = self.defines.get(name)?;
        let c_name = self.types.get(typedef)?;
        ElemType::ALL
            .iter()
            .copied()
            .find(|ty| ty.c_name() == c_name)
    }
}

fn pairs<'a>(texts: impl Iterator<Item = &'a str>, between: char) -> BTreeMap<String, String> {
    texts
        .filter_map(|text| text.split_once(between))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

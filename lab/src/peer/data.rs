//! Writes a kernel's data into files for a peer, and compares the peer's outputs with the expected outputs. A peer is
//! another program that computes the same result as the kernel.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use kiln::compare::{WorstElement, compare_output};
use kiln::reference::{DataError, make_data};
use kiln::rig::Expected;
use kiln_spec::{Access, ArgSpec, ElemType, KernelSpec, Problem, ProblemValue, ScalarValue};
use serde_json::Value;
use tempfile::TempDir;
use thiserror::Error;

use super::protocol::{Argument, PeerWork};

/// The error of a peer may be this many times the kernel's tolerance, because the peer rounds in other places.
const SLACK: f64 = 2.0;

/// Why a kernel's data cannot be written for a peer.
#[derive(Debug, Error)]
pub enum GivenError {
    /// The folder for the data cannot be created.
    #[error("cannot make a folder: {0}")]
    Folder(io::Error),
    /// The data cannot be generated.
    #[error(transparent)]
    Data(#[from] DataError),
    /// An argument is a struct or an array by value, which the peer protocol does not support.
    #[error("`{name}` is a struct or an array by value, which the protocol of peers does not have")]
    ByValue {
        /// The name of the argument.
        name: String,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {error}", .file.display())]
    File {
        /// The path of the file.
        file: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
}

/// Why an output that a peer wrote is wrong.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The peer did not write the file.
    #[error("it wrote no `{name}`: {error}")]
    Missing {
        /// The name of the argument.
        name: String,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The file has the wrong length.
    #[error("its `{name}` has {bytes} bytes, not {wanted}")]
    Length {
        /// The name of the argument.
        name: String,
        /// The actual length in bytes.
        bytes: usize,
        /// The expected length in bytes.
        wanted: usize,
    },
    /// The error of an element exceeds twice the kernel's tolerance.
    #[error("its outputs are not those of the kernel: {0}")]
    Wrong(WorstElement),
}

/// A kernel and a problem, with their data in files, for peers.
#[derive(Debug)]
pub struct Given {
    work: PeerWork,
    outputs: BTreeMap<String, PathBuf>,
    /// The folder of the files, which is removed on drop.
    _folder: TempDir,
}

impl Given {
    /// Writes the inputs of the kernel's timed launches into a new folder inside `folder`.
    ///
    /// # Errors
    /// If the data cannot be generated or written.
    pub fn write(
        spec: &KernelSpec,
        problem: &Problem,
        seed: u64,
        folder: &Path,
    ) -> Result<Given, GivenError> {
        // Each peer gets a new folder, so it cannot find the files of another peer.
        let folder = tempfile::Builder::new().prefix("peer-").tempdir_in(folder);
        let folder = folder.map_err(GivenError::Folder)?;
        let data = make_data(spec, problem, seed)?;
        let (mut args, mut outputs) = (Vec::new(), BTreeMap::new());
        for (arg, data) in spec.args.iter().zip(&data) {
            let slice = match arg {
                ArgSpec::Slice(slice) => slice,
                ArgSpec::Plain(plain) => {
                    return Err(GivenError::ByValue {
                        name: plain.name.clone(),
                    });
                }
                ArgSpec::Typed(typed) => {
                    args.push(Argument::Scalar {
                        name: typed.name.clone(),
                        value: number(typed.value),
                    });
                    continue;
                }
                // Peers have no configs, so arguments that are computed from a config are skipped.
                ArgSpec::Scalar(_) if arg.computed().is_some() => continue,
                ArgSpec::Scalar(scalar) => {
                    let size = problem.size(&scalar.name).map(ScalarValue::Int);
                    args.push(Argument::Scalar {
                        name: scalar.name.clone(),
                        value: size.or(scalar.value).map_or(Value::Null, number),
                    });
                    continue;
                }
            };
            let file = folder.path().join(&slice.name);
            if let Err(error) = std::fs::write(&file, data.bytes()) {
                return Err(GivenError::File { file, error });
            }
            if slice.access != Access::In {
                let written = folder.path().join(format!("{}-written", slice.name));
                outputs.insert(slice.name.clone(), written);
            }
            let ty = spec.elem_type(slice, problem).unwrap_or(ElemType::F32);
            args.push(Argument::Slice {
                name: slice.name.clone(),
                ty: ty.name().to_owned(),
                access: access(slice.access),
                len: (data.bytes().len() / ty.bytes()) as u64,
                file,
            });
        }
        let value = |value: ProblemValue| match value {
            ProblemValue::Size(size) => Value::from(size),
            ProblemValue::Type(ty) => Value::from(ty.name()),
        };
        let problem = problem
            .iter()
            .map(|(name, is)| (name.to_string(), value(is)));
        let work = PeerWork {
            kernel: spec.name.clone(),
            problem: problem.collect(),
            args,
        };
        Ok(Given {
            work,
            outputs,
            _folder: folder,
        })
    }

    pub(super) fn work(&self) -> &PeerWork {
        &self.work
    }

    pub(super) fn outputs(&self) -> &BTreeMap<String, PathBuf> {
        &self.outputs
    }

    /// Removes the outputs of a peer, so any output that exists afterwards is new.
    pub(super) fn forget_outputs(&self) {
        for path in self.outputs.values() {
            // If the file does not exist, nothing has to be removed.
            let _ = std::fs::remove_file(path);
        }
    }

    /// Compares the outputs of a peer with the expected outputs.
    ///
    /// # Errors
    /// If an output is missing, has the wrong length, or differs from the expected output by more than twice the
    /// kernel's tolerance. The error describes the first such output.
    pub fn compare(&self, spec: &KernelSpec, expected: &Expected) -> Result<(), OutputError> {
        for (place, arg) in spec.args.iter().enumerate() {
            let ArgSpec::Slice(slice) = arg else { continue };
            let (Some(path), Some(want)) = (self.outputs.get(&slice.name), expected.output(place))
            else {
                continue;
            };
            let got = std::fs::read(path).map_err(|error| OutputError::Missing {
                name: slice.name.clone(),
                error,
            })?;
            let (bytes, wanted) = (got.len(), want.len() * want.elem_type().bytes());
            if bytes != wanted {
                return Err(OutputError::Length {
                    name: slice.name.clone(),
                    bytes,
                    wanted,
                });
            }
            let worst = compare_output(spec, slice, &got, want);
            let worst = worst
                .map(|worst| worst.loosened(SLACK * expected.slack(&spec.tolerance_of(slice))));
            if let Some(worst) = worst.filter(|worst| !worst.passes()) {
                return Err(OutputError::Wrong(worst));
            }
        }
        Ok(())
    }
}

fn number(value: ScalarValue) -> Value {
    match value {
        ScalarValue::Int(value) => value.into(),
        ScalarValue::Float(value) => value.into(),
    }
}

fn access(access: Access) -> &'static str {
    match access {
        Access::In => "in",
        Access::Out => "out",
        Access::InOut => "inout",
    }
}

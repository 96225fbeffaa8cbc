//! The server's side of a compile server: answers compile requests with an open compiler.

use std::time::Duration;

use kiln::compile_only::library_compiler;
use kiln::compiler::{CompileError, CompileLimits, CompileRequest, Compiler};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::job::{CompileJob, CompilerJob, FIRST, JobOutcome, SentRecipe};
use crate::worker::protocol::PROTOCOL;

/// An open compiler that answers compile requests.
#[derive(Debug)]
pub(in crate::worker) struct CompileServer(Box<dyn Compiler>);

impl CompileServer {
    /// Opens the compiler that a job describes, and compiles a first source with it.
    ///
    /// # Errors
    /// If the library cannot be loaded or does not compile the first source, or if the protocol or the identity of the
    /// compiler differs from the parent's.
    pub fn open(job: &CompilerJob) -> Result<CompileServer, CompileError> {
        let differs = |text: String| CompileError::io("opening a compiler", text);
        if job.protocol != PROTOCOL {
            let asked = job.protocol;
            return Err(differs(format!(
                "protocol {asked} was requested, but this worker speaks protocol {PROTOCOL}"
            )));
        }
        let compiler = library_compiler(&job.library, &job.arch)?;
        let identity = compiler.identity().to_string();
        if identity != job.identity {
            let library = job.library.display();
            return Err(differs(format!(
                "{library} is {identity}, but {} was expected",
                job.identity
            )));
        }
        compiler.compile(&CompileRequest::new("kiln_first", FIRST))?;
        Ok(CompileServer(compiler))
    }

    /// Compiles a source within the memory limit of the job.
    pub fn compile(&self, job: CompileJob) -> JobOutcome {
        let mut request = CompileRequest::new(&job.name, job.source);
        request.options = job.options;
        request.limits = CompileLimits {
            // The parent enforces the time limit, so the server has none.
            deadline: Duration::MAX,
            memory_bytes: job.memory_bytes,
            until: None,
        };
        let limited = limit_address_space(job.memory_bytes);
        let compiled = limited
            .map_err(|error| CompileError::io("setting a limit", error))
            .and_then(|()| {
                request.recipe = job.recipe.map(SentRecipe::into_recipe).transpose()?;
                self.0.compile(&request)
            });
        match compiled {
            Ok(artifact) => JobOutcome::Done {
                image: artifact.image.to_vec(),
                log: artifact.log,
            },
            Err(error) => JobOutcome::Refused(error.into()),
        }
    }
}

/// Limits the address space of this process. Only the soft limit changes, so the next compile can raise it again.
fn limit_address_space(bytes: u64) -> rustix::io::Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::As);
    let current = match (bytes, maximum) {
        (0, most) => most,
        (bytes, Some(most)) => Some(bytes.min(most)),
        (bytes, None) => Some(bytes),
    };
    setrlimit(Resource::As, Rlimit { current, maximum })
}

//! The parent's side of compile servers: a compiler that runs its compiles in other processes.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use kiln::compile_only::backend_of;
use kiln::compiler::{
    Artifact, BuildKind, CompileError, CompileRequest, Compiler, CompilerIdentity, is_of_a_crash,
};
use kiln_spec::Backend;

use super::job::{CompileJob, CompilerJob, FIRST, JobOutcome, SentRecipe};
use crate::worker::client::{Worker, WorkerError, WorkerLimits};
use crate::worker::protocol::{PROTOCOL, Reply, Request};

/// Maximum time for a server to load its library and unpack the vendor's headers.
const OPENING: Duration = Duration::from_secs(60);

/// A compiler library that runs in separate processes.
pub struct ProcessCompiler {
    job: CompilerJob,
    backend: Backend,
    identity: CompilerIdentity,
    flags: Vec<String>,
    header_folders: Vec<PathBuf>,
    worker: WorkerLimits,
    /// Idle servers, which wait for requests.
    idle: Mutex<Vec<Worker>>,
}

impl ProcessCompiler {
    /// Wraps a compiler. Returns `None` if the compiler already runs in its own processes.
    pub fn around(compiler: &dyn Compiler, worker: &WorkerLimits) -> Option<ProcessCompiler> {
        let library = compiler.library()?.to_owned();
        let backend = backend_of(compiler.target_arch())?;
        let identity = compiler.identity().clone();
        Some(ProcessCompiler {
            job: CompilerJob {
                protocol: PROTOCOL,
                library,
                arch: compiler.target_arch().into(),
                identity: identity.to_string(),
            },
            backend,
            identity,
            flags: compiler.flags(BuildKind::Release),
            header_folders: compiler.header_folders(),
            worker: worker.clone(),
            idle: Mutex::default(),
        })
    }

    /// The number of idle servers. While nothing is being compiled, this is the largest number of compiles that have
    /// run at the same time, minus the number of servers that were lost.
    pub fn idle_servers(&self) -> usize {
        self.idle().len()
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self) -> Result<Worker, CompileError> {
        let failed = |error: WorkerError| CompileError::io("starting a compile server", error);
        let mut server = Worker::spawn(&self.worker).map_err(failed)?;
        let open = Request::OpenCompiler(self.job.clone());
        match server.ask(&open, OPENING).map_err(failed)? {
            Reply::CompilerOpened(None) => Ok(server),
            Reply::CompilerOpened(Some(refused)) => {
                Err(refused.into_error(&CompileRequest::new("kiln_first", FIRST)))
            }
            _ => Err(CompileError::io("starting a compile server", OUT_OF_TURN)),
        }
    }

    /// Compiles on a server. A server that survives becomes idle again.
    fn on(&self, mut server: Worker, request: &CompileRequest) -> Result<JobOutcome, WorkerError> {
        let job = CompileJob {
            source: request.source.clone(),
            name: request.name.clone(),
            options: request.options.clone(),
            recipe: request.recipe.as_deref().map(SentRecipe::of),
            memory_bytes: request.limits.memory_bytes,
        };
        server.end_by(request.limits.until);
        match server.ask(&Request::Compile(job), request.limits.deadline)? {
            Reply::Compiled(compiled) => {
                self.idle().push(server);
                Ok(compiled)
            }
            _ => Err(WorkerError::Spawn(OUT_OF_TURN.into())),
        }
    }

    /// The error of a compile whose server was lost.
    fn lost(&self, request: &CompileRequest, error: WorkerError) -> CompileError {
        let (name, options) = (request.name.clone(), self.flags.clone());
        match error {
            WorkerError::TimedOut(_) | WorkerError::OutOfTime => CompileError::TimedOut {
                name,
                options,
                deadline: request.limits.deadline,
                log: String::new(),
            },
            WorkerError::Lost { stderr, .. } if ran_out_of_memory(&stderr) => {
                CompileError::OutOfMemory {
                    name,
                    options,
                    memory_bytes: request.limits.memory_bytes,
                    log: stderr,
                }
            }
            WorkerError::Lost {
                how,
                signal,
                stderr,
            } => CompileError::Lost {
                name,
                options,
                how: format!("its process ended by {how}"),
                crashed: signal.is_none_or(is_of_a_crash),
                log: stderr,
            },
            other => CompileError::io("compiling in another process", other),
        }
    }
}

const OUT_OF_TURN: &str = "it answered something else";

/// Recognises the messages that the C++ library and allocators print when memory runs out.
fn ran_out_of_memory(said: &str) -> bool {
    [
        "bad_alloc",
        "out of memory",
        "memory allocation of",
        "Cannot allocate memory",
    ]
    .iter()
    .any(|words| said.contains(words))
}

impl Compiler for ProcessCompiler {
    fn identity(&self) -> &CompilerIdentity {
        &self.identity
    }

    fn flags(&self, _: BuildKind) -> Vec<String> {
        self.flags.clone()
    }

    fn target_arch(&self) -> &str {
        &self.job.arch
    }

    fn header_folders(&self) -> Vec<PathBuf> {
        self.header_folders.clone()
    }

    fn compile(&self, request: &CompileRequest) -> Result<Artifact, CompileError> {
        if request.build != BuildKind::Release {
            return Err(CompileError::Unsupported {
                what: format!("a build for checking, for {}", self.job.arch),
                help: "check on the cpu device".into(),
            });
        }
        let kept = self.idle().pop();
        let answered = match kept.map(|server| self.on(server, request)) {
            // The idle server may have been killed before this request, so the compile is retried on a fresh server.
            None | Some(Err(WorkerError::Lost { .. })) => self.on(self.start()?, request),
            Some(answered) => answered,
        };
        match answered.map_err(|error| self.lost(request, error))? {
            JobOutcome::Done { image, log } => Ok(Artifact::new(
                self.backend,
                &self.job.arch,
                request.build,
                image,
                log,
            )),
            JobOutcome::Refused(refused) => Err(refused.into_error(request)),
        }
    }
}

impl fmt::Debug for ProcessCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessCompiler")
            .field("identity", &self.identity)
            .field("arch", &self.job.arch)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_allocator_says_at_the_end_is_known() {
        assert!(ran_out_of_memory(
            "terminate called after throwing an instance of 'std::bad_alloc'"
        ));
        assert!(ran_out_of_memory("memory allocation of 4096 bytes failed"));
        assert!(!ran_out_of_memory("Segmentation fault"));
    }
}

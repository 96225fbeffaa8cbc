//! Compiling in processes of their own: for compilers that are libraries, which no limit can interrupt.
//!
//! A compile server is the same program as a worker. It opens one compiler and answers one compile after the other; there
//! are as many as threads that compile at once, and they are kept. A compile that exceeds its time or memory, or crashes
//! the library, costs its server, which is replaced.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kiln::compile_only::{backend_of, library_compiler};
use kiln::compiler::{
    Artifact, BuildKind, CompileError, CompileLimits, CompileRequest, Compiler, CompilerIdentity,
    is_of_a_crash,
};
use kiln::recipe::Recipe;
use kiln_spec::Backend;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::client::{Worker, WorkerError, WorkerLimits};
use super::protocol::{PROTOCOL, Reply, Request};

/// How long a server may take to load its library and to have the vendor's headers unpacked.
const OPENING: Duration = Duration::from_secs(60);

/// What a server compiles first, so that loading and unpacking are behind it when it is asked for anything.
const FIRST: &str = "extern \"C\" __attribute__((global)) void kiln_first() {}\n";

/// The compiler that a server opens.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CompilerJob {
    /// The protocol's version.
    pub protocol: u32,
    /// Its library.
    pub library: PathBuf,
    /// The target that it compiles for.
    pub arch: String,
    /// What it calls itself in the parent: another library of that path is refused.
    pub identity: String,
}

/// One compile.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CompileJob {
    /// The source text.
    pub source: String,
    /// A name for messages.
    pub name: String,
    /// Options behind the compiler's own.
    pub options: Vec<String>,
    /// Headers and flags in place of the compiler's own.
    #[serde(default)]
    pub recipe: Option<SentRecipe>,
    /// Address space of the server, in bytes; 0 for any.
    pub memory_bytes: u64,
}

/// A [`Recipe`] on its way through a pipe.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SentRecipe {
    flags: Option<Vec<String>>,
    headers: Vec<(String, String)>,
}

impl SentRecipe {
    fn of(recipe: &Recipe) -> SentRecipe {
        SentRecipe {
            flags: recipe.flags.clone(),
            headers: recipe.headers().to_vec(),
        }
    }

    fn into_recipe(self) -> Result<Arc<Recipe>, CompileError> {
        let recipe = Recipe::new(self.headers, self.flags).map(Arc::new);
        recipe.map_err(|name| CompileError::io("taking a header", format!("`{name}`")))
    }
}

/// What became of a compile.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Compiled {
    /// The image, and what the compiler said.
    Done {
        /// The image.
        image: Vec<u8>,
        /// The log.
        log: String,
    },
    /// Why there is none.
    Refused(Refused),
}

/// A [`CompileError`] on its way through a pipe.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Refused {
    /// Something is not installed: what, where it was looked for, what helps.
    NotFound(String, String, String),
    /// There is no such build: what, what helps.
    Unsupported(String, String),
    /// The source is wrong: the options and the log.
    Failed(Vec<String>, String),
    /// Memory ran out: the options and the log.
    OutOfMemory(Vec<String>, String),
    /// Anything else, in words.
    Other(String),
}

impl From<CompileError> for Refused {
    fn from(error: CompileError) -> Refused {
        match error {
            CompileError::NotFound { what, looked, help } => Refused::NotFound(what, looked, help),
            CompileError::Unsupported { what, help } => Refused::Unsupported(what, help),
            CompileError::Failed { options, log, .. } => Refused::Failed(options, log),
            CompileError::OutOfMemory { options, log, .. } => Refused::OutOfMemory(options, log),
            other => Refused::Other(other.to_string()),
        }
    }
}

impl Refused {
    fn into_error(self, request: &CompileRequest) -> CompileError {
        let name = request.name.clone();
        match self {
            Refused::NotFound(what, looked, help) => CompileError::NotFound { what, looked, help },
            Refused::Unsupported(what, help) => CompileError::Unsupported { what, help },
            Refused::Failed(options, log) => CompileError::Failed { name, options, log },
            Refused::OutOfMemory(options, log) => CompileError::OutOfMemory {
                name,
                options,
                memory_bytes: request.limits.memory_bytes,
                log,
            },
            Refused::Other(text) => CompileError::io("compiling in another process", text),
        }
    }
}

/// The server's end: one compiler, open.
#[derive(Debug)]
pub(super) struct CompileServer(Box<dyn Compiler>);

impl CompileServer {
    /// Opens the compiler of a job.
    ///
    /// # Errors
    /// What is missing, or differs from what the parent has.
    pub fn open(job: &CompilerJob) -> Result<CompileServer, CompileError> {
        let differs = |text: String| CompileError::io("opening a compiler", text);
        if job.protocol != PROTOCOL {
            let asked = job.protocol;
            return Err(differs(format!(
                "protocol {asked} was asked for, this worker speaks {PROTOCOL}"
            )));
        }
        let compiler = library_compiler(&job.library, &job.arch)?;
        let identity = compiler.identity().to_string();
        if identity != job.identity {
            let library = job.library.display();
            return Err(differs(format!(
                "{library} is {identity}, {} was meant",
                job.identity
            )));
        }
        compiler.compile(&CompileRequest::new("kiln_first", FIRST))?;
        Ok(CompileServer(compiler))
    }

    /// Compiles, within the job's memory.
    pub fn compile(&self, job: CompileJob) -> Compiled {
        let mut request = CompileRequest::new(&job.name, job.source);
        request.options = job.options;
        request.limits = CompileLimits {
            // The parent looks after the time.
            deadline: Duration::MAX,
            memory_bytes: job.memory_bytes,
        };
        let limited = limit_address_space(job.memory_bytes);
        let compiled = limited
            .map_err(|error| CompileError::io("setting a limit", error))
            .and_then(|()| {
                request.recipe = job.recipe.map(SentRecipe::into_recipe).transpose()?;
                self.0.compile(&request)
            });
        match compiled {
            Ok(artifact) => Compiled::Done {
                image: artifact.image.to_vec(),
                log: artifact.log,
            },
            Err(error) => Compiled::Refused(error.into()),
        }
    }
}

/// Sets what this process may use of address space; the next compile may set more.
fn limit_address_space(bytes: u64) -> rustix::io::Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::As);
    let current = match (bytes, maximum) {
        (0, most) => most,
        (bytes, Some(most)) => Some(bytes.min(most)),
        (bytes, None) => Some(bytes),
    };
    setrlimit(Resource::As, Rlimit { current, maximum })
}

/// A compiler that is a library, run in processes of its own.
pub struct ProcessCompiler {
    job: CompilerJob,
    backend: Backend,
    identity: CompilerIdentity,
    flags: Vec<String>,
    worker: WorkerLimits,
    /// Servers that wait for work.
    idle: Mutex<Vec<Worker>>,
}

impl ProcessCompiler {
    /// The same compiler behind processes; `None` for one that starts processes by itself.
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
            worker: worker.clone(),
            idle: Mutex::default(),
        })
    }

    /// How many servers wait for work: as many as compiles ran at once, less those that were lost.
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

    /// Compiles on a server, and keeps it where it lives on.
    fn on(&self, mut server: Worker, request: &CompileRequest) -> Result<Compiled, WorkerError> {
        let job = CompileJob {
            source: request.source.clone(),
            name: request.name.clone(),
            options: request.options.clone(),
            recipe: request.recipe.as_deref().map(SentRecipe::of),
            memory_bytes: request.limits.memory_bytes,
        };
        match server.ask(&Request::Compile(job), request.limits.deadline)? {
            Reply::Compiled(compiled) => {
                self.idle().push(server);
                Ok(compiled)
            }
            _ => Err(WorkerError::Spawn(OUT_OF_TURN.into())),
        }
    }

    /// What the loss of a server says of the compile.
    fn lost(&self, request: &CompileRequest, error: WorkerError) -> CompileError {
        let (name, options) = (request.name.clone(), self.flags.clone());
        match error {
            WorkerError::TimedOut(_) => CompileError::TimedOut {
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

/// What the C++ library and the allocator say before they end a process.
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

    fn compile(&self, request: &CompileRequest) -> Result<Artifact, CompileError> {
        if request.build != BuildKind::Release {
            return Err(CompileError::Unsupported {
                what: format!("a build for checking, for {}", self.job.arch),
                help: "check on the cpu device".into(),
            });
        }
        let kept = self.idle().pop();
        let answered = match kept.map(|server| self.on(server, request)) {
            // A server that waited may have been ended since; a fresh one decides.
            None | Some(Err(WorkerError::Lost { .. })) => self.on(self.start()?, request),
            Some(answered) => answered,
        };
        match answered.map_err(|error| self.lost(request, error))? {
            Compiled::Done { image, log } => Ok(Artifact::new(
                self.backend,
                &self.job.arch,
                request.build,
                image,
                log,
            )),
            Compiled::Refused(refused) => Err(refused.into_error(request)),
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
    fn an_error_comes_out_of_the_pipe_as_it_went_in() {
        let request = CompileRequest::new("k", "");
        let memory_bytes = request.limits.memory_bytes;
        let (name, options, log) = (
            "k".to_owned(),
            vec!["-a".to_owned()],
            "error: x\n".to_owned(),
        );
        let errors = [
            CompileError::NotFound {
                what: "a".into(),
                looked: "b".into(),
                help: "c".into(),
            },
            CompileError::Unsupported {
                what: "a".into(),
                help: "b".into(),
            },
            CompileError::Failed {
                name: name.clone(),
                options: options.clone(),
                log: log.clone(),
            },
            CompileError::OutOfMemory {
                name,
                options,
                memory_bytes,
                log,
            },
        ];
        for error in errors {
            let text = serde_json::to_string(&Refused::from(error.clone())).unwrap();
            let back: Refused = serde_json::from_str(&text).unwrap();
            assert_eq!(back.into_error(&request), error);
        }
        let other = Refused::from(CompileError::io("writing", "disk full"));
        assert!(other.into_error(&request).to_string().contains("disk full"));
    }

    #[test]
    fn what_an_allocator_says_at_the_end_is_known() {
        assert!(ran_out_of_memory(
            "terminate called after throwing an instance of 'std::bad_alloc'"
        ));
        assert!(ran_out_of_memory("memory allocation of 4096 bytes failed"));
        assert!(!ran_out_of_memory("Segmentation fault"));
    }
}

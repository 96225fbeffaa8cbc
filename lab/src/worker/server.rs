//! The worker's side: answers requests (open, verify, time, and so on) until the pipe closes.

use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;

use kiln::Kernel;
use kiln_cache::Outcome;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getppid, set_parent_process_death_signal, setrlimit,
};

use super::bench::Opened;
use super::client::PARENT;
use super::compile::{CompileJob, CompileServer, CompilerJob};
use super::frame;
use super::protocol::{OpenJob, PROTOCOL, ProcessLimits, ReferenceJob, Reply, Request};
use super::referee::Referee;
use crate::candidate::outcome::internal;

/// Answers requests on standard input until it closes. `catalogue` contains the kernels whose plain-Rust references are
/// linked into this program.
pub fn serve(catalogue: &'static [&'static Kernel]) -> ExitCode {
    match serve_on_pipes(catalogue) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kiln: worker: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve_on_pipes(catalogue: &'static [&'static Kernel]) -> io::Result<()> {
    die_with_parent()?;
    // Kernels may print. Replies therefore have their own file descriptor, and standard output is redirected to
    // standard error.
    let mut replies = fs::File::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?);
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    let mut requests = io::stdin().lock();
    let mut worker = Server {
        catalogue,
        opened: None,
        referee: None,
        compiler: None,
    };
    while let Some(request) = frame::read::<Request>(&mut requests)? {
        let reply = worker.answer(request, &mut replies);
        frame::write(&mut replies, &reply)?;
    }
    Ok(())
}

/// Makes the system end this process when its parent dies. A worker must not outlive its `tune`, even if `tune` is
/// killed.
fn die_with_parent() -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // If the parent died before the call, the signal never arrives, so the parent must be checked. A parent with
    // process ID 1 does not prove that the original parent died, because `tune` itself can be process 1 in a container.
    if !parent_lives(std::env::var(PARENT).ok().as_deref(), getppid()) {
        return Err(io::Error::other("the parent process is gone"));
    }
    setrlimit(
        Resource::Core,
        Rlimit {
            current: Some(0),
            maximum: Some(0),
        },
    )?;
    Ok(())
}

/// Whether the process ID in `stated` is still the ID of the parent. If `stated` is `None`, a person started the
/// worker, and the result is `true`.
fn parent_lives(stated: Option<&str>, parent: Option<Pid>) -> bool {
    let stated = stated.and_then(|text| text.parse::<i32>().ok());
    stated.is_none_or(|stated| parent.is_some_and(|parent| parent.as_raw_nonzero().get() == stated))
}

struct Server {
    catalogue: &'static [&'static Kernel],
    opened: Option<Opened>,
    referee: Option<Referee>,
    compiler: Option<CompileServer>,
}

impl Server {
    fn answer(&mut self, request: Request, replies: &mut impl Write) -> Reply {
        let answered = match request {
            Request::OpenCompiler(job) => Ok(self.open_compiler(&job)),
            Request::Compile(job) => self.compile(job),
            Request::Open(job) => self.open(&job, replies),
            Request::OpenReference(job) => self.open_reference(&job).map_err(nobody),
            Request::RustReference {
                problem,
                seed,
                path,
            } => match &self.referee {
                None => Err(nobody(internal("no reference is opened"))),
                Some(referee) => referee.write(&problem, seed, &path).map_err(nobody),
            },
            other => match &mut self.opened {
                None => Err(nobody(internal("nothing is opened"))),
                Some(opened) => opened.answer(other, replies),
            },
        };
        answered.unwrap_or_else(|(arm, outcome)| Reply::Failed { arm, outcome })
    }

    fn open_compiler(&mut self, job: &CompilerJob) -> Reply {
        match CompileServer::open(job) {
            Ok(compiler) => {
                self.compiler = Some(compiler);
                Reply::CompilerOpened(None)
            }
            Err(error) => Reply::CompilerOpened(Some(error.into())),
        }
    }

    fn compile(&self, job: CompileJob) -> Result<Reply, (Option<usize>, Outcome)> {
        match &self.compiler {
            Some(compiler) => Ok(Reply::Compiled(compiler.compile(job))),
            None => Err((None, internal("no compiler is open"))),
        }
    }

    fn open_reference(&mut self, job: &ReferenceJob) -> Result<Reply, Outcome> {
        begin(job.protocol, job.limits)?;
        self.referee = Some(Referee::open(job, self.catalogue)?);
        Ok(Reply::ReferenceOpened)
    }

    fn open(
        &mut self,
        job: &OpenJob,
        replies: &mut impl Write,
    ) -> Result<Reply, (Option<usize>, Outcome)> {
        begin(job.protocol, job.limits).map_err(nobody)?;
        let mut opened = Opened::new(job, self.catalogue)?;
        let pace = if job.timed {
            opened.warm(replies)?
        } else {
            vec![(0, 0); job.arms.len()]
        };
        self.opened = Some(opened);
        Ok(Reply::Opened { pace })
    }
}

/// A failure that belongs to no arm.
fn nobody(outcome: Outcome) -> (Option<usize>, Outcome) {
    (None, outcome)
}

/// Checks the version of the protocol, and sets the limits of this process before any foreign code is loaded.
fn begin(protocol: u32, limits: ProcessLimits) -> Result<(), Outcome> {
    if protocol != PROTOCOL {
        return Err(internal(format!(
            "protocol {protocol} was requested, but this worker speaks protocol {PROTOCOL}"
        )));
    }
    limit(limits).map_err(|error| internal(format!("cannot set limits: {error}")))
}

fn limit(limits: ProcessLimits) -> io::Result<()> {
    let bound = |value: u64| Rlimit {
        current: Some(value),
        maximum: Some(value),
    };
    if limits.memory_bytes > 0 {
        setrlimit(Resource::As, bound(limits.memory_bytes))?;
    }
    if limits.cpu_seconds > 0 {
        setrlimit(Resource::Cpu, bound(limits.cpu_seconds))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_that_is_process_1_lives_if_it_started_the_worker() {
        let init = Pid::from_raw(1);
        let other = Pid::from_raw(4711);
        assert!(parent_lives(Some("1"), init));
        assert!(parent_lives(Some("4711"), other));
        assert!(parent_lives(None, init), "started by hand");
        assert!(
            !parent_lives(Some("4711"), init),
            "the parent died: init adopts the worker"
        );
        assert!(
            !parent_lives(Some("4711"), None),
            "the parent is in another namespace"
        );
    }
}

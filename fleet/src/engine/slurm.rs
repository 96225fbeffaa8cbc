//! Slurm: a job array.
//!
//! Slurm restarts an element if its node fails, but not if its process fails. The job script requeues an element that
//! exits with [`TRY_AGAIN`]. After any other failure, the user submits the missing elements again.
//!
//! Slurm's records do not show reliably which elements are done. If the controller fails, Slurm can lose track of
//! submitted jobs and of jobs that ended. After a network partition it runs two copies of an element. It also reuses
//! the numbers of jobs.

use super::ranges::ranges;
use super::shell::command;
use super::{EngineError, Job, TRY_AGAIN, safe};

/// The highest index of a job array by default (`MaxArraySize` 1001). Few sites raise this limit.
const MAX_INDEX: u32 = 1000;
/// Largest number of requeues of an element that exits with [`TRY_AGAIN`].
const MAX_REQUEUES: u32 = 20;
/// Time, in seconds, between SIGTERM and the time limit of an element, in which the element publishes what it has
/// measured.
const GRACE_S: u32 = 60;

pub(super) fn render(job: &Job<'_>) -> Result<String, EngineError> {
    let options = job.options;
    let (first, indexes) = indexes(job)?;
    let element = match first {
        0 => "\"$SLURM_ARRAY_TASK_ID\"".to_owned(),
        first => format!("\"$(({first} + SLURM_ARRAY_TASK_ID))\""),
    };
    let mut head = vec![
        format!("--job-name={}", job.name),
        format!("--array={}{}", ranges(&indexes), at_once(options.at_once)),
        "--requeue".into(),
        "--open-mode=append".into(),
        format!("--output={}-%A_%a.log", job.name),
        format!("--signal=B:TERM@{GRACE_S}"),
        format!("--time={}", options.minutes),
        "--ntasks=1".into(),
    ];
    if let Some(gres) = &options.gres {
        safe("--gres", gres)?;
        head.push(format!("--gres={gres}"));
    }
    if let Some(partition) = &options.partition {
        safe("--partition", partition)?;
        head.push(format!("--partition={partition}"));
    }
    let head: String = head
        .iter()
        .map(|line| format!("#SBATCH {line}\n"))
        .collect();
    let command = command(options, &element);
    Ok(format!(
        "#!/bin/sh\n{head}\
# The cache of an element is on a local disk of its node: in a home folder on NFS it would hold up all others.
TMPDIR=\"${{SLURM_TMPDIR:-${{TMPDIR:-/tmp}}}}\"
export TMPDIR
# The signal goes to this shell alone, and `wait` returns when it comes. It may come before the element has a number. One that
# comes while the element is being started is lost, so each is sent once more.
element= told=
trap 'told=1; [ -z \"$element\" ] || kill -TERM \"$element\" 2>/dev/null' TERM
{command} &
element=$!
[ -z \"$told\" ] || {{ sleep 1; kill -TERM \"$element\" 2>/dev/null; }}
wait \"$element\"; code=$?
if [ \"$code\" -gt 128 ]; then
  # A signal ended the wait, or the element: in the second case the shell knows it no more.
  sleep 1; kill -TERM \"$element\" 2>/dev/null
  wait \"$element\"; again=$?
  [ \"$again\" = 127 ] || code=$again
fi
if [ \"$code\" = {TRY_AGAIN} ] && [ \"${{SLURM_RESTART_COUNT:-0}}\" -lt {MAX_REQUEUES} ]; then
  scontrol requeue \"${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}\" && sleep 30
fi
exit \"$code\"
"
    ))
}

/// Returns the number of the element with index 0, and the indexes of all elements. Normally an element's index is its
/// number. If a number is above the highest index, the indexes count from the first element.
fn indexes(job: &Job<'_>) -> Result<(u32, Vec<u32>), EngineError> {
    let last = job.elements.last().copied().unwrap_or_default();
    let first = job.elements.first().copied().unwrap_or_default();
    let first = if last > MAX_INDEX { first } else { 0 };
    if last - first > MAX_INDEX {
        let max_index = MAX_INDEX;
        return Err(EngineError::TooFarApart {
            first,
            last,
            max_index,
        });
    }
    Ok((
        first,
        job.elements.iter().map(|element| element - first).collect(),
    ))
}

fn at_once(limit: Option<u32>) -> String {
    limit
        .map(|limit| format!("%{}", limit.max(1)))
        .unwrap_or_default()
}

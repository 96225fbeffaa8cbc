//! GitHub Actions: a job with a matrix of elements.

use super::shell::command;
use super::{EngineError, Job, JobOptions, TRY_AGAIN};

/// Largest number of jobs that a matrix can have.
const MAX_ELEMENTS: usize = 256;

pub(super) fn render(job: &Job<'_>) -> Result<String, EngineError> {
    job.limit("GitHub Actions", MAX_ELEMENTS)?;
    let options = job.options;
    super::safe("the secret", &options.secret)?;
    let secret = options
        .secret
        .to_ascii_uppercase()
        .replace(['-', '.', '/'], "_");
    let elements: Vec<String> = job.elements.iter().map(u32::to_string).collect();
    let labels: Vec<String> = options
        .runner
        .iter()
        .map(|label| serde_json::Value::from(label.as_str()).to_string())
        .collect();
    let at_once = options
        .at_once
        .map(|n| format!("\n      max-parallel: {}", n.max(1)));
    let with_key = JobOptions {
        key: "fleet.key".into(),
        ..options.clone()
    };
    let command = literal(&command(&with_key, "\"$ELEMENT\""));
    Ok(format!(
        "name: {name}
on: workflow_dispatch
permissions:
  contents: read
jobs:
  element:
    runs-on: [{labels}]
    timeout-minutes: {minutes}
    strategy:
      fail-fast: false{at_once}
      matrix:
        element: [{elements}]
    steps:
      - uses: actions/checkout@v4
        with:
          persist-credentials: false
      - shell: sh
        env:
          ELEMENT: ${{{{ matrix.element }}}}
          WORKER_KEY: ${{{{ secrets.{secret} }}}}
        run: |
          umask 077
          printf '%s\\n' \"$WORKER_KEY\" > fleet.key
          unset WORKER_KEY
          {command} && code=0 || code=$?
          # {TRY_AGAIN}: run the failed jobs again.
          rm -f fleet.key
          exit \"$code\"
",
        name = job.name,
        labels = labels.join(", "),
        minutes = options.minutes,
        at_once = at_once.unwrap_or_default(),
        elements = elements.join(", "),
    ))
}

/// Escapes text so that the workflow does not evaluate it: `${{` in a path would otherwise begin an expression.
fn literal(text: &str) -> String {
    text.replace("${{", "${{ '${{' }}")
}

//! Kubernetes: an Indexed Job.
//!
//! Pods are numbered from 0, but the elements of a job can have any numbers, so each pod looks up its element in a
//! list. Kubernetes may run two pods with the same index at once, which does no harm.

use serde_json::{Map, Value, json};

use super::shell::command;
use super::{EngineError, Job, JobOptions, TRY_AGAIN};

/// Largest number of elements in an Indexed Job that retries each index separately and continues after some indexes
/// have failed (`maxFailedIndexes`).
const MAX_ELEMENTS: usize = 10_000;
/// Maximum number of retries of an element after the first attempt.
const RETRIES: u32 = 6;
/// The folder at which the secret with the worker's key is mounted.
const KEY_FOLDER: &str = "/run/kiln-fleet";

pub(super) fn render(job: &Job<'_>) -> Result<String, EngineError> {
    job.limit("Kubernetes", MAX_ELEMENTS)?;
    let options = job.options;
    let elements = job.elements.len();
    let spec = json!({
        "completionMode": "Indexed",
        "completions": elements,
        "parallelism": options.at_once.map_or(elements, |n| elements.min(n.max(1) as usize)),
        "backoffLimitPerIndex": RETRIES,
        "maxFailedIndexes": elements,
        "podReplacementPolicy": "Failed",
        "podFailurePolicy": { "rules": [
            // The element is not to blame if its node is drained or fails.
            { "action": "Ignore", "onPodConditions": [{ "type": "DisruptionTarget", "status": "True" }] },
            { "action": "Count", "onExitCodes": { "containerName": "element", "operator": "In",
                // 137: killed because the memory was exhausted. 143: terminated by SIGTERM.
                "values": [TRY_AGAIN, 137, 143] } },
            { "action": "FailIndex", "onExitCodes": { "containerName": "element", "operator": "NotIn",
                "values": [0, TRY_AGAIN, 137, 143] } },
        ] },
        "template": { "spec": pod(job) },
    });
    let manifest = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": job.name, "labels": { "app.kubernetes.io/name": "kiln-fleet" } },
        "spec": spec,
    });
    let mut text = String::new();
    yaml(&manifest, 0, &mut text);
    Ok(text)
}

fn pod(job: &Job<'_>) -> Value {
    let options = job.options;
    let with_key = JobOptions {
        key: format!("{KEY_FOLDER}/key"),
        ..options.clone()
    };
    let elements: Vec<String> = job.elements.iter().map(u32::to_string).collect();
    let script = format!(
        "set -- {}\nshift \"$JOB_COMPLETION_INDEX\"\nTMPDIR=/scratch; export TMPDIR\nexec {}\n",
        elements.join(" "),
        command(&with_key, "\"$1\"")
    );
    let mut container = json!({
        "name": "element",
        "image": options.image,
        "command": ["/bin/sh", "-c", script],
        "volumeMounts": [
            { "name": "key", "mountPath": KEY_FOLDER, "readOnly": true },
            { "name": "scratch", "mountPath": "/scratch" },
        ],
    });
    if let Some(resource) = &options.resource {
        container["resources"] = json!({ "limits": { resource.as_str(): 1 } });
    }
    let mut pod = json!({
        "restartPolicy": "Never",
        "automountServiceAccountToken": false,
        "terminationGracePeriodSeconds": 60,
        "containers": [container],
        "volumes": [
            // Octal 0400: only the owner can read the file.
            { "name": "key", "secret": { "secretName": options.secret, "defaultMode": 256 } },
            { "name": "scratch", "emptyDir": {} },
        ],
    });
    if !options.node_selector.is_empty() {
        let labels = options.node_selector.iter();
        let labels = labels.map(|(name, label)| (name.clone(), Value::from(label.as_str())));
        pod["nodeSelector"] = Value::Object(labels.collect::<Map<_, _>>());
    }
    pod
}

/// Appends a value as YAML. Mappings and sequences are blocks. All texts are JSON strings, which are valid in YAML 1.2.
fn yaml(value: &Value, indent: usize, to: &mut String) {
    let pad = "  ".repeat(indent);
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                let name = Value::from(name.as_str());
                to.push_str(&format!("{pad}{name}:"));
                nested(value, indent, to);
            }
        }
        Value::Array(values) if !values.is_empty() => {
            for value in values {
                to.push_str(&format!("{pad}-"));
                nested(value, indent, to);
            }
        }
        flat => to.push_str(&format!("{pad}{flat}\n")),
    }
}

/// Appends a value after its name or dash, on the same line if the value is a scalar or empty.
fn nested(value: &Value, indent: usize, to: &mut String) {
    let deep = match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(values) => !values.is_empty(),
        _ => false,
    };
    if deep {
        to.push('\n');
        yaml(value, indent + 1, to);
    } else {
        to.push_str(&format!(" {value}\n"));
    }
}

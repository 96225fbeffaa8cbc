use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::*;
use crate::samples;
use crate::sign::PrivateKey;

const ENGINES: [Engine; 4] = [
    Engine::Slurm,
    Engine::Kubernetes,
    Engine::GitHub,
    Engine::Parallel,
];

fn plan(problems: usize) -> Plan {
    samples::plan(2, problems, &[&PrivateKey::generate().unwrap()])
}

fn render_all(elements: &[u32], options: &JobOptions) -> Vec<String> {
    let plan = plan(30);
    ENGINES
        .map(|engine| render(&plan, engine, elements, options).unwrap())
        .into()
}

#[test]
fn every_job_file_runs_the_command_of_its_elements() {
    let options = JobOptions {
        plan_path: "my plan.plan".into(),
        store: "/scratch/it's here".into(),
        at_once: Some(4),
        gres: Some("gpu:h100:1".into()),
        resource: Some("nvidia.com/gpu".into()),
        node_selector: vec![("nvidia.com/gpu.product".into(), "NVIDIA-L4".into())],
        ..JobOptions::default()
    };
    let [slurm, kubernetes, github, parallel] =
        <[String; 4]>::try_from(render_all(&[7, 0, 1, 2, 2, 11], &options)).unwrap();
    let command = |element: &str| {
        format!(
            "tune fleet work 'my plan.plan' --element {element} --store='/scratch/it'\\''s here' --key="
        )
    };
    for line in [
        "#SBATCH --array=0-2,7,11%4",
        "#SBATCH --requeue",
        "#SBATCH --open-mode=append",
        "#SBATCH --signal=B:TERM@60",
        "#SBATCH --gres=gpu:h100:1",
        &command("\"$SLURM_ARRAY_TASK_ID\""),
    ] {
        assert!(slurm.contains(line), "{line}\n{slurm}");
    }
    for line in [
        "\"completionMode\": \"Indexed\"",
        "\"completions\": 5",
        "\"parallelism\": 4",
        "\"backoffLimitPerIndex\": 6",
        "set -- 0 1 2 7 11\\nshift \\\"$JOB_COMPLETION_INDEX\\\"",
        "\"nvidia.com/gpu\": 1",
        "\"nvidia.com/gpu.product\": \"NVIDIA-L4\"",
    ] {
        assert!(kubernetes.contains(line), "{line}\n{kubernetes}");
    }
    assert!(github.contains("element: [0, 1, 2, 7, 11]"), "{github}");
    assert!(github.contains(&command("\"$ELEMENT\"")), "{github}");
    assert!(github.contains("max-parallel: 4"), "{github}");
    assert!(parallel.contains("::: 0 1 2 7 11"), "{parallel}");
    assert!(parallel.contains("--jobs 4"), "{parallel}");
}

#[test]
fn what_cannot_be_a_job_is_refused_with_help() {
    let plan = plan(300);
    let all: Vec<u32> = (0..300).collect();
    let default = JobOptions::default();
    let of = |engine, elements: &[u32], options: &JobOptions| {
        let error = render(&plan, engine, elements, options).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("\nhelp: "), "{text}");
        error
    };
    assert!(matches!(
        of(Engine::Slurm, &[], &default),
        EngineError::NoElements
    ));
    let error = of(Engine::Slurm, &[600], &default);
    assert!(matches!(error, EngineError::NoElement { element: 600, .. }));
    // Element 300 is the first element of the other kind.
    assert!(matches!(
        of(Engine::Slurm, &[0, 300], &default),
        EngineError::Kinds { kinds: 2 }
    ));
    assert!(matches!(
        of(Engine::GitHub, &all, &default),
        EngineError::TooMany { most: 256, .. }
    ));
    render(&plan, Engine::Kubernetes, &all, &default).unwrap();
    let breaks = |change: fn(&mut JobOptions)| {
        let mut options = default.clone();
        change(&mut options);
        options
    };
    for options in [
        breaks(|o| o.plan_path = "a\nb".into()),
        breaks(|o| o.store = "a\u{0}".into()),
        breaks(|o| o.gres = Some("gpu\n#SBATCH --uid=0".into())),
        breaks(|o| o.gres = Some(String::new())),
        breaks(|o| o.partition = Some("a b".into())),
    ] {
        assert!(matches!(
            of(Engine::Slurm, &[0], &options),
            EngineError::Option { .. }
        ));
    }
}

#[test]
fn elements_above_the_highest_index_of_an_array_are_counted_from_the_first() {
    let plan = plan(3000);
    let some: Vec<u32> = (1500..2000).collect();
    let slurm = render(&plan, Engine::Slurm, &some, &JobOptions::default()).unwrap();
    assert!(slurm.contains("--array=0-499\n"), "{slurm}");
    assert!(
        slurm.contains("--element \"$((1500 + SLURM_ARRAY_TASK_ID))\""),
        "{slurm}"
    );
    let far = render(&plan, Engine::Slurm, &[0, 2000], &JobOptions::default());
    assert!(matches!(
        far,
        Err(EngineError::TooFarApart {
            first: 0,
            last: 2000,
            max_index: 1000
        })
    ));
    let most: Vec<u32> = (0..=1000).collect();
    render(&plan, Engine::Slurm, &most, &JobOptions::default()).unwrap();
}

#[test]
fn a_shell_reads_every_word_as_it_was_written() {
    for text in [
        "",
        "a",
        "a b",
        "it's",
        "$HOME `id` \"x\" \\ *",
        "-x",
        "ü;&|<>()",
        "a'\"'b",
    ] {
        let script = format!("printf %s {}", shell::quote(text));
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
    }
}

#[test]
fn numbers_become_ranges() {
    assert_eq!(ranges::ranges(&[]), "");
    assert_eq!(ranges::ranges(&[3]), "3");
    assert_eq!(ranges::ranges(&[0, 1, 2, 4, 6, 7]), "0-2,4,6-7");
    assert_eq!(
        ranges::ranges(&[u32::MAX - 1, u32::MAX]),
        "4294967294-4294967295"
    );
}

/// Writes an executable shell script into a folder.
fn program(folder: &Path, name: &str, script: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A command that runs a script as Slurm does, with the programs of `folder` first in `PATH`.
fn slurm(folder: &Path, script: &str) -> Command {
    let path = format!(
        "{}:{}",
        folder.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .current_dir(folder)
        .env("PATH", path);
    command
        .env("SLURM_ARRAY_TASK_ID", "7")
        .env("SLURM_ARRAY_JOB_ID", "3");
    command.env_remove("SLURM_TMPDIR").stdout(Stdio::null());
    command
}

#[test]
fn a_slurm_script_passes_the_exit_code_on_and_requeues_an_element_that_asks_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let script = render(&plan(30), Engine::Slurm, &[7], &JobOptions::default()).unwrap();
    program(folder.path(), "scontrol", "echo \"$@\" > requeued; exit 1");
    for (code, requeued) in [(0, false), (75, true), (6, false), (137, false)] {
        let _ = fs::remove_file(folder.path().join("requeued"));
        program(
            folder.path(),
            "tune",
            &format!("echo \"$@\" > arguments; exit {code}"),
        );
        let status = slurm(folder.path(), &script).status().unwrap();
        assert_eq!(status.code(), Some(code));
        let arguments = fs::read_to_string(folder.path().join("arguments")).unwrap();
        assert!(
            arguments.starts_with("fleet work fleet.plan --element 7 "),
            "{arguments}"
        );
        let found = fs::read_to_string(folder.path().join("requeued")).unwrap_or_default();
        assert_eq!(found, if requeued { "requeue 3_7\n" } else { "" });
    }
    // After 20 restarts the element is not requeued again.
    program(folder.path(), "tune", "exit 75");
    let _ = fs::remove_file(folder.path().join("requeued"));
    let status = slurm(folder.path(), &script)
        .env("SLURM_RESTART_COUNT", "20")
        .status()
        .unwrap();
    assert_eq!(
        (status.code(), folder.path().join("requeued").exists()),
        (Some(75), false)
    );
}

#[test]
fn a_slurm_script_hands_the_signal_on_and_waits_for_the_element() {
    let folder = tempfile::tempdir().unwrap();
    let script = render(&plan(30), Engine::Slurm, &[7], &JobOptions::default()).unwrap();
    program(folder.path(), "scontrol", "exit 1");
    let element = "trap 'echo told > told; exit 75' TERM; : > started; for n in $(seq 600); do sleep 0.05; done";
    program(folder.path(), "tune", element);
    let mut child = slurm(folder.path(), &script).spawn().unwrap();
    while !folder.path().join("started").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let signalled = Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status();
    assert!(signalled.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(75));
    assert!(folder.path().join("told").exists());
}

#[test]
fn a_signal_that_comes_before_the_element_has_a_number_is_handed_on() {
    let folder = tempfile::tempdir().unwrap();
    let script = render(&plan(30), Engine::Slurm, &[7], &JobOptions::default()).unwrap();
    // The signal arrives while the shell starts the element.
    let early = script.replace("element=$!", "kill -TERM $$\nelement=$!");
    assert_ne!(early, script);
    program(folder.path(), "scontrol", "exit 1");
    program(
        folder.path(),
        "tune",
        "trap 'exit 75' TERM; for n in $(seq 600); do sleep 0.05; done",
    );
    let mut child = slurm(folder.path(), &early).spawn().unwrap();
    let code = child.wait().unwrap().code();
    // An element that has not yet set its own trap dies of the signal.
    assert!(matches!(code, Some(75 | 143)), "{code:?}");
}

#[test]
fn a_pod_looks_its_element_up_by_its_index() {
    let folder = tempfile::tempdir().unwrap();
    let options = JobOptions {
        tune: "./tune".into(),
        ..JobOptions::default()
    };
    let text = render(&plan(30), Engine::Kubernetes, &[2, 5, 9], &options).unwrap();
    let line = text
        .lines()
        .find(|line| line.contains("JOB_COMPLETION_INDEX"))
        .unwrap();
    let script: String = serde_json::from_str(line.trim().trim_start_matches("- ")).unwrap();
    program(folder.path(), "tune", "echo \"$@\"");
    for (index, element) in ["2", "5", "9"].iter().enumerate() {
        let mut command = Command::new("sh");
        command.args(["-c", &script]).current_dir(folder.path());
        let output = command
            .env("JOB_COMPLETION_INDEX", index.to_string())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains(&format!("--element {element} ")), "{said}");
    }
}

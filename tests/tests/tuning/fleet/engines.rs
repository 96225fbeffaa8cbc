//! Jobs for schedulers other than Slurm. They are executed by the rules of each scheduler, without the scheduler
//! itself.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use kiln_tests::capability::{Need, have, schemas};
use kiln_tests::command::{expect_code, stderr, stdout};
use saphyr::{LoadableYamlNode as _, Yaml};

use super::{FASTEST, Fleet, states};

const PROBLEMS: [u32; 3] = [1_000, 2_000, 3_000];

/// A plan with three elements. The first attempt at element 1 is killed.
fn planned() -> Fleet {
    let fleet = Fleet::new(&PROBLEMS);
    fleet.plan("--replicas 1");
    fleet.program(
        "tune.sh",
        "case \"$*\" in\n\
         *'--element 1 '*) mkdir ROOT/killed 2>/dev/null && kill -KILL $$ ;;\n\
         esac\n\
         exec TUNE \"$@\" --device fake:ROOT/a.json",
    );
    fleet
}

impl Fleet {
    /// The job that `tune fleet job` prints for an engine (a kind of scheduler).
    fn job_of(&self, engine: &str) -> String {
        let words = "fleet job ROOT/fleet.plan --store STORE --tune ROOT/tune.sh --engine";
        self.run(&format!("{words} {engine}"))
    }

    fn is_done(&self) {
        let merged = self.merge("fleet.plan", "", 0);
        assert_eq!(states(&merged), ["proven"; PROBLEMS.len()], "{merged}");
        for task in merged["tasks"].as_array().expect("there are tasks") {
            assert_eq!(task["config"], FASTEST, "{task}");
        }
    }
}

/// The YAML value at a path of keys.
fn at<'a>(yaml: &'a Yaml<'a>, path: &[&str]) -> &'a Yaml<'a> {
    path.iter().fold(yaml, |node, key| {
        let found = match key.parse::<usize>() {
            Ok(index) => node.as_sequence().and_then(|all| all.get(index)),
            Err(_) => node.as_mapping_get(key),
        };
        found.unwrap_or_else(|| panic!("no {key} of {path:?}"))
    })
}

fn numbers(yaml: &Yaml<'_>) -> Vec<i64> {
    let all = yaml.as_sequence().expect("it should be a list").iter();
    all.map(|one| one.as_integer().expect("it should be a number"))
        .collect()
}

#[test]
fn an_indexed_job_of_kubernetes_ends_with_every_row_although_pods_run_twice_and_die() {
    let name = "an_indexed_job_of_kubernetes_ends_with_every_row_although_pods_run_twice_and_die";
    if !have(name, &[Need::HostCompiler, Need::SshKeygen]) {
        return;
    }
    let fleet = planned();
    let manifest = fleet.job_of("kubernetes");
    let documents = Yaml::load_from_str(&manifest).expect("it should be YAML");
    let spec = at(&documents[0], &["spec"]);
    let container = at(spec, &["template", "spec", "containers", "0"]);
    // Replaces the paths that the kubelet would mount.
    let mut script = at(container, &["command", "2"])
        .as_str()
        .expect("the command is a text")
        .to_owned();
    let mounts = at(container, &["volumeMounts"]);
    for mount in mounts.as_sequence().expect("it should be a list") {
        let name = at(mount, &["name"]).as_str().expect("a volume has a name");
        let path = at(mount, &["mountPath"]).as_str().expect("it has a path");
        let here = fleet.path(&format!("mount/{name}"));
        std::fs::create_dir_all(&here).expect("a folder should be made");
        script = script.replace(path, &here.to_string_lossy());
    }
    fleet.write("mount/key/key", &fleet.read("fleet.plan.key"));
    let pod = |index: i64| -> Child {
        let mut pod = Command::new("/bin/sh");
        pod.arg("-c").arg(&script);
        pod.env("JOB_COMPLETION_INDEX", index.to_string());
        pod.current_dir(fleet.path("mine"));
        pod.env("KILN_CACHE", fleet.path("cache"));
        pod.stdout(Stdio::null()).stderr(Stdio::null());
        pod.spawn().expect("a shell should start")
    };
    let rules = at(spec, &["podFailurePolicy", "rules"]);
    let retried = numbers(at(rules, &["1", "onExitCodes", "values"]));
    let completions = at(spec, &["completions"]).as_integer();
    let mut retries = 0;
    for index in 0..completions.expect("it should be a number") {
        // Simulates a network partition: the controller starts a second pod while the first one is alive.
        let mut pods = vec![pod(index), pod(index)];
        while let Some(mut one) = pods.pop() {
            let status = one.wait().expect("a pod should end");
            // A shell reports a signal as an exit code, and so does the kubelet.
            let signal = std::os::unix::process::ExitStatusExt::signal(&status);
            let code = status.code().or(signal.map(|signal| 128 + signal));
            if code == Some(0) {
                continue;
            }
            let code = i64::from(code.expect("a process ends with a code or a signal"));
            assert!(retried.contains(&code), "index {index} fails with {code}");
            retries += 1;
            pods.push(pod(index));
        }
    }
    assert_eq!(retries, 1, "the killed pod");
    fleet.is_done();
}

#[test]
fn the_matrix_of_github_ends_with_every_row_when_failed_jobs_run_again() {
    let name = "the_matrix_of_github_ends_with_every_row_when_failed_jobs_run_again";
    if !have(name, &[Need::HostCompiler, Need::SshKeygen]) {
        return;
    }
    let fleet = planned();
    let workflow = fleet.job_of("github");
    let documents = Yaml::load_from_str(&workflow).expect("it should be YAML");
    let job = at(&documents[0], &["jobs", "element"]);
    let script = at(job, &["steps", "1", "run"]).as_str();
    fleet.write("step.sh", script.expect("a step is a text"));
    let step = |element: i64| {
        // Runs the step as `shell: sh` does.
        let mut step = Command::new("sh");
        step.arg("-e").arg(fleet.path("step.sh"));
        step.current_dir(fleet.path("mine"));
        step.env("KILN_CACHE", fleet.path("cache"));
        step.env("ELEMENT", element.to_string());
        step.env("WORKER_KEY", fleet.read("fleet.plan.key"));
        let output = step.output().expect("a shell should start");
        println!("element {element}: {}", stderr(&output));
        output.status.code().expect("a shell ends with a code")
    };
    let mut elements = numbers(at(job, &["strategy", "matrix", "element"]));
    assert_eq!(elements, [0, 1, 2]);
    elements.retain(|element| step(*element) != 0);
    assert_eq!(elements, [1]);
    elements.retain(|element| step(*element) != 0);
    assert!(elements.is_empty(), "{elements:?}");
    let key = fleet.path("mine/fleet.key");
    assert!(!Path::exists(&key), "the key should not stay on the runner");
    fleet.is_done();
}

/// Whether a program accepts a job, and what it prints.
fn validates(fleet: &Fleet, text: &str, program: &str, words: &[&str]) -> Result<(), String> {
    fleet.write("job.yaml", text);
    let mut validate = Command::new(schemas(program));
    validate.args(words).arg(fleet.path("job.yaml"));
    let output = validate.output().expect("the program should start");
    let said = format!(
        "{program} {words:?}: {}{}",
        stdout(&output),
        stderr(&output)
    );
    output.status.success().then_some(()).ok_or(said)
}

#[test]
fn the_jobs_for_kubernetes_and_github_are_valid_by_their_own_schemas() {
    let name = "the_jobs_for_kubernetes_and_github_are_valid_by_their_own_schemas";
    if !have(name, &[Need::HostCompiler, Need::SshKeygen, Need::Schemas]) {
        return;
    }
    let fleet = planned();
    let kubernetes = |text: &str, version: &str| {
        validates(
            &fleet,
            text,
            "kubernetes-validate",
            &["--strict", "-k", version],
        )
    };
    let all = "--at-once 2 --image registry.example/tune:1 --secret fleet --resource nvidia.com/gpu \
               --node-selector gpu.product=NVIDIA-L4 --node-selector zone=a";
    for options in ["", all] {
        let manifest = fleet.job_of(&format!("kubernetes {options}"));
        for version in ["1.36.0", "1.37.0"] {
            kubernetes(&manifest, version).expect("Kubernetes should accept the job");
            let misspelt = manifest.replace("backoffLimitPerIndex", "backoffLimitPerIndx");
            kubernetes(&misspelt, version).expect_err("a field that it does not have");
        }
    }
    let github = |text: &str| {
        let words = ["--builtin-schema", "vendor.github-workflows"];
        validates(&fleet, text, "check-jsonschema", &words)
    };
    for options in ["", "--at-once 2"] {
        let workflow = fleet.job_of(&format!("github {options}"));
        github(&workflow).expect("GitHub should accept the workflow");
        github(&workflow.replace("runs-on", "run-on")).expect_err("a field that it does not have");
    }
}

#[test]
fn the_command_of_gnu_parallel_ends_with_every_row() {
    let name = "the_command_of_gnu_parallel_ends_with_every_row";
    if !have(name, &[Need::HostCompiler, Need::SshKeygen, Need::Parallel]) {
        return;
    }
    let fleet = planned();
    let script = fleet.job_of("parallel");
    fleet.write("job.sh", &script);
    let mut run = Command::new("sh");
    run.arg(fleet.path("job.sh"));
    run.current_dir(fleet.path("mine"));
    // GNU parallel keeps its settings and caches in the home folder.
    run.env("HOME", fleet.path("home"));
    run.env("KILN_CACHE", fleet.path("cache"));
    let done = expect_code(&mut run, 0);
    assert!(!stderr(&done).contains("panicked"), "{}", stderr(&done));
    fleet.is_done();
}

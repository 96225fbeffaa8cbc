//! Runs plans on a Slurm cluster of eight nodes.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use kiln_cache::Record;
use kiln_tests::capability::{Need, have};
use kiln_tests::slurm::Cluster;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use super::{FASTEST, Fleet, files, states, unpublished_trials};

const NODES: usize = 8;

impl Fleet {
    /// Writes a job script for the elements of a plan. Each node has its own device.
    fn job(&self, more: &str) -> String {
        let words = "fleet job ROOT/fleet.plan --store STORE --engine slurm --tune ROOT/tune.sh";
        let script = self.run(&format!("{words}{more}"));
        self.write("job.sh", &script);
        script
    }

    fn submit(&self, cluster: &Cluster, more: &[&str]) {
        let folder = format!("--chdir={}", self.path("mine").display());
        let arguments: Vec<&str> = [folder.as_str()].iter().chain(more).copied().collect();
        cluster.submit(&self.path("job.sh"), &arguments);
    }

    /// Creates the devices `n1` to `n8`, and a program that opens the device of its node. `before` begins its shell
    /// script.
    fn devices_of_nodes(&self, before: &str, fields: &serde_json::Value) {
        for node in 1..=NODES {
            self.device(&format!("n{node}"), fields);
        }
        // The scratch folders of killed attempts stay there.
        let run = "mkdir -p ROOT/scratch; TMPDIR=ROOT/scratch; export TMPDIR
exec $with TUNE \"$@\" --device fake:ROOT/$SLURMD_NODENAME.json";
        self.program("tune.sh", &format!("{before}\n{run}"));
    }

    /// The number of elements that no attempt has finished.
    fn missing(&self) -> usize {
        let status = self.run("fleet status ROOT/fleet.plan --store STORE --json");
        let status: serde_json::Value =
            serde_json::from_str(&status).expect("the status should be JSON");
        let finished = status["finished"].as_array().map_or(0, Vec::len);
        let elements = status["elements"].as_u64().expect("a plan has elements");
        elements as usize - finished
    }
}

#[test]
fn a_job_array_of_slurm_ends_with_every_row_although_an_element_was_killed() {
    let name = "a_job_array_of_slurm_ends_with_every_row_although_an_element_was_killed";
    if !have(name, &[Need::HostCompiler, Need::SshKeygen, Need::Slurm]) {
        return;
    }
    let fleet = Fleet::new(&[1_000, 2_000, 3_000, 4_000]);
    fleet.plan("--replicas 1");
    // The first attempt at element 2 is killed. Slurm does not restart a killed process.
    fleet.program(
        "tune.sh",
        "case \"$*\" in\n\
         *'--element 2 '*) [ -e ROOT/killed ] || { touch ROOT/killed; kill -KILL $$; } ;;\n\
         esac\n\
         exec TUNE \"$@\" --device fake:ROOT/a.json",
    );
    let cluster = Cluster::start(NODES);
    let run = |more: &str| {
        let script = fleet.job(more);
        fleet.submit(&cluster, &[]);
        cluster.wait();
        script
    };
    let script = run("");
    assert!(script.contains("#SBATCH --array=0-3\n"), "{script}");
    let mut found = states(&fleet.merge("fleet.plan", " --dry-run", 0))
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    found.sort_unstable();
    assert_eq!(found, ["missing", "proven", "proven", "proven"]);
    let script = run(" --missing");
    assert!(script.contains("#SBATCH --array=2\n"), "{script}");
    assert_eq!(states(&fleet.merge("fleet.plan", "", 0)), ["proven"; 4]);
}

/// The part of a cluster that is killed.
#[derive(Clone, Copy, Debug)]
enum Victim {
    Node,
    Task,
    Controller,
}

/// Four of the nodes have clocks that are ten years ahead or behind.
const WRONG_CLOCKS: &str = "export DONT_FAKE_MONOTONIC=1
case \"$SLURMD_NODENAME\" in
n[56]) with='faketime -f +10y' ;;
n[78]) with='faketime -f -10y' ;;
esac";

/// For each journal, the number of the last record that the logs report as acknowledged.
fn acknowledged(fleet: &Fleet) -> BTreeMap<u64, u64> {
    let mut last = BTreeMap::new();
    for log in files(&fleet.path("mine"), ".log") {
        let text = fs::read(&log).expect("a log should be there");
        for line in String::from_utf8_lossy(&text).lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let ["acknowledged", journal, record] = words[..] else {
                continue;
            };
            // A line that a kill truncated may report a smaller number.
            let (Ok(journal), Ok(record)) =
                (u64::from_str_radix(journal, 16), record.parse::<u64>())
            else {
                continue;
            };
            let known = last.entry(journal).or_default();
            *known = record.max(*known);
        }
    }
    last
}

/// Kills nodes, tasks and the controller while a plan runs. Returns the victims that are left.
fn killing(fleet: &Fleet, mut victims: Vec<Victim>, random: &mut ChaCha8Rng) -> Vec<Victim> {
    let cluster = Cluster::start(NODES);
    while fleet.missing() > 0 {
        fleet.job(" --missing");
        fleet.submit(&cluster, &[]);
        while cluster.is_busy() {
            std::thread::sleep(Duration::from_millis(random.random_range(200..900)));
            match victims.pop() {
                Some(Victim::Node) => {
                    let node = random.random_range(1..=NODES);
                    cluster.kill_node(node);
                    cluster.start_node(node);
                }
                Some(Victim::Task) => {
                    let busy = (1..=NODES).filter(|node| cluster.kill_task(*node));
                    // A task can be killed only while a node runs one.
                    if busy.take(1).count() == 0 {
                        victims.push(Victim::Task);
                    }
                }
                Some(Victim::Controller) => {
                    cluster.kill_controller();
                    cluster.start_controller();
                }
                None => {}
            }
            cluster.repair();
        }
    }
    victims
}

#[test]
fn killed_nodes_tasks_and_controllers_cost_no_acknowledged_trial() {
    let name = "killed_nodes_tasks_and_controllers_cost_no_acknowledged_trial";
    let needs = [
        Need::Bars,
        Need::HostCompiler,
        Need::SshKeygen,
        Need::Slurm,
        Need::Faketime,
    ];
    if !have(name, &needs) {
        return;
    }
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut victims = vec![Victim::Node; 50];
    victims.extend([Victim::Task; 50]);
    victims.extend([Victim::Controller; 20]);
    victims.shuffle(&mut random);
    let mut plans = 0;
    while !victims.is_empty() {
        let problems: Vec<u32> = (1..=48).map(|n| 1_000 * n).collect();
        let fleet = Fleet::new(&problems);
        let slow = json!({"noise": {}, "rules": [{"compile": {"slow_ms": 600}}]});
        fleet.devices_of_nodes(WRONG_CLOCKS, &slow);
        fleet.plan("--replicas 1");
        let before = victims.len();
        victims = killing(&fleet, victims, &mut random);
        plans += 1;
        println!("plan {plans}: {} kills", before - victims.len());
        let published = fleet.records();
        for (journal, record) in acknowledged(&fleet) {
            let found = published.get(&journal).map_or(0, Vec::len) as u64;
            assert!(
                found >= record,
                "journal {journal:016x}: {found} of {record}"
            );
        }
        let lost = unpublished_trials(&fleet);
        let (total, most) = (lost.iter().sum::<usize>(), lost.iter().max());
        println!(
            "{} attempts killed; trials repeated: {total}, at most {most:?} for one",
            lost.len()
        );
        assert!(most.is_none_or(|most| *most <= 64), "{lost:?}");
        let merged = fleet.merge("fleet.plan", "", 0);
        assert_eq!(states(&merged), ["proven"; 48], "{merged}");
        for task in merged["tasks"].as_array().expect("there are tasks") {
            assert_eq!(task["config"], FASTEST, "{task}");
        }
    }
}

#[test]
fn a_partition_of_slurm_ends_with_two_copies_of_an_element_and_one_row() {
    let name = "a_partition_of_slurm_ends_with_two_copies_of_an_element_and_one_row";
    if !have(name, &[Need::HostCompiler, Need::SshKeygen, Need::Slurm]) {
        return;
    }
    let fleet = Fleet::new(&[1_000]);
    let slow = json!({"noise": {}, "rules": [{"compile": {"slow_ms": 1000}}]});
    fleet.devices_of_nodes("echo $SLURMD_NODENAME >> ROOT/started", &slow);
    fleet.plan("--replicas 1");
    let cluster = Cluster::start(2);
    fleet.job("");
    fleet.submit(&cluster, &["--requeue"]);
    let started = || fs::read_to_string(fleet.path("started")).unwrap_or_default();
    let wait_for = |what: &str, holds: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !holds() {
            assert!(
                start.elapsed() < Duration::from_secs(240),
                "{what}: {}{}",
                started(),
                logs(&fleet)
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    wait_for("the element starts", &|| started().lines().count() == 1);
    let cut_off = if started().starts_with("n1") { 1 } else { 2 };
    // If the first copy had not begun to measure, it would end at once when it continues, because the second copy has
    // completed the element by then.
    wait_for("it measures", &|| {
        unpublished_trials(&fleet).iter().any(|trials| *trials >= 2)
    });
    // Slurm declares the node dead, because it does not answer, and runs the element elsewhere. The stopped task is
    // continued later.
    cluster.stop_node(cut_off);
    wait_for("a second copy starts", &|| started().lines().count() == 2);
    wait_for("the second copy ends", &|| fleet.missing() == 0);
    let alone = fleet.merge("fleet.plan", " --dry-run", 0);
    let copies = || {
        fleet
            .records()
            .values()
            .filter(|records| has_ended(records))
            .count()
    };
    assert_eq!(copies(), 1);
    cluster.continue_task(cut_off);
    // It publishes its proof after the end of its search.
    wait_for("the first copy ends", &|| {
        copies() == 2 && !cluster.runs_tune(cut_off)
    });
    let both = fleet.merge("fleet.plan", "", 0);
    for merged in [alone, both] {
        assert_eq!(states(&merged), ["proven"], "{merged}");
        assert_eq!(merged["tasks"][0]["config"], FASTEST, "{merged}");
    }
}

/// The output of the elements of all jobs.
fn logs(fleet: &Fleet) -> String {
    let logs = files(&fleet.path("mine"), ".log").into_iter();
    let text = |log: PathBuf| {
        let text = fs::read_to_string(&log).unwrap_or_default();
        format!("\n--- {}\n{text}", log.display())
    };
    logs.map(text).collect()
}

/// Whether an attempt has searched to the end.
fn has_ended(records: &[Record]) -> bool {
    records
        .iter()
        .any(|record| matches!(record, Record::SearchDone(_)))
}

#[test]
fn eight_nodes_finish_elements_that_wait_seven_times_as_fast_as_one() {
    let name = "eight_nodes_finish_elements_that_wait_seven_times_as_fast_as_one";
    let needs = [Need::Bars, Need::HostCompiler, Need::SshKeygen, Need::Slurm];
    if !have(name, &needs) {
        return;
    }
    let cluster = Cluster::start(NODES);
    let took = |at_once: usize| {
        let problems: Vec<u32> = (1..=32).map(|n| 1_000 * n).collect();
        let fleet = Fleet::with_space("THREADS in [64, 256], ITEMS in [1]", &problems);
        let slow = json!({"noise": {}, "rules": [{"compile": {"slow_ms": 4000}}]});
        fleet.devices_of_nodes("", &slow);
        fleet.plan("--replicas 1");
        fleet.job("");
        let start = Instant::now();
        fleet.submit(&cluster, &[&format!("--array=0-31%{at_once}")]);
        cluster.wait_for(Duration::from_secs(600));
        let took = start.elapsed();
        assert_eq!(fleet.missing(), 0);
        took.as_secs_f64()
    };
    let (one, eight) = (took(1), took(NODES));
    println!(
        "one node: {one:.1} s, eight nodes: {eight:.1} s, {:.2}x",
        one / eight
    );
    assert!(one / eight >= 7.2, "{one:.1} s and {eight:.1} s");
}

#[test]
fn a_hundred_elements_that_were_done_before_end_within_twenty_seconds() {
    let name = "a_hundred_elements_that_were_done_before_end_within_twenty_seconds";
    let needs = [Need::Bars, Need::HostCompiler, Need::SshKeygen, Need::Slurm];
    if !have(name, &needs) {
        return;
    }
    let cluster = Cluster::start(NODES);
    let problems: Vec<u32> = (1..=100).map(|n| 64 * n).collect();
    let fleet = Fleet::with_space("THREADS in [64, 256], ITEMS in [1]", &problems);
    fleet.devices_of_nodes("", &json!({"noise": {}}));
    fleet.plan("--replicas 1");
    fleet.job("");
    let mut took = Vec::new();
    for _ in 0..2 {
        let start = Instant::now();
        fleet.submit(&cluster, &[]);
        cluster.wait();
        took.push(start.elapsed().as_secs_f64());
        assert_eq!(fleet.missing(), 0);
    }
    println!("measured: {:.1} s, done before: {:.1} s", took[0], took[1]);
    assert!(took[1] <= 20.0, "{took:?}");
}

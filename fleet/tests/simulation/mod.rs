//! An event simulation of nodes that run the elements of a plan. The nodes publish real segments. The union, the
//! decisions and the elements of the next stage are computed by the crate.
// The test and the example use different parts of this module.
#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use std::cmp::Reverse;

use kiln_cache::Record;
use kiln_fleet::decide::finished;
use kiln_fleet::segment::Segment;
use kiln_fleet::{Decision, Element, Observations, Plan, PrivateKey, Stage, decide, next, object};

use crate::samples::{
    Random, config, continued, frames, header, key, observer, plan, session, trial,
};

/// The parameters of a simulation. Times are in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub nodes: usize,
    pub kinds: usize,
    pub problems: usize,
    pub trials: u64,
    pub trial_s: u64,
    pub confirm_s: u64,
    /// Time that an element needs to start.
    pub start_s: u64,
    /// Mean time between failures of a node.
    pub mtbf_s: u64,
    /// Share of elements for which a network partition starts a second copy, in millionths.
    pub partitions_ppm: u64,
    /// Time between two publications of a node.
    pub publish_s: u64,
    /// Time from the failure of a node until its element starts on another node.
    pub requeue_s: u64,
    pub seed: u64,
}

impl Default for Setting {
    fn default() -> Setting {
        Setting {
            nodes: 1000,
            kinds: 5,
            problems: 68,
            trials: 200,
            trial_s: 2,
            confirm_s: 45,
            start_s: 15,
            mtbf_s: 2 * 3600,
            partitions_ppm: 100_000,
            publish_s: 30,
            requeue_s: 180,
            seed: 1,
        }
    }
}

/// The result of a simulation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    pub makespan_s: u64,
    /// Useful work divided by the total time of all nodes, in millionths.
    pub efficiency_ppm: u64,
    /// Work that was lost in failures, in millionths of the useful work.
    pub redone_ppm: u64,
    /// Work that a second copy of an element repeated, in millionths of the useful work.
    pub twice_ppm: u64,
    /// Number of runs of elements.
    pub elements: u64,
    /// Number of trials that the store had acknowledged and that are missing in the union.
    pub acknowledged_lost: u64,
    pub proven: usize,
    pub tasks: usize,
}

/// The state of a simulation.
struct World {
    setting: Setting,
    random: Random,
    plan: Plan,
    earlier: Vec<Plan>,
    observations: Observations,
    /// Number of trials in the store, by attempt.
    acknowledged: BTreeMap<String, u64>,
    attempts: u64,
    work_s: u64,
    lost_s: u64,
    twice_s: u64,
    elements: u64,
}

/// Runs a plan on a fleet, stage after stage, until no work is left.
pub fn simulate(setting: Setting) -> Outcome {
    let worker = PrivateKey::generate().unwrap();
    let mut world = World {
        setting,
        random: Random(setting.seed),
        plan: plan(setting.kinds, setting.problems, &[&worker]),
        earlier: Vec::new(),
        observations: Observations::default(),
        acknowledged: BTreeMap::new(),
        attempts: 0,
        work_s: 0,
        lost_s: 0,
        twice_s: 0,
        elements: 0,
    };
    let mut now_s = 0;
    loop {
        now_s = world.run_plan(now_s);
        let decisions = decide(&world.plan, &world.earlier, &world.observations);
        let stages = [Stage::Final, Stage::Replicate];
        let elements: Vec<Element> = stages
            .iter()
            .flat_map(|stage| next(&world.plan, &decisions, *stage, 1))
            .collect();
        if elements.is_empty() || world.earlier.len() > 20 {
            return world.outcome(now_s, &decisions);
        }
        let following = continued(&world.plan, elements);
        let done = std::mem::replace(&mut world.plan, following);
        world.earlier.push(done);
    }
}

/// The time from which a node is free, a random number, and the node. The random number makes the scheduler choose
/// randomly among nodes that are free at the same time.
type Free = Reverse<(u64, u64, usize)>;

/// A run of an element: when it can start, its number, and how many trials an earlier attempt published.
type Waiting = Reverse<(u64, u32, u64)>;

impl World {
    /// Runs all elements of the plan, and returns the time at which the last one ended.
    fn run_plan(&mut self, start_s: u64) -> u64 {
        let mut end_s = start_s;
        for kind in 0..self.setting.kinds {
            end_s = end_s.max(self.run_kind(kind, start_s));
        }
        let wanted: BTreeSet<u32> = (0..self.plan.elements.len() as u32).collect();
        assert_eq!(finished(&self.plan, &self.observations), wanted);
        end_s
    }

    fn run_kind(&mut self, kind: usize, start_s: u64) -> u64 {
        let nodes = (kind..self.setting.nodes).step_by(self.setting.kinds);
        let nodes: Vec<usize> = nodes.collect();
        let mut free: BinaryHeap<Free> = nodes
            .into_iter()
            .map(|node| self.free(start_s, node))
            .collect();
        let numbered = (0u32..).zip(&self.plan.elements);
        let mut waiting: BinaryHeap<Waiting> = numbered
            .filter(|(_, element)| element.kind == kind)
            .map(|(number, _)| Reverse((start_s, number, 0)))
            .collect();
        let mut end_s = start_s;
        while let Some(Reverse((ready_s, number, known))) = waiting.pop() {
            let Some(Reverse((free_s, _, node))) = free.pop() else {
                return end_s;
            };
            let begin_s = ready_s.max(free_s);
            let (took_s, left) = self.run_element(number, node, known);
            let back_s = if left.is_some() { 600 } else { 0 };
            free.push(self.free(begin_s + took_s + back_s, node));
            if let Some(published) = left {
                let again_s = begin_s + took_s + self.setting.requeue_s;
                waiting.push(Reverse((again_s, number, published)));
                continue;
            }
            end_s = end_s.max(begin_s + took_s);
            if self.random.happens(self.setting.partitions_ppm) {
                // A second copy runs on another node. If it fails, it is not repeated.
                if let Some(Reverse((free_s, _, node))) = free.pop() {
                    let begin_s = free_s.max(begin_s + self.setting.requeue_s);
                    let (work_s, lost_s) = (self.work_s, self.lost_s);
                    let (took_s, _) = self.run_element(number, node, 0);
                    self.twice_s += self.work_s - work_s + self.lost_s - lost_s;
                    (self.work_s, self.lost_s) = (work_s, lost_s);
                    free.push(self.free(begin_s + took_s, node));
                }
            }
        }
        end_s
    }

    fn free(&mut self, from_s: u64, node: usize) -> Free {
        Reverse((from_s, self.random.next(), node))
    }

    /// Runs an element on a node. Returns how long the run took and, if the node failed, how many trials it had
    /// published.
    fn run_element(&mut self, number: u32, node: usize, known: u64) -> (u64, Option<u64>) {
        let element = &self.plan.elements[number as usize];
        let search = element.stage == Stage::Search;
        let trials = if search {
            self.setting.trials - known
        } else {
            0
        };
        let tasks = element.tasks.len() as u64;
        let needed_s = trials * self.setting.trial_s + tasks * self.setting.confirm_s;
        let fails_s = self.time_to_failure_s();
        self.elements += 1;
        self.attempts += 1;
        if fails_s >= self.setting.start_s + needed_s {
            self.work_s += needed_s;
            self.publish(number, node, trials, true);
            return (self.setting.start_s + needed_s, None);
        }
        let done_s = fails_s.saturating_sub(self.setting.start_s);
        let published_s = done_s / self.setting.publish_s * self.setting.publish_s;
        let published = (published_s / self.setting.trial_s).min(trials);
        self.work_s += published * self.setting.trial_s;
        self.lost_s += done_s.saturating_sub(published * self.setting.trial_s);
        self.publish(number, node, published, false);
        (fails_s, Some(known + published))
    }

    /// A random time to failure, exponentially distributed.
    fn time_to_failure_s(&mut self) -> u64 {
        let uniform = (self.random.below(1 << 53) + 1) as f64 / (1u64 << 53) as f64;
        (-uniform.ln() * self.setting.mtbf_s as f64) as u64
    }

    /// Publishes the records of a node as a real segment, and merges the segment.
    fn publish(&mut self, number: u32, node: usize, trials: u64, ended: bool) {
        let element = &self.plan.elements[number as usize];
        let mut records = Vec::new();
        for task in &element.tasks {
            let key = key(element.kind, &task.problem);
            records.push(Record::Key(key.clone()));
            // The attempt's number makes every trial of an element unique in the union.
            let first = self.attempts * 1000;
            records.extend((first..first + trials).map(|n| Record::End(trial(&key, n))));
            if ended {
                let chosen = self.choice(&task.configs, node);
                records.extend(session(&key, &chosen, Ok(1_100_000)).into_iter().skip(1));
            }
        }
        let attempt = self.attempts;
        let header = header(&self.plan.id(), number, observer(node), attempt);
        let (header, bytes) = Segment::build(&header, &frames(attempt, &records)).unwrap();
        let segment = Segment::parse(&bytes, &object::name_of(&bytes)).unwrap();
        self.observations.add(&segment);
        self.acknowledged.insert(header.attempt, trials);
    }

    /// The config that a node proves: the config that it was asked to confirm, or one of the two best.
    fn choice(&self, configs: &[String], node: usize) -> String {
        match configs {
            [] => config(node as u64 % 2),
            [first, ..] => first.clone(),
        }
    }

    fn outcome(&self, makespan_s: u64, decisions: &[kiln_fleet::TaskDecision]) -> Outcome {
        let mut kept: BTreeMap<&str, u64> = BTreeMap::new();
        for observer in self.observations.sources() {
            let count = kept.entry(&observer.source.attempt).or_default();
            *count += observer.trials().count() as u64;
        }
        let lost = self.acknowledged.iter().map(|(attempt, trials)| {
            trials.saturating_sub(kept.get(attempt.as_str()).copied().unwrap_or_default())
        });
        let of_work = |part_s: u64| part_s * 1_000_000 / self.work_s.max(1);
        let proven = |d: &&kiln_fleet::TaskDecision| matches!(d.decision, Decision::Proven { .. });
        Outcome {
            makespan_s,
            efficiency_ppm: of_work_and_nodes(self.work_s, makespan_s, self.setting.nodes),
            redone_ppm: of_work(self.lost_s),
            twice_ppm: of_work(self.twice_s),
            elements: self.elements,
            acknowledged_lost: lost.sum(),
            proven: decisions.iter().filter(proven).count(),
            tasks: decisions.len(),
        }
    }
}

fn of_work_and_nodes(work_s: u64, makespan_s: u64, nodes: usize) -> u64 {
    work_s * 1_000_000 / (makespan_s * nodes as u64).max(1)
}

//! A lab made of numbers: true times, a noise model and a virtual clock.
//!
//! For tests of everything above [`Lab`]: the engines here, a pipeline, a strategy. No real time passes.

use super::arm::ArmId;
use super::fault::Fault;
use super::lab::{Clock, Lab, Opening, Session};
use super::noise::{Noise, NoiseModel};
use super::sample::Sample;
use super::span::{Resolution, launches_beside, launches_per_sample};
use kiln_cache::Outcome;
use std::collections::HashMap;

/// Untimed launches of each arm when a process opens.
const WARM_UP: u32 = 3;

/// Virtual time that opening a process takes, in nanoseconds.
const OPEN_NS: u64 = 300_000_000;

/// Simulated arms 0, 1, 2… with a true time each.
#[derive(Clone, Debug)]
pub struct SimulatedLab {
    true_ns: Vec<u64>,
    noise: Noise,
    now_ns: u64,
    launches: u64,
    processes: u64,
    faults: HashMap<ArmId, (u64, Outcome)>,
    runs: HashMap<ArmId, u64>,
    clocks: Option<Vec<u32>>,
    openings: Vec<Opening>,
    /// The resolution that samples are sized for; `None`: one launch per sample.
    resolution: Option<Resolution>,
    /// Launches of a sample and nanoseconds of a launch, of every arm that was paced.
    paces: HashMap<ArmId, (u32, u64)>,
}

impl SimulatedLab {
    /// A lab whose arm `i` truly takes `true_ns[i]` nanoseconds per launch.
    pub fn new(true_ns: Vec<u64>, model: NoiseModel, seed: u64) -> Self {
        Self {
            true_ns,
            noise: Noise::new(model, seed),
            now_ns: 0,
            launches: 0,
            processes: 0,
            faults: HashMap::new(),
            runs: HashMap::new(),
            clocks: None,
            openings: Vec::new(),
            resolution: None,
            paces: HashMap::new(),
        }
    }

    /// Gives an arm another true time, in nanoseconds per launch.
    pub fn with_true_time(mut self, arm: ArmId, true_ns: u64) -> Self {
        self.true_ns[arm.0] = true_ns;
        self
    }

    /// Lets an arm fail with `outcome` at its timed launch number `after` (0: at once) and ever after.
    pub fn with_fault(mut self, arm: ArmId, after: u64, outcome: Outcome) -> Self {
        self.faults.insert(arm, (after, outcome));
        self
    }

    /// Lets every arm report a device clock: `khz[i]` for arm i.
    pub fn with_clocks(mut self, khz: Vec<u32>) -> Self {
        self.clocks = Some(khz);
        self
    }

    /// Sizes samples for a clock of that resolution, as workers do.
    pub fn with_samples_for(mut self, resolution: Resolution) -> Self {
        self.resolution = Some(resolution);
        self
    }

    /// Launches so far, warm-up included.
    pub fn launches(&self) -> u64 {
        self.launches
    }

    /// Processes opened so far.
    pub fn processes(&self) -> u64 {
        self.processes
    }

    /// How each process was opened.
    pub fn openings(&self) -> &[Opening] {
        &self.openings
    }

    /// The span of some launches of an arm. Disturbances hit all of them alike, which is worse than their effect on a
    /// real sample of many.
    fn launch(&mut self, arm: ArmId, slot: usize, launches: u32) -> Sample {
        let true_ns = self.true_ns[arm.0] as f64 * f64::from(launches);
        let disturbed_ns = true_ns * self.noise.launch(slot).exp();
        let span_ns = (disturbed_ns + self.noise.sample_start_ns()).round() as u64;
        self.launches += u64::from(launches);
        self.now_ns += span_ns;
        Sample::new(span_ns, launches)
    }

    /// Determines the launches per sample of each arm, like a worker that has just warmed them.
    fn pace(&mut self, arms: &[ArmId], resolution: Resolution) {
        for (slot, &arm) in arms.iter().enumerate() {
            let mut probe = self.launch(arm, slot, 1);
            if let Some((launches, _)) = self.paces.get(&arm).copied() {
                self.paces.insert(arm, (launches, probe.launch_ns()));
                continue;
            }
            while let Some(launches) = launches_per_sample(&probe, resolution)
                && (launches > probe.launches || probe.span_ns < resolution.least_ns())
            {
                probe = self.launch(arm, slot, launches.max(probe.launches));
            }
            self.paces.insert(arm, (probe.launches, probe.launch_ns()));
        }
        let paces: Vec<(u32, u64)> = arms.iter().map(|arm| self.paces[arm]).collect();
        for (arm, (_, launch_ns)) in arms.iter().zip(&paces) {
            let even = launches_beside(*launch_ns, &paces);
            self.paces.insert(*arm, (even, *launch_ns));
        }
    }
}

impl Clock for SimulatedLab {
    fn now_ns(&self) -> u64 {
        self.now_ns
    }
}

impl Lab for SimulatedLab {
    fn open(&mut self, opening: &Opening) -> Result<Box<dyn Session + '_>, Fault> {
        self.processes += 1;
        self.now_ns += OPEN_NS;
        self.openings.push(opening.clone());
        let mut arms = opening.load.clone();
        arms.sort_unstable();
        self.noise.begin_process(
            &places(&arms, &opening.load),
            &places(&arms, &opening.allocate),
        );
        for _ in 0..WARM_UP {
            for (slot, &arm) in arms.iter().enumerate() {
                self.launch(arm, slot, 1);
            }
        }
        if let Some(resolution) = self.resolution {
            self.pace(&arms, resolution);
        }
        Ok(Box::new(SimulatedSession { lab: self, arms }))
    }
}

/// The place of each of `arms` in `order`.
fn places(arms: &[ArmId], order: &[ArmId]) -> Vec<usize> {
    let mut places = vec![0; arms.len()];
    for (place, arm) in order.iter().enumerate() {
        if let Ok(slot) = arms.binary_search(arm) {
            places[slot] = place;
        }
    }
    places
}

struct SimulatedSession<'a> {
    lab: &'a mut SimulatedLab,
    arms: Vec<ArmId>,
}

impl Clock for SimulatedSession<'_> {
    fn now_ns(&self) -> u64 {
        self.lab.now_ns
    }
}

impl SimulatedSession<'_> {
    fn sample(&mut self, arm: ArmId) -> Result<Sample, Fault> {
        let not_loaded = || {
            let message = "it is not loaded in this process".into();
            Fault::of(arm, Outcome::Internal { message })
        };
        let slot = self.arms.binary_search(&arm).map_err(|_| not_loaded())?;
        let runs = self.lab.runs.entry(arm).or_insert(0);
        if let Some((after, outcome)) = self.lab.faults.get(&arm)
            && *runs >= *after
        {
            return Err(Fault::of(arm, outcome.clone()));
        }
        *runs += 1;
        let launches = self
            .lab
            .paces
            .get(&arm)
            .map_or(1, |(launches, _)| *launches);
        let mut sample = self.lab.launch(arm, slot, launches);
        sample.clock_khz = self.lab.clocks.as_ref().map(|clocks| clocks[arm.0]);
        Ok(sample)
    }
}

impl Session for SimulatedSession<'_> {
    fn run(&mut self, plan: &[ArmId]) -> Result<Vec<Sample>, Fault> {
        plan.iter().map(|&arm| self.sample(arm)).collect()
    }
}

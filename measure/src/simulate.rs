//! A simulated lab, which consists of true times, a noise model and a virtual clock.
//!
//! The lab is for tests of all code that uses a [`Lab`]: the engines of this crate, a pipeline, a strategy. No real
//! time passes.

use super::arm::ArmId;
use super::fault::Fault;
use super::lab::{Clock, Lab, Opening, Session};
use super::noise::{Noise, NoiseModel};
use super::sample::Sample;
use super::span::{Resolution, launches_beside, launches_per_sample};
use kiln_cache::Outcome;
use std::collections::HashMap;

/// Number of untimed launches of each arm at the start of a process.
const WARM_UP: u32 = 3;

/// Virtual time to open a process, in nanoseconds.
const OPEN_NS: u64 = 300_000_000;

/// A lab with the simulated arms 0, 1, 2…, each of which has a true time.
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
    /// The clock resolution that determines the number of launches of a sample; `None` for one launch per sample.
    resolution: Option<Resolution>,
    /// Launches per sample, and time of one launch in nanoseconds, of every arm that was paced.
    paces: HashMap<ArmId, (u32, u64)>,
}

impl SimulatedLab {
    /// A lab in which one launch of arm `i` has the true time `true_ns[i]`, in nanoseconds.
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

    /// Sets the true time of one launch of an arm, in nanoseconds.
    pub fn with_true_time(mut self, arm: ArmId, true_ns: u64) -> Self {
        self.true_ns[arm.0] = true_ns;
        self
    }

    /// Makes an arm fail with `outcome` after `after` timed samples (0: at once), and in every sample from then on.
    pub fn with_fault(mut self, arm: ArmId, after: u64, outcome: Outcome) -> Self {
        self.faults.insert(arm, (after, outcome));
        self
    }

    /// Makes every arm report a device clock, `khz[i]` for arm i.
    pub fn with_clocks(mut self, khz: Vec<u32>) -> Self {
        self.clocks = Some(khz);
        self
    }

    /// Chooses the number of launches per sample for a clock of this resolution, as workers do.
    pub fn with_samples_for(mut self, resolution: Resolution) -> Self {
        self.resolution = Some(resolution);
        self
    }

    /// Number of launches so far, including warm-up.
    pub fn launches(&self) -> u64 {
        self.launches
    }

    /// Number of processes that were opened so far.
    pub fn processes(&self) -> u64 {
        self.processes
    }

    /// The opening of each process so far.
    pub fn openings(&self) -> &[Opening] {
        &self.openings
    }

    /// Runs some launches of an arm as one sample. The noise of one launch applies to all of them. A real sample is
    /// less noisy, because the noise of many launches averages out.
    fn launch(&mut self, arm: ArmId, slot: usize, launches: u32) -> Sample {
        let true_ns = self.true_ns[arm.0] as f64 * f64::from(launches);
        let disturbed_ns = true_ns * self.noise.launch(slot).exp();
        let span_ns = (disturbed_ns + self.noise.sample_start_ns()).round() as u64;
        self.launches += u64::from(launches);
        self.now_ns += span_ns;
        Sample::new(span_ns, launches)
    }

    /// Determines the launches per sample of each arm, as a worker does after the warm-up.
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

/// The position of each of `arms` in `order`.
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

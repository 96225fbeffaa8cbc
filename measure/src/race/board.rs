//! The state of a race: the samples of each arm in each round, the leader, and the arms that were dropped or failed.

use super::result::{Fate, RaceCard, RaceEntry, RaceResult, RaceSettings, Stopped};
use crate::arm::ArmId;
use crate::fault::Fault;
use crate::sample::Sample;
use crate::summary::{Quartiles, median};

/// Number of past rounds that the rule [`RaceSettings::near`] uses.
const NEAR_ROUNDS: usize = 8;

struct ArmLane {
    arm: ArmId,
    /// One entry per round: the sample, or `None` if the arm did not run in that round.
    samples: Vec<Option<Sample>>,
    fate: Option<Fate>,
}

impl ArmLane {
    fn is_live(&self) -> bool {
        self.fate.is_none()
    }

    fn rounds(&self) -> u32 {
        u32::try_from(self.samples.iter().flatten().count()).unwrap_or(u32::MAX)
    }

    fn last_span_ns(&self) -> Option<u64> {
        self.samples
            .iter()
            .rev()
            .flatten()
            .next()
            .map(|sample| sample.span_ns)
    }
}

/// The state of a race, with one lane per arm. Lane 0 is the anchor. Lane 1 is the incumbent, if that is another arm.
pub(super) struct Board {
    settings: RaceSettings,
    lanes: Vec<ArmLane>,
    incumbent: usize,
    leader: usize,
    /// For each lane, whether its arm led after any round.
    has_led: Vec<bool>,
    rounds: usize,
    process_began: usize,
    processes: u32,
    taken: u64,
}

const ANCHOR: usize = 0;

impl Board {
    pub(super) fn new(card: &RaceCard<'_>, settings: &RaceSettings) -> Self {
        let mut lanes: Vec<ArmLane> = Vec::with_capacity(card.contenders.len() + 2);
        for arm in [card.anchor, card.incumbent].iter().chain(card.contenders) {
            if lanes.iter().all(|lane| lane.arm != *arm) {
                lanes.push(ArmLane {
                    arm: *arm,
                    samples: Vec::new(),
                    fate: None,
                });
            }
        }
        let incumbent = usize::from(card.incumbent != card.anchor);
        Self {
            settings: *settings,
            has_led: vec![false; lanes.len()],
            lanes,
            incumbent,
            leader: incumbent,
            rounds: 0,
            process_began: 0,
            processes: 0,
            taken: 0,
        }
    }

    pub(super) fn rounds(&self) -> u32 {
        u32::try_from(self.rounds).unwrap_or(u32::MAX)
    }

    /// Whether the leader still has a rival. The anchor is a rival only during the first eight rounds and while it
    /// still runs. After that it is timed only because costs are relative to it.
    pub(super) fn is_contested(&self) -> bool {
        let live = |lane: &usize| self.lanes[*lane].is_live();
        let mut rivals = (0..self.lanes.len())
            .filter(live)
            .filter(|&lane| lane != self.leader);
        rivals.any(|lane| lane != ANCHOR || (self.rounds < NEAR_ROUNDS && !self.is_resting(lane)))
    }

    /// The arms of the next round.
    pub(super) fn in_play(&self) -> Vec<ArmId> {
        let live = self
            .lanes
            .iter()
            .enumerate()
            .filter(|(_, lane)| lane.is_live());
        live.filter(|(lane, _)| !self.is_resting(*lane))
            .map(|(_, lane)| lane.arm)
            .collect()
    }

    /// Whether a lane is a slow anchor that has run its first rounds. It does not run in later rounds, because it would
    /// use up the time of the other arms.
    fn is_resting(&self, lane: usize) -> bool {
        lane == ANCHOR
            && lane != self.leader
            && self.lanes[ANCHOR].rounds() >= self.settings.anchor_rounds
            && self
                .ratio(ANCHOR, self.leader)
                .is_some_and(|ratio| ratio > self.settings.slow_anchor)
    }

    pub(super) fn begin_process(&mut self) {
        self.processes += 1;
        self.process_began = self.rounds;
    }

    /// Discards the rounds of a process that failed, and readmits the arms that were dropped in these rounds.
    pub(super) fn void_process(&mut self) {
        self.rounds = self.process_began;
        for lane in &mut self.lanes {
            lane.samples.truncate(self.rounds);
            let left = lane.rounds();
            lane.fate
                .take_if(|fate| matches!(fate, Fate::Dropped { at_round } if *at_round > left));
        }
    }

    pub(super) fn begin_round(&mut self) {
        self.rounds += 1;
        for lane in &mut self.lanes {
            lane.samples.resize(self.rounds, None);
        }
    }

    pub(super) fn record(&mut self, arm: ArmId, sample: Sample) {
        let round = self.rounds - 1;
        self.taken += 1;
        if let Some(lane) = self.lanes.iter_mut().find(|lane| lane.arm == arm) {
            lane.samples[round] = Some(sample);
        }
    }

    /// The number of arms of `order` for the next request, which should take at most `request_ns`. An arm that was
    /// never timed is assumed to take all of this time, so it is requested alone.
    pub(super) fn request_len(&self, order: &[ArmId], request_ns: u64) -> usize {
        let mut sum_ns = 0u64;
        for (count, arm) in order.iter().enumerate() {
            let lane = self.lanes.iter().find(|lane| lane.arm == *arm);
            let span_ns = lane.and_then(ArmLane::last_span_ns).unwrap_or(request_ns);
            sum_ns = sum_ns.saturating_add(span_ns);
            if sum_ns > request_ns {
                return count.max(1);
            }
        }
        order.len()
    }

    /// The log ratios of one lane to another, for the rounds in which both ran, in order.
    fn log_ratios(&self, lane: usize, to: usize) -> Vec<f64> {
        let pairs = self.lanes[lane].samples.iter().zip(&self.lanes[to].samples);
        pairs
            .filter_map(|(a, b)| Some(a.as_ref()?.log_ns() - b.as_ref()?.log_ns()))
            .collect()
    }

    fn ratio(&self, lane: usize, to: usize) -> Option<f64> {
        median(&self.log_ratios(lane, to)).map(f64::exp)
    }

    /// The ratio of two lanes, computed from their ratios to the leader, which ran in every round in which either of
    /// them ran. `None` if one of them has no ratio to the leader.
    fn ratio_by_leader(&self, lane: usize, to: usize) -> Option<f64> {
        Some(self.ratio(lane, self.leader)? / self.ratio(to, self.leader)?)
    }

    /// Ends a round: finds the leader and drops the arms that are too slow.
    pub(super) fn judge(&mut self, on_end: &mut dyn FnMut(&RaceEntry)) {
        self.find_leader();
        for lane in 0..self.lanes.len() {
            let judged = lane != ANCHOR && lane != self.leader && self.lanes[lane].is_live();
            if judged && self.is_beaten(lane) {
                let at_round = self.lanes[lane].rounds();
                self.end(lane, Fate::Dropped { at_round }, on_end);
            }
        }
    }

    /// Finds the live lane with the lowest median ratio to the previous leader. On a tie, the previous leader stays;
    /// among other lanes, the lower one wins.
    fn find_leader(&mut self) {
        let mut best = (self.leader, 1.0);
        for lane in (0..self.lanes.len()).filter(|&lane| self.lanes[lane].is_live()) {
            let ratio = self.ratio(lane, self.leader).unwrap_or(f64::INFINITY);
            if ratio < best.1 && !self.is_resting(lane) {
                best = (lane, ratio);
            }
        }
        self.leader = best.0;
        self.has_led[best.0] = true;
    }

    fn is_beaten(&self, lane: usize) -> bool {
        let ratios = self.log_ratios(lane, self.leader);
        let all_above = |ratios: &[f64], bar: f64| ratios.iter().all(|&ratio| ratio > bar.ln());
        let n = ratios.len();
        (n >= 2 && all_above(&ratios, self.settings.hopeless))
            || (n >= 3 && all_above(&ratios, self.settings.far))
            || (n >= NEAR_ROUNDS && all_above(&ratios[n - NEAR_ROUNDS..], self.settings.near))
    }

    fn end(&mut self, lane: usize, fate: Fate, on_end: &mut dyn FnMut(&RaceEntry)) {
        self.lanes[lane].fate = Some(fate);
        on_end(&self.entry(lane));
    }

    /// Removes a faulty arm. Returns `false` if the arm is the anchor or unknown. If the faulty arm had led, all
    /// dropped arms are readmitted and compared with the remaining leader: a faulty arm can be fast only because of
    /// undefined behaviour, which must not decide a race.
    pub(super) fn eliminate(
        &mut self,
        arm: ArmId,
        fault: &Fault,
        on_end: &mut dyn FnMut(&RaceEntry),
    ) -> bool {
        let found = self
            .lanes
            .iter()
            .position(|lane| lane.arm == arm && lane.is_live());
        let Some(lane) = found.filter(|&lane| lane != ANCHOR) else {
            return false;
        };
        self.end(lane, Fate::Faulted(fault.clone()), on_end);
        if self.has_led[lane] {
            for lane in &mut self.lanes {
                lane.fate
                    .take_if(|fate| matches!(fate, Fate::Dropped { .. }));
            }
        }
        if lane == self.leader {
            self.leader = ANCHOR;
            self.judge(on_end);
        }
        true
    }

    fn entry(&self, lane: usize) -> RaceEntry {
        let ArmLane { arm, samples, fate } = &self.lanes[lane];
        let samples: Vec<Sample> = samples.iter().flatten().copied().collect();
        let spans = Quartiles::of_launches(samples.iter().map(|sample| sample.span_ns).collect());
        let ratio_to_incumbent = self.ratio_by_leader(lane, self.incumbent);
        let open = if ratio_to_incumbent.is_some() {
            Fate::Survived
        } else {
            Fate::Unreached
        };
        RaceEntry {
            arm: *arm,
            rounds: self.lanes[lane].rounds(),
            ratio_to_incumbent,
            ratio_to_anchor: self.ratio_by_leader(lane, ANCHOR),
            span_ns: spans.map(|spans| spans.median_ns),
            summary: Quartiles::of(&samples),
            fate: fate.clone().unwrap_or(open),
        }
    }

    pub(super) fn into_result(
        mut self,
        stopped: Stopped,
        on_end: &mut dyn FnMut(&RaceEntry),
    ) -> RaceResult {
        self.find_leader();
        let entries: Vec<RaceEntry> = (0..self.lanes.len()).map(|lane| self.entry(lane)).collect();
        for (entry, lane) in entries.iter().zip(&self.lanes) {
            if lane.is_live() {
                on_end(entry);
            }
        }
        RaceResult {
            leader: self.lanes[self.leader].arm,
            entries,
            rounds: self.rounds(),
            processes: self.processes,
            samples: self.taken,
            stopped,
        }
    }
}

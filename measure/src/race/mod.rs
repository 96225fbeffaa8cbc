//! Race: eliminates slow arms at low cost. It selects the arms that are worth confirming, and makes no claim.
//!
//! Every round runs each live arm once, in a new random order, so drift, boost and other programs affect all arms
//! equally. There is one exception: with the settings of the protocol, an anchor that takes more than four times as
//! long as the leader runs in only three rounds. Times are compared only within a round, and each arm is compared with
//! the leader. With the settings of the protocol, an arm is dropped in three cases:
//!
//! - after two rounds or more, if all its ratios to the leader are above 4
//! - after three rounds or more, if all its ratios are above 1.10
//! - after eight rounds or more, if its last eight ratios are all above 1.01
//!
//! The anchor is never dropped.
//!
//! After some rounds the remaining arms move to a fresh process, because each process favours some arms for its whole
//! lifetime. Every second process loads and allocates in the reverse order of the process before it, so that the effect
//! of the order averages out.

mod board;
mod result;
#[cfg(test)]
mod tests;

pub use result::{Fate, RaceCard, RaceEntry, RaceResult, RaceSettings, Stopped};

use super::arm::ArmId;
use super::fault::Fault;
use super::lab::{Lab, Opening, Session, run_checked};
use super::order::{mirrored, random_opening, shuffled};
use board::Board;
use rand::Rng;

/// Largest sum of predicted sample spans per request, in nanoseconds. The time limit is checked between requests.
const REQUEST_NS: u64 = 500_000_000;

/// The race fails after this many consecutive failed processes whose failure cannot be attributed to an arm.
const MAX_LOST: u32 = 3;

/// Races the contenders of `card` against its incumbent and its anchor. `on_end` receives each arm when its fate is
/// decided. If an arm was dropped because of a leader that later turns out to be faulty, it is readmitted, and `on_end`
/// receives it again.
///
/// # Errors
/// The anchor failed, the device was lost, a disk is full, or several processes failed without a known cause. If
/// another arm fails, only that arm is removed.
pub fn race(
    lab: &mut dyn Lab,
    card: &RaceCard<'_>,
    settings: &RaceSettings,
    rng: &mut impl Rng,
    on_end: &mut dyn FnMut(&RaceEntry),
) -> Result<RaceResult, Fault> {
    let deadline_ns = lab.now_ns().saturating_add(settings.budget_ns);
    let mut board = Board::new(card, settings);
    let mut lost = 0;
    let mut unpaired: Option<Opening> = None;
    let stopped = loop {
        if let Some(stopped) = finished(&board, settings) {
            break stopped;
        }
        if lab.now_ns() >= deadline_ns {
            break Stopped::BudgetSpent;
        }
        board.begin_process();
        let opening = next_opening(unpaired.as_ref(), &board, rng);
        let limits = (settings, deadline_ns);
        match run_process(lab, &mut board, &opening, limits, rng, on_end) {
            Ok(Some(stopped)) => break stopped,
            Ok(None) => {
                lost = 0;
                unpaired = unpaired.is_none().then_some(opening);
            }
            Err(fault) => {
                lost += 1;
                unpaired = None;
                absorb(&mut board, fault, lost, on_end)?;
            }
        }
    };
    Ok(board.into_result(stopped, on_end))
}

/// A random opening, or the reverse of the opening of a process that has no partner yet.
fn next_opening(unpaired: Option<&Opening>, board: &Board, rng: &mut impl Rng) -> Opening {
    match unpaired {
        Some(first) => mirrored(first, &board.in_play()),
        None => random_opening(&board.in_play(), rng),
    }
}

fn finished(board: &Board, settings: &RaceSettings) -> Option<Stopped> {
    if !board.is_contested() {
        return Some(Stopped::Decided);
    }
    (board.rounds() >= settings.most_rounds).then_some(Stopped::AllRounds)
}

/// Runs the rounds of one process, until it has run [`RaceSettings::rounds_per_process`] rounds or the race is over.
fn run_process(
    lab: &mut dyn Lab,
    board: &mut Board,
    opening: &Opening,
    (settings, deadline_ns): (&RaceSettings, u64),
    rng: &mut impl Rng,
    on_end: &mut dyn FnMut(&RaceEntry),
) -> Result<Option<Stopped>, Fault> {
    let mut session = lab.open(opening)?;
    for _ in 0..settings.rounds_per_process.max(1) {
        if let Some(stopped) = finished(board, settings) {
            session.finish()?;
            return Ok(Some(stopped));
        }
        let order = shuffled(&board.in_play(), rng);
        board.begin_round();
        if !run_round(session.as_mut(), board, &order, settings, deadline_ns)? {
            session.finish()?;
            return Ok(Some(Stopped::BudgetSpent));
        }
        board.judge(on_end);
    }
    session.finish()?;
    Ok(None)
}

/// Runs one round; `false` if the time limit was reached in it.
fn run_round(
    session: &mut dyn Session,
    board: &mut Board,
    order: &[ArmId],
    settings: &RaceSettings,
    deadline_ns: u64,
) -> Result<bool, Fault> {
    let mut rest = order;
    while !rest.is_empty() {
        if session.now_ns() >= deadline_ns {
            return Ok(false);
        }
        let (request, later) = rest.split_at(board.request_len(rest, REQUEST_NS));
        let samples = run_checked(session, request, settings.resolution)?;
        for (&arm, &sample) in request.iter().zip(&samples) {
            board.record(arm, sample);
        }
        rest = later;
    }
    Ok(true)
}

/// Handles a fault. The arm that caused it is removed, and the rounds of the process are discarded. Returns the fault
/// if the race cannot continue.
fn absorb(
    board: &mut Board,
    fault: Fault,
    lost: u32,
    on_end: &mut dyn FnMut(&RaceEntry),
) -> Result<(), Fault> {
    board.void_process();
    let is_final = fault.ends_the_run();
    match fault.arm {
        Some(arm) if !is_final && board.eliminate(arm, &fault, on_end) => Ok(()),
        None if !is_final && lost < MAX_LOST => Ok(()),
        _ => Err(fault),
    }
}

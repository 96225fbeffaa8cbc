//! Race: cheap elimination of losers. Chooses what is worth confirming; claims nothing.
//!
//! Every round runs each live arm once in a fresh random order, so that drift, boost and neighbours hit all
//! alike; times are compared within a round only. The leader is the reference: an arm whose ratios to
//! it are far above 1 goes early, one whose last eight are all just above 1 goes a little later. After some
//! rounds the rest moves to a fresh process, because a process favours some arms for as long as it lives. Every other
//! process loads and allocates in the reverse order of the one before, so that the effect of the order averages out.

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

/// Sum of predicted sample spans, in nanoseconds, per request: the clock is read
/// between such requests.
const REQUEST_NS: u64 = 500_000_000;

/// Processes that may fail in a row with no arm to blame.
const MAX_LOST: u32 = 3;

/// Races the contenders of `card` against its incumbent and anchor. `on_end` sees each arm as its
/// fate is decided; an arm is seen again if the one that it lost to turns out faulty.
///
/// # Errors
/// The anchor failed, the device was lost, or processes keep failing with no arm to blame. Any other arm that fails
/// costs only itself.
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

/// A random opening, or the mirror image of the process that has no partner yet.
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

/// Rounds of one process, until it has run its share or the race is over.
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

/// One round; `false` if the time ran out in it.
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

/// Handles a fault: the arm to blame is out, and the process's rounds are void. Gives up if nothing
/// can be raced any more.
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

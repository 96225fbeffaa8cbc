//! Computes the states of a component, level by level. A state contains those results of the values set so far that
//! later levels need. Equal states are merged, so there can be far fewer states than configs.

use super::error::CspError;
use super::hashing::mix;
use super::lanes::LaneScratch;
use super::program::{Operand, Program};
use super::register::Values;

/// Limits on the work and memory of a construction.
#[derive(Clone, Copy, Debug)]
pub struct LayerBudget {
    /// Maximum size of the states and the edges between them, in words of 8 bytes.
    pub kept: u64,
    /// Maximum number of values that are tried, summed over all states.
    pub looked_at: u64,
}

impl Default for LayerBudget {
    fn default() -> LayerBudget {
        LayerBudget {
            kept: 1 << 24,
            looked_at: 1 << 29,
        }
    }
}

impl LayerBudget {
    /// The budget divided by `parts`.
    pub(crate) fn share(self, parts: u64) -> LayerBudget {
        LayerBudget {
            kept: self.kept / parts,
            looked_at: self.looked_at / parts,
        }
    }

    /// Subtracts the work of a construction that started with the budget `granted` and ended with the budget `left`.
    /// Its memory is not subtracted, because it is free again.
    pub(super) fn spend_as(&mut self, granted: LayerBudget, left: LayerBudget) {
        self.looked_at -= granted.looked_at - left.looked_at;
    }

    fn spend(&mut self, looked_at: usize, kept: usize) -> Result<(), CspError> {
        self.looked_at = self.looked_at.saturating_sub(looked_at as u64);
        self.kept = self.kept.saturating_sub(kept as u64);
        if self.looked_at == 0 || self.kept == 0 {
            return Err(CspError::TooLong);
        }
        Ok(())
    }
}

/// The edges from the states before a level to the states after it. Each edge sets one value of the level's variable.
#[derive(Debug, Default)]
pub(super) struct Layer {
    /// For each edge, the place (the index of the value) and the number of the next state.
    pub(super) edges: Vec<(u32, u32)>,
    /// For each state, the end of its edges in `edges`.
    pub(super) ends: Vec<u32>,
}

/// The layers of a component, one per level.
pub(super) fn layers(
    programs: &[Program],
    values: &mut Values,
    budget: &mut LayerBudget,
) -> Result<Vec<Layer>, CspError> {
    let mut states = States::new(0);
    states.insert(&[]);
    let mut layers = Vec::with_capacity(programs.len());
    let mut scratch = LaneScratch::default();
    for program in programs {
        let (layer, next) = layer(program, &states, values, &mut scratch, budget)?;
        layers.push(layer);
        states = next;
    }
    Ok(layers)
}

fn layer(
    program: &Program,
    states: &States,
    values: &mut Values,
    scratch: &mut LaneScratch,
    budget: &mut LayerBudget,
) -> Result<(Layer, States), CspError> {
    let mut next = States::new(program.next.len());
    let mut layer = Layer::default();
    let mut key = vec![0; program.next.len()];
    let varies = |operand: &Operand| matches!(operand, Operand::Table(_) | Operand::Lane(_));
    let varies = program.next.iter().any(varies);
    scratch.fit(program);
    for number in 0..states.len {
        let state = states.get(number);
        let before = layer.edges.len() + next.bits.len();
        if !program.places.is_empty() && scratch.run(program, state, values) {
            let mut only = None;
            for (i, place) in program.places.iter().enumerate() {
                if !scratch.passing[i] {
                    continue;
                }
                let child = match only {
                    Some(child) => child,
                    None => {
                        for (bits, operand) in key.iter_mut().zip(&program.next) {
                            *bits = scratch.at(*operand, program, state, i);
                        }
                        next.insert(&key)
                    }
                };
                if !varies {
                    only = Some(child);
                }
                layer.edges.push((*place, child));
            }
        }
        layer.ends.push(layer.edges.len() as u32);
        budget.spend(
            program.places.len(),
            layer.edges.len() + next.bits.len() - before,
        )?;
    }
    Ok((layer, next))
}

/// Distinct states, numbered in the order of insertion.
#[derive(Debug)]
struct States {
    width: usize,
    len: usize,
    bits: Vec<i64>,
    /// An open-addressing hash table. A used slot contains the number of a state plus one. Its length is a power of
    /// two.
    slots: Vec<u32>,
}

impl States {
    fn new(width: usize) -> States {
        States {
            width,
            len: 0,
            bits: Vec::new(),
            slots: vec![0; 16],
        }
    }

    fn get(&self, number: usize) -> &[i64] {
        &self.bits[number * self.width..][..self.width]
    }

    /// The number of a state. Adds the state if it is new.
    fn insert(&mut self, state: &[i64]) -> u32 {
        if self.width == 0 {
            self.len = 1;
            return 0;
        }
        if self.len * 2 >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut slot = hash(state) & mask;
        loop {
            match self.slots[slot] {
                0 => break,
                number if self.get(number as usize - 1) == state => return number - 1,
                _ => slot = (slot + 1) & mask,
            }
        }
        self.bits.extend_from_slice(state);
        self.len += 1;
        self.slots[slot] = self.len as u32;
        self.len as u32 - 1
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 4 - 1;
        let mut slots = vec![0; mask + 1];
        for number in 0..self.len {
            let mut slot = hash(self.get(number)) & mask;
            while slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            slots[slot] = number as u32 + 1;
        }
        self.slots = slots;
    }
}

fn hash(state: &[i64]) -> usize {
    let hash = state.iter().fold(0, |hash, bits| mix(hash, *bits as u64));
    (hash ^ (hash >> 32)) as usize
}

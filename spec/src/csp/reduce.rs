//! Reduces the layers of a construction to a graph, from the last level to the first. States without a path to the end
//! are dropped. States from which the same paths lead to the end become one node.

use super::dag::{Count, Dag};
use super::error::CspError;
use super::hashing::mix;
use super::layers::Layer;

/// The nodes of a graph under construction.
struct Nodes {
    first: Vec<u32>,
    masks: Vec<u64>,
    places: Vec<u32>,
    children: Vec<u32>,
    /// For each node, the number of paths from it to the end.
    counts: Vec<u128>,
    /// An open-addressing hash table of the nodes of one level. Its length is a power of two.
    slots: Vec<u32>,
}

/// Marks a state that has no path to the end.
const DEAD: u32 = u32::MAX;

/// The smallest graph with the same paths as the layers.
pub(super) fn reduce(
    layers: Vec<Layer>,
    params: Vec<usize>,
    domains: Vec<u32>,
) -> Result<Reduced, CspError> {
    let mut nodes = Nodes {
        first: vec![0, 0],
        masks: vec![0],
        places: Vec::new(),
        children: Vec::new(),
        counts: vec![1],
        slots: Vec::new(),
    };
    let mut starts = Vec::with_capacity(layers.len());
    let mut below = vec![0u32];
    for layer in layers.into_iter().rev() {
        starts.push(nodes.counts.len() as u32);
        below = nodes.level(&layer, &below)?;
    }
    starts.reverse();
    let root = below.first().copied().filter(|root| *root != DEAD);
    let len = root.map_or(0, |root| nodes.counts[root as usize]);
    let parts = (nodes, params, domains, starts, root.unwrap_or(0));
    Ok(match u64::try_from(len) {
        Ok(len) => Reduced::Narrow(dag(parts, len)),
        Err(_) => Reduced::Wide(dag(parts, len)),
    })
}

/// A graph with 64-bit counts or, if these are too small, with 128-bit counts.
#[derive(Clone, Debug)]
pub(super) enum Reduced {
    Narrow(Dag<u64>),
    Wide(Dag<u128>),
}

fn dag<C: Count>(parts: (Nodes, Vec<usize>, Vec<u32>, Vec<u32>, u32), len: C) -> Dag<C> {
    let (mut nodes, params, domains, starts, root) = parts;
    let mut before = Vec::with_capacity(nodes.children.len());
    for ends in nodes.first.windows(2) {
        let mut sum = 0;
        for child in &nodes.children[ends[0] as usize..ends[1] as usize] {
            before.push(C::of(sum));
            sum += nodes.counts[*child as usize];
        }
    }
    nodes.first.shrink_to_fit();
    nodes.masks.shrink_to_fit();
    nodes.places.shrink_to_fit();
    nodes.children.shrink_to_fit();
    Dag {
        params,
        domains,
        starts,
        first: nodes.first,
        masks: nodes.masks,
        places: nodes.places,
        children: nodes.children,
        before,
        root,
        len,
    }
}

impl Nodes {
    /// Creates the nodes of a level. Returns the node of each state before the level. `below` contains the node of each
    /// state after the level.
    fn level(&mut self, layer: &Layer, below: &[u32]) -> Result<Vec<u32>, CspError> {
        let slots = (layer.ends.len() * 2).next_power_of_two();
        self.slots.clear();
        self.slots.resize(slots, DEAD);
        let mut of_state = Vec::with_capacity(layer.ends.len());
        let mut from = 0;
        for end in &layer.ends {
            let edges = &layer.edges[from..*end as usize];
            from = *end as usize;
            of_state.push(self.node(edges, below)?);
        }
        Ok(of_state)
    }

    /// Returns the node with these edges, without the edges to dead states. If a node with the same edges exists,
    /// returns that node. Returns `DEAD` if no edge is left.
    fn node(&mut self, edges: &[(u32, u32)], below: &[u32]) -> Result<u32, CspError> {
        let base = self.places.len();
        let (mut hash, mut mask, mut count) = (0, 0u64, 0u128);
        for (place, state) in edges {
            let child = below[*state as usize];
            if child == DEAD {
                continue;
            }
            self.places.push(*place);
            self.children.push(child);
            mask |= 1u64.checked_shl(*place).unwrap_or(0);
            hash = mix(hash, u64::from(*place) << 32 | u64::from(child));
            let configs = self.counts[child as usize];
            count = count.checked_add(configs).ok_or(CspError::TooMany)?;
        }
        if count == 0 {
            return Ok(DEAD);
        }
        let slots = self.slots.len() - 1;
        let mut slot = (hash ^ (hash >> 32)) as usize & slots;
        while self.slots[slot] != DEAD {
            let node = self.slots[slot] as usize;
            if self.same(node, base) {
                self.places.truncate(base);
                self.children.truncate(base);
                return Ok(node as u32);
            }
            slot = (slot + 1) & slots;
        }
        let node = self.counts.len() as u32;
        self.slots[slot] = node;
        self.counts.push(count);
        self.masks.push(mask);
        self.first.push(self.places.len() as u32);
        Ok(node)
    }

    /// Whether a node has the same edges as the list of edges that starts at `base`.
    fn same(&self, node: usize, base: usize) -> bool {
        let edges = self.first[node] as usize..self.first[node + 1] as usize;
        self.children[edges.clone()] == self.children[base..]
            && self.places[edges] == self.places[base..]
    }
}

//! The valid configs of one component as a layered graph. Every path from the root to the end is a config.
//!
//! A *place* is the index of a value among the values of its parameter. Each level of the graph sets one parameter, and
//! each edge has the place of one value. The edges of a node store how many configs come before them. One walk from the
//! root to the end therefore finds the config with a given index or the index of a given config, without listing the
//! configs.

use std::ops::{Add, Sub};

/// An integer type for numbers of configs.
pub(super) trait Count: Copy + Ord + Add<Output = Self> + Sub<Output = Self> {
    fn of(count: u128) -> Self;
    fn wide(self) -> u128;
}

impl Count for u64 {
    fn of(count: u128) -> u64 {
        count as u64
    }

    fn wide(self) -> u128 {
        self.into()
    }
}

impl Count for u128 {
    fn of(count: u128) -> u128 {
        count
    }

    fn wide(self) -> u128 {
        self
    }
}

/// One step of a path: the node at a level, and the edge by which the path leaves it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DagStep {
    node: u32,
    edge: usize,
}

/// A layered graph. Node 0 is the end. The edges of node `n` are sorted by place. Their indices are those from
/// `first[n]` up to, but not including, `first[n + 1]`.
#[derive(Clone, Debug)]
pub(super) struct Dag<C> {
    /// The parameter that each level sets.
    pub(super) params: Vec<usize>,
    /// For each level, the number of values of its parameter.
    pub(super) domains: Vec<u32>,
    /// The first node of each level. Nodes of the last level have the lowest numbers.
    pub(super) starts: Vec<u32>,
    pub(super) first: Vec<u32>,
    /// For each node, a bit set of the places below 64 for which the node has an edge.
    pub(super) masks: Vec<u64>,
    pub(super) places: Vec<u32>,
    pub(super) children: Vec<u32>,
    /// For each edge, how many configs of its node come before the configs of this edge.
    pub(super) before: Vec<C>,
    pub(super) root: u32,
    pub(super) len: C,
}

impl<C: Count> Dag<C> {
    fn edges(&self, node: u32) -> std::ops::Range<usize> {
        let node = node as usize;
        self.first[node] as usize..self.first[node + 1] as usize
    }

    /// The index of the edge by which a node sets a place; `None` if the node has no such edge.
    fn edge(&self, node: u32, level: usize, place: u32) -> Option<usize> {
        let edges = self.edges(node);
        let domain = self.domains[level];
        if place < domain && edges.len() == domain as usize {
            return Some(edges.start + place as usize);
        }
        if domain <= 64 {
            let mask = self.masks[node as usize];
            if mask.checked_shr(place)? & 1 == 0 {
                return None;
            }
            let rank = (mask & ((1 << place) - 1)).count_ones() as usize;
            return Some(edges.start + rank);
        }
        let found = self.places[edges.clone()].binary_search(&place).ok()?;
        Some(edges.start + found)
    }

    /// Writes the config with this index to `places`.
    pub(super) fn places_of(&self, mut index: C, places: &mut [u32]) {
        let mut node = self.root;
        for param in &self.params {
            let edges = self.edges(node);
            let before = &self.before[edges.clone()];
            let edge = edges.start + before.partition_point(|first| *first <= index) - 1;
            index = index - self.before[edge];
            places[*param] = self.places[edge];
            node = self.children[edge];
        }
    }

    /// The index of the config with these places; `None` if the config is not valid.
    pub(super) fn index_of(&self, places: &[u32]) -> Option<C> {
        if self.len == C::of(0) {
            return None;
        }
        let mut index = C::of(0);
        let mut node = self.root;
        for (level, param) in self.params.iter().enumerate() {
            let edge = self.edge(node, level, places[*param])?;
            index = index + self.before[edge];
            node = self.children[edge];
        }
        Some(index)
    }

    /// Calls `visit` for each valid config that differs from config `index` in one parameter. `visit` receives the
    /// parameter, the place of the other value and the index of the other config. Also writes the places of config
    /// `index` to `places`. `path` is scratch memory with at least one element per level.
    pub(super) fn neighbours(
        &self,
        index: C,
        places: &mut [u32],
        path: &mut [DagStep],
        mut visit: impl FnMut(usize, u32, C),
    ) {
        let path = &mut path[..self.params.len()];
        let mut node = self.root;
        let mut left = index;
        for (param, step) in self.params.iter().zip(path.iter_mut()) {
            let edges = self.edges(node);
            let before = &self.before[edges.clone()];
            let edge = edges.start + before.partition_point(|first| *first <= left) - 1;
            left = left - self.before[edge];
            places[*param] = self.places[edge];
            *step = DagStep { node, edge };
            node = self.children[edge];
        }
        let mut above = C::of(0);
        for (level, step) in path.iter().copied().enumerate() {
            let own = self.before[step.edge];
            let below = index - above - own;
            for edge in self.edges(step.node) {
                if edge == step.edge {
                    continue;
                }
                if let Some(rest) = self.rest(path, level + 1, self.children[edge], places, below) {
                    let start = above + self.before[edge];
                    visit(self.params[level], self.places[edge], start + rest);
                }
            }
            above = above + own;
        }
    }

    /// The index of the config with these places among the configs of `node`; `None` if the config is not valid. `path`
    /// is the path of another config, and `below` is the index of that config among the configs of the path's node at
    /// `level`. If the walk reaches a node of `path`, it stops and adds the rest of `below`, because all later places
    /// of the two configs are equal.
    fn rest(
        &self,
        path: &[DagStep],
        mut level: usize,
        mut node: u32,
        places: &[u32],
        mut below: C,
    ) -> Option<C> {
        let mut index = C::of(0);
        while level < path.len() {
            let step = path[level];
            if step.node == node {
                return Some(index + below);
            }
            below = below - self.before[step.edge];
            let edge = self.edge(node, level, places[self.params[level]])?;
            index = index + self.before[edge];
            node = self.children[edge];
            level += 1;
        }
        Some(index)
    }

    /// Size of the graph on the heap, in bytes.
    pub(super) fn bytes(&self) -> usize {
        fn of<T>(list: &Vec<T>) -> usize {
            list.capacity() * size_of::<T>()
        }
        of(&self.params)
            + of(&self.domains)
            + of(&self.starts)
            + of(&self.first)
            + of(&self.masks)
            + of(&self.places)
            + of(&self.children)
            + of(&self.before)
    }

    /// For each level and each value of its parameter, the number of configs that have this value.
    pub(super) fn marginals(&self) -> Vec<Vec<u128>> {
        let nodes = self.first.len() - 1;
        let mut ways = vec![0u128; nodes];
        let mut after = vec![0u128; nodes];
        after[0] = 1;
        for node in 1..nodes as u32 {
            let children = self.children[self.edges(node)].iter();
            after[node as usize] = children.map(|child| after[*child as usize]).sum();
        }
        ways[self.root as usize] = 1;
        let mut marginals = Vec::with_capacity(self.params.len());
        let mut end = nodes as u32;
        for (level, domain) in self.domains.iter().enumerate() {
            let mut counts = vec![0u128; *domain as usize];
            for node in self.starts[level]..end {
                for edge in self.edges(node) {
                    let child = self.children[edge] as usize;
                    counts[self.places[edge] as usize] += ways[node as usize] * after[child];
                    ways[child] += ways[node as usize];
                }
            }
            end = self.starts[level];
            marginals.push(counts);
        }
        marginals
    }
}

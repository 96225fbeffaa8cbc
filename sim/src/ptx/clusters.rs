//! The special registers of clusters (PTX ISA, "Special Registers").

/// A special register that depends on the clusters of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum OfCluster {
    /// The index of the cluster along an axis: `%clusterid`.
    Id(usize),
    /// Number of clusters along an axis: `%nclusterid`.
    Number(usize),
    /// The index of the block in its cluster along an axis: `%cluster_ctaid`.
    Block(usize),
    /// Blocks of a cluster along an axis: `%cluster_nctaid`.
    Blocks(usize),
    /// The index of the block in its cluster; x varies fastest: `%cluster_ctarank`.
    Rank,
    /// Blocks of a cluster: `%cluster_nctarank`.
    Ranks,
}

impl OfCluster {
    /// The value for a block. Without clusters, every block is a cluster of its own. The launch was checked: the grid
    /// consists of whole clusters.
    pub(super) fn value(self, cluster: Option<[u32; 3]>, grid: [u32; 3], block: [u32; 3]) -> u32 {
        let blocks = cluster.unwrap_or([1; 3]).map(|extent| extent.max(1));
        let inside = |axis: usize| block[axis] % blocks[axis];
        match self {
            OfCluster::Id(axis) => block[axis] / blocks[axis],
            OfCluster::Number(axis) => grid[axis].div_ceil(blocks[axis]),
            OfCluster::Block(axis) => inside(axis),
            OfCluster::Blocks(axis) => blocks[axis],
            OfCluster::Rank => inside(0) + blocks[0] * (inside(1) + blocks[1] * inside(2)),
            OfCluster::Ranks => blocks.iter().product(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_indices_in_clusters_and_clusters_in_the_grid() {
        let of = |what: OfCluster| what.value(Some([2, 3, 1]), [4, 6, 2], [3, 5, 1]);
        let axes = |what: fn(usize) -> OfCluster| [0, 1, 2].map(|axis| of(what(axis)));
        assert_eq!(axes(OfCluster::Id), [1, 1, 1]);
        assert_eq!(axes(OfCluster::Number), [2, 2, 2]);
        assert_eq!(axes(OfCluster::Block), [1, 2, 0]);
        assert_eq!(axes(OfCluster::Blocks), [2, 3, 1]);
        assert_eq!([of(OfCluster::Rank), of(OfCluster::Ranks)], [5, 6]);
        let alone = OfCluster::Rank.value(None, [4, 6, 2], [3, 5, 1]);
        assert_eq!(alone, 0);
    }
}

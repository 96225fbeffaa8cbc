//! Why a launch of a compiled kernel is refused.

use thiserror::Error;

/// Why a kernel cannot be launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Unlaunchable {
    /// The plan has more threads per block than the launch bounds allow.
    #[error("{}: {threads} threads per block, but the bounds allow {most}", self.name())]
    Threads {
        /// Threads per block.
        threads: u64,
        /// The maximum that the launch bounds in the source declare.
        most: u32,
    },
    /// The plan has another block than the one that the kernel requires.
    #[error("{}: {block:?} threads, but the kernel requires {required:?}", self.name())]
    Block {
        /// Threads along each axis.
        block: [u32; 3],
        /// Threads along each axis that the kernel requires.
        required: [u32; 3],
    },
    /// The static shared memory exceeds what the vendor's compilers and drivers grant, whatever the device has.
    #[error("{}: {bytes} bytes, but a kernel has at most {most}", self.name())]
    StaticShared {
        /// Static shared memory, in bytes.
        bytes: u32,
        /// The limit, in bytes.
        most: u32,
    },
    /// The block needs more shared memory than a block can have.
    #[error("{}: {static_bytes} static and {dynamic_bytes} dynamic bytes, but a block has {most}", self.name())]
    Shared {
        /// Static shared memory, in bytes.
        static_bytes: u32,
        /// Dynamic shared memory, in bytes.
        dynamic_bytes: u32,
        /// The limit, in bytes.
        most: u32,
    },
    /// The grid does not consist of whole clusters.
    #[error("{}: {grid:?} blocks, but a cluster has {cluster:?}", self.name())]
    Cluster {
        /// Blocks along each axis of the grid.
        grid: [u32; 3],
        /// Blocks along each axis of a cluster.
        cluster: [u32; 3],
    },
    /// A cluster has more blocks than a launch can have without an attribute that Kiln does not set.
    #[error("{}: {blocks} blocks, but a cluster has at most {most}", self.name())]
    ClusterBlocks {
        /// Blocks per cluster.
        blocks: u64,
        /// The limit.
        most: u64,
    },
    /// The grid counts clusters, so that a launch would run more blocks than the plan has.
    #[error("{}: each of them has {cluster:?} blocks, but a plan counts blocks", self.name())]
    GridOfClusters {
        /// Blocks along each axis of a cluster.
        cluster: [u32; 3],
    },
    /// The parameters are larger than a kernel's can be.
    #[error("{}: {bytes} bytes, but a kernel has at most {most}", self.name())]
    Parameters {
        /// Size of all parameters, in bytes.
        bytes: u32,
        /// The limit, in bytes.
        most: u32,
    },
}

impl Unlaunchable {
    /// A short name of the reason, by which the report counts excluded configs.
    pub fn name(&self) -> &'static str {
        match self {
            Unlaunchable::Threads { .. } => "threads over launch bounds",
            Unlaunchable::Block { .. } => "block other than the kernel's",
            Unlaunchable::StaticShared { .. } => "static shared memory over a kernel's",
            Unlaunchable::Shared { .. } => "shared memory over a block's",
            Unlaunchable::Cluster { .. } => "grid of incomplete clusters",
            Unlaunchable::ClusterBlocks { .. } => "cluster over a device's",
            Unlaunchable::GridOfClusters { .. } => "grid that counts clusters",
            Unlaunchable::Parameters { .. } => "parameters over a kernel's",
        }
    }
}

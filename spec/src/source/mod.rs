//! Kernel sources: flattening of local includes, and a token scan of the `.cu`.

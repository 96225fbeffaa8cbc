//! Searches that start from what another device's recording says.

//! Generated translation units: release and receipt entry of one config, from one source.

//! Search spaces: every valid config of a kernel for a problem and a device.

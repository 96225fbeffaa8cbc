//! Devices and their compilers: drivers and their stand-ins, images, and launches next to other libraries.

mod compile_pool;
mod compile_targets;
mod compiled_ahead;
mod container;
mod cuda_compile;
mod cuda_device;
mod cuda_driver;
mod gemm_speed;
mod header_folders;
mod hip_compiler;
mod hip_device;
mod hip_interface;
mod hip_library;
mod hip_timing;
mod hiprtc;
mod images;
mod interop;
mod limits_of_targets;
mod lost_compilers;
mod machine_headers;
mod older_nvrtc;
mod processes_on_a_gpu;
mod same_bytes;
mod shared_gpu;
mod streaming;
mod toolchains;

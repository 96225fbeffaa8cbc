//! The `tune` program, with the plain-Rust references of Kiln's own kernels linked in.

fn main() -> std::process::ExitCode {
    kiln_tuner::main(kiln_kernels::catalogue())
}

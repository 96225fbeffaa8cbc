//! `tune` under the name `cargo-tune`, so that `cargo tune` works once it is installed.

fn main() -> std::process::ExitCode {
    kiln_tuner::main(kiln_kernels::catalogue())
}

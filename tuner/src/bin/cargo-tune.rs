//! The command `tune` under the name `cargo-tune`. Cargo runs an installed program of this name as `cargo tune`.

fn main() -> std::process::ExitCode {
    kiln_tuner::main(kiln_kernels::catalogue())
}

//! `tune` under the name that makes it `cargo tune` once installed.

fn main() -> std::process::ExitCode {
    kiln_tuner::main(kiln_kernels::catalogue())
}

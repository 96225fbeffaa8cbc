//! Maps NVIDIA's machine instructions to the instruction classes of the simulator.

use kiln::backend::sim::Class;

/// The class of a SASS opcode such as `HMMA.16816.F32`, following the tables "Instruction Set Reference" of NVIDIA's
/// "CUDA Binary Utilities".
pub(super) fn of_sass(opcode: &str) -> Class {
    let name = opcode.split('.').next().unwrap_or_default();
    match name {
        _ if name.ends_with("MMA") => Class::Matrix,
        "FFMA" | "FFMA2" | "FFMA32I" => Class::MultiplyAdd,
        "LDS" | "STS" | "LDSM" | "STSM" | "ATOMS" => Class::Shared,
        "LD" | "ST" | "LDG" | "STG" | "ATOM" | "ATOMG" | "RED" | "REDG" => Class::Global,
        "LDGSTS" | "UBLKCP" | "UBLKPF" | "UBLKRED" => Class::Copy,
        _ if name.starts_with("UTMA") => Class::Copy,
        "LDL" | "STL" => Class::Private,
        "BAR" => Class::Barrier,
        "SHFL" | "VOTE" | "VOTEU" | "MATCH" | "REDUX" | "CREDUX" | "MOVM" => Class::Exchange,
        "LDC" | "ULDC" | "LDCU" => Class::ScalarMemory,
        "BRA" | "BRX" | "BRXU" | "JMP" | "JMX" | "CALL" | "RET" | "EXIT" | "BSSY" | "BSYNC"
        | "BREAK" | "BMOV" | "BPT" | "KILL" | "NANOSLEEP" | "NOP" | "WARPSYNC" | "YIELD"
        | "DEPBAR" | "LDGDEPBAR" | "LDTRAM" | "MEMBAR" | "ERRBAR" | "FENCE" | "CCTL" | "CCTLL"
        | "SYNCS" | "ACQBULK" | "ENDCOLLECTIVE" | "PREEXIT" | "ACQSHMINIT" | "WARPGROUP" => {
            Class::Flow
        }
        "R2UR" | "S2UR" => Class::Scalar,
        // Instructions of the uniform datapath are executed once per warp.
        _ if name.starts_with('U') => Class::Scalar,
        _ => Class::Vector,
    }
}

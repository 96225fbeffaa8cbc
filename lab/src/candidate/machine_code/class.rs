//! What an instruction of NVIDIA's machine code is for, in the classes of the simulator.

/// The class of an opcode of SASS (`HMMA.16816.F32`), as the tables "Instruction Set Reference" of NVIDIA's "CUDA
/// Binary Utilities" describe it.
pub(super) fn of_sass(opcode: &str) -> &'static str {
    let name = opcode.split('.').next().unwrap_or_default();
    match name {
        _ if name.ends_with("MMA") => "matrix",
        "FFMA" | "FFMA2" | "FFMA32I" => "multiply-add",
        "LDS" | "STS" | "LDSM" | "STSM" | "ATOMS" => "shared memory",
        "LD" | "ST" | "LDG" | "STG" | "ATOM" | "ATOMG" | "RED" | "REDG" => "global memory",
        "LDGSTS" | "UBLKCP" | "UBLKPF" | "UBLKRED" => "asynchronous copy",
        _ if name.starts_with("UTMA") => "asynchronous copy",
        "LDL" | "STL" => "private memory",
        "BAR" => "barrier",
        "SHFL" | "VOTE" | "VOTEU" | "MATCH" | "REDUX" | "CREDUX" | "MOVM" => "exchange",
        "LDC" | "ULDC" | "LDCU" => "scalar memory",
        "BRA" | "BRX" | "BRXU" | "JMP" | "JMX" | "CALL" | "RET" | "EXIT" | "BSSY" | "BSYNC"
        | "BREAK" | "BMOV" | "BPT" | "KILL" | "NANOSLEEP" | "NOP" | "WARPSYNC" | "YIELD"
        | "DEPBAR" | "LDGDEPBAR" | "LDTRAM" | "MEMBAR" | "ERRBAR" | "FENCE" | "CCTL" | "CCTLL"
        | "SYNCS" | "ACQBULK" | "ENDCOLLECTIVE" | "PREEXIT" | "ACQSHMINIT" | "WARPGROUP" => "flow",
        "R2UR" | "S2UR" => "scalar",
        // The uniform datapath, which computes once per warp.
        _ if name.starts_with('U') => "scalar",
        _ => "vector",
    }
}

//! Branches, waits, barriers and messages.
//!
//! AMD, "RDNA3 Instruction Set Architecture", SOPP and the waits of SOPK.

macro_rules! flow_ops {
    ($($code:literal $op:ident $name:literal;)*) => {
        /// The operation of an instruction that controls the flow of a program.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum FlowOp { $(#[doc = concat!("`", $name, "`.")] $op,)* }

        impl FlowOp {
            /// The instruction with this SOPP opcode, or with `0x100` plus a SOPK opcode.
            pub fn of(code: u32) -> Option<FlowOp> {
                Some(match code { $($code => FlowOp::$op,)* _ => return None })
            }

            /// The mnemonic.
            pub fn name(self) -> &'static str {
                match self { $(FlowOp::$op => $name,)* }
            }
        }
    };
}

flow_ops! {
    0x00 Nop "s_nop";
    0x03 Sleep "s_sleep";
    0x04 SetInstPrefetchDistance "s_set_inst_prefetch_distance";
    0x05 Clause "s_clause";
    0x07 DelayAlu "s_delay_alu";
    0x08 WaitcntDepctr "s_waitcnt_depctr";
    0x09 Waitcnt "s_waitcnt";
    0x10 Trap "s_trap";
    0x11 RoundMode "s_round_mode";
    0x12 DenormMode "s_denorm_mode";
    0x1f CodeEnd "s_code_end";
    0x20 Branch "s_branch";
    0x21 CbranchScc0 "s_cbranch_scc0";
    0x22 CbranchScc1 "s_cbranch_scc1";
    0x23 CbranchVccz "s_cbranch_vccz";
    0x24 CbranchVccnz "s_cbranch_vccnz";
    0x25 CbranchExecz "s_cbranch_execz";
    0x26 CbranchExecnz "s_cbranch_execnz";
    0x30 Endpgm "s_endpgm";
    0x35 Setprio "s_setprio";
    0x36 Sendmsg "s_sendmsg";
    0x3d Barrier "s_barrier";
    0x111 GetregB32 "s_getreg_b32";
    0x112 SetregB32 "s_setreg_b32";
    0x113 SetregImm32B32 "s_setreg_imm32_b32";
    0x118 WaitcntVscnt "s_waitcnt_vscnt";
    0x119 WaitcntVmcnt "s_waitcnt_vmcnt";
    0x11a WaitcntExpcnt "s_waitcnt_expcnt";
    0x11b WaitcntLgkmcnt "s_waitcnt_lgkmcnt";
}

impl FlowOp {
    /// Whether execution may continue at an instruction other than the following one.
    pub fn branches(self) -> bool {
        matches!(
            self,
            FlowOp::Branch
                | FlowOp::CbranchScc0
                | FlowOp::CbranchScc1
                | FlowOp::CbranchVccz
                | FlowOp::CbranchVccnz
                | FlowOp::CbranchExecz
                | FlowOp::CbranchExecnz
        )
    }
}

impl FlowOp {
    /// Whether the instruction has a constant target.
    pub fn is_branch(self) -> bool {
        self.name().contains("branch")
    }
}

//! Branches, waits and barriers.

use super::isa::decode::NOT_AN_INSTRUCTION;
use super::isa::instruction::Flow;
use super::isa::program_flow::FlowOp;
use super::object::Text;
use super::trouble::Trouble;
use super::wave::Wave;
use crate::FaultKind;

/// The next step of a wave.
pub(super) enum Step {
    On,
    Barrier,
    End,
}

/// The number of `MODE` among the hardware registers.
const MODE: u16 = 1;

/// Jumps to a byte offset of the code.
pub(super) fn jump(wave: &mut Wave, text: &Text, offset: u64) -> Result<(), Trouble> {
    let word = usize::try_from(offset / 4)
        .ok()
        .filter(|_| offset.is_multiple_of(4));
    match word.and_then(|word| text.index.get(word)) {
        Some(&index) if index != NOT_AN_INSTRUCTION => {
            wave.next = index;
            Ok(())
        }
        _ => Err(FaultKind::Invalid {
            what: format!("a jump to {offset:#x}, which is not an instruction"),
        }
        .into()),
    }
}

/// Executes a branch, a wait, a barrier or a message.
pub(super) fn flow(wave: &mut Wave, one: &Flow) -> Result<Step, FaultKind> {
    let taken = match one.op {
        FlowOp::Branch => true,
        FlowOp::CbranchScc0 => !wave.scc,
        FlowOp::CbranchScc1 => wave.scc,
        FlowOp::CbranchVccz => wave.vcc() == 0,
        FlowOp::CbranchVccnz => wave.vcc() != 0,
        FlowOp::CbranchExecz => wave.exec() == 0,
        FlowOp::CbranchExecnz => wave.exec() != 0,
        FlowOp::Barrier => return Ok(Step::Barrier),
        FlowOp::Endpgm => return Ok(Step::End),
        FlowOp::Trap => return Err(FaultKind::Trap),
        FlowOp::CodeEnd => {
            return Err(FaultKind::Invalid {
                what: "the code ends here".into(),
            });
        }
        FlowOp::Sendmsg => {
            // Message 3 deallocates registers. All other messages can affect results.
            return match one.immediate {
                3 => Ok(Step::On),
                message => Err(FaultKind::NotImplemented {
                    what: format!("s_sendmsg {message:#x}"),
                }),
            };
        }
        FlowOp::RoundMode => return set_round(wave, one.immediate as u8 & 15),
        FlowOp::DenormMode => {
            wave.mode.denormals = one.immediate as u8 & 15;
            return Ok(Step::On);
        }
        FlowOp::SetregB32 => return set_register(wave, one.immediate, wave.s32(one.register)),
        FlowOp::SetregImm32B32 => return set_register(wave, one.immediate, one.target),
        FlowOp::GetregB32 => return get_register(wave, one),
        _ => false,
    };
    if taken {
        if one.target == NOT_AN_INSTRUCTION {
            return Err(FaultKind::Invalid {
                what: "a branch to what is not an instruction".into(),
            });
        }
        wave.next = one.target;
    }
    Ok(Step::On)
}

fn set_round(wave: &mut Wave, round: u8) -> Result<Step, FaultKind> {
    wave.mode.round = round;
    match round {
        0 => Ok(Step::On),
        _ => Err(FaultKind::NotImplemented {
            what: format!("the rounding mode {round}"),
        }),
    }
}

/// The register, the first bit and the mask that an operand of `s_setreg` specifies.
fn field(immediate: u16) -> (u16, u32, u32) {
    let (register, offset, size) = (
        immediate & 63,
        u32::from(immediate >> 6 & 31),
        u32::from(immediate >> 11) + 1,
    );
    (
        register,
        offset,
        1u32.checked_shl(size).map_or(u32::MAX, |bit| bit - 1),
    )
}

/// Writes a part of MODE: the rounding in bits 0 to 3, or the denormal modes in bits 4 to 7.
fn set_register(wave: &mut Wave, immediate: u16, value: u32) -> Result<Step, FaultKind> {
    let (register, offset, mask) = field(immediate);
    if register != MODE || u64::from(mask) << offset > 0xff {
        return Err(FaultKind::NotImplemented {
            what: format!("s_setreg_b32 {immediate:#x}"),
        });
    }
    let old = u32::from(wave.mode.round) | u32::from(wave.mode.denormals) << 4;
    let new = old & !(mask << offset) | (value & mask) << offset;
    wave.mode.denormals = (new >> 4) as u8;
    set_round(wave, new as u8 & 15)
}

fn get_register(wave: &mut Wave, one: &Flow) -> Result<Step, FaultKind> {
    let (register, offset, mask) = field(one.immediate);
    if register != MODE {
        return Err(FaultKind::NotImplemented {
            what: format!("s_getreg_b32 {:#x}", one.immediate),
        });
    }
    let mode = wave.mode;
    let value = u32::from(mode.round)
        | u32::from(mode.denormals) << 4
        | u32::from(mode.clamp_nan) << 8
        | u32::from(mode.ieee) << 9;
    wave.put_s32(one.register, value >> offset & mask);
    Ok(Step::On)
}

//! Executes one instruction.

use super::access;
use super::exec::{self, Jump};
use super::flow::{self, Step};
use super::isa::instruction::{Instruction, Placed};
use super::kernel::Kernel;
use super::lds_trace::Who;
use super::object::Text;
use super::trouble::{Shared, Trouble};
use super::wave::Wave;
use crate::FaultKind;

/// Executes one instruction of a wave.
#[inline(always)]
pub(super) fn execute(
    kernel: &Kernel,
    text: &Text,
    number: u8,
    wave: &mut Wave,
    shared: &mut Shared,
    one: &Placed,
) -> Result<Step, Trouble> {
    let at = shared.at;
    let who = Who { wave: number, at };
    match &one.instruction {
        Instruction::Vector(vector) => match kernel.handlers[at as usize] {
            Some(handler) => handler(wave, vector),
            None => return Err(unknown(one.instruction.to_string())),
        },
        Instruction::Dual(halves) => exec::dual(wave, halves),
        Instruction::Compare(compare) => exec::compare(wave, compare),
        Instruction::Packed(packed) => exec::packed(wave, packed)?,
        Instruction::Scalar(scalar) => {
            let address = kernel.loaded.base + text.address;
            let next = text.placed.get(at as usize + 1);
            let after = next.map_or(one.offset + 4, |next| next.offset);
            if let Jump::To(target) = exec::scalar(wave, scalar, address + u64::from(after))? {
                flow::jump(wave, text, target.wrapping_sub(address))?;
            }
        }
        Instruction::Flow(flow) => return Ok(flow::flow(wave, flow)?),
        Instruction::ScalarLoad(load) => access::scalar_load(wave, shared, load)?,
        Instruction::Share(share) => access::share(wave, shared, share, who)?,
        Instruction::Flat(flat) => access::flat(wave, shared, flat, who)?,
        Instruction::Hint(_) => {}
        Instruction::Unknown(what) => {
            return Err(unknown(format!("{} ({:#010x})", what.what, what.word)));
        }
    }
    Ok(Step::On)
}

fn unknown(what: String) -> Trouble {
    FaultKind::NotImplemented { what }.into()
}

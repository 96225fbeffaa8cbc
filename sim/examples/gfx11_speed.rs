//! Prints the warp instructions per second of the gfx11 interpreter, on one core and on all cores.

mod speed;

use kiln_sim::Memory;
use kiln_sim::gfx11::CodeObject;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let object = CodeObject::parse(include_bytes!("../tests/gfx11/speed.co"))?;
    for case in speed::cases("wmma")
        .iter()
        .filter(|case| speed::is_wanted(case))
    {
        let memory = Memory::default();
        let kernel = object.load(&memory)?.kernel(case.name)?;
        case.time(&kernel, &memory, kernel.instructions())?;
    }
    Ok(())
}

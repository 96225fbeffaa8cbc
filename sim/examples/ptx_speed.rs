//! Prints the warp instructions per second of the PTX interpreter, on one core and on all cores.

mod speed;

use kiln_sim::Memory;
use kiln_sim::ptx::Module;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let module = Module::parse(include_str!("../tests/ptx/speed/speed.ptx"))?;
    for case in speed::cases("mma")
        .iter()
        .filter(|case| speed::is_wanted(case))
    {
        let memory = Memory::default();
        let kernel = module
            .load(&memory)?
            .kernel(case.name)
            .ok_or("no such kernel")?;
        case.time(&kernel, &memory, kernel.instructions())?;
    }
    Ok(())
}

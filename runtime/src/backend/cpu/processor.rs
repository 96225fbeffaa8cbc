//! The host processor, as `/proc/cpuinfo` describes it.

use std::fs;
use std::sync::OnceLock;

/// The names of Arm processors, by the fields `CPU implementer` and `CPU part` (Arm, "Arm Architecture Reference Manual
/// for A-profile", register `MIDR_EL1`). The kernel prints no name for them.
const ARM_PARTS: &[(u32, u32, &str)] = &[
    (0x41, 0xd03, "Cortex-A53"),
    (0x41, 0xd05, "Cortex-A55"),
    (0x41, 0xd07, "Cortex-A57"),
    (0x41, 0xd08, "Cortex-A72"),
    (0x41, 0xd09, "Cortex-A73"),
    (0x41, 0xd0a, "Cortex-A75"),
    (0x41, 0xd0b, "Cortex-A76"),
    (0x41, 0xd0c, "Neoverse-N1"),
    (0x41, 0xd0d, "Cortex-A77"),
    (0x41, 0xd40, "Neoverse-V1"),
    (0x41, 0xd41, "Cortex-A78"),
    (0x41, 0xd42, "Cortex-A78AE"),
    (0x41, 0xd44, "Cortex-X1"),
    (0x41, 0xd46, "Cortex-A510"),
    (0x41, 0xd47, "Cortex-A710"),
    (0x41, 0xd48, "Cortex-X2"),
    (0x41, 0xd49, "Neoverse-N2"),
    (0x41, 0xd4a, "Neoverse-E1"),
    (0x41, 0xd4b, "Cortex-A78C"),
    (0x41, 0xd4d, "Cortex-A715"),
    (0x41, 0xd4e, "Cortex-X3"),
    (0x41, 0xd4f, "Neoverse-V2"),
    (0x41, 0xd80, "Cortex-A520"),
    (0x41, 0xd81, "Cortex-A720"),
    (0x41, 0xd82, "Cortex-X4"),
    (0x41, 0xd84, "Neoverse-V3"),
    (0x41, 0xd85, "Cortex-X925"),
    (0x41, 0xd87, "Cortex-A725"),
    (0x41, 0xd8e, "Neoverse-N3"),
    (0x46, 0x001, "A64FX"),
    (0x48, 0xd01, "TaiShan-v110"),
    (0x4e, 0x004, "Carmel"),
    (0x51, 0x001, "Oryon"),
    (0x6d, 0xd49, "Azure-Cobalt-100"),
    (0xc0, 0xac3, "Ampere-1"),
    (0xc0, 0xac4, "Ampere-1a"),
];

/// The description of the host processor.
#[derive(Clone, Debug, Default)]
pub(super) struct Processor {
    /// The product name. If the kernel prints none, the names of the cores, each once.
    pub name: String,
    /// On x86-64, the vendor, family, model and stepping of the first core. On aarch64, the implementer, variant, part
    /// and revision of each core that differs from those before it.
    pub model: String,
    /// The instruction set features that compilers use, sorted.
    pub features: String,
}

impl Processor {
    /// Reads `/proc/cpuinfo` at the first call. Unknown fields are empty.
    pub fn read() -> &'static Processor {
        static READ: OnceLock<Processor> = OnceLock::new();
        READ.get_or_init(|| {
            Processor::parse(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
        })
    }

    fn parse(text: &str) -> Processor {
        let cores: Vec<&str> = text.split("\n\n").collect();
        let first = |name: &str| cores.iter().find_map(|core| field(core, name));
        let mut names = Vec::new();
        let mut models = Vec::new();
        for core in &cores {
            names.extend(arm_name(core).filter(|name| !names.contains(name)));
            models.extend(
                Some(arm_model(core)).filter(|model| !model.is_empty() && !models.contains(model)),
            );
        }
        if models.is_empty() {
            let fields = ["vendor_id", "cpu family", "model", "stepping"];
            models = vec![
                fields
                    .into_iter()
                    .filter_map(first)
                    .collect::<Vec<_>>()
                    .join(" "),
            ];
        }
        let name = first("model name")
            .or_else(|| first("Processor"))
            .map(plain);
        let name = name.or_else(|| (!names.is_empty()).then(|| names.join(" + ")));
        Processor {
            name: name.unwrap_or_else(|| "unknown processor".into()),
            model: models.join(" + "),
            features: features(first("flags"), first("Features")),
        }
    }
}

/// The value of a field in the description of a core; `None` if it is absent or empty.
fn field<'t>(core: &'t str, name: &str) -> Option<&'t str> {
    let lines = core.lines().filter_map(|line| line.split_once(':'));
    let mut values = lines.filter(|(key, _)| key.trim() == name);
    values
        .next()
        .map(|(_, value)| value.trim())
        .filter(|value| !value.is_empty())
}

/// The name of an Arm core; `None` if the core is of another kind.
fn arm_name(core: &str) -> Option<String> {
    let number = |name: &str| {
        let digits = field(core, name)?.strip_prefix("0x")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let (implementer, part) = (number("CPU implementer")?, number("CPU part")?);
    let known = ARM_PARTS
        .iter()
        .find(|(by, of, _)| (*by, *of) == (implementer, part));
    Some(match known {
        Some((_, _, name)) => (*name).to_owned(),
        None => format!("Arm {implementer:#04x} {part:#05x}"),
    })
}

/// The numbers that identify an Arm core; empty for other cores.
fn arm_model(core: &str) -> String {
    let fields = ["CPU implementer", "CPU variant", "CPU part", "CPU revision"];
    let fields = fields.into_iter().filter_map(|name| field(core, name));
    fields.collect::<Vec<_>>().join(" ")
}

/// The features for which compilers generate code. All `Features` of an Arm core are instruction sets, except `evtstrm`
/// and `cpuid`. Many `flags` of an x86-64 core depend on the operating system and the hypervisor instead.
fn features(flags: Option<&str>, arm: Option<&str>) -> String {
    const SETS: [&str; 17] = [
        "sse", "ssse3", "avx", "amx", "fma", "f16c", "bmi", "abm", "adx", "aes", "gfni", "sha",
        "movbe", "popcnt", "vaes", "vpclmul", "pclmul",
    ];
    let is_set = |flag: &&str| *flag != "smep" && SETS.iter().any(|set| flag.starts_with(set));
    let is_arm_set = |flag: &&str| !matches!(*flag, "evtstrm" | "cpuid");
    let flags = flags.unwrap_or_default().split_whitespace().filter(is_set);
    let arm = arm.unwrap_or_default().split_whitespace();
    let mut features: Vec<&str> = flags.chain(arm.filter(is_arm_set)).collect();
    features.sort_unstable();
    features.join(" ")
}

/// Replaces each run of white space in a name by one space.
fn plain(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_processor_is_read_and_kernel_flags_are_left_out() {
        let text = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n\
                    model name\t: Some  CPU @ 2.00GHz\nstepping\t: 7\nflags\t\t: fpu sse2 smep avx2 md_clear\n\n\
                    processor\t: 1\nmodel name\t: Another\n";
        let processor = Processor::parse(text);
        assert_eq!(processor.name, "Some CPU @ 2.00GHz");
        assert_eq!(processor.model, "GenuineIntel 6 85 7");
        assert_eq!(processor.features, "avx2 sse2");
        assert_eq!(Processor::parse("").name, "unknown processor");
    }

    #[test]
    fn an_arm_processor_has_the_names_of_its_cores() {
        let core = |part: &str| {
            format!(
                "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd evtstrm atomics cpuid asimddp sve\n\
                 CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: {part}\n\
                 CPU revision\t: 1\n\n"
            )
        };
        let grace = Processor::parse(&core("0xd4f").repeat(72));
        assert_eq!(grace.name, "Neoverse-V2");
        assert_eq!(grace.model, "0x41 0x0 0xd4f 1");
        assert_eq!(grace.features, "asimd asimddp atomics fp sve");
        let mixed = Processor::parse(&[core("0xd85"), core("0xd87"), core("0xd85")].concat());
        assert_eq!(mixed.name, "Cortex-X925 + Cortex-A725");
        assert_eq!(mixed.model, "0x41 0x0 0xd85 1 + 0x41 0x0 0xd87 1");
        assert_eq!(Processor::parse(&core("0xfff")).name, "Arm 0x41 0xfff");
    }
}

//! Determines from machine code which registers are read after a stack switch before they are written. So a register
//! that is missing from a clobber list is detected on every host, whether or not another thread happens to use it.

use std::collections::HashMap;

/// A set of registers, by number. Numbers 0 to 31 are general registers, 32 to 63 vector registers, 64 to 71 mask
/// registers, and 72 is the x87 stack.
type Registers = u128;

const X87: u32 = 72;

struct Instruction {
    reads: Registers,
    writes: Registers,
    /// The address of a jump's target. The next instruction may follow too if `falls_through` is set.
    jump: Option<u64>,
    falls_through: bool,
    resumes: bool,
}

/// The registers that are live where a thread resumes, except the stack and frame pointers. Each is listed with its
/// name and the address. The second value is the number of places that were checked.
pub fn live_after_a_switch(disassembly: &str) -> (Vec<String>, usize) {
    let mut found = Vec::new();
    let mut switches = 0;
    for function in disassembly.split("\n\n") {
        let code = parse(function);
        let live = liveness(&code);
        for (place, (address, instruction)) in code.iter().enumerate() {
            if !instruction.resumes {
                continue;
            }
            switches += 1;
            let stack = bit(number("rsp").unwrap_or(0)) | bit(number("rbp").unwrap_or(0));
            let lost = live[place] & !stack;
            let names = (0..=X87)
                .filter(|&register| lost & bit(register) != 0)
                .map(name);
            found.extend(names.map(|name| format!("{name} at {address:x}")));
        }
    }
    (found, switches)
}

/// The registers that are live before each instruction.
fn liveness(code: &[(u64, Instruction)]) -> Vec<Registers> {
    let places: HashMap<u64, usize> = code.iter().enumerate().map(|(i, it)| (it.0, i)).collect();
    let mut live = vec![0; code.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (place, (_, instruction)) in code.iter().enumerate().rev() {
            let mut after = 0;
            if let Some(&target) = instruction.jump.and_then(|jump| places.get(&jump)) {
                after |= live[target];
            }
            if instruction.falls_through {
                after |= live.get(place + 1).copied().unwrap_or(0);
            }
            let before = after & !instruction.writes | instruction.reads;
            changed |= before != live[place];
            live[place] = before;
        }
    }
    live
}

fn parse(function: &str) -> Vec<(u64, Instruction)> {
    let mut code: Vec<(u64, Instruction)> = Vec::new();
    let mut switched = false;
    for line in function.lines() {
        let Some((address, text)) = line.split_once(":\t") else {
            continue;
        };
        let Ok(address) = u64::from_str_radix(address.trim(), 16) else {
            continue;
        };
        let text = text.split(['#', '<']).next().unwrap_or_default().trim();
        let mut instruction = instruction(text);
        // The switch ends with `jmp *%rcx`. A thread resumes directly after it with `pop %rbx`.
        instruction.resumes = switched && text.starts_with("pop") && text.ends_with("%rbx");
        switched = text.split_whitespace().eq(["jmp", "*%rcx"]);
        code.push((address, instruction));
    }
    code
}

fn instruction(text: &str) -> Instruction {
    let text = [
        "lock ", "rep ", "repz ", "repnz ", "notrack ", "data16 ", "bnd ",
    ]
    .iter()
    .fold(text, |text, prefix| {
        text.strip_prefix(prefix).unwrap_or(text)
    });
    let (mnemonic, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let operands = operands(rest.trim());
    let mut reads = 0;
    let mut writes = 0;
    let last = operands.len().saturating_sub(1);
    for (i, operand) in operands.iter().enumerate() {
        let masks = braces(operand);
        reads |= masks;
        let bare = operand.split('{').next().unwrap_or_default();
        let registers = named(bare);
        // The operand only provides the upper part of the result, which is never read.
        if i + 1 == last && fills_up(mnemonic) {
            continue;
        }
        // A memory operand reads its registers, whether the memory is read or written.
        if bare.contains('(') || i != last {
            reads |= registers;
            continue;
        }
        let merges = masks != 0 && !operand.contains("{z}");
        if only_reads(mnemonic) {
            reads |= registers;
        } else {
            writes |= registers;
            if merges || !only_writes(mnemonic, operands.len()) {
                reads |= registers;
            }
        }
    }
    // `vpternlogd` with $0xff produces all ones, whatever its other operands contain.
    let all_ones =
        mnemonic.starts_with("vpternlog") && operands.first().is_some_and(|it| it == "$0xff");
    let compared = &operands[usize::from(all_ones)..];
    if (clears(mnemonic) || all_ones) && compared.windows(2).all(|pair| pair[0] == pair[1]) {
        reads = 0;
    }
    implied(mnemonic, operands.len(), &mut reads, &mut writes);
    let jumps = mnemonic.starts_with('j');
    Instruction {
        reads,
        writes,
        jump: jumps
            .then(|| u64::from_str_radix(rest.trim(), 16).ok())
            .flatten(),
        falls_through: !(mnemonic.starts_with("jmp")
            || mnemonic.starts_with("ret")
            || mnemonic == "ud2"),
        resumes: false,
    }
}

/// The registers that an instruction reads and writes implicitly.
fn implied(mnemonic: &str, operands: usize, reads: &mut Registers, writes: &mut Registers) {
    let set = |names: &[&str]| {
        names
            .iter()
            .filter_map(|it| number(it))
            .map(bit)
            .sum::<Registers>()
    };
    let (rax, rdx) = (set(&["rax"]), set(&["rdx"]));
    match mnemonic {
        "cltq" | "cwtl" | "cbtw" => *reads |= rax,
        "cqto" | "cltd" | "cwtd" => (*reads, *writes) = (rax, rdx),
        _ if mnemonic.starts_with("call") => {
            *writes |= set(&["rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"]);
            *writes |= (32..=X87).map(bit).sum::<Registers>();
        }
        _ if operands == 1 && ["mul", "imul"].iter().any(|it| mnemonic.starts_with(it)) => {
            *reads |= rax;
            *writes |= rax | rdx;
        }
        _ if ["div", "idiv"].iter().any(|it| mnemonic.starts_with(it)) && operands == 1 => {
            *reads |= rax | rdx;
            *writes |= rax | rdx;
        }
        // The control word is not switched, because all threads share it.
        "fnstcw" | "fldcw" => {}
        // Loads push a value onto the x87 stack. All other instructions on the x87 stack read it.
        _ if mnemonic.starts_with('f') => {
            let pushes = ["fld", "fild"].iter().any(|it| mnemonic.starts_with(it));
            if pushes && operands < 2 {
                *writes |= bit(X87);
            } else {
                *reads |= bit(X87);
            }
        }
        _ => {}
    }
}

fn only_reads(mnemonic: &str) -> bool {
    const READERS: [&str; 14] = [
        "cmp", "test", "kortest", "ktest", "ucomi", "comi", "vucomi", "vcomi", "bt", "push",
        "ptest", "vptest", "jmp", "call",
    ];
    let exact_cmp = mnemonic.starts_with("cmp")
        && ["ps", "pd", "ss", "sd", "xchg"]
            .iter()
            .any(|it| mnemonic.contains(it));
    let bit_changes = ["btc", "btr", "bts"]
        .iter()
        .any(|it| mnemonic.starts_with(it));
    let mask_tests = mnemonic.starts_with("vptestm") || mnemonic.starts_with("vptestnm");
    READERS.iter().any(|it| mnemonic.starts_with(it)) && !exact_cmp && !bit_changes && !mask_tests
}

/// Whether the last operand is overwritten regardless of its old value. This includes instructions that merge a
/// result into the upper part of a vector, because compilers clear that vector before or ignore the upper part.
fn only_writes(mnemonic: &str, operands: usize) -> bool {
    const WRITERS: [&str; 28] = [
        "mov", "lea", "set", "cvt", "pop", "k", "sqrt", "rcp", "rsqrt", "pshuf", "pabs", "pmov",
        "pextr", "extract", "round", "tzcnt", "lzcnt", "popcnt", "bsf", "bsr", "rorx", "sarx",
        "shlx", "shrx", "pdep", "pext", "andn", "bls",
    ];
    const MERGING: [&str; 12] = [
        "vfm",
        "vfnm",
        "vpdp",
        "vpternlog",
        "vpermi2",
        "vpermt2",
        "vgather",
        "vpgather",
        "vfixup",
        "vfcmadd",
        "vpmadd52",
        "vpshld",
    ];
    if mnemonic.starts_with('v') {
        return !MERGING.iter().any(|it| mnemonic.starts_with(it));
    }
    let three = mnemonic.starts_with("imul") && operands == 3;
    let more = ["bzhi", "bextr", "mulx", "movbe"]
        .iter()
        .any(|it| mnemonic.starts_with(it));
    three || more || WRITERS.iter().any(|it| mnemonic.starts_with(it))
}

/// Whether the operand before the last only extends a scalar result to a whole vector. Compilers use any register
/// there.
fn fills_up(mnemonic: &str) -> bool {
    const SCALAR: [&str; 7] = [
        "vcvtsi2s",
        "vcvtusi2s",
        "vcvtss2sd",
        "vcvtsd2ss",
        "vsqrts",
        "vrounds",
        "vrndscales",
    ];
    SCALAR.iter().any(|it| mnemonic.starts_with(it))
}

/// Whether the instruction produces zero (or all ones) if its operands are the same register.
fn clears(mnemonic: &str) -> bool {
    const CLEARING: [&str; 15] = [
        "xor", "sub", "sbb", "pxor", "xorps", "xorpd", "vpxor", "vxorps", "vxorpd", "kxor",
        "pcmpeq", "vpcmpeq", "kxnor", "psub", "vpsub",
    ];
    CLEARING.iter().any(|it| mnemonic.starts_with(it))
}

/// The operands, split at commas outside parentheses.
fn operands(text: &str) -> Vec<String> {
    let mut depth = 0;
    let mut all = vec![String::new()];
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                all.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = all.last_mut() {
            last.push(c);
        }
    }
    all.retain(|operand| !operand.trim().is_empty());
    all
}

fn braces(operand: &str) -> Registers {
    operand
        .split('{')
        .skip(1)
        .map(named)
        .fold(0, |all, it| all | it)
}

/// The registers in a text.
fn named(text: &str) -> Registers {
    let names = text.split('%').skip(1);
    let word = |it: &str| {
        let end = it
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(it.len());
        number(&it[..end]).map_or(0, bit)
    };
    names.map(word).fold(0, |all, it| all | it)
}

fn bit(register: u32) -> Registers {
    1 << register
}

const GENERAL: [&str; 8] = ["ax", "cx", "dx", "bx", "sp", "bp", "si", "di"];

/// The number of a register by any of its names.
fn number(name: &str) -> Option<u32> {
    if name == "st" {
        return Some(X87);
    }
    for vector in ["xmm", "ymm", "zmm"] {
        if let Some(number) = name.strip_prefix(vector) {
            return Some(32 + number.parse::<u32>().ok()?);
        }
    }
    if let Some(mask) = name.strip_prefix('k') {
        return Some(64 + mask.parse::<u32>().ok()?);
    }
    if let Some(place) = name
        .strip_prefix('r')
        .map(|it| it.trim_end_matches(['d', 'w', 'b']))
        && let Ok(place) = place.parse()
    {
        return Some(place);
    }
    let plain = name.trim_start_matches(['r', 'e']);
    let word = match plain.len() {
        1 => return None,
        2 if plain.ends_with(['l', 'h']) => format!("{}x", &plain[..1]),
        3 if plain.ends_with('l') => plain[..2].to_owned(),
        _ => plain.to_owned(),
    };
    GENERAL
        .iter()
        .position(|it| *it == word)
        .map(|place| place as u32)
}

fn name(register: u32) -> String {
    match register {
        0..8 => format!("r{}", GENERAL[register as usize]),
        8..32 => format!("r{register}"),
        32..64 => format!("xmm{}", register - 32),
        64..72 => format!("k{}", register - 64),
        _ => "st".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_register_that_is_read_after_the_switch_is_live() {
        let code = "0 <f>:\n   0:\tkmovb  %ebx,%k0\n   4:\tjmp    *%rcx\n   6:\tpop    %rbx\n   \
                    8:\tlea    0x80(%rsp),%rsp\n   c:\tkortestb %k0,%k0\n  10:\tret\n";
        assert_eq!(live_after_a_switch(code), (vec!["k0 at 6".to_owned()], 1));
    }

    #[test]
    fn a_register_that_is_written_first_on_every_path_is_not_live() {
        let code = "0 <f>:\n   4:\tjmp    *%rcx\n   6:\tpop    %rbx\n   8:\txor    %eax,%eax\n   \
                    a:\tmov    0x8(%rsp),%rdx\n   c:\ttest   %dl,%dl\n   d:\tje     f <f+0xf>\n   \
                    e:\tvmovss (%rdx),%xmm1\n   f:\tadd    %rax,%rdx\n  10:\tret\n";
        assert_eq!(live_after_a_switch(code), (vec![], 1));
        let skipped = code.replace("vmovss (%rdx),%xmm1", "vaddss %xmm1,%xmm2,%xmm2");
        assert_eq!(live_after_a_switch(&skipped).0, ["xmm1 at 6", "xmm2 at 6"]);
        let filled = code.replace("vmovss (%rdx),%xmm1", "vcvtsi2ss %eax,%xmm1,%xmm1");
        assert_eq!(live_after_a_switch(&filled).0, Vec::<String>::new());
        let ones = code.replace("vmovss (%rdx),%xmm1", "vpternlogd $0xff,%zmm1,%zmm1,%zmm1");
        assert_eq!(live_after_a_switch(&ones).0, Vec::<String>::new());
        let chosen = code.replace("vmovss (%rdx),%xmm1", "vpternlogd $0xca,%zmm1,%zmm1,%zmm1");
        assert_eq!(live_after_a_switch(&chosen).0, ["xmm1 at 6"]);
    }
}

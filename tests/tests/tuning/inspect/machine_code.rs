//! The machine code of kernels, as `nvdisasm` lists it and as the simulator of AMD GPUs executes it.

use kiln_lab::candidate::machine_code::Disassembler;
use kiln_spec::Backend;
use kiln_spec::targets::KnownTarget;
use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stdout, tune, workspace};
use object::{Object as _, ObjectSection as _};
use serde_json::Value;

use super::sources::compiled;

/// Size of an instruction in bytes, from Volta on ("CUDA Binary Utilities").
const INSTRUCTION_BYTES: u64 = 16;

/// The NVIDIA targets, if both the compiler and the disassembler are installed.
fn nvidia(test: &str) -> Vec<&'static KnownTarget> {
    match have(test, &[Need::Nvdisasm]) {
        true => super::targets(test)
            .into_iter()
            .filter(|known| known.backend == Backend::Cuda)
            .collect(),
        false => Vec::new(),
    }
}

#[test]
fn every_instruction_of_an_entry_is_counted() {
    for known in nvidia("every_instruction_of_an_entry_is_counted") {
        let disassembler = Disassembler::find().expect("it was found just now");
        let image = compiled(known).image;
        let file = object::File::parse(&*image).expect("a cubin is an ELF file");
        for entry in ["plain", "stacked", "spilling", "both", "still"] {
            let section = file.section_by_name(&format!(".text.{entry}"));
            let bytes = section.expect("each entry has a section").size();
            let code = disassembler
                .count(&image, entry)
                .expect("it should be listed");
            let counted = code.instructions as u64 * INSTRUCTION_BYTES;
            assert_eq!(counted, bytes, "{entry} on {}", known.arch);
        }
        let error = disassembler
            .count(&image, "absent")
            .unwrap_err()
            .to_string();
        assert!(error.contains("`absent`"), "{error}");
        let error = disassembler
            .count(b"no image", "plain")
            .unwrap_err()
            .to_string();
        assert!(error.contains("failed"), "{error}");
    }
}

fn profile(target: &str, variable: Option<&str>) -> (Value, String) {
    let cache = tempfile::tempdir().expect("a temporary directory should be had");
    let words = |json: bool| {
        let mut command = tune(&workspace(), cache.path());
        command.args([
            "inspect",
            "--profile",
            "--blocks",
            "1",
            "-p",
            "kiln-kernels",
        ]);
        command.args([
            "-k",
            "gemm_f16",
            "--problem",
            "T=f16,m=128,n=128,k=128",
            "--target",
            target,
        ]);
        command.args([
            "--config",
            "BLOCK_M=128,BLOCK_N=128,BLOCK_K=32,WARPS_M=2,WARPS_N=2,STAGES=2,TILES=1,LANES_M=4,GROUP_M=8",
        ]);
        command.args(json.then_some("--json"));
        if let Some(program) = variable {
            command.env("KILN_NVDISASM", program);
        }
        stdout(&expect_code(&mut command, 0))
    };
    let rows: Value = serde_json::from_str(&words(true)).expect("rows should be printed");
    (rows[0]["profile"].clone(), words(false))
}

#[test]
fn the_products_of_a_step_are_in_one_loop_of_the_machine_code() {
    for known in nvidia("the_products_of_a_step_are_in_one_loop_of_the_machine_code") {
        let (profile, text) = profile(known.arch, None);
        let main = &profile["machine_code"]["main_loop"];
        // A warp computes 64 x 64 outputs of the block: 4 x 8 products of 16 x 8, for each half of the step of 32.
        assert_eq!(main["by_class"]["matrix"], 64, "{}: {main}", known.arch);
        assert!(
            main["by_class"].get("private memory").is_none(),
            "{}: {main}",
            known.arch
        );
        assert!(
            main["matrix_per_100"].as_f64() >= Some(20.0),
            "{}: {main}",
            known.arch
        );
        assert!(text.contains("64 matrix"), "{text}");
        assert!(text.contains("nvdisasm"), "{text}");
    }
}

#[test]
fn without_nvdisasm_a_profile_says_what_to_install() {
    let known = super::targets("without_nvdisasm_a_profile_says_what_to_install");
    for known in known.into_iter().filter(|known| known.arch == "sm_86") {
        let (profile, text) = profile(known.arch, Some("/nonexistent/nvdisasm"));
        assert!(profile["machine_code"].is_null(), "{profile}");
        assert!(profile["hot_loop"].is_object(), "{profile}");
        assert!(
            text.contains("nvdisasm was not found (/nonexistent/nvdisasm)"),
            "{text}"
        );
        assert!(text.contains("help: "), "{text}");
    }
}

#[test]
fn amd_machine_code_is_what_the_simulator_executes() {
    let known = super::targets("amd_machine_code_is_what_the_simulator_executes");
    for known in known
        .into_iter()
        .filter(|known| known.backend == Backend::Hip)
    {
        let (profile, _) = profile(known.arch, None);
        let code = &profile["machine_code"];
        let (first, last) = (&profile["hot_loop"]["first"], &profile["hot_loop"]["last"]);
        let passes = last
            .as_u64()
            .zip(first.as_u64())
            .map(|(last, first)| last - first + 1);
        assert_eq!(code["main_loop"]["instructions"].as_u64(), passes, "{code}");
        assert!(
            code["main_loop"]["by_class"]["matrix"].as_u64() > Some(0),
            "{code}"
        );
    }
}

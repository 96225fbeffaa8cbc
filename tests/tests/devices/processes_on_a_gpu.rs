//! Counts the processes that open a GPU. Opening one may take more than a second.

use kiln_tests::capability::{Need, have};
use kiln_tests::command::{stdout, tune, workspace};
use kiln_tests::cuda_stand_in::build;

#[test]
fn expected_outputs_are_computed_without_opening_the_gpu() {
    let test = "expected_outputs_are_computed_without_opening_the_gpu";
    let needs = [Need::HostCompiler, Need::CudaOccupancy, Need::Nvrtc];
    if !have(test, &needs) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder should be made");
    build(folder.path());
    let opened = folder.path().join("opened");
    let mut smoke = tune(&workspace(), &folder.path().join("cache"));
    smoke.args(["smoke", "-p", "kiln-kernels", "-k", "tensor_add"]);
    smoke.args(["--problem", "T=f32,n=1048576", "--device", "cuda:0"]);
    smoke.arg("--json-lines");
    smoke.env("LD_LIBRARY_PATH", folder.path());
    smoke.env("KILN_STAND_IN_COUNT", &opened);
    let output = smoke.output().expect("`tune` should start");
    // The stand-in writes no receipts, so the test of the row fails after its expected outputs were computed.
    let said = stdout(&output);
    assert!(said.contains("the device wrote no receipt"), "{said}");
    let processes = std::fs::read_to_string(&opened).expect("the device should be opened");
    // `tune` itself, and the worker that launches the baseline.
    assert_eq!(processes.lines().count(), 2, "{processes}{said}");
}

//! `tune smoke` launches the rows of other devices too. A row whose config is not valid on the present device is left
//! out.

use kiln_project::TableFolder;
use kiln_spec::DeviceKey;
use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stdout};
use kiln_tests::tables;
use kiln_tests::throwaway::Throwaway;

const LIB: &str = r#"//! A kernel whose configs depend on the size of a warp.
use kiln::tuned_kernel;

#[tuned_kernel(
    source = "scale.cu",
    params(LANES in [32, 64], ITEMS in [1, 2]),
    where(LANES == device.warp_size),
    baseline(LANES = 32, ITEMS = 1),
    grid(n.div_ceil(LANES * ITEMS)),
    block(LANES),
    problems((n = 10000)),
    tolerance(relative = 1e-6),
)]
unsafe extern "C" {
    /// `y = 2 x`.
    pub fn scale(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]);
}
"#;

const SOURCE: &str = r#"extern "C" __global__ void scale(unsigned n, const float* x, float* y) {
    unsigned first = (blockIdx.x * LANES + threadIdx.x) * ITEMS;
    for (unsigned i = first; i < first + ITEMS && i < n; ++i) y[i] = 2.0f * x[i];
}
"#;

#[test]
fn a_smoke_test_does_not_run_rows_that_are_not_valid_on_the_device() {
    let test = "a_smoke_test_does_not_run_rows_that_are_not_valid_on_the_device";
    if !have(test, &[Need::HostCompiler]) {
        return;
    }
    let crate_ = Throwaway::new("lanes", &[("src/lib.rs", LIB), ("src/scale.cu", SOURCE)]);
    let kernel = tables::kernel(&crate_.path().join("Cargo.toml"), "scale", &[]);
    let device = |text: &str| text.parse::<DeviceKey>().expect("it should be a device");
    let rows = [
        (device("hip/gfx90a/AMD Instinct MI250X"), "LANES=64,ITEMS=2"),
        (device("cuda/sm_89/NVIDIA L4"), "LANES=32,ITEMS=2"),
    ];
    let table = tables::unmeasured(&kernel, &rows);
    let folder = TableFolder::new(crate_.path().join("tuned"));
    let lock = folder.lock().expect("the folder should be locked");
    let written = folder.write(&table, &lock);
    written.expect("the table should be written");
    drop(lock);
    let mut smoke = crate_.tune("smoke");
    let said = stdout(&expect_code(smoke.args(["--device", "cpu"]), 0));
    assert!(said.contains("2 passed, 0 failed, 1 not run"), "{said}");
    let left_out = said.lines().find(|line| line.starts_with("not run"));
    let left_out = left_out.expect("a row should not be run");
    assert!(
        left_out.contains("gfx90a") && left_out.contains("LANES == device.warp_size"),
        "{said}"
    );
}

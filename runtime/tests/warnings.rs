//! Tests the warnings that a program's logger receives for launches that do not use a tuned config.
#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod kernels;
mod rows;

use std::sync::{Mutex, Once};

use kiln::backend::fake::{FakeDevice, Script};
use kiln::{Buffer, Device, Forced, Kernel, Stream};

/// The log of all tests. Each test searches it for its own kernel and device.
static LOGGED: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Logger;

impl log::Log for Logger {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.target() == "kiln"
    }

    fn log(&self, record: &log::Record<'_>) {
        let line = format!("{}: {}", record.level(), record.args());
        LOGGED.lock().unwrap().push(line);
    }

    fn flush(&self) {}
}

/// A stream of a fake device with this architecture. Also sets the logger.
fn stream(arch: &str, name: &str) -> Stream {
    static LOGGER: Once = Once::new();
    LOGGER.call_once(|| {
        log::set_logger(&Logger).unwrap();
        log::set_max_level(log::LevelFilter::Warn);
    });
    let device = FakeDevice::new(Script {
        arch: arch.into(),
        name: name.into(),
        computes: false,
        ..Script::default()
    });
    Device::from(device).stream()
}

fn logged(device: &str) -> Vec<String> {
    let logged = LOGGED.lock().unwrap();
    let of_device = logged.iter().filter(|line| line.contains(device));
    of_device.cloned().collect()
}

fn launch(stream: &Stream, rows: u32, columns: u32) {
    let (r, c) = (rows as usize, columns as usize);
    let input = Buffer::zeros(stream, r * c).unwrap();
    let weight = Buffer::zeros(stream, c).unwrap();
    let mut out = Buffer::zeros(stream, r * c).unwrap();
    rows::blend_with_rows(stream, rows, columns, &input, &weight, &mut out).unwrap();
}

// This is a single test because a kernel logs each warning once per process.
#[test]
fn a_launch_of_the_baseline_or_of_another_problems_row_warns_once() {
    // There is a proven row for this device and problem.
    let tuned = stream("fake_1", "Kiln Fake");
    launch(&tuned, 64, 256);
    assert_eq!(logged("fake/"), [""; 0]);

    // There is no row for this problem, so the nearest one is used.
    launch(&tuned, 60, 300);
    launch(&tuned, 70, 200);
    let nearest = "WARN: kernel `blend` for rows=60,columns=300 on fake/fake_1/Kiln Fake launches baked row 5: nearest \
        tuned problem (log2 distance 0.32), this device; help: add the problem to `problems(..)` and run `tune run -k \
        blend`";
    assert_eq!(logged("fake/"), [nearest]);

    // The caller forced the choice, so there is no warning.
    let other = stream("fake_9", "Another");
    let kernel: &'static Kernel = rows::kernel();
    let forced = Forced::new(kernel, kiln::Choice::Baseline);
    launch(&other.forced(forced.into()), 64, 256);
    assert_eq!(logged("fake_9"), [""; 0]);

    // There is no row for the architecture, so the baseline is used.
    launch(&other, 64, 256);
    launch(&other, 100, 70);
    let baseline = "WARN: kernel `blend` for rows=64,columns=256 on fake/fake_9/Another launches baseline: nothing is \
        baked for this device or its architecture; help: run `tune run -k blend` on this device";
    assert_eq!(logged("fake_9"), [baseline]);
}

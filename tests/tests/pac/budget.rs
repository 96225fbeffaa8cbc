//! Device memory of the example `pac`: it allocates the planned amount, and a smaller budget gives the same result or
//! an error.

use std::time::{Duration, Instant};

use kiln_tests::capability::in_full;
use pac::{Band, Pac, PacError, Settings};

use crate::stream;

/// Settings for a recording with 512 samples per second, and `bands` bands of each kind.
fn settings(channels: u32, seconds: u32, bands: usize, shifts: Vec<u32>) -> Settings {
    Settings {
        channels,
        samples: 512 * seconds,
        sampling_rate: 512.0,
        phase_bands: Band::series(2.0, 18.0 / bands as f64, 2.0, bands),
        amp_bands: Band::series(40.0, 160.0 / bands as f64, 20.0, bands),
        cycles: (3, 6),
        bins: 18,
        shifts,
    }
}

/// A slow rhythm with bursts of a faster rhythm, and noise.
fn recording(settings: &Settings) -> Vec<f32> {
    let mut state = 1_u32;
    let mut noise = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state) / 4_294_967_296.0 - 0.5
    };
    let sample = |n: u32| {
        let turn = 2.0 * std::f64::consts::PI * f64::from(n) / settings.sampling_rate;
        let slow = (turn * 6.0).cos();
        (slow + 0.4 * (1.0 + slow) * (turn * 80.0).cos() + 0.3 * noise()) as f32
    };
    (0..settings.channels)
        .flat_map(|_| 0..settings.samples)
        .map(sample)
        .collect()
}

/// The value of a line in this process's status, in bytes.
fn status(line: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kibibytes = status.lines().find_map(|text| text.strip_prefix(line))?;
    let number = kibibytes.trim_start_matches(':').trim();
    Some(number.strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// CPU time of this thread so far, which does not grow while other programs use its core.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[test]
fn a_budget_that_is_too_small_is_refused_at_once_with_both_numbers() {
    let start = cpu_time();
    let refused = Pac::plan(settings(16, 60, 50, vec![0]), 100_000).unwrap_err();
    let took = cpu_time() - start;
    assert!(took < Duration::from_millis(100), "{took:?}");
    let message = refused.to_string();
    let PacError::Budget { needed, budget } = refused else {
        panic!("{message}");
    };
    assert_eq!(budget, 100_000);
    for number in [needed, budget.into()] {
        assert!(message.contains(&format!("{number} bytes")), "{message}");
    }
    let exactly = u64::try_from(needed).unwrap();
    assert!(Pac::plan(settings(16, 60, 50, vec![0]), exactly).is_ok());
    assert!(Pac::plan(settings(u32::MAX, 60, 50, vec![0; 100]), 100_000).is_err());
    assert!(cpu_time() - start < 2 * Duration::from_millis(100));
    println!("refused in {took:.1?}: {message}");
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let mut wrong = settings(1, 1, 10, vec![]);
    assert!(Pac::plan(wrong.clone(), 1 << 30).is_err());
    wrong.shifts = vec![0];
    wrong.amp_bands[3].high = 256.0;
    let message = Pac::plan(wrong, 1 << 30).unwrap_err().to_string();
    assert!(message.contains("256 Hz"), "{message}");
}

#[test]
fn chunks_of_every_kind_give_the_same_coupling() {
    let Some(stream) = stream("pac chunks_of_every_kind_give_the_same_coupling") else {
        return;
    };
    let settings = settings(3, 2, 4, vec![0, 300]);
    let signal = recording(&settings);
    let whole = Pac::plan(settings.clone(), 1 << 30).unwrap();
    let want = whole.run(&stream, &signal).unwrap();
    assert_eq!(want.mi.len(), 2 * 3 * 4 * 4);
    let mut kinds = Vec::new();
    let mut budget = whole.device_bytes();
    while let Ok(pac) = Pac::plan(settings.clone(), budget) {
        let got = pac.run(&stream, &signal).unwrap();
        assert_eq!(got.mi, want.mi, "{:?}", pac.chunk());
        assert_eq!(got.device_bytes, pac.device_bytes());
        kinds.push(pac.chunk());
        budget = pac.device_bytes() - 1;
    }
    assert!(kinds.len() >= 3 + 3 + 3, "{kinds:?}");
}

#[test]
fn a_minute_of_sixteen_channels_stays_within_its_budget() {
    let Some(stream) = stream("pac a_minute_of_sixteen_channels_stays_within_its_budget") else {
        return;
    };
    let bands = if in_full() { 50 } else { 10 };
    let settings = settings(16, 60, bands, vec![0]);
    let signal = recording(&settings);
    let budget = 64 << 20;
    let pac = Pac::plan(settings, budget).unwrap();
    let before = status("VmHWM");
    let start = Instant::now();
    let coupling = pac.run(&stream, &signal).unwrap();
    let took = start.elapsed();
    let after = status("VmHWM");
    assert_eq!(coupling.device_bytes, pac.device_bytes());
    assert!(coupling.device_bytes <= budget);
    assert_eq!(coupling.mi.len(), 16 * bands * bands);
    assert!(coupling.mi.iter().all(|mi| (0.0..1.0).contains(mi)));
    println!(
        "16 channels, 60 s, {bands} x {bands} bands: {:?}, {} bytes on the device, {took:.1?}",
        pac.chunk(),
        coupling.device_bytes
    );
    if let (Some(before), Some(after)) = (before, after) {
        let grown = after - before;
        println!("the process grew by {grown} bytes");
        // The memory of the cpu device belongs to the process. So do a padded chunk and the output of the compiler.
        assert!(grown <= coupling.device_bytes + (64 << 20), "{grown}");
    }
}

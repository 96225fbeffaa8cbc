//! Phase-amplitude coupling of a synthetic recording. Prints the bands that couple, and the device memory used.
//!
//! ```console
//! $ cargo run --release --bin pac -- cpu
//! 2 channels of 10 s, 4 x 9 bands, … MiB on cpu
//! channel 0: 6..8 Hz with 70..90 Hz, modulation index …
//! channel 1: 6..8 Hz with 70..90 Hz, modulation index …
//! ```
#![forbid(unsafe_code)]

use std::error::Error;
use std::f64::consts::TAU;

use kiln::Device;
use pac::{Band, Pac, Settings};

/// Samples per second.
const RATE: f64 = 512.0;

fn main() -> Result<(), Box<dyn Error>> {
    let device = std::env::args().nth(1).unwrap_or_else(|| "cpu".into());
    print!("{}", strongest(&Device::open(&device)?)?);
    Ok(())
}

/// The pair of bands that couples most in each channel, one line per channel.
fn strongest(device: &Device) -> Result<String, Box<dyn Error>> {
    let settings = Settings {
        channels: 2,
        samples: 5120,
        sampling_rate: RATE,
        phase_bands: Band::series(2.0, 4.0, 2.0, 4),
        amp_bands: Band::series(30.0, 20.0, 20.0, 9),
        cycles: (3, 6),
        bins: 18,
        shifts: vec![0],
    };
    let recording: Vec<f32> = (0..settings.channels)
        .flat_map(|channel| (0..settings.samples).map(move |n| sample(channel, n)))
        .collect();
    // The signal is a rhythm of 7 Hz with bursts of 80 Hz at its peaks, so the bands around them should couple most.
    let analysis = Pac::plan(settings.clone(), 64 << 20)?;
    let coupling = analysis.run(&device.stream(), &recording)?;
    let mut lines = format!(
        "{} channels of 10 s, {} x {} bands, {:.1} MiB on {}\n",
        settings.channels,
        settings.phase_bands.len(),
        settings.amp_bands.len(),
        coupling.device_bytes as f64 / f64::from(1 << 20),
        device.name(),
    );
    let pairs = settings.phase_bands.len() * settings.amp_bands.len();
    for (channel, indices) in coupling.mi.chunks_exact(pairs).enumerate() {
        let strongest = indices.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        let Some((pair, index)) = strongest else {
            continue;
        };
        let phase = &settings.phase_bands[pair / settings.amp_bands.len()];
        let amp = &settings.amp_bands[pair % settings.amp_bands.len()];
        lines += &format!("channel {channel}: {phase} with {amp}, modulation index {index:.4}\n");
    }
    Ok(lines)
}

fn sample(channel: u32, n: u32) -> f32 {
    let turn = TAU * (f64::from(n) / RATE + 0.01 * f64::from(channel));
    let slow = (turn * 7.0).cos();
    // The noise is the same in every run.
    let noise = f64::from(n.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24) - 0.5;
    (slow + 0.4 * (1.0 + slow) * (turn * 80.0).cos() + 2.0 * noise) as f32
}

#[cfg(test)]
mod tests {
    use kiln_tests::capability::{Need, have};

    use super::*;

    #[test]
    fn the_bands_that_couple_are_found() {
        if have("the_bands_that_couple_are_found", &[Need::HostCompiler]) {
            let said = strongest(&Device::cpu().unwrap()).unwrap();
            for channel in [0, 1] {
                let found =
                    format!("channel {channel}: 6..8 Hz with 70..90 Hz, modulation index 0.");
                assert!(said.contains(&found), "{said}");
            }
        }
    }
}

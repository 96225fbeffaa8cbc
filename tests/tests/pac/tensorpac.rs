//! Compares with results of TensorPAC. `tests/fixtures/pac/make_fixtures.py` documents their shapes and how they were
//! computed.

use std::f64::consts::PI;

use kiln::Buffer;
use kiln_kernels::modulation_index::modulation_index;
use pac::{Band, Pac, Settings};

use crate::{npy, stream};

const CHANNELS: usize = 2;
const SAMPLES: usize = 2048;
const BANDS: usize = 3;
const SHIFTS: [u32; 3] = [0, 100, 1777];

fn floats(name: &str, shape: &[usize]) -> Vec<f32> {
    let wide = npy::read(name, "<f4", shape);
    wide.into_iter().map(|x| x as f32).collect()
}

fn worst(got: &[f32], want: &[f64]) -> f64 {
    assert_eq!(got.len(), want.len());
    let errors = got
        .iter()
        .zip(want)
        .map(|(&got, want)| (f64::from(got) - want).abs());
    errors.fold(0.0, f64::max)
}

/// The number of phases so close to an edge between bins that single precision may select the neighbouring bin.
fn on_an_edge(phase: &[f32]) -> usize {
    let near = |&&phase: &&f32| {
        let place = (f64::from(phase) + PI) * 18.0 / (2.0 * PI);
        (place - place.round()).abs() * 2.0 * PI / 18.0 < 1e-6
    };
    phase.iter().filter(near).count()
}

#[test]
fn modulation_indices_are_those_of_tensorpac() {
    let Some(stream) = stream("pac modulation_indices_are_those_of_tensorpac") else {
        return;
    };
    let rows = [BANDS, CHANNELS, SAMPLES];
    let phase = floats("phase.npy", &rows);
    let amp = floats("amp.npy", &rows);
    let want = npy::read("mi.npy", "<f8", &[SHIFTS.len(), CHANNELS, BANDS, BANDS]);
    // The data have no phase on an edge, so none had to be excluded.
    assert_eq!(on_an_edge(&phase), 0);
    let mut mi = Buffer::<f32>::zeros(&stream, want.len()).unwrap();
    modulation_index(
        &stream,
        CHANNELS as u32,
        SAMPLES as u32,
        BANDS as u32,
        BANDS as u32,
        SHIFTS.len() as u32,
        18,
        &Buffer::from_slice(&stream, &phase).unwrap(),
        &Buffer::from_slice(&stream, &amp).unwrap(),
        &Buffer::from_slice(&stream, &SHIFTS).unwrap(),
        &mut mi,
    )
    .unwrap();
    let worst = worst(&mi.to_vec(&stream).unwrap(), &want);
    println!("modulation_index against TensorPAC: off by {worst:.2e} at most");
    assert!(worst < 1e-5, "{worst:e}");
}

#[test]
fn a_recording_has_the_coupling_that_tensorpac_finds() {
    let Some(stream) = stream("pac a_recording_has_the_coupling_that_tensorpac_finds") else {
        return;
    };
    let signal = floats("signal.npy", &[CHANNELS, SAMPLES]);
    let want = npy::read("pipeline.npy", "<f8", &[CHANNELS, BANDS, BANDS]);
    let bands = |edges: [[f64; 2]; BANDS]| edges.map(|[low, high]| Band { low, high }).to_vec();
    let settings = Settings {
        channels: CHANNELS as u32,
        samples: SAMPLES as u32,
        sampling_rate: 512.0,
        phase_bands: bands([[4.0, 6.0], [8.0, 12.0], [14.0, 18.0]]),
        amp_bands: bands([[40.0, 60.0], [70.0, 90.0], [100.0, 140.0]]),
        cycles: (3, 6),
        bins: 18,
        shifts: vec![0],
    };
    let pac = Pac::plan(settings, 1 << 30).unwrap();
    let coupling = pac.run(&stream, &signal).unwrap();
    let worst = worst(&coupling.mi, &want);
    println!("the pipeline against TensorPAC: off by {worst:.2e} at most");
    assert!(worst < 1e-3, "{worst:e}");
}

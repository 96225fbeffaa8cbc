//! Special inputs that random numbers do not produce.

use std::f32::consts::PI;

use kiln::{Buffer, f16};
use kiln_kernels::flash_attention::flash_attention;
use kiln_kernels::modulation_index::modulation_index;
use kiln_kernels::reduce::reduce;
use kiln_tests::test_device::stream;

#[test]
fn the_maximum_of_a_row_of_negative_numbers_is_one_of_them() {
    let test = "library the_maximum_of_a_row_of_negative_numbers_is_one_of_them";
    let Some(stream) = stream(test) else {
        return;
    };
    let x = Buffer::from_slice(&stream, &[-3.0_f32, -1.0, -2.0]).unwrap();
    let mut y = Buffer::<f32>::zeros(&stream, 1).unwrap();
    reduce(&stream, 1, 3, 2, &x, &mut y).unwrap();
    assert_eq!(y.to_vec(&stream).unwrap(), [-1.0]);
}

#[test]
fn a_phase_of_pi_is_in_the_last_bin() {
    let Some(stream) = stream("library a_phase_of_pi_is_in_the_last_bin") else {
        return;
    };
    let (samples, bins) = (64, 18);
    let phase = Buffer::from_slice(&stream, &[PI; 64]).unwrap();
    let amp = Buffer::from_slice(&stream, &[1.0_f32; 64]).unwrap();
    let shift = Buffer::from_slice(&stream, &[0_u32]).unwrap();
    let mut mi = Buffer::<f32>::zeros(&stream, 1).unwrap();
    modulation_index(
        &stream, 1, samples, 1, 1, 1, bins, &phase, &amp, &shift, &mut mi,
    )
    .unwrap();
    // All of the amplitude is in one bin.
    let mi = mi.to_vec(&stream).unwrap()[0];
    assert!((mi - 1.0).abs() < 1e-6, "{mi}");
}

#[test]
fn sizes_that_attention_does_not_compute_are_errors_that_write_nothing() {
    let test = "library sizes_that_attention_does_not_compute_are_errors_that_write_nothing";
    let Some(stream) = stream(test) else {
        return;
    };
    for (dim, causal, constraint) in [
        (300, 1, "`dim <= 256` is false with dim=300"),
        (64, 0, "is false with causal=0"),
        (64, 3, "is false with causal=3"),
    ] {
        let same = Buffer::from_slice(&stream, &vec![f16::ONE; 2 * dim as usize]).unwrap();
        let mut out = Buffer::<f16>::zeros(&stream, same.len()).unwrap();
        let launched = flash_attention(&stream, 1, 2, dim, causal, &same, &same, &same, &mut out);
        let error = launched.unwrap_err().to_string();
        assert!(error.contains(constraint), "{error}");
        let out = out.to_vec(&stream).unwrap();
        assert!(out.iter().all(|value| *value == f16::ZERO));
    }
}

//! Damaged images and logs give an error or different figures, and never cause a panic. A truncated image never gives
//! figures that differ from those of the complete image.

use kiln_lab::candidate::inspect;
use kiln_spec::Backend;
use kiln_tests::capability::in_full;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Number of bit flips for each target.
fn flips() -> usize {
    if in_full() { 200_000 } else { 1_500 }
}

#[test]
fn damaged_images_are_errors_and_never_panics() {
    for known in super::targets("damaged_images_are_errors_and_never_panics") {
        let artifact = super::sources::compiled(known);
        let image = artifact.image.to_vec();
        let (cut, wrong) = truncations(known.backend, &image);
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut refused = 0;
        for _ in 0..flips() {
            let mut damaged = image.clone();
            for _ in 0..rng.random_range(1..=8) {
                let at = rng.random_range(0..damaged.len());
                damaged[at] ^= 1 << rng.random_range(0..8);
            }
            refused += usize::from(inspect::from_image(known.backend, &damaged, "both").is_err());
        }
        println!(
            "{}: {cut} truncations, {wrong} of them with other figures; {} bit flips, {refused} refused; no panic",
            known.arch,
            flips()
        );
        assert_eq!(wrong, 0, "{}", known.arch);
    }
}

/// Truncates an image at many lengths. Returns the number of truncations, and the number of truncations whose figures
/// differ from those of the complete image.
fn truncations(backend: Backend, image: &[u8]) -> (usize, usize) {
    let whole = inspect::from_image(backend, image, "both").expect("the image is whole");
    let step = if in_full() { 1 } else { 37 };
    let mut wrong = 0;
    let lengths = (0..image.len()).step_by(step);
    let tried = lengths.clone().count();
    for length in lengths {
        if let Ok(figures) = inspect::from_image(backend, &image[..length], "both") {
            wrong += usize::from(figures != whole);
        }
    }
    (tried, wrong)
}

#[test]
fn damaged_logs_are_errors_and_never_panics() {
    for known in super::targets("damaged_logs_are_errors_and_never_panics") {
        let log = super::sources::compiled(known).log;
        let mut rng = ChaCha8Rng::seed_from_u64(8);
        for _ in 0..flips() / 5 {
            let mut bytes = log.clone().into_bytes();
            bytes.truncate(rng.random_range(0..=bytes.len()));
            for _ in 0..rng.random_range(0..=8) {
                if !bytes.is_empty() {
                    let at = rng.random_range(0..bytes.len());
                    bytes[at] = rng.random();
                }
            }
            let text = String::from_utf8_lossy(&bytes);
            let _ = inspect::from_log(known.backend, &text, "both");
        }
    }
}

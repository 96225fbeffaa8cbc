//! Checks that an image is the same after it is cut into tiles and blended again.

use std::error::Error;

use kiln::{Buffer, Element, Stream, f16};
use kiln_kernels::tile_blend::{reference::TileAxis, tile_blend};
use kiln_kernels::tile_extract::tile_extract;
use kiln_tests::test_device::stream;

/// For each image: channels last (1) or first (0), channels, height, width, tile, overlap.
const IMAGES: [[u32; 6]; 5] = [
    [0, 4, 96, 131, 32, 8],
    [1, 3, 77, 64, 24, 8],
    [1, 4, 40, 50, 16, 11],
    [0, 1, 33, 20, 64, 16],
    [1, 3, 61, 67, 64, 64 - 1],
];

/// Cuts an image into tiles, changes each tile, and blends the tiles.
fn through_tiles<T: tile_extract::T + tile_blend::T + Element>(
    stream: &Stream,
    [last, channels, height, width, tile, overlap]: [u32; 6],
    image: &[T],
    change: impl FnOnce(&mut [T]),
) -> Result<Vec<T>, Box<dyn Error>> {
    let tiles =
        TileAxis::new(height, tile, overlap).tiles * TileAxis::new(width, tile, overlap).tiles;
    let from = Buffer::from_slice(stream, image)?;
    let len = tiles * (channels * tile * tile) as usize;
    let mut cut = Buffer::<T>::zeros(stream, len)?;
    tile_extract(
        stream, last, 1, channels, height, width, tile, overlap, &from, &mut cut,
    )?;
    let mut tiles = cut.to_vec(stream)?;
    change(&mut tiles);
    cut.copy_from_slice(stream, &tiles)?;
    let mut to = Buffer::<T>::zeros(stream, image.len())?;
    tile_blend(
        stream, last, 1, channels, height, width, tile, overlap, &cut, &mut to,
    )?;
    Ok(to.to_vec(stream)?)
}

fn elements<T: Element>(image: [u32; 6], value: impl FnMut(u32) -> f64) -> Vec<T> {
    let [_, channels, height, width, ..] = image;
    let values = (0..channels * height * width).map(value);
    values.map(T::from_f64).collect()
}

/// A number in `[0, 1)` for each element, in which all bits vary.
fn noise(element: u32) -> f64 {
    f64::from(element.wrapping_mul(2_654_435_761)) / 4_294_967_296.0
}

#[test]
fn an_image_through_tiles_is_the_same_bit_for_bit() {
    let Some(stream) = stream("library an_image_through_tiles_is_the_same_bit_for_bit") else {
        return;
    };
    for image in IMAGES {
        let single: Vec<f32> = elements(image, noise);
        assert_eq!(
            through_tiles(&stream, image, &single, |_| ()).unwrap(),
            single
        );
        let half: Vec<f16> = elements(image, noise);
        assert_eq!(through_tiles(&stream, image, &half, |_| ()).unwrap(), half);
    }
}

#[test]
fn constant_tiles_blend_into_exactly_that_constant() {
    let Some(stream) = stream("library constant_tiles_blend_into_exactly_that_constant") else {
        return;
    };
    for image in IMAGES {
        for constant in [0.1, 1.0 / 3.0, 254.7, -6e-5] {
            let single: Vec<f32> = elements(image, noise);
            let value = constant as f32;
            let blended =
                through_tiles(&stream, image, &single, |tiles| tiles.fill(value)).unwrap();
            assert!(blended.iter().all(|&x| x == value), "{image:?}, {constant}");
            let half: Vec<f16> = elements(image, noise);
            let value = f16::from_f64(constant);
            let blended = through_tiles(&stream, image, &half, |tiles| tiles.fill(value)).unwrap();
            assert!(blended.iter().all(|&x| x == value), "{image:?}, {constant}");
        }
    }
}

#[test]
fn a_blend_of_single_precision_errs_by_a_few_roundings() {
    let Some(stream) = stream("library a_blend_of_single_precision_errs_by_a_few_roundings") else {
        return;
    };
    for image in IMAGES {
        let [last, channels, height, width, tile, overlap] = image;
        let single: Vec<f32> = elements(image, noise);
        let mut want = vec![f64::NAN; single.len()];
        let got = through_tiles(&stream, image, &single, |tiles| {
            for (element, value) in (0..).zip(tiles.iter_mut()) {
                *value = noise(element) as f32;
            }
            kiln_kernels::tile_blend::reference::tile_blend(
                last, 1, channels, height, width, tile, overlap, tiles, &mut want,
            );
        })
        .unwrap();
        let errors = got
            .iter()
            .zip(want)
            .map(|(&got, want)| (f64::from(got) - want).abs());
        let worst = errors.fold(0.0, f64::max);
        assert!(worst < 3e-6, "{image:?}: {worst}");
    }
}

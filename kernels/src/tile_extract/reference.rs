//! Copies overlapping tiles from an image, on the host.

use kiln::Element;

use crate::tile_blend::reference::{TileAxis, place};

/// Copies the tiles of an image. The arguments have the same shapes as in [`super::tile_extract()`].
///
/// # Panics
/// If a slice is shorter than its shape.
#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
pub fn tile_extract<T: Element>(
    channels_last: u32,
    batch: u32,
    channels: u32,
    height: u32,
    width: u32,
    tile: u32,
    overlap: u32,
    image: &[T],
    tiles: &mut [f64],
) {
    let ys = TileAxis::new(height, tile, overlap);
    let xs = TileAxis::new(width, tile, overlap);
    let extents = [channels, height, width].map(|extent| extent as usize);
    let tile_extents = [extents[0], ys.tile, xs.tile];
    let per_image = ys.tiles * xs.tiles;
    for number in 0..batch as usize * per_image {
        let (tile_y, tile_x) = (number % per_image / xs.tiles, number % xs.tiles);
        for y in 0..ys.tile {
            let from_y = (ys.begin(tile_y) + y).min(extents[1] - 1);
            for x in 0..xs.tile {
                let from_x = (xs.begin(tile_x) + x).min(extents[2] - 1);
                for channel in 0..extents[0] {
                    let to = place(channels_last, tile_extents, number, [channel, y, x]);
                    let from = [channel, from_y, from_x];
                    let from = place(channels_last, extents, number / per_image, from);
                    tiles[to] = image[from].to_f64();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_tile_repeats_the_last_pixel() {
        let mut tiles = [f64::NAN; 8];
        tile_extract(0, 1, 1, 1, 3, 2, 1, &[1.0_f32, 2.0, 3.0], &mut tiles);
        assert_eq!(tiles, [1.0, 2.0, 1.0, 2.0, 2.0, 3.0, 2.0, 3.0]);
        let mut tiles = [f64::NAN; 8];
        tile_extract(0, 1, 1, 1, 3, 2, 0, &[1.0_f32, 2.0, 3.0], &mut tiles);
        assert_eq!(tiles, [1.0, 2.0, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0]);
    }

    #[test]
    fn channels_that_come_last_stay_together() {
        let mut tiles = [f64::NAN; 8];
        tile_extract(1, 1, 2, 1, 2, 2, 1, &[1.0_f32, 10.0, 2.0, 20.0], &mut tiles);
        assert_eq!(tiles, [1.0, 10.0, 2.0, 20.0, 1.0, 10.0, 2.0, 20.0]);
    }
}

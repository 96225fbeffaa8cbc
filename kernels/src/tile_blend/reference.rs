//! Feathered blending of tiles on the host, in double precision.

use kiln::Element;

/// The tiles along one axis of an image.
#[derive(Clone, Copy, Debug)]
pub struct TileAxis {
    /// The number of tiles.
    pub tiles: usize,
    /// The number of pixels per tile.
    pub tile: usize,
    /// The number of pixels that two neighbouring tiles share.
    pub overlap: usize,
}

impl TileAxis {
    /// The axis with exactly enough tiles to cover `extent` pixels.
    pub fn new(extent: u32, tile: u32, overlap: u32) -> TileAxis {
        let once = extent.max(overlap + 1) - overlap;
        TileAxis {
            tiles: once.div_ceil(tile - overlap) as usize,
            tile: tile as usize,
            overlap: overlap as usize,
        }
    }

    /// The first pixel of a tile.
    pub fn begin(&self, tile: usize) -> usize {
        tile * (self.tile - self.overlap)
    }

    /// The weight of a tile at pixel `at`; zero if the tile does not cover the pixel.
    fn feather(&self, tile: usize, at: usize) -> f64 {
        let begin = self.begin(tile);
        if at < begin || at >= begin + self.tile {
            return 0.0;
        }
        let rising = (tile > 0).then_some(at - begin + 1);
        let falling = (tile + 1 < self.tiles).then_some(begin + self.tile - at);
        let least = [rising, falling].into_iter().flatten().min();
        least.unwrap_or(usize::MAX).min(self.overlap + 1) as f64
    }
}

/// The index of an element in a batch of images with these extents. `image` is the number of the image.
pub fn place(
    channels_last: u32,
    [channels, height, width]: [usize; 3],
    image: usize,
    [channel, y, x]: [usize; 3],
) -> usize {
    if channels_last == 0 {
        ((image * channels + channel) * height + y) * width + x
    } else {
        ((image * height + y) * width + x) * channels + channel
    }
}

/// Computes the feathered blend of tiles. The arguments have the same shapes as in [`super::tile_blend()`].
///
/// # Panics
/// If a slice is shorter than its shape.
#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
pub fn tile_blend<T: Element>(
    channels_last: u32,
    batch: u32,
    channels: u32,
    height: u32,
    width: u32,
    tile: u32,
    overlap: u32,
    tiles: &[T],
    image: &mut [f64],
) {
    let (ys, xs) = (
        TileAxis::new(height, tile, overlap),
        TileAxis::new(width, tile, overlap),
    );
    let extents = [channels, height, width].map(|extent| extent as usize);
    let tile_extents = [extents[0], ys.tile, xs.tile];
    let mut sums = vec![(0.0, 0.0); image.len()];
    let per_image = ys.tiles * xs.tiles;
    for number in 0..batch as usize * per_image {
        let (tile_y, tile_x) = (number % per_image / xs.tiles, number % xs.tiles);
        let rows = ys.begin(tile_y)..extents[1].min(ys.begin(tile_y) + ys.tile);
        for y in rows {
            let cols = xs.begin(tile_x)..extents[2].min(xs.begin(tile_x) + xs.tile);
            for x in cols {
                let weight = ys.feather(tile_y, y) * xs.feather(tile_x, x);
                for channel in 0..extents[0] {
                    let local = [channel, y - ys.begin(tile_y), x - xs.begin(tile_x)];
                    let from = place(channels_last, tile_extents, number, local);
                    let to = place(channels_last, extents, number / per_image, [channel, y, x]);
                    let (sum, total) = &mut sums[to];
                    *sum += weight * tiles[from].to_f64();
                    *total += weight;
                }
            }
        }
    }
    for (pixel, (sum, total)) in image.iter_mut().zip(sums) {
        *pixel = sum / total;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_rise_and_fall_linearly_over_the_overlap() {
        // Two tiles of 4 pixels share 2 pixels. Their weights are 3 3 2 1 and 1 2 3 3.
        let mut image = [f64::NAN; 6];
        let tiles = [0.0_f32, 0.0, 0.0, 0.0, 3.0, 3.0, 3.0, 3.0];
        let tiles: Vec<f32> = (0..2)
            .flat_map(|tile| tiles[tile * 4..][..4].repeat(4))
            .collect();
        tile_blend(0, 1, 1, 1, 6, 4, 2, &tiles, &mut image);
        assert_eq!(image, [0.0, 0.0, 1.0, 2.0, 3.0, 3.0]);
    }

    #[test]
    fn there_are_as_many_tiles_as_cover_the_image() {
        let tiles = [1, 8, 64, 65, 120, 121].map(|extent| TileAxis::new(extent, 64, 8).tiles);
        assert_eq!(tiles, [1, 1, 1, 2, 2, 3]);
    }
}

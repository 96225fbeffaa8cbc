// Blends overlapping tiles into an image. Each pixel is the mean of the tiles that cover it, with weights that rise
// linearly across the overlap. Each pixel gathers its tiles itself, so no addition is atomic.
//
// Tile i of an axis begins at i * (tile - overlap). The last tile may reach beyond the image. If all tiles agree on a
// pixel, the result is exactly their value, because the mean is updated by differences, (v - mean) * share, which are
// then zero.
//
// Tunable parameters:
//   THREADS_X     threads of a block along a row
//   THREADS_Y     threads of a block along a column
//   VECTOR_WIDTH  elements that a thread moves at once
//   ROWS          rows that a thread computes, THREADS_Y apart
//   COPY          whether elements that only one tile covers are copied without arithmetic

#include "kiln.cuh"

// The tiles of one axis.
struct Axis {
    unsigned int tiles, tile, overlap;

    __device__ __forceinline__ Axis(unsigned int extent, unsigned int tile, unsigned int overlap)
        : tiles(kiln::div_ceil((extent > overlap ? extent : overlap + 1) - overlap, tile - overlap)), tile(tile),
          overlap(overlap)
    {
    }

    // The first and the last tile that cover a pixel.
    __device__ __forceinline__ unsigned int first(unsigned int at) const
    {
        return at < tile ? 0 : (at - tile) / (tile - overlap) + 1;
    }
    __device__ __forceinline__ unsigned int last(unsigned int at) const
    {
        const unsigned int last = at / (tile - overlap);
        return last < tiles ? last : tiles - 1;
    }
    __device__ __forceinline__ unsigned int begin(unsigned int index) const { return index * (tile - overlap); }

    // The weight of tile `index` at a pixel. It rises from 1 to overlap on the sides that have a neighbour, and is
    // overlap + 1 in between.
    __device__ __forceinline__ unsigned int weight(unsigned int index, unsigned int at) const
    {
        const unsigned int local = at - begin(index);
        unsigned int weight = overlap + 1;
        if (index > 0 && local + 1 < weight) {
            weight = local + 1;
        }
        if (index + 1 < tiles && tile - local < weight) {
            weight = tile - local;
        }
        return weight;
    }
};

// A weighted mean. If all values are equal, it is exactly this value.
struct Mean {
    float mean = 0.0f, total = 0.0f;

    __device__ __forceinline__ void add(float value, unsigned int weight)
    {
        if (total == 0.0f) {
            mean = value;
            total = (float)weight;
        } else {
            total += (float)weight;
            mean += (value - mean) * ((float)weight / total);
        }
    }
};

// The tiles of one plane of the image. A plane is one channel or, if the channels are the last dimension, all channels.
// Columns are counted in elements, and a pixel has `pixel` elements.
struct Plane {
    const T* __restrict__ tiles;
    Axis y, x;
    unsigned int pixel;
    size_t apart;

    __device__ __forceinline__ Plane(unsigned int channels_last, unsigned int plane, unsigned int channels,
                                     unsigned int height, unsigned int width, unsigned int tile, unsigned int overlap,
                                     const T* __restrict__ from)
        : y(height, tile, overlap), x(width, tile, overlap), pixel(channels_last ? channels : 1),
          apart((size_t)channels * tile * tile)
    {
        const unsigned int image = channels_last ? plane : plane / channels;
        const unsigned int channel = channels_last ? 0 : plane % channels;
        tiles = from + (size_t)image * y.tiles * x.tiles * apart + (size_t)channel * tile * tile;
    }

    // The address, in a tile, of the element at this row and column of the image.
    __device__ __forceinline__ const T* at(unsigned int tile_y, unsigned int tile_x, unsigned int row,
                                           unsigned int col) const
    {
        const size_t local = (size_t)(row - y.begin(tile_y)) * x.tile * pixel + (col - x.begin(tile_x) * pixel);
        return tiles + ((size_t)tile_y * x.tiles + tile_x) * apart + local;
    }

    __device__ __forceinline__ unsigned int pixel_of(unsigned int col) const { return pixel == 1 ? col : col / pixel; }

    __device__ __forceinline__ float element(unsigned int row, unsigned int col) const
    {
        const unsigned int across = pixel_of(col);
        const unsigned int first = x.first(across), last = x.last(across), last_y = y.last(row);
        Mean mean;
        for (unsigned int tile_y = y.first(row); tile_y <= last_y; ++tile_y) {
            const unsigned int weight_y = y.weight(tile_y, row);
            for (unsigned int tile_x = first; tile_x <= last; ++tile_x) {
                mean.add(kiln::to_float(*at(tile_y, tile_x, row, col)), weight_y * x.weight(tile_x, across));
            }
        }
        return mean.mean;
    }
};

// Writes VECTOR_WIDTH elements from `col` on, all of which the tiles `first` to `last` along x cover.
static __device__ __forceinline__ void blend_run(const Plane& plane, unsigned int row, unsigned int col,
                                                 unsigned int first, unsigned int last, T* __restrict__ to)
{
    const unsigned int first_y = plane.y.first(row), last_y = plane.y.last(row);
    if (COPY && first == last && first_y == last_y) {
        kiln::store(to, kiln::load<VECTOR_WIDTH>(plane.at(first_y, first, row, col)));
        return;
    }
    Mean mean[VECTOR_WIDTH];
    for (unsigned int tile_y = first_y; tile_y <= last_y; ++tile_y) {
        const unsigned int weight_y = plane.y.weight(tile_y, row);
        for (unsigned int tile_x = first; tile_x <= last; ++tile_x) {
            const kiln::vec<float, VECTOR_WIDTH> run =
                kiln::to_float(kiln::load<VECTOR_WIDTH>(plane.at(tile_y, tile_x, row, col)));
#pragma unroll
            for (int i = 0; i < VECTOR_WIDTH; ++i) {
                mean[i].add(run[i], weight_y * plane.x.weight(tile_x, plane.pixel_of(col + i)));
            }
        }
    }
    kiln::vec<float, VECTOR_WIDTH> result;
#pragma unroll
    for (int i = 0; i < VECTOR_WIDTH; ++i) {
        result[i] = mean[i].mean;
    }
    kiln::store(to, kiln::from_float<T>(result));
}

extern "C" __global__ void __launch_bounds__(THREADS_X * THREADS_Y)
tile_blend(unsigned int channels_last, unsigned int batch, unsigned int channels, unsigned int height, unsigned int width,
           unsigned int tile, unsigned int overlap, const T* __restrict__ tiles, T* __restrict__ image)
{
    const Plane plane(channels_last, blockIdx.z, channels, height, width, tile, overlap, tiles);
    const unsigned int cols = width * plane.pixel;
    const unsigned int col = (blockIdx.x * THREADS_X + threadIdx.x) * VECTOR_WIDTH;
    if (col >= cols) {
        return;
    }
    const unsigned int ahead = col + VECTOR_WIDTH <= cols ? plane.pixel_of(col + VECTOR_WIDTH - 1) : 0;
    const unsigned int first = plane.x.first(plane.pixel_of(col)), last = plane.x.last(plane.pixel_of(col));
    const bool together = col + VECTOR_WIDTH <= cols && plane.x.first(ahead) == first && plane.x.last(ahead) == last;
#pragma unroll
    for (unsigned int i = 0; i < ROWS; ++i) {
        const unsigned int row = (blockIdx.y * ROWS + i) * THREADS_Y + threadIdx.y;
        if (row >= height) {
            return;
        }
        T* __restrict__ to = image + ((size_t)blockIdx.z * height + row) * cols + col;
        if (together) {
            blend_run(plane, row, col, first, last, to);
        } else {
            for (unsigned int j = 0; j < VECTOR_WIDTH && col + j < cols; ++j) {
                to[j] = kiln::from_float<T>(plane.element(row, col + j));
            }
        }
    }
}

// The simplest version: one thread per element.
extern "C" __global__ void __launch_bounds__(256)
tile_blend_simple(unsigned int channels_last, unsigned int batch, unsigned int channels, unsigned int height,
                  unsigned int width, unsigned int tile, unsigned int overlap, const T* __restrict__ tiles,
                  T* __restrict__ image)
{
    const Plane plane(channels_last, blockIdx.z, channels, height, width, tile, overlap, tiles);
    const unsigned int cols = width * plane.pixel;
    const unsigned int col = blockIdx.x * 256 + threadIdx.x;
    if (col < cols) {
        image[((size_t)blockIdx.z * height + blockIdx.y) * cols + col] =
            kiln::from_float<T>(plane.element(blockIdx.y, col));
    }
}

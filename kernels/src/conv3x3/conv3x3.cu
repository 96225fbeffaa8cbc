// Convolution with 3 x 3 filters, stride 1 and a border of zeros, with channels last. x is images x height x width x
// channels, weight is 3 x 3 x channels x filters, and y is images x height x width x filters elements of type T,
// accumulated in floats. The convolution is a product of matrices that are never stored. They have one row per output
// pixel, one column per filter, and nine times the number of channels as their inner dimension.
//
// Tunable parameters: those of common/staged_product.cuh. BLOCK_M counts pixels, BLOCK_N filters, BLOCK_K channels.
//   WALK  0: the warps of a block share its tile. Otherwise a block is one thread, which processes its tile in parts of
//         WALK pixels and 256 / WALK filters, for processors that run threads one after another

#include "../common/run.cuh"
#if !WALK
#include "../common/staged_product.cuh"
#else
#define THREADS 1
#endif

// The simplest version: one thread per element of y.
extern "C" __global__ void __launch_bounds__(256)
conv3x3_naive(unsigned int images, unsigned int height, unsigned int width, unsigned int channels, unsigned int filters,
              const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ y)
{
    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)images * height * width * filters) {
        return;
    }
    const unsigned int filter = at % filters;
    const size_t pixel = at / filters;
    const int col = (int)(pixel % width), row = (int)(pixel / width % height);
    const T* image = x + pixel / width / height * height * width * channels;
    float sum = 0.0f;
    for (int tap = 0; tap < 9; ++tap) {
        const int from_row = row + tap / 3 - 1, from_col = col + tap % 3 - 1;
        if (from_row < 0 || from_row >= (int)height || from_col < 0 || from_col >= (int)width) {
            continue;
        }
        const T* from = image + ((size_t)from_row * width + from_col) * channels;
        for (unsigned int channel = 0; channel < channels; ++channel) {
            sum += kiln::to_float(from[channel])
                   * kiln::to_float(weight[((size_t)tap * channels + channel) * filters + filter]);
        }
    }
    y[at] = kiln::from_float<T>(sum);
}

#if WALK

// The number of filters of a part. The sums of a part fill 16 registers of 64 bytes.
static __device__ constexpr int COLS = 256 / WALK;

// Writes `count` channels from `from` on as floats, and zeros for the rest of BLOCK_K channels. If the pixel is outside
// the image, writes only zeros and reads nothing.
static __device__ __forceinline__ void gather(float* to, const T* from, bool inside, unsigned int count)
{
    if (inside && count == BLOCK_K) {
        kiln::store(to, kiln::to_float(kiln::load<BLOCK_K>(from)));
    } else {
        for (unsigned int i = 0; i < BLOCK_K; ++i) {
            to[i] = inside && i < count ? kiln::to_float(from[i]) : 0.0f;
        }
    }
}

// Adds the products of `count` channels to the sums. `weights(i)` returns the weights of channel i.
template <class Weights>
static __device__ __forceinline__ void add_channels(Run<COLS> (&sum)[WALK], const float (&gathered)[WALK][BLOCK_K],
                                                    unsigned int count, Weights weights)
{
#pragma unroll 2
    for (unsigned int i = 0; i < count; ++i) {
        const Run<COLS> row = kiln::to_float(weights(i));
#pragma unroll
        for (int j = 0; j < WALK; ++j) {
            kiln::add_product(sum[j], gathered[j][i], row);
        }
    }
}

// Computes y for at most WALK pixels from `first_pixel` on and at most COLS filters from `first_filter` on.
static __device__ __forceinline__ void part(unsigned int pixels, unsigned int height, unsigned int width, unsigned int channels,
                                            unsigned int filters, const T* __restrict__ x, const T* __restrict__ weight,
                                            T* __restrict__ y, unsigned int first_pixel, unsigned int first_filter)
{
    Run<COLS> sum[WALK];
#pragma unroll
    for (int j = 0; j < WALK; ++j) {
        sum[j] = kiln::splat<COLS>(0.0f);
    }
    const bool whole = first_filter + COLS <= filters;
    for (int tap = 0; tap < 9; ++tap) {
        const int down = tap / 3 - 1, right = tap % 3 - 1;
        for (unsigned int channel = 0; channel < channels; channel += BLOCK_K) {
            const unsigned int count = min(channels - channel, (unsigned int)BLOCK_K);
            float gathered[WALK][BLOCK_K];
            for (int j = 0; j < WALK; ++j) {
                const unsigned int pixel = first_pixel + j;
                const int row = (int)(pixel / width % height) + down, col = (int)(pixel % width) + right;
                const bool inside = pixel < pixels && row >= 0 && row < (int)height && col >= 0 && col < (int)width;
                const long long moved = (long long)pixel + down * (long long)width + right;
                gather(gathered[j], x + moved * channels + channel, inside, count);
            }
            const T* weights = weight + ((size_t)tap * channels + channel) * filters + first_filter;
            if (whole) {
                add_channels(sum, gathered, count, [&](unsigned int i) { return kiln::load<COLS>(weights + (size_t)i * filters); });
            } else {
                add_channels(sum, gathered, count, [&](unsigned int i) {
                    return kiln::load_part<COLS>(weights + (size_t)i * filters, filters - first_filter, kiln::from_float<T>(0.0f));
                });
            }
        }
    }
#pragma unroll
    for (int j = 0; j < WALK; ++j) {
        if (first_pixel + j < pixels) {
            T* to = y + (size_t)(first_pixel + j) * filters + first_filter;
            kiln::store_part(to, kiln::from_float<T>(sum[j]), filters - first_filter);
        }
    }
}

#endif

extern "C" __global__ void __launch_bounds__(THREADS)
conv3x3(unsigned int images, unsigned int height, unsigned int width, unsigned int channels, unsigned int filters,
        const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ y)
{
    const unsigned int pixels = images * height * width;
    const unsigned int first_pixel = blockIdx.x * BLOCK_M, first_filter = blockIdx.y * BLOCK_N;
#if WALK
    for (unsigned int pixel = 0; pixel < BLOCK_M && first_pixel + pixel < pixels; pixel += WALK) {
        for (unsigned int filter = 0; filter < BLOCK_N && first_filter + filter < filters; filter += COLS) {
            part(pixels, height, width, channels, filters, x, weight, y, first_pixel + pixel, first_filter + filter);
        }
    }
#else
    const unsigned int steps_of_tap = kiln::div_ceil(channels, BLOCK_K);

    const Product product = sum_of_products(
        9 * steps_of_tap,
        [&](unsigned int step, int row, int col) {
            const int tap = (int)(step / steps_of_tap);
            const unsigned int channel = step % steps_of_tap * BLOCK_K + col;
            const unsigned int pixel = first_pixel + row;
            const int from_row = (int)(pixel / width % height) + tap / 3 - 1;
            const int from_col = (int)(pixel % width) + tap % 3 - 1;
            const bool inside = pixel < pixels && channel < channels && from_row >= 0 && from_row < (int)height
                                && from_col >= 0 && from_col < (int)width;
            const long long moved = (tap / 3 - 1) * (long long)width + (tap % 3 - 1);
            return Piece{x + (pixel + moved) * channels + channel, inside ? channels - channel : 0};
        },
        channels % CHUNK == 0,
        [&](unsigned int step, int row, int col) {
            const unsigned int tap = step / steps_of_tap;
            const unsigned int channel = step % steps_of_tap * BLOCK_K + row, filter = first_filter + col;
            const bool inside = channel < channels && filter < filters;
            return Piece{weight + ((size_t)tap * channels + channel) * filters + filter, inside ? filters - filter : 0};
        },
        filters % CHUNK == 0);
    store(product, y + (size_t)first_pixel * filters + first_filter, filters, pixels - first_pixel, filters - first_filter);
#endif
}

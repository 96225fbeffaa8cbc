// Convolution with 3 x 3 filters, stride 1 and a border of zeros, channels last: x is images x height x width x channels,
// weight is 3 x 3 x channels x filters, y is images x height x width x filters elements of type T, added up in floats. It is
// a product of matrices that are never written down: a row for each output pixel, a column for each filter, and nine times
// the channels to add up.
//
// Tunable parameters: those of common/staged_product.cuh. BLOCK_M counts pixels, BLOCK_N filters, BLOCK_K channels.

#include "../common/staged_product.cuh"

// The simplest version: one thread an element of y.
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

extern "C" __global__ void __launch_bounds__(THREADS)
conv3x3(unsigned int images, unsigned int height, unsigned int width, unsigned int channels, unsigned int filters,
        const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ y)
{
    const unsigned int pixels = images * height * width;
    const unsigned int first_pixel = blockIdx.x * BLOCK_M, first_filter = blockIdx.y * BLOCK_N;
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
}

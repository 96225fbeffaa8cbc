// Two-dimensional convolution of one image with a 15 x 15 filter. y is height x width floats, and x is (height + 14) x
// (width + 14), both row-major. The parameters are those of the spaces that Kernel Tuner recorded for its convolution.
//
// Tunable parameters:
//   block_size_x, block_size_y  threads of a block
//   tile_size_x, tile_size_y    outputs of a thread along each axis, as far apart as a block is wide. If block_size_x
//                               is 1, the outputs of a row are neighbours, which a CPU keeps in its vector registers
//   filter_width, filter_height the filter: 15 x 15
//   use_shmem                   whether the block's part of x goes through shared memory
//   use_padding                 whether the rows of that part are padded against bank conflicts
//   read_only                   whether x is read through the read-only cache, if use_shmem is 0

#include "kiln.cuh"

// The simplest version: one thread per element of y. It is launched with blocks of 16 x 16.
extern "C" __global__ void __launch_bounds__(256)
conv2d_naive(unsigned int height, unsigned int width, const float* __restrict__ x, const float* __restrict__ filter,
             float* __restrict__ y)
{
    const unsigned int col = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= height || col >= width) {
        return;
    }
    float sum = 0.0f;
    for (unsigned int i = 0; i < 15; ++i) {
        for (unsigned int j = 0; j < 15; ++j) {
            sum += x[(size_t)(row + i) * (width + 14) + col + j] * filter[i * 15 + j];
        }
    }
    y[(size_t)row * width + col] = sum;
}

#define TILE_X (block_size_x * tile_size_x)
#define TILE_Y (block_size_y * tile_size_y)
#define INPUT_X (TILE_X + filter_width - 1)
#define INPUT_Y (TILE_Y + filter_height - 1)
#define LEADING (INPUT_X + use_padding)

extern "C" __global__ void __launch_bounds__(block_size_x * block_size_y)
conv2d(unsigned int height, unsigned int width, const float* __restrict__ x, const float* __restrict__ filter,
       float* __restrict__ y)
{
    const unsigned int first_row = blockIdx.y * TILE_Y, first_col = blockIdx.x * TILE_X;
    const unsigned int input_height = height + filter_height - 1, input_width = width + filter_width - 1;

#if use_shmem
    static_assert(!read_only, "x is read once");
    float* const input = kiln::dynamic_shared<float>();
    for (unsigned int row = threadIdx.y; row < INPUT_Y; row += block_size_y) {
        for (unsigned int col = threadIdx.x; col < INPUT_X; col += block_size_x) {
            const unsigned int from_row = first_row + row, from_col = first_col + col;
            const bool inside = from_row < input_height && from_col < input_width;
            input[row * LEADING + col] = inside ? x[(size_t)from_row * input_width + from_col] : 0.0f;
        }
    }
    __syncthreads();
    [[maybe_unused]] const auto at = [&](unsigned int row, unsigned int col) { return input[row * LEADING + col]; };
#else
    static_assert(!use_padding, "only shared memory is padded");
    const auto at = [&](unsigned int row, unsigned int col) {
        const unsigned int from_row = first_row + row, from_col = first_col + col;
        if (from_row >= input_height || from_col >= input_width) {
            return 0.0f;
        }
        const float* from = x + (size_t)from_row * input_width + from_col;
#if read_only
        return kiln::ldg(from);
#else
        return *from;
#endif
    };
#endif

#if block_size_x == 1
    static_assert(use_shmem && block_size_y == 1, "a block of one thread has its part of x at hand");
    kiln::vec<float, tile_size_x> sum[tile_size_y];
#pragma unroll
    for (unsigned int row = 0; row < tile_size_y; ++row) {
        sum[row] = kiln::splat<tile_size_x>(0.0f);
    }
#pragma unroll 1
    for (unsigned int i = 0; i < filter_height; ++i) {
#pragma unroll
        for (unsigned int j = 0; j < filter_width; ++j) {
            const float factor = filter[i * filter_width + j];
#pragma unroll
            for (unsigned int row = 0; row < tile_size_y; ++row) {
                kiln::add_product(sum[row], factor, kiln::load<tile_size_x>(input + (row + i) * LEADING + j));
            }
        }
    }
    const unsigned int columns = width - first_col;
#pragma unroll
    for (unsigned int row = 0; row < tile_size_y; ++row) {
        float* to = y + (size_t)(first_row + row) * width + first_col;
        if (first_row + row < height && columns >= tile_size_x) {
            kiln::store(to, sum[row]);
        } else if (first_row + row < height) {
            kiln::store_part(to, sum[row], columns);
        }
    }
#else
    float sum[tile_size_y][tile_size_x] = {};
#pragma unroll 1
    for (unsigned int i = 0; i < filter_height; ++i) {
#pragma unroll
        for (unsigned int j = 0; j < filter_width; ++j) {
            const float factor = filter[i * filter_width + j];
#pragma unroll
            for (unsigned int row = 0; row < tile_size_y; ++row) {
#pragma unroll
                for (unsigned int col = 0; col < tile_size_x; ++col) {
                    sum[row][col] += factor
                                     * at(threadIdx.y + row * block_size_y + i, threadIdx.x + col * block_size_x + j);
                }
            }
        }
    }
#pragma unroll
    for (unsigned int row = 0; row < tile_size_y; ++row) {
#pragma unroll
        for (unsigned int col = 0; col < tile_size_x; ++col) {
            const unsigned int to_row = first_row + threadIdx.y + row * block_size_y;
            const unsigned int to_col = first_col + threadIdx.x + col * block_size_x;
            if (to_row < height && to_col < width) {
                y[(size_t)to_row * width + to_col] = sum[row][col];
            }
        }
    }
#endif
}

// y = transpose of x: x is rows x cols, y is cols x rows, both row-major.
//
// Tunable parameters:
//   TILE  a block moves a tile of TILE x TILE floats through shared memory
//   STEP  elements that a thread moves; a block has TILE x (TILE / STEP) threads
//   PAD   unused floats behind each row of the tile: 1 spreads a column over the banks of shared memory

extern "C" __global__ void __launch_bounds__(TILE * (TILE / STEP))
transpose(unsigned int rows, unsigned int cols, const float* __restrict__ x, float* __restrict__ y)
{
    static_assert(TILE % STEP == 0, "a thread moves a whole number of elements");
    // TILE * (TILE + PAD) floats. `shared(..)` in the spec declares this size in bytes.
    extern __shared__ float tile[];
    const unsigned int height = TILE / STEP;

    const unsigned int col = blockIdx.x * TILE + threadIdx.x;
    for (unsigned int i = threadIdx.y; i < TILE; i += height) {
        const unsigned int row = blockIdx.y * TILE + i;
        if (row < rows && col < cols) {
            tile[i * (TILE + PAD) + threadIdx.x] = x[(size_t)row * cols + col];
        }
    }
    __syncthreads();

    const unsigned int row = blockIdx.y * TILE + threadIdx.x;
    for (unsigned int i = threadIdx.y; i < TILE; i += height) {
        const unsigned int from = blockIdx.x * TILE + i;
        if (row < rows && from < cols) {
            y[(size_t)from * rows + row] = tile[threadIdx.x * (TILE + PAD) + i];
        }
    }
}

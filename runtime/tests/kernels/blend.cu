// out[r][c] = in[r][c] * weight[c] + r over a tile of TILE_R x TILE_C a block.
//   THREADS     threads of a block
//   TILE_R      rows of a tile
//   TILE_C      columns of a tile
//   STAGED      1: the tile's weights go through dynamic shared memory
extern "C" __global__ void blend(unsigned int rows, unsigned int columns, const float* in,
                                 const float* weight, float* out) {
    extern __shared__ float staged[];
    unsigned int first_row = blockIdx.y * TILE_R, first_column = blockIdx.x * TILE_C;
#if STAGED
    for (unsigned int c = threadIdx.x; c < TILE_C; c += THREADS) {
        staged[c] = first_column + c < columns ? weight[first_column + c] : 0.0f;
    }
    __syncthreads();
#endif
    for (unsigned int i = threadIdx.x; i < TILE_R * TILE_C; i += THREADS) {
        unsigned int r = first_row + i / TILE_C, c = first_column + i % TILE_C;
        if (r >= rows || c >= columns) continue;
#if STAGED
        float w = staged[i % TILE_C];
#else
        float w = weight[c];
#endif
        out[(size_t)r * columns + c] = in[(size_t)r * columns + c] * w + (float)r;
    }
}

// ids[thread's number in the grid] = that number, and counts the visits; all bits where the kernel sees another grid
// or block than it was launched with.
extern "C" __global__ void number_threads(unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                          unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                          unsigned int* ids, int* visits) {
    unsigned int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned int id = block * blockDim.x * blockDim.y * blockDim.z + thread;
    bool as_launched = gridDim.x == grid_x && gridDim.y == grid_y && gridDim.z == grid_z &&
                       blockDim.x == block_x && blockDim.y == block_y && blockDim.z == block_z;
#if BARRIER
    __syncthreads();
#endif
    ids[id] = as_launched ? id : 0xffffffffu;
    atomicAdd(&visits[id], 1);
}

extern "C" __global__ void number(unsigned rows, unsigned columns, float* y) {
    const unsigned row = blockIdx.x;
    for (unsigned c = threadIdx.x; row < rows && c < columns; c += THREADS) y[row * columns + c] = row + 1;
}

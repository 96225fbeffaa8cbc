/* Six kernels as one writes them in OpenCL: f32, row-major, sizes are arguments, tile sizes are macros that pocl_peer.py searches. */

#if VECTOR == 1
typedef float values;
#define LOAD(p) (*(p))
#define STORE(v, p) (*(p) = (v))
#define SUM(v) (v)
#define MOST(v) (v)
#else
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
typedef JOIN(float, VECTOR) values;
#define LOAD(p) JOIN(vload, VECTOR)(0, p)
#define STORE(v, p) JOIN(vstore, VECTOR)(v, 0, p)

float sum_of(values v) {
    float each[VECTOR], sum = 0;
    STORE(v, each);
    for (int i = 0; i < VECTOR; i++) sum += each[i];
    return sum;
}
float most_of(values v) {
    float each[VECTOR], most = -INFINITY;
    STORE(v, each);
    for (int i = 0; i < VECTOR; i++) most = fmax(most, each[i]);
    return most;
}
#define SUM(v) sum_of(v)
#define MOST(v) most_of(v)
#endif

/* The block's sum or largest value, in every thread. */
float block_sum(float x, local float *part) {
    if (BLOCK == 1) return x;
    const int id = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    part[id] = x;
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < step) part[id] += part[id + step];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return part[0];
}
float block_most(float x, local float *part) {
    if (BLOCK == 1) return x;
    const int id = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    part[id] = x;
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < step) part[id] = fmax(part[id], part[id + step]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return part[0];
}

/* Row kernels: a block a row. Rows are whole numbers of vectors: pocl_peer.py leaves out the others. */
#define STEP (BLOCK * VECTOR)
#define EACH(j) for (int j = get_local_id(0) * VECTOR; j < cols; j += STEP)

kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void reduce(int cols, int operation, global const float *restrict x, global float *restrict y) {
    local float part[BLOCK];
    x += (size_t)get_group_id(0) * cols;
    if (operation == 1) {
        values total = 0;
        EACH(j) total += LOAD(x + j);
        const float sum = block_sum(SUM(total), part);
        if (get_local_id(0) == 0) y[get_group_id(0)] = sum;
    } else {
        values total = -INFINITY;
        EACH(j) total = fmax(total, LOAD(x + j));
        const float most = block_most(MOST(total), part);
        if (get_local_id(0) == 0) y[get_group_id(0)] = most;
    }
}

kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void softmax(int cols, global const float *restrict x, global float *restrict y) {
    local float part[BLOCK];
    x += (size_t)get_group_id(0) * cols;
    y += (size_t)get_group_id(0) * cols;
    values highest = -INFINITY, total = 0;
    EACH(j) highest = fmax(highest, LOAD(x + j));
    const float most = block_most(MOST(highest), part);
    EACH(j) {
        const values each = exp(LOAD(x + j) - most);
        STORE(each, y + j);
        total += each;
    }
    const float scale = 1 / block_sum(SUM(total), part);
    EACH(j) STORE(LOAD(y + j) * scale, y + j);
}

kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void layer_norm(int cols, float epsilon, global const float *restrict x, global const float *restrict weight,
                global const float *restrict bias, global float *restrict y) {
    local float part[BLOCK];
    x += (size_t)get_group_id(0) * cols;
    y += (size_t)get_group_id(0) * cols;
    values total = 0, squares = 0;
    EACH(j) total += LOAD(x + j);
    const float mean = block_sum(SUM(total), part) / cols;
    EACH(j) {
        const values from = LOAD(x + j) - mean;
        squares += from * from;
    }
    const float scale = rsqrt(block_sum(SUM(squares), part) / cols + epsilon);
    EACH(j) STORE((LOAD(x + j) - mean) * scale * LOAD(weight + j) + LOAD(bias + j), y + j);
}

/* A block moves a tile of TILE x TILE elements with TILE x THREAD_ROWS threads. */
kernel __attribute__((reqd_work_group_size(TILE, THREAD_ROWS, 1)))
void transpose(int rows, int cols, global const float *restrict x, global float *restrict y) {
    const int first_row = get_group_id(1) * TILE, first_col = get_group_id(0) * TILE, id = get_local_id(0);
#if STAGED
    local float tile[TILE][TILE + PADDING];
    for (int i = get_local_id(1); i < TILE; i += THREAD_ROWS)
        if (first_row + i < rows && first_col + id < cols) tile[i][id] = x[(size_t)(first_row + i) * cols + first_col + id];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_local_id(1); i < TILE; i += THREAD_ROWS)
        if (first_row + id < rows && first_col + i < cols) y[(size_t)(first_col + i) * rows + first_row + id] = tile[id][i];
#else
    for (int i = get_local_id(1); i < TILE; i += THREAD_ROWS)
        if (first_row + i < rows && first_col + id < cols)
            y[(size_t)(first_col + id) * rows + first_row + i] = x[(size_t)(first_row + i) * cols + first_col + id];
#endif
}

/* A thread computes ROWS x COLS elements, a block apart; both matrices go through local memory where STAGED. */
#define TILE_M (BLOCK_M * ROWS)
#define TILE_N (BLOCK_N * COLS)
kernel __attribute__((reqd_work_group_size(BLOCK_N, BLOCK_M, 1)))
void gemm(int m, int n, int k, global const float *restrict a, global const float *restrict b, global float *restrict c) {
    const int first_row = get_group_id(1) * TILE_M, first_col = get_group_id(0) * TILE_N;
    const int row = get_local_id(1), col = get_local_id(0);
    float sum[ROWS][COLS];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) sum[i][j] = 0;
#if STAGED
    local float part_a[TILE_M][TILE_K], part_b[TILE_K][TILE_N];
    for (int from = 0; from < k; from += TILE_K) {
        for (int i = row; i < TILE_M; i += BLOCK_M)
            for (int p = col; p < TILE_K; p += BLOCK_N)
                part_a[i][p] = first_row + i < m && from + p < k ? a[(size_t)(first_row + i) * k + from + p] : 0;
        for (int p = row; p < TILE_K; p += BLOCK_M)
            for (int j = col; j < TILE_N; j += BLOCK_N)
                part_b[p][j] = from + p < k && first_col + j < n ? b[(size_t)(from + p) * n + first_col + j] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int p = 0; p < TILE_K; p++)
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < COLS; j++)
                    sum[i][j] += part_a[row + i * BLOCK_M][p] * part_b[p][col + j * BLOCK_N];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#else
    for (int p = 0; p < k; p++)
        for (int i = 0; i < ROWS; i++) {
            const float left = a[(size_t)min(first_row + row + i * BLOCK_M, m - 1) * k + p];
            for (int j = 0; j < COLS; j++) sum[i][j] += left * b[(size_t)p * n + min(first_col + col + j * BLOCK_N, n - 1)];
        }
#endif
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) {
            const int to_row = first_row + row + i * BLOCK_M, to_col = first_col + col + j * BLOCK_N;
            if (to_row < m && to_col < n) c[(size_t)to_row * n + to_col] = sum[i][j];
        }
}

/* A filter of 15 x 15 over an image with a border of 7: a thread computes ROWS x COLS elements, a block apart. */
kernel __attribute__((reqd_work_group_size(BLOCK_N, BLOCK_M, 1)))
void conv2d(int height, int width, global const float *restrict x, constant float *restrict filter, global float *restrict y) {
    const int first_row = get_group_id(1) * TILE_M, first_col = get_group_id(0) * TILE_N;
    const int row = get_local_id(1), col = get_local_id(0);
    float sum[ROWS][COLS];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) sum[i][j] = 0;
#if STAGED
    local float part[TILE_M + 14][TILE_N + 14];
    for (int i = row; i < TILE_M + 14; i += BLOCK_M)
        for (int j = col; j < TILE_N + 14; j += BLOCK_N)
            part[i][j] = x[(size_t)min(first_row + i, height + 13) * (width + 14) + min(first_col + j, width + 13)];
    barrier(CLK_LOCAL_MEM_FENCE);
#define AT(i, j) part[i][j]
#else
#define AT(i, j) x[(size_t)min(first_row + (i), height + 13) * (width + 14) + min(first_col + (j), width + 13)]
#endif
    for (int u = 0; u < 15; u++)
        for (int v = 0; v < 15; v++)
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < COLS; j++)
                    sum[i][j] += AT(row + i * BLOCK_M + u, col + j * BLOCK_N + v) * filter[15 * u + v];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) {
            const int to_row = first_row + row + i * BLOCK_M, to_col = first_col + col + j * BLOCK_N;
            if (to_row < height && to_col < width) y[(size_t)to_row * width + to_col] = sum[i][j];
        }
}

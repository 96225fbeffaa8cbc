/* What one writes first: plain loops, one thread. The compiler may do with them what -O3 -march=native allows. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef long n_t;

void tensor_add(n_t n, const float *a, const float *b, float *c) {
    for (n_t i = 0; i < n; i++) c[i] = a[i] + b[i];
}

void tensor_mul(n_t n, const float *a, const float *b, float *c) {
    for (n_t i = 0; i < n; i++) c[i] = a[i] * b[i];
}

void broadcast_add(n_t rows, n_t cols, n_t b_rows, n_t b_cols, const float *a, const float *b, float *c) {
    for (n_t i = 0; i < rows; i++)
        for (n_t j = 0; j < cols; j++)
            c[i * cols + j] = a[i * cols + j] + b[(b_rows == 1 ? 0 : i) * b_cols + (b_cols == 1 ? 0 : j)];
}

static float gelu_of(float x, n_t form) {
    if (form == 1) return 0.5f * x * (1.0f + erff(x * 0.70710678f));
    return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

void gelu(n_t n, n_t form, const float *x, float *y) {
    for (n_t i = 0; i < n; i++) y[i] = gelu_of(x[i], form);
}

void bias_gelu(n_t rows, n_t cols, n_t form, const float *x, const float *bias, float *y) {
    for (n_t i = 0; i < rows; i++)
        for (n_t j = 0; j < cols; j++) y[i * cols + j] = gelu_of(x[i * cols + j] + bias[j], form);
}

void softmax(n_t rows, n_t cols, const float *x, float *y) {
    for (n_t i = 0; i < rows; i++, x += cols, y += cols) {
        float most = x[0], sum = 0;
        for (n_t j = 1; j < cols; j++) most = x[j] > most ? x[j] : most;
        for (n_t j = 0; j < cols; j++) sum += y[j] = expf(x[j] - most);
        for (n_t j = 0; j < cols; j++) y[j] /= sum;
    }
}

void layer_norm(n_t rows, n_t cols, double epsilon, const float *x, const float *weight, const float *bias, float *y) {
    for (n_t i = 0; i < rows; i++, x += cols, y += cols) {
        float mean = 0, variance = 0;
        for (n_t j = 0; j < cols; j++) mean += x[j];
        mean /= cols;
        for (n_t j = 0; j < cols; j++) variance += (x[j] - mean) * (x[j] - mean);
        float scale = 1.0f / sqrtf(variance / cols + (float)epsilon);
        for (n_t j = 0; j < cols; j++) y[j] = (x[j] - mean) * scale * weight[j] + bias[j];
    }
}

void rms_norm(n_t rows, n_t cols, double epsilon, const float *x, const float *weight, float *y) {
    for (n_t i = 0; i < rows; i++, x += cols, y += cols) {
        float squares = 0;
        for (n_t j = 0; j < cols; j++) squares += x[j] * x[j];
        float scale = 1.0f / sqrtf(squares / cols + (float)epsilon);
        for (n_t j = 0; j < cols; j++) y[j] = x[j] * scale * weight[j];
    }
}

void reduce(n_t rows, n_t cols, n_t operation, const float *x, float *y) {
    for (n_t i = 0; i < rows; i++, x += cols) {
        float total = operation == 1 ? 0 : x[0];
        for (n_t j = 0; j < cols; j++) {
            if (operation == 1) total += x[j];
            else total = x[j] > total ? x[j] : total;
        }
        y[i] = total;
    }
}

void transpose(n_t rows, n_t cols, const float *x, float *y) {
    for (n_t i = 0; i < rows; i++)
        for (n_t j = 0; j < cols; j++) y[j * rows + i] = x[i * cols + j];
}

void gemm(n_t m, n_t n, n_t k, const float *a, const float *b, float *c) {
    for (n_t i = 0; i < m; i++)
        for (n_t j = 0; j < n; j++) {
            float sum = 0;
            for (n_t p = 0; p < k; p++) sum += a[i * k + p] * b[p * n + j];
            c[i * n + j] = sum;
        }
}

void conv2d(n_t height, n_t width, const float *x, const float *filter, float *y) {
    for (n_t r = 0; r < height; r++)
        for (n_t c = 0; c < width; c++) {
            float sum = 0;
            for (n_t i = 0; i < 15; i++)
                for (n_t j = 0; j < 15; j++) sum += filter[15 * i + j] * x[(r + i) * (width + 14) + c + j];
            y[r * width + c] = sum;
        }
}

void conv3x3(n_t images, n_t height, n_t width, n_t channels, n_t filters, const float *x, const float *weight, float *y) {
    for (n_t n = 0; n < images; n++)
        for (n_t r = 0; r < height; r++)
            for (n_t c = 0; c < width; c++)
                for (n_t f = 0; f < filters; f++) {
                    float sum = 0;
                    for (n_t i = 0; i < 3; i++)
                        for (n_t j = 0; j < 3; j++) {
                            n_t row = r + i - 1, column = c + j - 1;
                            if (row < 0 || row >= height || column < 0 || column >= width) continue;
                            for (n_t p = 0; p < channels; p++)
                                sum += x[((n * height + row) * width + column) * channels + p]
                                     * weight[((3 * i + j) * channels + p) * filters + f];
                        }
                    y[((n * height + r) * width + c) * filters + f] = sum;
                }
}

void modulation_index(n_t channels, n_t samples, n_t phase_bands, n_t amp_bands, n_t shifts, n_t bins,
                      const float *phase, const float *amp, const unsigned *shift, float *mi) {
    double *sums = malloc(bins * sizeof *sums), *counts = malloc(bins * sizeof *counts);
    for (n_t s = 0; s < shifts; s++)
        for (n_t c = 0; c < channels; c++)
            for (n_t p = 0; p < phase_bands; p++)
                for (n_t a = 0; a < amp_bands; a++) {
                    memset(sums, 0, bins * sizeof *sums);
                    memset(counts, 0, bins * sizeof *counts);
                    const float *turn = phase + (p * channels + c) * samples, *of = amp + (a * channels + c) * samples;
                    for (n_t t = 0; t < samples; t++) {
                        n_t bin = (n_t)floor((turn[t] + 3.14159265358979323846) / 6.28318530717958647692 * bins);
                        bin = bin < 0 ? 0 : bin >= bins ? bins - 1 : bin;
                        sums[bin] += of[(t + shift[s]) % samples];
                        counts[bin] += 1;
                    }
                    double total = 0, entropy = 0;
                    for (n_t b = 0; b < bins; b++) total += sums[b] = counts[b] ? sums[b] / counts[b] : 0;
                    for (n_t b = 0; b < bins; b++)
                        if (sums[b] > 0) entropy += sums[b] / total * log(sums[b] / total * bins);
                    mi[((s * channels + c) * phase_bands + p) * amp_bands + a] = entropy / log(bins);
                }
    free(sums);
    free(counts);
}

// Tort's modulation index of every pair of a phase band and an amplitude band. It measures how far the mean amplitudes
// of the phase's bins are from equal: their Kullback-Leibler divergence from the uniform distribution, divided by
// log(bins). Surrogate s pairs the amplitude of sample (t + shift[s]) mod samples with the phase of sample t.
//
// A block processes one phase band, channel and surrogate, and AMP_BANDS amplitude bands. Each thread has its own
// histogram in shared memory, so that no addition is atomic and the result does not depend on the order of threads.
//
// Tunable parameters:
//   AMP_BANDS  amplitude bands of a block; the phase is read and binned once for all of them
//   THREADS    threads of a block: a power of two
//   SUM_BYTES  bytes of a number in a thread's histogram: 4 (float, added to a double every 128 samples) or 8 (double)
//   LAYOUT     LAYOUT_striped: all threads' copies of a cell are adjacent, which suits the banks of shared memory;
//              LAYOUT_packed: the amplitude bands of a bin are adjacent, which suits vector units
//   UNROLL     samples of a thread between two loop checks

#include "kiln.cuh"

// The bin of a phase in radians. A fused multiply-add rounds only once and so gives the same bin on every device.
static __device__ __forceinline__ unsigned int bin_of(float phase, unsigned int bins)
{
    const float place = fmaf(phase, (float)bins * 0.15915494f, (float)bins * 0.5f);
    return (unsigned int)fminf(fmaxf(place, 0.0f), (float)(bins - 1));
}

// The term of a bin with this share of the amplitude. The sum of all terms, divided by log(bins), is MI - 1.
static __device__ __forceinline__ double entropy_of(double share) { return share > 0.0 ? share * log(share) : 0.0; }

// The index, computed from the sum of entropy_of over the bins. It is 0 for a single bin, and if all amplitudes are
// zero.
static __device__ __forceinline__ float index_of(double entropy, double total, unsigned int bins)
{
    return total > 0.0 && bins > 1 ? (float)(1.0 + entropy / log((double)bins)) : 0.0f;
}

#if SUM_BYTES == 4
typedef float Sum;
#else
typedef double Sum;
#endif

// The index of a bin of an amplitude band among a histogram's cells, and the index of a thread's copy of a cell.
static __device__ __forceinline__ unsigned int cell_of(unsigned int band, unsigned int bin, unsigned int bins)
{
    return LAYOUT == LAYOUT_striped ? band * bins + bin : bin * AMP_BANDS + band;
}
static __device__ __forceinline__ unsigned int slot_of(unsigned int cell, unsigned int thread, unsigned int cells)
{
    return LAYOUT == LAYOUT_striped ? cell * THREADS + thread : thread * cells + cell;
}

// Adds the threads' copies of every cell to the block's totals. Each thread begins with a different copy, so that
// neighbouring threads read neighbouring memory.
template <class Copy>
static __device__ __forceinline__ void fold(double* totals, const Copy* copies, unsigned int cells)
{
    for (unsigned int cell = threadIdx.x; cell < cells; cell += THREADS) {
        double sum = totals[cell];
        for (unsigned int i = 0; i < THREADS; ++i) {
            sum += (double)copies[slot_of(cell, (threadIdx.x + i) % THREADS, cells)];
        }
        totals[cell] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
modulation_index(unsigned int channels, unsigned int samples, unsigned int phase_bands, unsigned int amp_bands,
                 unsigned int shifts, unsigned int bins, const float* __restrict__ phase, const float* __restrict__ amp,
                 const unsigned int* __restrict__ shift, float* __restrict__ mi)
{
    static_assert((THREADS & (THREADS - 1)) == 0, "THREADS is a power of two");
    const unsigned int thread = threadIdx.x;
    const unsigned int first_band = blockIdx.y * AMP_BANDS;
    const unsigned int channel = blockIdx.z % channels;
    const unsigned int surrogate = blockIdx.z / channels;
    const unsigned int cells = AMP_BANDS * bins;

    double* totals = kiln::dynamic_shared<double>();
    double* total_counts = totals + cells;
    Sum* sums = reinterpret_cast<Sum*>(total_counts + bins);
    unsigned int* counts = reinterpret_cast<unsigned int*>(sums + THREADS * cells);

    const float* __restrict__ phases = phase + ((size_t)blockIdx.x * channels + channel) * samples;
    const float* amps[AMP_BANDS];
#pragma unroll
    for (unsigned int i = 0; i < AMP_BANDS; ++i) {
        // Bands beyond the last one repeat the last one, and are not written.
        const unsigned int band = first_band + i < amp_bands ? first_band + i : amp_bands - 1;
        amps[i] = amp + ((size_t)band * channels + channel) * samples;
    }
    const unsigned int by = shift[surrogate] % samples;
    const unsigned int wraps = samples - by;
    // A sum of at most 128 floats of one sign has a relative error below 128 * 2^-24.
    const unsigned int step = SUM_BYTES == 4 && samples > 128 * THREADS ? 128 * THREADS : samples;

    for (unsigned int i = thread; i < cells + bins; i += THREADS) {
        totals[i] = 0.0;
    }
    for (unsigned int first = 0; first < samples;) {
        const unsigned int end = samples - first > step ? first + step : samples;
        for (unsigned int cell = 0; cell < cells; ++cell) {
            sums[slot_of(cell, thread, cells)] = 0;
        }
        for (unsigned int bin = 0; bin < bins; ++bin) {
            counts[slot_of(bin, thread, bins)] = 0;
        }
#pragma unroll UNROLL
        for (unsigned int t = first + thread; t < end; t += THREADS) {
            const unsigned int bin = bin_of(phases[t], bins);
            const unsigned int shifted = t < wraps ? t + by : t - wraps;
            counts[slot_of(bin, thread, bins)] += 1;
#pragma unroll
            for (unsigned int i = 0; i < AMP_BANDS; ++i) {
                sums[slot_of(cell_of(i, bin, bins), thread, cells)] += (Sum)amps[i][shifted];
            }
        }
        __syncthreads();
        fold(totals, sums, cells);
        fold(total_counts, counts, bins);
        __syncthreads();
        first = end;
    }

    // Replace the totals in double precision and in place: by means, by shares of the means' sum, by entropies.
    for (unsigned int cell = thread; cell < cells; cell += THREADS) {
        const double count = total_counts[LAYOUT == LAYOUT_striped ? cell % bins : cell / AMP_BANDS];
        totals[cell] = count > 0.0 ? totals[cell] / count : 0.0;
    }
    __syncthreads();
    double* band_totals = reinterpret_cast<double*>(sums);
    for (unsigned int band = thread; band < AMP_BANDS; band += THREADS) {
        double sum = 0.0;
        for (unsigned int bin = 0; bin < bins; ++bin) {
            sum += totals[cell_of(band, bin, bins)];
        }
        band_totals[band] = sum;
    }
    __syncthreads();
    for (unsigned int cell = thread; cell < cells; cell += THREADS) {
        const double total = band_totals[LAYOUT == LAYOUT_striped ? cell / bins : cell % AMP_BANDS];
        totals[cell] = entropy_of(totals[cell] / total);
    }
    __syncthreads();
    for (unsigned int band = thread; band < AMP_BANDS && first_band + band < amp_bands; band += THREADS) {
        double entropy = 0.0;
        for (unsigned int bin = 0; bin < bins; ++bin) {
            entropy += totals[cell_of(band, bin, bins)];
        }
        const size_t row = ((size_t)surrogate * channels + channel) * phase_bands + blockIdx.x;
        mi[row * amp_bands + first_band + band] = index_of(entropy, band_totals[band], bins);
    }
}

// The simplest version: one thread per pair of bands. Threads share nothing, and each reads its phase and its amplitude
// once, from first to last.
#define SIMPLE_THREADS 32
extern "C" __global__ void __launch_bounds__(SIMPLE_THREADS)
modulation_index_simple(unsigned int channels, unsigned int samples, unsigned int phase_bands, unsigned int amp_bands,
                        unsigned int shifts, unsigned int bins, const float* __restrict__ phase,
                        const float* __restrict__ amp, const unsigned int* __restrict__ shift, float* __restrict__ mi)
{
    const unsigned int band = blockIdx.y * SIMPLE_THREADS + threadIdx.x;
    const unsigned int channel = blockIdx.z % channels;
    const unsigned int surrogate = blockIdx.z / channels;
    if (band >= amp_bands) {
        return;
    }
    double* sums = kiln::dynamic_shared<double>() + threadIdx.x;
    double* counts = sums + SIMPLE_THREADS * bins;
    for (unsigned int bin = 0; bin < bins; ++bin) {
        sums[bin * SIMPLE_THREADS] = 0.0;
        counts[bin * SIMPLE_THREADS] = 0.0;
    }
    const float* __restrict__ phases = phase + ((size_t)blockIdx.x * channels + channel) * samples;
    const float* __restrict__ amps = amp + ((size_t)band * channels + channel) * samples;
    for (unsigned int t = 0; t < samples; ++t) {
        const unsigned int bin = bin_of(phases[t], bins);
        sums[bin * SIMPLE_THREADS] += amps[((size_t)t + shift[surrogate]) % samples];
        counts[bin * SIMPLE_THREADS] += 1.0;
    }
    double total = 0.0;
    for (unsigned int bin = 0; bin < bins; ++bin) {
        if (counts[bin * SIMPLE_THREADS] > 0.0) {
            sums[bin * SIMPLE_THREADS] /= counts[bin * SIMPLE_THREADS];
        }
        total += sums[bin * SIMPLE_THREADS];
    }
    double entropy = 0.0;
    for (unsigned int bin = 0; bin < bins; ++bin) {
        entropy += entropy_of(sums[bin * SIMPLE_THREADS] / total);
    }
    const size_t row = ((size_t)surrogate * channels + channel) * phase_bands + blockIdx.x;
    mi[row * amp_bands + band] = index_of(entropy, total, bins);
}

// Copies from global to shared memory in two parts, which run beside what the kernel does between them.
#ifndef KILN_DEVICE_STAGED_COPY_H
#define KILN_DEVICE_STAGED_COPY_H

namespace kiln {

// A copy of N elements as by copy_async_or_zero, in two parts. It runs beside what the kernel does between begin() and
// end(); after end(), copy_commit and copy_wait count it. A GPU without such copies holds the elements in registers
// meanwhile.
template <int N, class T> class staged_copy {
#if defined(KILN_HIP) && !defined(KILN_CPU)
    vec<T, N> held;

public:
    static constexpr bool writes_at_end = true;
    KILN_MEMBER void begin(T*, const T* from, bool valid) {
        held = {};
        if (valid) held = load_aligned<N>(from);
    }
    KILN_MEMBER void end(T* to) { store_aligned(to, held); }
#else
public:
    static constexpr bool writes_at_end = false;
    KILN_MEMBER void begin(T* to, const T* from, bool valid) { copy_async_or_zero<N>(to, from, valid); }
    KILN_MEMBER void end(T*) {}
#endif
};

// Two such copies, whose elements come to lie in turns, an element of the even row first. They run
// beside the kernel on AMD only: elsewhere begin() does all of it.
template <int N, class T> class staged_pair_copy {
#if defined(KILN_HIP) && !defined(KILN_CPU)
    vec<T, N> even, odd;
#endif

    KILN_MEMBER static vec<T, N> read(const T* from, bool valid) {
        vec<T, N> elements = {};
        if (valid) elements = load_aligned<N>(from);
        return elements;
    }
    KILN_MEMBER static void write(T* to, const vec<T, N>& even, const vec<T, N>& odd) {
        vec<T, N> low, high;
#pragma unroll
        for (int i = 0; i < N / 2; ++i) {
            low.value[2 * i] = even.value[i];
            low.value[2 * i + 1] = odd.value[i];
            high.value[2 * i] = even.value[i + N / 2];
            high.value[2 * i + 1] = odd.value[i + N / 2];
        }
        // Of eight lanes that write side by side, four begin with the upper half, so that no two need the same bank.
        const bool upper_first = lane() / 4 % 2 != 0;
        store_aligned(to + (upper_first ? N : 0), upper_first ? high : low);
        store_aligned(to + (upper_first ? 0 : N), upper_first ? low : high);
    }

public:
#if defined(KILN_HIP) && !defined(KILN_CPU)
    KILN_MEMBER void begin(T*, const T* from_even, bool valid_even, const T* from_odd, bool valid_odd) {
        even = read(from_even, valid_even);
        odd = read(from_odd, valid_odd);
    }
    KILN_MEMBER void end(T* to) { write(to, even, odd); }
#else
    KILN_MEMBER void begin(T* to, const T* from_even, bool valid_even, const T* from_odd, bool valid_odd) {
        write(to, read(from_even, valid_even), read(from_odd, valid_odd));
    }
    KILN_MEMBER void end(T*) {}
#endif
};

}  // namespace kiln

#endif

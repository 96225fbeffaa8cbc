// Neighbouring elements, moved in as few memory operations as there can be.
#ifndef KILN_DEVICE_VECTOR_H
#define KILN_DEVICE_VECTOR_H

namespace kiln {

// How a load or store uses the caches.
enum class hint {
    plain,      // as the hardware does by default
    read_only,  // nothing writes to the memory while the kernel runs
    streaming,  // the data is touched once: it should leave the caches first
};

// The largest power of two that divides a size, at most 16: what one memory operation moves.
KILN_INLINE constexpr int vec_alignment(int bytes) {
    return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
}

// N neighbouring elements in registers.
template <class T, int N> struct alignas(vec_alignment(sizeof(T) * N)) vec {
    static_assert(N > 0, "a vector has an element");
    static constexpr int size = N;
    T value[N];

    KILN_MEMBER T& operator[](int i) { return value[i]; }
    KILN_MEMBER const T& operator[](int i) const { return value[i]; }
};

// Before a loop whose turns each take one element of some vectors: unrolled for a GPU; for a host left to the
// compiler's vectoriser, which does nothing to a loop that was unrolled before.
#if defined(KILN_CPU)
#define KILN_EACH_ELEMENT
#else
#define KILN_EACH_ELEMENT _Pragma("unroll")
#endif

// N times the same value.
template <int N, class T> KILN_INLINE vec<T, N> splat(T x) {
    vec<T, N> result;
    KILN_EACH_ELEMENT
    for (int i = 0; i < N; ++i) result.value[i] = x;
    return result;
}

// Check builds look at each access: there floats stay floats.
#if defined(KILN_CPU) && !KILN_CPU_CHECK
#define KILN_FLOAT_REGISTERS 1
// `bytes` of neighbouring floats in one register of the processor's.
#if defined(__AVX512F__)
constexpr int register_bytes = 64;
#elif defined(__AVX__)
constexpr int register_bytes = 32;
#else
constexpr int register_bytes = 16;
#endif
template <int bytes> struct float_register {
    typedef float type __attribute__((vector_size(bytes), aligned(4), may_alias));
};
#endif

// sum += factor * x, element by element.
template <int N> KILN_INLINE void add_product(vec<float, N>& sum, float factor, const vec<float, N>& x) {
#ifdef KILN_FLOAT_REGISTERS
    // Written with registers: compilers do not find them by themselves where many sums are kept at once.
    if constexpr (N % 4 == 0) {
        constexpr int bytes = N * 4 % register_bytes == 0 ? register_bytes : N % 8 == 0 && register_bytes > 16 ? 32 : 16;
        typedef typename float_register<bytes>::type words;
#pragma GCC unroll 16
        for (int i = 0; i < N; i += bytes / 4) {
            *(words*)(sum.value + i) += *(const words*)(x.value + i) * factor;
        }
        return;
    }
#endif
    KILN_EACH_ELEMENT
    for (int i = 0; i < N; ++i) sum.value[i] += factor * x.value[i];
}

// Words of one memory operation.
template <int bytes> struct memory_word;
#if defined(KILN_HIP)
// clang's own vectors: its nontemporal accesses take no structs.
typedef unsigned int kiln_two_words __attribute__((ext_vector_type(2)));
typedef unsigned int kiln_four_words __attribute__((ext_vector_type(4)));
template <> struct memory_word<8> { typedef kiln_two_words type; };
template <> struct memory_word<16> { typedef kiln_four_words type; };
#else
template <> struct memory_word<8> { typedef uint2 type; };
template <> struct memory_word<16> { typedef uint4 type; };
#endif
template <> struct memory_word<1> { typedef unsigned char type; };
template <> struct memory_word<2> { typedef unsigned short type; };
template <> struct memory_word<4> { typedef unsigned int type; };

template <hint how, class Word> KILN_INLINE Word load_word(const Word* from) {
#if defined(KILN_CUDA)
    if constexpr (how == hint::read_only) return __ldg(from);
    else if constexpr (how == hint::streaming) return __ldcs(from);
    else return *from;
#elif defined(KILN_HIP)
    if constexpr (how == hint::streaming) return __builtin_nontemporal_load(from);
    else return *from;
#else
    return *from;
#endif
}

template <hint how, class Word> KILN_INLINE void store_word(Word* to, Word word) {
#if defined(KILN_CUDA)
    if constexpr (how == hint::streaming) __stcs(to, word);
    else *to = word;
#elif defined(KILN_HIP)
    if constexpr (how == hint::streaming) __builtin_nontemporal_store(word, to);
    else *to = word;
#else
    *to = word;
#endif
}

// Check builds look at each access, and see none of these.
#if defined(KILN_CPU) && !KILN_CPU_CHECK && (defined(__clang__) || defined(__x86_64__))
#define KILN_STREAMING_STORES 1
struct streamed_word {
    typedef float type __attribute__((vector_size(16), may_alias));
};
// Copies bytes to an address that is a multiple of 16, past the caches: the processor does not first read the lines
// that it writes, which saves a third of the memory traffic of a copy.
template <int bytes> KILN_INLINE void stream_bytes(void* to, const void* from) {
    typedef streamed_word::type word;
    KILN_EACH_ELEMENT
    for (int i = 0; i < bytes / 16; ++i) {
        word part;
        copy_bytes<16>(&part, (const char*)from + 16 * i);
#if defined(__clang__)
        __builtin_nontemporal_store(part, (word*)to + i);
#else
        __builtin_ia32_movntps((float*)to + 4 * i, part);
#endif
    }
}
#endif

// The N elements at `from`, which must be aligned to a vec<T, N>.
template <int N, hint how = hint::plain, class T> KILN_INLINE vec<T, N> load_aligned(const T* from) {
#if defined(KILN_CPU)
    return *reinterpret_cast<const vec<T, N>*>(from);
#else
    typedef typename memory_word<(int)alignof(vec<T, N>)>::type word;
    constexpr int words = (int)(sizeof(vec<T, N>) / sizeof(word));
    word raw[words];
#pragma unroll
    for (int i = 0; i < words; ++i) raw[i] = load_word<how>(reinterpret_cast<const word*>(from) + i);
    vec<T, N> result;
    copy_bytes<sizeof(result)>(&result, raw);
    return result;
#endif
}

// Writes N elements to `to`, which must be aligned to a vec<T, N>.
template <hint how = hint::plain, class T, int N>
KILN_INLINE void store_aligned(T* to, const vec<T, N>& from) {
#if defined(KILN_CPU)
#ifdef KILN_STREAMING_STORES
    if constexpr (how == hint::streaming && alignof(vec<T, N>) == 16) return stream_bytes<sizeof(from)>(to, &from);
#endif
    *reinterpret_cast<vec<T, N>*>(to) = from;
#else
    typedef typename memory_word<(int)alignof(vec<T, N>)>::type word;
    constexpr int words = (int)(sizeof(vec<T, N>) / sizeof(word));
    word raw[words];
    copy_bytes<sizeof(from)>(raw, &from);
#pragma unroll
    for (int i = 0; i < words; ++i) store_word<how>(reinterpret_cast<word*>(to) + i, raw[i]);
#endif
}

// Whether a pointer is aligned to a vec<T, N>.
template <int N, class T> KILN_INLINE bool is_aligned(const T* at) {
    return (uintptr_t)at % alignof(vec<T, N>) == 0;
}

// The N elements at `from`, wherever they lie: in one operation where they are aligned.
template <int N, hint how = hint::plain, class T> KILN_INLINE vec<T, N> load(const T* from) {
    vec<T, N> result;
#if defined(KILN_CPU)
    // This processor loads unaligned vectors as fast, and a branch would keep loops from vectorising.
    copy_bytes<sizeof(result)>(&result, from);
#else
    if (is_aligned<N>(from)) return load_aligned<N, how>(from);
#pragma unroll
    for (int i = 0; i < N; ++i) result.value[i] = from[i];
#endif
    return result;
}

// Writes N elements to `to`, wherever that is: in one operation where it is aligned.
template <hint how = hint::plain, class T, int N> KILN_INLINE void store(T* to, const vec<T, N>& from) {
#if defined(KILN_CPU)
#ifdef KILN_STREAMING_STORES
    if constexpr (how == hint::streaming && alignof(vec<T, N>) == 16) {
        if (is_aligned<N>(to)) return stream_bytes<sizeof(from)>(to, &from);
    }
#endif
    copy_bytes<sizeof(from)>(to, &from);
#else
    if (is_aligned<N>(to)) {
        store_aligned<how>(to, from);
        return;
    }
#pragma unroll
    for (int i = 0; i < N; ++i) to[i] = from.value[i];
#endif
}

// The first `count` elements at `from`, and `rest` for those beyond; reads nothing beyond. A count over N
// is N.
template <int N, class T> KILN_INLINE vec<T, N> load_part(const T* from, unsigned int count, T rest) {
    vec<T, N> result;
#pragma unroll
    for (int i = 0; i < N; ++i) {
        result.value[i] = rest;
        if ((unsigned int)i < count) result.value[i] = from[i];
    }
    return result;
}

// Writes the first `count` elements to `to` and nothing beyond. A count over N is N.
template <class T, int N>
KILN_INLINE void store_part(T* to, const vec<T, N>& from, unsigned int count) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
        if ((unsigned int)i < count) to[i] = from.value[i];
    }
}

// One element that nothing writes to while the kernel runs.
template <class T> KILN_INLINE T ldg(const T* from) {
    return load_aligned<1, hint::read_only>(from).value[0];
}

// Compilers convert 16-bit floats one by one if loops are unrolled before they look for vectors.
#if defined(KILN_FLOAT_REGISTERS) && defined(__F16C__)
#define KILN_HALF_REGISTERS 1
struct half_registers {
    typedef float floats __attribute__((vector_size(32), aligned(4), may_alias));
#if defined(__clang__)
    typedef _Float16 halves __attribute__((vector_size(16), aligned(2), may_alias));
    KILN_MEMBER static void widen(float* to, const __half* from) {
        *(floats*)to = __builtin_convertvector(*(const halves*)from, floats);
    }
    KILN_MEMBER static void round(__half* to, const float* from) {
        *(halves*)to = __builtin_convertvector(*(const floats*)from, halves);
    }
#else
    typedef short halves __attribute__((vector_size(16), aligned(2), may_alias));
    KILN_MEMBER static void widen(float* to, const __half* from) {
        *(floats*)to = __builtin_ia32_vcvtph2ps256(*(const halves*)from);
    }
    KILN_MEMBER static void round(__half* to, const float* from) {
        *(halves*)to = __builtin_ia32_vcvtps2ph256(*(const floats*)from, 0);
    }
#endif
};
#endif

#ifdef KILN_FLOAT_REGISTERS
// `words` floats of a register's, and as many bfloat16. Written out: g++ 12 converts no vectors of a template's.
template <int words> struct bfloat16_registers;
#define KILN_BFLOAT16_REGISTERS(words)                                                                         \
    template <> struct bfloat16_registers<words> {                                                             \
        typedef float floats __attribute__((vector_size(words * 4), aligned(4), may_alias));                   \
        typedef unsigned int bits __attribute__((vector_size(words * 4), aligned(4), may_alias));              \
        typedef unsigned short halves __attribute__((vector_size(words * 2), aligned(2), may_alias));          \
        KILN_MEMBER static void widen(float* to, const __nv_bfloat16* from) {                                  \
            *(bits*)to = __builtin_convertvector(*(const halves*)from, bits) << 16;                            \
        }                                                                                                      \
        /* As `__nv_bfloat16::rounded`. */                                                                     \
        KILN_MEMBER static void round(__nv_bfloat16* to, const float* from) {                                  \
            const bits x = *(const bits*)from;                                                                 \
            const bits numbers = (bits)(*(const floats*)from == *(const floats*)from);                         \
            const bits nearest = (x + 0x7fffu + (x >> 16 & 1)) >> 16, quiet = x >> 16 | 0x40u;                 \
            *(halves*)to = __builtin_convertvector((numbers & nearest) | (~numbers & quiet), halves);          \
        }                                                                                                      \
    };
KILN_BFLOAT16_REGISTERS(8)
KILN_BFLOAT16_REGISTERS(16)
#undef KILN_BFLOAT16_REGISTERS
// How many of N elements one register takes; 0 if they do not fill registers.
template <int N> constexpr int bfloat16_words = N % 16 == 0 && register_bytes == 64 ? 16 : N % 8 == 0 ? 8 : 0;
#endif

// Vectors of any element type as floats, and back, element by element.
template <class T, int N> KILN_INLINE vec<float, N> to_float(const vec<T, N>& x) {
    vec<float, N> result;
#ifdef KILN_HALF_REGISTERS
    if constexpr (same_type<T, __half> && N % 8 == 0) {
        for (int i = 0; i < N; i += 8) {
            half_registers::widen(result.value + i, x.value + i);
        }
        return result;
    }
#endif
#ifdef KILN_FLOAT_REGISTERS
    // clang unrolls a loop this small before it looks for vectors, and then finds none.
    if constexpr (same_type<T, __nv_bfloat16> && bfloat16_words<N> > 0) {
        constexpr int words = bfloat16_words<N>;
        for (int i = 0; i < N; i += words) bfloat16_registers<words>::widen(result.value + i, x.value + i);
        return result;
    }
#endif
    KILN_EACH_ELEMENT
    for (int i = 0; i < N; ++i) result.value[i] = to_float(x.value[i]);
    return result;
}
template <class T, int N> KILN_INLINE vec<T, N> from_float(const vec<float, N>& x) {
    vec<T, N> result;
#ifdef KILN_HALF_REGISTERS
    if constexpr (same_type<T, __half> && N % 8 == 0) {
        for (int i = 0; i < N; i += 8) {
            half_registers::round(result.value + i, x.value + i);
        }
        return result;
    }
#endif
#ifdef KILN_FLOAT_REGISTERS
    if constexpr (same_type<T, __nv_bfloat16> && bfloat16_words<N> > 0) {
        constexpr int words = bfloat16_words<N>;
        for (int i = 0; i < N; i += words) bfloat16_registers<words>::round(result.value + i, x.value + i);
        return result;
    }
#endif
    // NVIDIA rounds two floats in one instruction.
#if defined(KILN_CUDA) && defined(KILN_HAS_HALF)
    if constexpr (same_type<T, __half> && N % 2 == 0) {
#pragma unroll
        for (int i = 0; i < N; i += 2) {
            __half2 two = __floats2half2_rn(x.value[i], x.value[i + 1]);
            result.value[i] = __low2half(two);
            result.value[i + 1] = __high2half(two);
        }
    } else
#endif
#if defined(KILN_CUDA) && defined(KILN_HAS_BFLOAT16)
    if constexpr (same_type<T, __nv_bfloat16> && N % 2 == 0) {
#pragma unroll
        for (int i = 0; i < N; i += 2) {
            __nv_bfloat162 two = __floats2bfloat162_rn(x.value[i], x.value[i + 1]);
            result.value[i] = __low2bfloat16(two);
            result.value[i + 1] = __high2bfloat16(two);
        }
    } else
#endif
    {
        KILN_EACH_ELEMENT
        for (int i = 0; i < N; ++i) result.value[i] = from_float<T>(x.value[i]);
    }
    return result;
}

}  // namespace kiln

#endif

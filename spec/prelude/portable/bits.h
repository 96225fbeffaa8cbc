// Words of a size, and reinterpreting bits.
#ifndef KILN_BITS_H
#define KILN_BITS_H

// The unsigned integer of a size in bytes. Shuffles and atomics exist for these sizes.
template <int bytes> struct kiln_word;
template <> struct kiln_word<1> { typedef uint8_t type; };
template <> struct kiln_word<2> { typedef uint16_t type; };
template <> struct kiln_word<4> { typedef uint32_t type; };
template <> struct kiln_word<8> { typedef uint64_t type; };

template <class To, class From>
KILN_INLINE To kiln_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "bits are reinterpreted between types of one size");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

// Has a type only if T is U. It keeps a template from taking part for any other type.
template <class T, class U> struct kiln_only {};
template <class T> struct kiln_only<T, T> { typedef T type; };

KILN_INLINE int __float_as_int(float x) { return kiln_bits<int>(x); }
KILN_INLINE unsigned int __float_as_uint(float x) { return kiln_bits<unsigned int>(x); }
KILN_INLINE float __int_as_float(int x) { return kiln_bits<float>(x); }
KILN_INLINE float __uint_as_float(unsigned int x) { return kiln_bits<float>(x); }
KILN_INLINE long long __double_as_longlong(double x) { return kiln_bits<long long>(x); }
KILN_INLINE double __longlong_as_double(long long x) { return kiln_bits<double>(x); }
KILN_INLINE int __double2hiint(double x) { return (int)(kiln_bits<long long>(x) >> 32); }
KILN_INLINE int __double2loint(double x) { return (int)kiln_bits<long long>(x); }
KILN_INLINE double __hiloint2double(int hi, int lo) {
    return kiln_bits<double>((unsigned long long)(unsigned int)hi << 32 | (unsigned int)lo);
}

#endif

// HIP's operators of vectors: element by element, also with one number for all elements. They are templates, so that
// operators that a source defines itself are preferred.
#ifndef KILN_SHIM_HIP_VECTOR_H
#define KILN_SHIM_HIP_VECTOR_H

// Vectors have a size and an element; other types have none.
template <class V> struct kiln_hip_vector {};
#define KILN_HIP_VECTOR(name, T)                                                                       \
    template <> struct kiln_hip_vector<name##1> { typedef T element; static constexpr int size = 1; }; \
    template <> struct kiln_hip_vector<name##2> { typedef T element; static constexpr int size = 2; }; \
    template <> struct kiln_hip_vector<name##3> { typedef T element; static constexpr int size = 3; }; \
    template <> struct kiln_hip_vector<name##4> { typedef T element; static constexpr int size = 4; };
KILN_HIP_VECTOR(char, signed char)
KILN_HIP_VECTOR(uchar, unsigned char)
KILN_HIP_VECTOR(short, short)
KILN_HIP_VECTOR(ushort, unsigned short)
KILN_HIP_VECTOR(int, int)
KILN_HIP_VECTOR(uint, unsigned int)
KILN_HIP_VECTOR(long, long)
KILN_HIP_VECTOR(ulong, unsigned long)
KILN_HIP_VECTOR(longlong, long long)
KILN_HIP_VECTOR(ulonglong, unsigned long long)
KILN_HIP_VECTOR(float, float)
KILN_HIP_VECTOR(double, double)
#undef KILN_HIP_VECTOR

// A number that takes the place of a vector: any arithmetic type, which is converted to the vector's element.
template <class T> struct kiln_hip_number { static constexpr bool value = false; };
#define KILN_HIP_NUMBER(T) \
    template <> struct kiln_hip_number<T> { static constexpr bool value = true; };
KILN_HIP_NUMBER(bool)
KILN_HIP_NUMBER(char)
KILN_HIP_NUMBER(signed char)
KILN_HIP_NUMBER(unsigned char)
KILN_HIP_NUMBER(short)
KILN_HIP_NUMBER(unsigned short)
KILN_HIP_NUMBER(int)
KILN_HIP_NUMBER(unsigned int)
KILN_HIP_NUMBER(long)
KILN_HIP_NUMBER(unsigned long)
KILN_HIP_NUMBER(long long)
KILN_HIP_NUMBER(unsigned long long)
KILN_HIP_NUMBER(float)
KILN_HIP_NUMBER(double)
#undef KILN_HIP_NUMBER
template <bool> struct kiln_hip_if {};
template <> struct kiln_hip_if<true> { typedef int type; };
#define KILN_HIP_OF_VECTOR(V) class V, class kiln_element = typename kiln_hip_vector<V>::element
#define KILN_HIP_WITH_NUMBER(V, T) \
    KILN_HIP_OF_VECTOR(V), class T, typename kiln_hip_if<kiln_hip_number<T>::value>::type = 0

template <class V> KILN_INLINE V kiln_hip_filled(typename kiln_hip_vector<V>::element x) {
    V all;
    all.x = x;
    if constexpr (kiln_hip_vector<V>::size > 1) all.y = x;
    if constexpr (kiln_hip_vector<V>::size > 2) all.z = x;
    if constexpr (kiln_hip_vector<V>::size > 3) all.w = x;
    return all;
}

#define KILN_HIP_ASSIGNMENT(op)                                                                        \
    template <KILN_HIP_OF_VECTOR(V)> KILN_INLINE V& operator op##=(V& a, const V& b) {                 \
        a.x = (kiln_element)(a.x op b.x);                                                              \
        if constexpr (kiln_hip_vector<V>::size > 1) a.y = (kiln_element)(a.y op b.y);                  \
        if constexpr (kiln_hip_vector<V>::size > 2) a.z = (kiln_element)(a.z op b.z);                  \
        if constexpr (kiln_hip_vector<V>::size > 3) a.w = (kiln_element)(a.w op b.w);                  \
        return a;                                                                                      \
    }                                                                                                  \
    template <KILN_HIP_WITH_NUMBER(V, T)> KILN_INLINE V& operator op##=(V& a, T b) {                   \
        return a op##= kiln_hip_filled<V>((kiln_element)b);                                            \
    }                                                                                                  \
    template <KILN_HIP_OF_VECTOR(V)> KILN_INLINE V operator op(V a, const V& b) { return a op##= b; }  \
    template <KILN_HIP_WITH_NUMBER(V, T)> KILN_INLINE V operator op(V a, T b) {                        \
        return a op##= kiln_hip_filled<V>((kiln_element)b);                                            \
    }                                                                                                  \
    template <KILN_HIP_WITH_NUMBER(V, T)> KILN_INLINE V operator op(T a, const V& b) {                 \
        V all = kiln_hip_filled<V>((kiln_element)a);                                                   \
        return all op##= b;                                                                            \
    }
KILN_HIP_ASSIGNMENT(+)
KILN_HIP_ASSIGNMENT(-)
KILN_HIP_ASSIGNMENT(*)
KILN_HIP_ASSIGNMENT(/)
KILN_HIP_ASSIGNMENT(%)
KILN_HIP_ASSIGNMENT(&)
KILN_HIP_ASSIGNMENT(|)
KILN_HIP_ASSIGNMENT(^)
KILN_HIP_ASSIGNMENT(<<)
KILN_HIP_ASSIGNMENT(>>)
#undef KILN_HIP_ASSIGNMENT

template <KILN_HIP_OF_VECTOR(V)> KILN_INLINE V operator-(const V& a) { return kiln_hip_filled<V>((kiln_element)-1) * a; }
template <KILN_HIP_OF_VECTOR(V)> KILN_INLINE V operator+(const V& a) { return a; }
template <KILN_HIP_OF_VECTOR(V)> KILN_INLINE V operator~(const V& a) { return a ^ kiln_hip_filled<V>((kiln_element)-1); }
template <KILN_HIP_OF_VECTOR(V)> KILN_INLINE V& operator++(V& a) { return a += kiln_hip_filled<V>((kiln_element)1); }
template <KILN_HIP_OF_VECTOR(V)> KILN_INLINE V& operator--(V& a) { return a -= kiln_hip_filled<V>((kiln_element)1); }
template <KILN_HIP_OF_VECTOR(V)> KILN_INLINE V operator++(V& a, int) {
    const V before = a;
    ++a;
    return before;
}
template <KILN_HIP_OF_VECTOR(V)> KILN_INLINE V operator--(V& a, int) {
    const V before = a;
    --a;
    return before;
}
template <KILN_HIP_OF_VECTOR(V)> KILN_INLINE bool operator==(const V& a, const V& b) {
    bool same = a.x == b.x;
    if constexpr (kiln_hip_vector<V>::size > 1) same = same && a.y == b.y;
    if constexpr (kiln_hip_vector<V>::size > 2) same = same && a.z == b.z;
    if constexpr (kiln_hip_vector<V>::size > 3) same = same && a.w == b.w;
    return same;
}
template <KILN_HIP_OF_VECTOR(V)> KILN_INLINE bool operator!=(const V& a, const V& b) { return !(a == b); }
#undef KILN_HIP_OF_VECTOR
#undef KILN_HIP_WITH_NUMBER

#endif

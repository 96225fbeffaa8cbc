// Atomic additions, maxima and minima of every element type, in global or shared memory. Each gives the value
// that was there before. They order no other memory operation.
#ifndef KILN_DEVICE_ATOMIC_H
#define KILN_DEVICE_ATOMIC_H

namespace kiln {

// *to = *to + value, for float, int, unsigned int and the 16-bit floats.
template <class T> KILN_INLINE T atomic_add(T* to, T value) { return atomicAdd(to, value); }

// Replaces *to by change(*to) for 16-bit types: by compare and swap.
template <class T, class Change> KILN_INLINE T atomic_update_16(T* to, Change change) {
    static_assert(sizeof(T) == 2, "for elements of 16 bits");
    unsigned short* target = reinterpret_cast<unsigned short*>(to);
    unsigned short seen = *(volatile unsigned short*)target, expected;
    do {
        expected = seen;
        T wanted = change(bits_as<T>(expected));
        if (bits_as<unsigned short>(wanted) == expected) return wanted;
        seen = atomicCAS(target, expected, bits_as<unsigned short>(wanted));
    } while (seen != expected);
    return bits_as<T>(expected);
}

// *to = the larger of *to and value. Where one of them is NaN, the result is one of the two.
template <class T> KILN_INLINE T atomic_max(T* to, T value) {
    if constexpr (same_type<T, float>) {
        // Floats of one sign are ordered as their bits are: rising without the sign, falling with it.
        if (bits_as<int>(value) >= 0) {
            return bits_as<float>(atomicMax(reinterpret_cast<int*>(to), bits_as<int>(value)));
        }
        unsigned int* bits = reinterpret_cast<unsigned int*>(to);
        return bits_as<float>(atomicMin(bits, bits_as<unsigned int>(value)));
    } else if constexpr (sizeof(T) == 2) {
        return atomic_update_16(to, [=](T old) -> T { return old < value ? value : old; });
    } else {
        return atomicMax(to, value);
    }
}

// *to = the smaller of *to and value. Where one of them is NaN, the result is one of the two.
template <class T> KILN_INLINE T atomic_min(T* to, T value) {
    if constexpr (same_type<T, float>) {
        if (bits_as<int>(value) >= 0) {
            return bits_as<float>(atomicMin(reinterpret_cast<int*>(to), bits_as<int>(value)));
        }
        unsigned int* bits = reinterpret_cast<unsigned int*>(to);
        return bits_as<float>(atomicMax(bits, bits_as<unsigned int>(value)));
    } else if constexpr (sizeof(T) == 2) {
        return atomic_update_16(to, [=](T old) -> T { return value < old ? value : old; });
    } else {
        return atomicMin(to, value);
    }
}

}  // namespace kiln

#endif

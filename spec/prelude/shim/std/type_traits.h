// <type_traits> and <utility> for the compilers of GPUs that have none: what kernels use of them.
#ifndef KILN_SHIM_STD_TYPE_TRAITS_H
#define KILN_SHIM_STD_TYPE_TRAITS_H

namespace std {

typedef decltype(nullptr) nullptr_t;

template <class T, T V> struct integral_constant {
    static constexpr T value = V;
    typedef T value_type;
    typedef integral_constant type;
    KILN_MEMBER constexpr operator T() const { return V; }
    KILN_MEMBER constexpr T operator()() const { return V; }
};
template <bool V> using bool_constant = integral_constant<bool, V>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;
template <class...> using void_t = void;

template <bool, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool, class A, class B> struct conditional { typedef A type; };
template <class A, class B> struct conditional<false, A, B> { typedef B type; };
template <class T> struct type_identity { typedef T type; };

#define KILN_STRIPS(name, from)                                                                        \
    template <class T> struct name { typedef T type; };                                                \
    template <class T> struct name<from> { typedef T type; };
KILN_STRIPS(remove_const, const T)
KILN_STRIPS(remove_volatile, volatile T)
KILN_STRIPS(remove_extent, T[])
#undef KILN_STRIPS
template <class T, decltype(sizeof(0)) N> struct remove_extent<T[N]> { typedef T type; };
template <class T> struct remove_reference { typedef T type; };
template <class T> struct remove_reference<T&> { typedef T type; };
template <class T> struct remove_reference<T&&> { typedef T type; };
template <class T> struct remove_cv { typedef typename remove_const<typename remove_volatile<T>::type>::type type; };
template <class T> struct remove_cvref { typedef typename remove_cv<typename remove_reference<T>::type>::type type; };
template <class T> struct kiln_remove_pointer { typedef T type; };
template <class T> struct kiln_remove_pointer<T*> { typedef T type; };
template <class T> struct remove_pointer { typedef typename kiln_remove_pointer<T>::type type; };
template <class T> struct remove_pointer<T* const> { typedef T type; };
template <class T> struct add_const { typedef const T type; };
template <class T> struct add_pointer { typedef typename remove_reference<T>::type* type; };

template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class T> struct is_const : false_type {};
template <class T> struct is_const<const T> : true_type {};
template <class T> struct is_reference : bool_constant<!is_same<T, typename remove_reference<T>::type>::value> {};
template <class T> struct is_lvalue_reference : false_type {};
template <class T> struct is_lvalue_reference<T&> : true_type {};
template <class T> struct kiln_is_pointer : false_type {};
template <class T> struct kiln_is_pointer<T*> : true_type {};
template <class T> struct is_pointer : kiln_is_pointer<typename remove_cv<T>::type> {};
template <class T> struct is_array : false_type {};
template <class T> struct is_array<T[]> : true_type {};
template <class T, decltype(sizeof(0)) N> struct is_array<T[N]> : true_type {};
template <class T> struct is_void : is_same<void, typename remove_cv<T>::type> {};

template <class T, class... Us> struct kiln_is_one_of : bool_constant<(is_same<T, Us>::value || ...)> {};
template <class T>
struct is_integral
    : kiln_is_one_of<typename remove_cv<T>::type, bool, char, signed char, unsigned char, wchar_t, char16_t, char32_t, short,
                     unsigned short, int, unsigned int, long, unsigned long, long long, unsigned long long> {};
template <class T>
struct is_floating_point : kiln_is_one_of<typename remove_cv<T>::type, float, double, long double> {};
template <class T> struct is_arithmetic : bool_constant<is_integral<T>::value || is_floating_point<T>::value> {};
template <class T, bool = is_arithmetic<T>::value> struct is_signed : bool_constant<(T(-1) < T(0))> {};
template <class T> struct is_signed<T, false> : false_type {};
template <class T, bool = is_arithmetic<T>::value> struct is_unsigned : bool_constant<(T(0) < T(-1))> {};
template <class T> struct is_unsigned<T, false> : false_type {};

#define KILN_BUILTIN_TRAIT(name) template <class T> struct name : bool_constant<__##name(T)> {};
KILN_BUILTIN_TRAIT(is_class)
KILN_BUILTIN_TRAIT(is_enum)
KILN_BUILTIN_TRAIT(is_union)
KILN_BUILTIN_TRAIT(is_empty)
KILN_BUILTIN_TRAIT(is_trivially_copyable)
KILN_BUILTIN_TRAIT(is_standard_layout)
#undef KILN_BUILTIN_TRAIT
template <class A, class B> struct is_base_of : bool_constant<__is_base_of(A, B)> {};

template <class T> struct decay {
    typedef typename remove_reference<T>::type kiln_plain;
    typedef typename conditional<is_array<kiln_plain>::value, typename remove_extent<kiln_plain>::type*,
                                 typename remove_cv<kiln_plain>::type>::type type;
};

template <class T> struct kiln_signs;
#define KILN_SIGNS(T)                                                                                  \
    template <> struct kiln_signs<signed T> { typedef signed T with; typedef unsigned T without; };    \
    template <> struct kiln_signs<unsigned T> { typedef signed T with; typedef unsigned T without; };
KILN_SIGNS(char)
KILN_SIGNS(short)
KILN_SIGNS(int)
KILN_SIGNS(long)
KILN_SIGNS(long long)
#undef KILN_SIGNS
template <> struct kiln_signs<char> { typedef signed char with; typedef unsigned char without; };
template <class T> struct make_signed { typedef typename kiln_signs<typename remove_cv<T>::type>::with type; };
template <class T> struct make_unsigned { typedef typename kiln_signs<typename remove_cv<T>::type>::without type; };
template <class T> struct underlying_type { typedef __underlying_type(T) type; };

template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> using remove_cvref_t = typename remove_cvref<T>::type;
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> using remove_extent_t = typename remove_extent<T>::type;
template <class T> using add_const_t = typename add_const<T>::type;
template <class T> using add_pointer_t = typename add_pointer<T>::type;
template <class T> using decay_t = typename decay<T>::type;
template <class T> using make_signed_t = typename make_signed<T>::type;
template <class T> using make_unsigned_t = typename make_unsigned<T>::type;
template <class T> using underlying_type_t = typename underlying_type<T>::type;
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;

template <class A, class B> constexpr bool is_same_v = is_same<A, B>::value;
template <class A, class B> constexpr bool is_base_of_v = is_base_of<A, B>::value;
template <class T> constexpr bool is_const_v = is_const<T>::value;
template <class T> constexpr bool is_reference_v = is_reference<T>::value;
template <class T> constexpr bool is_pointer_v = is_pointer<T>::value;
template <class T> constexpr bool is_array_v = is_array<T>::value;
template <class T> constexpr bool is_void_v = is_void<T>::value;
template <class T> constexpr bool is_integral_v = is_integral<T>::value;
template <class T> constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T> constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <class T> constexpr bool is_signed_v = is_signed<T>::value;
template <class T> constexpr bool is_unsigned_v = is_unsigned<T>::value;
template <class T> constexpr bool is_class_v = is_class<T>::value;
template <class T> constexpr bool is_enum_v = is_enum<T>::value;
template <class T> constexpr bool is_trivially_copyable_v = is_trivially_copyable<T>::value;

template <class T> __device__ T&& declval() noexcept;

// NVRTC has these built in.
#if !defined(KILN_CUDA)
template <class T> KILN_MEMBER constexpr remove_reference_t<T>&& move(T&& x) noexcept {
    return static_cast<remove_reference_t<T>&&>(x);
}
template <class T> KILN_MEMBER constexpr T&& forward(remove_reference_t<T>& x) noexcept { return static_cast<T&&>(x); }
template <class T> KILN_MEMBER constexpr T&& forward(remove_reference_t<T>&& x) noexcept { return static_cast<T&&>(x); }
#endif

template <class T> KILN_MEMBER constexpr void swap(T& a, T& b) noexcept {
    T kept = static_cast<T&&>(a);
    a = static_cast<T&&>(b);
    b = static_cast<T&&>(kept);
}

template <class A, class B> struct pair {
    using first_type = A;
    using second_type = B;
    A first;
    B second;
    pair() = default;
    KILN_MEMBER constexpr pair(const A& a, const B& b) : first(a), second(b) {}
};
template <class A, class B> KILN_MEMBER constexpr bool operator==(const pair<A, B>& a, const pair<A, B>& b) {
    return a.first == b.first && a.second == b.second;
}
template <class A, class B> KILN_MEMBER constexpr pair<A, B> make_pair(A a, B b) { return pair<A, B>(a, b); }

}  // namespace std

#include "shim/std/type_categories.h"
#include "shim/std/type_relations.h"

#endif

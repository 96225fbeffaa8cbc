// <type_traits>: categories and properties of types, and operations on the values of traits.
#ifndef KILN_SHIM_STD_TYPE_CATEGORIES_H
#define KILN_SHIM_STD_TYPE_CATEGORIES_H

namespace std {

template <class T> struct is_volatile : false_type {};
template <class T> struct is_volatile<volatile T> : true_type {};
template <class T> struct is_rvalue_reference : false_type {};
template <class T> struct is_rvalue_reference<T&&> : true_type {};
// `const` does not apply to functions and references.
template <class T> struct is_function : bool_constant<!is_const<const T>::value && !is_reference<T>::value> {};
template <class T> struct is_null_pointer : is_same<nullptr_t, typename remove_cv<T>::type> {};
template <class T> struct kiln_is_member_pointer : false_type {};
template <class T, class C> struct kiln_is_member_pointer<T C::*> : true_type {};
template <class T> struct is_member_pointer : kiln_is_member_pointer<typename remove_cv<T>::type> {};
template <class T>
struct is_fundamental : bool_constant<is_arithmetic<T>::value || is_void<T>::value || is_null_pointer<T>::value> {};
template <class T> struct is_compound : bool_constant<!is_fundamental<T>::value> {};
template <class T>
struct is_scalar : bool_constant<is_arithmetic<T>::value || is_enum<T>::value || is_pointer<T>::value ||
                                 is_member_pointer<T>::value || is_null_pointer<T>::value> {};
template <class T>
struct is_object : bool_constant<!is_function<T>::value && !is_reference<T>::value && !is_void<T>::value> {};

#define KILN_BUILTIN_TRAIT(name) template <class T> struct name : bool_constant<__##name(T)> {};
KILN_BUILTIN_TRAIT(is_abstract)
KILN_BUILTIN_TRAIT(is_final)
KILN_BUILTIN_TRAIT(is_polymorphic)
KILN_BUILTIN_TRAIT(is_trivial)
#undef KILN_BUILTIN_TRAIT

typedef decltype(sizeof(0)) kiln_size;
template <class T> struct alignment_of : integral_constant<kiln_size, alignof(T)> {};
template <class T> struct rank : integral_constant<kiln_size, 0> {};
template <class T> struct rank<T[]> : integral_constant<kiln_size, rank<T>::value + 1> {};
template <class T, kiln_size N> struct rank<T[N]> : integral_constant<kiln_size, rank<T>::value + 1> {};
template <class T, unsigned I = 0> struct extent : integral_constant<kiln_size, 0> {};
template <class T> struct extent<T[], 0> : integral_constant<kiln_size, 0> {};
template <class T, unsigned I> struct extent<T[], I> : extent<T, I - 1> {};
template <class T, kiln_size N> struct extent<T[N], 0> : integral_constant<kiln_size, N> {};
template <class T, kiln_size N, unsigned I> struct extent<T[N], I> : extent<T, I - 1> {};
template <class T> struct remove_all_extents { typedef T type; };
template <class T> struct remove_all_extents<T[]> { typedef typename remove_all_extents<T>::type type; };
template <class T, kiln_size N> struct remove_all_extents<T[N]> { typedef typename remove_all_extents<T>::type type; };

template <class T> struct add_volatile { typedef volatile T type; };
template <class T> struct add_cv { typedef const volatile T type; };
template <class T, class = void> struct kiln_references { typedef T left; typedef T right; };
template <class T> struct kiln_references<T, void_t<T&>> { typedef T& left; typedef T&& right; };
template <class T> struct add_lvalue_reference { typedef typename kiln_references<T>::left type; };
template <class T> struct add_rvalue_reference { typedef typename kiln_references<T>::right type; };
template <kiln_size Len, kiln_size Align = 16> struct aligned_storage {
    struct type { alignas(Align) unsigned char data[Len]; };
};

template <class...> struct conjunction : true_type {};
template <class B> struct conjunction<B> : B {};
template <class B, class... Bs>
struct conjunction<B, Bs...> : conditional<bool(B::value), conjunction<Bs...>, B>::type {};
template <class...> struct disjunction : false_type {};
template <class B> struct disjunction<B> : B {};
template <class B, class... Bs>
struct disjunction<B, Bs...> : conditional<bool(B::value), B, disjunction<Bs...>>::type {};
template <class B> struct negation : bool_constant<!bool(B::value)> {};

#define KILN_TYPE(name) template <class T> using name##_t = typename name<T>::type;
KILN_TYPE(remove_volatile)
KILN_TYPE(remove_all_extents)
KILN_TYPE(add_volatile)
KILN_TYPE(add_cv)
KILN_TYPE(add_lvalue_reference)
KILN_TYPE(add_rvalue_reference)
KILN_TYPE(type_identity)
#undef KILN_TYPE
template <kiln_size Len, kiln_size Align = 16> using aligned_storage_t = typename aligned_storage<Len, Align>::type;

#define KILN_VALUE(name) template <class T> constexpr bool name##_v = name<T>::value;
KILN_VALUE(is_volatile)
KILN_VALUE(is_lvalue_reference)
KILN_VALUE(is_rvalue_reference)
KILN_VALUE(is_function)
KILN_VALUE(is_null_pointer)
KILN_VALUE(is_member_pointer)
KILN_VALUE(is_fundamental)
KILN_VALUE(is_compound)
KILN_VALUE(is_scalar)
KILN_VALUE(is_object)
KILN_VALUE(is_union)
KILN_VALUE(is_empty)
KILN_VALUE(is_standard_layout)
KILN_VALUE(is_abstract)
KILN_VALUE(is_final)
KILN_VALUE(is_polymorphic)
KILN_VALUE(is_trivial)
KILN_VALUE(negation)
#undef KILN_VALUE
template <class T> constexpr kiln_size alignment_of_v = alignment_of<T>::value;
template <class T> constexpr kiln_size rank_v = rank<T>::value;
template <class T, unsigned I = 0> constexpr kiln_size extent_v = extent<T, I>::value;
template <class... Bs> constexpr bool conjunction_v = conjunction<Bs...>::value;
template <class... Bs> constexpr bool disjunction_v = disjunction<Bs...>::value;

}  // namespace std

#endif

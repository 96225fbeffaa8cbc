// <type_traits>: what types can be converted to, constructed from and called with.
#ifndef KILN_SHIM_STD_TYPE_RELATIONS_H
#define KILN_SHIM_STD_TYPE_RELATIONS_H

namespace std {

template <class T> __device__ void kiln_accept(T) noexcept;

template <class From, class To, class = void>
struct kiln_is_convertible : bool_constant<is_void<From>::value && is_void<To>::value> {};
template <class From, class To>
struct kiln_is_convertible<From, To, void_t<decltype(kiln_accept<To>(declval<From>()))>> : true_type {};
template <class From, class To> struct is_convertible : kiln_is_convertible<From, To> {};

template <class T, class... Args> struct is_constructible : bool_constant<__is_constructible(T, Args...)> {};
template <class T> struct is_default_constructible : is_constructible<T> {};
template <class T>
struct is_copy_constructible
    : is_constructible<T, typename add_lvalue_reference<typename add_const<T>::type>::type> {};
template <class T>
struct is_move_constructible : is_constructible<T, typename add_rvalue_reference<T>::type> {};

template <class A, class B, class = void> struct is_assignable : false_type {};
template <class A, class B>
struct is_assignable<A, B, void_t<decltype(declval<A>() = declval<B>())>> : true_type {};
template <class T>
struct is_copy_assignable : is_assignable<typename add_lvalue_reference<T>::type,
                                          typename add_lvalue_reference<typename add_const<T>::type>::type> {};
template <class T>
struct is_move_assignable
    : is_assignable<typename add_lvalue_reference<T>::type, typename add_rvalue_reference<T>::type> {};

template <class T, class = void> struct kiln_is_destructible : is_reference<T> {};
template <class T> struct kiln_is_destructible<T, void_t<decltype(declval<T&>().~T())>> : true_type {};
template <class T> struct is_destructible : kiln_is_destructible<typename remove_all_extents<T>::type> {};
#if defined(__clang__)
template <class T> struct is_trivially_destructible : bool_constant<__is_trivially_destructible(T)> {};
#else
template <class T>
struct is_trivially_destructible : bool_constant<is_destructible<T>::value && __has_trivial_destructor(T)> {};
#endif

template <class, class F, class... Args> struct kiln_invoke : false_type {};
template <class F, class... Args>
struct kiln_invoke<void_t<decltype(declval<F>()(declval<Args>()...))>, F, Args...> : true_type {
    typedef decltype(declval<F>()(declval<Args>()...)) kiln_result;
};
template <class F, class... Args> struct is_invocable : bool_constant<kiln_invoke<void, F, Args...>::value> {};
template <bool, class F, class... Args> struct kiln_invoke_result {};
template <class F, class... Args> struct kiln_invoke_result<true, F, Args...> {
    typedef typename kiln_invoke<void, F, Args...>::kiln_result type;
};
template <class F, class... Args>
struct invoke_result : kiln_invoke_result<is_invocable<F, Args...>::value, F, Args...> {};
template <class> struct result_of;
template <class F, class... Args> struct result_of<F(Args...)> : invoke_result<F, Args...> {};

template <class A, class B, class = void> struct kiln_common {};
template <class A, class B>
struct kiln_common<A, B, void_t<decltype(false ? declval<A>() : declval<B>())>> {
    typedef typename decay<decltype(false ? declval<A>() : declval<B>())>::type type;
};
template <class...> struct common_type {};
template <class T> struct common_type<T> : common_type<T, T> {};
template <class A, class B>
struct common_type<A, B> : kiln_common<typename decay<A>::type, typename decay<B>::type> {};
template <class, class...> struct kiln_common_of_rest {};
template <class A, class B, class... Rest>
struct kiln_common_of_rest<void_t<typename common_type<A, B>::type>, A, B, Rest...>
    : common_type<typename common_type<A, B>::type, Rest...> {};
template <class A, class B, class C, class... Rest>
struct common_type<A, B, C, Rest...> : kiln_common_of_rest<void, A, B, C, Rest...> {};

template <class... Ts> using common_type_t = typename common_type<Ts...>::type;
template <class F, class... Args> using invoke_result_t = typename invoke_result<F, Args...>::type;
template <class F> using result_of_t = typename result_of<F>::type;

template <class From, class To> constexpr bool is_convertible_v = is_convertible<From, To>::value;
template <class T, class... Args> constexpr bool is_constructible_v = is_constructible<T, Args...>::value;
template <class A, class B> constexpr bool is_assignable_v = is_assignable<A, B>::value;
template <class F, class... Args> constexpr bool is_invocable_v = is_invocable<F, Args...>::value;
#define KILN_VALUE(name) template <class T> constexpr bool name##_v = name<T>::value;
KILN_VALUE(is_default_constructible)
KILN_VALUE(is_copy_constructible)
KILN_VALUE(is_move_constructible)
KILN_VALUE(is_copy_assignable)
KILN_VALUE(is_move_assignable)
KILN_VALUE(is_destructible)
KILN_VALUE(is_trivially_destructible)
#undef KILN_VALUE

}  // namespace std

#endif

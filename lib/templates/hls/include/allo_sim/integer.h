// Decides what `ap_int<W>` and `ap_uint<W>` are: values of exactly W bits, their conversions and their bits.
#ifndef ALLO_SIM_INTEGER_H
#define ALLO_SIM_INTEGER_H

#include "../hls_half.h"
#include "raw.h"

namespace allo_sim {

template <int W, bool S>
class integer;
template <int W, bool S>
class bit_ref;
template <int W, bool S>
class range_ref;

/// What integers are made from besides integers: `T` is native<T>::bits wide.
template <class T, class = void>
struct native {
  static constexpr int bits = 0;
};
template <class T>
struct native<T, std::enable_if_t<std::is_integral<T>::value>> {
  static constexpr int bits = std::is_same<T, bool>::value ? 1 : int(8 * sizeof(T));
  static constexpr bool is_signed = std::is_signed<T>::value;
};
template <class T>
struct native<T, std::enable_if_t<std::is_enum<T>::value && std::is_convertible<T, int>::value>>
    : native<std::underlying_type_t<T>> {};
// In GNU modes these are integral types already.
template <>
struct native<int128, void> {
  static constexpr int bits = 128;
  static constexpr bool is_signed = true;
};
template <>
struct native<uint128, void> {
  static constexpr int bits = 128;
  static constexpr bool is_signed = false;
};

template <class T>
constexpr bool is_native = native<T>::bits != 0;
template <class T>
constexpr bool is_floating = std::is_floating_point<T>::value || std::is_same<T, half>::value;

/// Views of bits, which say what they hold by `get()`.
struct bits_view {};
template <class T>
constexpr bool is_view = std::is_base_of<bits_view, T>::value;

/// Fixed-point numbers, which say by `to_ap_int()` what integer they become.
struct fixed_point {};
template <class T>
constexpr bool is_fixed = std::is_base_of<fixed_point, T>::value;

integer<1024, true> parsed(const char *text, int radix);

/// Up to 64 bits one native integer stands for the number in subscripts, conditions and `switch`. Wider numbers become
/// whatever native number is asked for.
template <int W, bool S, bool Wide = (W > 64)>
struct native_conversion {
  constexpr operator raw_t<W, S>() const { return static_cast<const integer<W, S> &>(*this).raw(); }
};
template <int W, bool S>
struct native_conversion<W, S, true> {
  template <class T, std::enable_if_t<is_native<T>, int> = 0>
  constexpr operator T() const {
    const auto &number = static_cast<const integer<W, S> &>(*this);
    if constexpr (std::is_same<T, bool>::value)
      return !number.is_zero();
    else
      return convert<T>(number.raw());
  }
  template <class T, std::enable_if_t<std::is_floating_point<T>::value, long> = 0>
  operator T() const {
    return T(static_cast<const integer<W, S> &>(*this).to_double());
  }
};

/// Two's complement of W bits (signed) or binary of W bits; a value that does not fit is cut on the left.
template <int W, bool S>
class integer : public native_conversion<W, S> {
  static_assert(W >= 1, "an ap_int or ap_uint has at least one bit");

 public:
  static constexpr int width = W;
  static constexpr bool sign_flag = S;
  using raw_type = raw_t<W, S>;

  constexpr integer() = default;

  template <int W2, bool S2>
  constexpr integer(const integer<W2, S2> &other) : raw_(convert<raw_type>(other.raw())) {
    if constexpr (!(S == S2 ? W >= W2 : S && W > W2)) raw_ = normalise<W, S>(raw_);
  }
  template <class T, std::enable_if_t<is_native<T>, int> = 0>
  constexpr integer(T value) : raw_(convert<raw_type>(raw_t<native<T>::bits, native<T>::is_signed>(value))) {
    if constexpr (!(S == native<T>::is_signed ? W >= native<T>::bits : S && W > native<T>::bits))
      raw_ = normalise<W, S>(raw_);
  }
  /// Toward zero; NaN and infinities become 0.
  template <class T, std::enable_if_t<is_floating<T>, long> = 0>
  constexpr integer(T value) : raw_(from_double(double(value))) {}
  template <class T, std::enable_if_t<is_view<T>, char> = 0>
  constexpr integer(const T &view) : integer(view.get()) {}
  template <class T, std::enable_if_t<is_fixed<T>, short> = 0>
  constexpr integer(const T &number) : integer(number.to_ap_int()) {}
  /// "-12", "0x1f", "0b101", "0o17"
  integer(const char *text) : integer(parsed(text, 0)) {}
  integer(const char *text, int radix) : integer(parsed(text, radix)) {}

  constexpr const raw_type &raw() const { return raw_; }
  /// The low W bits of `value`.
  template <class T>
  static constexpr integer wrapped(const T &value) {
    return exact(normalise<W, S>(convert<raw_type>(value)));
  }
  /// `value`, which is known to fit.
  template <class T>
  static constexpr integer exact(const T &value) {
    integer made;
    made.raw_ = convert<raw_type>(value);
    return made;
  }

  constexpr explicit operator bool() const { return !is_zero(); }
  operator half() const { return to_half(); }

  constexpr int to_int() const { return convert<int>(raw_); }
  constexpr unsigned to_uint() const { return convert<unsigned>(raw_); }
  constexpr long to_long() const { return convert<long>(raw_); }
  constexpr unsigned long to_ulong() const { return convert<unsigned long>(raw_); }
  constexpr std::int64_t to_int64() const { return convert<std::int64_t>(raw_); }
  constexpr std::uint64_t to_uint64() const { return convert<std::uint64_t>(raw_); }
  constexpr short to_short() const { return convert<short>(raw_); }
  constexpr unsigned short to_ushort() const { return convert<unsigned short>(raw_); }
  constexpr signed char to_char() const { return convert<signed char>(raw_); }
  constexpr unsigned char to_uchar() const { return convert<unsigned char>(raw_); }
  constexpr bool to_bool() const { return !is_zero(); }
  double to_double() const { return allo_sim::to_double(raw_); }
  /// Numbers of more than 64 bits go through double.
  float to_float() const {
    if constexpr (W <= 64) return float(raw_);
    return float(to_double());
  }
  half to_half() const { return half(to_double()); }
  std::string to_string(int radix = 2, bool sign = S) const;

  static constexpr int length() { return W; }
  constexpr bool is_zero() const { return equal(raw_, raw_type{}); }
  constexpr bool iszero() const { return is_zero(); }
  constexpr bool is_neg() const { return S && less(calc_t<W, S>(convert<calc_t<W, S>>(raw_)), calc_t<W, S>{}); }
  constexpr bool sign() const { return is_neg(); }

  constexpr bool get_bit(int index) const {
    checked_bit(index, W);
    return (word_of(raw_, index / 64) >> (index % 64) & 1) != 0;
  }
  constexpr bool test(int index) const { return get_bit(index); }
  constexpr void set_bit(int index, bool value) {
    checked_bit(index, W);
    using Calc = calc_t<W, S>;
    const Calc bit = shift_left(convert<Calc>(std::uint32_t(1)), index);
    const Calc own = convert<Calc>(raw_);
    *this = wrapped(value ? bit_or(own, bit) : bit_and(own, bit_not(bit)));
  }
  constexpr void set(int index) { set_bit(index, true); }
  constexpr void set(int index, bool value) { set_bit(index, value); }
  constexpr void clear(int index) { set_bit(index, false); }
  constexpr void invert(int index) { set_bit(index, !get_bit(index)); }
  constexpr bit_ref<W, S> operator[](int index) { return bit_ref<W, S>(*this, index); }
  constexpr bool operator[](int index) const { return get_bit(index); }
  constexpr bit_ref<W, S> bit(int index) { return bit_ref<W, S>(*this, index); }
  constexpr bool bit(int index) const { return get_bit(index); }

  // Bits high ... low as a number without sign; with high < low, the same bits in reverse order.
  constexpr range_ref<W, S> range(int high, int low) { return range_ref<W, S>(*this, high, low); }
  constexpr range_ref<W, S> operator()(int high, int low) { return range(high, low); }
  constexpr range_ref<W, S> range() { return range(W - 1, 0); }
  constexpr const range_ref<W, S> range(int high, int low) const {
    return range_ref<W, S>(const_cast<integer &>(*this), high, low);  // const: there is no assignment
  }
  constexpr const range_ref<W, S> operator()(int high, int low) const { return range(high, low); }
  constexpr const range_ref<W, S> range() const { return range(W - 1, 0); }

  // The same bits in the words of the Algorithmic C data types.
  template <int N>
  constexpr integer<N, S> slc(int low) const {
    return integer<N, S>(integer<N, false>(range(low + N - 1, low)));
  }
  template <int N, bool S2>
  constexpr integer &set_slc(int low, const integer<N, S2> &bits) {
    range(low + N - 1, low) = integer<N, false>(bits);
    return *this;
  }

  constexpr integer &reverse() {
    const integer before = *this;
    for (int i = 0; i < W; ++i) set_bit(i, before.get_bit(W - 1 - i));
    return *this;
  }
  constexpr integer &b_not() { return *this = wrapped(bit_not(convert<calc_t<W, S>>(raw_))); }
  constexpr void lrotate(int amount) {
    const integer before = *this;
    for (int i = 0; i < W; ++i) set_bit((i + amount) % W, before.get_bit(i));
  }
  constexpr void rrotate(int amount) { lrotate(W - amount % W); }
  constexpr int countLeadingZeros() const {
    int count = 0;
    while (count < W && !get_bit(W - 1 - count)) ++count;
    return count;
  }
  constexpr int count_ones() const {
    int count = 0;
    const integer<W, false> bits = *this;
    for (int i = 0; i * 64 < W; ++i) count += __builtin_popcountll(word_of(bits.raw(), i));
    return count;
  }
  constexpr bool and_reduce() const { return count_ones() == W; }
  constexpr bool or_reduce() const { return !is_zero(); }
  constexpr bool xor_reduce() const { return count_ones() % 2 != 0; }
  constexpr bool nand_reduce() const { return !and_reduce(); }
  constexpr bool nor_reduce() const { return !or_reduce(); }
  constexpr bool xnor_reduce() const { return !xor_reduce(); }

 private:
  raw_type raw_{};

  static constexpr raw_type from_double(double value) {
    if (value > -9.2e18 && value < 9.2e18) return normalise<W, S>(convert<raw_type>(std::int64_t(value)));
    return from_large(value);
  }
  static raw_type from_large(double value) {
    if (!__builtin_isfinite(value)) return raw_type{};
    int exponent = 0;
    const auto mantissa = std::int64_t(__builtin_ldexp(std::frexp(value, &exponent), 53));
    if (exponent - 53 >= W) return raw_type{};
    using Calc = calc_t<W, S>;
    return normalise<W, S>(convert<raw_type>(shift_left(convert<Calc>(mantissa), exponent - 53)));
  }
};

}  // namespace allo_sim

template <int W>
using ap_int = allo_sim::integer<W, true>;
template <int W>
using ap_uint = allo_sim::integer<W, false>;

#endif

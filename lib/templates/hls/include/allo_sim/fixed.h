// Decides what `ap_fixed` and `ap_ufixed` are: W bits, I of them before the point, and their conversions.
#ifndef ALLO_SIM_FIXED_H
#define ALLO_SIM_FIXED_H

#include "quantize.h"

namespace allo_sim {

/// mantissa() / 2**F. Conversions to it round by Q, then limit by O.
template <int W, int I, bool S, ap_q_mode Q = AP_TRN, ap_o_mode O = AP_WRAP, int N = 0>
class fixed : public fixed_point {
  static_assert(W >= 1, "an ap_fixed or ap_ufixed has at least one bit");
  static_assert(N == 0, "saturated bits of a wrapping ap_fixed (the last parameter) are not simulated");

 public:
  static constexpr int width = W;
  static constexpr int iwidth = I;
  static constexpr int fractions = W - I;
  static constexpr bool sign_flag = S;
  static constexpr ap_q_mode qmode = Q;
  static constexpr ap_o_mode omode = O;
  using mantissa_type = integer<W, S>;

  constexpr fixed() = default;
  template <int W2, int I2, bool S2, ap_q_mode Q2, ap_o_mode O2, int N2>
  constexpr fixed(const fixed<W2, I2, S2, Q2, O2, N2> &other)
      : mantissa_(quantized<W, S, W - I, Q, O, W2 - I2>(other.mantissa())) {}
  template <int W2, bool S2>
  constexpr fixed(const integer<W2, S2> &whole) : mantissa_(quantized<W, S, W - I, Q, O, 0>(whole)) {}
  template <class T, std::enable_if_t<is_native<T>, int> = 0>
  constexpr fixed(T whole) : fixed(lift(whole)) {}
  template <class T, std::enable_if_t<is_view<T>, char> = 0>
  constexpr fixed(const T &view) : fixed(view.get()) {}
  template <class T, std::enable_if_t<is_floating<T>, long> = 0>
  fixed(T value) : mantissa_(quantized<W, S, W - I, Q, O>(double(value))) {}

  /// The number whose bits are those of `mantissa`.
  static constexpr fixed from_mantissa(const mantissa_type &mantissa) {
    fixed made;
    made.mantissa_ = mantissa;
    return made;
  }
  constexpr const mantissa_type &mantissa() const { return mantissa_; }

  /// Toward zero, as all conversions to integers.
  constexpr integer<(I > 1 ? I : 1), S> to_ap_int() const {
    return quantized<(I > 1 ? I : 1), S, 0, AP_TRN_ZERO, AP_WRAP, W - I>(mantissa_);
  }
  template <class T, std::enable_if_t<is_native<T>, int> = 0>
  constexpr operator T() const {
    if constexpr (std::is_same<T, bool>::value)
      return !mantissa_.is_zero();
    else
      return T(integer<native<T>::bits, native<T>::is_signed>(to_ap_int()));
  }
  template <class T, std::enable_if_t<is_floating<T>, long> = 0>
  operator T() const {
    return T(to_double());
  }
  /// To nearest if there are more than 53 bits.
  double to_double() const {
    if constexpr (W - I > -1000 && W - I < 1000) return mantissa_.to_double() * __builtin_ldexp(1.0, I - W);
    return __builtin_ldexp(mantissa_.to_double(), I - W);
  }
  /// Through double.
  float to_float() const { return float(to_double()); }
  half to_half() const { return half(to_double()); }
  constexpr int to_int() const { return *this; }
  constexpr unsigned to_uint() const { return *this; }
  constexpr std::int64_t to_int64() const { return *this; }
  constexpr std::uint64_t to_uint64() const { return *this; }

  static constexpr int length() { return W; }
  constexpr bool is_zero() const { return mantissa_.is_zero(); }
  constexpr bool is_neg() const { return mantissa_.is_neg(); }

  // The bits are those of the mantissa.
  constexpr bit_ref<W, S> operator[](int index) { return mantissa_[index]; }
  constexpr bool operator[](int index) const { return mantissa_[index]; }
  constexpr range_ref<W, S> range(int high, int low) { return mantissa_.range(high, low); }
  constexpr range_ref<W, S> operator()(int high, int low) { return mantissa_.range(high, low); }
  constexpr range_ref<W, S> range() { return mantissa_.range(); }
  constexpr const range_ref<W, S> range(int high, int low) const { return mantissa_.range(high, low); }
  constexpr const range_ref<W, S> operator()(int high, int low) const { return mantissa_.range(high, low); }
  constexpr const range_ref<W, S> range() const { return mantissa_.range(); }
  template <int B>
  constexpr integer<B, S> slc(int low) const {
    return mantissa_.template slc<B>(low);
  }
  template <int B, bool S2>
  constexpr fixed &set_slc(int low, const integer<B, S2> &bits) {
    mantissa_.set_slc(low, bits);
    return *this;
  }

 private:
  mantissa_type mantissa_;
};

template <int W, int I, bool S, ap_q_mode Q, ap_o_mode O, int N>
struct is_own<fixed<W, I, S, Q, O, N>> : std::true_type {};

template <int W, int I, bool S, ap_q_mode Q, ap_o_mode O, int N>
constexpr const fixed<W, I, S, Q, O, N> &lift(const fixed<W, I, S, Q, O, N> &value) {
  return value;
}

}  // namespace allo_sim

template <int W, int I = W, ap_q_mode Q = AP_TRN, ap_o_mode O = AP_WRAP, int N = 0>
using ap_fixed = allo_sim::fixed<W, I, true, Q, O, N>;
template <int W, int I = W, ap_q_mode Q = AP_TRN, ap_o_mode O = AP_WRAP, int N = 0>
using ap_ufixed = allo_sim::fixed<W, I, false, Q, O, N>;

#endif

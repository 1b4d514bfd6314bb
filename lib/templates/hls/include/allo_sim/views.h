// Decides how single bits, ranges of bits and concatenations are read and written in place.
#ifndef ALLO_SIM_VIEWS_H
#define ALLO_SIM_VIEWS_H

#include <utility>

#include "integer.h"

namespace allo_sim {

/// `x[i]`: one bit of `x`.
template <int W, bool S>
class bit_ref : public bits_view {
 public:
  static constexpr int width = 1;

  constexpr bit_ref(integer<W, S> &whole, int index) : whole_(whole), index_(checked_bit(index, W)) {}
  constexpr bit_ref(const bit_ref &) = default;

  constexpr integer<1, false> get() const { return whole_.get_bit(index_); }
  constexpr void set(const integer<1, false> &bit) { whole_.set_bit(index_, !bit.is_zero()); }
  constexpr operator bool() const { return whole_.get_bit(index_); }
  constexpr bool to_bool() const { return *this; }
  constexpr bool operator~() const { return !*this; }
  static constexpr int length() { return 1; }

  constexpr bit_ref &operator=(const bit_ref &other) { return *this = bool(other); }
  template <class T>
  constexpr bit_ref &operator=(const T &value) {
    whole_.set_bit(index_, value != 0);
    return *this;
  }

 private:
  integer<W, S> &whole_;
  int index_;
};

/// `x(high, low)`: those bits of `x`; with high < low, in reverse order.
template <int W, bool S>
class range_ref : public bits_view {
 public:
  static constexpr int width = W;  // at most; `length()` is what it has
  using value_type = integer<W, false>;

  constexpr range_ref(integer<W, S> &whole, int high, int low)
      : whole_(whole), high_(checked_bit(high, W)), low_(checked_bit(low, W)) {}
  constexpr range_ref(const range_ref &) = default;

  constexpr int length() const { return (high_ < low_ ? low_ - high_ : high_ - low_) + 1; }

  constexpr value_type get() const {
    const int low = high_ < low_ ? high_ : low_;
    const auto shifted = shift_right(convert<Calc>(value_type(whole_).raw()), low);
    const auto bits = value_type::exact(bit_and(shifted, mask()));
    return high_ < low_ ? mirrored(bits) : bits;
  }

  constexpr void set(value_type bits) {
    if (high_ < low_) bits = mirrored(bits);
    const int low = high_ < low_ ? high_ : low_;
    const auto own = bit_and(convert<Calc>(value_type(whole_).raw()), bit_not(shift_left(mask(), low)));
    const auto now = shift_left(bit_and(convert<Calc>(bits.raw()), mask()), low);
    whole_ = integer<W, S>::wrapped(bit_or(own, now));
  }

  constexpr range_ref &operator=(const range_ref &other) {
    set(other.get());
    return *this;
  }
  template <class T>
  constexpr range_ref &operator=(const T &value) {
    set(value_type(value));
    return *this;
  }

  constexpr explicit operator bool() const { return !get().is_zero(); }
  constexpr operator unsigned long long() const { return get().to_uint64(); }
  constexpr int to_int() const { return get().to_int(); }
  constexpr unsigned to_uint() const { return get().to_uint(); }
  constexpr std::int64_t to_int64() const { return get().to_int64(); }
  constexpr std::uint64_t to_uint64() const { return get().to_uint64(); }
  std::string to_string(int radix = 2) const { return get().to_string(radix); }
  constexpr bool or_reduce() const { return get().or_reduce(); }
  constexpr bool and_reduce() const { return get().count_ones() == length(); }
  constexpr bool xor_reduce() const { return get().xor_reduce(); }

 private:
  using Calc = calc_t<W, false>;
  integer<W, S> &whole_;
  int high_;
  int low_;

  constexpr Calc mask() const {
    const auto ones = value_type::wrapped(bit_not(Calc{})).raw();
    return shift_right(convert<Calc>(ones), W - length());
  }
  constexpr value_type mirrored(value_type bits) const {
    bits.reverse();
    return value_type::exact(shift_right(convert<Calc>(bits.raw()), W - length()));
  }
};

/// What a concatenation keeps of an operand: variables and views in place, everything else by value.
template <class T>
struct place {
  using type = void;
};
template <int W, bool S>
struct place<integer<W, S> &> {
  using type = integer<W, S> &;
};
template <int W, bool S>
struct place<const integer<W, S> &> {
  using type = integer<W, S>;
};
template <int W, bool S>
struct place<integer<W, S>> {
  using type = integer<W, S>;
};
template <int W, bool S>
struct place<const integer<W, S>> {
  using type = integer<W, S>;
};

template <class T, bool = is_view<std::decay_t<T>>>
struct place_of : place<T> {};
template <class T>
struct place_of<T, true> {
  using type = std::decay_t<T>;
};

template <int W, bool S>
constexpr integer<W, false> bits_of(const integer<W, S> &value) {
  return value;
}
template <class T, class = std::enable_if_t<is_view<T>>>
constexpr auto bits_of(const T &view) {
  return view.get();
}
template <int W, bool S, int W2>
constexpr void put_bits(integer<W, S> &to, const integer<W2, false> &bits) {
  to = bits;
}
template <class T, int W2, class = std::enable_if_t<is_view<T>>>
constexpr void put_bits(T &to, const integer<W2, false> &bits) {
  to.set(bits);
}

/// `(a, b)`: the bits of `a` above those of `b`.
template <class High, class Low>
class concatenation : public bits_view {
 public:
  static constexpr int width = std::decay_t<High>::width + std::decay_t<Low>::width;
  using value_type = integer<width, false>;

  constexpr concatenation(High high, Low low) : high_(high), low_(low) {}
  constexpr concatenation(const concatenation &) = default;

  constexpr int length() const { return high_.length() + low_.length(); }

  constexpr value_type get() const {
    const auto high = shift_left(convert<Calc>(bits_of(high_).raw()), low_.length());
    return value_type::exact(bit_or(high, convert<Calc>(bits_of(low_).raw())));
  }

  constexpr void set(const value_type &bits) {
    put_bits(low_, integer<std::decay_t<Low>::width, false>(bits));
    put_bits(high_, integer<std::decay_t<High>::width, false>::wrapped(
                        shift_right(convert<Calc>(bits.raw()), low_.length())));
  }

  constexpr concatenation &operator=(const concatenation &other) {
    set(other.get());
    return *this;
  }
  template <class T>
  constexpr concatenation &operator=(const T &value) {
    set(value_type(value));
    return *this;
  }

  constexpr explicit operator bool() const { return !get().is_zero(); }
  constexpr operator unsigned long long() const { return get().to_uint64(); }
  constexpr int to_int() const { return get().to_int(); }
  constexpr unsigned to_uint() const { return get().to_uint(); }
  constexpr std::uint64_t to_uint64() const { return get().to_uint64(); }
  std::string to_string(int radix = 2) const { return get().to_string(radix); }

 private:
  using Calc = calc_t<width, false>;
  High high_;
  Low low_;
};

template <class A, class B, class High = typename place_of<A>::type, class Low = typename place_of<B>::type,
          class = std::enable_if_t<!std::is_void<High>::value && !std::is_void<Low>::value>>
constexpr concatenation<High, Low> operator,(A &&high, B &&low) {
  return concatenation<High, Low>(high, low);
}

}  // namespace allo_sim

#endif

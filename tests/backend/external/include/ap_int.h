// The least of the vendor's integers that the tests of external kernels need: up to 128 bits, kept apart from memory
// layouts that NumPy could have by accident.
#pragma once
#include <cstdint>

template <int W, bool Signed> class ap_base {
  unsigned char tag = 0x5a; // an object is never W bits alone
  unsigned __int128 bits = 0;

  static unsigned __int128 mask(int width) {
    return width >= 128 ? ~(unsigned __int128)0 : ((unsigned __int128)1 << width) - 1;
  }

public:
  class Range {
    ap_base &word;
    int high, low;

  public:
    Range(ap_base &word, int high, int low) : word(word), high(high), low(low) {}
    void operator=(std::uint64_t value) {
      unsigned __int128 field = mask(high - low + 1) << low;
      word.bits = (word.bits & ~field) | (((unsigned __int128)value << low) & field);
    }
    std::uint64_t to_uint64() const { return (word.bits >> low) & mask(high - low + 1); }
  };

  ap_base() = default;
  ap_base(__int128 value) : bits((unsigned __int128)value & mask(W)) {}
  operator __int128() const {
    bool negative = Signed && ((bits >> (W - 1)) & 1);
    return (__int128)(negative ? bits | ~mask(W) : bits);
  }
  Range range(int high, int low) { return Range(*this, high, low); }
};

template <int W> struct ap_int : ap_base<W, true> {
  using ap_base<W, true>::ap_base;
};
template <int W> struct ap_uint : ap_base<W, false> {
  using ap_base<W, false>::ap_base;
};
